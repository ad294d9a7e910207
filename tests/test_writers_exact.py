"""What writers turn into another form: ranks, lists of merges, dialects of patterns."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from writers_make import (
    NAMES,
    pairs_in_bytes,
    refusal,
    tokenizer,
)

from pybpe import ModelError, Tokenizer
from pybpe.split import Split, Stage
from pybpe.split.patterns import NAMED
from pybpe.split.same import leaves_gaps
from pybpe.writers._merges import check_ranks, merge_list
from pybpe.writers._patterns import translated

# ------------------------------------------------------------------ merges and ranks


def strings(alphabet: str, n: int) -> list[str]:
    return [
        "".join(chars)
        for size in range(1, n + 1)
        for chars in itertools.product(alphabet, repeat=size)
    ]


STRINGS = strings("ab", 9)
parts = st.lists(
    st.text("ab", min_size=2, max_size=5), unique=True, min_size=1, max_size=7
)


def bytes_and(tokens: list[str]) -> dict[bytes, int]:
    """Return a vocabulary: all bytes, and tokens in this order."""
    vocab = {bytes([byte]): byte for byte in range(256)}
    return vocab | {token.encode(): 256 + i for i, token in enumerate(tokens)}


@given(parts)
def test_any_ranks_are_a_list_of_merges(tokens: list[str]) -> None:
    vocab = bytes_and(tokens)
    ranks = Tokenizer.from_ranks(vocab, pattern=None)
    pairs, _ = merge_list(ranks)
    listed = Tokenizer.from_merges(
        pairs_in_bytes(ranks, pairs), vocab=vocab, pattern=None, whole_pretoken=True
    )
    assert listed.encode_batch(STRINGS) == ranks.encode_batch(STRINGS)


@given(parts, st.randoms(use_true_random=False), st.booleans())
def test_a_list_of_merges_that_passes_is_ranks(
    tokens: list[str], rng: random.Random, whole: bool
) -> None:
    vocab = bytes_and(tokens)
    possible = [
        (token[:i].encode(), token[i:].encode())
        for token in sorted(tokens, key=tokens.index)
        for i in range(1, len(token))
        if token[:i].encode() in vocab and token[i:].encode() in vocab
    ]
    if possible and rng.random() < 0.5:
        possible.pop(rng.randrange(len(possible)))
    if rng.random() < 0.2:
        rng.shuffle(possible)
    listed = Tokenizer.from_merges(
        possible, vocab=vocab, pattern=None, whole_pretoken=whole
    )
    ranks = Tokenizer.from_ranks(vocab, pattern=None)
    try:
        check_ranks(listed)
    except ModelError:
        return
    assert listed.encode_batch(STRINGS) == ranks.encode_batch(STRINGS)


def test_a_merge_that_never_happens_is_no_reason_to_refuse() -> None:
    vocab = bytes_and(["ab", "bc", "abc"])
    merges = [(b"a", b"bc"), (b"a", b"b"), (b"b", b"c"), (b"ab", b"c")]
    check_ranks(Tokenizer.from_merges(merges, vocab=vocab, pattern=None))
    del merges[3]
    with pytest.raises(ModelError, match="does not"):
        check_ranks(Tokenizer.from_merges(merges, vocab=vocab, pattern=None))


# ------------------------------------------------------------------ patterns


@pytest.mark.parametrize("dialect", ["rust", "oniguruma", "regex"])
@pytest.mark.parametrize("name", NAMED)
def test_named_patterns_in_every_dialect(name: str, dialect: str) -> None:
    own, patterns = NAMED[name]
    for pattern in patterns:
        stage = Stage.compile(pattern, own)
        made = Stage.compile(translated(stage, dialect), dialect)
        assert made.transitions == stage.transitions
        assert made.class_starts == stage.class_starts


@pytest.mark.parametrize(
    ("pattern", "own", "dialect", "expected"),
    [
        (r"\p{N}{1,3}+$|\P{N}|\p{N}", "rust", "oniguruma", None),
        (r"(?i:st)\d|[\s\S]", "rust", "oniguruma", None),
        (r"a$|[^\n]|\n", "oniguruma", "rust", None),
        (r"(?m:.)+", "oniguruma", "rust", r"[\x{0}-\x{10FFFF}]+"),
        (r"[a-c]++|[^a-c]", "regex", "rust", "[a-c]++|[^a-c]"),
    ],
)
def test_other_patterns(
    pattern: str, own: str, dialect: str, expected: str | None
) -> None:
    stage = Stage.compile(pattern, own)
    written = translated(stage, dialect)
    made = Stage.compile(written, dialect)
    assert (made.class_starts, made.transitions) == (
        stage.class_starts,
        stage.transitions,
    )
    if expected is not None:
        assert written.startswith(expected) or written == expected


def test_tables_of_another_unicode(tmp_path: Path) -> None:
    ours = Stage.compile(r"\p{L}+|\P{L}+")
    starts = ours.class_starts
    starts[-1] += 1
    stage = Stage(
        pattern=ours.pattern,
        dialect=ours.dialect,
        behavior=ours.behavior,
        unicode_version="15.0",
        class_starts=starts,
        class_ids=ours.class_ids,
        n_classes=ours.n_classes,
        n_states=ours.n_states,
        transitions=ours.transitions,
    )
    for dialect in ("rust", "oniguruma", "regex"):
        with pytest.raises(ModelError, match=r"\(rust, Unicode 15\.0\) cannot be"):
            translated(stage, dialect)
    for kind in ("tokenizer.json", "minbpe"):
        message = refusal(tokenizer(Split([stage])), tmp_path / NAMES[kind], kind)
        assert "cannot be written so that" in message or "leave text" in message


def test_gaps() -> None:
    assert leaves_gaps(Stage.compile("a+"))
    assert leaves_gaps(Stage.compile(r"\S+|\s+(?!\S)"))
    assert not leaves_gaps(Stage.compile(r"\S+|\s+(?!\S)|\s+"))
    assert not leaves_gaps(Stage.compile(r"[\s\S]"))
