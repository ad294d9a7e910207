"""What every test may use: the outside test data, and hypothesis's profiles.

`PYBPE_TEST_DATA` names a folder with `corpora/` and `vocab/`. Unset, the tests that
need it are skipped; set, a file that is missing there is a failure.

`HYPOTHESIS_PROFILE` is one of dev (the default), ci and nightly: how many examples each
property is tried on.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent

for _name, _examples in [("dev", 50), ("ci", 500), ("nightly", 20_000)]:
    hypothesis.settings.register_profile(
        _name, max_examples=_examples, deadline=None, print_blob=True
    )
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# tiktoken's names for the published files: the sha1 of each one's address.
_TIKTOKEN_CACHE = {
    "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4": "r50k_base.tiktoken",
    "6c7ea1a7e38e3a7f062df639a5b80947f075ffe6": "gpt2_encoder.json",
    "6d1cbeee0f20b3d9449abfede4726ed8212e3aee": "gpt2_vocab.bpe",
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4": "cl100k_base.tiktoken",
    "ec7223a39ce59f226a68acc30dc1af2788490e15": "p50k_base.tiktoken",
    "fb374d419588a4632f3f557e76b4b70aebbca790": "o200k_base.tiktoken",
}


def _provide_tiktoken_cache(vocab: Path) -> None:
    """Let tiktoken find the published encodings in `vocab` without a network.

    The cache is a folder of links that lasts as long as the tests. tiktoken deletes
    cached files whose hash is wrong, so it is never pointed at the test data itself.
    """
    folder = tempfile.mkdtemp(prefix="pybpe-tiktoken-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, file in _TIKTOKEN_CACHE.items():
        Path(folder, name).symlink_to(vocab / file)
    os.environ["TIKTOKEN_CACHE_DIR"] = folder


if os.environ.get("PYBPE_TEST_DATA"):
    # Here rather than in a fixture: test modules may use tiktoken when collected.
    _provide_tiktoken_cache(
        Path(os.environ["PYBPE_TEST_DATA"], "vocab", "openai").absolute()
    )


@pytest.fixture(scope="session")
def data_path() -> Callable[[str], Path]:
    """Return a function from a name such as "corpora/code_1mb.txt" to its path."""

    def find(name: str) -> Path:
        folder = os.environ.get("PYBPE_TEST_DATA")
        if not folder:
            pytest.skip(f"needs {name}: set PYBPE_TEST_DATA to the test data's folder")
        path = Path(folder, name)
        if not path.exists():
            pytest.fail(f"PYBPE_TEST_DATA is {folder!r}, which has no {name}")
        return path

    return find


@pytest.fixture(scope="session")
def project_root() -> Path:
    """Return the folder that holds pyproject.toml, README.md and csrc/."""
    return ROOT
