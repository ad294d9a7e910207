"""`tokenizer.json` files that are refused, and what the messages name."""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

import pytest
from tokenizer_json_make import (
    BYTE_LEVEL,
    added,
    characters,
    glyph_vocab,
    load,
    make,
    template,
)
from tokenizer_json_random import document

from pybpe import ModelError, Tokenizer
from pybpe.formats._source import Source
from pybpe.formats.tokenizer_json import read

DEEP: dict[str, Any] = {"type": "NFC"}
for _ in range(40):
    DEEP = {"type": "Sequence", "normalizers": [DEEP]}
FIRST = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first"}
FALLBACK: dict[str, Any] = {
    "vocab": {"<0x41>": 0},
    "byte_fallback": True,
    "end_of_word_suffix": "</w>",
}
SPARSE: dict[str, Any] = {
    "vocab": {char: 2 * i for char, i in glyph_vocab().items()},
    "merges": [],
    "added_tokens": [added("<x>")],
}
STRIPPED: dict[str, Any] = {
    "normalizer": {"type": "Strip", "strip_left": True, "strip_right": True},
    "added_tokens": [added(" ", normalized=True)],
}
REFUSED: list[tuple[dict[str, Any], str]] = [
    (make(type="WordPiece"), "of the type 'WordPiece'; pybpe reads BPE"),
    (make(type="Unigram"), "'Unigram'"),
    (make(model=None), "its model must be an object"),
    (make(dropout=0.1), "a dropout of 0.1"),
    (make(continuing_subword_prefix="##"), "continuing_subword_prefix '##'"),
    (make(end_of_word_suffix="\u4e2d"), "not made of the characters that stand for"),
    (make(end_of_word_suffix=7), "end_of_word_suffix must be a string of up to 64"),
    (make(end_of_word_suffix="a" * 65), "end_of_word_suffix must be a string of up to"),
    (characters(**FALLBACK), "end_of_word_suffix and byte_fallback"),
    (make(vocab={}), "its vocab is empty"),
    (make(vocab=[]), "no object `vocab`"),
    (make(vocab={"a": 0, "b": 0}, merges=[]), "'a' and 'b' have the same id, 0"),
    (make(vocab={"a": "0"}), "must be a whole number, and is '0'"),
    (make(vocab={"a": True}), "must be a whole number, and is True"),
    (make(vocab={"a": -1}), "is -1; it must lie between 0 and"),
    (make(vocab={"a": 1 << 24}), "is 16777216"),
    (make(vocab={"": 0}), "the token with id 0 is empty"),
    (make(vocab={"\ud800": 0}, merges=[]), "holds a lone surrogate"),
    (characters(vocab={"\ud800": 0}), "holds a lone surrogate"),
    (make(vocab={"a" * 1_048_577: 0}), "is too long; the limit is"),
    (make(merges={}), "list `merges`"),
    (make(merges=[1]), "neither all strings nor all pairs"),
    (make(merges=["a b", ["a", "b"]]), "neither all strings nor all pairs"),
    (make(merges=["a"]), "merge 1, 'a', is not two tokens"),
    (make(merges=["a b", "a b c"]), "merge 2, 'a b c', is not two tokens"),
    (make(merges=[["a", "b"], ["a"]]), "merge 2 is no pair"),
    (make(merges=[["a", 1]]), "merge 1 is no pair"),
    (make(merges=["a z"]), "needs the token 'az'"),
    (make(merges=["a zz"]), "needs the token 'zz'"),
    (characters(unk_token="zz"), "unk_token 'zz' is not in its vocab"),  # noqa: S106
    (make(unk_token=1), "unk_token must be a string"),
    (make(fuse_unk=1), "fuse_unk must be true or false"),
    (make(added_tokens={}), "added_tokens must be a list"),
    (make(added_tokens=[1]), "entry 0 of its added_tokens has no content"),
    (make(added_tokens=[{"content": 1}]), "entry 0"),
    (make(added_tokens=[added("x", lstrip=1)]), "lstrip of entry 0"),
    (make(added_tokens=[added("\ud800")]), "lone surrogate"),
    (make(added_tokens=[added("x"), added("x", lstrip=True)]), "'x' twice, with"),
    (make(**SPARSE), "'<x>' gets the id 256, as tokenizers numbers them"),
    (make(**STRIPPED), "nothing is left of the added token ' '"),
    (make(normalizer={"type": "BertNormalizer"}), "normalizer (BertNormalizer)"),
    (make(normalizer={"type": "Precompiled"}), "'precompiled_charsmap' of its"),
    (make(normalizer=7), "its normalizer must be an object"),
    (make(normalizer={}), "'type' of its normalizer must be a str"),
    (make(normalizer={"type": "Sequence"}), "'normalizers' of its normalizer"),
    (
        make(normalizer={"type": "Sequence", "normalizers": [{"type": "ByteLevel"}]}),
        "normalizer.normalizers[0] (ByteLevel)",
    ),
    (make(normalizer=DEEP), "is nested too deeply"),
    (
        make(normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}] * 300}),
        "has 300 parts; the limit is 256",
    ),
    (make(normalizer={"type": "Strip"}), "'strip_left'"),
    (make(normalizer={"type": "Prepend", "prepend": "\ud800"}), "lone surrogate"),
    (
        make(normalizer={"type": "Replace", "pattern": {"String": ""}, "content": ""}),
        "has an empty pattern",
    ),
    (
        make(normalizer={"type": "Replace", "pattern": {"Regex": "a*"}, "content": ""}),
        "normalizer (Replace) cannot be used",
    ),
    (
        make(normalizer={"type": "Replace", "pattern": "a", "content": ""}),
        "a pattern that is no",
    ),
    (make(pre_tokenizer={"type": "UnicodeScripts"}), "pre_tokenizer (UnicodeScripts)"),
    (
        make(pre_tokenizer={"type": "Sequence", "pretokenizers": [BYTE_LEVEL] * 2}),
        "pre_tokenizer.pretokenizers[1] (ByteLevel) comes after another",
    ),
    (
        make(pre_tokenizer={"type": "Sequence", "pretokenizers": [BYTE_LEVEL, FIRST]}),
        "comes after ByteLevel and changes text",
    ),
    (
        make(
            pre_tokenizer={
                "type": "Sequence",
                "pretokenizers": [
                    BYTE_LEVEL,
                    {
                        "type": "Split",
                        "pattern": {"Regex": "(?<=ab)c"},
                        "behavior": "Isolated",
                    },
                ],
            }
        ),
        "pretokenizers[1] (Split) comes after ByteLevel, with a pattern",
    ),
    (
        make(
            pre_tokenizer={
                "type": "Split",
                "pattern": {"Regex": r"(a)\1"},
                "behavior": "Isolated",
            }
        ),
        "pre_tokenizer (Split) cannot be used: split pattern",
    ),
    (
        make(
            pre_tokenizer={
                "type": "Split",
                "pattern": {"String": "a"},
                "behavior": "Sideways",
            }
        ),
        "unknown behavior 'Sideways'",
    ),
    (
        make(pre_tokenizer={"type": "CharDelimiterSplit", "delimiter": "ab"}),
        "the delimiter 'ab'",
    ),
    (make(pre_tokenizer={"type": "FixedLength", "length": 0}), "the length 0"),
    (make(pre_tokenizer=FIRST | {"replacement": "ab"}), "the replacement 'ab'"),
    (make(pre_tokenizer=FIRST | {"prepend_scheme": "x"}), "prepend_scheme 'x'"),
    (make(pre_tokenizer=FIRST | {"add_prefix_space": False}), "add_prefix_space"),
    (
        characters(
            pre_tokenizer=FIRST,
            normalizer={"type": "Replace", "pattern": {"Regex": "a+"}, "content": "b"},
        ),
        'the prepend_scheme "first"',
    ),
    (make(decoder={"type": "WordPiece"}), "decoder (WordPiece)"),
    (characters(decoder={"type": "CTC"}), "decoder (CTC)"),
    (characters(decoder={"type": "BPEDecoder", "suffix": ""}), "an empty suffix"),
    (
        characters(decoder={"type": "Strip", "content": "ab", "start": 0, "stop": 0}),
        "cannot strip 'ab'",
    ),
    (make(post_processor={"type": "What"}), "post_processor (What)"),
    (make(post_processor=template("<s>")), "a template without the text"),
    (make(post_processor=template("A", "A")), "a template that pybpe does not follow"),
    (make(post_processor=template("B", "A")), "a template that pybpe does not follow"),
    (make(post_processor={"type": "BertProcessing", "sep": 1}), "[token, id]"),
]


