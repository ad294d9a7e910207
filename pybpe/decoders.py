"""From tokens to text, as Hugging Face tokenizers defines it.

A `Decoder` turns the list of tokens into another list; after the last one, the strings
are put together. Immutable, equal and hashed by content. Bytes that are no UTF-8 are
lone surrogates ("surrogateescape"), until `text_of` makes text of the result.
"""

from __future__ import annotations

from pybpe._typing import TYPE_CHECKING
from pybpe.normalizers import Replace, Step

if TYPE_CHECKING:
    from typing import ClassVar


class Decoder(Step):
    """One change to a list of tokens."""

    __slots__ = ()

    def decode(self, tokens: list[str], exact: bool) -> list[str]:
        """Return the changed tokens.

        Args:
            tokens: What to change.
            exact: Whether bytes that are no UTF-8 are kept, rather than made U+FFFD.
        """
        raise NotImplementedError


class Join(Decoder):
    """The tokens with a string between them.

    Attributes:
        separator: The string.
    """

    __slots__ = ("separator",)
    separator: str

    def __init__(self, separator: str) -> None:
        """Make the decoder."""
        self._set(separator=separator)

    def decode(self, tokens: list[str], exact: bool) -> list[str]:
        """Return one token."""
        return [self.separator.join(tokens)]


class ByteFallback(Decoder):
    """Tokens such as <0x41> are bytes."""

    __slots__ = ()
    DIGITS: ClassVar[frozenset[str]] = frozenset("0123456789abcdefABCDEF")

    def decode(self, tokens: list[str], exact: bool) -> list[str]:
        """Put bytes in a row together; if they are no UTF-8, each is a U+FFFD."""
        made: list[str] = []
        run = bytearray()
        for token in tokens:
            byte = self._byte(token)
            if byte is not None:
                run.append(byte)
                continue
            if run:
                made.append(_text(run, exact))
                run.clear()
            made.append(token)
        if run:
            made.append(_text(run, exact))
        return made

    def _byte(self, token: str) -> int | None:
        if len(token) != 6 or not (token.startswith("<0x") and token.endswith(">")):
            return None
        digits = token[3:5]
        if digits[0] == "+" and digits[1] in self.DIGITS:
            return int(digits[1], 16)
        return int(digits, 16) if self.DIGITS.issuperset(digits) else None


def _text(run: bytearray, exact: bool) -> str:
    try:
        return run.decode()
    except UnicodeDecodeError:
        return run.decode("utf-8", "surrogateescape") if exact else "\ufffd" * len(run)


class ByteLevel(Decoder):
    """The characters of tokens stand for bytes, as in GPT-2's files."""

    __slots__ = ()

    def decode(self, tokens: list[str], exact: bool) -> list[str]:
        """Return one token; tokens with other characters stand for themselves."""
        from pybpe import _glyphs

        data = bytearray()
        for token in tokens:
            try:
                data += _glyphs.to_bytes(token)
            except UnicodeEncodeError:
                data += token.encode("utf-8", "surrogateescape")
        return [data.decode("utf-8", "surrogateescape" if exact else "replace")]


class Fuse(Decoder):
    """All tokens are one."""

    __slots__ = ()

    def decode(self, tokens: list[str], exact: bool) -> list[str]:
        """Return one token."""
        return ["".join(tokens)]


class StripCharacter(Decoder):
    """A character is taken away from the ends of each token.

    Attributes:
        content: The character.
        start: How often from the beginning, at most.
        stop: How often from the end, at most.
    """

    __slots__ = ("content", "start", "stop")
    content: str
    start: int
    stop: int

    def __init__(self, content: str, start: int, stop: int) -> None:
        """Make the decoder.

        Raises:
            ValueError: `content` is not one character, or a number is out of range.
        """
        if len(content) != 1 or not (0 <= start < 1 << 31 and 0 <= stop < 1 << 31):
            raise ValueError(f"cannot strip {content!r} {start} and {stop} times")
        self._set(content=content, start=start, stop=stop)

    def decode(self, tokens: list[str], exact: bool) -> list[str]:
        """Return the shorter tokens."""
        return [self._strip(token) for token in tokens]

    def _strip(self, token: str) -> str:
        begin, end = 0, len(token)
        while begin < min(self.start, end) and token[begin] == self.content:
            begin += 1
        least = max(begin, end - self.stop)
        while end > least and token[end - 1] == self.content:
            end -= 1
        return token[begin:end]


class ReplaceIn(Decoder):
    """Every match of a pattern within a token becomes another string.

    Attributes:
        rule: What is replaced by what.
    """

    __slots__ = ("rule",)
    rule: Replace

    def __init__(self, rule: Replace) -> None:
        """Make the decoder."""
        self._set(rule=rule)

    def decode(self, tokens: list[str], exact: bool) -> list[str]:
        """Return the changed tokens."""
        return [self.rule.apply(token) for token in tokens]


class Marks(Decoder):
    """Marks are spaces, but for those of the first token, which may be left out.

    Attributes:
        mark: The character that stands for a space.
        drop_first: Whether marks in the first token are left out.
    """

    __slots__ = ("drop_first", "mark")
    mark: str
    drop_first: bool

    def __init__(self, drop_first: bool, mark: str) -> None:
        """Make the decoder."""
        self._set(drop_first=drop_first, mark=mark)

    def decode(self, tokens: list[str], exact: bool) -> list[str]:
        """Return the tokens with spaces."""
        made = [token.replace(self.mark, " ") for token in tokens]
        if made and self.drop_first:
            made[0] = tokens[0].replace(self.mark, "")
        return made


class WordEnds(Decoder):
    """A suffix marks the ends of words, which are spaces, but for the last one.

    Attributes:
        suffix: The suffix.
    """

    __slots__ = ("suffix",)
    suffix: str

    def __init__(self, suffix: str) -> None:
        """Make the decoder."""
        self._set(suffix=suffix)

    def decode(self, tokens: list[str], exact: bool) -> list[str]:
        """Return the tokens with spaces."""
        made = [token.replace(self.suffix, " ") for token in tokens]
        if made:
            made[-1] = tokens[-1].replace(self.suffix, "")
        return made


def text_of(decoders: tuple[Decoder, ...], tokens: list[str], exact: bool) -> str:
    """Return the text of tokens after all the decoders."""
    for decoder in decoders:
        tokens = decoder.decode(tokens, exact)
    return "".join(tokens)
