"""Training that goes on from a tokenizer."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import reference
from training_checks import (
    TEXTS,
    TIES,
    learnt,
    random_texts,
    refuse,
    report_of,
    words_of,
)

import pybpe
from pybpe.byte_order import bytes_in_order
from pybpe.model import (
    LSTRIP,
    NORMALIZED,
    RSTRIP,
    SINGLE_WORD,
    UNMATCHED,
    Model,
)
from pybpe.normalizers import Prepend


@pytest.mark.parametrize("tie_break", TIES)
@pytest.mark.parametrize("byte_order", ["identity", "gpt2"])
def test_going_on_with_the_same_texts_is_one_run(
    tie_break: str, byte_order: str
) -> None:
    for seed in range(40):
        random_ = random.Random(seed)
        texts = random_texts(random_)
        options: dict[str, Any] = {
            "tie_break": tie_break,
            "max_token_bytes": random_.choice([None, 4]),
            "min_frequency": random_.choice([1, 2]),
        }
        pattern = random_.choice(["gpt2", None])
        small = pybpe.train(
            texts,
            256 + random_.randint(0, 30),
            pattern=pattern,
            byte_order=byte_order,
            **options,
        )
        once = pybpe.train(
            texts, 320, pattern=pattern, byte_order=byte_order, **options
        )
        twice = pybpe.train(texts, 320, initial=small, **options)
        assert twice == once, seed
        assert twice.to_bytes() != once.to_bytes()  # where it comes from is told


@pytest.mark.parametrize("name", ["english", "multilingual"])
def test_real_text_to_500_and_on_to_1000(
    name: str, data_path: Callable[[str], Path]
) -> None:
    path = data_path(f"corpora/{name}_1mb.txt")
    small = pybpe.train_from_files([path], 500)
    once = pybpe.train_from_files([path], 1000)
    twice = pybpe.train_from_files([path], 1000, initial=small)
    assert twice == once
    assert twice == pybpe.train_from_files([path], num_merges=500, initial=small)
    assert once.merges[: 500 - 256] == small.merges


@pytest.mark.parametrize("seed", range(4))
def test_going_on_equals_the_reference(seed: int) -> None:
    for number in range(40):
        random_ = random.Random(100 * seed + number)
        first, second = random_texts(random_), random_texts(random_)
        tie_break = random_.choice(TIES)
        order = random_.choice(["identity", "gpt2"])
        split = pybpe.Split.from_pattern(random_.choice(["gpt2", r" ?\w+|\s+|."]))
        special = random_.choice([[], ["<s>", "<e>"]])
        most = random_.choice([None, 3, 9])
        small = pybpe.train(
            first,
            num_merges=random_.choice([0, 3, 30]),
            pattern=split,
            byte_order=order,
            special_tokens=special,
        )
        tok = pybpe.train(
            second,
            num_merges=40,
            initial=small,
            tie_break=tie_break,
            max_token_bytes=most,
        )
        want, _ = reference.train(
            words_of(second, split),
            40,
            tie_break=tie_break,
            bytes_by_id=bytes_in_order(order),
            initial=small.merges,
            first_id=small.n_vocab,
            max_token_bytes=most,
        )
        assert tok.merges == small.merges + want, (seed, number)


def test_what_is_there_stays() -> None:
    old = pybpe.train(
        TEXTS, 280, special_tokens=["<s>", "<e>"], protected=["12"], byte_order="gpt2"
    )
    new = pybpe.train(
        ["hello 12 hello<e>", "<new>", "34 hello<s>"] * 9,
        num_merges=6,
        initial=old,
        special_tokens=["<e>", "<new>"],
        protected=["34", "12"],
    )
    assert new.split == old.split
    assert all(new.token_bytes(i) == old.token_bytes(i) for i in range(old.n_vocab))
    assert new.merges[: len(old.merges)] == old.merges
    a, b = old._model, new._model
    assert b.token_data.startswith(a.token_data)  # type: ignore[union-attr]
    assert b.merges.tobytes().startswith(a.merges.tobytes())  # type: ignore[union-attr]
    # New ids follow the highest: merges, protected, special.
    made = len(new.merges) - len(old.merges)
    assert made == report_of(new).merges
    assert new.special_tokens == {**old.special_tokens, "<new>": 280 + made + 1}
    assert new.added_tokens == {**old.added_tokens, "34": 280 + made}
    assert new.vocab_size == new.n_vocab == 280 + made + 2
    # What is cut out in encoding was cut out in training.
    assert b"hello" in new.vocab
    assert not any(b"<" in token or b"1" in token for token in learnt(new))
    provenance = pybpe.Tokenizer.from_bytes(new.to_bytes())._model.provenance
    assert provenance["initial"] == old.fingerprint
    assert provenance["initial_vocab_size"] == 280


def test_matrices_keep_their_rows() -> None:
    pytest.importorskip("numpy")
    old = pybpe.train(TEXTS, 280, special_tokens=["<s>"])
    new = pybpe.train(["hello hello"] * 9, num_merges=3, initial=old)
    assert pybpe.row_map(old, new).tolist() == [*range(old.n_vocab), -1, -1, -1]


def test_going_on_from_the_first_merges() -> None:
    # Keep as many merges as you like, and learn the rest anew.
    tok = pybpe.train(TEXTS, 300)
    assert pybpe.train(TEXTS, 300, initial=tok.truncate(270)) == tok
    other = pybpe.train(["newer words"] * 9, 275, initial=tok.truncate(270))
    assert other.merges[:14] == tok.merges[:14]


def test_sizes_with_an_initial_tokenizer() -> None:
    old = pybpe.train(TEXTS, 270)
    assert pybpe.train(TEXTS, 270, initial=old) == old
    refuse(
        "between 271 and .*the 270 tokens of initial and the 1 special token are",
        vocab_size=270,
        initial=old,
        special_tokens=["x"],
    )
    # Where ids have gaps, the size still counts ids, and nothing fills the gaps.
    gaps = pybpe.Tokenizer.from_merges(
        [(104, 101)], pattern=None, special_tokens={"<s>": 1000}
    )
    tok = pybpe.train(["hello hello"], 260, initial=gaps)
    assert (tok.vocab_size, tok.n_vocab, len(tok.merges)) == (260, 1003, 3)
    assert tok.merges[1:] == [(108, 108), (256, 1001)]
    with pytest.raises(ValueError, match=r"16776472 .* got 16776473"):
        pybpe.train([""], 16776473, initial=gaps)


def test_another_split_is_used_from_then_on() -> None:
    # As for "superwords": words first, then what crosses them.
    words = pybpe.train(["by the way"] * 3, 264, pattern="gpt2")
    tok = pybpe.train(["by the way"] * 3, 300, initial=words, pattern=None)
    assert tok.pattern is None
    assert tok.merges[: len(words.merges)] == words.merges
    assert len(tok.encode("by the way")) == 1


def test_a_text_is_encoded_by_old_merges_first() -> None:
    old = pybpe.train(TEXTS, 280)
    texts = ["lowest hello", "newest hell", " yellow"]
    new = pybpe.train(texts, num_merges=15, initial=old)
    for text in [*TEXTS, *texts]:
        want = []
        for pretoken in old.split.pretokens(text):
            ids = old.encode(pretoken)
            for i, pair in enumerate(new.merges[len(old.merges) :]):
                ids = reference.replace(ids, pair, old.n_vocab + i)
            want += ids
        assert new.encode(text) == want


@pytest.mark.parametrize("whole_pretoken", [False, True])
def test_tokens_that_no_merge_makes_are_not_made_again(whole_pretoken: bool) -> None:
    vocab = {bytes([i]): i for i in range(256)} | {b"abc": 256}
    old = pybpe.Tokenizer.from_merges(
        [], vocab=vocab, pattern=None, whole_pretoken=whole_pretoken
    )
    texts = ["abc", "xabcabc", "abcd", "zabc"] * 3
    tok = pybpe.train(texts, 300, initial=old)
    assert len(set(tok.vocab)) == len(tok._model.token_ids)  # type: ignore[union-attr]
    # A pretoken that is a token is one from the start.
    rest = [(w.encode(), 1) for w in texts if not (whole_pretoken and w == "abc")]
    want, _ = reference.train(rest, 100, first_id=257, known=[b"abc"])
    assert tok.merges == want
    assert len(tok.encode("abc")) == (1 if whole_pretoken else 2)
    assert tok.training_report is not None
    assert tok.training_report.stop_reason == "nothing left to merge"


def by_ranks(tok: pybpe.Tokenizer) -> pybpe.Tokenizer:
    """The same tokens, of which any two neighbours merge that make one."""
    ranks = {tok.token_bytes(i): i for i in {*range(256), *tok._model.merge_ids}}  # type: ignore[union-attr]
    return pybpe.Tokenizer.from_ranks(
        ranks, pattern=tok.split, special_tokens=tok.special_tokens
    )


@pytest.mark.parametrize("tie_break", ["lowest", "first"])
def test_ranks_go_on_as_their_pairs(tie_break: str) -> None:
    random_ = random.Random(11)
    for number in range(150):
        letters = random_.choice(["ab", "abc", "ab 1", "aab ", "a\xe9 "])
        texts = [
            "".join(random_.choices(letters, k=random_.choice([5, 60, 400])))
            for _ in range(6)
        ]
        options: Any = {"pattern": random_.choice([None, "gpt2"])}
        pairs = pybpe.train(
            texts[:3], 300, special_tokens=["<s>"], tie_break=tie_break, **options
        )
        ranks = by_ranks(pairs)
        more: Any = {"num_merges": 60, "tie_break": tie_break}
        new = pybpe.train(texts, initial=ranks, **more)
        assert new.merges == pybpe.train(texts, initial=pairs, **more).merges, number
        assert new.merges[: len(pairs.merges)] == ranks.merges == pairs.merges
        assert new.special_tokens == pairs.special_tokens
        # What was learnt by pairs does not merge otherwise by ranks.
        for text in texts:
            assert by_ranks(new).encode(text) == new.encode(text), number


def test_ranks_that_pairs_cannot_tell_are_refused() -> None:
    ranks = {bytes([i]): i for i in range(256)}
    whole = pybpe.Tokenizer.from_ranks({**ranks, b"abc": 256}, pattern=None)
    refuse(r"1 of its tokens are not made of .* \(b'abc'\)", initial=whole)
    behind = {**ranks, b"abc": 256, b"ab": 257}
    refuse(
        r"1 of its tokens .* \(b'abc'\), so that",
        initial=pybpe.Tokenizer.from_ranks(behind, pattern=None),
    )


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_published_vocabularies_go_on(
    name: str, data_path: Callable[[str], Path]
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    assert data_path("tiktoken_cache").is_dir()
    old = pybpe.get_encoding(name)
    text = data_path("corpora/multilingual_1mb.txt").read_text(encoding="utf-8")
    new = pybpe.train([text[:300_000]], num_merges=500, initial=old)
    assert new.n_vocab == old.n_vocab + 500
    assert new.special_tokens == old.special_tokens
    assert new.merges[: len(old.merges)] == old.merges
    ids = new.encode(text)
    assert len(ids) < 0.97 * len(old.encode(text))
    theirs = tiktoken.Encoding(
        name,
        pat_str=tiktoken.get_encoding(name)._pat_str,
        mergeable_ranks={
            **tiktoken.get_encoding(name)._mergeable_ranks,
            **{new.token_bytes(i): i for i in range(old.n_vocab, new.n_vocab)},
        },
        special_tokens=old.special_tokens,
    )
    assert theirs.encode(text) == ids


def test_initial_is_checked() -> None:
    old = pybpe.train(TEXTS, 280, byte_order="gpt2")
    refuse("initial must be a Tokenizer, got str", TypeError, initial="x.pybpe")
    refuse("='identity' is not that of initial", initial=old, byte_order="identity")
    refuse("byte_order must be one of", initial=old, byte_order="x")
    assert pybpe.train(TEXTS, 290, initial=old, byte_order="gpt2") == pybpe.train(
        TEXTS, 290, initial=old
    )
    named = pybpe.train(TEXTS, 280, special_tokens=["<s>"], protected=["12"])
    refuse(
        "protected: '<s>' is a special token of initial already",
        initial=named,
        protected=["<s>"],
    )
    refuse(
        "special_tokens: '12' is an added token of initial already",
        initial=named,
        special_tokens=["12"],
    )


def changed(tok: pybpe.Tokenizer, **parts: Any) -> pybpe.Tokenizer:
    """The same tokenizer with other parts."""
    same = {name: getattr(tok._model, name) for name in Model.__slots__}
    return pybpe.Tokenizer(Model(**{**same, **parts}))


def test_initial_tokenizers_that_do_more_are_refused(
    data_path: Callable[[str], Path],
) -> None:
    old = pybpe.train(TEXTS, 280, special_tokens=["<s>", "<e>"])
    for flag in (LSTRIP, RSTRIP, SINGLE_WORD):
        refuse(
            "special or added tokens that match under conditions",
            initial=changed(old, flags={279: flag}),
        )
    refuse(
        "looks for some of its special and added tokens later",
        initial=changed(old, flags={279: NORMALIZED}),
    )
    refuse(
        "it changes texts before it splits them",
        initial=changed(old, normalizers=(Prepend("x"),)),
    )
    refuse(
        "do not start from the 256 single bytes",
        initial=changed(old, word_suffix=b"</w>", symbols="some_bytes"),
    )
    pieces = pybpe.load(data_path("vocab/sentencepiece/llama2_tokenizer.model"))
    refuse("it is a sentencepiece model", initial=pieces)


def test_tokens_that_are_matched_like_any_other_are_taken_over() -> None:
    # "normalized" without a normalizer, and tokens that no text holds.
    old = pybpe.train(TEXTS, 280, special_tokens=["<s>", "<e>"])
    for flags, found in (
        ({278: NORMALIZED, 279: NORMALIZED}, ["<s>", "<e>"]),
        ({278: UNMATCHED}, ["<e>"]),
    ):
        tok = pybpe.train(
            ["a <s> b <e> c"] * 9, num_merges=30, initial=changed(old, flags=flags)
        )
        assert tok.special_tokens == old.special_tokens
        assert tok.encode("<e>", allowed_special="all") == [279]
        assert (b" <" in tok.vocab) == ("<s>" not in found)
        again = pybpe.Tokenizer.from_bytes(tok.to_bytes())
        assert again.encode("<s>", allowed_special={"<s>"}) == tok.encode(
            "<s>", allowed_special={"<s>"}
        )
