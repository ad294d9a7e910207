"""The check for linear time passes and fails what it should, with and without noise."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable

import growth
import pytest

COSTS: dict[str, Callable[[int], float]] = {
    "constant": lambda n: 1e-5,
    "linear": lambda n: n * 1e-7,
    "large and linear": lambda n: 0.0005 + n * 2e-7,
    "worse in large memory": lambda n: n * (1e-8 if n < 100_000 else 4e-8),
    "sorting": lambda n: n * n.bit_length() * 1e-8,
    "quadratic": lambda n: n * n * 1e-10,
    "hidden": lambda n: 0.00001 + n * 1e-9 + n * n * 1e-12,
    "half linear": lambda n: n * 1e-6 + n * n * 1e-9,
}
QUADRATIC = ("quadratic", "hidden", "half linear")


def check(
    cost: Callable[[int], float], noise: Callable[[], float] = lambda: 1
) -> list[float]:
    """Check a function of known cost on a clock of its own; return the pauses."""
    now = 0.0
    pauses: list[float] = []

    def run(n: int) -> None:
        nonlocal now
        now += cost(n) * noise()

    growth.check_linear(run, int, 1000, clock=lambda: now, pause=pauses.append)
    return pauses


@pytest.mark.parametrize("name", COSTS)
def test_without_noise(name: str) -> None:
    if name in QUADRATIC:
        with pytest.raises(AssertionError, match="times as long, not less than 512"):
            check(COSTS[name])
    else:
        assert check(COSTS[name]) == [0]  # the first try is enough


def test_a_failure_does_not_take_for_ever() -> None:
    runs: list[int] = []

    def cost(n: int) -> float:
        runs.append(n)
        return n * n * 1e-8  # 41 seconds for the large input, instead of 0.64

    with pytest.raises(AssertionError, match="times as long"):
        check(cost)
    assert runs.count(64_000) == 2


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("name", COSTS)
def test_noise_changes_nothing(name: str, seed: int) -> None:
    rng = random.Random(seed)
    if name in QUADRATIC:
        # Every single run is disturbed.
        with pytest.raises(AssertionError, match="seconds at best"):
            check(COSTS[name], lambda: rng.uniform(1.5, 3))
    else:
        # Two runs of three take up to 16 times as long as they should.
        check(COSTS[name], lambda: rng.choice([1, 1, 1, 2, 4, 6, 8, 12, 16]))


def test_a_busy_while_is_waited_out() -> None:
    """The first runs of the large input are slow, as in the test that once failed."""
    n_runs = 0

    def noise() -> float:
        nonlocal n_runs
        n_runs += 1
        return 50 if 7 < n_runs < 20 else 1

    pauses = check(COSTS["large and linear"], noise)
    assert len(pauses) == 7
    assert pauses == sorted(pauses)


def test_ratio() -> None:
    now = 0.0

    def takes(seconds: float) -> Callable[[], None]:
        def run() -> None:
            nonlocal now
            now += seconds

        return run

    def clock() -> float:
        return now

    growth.check_ratio(takes(2.9), takes(1), 3, clock=clock)
    with pytest.raises(AssertionError, match=r"takes 3\.1 times as long, not less"):
        growth.check_ratio(takes(3.1), takes(1), 3, clock=clock, pause=lambda _: None)


def test_the_clock_of_this_machine() -> None:
    def work(n: int) -> Callable[[], int]:
        return lambda: sum(range(n))

    growth.check_linear(lambda n: sum(range(n)), int, 1000)
    growth.check_ratio(work(1_000_000), work(5_000), 800)
    with pytest.raises(AssertionError, match="seconds at best"):
        growth.check_ratio(work(1_000_000), work(5_000), 50, tries=3)


def test_garbage_is_not_collected_while_measuring() -> None:
    enabled: list[bool] = []
    growth.spent(lambda: enabled.append(gc.isenabled()))
    assert (enabled, gc.isenabled()) == ([False], True)
    gc.disable()
    try:
        growth.spent(lambda: None)
        assert not gc.isenabled()
    finally:
        gc.enable()
    with pytest.raises(ZeroDivisionError):
        growth.spent(lambda: 1 / 0)
    assert gc.isenabled()


def test_lines() -> None:
    def loop(n: int) -> None:
        for _ in range(n):
            generator = (x for x in (1, 2))
            list(generator)

    before = sys.gettrace()
    few, many, more = (growth.lines(lambda n=n: loop(n)) for n in (10, 110, 210))
    assert many - few == more - many >= 200
    assert growth.lines(lambda: loop(0)) > 0
    with pytest.raises(ZeroDivisionError):
        growth.lines(lambda: 1 / 0)
    assert sys.gettrace() is before
    assert gc.isenabled()


def test_lines_of_finalizers_do_not_count() -> None:
    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            for _ in range(100):
                pass

    def run() -> None:
        for _ in range(50):
            Cycle()

    thresholds = gc.get_threshold()
    gc.set_threshold(1)  # collect whenever there is something
    try:
        assert growth.lines(run) < 300
    finally:
        gc.set_threshold(*thresholds)
