"""`pybpe train`: the options that shape the vocabulary."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import fail, pybpe_cli, succeed

import pybpe

TEXT = "the cat sat on the mat; 12 cats <b>sat</b> on 12 mats. \u6f22\u5b57\n" * 20


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_sizes_lengths_and_protected_strings(corpus: Path) -> None:
    out = corpus.with_name("control.pybpe")
    arguments = "--num-merges 10 --max-token-bytes 3 --protected 12 --protected </b>"
    succeed("train", corpus, *arguments.split(), "-o", out)
    wanted = pybpe.train_from_files(
        [corpus], num_merges=10, max_token_bytes=3, protected=["12", "</b>"]
    )
    assert pybpe.load(out) == wanted
    shown = succeed("info", out).decode()
    for row in (
        "max token bytes      3",
        "added                     266  '12'",
        "merges               10",
        "stop reason          num_merges reached",
        "vocab size asked     268",
        "documents            1",
    ):
        assert row in shown


def test_going_on_from_a_model(corpus: Path) -> None:
    old, new = corpus.with_name("old.pybpe"), corpus.with_name("new.pybpe")
    succeed(
        *("train", corpus, "--vocab-size", 280, "--pattern", "gpt2"),
        *("--byte-order", "gpt2", "--special", "<s>", "-o", old),
    )
    succeed("train", corpus, "--initial", old, "--vocab-size", 290, "-o", new)
    wanted = pybpe.train_from_files([corpus], 290, initial=pybpe.load(old))
    assert pybpe.load(new) == wanted
    assert wanted.split.name == "gpt2"
    succeed(
        *("train", corpus, "--initial", old, "--num-merges", 5, "-o", new),
        *("--pattern", "cl100k", "--byte-order", "gpt2"),
    )
    assert pybpe.load(new).split.name == "cl100k"
    assert f"initial              {pybpe.load(old).fingerprint}" in succeed(
        "info", new
    ).decode().replace("\r", "")

    again = ("train", corpus, "--initial", old, "-o", new)
    message = fail(*again, "--vocab-size", 279, status=2)
    assert "--vocab-size must be between 280 and" in message
    assert "the 280 tokens of --initial" in message
    message = fail(*again, "--num-merges", 1, "--byte-order", "identity", status=2)
    assert "--byte-order" in message
    assert "byte_order" not in message
    # What is read is not written, and what is no model is said to be none.
    before = old.read_bytes()
    arguments = ("train", corpus, "--initial", old, "--num-merges", 1, "-o", old)
    assert "is what is read, too" in fail(*arguments, status=2)
    assert old.read_bytes() == before
    fail("train", corpus, "--initial", corpus, "--num-merges", 1, "-o", new)


def test_snapshots_are_files_beside_the_output(corpus: Path) -> None:
    out = corpus.with_name("sizes.pybpe")
    arguments = ["--snapshot", 270, "--snapshot", 260, "--snapshot", 270]
    result = pybpe_cli("train", corpus, "--vocab-size", 280, *arguments, "-o", out)
    assert result.status == 0
    for size, name in (
        (260, "sizes-260.pybpe"),
        (270, "sizes-270.pybpe"),
        (280, "sizes.pybpe"),
    ):
        path = corpus.with_name(name)
        assert f"{path}: {size} tokens" in result.err
        alone = pybpe.train_from_files([corpus], size)
        assert path.read_bytes() == alone.to_bytes()

    arguments = ["--vocab-size", 280, "--snapshot", 281]
    message = fail("train", corpus, *arguments, "-o", out, status=2)
    assert "--snapshot must be between 256 and 280" in message
    target = corpus.with_name("corpus-270.txt")
    target.write_text(TEXT)
    message = fail(
        *("train", target, "--vocab-size", 280, "--snapshot", 270),
        *("-o", corpus.with_name("corpus.txt")),
        status=2,
    )
    assert "is what is read, too" in message
    message = fail(
        *("train", corpus, "--vocab-size", 280, "--snapshot", 270, "-o", "/dev/null"),
        status=2,
    )
    assert "is not a file" in message


def test_why_it_stopped_early(corpus: Path) -> None:
    out = corpus.with_name("early.pybpe")
    result = pybpe_cli(
        *("train", corpus, "--vocab-size", 900, "--max-token-bytes", 2, "-o", out)
    )
    assert "all pairs that are left make tokens of more than 2 bytes" in result.err
    assert "pretokens" in result.err


def test_too_many_pretokens(corpus: Path) -> None:
    out = corpus.with_name("never.pybpe")
    message = fail(
        *("train", corpus, "--vocab-size", 300, "--max-pretokens", 2, "-o", out)
    )
    assert "more than --max-pretokens=2 distinct pretokens" in " ".join(message.split())
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "--vocab-size or --num-merges"),
        ("--vocab-size 300 --num-merges 3", "only one"),
        ("--num-merges -1", "--num-merges"),
        ("--num-merges 3 --max-token-bytes 0", "--max-token-bytes"),
        ("--num-merges 3 --max-pretokens 0", "--max-pretokens"),
        ("--num-merges 3 --protected x --protected x", "--protected"),
        ("--vocab-size 257 --protected x --special y", "1 protected token and 1 spec"),
    ],
)
def test_bad_values_are_wrong_usage(corpus: Path, options: str, said: str) -> None:
    out = corpus.with_name("never.pybpe")
    message = " ".join(
        fail("train", corpus, "-o", out, *options.split(), status=2).split()
    )
    assert said in message.replace("\u2502", "")
    assert not out.exists()


@pytest.mark.parametrize("ending", [".model", ".tiktoken", ".json", ".gguf"])
def test_a_model_is_not_written_under_the_name_of_another(
    tmp_path: Path, ending: str
) -> None:
    """And that is told before the training, which would be for nothing."""
    out = tmp_path / f"x{ending}"
    command = ("train", tmp_path / "no-corpus.txt", "--vocab-size", 300, "-o", out)
    message = fail(*command, status=2)
    assert f"'--output': {out} would be a pybpe model" in message
    assert "`pybpe convert`" in message
    assert ("--mode codepoint" in message) == (ending == ".model")
    assert "minbpe" not in message or ending == ".model"
    assert not out.exists()
