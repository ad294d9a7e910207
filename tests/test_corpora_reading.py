"""Files that are not what they were, or not whole, or not to be read: all is told."""

from __future__ import annotations

import gzip
import importlib
import itertools
import json
import os
import re
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packers import PACKERS, packer

import pybpe
from pybpe import CorpusError, corpora, read_documents
from pybpe.corpora import inputs, prepare

TOK = pybpe.train(["low lower lowest"], 258)

# ---------------------------------------------------------------- files that shrink


@pytest.fixture
def shrink(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let files be cut off as soon as their sizes have been taken."""

    def shrink_to(size: int) -> None:
        def found(*args: Any, **options: Any) -> list[inputs.Source]:
            sources = find_sources(*args, **options)
            for source in sources:
                os.truncate(source.path, size)
            return sources

        for module in (inputs, prepare, corpora.reading):
            monkeypatch.setattr(module, "find_sources", found)

    find_sources = inputs.find_sources
    return shrink_to


ACTS: dict[str, Callable[[Path, int], object]] = {
    "count": lambda path, n: pybpe.count_files(path, num_threads=n),
    "split": lambda path, n: pybpe.count_files(path, split_on="\n", num_threads=n),
    "train": lambda path, n: pybpe.train_from_files(path, 260, num_threads=n),
    "sentences": lambda path, n: pybpe.train_sentencepiece_from_files(
        path, 30, num_threads=n
    ),
    "encode": lambda path, n: TOK.encode_files(
        path, path.parent / "out", separator=None, num_threads=n
    ),
    "read": lambda path, _: list(read_documents(path)),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [0, 1, 2])  # thirds
@pytest.mark.parametrize("ending", [".txt", ".jsonl", ".txt.gz", ".jsonl.zst"])
def test_files_that_shrink_are_refused(
    tmp_path: Path,
    shrink: Callable[[int], None],
    act: str,
    threads: int,
    size: int,
    ending: str,
) -> None:
    text = os.urandom(1000).hex()
    line = (f'{{"text": "{text}"}}\n' if "jsonl" in ending else f"{text}\n").encode()
    path = tmp_path / f"a{ending}"
    if path.suffix in (".gz", ".zst"):
        # Members, so that what is left may be whole ones.
        line = packer(path.suffix)(line)
    data = line * (3_000_000 // len(line) if ending == ".txt" else 100)
    size = size * len(data) // 3 // len(line) * len(line)
    path.write_bytes(data)
    shrink(size)
    with pytest.raises(CorpusError) as error:
        ACTS[act](path, threads)
    assert str(error.value).startswith(
        f"{path}: became shorter while it was read: it had {len(data):,} bytes at the "
        f"beginning, and has {size:,} now"
    )


@pytest.mark.parametrize("act", ["count", "encode"])
def test_parquet_files_that_shrink_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """When they are open already: what is mapped to memory would be gone."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    texts = [os.urandom(500).hex() for _ in range(2000)]
    parquet.write_table(arrow.table({"text": texts}), path, row_group_size=500)
    size = path.stat().st_size
    read = corpora.parquet._rows

    def rows(*args: Any) -> Any:
        os.truncate(path, size // 2)
        yield from read(*args)

    monkeypatch.setattr(corpora.parquet, "_rows", rows)
    with pytest.raises(CorpusError) as error:
        ACTS[act](path, 1)
    assert str(error.value).startswith(
        f"{path}: became shorter while it was read: it had {size:,} bytes at the "
        f"beginning, and has {size // 2:,} now"
    )


def test_what_is_appended_meanwhile_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"low lower")
    found = inputs.find_sources(path)
    path.write_bytes(b"low lower and more")
    monkeypatch.setattr(inputs, "find_sources", lambda *_, **__: found)
    assert pybpe.count_files(path) == pybpe.count_texts(["low lower"])


# ---------------------------------------------------------------- packed files


def refusal(path: Path) -> str:
    with pytest.raises(CorpusError) as error:
        list(read_documents(path))
    message = str(error.value)
    assert message.startswith(f"{path}: the compressed file ")
    return message.removeprefix(f"{path}: the compressed file ")


@pytest.mark.parametrize("ending", [*PACKERS, ".zst"])
@pytest.mark.parametrize("garbage", [b"x", b"garbage" * 50_000, b"\0\0\0\0x"])
def test_garbage_behind_a_member_is_refused(
    tmp_path: Path, ending: str, garbage: bytes
) -> None:
    path = tmp_path / f"a.txt{ending}"
    whole = packer(ending)(b"low lower\n" * 1000)
    path.write_bytes(whole + garbage)
    message = refusal(path)
    # Where zeros may stand they belong to what is sound.
    zeros = 4 if garbage[0] == 0 and ending in (".gz", ".xz") else 0
    at = f"what begins at byte {len(whole) + zeros:,}"
    assert message.startswith((f"is damaged in {at}: ", f"ends too early: {at} is"))
    with pytest.raises(CorpusError, match=re.escape(at)):
        pybpe.count_files(path)
    with pytest.raises(CorpusError, match=re.escape(at)):
        TOK.encode_files(path, tmp_path / "out", separator=None)


@pytest.mark.parametrize("ending", [*PACKERS, ".zst"])
def test_a_second_member_that_is_not_whole_is_refused(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"a.txt{ending}"
    first = packer(ending)(b"low lower\n")
    second = packer(ending)(os.urandom(300))
    for size in range(1, len(second)):
        path.write_bytes(first + second[:size])
        message = refusal(path)
        assert message == (
            f"ends too early: what begins at byte {len(first):,} is not whole"
        ), size
    # Without being asked, zstd has no checksum of what is inside.
    inside = () if ending == ".zst" else (len(second) // 2, len(second) - 9)
    for at in (0, 1, *inside):
        path.write_bytes(
            first + second[:at] + bytes([second[at] ^ 0x55]) + second[at + 1 :]
        )
        assert f"what begins at byte {len(first):,}" in refusal(path), at


@pytest.mark.parametrize("ending", [*PACKERS, ".zst"])
def test_empty_files_are_not_packed(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.txt{ending}"
    path.write_bytes(b"")
    assert refusal(path).startswith("is empty: ")
    with pytest.raises(CorpusError, match="the compressed file is empty"):
        pybpe.train_from_files(path, 260)
    path.write_bytes(bytes(8))
    assert "at byte 0" in refusal(path)
    path.write_bytes(packer(ending)(b""))
    assert list(read_documents(path)) == [b""]


@pytest.mark.parametrize("ending", [*PACKERS, ".zst"])
def test_members_are_one_text(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.txt{ending}"
    pack = packer(ending)
    parts = [b"low", b"", os.urandom(700_000), b"x" * 3_000_000, b"\0\0"]
    path.write_bytes(b"".join(map(pack, parts)))
    assert list(read_documents(path)) == [b"".join(parts)]


@pytest.mark.parametrize(
    ("ending", "zeros", "right"),
    [
        (".gz", 1, True),
        (".gz", 600_001, True),
        (".xz", 4, True),
        (".xz", 600_000, True),
        (".xz", 3, False),
        (".xz", 600_001, False),
        (".bz2", 4, False),
        (".zst", 4, False),
    ],
)
def test_zeros_stand_where_formats_have_them(
    tmp_path: Path, ending: str, zeros: int, right: bool
) -> None:
    path = tmp_path / f"a.txt{ending}"
    one = packer(ending)(b"low ")
    for data, texts in ((one, b"low "), (one + bytes(zeros) + one, b"low low ")):
        path.write_bytes(data + bytes(zeros))
        if right:
            assert list(read_documents(path)) == [texts]
        else:
            assert f"at byte {len(one)}" in refusal(path)


def test_packed_pipes_are_read(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")

    path = tmp_path / "a.jsonl.gz"
    os.mkfifo(path)
    data = gzip.compress(json.dumps({"text": "low"}).encode() * 1)
    feeder = threading.Thread(target=path.write_bytes, args=(data,))
    feeder.start()
    assert list(read_documents(path)) == [b"low"]
    feeder.join()


# ---------------------------------------------------------------- parquet


def test_of_two_columns_of_one_name_none_is_taken(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    columns = [arrow.array([one]) for one in ("a", "b", "c", "d")]
    names = ["text", "id", "text", "id.text"]
    parquet.write_table(arrow.Table.from_arrays(columns, names=names), path)
    with pytest.raises(CorpusError) as error:
        list(read_documents(path))
    assert str(error.value).startswith(f"{path}: 2 columns have the name 'text', and ")
    assert list(read_documents(path, field="id")) == [b"b"]
    assert list(read_documents(path, field="id.text")) == [b"d"]


# ---------------------------------------------------------------- optional packages


class Broken:
    """Finds a package that is there and fails when it is imported."""

    def __init__(self, name: str, error: ImportError) -> None:
        self.name, self.error = name, error

    def find_spec(self, name: str, *_: object) -> None:
        if name == self.name:
            raise self.error


@pytest.mark.parametrize(
    ("package", "hint", "act"),
    [
        (
            "pyarrow",
            r"reading .parquet files needs pyarrow, which is not installed: "
            r"pip install 'pybpe\[parquet\]'",
            lambda path: list(read_documents(path / "a.parquet")),
        ),
        (
            "backports.zstd",
            r"reading .zst files needs backports.zstd: pip install 'pybpe\[zstd\]'",
            lambda path: list(read_documents(path / "a.txt.zst")),
        ),
        (
            "ray",
            r"pybpe.ray needs Ray Data \(.*\): pip install 'pybpe\[ray\]'",
            lambda _: importlib.import_module("pybpe.ray"),
        ),
    ],
)
def test_packages_are_named_where_they_are_missing_and_only_there(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    hint: str,
    act: Callable[[Path], object],
) -> None:
    for name in ("a.parquet", "a.txt.zst"):
        (tmp_path / name).write_bytes(b"")
    if package == "backports.zstd" and sys.version_info >= (3, 14):
        pytest.skip("Python has its own")
    if package == "ray":
        pytest.importorskip("pyarrow")
    gone = [n for n in sys.modules if f"{n}.".startswith((f"{package}.", "pybpe.ray."))]
    for name in gone:
        monkeypatch.delitem(sys.modules, name)
    errors = {
        ImportError(f"{package}.so: undefined symbol"): "undefined symbol",
        ModuleNotFoundError("no what-it-needs", name="what_it_needs"): "what-it-needs",
        ModuleNotFoundError(f"No module named {package!r}", name=package): hint,
    }
    for error, message in errors.items():
        with monkeypatch.context() as patch:
            patch.setattr(sys, "meta_path", [Broken(package, error), *sys.meta_path])
            with pytest.raises((ImportError, ValueError), match=message) as found:
                act(tmp_path)
        if message != hint:
            assert found.value is error


# ---------------------------------------------------------------- where something is


MB = 1_000_000


def chunks_of(size: int, line: bytes) -> list[bytes]:
    return [line] * (size // len(line))


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_lines_are_numbered_right_in_large_files(
    tmp_path: Path, ending: str, mark: bytes
) -> None:
    path = tmp_path / f"a{ending}"
    good = json.dumps({"text": "déjà vu " * 20}, ensure_ascii=False).encode() + b"\n"
    lines = chunks_of(9 * MB, good)
    for bad, complaint in (
        (b'{"text": "\xc3\xa9t\xff"}\n', "not UTF-8 at byte 13 of the line"),
        (b'{"text": "a" "b"}\n', "not valid JSON: Expecting ',' delimiter at char"),
        (b'{"text": "a<|end|>"}\n', "the text spells the special token '<|end|>' at"),
    ):
        # The last of them is the first in one of the later blocks, or about so.
        for at in (0, len(lines) - 1, len(lines) // 2, (4 << 20) // len(good)):
            data = mark + b"".join((*lines[:at], bad, *lines[at:]))
            path.write_bytes(gzip.compress(data, 1) if ending.endswith("gz") else data)
            message = encoding_fails(path)
            assert message.startswith(f"{path}, line {at + 1:,}: {complaint}"), at


@pytest.mark.parametrize("ending", [".txt", ".txt.gz"])
def test_characters_are_numbered_right_in_large_files(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"a{ending}"
    line = "déjà vu €\n".encode()
    lines = chunks_of(9 * MB, line + b"\xff\n")
    for at in (0, 5, len(lines) // 2, len(lines) - 1):
        before = b"".join(lines[:at])
        data = before + b"<|end|>" + b"".join(lines[at:])
        path.write_bytes(gzip.compress(data, 1) if ending.endswith("gz") else data)
        message = encoding_fails(path)
        characters = len(before.decode("utf-8", "replace"))
        assert message.startswith(
            f"{path}: the text spells the special token '<|end|>' at character "
            f"{characters} (byte {len(before)}), "
        ), at
        message = encoding_fails(path, split_on="\n")
        assert message.startswith(
            f"{path}, document {2 * at + 1}: the text spells the special token "
            "'<|end|>' at character 0 (byte 0), "
        ), at


def encoding_fails(path: Path, **options: Any) -> str:
    tok = TOK.add_special_tokens(["<|end|>"])
    with pytest.raises((CorpusError, pybpe.SpecialTokenError)) as error:
        tok.encode_files(
            path, path.parent / "out", separator=None, overwrite=True, **options
        )
    return str(error.value)


def test_positions_in_pipes_are_right(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    for name, data, place in (
        ("a.jsonl", b'\xef\xbb\xbf{"text": "low"}\n{"txt": 1}\n', ", byte 19: has no"),
        ("a.txt", b"low " * 2 * MB + b"<|end|>", ", from byte 4,194,303 on: the "),
    ):
        path = tmp_path / name
        os.mkfifo(path)
        feeder = threading.Thread(target=path.write_bytes, args=(data,))
        feeder.start()
        assert re.match(re.escape(str(path)) + place, encoding_fails(path))
        feeder.join()


# ---------------------------------------------------------------- names


class NoText:
    def __fspath__(self) -> bytes:
        return b"x"


@pytest.mark.parametrize("name", [b"x", bytearray(b"x"), 3, None, NoText()])
def test_paths_are_no_bytes(tmp_path: Path, name: Any) -> None:
    shown = re.escape(f"must be str or os.PathLike, got {name!r:.100}")
    for act in ACTS.values():
        with pytest.raises(TypeError, match="^paths " + shown):
            act(name, 1) if act is not ACTS["encode"] else TOK.encode_files(
                name, tmp_path / "out", separator=None
            )
        with pytest.raises(TypeError, match=r"^paths\[1\] " + shown):
            pybpe.count_files(["x", name])
    if not isinstance(name, NoText):
        with pytest.raises(TypeError, match="^path " + shown):
            pybpe.Counts.load(name)


# ---------------------------------------------------------------- memory


def write_texts(n: int, path: Path) -> None:
    with pybpe.ShardWriter(
        TOK, path / "w", separator=None, num_threads=1, overwrite=True
    ) as writer:
        writer.add(itertools.repeat("", n))


def prepare_lines(n: int, path: Path) -> None:
    with (path / "a.jsonl").open("wb") as file:
        file.writelines(itertools.repeat(b'{"text": ""}\n', n))
    ACTS["encode"](path / "a.jsonl", 1)


@pytest.mark.parametrize(
    "act",
    [
        lambda n, _: pybpe.count_texts(itertools.repeat("", n), num_threads=1),
        lambda n, _: pybpe.count_texts(itertools.repeat("a", n), num_threads=1),
        write_texts,
        prepare_lines,
    ],
    ids=["empty", "short", "write", "prepare"],
)
def test_a_document_takes_no_memory_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[int, Path], object]
) -> None:
    for module in (corpora.jsonl, corpora.prepare, corpora.documents):
        monkeypatch.setattr(module, "CHUNK", 1 << 16)
    n = 100_000
    peaks = []
    for times in (1, 4):
        folder = tmp_path / str(times)
        folder.mkdir()
        tracemalloc.start()
        try:
            act(times * n, folder)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] - peaks[0] < 3 * n, peaks
