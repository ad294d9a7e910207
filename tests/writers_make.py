"""A small tokenizer to write, where, and what is said of one that cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybpe import ModelError, Tokenizer

MERGES = [(104, 101), (108, 108), (256, 257), (32, 32), (258, 111)]
SPECIAL = {"<|end|>": 261, "<|pad|>": 262}
NAMES = {
    "tiktoken": "my.tiktoken",
    "tokenizer.json": "tokenizer.json",
    "hf": "folder/",
    "minbpe": "my.model",
    "gpt2": "vocab.json",
    "gguf": "my.gguf",
    "pybpe": "my.pybpe",
}


def tokenizer(pattern: Any = "gpt2", **options: Any) -> Tokenizer:
    options = {"special_tokens": SPECIAL, **options}
    return Tokenizer.from_merges(MERGES, pattern=pattern, **options)


def refusal(tok: Tokenizer, path: Path, kind: str, **options: Any) -> str:
    with pytest.raises(ModelError) as caught:
        tok.save_as(path, kind, **options)
    assert not path.exists()
    return str(caught.value)


def pairs_in_bytes(
    tok: Tokenizer, pairs: list[tuple[int, int]]
) -> list[tuple[bytes, bytes]]:
    return [(tok.token_bytes(left), tok.token_bytes(right)) for left, right in pairs]
