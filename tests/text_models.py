"""Tokenizers of every kind, and texts, for tests of offsets, streams and limits."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import peer_texts

import pybpe
from pybpe import Tokenizer

END = "<|endoftext|>"
PUBLISHED = [
    "openai/cl100k_base.tiktoken",
    "hf/qwen3_tokenizer.json",
    "hf/gpt_neox_20b_tokenizer.json",
    "hf/llama3_1_tokenizer.json",
    "hf/deepseek_v3_tokenizer.json",
    "hf/mistral_v1_tokenizer.json",
    "sentencepiece/llama2_tokenizer.model",
    "sentencepiece/mistral_mistral_instruct_tokenizer_240323.model.v3",
]
SMALL = ["merges", "tables", "fallback", "drops"]


def model(name: str, data_path: Callable[[str], Path]) -> Tokenizer:
    """Return a published tokenizer, or one of the small ones."""
    if name in SMALL:
        return small(name)
    return _load(data_path(f"vocab/{name}"))


@cache
def _load(path: Path) -> Tokenizer:
    return pybpe.load(path)


def small(name: str) -> Tokenizer:
    """Return a tokenizer that needs no data."""
    merges = [(104, 101), (0xC3, 0xA9), (0xF0, 0x9F), (258, 0x91), (32, 256)]
    pattern = {
        "merges": None,
        "tables": "cl100k",
        "fallback": r"(?<=h)e|\p{L}|\s+|[^\p{L}\s]+",
        "drops": pybpe.Split([pybpe.Stage.compile(r"\s", behavior="removed")]),
    }[name]
    return Tokenizer.from_merges(
        merges,
        pattern=pattern,
        special_tokens={END: 300},
        added_tokens={"[X]": 301} if name != "drops" else None,
    )


def with_specials() -> Tokenizer:
    """Return a tokenizer with special and added tokens whose ids leave gaps."""
    return Tokenizer.from_merges(
        [(97, 98), (99, 100)],
        pattern=None,
        special_tokens={"<s>": 300, "</s>": 310},
        added_tokens={"<a>": 305},
    )


def texts(seed: int, n: int) -> Iterator[str]:
    """Yield texts with emoji, combining marks and special tokens."""
    more = [END, "[X]", "he he", "\U0001f44d\U0001f3fd", "e\u0301\u0327", "</s>", "  "]
    yield from ("", " ", "\U0001f44d", "\u00e9", "a\u0301" * 9)
    yield from peer_texts.unicode_texts(seed, n, more)


def broken(seed: int, n: int) -> Iterator[bytes]:
    """Yield bytes, of which some are not UTF-8."""
    rng = random.Random(seed)
    for text in texts(seed, n):
        data = bytearray(text.encode())
        for _ in range(rng.randrange(3)):
            if data:
                at = rng.randrange(len(data))
                data[at : at + rng.randrange(2)] = rng.choice(
                    [b"\x80", b"\xff", b"\xe2\x96", b"\xf0\x9f\x91", b"\xc3"]
                )
        yield bytes(data)
