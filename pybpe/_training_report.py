"""What training says about itself: progress, and the report at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from pybpe._process import peak_memory

if TYPE_CHECKING:
    from pybpe.tokenizer import Tokenizer

# Seconds between two calls of `progress`.
_INTERVAL = 0.1


class Progress(NamedTuple):
    """How far training is; what `progress` callbacks get.

    Attributes:
        phase: "count", then "merge".
        done: How much is done, in `unit`.
        total: How much there is, None if that is not known.
        unit: "bytes" when counting, "merges" when merging.
    """

    phase: str
    done: int
    total: int | None
    unit: str


class TrainingPhase(NamedTuple):
    """What one phase of training took.

    Attributes:
        name: "count" (reading, splitting, counting) or "merge" (the merges, and making
            the tokenizers).
        seconds: How long it took.
        peak_memory: The most memory that the process has had resident up to the end of
            the phase, in bytes; None where the system does not say.
    """

    name: str
    seconds: float
    peak_memory: int | None


class _Facts(NamedTuple):
    """What depends on the texts and the options alone."""

    documents: int
    bytes: int
    pretokens: int
    distinct_pretokens: int
    merges: int
    vocab_size_asked: int
    vocab_size: int
    stop_reason: str


class TrainingReport(_Facts):
    """What training did.

    As a tuple, and in comparisons, it is what depends on the texts and the options
    alone; that is also saved with the tokenizer, as part of where it comes from, and
    shown by `pybpe info`. `phases`, `snapshots` and `details` are not part of the
    tuple.

    Attributes:
        documents: How many texts or files there were; 0 when trained from counts.
        bytes: Their size in UTF-8; when trained from counts, that of all pretokens.
        pretokens: How many pretokens they were split into, special and protected tokens
            left out.
        distinct_pretokens: How many different ones.
        merges: How many merges were learnt, those of an initial tokenizer left out.
        vocab_size_asked: The `vocab_size` that was asked for, or that comes of the
            `num_merges` asked for.
        vocab_size: The one that was reached.
        stop_reason: "vocab_size reached" or "num_merges reached", whichever was given;
            "nothing left to merge", when every pretoken has become one token;
            "min_frequency", when all pairs left are rarer; "max_token_bytes", when all
            pairs left would make a longer token.
    """

    _phases: tuple[TrainingPhase, ...] = ()
    _snapshots: Mapping[int, Tokenizer] | None = None
    _details: Mapping[str, int] | None = None

    @property
    def phases(self) -> tuple[TrainingPhase, ...]:
        """Time and memory, phase by phase; none in the report of a snapshot."""
        return self._phases

    @property
    def snapshots(self) -> dict[int, Tokenizer]:
        """The tokenizers of the sizes that were asked for as `snapshots`, by size."""
        return dict(self._snapshots or {})

    @property
    def details(self) -> dict[str, int]:
        """More figures of training a sentencepiece model: what was left out, and why.

        `lines_empty`, `lines_too_long` and `lines_reserved` (with U+2585) are lines
        that were left out; `symbols_cut_out` is how many strings were cut out of the
        others; `characters` and `distinct_characters` are what was left, `alphabet` how
        many of them have pieces.
        """
        return dict(self._details or {})

    def _with(
        self,
        phases: Iterable[TrainingPhase],
        snapshots: Mapping[int, Tokenizer],
        details: Mapping[str, int] | None = None,
    ) -> TrainingReport:
        """Return the same report with what is not part of the tuple."""
        report = TrainingReport(*self)
        report._phases = tuple(phases)
        report._snapshots = snapshots
        report._details = details
        return report


ProgressCallback = Callable[[Progress], object]


class Ticker:
    """Calls a progress callback, but not too often."""

    def __init__(
        self,
        callback: object,
        phase: str,
        total: int | None,
        unit: str,
    ) -> None:
        """Say at once that the phase has begun.

        Raises:
            TypeError: `callback` is not callable.
        """
        if callback is not None and not callable(callback):
            raise TypeError(f"progress must be a function, got {callback!r}")
        self._callback = callback
        self._phase = phase
        self._total = total
        self._unit = unit
        self._next = 0.0
        self(0)

    def __call__(self, done: int) -> None:
        """Call back, if the last time is long enough ago."""
        if self._callback is None:
            return
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _INTERVAL
            self._callback(Progress(self._phase, done, self._total, self._unit))

    def finish(self, done: int) -> None:
        """Call back a last time: so much was done, and it was all there is."""
        self._next = 0.0
        self._total = done
        self(done)


class Stopwatch:
    """Takes the time of phases that follow each other."""

    def __init__(self) -> None:
        self.phases: list[TrainingPhase] = []
        self._begun = perf_counter()

    def end(self, name: str) -> None:
        """End the phase that has run since the last one ended."""
        now = perf_counter()
        self.phases.append(TrainingPhase(name, now - self._begun, peak_memory()))
        self._begun = now
