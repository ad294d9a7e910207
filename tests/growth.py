"""How tests tell linear time from quadratic time, whatever else the machine does.

A limit in seconds fails on a busy machine, and a limit that never fails there finds
nothing. So what is measured is the time that the processor spends on this thread, and
what is judged is how often one run's time goes into another's.

Other programs, interrupts, cold caches: noise only ever adds time. The least of several
tries is therefore the best guess, for the quick run as for the slow one. While the slow
run takes too long, both are tried again, after a pause: a linear algorithm passes as
soon as one try is quiet enough, a quadratic one has no such try.

Where the work is done by Python code, `lines` counts it without any clock.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, TypeVar

Input = TypeVar("Input")
Clock = Callable[[], float]

# Windows counts a thread's time in ticks of 16 ms.
CLOCK: Clock = time.perf_counter if sys.platform == "win32" else time.thread_time

# In what takes less, the call itself and the clock have too large a part.
LEAST = 0.0001
# How often an input is doubled at most to make it take that long. What is still quicker
# counts as if it took that long: it is constant, or does megabytes in no time.
DOUBLINGS = 6
# Linear time grows as the input does, to which large inputs add a factor of 3 or 4 for
# memory that is no longer in a cache, or that the system has to find; quadratic time
# grows 4096 times. The bound is as far from one as from the other.
FACTOR = 64
BOUND = 512

# How often the quick run is tried at least. If none of the tries were quiet, it would
# seem so slow that a quadratic slow run could pass.
QUICK_TRIES = 5
TRIES = 20
# Once slow runs have taken so many seconds, two tries are enough: where linear time is
# milliseconds, that is no noise, and a failure should not take minutes.
ENOUGH = 10.0


def spent(run: Callable[[], object], clock: Clock = CLOCK) -> float:
    """Return how many seconds one run takes, without garbage collection."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        start = clock()
        run()
        return clock() - start
    finally:
        if collecting:
            gc.enable()


def check_ratio(
    slow: Callable[[], object],
    quick: Callable[[], object],
    bound: float,
    *,
    floor: float = 0,
    tries: int = TRIES,
    clock: Clock = CLOCK,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Check that one run takes less than `bound` times as long as another.

    Args:
        slow: The run that may take longer.
        quick: The other.
        bound: How many times as long.
        floor: The quick run counts as if it took no less than so many seconds.
        tries: How often to try before it is a failure.
        clock: Returns seconds.
        pause: Waits for so many seconds.

    Raises:
        AssertionError: It takes longer in the best of all tries.
    """
    least = min(spent(quick, clock) for _ in range(QUICK_TRIES))
    most = float("inf")
    total = 0.0
    for attempt in range(tries):
        if attempt >= 2 and total > ENOUGH:
            break
        pause(0.01 * attempt)
        latest = spent(slow, clock)
        total += latest
        most = min(most, latest)
        least = min(least, spent(quick, clock))
        if most < bound * max(least, floor):
            return
    raise AssertionError(
        f"takes {most / max(least, 1e-9):.1f} times as long, not less than {bound}: "
        f"{most:.6f} and {least:.6f} seconds at best"
    )


def check_linear(
    run: Callable[[Input], object],
    make: Callable[[int], Input],
    size: int,
    *,
    tries: int = TRIES,
    clock: Clock = CLOCK,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Check that the time of a run grows with its input, not with the square of it.

    Args:
        run: What is measured.
        make: Makes an input of a size; not measured.
        size: The smaller size of two, to begin with. It is doubled until it takes long
            enough to be measured, so no machine is too quick.
        tries: As above.
        clock: As above.
        pause: As above.

    Raises:
        AssertionError: The time grows by much more than the input.
    """
    for _ in range(DOUBLINGS):
        quick = partial(run, make(size))
        if min(spent(quick, clock) for _ in range(2)) >= LEAST:
            break
        size *= 2
    check_ratio(
        partial(run, make(FACTOR * size)),
        partial(run, make(size)),
        BOUND,
        floor=LEAST,
        tries=tries,
        clock=clock,
        pause=pause,
    )


def lines(run: Callable[[], object]) -> int:
    """Return how many lines of Python one run executes: the same number every time.

    The garbage collector waits: what it finalises has lines, too, and they would count.
    """
    count = 0

    def local(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return local

    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()
    sys.settrace(lambda _frame, _event, _arg: local)
    try:
        run()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
    return count
