"""docs/scaling.md: its examples are run, its shell commands as they stand."""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import environment

import pybpe

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")


def block(language: str, word: str) -> str:
    """Return the one block of a language that holds a word."""
    blocks = [part.split("\n```", 1)[0] for part in PAGE.split(f"```{language}\n")[1:]]
    (found,) = (part for part in blocks if word in part)
    return found + "\n"


def test_python_examples() -> None:
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "scaling.md", None, 0)
    assert len(examples.examples) > 5
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(examples, out=report.append).failed == 0, "".join(report)


def program(folder: Path) -> dict[str, str]:
    """Return an environment in which the shell finds `pybpe`: the one under test."""
    command = folder / "bin" / "pybpe"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pybpe "$@"\n')
    command.chmod(0o755)
    found = environment()
    found["PATH"] = os.pathsep.join([str(command.parent), found["PATH"]])
    return found


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("xargs") is None, reason="needs xargs")
def test_shell_commands(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    pages = sorted((ROOT / "docs").glob("*.md"))[:4]
    paths = [corpus / f"{page.stem}.txt" for page in pages]
    for page, path in zip(pages, paths, strict=True):
        shutil.copy(page, path)
    env = program(tmp_path)
    shell = ["sh", "-euc", block("shell", "xargs")]
    done = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    want = pybpe.train_from_files(sorted(paths), 1000, special_tokens=["<|end|>"])
    assert (tmp_path / "my.pybpe").read_bytes() == want.to_bytes()
    for path in paths:
        shards = pybpe.open_shards(tmp_path / "shards" / path.name)
        ids = want.encode_ordinary(path.read_text(encoding="utf-8"))
        assert shards.tokens(0, shards.n_tokens).tolist() == [*ids, want.n_vocab - 1]
    # And a job of the array, with its list of files.
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "07").write_text("\n".join(map(str, paths)), encoding="utf-8")
    shell[-1] = block("", "SBATCH")
    done = subprocess.run(
        shell,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**env, "SLURM_ARRAY_TASK_ID": "7"},
    )
    assert done.returncode == 0, done.stderr
    made = pybpe.Counts.load(tmp_path / "counts" / "07.counts")
    assert made == pybpe.Counts.load(tmp_path / "all.counts")
