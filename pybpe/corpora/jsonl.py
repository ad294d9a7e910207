"""Files of JSON lines: the text under one key of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from pybpe._binding_json import BadLine, json_lines
from pybpe.corpora.documents import CHUNK, Documents, Place
from pybpe.corpora.inputs import Source
from pybpe.corpora.streams import Stream
from pybpe.errors import CorpusError

_BOM = b"\xef\xbb\xbf"
# So much of a bad line is shown.
_SHOWN = 60


@dataclass(slots=True)
class JsonChunk:
    """Whole lines."""

    source: Source
    data: bytes
    field: str
    start: int  # how many bytes of the file are before it
    after: Place
    raw_position: int
    inside: bool = False

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return len(self.data)

    def documents(self) -> Documents:
        """Return the texts.

        Raises:
            CorpusError: A line is no object, or has no text under the key.
        """
        try:
            return Documents(*json_lines(self.data, self.field.encode()))
        except BadLine as bad:
            text = self.data[bad.start :].partition(b"\n")[0]
            raise CorpusError(
                f"{self._line_at(bad.start)}: {_complaint(text, self.field)}"
            ) from None

    def where(self, index: int) -> str:
        """Return the file's name and the line's number."""
        at = 0
        for line in self.data.split(b"\n"):
            if line.strip(b" \t\r"):
                if index == 0:
                    break
                index -= 1
            at += len(line) + 1
        return self._line_at(at)

    def _line_at(self, at: int) -> str:
        """Return the file's name and a line's number, for which it is read once more.

        Nobody else needs it, and counting lines takes longer than one would think.
        """
        if self.source.size is None:  # a pipe
            return f"{self.source.path}, byte {self.start + at:,}"
        number = self.data.count(b"\n", 0, at) + 1
        left = self.start
        with Stream(self.source) as stream:
            while left > 0 and (block := stream.read(min(left, CHUNK))):
                number += block.count(b"\n")
                left -= len(block)
        return f"{self.source.path}, line {number:,}"


def read(source: Source, start: Place, field: str) -> Iterator[JsonChunk]:
    """Yield the lines of a file from a place on.

    A line is held in memory whole, whatever its length.
    """
    with Stream(source, start.position) as stream:
        pending: list[bytes] = []
        begin = start.position
        if start.position == 0:
            mark = stream.read(len(_BOM))
            if mark == _BOM:
                begin = len(_BOM)
            else:
                pending.append(mark)
        while True:
            block = stream.read(CHUNK)
            ended = len(block) < CHUNK
            cut = len(block) if ended else block.rfind(b"\n") + 1
            if not cut and not ended:
                pending.append(block)
                continue
            data = b"".join((*pending, block[:cut]))
            pending = [block[cut:]]
            if data:
                after = Place(stream.position - len(pending[0]))
                raw = stream.raw_position
                yield JsonChunk(source, data, field, begin, after, raw)
                begin = after.position
            if ended:
                return


def _complaint(line: bytes, field: str) -> str:
    """Say what is wrong with a line that the core refused."""
    shown = repr(line[:_SHOWN].decode("utf-8", "replace"))
    shown += "..." if len(line) > _SHOWN else ""
    try:
        # As floats: Python refuses whole numbers of many digits.
        value = json.loads(line.decode(), parse_int=float)
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start:,} of the line: {shown}"
    except json.JSONDecodeError as error:
        return (
            f"not valid JSON: {error.msg} at character {error.pos + 1:,} of the line: "
            f"{shown}; a file of plain text is read with format='text'"
        )
    except RecursionError:
        return f"nested too deeply: {shown}"
    if not isinstance(value, dict):
        return f"not an object but {_kind(value)}: {shown}"
    if field not in value:
        keys = ", ".join(map(repr, list(value)[:20])) or "none"
        return f"has no field {field!r}; its fields are {keys}: choose with field="
    return f"the field {field!r} is not text but {_kind(value[field])}: {shown}"


def _kind(value: object) -> str:
    """Return what JSON calls a value."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"
