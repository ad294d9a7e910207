"""The door to the compiled core for training codepoint models; see `_binding`."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from pybpe._binding import fail, sizes, uncleared
from pybpe._binding_training import Counts, Trainer, check
from pybpe._core import ffi, lib
from pybpe.errors import ModelError, TrainingError

if TYPE_CHECKING:
    from pybpe._binding import CData
    from pybpe.codepoint import Normalizer

ANY: int = lib.BPE_CLASS_ANY
INHERITED: int = lib.BPE_CLASS_INHERITED
LONE: int = lib.BPE_CLASS_LONE

WHOLE: int = lib.BPE_WORDS_WHOLE
BEFORE: int = lib.BPE_WORDS_BEFORE
AFTER: int = lib.BPE_WORDS_AFTER
RUNS: int = lib.BPE_WORDS_RUNS

JOIN_MARK_EDGE: int = lib.BPE_JOIN_MARK_EDGE
JOIN_MARK_AFTER: int = lib.BPE_JOIN_MARK_AFTER
JOIN_MARK_RUNS: int = lib.BPE_JOIN_MARK_RUNS

MAX_LENGTH: int = lib.BPE_MAX_JOIN

N_CODEPOINTS = 0x110000


class Lines(NamedTuple):
    """What became of the lines of a corpus.

    Attributes:
        used: Taken.
        empty: Left out, without a character.
        too_long: Left out, longer than `max_sentence_length`.
        reserved: Left out, U+2585 is in them.
        cuts: Strings that were cut out of the others, times the lines' weights.
    """

    used: int = 0
    empty: int = 0
    too_long: int = 0
    reserved: int = 0
    cuts: int = 0


class Sentences:
    """Reads lines and adds their words to counts; for one thread at a time."""

    __slots__ = ("_consumed", "_core")

    def __init__(
        self,
        normalizer: Normalizer,
        *,
        mark_behind: bool,
        words: int,
        longest: int,
        cut: Sequence[bytes],
        delimiter: bytes,
        classes: bytes,
    ) -> None:
        """Prepare.

        Args:
            normalizer: What to do to each line first.
            mark_behind: Whether it puts its mark behind the line.
            words: How to cut lines into words.
            longest: The most bytes of a line that is taken.
            cut: What is cut out of normalised lines, with a space for the mark.
            delimiter: One more, cut out afterwards; empty for none.
            classes: The class of every character: words are cut where no piece can go
                across.

        Raises:
            ModelError: The normaliser's rules are damaged.
        """
        spec: CData = ffi.new("bpe_sentences_spec *")
        flags = lib.BPE_NORMALIZE_ESCAPE
        if normalizer.add_dummy_prefix:
            flags |= lib.BPE_NORMALIZE_MARK
        if mark_behind:
            flags |= lib.BPE_NORMALIZE_MARK_AFTER
        if normalizer.remove_extra_whitespaces:
            flags |= lib.BPE_NORMALIZE_SQUEEZE
        spec.normalizer.flags = flags
        charsmap = spec.normalizer.charsmap = ffi.from_buffer(normalizer.charsmap)
        spec.normalizer.charsmap_size = len(normalizer.charsmap)
        spec.words = words
        spec.longest = longest
        data = spec.cut_data = ffi.from_buffer(b"".join(cut))
        lengths = spec.cut_lengths = ffi.new("uint32_t[]", [len(c) for c in cut])
        spec.n_cut = len(cut)
        held = spec.delimiter = ffi.from_buffer(delimiter)
        spec.delimiter_size = len(delimiter)
        table = spec.classes = ffi.from_buffer("uint8_t[]", classes)
        out = ffi.new("bpe_sentences **")
        status = lib.bpe_sentences_new(spec, out)
        del charsmap, data, lengths, held, table
        if status == lib.BPE_ERR_MODEL:
            raise ModelError("the rules of the normalizer are damaged")
        if status != lib.BPE_OK:
            fail(status)
        self._core = ffi.gc(out[0], lib.bpe_sentences_free)
        self._consumed = ffi.new("size_t *")

    def add_lines(self, counts: Counts, data: bytes, *, more: bool) -> int:
        """Add lines that end with LF; return how many bytes that took.

        Args:
            counts: Where their words go.
            data: The lines.
            more: Whether the last one goes on, if no LF ends it.
        """
        status = lib.bpe_sentences_add_lines(
            self._core, counts.core, data, len(data), more, self._consumed
        )
        check(status)
        return int(self._consumed[0])

    def add_batch(
        self,
        counts: Counts,
        lines: Sequence[bytes],
        weights: array[int] | None,
        *,
        strip: bool,
    ) -> None:
        """Add lines, each as often as its weight says.

        Args:
            counts: Where their words go.
            lines: The lines.
            weights: `array("Q")`; None for once each.
            strip: Whether CR and LF at their ends do not belong to them.
        """
        offsets, held = sizes(accumulate(map(len, lines), initial=0))
        view = ffi.NULL if weights is None else ffi.from_buffer("uint64_t[]", weights)
        status = lib.bpe_sentences_add_batch(
            self._core, counts.core, b"".join(lines), offsets, view, len(lines), strip
        )
        del held
        check(status)

    @property
    def lines(self) -> Lines:
        """What became of the lines so far."""
        report = ffi.new("bpe_sentences_report *")
        lib.bpe_sentences_get_report(self._core, report)
        return Lines(
            report.used, report.empty, report.too_long, report.reserved, report.cuts
        )


def characters(counts: Counts) -> dict[int, int]:
    """Return how often each character occurs in counted words, in ascending order."""
    codepoints = uncleared("uint32_t[]", N_CODEPOINTS)
    frequencies = uncleared("uint64_t[]", N_CODEPOINTS)
    n = ffi.new("size_t *")
    check(lib.bpe_counts_characters(counts.core, codepoints, frequencies, n))
    return dict(
        zip(
            ffi.unpack(codepoints, n[0]) if n[0] else [],
            ffi.unpack(frequencies, n[0]) if n[0] else [],
            strict=True,
        )
    )


def new_trainer(
    counts: Counts,
    *,
    n_merges: int,
    alphabet: array[int],
    classes: bytes,
    rules: int,
    longest: int,
    keeps_all: bool,
) -> Trainer:
    """Return a trainer that learns as sentencepiece does.

    Args:
        counts: The words; only read now.
        n_merges: How many merges to learn.
        alphabet: `array("I")`, the characters that get ids, ascending.
        classes: The class of each, one byte.
        rules: JOIN_*, or-ed.
        longest: The most characters of a piece.
        keeps_all: Whether to merge what does not occur any more, in the end.

    Raises:
        TrainingError: A limit of the core is passed.
    """
    spec: CData = ffi.new("bpe_pieces_trainer_spec *")
    spec.n_merges = n_merges
    views = (
        ffi.from_buffer("uint32_t[]", alphabet),
        ffi.from_buffer("uint8_t[]", classes),
    )
    spec.codepoints, spec.classes = views
    spec.n_characters = len(alphabet)
    spec.rules = rules
    spec.longest = longest
    spec.keeps_all = keeps_all
    out = ffi.new("bpe_trainer **")
    status = lib.bpe_trainer_new_pieces(counts.core, spec, out, ffi.NULL)
    if status == lib.BPE_ERR_LIMIT:
        raise TrainingError(
            "the distinct words hold 2**32 characters or more together, or 2**63 or "
            "more pairs with their frequencies: train on less text, or with smaller "
            "weights"
        )
    check(status)
    return Trainer.of_core(ffi.gc(out[0], lib.bpe_trainer_free))
