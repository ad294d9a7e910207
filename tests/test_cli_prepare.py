"""`pybpe prepare`, and `pybpe train` on the same inputs."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import numpy as np
import pytest
from cli_runs import environment, fail, pybpe_cli, succeed
from test_corpora_layouts import TOK, expected, write_jsonl

import pybpe
from pybpe.cli.prepare import prepare
from pybpe.corpora import encoding, layouts

TEXTS = ["low", "hello <|pad|>", "", "the lower"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    TOK.save(tmp_path / "my.pybpe")
    return tmp_path / "my.pybpe"


def test_prepare(model: Path, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", TEXTS)
    out = tmp_path / "shards"
    command = ("prepare", model, source, "--separator", "<|end|>", "-o", out)
    message = fail(*command)
    assert "a.jsonl, line 2: the text spells the special token '<|pad|>' at" in message
    assert "--allow-special" in message
    assert "pass allowed_special" not in message
    run = pybpe_cli(*command, "--plain", "--threads", 2)
    assert (run.status, run.out) == (0, b"")
    rows = expected(TEXTS)
    n, size = sum(map(len, rows)), sum(map(len, TEXTS))
    assert run.err.startswith(
        f"{out}: shard-00000.tokens of uint16; 4 documents, {n} tokens of {size} bytes "
        f"of text ({n / size:.3f} tokens per byte)\n1 documents have no text\n"
    )
    assert re.search(r"\d+\.\d s, \d+\.\d MB/s\n$", run.err)
    assert [row.tolist() for row in pybpe.open_shards(out)] == rows
    again = pybpe_cli(*command, "--plain")
    assert "it was finished already: nothing was done" in again.err
    message = fail(*command, "--plain", "--layout", "megatron")
    assert 'begun with --layout "shards", and this is --layout "megatron"' in message
    assert "--overwrite" in message
    for option, value, said in (
        ("--field", "body", '--field "text", and this is --field "body"'),
        ("--dtype", "uint32", '--dtype "uint16", and this is --dtype "uint32"'),
        ("--separator", 260, "--separator 259, and this is --separator 260"),
        ("--split-on", "x", '--split-on=null, and this is --split-on="x"'),
    ):
        assert said in fail(*command, "--plain", option, value)
    assert pybpe_cli(*command, "--allow-special", "--overwrite", "-q").err == ""
    row = pybpe.open_shards(out)[1].tolist()
    assert row == [*TOK.encode("hello <|pad|>", allowed_special="all"), 259]


def test_warnings_are_lines(tmp_path: Path) -> None:
    wide = TOK.add_special_tokens({"<|far|>": 70_000})
    wide.save(tmp_path / "wide.pybpe")
    (tmp_path / "a.txt").write_text("low")
    run = pybpe_cli(
        *("prepare", tmp_path / "wide.pybpe", tmp_path / "a.txt", "--no-separator"),
        *("--layout", "nanogpt", "-o", tmp_path / "out", "-q"),
    )
    assert run.status == 0
    (line,) = run.err.splitlines()
    assert line.startswith("pybpe: warning: ")
    assert "the files have uint32" in line


def test_prepare_for_nanogpt(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low\nhello\n\nthe")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"lower"))
    options = ("--layout", "nanogpt", "--split-on", r"\n", "-o", tmp_path / "out")
    options = (*options, "--separator", 260, "--separator-at", "start")
    succeed("prepare", model, tmp_path / "[ab].txt*", *options)
    rows = [[260, *TOK.encode(t)] for t in ("low", "hello", "", "the", "lower")]
    found = np.memmap(tmp_path / "out" / "train.bin", "<u2", "r").tolist()
    assert found == [number for row in rows for number in row]


def test_prepare_refuses(model: Path, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", TEXTS)
    out = ("-o", tmp_path / "out")
    wrong = (
        "give --separator TOKEN or --no-separator, and only one; special tokens of this"
    )
    assert wrong in fail("prepare", model, source, *out, status=2)
    both = ("--separator", "<|end|>", "--no-separator")
    assert wrong in fail("prepare", model, source, *out, *both, status=2)
    both = ("--plain", "--allow-special")
    assert "exclude each other" in fail("prepare", model, source, *out, *both, status=2)
    none = ("--no-separator", "--plain")
    message = fail("prepare", model, "-", *out, *none, status=2)
    assert "stdin cannot be read again" in message
    message = fail("prepare", model, source, *out, "--separator", "<|eot|>", status=2)
    assert "--separator: " in message
    assert "the special tokens are" in message
    assert "nowhere: No such file" in fail("prepare", model, "nowhere", *out, *none)
    message = fail("prepare", model, source, *out, *none, "--field", "body")
    assert (
        "line 1: has no field 'body'; its fields are 'text': choose with --field"
        in message
    )
    wide = pybpe.Tokenizer.from_merges(
        [(104, 101)], pattern=None, special_tokens={"x": 70_000}
    )
    wide.save(tmp_path / "wide.pybpe")
    wide_ = ("prepare", tmp_path / "wide.pybpe", source, *out, *none)
    for options, said in (
        ("--dtype uint16", "--dtype 'uint16' holds ids below 65,536"),
        ("--layout nanogpt --shard-size 9", "--layout 'nanogpt' is one file"),
        ("--layout nanogpt --dtype int32", "--dtype must be 'auto' or one of"),
        ("--shard-size 0", "'--shard-size'"),
        ("--val-fraction 1", "'--val-fraction'"),
        ("--threads 0", "'--threads'"),
        ("--format csv", "'--format'"),
        ("--split-on=", "'--split-on'"),
        ("--separator-at middle", "'--separator-at'"),
    ):
        assert said in fail(*wide_, *options.split(), status=2)
    assert "--field must be text" in fail(*wide_, "--field", "\udcff", status=2)
    # What the data are the cause of is no wrong usage.
    (tmp_path / "b.jsonl").write_text("[]")
    command = ("prepare", model, tmp_path / "b.jsonl", "-o", tmp_path / "other")
    assert "not an object" in fail(*command, *none)


def test_train_takes_documents(tmp_path: Path) -> None:
    texts = ["low lower lowest", "new newer newest"] * 9
    write_jsonl(tmp_path / "a.jsonl", texts)
    data = (tmp_path / "a.jsonl").read_bytes().replace(b'"text"', b'"body"')
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(data))
    expected_model = pybpe.train(texts, 280)
    for command in (
        (tmp_path / "a.jsonl",),
        (tmp_path / "b.json.gz", "--format", "jsonl", "--field", "body"),
    ):
        succeed("train", *command, "--vocab-size", 280, "-o", tmp_path / "m.pybpe")
        assert pybpe.load(tmp_path / "m.pybpe") == expected_model
    command = ("train", "--format", "jsonl", "--field", "body", "--vocab-size", 280)
    succeed(*command, "-o", tmp_path / "m.pybpe", stdin=data)
    assert pybpe.load(tmp_path / "m.pybpe") == expected_model
    message = fail(
        "train", tmp_path / "b.json.gz", "--vocab-size", 280, "-o", tmp_path / "x"
    )
    assert "give --format 'jsonl'" in message
    lines = write_jsonl(tmp_path / "lines.jsonl", ["\n".join(texts)])
    command = ("train", lines, "--mode", "codepoint", "--vocab-size", 30)
    succeed(*command, "-o", tmp_path / "m.model")
    assert pybpe.load(tmp_path / "m.model") == pybpe.train_sentencepiece(texts, 30)
    message = fail(*command, "--split-on", "x", "-o", tmp_path / "x", status=2)
    assert "--split-on" in message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_ctrl_c_says_how_to_go_on(model: Path, tmp_path: Path) -> None:
    """In the midst of a run, which cannot end as long as the pipe is open."""
    source = tmp_path / "a.jsonl"
    os.mkfifo(source)
    line = json.dumps({"text": "low hello the lower " * 50}).encode() + b"\n"
    out = tmp_path / "out"
    command = [sys.executable, "-m", "pybpe", "prepare", str(model), str(source)]
    command += ["--separator", "<|end|>", "--threads", "1", "-o", str(out)]
    part = out / "shard-00000.tokens.part"
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        env=environment(),
        # Under nohup and the like children begin with SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as child:
        with source.open("wb", buffering=0) as pipe:
            pipe.write(line * 10_000)
            while not part.exists() or not part.stat().st_size:
                assert child.poll() is None
                time.sleep(0.01)
            os.kill(child.pid, signal.SIGINT)
            child.wait()
        message = child.communicate()[1].decode()
    assert child.returncode == 130, message
    assert "the same command goes on from here" in message
    state = json.loads((out / "progress.json").read_bytes())
    assert state["totals"][0] > 0


def test_choices_are_those_of_the_api() -> None:
    """They stand twice, since the API's come with numpy, for which help cannot wait."""
    choices = {
        option.name: tuple(option.type.choices)
        for option in prepare.params
        if isinstance(option.type, click.Choice)
    }
    assert choices.pop("layout") == layouts.LAYOUTS
    assert choices.pop("dtype") == ("auto", *encoding.WIDTHS)
    assert choices.keys() == {"form", "separator_at"}
