"""`fits`, `truncate_text` and `split_text`."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import growth
import pytest
import text_models
from text_models import END, PUBLISHED, SMALL

import pybpe
from pybpe import Tokenizer, _limits
from pybpe._text import to_utf8


@pytest.fixture(scope="module", params=[*SMALL, *PUBLISHED])
def tok(request: pytest.FixtureRequest, data_path: Callable[[str], Path]) -> Tokenizer:
    return text_models.model(request.param, data_path)


ANY: dict[str, Any] = {"disallowed_special": ()}


def cases(seed: int, n: int) -> list[str | bytes]:
    return [*text_models.texts(seed, n), *text_models.broken(seed, n)]


def characters(text: str | bytes) -> list[str]:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    return list(text)


def test_fits(tok: Tokenizer) -> None:
    for text in cases(1, 15):
        for options in (ANY, {"allowed_special": "all"}):
            n = tok.count(text, **options)
            assert tok.fits(text, n, **options)
            assert tok.fits(text, n + 1, **options)
            assert n == 0 or not tok.fits(text, n - 1, **options)


@pytest.mark.parametrize("side", ["right", "left"])
def test_truncate(tok: Tokenizer, side: Any) -> None:
    rng = random.Random(2)
    kept = wanted = 0
    for text in cases(2, 25):
        n = tok.count(text, **ANY)
        assert tok.truncate_text(text, n, side=side, **ANY) == text
        assert tok.truncate_text(text, n + 3, side=side, **ANY) == text
        if n == 0:
            continue
        limit = rng.randrange(n)
        part = tok.truncate_text(text, limit, side=side, **ANY)
        assert tok.count(part, **ANY) <= limit
        chars, some = characters(text), characters(part)
        assert len(some) < len(chars)
        if side == "right":
            assert chars[: len(some)] == some
        else:
            assert chars[len(chars) - len(some) :] == some
        kept += tok.count(part, **ANY)
        wanted += limit
    # Characters of several ids leave some room.
    assert kept > 0.8 * wanted


def test_truncating_to_the_first_ids(data_path: Callable[[str], Path]) -> None:
    tok = text_models.model(PUBLISHED[0], data_path)
    text = "The quick brown fox jumps over the lazy dog, isn't it? " * 40
    ids = tok.encode(text)
    for n in range(0, len(ids), 7):
        assert tok.truncate_text(text, n) == tok.decode(ids[:n])
        assert tok.truncate_text(text, n, side="left") == tok.decode(
            ids[len(ids) - n :]
        )


@pytest.mark.parametrize("overlap", [0, 1, 3])
def test_split(tok: Tokenizer, overlap: int) -> None:
    rng = random.Random(3)
    for text in cases(3, 15):
        limit = rng.choice([16, 17, 24])
        long = text * 3 + text[: len(text) // 2] if isinstance(text, str) else text * 3
        pieces = tok.split_text(long, limit, overlap, **ANY)
        assert all(tok.fits(piece, limit, **ANY) for piece in pieces)
        assert all(pieces)
        data = to_utf8(long)
        ranges = list(ranges_of(tok, data, limit, overlap))
        assert [to_utf8(piece) for piece in pieces] == [data[a:b] for a, b in ranges]
        # A boundary is where the text without what is behind it has its last character.
        whole = data.decode("utf-8", "surrogateescape")
        starts = {0, *accumulate(size(char) for char in whole)}
        assert starts.issuperset(place for pair in ranges for place in pair)
        assert not ranges or (ranges[0][0], ranges[-1][1]) == (0, len(data))
        for (begin, end), (begin_2, end_2) in pairwise(ranges):
            assert begin < begin_2 <= end < end_2
            assert tok.fits(data[begin_2:end], overlap, **ANY)


def size(char: str) -> int:
    return len(char.encode("utf-8", "surrogateescape"))


def ranges_of(tok: Tokenizer, data: bytes, limit: int, overlap: int) -> Any:
    return _limits.ranges(_limits.Cutter(tok, frozenset(), ()), data, limit, overlap)


def test_an_overlap_is_what_fits(data_path: Callable[[str], Path]) -> None:
    tok = text_models.model(PUBLISHED[0], data_path)
    text = " one two three four five six seven eight nine ten"
    pieces = tok.split_text(text, 4, 2)
    assert pieces == [
        " one two three four",
        " three four five six",
        " five six seven eight",
        " seven eight nine ten",
    ]


def test_special_tokens() -> None:
    tok = text_models.small("tables")
    text = f"abc{END}def{END}"
    with pytest.raises(pybpe.SpecialTokenError, match="character 3"):
        tok.fits(text, 100)
    with pytest.raises(pybpe.SpecialTokenError, match="character 3"):
        tok.split_text(text, 4)
    with pytest.raises(pybpe.SpecialTokenError, match="character 3"):
        tok.truncate_text(text, 30)
    assert tok.truncate_text(text, 3) == "abc"
    assert tok.truncate_text(text, 4, allowed_special="all") == f"abc{END}"
    assert tok.truncate_text(text, 4, side="left", allowed_special="all") == f"def{END}"
    assert tok.split_text(text, 4, allowed_special="all") == [f"abc{END}", f"def{END}"]


def test_arguments() -> None:
    tok = text_models.small("merges")
    assert tok.truncate_text("\U0001f44e", 1) == ""
    assert tok.truncate_text(b"\xf0\x9f\x91", 2) == b"\xf0\x9f\x91"
    assert tok.split_text("", 1) == []
    with pytest.raises(ValueError, match=r"byte 1\) alone has more than 1 ids"):
        tok.split_text("a\U0001f44e", 1)
    with pytest.raises(ValueError, match="overlap"):
        tok.split_text("a", 1, 1)
    with pytest.raises(ValueError, match="max_tokens"):
        tok.split_text("a", 0)
    with pytest.raises(ValueError, match="side"):
        tok.truncate_text("a", 1, side="up")  # type: ignore[arg-type]
    for wrong in (-1, 1.5, True, "1"):
        with pytest.raises((ValueError, TypeError)):
            tok.fits("a", wrong)  # type: ignore[arg-type]
        with pytest.raises((ValueError, TypeError)):
            tok.truncate_text("a", wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tok.fits(5, 1)  # type: ignore[arg-type]


def test_a_long_text_is_not_encoded_to_see_that_it_does_not_fit() -> None:
    tok = text_models.small("tables")
    text = "hello world " * 2_000_000
    data = text.encode()
    for work in (
        lambda: tok.fits(text, 10),
        lambda: tok.fits(data, 10),
        lambda: tok.truncate_text(text, 10),
        lambda: tok.truncate_text(data, 10, side="left"),
    ):
        growth.check_ratio(work, partial(tok.count, data), 1 / 20)


@pytest.mark.parametrize("text", ["hello world ", "a", " ", "\U0001f44d", "e\u0301"])
def test_splitting_takes_linear_time(text: str) -> None:
    tok = text_models.small("tables")
    growth.check_linear(
        lambda made: tok.split_text(made, 100, 10), lambda n: text * n, 100
    )
