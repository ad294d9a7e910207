"""Tokenizer.prune: what stays, and what texts become then."""

from __future__ import annotations

import random
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
from text_models import with_specials

import pybpe
from pybpe import Tokenizer
from pybpe._derivation import last_merge
from pybpe.model import CHARACTERS, MERGES, RANKS, Model

DataPath = Callable[[str], Path]

BYTES = {bytes([b]): b for b in range(256)}


def same_ids(old: Tokenizer, new: Tokenizer, ids: Sequence[int]) -> list[int]:
    """Return what ids of `new` stand for the tokens that ids of `old` stand for."""
    rows = pybpe.row_map(old, new)
    there = rows >= 0
    back = np.full(old.n_vocab, -1)
    back[rows[there]] = np.flatnonzero(there)
    found: list[int] = back[list(ids)].tolist()
    return found


# ---------------------------------------------------------------- merge lists

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


# ---------------------------------------------------------------- ranks


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


# ---------------------------------------------------------------- the rest


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
