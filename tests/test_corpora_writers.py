"""What writes corpora keeps what there is, and never gives less than it was given."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from killing import digests
from test_corpora_layouts import OPTIONS, TOK, WIDE, expected, write_jsonl

import pybpe
from pybpe import CorpusError, ShardWriter, join_shards, open_shards
from pybpe.corpora import layouts, locks, output, prepare
from pybpe.corpora.index import write_sealed

TEXTS = ["low lower", "hello", "", "the low"]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: no power cut is tested here."""
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "a.jsonl", TEXTS)


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    said = json.loads(path.read_bytes())
    change(said)
    path.write_text(json.dumps(said))


def rows(folder: Path) -> list[list[int]]:
    return [row.tolist() for row in open_shards(folder)]


# ------------------------------------------------------------ indexes and headers


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fingerprint", "0" * 64),
        ("dtype", "uint32"),
        ("separator", None),
        ("separator", 0),
        ("n_vocab", 1),
        ("tokens", 1),
        ("documents", 1),
    ],
)
def test_an_index_that_differs_from_the_shards(
    key: str, value: object, tmp_path: Path, source: Path
) -> None:
    TOK.encode_files(source, tmp_path / "s", **OPTIONS)

    def change(said: dict[str, Any]) -> None:
        said[key] = value
        said["files"][0].update({key: value} if key in said["files"][0] else {})

    changed(tmp_path / "s" / "index.json", change)
    complaint = rf"tokens: its header says {key}=.*index.json says {value!r}: one of"
    with pytest.raises(CorpusError, match=complaint):
        open_shards(tmp_path / "s")


# ------------------------------------------------------------ one writer of a name


def write(folder: Path, texts: list[str], **options: Any) -> pybpe.corpora.ShardReport:
    with ShardWriter(TOK, folder, separator="<|end|>", **options) as writer:
        writer.add(texts)
    assert writer.report is not None
    return writer.report


def test_two_writers_of_one_name(tmp_path: Path) -> None:
    busy = rf"{tmp_path.name}: another writer named 'a' is at work; give each a name"
    with ShardWriter(TOK, tmp_path, separator="<|end|>", name="a") as writer:
        writer.add(TEXTS)
        for options in ({}, {"overwrite": True}):
            with pytest.raises(CorpusError, match=busy):
                write(tmp_path, ["x"], name="a", **options)
        write(tmp_path, ["hello"], name="b")
        with pytest.raises(CorpusError, match="its writer has not finished"):
            join_shards(tmp_path)
    join_shards(tmp_path)
    assert rows(tmp_path) == expected([*TEXTS, "hello"])
    assert not list(tmp_path.glob(".*"))


CHILD = """
import sys, pybpe
tok = pybpe.load(sys.argv[1])
writer = pybpe.ShardWriter(tok, sys.argv[2], separator=None, name="a", shard_size=4)
writer.add(["low lower", "hello"])
print("ready", flush=True)
sys.stdin.read()
"""


def test_two_processes_and_a_kill(tmp_path: Path) -> None:
    """What is killed leaves its lock, which nobody holds any more."""
    TOK.save(tmp_path / "my.pybpe")
    folder = tmp_path / "s"
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, tmp_path / "my.pybpe", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(pybpe.__file__).parent.parent)},
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        with pytest.raises(CorpusError, match="another writer named 'a' is at work"):
            write(folder, TEXTS, name="a")
        child.kill()
    assert (folder / ".a.lock").exists()
    assert list(folder.glob("*.part"))
    write(folder, TEXTS, name="b")
    for path in folder.glob("*.part"):
        path.unlink()  # as if it had been killed before it wrote
    with pytest.raises(CorpusError, match=r"\.a\.lock: its writer has not finished"):
        join_shards(folder)
    write(folder, ["hello"], name="a")
    join_shards(folder)
    assert rows(folder) == expected(["hello", *TEXTS])


