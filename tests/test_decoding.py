"""From ids to bytes and text: which ids are taken, and what the others raise."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from hello_model import END, hello, ranks

import pybpe
from pybpe import Tokenizer, UnknownTokenError


@pytest.fixture(scope="module")
def tok() -> Tokenizer:
    return hello()


@pytest.mark.parametrize(
    "ids",
    [
        [259, 32, 104],
        (259, 32, 104),
        array("I", [259, 32, 104]),
        array("q", [259, 32, 104]),
        np.array([259, 32, 104], dtype=np.uint16),
        np.array([259, 32, 104], dtype=np.uint32),
        np.array([259, 32, 104], dtype=np.int64),
        np.array([259, 32, 104], dtype=">u2"),
        np.array([259, 0, 32, 0, 104], dtype=np.uint32)[::2],
        [np.int64(259), np.uint8(32), 104],
        range(104, 105),
    ],
    ids=[
        "list",
        "tuple",
        "I",
        "q",
        "u2",
        "u4",
        "i8",
        "big-endian",
        "strided",
        "scalars",
        "range",
    ],
)
def test_ids_of_many_kinds(tok: Tokenizer, ids: Any) -> None:
    want = b"hello h" if len(ids) == 3 else b"h"
    assert tok.decode_bytes(ids) == want
    assert tok.decode(ids) == want.decode()


def test_ids_from_a_generator(tok: Tokenizer) -> None:
    assert tok.decode(i for i in [259, 32]) == "hello "  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([259, 260], r"no token has id 260 \(at position 1\)"),
        ([300, 299], r"no token has id 299 \(at position 1\)"),
        ([302], r"no token has id 302 \(at position 0\)"),
        ([-1], r"no token has id -1 \(at position 0\)"),
        ([259, 2**32], r"no token has id 4294967296 \(at position 1\)"),
        ([2**200], "no token has id"),
        (np.array([-5]), r"no token has id -5 \(at position 0\)"),
    ],
)
def test_unknown_ids(tok: Tokenizer, ids: Any, message: str) -> None:
    for error in (UnknownTokenError, KeyError, ValueError, pybpe.BpeError):
        with pytest.raises(error, match=message):
            tok.decode(ids)


@pytest.mark.parametrize(
    "ids",
    [None, "he", b"by", 5, 1.5, ["a"], [1.5], [None], np.zeros((2, 2), np.uint32)],
)
def test_ids_of_a_wrong_type(tok: Tokenizer, ids: Any) -> None:
    with pytest.raises(TypeError, match="ids must"):
        tok.decode(ids)


def test_errors_of_decode_batch_say_which_sequence(tok: Tokenizer) -> None:
    with pytest.raises(UnknownTokenError, match=r"^batch\[1\]: no token has id 9999 "):
        tok.decode_batch([[72], [9999]])
    with pytest.raises(
        TypeError, match=r"batch\[1\] must be a sequence of ints, got int"
    ):
        tok.decode_batch([[72], 72])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="batch must be an iterable"):
        tok.decode_batch(5)  # type: ignore[arg-type]
    assert tok.decode_batch(iter([iter([72]), (73,)])) == ["H", "I"]  # type: ignore[list-item]


def test_vocab_is_what_the_tokenizer_was_made_of() -> None:
    table = ranks(b"ab", b"abc")
    tok = Tokenizer.from_ranks(table, pattern=None, special_tokens={END: 300})
    assert tok.vocab == table
    assert list(tok.vocab.values()) == sorted(tok.vocab.values())
    assert (
        Tokenizer.from_ranks(tok.vocab, pattern=None, special_tokens={END: 300}) == tok
    )


def test_decoding_inside_a_character(tok: Tokenizer) -> None:
    ids = tok.encode("\U0001f600")
    assert len(ids) == 4
    assert tok.decode(ids[:2]) == "\ufffd"
    assert b"".join(tok.decode_bytes([i]) for i in ids).decode() == "\U0001f600"
    with pytest.raises(UnicodeDecodeError):
        tok.decode(ids[:2], errors="strict")
    for call in (tok.decode, tok.decode_batch):
        with pytest.raises(ValueError, match="got 'nope'"):
            call([], errors="nope")  # type: ignore[operator]


def test_buffers_that_hold_no_ids(tok: Tokenizer) -> None:
    for ids in (memoryview(b"ab"), np.array([True])):
        with pytest.raises(TypeError, match="ids must be integers"):
            tok.decode(ids)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="texts must be an iterable of texts, got int"):
        tok.encode_batch(5)  # type: ignore[arg-type]


def test_single_tokens(tok: Tokenizer) -> None:
    assert tok.token_bytes(259) == b"hello"
    assert tok.token_bytes(300) == END.encode()
    assert tok.token_id("hello") == tok.token_id(b"hello") == 259
    assert tok.token_id(END) == 300
    for byte in range(256):
        assert tok.token_id(bytes([byte])) == byte
    for number in (260, 302, -1, 2**40):
        with pytest.raises(UnknownTokenError, match=f"no token has id {number}"):
            tok.token_bytes(number)
    with pytest.raises(UnknownTokenError, match="'xyz' is not in the vocabulary"):
        tok.token_id("xyz")
    with pytest.raises(UnknownTokenError):
        tok.token_id("")
    with pytest.raises(TypeError, match="an id must be an int, got str"):
        tok.token_bytes("a")  # type: ignore[arg-type]
