"""`StreamDecoder`: however ids are cut, the text is that of all of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import text_models
from text_models import PUBLISHED, SMALL

import pybpe
from pybpe import Tokenizer


@pytest.fixture(scope="module", params=[*SMALL, *PUBLISHED])
def tok(request: pytest.FixtureRequest, data_path: Callable[[str], Path]) -> Tokenizer:
    return text_models.model(request.param, data_path)


def samples(tok: Tokenizer, seed: int) -> Iterator[list[int]]:
    """Yield ids of texts and any ids: many end or begin inside a character."""
    rng = random.Random(seed)
    table = tok.token_bytes_list()
    known = [number for number in range(min(300, tok.n_vocab)) if table[number]]
    special = list(tok.special_tokens.values())
    for text in text_models.texts(seed, 15):
        ids = tok.encode(text + "\U0001f44d\u00e9 x", disallowed_special=())
        for _ in range(rng.randrange(3)):
            del ids[rng.randrange(len(ids))]
        yield ids
        yield rng.choices(known, k=20) + special[:1] + rng.choices(known, k=3)
        # The bytes of a character, with something else between them or not.
        spelt = tok.encode("\U00016fe4\U00016fe4", disallowed_special=())
        spelt.insert(rng.randrange(len(spelt)), rng.choice([*special, *known]))
        yield spelt


@pytest.mark.parametrize("errors", ["replace", "ignore", "backslashreplace"])
def test_any_cut(tok: Tokenizer, errors: str) -> None:
    rng = random.Random(5)
    for ids in samples(tok, 5):
        expected = tok.decode(ids, errors)
        stream = tok.stream_decoder(errors=errors)
        for _ in range(2):  # finish begins anew
            parts = [stream.feed(number) for number in ids]
            assert "".join([*parts, stream.finish()]) == expected
        parts, at = [], 0
        while at < len(ids):
            n = rng.randrange(1, 5)
            parts.append(stream.feed(ids[at : at + n]))
            at += n
        assert "".join([*parts, stream.finish()]) == expected


def test_after_a_prompt(tok: Tokenizer) -> None:
    rng = random.Random(6)
    for ids in samples(tok, 6):
        n = rng.randrange(len(ids) + 1)
        whole = tok.stream_decoder()
        before = whole.feed(ids[:n])
        stream = tok.stream_decoder(ids[:n])
        rest = stream.feed(np.array(ids[n:], np.uint32)) + stream.finish()
        assert before + rest == tok.decode(ids)


def test_only_incomplete_characters_are_held_back() -> None:
    tok = Tokenizer.from_merges([], pattern=None)
    stream = tok.stream_decoder()
    data = "a\u00e9\u20ac\U0001f44db".encode()
    got = [stream.feed(byte) for byte in data]
    assert got == ["a", "", "\u00e9", "", "", "\u20ac", "", "", "", "\U0001f44d", "b"]
    assert stream.feed(0xE2) == ""
    assert stream.feed(97) == "\ufffda"
    assert stream.feed([0xF0, 0x9F]) == ""
    assert stream.finish() == "\ufffd"
    assert stream.feed(97) == "a"


def test_the_space_of_a_sentencepiece_model(data_path: Callable[[str], Path]) -> None:
    tok = text_models.model(PUBLISHED[-2], data_path)
    first, second = tok.encode("hello"), tok.encode("world")
    stream = tok.stream_decoder()
    assert stream.feed(first) == "hello"
    assert stream.feed(second) == " world"
    assert tok.stream_decoder(first).feed(second) == " world"
    assert tok.stream_decoder().feed(second) == "world"


def test_strict_and_unknown() -> None:
    tok = Tokenizer.from_merges([], pattern=None)
    stream = tok.stream_decoder(errors="strict")
    with pytest.raises(UnicodeDecodeError):
        stream.feed([0xFF, 97])
    stream = tok.stream_decoder([0xE2], errors="strict")
    with pytest.raises(UnicodeDecodeError):
        stream.finish()
    assert stream.finish() == ""
    stream = tok.stream_decoder([0xC3])
    with pytest.raises(pybpe.UnknownTokenError):
        stream.feed([0xA9, 256])
    for wrong in (256, -1, 1 << 40):
        with pytest.raises(pybpe.UnknownTokenError):
            stream.feed(wrong)
    assert stream.feed([0xA9]) == "\u00e9"
    with pytest.raises(TypeError):
        stream.feed("x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="errors"):
        tok.stream_decoder(errors="nope")


def test_decoders_are_refused_by_name(data_path: Callable[[str], Path]) -> None:
    tok = text_models.model("hf/mistral_v1_tokenizer.json", data_path)
    with pytest.raises(ValueError, match="ByteFallback"):
        tok.stream_decoder()


def test_time_grows_with_the_ids_alone() -> None:
    """One id after the other, with nothing decoded twice."""
    tok = Tokenizer.from_merges([], pattern=None)
    stream = tok.stream_decoder()
    text = "".join([stream.feed(byte) for byte in b"\xf0\x9f\x91\x8d" * 50_000])
    assert text == "\U0001f44d" * 50_000
