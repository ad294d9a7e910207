"""Files of counts and ids that are damaged, or were made to do harm."""

from __future__ import annotations

import hashlib
import json
import os
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pybpe
from pybpe._binding_json import BadLine, json_lines
from pybpe._proto import pybpe_pb2
from pybpe.corpora import ShardWriter, join_shards, open_shards, read_documents
from pybpe.corpora.index import write_sealed
from pybpe.errors import CorpusError, TrainingError

TEXTS = ["low lower lowest", "new newer", ""]
PATTERN = "a|[^a]"  # with small tables
TOK = pybpe.train(TEXTS, 262, special_tokens=["<|end|>"])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    return path


def encode(source: Path, folder: Path, **options: Any) -> Path:
    TOK.encode_files(source, folder, separator="<|end|>", **options)
    return folder / "index.json"


def damages(data: bytes) -> list[bytes]:
    """Return the data cut off at each byte, and with each byte changed."""
    cut = [data[:n] for n in range(len(data))]
    changed = [
        data[:i] + bytes([data[i] ^ mask]) + data[i + 1 :]
        for i in range(len(data))
        for mask in (0x01, 0x80)
    ]
    return cut + changed


# ------------------------------------------------------------------ counts


def test_counts_that_are_cut_off_or_changed_anywhere() -> None:
    counts = pybpe.count_texts(TEXTS, pattern=PATTERN, special_tokens=["<|end|>"])
    data = counts.to_bytes()
    for damaged in damages(data):
        with pytest.raises(TrainingError):
            pybpe.Counts.from_bytes(damaged)


def test_counts_that_are_changed_and_sealed_again() -> None:
    """The checksum fits, so all else has to be looked at."""
    data = pybpe.count_texts(["ab ab cd"], pattern=PATTERN).to_bytes()
    for damaged in damages(data[:-32]):
        try:
            found = pybpe.Counts.from_bytes(damaged + hashlib.sha256(damaged).digest())
        except TrainingError:
            continue
        assert sum(count for _, count in found.items()) == found.pretokens
        assert pybpe.Counts.from_bytes(found.to_bytes()) == found


def test_counts_with_huge_numbers() -> None:
    data = pybpe.count_texts(["a"]).to_bytes()
    size = struct.pack("<I", 2**32 - 1)
    with pytest.raises(TrainingError, match="announces 4,294,967,295 bytes"):
        pybpe.Counts.from_bytes(data[:12] + size + data[16:])
    with pytest.raises(TrainingError, match="truncated"):
        pybpe.Counts.from_bytes(data[:12] + struct.pack("<I", 1 << 30) + data[16:])


def crafted(record: bytes = b"", **fields: int) -> bytes:
    """Return counts of the text "a" with other numbers, and checksums that fit."""
    data = pybpe.count_texts(["a"], pattern=PATTERN).to_bytes()
    end = 16 + struct.unpack_from("<I", data, 12)[0]
    message = pybpe_pb2.Counts.FromString(data[16:end])
    record = record or data[end:-32]
    for name, value in {**fields, "records_size": len(record)}.items():
        setattr(message, name, value)
    said = message.SerializeToString(deterministic=True)
    data = data[:12] + struct.pack("<I", len(said)) + said + record
    return data + hashlib.sha256(data).digest()


MOST = b"\xff" * 9 + b"\x01"  # 2**64 - 1, as records have it


@pytest.mark.parametrize(
    ("damaged", "complaint"),
    [
        (crafted(pretokens=2), "more pretokens than bytes"),
        (crafted(distinct_pretokens=2), "more distinct pretokens than pretokens"),
        (crafted(b"\1\1\1a"), "a record of it makes no sense"),
        (crafted(b"\0\1\0"), "a record of it makes no sense"),
        (crafted(MOST + b"\1\0a", bytes=2**64 - 1), "not those that it announces"),
        (crafted(b"\1" + MOST + b"\0a"), "not those that it announces"),
        (crafted(b"\1\1\0a" * 2, pretokens=2, bytes=2), "not those that it announces"),
    ],
)
def test_counts_that_cannot_be(damaged: bytes, complaint: str) -> None:
    with pytest.raises(TrainingError, match=complaint):
        pybpe.Counts.from_bytes(damaged)


