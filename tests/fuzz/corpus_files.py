"""Files of counts and of ids, and how each is read: for fuzz_readers.py."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pybpe
from pybpe.corpora import ShardWriter, join_shards, open_shards

TEXTS = ["low lower lowest", "", "new\nnewer " + "long " * 9, "caf\u00e9 \U0001f600"]
TOK = pybpe.train(TEXTS * 3, 270, special_tokens=["<|end|>"])


class CorpusFile(NamedTuple):
    """A file to change.

    Attributes:
        name: What it is called.
        data: What is in it.
        folder: Where the files are that belong to it.
        read: Reads and uses the file in a copy of the folder; refuses it with a
            ValueError.
        seal: Makes checksums fit again.
    """

    name: str
    data: bytes
    folder: Path
    read: Callable[[Path], None]
    seal: Callable[[bytes], bytes] | None = None


# ------------------------------------------------------------------ counts


def counts(root: Path) -> list[CorpusFile]:
    """Return files of counts, large and small ones."""
    made = [
        pybpe.count_texts(TEXTS, special_tokens=["<|end|>"], protected=["low"]),
        pybpe.count_texts(["a"], pattern="gpt2"),
        pybpe.count_texts([]),
        pybpe.count_texts([" ".join(f"word{i}" for i in range(2000))]),
    ]
    folder = root / "counts"
    folder.mkdir()
    return [
        CorpusFile("c.counts", part.to_bytes(), folder, _read_counts, seal_counts)
        for part in made
    ]


def seal_counts(data: bytes) -> bytes:
    """Return the data with the checksum that belongs to them at the end."""
    return data[:-32] + hashlib.sha256(data[:-32]).digest()


def _read_counts(path: Path) -> None:
    found = pybpe.Counts.load(path)
    data = found.to_bytes()
    assert pybpe.Counts.from_bytes(data) == found
    items = dict(found.items())
    assert len(items) == len(found)
    assert sum(items.values()) == found.pretokens
    assert all(items)
    assert found.bytes >= sum(map(len, items))
    # What is said of its size leaves room for itself or not; it is never a number that
    # wraps around.
    both = pybpe.merge_counts([path, found])
    assert both.pretokens == 2 * found.pretokens
    pybpe.train_from_counts(
        found,
        num_merges=3,
        special_tokens=found.special_tokens,
        protected=found.protected,
    )


# ------------------------------------------------------------------ ids


def shards(root: Path) -> list[CorpusFile]:
    """Return shards and their index, and the index of a writer."""
    source = _source(root)
    plain, split = root / "plain", root / "split"
    TOK.encode_files(source, plain, separator="<|end|>", shard_size=20)
    TOK.encode_files(source, split, separator=None, val_fraction=0.4, dtype="uint32")
    with ShardWriter(TOK, root / "joined", separator=None, name="w") as writer:
        writer.add(TEXTS)
    join_shards(root / "joined")
    found = [
        CorpusFile(path.name, path.read_bytes(), folder, _read_shards)
        for folder in (plain, split)
        for path in sorted(folder.iterdir())
    ]
    path = root / "joined" / "w.index.json"
    found.append(CorpusFile(path.name, path.read_bytes(), path.parent, _read_joined))
    return found


def _source(root: Path) -> Path:
    source = root / "documents.jsonl"
    lines = [json.dumps({"text": text}) for text in TEXTS * 3]
    source.write_text("\n".join(lines))
    return source


def _read_shards(path: Path) -> None:
    folder = path.parent
    for part in folder.glob("*.tokens"):
        _use(open_shards(part), part)
    splits = ("train", "val") if (folder / "train-00000.tokens").exists() else (None,)
    for split in splits:
        _use(open_shards(folder, split), folder)
    _write_again(folder)


def _use(opened: pybpe.corpora.Shards, path: Path) -> None:
    documents = list(opened)
    assert len(documents) == len(opened), path
    assert all(len(ids) >= 0 for ids in opened[:3])
    assert len(opened.tokens(0, opened.n_tokens)) == opened.n_tokens, path
    opened.verify()


def _write_again(folder: Path) -> None:
    """Write anew over a folder: nothing but what is in it goes."""
    source = folder.parent / "documents.jsonl"
    around = sorted(folder.parent.iterdir())
    TOK.encode_files(source, folder, separator="<|end|>", overwrite=True)
    assert sorted(folder.parent.iterdir()) == around
    assert len(open_shards(folder)) == 3 * len(TEXTS)


def _read_joined(path: Path) -> None:
    folder = path.parent
    join_shards(folder)
    _use(open_shards(folder), folder)
    with ShardWriter(TOK, folder, separator=None, name="w", overwrite=True) as writer:
        writer.add(TEXTS)
    join_shards(folder)
    assert len(open_shards(folder)) == len(TEXTS)


# ------------------------------------------------------------------ unfinished runs


class _Broken(Exception):
    """Ends a run before its time."""


def unfinished(root: Path) -> list[CorpusFile]:
    """Return what says how far runs are that were broken off."""
    _source(root)
    found = []
    for name, options in _RUNS.items():
        folder = root / name
        with contextlib.suppress(_Broken):
            _run(folder, options, broken=True)
        for said in ("run.json", "progress.json"):
            path = folder / said
            found.append(CorpusFile(said, path.read_bytes(), folder, _go_on))
    return found


_RUNS: dict[str, dict[str, object]] = {
    "small": {"separator": "<|end|>", "shard_size": 20},
    "split": {"separator": None, "val_fraction": 0.4},
    "megatron": {"separator": None, "layout": "megatron"},
}


def _run(folder: Path, options: dict[str, object], *, broken: bool = False) -> None:
    def stop(_: object) -> None:
        if broken:
            raise _Broken

    source = folder.parent / "documents.jsonl"
    TOK.encode_files(source, folder, progress=stop, **options)  # type: ignore[arg-type]


def _go_on(path: Path) -> None:
    folder = path.parent
    options = _RUNS[folder.name]
    refused = None
    try:
        _run(folder, options)
    except pybpe.CorpusError as error:
        refused = error
    # As the message says.
    _run(folder, {**options, "overwrite": True})
    assert (folder / "index.json").exists()
    if refused:
        raise refused


KINDS: dict[str, Callable[[Path], list[CorpusFile]]] = {
    "counts": counts,
    "shards": shards,
    "unfinished": unfinished,
}


def files(kind: str) -> tuple[tempfile.TemporaryDirectory[str], list[CorpusFile]]:
    """Make the files of a kind, in a folder that goes when it is closed."""
    root = tempfile.TemporaryDirectory()
    return root, KINDS[kind](Path(root.name))


def read(file: CorpusFile, data: bytes) -> ValueError | None:
    """Put changed data in the place of a file, and use it; return the refusal.

    What is beside the folder is where it was: a run compares it with what it had.
    """
    kept = file.folder.with_name(file.folder.name + ".kept")
    if not kept.exists():
        shutil.copytree(file.folder, kept)
    shutil.rmtree(file.folder)
    shutil.copytree(kept, file.folder)
    path = file.folder / file.name
    path.write_bytes(data)
    try:
        file.read(path)
    except ValueError as error:
        if not str(error):
            raise AssertionError("a refusal without a message") from error
        return error
    return None
