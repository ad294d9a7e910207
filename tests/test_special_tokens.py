"""Special and added tokens: permissions, matching, limits."""

from __future__ import annotations

from typing import Any

import pytest
from hello_model import BYTES, END, PAD, hello, make

from pybpe import ModelError, SpecialTokenError, Tokenizer


@pytest.fixture(scope="module")
def tok() -> Tokenizer:
    return hello()


def test_special_tokens_need_permission(tok: Tokenizer) -> None:
    text = f"hello{END}hello"
    with pytest.raises(SpecialTokenError) as caught:
        tok.encode(text)
    message = str(caught.value)
    assert "'<|end|>' at character 5 (byte 5)" in message
    assert "allowed_special={'<|end|>'}" in message
    assert "disallowed_special=()" in message
    assert "encode_ordinary" in message
    assert tok.encode(text, allowed_special={END}) == [259, 300, 259]
    assert tok.encode(text, allowed_special="all") == [259, 300, 259]
    plain = tok.encode_ordinary(text)
    assert 300 not in plain
    assert tok.encode(text, disallowed_special=()) == plain
    assert tok.encode(text, disallowed_special={PAD}) == plain


def test_every_output_treats_special_tokens_alike(tok: Tokenizer) -> None:
    text = f"hell{PAD} {END}"
    for options in (
        {"allowed_special": "all"},
        {"allowed_special": {END}, "disallowed_special": ()},
        {"allowed_special": {END, PAD}},
        {"disallowed_special": ()},
    ):
        want = tok.encode(text, **options)
        assert tok.encode_to_numpy(text, **options).tolist() == want
        assert tok.encode_batch([text], **options) == [want]
        assert tok.count(text, **options) == len(want)
    for call in (tok.encode, tok.encode_to_numpy, tok.count):
        with pytest.raises(SpecialTokenError, match="at character 4"):
            call(text, allowed_special={END})
    with pytest.raises(SpecialTokenError, match=r"^texts\[2\] .* at character 4"):
        tok.encode_batch(["", "x", text], allowed_special={END})


def test_the_character_position_counts_characters(tok: Tokenizer) -> None:
    with pytest.raises(SpecialTokenError, match=r"character 3 \(byte 9\)"):
        tok.encode("\u20ac\u20ac\u20ac" + END)


def test_any_string_may_be_disallowed(tok: Tokenizer) -> None:
    with pytest.raises(SpecialTokenError, match="'lo' at character 3"):
        tok.encode("hello", disallowed_special={"lo"})
    assert tok.encode("hello", disallowed_special=["x"]) == [259]


@pytest.mark.parametrize("option", ["allowed_special", "disallowed_special"])
def test_permissions_of_a_wrong_type(tok: Tokenizer, option: str) -> None:
    bare = Tokenizer.from_ranks(BYTES, pattern=None)
    for t in (tok, bare):
        with pytest.raises(TypeError, match=f"{option} must be"):
            t.encode("a", **{option: END})
        with pytest.raises(TypeError, match=f"{option} must be"):
            t.encode("a", **{option: 5})
        with pytest.raises(TypeError, match=f"a token in {option}"):
            t.encode("a", **{option: {1}})
        with pytest.raises(ValueError, match="empty string"):
            t.encode("a", **{option: {""}})


def test_the_longest_of_the_leftmost_special_tokens_wins() -> None:
    spaces = {" " * k: 1000 + k for k in range(2, 32)}
    tok = make(special_tokens=spaces)
    assert tok.encode(" " * 31, allowed_special="all") == [1031]
    assert tok.encode(" " * 64, allowed_special="all") == [1031, 1031, 1002]
    tok = make(special_tokens={"<i>": 300, "<i>x": 301})
    assert tok.encode("<i>x<i>", allowed_special="all") == [301, 300]
    assert tok.encode("<i>x", allowed_special={"<i>"}, disallowed_special=()) == [
        300,
        ord("x"),
    ]


def test_text_between_special_tokens_is_a_text_of_its_own() -> None:
    # \s+$ sees the end of the text before the special token.
    tok = make(b"  ", pattern=r"\s+$|\s|\S+", special_tokens={END: 300})
    assert tok.encode(f"  {END} x", allowed_special="all") == [256, 300, 32, ord("x")]


def test_added_tokens_are_always_matched() -> None:
    tok = make(b"ab", special_tokens={END: 300}, added_tokens={"a b": 301, "abc": 302})
    text = "ab a b abc"
    want = [256, 32, 301, 32, 302]
    assert tok.encode(text) == tok.encode_ordinary(text) == want
    assert tok.encode(text, allowed_special="all") == want
    assert tok.decode(want) == text
    assert tok.added_tokens == {"a b": 301, "abc": 302}
    assert tok.vocab_size == 260


def test_special_tokens_of_any_bytes() -> None:
    odd = {b"\xff\xfe": 300, "\0": 301, "a\nb": 302, "\u00e9 ": 303}
    tok = make(special_tokens=odd)
    assert tok.special_tokens == odd
    data = b"x\xff\xfe\0a\nb\xc3\xa9 "
    assert tok.encode(data, allowed_special="all") == [ord("x"), 300, 301, 302, 303]
    assert tok.decode_bytes([300, 301, 302, 303]) == data[1:]
    with pytest.raises(SpecialTokenError, match=r"b'\\xff\\xfe'"):
        tok.encode(data)


def test_special_tokens_decode(tok: Tokenizer) -> None:
    assert tok.decode([259, 300, 301]) == "hello" + END + PAD


@pytest.mark.parametrize(
    ("special", "error", "message"),
    [
        ({"": 300}, ValueError, "empty token"),
        ({"a": 300, "b": 300}, ValueError, "share the id 300"),
        ({"a": 300, b"a": 301}, ValueError, "twice"),
        ({"<x>": 97}, ModelError, "id 97 of b'<x>' already stands"),
        ({"<x>": -1}, ValueError, "id -1 is out of range"),
        ({"<x>": 1 << 24}, ValueError, "out of range"),
        ({"<x>": "1"}, TypeError, "must be an int"),
        ({"<x>": True}, TypeError, "must be an int"),
        ({1: 300}, TypeError, "must be str or bytes"),
        (["<x>"], TypeError, "must be a mapping"),
    ],
)
def test_special_tokens_refused(
    special: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make(special_tokens=special)


def test_special_and_added_tokens_are_kept_apart() -> None:
    with pytest.raises(ValueError, match="both a special and an added"):
        make(special_tokens={"x": 300}, added_tokens={"x": 301})
    with pytest.raises(ValueError, match="share the id 300"):
        make(special_tokens={"x": 300}, added_tokens={"y": 300})


def test_hundreds_of_thousands_of_special_tokens() -> None:
    special = {f"<extra_id_{i}>": 300 + i for i in range(300_000)}
    tok = make(special_tokens=special)
    text = "a<extra_id_299999><extra_id_29999>b<extra_id_"
    assert tok.encode(text, allowed_special="all") == [
        97,
        300_299,
        30_299,
        98,
        *b"<extra_id_",
    ]
