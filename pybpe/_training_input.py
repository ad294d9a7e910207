"""What counting and training are given beside options: files, threads, limits."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pybpe import _binding_training as core
from pybpe._training_options import integer
from pybpe.errors import TrainingError

# By default no more threads than this: one thread reads the texts for all of them.
_MAX_DEFAULT_THREADS = 16


def to_paths(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return what a caller gave as paths.

    Raises:
        TypeError: An item is no path.
    """
    files = []
    for i, path in enumerate(paths):
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(
                f"paths[{i}] must be a str or a path, got {type(path).__name__}"
            )
        files.append(Path(path))
    return files


def total_size(files: Iterable[Path]) -> int | None:
    """Return the size of all files, None if one is a pipe or the like.

    Raises:
        OSError: A file is not there.
    """
    total: int | None = 0
    for path in files:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            total = None
        elif total is not None:
            total += status.st_size
    return total


def thread_count(num_threads: int | None) -> int:
    """Return how many threads shall count.

    Raises:
        TypeError: `num_threads` is no int.
        ValueError: It makes no sense.
    """
    if num_threads is None:
        from pybpe._threads import available_cpus

        return min(available_cpus(), _MAX_DEFAULT_THREADS)
    return integer(num_threads, "num_threads", 1, 1024, "None chooses for you")


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
