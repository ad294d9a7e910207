"""Training codepoint models: options, reports, rules, refusals, saving."""

from __future__ import annotations

import doctest
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
from spm_training import pieces_of, same, theirs

import pybpe
from pybpe import sentencepiece_training
from pybpe._piece_options import DEFAULTS, REFUSED
from pybpe.errors import ModelError, TrainingError

DataPath = Callable[[str], Path]

# ------------------------------------------------------------------ by themselves

TEXTS = ["the cat sat on the mat", "the rat ate the cat", "a b c"] * 3
PLAIN: dict[str, Any] = {"normalization_rule_name": "identity"}


def test_pieces_scores_and_ids() -> None:
    tok = pybpe.train_sentencepiece(["abcd"], 12, add_dummy_prefix=False, **PLAIN)
    made = pieces_of(tok.to_sentencepiece())
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
    assert pieces_of(tok.to_sentencepiece()) == pieces_of(other.to_sentencepiece())
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
    assert pieces_of(tok.to_sentencepiece()) == pieces_of(same_rules.to_sentencepiece())
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
    assert len(pieces_of(longer.to_sentencepiece())) == 32_001


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