def test_locks_are_let_go(tmp_path: Path) -> None:
    path = tmp_path / ".x.lock"
    assert not locks.is_held(path)
    lock = locks.Lock(path, "busy")
    assert locks.is_held(path)
    with pytest.raises(CorpusError, match=r"^busy$"):
        locks.Lock(path, "busy")
    lock.release()
    assert not path.exists()
    path.touch()
    assert not locks.is_held(path)
    other = locks.Lock(path, "busy")
    lock.release()  # again: not of the other's
    assert locks.is_held(path)
    other.release()


# ------------------------------------------------------------ folders of the other kind


def test_a_writer_keeps_out_of_a_folder_of_encode_files(
    tmp_path: Path, source: Path
) -> None:
    folder = tmp_path / "s"

    def during(_: object) -> None:
        with pytest.raises(CorpusError, match=r"\.lock: encode_files is at work in"):
            write(folder, TEXTS)
        with pytest.raises(CorpusError, match=r"\.lock: encode_files is at work in"):
            join_shards(folder)

    TOK.encode_files(source, folder, progress=during, **OPTIONS)
    before = rows(folder)
    for options in ({}, {"overwrite": True}, {"name": "other"}):
        with pytest.raises(CorpusError, match=r"index\.json: this folder was written"):
            write(folder, TEXTS, **options)
    assert rows(folder) == before == expected(TEXTS)
    assert {path.name for path in folder.iterdir()} == {
        "index.json",
        "shard-00000.tokens",
    }
    (folder / "index.json").unlink()
    (folder / "run.json").touch()
    with pytest.raises(CorpusError, match=r"run\.json: encode_files .* was broken off"):
        write(folder, TEXTS)


def test_encode_files_keeps_out_of_a_folder_of_writers(
    tmp_path: Path, source: Path
) -> None:
    folder = tmp_path / "s"
    refused = r"ShardWriters write to this folder, or have written to it"

    def encode() -> None:
        for options in ({}, {"overwrite": True}):
            before = {path.name for path in folder.iterdir()}
            with pytest.raises(CorpusError, match=refused):
                TOK.encode_files(source, folder, **options, **OPTIONS)
            assert {path.name for path in folder.iterdir()} == before

    with ShardWriter(TOK, folder, separator="<|end|>") as writer:
        encode()
        writer.add(TEXTS)
        encode()
    encode()
    join_shards(folder)
    encode()
    assert rows(folder) == expected(TEXTS)


@pytest.mark.parametrize("finished", [False, True])
def test_nothing_is_removed_from_a_folder_that_holds_more(
    finished: bool, tmp_path: Path, source: Path
) -> None:
    """Not even what looks like something that is not finished."""
    folder = tmp_path / "s"
    if finished:
        TOK.encode_files(source, folder, **OPTIONS)
    folder.mkdir(exist_ok=True)
    (folder / "film.mp4.part").touch()
    before = {path.name for path in folder.iterdir()}
    with pytest.raises(CorpusError, match=r"other files, such as 'film\.mp4\.part'"):
        TOK.encode_files(source, folder, overwrite=True, **OPTIONS)
    assert {path.name for path in folder.iterdir()} == before
    if finished:
        assert rows(folder) == expected(TEXTS)


# ------------------------------------------------------------ what is replaced


class Stop(Exception):
    pass


