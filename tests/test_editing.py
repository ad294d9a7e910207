"""Tokenizers made from others: truncate, prune, add_special_tokens, and row maps."""

from __future__ import annotations

import doctest
import random
import re
from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import growth
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import pybpe
from pybpe import Tokenizer
from pybpe._derivation import last_merge
from pybpe.model import CHARACTERS, MERGES, RANKS, Model

DataPath = Callable[[str], Path]

ROOT = Path(__file__).resolve().parent.parent
TEXTS = [
    path.read_text(encoding="utf-8")
    for path in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
]
SPECIAL = ["<|end|>", "<|start|>"]
BYTES = {bytes([b]): b for b in range(256)}


def same_ids(old: Tokenizer, new: Tokenizer, ids: Sequence[int]) -> list[int]:
    """Return what ids of `new` stand for the tokens that ids of `old` stand for."""
    rows = pybpe.row_map(old, new)
    there = rows >= 0
    back = np.full(old.n_vocab, -1)
    back[rows[there]] = np.flatnonzero(there)
    found: list[int] = back[list(ids)].tolist()
    return found


# ---------------------------------------------------------------- truncate


@pytest.mark.parametrize("tie_break", ["lowest", "first"])
@pytest.mark.parametrize("byte_order", ["identity", "gpt2"])
def test_truncating_is_training_to_the_smaller_size(
    tie_break: str, byte_order: str
) -> None:
    def train(size: int) -> Tokenizer:
        return pybpe.train(
            TEXTS,
            size,
            special_tokens=SPECIAL,
            tie_break=tie_break,
            byte_order=byte_order,
        )

    large = train(4000)
    assert large.vocab_size == 4000
    for size in (258, 259, 1000, 3999, 4000):
        small, wanted = large.truncate(size), train(size)
        assert small.merges == wanted.merges
        assert small.special_tokens == wanted.special_tokens
        assert small.encode_ordinary(TEXTS[0]) == wanted.encode_ordinary(TEXTS[0])
        assert small == wanted
    assert small.training_report is None


def test_truncating_twice_is_truncating_once() -> None:
    tok = pybpe.train(TEXTS, 600, special_tokens=SPECIAL)
    twice = tok.truncate(500).truncate(400)
    assert twice == tok.truncate(400)
    about = twice._model.provenance
    assert (
        about["edited"]
        == "truncated from 600 to 500 ids; truncated from 500 to 400 ids"
    )
    assert about["tie_break"] == "lowest"
    assert Tokenizer.from_bytes(twice.to_bytes())._model.provenance == about


def test_truncating_ranks_keeps_the_lowest_and_all_bytes() -> None:
    ranks = {b"ab": 0, b"abc": 1, b"cd": 2}
    ranks |= {bytes([b]): 3 + b for b in range(256)} | {b"bcd": 300}
    tok = Tokenizer.from_ranks(
        ranks, pattern=None, special_tokens={"<s>": 290}, added_tokens={"<a>": 999}
    )
    small = tok.truncate(260)
    assert small.vocab == {b"ab": 0, b"abc": 1} | {
        bytes([b]): 2 + b for b in range(256)
    }
    assert small.special_tokens == {"<s>": 258}
    assert small.added_tokens == {"<a>": 259}
    assert small.n_vocab == small.vocab_size == 260
    assert tok.truncate(258).vocab == BYTES
    # Holes close even when nothing goes.
    assert tok.n_vocab == 1000
    assert tok.truncate(262).n_vocab == tok.vocab_size == 262


def test_truncating_a_list_in_which_parts_come_late() -> None:
    """The merge for "abc" is the first in the list, and needs "ab"."""
    vocab = BYTES | {b"abc": 260, b"cd": 270, b"ab": 280, b"xy": 290}
    merges = [(b"ab", b"c"), (b"c", b"d"), (b"a", b"b"), (b"x", b"y"), (b"a", b"b")]
    tok = Tokenizer.from_merges(merges, pattern=None, vocab=vocab)
    expected = [b"cd", b"ab", b"abc", b"xy"]
    for n in range(5):
        small = tok.truncate(256 + n)
        assert set(small.vocab) - set(BYTES) == set(expected[:n])
    assert tok.truncate(259).encode("abcxy") == [256, ord("x"), ord("y")]


