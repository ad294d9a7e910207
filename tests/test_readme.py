"""What the README shows is run: its Python as doctests, its shell commands as they are.

And what it points at exists.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

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
    text = "\n".join(blocks("python"))
    examples = doctest.DocTestParser().get_doctest(text, {}, "README.md", None, 0)
    assert len(examples.examples) > 10
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    failed = runner.run(examples, out=report.append).failed
    assert failed == 0, "".join(report)


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


def test_nothing_is_left_to_fill_in() -> None:
    assert "PLACEHOLDER" not in README