@pytest.mark.parametrize(
    ("document", "said"), REFUSED, ids=[f"{i}-{s}" for i, (_, s) in enumerate(REFUSED)]
)
def test_refused_by_name(document: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError) as caught:
        load(document)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_depth_and_keys_of_json_are_limited() -> None:
    for raw, said in [
        (b"[" * 200_000, "nested too deeply"),
        (b'{"model":' * 50_000, "nested too deeply"),
        (b'{"model": {"vocab": {"a": 1, "a": 2}}}', "the key 'a' twice"),
        (b'{"model": NaN}', "NaN"),
        (b"[1]", "no object"),
        (b'{"model"', "not valid JSON"),
    ]:
        with pytest.raises(ModelError, match=said):
            read(Source("x", data=raw))


# ------------------------------------------------------------------ hostile files


def mutated(rng: random.Random, value: Any, depth: int = 0) -> Any:
    """Return a JSON value with something changed in it."""
    odd = [None, True, 0, -1, 1.5, 1 << 40, "", "a", "\ud800", [], {}, [[]], {"a": 1}]
    if depth > 6 or rng.random() < 0.08:
        return rng.choice(odd)
    if isinstance(value, dict) and value:
        made = dict(value)
        key = rng.choice(list(made))
        if rng.random() < 0.15:
            del made[key]
        else:
            made[key] = mutated(rng, made[key], depth + 1)
        return made
    if isinstance(value, list) and value:
        made_list = list(value)
        i = rng.randrange(len(made_list))
        made_list[i] = mutated(rng, made_list[i], depth + 1)
        return made_list
    return rng.choice(odd)


