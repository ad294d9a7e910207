"""What users install: the wheel, the sdist, the stub of the core, the import."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import pybpe
from pybpe import _core
from pybpe._core import lib

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGE = ROOT / "pybpe"

# What `import pybpe` must not pull in: each costs milliseconds that most programs would
# pay for nothing.
LATE = {
    *("regex", "_regex", "google", "numpy", "click", "tqdm", "unicodedata2"),
    *("dataclasses", "inspect", "ast", "json", "logging", "tempfile", "subprocess"),
    *("asyncio", "concurrent", "multiprocessing", "importlib.metadata"),
    *("pybpe._proto", "pybpe.cli", "pybpe.demo"),
}


def run_python(code: str, path: Path, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(path)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("used", ["pybpe", "pybpe.Tokenizer, pybpe.train, pybpe.load"])
def test_import_is_lean(used: str, tmp_path: Path) -> None:
    code = "import sys{}; print(*sys.modules)"
    ours = Path(pybpe.__file__).parent.parent
    loaded = set(run_python(code.format(f", pybpe; {used}"), ours, tmp_path).split())
    # What this Python loads by itself, without pybpe, is not our doing.
    loaded -= set(run_python(code.format(""), ours, tmp_path).split())
    assert "pybpe" in loaded
    assert sorted(loaded.intersection(LATE)) == []


def test_version_is_one_thing() -> None:
    assert pybpe.__version__ == PYPROJECT["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in changelog or f"## [{pybpe.__version__}]" in changelog


@pytest.mark.skipif(sys.platform == "win32", reason="looks into a Unix shared library")
def test_the_core_shows_nothing_but_its_entry_point() -> None:
    core = ctypes.CDLL(_core.__file__)
    assert hasattr(core, "PyInit__core")
    assert not [name for name in dir(lib) if hasattr(core, name)]


def test_stub_names_what_the_core_has() -> None:
    stub = (PACKAGE / "_core.pyi").read_text(encoding="utf-8")
    names = set()
    for line in stub.splitlines():
        words = line.replace("(", " ").replace(":", " ").split()
        if line.startswith("    ") and not line.startswith("     "):
            names.add(words[1] if words[0] == "def" else words[0])
    names.discard(")")
    assert names == set(dir(lib))


def test_stub_is_up_to_date() -> None:
    path = ROOT / "tools" / "make_core_stub.py"
    spec = importlib.util.spec_from_file_location("make_core_stub", path)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert (PACKAGE / "_core.pyi").read_text(encoding="utf-8") == tool.stub()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build an sdist, and a wheel from the sdist alone; return their folder."""
    if importlib.util.find_spec("build") is None:
        if os.environ.get("CI"):
            pytest.fail("the package 'build' is missing")
        pytest.skip("needs the package 'build'")
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def wheel_in(built: Path) -> Path:
    (wheel,) = built.glob("*.whl")
    return wheel


@pytest.mark.slow
@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="no abi3 without a GIL"
)
def test_wheel_serves_every_python(built: Path) -> None:
    wheel = wheel_in(built)
    version = PYPROJECT["project"]["version"]
    assert wheel.name.startswith(f"pybpe-{version}-cp311-abi3-")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    core = "pybpe/_core.pyd" if sys.platform == "win32" else "pybpe/_core.abi3.so"
    assert core in names


@pytest.mark.slow
def test_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(wheel_in(built)) as archive:
        names = set(archive.namelist())
    wanted = {
        path.relative_to(ROOT).as_posix()
        for pattern in ("*.py", "*.pyi", "py.typed")
        for path in PACKAGE.rglob(pattern)
    }
    assert "pybpe/split/__init__.py" in wanted
    assert "pybpe/_proto/__init__.py" in wanted
    files = {name for name in names if ".dist-info/" not in name}
    assert files - {n for n in files if n.startswith("pybpe/_core.")} == {
        name for name in wanted if name != "pybpe/_core.pyi"
    }
    assert "pybpe/_core.pyi" in files
    licenses = {name.partition("/licenses/")[2] for name in names} - {""}
    assert "LICENSE" in licenses
    assert any(name.startswith("LICENSES/") for name in licenses)


@pytest.mark.slow
def test_sdist_holds_what_a_build_and_the_tests_need(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for pattern in (
        "csrc/*.[ch]",
        "proto/*.proto",
        "tests/**/*.py",
        "tests/c/*.[ch]",
        "tests/golden/**/*.json",
        "tools/*.py",
        "docs/*.md",
        "docs/course/*.md",
        "docs/course/texts/**/*.*",
        "LICENSES/*",
    ):
        found = {path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern)}
        assert found - names == set(), pattern
    for name in ("README.md", "CHANGELOG.md", "SECURITY.md", "Makefile", "test.sh"):
        assert name in names


@pytest.mark.slow
def test_wheel_works_outside_the_tree(built: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    with zipfile.ZipFile(wheel_in(built)) as archive:
        archive.extractall(target)  # noqa: S202 - we have just built it
    code = """
import pybpe
tok = pybpe.train(["the cat sat on the mat"], 260)
tok.save("model.bpe")
assert pybpe.load("model.bpe") == tok
assert tok.decode(tok.encode("the hat")) == "the hat"
print(pybpe.__file__)
"""
    assert run_python(code, target, tmp_path).startswith(str(target))
    demo = "import sys; from pybpe.cli import main; sys.exit(main(['demo']))"
    out = run_python(demo, target, tmp_path)
    assert "README.md" in out
    assert "False" not in out


def test_installed_metadata_agrees() -> None:
    try:
        found = importlib.metadata.version("pybpe")
    except importlib.metadata.PackageNotFoundError:
        if os.environ.get("CI"):
            pytest.fail("pybpe is not installed")
        pytest.skip("pybpe is not installed, only built in place")
    assert found == pybpe.__version__
