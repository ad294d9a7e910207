"""Packed files: their members, unpacked and laid end to end; nothing is passed over.

Python's own readers of .xz and .bz2 end silently where something follows a member that
they cannot read, and take an empty file for an empty text.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from pybpe._extras import optional

if TYPE_CHECKING:
    from io import FileIO

# So much is taken from the disk at once.
_RAW_BLOCK = 1 << 18


class Damage(Exception):
    """A packed file is not whole, or something else; says what "the file" does."""


class _Member(Protocol):
    """What unpacks one member: `LZMADecompressor` and the like."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether it has nothing more to give before it gets more."""

    @property
    def unused_data(self) -> bytes:
        """What came behind its end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Take some, and give at most so many bytes."""


class _GzipMember:
    """zlib's, with the methods of the others."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


class Unpacked:
    """What is in a packed file.

    Attributes:
        taken: How many bytes of the packed file have been read.
    """

    def __init__(self, raw: FileIO, compression: str) -> None:
        """Begin at the first member.

        Raises:
            ImportError: What unpacks it is not installed.
        """
        self._raw = raw
        self._new: Callable[[], _Member]
        self._errors: type[Exception]
        # Zeros between members and behind the last come in multiples of this; 0: none.
        self._padding = 0
        if compression == "gzip":
            self._new, self._errors = _GzipMember, zlib.error
            self._padding = 1
        elif compression == "xz":
            self._new, self._errors = lzma.LZMADecompressor, lzma.LZMAError
            self._padding = 4
        elif compression == "bzip2":
            self._new, self._errors = bz2.BZ2Decompressor, OSError
        else:
            module = zstd()
            self._new, self._errors = module.ZstdDecompressor, module.ZstdError
        self._member: _Member | None = None
        self._start = 0  # where it begins
        self._left = b""  # what was read and belongs to no member yet
        self.taken = 0

    def read(self, n: int) -> bytes:
        """Return at most `n` bytes; none at the end only.

        Raises:
            Damage: The file is not sound.
            OSError: It cannot be read.
        """
        while self._member is not None or self._begin():
            member = self._member
            assert member is not None  # noqa: S101 - for the type checker
            block = self._block() if member.needs_input else b""
            ended = member.needs_input and not block
            try:
                part = member.decompress(block, n)
            except self._errors as error:
                raise Damage(
                    f"is damaged in what begins at byte {self._start:,}: {error}"
                ) from None
            if member.eof:
                self._left = member.unused_data
                self._member = None
            elif ended and not part:
                raise Damage(
                    f"ends too early: what begins at byte {self._start:,} is not whole"
                )
            if part:
                return part
        return b""

    def _block(self) -> bytes:
        """Return the next bytes of the packed file, none at its end."""
        block, self._left = self._left, b""
        if not block:
            block = self._raw.read(_RAW_BLOCK)
            self.taken += len(block)
        return block

    def _begin(self) -> bool:
        """Begin with the next member, if there is one."""
        block = self._block()
        first = self.taken == len(block)
        end = self.taken - len(block)
        if self._padding and not first:
            while block and not (rest := block.lstrip(b"\0")):
                block = self._block()
            block = rest if block else b""
        start = self.taken - len(block)
        if self._padding and (start - end) % self._padding:
            raise Damage(
                f"is damaged at byte {end:,}: {start - end:,} zeros follow, and only a "
                f"multiple of {self._padding} may"
            )
        if not block:
            if first:
                raise Damage("is empty: not even an empty text is packed like this")
            return False
        self._start, self._left = start, block
        self._member = self._new()
        return True


def zstd() -> Any:
    """Return the module that unpacks zstd: Python's own from 3.14 on.

    Raises:
        ImportError: There is none; the message says what to install.
    """
    for name in ("compression.zstd", "backports.zstd"):
        if (module := optional(name)) is not None:
            return module
    raise ImportError(
        "reading .zst files needs backports.zstd: pip install 'pybpe[zstd]'"
    )
