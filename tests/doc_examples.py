"""Running what a page of the documentation shows: its Python and its shell commands.

A page is run section by section (headings of the second level), each in a folder of its
own with the page's texts, so that a reader may begin with any of them. Python blocks
with ">>>" are doctests, which share their names; blocks of the language "console" hold
commands after "$ " and under each what it prints, to the last character.

`python tests/doc_examples.py PAGE...` writes what the commands print into the pages.
"""

from __future__ import annotations

import contextlib
import doctest
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pybpe
from pybpe import cli

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# What code may name, and the test data for it. A sha256 is that of a text which is not
# pybpe's to bring along; with another text of that name the examples say other things.
_ENCODING = "vocab/openai/{}.tiktoken"
DATA = {
    **{
        name: _ENCODING.format(name)
        for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")
    },
    "llama2.model": "vocab/sentencepiece/llama2_tokenizer.model",
    "llama3.model": "vocab/tiktoken_style/llama3_tokenizer.model",
    "qwen3.json": "vocab/hf/qwen3_tokenizer.json",
    "tinyshakespeare.txt": "corpora/tinyshakespeare.txt",
}
SHA256 = {
    "tinyshakespeare.txt": (
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
    )
}
PACKAGES = ("tiktoken", "sentencepiece", "tokenizers")


class Section(NamedTuple):
    """A part of a page that can be run by itself."""

    page: Path
    title: str
    text: str

    @property
    def blocks(self) -> list[tuple[str, str]]:
        """The language and the text of each block that is run."""
        return [
            (language, code)
            for language, code in _BLOCK.findall(self.text)
            if language == "console" or (language == "python" and ">>>" in code)
        ]

    @property
    def data(self) -> list[str]:
        """The names of `DATA` that its code has."""
        code = "".join(code for _, code in self.blocks)
        return [name for name in DATA if re.search(rf"\b{re.escape(name)}\b", code)]

    @property
    def packages(self) -> list[str]:
        """The packages of others that its code imports."""
        code = "".join(code for _, code in self.blocks)
        return [name for name in PACKAGES if f">>> import {name}\n" in code]


def sections(page: Path) -> list[Section]:
    """Return the parts of a page that have something to run."""
    text = page.read_text(encoding="utf-8")
    starts = [found.start() for found in re.finditer(r"^## ", text, re.MULTILINE)]
    made = []
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        part = text[start:end]
        title = part.partition("\n")[0].lstrip("# ")
        made.append(Section(page, title, part))
    return [section for section in made if section.blocks]


def prepare(section: Section, folder: Path, find: Callable[[str], Path]) -> None:
    """Put what a section needs into the folder that it will be run in.

    Args:
        section: The section.
        folder: An empty folder.
        find: Returns the path of test data, or skips.
    """
    texts = section.page.parent / "texts"
    if texts.is_dir():
        shutil.copytree(texts, folder, dirs_exist_ok=True)
    for name in section.data:
        path = find(DATA[name])
        if name in SHA256:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if digest != SHA256[name]:
                import pytest

                pytest.skip(f"the test data has another {name}")
        if "." in name:
            (folder / name).symlink_to(path)


def run(section: Section, output: Callable[[str], str]) -> str:
    """Run a section in the current folder; return what is wrong, "" if nothing is.

    Args:
        section: The section.
        output: Runs a command and returns what it prints.
    """
    names: dict[str, Any] = {}
    wrong: list[str] = []
    parser = doctest.DocTestParser()
    for language, code in section.blocks:
        if language == "python":
            test = parser.get_doctest(code, names, section.title, "", 0)
            test.globs = names
            runner = doctest.DocTestRunner(verbose=False)
            runner.run(test, out=wrong.append, clear_globs=False)
        else:
            for command, expected in commands(code):
                got = output(command)
                if got != expected:
                    wrong.append(f"$ {command}\nexpected:\n{expected}\ngot:\n{got}")
    return "\n".join(wrong)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block, its lines as they are, and its output."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        while command.endswith("\\"):
            more, _, printed = printed.partition("\n")
            command += f"\n{more}"
        yield command, printed


def words_of(command: str) -> list[str]:
    """Return the words of a command as a shell would: quotes, and names with stars."""
    words: list[str] = []
    for word in shlex.split(command.replace("\\\n", "")):
        found = sorted(map(str, Path().glob(word))) if "*" in word else []
        words += found or [word]
    return words


def in_process(command: str, printed: Callable[[], str]) -> str:
    """Run a command: pybpe in this process, anything else in a shell.

    Args:
        command: The command.
        printed: Returns what was printed since it was last called.
    """
    if re.search(r"[|><;]", re.sub(r"'[^']*'|\"[^\"]*\"", "", command)) or (
        shlex.split(command)[0] != "pybpe"
    ):
        return in_shell(command)
    printed()
    status = cli.main(words_of(command)[1:])
    return printed() + ("" if status == 0 else f"[exit status {status}]\n")


def in_shell(command: str) -> str:
    """Run a command in a shell that finds pybpe."""
    root = Path(pybpe.__file__).parent.parent
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "pybpe")
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pybpe "$@"\n')
        program.chmod(0o755)
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={
                **os.environ,
                "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(root),
            },
        )
    status = f"[exit status {done.returncode}]\n" if done.returncode else ""
    return done.stdout.decode() + status


def _update(page: Path, data: Path) -> None:
    """Write what the commands of a page print into it."""
    text = page.read_text(encoding="utf-8")
    for section in sections(page):
        names: dict[str, Any] = {}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            prepare(section, Path(folder), lambda name: data / name)
            for language, code in section.blocks:
                if language == "python":
                    for example in doctest.DocTestParser().get_examples(code):
                        with contextlib.suppress(pybpe.BpeError):
                            single = compile(example.source, "page", "single")
                            with contextlib.redirect_stdout(io.StringIO()):
                                exec(single, names)  # noqa: S102
                    continue
                ran = [(command, in_shell(command)) for command, _ in commands(code)]
                made = "".join(f"$ {command}\n{got}" for command, got in ran)
                text = text.replace(f"```console\n{code}```", f"```console\n{made}```")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        _update(Path(name).absolute(), Path(os.environ["PYBPE_TEST_DATA"]))
