"""`pybpe train --mode codepoint`."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import fail, pybpe_cli, succeed

import pybpe

TEXT = "the cat sat on the mat\nthe rat ate the cat\n\n" * 5
IDENTITY = ("-O", "normalization_rule_name=identity")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8", newline="\n")
    return path


def test_models_of_both_kinds(corpus: Path) -> None:
    wanted = pybpe.train_sentencepiece_from_files(
        [corpus],
        30,
        normalization_rule_name="identity",
        character_coverage=0.99,
        user_defined_symbols=["cat", "a,b"],
        pad_id=3,
        split_digits=True,
    )
    arguments = (
        *("train", corpus, "--mode", "codepoint", "--vocab-size", 30, *IDENTITY),
        *("-O", "character_coverage=0.99", "-O", "user_defined_symbols=cat"),
        *("-O", "user_defined_symbols=a,b", "-O", "--pad_id=3", "-O", "split_digits=T"),
    )
    out, vocab = corpus.with_name("m.model"), corpus.with_name("m.vocab")
    succeed(*arguments, "-o", out, "--vocab-file", vocab)
    assert out.read_bytes() == wanted.to_sentencepiece()
    assert vocab.read_bytes().splitlines()[0] == b"<unk>\t0"
    succeed(*arguments, "-o", corpus.with_name("m.pybpe"))
    assert pybpe.load(corpus.with_name("m.pybpe")) == wanted
    succeed(
        *("train", corpus, "--mode", "codepoint", "--vocab-size", 25, "-q"),
        *("--normalizer-from", out, "-o", corpus.with_name("n.model")),
    )


def test_presets_and_what_was_left_out(corpus: Path) -> None:
    long = corpus.with_name("long.txt")
    long.write_text(TEXT + "long " * 1000, encoding="utf-8", newline="\n")
    out = corpus.with_name("p.pybpe")
    arguments = ("train", long, "--mode", "codepoint", "--vocab-size", 290, "-o", out)
    succeed(*arguments, "--preset", "lossless", "-O", "hard_vocab_limit=no")
    assert pybpe.load(out).decode(pybpe.load(out).encode("  x\n")) == "  x\n"
    result = pybpe_cli(*arguments, "--preset", "llama2", "-q")
    assert result.err == (
        "warning: 1 lines were left out: they are longer than max_sentence_length\n"
    )
    said = fail(*arguments, "--preset", "llama2", "--vocab-size", 900)
    assert "--vocab-size=900 is too large: this text gives between " in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pattern", "gpt2"], "does not go with --pattern"),
        (["--special", "<s>"], "give -O control_symbols=TOKEN"),
        (["--num-merges", "5"], "does not go with --num-merges"),
        (["-O", "nonsense=1"], "there is no option 'nonsense'"),
        (["-O", "split_digits"], "is not NAME=VALUE"),
        (["-O", "split_digits=maybe"], "must be true or false"),
        (["-O", "pad_id=x"], "must be a whole number"),
        (["-O", "character_coverage=x"], "must be a number"),
        (["-O", "pad_id=3", "-O", "pad_id=4"], "pad_id is given twice"),
        (["-O", "model_type=bpe"], "is said another way here"),
        (["--vocab-file", "v"], "--vocab-file goes with -o NAME.model"),
    ],
)
def test_wrong_usage(corpus: Path, arguments: list[str], said: str) -> None:
    shown = fail(
        *("train", corpus, "--mode", "codepoint", "--vocab-size", 30),
        *("-o", corpus.with_name("w.pybpe"), *arguments),
        status=2,
    )
    assert said in " ".join(shown.split())


def test_its_options_need_the_mode(corpus: Path) -> None:
    out = corpus.with_name("w.pybpe")
    for option in (["--preset", "llama2"], ["-O", "pad_id=3"]):
        said = fail("train", corpus, "--vocab-size", 300, "-o", out, *option, status=2)
        assert "goes with --mode codepoint only" in said
    said = fail("train", corpus, "--mode", "codepoint", "-o", out, status=2)
    assert "give --vocab-size" in said


def test_what_a_tokenizer_shows_is_not_taken_for_options(tmp_path: Path) -> None:
    model = tmp_path / "byte-level.pybpe"
    pybpe.train([TEXT], 270).save(model)
    text = tmp_path / "text"
    text.write_text(TEXT, encoding="utf-8")
    message = fail(
        *("train", text, "--mode", "codepoint", "--vocab-size", 30),
        *("--normalizer-from", model, "-o", tmp_path / "m.model"),
        status=2,
    )
    assert "--normalizer-from: <pybpe.Tokenizer vocab_size=270 pattern=" in message
