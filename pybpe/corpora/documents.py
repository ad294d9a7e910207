"""What readers give: documents in portions, each with the place behind it.

A `Chunk` is cheap to make: what it holds becomes documents when `documents()` is
called, which any thread may do. So one thread reads for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Chunks are about this large, in bytes of the unpacked file.
CHUNK = 4 << 20


class Place(NamedTuple):
    """Where in a file to go on.

    Attributes:
        position: How many bytes (of a parquet file: rows) are behind.
        number: How many lines, rows or documents these were.
        inside: Whether it is the middle of a document, whose first part is behind.
    """

    position: int = 0
    number: int = 0
    inside: bool = False


class Documents:
    """Texts of documents, laid end to end.

    Attributes:
        data: UTF-8, or bytes of any kind.
        offsets: Text i is `data[offsets[i]:offsets[i + 1]]`; 64-bit numbers. The first
            need not be 0.
        inside: Whether the last text is only part of a document, which goes on in the
            next chunk.
    """

    __slots__ = ("_before", "data", "inside", "offsets")

    def __init__(
        self,
        data: bytes | memoryview,
        offsets: memoryview,
        *,
        inside: bool = False,
        before: Callable[[], tuple[int, int]] | None = None,
    ) -> None:
        """Keep all; `before` is what the method of that name asks of the first text."""
        self.data = data
        self.offsets = offsets
        self.inside = inside
        self._before = before

    def before(self, index: int) -> tuple[int, int]:
        """Return how much of its document is before text `index`: bytes, characters."""
        return self._before() if self._before and index == 0 else (0, 0)

    def __len__(self) -> int:
        """How many texts there are."""
        return len(self.offsets) - 1

    @property
    def size(self) -> int:
        """How many bytes the texts have."""
        return int(self.offsets[-1] - self.offsets[0])

    def __iter__(self) -> Iterator[bytes]:
        """Yield each text as bytes."""
        view, offsets = memoryview(self.data), self.offsets.tolist()
        start = offsets[0]
        for end in offsets[1:]:
            yield view[start:end].tobytes()
            start = end


class Chunk(Protocol):
    """A portion of a file, not looked into yet."""

    @property
    def inside(self) -> bool:
        """Whether its first text is the rest of a document that began before."""

    @property
    def after(self) -> Place:
        """The place behind it."""

    @property
    def raw_position(self) -> int:
        """How many bytes of the file itself have been read up to there."""

    @property
    def size(self) -> int:
        """About how many bytes it holds."""

    def documents(self) -> Documents:
        """Return the texts.

        Raises:
            CorpusError: Something in it is not as it should be.
        """

    def where(self, index: int) -> str:
        """Return what to call a text of it in a message: the file and the place."""
