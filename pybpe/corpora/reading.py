"""Sources → chunks, in order, from any place on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pybpe.corpora import jsonl, parquet, text
from pybpe.corpora.documents import Chunk, Place
from pybpe.corpora.inputs import JSONL, PARQUET, Source, find_sources

if TYPE_CHECKING:
    from pybpe.corpora.inputs import Format, Paths
    from pybpe.corpora.seams import LastSeam

FIELD = "text"


class Reading(NamedTuple):
    """How files become documents.

    Attributes:
        field: The field of .jsonl, the column of .parquet.
        split_on: What stands between two documents of a text file; None: it is one.
        last_seam: Where a text may be parted; see `text.read_whole`.
    """

    field: str = FIELD
    split_on: bytes | None = None
    last_seam: LastSeam | None = None


def check_reading(field: object, split_on: object) -> Reading:
    """Return options of a caller's.

    Raises:
        TypeError: One is of the wrong type.
        ValueError: One is empty.
    """
    if not isinstance(field, str):
        raise TypeError(f"field must be a str, got {type(field).__name__}")
    try:
        field.encode()
    except UnicodeEncodeError:
        raise ValueError(f"field must be text, got {field!r}") from None
    if split_on is None:
        return Reading(field)
    if not isinstance(split_on, (str, bytes)):
        raise TypeError(
            f"split_on must be a str or bytes, got {type(split_on).__name__}"
        )
    if not split_on:
        raise ValueError("split_on is empty: None makes each file a document")
    return Reading(field, split_on.encode() if isinstance(split_on, str) else split_on)


def chunks(source: Source, start: Place, reading: Reading) -> Iterator[Chunk]:
    """Yield a file's contents from a place on, in portions."""
    if source.format == JSONL:
        return jsonl.read(source, start, reading.field)
    if source.format == PARQUET:
        return parquet.read(source, start, reading.field)
    if reading.split_on is not None:
        return text.read_split(source, start, reading.split_on)
    return text.read_whole(source, start, reading.last_seam)


def documents(source: Source, reading: Reading) -> Iterator[bytes]:
    """Yield the documents of a file, one by one."""
    for chunk in chunks(source, Place(), reading):
        yield from chunk.documents()


def read_documents(
    paths: Paths,
    *,
    format: Format | None = None,
    field: str = FIELD,
    split_on: str | bytes | None = None,
) -> Iterator[bytes]:
    """Yield the documents of files, one by one, as UTF-8.

    Args:
        paths: Files, folders (all files in them and below) and patterns such as
            `data/**/*.jsonl`; one, or several in the order to read them.
        format: `jsonl`, `parquet` or `text`, whatever the names end with.
        field: The field of .jsonl, or the column of .parquet, that holds the text.
        split_on: What stands between two documents of a text file; by default each
            file is one.

    Raises:
        CorpusError: A file cannot be read as asked; the message says where and why.
        OSError: The system cannot read it.
        ImportError: What reads such files is not installed.
    """
    reading = check_reading(field, split_on)
    for source in find_sources(paths, format):
        yield from documents(source, reading)