def test_what_is_replaced_stays_until_the_end(tmp_path: Path) -> None:
    options = {"name": "a", "shard_size": 3}
    write(tmp_path, TEXTS, **options)
    write(tmp_path, ["hello"], name="b")
    join_shards(tmp_path)
    old = expected([*TEXTS, "hello"])
    with pytest.raises(Stop):  # noqa: SIM117, PT012
        with ShardWriter(
            TOK, tmp_path, separator="<|end|>", overwrite=True, **options
        ) as writer:
            writer.add(["the", "low", "hello", "the"])
            assert rows(tmp_path) == old
            raise Stop
    assert rows(tmp_path) == old
    opened = open_shards(tmp_path)
    new = ["the", "low", "hello", "the"] * 2
    write(tmp_path, new, overwrite=True, **options)
    # Who has opened it reads on; others are told that it is to be joined again.
    assert [row.tolist() for row in opened] == old
    with pytest.raises(CorpusError, match="not joined"):
        open_shards(tmp_path)
    join_shards(tmp_path)
    assert rows(tmp_path) == expected([*new, "hello"])
    listed = {entry["file"] for entry in open_shards(tmp_path).index["files"]}
    assert {path.name for path in tmp_path.glob("*.tokens")} == listed


def test_whatever_fails_while_replacing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each step the folder is the old one or the new one."""
    folder = tmp_path / "s"
    options = {"shard_size": 3}
    write(folder, TEXTS, **options)
    join_shards(folder)
    replace = Path.replace
    new = ["hello"] * 3
    n = 0
    while True:
        n += 1
        left = n

        def failing(self: Path, target: Path) -> Path:
            nonlocal left
            left -= 1
            if left == 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return replace(self, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", failing)
            try:
                write(folder, new, overwrite=True, **options)
                break
            except OSError as error:
                assert error.errno == errno.EIO  # noqa: PT017
        assert rows(folder) == expected(TEXTS)
        assert not [p for p in folder.iterdir() if p.suffix in (".part", ".lock")]
    assert n > 2
    join_shards(folder)
    assert rows(folder) == expected(new)


def test_shards_that_no_index_names_are_not_written_over(tmp_path: Path) -> None:
    write(tmp_path, TEXTS)
    (tmp_path / "shard.index.json").unlink()
    before = (tmp_path / "shard-00000.tokens").read_bytes()
    report = write(tmp_path, ["hello"])
    assert (tmp_path / "shard-00000.tokens").read_bytes() == before
    assert [Path(file).name for file in report.files] == ["shard-00001.tokens"]
    join_shards(tmp_path)
    assert rows(tmp_path) == expected(["hello"])


# ------------------------------------------------------------ files that are gone


@pytest.mark.parametrize("ending", [".tokens.part", ".ends.part"])
@pytest.mark.parametrize("shard_size", [3, None])
def test_a_part_that_is_removed_while_it_is_written(
    ending: str, shard_size: int | None, tmp_path: Path
) -> None:
    gone = rf"{ending}: removed or replaced by others while it was written"
    with pytest.raises(CorpusError, match=gone):  # noqa: SIM117, PT012
        with ShardWriter(
            TOK, tmp_path, separator=None, shard_size=shard_size
        ) as writer:
            writer.add(TEXTS)
            next(tmp_path.glob(f"*{ending}")).unlink()
    assert list(tmp_path.iterdir()) == []


def test_a_complete_part_that_is_removed(tmp_path: Path) -> None:
    """Of so many shards the first ones are closed while others are written."""
    gone = r"00000\.tokens: it was complete, and is not there any more"
    with pytest.raises(CorpusError, match=gone):  # noqa: SIM117, PT012
        with ShardWriter(TOK, tmp_path, separator=None, shard_size=1) as writer:
            for text in TEXTS * 9:
                writer.add([text])
            next(tmp_path.glob("*-00000.tokens.part")).unlink()
    assert list(tmp_path.iterdir()) == []


def test_shards_that_are_missing_or_others_when_they_are_joined(tmp_path: Path) -> None:
    write(tmp_path, TEXTS, name="a")
    write(tmp_path, ["hello"], name="b")
    shard = tmp_path / "b-00000.tokens"
    data = shard.read_bytes()
    shard.write_bytes((tmp_path / "a-00000.tokens").read_bytes())
    with pytest.raises(CorpusError, match=r"b-0.*: its header says tokens=.*b\.index"):
        join_shards(tmp_path)
    shard.unlink()
    with pytest.raises(CorpusError, match=r"b-00000\.tokens: named in .*b\.index"):
        join_shards(tmp_path)
    with pytest.raises(CorpusError, match=r"c\.index\.json: not there"):
        join_shards(tmp_path, ["a", "c"])
    shard.write_bytes(data)
    join_shards(tmp_path)
    assert rows(tmp_path) == expected([*TEXTS, "hello"])


def test_after_a_write_that_failed_nothing_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file may end in the midst of a document."""
    write_all = output.write

    def full(file: Any, data: Any) -> None:
        write_all(file, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    failed = "the writer has failed, and what it wrote is gone"
    with pytest.raises(ValueError, match=failed):  # noqa: SIM117, PT012
        with ShardWriter(TOK, tmp_path, separator=None) as writer:
            writer.add(TEXTS)
            with monkeypatch.context() as patch:
                patch.setattr(output, "write", full)
                with pytest.raises(OSError, match="No space left"):
                    writer.add(TEXTS)
            with pytest.raises(ValueError, match=failed):
                writer.add(TEXTS)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------ no documents


def test_writers_without_documents(tmp_path: Path) -> None:
    report = write(tmp_path, [], name="a")
    assert (report.documents, report.tokens, len(report.files)) == (0, 0, 1)
    join_shards(tmp_path)
    opened = open_shards(tmp_path)
    opened.verify()
    assert (len(opened), opened.n_tokens, list(opened)) == (0, 0, [])
    assert opened.tokens(0, 0).tolist() == []
    assert opened.fingerprint == TOK.fingerprint
    write(tmp_path, ["hello"], name="b")
    write(tmp_path, [], name="c")
    join_shards(tmp_path)
    assert rows(tmp_path) == expected(["hello"])
    files = open_shards(tmp_path).index["files"]
    assert [entry["file"] for entry in files] == ["b-00000.tokens"]


# ------------------------------------------------------------ unfinished runs


def broken_off(source: Path, folder: Path, **options: Any) -> None:
    def stop(_: object) -> None:
        raise Stop

    with pytest.raises(Stop):
        TOK.encode_files(source, folder, progress=stop, **{**OPTIONS, **options})


@pytest.mark.parametrize("name", ["progress.json", "run.json"])
def test_a_state_that_is_changed_anywhere(
    name: str, tmp_path: Path, source: Path
) -> None:
    folder = tmp_path / "s"
    broken_off(source, folder)
    path = folder / name
    data = path.read_bytes()
    for i in range(len(data) - 1):  # the last is a newline
        path.write_bytes(data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :])
        complaint = f"{name}: missing or damaged, .* begin anew with overwrite=True"
        with pytest.raises(CorpusError, match=complaint):
            TOK.encode_files(source, folder, **OPTIONS)
    path.write_bytes(data)
    TOK.encode_files(source, folder, **OPTIONS)
    assert rows(folder) == expected(TEXTS)


