"""Training codepoint models: the same pieces, scores and files as sentencepiece's BPE.

    lines → normalise, cut → words, counted → alphabet → merges → pieces with ids

What each option means stands in docs/sentencepiece.md. The rules of sentencepiece are
followed to the letter: of several pairs with the same count the shortest piece is made
first, then the one whose UTF-8 comes first; pairs that do not occur any more are merged
when nothing else is left.
"""

from __future__ import annotations

import json
import warnings
from array import array
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pybpe import _binding_sentences as core
from pybpe._auto_coverage import choose
from pybpe._binding_training import STOP_NONE, STOP_REACHED, Counts, Trainer
from pybpe._normalizer_rules import normalizers
from pybpe._piece_options import PRESETS, Options, PieceOptions, float32
from pybpe._training_input import thread_count
from pybpe._training_options import refuse_lone_text
from pybpe._training_report import ProgressCallback, Stopwatch, Ticker, TrainingReport
from pybpe.codepoint import NORMAL, CodepointModel
from pybpe.errors import TrainingError
from pybpe.formats import sentencepiece_writer
from pybpe.formats.sentencepiece import model_from_bytes
from pybpe.training import EXHAUSTED

if TYPE_CHECKING:
    from typing import Unpack

    from pybpe._sentence_counting import SentenceCounter
    from pybpe.corpora.inputs import Format, Paths
    from pybpe.tokenizer import Tokenizer

__all__ = [
    "PRESETS",
    "PieceOptions",
    "train_sentencepiece",
    "train_sentencepiece_from_counts",
    "train_sentencepiece_from_files",
]

# Units of the core's work between two looks at signals: some ten milliseconds.
_BUDGET = 1 << 20

# sentencepiece writes this where it cuts something out, and U+2585 for what has no
# piece.
_CUT, _RESERVED = 0x1F, 0x2585


def train_sentencepiece(
    texts: Iterable[str | bytes],
    vocab_size: int,
    *,
    preset: str | None = None,
    normalizer_from: Tokenizer | None = None,
    progress: ProgressCallback | None = None,
    **options: Unpack[PieceOptions],
) -> Tokenizer:
    """Train the sentencepiece BPE model that sentencepiece itself would make of texts.

    >>> tok = train_sentencepiece(["low lower lowest"], 16, preset="llama2",
    ...     byte_fallback=False)
    >>> tok.token_bytes(3).decode()
    'lo'

    Args:
        texts: Any iterable of str or bytes, each one sentence (a line without its end).
        vocab_size: How many pieces there shall be: special ones, symbols, bytes,
            characters and merges.
        preset: Options under a name: "lossless" (texts come back as they were, nothing
            is left out for being rare or long) or "llama2" (what Llama 2's were).
            Options given beside it count more.
        normalizer_from: A tokenizer whose rules for changing text to take over, instead
            of `normalization_rule_name`.
        progress: Called with a `Progress` at most ten times a second. What it raises
            ends training and comes out of this call.
        options: sentencepiece's, with its names and defaults; docs/sentencepiece.md
            says what each one does. Those that do nothing for BPE are refused.

    Returns:
        The tokenizer, with a `training_report`. `save_sentencepiece` writes the
        `.model` file that sentencepiece would have written; `save` a pybpe model.

    Raises:
        TypeError: There is no such option, or an argument has the wrong type.
        ValueError: A value makes no sense, or the option does nothing here.
        TrainingError: `vocab_size` cannot be reached, in which case the message says
            what can; there is no text; a line is not as `input_format` has it; the
            rules of normalisation are not to be had.
        Exception: Whatever `texts` or `progress` raises comes out unchanged.
    """
    refuse_lone_text(texts, "texts", "a list of texts")
    if isinstance(texts, Mapping):
        raise TypeError(
            "texts must be a list of texts, got a mapping: texts with their weights "
            "are for train_sentencepiece_from_counts"
        )
    run = _Run(vocab_size, preset, normalizer_from, progress, options)
    with run.counter(None) as counter:
        counter.add_texts(texts)
        run.take(counter)
    return run.train()


