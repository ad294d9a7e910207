"""`tokenizer.json` documents for tests, with something to change in each."""

from __future__ import annotations

import json
from typing import Any

from pybpe import Tokenizer, _glyphs
from pybpe.formats._source import Source
from pybpe.formats.tokenizer_json import read

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
MARKS = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
CHARACTERS = {c: i for i, c in enumerate("abcdehlo \u2581<>0x41.\xe9")}


def glyph_vocab(*tokens: str) -> dict[str, int]:
    """Return the 256 bytes in order and more tokens, as GPT-2 writes them."""
    return {token: i for i, token in enumerate([*_glyphs.CHARACTERS, *tokens])}


def make(**parts: Any) -> dict[str, Any]:
    """Return a document; parts of the model are told by their names."""
    model: dict[str, Any] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": glyph_vocab("ab", "\u0120ab", "abc"),
        "merges": [["a", "b"], ["\u0120", "ab"], ["ab", "c"]],
    }
    document: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": BYTE_LEVEL,
        "post_processor": None,
        "decoder": {"type": "ByteLevel"},
        "model": model,
    }
    for name, value in parts.items():
        (document if name in document else model)[name] = value
    return document


def characters(**parts: Any) -> dict[str, Any]:
    """Return a document whose tokens are made of characters."""
    base: dict[str, Any] = {
        "pre_tokenizer": None,
        "decoder": {"type": "Fuse"},
        "vocab": CHARACTERS,
        "merges": [],
    }
    return make(**(base | parts))


def added(content: str, **flags: Any) -> dict[str, Any]:
    token = {
        "id": 0,
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": False,
    }
    return token | flags


def load(document: Any) -> Tokenizer:
    return Tokenizer(read(Source("x", data=json.dumps(document).encode())))


def tokens(tok: Tokenizer, text: str) -> list[bytes]:
    ids = tok.encode(text, allowed_special="all")
    assert tok.encode_batch([text, text], allowed_special="all") == [ids, ids]
    assert tok.encode_to_numpy(text, allowed_special="all").tolist() == ids
    assert tok.count(text, allowed_special="all") == len(ids)
    return [tok.token_bytes(number) for number in ids]


def template(*pieces: str) -> dict[str, Any]:
    single = [
        {"Sequence": {"id": "A", "type_id": 0}}
        if piece == "A"
        else {"SpecialToken": {"id": piece, "type_id": 0}}
        for piece in pieces
    ]
    names = {"<s>": {"id": "<s>", "ids": [259]}, "</s>": {"id": "x", "ids": [260, 97]}}
    return {"type": "TemplateProcessing", "single": single, "special_tokens": names}
