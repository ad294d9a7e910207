"""Training: from texts, files or counts to a tokenizer.

Pretokens are counted first (`_counting`), then the core learns merges from the counts,
and the merges become a model. Everything is deterministic: the merges depend on the
texts, their order and the options, not on threads, blocks or hash seeds.
"""

from __future__ import annotations

import os
import stat
import time
from array import array
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pybpe import _binding_training as core
from pybpe._text import to_utf8
from pybpe.errors import TrainingError
from pybpe.model import MAX_EXTRA

if TYPE_CHECKING:
    from pybpe.model import Model
    from pybpe.split import PatternLike, Split
    from pybpe.tokenizer import Tokenizer

Token = str | bytes

REACHED = "vocab_size reached"
EXHAUSTED = "nothing left to merge"
RARE = "min_frequency"

_STOP_REASONS = {
    core.STOP_REACHED: REACHED,
    core.STOP_EXHAUSTED: EXHAUSTED,
    core.STOP_MIN_FREQUENCY: RARE,
}

# Units of the core's work between two looks at signals: some ten milliseconds.
_BUDGET = 1 << 20

# Seconds between two calls of `progress`.
_INTERVAL = 0.1

# By default no more threads than this: one thread reads the texts for all of them.
_MAX_DEFAULT_THREADS = 16

# What the core can hold of all tokens together, in bytes.
_MAX_TOKEN_DATA = 2**32 - 1


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


class TrainingReport(NamedTuple):
    """What training did.

    Attributes:
        documents: How many texts or files there were; 0 when trained from counts.
        bytes: Their size in UTF-8; when trained from counts, that of all pretokens.
        pretokens: How many pretokens they were split into, special tokens left out.
        distinct_pretokens: How many different ones.
        merges: How many merges were learnt.
        vocab_size_asked: The `vocab_size` that was asked for.
        vocab_size: The one that was reached.
        stop_reason: "vocab_size reached"; "nothing left to merge", when every pretoken
            has become one token; "min_frequency", when all pairs left are rarer.
    """

    documents: int
    bytes: int
    pretokens: int
    distinct_pretokens: int
    merges: int
    vocab_size_asked: int
    vocab_size: int
    stop_reason: str


ProgressCallback = Callable[[Progress], object]