def test_special_tokens_that_come_first_stay_first() -> None:
    tok = Tokenizer.from_ranks(
        {bytes([b]): 10 + b for b in range(256)} | {b"ab": 266, b"cd": 267},
        pattern=None,
        special_tokens={f"<{i}>": i for i in range(10)},
    )
    small = tok.truncate(267)
    assert small.special_tokens == tok.special_tokens
    assert small.encode("abcd") == [266, 10 + ord("c"), 10 + ord("d")]


@pytest.mark.parametrize("size", [257, 601, -1, 1 << 70])
def test_sizes_that_cannot_be(size: int) -> None:
    tok = pybpe.train(TEXTS, 600, special_tokens=SPECIAL)
    with pytest.raises(
        ValueError, match=r"between 258 .* and 600 .*, got " + str(size)
    ):
        tok.truncate(size)


@pytest.mark.parametrize("size", [True, 300.0, "300", None])
def test_sizes_of_another_type(size: Any) -> None:
    with pytest.raises(TypeError, match="vocab_size must be an int"):
        pybpe.train(TEXTS, 600).truncate(size)


# ---------------------------------------------------------------- prune, merge lists

LETTERS = b"abc"


@st.composite
def merge_lists(draw: st.DrawFn) -> Tokenizer:
    """A random list: several merges for one token, some before those of their parts.

    With `by_bytes`, tokens are distinct and have any ids; without, each merge makes a
    token of its own, whatever its bytes.
    """
    by_bytes, whole = draw(st.booleans()), draw(st.booleans())
    rng = random.Random(draw(st.integers(0, 2**32)))
    n = rng.randrange(1, 30)
    pairs: list[tuple[int, int]] = []
    tokens = [bytes([b]) for b in range(256)]
    ids = [*LETTERS]
    for _ in range(n):
        pair = rng.choice(ids), rng.choice(ids)
        token = tokens[pair[0]] + tokens[pair[1]]
        if len(token) > 12 or pair in pairs:
            continue
        pairs.append(pair)
        ids.append(len(tokens))
        tokens.append(token)
    if not by_bytes:
        return Tokenizer.from_merges(pairs, pattern=None, whole_pretoken=whole)
    vocab = dict(BYTES)
    distinct = sorted(set(tokens[256:]))
    rng.shuffle(distinct)
    numbers = rng.sample(range(256, 400), len(distinct))
    vocab.update(zip(distinct, numbers, strict=True))
    merges = [(tokens[a], tokens[b]) for a, b in pairs]
    rng.shuffle(merges)
    return Tokenizer.from_merges(
        merges, pattern=None, vocab=vocab, whole_pretoken=whole
    )


def old_rules(tok: Tokenizer) -> tuple[list[tuple[int, int]], list[int]]:
    model = tok._model
    assert isinstance(model, Model)
    return tok.merges, model.merge_ids.tolist()


def encoder_by_reference(
    tok: Tokenizer, kept: set[int]
) -> Callable[[bytes], list[int]]:
    """Return what encodes with the merges among `kept` tokens only, the slow way."""
    model = tok._model
    assert isinstance(model, Model)
    if model.semantics == RANKS:
        ranks = {t: n for t, n in tok.vocab.items() if n in kept}
        return lambda text: reference.encode_ranks(text, ranks)
    whole: dict[bytes, int] = {}
    if model.whole_pretoken:
        for number, token in all_tokens(tok):
            if number in kept:
                whole.setdefault(token, number)
    rules = [
        (pair, made)
        for pair, made in zip(*old_rules(tok), strict=True)
        if {*pair, made} <= kept
    ]
    pairs, ids = [pair for pair, _ in rules], [made for _, made in rules]

    def encode(text: bytes) -> list[int]:
        if text in whole:
            return [whole[text]]
        return reference.encode_merges(text, pairs, ids)

    return encode


