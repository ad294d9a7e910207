"""Training codepoint models: the same files as sentencepiece makes, byte for byte."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spm
from spm_training import pieces_of, same

import pybpe
from pybpe._script_data import SCRIPTS

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
        assert pieces_of(tok.to_sentencepiece()) == pieces_of(want)
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
    want = [text for text, _, _ in pieces_of((tmp_path / "m.model").read_bytes())]
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
        made.append(pieces_of(one.to_sentencepiece()))
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