@pytest.mark.parametrize(
    ("layout", "ending"),
    [("shards", ".tokens.part"), ("shards", ".ends.part"), ("megatron", ".ends.part")],
)
def test_parts_that_are_changed_anywhere(
    layout: str, ending: str, tmp_path: Path, source: Path
) -> None:
    folder = tmp_path / "s"
    broken_off(source, folder, layout=layout)
    (path,) = folder.glob(f"*{ending}")
    data = path.read_bytes()
    for i in range(layouts.HEADER_SIZE if ending == ".tokens.part" else 0, len(data)):
        path.write_bytes(data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :])
        complaint = rf"{ending}: damaged: its first .* begin anew with overwrite=True"
        with pytest.raises(CorpusError, match=complaint):
            TOK.encode_files(source, folder, layout=layout, **OPTIONS)
    path.write_bytes(data + b"more, which was not safe")
    TOK.encode_files(source, folder, layout=layout, **OPTIONS)
    TOK.encode_files(source, tmp_path / "t", layout=layout, **OPTIONS)
    assert digests(folder) == digests(tmp_path / "t")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_place_behind_the_end_of_a_source(kind: str, tmp_path: Path) -> None:
    """Nothing would be read there, and the corpus would be shorter."""
    source = write_jsonl(tmp_path / "a.jsonl", TEXTS)
    if kind == "parquet":
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        source = tmp_path / "a.parquet"
        parquet.write_table(arrow.table({"text": TEXTS}), source)
    folder = tmp_path / "s"
    broken_off(source, folder)
    state = folder / "progress.json"
    said = json.loads(state.read_bytes())
    del said["crc32"]
    said["position"][1][0] += 1
    write_sealed(state, said)
    with pytest.raises(
        CorpusError, match=r"progress.json: damaged: it says that .* are"
    ):
        TOK.encode_files(source, folder, **OPTIONS)


