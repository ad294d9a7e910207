"""Training codepoint models: the same files as sentencepiece makes, byte for byte."""

from __future__ import annotations

import doctest
import io
import pickle
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spm

import pybpe
from pybpe import sentencepiece_training
from pybpe._piece_options import DEFAULTS, REFUSED
from pybpe._script_data import SCRIPTS
from pybpe.errors import ModelError, TrainingError

DataPath = Callable[[str], Path]

_EXACT = {"remove_extra_whitespaces": False, "normalization_rule_name": "identity"}
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "llama": {
        **_EXACT,
        "byte_fallback": True,
        "split_digits": True,
        "allow_whitespace_only_pieces": True,
        "character_coverage": 0.99995,
    },
    "lossless": {
        **_EXACT,
        "byte_fallback": True,
        "add_dummy_prefix": False,
        "character_coverage": 1.0,
        "max_sentence_length": 1 << 30,
        "allow_whitespace_only_pieces": True,
    },
    "nfkc": {"normalization_rule_name": "nfkc", "character_coverage": 0.98},
    "nfkc_cf": {"normalization_rule_name": "nfkc_cf", "byte_fallback": True},
    "nmt_nfkc_cf": {"normalization_rule_name": "nmt_nfkc_cf", "split_by_number": False},
    "suffix": {"treat_whitespace_as_suffix": True},
    "suffix_exact": {
        **_EXACT,
        "treat_whitespace_as_suffix": True,
        "allow_whitespace_only_pieces": True,
    },
    "no_script_split": {"split_by_unicode_script": False, "byte_fallback": True},
    "no_space_split": {"split_by_whitespace": False, "max_sentencepiece_length": 32},
    "no_space_split_suffix": {
        "split_by_whitespace": False,
        "treat_whitespace_as_suffix": True,
        "split_digits": True,
    },
    "symbols": {
        "user_defined_symbols": ["the", "then", "e t", "\u2581a", "<x>", ","],
        "control_symbols": ["[INST]", "<sep>"],
        "pad_id": 3,
        "unk_piece": "[UNK]",
        "bos_id": 9,
        "eos_id": -1,
        "unk_surface": "?",
        "required_chars": "\u2581@\u4e2d\u0451",
    },
    "short": {"max_sentencepiece_length": 3, "max_sentence_length": 200},
    "delimiter": {
        "pretokenization_delimiter": "er",
        "vocabulary_output_piece_score": False,
    },
    "auto": {"auto_character_coverage": True, "byte_fallback": True},
}


def theirs(lines: list[Any], vocab_size: int, **options: Any) -> bytes:
    """Return the file that sentencepiece makes."""
    package = pytest.importorskip("sentencepiece")
    out = io.BytesIO()
    package.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=out,
        model_type="bpe",
        vocab_size=vocab_size,
        minloglevel=4,
        **options,
    )
    return out.getvalue()


