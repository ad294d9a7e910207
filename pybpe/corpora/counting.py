"""Sources → the counters of training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pybpe.corpora.inputs import TEXT, Source
from pybpe.corpora.reading import Reading, documents
from pybpe.corpora.streams import Stream

if TYPE_CHECKING:
    from pybpe._counting import PretokenCounter
    from pybpe._sentence_counting import SentenceCounter

_BLOCK = 4 << 20


def total_size(sources: Iterable[Source]) -> int | None:
    """Return how many bytes will be counted; None where that shows at the end only."""
    total = 0
    for source in sources:
        if source.size is None or source.format != TEXT or source.compression:
            return None
        total += source.size
    return total


def count_pretokens(
    counter: PretokenCounter, sources: Iterable[Source], reading: Reading
) -> None:
    """Count the pretokens of documents.

    Raises:
        CorpusError: A file cannot be read as asked.
        OSError: The system cannot read it.
    """
    for source in sources:
        if source.format == TEXT and reading.split_on is None:
            if source.compression is None:
                counter.add_file(Path(source.path), source.size)
            else:
                with Stream(source) as stream:
                    counter.add_stream(stream)
        else:
            counter.add_texts(documents(source, reading))


def count_sentences(
    counter: SentenceCounter, sources: Iterable[Source], reading: Reading
) -> None:
    """Count the words of the lines of documents.

    Raises:
        CorpusError: A file cannot be read as asked.
        OSError: The system cannot read it.
        TrainingError: A line is not as sentencepiece's `input_format` has it.
    """
    counter.add_blocks(
        _as_lines(source, reading) if source.format != TEXT else _blocks(source)
        for source in sources
    )


def _as_lines(source: Source, reading: Reading) -> Iterator[bytes]:
    """Yield documents, each of which ends a line."""
    for text in documents(source, reading):
        yield text if text.endswith(b"\n") else text + b"\n"


def _blocks(source: Source) -> Iterator[bytes]:
    with Stream(source) as stream:
        while block := stream.read(_BLOCK):
            yield block
