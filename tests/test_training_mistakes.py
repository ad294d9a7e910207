"""Small corpora on which released trainers have gone wrong, and the right vocabularies.

The comments number the cases. Some are told in full elsewhere: merges of all tools in
`test_training_exact.py`, options in `test_training.py` and `test_training_control.py`.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
import reference

import pybpe

TEXT = "the cat sat on the mat; 12 cats sat on 12 mats. \u6f22\u5b57\n" * 3


def learnt(tok: pybpe.Tokenizer) -> list[bytes]:
    """The ordinary tokens of more than one byte."""
    return [token for token in tok.vocab if len(token) > 1]


def report_of(tok: pybpe.Tokenizer) -> pybpe.TrainingReport:
    assert tok.training_report is not None
    return tok.training_report


# ------------------------------------------------------------------ sizes


@pytest.mark.parametrize(
    ("text", "tokens"), [("", []), ("   ", [b"  ", b"   "]), ("ab", [b"ab"])]
)
def test_too_little_text_gives_what_there_is(text: str, tokens: list[bytes]) -> None:
    # T1: minbpe fails with "max() arg is an empty sequence".
    tok = pybpe.train([text], 300, pattern=None)
    assert learnt(tok) == tokens
    assert report_of(tok).vocab_size == tok.vocab_size == 256 + len(tokens)
    assert report_of(tok).stop_reason == "nothing left to merge"


@pytest.mark.parametrize("text", ["abababab", "aaaa"])
def test_no_vocabulary_is_filled_up_with_what_does_not_occur(text: str) -> None:
    # T5: sentencepiece adds pieces of frequency 0.
    tok = pybpe.train([text], 10_000, pattern=None)
    assert all(token in text.encode() for token in learnt(tok))


def test_an_impossible_size_is_refused_with_the_possible_ones() -> None:
    # T7, T14: one message says all, and following it works at once.
    options: dict[str, Any] = {"special_tokens": ["<s>"], "protected": ["wor"]}
    with pytest.raises(ValueError, match=r"between 258 and 16777215 .*got 7"):
        pybpe.train(["hello world"], 7, **options)
    least = pybpe.train(["hello world"], 258, **options)
    assert (least.vocab_size, least.merges) == (258, [])
    # T7, T15: a size that is never reached is no error; what was reached is told.
    tok = pybpe.train(["hello world"] * 5, 30_000)
    assert report_of(tok).vocab_size == tok.vocab_size == 256 + 9
    assert report_of(tok).vocab_size_asked == 30_000
    assert report_of(tok).stop_reason == "nothing left to merge"


def test_the_longest_token_is_obeyed() -> None:
    # T13: Hugging Face's BpeTrainer learns aa, ab, bb with max_token_length=1.
    for most, tokens in ((1, set()), (2, {b"aa", b" b", b"bb", b" a", b"ba"})):
        tok = pybpe.train(["aaa bbb abab"], 300, max_token_bytes=most)
        assert set(learnt(tok)) <= tokens | {b"ab"}
        assert bool(learnt(tok)) == (most > 1)
        assert report_of(tok).stop_reason == "max_token_bytes"


# ------------------------------------------------------------------ ties and order


def test_ties_do_not_depend_on_the_order_of_texts() -> None:
    # T2, T27: the default order is total; minbpe's own goes by the text.
    texts = ["bbb", "aaa", "dddd", "cccc"]
    found = {
        tuple(learnt(pybpe.train(order, 260, pattern=None)))
        for order in itertools.permutations(texts)
    }
    assert found == {(b"cc", b"dd", b"aa", b"bb")}
    for text, first in (
        ("bbbaaaddddcccc", [b"dd", b"cc", b"bb", b"aa"]),
        ("aaabbbccccdddd", [b"cc", b"dd", b"aa", b"bb"]),
    ):
        tok = pybpe.train([text], 260, pattern=None, tie_break="first")
        assert learnt(tok) == first


@pytest.mark.parametrize("tie_break", ["lowest", "first"])
@pytest.mark.parametrize("text", ["abcabc", "abcabcbcab", "abbabbab", "aabaabaaa"])
def test_pairs_that_share_a_token_merge_one_at_a_time(
    text: str, tie_break: str
) -> None:
    # T3.
    tok = pybpe.train([text] * 2, 300, pattern=None, tie_break=tie_break)
    want, _ = reference.train([(text.encode(), 2)], 44, tie_break=tie_break)
    assert tok.merges == want


def test_the_last_text_counts_as_much_as_the_first() -> None:
    # T25: nothing is sampled, so no source is left out for coming late.
    texts = ["xy "] * 500 + ["zw "] * 1000
    for order in (texts, texts[::-1]):
        tok = pybpe.train(order, 257)
        assert learnt(tok) == [b"zw"]


# ------------------------------------------------------------------ long and large


@pytest.mark.parametrize("text", ["a" * 5000, "ab" * 35_000, "\u6f22" * 30_000])
def test_no_line_is_skipped_for_its_length(text: str) -> None:
    # T6: sentencepiece drops lines above 4192 bytes; T8: 16-bit positions.
    tok = pybpe.train([text], 400, pattern=None)
    assert report_of(tok).bytes == len(text.encode())
    assert max(map(len, learnt(tok))) > len(text.encode()) // 3
    assert tok.decode(tok.encode(text)) == text


@pytest.mark.parametrize("tie_break", ["lowest", "first"])
def test_counts_beyond_32_bits(tie_break: str) -> None:
    # T9: an int overflows, and "the" is never merged.
    counts = {"the": 3_000_000_000, "then": 2**32 - 1, " the": 2**33, "he": 5}
    tok = pybpe.train_from_counts(counts, 259, tie_break=tie_break)
    want, _ = reference.train(
        [(word.encode(), n) for word, n in counts.items()], 3, tie_break=tie_break
    )
    assert tok.merges == want
    assert pybpe.train_from_counts({"the": 3_000_000_000}, 258).encode("the") == [257]


# ------------------------------------------------------------------ whole strings


def test_protected_strings_cut_training_and_encoding_alike() -> None:
    # T10, T17: no piece is learnt that no text is encoded with.
    tok = pybpe.train(["x218y 218"] * 3, 400, protected=["218"])
    assert learnt(tok) == []
    tok = pybpe.train(["ab ab foo", "foo bar xfoo"] * 3, 400, protected=["foo", "bar"])
    assert not any(b"f" in token or b"r" in token for token in learnt(tok))
    ids = [*tok.vocab.values(), *tok.added_tokens.values()]
    assert sorted(ids) == list(range(tok.vocab_size))
    text = "ab foo bar"
    assert [tok.token_bytes(i) for i in tok.encode(text)] == [
        *(b"ab", b" ", b"foo", b" ", b"bar")
    ]


def test_protected_strings_with_spaces_match_and_empty_ones_are_refused() -> None:
    # T11: sentencepiece fails after training, and never finds "a b".
    with pytest.raises(ValueError, match=r"protected\[0\] is empty"):
        pybpe.train([TEXT], 300, protected=[""])
    tok = pybpe.train(["a b a b"], 300, protected=["a b", " on the "])
    assert tok.encode("a b") == [tok.added_tokens["a b"]]
    assert tok.encode("x on the y")[1] == tok.added_tokens[" on the "]


# ------------------------------------------------------------------ all of the text


def test_any_text_can_be_encoded_and_comes_back() -> None:
    # T18, T22: bytes that the texts lack are tokens all the same.
    for options in ({}, {"byte_order": "gpt2"}, {"max_token_bytes": 1}):
        tok = pybpe.train(["hello"], 300, **options)  # type: ignore[arg-type]
        for text in ("hello zoo", "h\u00e9", "\U0001f600\0\n"):
            assert tok.decode(tok.encode(text)) == text


@pytest.mark.parametrize("texts", [[None], ["a", 5], 5, "text", b"bytes", {"a": 1}])
def test_what_is_no_list_of_texts_is_a_type_error(texts: Any) -> None:
    # T20.
    with pytest.raises(TypeError, match="texts"):
        pybpe.train(texts, 300)
    assert pybpe.train([b"abab"], 300) == pybpe.train(["abab"], 300)


def test_the_split_is_part_of_the_model(tmp_path: Path) -> None:
    # T23: training with one pattern and encoding with another learns what never fires.
    pattern = r"\p{N}{1,2}|\p{L}+|\s+|."
    tok = pybpe.train(["123456 12 34 56 " * 9], 300, pattern=pattern)
    assert max(len(token) for token in learnt(tok) if token.isdigit()) == 2
    tok.save(tmp_path / "model")
    loaded = pybpe.load(tmp_path / "model")
    assert loaded.pattern == pattern
    used = set(loaded.encode("123456 12 34 56 "))
    assert used <= {tok.token_id(t) for t in ("12", "34", "56", " ")}


def test_texts_are_cut_at_special_tokens_before_they_are_split() -> None:
    # T26: one order of things, special tokens, split, bytes.
    tok = pybpe.train(
        ["<|a b|>x <|a b|>x"] * 3, 400, special_tokens=["<|a b|>"], pattern="gpt2"
    )
    assert report_of(tok).distinct_pretokens == 2  # "x" and " ", not " <|" or "|>x"
    tok = pybpe.train(["caf\u00e9 \u00e9t\u00e9"] * 3, 400, pattern=r"\w+|\s+")
    assert all(" " not in t.decode(errors="replace") for t in learnt(tok))
    assert "\u00e9t\u00e9".encode() in learnt(tok)


# ------------------------------------------------------------------ going on, and pairs


def test_going_on_keeps_every_merge() -> None:
    # T24: superbpe's num_inherit_merges was ignored, or changed old merges.
    old = pybpe.train([TEXT], 270, pattern="gpt2")
    for texts in ([TEXT], ["quite other words, other words"] * 9):
        new = pybpe.train(texts, 275, initial=old)
        assert new.merges[: len(old.merges)] == old.merges
        assert len(new.merges) > len(old.merges)
    assert pybpe.train([TEXT], 280, initial=old) == pybpe.train(
        [TEXT], 280, pattern="gpt2"
    )


def test_pairs_are_kept_where_tokens_do_not_tell_them(tmp_path: Path) -> None:
    # T28: "abc" may be ab+c or a+bc; the model says which, also after saving.
    for counts, pair in (
        ({"ab": 9, "abc": 5}, (256, ord("c"))),
        ({"bc": 9, "abc": 5}, (ord("a"), 256)),
    ):
        tok = pybpe.train_from_counts(counts, 258, pattern=None)
        tok.save(tmp_path / "model")
        assert pybpe.load(tmp_path / "model").merges[1] == tok.merges[1] == pair
    # Of ranks alone, the pairs come back by merging with the ranks below each token's.
    for seed in range(20):
        texts = ["".join(random.Random(seed).choices("abc ", k=300))]
        tok = pybpe.train(texts, 320, pattern=None)
        ranks = pybpe.Tokenizer.from_ranks(tok.vocab, pattern=None)
        assert ranks.merges == tok.merges
