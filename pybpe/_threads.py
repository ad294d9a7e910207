"""Spreading a batch over threads, each on a contiguous share of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

_T = TypeVar("_T")

Portion = tuple[int, int]

# A batch is handed to the core in portions of about this many bytes (or ids).
_PORTION = 4 << 20


def available_cpus() -> int:
    """Return how many CPUs this process may use; 1 where that is unknown."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def check_num_threads(num_threads: int | None) -> int:
    """Return a caller's number of threads; None stands for the CPUs there are.

    Raises:
        TypeError: It is neither None nor an int.
        ValueError: It is below 1.
    """
    if num_threads is None:
        return available_cpus()
    if isinstance(num_threads, bool) or not isinstance(num_threads, int):
        raise TypeError(f"num_threads must be an int, got {type(num_threads).__name__}")
    if num_threads < 1:
        raise ValueError(f"num_threads must be 1 or more, got {num_threads}")
    return num_threads


def portions(items: Sequence[Any]) -> list[Portion]:
    """Cut a batch into contiguous ranges [first, last) of about equal total length."""
    found, first, total = [], 0, 0
    for i, item in enumerate(items):
        total += len(item)
        if total >= _PORTION:
            found.append((first, i + 1))
            first, total = i + 1, 0
    if first < len(items):
        found.append((first, len(items)))
    return found


def in_threads(
    work: Callable[[Portion], _T], shares: Sequence[Portion], num_threads: int | None
) -> Iterator[_T]:
    """Yield the results of `work` on each share, in order.

    A single share, or a single thread, is worked on by the calling thread.
    """
    threads = min(check_num_threads(num_threads), len(shares))
    if threads < 2:
        yield from map(work, shares)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, shares)