def train_sentencepiece_from_files(
    paths: Paths,
    vocab_size: int,
    *,
    preset: str | None = None,
    normalizer_from: Tokenizer | None = None,
    format: Format | None = None,
    field: str = "text",
    progress: ProgressCallback | None = None,
    **options: Unpack[PieceOptions],
) -> Tokenizer:
    """Train a sentencepiece BPE model on files, of which each line is a sentence.

    LF ends a line, and nothing else does: CR stays. Files are read in blocks, so they
    may be larger than memory.

    Args:
        paths: Files, folders or patterns; docs/corpora.md has the rules. Of documents
            (`.jsonl`, `.parquet`) each line is a sentence.
        vocab_size: See `train_sentencepiece`, as for all other arguments.
        preset: See there.
        normalizer_from: See there.
        format: What all files hold, whatever their names: "text", "jsonl" or "parquet".
        field: The field of .jsonl, or the column of .parquet, that holds the text.
        progress: See there.
        options: See there.

    Returns:
        The tokenizer, with a `training_report`.

    Raises:
        OSError: A file cannot be read.
        CorpusError: A file cannot be read as documents. (A `ValueError`.)
        ImportError: What reads such files is not installed.
        TypeError: See `train_sentencepiece`.
        ValueError: See there.
        TrainingError: See there.
    """
    from pybpe.corpora.counting import count_sentences, total_size
    from pybpe.corpora.inputs import find_sources
    from pybpe.corpora.reading import check_reading

    reading = check_reading(field, None)
    sources = find_sources(paths, format, may_repeat=True)
    run = _Run(vocab_size, preset, normalizer_from, progress, options)
    with run.counter(total_size(sources)) as counter:
        count_sentences(counter, sources, reading)
        run.take(counter)
    return run.train()


def train_sentencepiece_from_counts(
    counts: Mapping[str | bytes, int],
    vocab_size: int,
    *,
    preset: str | None = None,
    normalizer_from: Tokenizer | None = None,
    progress: ProgressCallback | None = None,
    **options: Unpack[PieceOptions],
) -> Tokenizer:
    """Train a sentencepiece BPE model on sentences with weights.

    Args:
        counts: Sentences, and how often each one counts: what sentencepiece calls
            input_format="tsv".
        vocab_size: See `train_sentencepiece`, as for all other arguments.
        preset: See there.
        normalizer_from: See there.
        progress: See there.
        options: See there.

    Returns:
        The tokenizer, with a `training_report`.

    Raises:
        TypeError: See `train_sentencepiece`; or a weight is no int.
        ValueError: See there; or a weight is negative or not below 2**63.
        TrainingError: See there.
    """
    if not isinstance(counts, Mapping):
        raise TypeError(
            f"counts must be a mapping from texts to ints, got {type(counts).__name__}"
        )
    run = _Run(vocab_size, preset, normalizer_from, progress, options)
    with run.counter(None) as counter:
        counter.add_counts(counts)
        run.take(counter)
    return run.train()


class _Learnt(NamedTuple):
    """What merging gave: pieces in order, and the merges' counts."""

    pieces: list[str]
    counts: list[int]


