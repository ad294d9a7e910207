"""Plain text files: each is a document, or what stands between two separators."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pybpe.corpora.documents import CHUNK, Documents, Place
from pybpe.corpora.inputs import Source
from pybpe.corpora.streams import Stream

# Where a text can be parted, so that its ids are those of both parts: the last such
# place strictly inside a portion, or 0.
LastSeam = Callable[[bytes], int]

# A seam is looked for in so many bytes at the end first.
_SEAM_WINDOW = 4 << 10


@dataclass(slots=True)
class TextChunk:
    """Whole documents, or a part of one, that are ready as they are."""

    path: str
    data: bytes
    offsets: array[int]
    first: int  # how many documents of the file are before it
    split: bool
    inside: bool
    after: Place
    raw_position: int

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return len(self.data)

    def documents(self) -> Documents:
        """Return the texts."""
        view = memoryview(self.offsets)
        return Documents(self.data, view, inside=self.after.inside)

    def where(self, index: int) -> str:
        """Return the file's name, and the document's number if there are several."""
        return f"{self.path}, document {self.first + index + 1}" if self.split else self.path


def read_whole(
    source: Source, start: Place, last_seam: LastSeam | None
) -> Iterator[TextChunk]:
    """Yield a file as one document, in parts where it is large and they can be found.

    Args:
        source: The file.
        start: Where to begin.
        last_seam: Where a text may be parted; None for nowhere: then the whole file is
            held in memory.
    """
    if start.number:
        return  # its one document is behind
    with Stream(source, start.position) as stream:
        pending, inside = b"", start.inside
        while True:
            # As long as no seam is found the blocks double: what was searched is
            # searched again, but not again and again.
            want = max(CHUNK, len(pending))
            block = stream.read(want)
            pending += block
            ended = len(block) < want
            if ended:
                after = Place(stream.position, 1)
                yield _part(source, pending, inside, after, stream.raw_position)
                return
            if last_seam is None:
                continue
            near = max(0, len(pending) - _SEAM_WINDOW)
            seam = last_seam(pending[near:])
            seam = near + seam if seam else last_seam(pending)
            if seam:
                position = stream.position - (len(pending) - seam)
                after = Place(position, 0, inside=True)
                part = pending[:seam]
                yield _part(source, part, inside, after, stream.raw_position)
                pending, inside = pending[seam:], True


def _part(
    source: Source, data: bytes, inside: bool, after: Place, raw: int
) -> TextChunk:
    offsets = array("Q", [0, len(data)])
    return TextChunk(source.path, data, offsets, 0, False, inside, after, raw)


def read_split(source: Source, start: Place, separator: bytes) -> Iterator[TextChunk]:
    """Yield what stands between separators; behind the last one only if it is text.

    A document is held in memory whole.
    """
    with Stream(source, start.position) as stream:
        pending = b""
        searched = 0  # no separator begins before this
        number = start.number
        while True:
            block = stream.read(CHUNK)
            pending += block
            cut = len(pending)
            if len(block) == CHUNK:
                found = pending.rfind(separator, searched)
                searched = max(0, len(pending) - len(separator) + 1)
                if found < 0:
                    continue
                cut = found + len(separator)
            if cut:
                chunk = _cut(source.path, pending[:cut], separator, number)
                position = stream.position - (len(pending) - cut)
                number += len(chunk.offsets) - 1
                chunk.after = Place(position, number)
                chunk.raw_position = stream.raw_position
                yield chunk
            if len(block) < CHUNK:
                return
            pending, searched = pending[cut:], 0


def _cut(path: str, data: bytes, separator: bytes, first: int) -> TextChunk:
    """Return the documents of a stretch that ends with a separator, or is the last."""
    texts = data.split(separator)
    if not texts[-1]:
        texts.pop()
    offsets = array("Q", [0])
    total = 0
    for text in texts:
        total += len(text)
        offsets.append(total)
    return TextChunk(path, b"".join(texts), offsets, first, True, False, Place(), 0)
