"""The options of training codepoint models, checked: those of sentencepiece's trainer.

They have sentencepiece's names and defaults. Which ones the caller gave matters beside
their values: those, and no others, are written to a `.model` file.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from pybpe import _binding_sentences as core
from pybpe._binding_training import MAX_VOCAB_SIZE
from pybpe._scripts import classes
from pybpe._threads import MAX_THREADS
from pybpe._training_options import integer, refuse_lone_text
from pybpe.codepoint import BYTE, CONTROL, MARK, UNKNOWN, USER_DEFINED

if TYPE_CHECKING:
    from collections.abc import Callable


class PieceOptions(TypedDict, total=False):
    """What `train_sentencepiece` takes beside texts and size; docs/sentencepiece.md."""

    character_coverage: float
    auto_character_coverage: bool
    required_chars: str
    input_format: str
    input_sentence_size: int
    shuffle_input_sentence: bool
    max_sentence_length: int
    max_sentencepiece_length: int
    split_by_unicode_script: bool
    split_by_whitespace: bool
    split_by_number: bool
    split_digits: bool
    pretokenization_delimiter: str
    treat_whitespace_as_suffix: bool
    allow_whitespace_only_pieces: bool
    control_symbols: Iterable[str]
    user_defined_symbols: Iterable[str]
    vocabulary_output_piece_score: bool
    hard_vocab_limit: bool
    byte_fallback: bool
    unk_id: int
    bos_id: int
    eos_id: int
    pad_id: int
    unk_piece: str
    bos_piece: str
    eos_piece: str
    pad_piece: str
    unk_surface: str
    normalization_rule_name: str
    normalization_rule_tsv: str
    denormalization_rule_tsv: str
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    num_threads: int


_INT32 = 2**31 - 1

# Bounds of the numbers.
_INTEGERS = {
    "input_sentence_size": (0, 2**63 - 1),
    "max_sentence_length": (10, 1 << 30),
    "max_sentencepiece_length": (1, core.MAX_LENGTH),
    "num_threads": (1, MAX_THREADS),
    "unk_id": (-_INT32, _INT32),
    "bos_id": (-_INT32, _INT32),
    "eos_id": (-_INT32, _INT32),
    "pad_id": (-_INT32, _INT32),
}
_LISTS = ("control_symbols", "user_defined_symbols")

# What an option is if it is not given: sentencepiece's own defaults.
DEFAULTS: dict[str, Any] = {
    "character_coverage": 0.9995,
    "auto_character_coverage": False,
    "required_chars": "",
    "input_format": "",
    "input_sentence_size": 0,
    "shuffle_input_sentence": True,
    "max_sentence_length": 4192,
    "max_sentencepiece_length": 16,
    "split_by_unicode_script": True,
    "split_by_whitespace": True,
    "split_by_number": True,
    "split_digits": False,
    "pretokenization_delimiter": "",
    "treat_whitespace_as_suffix": False,
    "allow_whitespace_only_pieces": False,
    "control_symbols": (),
    "user_defined_symbols": (),
    "vocabulary_output_piece_score": True,
    "hard_vocab_limit": True,
    "byte_fallback": False,
    "unk_id": 0,
    "bos_id": 1,
    "eos_id": 2,
    "pad_id": -1,
    "unk_piece": "<unk>",
    "bos_piece": "<s>",
    "eos_piece": "</s>",
    "pad_piece": "<pad>",
    "unk_surface": " \u2047 ",
    "normalization_rule_name": "nmt_nfkc",
    "normalization_rule_tsv": "",
    "denormalization_rule_tsv": "",
    "add_dummy_prefix": True,
    "remove_extra_whitespaces": True,
    "num_threads": 16,
}

# Sets of options under a name. "lossless" changes nothing in a text and leaves out as
# little of a corpus as can be; "llama2" is what Llama 2's tokenizer was trained with.
PRESETS: dict[str, PieceOptions] = {
    "lossless": {
        "normalization_rule_name": "identity",
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "byte_fallback": True,
        "character_coverage": 1.0,
        "max_sentence_length": 1 << 30,
        "allow_whitespace_only_pieces": True,
    },
    "llama2": {
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "byte_fallback": True,
        "character_coverage": 0.99995,
        "split_digits": True,
        "allow_whitespace_only_pieces": True,
    },
}

# Rules of normalisation that have a name.
IDENTITY = "identity"
RULES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf")

_UNIGRAM = "is for unigram models only; it changes nothing in BPE"
_GONE = "does nothing in sentencepiece any more"
_OURS = "is said another way here: "

# What spm_train knows and this does not take, and why.
REFUSED = {
    "model_type": _OURS + "this trains BPE models only, so leave it out",
    "input": _OURS + "give files to train_sentencepiece_from_files",
    "sentence_iterator": _OURS + "give the sentences as the first argument",
    "model_prefix": _OURS + "save the result with save_sentencepiece",
    "model_writer": _OURS + "use to_sentencepiece() of the result",
    "escape_whitespaces": "must be true in training, so leave it out",
    "use_all_vocab": "is for word and char models only",
    "seed_sentencepiece_size": _UNIGRAM,
    "seed_sentencepieces_file": _UNIGRAM,
    "shrinking_factor": _UNIGRAM,
    "num_sub_iterations": _UNIGRAM,
    "train_extremely_large_corpus": _UNIGRAM,
    "enable_differential_privacy": _UNIGRAM,
    "differential_privacy_noise_level": _UNIGRAM,
    "differential_privacy_clipping_threshold": _UNIGRAM,
    "accept_language": _GONE,
    "self_test_sample_size": _GONE,
    "mining_sentence_size": _GONE,
    "training_sentence_size": _GONE,
    "random_seed": "would seed the sampling of sentences, which is refused",
    "minloglevel": "is not needed: nothing is logged; give progress for a report",
    "logtostderr": "is not needed: nothing is logged; give progress for a report",
    "pretokenizer": "is not supported: cut the texts with pretokenization_delimiter",
}


class Meta(NamedTuple):
    """A piece that no merge makes."""

    text: str
    kind: int


class Options:
    """The options, checked.

    Attributes:
        given: Those that are written to a file: what the caller gave, by name.
        vocab_size: How many pieces to make.
        meta: The pieces that no merge makes, by id.
    """

    def __init__(
        self, vocab_size: int, preset: str | None, given: Mapping[str, object]
    ) -> None:
        """Check the options, each by itself and then together.

        Raises:
            TypeError: There is no such option, or it has the wrong type.
            ValueError: A value makes no sense, or the option does nothing here.
        """
        self.given: dict[str, Any] = {}
        if preset is not None:
            if preset not in PRESETS:
                raise ValueError(
                    f"preset must be one of {', '.join(PRESETS)}, got {preset!r}"
                )
            self.given.update(PRESETS[preset])
        for name, value in given.items():
            self.given[name] = _checked(name, value)
        self.vocab_size = integer(vocab_size, "vocab_size", 1, MAX_VOCAB_SIZE)
        self._check_together()
        self.meta = self._meta()

    def __getitem__(self, name: str) -> Any:
        """Return an option, given or not."""
        return self.given.get(name, DEFAULTS[name])

    def _check_together(self) -> None:
        if self["auto_character_coverage"]:
            if not self["byte_fallback"]:
                raise ValueError("auto_character_coverage needs byte_fallback=True")
            if self["required_chars"]:
                raise ValueError(
                    "auto_character_coverage chooses the characters, so it cannot go "
                    "with required_chars"
                )
        if self["normalization_rule_tsv"] and "normalization_rule_name" in self.given:
            raise ValueError(
                "give normalization_rule_name or normalization_rule_tsv, not both"
            )
        delimiter = self["pretokenization_delimiter"]
        if "\x1f" in delimiter and len(delimiter) > 1:
            raise ValueError(
                "pretokenization_delimiter must not hold U+001F beside other "
                "characters: it stands for what was cut out"
            )

    def _meta(self) -> dict[int, Meta]:
        table: dict[int, Meta] = {}
        unknown = self["unk_piece"]
        for name in ("unk", "bos", "eos", "pad"):
            number, text = self[name + "_id"], self[name + "_piece"]
            if number < 0:
                continue
            if number >= self.vocab_size:
                raise ValueError(
                    f"{name}_id={number} is not below vocab_size={self.vocab_size}; -1 "
                    f"leaves the piece out"
                )
            if number in table:
                raise ValueError(
                    f"{name}_id={number} is the id of {table[number].text!r} already; "
                    "-1 leaves the piece out"
                )
            if (
                text == unknown
                and name != "unk"
                and Meta(text, UNKNOWN) in (table.values())
            ):
                raise ValueError(f"{name}_piece={text!r} is unk_piece as well")
            table[number] = Meta(text, UNKNOWN if text == unknown else CONTROL)
        has_unknown = any(meta.kind == UNKNOWN for meta in table.values())
        if not has_unknown and not self["byte_fallback"]:
            raise ValueError(
                "unk_id must be at least 0 unless byte_fallback is on: what no piece "
                "covers has to become something"
            )
        self._add_symbols(table)
        seen: dict[str, int] = {}
        for number, meta in sorted(table.items()):
            if meta.text in seen:
                raise ValueError(
                    f"{meta.text!r} would have the ids {seen[meta.text]} and {number}"
                )
            seen[meta.text] = number
        return dict(sorted(table.items()))

    def _add_symbols(self, table: dict[int, Meta]) -> None:
        """Give symbols the lowest ids that are free."""
        own = {
            self[name + "_piece"]: self[name + "_id"]
            for name in ("pad", "eos", "bos")  # of equal ones the last here counts
            if self[name + "_id"] >= 0
        }
        seen: set[str] = set()
        symbols = [
            *((text, CONTROL) for text in self["control_symbols"]),
            *((text, USER_DEFINED) for text in self["user_defined_symbols"]),
        ]
        if self["byte_fallback"]:
            symbols += ((f"<0x{byte:02X}>", BYTE) for byte in range(256))
        number = 0
        for text, kind in symbols:
            if text in seen:
                raise ValueError(f"the symbol {text!r} is there twice")
            seen.add(text)
            if text == self["unk_piece"]:
                raise ValueError(f"the symbol {text!r} is unk_piece as well")
            if text in own:
                table[own[text]] = Meta(text, kind)
                continue
            while number in table:
                number += 1
            table[number] = Meta(text, kind)

    @property
    def words(self) -> int:
        """How sentences are cut into words, in the core's terms."""
        if not self["split_by_whitespace"]:
            return core.WHOLE
        how = core.AFTER if self["treat_whitespace_as_suffix"] else core.BEFORE
        return how | (core.RUNS if self["allow_whitespace_only_pieces"] else 0)

    @property
    def rules(self) -> int:
        """Where marks may be in pieces, in the core's terms."""
        return (
            (core.JOIN_MARK_EDGE if self["split_by_whitespace"] else 0)
            | (core.JOIN_MARK_AFTER if self["treat_whitespace_as_suffix"] else 0)
            | (core.JOIN_MARK_RUNS if self["allow_whitespace_only_pieces"] else 0)
        )

    @cached_property
    def classes(self) -> bytes:
        """The class of every character, which says what may stand together."""
        return classes(
            by_script=self["split_by_unicode_script"],
            by_number=self["split_by_number"],
            lone_digits=self["split_digits"],
        )

    @property
    def cut(self) -> list[bytes]:
        """What is cut out of normalised sentences, a space standing for the mark."""
        texts = dict.fromkeys(meta.text.encode() for meta in self.meta.values())
        return [as_words(text) for text in texts if b" " not in text]

    @property
    def delimiter(self) -> bytes:
        """One more, as it is; spaces do not outlive normalisation."""
        text: bytes = self["pretokenization_delimiter"].encode()
        return b"" if b" " in text else as_words(text)