def all_tokens(tok: Tokenizer) -> list[tuple[int, bytes]]:
    model = tok._model
    assert isinstance(model, Model)
    return [(number, tok.token_bytes(number)) for number in model.token_ids]


def check_pruned(tok: Tokenizer, keep: set[int], rng: random.Random) -> None:
    new = tok.prune(keep)
    rows = pybpe.row_map(tok, new).tolist()
    kept = set(rows)
    assert rows == sorted(kept)  # dense, in the old order, no two rows the same
    assert keep | set(range(256)) <= kept
    for number, old in enumerate(rows):
        assert new.token_bytes(number) == tok.token_bytes(old)
    encode_old = encoder_by_reference(tok, {number for number, _ in all_tokens(tok)})
    encode_kept = encoder_by_reference(tok, kept)
    for number, old in enumerate(rows):
        token = tok.token_bytes(old)
        if encode_old(token) == [old]:
            assert new.encode(token) == [number]
    for _ in range(20):
        text = bytes(rng.choices(LETTERS + b"d", k=rng.randrange(1, 14)))
        ids = [rows[number] for number in new.encode(text)]
        assert ids == encode_kept(text)
        before = tok.encode(text)
        if kept.issuperset(before):
            assert ids == before


@given(merge_lists(), st.integers(0, 2**32))
def test_pruned_merge_lists_are_the_reference_without_the_others(
    tok: Tokenizer, seed: int
) -> None:
    rng = random.Random(seed)
    ids = [number for number, _ in all_tokens(tok) if number > 255]
    check_pruned(tok, set(rng.sample(ids, rng.randrange(len(ids) + 1))), rng)


Rules = dict[tuple[int, int], tuple[int, int]]


def last_merge_by_looking_at_all(ids: list[int], rules: Rules) -> tuple[int, ...]:
    pair: tuple[int, ...] = ()
    while found := [
        (rules[p][0], i) for i, p in enumerate(pairwise(ids)) if p in rules
    ]:
        _, i = min(found)
        pair = ids[i], ids[i + 1]
        ids[i : i + 2] = [rules[ids[i], ids[i + 1]][1]]
    return pair if len(ids) == 1 else ()


@given(st.integers(0, 2**32))
def test_the_last_merge_against_looking_at_all_pairs(seed: int) -> None:
    rng = random.Random(seed)
    pairs = [(a, b) for a in range(5) for b in range(5)]
    rng.shuffle(pairs)
    rules: Rules = {p: (i, rng.randrange(5)) for i, p in enumerate(pairs[:21])}
    for _ in range(20):
        ids = rng.choices(range(5), k=rng.randrange(1, 12))
        found = last_merge(list(ids), lambda a, b: rules.get((a, b)))
        assert found == last_merge_by_looking_at_all(ids, rules)


def test_of_several_merges_the_one_that_is_used_decides() -> None:
    """The list also has a + bcd, before ab + cd, but "bcd" never comes about."""
    pairs = [(b"a", b"b"), (b"c", b"d"), (b"b", b"cd"), (b"a", b"bcd"), (b"ab", b"cd")]
    tokens = [b"ab", b"cd", b"bcd", b"abcd"]
    vocab = BYTES | {token: 256 + i for i, token in enumerate(tokens)}
    tok = Tokenizer.from_merges(pairs, pattern=None, vocab=vocab)
    assert tok.encode("abcd") == [259]
    new = tok.prune([259])
    assert list(new.vocab)[256:] == [b"ab", b"cd", b"abcd"]
    assert new.encode("abcd") == [258]
    assert new.merges == [(97, 98), (99, 100), (256, 257)]


