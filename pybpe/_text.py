"""What counts as text, and how it becomes UTF-8: one rule for every entry point."""

from __future__ import annotations

from pybpe._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def to_utf8(text: str | bytes | bytearray | memoryview, what: str = "text") -> bytes:
    """Return the UTF-8 bytes of a text; `bytes` are taken as they are.

    Surrogates can stand in a `str` but not in UTF-8: a high one followed by a low one
    becomes the character the two stand for, any other becomes U+FFFD (tiktoken's rule).

    Args:
        text: A `str`, `bytes`, `bytearray` or `memoryview`; the latter two are copied.
        what: What to call the argument in an error.

    Raises:
        TypeError: `text` is something else.
    """
    # Subclasses may redefine what they like, so they are read by the base class's ways:
    # the core is told one length and must not read further than that.
    if isinstance(text, str):
        try:
            return str.encode(text)
        except UnicodeEncodeError:
            utf16 = str.encode(text, "utf-16-le", "surrogatepass")
            return utf16.decode("utf-16-le", "replace").encode()
    if type(text) is bytes:
        return text
    if isinstance(text, (bytes, bytearray, memoryview)):
        return memoryview(text).tobytes()
    raise TypeError(f"{what} must be str or bytes, got {type(text).__name__}")


def all_to_utf8(
    texts: Sequence[str | bytes | bytearray | memoryview], first: int, last: int
) -> list[bytes]:
    """Return `to_utf8` of texts[first:last].

    Raises:
        TypeError: An item is no text; the message says which.
    """
    try:
        return list(map(to_utf8, texts[first:last]))
    except TypeError:
        pass
    return [to_utf8(texts[i], f"texts[{i}]") for i in range(first, last)]