def test_mutated_documents_are_read_or_refused() -> None:
    rng = random.Random(5)
    outcomes = {"read": 0, "refused": 0}
    for _ in range(1500):
        changed = document(rng)
        for _ in range(rng.randint(1, 3)):
            changed = mutated(rng, changed)
        try:
            tok = load(changed)
        except ModelError:
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        text = "ab <s> 12\u2581\u0301"
        tok.decode_bytes(tok.encode(text, allowed_special="all"))
        assert Tokenizer.from_bytes(tok.to_bytes()) == tok
    assert min(outcomes.values()) > 100, outcomes


def test_mutated_bytes_are_read_or_refused() -> None:
    raw = json.dumps(make(vocab=glyph_vocab("ab"), merges=["a b"])).encode()
    rng = random.Random(6)
    for _ in range(1500):
        data = bytearray(raw)
        for _ in range(rng.randint(1, 4)):
            i = rng.randrange(len(data))
            data[i : i + rng.randint(0, 3)] = rng.randbytes(rng.randint(0, 3))
        if rng.random() < 0.1:
            del data[rng.randrange(len(data)) :]
        try:
            tok = Tokenizer(read(Source("x", data=bytes(data))))
        except ModelError:
            continue
        tok.encode("ab")


def test_mutated_model_files_are_read_or_refused() -> None:
    """Of tokenizers with all that a model file can hold; the hash is made to fit."""
    rng = random.Random(7)
    outcomes = {"read": 0, "refused": 0}
    for seed in range(60):
        try:
            tok = load(document(random.Random(seed)))
        except ModelError:
            continue
        message = tok.to_bytes()[48:]
        # What is not a table of numbers stands mostly at the end.
        for _ in range(60):
            data = bytearray(message)
            for _ in range(rng.randint(1, 3)):
                i = len(data) - 1 - min(int(rng.expovariate(0.01)), len(data) - 1)
                data[i : i + rng.randint(0, 2)] = rng.randbytes(rng.randint(0, 2))
            digest = hashlib.sha256(data).digest()
            file = tok.to_bytes()[:12] + len(data).to_bytes(4, "little") + digest + data
            try:
                changed = Tokenizer.from_bytes(file)
            except ModelError:
                outcomes["refused"] += 1
                continue
            outcomes["read"] += 1
            ids = changed.encode("ab <s> 12\u2581\u0301", allowed_special="all")
            changed.decode_bytes(ids)
            assert Tokenizer.from_bytes(changed.to_bytes()) == changed
    assert min(outcomes.values()) > 100, outcomes
