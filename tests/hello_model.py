"""A small tokenizer that the tests of what a tokenizer promises share."""

from __future__ import annotations

from typing import Any

from pybpe import Tokenizer

BYTES = {bytes([b]): b for b in range(256)}
END, PAD = "<|end|>", "<|pad|>"


def ranks(*tokens: bytes) -> dict[bytes, int]:
    return BYTES | {token: 256 + i for i, token in enumerate(tokens)}


def make(*tokens: bytes, **options: Any) -> Tokenizer:
    options = {"pattern": r"\s+|\S+"} | options
    return Tokenizer.from_ranks(ranks(*tokens), **options)


def hello() -> Tokenizer:
    """Return one that makes "hello" a token, with two special ones."""
    return make(b"he", b"ll", b"hell", b"hello", special_tokens={END: 300, PAD: 301})
