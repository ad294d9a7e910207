"""Models and messages that the tests of model files change."""

from __future__ import annotations

import hashlib
import json
import struct
from array import array
from pathlib import Path
from typing import Any

import pytest

from pybpe import _model_message, model_file
from pybpe.errors import ModelError
from pybpe.model import Model
from pybpe.split import Split, Stage

GOLDEN = Path(__file__).parent / "golden"
# What files of format version 1 are and do.
EXPECTED = json.loads((GOLDEN / "model_v1.json").read_text("utf-8"))
PARTS = [name for name in Model.__slots__ if name != "split"]
STAGE_PARTS = [
    "pattern",
    "dialect",
    "behavior",
    "unicode_version",
    "class_starts",
    "class_ids",
    "n_classes",
    "n_states",
    "transitions",
]


def make_stage(**changes: Any) -> Stage:
    """Return a stage with the tables of `a+`, written by hand."""
    parts: dict[str, Any] = {
        "pattern": "a+",
        "dialect": "rust",
        "behavior": "isolated",
        "unicode_version": "16.0",
        # Other codepoints are class 0, "a" is class 1, the third column is the end.
        "class_starts": array("I", [0, ord("a"), ord("b")]),
        "class_ids": b"\0\1\0",
        "n_classes": 2,
        "n_states": 3,
        "transitions": array("H", [0, 0, 0, 0, 2, 0, 0x8000, 2, 0x8000]),
    }
    return Stage(**(parts | changes))


def make_model(**changes: Any) -> Model:
    """Return a small model that has something of everything."""
    tokens = [bytes([i]) for i in range(256)] + [b"ab", b"ab ", b"\xff\0\n"]
    parts: dict[str, Any] = {
        "semantics": "merges",
        "whole_pretoken": True,
        "token_data": b"".join(tokens),
        "token_lengths": array("I", map(len, tokens)),
        "token_ids": array("I", [*range(258), 300]),
        "merges": array("I", [97, 98, 256, 32, 257, 0]),
        "merge_ids": array("I", [256, 257, 257]),
        "special_tokens": ((b"<|a b\n\0|>", 301), (b"\xff\xfe", 400)),
        "added_tokens": ((b" ", 500),),
        "split": Split((make_stage(),)),
        "provenance": {"corpus": "caf\u00e9", "documents": 12, "shift": -1},
    }
    return Model(**(parts | changes))


def small_model(**changes: Any) -> Model:
    """Return a model so small that every byte of its file can be tried."""
    return make_model(
        **{
            "token_data": b"abab",
            "token_lengths": array("I", [1, 1, 2]),
            "token_ids": array("I", [97, 98, 256]),
            "merges": array("I", [97, 98]),
            "merge_ids": array("I", [256]),
        }
        | changes
    )


def assert_same(left: Model, right: Model) -> None:
    """Compare two models in every part."""
    for part in PARTS:
        assert getattr(left, part) == getattr(right, part), part
    for a, b in zip(left.split.stages, right.split.stages, strict=True):
        for part in STAGE_PARTS:
            assert getattr(a, part) == getattr(b, part), part


def frame(message: bytes) -> bytes:
    """Return a file around a message, with the header that belongs to it."""
    digest = hashlib.sha256(message).digest()
    return struct.pack("<8sII32s", b"\x89pybpe\r\n", 1, len(message), digest) + message


def schema() -> Any:
    return _model_message.schema()


def message_of(model: Model) -> Any:
    """Return a model's protobuf message, to be changed."""
    message = schema().Model()
    message.ParseFromString(model_file.model_to_bytes(model)[48:])
    return message


def refusal(data: bytes) -> str:
    """Return the message with which `data` is refused."""
    with pytest.raises(ModelError) as caught:
        model_file.model_from_bytes(data)
    return str(caught.value)