def test_a_part_of_encode_files_that_is_removed(tmp_path: Path, source: Path) -> None:
    folder = tmp_path / "s"

    def remove(_: object) -> None:
        for path in folder.glob("*.tokens.part"):
            path.unlink()

    with pytest.raises(CorpusError, match=r"\.part: removed or replaced by others"):
        TOK.encode_files(source, folder, progress=remove, **OPTIONS)


@pytest.mark.parametrize("layout", ["shards", "llm.c"])
def test_a_complete_file_of_encode_files_that_is_removed(
    layout: str, tmp_path: Path, source: Path
) -> None:
    folder = tmp_path / "s"
    options = {"layout": layout, "shard_size": 3, **OPTIONS}
    TOK.encode_files(source, tmp_path / "t", **options)
    removed = []

    def remove(_: object) -> None:
        for path in folder.iterdir():
            if "00000." in path.name:
                path.unlink(missing_ok=True)  # the writer removes some of its own
                removed.append(path)

    with pytest.raises(CorpusError, match=r"removed or replaced|was complete, and is"):
        TOK.encode_files(source, folder, progress=remove, **options)
    assert removed
    assert not (folder / "index.json").exists()


def test_a_run_that_has_written_nothing_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text("{")
    folder = tmp_path / "s"
    for layout in ("shards", "megatron"):  # the second is not bound by the first
        with pytest.raises(CorpusError, match="line 1: not valid JSON"):
            TOK.encode_files(source, folder, layout=layout, **OPTIONS)
        assert list(folder.iterdir()) == []
    write(folder, ["low"])


def test_nor_does_one_that_was_killed_before_it_had_written(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "s"

    def fail(*_: object) -> None:
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(prepare._Work, "do", fail)
        with pytest.raises(Stop):
            TOK.encode_files(source, folder, layout="nanogpt", **OPTIONS)
    assert {path.name for path in folder.iterdir()} == {"progress.json", "run.json"}
    (folder / "train.bin.part").touch()
    TOK.encode_files(source, folder, **OPTIONS)
    assert rows(folder) == expected(TEXTS)
    assert len(list(folder.iterdir())) == 2


def test_nanogpt_and_wide_ids(tmp_path: Path, source: Path) -> None:
    """Its loader reads uint16, whatever the files have."""
    options = {"layout": "nanogpt", **OPTIONS}
    with pytest.warns(
        UserWarning, match=r"ids go up to 70,000, and nanoGPT.*uint16"
    ) as w:
        report = WIDE.encode_files(source, tmp_path / "a", **options)
    assert Path(w[0].filename) == Path(__file__)
    assert report.dtype == "uint32"
    WIDE.encode_files(source, tmp_path / "b", dtype="uint32", **options)
    assert digests(tmp_path / "a") == digests(tmp_path / "b")
    TOK.encode_files(source, tmp_path / "c", **options)
    WIDE.encode_files(source, tmp_path / "d", **OPTIONS)
