"""What counting and training are given beside options: files, threads, limits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pybpe import _binding_training as core
from pybpe._threads import MAX_THREADS, available_cpus
from pybpe._training_options import integer
from pybpe.errors import TrainingError

if TYPE_CHECKING:
    from pybpe._counting import PretokenCounter
    from pybpe.corpora.inputs import Format, Paths

# By default no more threads than this: one thread reads the texts for all of them.
_MAX_DEFAULT_THREADS = 16


def from_files(
    paths: Paths,
    format: Format | None,
    field: str,
    split_on: str | bytes | None,
) -> tuple[Callable[[PretokenCounter], None], int | None]:
    """Return what gives files to a counter, and how many bytes that will be, if known.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: It makes no sense.
        CorpusError: A folder or pattern stands for no file, or a file is of no kind
            that can be read.
        OSError: A file is not there.
    """
    from pybpe.corpora.counting import count_pretokens, total_size
    from pybpe.corpora.inputs import find_sources
    from pybpe.corpora.reading import check_reading

    reading = check_reading(field, split_on)
    sources = find_sources(paths, format, may_repeat=True)
    return (
        lambda counter: count_pretokens(counter, sources, reading),
        total_size(sources),
    )


def thread_count(num_threads: int | None) -> int:
    """Return how many threads shall count.

    Raises:
        TypeError: `num_threads` is no int.
        ValueError: It makes no sense.
    """
    if num_threads is None:
        return min(available_cpus(), _MAX_DEFAULT_THREADS)
    return integer(num_threads, "num_threads", 1, MAX_THREADS, "None chooses for you")


def most_pretokens(max_pretokens: int | None) -> int | None:
    """Return how many distinct pretokens there may be, None for any number.

    Raises:
        TypeError: `max_pretokens` is no int.
        ValueError: It makes no sense.
    """
    if max_pretokens is None:
        return None
    return integer(
        max_pretokens, "max_pretokens", 1, sys.maxsize, "None is for no limit"
    )


@contextmanager
def pretokens_limited(most: int | None) -> Iterator[None]:
    """Say what can be done when there are too many pretokens."""
    try:
        yield
    except core.TooManyPretokens:
        raise TrainingError(
            f"the texts hold more than max_pretokens={most} distinct pretokens: allow "
            "more if there is memory for them, train on less text, or with a pattern "
            "that splits more finely"
        ) from None
