"""Option values of the command line: what is refused, and in whose words."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli_runs import fail, pybpe_cli, succeed

import pybpe
from pybpe.cli import bars
from pybpe.cli.program import main
from pybpe.split.patterns import NAMED
from pybpe.training import Progress


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"the cat sat on the mat\n" * 20)
    return path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--vocab-size 255", "255 is not between 256 (the 256 single bytes)"),
        ("--vocab-size -1", "-1 is not between 256"),
        ("--vocab-size 99999999", "99999999 is not between"),
        ("--vocab-size 256 --special A", "257 (the 256 single bytes and 1 special"),
        ("--vocab-size 256 --special A --special B", "and 2 special tokens)"),
        ("--vocab-size 300 --threads 0", "--threads"),
        ("--vocab-size 300 --threads -3", "--threads"),
        ("--vocab-size 300 --threads 100000", "--threads"),
        ("--vocab-size 300 --min-frequency 0", "--min-frequency"),
        ("--vocab-size 300 --special A --special A", "'A' is given twice"),
        ("--vocab-size 300 --special=", "--special"),
        ("--vocab-size 300 --pattern qpt4", "gpt4"),
        ("--vocab-size 300 --pattern (", "--pattern"),
        ("--vocab-size 300 --pattern None", "--pattern"),
        ("--vocab-size 300 --tie-break x", "--tie-break"),
        ("--vocab-size 300 --byte-order x", "--byte-order"),
    ],
)
def test_bad_values_have_status_2_and_name_the_option(
    corpus: Path, options: str, said: str
) -> None:
    out = corpus.with_name("out.pybpe")
    message = fail("train", corpus, "-o", out, *options.split(), status=2)
    assert said in message
    for python in ("vocab_size", "num_threads", "min_frequency", "None chooses"):
        assert python not in message
    assert not out.exists()


CODEPOINT = "--mode codepoint --vocab-size"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--vocab-size 300 --special a --protected a", "both --special and --protect"),
        ("--vocab-size 300 --snapshot 5", "--snapshot must be between 256 and 300"),
        ("--num-merges 10 --snapshot 270", "--snapshot must be between 256 and 266"),
        ("--num-merges 99999999", "--num-merges must be between 0"),
        ("--vocab-size 300 --max-pretokens 99999999999999999999", "--max-pretokens"),
        (f"{CODEPOINT} 0", "--vocab-size must be between 1"),
        (f"{CODEPOINT} 99999999", "--vocab-size must be between 1"),
        (f"{CODEPOINT} 30 -O byte_fallback=true", "too small for the 259 pieces"),
        (f"{CODEPOINT} 30 -O character_coverage=5", "between 0.98 and 1"),
        (f"{CODEPOINT} 30 -O normalization_rule_name=x", "must be one of identity"),
        (f"{CODEPOINT} 30 -O unk_id=1", "bos_id=1 is the id of"),
        (f"{CODEPOINT} 30 -O bos_id=1000", "bos_id=1000 is not below --vocab-size"),
        (f"{CODEPOINT} 30 -O user_defined_symbols=", "user_defined_symbols[0] is em"),
        (f"{CODEPOINT} 30 -O num_threads=0", "--threads must be between 1"),
        (f"{CODEPOINT} 30 -O auto_character_coverage=true", "needs byte_fallback"),
        (
            f"{CODEPOINT} 30 --normalizer-from x -O normalization_rule_name=nfkc",
            "give --normalizer-from or normalization_rule_name",
        ),
    ],
)
def test_no_text_is_read_for_options_that_are_wrong_by_themselves(
    tmp_path: Path, options: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # Nor is there one.
    command = ["train", str(tmp_path / "none"), "-o", str(tmp_path / "out.pybpe")]
    assert main([*command, *options.split()]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "encode none -t x --special a=256 --special b=256",
            "the id 256 is there twice",
        ),
        ("encode none -t x --special a=16777216", "16777216 is no id for 'a'"),
        ("info none --special a=" + "9" * 50, "is no id for 'a'"),
        ("decode none x", "item 1: 'x' is no id"),
        ("decode none 5 -- -1", "item 2: '-1' is no id"),
    ],
)
def test_no_model_is_read_for_them_either(
    arguments: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments.split()) == 2
    assert said in capsys.readouterr().err


def test_the_demo_checks_its_options(corpus: Path) -> None:
    assert "257" in fail("demo", corpus, "--vocab-size", 256, status=2)
    assert b"0 merges" in succeed("demo", corpus, "--vocab-size", 257)


def test_help_names_every_pattern() -> None:
    shown = " ".join(succeed("train", "--help").decode().split())
    for name in (*NAMED, "'none'", "[default: cl100k]"):
        assert name in shown


def test_a_pattern_for_a_file_without_one(corpus: Path) -> None:
    import base64

    ranks = corpus.with_name("my.tiktoken")
    tokens = [bytes([byte]) for byte in range(256)] + [b"th", b"the"]
    ranks.write_bytes(
        b"".join(
            base64.b64encode(token) + b" %d\n" % i for i, token in enumerate(tokens)
        )
    )
    message = fail("encode", ranks, "-t", "the")
    assert "--pattern" in message
    assert "pattern=" not in message
    assert succeed("encode", ranks, "-t", "the", "--pattern", "gpt2") == b"257\n"
    assert succeed("decode", ranks, "257", "--pattern", "gpt2") == b"the"
    assert b"gpt2" in succeed("info", ranks, "--pattern", "gpt2")
    assert "qpt2" in fail("info", ranks, "--pattern", "qpt2", status=2)

    named = ["--pattern", "gpt2", "--special", "<a=b>=300"]
    text = ["-t", "the<a=b>"]
    allowed = [*named, "--allow-special"]
    assert succeed("encode", ranks, *text, *allowed) == b"257 300\n"
    assert "--allow-special" in fail("encode", ranks, *text, *named)
    assert succeed("decode", ranks, "257", "300", *named) == b"the<a=b>"
    for bad in ("<a>", "=5", "<a>=x", "<a>=-1"):
        message = fail("info", ranks, "--special", bad, status=2)
        assert "TOKEN=ID" in message


def test_a_clone_that_is_not_built_says_so(tmp_path: Path) -> None:
    package = Path(pybpe.__file__).parent
    clone = tmp_path / "pybpe"
    ignored = shutil.ignore_patterns("_core.*", "__pycache__")
    shutil.copytree(package, clone, ignore=ignored)
    text = tmp_path / "text"
    text.write_bytes(b"the cat")
    # -S, and packages by their folder alone: an editable installation would lend its
    # own compiled core.
    command = [sys.executable, "-S", "-m", "pybpe", "train", str(text)]
    path = os.pathsep.join([str(tmp_path), sysconfig.get_path("purelib")])
    done = subprocess.run(
        [*command, "--vocab-size", "300", "-o", str(tmp_path / "m")],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 1, done
    assert done.stderr.startswith(b"pybpe: ")
    assert b"pip install" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_an_empty_corpus_is_told(tmp_path: Path) -> None:
    out = tmp_path / "m"
    done = pybpe_cli("train", os.devnull, "--vocab-size", 300, "-o", out)
    assert done.status == 0
    assert "the text is empty" in done.err
    assert pybpe.load(tmp_path / "m").vocab_size == 256


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Progress], Any]]:
    """Give what makes a bar show progress and gives the bar as it is then."""
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    progress = bars.Bars(quiet=False)

    def show(step: Progress) -> Any:
        progress(step)
        bar = progress._bar
        assert bar is not None
        return SimpleNamespace(bar=bar, text=str(bar), screen=screen.getvalue())

    yield show
    progress.close()


def test_bars_guess_no_time_before_there_is_progress(
    shown: Callable[[Progress], Any],
) -> None:
    start = shown(Progress("merge", 0, 1000, "merges"))
    assert "Preparing" in start.text
    assert "%" not in start.text
    early = shown(Progress("merge", 1, 1000, "merges"))
    assert "?" not in early.screen
    assert "Merging" in early.text
    assert "<" not in early.text
    early.bar.start_t -= 100
    assert "<" not in shown(Progress("merge", 49, 1000, "merges")).text
    assert "<" in shown(Progress("merge", 500, 1000, "merges")).text
    # A phase that ends early has done all that there was.
    end = shown(Progress("merge", 600, 600, "merges"))
    assert "100%" in end.text
