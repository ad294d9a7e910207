"""Work on a row of jobs in several threads; results come in the order of the jobs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

# How many jobs each thread may have waiting or done: what bounds memory.
_AHEAD = 3

# How many seconds to wait for what reads when all is over.
_PATIENCE = 2.0


def in_order(
    jobs: Iterable[_Job], work: Callable[[_Job], _Result], num_threads: int
) -> Iterator[tuple[_Job, _Result]]:
    """Yield each job with its result.

    With one thread everything happens on the calling thread. With more, `num_threads`
    of them work, and one beside takes the jobs from the iterable. The first job, or
    step of the iterable, that raises ends it all; what was before it has been yielded.
    """
    if num_threads < 2:
        for job in jobs:
            yield job, work(job)
        return
    line: SimpleQueue[tuple[_Job, Future[_Result]] | BaseException | None]
    line = SimpleQueue()
    room = threading.Semaphore(_AHEAD * num_threads)
    stopped = threading.Event()
    pool = ThreadPoolExecutor(num_threads, "pybpe-encode")

    def feed() -> None:
        try:
            for job in jobs:
                room.acquire()
                if stopped.is_set():
                    return
                line.put((job, pool.submit(work, job)))
            line.put(None)
        except BaseException as error:  # raised again below
            line.put(error)

    feeder = threading.Thread(target=feed, name="pybpe-read", daemon=True)
    feeder.start()
    try:
        while (item := line.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            job, result = item[0], item[1].result()
            room.release()
            yield job, result
    finally:
        item = None  # it may hold the error, whose traceback holds this frame
        stopped.set()
        room.release()
        # Not for ever: it may be waiting for a pipe.
        feeder.join(_PATIENCE)
        pool.shutdown(cancel_futures=True)
