"""Texts on which tokenizers are compared with their peers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from split_reference import SCALE

from pybpe import Tokenizer

DataPath = Callable[[str], Path]
CORPORA = ("english", "code", "multilingual")

_WHITE_SPACE = [
    *(chr(cp) for cp in (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680)),
    *(chr(cp) for cp in (*range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F)),
    "\u3000",
]
# What tokenizers are known to disagree about.
_PICKED = [
    *("\u017f", "\u212a", "'\u017f", "\u0130", "\u0131", "\u00df", "\u1e9e"),
    *("\u0301", "e\u0301", "\u0e33", "\u0345", "\u200d", "\u200b", "\ufeff", "\ufffd"),
    *("\x85", "\x1c", "\x1d", "\x1e", "\x1f", "\x00", "\x7f", "\u2581", "\u2581\u2581"),
    *("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "1\ufe0f"),
    *("\U0001f44d\U0001f3fd", "\U0001fae8", "\u2764\ufe0f", "\U00016fe4"),
    *("\u01c5", "\u02bc", "\u2160", "\u00bd", "\u00b2", "\u0661", "\u4f60\u597d"),
    *("'s", "'RE", "'Ll", "''", "HeLLo", "fooBar", "don't", "1234567", "0", " "),
    *("  ", "    ", "\n\n", "\r\n", "\r\n\r\n", "\t\t", " \n ", "//", "...", "\n/"),
    *("a", "the", " the", "Ab", "Z", "_", "--", "(\"'", "\u0120", "<0x41>", "<|", "|>"),
]


def unicode_texts(seed: int, n: int, extra: Sequence[str] = ()) -> Iterator[str]:
    """Yield `n` random texts, in multiples of `SCALE`, drawn from all of Unicode.

    Args:
        seed: Of the random numbers.
        n: How many at a scale of 1.
        extra: Strings to mix in, such as special tokens.
    """
    rng = random.Random(seed)
    for _ in range(int(n * SCALE)):
        parts = []
        for _ in range(rng.randint(1, 12)):
            kind = rng.random()
            if extra and kind < 0.4:
                parts.append(rng.choice(extra))
            elif kind < 0.65:
                parts.append(rng.choice(_PICKED))
            elif kind < 0.75:
                parts.append(rng.choice(_WHITE_SPACE))
            elif kind < 0.9:
                # Plane 0 has most of what is assigned.
                parts.append(_codepoint(rng, 0x10000))
            else:
                parts.append(_codepoint(rng, 0x110000))
        yield "".join(parts)


def _codepoint(rng: random.Random, limit: int) -> str:
    while True:
        codepoint = rng.randrange(limit)
        if not 0xD800 <= codepoint < 0xE000:
            return chr(codepoint)


def corpus(data_path: DataPath, name: str) -> str:
    """Return 1 MB of text."""
    return data_path(f"corpora/{name}_1mb.txt").read_text(encoding="utf-8")


def check_corpus(tok: Tokenizer, peer: Callable[[str], list[int]], text: str) -> None:
    """Compare ids and decoded text, of the whole and line by line."""
    whole = tok.encode_ordinary(text)
    assert whole == peer(text)
    assert tok.decode(whole) == text
    lines = text.splitlines(keepends=True)
    ours = tok.encode_batch(lines, disallowed_special=())
    for line, ids in zip(lines, ours, strict=True):
        assert ids == peer(line), line
    assert tok.decode_batch(ours) == lines
    flat, offsets = tok.encode_batch_to_numpy(lines, disallowed_special=())
    assert flat.tolist() == [token_id for ids in ours for token_id in ids]
    assert np.diff(offsets).tolist() == [len(ids) for ids in ours]


def check_texts(
    tok: Tokenizer,
    peer: Callable[[str], list[int]],
    texts: Iterator[str],
    encode: Callable[[str], list[int]] | None = None,
) -> None:
    """Compare ids and decoded text."""
    encode = tok.encode_ordinary if encode is None else encode
    n = 0
    for text in texts:
        ids = encode(text)
        assert ids == peer(text), text
        assert tok.decode(ids) == text
        n += 1
    assert n > 0