@pytest.mark.parametrize(
    ("huge", "complaint"),
    [
        (crafted(documents=2**64 - 1), r"there are 2\*\*64 texts or more"),
        (crafted(bytes=2**63), r"the texts have 2\*\*64 bytes or more"),
        (
            crafted(b"\1" + MOST + b"\0a", pretokens=2**64 - 1, bytes=2**64 - 1),
            r"the texts have 2\*\*64 bytes or more",
        ),
    ],
)
def test_counts_that_are_too_much_together(huge: bytes, complaint: str) -> None:
    assert pybpe.Counts.from_bytes(huge).to_bytes() == huge
    with pytest.raises(TrainingError, match=complaint):
        pybpe.merge_counts([huge, huge])


# ------------------------------------------------------------------ indexes


def sealed(state: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what an unfinished run says of itself, with a checksum that fits."""
    said = json.loads(state.read_bytes())
    del said["crc32"]
    change(said)
    write_sealed(state, said)


def changed(index: Path, change: Callable[[dict[str, Any]], object]) -> None:
    said = json.loads(index.read_bytes())
    change(said)
    index.write_text(json.dumps(said))


@pytest.mark.parametrize("name", ["../kept", "{outside}", "..", "sub/kept", ""])
def test_an_index_cannot_have_files_removed_elsewhere(
    name: str, tmp_path: Path, source: Path
) -> None:
    index = encode(source, tmp_path / "s")
    (tmp_path / "s" / "sub").mkdir()
    outside = [tmp_path / "kept", tmp_path / "s" / "sub" / "kept"]
    for path in outside:
        path.write_text("mine")
    name = name.format(outside=outside[0])
    changed(index, lambda said: said["files"][0].update(file=name))
    with pytest.raises(CorpusError, match="damaged: it does not say what an index"):
        encode(source, tmp_path / "s", overwrite=True)
    with pytest.raises(CorpusError, match="damaged"):
        open_shards(tmp_path / "s")
    assert [path.read_text() for path in outside] == ["mine", "mine"]


def test_nor_can_that_of_a_writer(tmp_path: Path) -> None:
    def write(**options: Any) -> None:
        with ShardWriter(TOK, tmp_path / "s", separator=None, **options) as writer:
            writer.add(TEXTS)

    write()
    kept = tmp_path / "kept"
    kept.write_text("mine")
    index = tmp_path / "s" / "shard.index.json"
    changed(index, lambda said: said["files"][0].update(file="../kept"))
    with pytest.raises(CorpusError, match="damaged"):
        write(overwrite=True)
    with pytest.raises(CorpusError, match="damaged"):
        join_shards(tmp_path / "s")
    assert kept.read_text() == "mine"


def test_an_index_that_is_cut_off_or_changed_anywhere(
    tmp_path: Path, source: Path
) -> None:
    index = encode(source, tmp_path / "s")
    data = index.read_bytes()
    for damaged in damages(data):
        index.write_bytes(damaged)
        try:
            opened = open_shards(tmp_path / "s")
        except CorpusError:
            continue
        except OSError:  # another name of a file
            continue
        assert len(opened) == 3


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        ("[" * 100_000, "not an index of pybpe"),
        ("1" * 5_000, "not an index of pybpe"),
        ('{"format": "another", "files": []}', "not an index of pybpe"),
        ('{"format": "pybpe corpus", "version": 2}', "of format version 2.*upgrade"),
    ],
)
def test_what_is_no_index(contents: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "index.json").write_text(contents)
    with pytest.raises(CorpusError, match=complaint):
        open_shards(tmp_path)


# ------------------------------------------------------------------ unfinished runs


class Broken(Exception):
    pass


def begin(source: Path, folder: Path, **options: Any) -> None:
    def stop(_: object) -> None:
        raise Broken

    with pytest.raises(Broken):
        encode(source, folder, progress=stop, **options)


@pytest.mark.parametrize("layout", ["shards", "llm.c"])
def test_a_damaged_state_is_refused_and_can_be_overwritten(
    layout: str, tmp_path: Path, source: Path
) -> None:
    folder = tmp_path / "s"
    options = {"layout": layout, "shard_size": 4}
    index = encode(source, tmp_path / "whole", **options)
    for name in ("progress.json", "run.json"):
        begin(source, folder, **options)
        assert len([path for path in folder.iterdir() if "0000" in path.name]) > 1
        (folder / name).write_bytes((folder / name).read_bytes()[:-10])
        with pytest.raises(CorpusError, match=f"{name}: missing or damaged"):
            encode(source, folder, **options)
        assert encode(source, folder, overwrite=True, **options).exists()
        for path in folder.iterdir():
            assert path.read_bytes() == index.with_name(path.name).read_bytes()
        for path in folder.iterdir():
            path.unlink()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("position", [5, [0, 0, False]]),
        ("position", [0, [-1, 0, False]]),
        ("position", [0, [0, 0]]),
        ("position", None),
        ("position", [0, [10**9, 3, False]]),
        ("position", [0, [80, 3, True]]),
        ("totals", [4, 0, 14, 30]),
        ("totals", [0, 0, 0]),
        ("totals", 3),
        ("splits", {}),
        ("splits", {"train": {"finished": [{}], "part": [0, 0, 0, 0, 0]}}),
        ("splits", {"train": {"finished": [], "part": [2**63, 0, 0, 0, 0]}}),
        ("splits", {"train": {"finished": [], "part": [1.5, 0, 0, 0, 0]}}),
    ],
)
def test_states_that_cannot_be(
    name: str, value: object, tmp_path: Path, source: Path
) -> None:
    begin(source, tmp_path / "s")
    state = tmp_path / "s" / "progress.json"
    sealed(state, lambda said: said.update({name: value}))
    with pytest.raises(CorpusError, match=r"progress.json: (missing or )?damaged"):
        encode(source, tmp_path / "s")


def test_both_files_of_megatron_go(tmp_path: Path, source: Path) -> None:
    """Also where a run was killed between their completion and the index."""
    index = encode(source, tmp_path / "s", layout="megatron")
    said = json.loads(index.read_bytes())
    begin(source, tmp_path / "t", layout="megatron")
    train = {"finished": said["files"], "part": [0, 0, 0, 0, 0]}
    for path in (tmp_path / "t").glob("*.part"):
        path.unlink()
    for name in ("train.bin", "train.idx"):
        (tmp_path / "t" / name).write_bytes((tmp_path / "s" / name).read_bytes())
    state = tmp_path / "t" / "progress.json"
    sealed(state, lambda said: said["splits"].update(train=train))
    index = encode(source, tmp_path / "t", overwrite=True, layout="shards")
    assert len(open_shards(index)) == 3
    assert not list((tmp_path / "t").glob("train.*"))


# ------------------------------------------------------------------ shards


def test_a_shard_whose_header_is_changed_anywhere(tmp_path: Path, source: Path) -> None:
    encode(source, tmp_path / "s")
    path = tmp_path / "s" / "shard-00000.tokens"
    data = path.read_bytes()
    for damaged in damages(data):
        path.write_bytes(damaged)
        try:
            opened = open_shards(path)
            n = sum(map(len, opened))
            assert n <= opened.n_tokens
            opened.verify()
        except CorpusError:
            continue
        # What no checksum is of: the header alone.
        assert damaged[256:] == data[256:]


@pytest.mark.parametrize("offset", [-1, 2**62, 1])
def test_documents_that_are_not_in_the_shard(
    offset: int, tmp_path: Path, source: Path
) -> None:
    encode(source, tmp_path / "s")
    path = tmp_path / "s" / "shard-00000.tokens"
    data = bytearray(path.read_bytes())
    data[-16:-8] = struct.pack("<q", offset)
    path.write_bytes(data)
    opened = open_shards(path)
    with pytest.raises(CorpusError, match="damaged: a document is said to be tokens"):
        list(opened)
    with pytest.raises(CorpusError, match="damaged: a document is said to be tokens"):
        opened[1]
    assert isinstance(opened[0], np.ndarray)


# ------------------------------------------------------------------ lines


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"a": ' + "1" * 5_000 + "}", "has no field 'text'"),
        ('{"text": ' + "1" * 5_000 + "}", "is not text but a number"),
        ('{"text": "x", "text": 1}', "is not text but a number"),
        ("[" * (1 << 20), "nested too deeply|not valid JSON"),
        ('{"text": "x", "a": ' + "[" * 5_000 + "]" * 5_000 + "}", "nested too deeply"),
        ('{"text": "x\0"}', "not valid JSON"),
    ],
)
def test_lines_that_are_refused(line: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": 1, "text": "x"}\r\n' + line + "\n")
    with pytest.raises(CorpusError, match=rf"line 2: .*({complaint})"):
        list(read_documents(path))


def test_lines_mean_what_they_mean_to_python(tmp_path: Path) -> None:
    """Random changes of lines: the same text, or refused by both."""
    rng = random.Random(3)
    n_good = 0
    for _ in range(8_000):
        line = rng.choice(LINES)
        for _ in range(rng.choice([0, 1, 1, 2])):
            at = rng.randrange(len(line) + 1)
            line = line[:at] + rng.choice(PARTS) + line[at + rng.choice([0, 0, 1, 3]) :]
        try:
            value = json.loads(line)
            want = value["text"] if isinstance(value, dict) else None
        except (ValueError, KeyError):
            want = None
        try:
            texts, _ = json_lines(line.encode(), b"text")
        except BadLine:
            assert not isinstance(want, str), line
            continue
        assert isinstance(want, str), line
        # Halves of pairs are none in UTF-16 either.
        halves = want.encode("utf-16", "surrogatepass")
        assert str(texts, "utf-8") == halves.decode("utf-16", "replace"), line
        n_good += 1
    assert 1_000 < n_good < 7_000


LINES = [
    r'{"text":"a\u00e9\n\ud83d\ude00\ud83d"}',
    '{"a":{"text":[]},"text":"b"}',
    '{"x":[-0.5e+10,true,null,NaN,-Infinity,[[{}]]], "text" : "one", "text":"two"}',
    '{"text":1,"b":"","text":"\u00e9\u4e2d\U0001f600 and more of it"}',
]
PARTS = [*'{}[]:,"\\ \t\r-0.E/\x7f\x1f\0\u2028\ufeff', '"text":', '"x"', r"\u", "d83d"]
PARTS += [r"\ude00", r"\ud83d", r"\u0061", r"\"", r"\/", "12", "e+", "true", "Infinity"]


@pytest.mark.parametrize("num_threads", [1, 2])
def test_what_an_error_holds_can_be_collected(
    num_threads: int, tmp_path: Path, source: Path
) -> None:
    """Python may crash when it clears memoryviews that lend their buffers."""
    source.write_text('{"text": "a <|end|>"}')
    TOK.save(tmp_path / "model.pybpe")
    program = (
        "import gc, pybpe, sys\n"
        "model, source, folder, threads = sys.argv[1:]\n"
        "gc.disable()\n"
        "try:\n"
        "    pybpe.load(model).encode_files(\n"
        "        source, folder, separator=None, num_threads=int(threads))\n"
        "except pybpe.SpecialTokenError as error:\n"
        "    error.me = error\n"
        "gc.collect()\n"
    )
    paths = (tmp_path / "model.pybpe", source, tmp_path / "s", num_threads)
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, paths)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(pybpe.__file__).parent.parent)},
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_million_keys_take_no_long_time(tmp_path: Path) -> None:
    """Were the text moved for each key that follows it, this would take minutes."""
    path = tmp_path / "a.jsonl"
    keys = ",".join(f'"k{i}":"{i}","text":"{i}"' for i in range(500_000))
    path.write_text('{"text":"' + "x" * 1_000_000 + '",' + keys + "}")
    assert list(read_documents(path)) == [b"499999"]