def as_words(text: bytes) -> bytes:
    """Return a text as words have it, with a space for the mark."""
    return text.replace(MARK, b" ")


def float32(value: float) -> float:
    """Return the nearest number that files have room for."""
    return array("f", [value])[0]


def _checked(name: str, value: object) -> Any:
    if name in REFUSED:
        raise ValueError(f"{name} {REFUSED[name]}")
    if name not in DEFAULTS:
        raise TypeError(
            f"{name} is no option of training sentencepiece models; there are "
            f"{', '.join(DEFAULTS)}"
        )
    default = DEFAULTS[name]
    check: Callable[[str, Any], Any]
    if isinstance(default, bool):
        check = _bool
    elif isinstance(default, int):
        check = _integer
    elif isinstance(default, float):
        check = _coverage
    elif name in _LISTS:
        check = _symbols
    else:
        check = _string
    return check(name, value)


def _bool(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return value


def _integer(name: str, value: object) -> int:
    number = integer(value, name, *_INTEGERS[name])
    if name == "input_sentence_size" and 0 < number <= 100:
        raise ValueError(f"{name} must be 0, for no limit, or above 100, got {number}")
    return number


def _coverage(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float32(value)
    if not 0.98 <= number <= 1.0:
        raise ValueError(f"{name} must be between 0.98 and 1, got {value!r}")
    return number


def _string(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, got {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} must not hold lone surrogates: {value!r}") from None
    if name.endswith("_piece"):
        _piece(name, value)
    if name == "required_chars" and " " in value:
        raise ValueError(
            f"{name} must not hold a space, which no text has after normalisation: "
            "write U+2581 for it"
        )
    if name == "required_chars" and "\u2585" in value:
        raise ValueError(
            f"{name} must not hold U+2585: sentencepiece keeps it for itself"
        )
    if name == "normalization_rule_name" and value not in (IDENTITY, *RULES):
        raise ValueError(
            f"{name} must be one of {', '.join((IDENTITY, *RULES))}, got {value!r}"
        )
    if name == "input_format" and value not in ("", "text", "tsv"):
        raise ValueError(f"{name} must be 'text' or 'tsv', got {value!r}")
    return value


def _symbols(name: str, value: object) -> tuple[str, ...]:
    refuse_lone_text(value, name, "a list of symbols")
    out = []
    assert isinstance(value, Iterable)  # noqa: S101 - refuse_lone_text has seen to it
    for i, text in enumerate(value):
        if not isinstance(text, str):
            raise TypeError(f"{name}[{i}] must be a str, got {text!r}")
        _piece(f"{name}[{i}]", text)
        out.append(text)
    return tuple(out)


def _piece(name: str, text: str) -> None:
    if not text:
        raise ValueError(f"{name} is empty")
    if "\0" in text:
        raise ValueError(f"{name} holds U+0000, which no sentencepiece model may")
    if len(text.encode("utf-8", "surrogatepass")) >= 8000:
        raise ValueError(f"{name} has 8000 bytes or more, which is too long")