def ours(lines: list[Any], vocab_size: int, **options: Any) -> bytes:
    """Return the file that pybpe makes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = pybpe.train_sentencepiece(lines, vocab_size, **options)
    return tok.to_sentencepiece()


def same(lines: list[Any], vocab_size: int, **options: Any) -> None:
    """Check that both make the same file, and that what they refuse is the same."""
    want = found = None
    with_error = {}
    try:
        want = theirs(lines, vocab_size, **options)
    except (RuntimeError, ValueError, OSError) as error:
        with_error["sentencepiece"] = error
    try:
        found = ours(lines, vocab_size, **options)
    except (ValueError, TrainingError) as error:
        with_error["pybpe"] = error
    assert (want is None) == (found is None), (with_error, options, vocab_size, lines)
    if want != found:
        assert _pieces(found) == _pieces(want), (options, vocab_size, lines)
        assert found == want, (options, vocab_size, lines)


def _pieces(data: bytes | None) -> list[tuple[bytes, float, int]]:
    from pybpe._proto import sentencepiece_pb2 as pb

    assert data is not None
    return [(p.text, p.score, p.type) for p in pb.Model.FromString(data).pieces]


# ------------------------------------------------------------------ corpora


def _lines(path: Path, size: int) -> list[str]:
    with path.open("rb") as file:
        return file.read(size).decode("utf-8", "replace").split("\n")


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["english", "code", "multilingual"])
@pytest.mark.parametrize("name", ["default", "llama", "symbols", "auto"])
def test_corpora(data_path: DataPath, kind: str, name: str) -> None:
    lines = _lines(data_path(f"corpora/{kind}_1mb.txt"), 150_000)
    size = 6_000 if kind == "multilingual" else 1_200
    same(lines, size, hard_vocab_limit=False, **OPTIONS[name])


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("kind", ["english", "code", "multilingual"])
@pytest.mark.parametrize("name", OPTIONS)
def test_megabytes(data_path: DataPath, kind: str, name: str) -> None:
    lines = _lines(data_path(f"corpora/{kind}_1mb.txt"), 1 << 20)
    for size in (5_000 if kind == "multilingual" else 2_000, 8_000):
        same(lines, size, hard_vocab_limit=False, **OPTIONS[name])


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("kind", ["english", "code", "multilingual"])
@pytest.mark.parametrize("name", OPTIONS)
def test_ten_megabytes(data_path: DataPath, kind: str, name: str) -> None:
    """The vocabularies of the size that models have; some minutes, some gigabytes."""
    import lzma

    with lzma.open(data_path(f"corpora/{kind}_100mb.txt.xz")) as file:
        lines = file.read(10_000_000).decode("utf-8", "replace").split("\n")
    for size in (5_000 if kind == "multilingual" else 2_000, 8_000, 32_000):
        same(lines, size, hard_vocab_limit=False, **OPTIONS[name])


@pytest.mark.oracle
def test_files_are_read_as_sentencepiece_reads_them(tmp_path: Path) -> None:
    package = pytest.importorskip("sentencepiece")
    contents = [b"a b\r\n\nabc ab\n\xff ab\n", b"", b"ab abc\nb\rc", b"\n\n"]
    files = [tmp_path / f"{i}.txt" for i in range(len(contents))]
    for path, data in zip(files, contents, strict=True):
        path.write_bytes(data)
    for options in ({}, {"input_sentence_size": 101, "shuffle_input_sentence": False}):
        package.SentencePieceTrainer.train(
            input=[str(path) for path in files],
            model_prefix=str(tmp_path / "m"),
            model_type="bpe",
            vocab_size=12,
            minloglevel=4,
            **options,
        )
        tok = pybpe.train_sentencepiece_from_files(files, 12, **options)
        want = (tmp_path / "m.model").read_bytes()
        assert _pieces(tok.to_sentencepiece()) == _pieces(want)
        tok.save_sentencepiece(tmp_path / "o.model", vocab_path=tmp_path / "o.vocab")
        assert (tmp_path / "o.model").read_bytes() == tok.to_sentencepiece()
        assert (tmp_path / "o.vocab").read_bytes() == (
            tmp_path / "m.vocab"
        ).read_bytes()
        assert tok.training_report.documents == 5


@pytest.mark.oracle
def test_a_line_before_an_empty_file_counts_once(tmp_path: Path) -> None:
    """sentencepiece counts it twice, if no LF ends it: the one known difference."""
    package = pytest.importorskip("sentencepiece")
    files = [tmp_path / "a", tmp_path / "empty", tmp_path / "b"]
    for path, data in zip(files, (b"aaa\nbb", b"", b"c"), strict=True):
        path.write_bytes(data)
    options: dict[str, Any] = {
        "hard_vocab_limit": False,
        "add_dummy_prefix": False,
        "max_sentencepiece_length": 1,
    }
    package.SentencePieceTrainer.train(
        input=[str(path) for path in files],
        model_prefix=str(tmp_path / "m"),
        model_type="bpe",
        vocab_size=99,
        minloglevel=4,
        **options,
    )
    want = [text for text, _, _ in _pieces((tmp_path / "m.model").read_bytes())]
    tok = pybpe.train_sentencepiece_from_files(files, 99, **options)
    assert want[3:] == [b"b", b"a", b"c"]
    assert [tok.token_bytes(i) for i in range(3, 6)] == [b"a", b"b", b"c"]


@pytest.mark.oracle
def test_threads_and_portions_change_nothing(
    data_path: DataPath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = data_path("corpora/code_1mb.txt")
    texts = path.read_bytes()[:300_000].split(b"\n")
    (tmp_path / "text").write_bytes(b"\n".join(texts))
    monkeypatch.setattr("pybpe._sentence_counting.PORTION", 1_000)
    made = []
    for threads in (1, 2, 7):
        options = {**OPTIONS["llama"], "num_threads": threads}
        one = pybpe.train_sentencepiece(texts, 1_000, **options)
        other = pybpe.train_sentencepiece_from_files(
            [tmp_path / "text"], 1_000, **options
        )
        assert one.to_sentencepiece() == other.to_sentencepiece()
        made.append(_pieces(one.to_sentencepiece()))
    assert made[0] == made[1] == made[2]
    same(texts, 1_000, num_threads=2)


# ------------------------------------------------------------------ everything random

_ALPHABET = [
    *("a", "b", "c", "ab", "abc", " ", "  ", "\u2581", "\xe9", "e\u0301", "\u0301"),
    *("\u4e2d", "\u6587", "\u3042", "\u30a2", "\u30fc", "1", "2", "23", "\uff11"),
    *("\uff21", "\xdf", "\u044f", "\u044f\u0431", ".", ",", "-", "!", "\t", "\x1f"),
    *("\xa0", "\u3000", "<s>", "<unk>", "<0x41>", "</s>", "\U0001f600", "\u200d"),
    *("\ufb01", "\ufb03", "\uac00", "\u2585", "\0", "\ufffd", "x", "xx", "\r"),
    *("\u0130", "\u03a9", "\u0e33", "\U0001f1e9"),
]
_FLAGS = (
    "split_by_unicode_script",
    "split_by_whitespace",
    "split_by_number",
    "split_digits",
    "treat_whitespace_as_suffix",
    "allow_whitespace_only_pieces",
    "byte_fallback",
    "add_dummy_prefix",
    "remove_extra_whitespaces",
)


def _random_corpus(rng: random.Random) -> tuple[list[str], list[bytes]]:
    letters = rng.sample(_ALPHABET, k=rng.randrange(2, 14))
    if rng.random() < 0.6:
        letters += [" "] * rng.randrange(1, 4)
    words = [
        "".join(rng.choices(letters, k=rng.randrange(1, 6)))
        for _ in range(rng.randrange(1, 12))
    ]
    lines = []
    for _ in range(rng.randrange(1, rng.choice([4, 30]))):
        parts = rng.choices(words + letters, k=rng.randrange(12))
        line = rng.choice(["", " ", " "]).join(parts).encode()
        if rng.random() < 0.03:
            line += rng.choice(spm.MALFORMED) + b"a"
        if rng.random() < 0.05:
            line += rng.choice([b"\n", b"\r\n", b"\r"])
        lines.append(line)
    return letters, lines


def _random_options(rng: random.Random, letters: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}

    def sometimes(chance: float, name: str, choices: list[Any]) -> None:
        if rng.random() < chance:
            options[name] = rng.choice(choices)

    def symbols(name: str) -> None:
        texts = [*letters, "<a>", "[X]", "a b", "\u2581a", "\u2581", "bc", "<s>"]
        found = dict.fromkeys(rng.choices(texts, k=rng.randrange(1, 4)))
        options[name] = [text for text in found if "\0" not in text]

    for name in _FLAGS:
        sometimes(0.35, name, [True, False])
    sometimes(0.9, "hard_vocab_limit", [True, False, False, False, False])
    sometimes(0.4, "character_coverage", [1.0, 0.98, 0.99, 0.9995, 0.985])
    rules = ["identity", "identity", "nmt_nfkc", "nfkc", "nfkc_cf", "nmt_nfkc_cf"]
    sometimes(0.6, "normalization_rule_name", rules)
    sometimes(0.3, "max_sentencepiece_length", [1, 2, 3, 4, 8, 16, 64, 512])
    sometimes(0.1, "max_sentence_length", [10, 11, 20, 50])
    if rng.random() < 0.25:
        symbols("user_defined_symbols")
    if rng.random() < 0.2:
        symbols("control_symbols")
    sometimes(
        0.15, "required_chars", ["", "az", "\xe9\u2581", "Q\x1f", "\u2585", "a b"]
    )
    for name in ("pad_id", "unk_id", "bos_id", "eos_id"):
        sometimes(0.07, name, [-1, 0, 1, 2, 3, 7])
    sometimes(0.05, "unk_piece", ["[UNK]", "a", "<s>"])
    sometimes(0.05, "bos_piece", ["[B]", "a", "</s>"])
    sometimes(0.04, "pad_piece", ["[P]", "a"])
    sometimes(0.06, "unk_surface", ["", "?", " ? "])
    sometimes(0.1, "pretokenization_delimiter", ["", "a", "||", "\u2581", "ab", " "])
    if options.get("byte_fallback"):
        sometimes(0.2, "auto_character_coverage", [True, False])
    sometimes(0.05, "num_threads", [1, 2])
    sometimes(0.05, "shuffle_input_sentence", [True, False])
    sometimes(0.03, "input_sentence_size", [0, 101, 50, 1000])
    sometimes(0.05, "input_format", ["", "text", "tsv"])
    return options


def _random_case(rng: random.Random) -> tuple[list[bytes], int, dict[str, Any]]:
    letters, lines = _random_corpus(rng)
    options = _random_options(rng, letters)
    if options.get("input_format") == "tsv":
        weights = [1, 2, 3, 1_000_000, 2**33]
        lines = [
            line.rstrip(b"\r\n").replace(b"\t", b"") + b"\t%d" % rng.choice(weights)
            for line in lines
        ]
        if rng.random() < 0.2:
            lines.append(rng.choice([b"a", b"a\t0", b"a\t1\t2", b"a\tx", b"\t4"]))
    least = len(set(b"".join(lines).decode("utf-8", "replace"))) + 6
    size = least + rng.choice([-4, rng.randrange(10), rng.randrange(60), 600])
    if options.get("byte_fallback"):
        size += 256
    return lines, max(1, size), options


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(6))
def test_random_corpora_and_options(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(50):
        lines, size, options = _random_case(rng)
        same(lines, size, **options)


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 130))
def test_more_random_corpora_and_options(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        lines, size, options = _random_case(rng)
        same(lines, size, **options)


@pytest.mark.oracle
def test_scripts_of_characters() -> None:
    """Two characters make a piece if both have one idea of their scripts."""
    edges = {0x30FC, 0x661, 0xFF11, 0x41, 0x31, 0x2C, 0x301}
    for runs in SCRIPTS.values():
        for run in runs.split():
            first, _, last = run.partition("-")
            ends = (int(first, 16), int(last or first, 16))
            edges |= {c + d for c in ends for d in (-1, 0, 1)}
    characters = [
        chr(c)
        for c in sorted(edges)
        if c > 0x20 and not 0xD800 <= c <= 0xDFFF and c not in (0x2581, 0x2585)
    ]
    rng = random.Random(9)
    lines = []
    for a, b in zip(characters, rng.sample(characters, len(characters)), strict=True):
        lines += [a + b, a + a, "a" + a, "\u4e00" + a, "," + a]
    same(
        lines,
        60_000,
        normalization_rule_name="identity",
        character_coverage=1.0,
        hard_vocab_limit=False,
        max_sentencepiece_length=2,
    )


# ------------------------------------------------------------------ by themselves

TEXTS = ["the cat sat on the mat", "the rat ate the cat", "a b c"] * 3
PLAIN: dict[str, Any] = {"normalization_rule_name": "identity"}


def test_pieces_scores_and_ids() -> None:
    tok = pybpe.train_sentencepiece(["abcd"], 12, add_dummy_prefix=False, **PLAIN)
    made = _pieces(tok.to_sentencepiece())
    assert [text.decode() for text, _, _ in made] == [
        *("<unk>", "<s>", "</s>"),
        *("ab", "cd", "abcd", "bc", "abc"),  # the last two do not occur any more
        *("a", "b", "c", "d"),
    ]
    assert [score for _, score, _ in made] == [0, 0, 0, *(-float(i) for i in range(9))]
    assert str(made[3][1]) == "-0.0"


def test_what_cannot_be_reached_is_said() -> None:
    with pytest.raises(TrainingError, match=r"between 15 and 46 pieces.*hard_vo"):
        pybpe.train_sentencepiece(TEXTS, 1000, **PLAIN)
    with pytest.raises(TrainingError, match=r"at least 15, for 3 special .* and 12"):
        pybpe.train_sentencepiece(TEXTS, 10, **PLAIN)
    for size in (15, 46):
        assert pybpe.train_sentencepiece(TEXTS, size, **PLAIN).vocab_size == size
    tok = pybpe.train_sentencepiece(TEXTS, 1000, hard_vocab_limit=False, **PLAIN)
    report = tok.training_report
    assert (report.vocab_size, report.vocab_size_asked) == (46, 1000)
    assert report.stop_reason == sentencepiece_training.EXHAUSTED


def test_what_is_left_out_is_counted_and_said() -> None:
    texts = [*TEXTS, "", "long " * 1000, "\u2585", "x<s>y\x1fz"]
    with pytest.warns(UserWarning, match=r"1 lines of more than .* and 1 lines with"):
        tok = pybpe.train_sentencepiece(texts, 20, **PLAIN)
    report = tok.training_report
    assert report.details == {
        "lines_empty": 1,
        "lines_too_long": 1,
        "lines_reserved": 1,
        "symbols_cut_out": 2,
        "characters": sum(map(len, TEXTS)) + len(TEXTS) + 4,
        "distinct_characters": 15,
        "alphabet": 15,
    }
    assert report.documents == len(TEXTS) + 1
    with pytest.raises(TrainingError, match="no text to train on; left out: 1 "):
        pybpe.train_sentencepiece(["long " * 1000], 20, **PLAIN)


def test_weights() -> None:
    counts = {"ab ab": 3, "bc\n": 2**40, "cd": 0}
    tok = pybpe.train_sentencepiece_from_counts(counts, 9, **PLAIN)
    lines = [b"ab ab\t3", b"bc\t%d" % 2**40]
    other = pybpe.train_sentencepiece(lines, 9, input_format="tsv", **PLAIN)
    assert _pieces(tok.to_sentencepiece()) == _pieces(other.to_sentencepiece())
    assert tok.token_bytes(3).decode() == "bc"
    with pytest.raises(TrainingError, match="line 2 is not a text, a tab and a number"):
        pybpe.train_sentencepiece([b"a\t1", b"a\t0"], 10, input_format="tsv", **PLAIN)
    for bad in ({"a": -1}, {"a": 2**63}):
        with pytest.raises(ValueError, match=r"counts\['a'\]"):
            pybpe.train_sentencepiece_from_counts(bad, 10, **PLAIN)
    with pytest.raises(TypeError, match="must be a mapping"):
        pybpe.train_sentencepiece_from_counts(["a"], 10, **PLAIN)  # type: ignore[arg-type]


def test_the_first_lines_only() -> None:
    texts = ["", *(["ab"] * 101), *(["cd"] * 500)]
    options: dict[str, Any] = {"input_sentence_size": 101, **PLAIN}
    tok = pybpe.train_sentencepiece(texts, 8, shuffle_input_sentence=False, **options)
    assert b"c" not in b"".join(tok.vocab)
    with pytest.raises(TrainingError, match="draws some at random"):
        pybpe.train_sentencepiece(texts, 8, **options)
    assert pybpe.train_sentencepiece(texts[:102], 8, **options).vocab_size == 8


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_do_nothing_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{name} {REFUSED[name]}")):
        pybpe.train_sentencepiece(TEXTS, 20, **{name: 1})  # type: ignore[misc]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"nonsense": 1}, TypeError, "nonsense is no option"),
        ({"byte_fallback": 1}, TypeError, "byte_fallback must be True or False"),
        ({"character_coverage": 0.5}, ValueError, "between 0.98 and 1"),
        ({"character_coverage": "1"}, TypeError, "must be a number"),
        ({"max_sentencepiece_length": 513}, ValueError, "between 1 and 512"),
        ({"max_sentence_length": 9}, ValueError, "between 10 and"),
        ({"input_sentence_size": 100}, ValueError, "above 100"),
        ({"input_format": "csv"}, ValueError, "'text' or 'tsv'"),
        ({"user_defined_symbols": "a,b"}, TypeError, "make it a list"),
        ({"user_defined_symbols": ["a", "a"]}, ValueError, "'a' is there twice"),
        ({"control_symbols": ["<unk>"]}, ValueError, "is unk_piece as well"),
        ({"control_symbols": [""]}, ValueError, "is empty"),
        ({"control_symbols": [b"a"]}, TypeError, "must be a str"),
        ({"control_symbols": ["a\0"]}, ValueError, r"U\+0000"),
        ({"control_symbols": ["a" * 8000]}, ValueError, "too long"),
        ({"unk_id": -1}, ValueError, "unless byte_fallback"),
        ({"pad_id": 1}, ValueError, "is the id of '<s>' already"),
        ({"pad_id": 20}, ValueError, "not below vocab_size=20"),
        ({"bos_piece": "</s>"}, ValueError, "would have the ids 1 and 2"),
        ({"bos_piece": "<unk>"}, ValueError, "is unk_piece as well"),
        ({"required_chars": "a b"}, ValueError, "must not hold a space"),
        ({"required_chars": "\u2585"}, ValueError, r"must not hold U\+2585"),
        ({"unk_surface": "\ud800"}, ValueError, "lone surrogates"),
        ({"normalization_rule_name": "nfc"}, ValueError, "must be one of identity"),
        ({"auto_character_coverage": True}, ValueError, "needs byte_fallback"),
        ({"preset": "best"}, ValueError, "preset must be one of lossless, llama2"),
        ({"pretokenization_delimiter": "\x1fa"}, ValueError, r"U\+001F"),
        ({"user_defined_symbols": ["t"]}, TrainingError, None),
    ],
)
def test_bad_options(
    options: dict[str, Any], error: type[Exception], said: str | None
) -> None:
    required = {"required_chars": "t"} if said is None else {}
    with pytest.raises(error, match=said or "comes from the text as well"):
        pybpe.train_sentencepiece(TEXTS, 20, **options, **required)


def test_defaults_are_those_of_the_files() -> None:
    from pybpe._proto import sentencepiece_pb2 as pb
    from pybpe.formats.sentencepiece_writer import _TRAINING

    fields = {field.number: field for field in pb.Training.DESCRIPTOR.fields}
    for name, number in _TRAINING.items():
        if name in ("model_type", "vocab_size"):
            continue
        default, field = DEFAULTS[name], fields[number]
        if isinstance(default, tuple):
            continue
        wanted = field.default_value
        if isinstance(wanted, bytes):
            wanted = wanted.decode()
        assert wanted == pytest.approx(default), name


# ------------------------------------------------------------------ rules and presets


def test_rules_need_the_package_or_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(TrainingError, match=r"pip install 'pybpe\[sentencepiece\]'"):
        pybpe.train_sentencepiece(TEXTS, 20)
    tok = pybpe.train_sentencepiece(TEXTS, 20, **PLAIN)
    same_rules = pybpe.train_sentencepiece(TEXTS, 20, normalizer_from=tok)
    assert _pieces(tok.to_sentencepiece()) == _pieces(same_rules.to_sentencepiece())
    with pytest.raises(ValueError, match="normalizer_from or normalization_rule_name"):
        pybpe.train_sentencepiece(TEXTS, 20, normalizer_from=tok, **PLAIN)
    with pytest.raises(ValueError, match="is no sentencepiece model"):
        pybpe.train_sentencepiece(TEXTS, 20, normalizer_from=pybpe.train(TEXTS, 260))
    with pytest.raises(TypeError, match="must be a Tokenizer"):
        pybpe.train_sentencepiece(TEXTS, 20, normalizer_from="m.model")  # type: ignore[arg-type]


@pytest.mark.oracle
def test_rules_of_a_model_are_those_of_the_package() -> None:
    pytest.importorskip("sentencepiece")
    texts = [*TEXTS, "\ufb01\uff21\u2460 x"]
    tok = pybpe.train_sentencepiece(texts, 24)
    again = pybpe.train_sentencepiece(texts, 24, normalizer_from=tok)
    assert again.to_sentencepiece() == tok.to_sentencepiece()


@pytest.mark.oracle
def test_rule_files(tmp_path: Path) -> None:
    rules, back = tmp_path / "rules.tsv", tmp_path / "back.tsv"
    rules.write_text("61\t62\n65 20\t45\n301\n", "utf-8")
    back.write_text("62\t61\n", "utf-8")
    for options in (
        {"normalization_rule_tsv": str(rules)},
        {"denormalization_rule_tsv": str(back)},
        {"normalization_rule_tsv": str(rules), "denormalization_rule_tsv": str(back)},
    ):
        same(TEXTS, 20, **options)
    with pytest.raises(ValueError, match="sentencepiece refuses these rules"):
        pybpe.train_sentencepiece(
            TEXTS, 20, normalization_rule_tsv=str(tmp_path / "missing")
        )


def test_lossless_loses_nothing() -> None:
    rng = random.Random(2)
    texts = [spm.random_text(rng).decode("utf-8", "replace") for _ in range(300)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = pybpe.train_sentencepiece(texts, 1_500, preset="lossless")
    for _ in range(3_000):
        text = spm.random_text(rng).decode("utf-8", "replace")
        if "\u2581" in text:
            for encode in (tok.encode_ordinary, lambda x: tok.encode_batch([x])):
                with pytest.raises(ValueError, match=r"U\+2581 at byte|special token"):
                    encode(text)
            continue
        assert tok.decode(tok.encode_ordinary(text)) == text
    with pytest.raises(ValueError, match=r"U\+2581 at byte 1"):
        tok.encode_with_pieces("a\u2581")
    again = pybpe.Tokenizer.from_bytes(tok.to_bytes())
    assert again == tok
    with pytest.raises(ValueError, match=r"U\+2581 at byte 1"):
        again.encode("a\u2581")


@pytest.mark.oracle
def test_presets_are_sets_of_options() -> None:
    pytest.importorskip("sentencepiece")
    texts = [*TEXTS, "12  34"]
    for preset in ("lossless", "llama2"):
        found = pybpe.train_sentencepiece(texts, 290, preset=preset)
        options = {**sentencepiece_training.PRESETS[preset]}
        assert found.to_sentencepiece() == theirs(texts, 290, **options)
    one = pybpe.train_sentencepiece(
        texts, 290, preset="llama2", split_digits=False, hard_vocab_limit=False
    )
    assert b"12" in b" ".join(one.vocab)


# ------------------------------------------------------------------ saving


@pytest.mark.oracle
def test_saved_models_run_in_sentencepiece(tmp_path: Path) -> None:
    package = pytest.importorskip("sentencepiece")
    tok = pybpe.train_sentencepiece(TEXTS, 30, control_symbols=["<x>"])
    tok.save(tmp_path / "m.pybpe")
    again = pybpe.load(tmp_path / "m.pybpe")
    assert again == tok == pickle.loads(pickle.dumps(tok))
    again.save_sentencepiece(tmp_path / "m.model")
    assert (tmp_path / "m.model").read_bytes() == tok.to_sentencepiece()
    assert pybpe.load(tmp_path / "m.model") == tok
    processor = package.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    for text in (*TEXTS, "zzz  the"):
        assert tok.encode(text) == processor.encode(text)


@pytest.mark.oracle
def test_models_of_others_can_be_written(data_path: DataPath) -> None:
    package = pytest.importorskip("sentencepiece")
    path = data_path("vocab/sentencepiece/llama2_tokenizer.model")
    tok = pybpe.load(path)
    data = tok.to_sentencepiece()
    processor = package.SentencePieceProcessor(model_proto=data)
    original = package.SentencePieceProcessor(model_file=str(path))
    for text in (*TEXTS, "  \u4e2d\x07 12"):
        assert processor.encode(text) == original.encode(text)
        assert processor.decode(processor.encode(text)) == text.strip("\0")
    assert (processor.bos_id(), processor.eos_id(), processor.pad_id()) == (1, 2, -1)
    longer = tok.add_special_tokens(["<new>"])
    assert len(_pieces(longer.to_sentencepiece())) == 32_001


def test_byte_level_models_cannot_be_written(tmp_path: Path) -> None:
    tok = pybpe.train(TEXTS, 260)
    with pytest.raises(ValueError, match="byte-level model"):
        tok.save_sentencepiece(tmp_path / "m.model")
    assert not (tmp_path / "m.model").exists()


def test_damaged_rules_are_refused() -> None:
    from pybpe._binding_sentences import BEFORE, Sentences
    from pybpe.codepoint import Normalizer

    rules = Normalizer("x", b"damaged", True, True, True)
    with pytest.raises(ModelError, match="rules of the normalizer are damaged"):
        Sentences(
            rules,
            mark_behind=False,
            words=BEFORE,
            longest=9,
            cut=[],
            delimiter=b"",
            classes=bytes(0x110000),
        )


def test_progress_and_errors_come_through() -> None:
    seen = []
    pybpe.train_sentencepiece(TEXTS, 20, progress=seen.append, **PLAIN)
    assert {one.phase for one in seen} == {"count", "merge"}
    assert seen[-1].done == seen[-1].total

    def broken() -> Any:
        yield "a"
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pybpe.train_sentencepiece(broken(), 20, **PLAIN)
    with pytest.raises(TypeError, match=r"texts\[1\] must be str or bytes"):
        pybpe.train_sentencepiece(["a", 1], 20, **PLAIN)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="make it a list"):
        pybpe.train_sentencepiece("text", 20, **PLAIN)
    with pytest.raises(TypeError, match="for train_sentencepiece_from_counts"):
        pybpe.train_sentencepiece({"a": 1}, 20, **PLAIN)


def test_examples(project_root: Path) -> None:
    """Those of the documentation and of the docstrings give what they say."""
    page = (project_root / "docs" / "sentencepiece.md").read_text(encoding="utf-8")
    names = {"pybpe": pybpe}
    examples = doctest.DocTestParser().get_doctest(page, names, "page", None, 0)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0
    assert doctest.testmod(sentencepiece_training).failed == 0
    for name in (*DEFAULTS, *REFUSED):
        assert f"`{name}`" in page, name


def test_training_imports_no_package_of_others() -> None:
    code = (
        "import sys, pybpe;"
        "pybpe.train_sentencepiece(['ab'], 6, normalization_rule_name='identity');"
        "assert 'sentencepiece' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
