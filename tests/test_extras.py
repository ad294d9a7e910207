"""Packages that need not be there: what is said without them, and of broken ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pybpe
from pybpe._extras import optional, required

BEGIN = """
import pathlib, sys
import pybpe
tok = pybpe.Tokenizer.from_merges([(108, 111)], pattern=None)
pathlib.Path("a.txt").write_text("low")
"""

# What needs numpy.
CALLS = [
    "tok.encode_files('a.txt', 's', separator=None)",
    "pybpe.ShardWriter(tok, 's', separator=None)",
    "pybpe.open_shards('s')",
    "pybpe.join_shards('s')",
    "tok.encode_to_numpy('low')",
    "tok.encode_to_numpy('low' * 100_000)",
    "tok.encode_batch_to_numpy(['low'])",
    "tok.token_byte_lengths()",
    "pybpe.row_map(tok, tok)",
]


def last_line(program: str, folder: Path) -> str:
    root = str(Path(pybpe.__file__).parent.parent)
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), root])},
    )
    return (run.stderr or run.stdout).strip().splitlines()[-1]


def test_without_numpy(tmp_path: Path) -> None:
    program = "import sys\nsys.modules['numpy'] = None\n" + BEGIN
    for call in CALLS:
        program += (
            f"try:\n    {call}\n"
            "except ImportError as error:\n    message = str(error)\n"
            "else:\n    message = 'none'\n"
            "end = 'needs numpy, which is not installed: '\n"
            "end += \"pip install 'pybpe[numpy]'\"\n"
            f"assert message.endswith(end), ({call!r}, message)\n"
        )
    assert last_line(program + "print('done')", tmp_path) == "done"
    assert not (tmp_path / "s").exists()


def test_the_command_line_without_numpy(tmp_path: Path) -> None:
    program = BEGIN + (
        "tok.save('my.pybpe')\n"
        "sys.modules['numpy'] = None\n"
        "from pybpe.cli.program import main\n"
        "sys.argv[1:] = ['prepare', 'my.pybpe', 'a.txt', '--no-separator', '-o', 's']\n"
        "sys.exit(main())\n"
    )
    wanted = (
        "pybpe: writing and reading files of ids needs numpy, which is not installed: "
        "pip install 'pybpe[numpy]'"
    )
    assert last_line(program, tmp_path) == wanted


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("raise ImportError('libfoo.so is not there')", "ImportError: libfoo.so"),
        (
            "import nothing_there",
            "ModuleNotFoundError: No module named",
        ),
    ],
)
def test_a_broken_numpy_shows_its_own_error(
    content: str, error: str, tmp_path: Path
) -> None:
    (tmp_path / "numpy.py").write_text(content)
    for call in CALLS:
        assert last_line(BEGIN + call, tmp_path).startswith(error), call


def test_what_counts_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "of_test_extras"
    assert optional("of_test_extras") is None
    assert optional("of_test_extras.inner") is None
    message = r"^doing this needs of_test_extras, .*: pip install 'pybpe\[it\]'$"
    with pytest.raises(ImportError, match=message):
        required("of_test_extras.inner", "doing this", "it")
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "other.py").write_text("import of_test_extras.lost")
    assert required("of_test_extras", "doing this", "it").__name__ == "of_test_extras"
    assert optional("of_test_extras.inner") is None
    with pytest.raises(ModuleNotFoundError, match="lost"):
        optional("of_test_extras.other")


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("gguf", "tok.save_as('x.gguf', 'gguf')"),
        ("tokenizers", "tok.save_as('x.json', 'tokenizer.json')"),
        (
            "sentencepiece",
            "pybpe.train_sentencepiece(['a'], 9, normalization_rule_name='nfkc')",
        ),
    ],
)
def test_packages_that_are_broken(package: str, call: str, tmp_path: Path) -> None:
    (tmp_path / f"{package}.py").write_text("raise ImportError('it is broken')")
    assert last_line(BEGIN + call, tmp_path) == "ImportError: it is broken"