class _Run:
    """One run of training."""

    def __init__(
        self,
        vocab_size: int,
        preset: str | None,
        normalizer_from: Tokenizer | None,
        progress: ProgressCallback | None,
        given: PieceOptions,
    ) -> None:
        self._options = Options(vocab_size, preset, given)
        self._lossless = preset == "lossless"
        self._normalizer, self._denormalizer = normalizers(
            self._options, normalizer_from
        )
        self._threads = thread_count(self._options.given.get("num_threads"))
        self._progress = progress
        self._watch = Stopwatch()
        self._counts = Counts()
        self._lines = core.Lines()
        self._size = 0
        self._words = 0, 0  # all of them, and the distinct ones

    # -------------------------------------------------------------- counting

    def counter(self, total: int | None) -> SentenceCounter:
        """Return what counts the corpus, `total` bytes."""
        from pybpe._sentence_counting import SentenceCounter

        self._ticker = Ticker(self._progress, "count", total, "bytes")
        return SentenceCounter(
            self._options, self._normalizer, self._threads, self._ticker
        )

    def take(self, counter: SentenceCounter) -> None:
        """Take over what was counted."""
        self._counts.close()
        self._counts, self._lines = counter.finish()
        self._size = counter.size
        self._words = self._counts.total, self._counts.distinct
        self._ticker.finish(self._size)
        self._watch.end("count")

    def train(self) -> Tokenizer:
        """Learn the pieces and make the tokenizer."""
        if self._lines.used == 0:
            raise TrainingError(f"there is no text to train on{self._left_out()}")
        characters = self._characters()
        if self._options["auto_character_coverage"]:
            alphabet = {c: n for c, n in characters.items() if c != 0}
            room = self._room(0)
        else:
            alphabet = self._alphabet(characters)
            room = self._room(len(alphabet))
        if _RESERVED in alphabet:
            raise TrainingError(
                "normalisation makes U+2585, which sentencepiece keeps for itself"
            )
        learnt = self._learn(alphabet, room)
        if self._options["auto_character_coverage"]:
            room = self._options.vocab_size - len(self._options.meta)
            final = choose(learnt.pieces, learnt.counts, alphabet, room)
        else:
            by_count = sorted(alphabet, key=lambda c: (-alphabet[c], c))
            final = [*learnt.pieces, *map(chr, by_count)]
        data = self._model(final)
        self._warn()
        return self._tokenizer(data, len(alphabet), characters, final)

    def _characters(self) -> dict[int, int]:
        found = core.characters(self._counts)
        found.pop(0, None)
        return found

    def _alphabet(self, characters: Mapping[int, int]) -> dict[int, int]:
        """Return the characters that get pieces, and how often each occurs."""
        options = self._options
        counts = dict(characters)
        if self._lines.cuts:
            counts[_CUT] = self._lines.cuts
        total = sum(counts.values())
        if total == 0:
            raise TrainingError("nothing is left of the text to train on")
        required = {ord(c) for c in options["required_chars"] if c != "\0"}
        for c in required:
            counts.setdefault(c, 0)
        wanted = float32(options["character_coverage"])
        covered = 0
        alphabet = {}
        for c in sorted(counts, key=lambda c: (c not in required, -counts[c], c)):
            if float32(covered / total) >= wanted:
                break
            covered += counts[c]
            if c != _CUT:
                alphabet[c] = counts[c]
        return alphabet

    def _room(self, n_characters: int) -> int:
        """Return how many merges there may be.

        Raises:
            TrainingError: There is not even room for what must be there.
        """
        size, n_meta = self._options.vocab_size, len(self._options.meta)
        least = n_meta + n_characters
        if self._options["auto_character_coverage"]:
            least += 1
        if least > size:
            bytes_too = " and bytes" if self._options["byte_fallback"] else ""
            raise TrainingError(
                f"vocab_size={size} is too small: it must be at least {least:,}, for "
                f"{n_meta} special pieces{bytes_too} and {n_characters:,} characters "
                "are always there; a smaller character_coverage needs fewer characters"
            )
        return size - n_meta - n_characters

    # -------------------------------------------------------------- merging

    def _learn(self, alphabet: Mapping[int, int], room: int) -> _Learnt:
        """Learn merges; if they run out, once more with those that occur no longer."""
        ticker = Ticker(self._progress, "merge", room, "merges")
        trainer = self._trainer(alphabet, room, keeps_all=False)
        if _finish(trainer, ticker) != STOP_REACHED:
            trainer = self._trainer(alphabet, room, keeps_all=True)
            _finish(trainer, ticker)
        self._counts.close()
        ticker.finish(trainer.n_merges)
        texts = list(map(chr, sorted(alphabet)))
        merges = trainer.merges()
        for left, right in zip(merges[::2], merges[1::2], strict=True):
            texts.append(texts[left] + texts[right])
        return _Learnt(texts[len(alphabet) :], list(trainer.merge_counts()))

    def _trainer(
        self, alphabet: Mapping[int, int], room: int, *, keeps_all: bool
    ) -> Trainer:
        options = self._options
        codepoints = array("I", sorted(alphabet))
        return core.new_trainer(
            self._counts,
            n_merges=room,
            alphabet=codepoints,
            classes=bytes(map(options.classes.__getitem__, codepoints)),
            rules=options.rules,
            longest=options["max_sentencepiece_length"],
            keeps_all=keeps_all,
        )

    # -------------------------------------------------------------- the model

    def _model(self, final: list[str]) -> bytes:
        """Give pieces their ids and return the `.model` file.

        Raises:
            TrainingError: There are fewer pieces than ids, or two are the same.
        """
        options = self._options
        size, meta = options.vocab_size, options.meta
        n_reached = len(meta) + len(final)
        if options["hard_vocab_limit"] and n_reached < size:
            raise TrainingError(
                f"vocab_size={size} is too large: this text gives between "
                f"{n_reached - _n_merges(final):,} and {n_reached:,} pieces with "
                "these options; hard_vocab_limit=False takes what there is"
            )
        taken = {one.text for one in meta.values()}
        for text in final:
            if text in taken:
                raise TrainingError(
                    f"the piece {text!r} is a symbol, and comes from the text as well"
                )
        texts: list[str] = []
        scores = array("f")
        types = bytearray()
        made = iter(enumerate(final))
        for number in range(size):
            if number in meta:
                if number != len(texts):
                    raise TrainingError(
                        f"the id {number} of {meta[number].text!r} cannot be reached: "
                        f"there are only {n_reached:,} pieces"
                    )
                texts.append(meta[number].text)
                scores.append(0.0)
                types.append(meta[number].kind)
            elif (one := next(made, None)) is not None:
                texts.append(one[1])
                scores.append(-float(one[0]))
                types.append(NORMAL)
        return self._write(texts, scores, bytes(types))

    def _left_out(self) -> str:
        """Say which lines were left out, if some were."""
        lines = self._lines
        parts = []
        if lines.too_long:
            longest = self._options["max_sentence_length"]
            parts.append(
                f"{lines.too_long:,} lines of more than max_sentence_length={longest} "
                "bytes"
            )
        if lines.reserved:
            parts.append(
                f"{lines.reserved:,} lines with U+2585, which sentencepiece keeps for "
                "itself"
            )
        return f"; left out: {' and '.join(parts)}" if parts else ""

    def _warn(self) -> None:
        if left_out := self._left_out():
            warnings.warn(
                f"not all lines were used to train on{left_out}",
                UserWarning,
                stacklevel=4,
            )

    def _write(self, texts: list[str], scores: array[float], types: bytes) -> bytes:
        pieces = [text.encode() for text in texts]
        options = {**self._options.given}
        model = CodepointModel(
            piece_data=b"".join(pieces),
            piece_lengths=array("I", map(len, pieces)),
            scores=scores,
            piece_types=types,
            byte_fallback=self._options["byte_fallback"],
            mark_behind=self._options["treat_whitespace_as_suffix"],
            normalizer=self._normalizer,
            denormalizer=self._denormalizer,
            provenance={sentencepiece_writer.OPTIONS: json.dumps(options)},
        )
        return sentencepiece_writer.model_to_bytes(model)

    def _tokenizer(
        self,
        data: bytes,
        n_alphabet: int,
        characters: Mapping[int, int],
        final: list[str],
    ) -> Tokenizer:
        from pybpe import __version__
        from pybpe.tokenizer import Tokenizer

        read = model_from_bytes(data)
        reached = read.vocab_size == self._options.vocab_size
        report = TrainingReport(
            documents=self._lines.used,
            bytes=self._size,
            pretokens=self._words[0],
            distinct_pretokens=self._words[1],
            merges=_n_merges(final),
            vocab_size_asked=self._options.vocab_size,
            vocab_size=read.vocab_size,
            stop_reason="vocab_size reached" if reached else EXHAUSTED,
        )
        parts = {name: getattr(read, name) for name in CodepointModel.__slots__}
        parts["provenance"] = {
            "trained_by": f"pybpe {__version__}",
            **report._asdict(),
            sentencepiece_writer.OPTIONS: json.dumps(self._options.given),
        }
        parts["refuse_marks"] = self._lossless
        tokenizer = Tokenizer(CodepointModel(**parts))
        self._watch.end("merge")
        details = {
            "lines_empty": self._lines.empty,
            "lines_too_long": self._lines.too_long,
            "lines_reserved": self._lines.reserved,
            "symbols_cut_out": self._lines.cuts,
            "characters": sum(characters.values()),
            "distinct_characters": len(characters),
            "alphabet": n_alphabet,
        }
        report = report._with(self._watch.phases, {}, details)
        object.__setattr__(tokenizer, "_report", report)
        return tokenizer


def _finish(trainer: Trainer, ticker: Ticker) -> int:
    """Learn all merges; return why it stopped."""
    while (stop := trainer.run(_BUDGET)) == STOP_NONE:
        ticker(trainer.n_merges)
    return stop


def _n_merges(final: list[str]) -> int:
    return sum(len(text) > 1 for text in final)
