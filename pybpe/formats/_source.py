"""What a reader gets to read, and what the readers have in common.

A reader is a function from a `Source` to a `Model`. It raises `ModelError` without the
file's name, which `pybpe.load` puts before the message.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from pybpe import _binding
from pybpe.errors import ModelError

if TYPE_CHECKING:
    from pybpe.split import Split

# The largest file that is read whole. The largest vocabularies known have some 20 MB.
MAX_FILE = 1 << 28
# The longest ordinary token; the longest known have 1,024 bytes.
MAX_TOKEN = 1 << 20

Special = Mapping[str | bytes, int]


class Source:
    """A file to read, and what the caller of `pybpe.load` said about it.

    Attributes:
        path: Where the file is.
        split: The split to use in place of the file's own; None if nothing was said.
        special_tokens: Likewise the special tokens.
    """

    __slots__ = ("_data", "path", "special_tokens", "split")

    def __init__(
        self,
        path: str,
        *,
        split: Split | None = None,
        special_tokens: Special | None = None,
        data: bytes | None = None,
    ) -> None:
        """Keep the arguments; `data` are the file's contents if they are known."""
        self.path = path
        self.split = split
        self.special_tokens = special_tokens
        self._data = data

    @property
    def data(self) -> bytes:
        """The file's contents.

        Raises:
            ModelError: They are larger than any vocabulary.
            OSError: They cannot be read.
        """
        if self._data is None:
            self._data = read_limited(self.path)
        return self._data

    def beside(self, path: str) -> Source:
        """Return another file with the same options."""
        return Source(path, split=self.split, special_tokens=self.special_tokens)


def read_limited(path: str) -> bytes:
    """Return the contents of a file of at most `MAX_FILE` bytes.

    Raises:
        ModelError: It is larger.
        OSError: It cannot be read.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes 3 ms to import
        # Memory is taken for what is there, not for what a special file announces.
        size = os.fstat(file.fileno()).st_size
        data = file.read(min(size, MAX_FILE) + 1)
        while len(data) <= MAX_FILE and (more := file.read(1 << 20)):
            data += more
    if len(data) > MAX_FILE:
        raise ModelError(
            f"it has more than {MAX_FILE:,} bytes, too many for a vocabulary file"
        )
    return data


def utf8(data: bytes) -> str:
    """Return a text file's contents, without a byte order mark.

    Raises:
        ModelError: They are not UTF-8; the message says where.
    """
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ModelError(
            f"line {line} is not UTF-8 (byte {error.start} of the file)"
        ) from None


def json_document(data: bytes) -> Any:
    """Return what a JSON file holds.

    Raises:
        ModelError: It is not JSON, or an object has a key twice.
    """
    text = utf8(data)
    try:
        return json.loads(
            text, object_pairs_hook=_unique_keys, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        cut = " (is it cut off?)" if error.pos >= len(text.rstrip()) - 1 else ""
        raise ModelError(f"it is not valid JSON at {where}: {error.msg}{cut}") from None
    except RecursionError:
        raise ModelError("its JSON is nested too deeply") from None
    except ModelError:
        raise
    except ValueError as error:
        # An integer of thousands of digits.
        raise ModelError(f"its JSON cannot be read: {error}") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise ModelError(f"its JSON has the key {shown(key)} twice")
            seen.add(key)
    return table


def _no_constant(name: str) -> NoReturn:
    raise ModelError(f"its JSON holds {name}, which JSON does not have")


def whole_number(value: object, what: str) -> int:
    """Return an integer that a file holds.

    Raises:
        ModelError: It is something else, or no id or count that pybpe can handle.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise ModelError(f"{what} must be a whole number, and is {shown(value)}")
    if not 0 <= value < _binding.MAX_IDS:
        raise ModelError(
            f"{what} is {value}; it must lie between 0 and {_binding.MAX_IDS - 1}"
        )
    return value


def shown(value: object) -> str:
    """Return a short repr of a value from a file."""
    # Cut first: a value may be as large as the file.
    text = repr(value[:80] if isinstance(value, (str, bytes)) else value)
    return text if len(text) <= 60 else text[:56] + " ..."


def special_or_refuse(
    tokens: Special | Mapping[str, int] | Mapping[bytes, int], what: str
) -> tuple[tuple[bytes, int], ...]:
    """Return special tokens from a file as bytes, by ascending id.

    Raises:
        ModelError: One is empty or comes twice, or two share an id.
    """
    from pybpe import vocabulary

    try:
        return vocabulary.extra_tokens(dict(tokens.items()), what)
    except (TypeError, ValueError) as error:
        raise ModelError(str(error)) from None


def check_tokens(tokens: list[bytes], ids: array[int]) -> None:
    """Refuse vocabularies with an empty, endless or repeated token.

    Raises:
        ModelError: Naming the token and its id.
    """
    sizes = list(map(len, tokens))
    if not sizes:
        raise ModelError("it holds no tokens")
    if min(sizes) == 0:
        raise ModelError(f"the token with id {ids[sizes.index(0)]} is empty")
    if max(sizes) > MAX_TOKEN:
        at = sizes.index(max(sizes))
        raise ModelError(
            f"the token with id {ids[at]} has {sizes[at]:,} bytes; the limit is "
            f"{MAX_TOKEN:,}"
        )
    if len(set(tokens)) < len(tokens):
        seen: dict[bytes, int] = {}
        for token, number in zip(tokens, ids, strict=True):
            if token in seen:
                raise ModelError(
                    f"the token {shown(token)} has two ids, {seen[token]} and {number}"
                )
            seen[token] = number