def train(
    texts: Iterable[Token],
    vocab_size: int,
    *,
    pattern: PatternLike = "cl100k",
    special_tokens: Iterable[Token] = (),
    tie_break: str = "lowest",
    byte_order: str = "identity",
    min_frequency: int = 1,
    num_threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Tokenizer:
    """Train a tokenizer on texts.

    >>> tok = train(["low lower lowest", "new newer"], 259)
    >>> [tok.token_bytes(i) for i in range(256, 259)]
    [b'lo', b'we', b' lo']

    When nothing is left to merge, training stops early; `tok.training_report` says why,
    and what size was reached.

    Args:
        texts: Any iterable of str or bytes. Each is split on its own. Lone surrogates
            count as U+FFFD; bytes may be anything.
        vocab_size: How many ids there shall be: the 256 single bytes, merges, and
            special tokens.
        pattern: How texts are split into pretokens, which merges never cross: a named
            pattern, a regex, a `Split`, or None for no split.
        special_tokens: Strings that are cut out of the texts before they are split.
            They get the ids after the last merge, in the order given.
        tie_break: Which of several pairs of equal count is merged: "lowest", the
            smallest (left id, right id), as in rustbpe and Hugging Face tokenizers; or
            "first", the one that occurs first in the texts as they stand then, as in
            minbpe.
        byte_order: The ids of the single bytes: "identity" (byte b has id b), or "gpt2"
            (GPT-2's order, which Hugging Face uses: with it and "lowest", merges are
            those of its `BpeTrainer`).
        min_frequency: Merge only pairs that occur at least this often.
        num_threads: How many threads count; by default as many as there are CPUs for
            this process. Results do not depend on it.
        progress: Called with a `Progress` at most ten times a second. What it raises
            ends training and comes out of this call.

    Returns:
        The tokenizer, with a `training_report`.

    Raises:
        TypeError: An argument, or an item of `texts`, has the wrong type.
        ValueError: An option has a value that makes no sense; the message says which
            values do.
        TrainingError: The texts pass a limit: 4 GB of distinct pretokens.
        Exception: Whatever `texts` or `progress` raises comes out unchanged.
    """
    _refuse_lone_text(texts, "texts", "a list of texts")
    if isinstance(texts, Mapping):
        raise TypeError(
            "texts must be a list of texts, got a mapping: pretokens with their counts "
            "are for train_from_counts"
        )
    options = _Options(
        vocab_size, pattern, special_tokens, tie_break, byte_order, min_frequency
    )
    threads = _thread_count(num_threads)
    ticker = _Ticker(progress, "count", None, "bytes")
    from pybpe._counting import PretokenCounter

    with PretokenCounter(options.split, options.special, threads, ticker) as counter:
        counter.add_texts(texts)
        counts = counter.finish()
    ticker.finish(counter.size)
    return _train(counts, options, counter.documents, counter.size, progress)


def train_from_files(
    paths: Iterable[str | os.PathLike[str]],
    vocab_size: int,
    *,
    pattern: PatternLike = "cl100k",
    special_tokens: Iterable[Token] = (),
    tie_break: str = "lowest",
    byte_order: str = "identity",
    min_frequency: int = 1,
    num_threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Tokenizer:
    """Train a tokenizer on files, each of which is one text.

    Files are read in blocks, so they may be larger than memory; the result is that of
    `train` with each file's contents as one text. With a split that does not compile
    (`Split.compiled`), or none, a file is held in memory whole.

    Args:
        paths: The files, in order. They are read as bytes, nothing is decoded.
        vocab_size: See `train`, as for all other arguments.
        pattern: See `train`.
        special_tokens: See `train`.
        tie_break: See `train`.
        byte_order: See `train`.
        min_frequency: See `train`.
        num_threads: See `train`. One file is counted by one thread.
        progress: See `train`.

    Returns:
        The tokenizer, with a `training_report`.

    Raises:
        OSError: A file cannot be read.
        TypeError: See `train`.
        ValueError: See `train`.
        TrainingError: See `train`.
    """
    _refuse_lone_text(paths, "paths", "a list of paths")
    files = _paths(paths)
    options = _Options(
        vocab_size, pattern, special_tokens, tie_break, byte_order, min_frequency
    )
    threads = _thread_count(num_threads)
    ticker = _Ticker(progress, "count", _total_size(files), "bytes")
    from pybpe._counting import PretokenCounter

    with PretokenCounter(options.split, options.special, threads, ticker) as counter:
        counter.add_files(files)
        counts = counter.finish()
    ticker.finish(counter.size)
    return _train(counts, options, counter.documents, counter.size, progress)


def train_from_counts(
    counts: Mapping[Token, int],
    vocab_size: int,
    *,
    pattern: PatternLike = "cl100k",
    special_tokens: Iterable[Token] = (),
    tie_break: str = "lowest",
    byte_order: str = "identity",
    min_frequency: int = 1,
    progress: ProgressCallback | None = None,
) -> Tokenizer:
    """Train a tokenizer on pretokens that are counted already.

    >>> tok = train_from_counts({"the": 3_000_000_000, " the": 2}, 258)
    >>> tok.encode("the")
    [257]

    Args:
        counts: Pretokens and how often each occurs, up to 2**63 pairs of bytes in all.
            They are taken as they are: nothing is split, and no special token is cut
            out. For `tie_break="first"` their order is that of the mapping.
        vocab_size: See `train`, as for all other arguments.
        pattern: How the tokenizer shall split the texts it encodes. It should be what
            made the pretokens.
        special_tokens: See `train`.
        tie_break: See `train`.
        byte_order: See `train`.
        min_frequency: See `train`.
        progress: See `train`.

    Returns:
        The tokenizer, with a `training_report`.

    Raises:
        TypeError: See `train`; a pretoken is neither str nor bytes, or a count no int.
        ValueError: See `train`; a count is negative or not below 2**64.
        TrainingError: See `train`; the counts are too large together.
    """
    if not isinstance(counts, Mapping):
        raise TypeError(
            "counts must be a mapping from pretokens to ints, got "
            f"{type(counts).__name__}"
        )
    options = _Options(
        vocab_size, pattern, special_tokens, tie_break, byte_order, min_frequency
    )
    table = core.Counts()
    size = 0
    pretokens: list[bytes] = []
    frequencies = array("Q")
    position = 0
    for pretoken, count in counts.items():
        pretokens.append(to_utf8(pretoken, "a pretoken in counts"))
        if type(count) is not int or not 0 <= count < 2**64:
            count = _integer(count, f"counts[{pretoken!r}]", 0, 2**64 - 1)
        frequencies.append(count)
        size += len(pretokens[-1]) * frequencies[-1]
        if len(pretokens) == 1 << 16:
            table.add_frequencies(pretokens, frequencies, position)
            position += len(pretokens)
            pretokens, frequencies = [], array("Q")
    table.add_frequencies(pretokens, frequencies, position)
    return _train(table, options, 0, size, progress)


# ---------------------------------------------------------------- options


class _Options:
    """The options of training, checked."""

    def __init__(
        self,
        vocab_size: int,
        pattern: PatternLike,
        special_tokens: Iterable[Token],
        tie_break: object,
        byte_order: str,
        min_frequency: int,
    ) -> None:
        from pybpe.byte_order import bytes_in_order
        from pybpe.split import Split

        self.special = _special_tokens(special_tokens)
        least = 256 + len(self.special)
        if least > core.MAX_VOCAB_SIZE:
            raise ValueError(f"{len(self.special)} special tokens are too many")
        and_special = (
            f" and the {len(self.special)} special token"
            f"{'s' if len(self.special) != 1 else ''}"
            if self.special
            else ""
        )
        self.vocab_size = _integer(
            vocab_size,
            "vocab_size",
            least,
            core.MAX_VOCAB_SIZE,
            f"the 256 single bytes{and_special} are always there",
        )
        self.n_merges = self.vocab_size - least
        self.min_frequency = _integer(min_frequency, "min_frequency", 1, 2**64 - 1)
        if not isinstance(tie_break, str) or tie_break not in core.TIES:
            raise ValueError(
                f"tie_break must be one of {', '.join(core.TIES)}, got {tie_break!r}"
            )
        self.tie_break = tie_break
        self.bytes_by_id = bytes_in_order(byte_order)
        self.byte_order = byte_order
        self.split: Split = Split.from_pattern(pattern)


def _integer(value: object, name: str, least: int, most: int, because: str = "") -> int:
    """Return an option that must be an int within bounds.

    Raises:
        TypeError: It is no int (nor one of numpy's), or a bool.
        ValueError: It is out of bounds.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int, got {value!r}")
    number: int = value.__index__()
    if not least <= number <= most:
        reason = f" ({because})" if because else ""
        raise ValueError(
            f"{name} must be between {least} and {most}{reason}, got {number}"
        )
    return number


def _special_tokens(tokens: Iterable[Token]) -> list[bytes]:
    """Return special tokens as bytes.

    Raises:
        TypeError: Not an iterable of str or bytes.
        ValueError: One is empty, or occurs twice.
    """
    if isinstance(tokens, (Mapping, Set)):
        raise TypeError(
            "special_tokens must be a list of tokens, got a "
            f"{type(tokens).__name__}: their order decides their ids"
        )
    _refuse_lone_text(tokens, "special_tokens", "a list of tokens")
    special: list[bytes] = []
    seen: set[bytes] = set()
    for i, token in enumerate(tokens):
        data = to_utf8(token, f"special_tokens[{i}]")
        if not data:
            raise ValueError(
                f"special_tokens[{i}] is empty: it would match everywhere; leave it out"
            )
        if data in seen:
            raise ValueError(f"special_tokens[{i}], {token!r}, is there twice")
        if len(special) == MAX_EXTRA:
            raise ValueError(f"special_tokens holds more than {MAX_EXTRA} tokens")
        special.append(data)
        seen.add(data)
    return special


def _refuse_lone_text(values: object, name: str, wanted: str) -> None:
    """Refuse a str or bytes where many are wanted: they are iterable, too.

    Raises:
        TypeError: That, or nothing that can be iterated over.
    """
    if isinstance(values, (str, bytes, bytearray, memoryview, os.PathLike)):
        raise TypeError(
            f"{name} must be {wanted}, got one {type(values).__name__}: make it a list"
        )
    if not isinstance(values, Iterable):
        raise TypeError(f"{name} must be {wanted}, got {type(values).__name__}")


def _paths(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    files = []
    for i, path in enumerate(paths):
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(
                f"paths[{i}] must be a str or a path, got {type(path).__name__}"
            )
        files.append(Path(path))
    return files


def _total_size(files: Iterable[Path]) -> int | None:
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


def _thread_count(num_threads: int | None) -> int:
    if num_threads is None:
        from pybpe._threads import available_cpus

        return min(available_cpus(), _MAX_DEFAULT_THREADS)
    return _integer(num_threads, "num_threads", 1, 1024, "None chooses for you")


# ---------------------------------------------------------------- progress


class _Ticker:
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


# ---------------------------------------------------------------- merging


def _train(
    counts: core.Counts,
    options: _Options,
    documents: int,
    size: int,
    progress: ProgressCallback | None,
) -> Tokenizer:
    """Learn merges from counts, which are freed, and make the tokenizer."""
    from pybpe.tokenizer import Tokenizer

    pretokens, distinct = counts.total, counts.distinct
    ticker = _Ticker(progress, "merge", options.n_merges, "merges")
    byte_ids = array("I", bytes(4 * 256))
    for number, byte in enumerate(options.bytes_by_id):
        byte_ids[byte] = number
    trainer = core.Trainer(
        counts,
        n_merges=options.n_merges,
        min_frequency=options.min_frequency,
        ties=core.TIES[options.tie_break],
        byte_ids=byte_ids,
    )
    counts.close()
    while (stop := trainer.run(_BUDGET)) == core.STOP_NONE:
        ticker(trainer.n_merges)
    ticker.finish(trainer.n_merges)
    report = TrainingReport(
        documents=documents,
        bytes=size,
        pretokens=pretokens,
        distinct_pretokens=distinct,
        merges=trainer.n_merges,
        vocab_size_asked=options.vocab_size,
        vocab_size=256 + trainer.n_merges + len(options.special),
        stop_reason=_STOP_REASONS[stop],
    )
    tokenizer = Tokenizer(_model(trainer.merges(), options, report))
    object.__setattr__(tokenizer, "_report", report)  # it is immutable for others
    return tokenizer


def _model(merges: array[int], options: _Options, report: TrainingReport) -> Model:
    from pybpe import __version__
    from pybpe.model import MERGES, Model

    tokens = [bytes([byte]) for byte in options.bytes_by_id]
    size = 256
    for left, right in zip(merges[::2], merges[1::2], strict=True):
        token = tokens[left] + tokens[right]
        size += len(token)
        if size > _MAX_TOKEN_DATA:
            raise TrainingError(
                f"the first {len(tokens)} tokens hold more than 4 GB together, because "
                "merges go on within very long pretokens: use a pattern that splits, "
                "a larger min_frequency, or a smaller vocab_size"
            )
        tokens.append(token)
    first = len(tokens)
    return Model(
        semantics=MERGES,
        whole_pretoken=False,
        token_data=b"".join(tokens),
        token_lengths=array("I", map(len, tokens)),
        token_ids=array("I", range(first)),
        merges=merges,
        merge_ids=array("I", range(256, first)),
        special_tokens=tuple((t, first + i) for i, t in enumerate(options.special)),
        split=options.split,
        provenance=_savable(
            {
                "trained_by": f"pybpe {__version__}",
                "tie_break": options.tie_break,
                "byte_order": options.byte_order,
                "min_frequency": options.min_frequency,
                **report._asdict(),
            }
        ),
    )


def _savable(provenance: dict[str, str | int]) -> dict[str, str | int]:
    """Write out numbers that a model file has no room for: those above 2^63 - 1."""
    return {
        key: str(value) if isinstance(value, int) and value >> 63 else value
        for key, value in provenance.items()
    }