def test_the_parts_of_parts_stay() -> None:
    tok = pybpe.train(["abcdefgh" * 3], 263, pattern=None)
    assert tok.vocab_size == 263
    whole = max(tok.vocab, key=len)
    assert tok.prune([tok.token_id(whole)]).encode(whole) != list(whole)
    assert tok.prune([]).vocab == BYTES
    assert tok.prune(range(tok.n_vocab)) == tok


def test_equal_bytes_keep_their_rows() -> None:
    """Two tokens "abc": dropping the first must not give its row to the second."""
    pairs = [(97, 98), (98, 99), (256, 99), (97, 257), (258, 100), (259, 101)]
    tok = Tokenizer.from_merges(pairs, pattern=None)
    assert tok.token_bytes(258) == tok.token_bytes(259) == b"abc"
    second = tok.prune([261])
    assert pybpe.row_map(tok, second)[256:].tolist() == [257, 259, 261]
    first = tok.prune([260])
    assert pybpe.row_map(tok, first)[256:].tolist() == [256, 258, 260]
    assert pybpe.row_map(first, second)[256:].tolist() == [-1, 257, -1]


def test_equal_bytes_keep_their_rows_whatever_the_order_of_ids() -> None:
    """The same, with the highest ids for the shortest tokens."""
    tokens = [b"abcd", b"abcd", b"abc", b"abc", b"bc", b"ab"]
    rules = [
        (97, 98, 261), (98, 99, 260), (261, 99, 259), (97, 260, 258),
        (259, 100, 257), (258, 100, 256),
    ]  # fmt: skip
    tok = Tokenizer(
        Model(
            semantics=MERGES,
            whole_pretoken=False,
            token_data=bytes(range(256)) + b"".join(tokens),
            token_lengths=array("I", [1] * 256 + list(map(len, tokens))),
            token_ids=array("I", range(262)),
            merges=array("I", [i for left, right, _ in rules for i in (left, right)]),
            merge_ids=array("I", [made for _, _, made in rules]),
            split=pybpe.Split(),
        )
    )
    for keep, kept in [([256], [256, 258, 260]), ([257], [257, 259, 261])]:
        assert pybpe.row_map(tok, tok.prune(keep))[256:].tolist() == kept


def test_of_equal_pairs_the_first_still_counts_when_it_is_gone() -> None:
    """No text ever gave the second token "ab", and none does when the first goes."""
    tok = Tokenizer.from_merges([(97, 98), (97, 98), (99, 100)], pattern=None)
    assert tok.encode("ab") == [256]
    assert tok.prune(range(259)) == tok
    new = tok.prune([257, 258])
    assert pybpe.row_map(tok, new)[256:].tolist() == [257, 258]
    assert new.encode("abcd") == [97, 98, 257]
    assert new.decode([256]) == "ab"


# ---------------------------------------------------------------- prune, ranks


