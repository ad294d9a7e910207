"""The fuzz targets over their inputs, and a short run of the readers' fuzzer."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

FUZZ = Path(__file__).resolve().parent / "fuzz"
FORMATS = [
    "tiktoken",
    "gpt2",
    "tekken",
    "minbpe",
    "tokenizer_json",
    "sentencepiece",
    "pybpe",
    "counts",
    "shards",
    "unfinished",
]
COUNTS = {"dev": 60, "ci": 400, "nightly": 20_000}


@pytest.fixture(scope="module")
def readers() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "fuzz_readers", FUZZ / "fuzz_readers.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_format_is_run(readers: ModuleType) -> None:
    assert list(readers.FORMATS) == FORMATS


@pytest.mark.parametrize("name", FORMATS)
def test_readers(name: str, readers: ModuleType) -> None:
    count = COUNTS[os.environ.get("HYPOTHESIS_PROFILE", "dev")]
    ends = readers.run(name, seed=1, count=count)
    assert sum(ends.values()) == count
    # Damage is found, and some changes do no harm: the changes are neither too small
    # nor too large to test anything.
    assert ends["refused"] > 0
    assert ends["loaded"] > 0


@pytest.mark.slow
def test_targets() -> None:
    compiler = shlex.split(os.environ.get("CC", "cc"))[0]
    if not shutil.which(compiler):
        assert not os.environ.get("CI"), f"no C compiler {compiler}"
        pytest.skip(f"needs a C compiler; there is no {compiler}")
    done = subprocess.run(
        [sys.executable, str(FUZZ / "run.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    targets = sorted(path.stem for path in FUZZ.glob("fuzz_*.c"))
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == targets


def test_corpus_is_as_made() -> None:
    """Seeds are what make_corpus.py writes; and every target has some."""
    spec = importlib.util.spec_from_file_location(
        "make_corpus", FUZZ / "make_corpus.py"
    )
    assert spec
    assert spec.loader
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    made = maker.seeds()
    kept = {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in (FUZZ / "corpus").glob("*/seed-*")
    }
    assert kept == made
    targets = {path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.c")}
    assert {name.split("/")[0] for name in made} == targets
