"""Training: from texts, files or counts to a tokenizer.

Pretokens are counted first (`_counting`), then the core learns merges from the counts,
and the merges become a model. Everything is deterministic: the merges depend on the
texts, their order and the options, not on threads, blocks or hash seeds.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pybpe import _binding_training as core
from pybpe._text import to_utf8
from pybpe._training_input import from_files
from pybpe._training_options import (
    BYTE_ORDER,
    PATTERN,
    Given,
    Options,
    integer,
    refuse_lone_text,
)
from pybpe._training_report import (
    Progress,
    ProgressCallback,
    Stopwatch,
    Ticker,
    TrainingPhase,
    TrainingReport,
)
from pybpe.counts import Counts, head_of, options_for, tally
from pybpe.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pybpe._counting import PretokenCounter
    from pybpe.corpora.inputs import Format, Paths
    from pybpe.split import PatternLike
    from pybpe.tokenizer import Tokenizer

__all__ = [
    "EXHAUSTED",
    "LONG",
    "RARE",
    "Progress",
    "ProgressCallback",
    "TrainingPhase",
    "TrainingReport",
    "train",
    "train_from_counts",
    "train_from_files",
]

Token = str | bytes

EXHAUSTED = "nothing left to merge"
RARE = "min_frequency"
LONG = "max_token_bytes"

# Why training stopped before it had all the merges that were asked for.
_STOP_REASONS = {
    core.STOP_EXHAUSTED: EXHAUSTED,
    core.STOP_MIN_FREQUENCY: RARE,
    core.STOP_TOKEN_BYTES: LONG,
}

# Units of the core's work between two looks at signals: some ten milliseconds.
_BUDGET = 1 << 20

# What the core can hold of all tokens together, in bytes.
_MAX_TOKEN_DATA = 2**32 - 1


def train(
    texts: Iterable[Token],
    vocab_size: int | None = None,
    *,
    num_merges: int | None = None,
    pattern: PatternLike = PATTERN,
    special_tokens: Iterable[Token] = (),
    protected: Iterable[Token] = (),
    tie_break: str = "lowest",
    byte_order: str = BYTE_ORDER,
    min_frequency: int = 1,
    max_token_bytes: int | None = None,
    initial: Tokenizer | None = None,
    snapshots: Iterable[int] = (),
    max_pretokens: int | None = None,
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
        vocab_size: How many ids there shall be: the 256 single bytes, merges, protected
            and special tokens. Give this or `num_merges`.
        num_merges: How many merges to learn, instead of `vocab_size`; with `initial`,
            on top of its own.
        pattern: How texts are split into pretokens, which merges never cross: a named
            pattern, a regex, a `Split`, or None for no split. With `initial`, by
            default its split.
        special_tokens: Strings that are cut out of the texts before they are split.
            They get the last ids, in the order given.
        protected: Strings that stay whole: each becomes an added token, which is cut
            out of texts before they are split, in training as in encoding, whatever
            stands beside it, and without permission. Merges neither cross nor enter it.
            They get the ids between the last merge and the special tokens, in the order
            given.
        tie_break: Which of several pairs of equal count is merged: "lowest", the
            smallest (left id, right id), as in rustbpe and Hugging Face tokenizers; or
            "first", the one that occurs first in the texts as they stand then, as in
            minbpe.
        byte_order: The ids of the single bytes: "identity" (byte b has id b), or "gpt2"
            (GPT-2's order, which Hugging Face uses: with it and "lowest", merges are
            those of its `BpeTrainer`).
        min_frequency: Merge only pairs that occur at least this often.
        max_token_bytes: Merge only pairs that make a token of at most so many bytes;
            training goes on with the next best pair. Protected and special tokens may
            be of any length.
        initial: A tokenizer to go on from. All its ids, merges, special and added
            tokens stay as they are; the texts are encoded by its merges before pairs
            are counted. New ids follow its highest (`initial.n_vocab`): merges, then
            new protected, then new special tokens; those it has already may be named
            again and change nothing. The same texts and options give the merges that
            one run would have given, up to the numbers of ids where `initial` has
            special or added tokens. With a `pattern` of your own the new tokenizer
            splits by that: its first merges are still those of `initial`, but it may
            encode a text differently. No merge is made that spells a token of
            `initial`. One made from ranks goes on as the pairs that its tokens are
            merged from, if each token has one that ranks before it.
        snapshots: Sizes, as `vocab_size` would have them and no larger, of which to
            make tokenizers on the way: `training_report.snapshots[size]` is the
            tokenizer that a run with this `vocab_size` would have given.
        max_pretokens: Give up when the texts hold more distinct pretokens than this,
            before they fill the memory; docs/training.md says how much they take. By
            default there is no limit.
        num_threads: How many threads count; by default as many as there are CPUs for
            this process. Results do not depend on it.
        progress: Called with a `Progress` at most ten times a second. What it raises
            ends training and comes out of this call.

    Returns:
        The tokenizer, with a `training_report`.

    Raises:
        TypeError: An argument, or an item of `texts`, has the wrong type; or not
            exactly one of `vocab_size` and `num_merges` is given.
        ValueError: An option has a value that makes no sense; the message says which
            values do.
        TrainingError: The texts pass a limit: 4 GB of distinct pretokens, or
            `max_pretokens`.
        Exception: Whatever `texts` or `progress` raises comes out unchanged.
    """
    refuse_lone_text(texts, "texts", "a list of texts")
    if isinstance(texts, Mapping):
        raise TypeError(
            "texts must be a list of texts, got a mapping: pretokens with their counts "
            "are for train_from_counts"
        )
    options = Options(
        Given(
            vocab_size=vocab_size,
            num_merges=num_merges,
            pattern=pattern,
            special_tokens=special_tokens,
            protected=protected,
            tie_break=tie_break,
            byte_order=byte_order,
            min_frequency=min_frequency,
            max_token_bytes=max_token_bytes,
            initial=initial,
            snapshots=snapshots,
        )
    )
    return _count_and_train(
        options,
        lambda counter: counter.add_texts(texts),
        None,
        num_threads=num_threads,
        max_pretokens=max_pretokens,
        progress=progress,
    )


