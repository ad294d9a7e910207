"""What writes corpora keeps what there is, and never gives less than it was given."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_corpora_layouts import OPTIONS, TOK, write_jsonl

from pybpe import CorpusError, open_shards

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
