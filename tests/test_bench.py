"""The scripts of bench/ run on made-up data, and docs/performance.md is up to date.

Nothing is measured here: texts are a few kilobytes.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import pybpe

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
# Those without a `main` are imported by the others.
SCRIPTS = sorted(
    path.name for path in BENCH.glob("*.py") if "def main" in path.read_text("utf-8")
)
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
MADE_UP = "caf\u00e9 \u4e2d\u6587 " * 300


def run(
    script: str, *arguments: object, data: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a script as a user does; its warnings do not matter."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYBPE_TEST_DATA", None)
    if data is not None:
        environment["PYBPE_TEST_DATA"] = str(data)
    return subprocess.run(
        [sys.executable, str(BENCH / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
    )


def there(*names: str) -> list[str]:
    return [name for name in names if importlib.util.find_spec(name)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder like that of the test data: a corpus and a vocabulary."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "corpora").mkdir()
    with lzma.open(folder / "corpora" / "english_100mb.txt.xz", "wb") as file:
        file.write((TEXT + MADE_UP).encode())
    (folder / "vocab" / "openai").mkdir(parents=True)
    tok = pybpe.train([TEXT], 600, pattern="cl100k")
    lines = [
        base64.b64encode(token).decode() + f" {number}\n"
        for token, number in tok.vocab.items()
    ]
    ranks = folder / "vocab" / "openai" / "cl100k_base.tiktoken"
    ranks.write_text("".join(lines), encoding="ascii")
    return folder


@pytest.mark.parametrize("script", SCRIPTS)
def test_help(script: str) -> None:
    done = run(script, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage:")


def test_without_data_it_says_so() -> None:
    done = run("encoding.py")
    assert done.returncode == 1
    assert "set PYBPE_TEST_DATA" in done.stderr


@pytest.mark.slow
def test_all_parts_but_sentencepiece(data: Path, tmp_path: Path) -> None:
    peers = there("tiktoken", "rustbpe")
    out = tmp_path / "results.json"
    done = run(
        "compare.py",
        *("calls", "train", "growth", "load", "--json", out),
        *("--text=english", "--mb=0.02", "--vocab-size=265"),
        f"--peers={','.join(['pybpe', *peers])}",
        data=data,
    )
    assert done.returncode == 0, done.stderr
    content = json.loads(out.read_text(encoding="utf-8"))
    assert content["versions"]["pybpe"] == pybpe.__version__
    seen = {(result["part"], result.get("library")) for result in content["results"]}
    for part in ("batches", "tiny", "message", "load"):
        assert (part, "pybpe") in seen
        assert ((part, "tiktoken") in seen) == ("tiktoken" in peers)
    assert ("train", "pybpe") in seen
    assert ("train", "rustbpe") in seen or "rustbpe" not in peers
    jobs = {each["job"] for each in content["results"] if each["part"] == "growth"}
    assert jobs == {"cl100k_base", "no split", "training"}
    # Its tables go where the page has room for them, and a second time change nothing.
    page = tmp_path / "page.md"
    shutil.copy(ROOT / "docs" / "performance.md", page)
    assert run("report.py", out, "--page", page).returncode == 0
    once = page.read_text(encoding="utf-8")
    assert "with no more than 0.02 MB of each text" in " ".join(once.split())
    assert run("report.py", out, "--page", page).returncode == 0
    assert page.read_text(encoding="utf-8") == once


@pytest.mark.slow
def test_scaling(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    text = tmp_path / "text.txt"
    text.write_text("low lower lowest new newer newest\n" * 2000, encoding="utf-8")
    done = run("scaling.py", text, "--vocab-size=265", data=data)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "text.txt: 0 MB"
    for what in (
        "count ",
        "merge 16 parts",
        "train 265 ids",
        "encode and write shards",
    ):
        assert f"\n  {what}" in done.stdout


@pytest.mark.slow
def test_encoding(data: Path) -> None:
    done = run(
        "encoding.py",
        *("--text=english", "--mb=0.02", "--encoding=cl100k_base"),
        f"--peers={','.join(['pybpe', *there('tiktoken')])}",
        data=data,
    )
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    cases = {result["case"] for result in results if result["library"] == "pybpe"}
    assert cases == {"documents", "first 5 MB", "one text"}
    assert all(result["seconds"] > 0 for result in results)
    assert {result["bytes"] for result in results} == {
        len((TEXT + MADE_UP).encode()[:20_000].decode(errors="ignore").encode())
    }


@pytest.mark.slow
def test_counting(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text(TEXT + MADE_UP, encoding="utf-8")
    done = run("counting.py", "--rounds=1", "--threads=3", path)
    assert done.returncode == 0, done.stderr
    ways = re.findall(r"^  (\d \w+) +\d+\.\d{3} ", done.stdout, re.MULTILINE)
    assert ways == ["1 thread", "3 threads", "3 processes"]


@pytest.mark.oracle
@pytest.mark.slow
def test_sentencepiece(data: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    folder = data / "vocab" / "sentencepiece"
    folder.mkdir()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT.splitlines()),
        model_prefix=str(folder / "small"),
        vocab_size=400,
        model_type="bpe",
        byte_fallback=True,
        minloglevel=2,
    )
    done = run(
        "pieces.py", "--text=english", "--mb=0.02", "--model=small.model", data=data
    )
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    libraries = {result["library"] for result in results}
    assert libraries >= {"pybpe", "sentencepiece"}


def test_other_ids_stop_it(data: Path) -> None:
    code = """
