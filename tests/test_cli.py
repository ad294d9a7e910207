"""The command line: what goes in and out, and what a user's mistake looks like."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from array import array
from pathlib import Path

import pytest
import spm
from cli_runs import environment, fail, pybpe_cli, succeed

import pybpe
from pybpe import cli
from pybpe.cli import about
from pybpe.codepoint import CodepointModel

END = "<|endoftext|>"
TEXT = (
    "The cat sat on the mat; the other cat sat on that mat. Ünïcödé 日本語!\n"
    "Nobody expects the tokenizer's merges, 1234 of them, to be this frequent.\n"
) * 20


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(corpus: Path) -> Path:
    path = corpus.with_name("model.pybpe")
    succeed("train", corpus, "--vocab-size", 300, "--special", END, "-o", path)
    return path


def test_train_gives_what_the_python_api_gives(corpus: Path, model: Path) -> None:
    wanted = pybpe.train_from_files([corpus], 300, special_tokens=[END])
    assert pybpe.load(model) == wanted


def test_train_from_stdin_equals_train_from_a_file(corpus: Path, model: Path) -> None:
    for arguments in ([], ["-"]):
        out = corpus.with_name("stdin.pybpe")
        succeed(
            *("train", *arguments, "--vocab-size", 300, "--special", END, "-o", out),
            stdin=corpus.read_bytes(),
        )
        assert pybpe.load(out) == pybpe.load(model)


def test_train_obeys_every_option(corpus: Path) -> None:
    out = corpus.with_name("options.pybpe")
    options = "--pattern none --tie-break first --byte-order gpt2 --min-frequency 3"
    succeed(
        *("train", corpus, "--vocab-size", 280, *options.split(), "--threads", 2),
        *("-o", out),
    )
    wanted = pybpe.train_from_files(
        [corpus],
        280,
        pattern=None,
        tie_break="first",
        byte_order="gpt2",
        min_frequency=3,
    )
    assert pybpe.load(out) == wanted


def test_train_says_when_it_stopped_early(tmp_path: Path) -> None:
    out = tmp_path / "small.pybpe"
    result = pybpe_cli("train", "--vocab-size", 5000, "-o", out, stdin=b"abcabc abc")
    assert result.status == 0
    assert "fewer than the 5,000 asked for" in result.err
    assert pybpe.load(out).vocab_size < 300


def test_quiet_training_says_nothing(corpus: Path) -> None:
    out = corpus.with_name("quiet.pybpe")
    result = pybpe_cli("train", corpus, "--vocab-size", 260, "-q", "-o", out)
    assert (result.status, result.out, result.err) == (0, b"", "")


@pytest.mark.parametrize("form", ["text", "json", "uint16", "uint32"])
def test_encode_then_decode_gives_the_bytes_back(model: Path, form: str) -> None:
    data = TEXT.encode() + b"\xff\x00\xfe no newline at the end"
    ids = succeed("encode", model, "--format", form, stdin=data)
    wanted = pybpe.load(model).encode_ordinary(data)
    if form == "text":
        assert ids == " ".join(map(str, wanted)).encode() + b"\n"
    elif form == "json":
        assert json.loads(ids) == wanted
    else:
        values = array("H" if form == "uint16" else "I", ids)
        if sys.byteorder == "big":
            values.byteswap()
        assert values.tolist() == wanted
    assert succeed("decode", model, "--format", form, stdin=ids) == data


def test_encode_reads_and_writes_files(corpus: Path, model: Path) -> None:
    ids, back = corpus.with_name("ids.bin"), corpus.with_name("back.txt")
    succeed("encode", model, corpus, "--format", "uint16", "-o", ids)
    succeed("decode", model, "--input", ids, "--format", "uint16", "-o", back)
    assert back.read_bytes() == corpus.read_bytes()


def test_encode_takes_a_text_argument(model: Path) -> None:
    wanted = pybpe.load(model).encode("the cat")
    assert json.loads(succeed("encode", model, "-t", "the cat", "-f", "json")) == wanted
    assert json.loads(succeed("encode", model, "-t", "", "-f", "json")) == []


def test_lines_are_texts_of_their_own(model: Path) -> None:
    tok = pybpe.load(model)
    given = b"the cat\r\n\nthat mat"
    out = succeed("encode", model, "--lines", "--format", "json", stdin=given)
    lines = [json.loads(line) for line in out.splitlines()]
    assert lines == [tok.encode("the cat\r"), [], tok.encode("that mat")]
    assert succeed("decode", model, "-f", "json", stdin=out) == b"the cat\rthat mat"


def test_special_tokens_need_a_word_of_permission(model: Path) -> None:
    tok = pybpe.load(model)
    text = f"the cat{END}"
    message = fail("encode", model, "--text", text)
    assert END in message
    assert "--allow-special" in message
    message = fail("encode", model, "--lines", stdin=f"the\n{text}\n".encode())
    assert message.startswith("pybpe: line 2 spells")
    assert "allowed_special" not in message
    allowed = json.loads(
        succeed("encode", model, "-t", text, "-f", "json", "--allow-special")
    )
    assert allowed == tok.encode(text, allowed_special="all")
    plain = json.loads(succeed("encode", model, "-t", text, "-f", "json", "--plain"))
    assert plain == tok.encode_ordinary(text)
    assert plain != allowed


def test_decode_takes_ids_as_arguments(model: Path) -> None:
    ids = pybpe.load(model).encode("the cat")
    assert succeed("decode", model, *ids) == b"the cat"


def test_a_name_that_is_no_encoding_is_answered_with_those_there_are() -> None:
    message = fail("encode", "cl100k", "-t", "hi")
    assert "cl100k: no such file, and no encoding of this name" in message
    assert "cl100k_base, " in message
    assert "No such file" in fail("encode", "no/cl100k", "-t", "hi")


def test_info_tells_people_and_programs(model: Path) -> None:
    tok = pybpe.load(model)
    told = json.loads(succeed("info", model, "--json"))
    assert told["vocab_size"] == tok.vocab_size == 300
    assert told["n_merges"] == len(tok.merges) == 43
    assert told["special_tokens"] == {END: 299}
    assert told["fingerprint"] == tok.fingerprint
    assert told["split"]["compiled"] is True
    assert told["split"]["stages"][0]["unicode_version"] == "16.0"
    shown = succeed("info", model).decode()
    assert tok.fingerprint in shown
    assert END in shown
    assert "300" in shown


def test_info_tells_what_is_done_around_the_core(tmp_path: Path) -> None:
    document = {
        "model": {
            "type": "BPE",
            "vocab": {"a": 0, "b": 1, "ab": 2},
            "merges": [["a", "b"]],
        },
        "normalizer": {"type": "NFC"},
        "added_tokens": [],
        "pre_tokenizer": None,
        "decoder": {"type": "Fuse"},
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    told = json.loads(succeed("info", path, "--json"))
    assert any("nfc" in step.lower() for step in told["normalizers"])
    assert (told["text_prefix"], told["text_suffix"]) == ([], [])
    shown = succeed("info", path).decode()
    for step in (*told["normalizers"], *told["decoders"]):
        assert step in shown


def test_info_knows_sentencepiece_models(tmp_path: Path) -> None:
    pieces = [(b"<unk>", 0.0, spm.UNKNOWN), (b"a", -1.0, spm.NORMAL)]
    pieces += [(b"ab", -2.0, spm.NORMAL), (b"b", -3.0, spm.NORMAL)]
    path = tmp_path / "tokenizer.model"
    path.write_bytes(spm.write_model(pieces, add_dummy_prefix=False))
    tok = pybpe.load(path)
    assert isinstance(tok._model, CodepointModel)
    known = about.sentencepiece(tok._model)
    assert known["longest_token_bytes"] == len(b"<unk>")
    assert json.loads(json.dumps(known)) == known
    rows = list(about.sentencepiece_rows(known))
    assert ("", "add dummy prefix: no") in rows
    assert ("byte fallback", "no") in rows


def test_demo_runs_on_a_file(corpus: Path) -> None:
    kept = corpus.with_name("kept.pybpe")
    out = succeed("demo", corpus, "--vocab-size", 300, "-o", kept).decode()
    assert "corpus.txt" in out
    assert "True" in out
    assert "False" not in out
    assert pybpe.load(kept).vocab_size == 300


def test_help_teaches() -> None:
    top = succeed("--help").decode()
    for command in ("train", "encode", "decode", "info", "demo"):
        assert f"\n  {command} " in top
        assert "Usage: pybpe" in succeed(command, "-h").decode()
    for command in ("train", "encode", "decode", "info"):
        assert "Examples:\n" in succeed(command, "--help").decode()


def test_version() -> None:
    assert pybpe.__version__ in succeed("--version").decode()


def test_usage_errors_have_status_2(model: Path) -> None:
    fail("tarin", status=2)
    fail("train", "x.txt", "-o", "y.pybpe", status=2)
    fail("train", "--vocab-size", "many", "-o", "y.pybpe", status=2)
    fail("train", "-", "-", "--vocab-size", 300, "-o", "y.pybpe", status=2)
    fail("train", "--vocab-size", 300, "-o", "-", status=2)
    fail("encode", model, "--allow-special", "--plain", status=2)
    fail("encode", model, "file", "--text", "text", status=2)
    fail("encode", model, "--lines", "--format", "uint16", status=2)
    fail("decode", model, "1", "--format", "json", status=2)


def test_failures_have_status_1_and_name_the_cause(
    tmp_path: Path, corpus: Path, model: Path
) -> None:
    out = tmp_path / "out.pybpe"
    assert "nowhere.txt" in fail(
        "train", tmp_path / "nowhere.txt", "--vocab-size", 300, "-o", out
    )
    assert "no such" in fail(
        "train", corpus, "--vocab-size", 300, "-o", tmp_path / "no such" / "x.pybpe"
    )
    assert "no such" in fail("demo", corpus, "-o", tmp_path / "no such" / "x.pybpe")
    assert not out.exists()
    assert "nowhere.pybpe" in fail("info", tmp_path / "nowhere.pybpe")
    assert "corpus.txt" in fail("info", corpus)
    assert "9999" in fail("decode", model, "9999")
    assert "'x'" in fail("decode", model, stdin=b"1 2 x")
    assert "uint32" in fail("decode", model, "-f", "uint32", stdin=b"123")


def test_uint16_is_refused_where_ids_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 65_536}
    large = tmp_path / "large.pybpe"
    pybpe.Tokenizer.from_ranks(ranks, pattern=None, special_tokens={}).save(large)
    message = fail("encode", large, "--text", "a", "--format", "uint16")
    assert "65,536" in message
    assert "uint32" in message
    assert succeed("encode", large, "-t", "ab", "-f", "uint32") == b"\0\0\1\0"


def test_an_interrupt_is_no_traceback(
    corpus: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pybpe, "train_from_files", interrupted)
    out = corpus.with_name("interrupted.pybpe")
    assert (
        cli.main(["train", str(corpus), "--vocab-size", "300", "-o", str(out)]) == 130
    )
    assert capsys.readouterr().err.strip() == "pybpe: interrupted"
    assert not out.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes as POSIX has them")
def test_a_reader_that_leaves_is_no_traceback(corpus: Path, model: Path) -> None:
    long = corpus.with_name("long.txt")
    long.write_bytes(corpus.read_bytes() * 500)
    command = [sys.executable, "-m", "pybpe", "encode", str(model), str(long)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait() == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_bars_show_on_a_terminal_only(corpus: Path) -> None:
    import pty
    import termios

    out = corpus.with_name("bars.pybpe")
    command = [sys.executable, "-m", "pybpe", "train", str(corpus)]
    command += ["--vocab-size", "300", "-o", str(out)]
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=theirs, env=environment()
    )
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 0
    assert done.stdout == b""
    assert "Counting" in shown
    assert "Merging" in shown

    piped = pybpe_cli(*command[3:])
    assert "Counting" not in piped.err
    assert "300 tokens" in piped.err