@st.composite
def rank_tables(draw: st.DrawFn) -> Tokenizer:
    """Random strings with random ids: many that no merge makes."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    strings = {
        bytes(rng.choices(LETTERS, k=rng.randrange(2, 8)))
        for _ in range(rng.randrange(1, 40))
    }
    ids = rng.sample(range(256, 400), len(strings))
    table = dict(zip(sorted(strings), ids, strict=True))
    return Tokenizer.from_ranks(BYTES | table, pattern=None)


@given(rank_tables(), st.integers(0, 2**32))
def test_pruned_ranks_are_the_reference_without_the_others(
    tok: Tokenizer, seed: int
) -> None:
    rng = random.Random(seed)
    ids = [number for number, _ in all_tokens(tok) if number > 255]
    check_pruned(tok, set(rng.sample(ids, rng.randrange(len(ids) + 1))), rng)


@given(rank_tables(), st.integers(0, 2**32))
def test_a_token_that_merges_make_within_a_pretoken_still_comes_about(
    tok: Tokenizer, seed: int
) -> None:
    """Without the rule that takes pretokens whole, which hides how tokens are made."""
    model = tok._model
    assert isinstance(model, Model)
    parts = {name: getattr(model, name) for name in Model.__slots__}
    tok = Tokenizer(Model(**{**parts, "whole_pretoken": False}))
    rng = random.Random(seed)
    ids = [number for number, _ in all_tokens(tok) if number > 255]
    made = [n for n in ids if tok.encode(tok.token_bytes(n)) == [n]]
    for number in made:
        new = tok.prune([number])
        assert len(new.encode(tok.token_bytes(number))) == 1
    rng.shuffle(ids)
    new = tok.prune(ids[: len(ids) // 2])
    rows = pybpe.row_map(tok, new)
    for number, old in enumerate(rows.tolist()):
        if old in made:
            assert new.encode(new.token_bytes(number)) == [number]


def test_a_long_token_takes_no_quadratic_time() -> None:
    """128,000 bytes and more, whose last merge has a part that ranks behind."""

    def doubled(n: int) -> Tokenizer:
        ranks = dict(BYTES)
        for k in range(1, n.bit_length()):
            ranks[b"a" * (1 << k)] = 300 - k  # the longest first
        return Tokenizer.from_ranks(ranks, pattern=None)

    def prune(tok: Tokenizer) -> Tokenizer:
        return tok.prune([max(tok.vocab.values())])

    growth.check_linear(prune, doubled, 1 << 11)
    n = 1 << 17
    tok = doubled(n)
    new = tok.prune([tok.token_id(b"a" * n)])
    assert new.encode("a" * n) == [new.token_id(b"a" * n)]


# ---------------------------------------------------------------- prune, the rest


def with_specials() -> Tokenizer:
    return Tokenizer.from_merges(
        [(97, 98), (99, 100)],
        pattern=None,
        special_tokens={"<s>": 300, "</s>": 310},
        added_tokens={"<a>": 305},
    )


def test_special_tokens_stay_unless_told_otherwise() -> None:
    tok = with_specials()
    new = tok.prune([257])
    assert new.special_tokens == {"<s>": 257, "</s>": 259}
    assert new.added_tokens == {"<a>": 258}
    assert new.encode("ab<s><a>cd", allowed_special="all") == [97, 98, 257, 258, 256]
    new = tok.prune([257, 310], keep_special=False)
    assert (new.special_tokens, new.added_tokens) == ({"</s>": 257}, {})
    assert pybpe.row_map(tok, new)[255:].tolist() == [255, 257, 310]


@pytest.mark.parametrize(
    "keep",
    [[257], (257,), {257}, iter([257]), np.array([257], np.uint16), range(257, 258)],
)
def test_what_ids_may_come_in(keep: Any) -> None:
    assert list(with_specials().prune(keep).vocab)[256:] == [b"cd"]


@pytest.mark.parametrize(
    ("keep", "error", "message"),
    [
        (["ab"], TypeError, "an id in keep must be an int, got str"),
        ([1.5], TypeError, "an id in keep must be an int, got float"),
        ([True], TypeError, "flatnonzero"),
        (np.ones(311, np.bool_), TypeError, "flatnonzero"),
        ("ab", TypeError, "keep must be an iterable of ids, got str"),
        ({257: 1}, TypeError, "keep must be an iterable of ids, got dict"),
        (257, TypeError, "keep must be an iterable of ids, got int"),
        ([258], pybpe.UnknownTokenError, "keep: no token has id 258"),
        ([-1], pybpe.UnknownTokenError, "keep: no token has id -1"),
        ([1 << 70], pybpe.UnknownTokenError, "keep: no token has id"),
    ],
)
def test_what_is_no_set_of_ids(keep: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        with_specials().prune(keep)


PUBLISHED = [
    "vocab/openai/cl100k_base.tiktoken",
    "vocab/hf/llama3_1_tokenizer.json",
    "vocab/hf/mistral_v1_tokenizer.json",
    "vocab/hf/qwen3_tokenizer.json",
    "vocab/tekken/tekken_240718.json",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_corpus_is_encoded_as_before(name: str, data_path: DataPath) -> None:
    tok = pybpe.load(data_path(name))
    text = data_path("corpora/taylorswift.txt").read_text(encoding="utf-8")
    ids = tok.encode(text)
    new = tok.prune(ids)
    assert new.vocab_size < tok.vocab_size / 2
    assert new.encode(text) == same_ids(tok, new, ids)
    assert new.decode(new.encode(text)) == tok.decode(ids)
    assert new.special_tokens.keys() == tok.special_tokens.keys()
    for prefix in (tok.text_prefix, tok.text_suffix):
        assert -1 not in same_ids(tok, new, prefix)
    assert Tokenizer.from_bytes(new.to_bytes()) == new
    half = tok.truncate(tok.vocab_size // 2)
    assert half.n_vocab == half.vocab_size == tok.vocab_size // 2
    assert half.decode(half.encode(text)) == tok.decode(ids)


def character_model(**parts: Any) -> Tokenizer:
    """A model on characters with a suffix for the last one of a pretoken."""
    tokens = [b"a", b"b", b"c", b"b</w>", b"c</w>", b"ab", b"ab</w>", b"abc</w>", b"?"]
    rules = [(0, 1, 5), (0, 3, 6), (5, 4, 7)]
    return Tokenizer(
        Model(
            semantics=MERGES,
            whole_pretoken=False,
            token_data=b"".join(tokens),
            token_lengths=array("I", map(len, tokens)),
            token_ids=array("I", range(len(tokens))),
            merges=array("I", [i for a, b, _ in rules for i in (a, b)]),
            merge_ids=array("I", [made for _, _, made in rules]),
            split=pybpe.Split(),
            symbols=CHARACTERS,
            unknown=8,
            word_suffix=b"</w>",
            **parts,
        )
    )


def test_characters_and_suffixes() -> None:
    tok = character_model(text_prefix=(2,))
    assert tok.encode("abc") == [7]
    new = tok.prune([7])
    assert list(new.vocab) == [b"a", b"b", b"c", b"c</w>", b"ab", b"abc</w>", b"?"]
    assert new.encode("abc") == [5]
    assert new.encode("cb") == [2, 6]  # the last "b" is unknown now
    assert new.text_prefix == (2,)
    assert character_model().prune([6]).encode("ab") == [2]
    # What is put before texts stays, even if merges would make it later.
    small = character_model(text_prefix=(7,)).truncate(7)
    assert list(small.vocab)[5:] == [b"abc</w>", b"?"]
    assert (small.text_prefix, small._model.unknown) == ((5,), 6)


# ---------------------------------------------------------------- special tokens


def test_special_tokens_are_added_behind() -> None:
    tok = with_specials()
    new = tok.add_special_tokens(["<x>", b"<\xff>"])
    assert new.special_tokens == {"<s>": 300, "</s>": 310, "<x>": 311, b"<\xff>": 312}
    assert new.encode(b"ab<x><\xff>", allowed_special="all") == [256, 311, 312]
    assert new.encode_ordinary("ab<x>") == tok.encode_ordinary("ab<x>")
    with pytest.raises(pybpe.SpecialTokenError):
        new.encode("<x>")
    assert new._model.provenance["edited"] == "added 2 special tokens"
    assert pybpe.row_map(tok, new)[[256, 258, 310, 311]].tolist() == [256, -1, 310, -1]
    assert tok.add_special_tokens([]) == tok
    assert tok.special_tokens == {"<s>": 300, "</s>": 310}


def test_special_tokens_are_added_at_given_ids() -> None:
    new = with_specials().add_special_tokens({"<y>": 302, "<x>": 301, "<z>": 5000})
    assert list(new.special_tokens.items()) == [
        ("<s>", 300),
        ("<x>", 301),
        ("<y>", 302),
        ("</s>", 310),
        ("<z>", 5000),
    ]
    assert new.n_vocab == 5001
    assert Tokenizer.from_bytes(new.to_bytes()) == new


def test_an_ordinary_token_becomes_special() -> None:
    tok = with_specials()
    new = tok.add_special_tokens({"ab": 256})
    assert new.vocab == tok.vocab
    assert new.encode("cabd", allowed_special="all") == [99, 256, 100]
    assert pybpe.row_map(tok, new).tolist() == [
        n if n < 258 or n in (300, 305, 310) else -1 for n in range(311)
    ]
    assert new.truncate(260).special_tokens == {"ab": 256, "<s>": 257, "</s>": 259}


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        (["<s>"], ValueError, "'<s>' is a special token already, with the id 300"),
        ({b"<s>": 400}, ValueError, "'<s>' is a special token already"),
        (["<a>"], ValueError, "'<a>' is an added token already, with the id 305"),
        (
            ["ab"],
            ValueError,
            r"an ordinary token already, with the id 256.*\{'ab': 256\}",
        ),
        ({"ab": 400}, ValueError, "'ab' is an ordinary token already"),
        ({"<x>": 256}, ValueError, "id 256 of '<x>' already stands for 'ab'"),
        ({"<x>": 300}, ValueError, "id 300 of '<x>' already stands for '<s>'"),
        ({"<x>": 305}, ValueError, "id 305 of '<x>' already stands for '<a>'"),
        (["<x>", "<y>", "<x>"], ValueError, r"tokens\[2\], '<x>', is there twice"),
        (["<x>", b"<x>"], ValueError, r"tokens\[1\], b'<x>', is there twice"),
        ({"<x>": 400, b"<x>": 401}, ValueError, "twice"),
        ({"<x>": 400, "<y>": 400}, ValueError, "share the id 400"),
        (["<x>", ""], ValueError, r"tokens\[1\] is empty"),
        ({"": 400}, ValueError, "empty token"),
        ({"<x>": -1}, ValueError, "id -1 is out of range"),
        ({"<x>": 1 << 24}, ValueError, "out of range"),
        ({"<x>": True}, TypeError, "must be an int"),
        ({"<x>": "400"}, TypeError, "must be an int"),
        (["<x>", 1], TypeError, r"tokens\[1\] must be str or bytes, got int"),
        ("<x>", TypeError, "got one str: make it a list"),
        ({"<x>"}, TypeError, "a list of tokens, .* got a set"),
        (None, TypeError, "a list of tokens"),
    ],
)
def test_clashes_are_refused(tokens: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        with_specials().add_special_tokens(tokens)


def test_ids_end_somewhere() -> None:
    tok = with_specials().add_special_tokens({"<x>": (1 << 24) - 2})
    assert tok.add_special_tokens(["<y>"]).n_vocab == 1 << 24
    with pytest.raises(ValueError, match="2 tokens are too many"):
        tok.add_special_tokens(["<y>", "<z>"])


@pytest.mark.slow
def test_a_million_special_tokens() -> None:
    tok = with_specials()
    tokens = [f"<|extra_{i}|>" for i in range(1_000_000)]
    new = tok.add_special_tokens(tokens)
    text = "ab<|extra_999999|>cd<|extra_12|>"
    ids = new.encode(text, allowed_special="all", disallowed_special=())
    # It takes about a second; a way that is quadratic anywhere takes hours.
    assert ids == [256, 311 + 999_999, 257, 311 + 12]
    assert new.n_vocab == 1_000_311
    assert new.decode(ids) == text
    with pytest.raises(ValueError, match="the limit is 1048576"):
        new.add_special_tokens([f"<|more_{i}|>" for i in range(50_000)])


# ---------------------------------------------------------------- sentencepiece


def test_sentencepiece_models_take_control_pieces(data_path: DataPath) -> None:
    tok = pybpe.load(data_path("vocab/sentencepiece/llama2_tokenizer.model"))
    text = data_path("corpora/taylorswift.txt").read_text(encoding="utf-8")[:20_000]
    new = tok.add_special_tokens(["<|user|>", "\u2581a\u2581b\u2581", "a b"])
    assert new.encode_ordinary(text) == tok.encode_ordinary(text)
    assert new.encode_ordinary("x<|user|> a b") == tok.encode_ordinary("x<|user|> a b")
    assert new.encode("<|user|>", allowed_special="all")[-1] == tok.n_vocab
    assert new.n_vocab == tok.n_vocab + 3
    assert new.special_tokens.keys() - tok.special_tokens.keys() >= {"<|user|>", "a b"}
    assert Tokenizer.from_bytes(new.to_bytes()) == new
    rows = pybpe.row_map(tok, new)
    assert rows.tolist() == [*range(tok.n_vocab), -1, -1, -1]
    assert tok.add_special_tokens({"<x>": tok.n_vocab}).n_vocab == tok.n_vocab + 1
    for tokens, message in [
        ({"<x>": tok.n_vocab + 1}, f"have no gaps, and the next id is {tok.n_vocab}"),
        (["<s>"], "'<s>' is a special token already"),
        (["<unk>"], "'<unk>' is an ordinary token already, with the id 0$"),
        ({"<unk>": 0}, "'<unk>' is an ordinary token already"),
        ({"<x>": 0}, "id 0 of '<x>' already stands for '<unk>'"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message).replace(r"\$", "$")):
            tok.add_special_tokens(tokens)
    for refused in (lambda: tok.truncate(300), lambda: tok.prune([300])):
        with pytest.raises(ValueError, match="for byte-level models only"):
            refused()
    with pytest.raises(ValueError, match="there is no row map"):
        pybpe.row_map(tok, with_specials())


# ---------------------------------------------------------------- row maps


def test_row_maps_go_by_bytes_and_kind() -> None:
    old = Tokenizer.from_ranks(
        BYTES | {b"ab": 256, b"<s>": 257},
        pattern=None,
        special_tokens={"<e>": 258},
        added_tokens={"<a>": 259, "<b>": 260},
    )
    new = Tokenizer.from_ranks(
        BYTES | {b"<e>": 256, b"ab": 300},
        pattern=None,
        special_tokens={"<s>": 301, "<a>": 302},
        added_tokens={"<b>": 303},
    )
    rows = pybpe.row_map(old, new)
    assert (rows.dtype, rows.shape) == (np.dtype(np.int64), (304,))
    assert rows[256:].tolist() == [-1] * 44 + [256, -1, 259, 260]
    assert pybpe.row_map(old, old).tolist() == list(range(261))


def test_row_maps_are_of_tokenizers() -> None:
    with pytest.raises(TypeError, match="new must be a Tokenizer, got str"):
        pybpe.row_map(with_specials(), "gpt2")  # type: ignore[arg-type]


PAGE = (ROOT / "docs" / "editing.md").read_text(encoding="utf-8")


def test_the_page_about_it() -> None:
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "editing.md", None, 0)
    assert len(examples.examples) > 20
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    failed = runner.run(examples, out=report.append).failed
    assert failed == 0, "".join(report)


def test_the_recipe_in_torch() -> None:
    torch = pytest.importorskip("torch")
    (recipe,) = (
        block
        for block in re.findall(
            r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE
        )
        if ">>>" not in block
    )
    names: dict[str, Any] = {}
    exec(recipe, names)  # noqa: S102 - our own page
    matrix = torch.arange(6.0).reshape(3, 2)
    out = names["transplant_torch"](matrix, np.array([2, -1, 0]), 2)
    assert out.tolist() == [[4.0, 5.0], [1.0, 2.0], [0.0, 1.0]]
