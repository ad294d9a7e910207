"""Output files of the command line: whole or not at all, and never an input."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_runs import environment, fail, pybpe_cli, succeed

import pybpe
from pybpe.cli import main

TEXT = b"the cat sat on the mat, the other cat sat on that mat\n" * 50
END = "<|endoftext|>"

needs_posix = pytest.mark.skipif(os.name != "posix", reason="special files of POSIX")
needs_dev_full = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs /dev/full"
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_bytes(TEXT)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.pybpe"
    pybpe.train([TEXT], 300, special_tokens=[END]).save(path)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_output_that_is_an_input_is_refused(corpus: Path, model: Path) -> None:
    folder = corpus.parent
    ids = folder / "ids.txt"
    ids.write_bytes(b"1 2 3\n")
    link = folder / "link.txt"
    shutil.copy(corpus, link)
    link.unlink()
    link.hardlink_to(corpus)
    before = contents(folder)
    for command in (
        ("train", corpus, "--vocab-size", 300, "-o", corpus),
        ("train", ids, corpus, "--vocab-size", 300, "-o", link),
        ("encode", model, corpus, "-o", corpus),
        ("encode", model, corpus, "-o", folder / "." / "link.txt"),
        ("encode", model, corpus, "-o", model),
        ("encode", model, "-t", "the cat", "-o", model),
        ("decode", model, "-i", ids, "-o", ids),
        ("decode", model, "-i", ids, "-o", model),
        ("decode", model, "1", "-o", model),
        ("demo", corpus, "--vocab-size", 300, "-o", corpus),
    ):
        message = fail(*command, status=2)
        assert f"{command[-1]} is what is read, too" in message
        assert contents(folder) == before, command


@needs_posix
def test_redirections_count_as_inputs_and_outputs(corpus: Path, model: Path) -> None:
    command = [sys.executable, "-m", "pybpe"]
    for redirected, arguments in (
        ("stdout", ["encode", str(model), str(corpus)]),
        ("stdin", ["encode", str(model), "-o", str(corpus)]),
        ("stdin", ["train", "--vocab-size", "300", "-o", str(corpus)]),
    ):
        with corpus.open("r+b") as file:
            stream = {"stdin": subprocess.DEVNULL, redirected: file}
            done = subprocess.run(
                [*command, *arguments],
                **stream,
                stderr=subprocess.PIPE,
                env=environment(),
            )
        assert done.returncode == 2, done.stderr
        assert b"is what is read, too" in done.stderr
        assert corpus.read_bytes() == TEXT


def test_the_other_file_of_a_pair_is_an_input(tmp_path: Path, corpus: Path) -> None:
    merges = tmp_path / "merges.txt"
    merges.write_bytes(b"precious")
    vocabulary = tmp_path / "vocab.json"
    vocabulary.write_bytes(b"{}")
    fail("encode", vocabulary, corpus, "-o", merges, status=2)
    fail("encode", tmp_path, corpus, "-o", vocabulary, status=2)
    assert merges.read_bytes() == b"precious"
    assert vocabulary.read_bytes() == b"{}"


def test_an_error_leaves_the_old_output_and_nothing_else(
    corpus: Path, model: Path
) -> None:
    folder = corpus.parent
    out = folder / "out"
    out.write_bytes(b"old")
    bad = folder / "bad.txt"
    bad.write_bytes(TEXT + END.encode())
    ids = folder / "ids.txt"
    ids.write_bytes(b"1 2 3\n" * 100_000 + b"x\n")
    before = contents(folder)
    for command in (
        ("encode", model, bad),
        ("encode", model, bad, "--lines"),
        ("encode", model, folder / "nowhere"),
        ("decode", model, "-i", ids),
        ("decode", model, "-i", ids, "--lines"),
        ("decode", model, "-i", folder / "nowhere"),
        ("decode", model, "9999"),
    ):
        fail(*command, "-o", out)
        assert contents(folder) == before, command


@needs_posix
def test_ctrl_c_leaves_the_old_output_and_nothing_else(model: Path) -> None:
    out = model.with_name("out")
    out.write_bytes(b"old")
    before = contents(model.parent)
    command = [sys.executable, "-m", "pybpe", "encode", str(model), "--lines"]
    with subprocess.Popen(
        [*command, "-o", str(out)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        # Started from a background job, the tests themselves may ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        child.stdin.write(TEXT * 100)
        child.stdin.flush()
        for _ in range(6000):
            if contents(model.parent).keys() != before.keys():
                break
            time.sleep(0.01)
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=600) == 130
        assert child.stderr.read().strip() == b"pybpe: interrupted"
    assert contents(model.parent) == before


@needs_dev_full
def test_a_full_disk_is_named(corpus: Path, model: Path) -> None:
    for command in (
        ("encode", model, corpus, "-o", "/dev/full"),
        ("decode", model, "1", "2", "-o", "/dev/full"),
        ("train", corpus, "--vocab-size", 260, "-q", "-o", "/dev/full"),
    ):
        assert fail(*command).startswith("pybpe: /dev/full: "), command
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pybpe", "encode", str(model), str(corpus)],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        told = subprocess.run(
            [sys.executable, "-m", "pybpe", "info", str(model)],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"pybpe: stdout: ")
    assert done.stderr.count(b"\n") == 1
    assert told.returncode == 1
    assert told.stderr.count(b"\n") == 1


@needs_posix
def test_special_files_are_written_straight(corpus: Path, model: Path) -> None:
    wanted = succeed("encode", model, corpus)
    assert succeed("encode", model, corpus, "-o", os.devnull) == b""
    assert not Path(os.devnull).is_file()
    pipe = model.with_name("pipe")
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        succeed("encode", model, corpus, "-o", pipe)
        got, _ = reader.communicate(timeout=600)
    assert got == wanted
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/fd/1").exists(), reason="needs /dev/fd")
def test_dev_stdout_goes_on_where_stdout_is(corpus: Path, model: Path) -> None:
    wanted = succeed("encode", model, corpus)
    assert succeed("encode", model, corpus, "-o", "/dev/stdout") == wanted
    trained = succeed(
        "train", corpus, "--vocab-size", 300, "--special", END, "-o", "/dev/stdout"
    )
    assert trained == pybpe.load(model).to_bytes()
    # Redirected to a file: that file is neither replaced nor cut off.
    log = model.with_name("log")
    log.write_bytes(b"before\n")
    command = [sys.executable, "-m", "pybpe", "encode"]
    with log.open("ab") as file:
        subprocess.run(
            [*command, str(model), str(corpus), "-o", "/dev/stdout"],
            stdout=file,
            env=environment(),
            check=True,
        )
    assert log.read_bytes() == b"before\n" + wanted


def test_an_output_that_cannot_be_written_is_refused_first(
    corpus: Path, model: Path
) -> None:
    folder = corpus.parent
    out = folder / "no such" / "out"
    for command in (
        ("train", corpus, "--vocab-size", 300),
        ("encode", model, corpus),
        ("decode", model, "1"),
        ("demo", corpus),
    ):
        message = fail(*command, "-o", out)
        assert str(out) in message
        assert ".tmp" not in message
        assert str(folder) in fail(*command, "-o", folder)
    assert sorted(contents(folder)) == ["corpus.txt", "model.pybpe"]


def test_outputs_replace_what_was_there(corpus: Path, model: Path) -> None:
    out = corpus.with_name("out")
    out.write_bytes(b"old" * 10_000)
    succeed("encode", model, corpus, "-o", out)
    assert out.read_bytes() == succeed("encode", model, corpus)
    assert pybpe_cli("decode", model, "-i", out).out == TEXT


def test_the_demo_says_that_a_text_is_empty(tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.touch()
    for file in (empty, os.devnull):
        message = fail("demo", file)
        assert f"{file} is empty" in message


@needs_posix
def test_the_demo_reads_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = "import sys; open(sys.argv[1], 'wb').write(b'the cat sat on the mat' * 9)"
    with subprocess.Popen([sys.executable, "-c", code, str(pipe)]):
        out = succeed("demo", pipe, "--vocab-size", 265)
    assert b"198 bytes" in out
    assert b"False" not in out


@needs_posix
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_closed_streams_lose_no_work(tmp_path: Path, closed: str) -> None:
    if "full" in closed and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    (tmp_path / "in.txt").write_text("low lower lowest newer\n" * 3)
    (tmp_path / "in.jsonl").write_text('{"text": "low"}\n')

    def run(arguments: str) -> int:
        command = f"exec {shlex.quote(sys.executable)} -m pybpe {arguments} {closed}"
        # With buffers, as usual: what is left in one when Python ends counts, too.
        env = {**environment(), "PYTHONUNBUFFERED": ""}
        done = subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, env=env, capture_output=True
        )
        assert b"Traceback" not in done.stderr
        return done.returncode

    assert run("train in.txt --vocab-size 262 --snapshot 260 -o m.pybpe") == 0
    assert pybpe.load(tmp_path / "m-260.pybpe").vocab_size == 260
    tok = pybpe.load(tmp_path / "m.pybpe")
    assert tok == pybpe.train_from_files(tmp_path / "in.txt", 262)
    assert run("prepare m.pybpe in.jsonl --no-separator -o out") == 0
    if importlib.util.find_spec("numpy"):
        assert pybpe.open_shards(tmp_path / "out")[0].tolist() == tok.encode("low")
    assert run("count in.txt -o 0.counts") == 0
    assert run("merge-counts 0.counts 0.counts -o 1.counts") == 0
    assert pybpe.Counts.load(tmp_path / "1.counts").documents == 2
    assert run("encode m.pybpe in.txt -o ids.txt") == 0
    assert (tmp_path / "ids.txt").stat().st_size
    assert run("train in.txt") == 2
    assert run("encode m.pybpe nowhere") == 1
    # What is written to stdout is lost if nobody takes it: that is a failure.
    lost = ">&-" in closed.replace("2>&-", "")
    for arguments in ("encode m.pybpe -t low", "decode m.pybpe 97", "info m.pybpe"):
        assert run(arguments) == int(lost)


def test_streams_that_python_has_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where there is no console, or the caller has taken them away."""
    (tmp_path / "in.txt").write_text("low lower lowest newer\n" * 3)
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    out = tmp_path / "m.pybpe"
    command = ["train", str(tmp_path / "in.txt"), "--vocab-size", "262", "-o"]
    assert main([*command, str(out)]) == 0
    assert pybpe.load(out).vocab_size == 262
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert main(["info", str(out)]) == 1
