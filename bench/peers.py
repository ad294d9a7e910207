"""The libraries that encode, all behind one form.

Of several methods the one that costs a library least is taken: arrays or bytes rather
than lists, UTF-8 rather than str where it has the choice. Whatever a library keeps from
call to call begins empty: each call of `make` makes a new tokenizer.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import common
import numpy as np

import pybpe

PATTERNS = {"cl100k_base": "cl100k", "o200k_base": "o200k"}
LIBRARIES = ("tiktoken", "gigatoken", "quicktok", "splintr", "tuetoken")
Ids = np.ndarray[Any, np.dtype[np.uint32]]


class Peer(NamedTuple):
    """A tokenizer of some library.

    Attributes:
        encode: Text to ids of any form that `as_array` knows.
        over_bytes: Whether it is given UTF-8.
        brief: What costs less than `encode` for short texts; None: nothing does.
        batch: Texts and a number of threads to all their ids; None: it has no such.
    """

    encode: Callable[[Any], Any]
    over_bytes: bool = False
    brief: Callable[[Any], Any] | None = None
    batch: Callable[[list[Any], int], Any] | None = None

    def form(self, texts: Sequence[str]) -> list[Any]:
        """Return texts as they are given to it."""
        return [text.encode() for text in texts] if self.over_bytes else list(texts)


def as_array(ids: Any) -> Ids:
    """Return ids as an array: of a list, an array, or the bytes of one."""
    if isinstance(ids, bytes):
        return np.frombuffer(ids, np.uint32)
    return np.asarray(ids, np.uint32)


def as_flat_array(result: Any) -> Ids:
    """Return all ids of a batch: of lists, of an array and offsets, of awkward's."""
    if isinstance(result, tuple):
        return as_array(result[0])
    if hasattr(result, "layout"):
        return np.asarray(result.layout.content.data, np.uint32)
    return as_array([number for row in result for number in row])


def ranks_path(encoding: str) -> Path:
    return common.data("vocab", "openai", f"{encoding}.tiktoken")


def read_ranks(encoding: str) -> dict[bytes, int]:
    """Read here, not by tiktoken's loader, which deletes files it does not like."""
    lines = ranks_path(encoding).read_bytes().splitlines()
    pairs = (line.split() for line in lines if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def make(library: str, encoding: str) -> Peer:
    """Return a new tokenizer with the tokens of an encoding."""
    return _MAKERS[library](encoding)


def tokenizer(encoding: str) -> pybpe.Tokenizer:
    """Return ours."""
    return pybpe.Tokenizer.from_ranks(
        read_ranks(encoding), pattern=PATTERNS[encoding], special_tokens={}
    )


def _pybpe(encoding: str) -> Peer:
    tok = tokenizer(encoding)

    def batch(texts: list[Any], threads: int) -> Any:
        return tok.encode_batch_to_numpy(texts, num_threads=threads)

    return Peer(tok.encode_to_numpy, batch=batch)


def _tiktoken(encoding: str) -> Peer:
    import tiktoken

    tok = tiktoken.Encoding(
        encoding,
        pat_str=str(tokenizer(encoding).pattern),
        mergeable_ranks=read_ranks(encoding),
        special_tokens={},
    )

    def batch(texts: list[Any], threads: int) -> Any:
        return tok.encode_ordinary_batch(texts, num_threads=threads)

    return Peer(tok.encode_to_numpy, brief=tok.encode_ordinary, batch=batch)


def _gigatoken(encoding: str) -> Peer:
    import gigatoken

    tok = gigatoken.Tokenizer.from_tiktoken(str(ranks_path(encoding)))

    def batch(texts: list[Any], threads: int) -> Any:
        return tok.encode_batch(texts, parallel=threads > 1)

    return Peer(tok.encode, over_bytes=True, batch=batch)


def _quicktok(encoding: str) -> Peer:
    import quicktok

    tok = quicktok.Tokenizer(encoding, "")
    return Peer(tok.encode_ordinary, batch=tok.encode_batch)


def _splintr(encoding: str) -> Peer:
    import splintr

    tok = splintr.Tokenizer.from_pretrained(encoding)
    return Peer(tok.encode_flat)


def _tuetoken(encoding: str) -> Peer:
    import tuetoken

    # Its own reader of ranks wants a network.
    handle, name = tempfile.mkstemp(suffix=".json")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(tokenizer_json(tokenizer(encoding)), file)
        tok = tuetoken.Tokenizer(name)
    finally:
        Path(name).unlink()

    def batch(texts: list[Any], threads: int) -> Any:
        return tok.encode_ordinary_batch(texts, num_threads=threads)

    return Peer(tok.encode_to_bytes, batch=batch)


_MAKERS: dict[str, Callable[[str], Peer]] = {
    "pybpe": _pybpe,
    "tiktoken": _tiktoken,
    "gigatoken": _gigatoken,
    "quicktok": _quicktok,
    "splintr": _splintr,
    "tuetoken": _tuetoken,
}


def tokenizer_json(tok: pybpe.Tokenizer) -> dict[str, Any]:
    """Return a byte-level tokenizer in the form of Hugging Face's tokenizer.json."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    glyphs = {byte: chr(byte) for byte in printable}
    rest = [byte for byte in range(256) if byte not in glyphs]
    glyphs |= {byte: chr(256 + i) for i, byte in enumerate(rest)}
    names = {
        number: "".join(glyphs[byte] for byte in token)
        for token, number in tok.vocab.items()
    }
    split = {
        "type": "Split",
        "pattern": {"Regex": tok.pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    return {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]},
        "decoder": {"type": "ByteLevel"},
        "model": {
            "type": "BPE",
            "vocab": {name: number for number, name in names.items()},
            "merges": [f"{names[a]} {names[b]}" for a, b in tok.merges],
            "ignore_merges": True,
        },
    }
