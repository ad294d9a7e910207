"""Plain text files: each is a document, or what stands between two separators."""

from __future__ import annotations

from array import array
from codecs import getincrementaldecoder
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from pybpe.corpora.documents import CHUNK, Documents, Place
from pybpe.corpora.inputs import Source
from pybpe.corpora.streams import Stream

if TYPE_CHECKING:
    from pybpe.corpora.seams import LastSeam

# A seam is looked for in so many bytes at the end first.
_SEAM_WINDOW = 4 << 10


@dataclass(slots=True)
class TextChunk:
    """Whole documents, or a part of one, that are ready as they are."""

    source: Source
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
        before = self._before if self.inside else None
        return Documents(self.data, view, inside=self.after.inside, before=before)

    def _before(self) -> tuple[int, int]:
        """Return how many bytes and characters of the file are before this part.

        Only an error needs it, for which the file is read once more.
        """
        start = self.after.position - len(self.data)
        if self.source.size is None:  # a pipe
            return 0, 0
        decoder = getincrementaldecoder("utf-8")("replace")
        characters, left = 0, start
        with Stream(self.source) as stream:
            while left > 0 and (block := stream.read(min(left, CHUNK))):
                left -= len(block)
                characters += len(decoder.decode(block, final=left == 0))
        return start, characters

    def where(self, index: int) -> str:
        """Return the file's name, and the document's number if there are several."""
        path = self.source.path
        if self.split:
            return f"{path}, document {self.first + index + 1}"
        if self.inside and self.source.size is None:
            return f"{path}, from byte {self.after.position - len(self.data):,} on"
        return path


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
    return TextChunk(source, data, offsets, 0, False, inside, after, raw)


def read_split(source: Source, start: Place, separator: bytes) -> Iterator[TextChunk]:
    """Yield what stands between separators; behind the last one only if it is text.

    A document is held in memory whole.
    """
    with Stream(source, start.position) as stream:
        pending = b""
        searched = 0  # no separator begins before this
        number = start.number
        ended = False
        while not ended:
            # The blocks double, so that a huge document is not copied for each.
            want = max(CHUNK, len(pending))
            block = stream.read(want)
            ended = len(block) < want
            pending += block
            if not ended and pending.find(separator, searched) < 0:
                searched = max(0, len(pending) - len(separator) + 1)
                continue
            *texts, pending = pending.split(separator)
            searched = 0
            if ended and pending:
                texts.append(pending)
                pending = b""
            if texts:
                after = Place(stream.position - len(pending), number + len(texts))
                yield _together(source, texts, after, stream.raw_position)
                number = after.number


def _together(source: Source, texts: list[bytes], after: Place, raw: int) -> TextChunk:
    offsets = array("Q", accumulate(map(len, texts), initial=0))
    first = after.number - len(texts)
    data = b"".join(texts)
    return TextChunk(source, data, offsets, first, True, False, after, raw)
