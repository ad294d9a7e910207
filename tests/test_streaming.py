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
from pybpe import Tokenizer, decoders
from pybpe._decoder_streams import DecoderStream
from pybpe.normalizers import Replace


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


DECODERS = [
    decoders.ReplaceIn(Replace(" ", "\u2581")),
    decoders.ByteFallback(),
    decoders.Fuse(),
    decoders.Join("-"),
    decoders.ByteLevel(),
    decoders.Marks(True, "\u2581"),
    decoders.Marks(False, "_"),
    decoders.WordEnds("</w>"),
    decoders.StripCharacter(" ", 1, 0),
    decoders.StripCharacter(" ", 2, 2),
    decoders.StripCharacter("a", 0, 1),
]
TOKENS = [
    *("\u2581", "\u2581a", "a", " ", "  ", "a </w>", "b</w>", "_", "\u0120", "\u00c3"),
    *("<0xE2>", "<0x82>", "<0xAC>", "<0x41>", "<0xC3>", "\u00a9", "\u20ac", "", "aa"),
    *("\udce2", "\udc82"),
]


@pytest.mark.parametrize("exact", [False, True])
def test_decoders_in_parts(exact: bool) -> None:
    """Any decoders in a row, any tokens, any cut; or a refusal by name."""
    rng = random.Random(9)
    done = 0
    for _ in range(4000):
        steps = tuple(rng.choices(DECODERS, k=rng.randrange(1, 5)))
        tokens = rng.choices(TOKENS, k=rng.randrange(8))
        try:
            stream = DecoderStream(steps, exact)
        except ValueError:
            continue
        text, at = "", 0
        while at < len(tokens):
            n = rng.randrange(1, 4)
            text += stream.feed(tokens[at : at + n])
            at += n
        assert text + stream.end() == decoders.text_of(steps, tokens, exact), steps
        done += 1
    assert done > 1000


def test_a_decoder_that_needs_all_is_refused_by_name() -> None:
    steps = (decoders.Fuse(), decoders.ByteFallback())
    with pytest.raises(ValueError, match="ByteFallback"):
        DecoderStream(steps, True)


def test_time_grows_with_the_ids_alone() -> None:
    """One id after the other, with nothing decoded twice."""
    tok = Tokenizer.from_merges([], pattern=None)
    stream = tok.stream_decoder()
    text = "".join([stream.feed(byte) for byte in b"\xf0\x9f\x91\x8d" * 50_000])
    assert text == "\U0001f44d" * 50_000


def test_ids_of_any_integer_type_are_fed() -> None:
    tok = pybpe.Tokenizer.from_merges([(104, 105)], pattern=None)
    ids = tok.encode_to_numpy("hi, ho")
    decoder = tok.stream_decoder(iter(ids.tolist()))
    assert "".join(decoder.feed(number) for number in ids) == "hi, ho"
    for wrong in (5, None, 1.5):
        with pytest.raises(TypeError):
            tok.stream_decoder(wrong)
        with pytest.raises(TypeError):
            decoder.feed("x" if wrong == 5 else wrong)
