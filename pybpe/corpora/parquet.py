"""Parquet files: the text in one column of each row."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pybpe._extras import required
from pybpe.corpora.documents import CHUNK, Documents, Place
from pybpe.corpora.inputs import Source
from pybpe.errors import CorpusError, became_shorter

# At most so many rows at once.
_MAX_ROWS = 1 << 16
# So many bytes of a column are taken from the disk at once.
_BUFFER = 1 << 20


@dataclass(slots=True)
class ParquetChunk:
    """Some rows of the column, as Arrow has them."""

    path: str
    column: Any  # a pyarrow.Array of large_string or large_binary
    field: str
    first: int  # how many rows of the file are before it
    after: Place
    raw_position: int
    inside: bool = False

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return int(self.column.nbytes)

    def documents(self) -> Documents:
        """Return the texts, where Arrow has them.

        Raises:
            CorpusError: A row has no text.
        """
        if self.column.null_count:
            row = self.column.is_null().index(True).as_py()
            raise CorpusError(
                f"{self.path}, row {self.first + row + 1:,}: the column {self.field!r} "
                "is null; leave such rows out when writing the file"
            )
        _, offsets, data = self.column.buffers()
        if offsets is None:
            return Documents(b"", memoryview(array("Q", [0])))
        begin, n = self.column.offset, len(self.column)
        view = memoryview(offsets).cast("B").cast("Q")[begin : begin + n + 1]
        return Documents(b"" if data is None else memoryview(data).cast("B"), view)

    def where(self, index: int) -> str:
        """Return the file's name and the row's number."""
        return f"{self.path}, row {self.first + index + 1:,}"


def read(source: Source, start: Place, field: str) -> Iterator[ParquetChunk]:
    """Yield the rows of a file from a place on.

    Raises:
        CorpusError: It is no parquet file, or has no such column of text.
        ImportError: pyarrow is missing.
    """
    arrow, parquet = pyarrow()
    try:
        # Not mapped to memory: a file that shrinks would end the process by a signal.
        with parquet.ParquetFile(source.path, buffer_size=_BUFFER) as file:
            kind = _column_type(arrow, file.schema_arrow, source.path, field)
            yield from _rows(file, source, start, field, kind)
    except (arrow.ArrowInvalid, OSError) as error:
        # Arrow's own errors, of what it cannot read, have no number.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        found = Path(source.path).stat().st_size
        if source.size is not None and found < source.size:
            raise became_shorter(source.path, source.size, found) from None
        raise CorpusError(f"{source.path}: not a sound parquet file: {error}") from None


def _rows(
    file: Any, source: Source, start: Place, field: str, kind: Any
) -> Iterator[ParquetChunk]:
    behind = 0
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        if behind + group.num_rows <= start.position:
            behind += group.num_rows
            continue
        size = max(1, group.total_byte_size)
        rows = min(max(1, group.num_rows * CHUNK // size), _MAX_ROWS)
        for batch in file.iter_batches(
            rows, row_groups=[number], columns=[field], use_threads=False
        ):
            column = batch.column(field).cast(kind)
            skip = min(max(0, start.position - behind), len(column))
            first = behind + skip
            behind += len(column)
            if skip < len(column):
                after = Place(behind, behind)
                raw = (source.size or 0) * behind // file.metadata.num_rows
                yield ParquetChunk(source.path, column[skip:], field, first, after, raw)


def _column_type(arrow: Any, schema: Any, path: str, field: str) -> Any:
    """Return what a column becomes, if it is one of text."""
    if field not in schema.names:
        names = ", ".join(map(repr, schema.names[:20])) or "none"
        raise CorpusError(
            f"{path}: has no column {field!r}; its columns are {names}: choose with "
            "field="
        )
    if (times := schema.names.count(field)) > 1:
        raise CorpusError(
            f"{path}: {times:,} columns have the name {field!r}, and which is meant "
            "cannot be told: write the file with a name for each"
        )
    found = schema.field(field).type
    value = found.value_type if arrow.types.is_dictionary(found) else found
    name = str(value)
    if name in ("string", "large_string", "string_view"):
        return arrow.large_string()
    if name in ("binary", "large_binary", "binary_view"):
        return arrow.large_binary()
    raise CorpusError(f"{path}: the column {field!r} is not text but {found}")


def pyarrow() -> tuple[Any, Any]:
    """Return the modules pyarrow and pyarrow.parquet.

    Raises:
        ImportError: They are not installed; the message says what to install.
    """
    what = "reading .parquet files"
    arrow = required("pyarrow", what, "parquet")
    return arrow, required("pyarrow.parquet", what, "parquet")