import sys
sys.path.insert(0, sys.argv[1])
import encoding, peers
same = peers.Peer(lambda text: [len(text)])
encoding.compare({"pybpe": same, "good": same}, ["a", "bc"], "here")
print("equal ids pass", flush=True)
other = peers.Peer(lambda text: [1])
encoding.compare({"pybpe": same, "bad": other}, ["a", "bc"], "there")
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(BENCH)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYBPE_TEST_DATA": str(data)},
    )
    assert done.stdout == "equal ids pass\n"
    assert done.returncode == 1
    assert done.stderr.strip() == "bad gives other ids than the others: there: 'bc'"


def test_the_page_shows_the_results(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    shutil.copy(ROOT / "docs" / "performance.md", page)
    before = page.read_text(encoding="utf-8")
    done = run("report.py", "--page", page)
    assert done.returncode == 0, done.stderr
    assert page.read_text(encoding="utf-8") == before, "run bench/report.py"
    blocks = re.findall(r"<!-- bench: (?!end)([\w ]+) -->\n(.*)", before)
    assert len(blocks) == before.count("<!-- bench: end -->") == 9
    assert all(line and not line.startswith("<!--") for _, line in blocks)


def test_links_and_files_of_the_page_exist() -> None:
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page):
        assert (ROOT / "docs" / target).exists(), target
    for name in re.findall(r"\b(?:bench|csrc)/\w+\.\w+", page):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("name", ["encode.svg", "train.svg"])
def test_charts_are_readable(name: str) -> None:
    path = ROOT / "docs" / "charts" / name
    root = ElementTree.parse(path).getroot()  # noqa: S314 - our own file
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "pybpe" in texts
    assert not re.search(r"<dc:date>|#ffffff", path.read_text(encoding="utf-8"))


def test_charts_are_drawn_alike_each_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for folder in ("one", "two"):
        done = run("charts.py", "--to", tmp_path / folder)
        assert done.returncode == 0, done.stderr
    for name in ("encode.svg", "train.svg"):
        one = (tmp_path / "one" / name).read_bytes()
        assert one == (tmp_path / "two" / name).read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="calls a Unix compiler")
def test_the_drivers_agree_with_python(tmp_path: Path) -> None:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        pytest.skip("needs a C compiler")
    text = TEXT + MADE_UP
    (tmp_path / "text").write_text(text, encoding="utf-8", newline="")
    tok = pybpe.train([TEXT], 600, pattern="cl100k")
    tok.save(tmp_path / "model")
    command = [compiler, "-std=c11", "-O1", f"-I{ROOT / 'csrc'}"]
    objects = tmp_path / "objects"
    objects.mkdir()
    core = [str(path) for path in sorted((ROOT / "csrc").glob("*.c"))]
    subprocess.run([*command, "-c", *core], cwd=objects, check=True)
    built = [str(path) for path in objects.iterdir()]
    outputs = {}
    for driver, what in (("split", "cl100k"), ("encode", tmp_path / "model")):
        dump = tmp_path / f"{driver}.dump"
        assert run("dump.py", what, dump).returncode == 0
        source, program = str(BENCH / f"{driver}.c"), str(tmp_path / driver)
        subprocess.run([*command, source, *built, "-o", program], check=True)
        outputs[driver] = subprocess.run(
            [str(tmp_path / driver), str(dump), str(tmp_path / "text")],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    checksum, ids = 0, tok.encode(text)
    for number in ids:
        checksum = ((checksum ^ number) * 0x100000001B3) % 2**64
    assert f"  {len(ids)} ids  {checksum:016x}\n" in outputs["encode"]
    sums = set(re.findall(r"pretokens  (\w+)$", outputs["split"], re.MULTILINE))
    assert len(sums) == 1
