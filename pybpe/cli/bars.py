"""Progress bars on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

if TYPE_CHECKING:
    from pybpe.training import Progress

# Each phase of training: its bar's title and unit.
_PHASES = {"count": ("Counting", "B"), "merge": ("Merging", " merges")}
# How the merge phase begins: all pairs are counted, and no merge is made yet.
_PREPARING = "{desc} [{elapsed}]"
_START = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}]"
_LATER = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}]"
# Below this share of the work, and this many seconds, what is left cannot be guessed.
_GUESS_SHARE = 0.05
_GUESS_SECONDS = 2.0


class Bar(tqdm[Any] if TYPE_CHECKING else tqdm):  # type: ignore[misc]
    """A bar without the thread that tqdm starts to watch it."""

    monitor_interval = 0


class Bars:
    """Progress bars, one for each phase of training; none in a pipe."""

    def __init__(self, quiet: bool) -> None:
        """Show nothing when `quiet` or when stderr is not a terminal."""
        self._hidden = quiet or not sys.stderr.isatty()
        self._phase: str | None = None
        self._bar: Bar | None = None

    def __call__(self, progress: Progress) -> None:
        """Show how far training is; `progress` callback of `pybpe.train`."""
        if self._hidden:
            return
        phase = progress.phase
        if phase == "merge" and progress.done == 0:
            phase = "prepare"
        if phase != self._phase:
            self.close()
            self._phase = phase
            self._bar = _new_bar(phase, progress.total)
        if self._bar is not None:
            self._bar.total = progress.total
            self._bar.bar_format = _format(self._bar, progress)
            self._bar.update(progress.done - self._bar.n)

    def close(self) -> None:
        """Leave the terminal as it was: the bar stays, the cursor is below it."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _new_bar(phase: str, total: int | None) -> Bar:
    if phase == "prepare":
        # Not a bar at 0 %, which looks as if nothing went on; it vanishes when done.
        return Bar(desc="Preparing to merge", bar_format=_PREPARING, leave=False)
    title, unit = _PHASES.get(phase, (phase, "it"))
    return Bar(
        desc=title,
        total=total,
        unit=unit,
        unit_scale=unit == "B",
        bar_format=_START if total else None,
        # Training calls ten times a second at most, and each call is worth showing.
        mininterval=0,
        miniters=1,
    )


def _format(bar: Bar, progress: Progress) -> str | None:
    """Return the bar's format: with the time left once that can be told."""
    if progress.phase == "merge" and progress.done == 0:
        return _PREPARING
    if not progress.total:
        return None
    told = (
        progress.done >= _GUESS_SHARE * progress.total
        and bar.format_dict["elapsed"] >= _GUESS_SECONDS
    )
    return _LATER if told else _START


def line_bar(hidden: bool, total: int | None) -> Bar:
    """Return a bar of bytes for texts that are encoded or decoded line by line."""
    return Bar(total=total, unit="B", unit_scale=True, disable=hidden, smoothing=0.1)