def train_from_files(
    paths: Paths,
    vocab_size: int | None = None,
    *,
    num_merges: int | None = None,
    pattern: PatternLike = PATTERN,
    special_tokens: Iterable[Token] = (),
    protected: Iterable[Token] = (),
    tie_break: str = "lowest",
    byte_order: str = BYTE_ORDER,
    min_frequency: int = 1,
    max_token_bytes: int | None = None,
    initial: Tokenizer | None = None,
    snapshots: Iterable[int] = (),
    max_pretokens: int | None = None,
    format: Format | None = None,
    field: str = "text",
    split_on: Token | None = None,
    num_threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Tokenizer:
    """Train a tokenizer on files: of text, each one text, or of documents.

    Files are read in blocks, so they may be larger than memory; the result is that of
    `train` with each text file's contents, or each document, as one text. With a split
    that does not compile (`Split.compiled`), or none, a text file is held in memory
    whole.

    Args:
        paths: Files, folders or patterns, in order; docs/corpora.md has the rules.
            `.jsonl` and `.parquet` hold documents, any other file is text and read as
            bytes, nothing is decoded. All may be compressed (`.gz`, `.zst`, `.xz`,
            `.bz2`).
        vocab_size: See `train`, as for all other arguments.
        num_merges: See `train`.
        pattern: See `train`.
        special_tokens: See `train`.
        protected: See `train`.
        tie_break: See `train`.
        byte_order: See `train`.
        min_frequency: See `train`.
        max_token_bytes: See `train`.
        initial: See `train`.
        snapshots: See `train`.
        max_pretokens: See `train`.
        format: What all files hold, whatever their names: "text", "jsonl" or "parquet".
        field: The field of .jsonl, or the column of .parquet, that holds the text.
        split_on: What stands between two documents of a text file; by default it is
            one.
        num_threads: See `train`. They share one large file, too.
        progress: See `train`.

    Returns:
        The tokenizer, with a `training_report`.

    Raises:
        OSError: A file cannot be read.
        CorpusError: A file cannot be read as documents, or a folder or pattern stands
            for none; the message says where and why. (A `ValueError`.)
        ImportError: What reads such files is not installed.
        TypeError: See `train`.
        ValueError: See `train`.
        TrainingError: See `train`.
    """
    take_in, total = from_files(paths, format, field, split_on)
    options = Options(
        Given(
            vocab_size=vocab_size,
            num_merges=num_merges,
            pattern=pattern,
            special_tokens=special_tokens,
            protected=protected,
            tie_break=tie_break,
            byte_order=byte_order,
            min_frequency=min_frequency,
            max_token_bytes=max_token_bytes,
            initial=initial,
            snapshots=snapshots,
        )
    )
    return _count_and_train(
        options,
        take_in,
        total,
        num_threads=num_threads,
        max_pretokens=max_pretokens,
        progress=progress,
    )


def _count_and_train(
    options: Options,
    take_in: Callable[[PretokenCounter], None],
    total: int | None,
    *,
    num_threads: int | None,
    max_pretokens: int | None,
    progress: ProgressCallback | None,
) -> Tokenizer:
    """Count what `take_in` gives to a counter, `total` bytes if known, and train."""
    watch = Stopwatch()
    counts = tally(
        head_of(options),
        take_in,
        total,
        num_threads=num_threads,
        max_pretokens=max_pretokens,
        progress=progress,
    )
    watch.end("count")
    table = counts._table
    return _train(table, options, counts.documents, counts.bytes, progress, watch)


def train_from_counts(
    counts: Mapping[Token, int] | Counts | str | os.PathLike[str],
    vocab_size: int | None = None,
    *,
    num_merges: int | None = None,
    pattern: PatternLike = PATTERN,
    special_tokens: Iterable[Token] | None = None,
    protected: Iterable[Token] | None = None,
    tie_break: str = "lowest",
    byte_order: str = BYTE_ORDER,
    min_frequency: int = 1,
    max_token_bytes: int | None = None,
    initial: Tokenizer | None = None,
    snapshots: Iterable[int] = (),
    progress: ProgressCallback | None = None,
) -> Tokenizer:
    """Train a tokenizer on pretokens that are counted already.

    >>> tok = train_from_counts({"the": 3_000_000_000, " the": 2}, 258)
    >>> tok.encode("the")
    [257]

    Args:
        counts: `Counts`, or the path of a file of them: then the tokenizer is the one
            that `train` makes of the texts that were counted. Or any mapping from
            pretokens to how often each occurs, up to 2**63 pairs of bytes in all. They
            are taken as they are: nothing is split, and no special or protected token
            is cut out. For `tie_break="first"` their order is that of the mapping.
        vocab_size: See `train`, as for all other arguments.
        num_merges: See `train`.
        pattern: How the tokenizer shall split the texts it encodes. For a mapping it
            should be what made the pretokens; `Counts` have a split, which is taken by
            default, and no other is accepted.
        special_tokens: See `train`. By default those that were cut out when `Counts`
            were made, none for a mapping. `Counts` accept no others, in whatever order
            and whether special or protected.
        protected: The same.
        tie_break: See `train`.
        byte_order: See `train`.
        min_frequency: See `train`.
        max_token_bytes: See `train`.
        initial: See `train`. Give it to `count_texts` and `count_files`, too.
        snapshots: See `train`.
        progress: See `train`.

    Returns:
        The tokenizer, with a `training_report`.

    Raises:
        TypeError: See `train`; a pretoken is neither str nor bytes, or a count no int.
        ValueError: See `train`; a count is negative or not below 2**64; or an option
            is not what `Counts` were made with.
        TrainingError: See `train`; the counts are too large together; or a file of
            counts cannot be used (see `Counts.load`).
        OSError: It cannot be read.
    """
    watch = Stopwatch()
    given = Given(
        vocab_size=vocab_size,
        num_merges=num_merges,
        pattern=pattern,
        special_tokens=() if special_tokens is None else special_tokens,
        protected=() if protected is None else protected,
        tie_break=tie_break,
        byte_order=byte_order,
        min_frequency=min_frequency,
        max_token_bytes=max_token_bytes,
        initial=initial,
        snapshots=snapshots,
    )
    if isinstance(counts, Mapping):
        options = Options(given)
        table, size = _table_of(counts)
        watch.end("count")
        return _train(table, options, 0, size, progress, watch)
    ours = isinstance(counts, (str, os.PathLike))
    made = _as_counts(counts)
    if special_tokens is None:
        given["special_tokens"] = made.special_tokens
    if protected is None:
        given["protected"] = made.protected
    options = options_for(made, given)
    watch.end("count")
    table, size = made._table, made.bytes
    return _train(table, options, made.documents, size, progress, watch, keep=not ours)


def _as_counts(counts: Counts | str | os.PathLike[str]) -> Counts:
    """Return counts that are there, or those in a file.

    Raises:
        TypeError: Neither.
    """
    if isinstance(counts, (str, os.PathLike)):
        return Counts.load(counts)
    if not isinstance(counts, Counts):
        raise TypeError(
            "counts must be a mapping from pretokens to ints, Counts, or the path of a "
            f"file of them, got {type(counts).__name__}"
        )
    return counts


def _table_of(counts: Mapping[Token, int]) -> tuple[core.Counts, int]:
    """Return a mapping as a table, and the size of all its pretokens together."""
    table = core.Counts()
    size = 0
    pretokens: list[bytes] = []
    frequencies = array("Q")
    position = 0
    for pretoken, count in counts.items():
        pretokens.append(to_utf8(pretoken, "a pretoken in counts"))
        if type(count) is not int or not 0 <= count < 2**64:
            count = integer(count, f"counts[{pretoken!r}]", 0, 2**64 - 1)
        frequencies.append(count)
        size += len(pretokens[-1]) * frequencies[-1]
        if len(pretokens) == 1 << 16:
            table.add_frequencies(pretokens, frequencies, position)
            position += len(pretokens)
            pretokens, frequencies = [], array("Q")
    table.add_frequencies(pretokens, frequencies, position)
    return table, size


# ---------------------------------------------------------------- merging


def _train(
    counts: core.Counts,
    options: Options,
    documents: int,
    size: int,
    progress: ProgressCallback | None,
    watch: Stopwatch,
    *,
    keep: bool = False,
) -> Tokenizer:
    """Learn merges from counts, and make the tokenizer.

    Unless they are to be kept, the counts are freed before merging begins.
    """
    pretokens, distinct = counts.total, counts.distinct
    ticker = Ticker(progress, "merge", options.n_merges, "merges")
    trainer = _trainer(counts, options)
    if not keep:
        counts.close()
    while (stop := trainer.run(_BUDGET)) == core.STOP_NONE:
        ticker(trainer.n_merges)
    ticker.finish(trainer.n_merges)

    def report(vocab_size: int, reached: str) -> TrainingReport:
        n_merges = min(vocab_size - options.least, trainer.n_merges)
        enough = n_merges == vocab_size - options.least
        return TrainingReport(
            documents=documents,
            bytes=size,
            pretokens=pretokens,
            distinct_pretokens=distinct,
            merges=n_merges,
            vocab_size_asked=vocab_size,
            vocab_size=options.least + n_merges,
            stop_reason=reached if enough else _STOP_REASONS[stop],
        )

    merges = trainer.merges()
    tokens = _spell(merges, options)
    snapshots = {
        at: _tokenizer(merges, tokens, options, report(at, "vocab_size reached"))
        for at in options.snapshots
    }
    whole = report(options.vocab_size, options.stop_reason)
    tokenizer = _tokenizer(merges, tokens, options, whole)
    watch.end("merge")
    whole = whole._with(watch.phases, snapshots)
    object.__setattr__(tokenizer, "_report", whole)
    return tokenizer


def _trainer(counts: core.Counts, options: Options) -> core.Trainer:
    from pybpe._engine_bpe import Engine

    start = array("I", bytes(4 * 256))
    model = None
    if options.initial is None:
        for number, byte in enumerate(options.start.token_data):
            start[byte] = number
    else:
        engine = options.initial._engine
        assert isinstance(engine, Engine)  # noqa: S101 - its model is a `Model`
        model = engine.model
    return core.Trainer(
        counts,
        n_merges=options.n_merges,
        min_frequency=options.min_frequency,
        max_token_bytes=options.max_token_bytes,
        ties=options.ties,
        start=start if model is None else model,
    )


def _spell(merges: array[int], options: Options) -> list[bytes]:
    """Return the bytes of the new tokens.

    Raises:
        TrainingError: They are too many bytes.
    """
    start, first = options.start, options.first_id
    tokens = [b""] * first
    at = 0
    for number, length in zip(start.token_ids, start.token_lengths, strict=True):
        tokens[number] = start.token_data[at : at + length]
        at += length
    size = len(start.token_data)
    for left, right in zip(merges[::2], merges[1::2], strict=True):
        token = tokens[left] + tokens[right]
        size += len(token)
        if size > _MAX_TOKEN_DATA:
            raise TrainingError(
                f"the first {len(tokens)} tokens hold more than 4 GB together, because "
                "merges go on within very long pretokens: use a pattern that splits, "
                "a larger min_frequency, max_token_bytes, or a smaller vocab_size"
            )
        tokens.append(token)
    return tokens[first:]


def _tokenizer(
    merges: array[int],
    tokens: Sequence[bytes],
    options: Options,
    report: TrainingReport,
) -> Tokenizer:
    """Return the tokenizer with the first of the merges, as many as reported."""
    from pybpe import __version__
    from pybpe.model import NORMALIZED, Model
    from pybpe.tokenizer import Tokenizer

    start, n = options.start, report.merges
    made = array("I", range(options.first_id, options.first_id + n))
    next_id = options.first_id + n
    added = [*start.added_tokens]
    special = [*start.special_tokens]
    for extra, new in ((added, options.protected), (special, options.special)):
        for token in new:
            extra.append((token, next_id))
            next_id += 1
    model = Model(
        semantics=start.semantics,
        whole_pretoken=start.whole_pretoken,
        token_data=start.token_data + b"".join(tokens[:n]),
        token_lengths=start.token_lengths + array("I", map(len, tokens[:n])),
        token_ids=start.token_ids + made,
        merges=start.merges + merges[: 2 * n],
        merge_ids=start.merge_ids + made,
        special_tokens=tuple(special),
        added_tokens=tuple(added),
        split=options.split,
        # There are no normalizers, so nothing is looked for after them.
        flags={
            number: flags & ~NORMALIZED
            for number, flags in start.flags.items()
            if flags & ~NORMALIZED
        },
        text_prefix=start.text_prefix,
        text_suffix=start.text_suffix,
        decoders=start.decoders,
        provenance=_savable(
            {
                "trained_by": f"pybpe {__version__}",
                **options.asked,
                **report._asdict(),
            }
        ),
    )
    tokenizer = Tokenizer(model)
    object.__setattr__(tokenizer, "_report", report)  # it is immutable for others
    return tokenizer


def _savable(provenance: dict[str, str | int]) -> dict[str, str | int]:
    """Write out numbers that a model file has no room for: those above 2^63 - 1."""
    return {
        key: str(value) if isinstance(value, int) and value >> 63 else value
        for key, value in provenance.items()
    }
