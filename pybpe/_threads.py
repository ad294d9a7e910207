"""Spreading a batch over threads, each on a contiguous share of it."""

from __future__ import annotations

import os

from pybpe._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    _T = TypeVar("_T")

Portion = tuple[int, int]

# More threads than this are nowhere of use; options refuse them.
MAX_THREADS = 1024

# A batch is handed to the core in portions of about this many bytes (or ids): they and
# what is made of them stay in a near cache, and no thread has to wait long for another.
_PORTION = 1 << 19

# With fewer than this for each, threads lose: a new one has nothing in its cache.
_WORTH_A_THREAD = 4 << 20


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
    if isinstance(num_threads, bool) or not hasattr(num_threads, "__index__"):
        raise TypeError(f"num_threads must be an int, got {type(num_threads).__name__}")
    number = num_threads.__index__()
    if number < 1:
        raise ValueError(f"num_threads must be 1 or more, got {number}")
    return number


def in_threads(
    work: Callable[[Portion], _T], lengths: Iterable[int], num_threads: int | None
) -> list[_T]:
    """Return the results of `work` on each portion of a batch of such items, in order.

    A portion is a contiguous range [first, last); all have about the same length.

    The calling thread works too, and alone where no thread can be started: at a limit
    of the system, or while the interpreter shuts down. The first portion that raises
    decides the exception.
    """
    shares, total = _portions(lengths)
    threads = check_num_threads(num_threads)
    threads = min(threads, len(shares), 1 + total // _WORTH_A_THREAD)
    if threads < 2:
        return [work(share) for share in shares]
    return _run_all(work, shares, threads)


def _portions(lengths: Iterable[int]) -> tuple[list[Portion], int]:
    """Return the portions of a batch, and its total length."""
    found, first, total, enough, last = [], 0, 0, _PORTION, 0
    for last, length in enumerate(lengths, 1):
        total += length
        if total >= enough:
            found.append((first, last))
            first, enough = last, total + _PORTION
    if first < last:
        found.append((first, last))
    return found, total


def _run_all(
    work: Callable[[Portion], _T], shares: list[Portion], threads: int
) -> list[_T]:
    """Return the results of `work` on each share, with 2 threads or more."""
    import threading

    results: list[Any] = [None] * len(shares)
    errors: dict[int, BaseException] = {}
    todo = iter(range(len(shares)))  # next() on it is atomic

    def run() -> None:
        for i in todo:
            if errors:
                return
            try:
                results[i] = work(shares[i])
            except BaseException as error:  # raised again below
                errors[i] = error

    helpers = [threading.Thread(target=run) for _ in range(threads - 1)]
    started = []
    for helper in helpers:
        try:
            helper.start()
        except RuntimeError:
            break
        started.append(helper)
    run()
    for helper in started:
        helper.join()
    if errors:
        raise errors[min(errors)]
    return results
