"""What the README shows is run: its Python as doctests, its shell commands as they are.

And what it points at exists.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pybpe

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(ROOT / "README.md", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_python_examples() -> None:
    """The whole page, as `python -m doctest README.md` runs it."""
    examples = doctest.DocTestParser().get_doctest(README, {}, "README.md", None, 0)
    assert len(examples.examples) > 10
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    failed = runner.run(examples, out=report.append).failed
    assert failed == 0, "".join(report)


def scripts(word: str) -> str:
    """Return the one block of plain Python that holds a word."""
    (found,) = (
        block for block in blocks("python") if word in block and ">>>" not in block
    )
    return found


@pytest.mark.usefixtures("folder")
def test_the_progress_example(capfd: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"pybpe": pybpe}
    exec(scripts("tqdm"), names)  # noqa: S102 - our own README
    for bar in names["bars"].values():
        bar.close()
    assert list(names["bars"]) == ["count", "merge"]
    assert "100%" in capfd.readouterr().err
    assert names["tok"].vocab_size == 1000


def test_the_example_of_a_corpus(folder: Path) -> None:
    np = pytest.importorskip("numpy")
    try:
        from compression import zstd
    except ImportError:
        zstd = pytest.importorskip("backports.zstd")
    tok = pybpe.train([README], 1000, special_tokens=["<|end|>"])
    (folder / "data").mkdir()
    texts = README.replace("<|end|>", "").split("\n\n")
    for number in range(2):
        lines = [json.dumps({"text": text}) for text in texts[number::2]]
        packed = zstd.compress("\n".join(lines).encode())
        (folder / "data" / f"{number}.jsonl.zst").write_bytes(packed)
    names: dict[str, Any] = {"tok": tok, "pybpe": pybpe}
    exec(scripts("encode_files"), names)  # noqa: S102 - our own README
    shards = names["shards"]
    end = tok.special_tokens["<|end|>"]
    want = [[*tok.encode_ordinary(t), end] for t in texts[::2] + texts[1::2]]
    assert [ids.tolist() for ids in shards] == want
    assert shards.tokens(0, shards.n_tokens).tolist() == list(np.concatenate(want))


@pytest.mark.oracle
def test_the_example_of_tiktoken() -> None:
    pytest.importorskip("tiktoken")
    tok = pybpe.train([README], 1000, special_tokens=["<|end|>"])
    names: dict[str, Any] = {"tok": tok, "pybpe": pybpe}
    exec(scripts("to_tiktoken"), names)  # noqa: S102 - our own README
    text = f"{README}<|end|>{README}"
    encoded = names["encoding"].encode(text, allowed_special="all")
    assert encoded == tok.encode(text, allowed_special="all")
    assert names["tok"].encode(text, allowed_special="all") == encoded


def test_files_are_read_as_the_examples_read_them(folder: Path) -> None:
    tok = pybpe.train([README], 400)
    tok.save(folder / "model.pybpe")
    (folder / "of").mkdir()
    (folder / "model.pybpe").rename(folder / "of" / "model.pybpe")
    assert pybpe.load(folder / "of") == tok
    glyphs = [*range(33, 127), *range(161, 173), *range(174, 256)]
    names = {chr(byte): byte for byte in glyphs}
    rest = [byte for byte in range(256) if byte not in glyphs]
    names |= {chr(256 + i): byte for i, byte in enumerate(rest)}
    (folder / "vocab.json").write_text(json.dumps(names | {"lo": 256}), "utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\nl o\n", "utf-8")
    (example,) = (
        line.partition(" = ")[2]
        for line in scripts("merges.txt").splitlines()
        if "merges.txt" in line
    )
    pair = eval(example)  # noqa: S307 - our own README
    assert pair.encode("lot") == [256, ord("t")]


def test_shell_examples(folder: Path) -> None:
    commands = [
        line.removeprefix("$ ")
        for block in blocks("console")
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    assert commands
    environment = {**os.environ, "PYTHONPATH": str(Path(pybpe.__file__).parents[1])}
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "pybpe"
        done = subprocess.run(
            [sys.executable, "-m", "pybpe", *arguments],
            capture_output=True,
            env=environment,
        )
        assert done.returncode == 0, (command, done.stderr.decode())
    assert (folder / "same.md").read_bytes() == (folder / "README.md").read_bytes()


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README)
    missing = [
        target
        for target in targets
        if "://" not in target and not (ROOT / target).exists()
    ]
    assert targets
    assert missing == []


def test_named_tests_exist() -> None:
    """A claim's command that runs nothing would prove nothing."""
    for name in re.findall(r"\btests/[\w/]+\.py\b(?:::\w+)?", README):
        path, _, test = name.partition("::")
        assert (ROOT / path).is_file(), name
        if test:
            source = (ROOT / path).read_text(encoding="utf-8")
            assert f"def {test}(" in source, name
