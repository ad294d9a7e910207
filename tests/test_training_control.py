"""Control over the vocabulary: sizes, longest tokens, protected strings, going on from
a tokenizer, and several sizes from one run."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import reference

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

TEXTS = ["low lower lowest", "new newer newest", "\u6f22\u5b57 \u6f22\u5b57", "1234 12"]
TIES = ["lowest", "first"]


def learnt(tok: pybpe.Tokenizer) -> list[bytes]:
    """The ordinary tokens of more than one byte."""
    return [token for token in tok.vocab if len(token) > 1]


def report_of(tok: pybpe.Tokenizer) -> pybpe.TrainingReport:
    assert tok.training_report is not None
    return tok.training_report


def refuse(message: str, error: type[Exception] = ValueError, **options: Any) -> None:
    with pytest.raises(error, match=message):
        pybpe.train(**{"texts": TEXTS, "vocab_size": 300, **options})


def random_texts(random_: random.Random) -> list[str]:
    letters = random_.choice(["ab", "abc ", "aab \n", "a\xe9 1", "\u6f22\u5b57a "])
    return [
        "".join(random_.choices(letters, k=random_.choice([2, 20, 200, 400])))
        for _ in range(random_.randint(1, 6))
    ]


def words_of(texts: list[str], split: pybpe.Split) -> list[tuple[bytes, int]]:
    return [(w.encode(), 1) for text in texts for w in split.pretokens(text)]


# ---------------------------------------------------------------- sizes


def test_num_merges() -> None:
    options: dict[str, Any] = {"special_tokens": ["<s>", "<e>"], "protected": ["12"]}
    tok = pybpe.train(TEXTS, num_merges=7, **options)
    assert len(tok.merges) == 7
    assert tok.vocab_size == 256 + 7 + 3
    assert tok == pybpe.train(TEXTS, 266, **options)
    assert report_of(tok).vocab_size_asked == 266
    assert report_of(tok).stop_reason == "num_merges reached"
    assert pybpe.train(TEXTS, num_merges=0).merges == []
    tok = pybpe.train(["abab"], num_merges=1000, pattern=None)
    assert report_of(tok).stop_reason == "nothing left to merge"
    assert report_of(tok).vocab_size_asked == 1256


def test_exactly_one_size() -> None:
    refuse("give vocab_size or num_merges, not both", TypeError, num_merges=3)
    refuse("give vocab_size or num_merges$", TypeError, vocab_size=None)
    with pytest.raises(TypeError, match="give vocab_size or num_merges"):
        pybpe.train_from_counts({"a": 1})
    with pytest.raises(TypeError, match="give vocab_size or num_merges"):
        pybpe.train_from_files([])
    refuse("num_merges must be between 0 and .*got -1", vocab_size=None, num_merges=-1)
    refuse(
        "num_merges must be between 0 and 16776959, got 16776960",
        vocab_size=None,
        num_merges=2**24 - 256,
    )
    refuse("num_merges must be an int", TypeError, vocab_size=None, num_merges=1.5)


def test_as_many_as_possible() -> None:
    for tok in (
        pybpe.train(TEXTS, 2**24 - 1),
        pybpe.train(TEXTS, num_merges=2**24 - 257),
    ):
        assert report_of(tok).stop_reason == "nothing left to merge"
        assert len(tok.encode("low")) == len(tok.encode(" lowest")) == 1


# ---------------------------------------------------------------- longest tokens


@pytest.mark.parametrize("most", [1, 2, 3, 4, 7])
def test_max_token_bytes(most: int) -> None:
    texts = ["aaa bbb abab"] * 3
    tok = pybpe.train(texts, 300, max_token_bytes=most)
    assert max(map(len, tok.vocab)) <= most
    assert report_of(tok).stop_reason == (
        "nothing left to merge" if most >= 5 else "max_token_bytes"
    )
    # It goes on with the next best pair.
    want, _ = reference.train(words_of(texts, tok.split), 44, max_token_bytes=most)
    assert tok.merges == want
    assert len(want) > 0 or most == 1


def test_why_a_limited_training_stops() -> None:
    counts = {"abcd": 5, "xy": 1}
    stop = {
        (2, 1): "max_token_bytes",
        (2, 2): "min_frequency",  # "xy" is short, but rare
        (2, 9): "min_frequency",
        (4, 1): "nothing left to merge",
        (4, 2): "min_frequency",
        (1, 1): "max_token_bytes",
        (1, 9): "max_token_bytes",  # however rare
    }
    for (most, least), why in stop.items():
        tok = pybpe.train_from_counts(
            counts, 300, max_token_bytes=most, min_frequency=least
        )
        assert report_of(tok).stop_reason == why, (most, least)


def test_max_token_bytes_is_checked() -> None:
    refuse("max_token_bytes must be between 1 and .*got 0", max_token_bytes=0)
    refuse("max_token_bytes must be an int", TypeError, max_token_bytes=3.5)


# ---------------------------------------------------------------- bounded memory


@pytest.mark.parametrize("num_threads", [1, 2, 4])
def test_max_pretokens_is_exact(
    num_threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whether there are too many depends on the texts alone, not on threads or parts.
    from pybpe import _counting

    monkeypatch.setattr(_counting, "LEAST_PART", 50)
    monkeypatch.setattr(_counting, "MOST_PART", 50)
    monkeypatch.setattr(_counting, "PORTION", 100)
    words = [f"word{i}" for i in range(100)] * 3
    texts = [" ".join(words), "word0 word1"]
    want = pybpe.train(texts, 300)
    n = report_of(want).distinct_pretokens
    path = tmp_path / "text"
    path.write_text(" ".join(words))
    for most in (n, n + 1):
        tok = pybpe.train(texts, 300, max_pretokens=most, num_threads=num_threads)
        assert tok == want
    for most in (n - 1, 1):
        message = f"more than max_pretokens={most} distinct pretokens: allow more"
        with pytest.raises(pybpe.TrainingError, match=message):
            pybpe.train(texts, 300, max_pretokens=most, num_threads=num_threads)
        with pytest.raises(pybpe.TrainingError, match=message):
            pybpe.train_from_files(
                [path], 300, max_pretokens=most, num_threads=num_threads
            )


def test_max_pretokens_is_checked() -> None:
    refuse("max_pretokens must be between 1 and .*no limit.*got 0", max_pretokens=0)
    refuse("max_pretokens must be an int", TypeError, max_pretokens="9")


# ---------------------------------------------------------------- protected


def test_protected_strings_stay_whole() -> None:
    texts = ["x218y 218", "a 218b c"] * 5
    tok = pybpe.train(texts, 400, protected=["218", "a b"], special_tokens=["<s>"])
    n = 256 + len(tok.merges)
    assert tok.added_tokens == {"218": n, "a b": n + 1}
    assert tok.special_tokens == {"<s>": n + 2}
    assert report_of(tok).vocab_size == tok.vocab_size == n + 3
    # Nothing is learnt from, or across, them ...
    assert learnt(tok) == [b" c"]
    # ... and texts are cut at them alike, by every method and without permission.
    want = [ord("x"), n, ord("y"), ord(" "), n]
    assert tok.encode("x218y 218") == tok.encode_ordinary("x218y 218") == want
    assert tok.encode("ca bc") == [ord("c"), n + 1, ord("c")]
    assert tok.decode(want) == "x218y 218"
    assert tok.encode("2218") == [ord("2"), n]


def test_protected_strings_are_counted_by_no_way_of_counting(tmp_path: Path) -> None:
    text = "ab<|>cd ab<|>cd<|" * 20
    path = tmp_path / "text"
    path.write_text(text)
    for pattern in ("cl100k", None, r"(?<=a)b|\s+|\S"):
        options: dict[str, Any] = {"protected": ["<|>"], "pattern": pattern}
        tok = pybpe.train([text], 300, **options)
        assert tok == pybpe.train_from_files([path], 300, **options)
        assert not any(b"<|>" in token for token in tok.vocab)
        pieces = [piece for piece in text.split("<|>") for piece in [piece] if piece]
        assert pybpe.train(pieces, 299, pattern=pattern).merges == tok.merges


def test_protected_and_special_tokens_overlap() -> None:
    # One rule for all that is cut out: leftmost, then longest.
    tok = pybpe.train(
        ["<a><a>bab <a"], 300, protected=["<a>b", "<a"], special_tokens=["<a>"]
    )
    assert report_of(tok).pretokens == len(["ab", " "])
    ids = tok.encode("<a><a>bab <a", allowed_special="all")
    names = {**tok.special_tokens, **tok.added_tokens}
    assert ids[:2] == [names["<a>"], names["<a>b"]]
    assert ids[-1] == names["<a"]


def test_protected_is_checked() -> None:
    refuse("protected must be a list of tokens, got one str", TypeError, protected="x")
    refuse("got a set: their order decides", TypeError, protected={"x"})
    refuse(r"protected\[1\] is empty: it would match everywhere", protected=["x", ""])
    refuse(r"protected\[1\], b'x', is there twice", protected=["x", b"x"])
    refuse(
        "'x' cannot be both protected and a special token",
        protected=["x"],
        special_tokens=["x"],
    )
    refuse(
        "between 259 and .*the 2 protected tokens and the 1 special token are always",
        vocab_size=258,
        protected=["x", "y"],
        special_tokens=["z"],
    )


def cut(text: str, strings: list[str]) -> list[str]:
    """What is left of a text, looking at every place for the longest string."""
    parts, i = [""], 0
    while i < len(text):
        found = [string for string in strings if text.startswith(string, i)]
        if found:
            parts.append("")
            i += max(map(len, found))
        else:
            parts[-1] += text[i]
            i += 1
    return parts


@pytest.mark.parametrize("tie_break", TIES)
def test_all_options_at_once_equal_the_reference(tie_break: str) -> None:
    for seed in range(60):
        random_ = random.Random(seed)
        texts = random_texts(random_)
        strings = ["ab", "aba", " ", "b", "a\xe9", "\u5b57", "bb"]
        protected = random_.sample(strings, 2)
        special = random_.sample([s for s in strings if s not in protected], 2)
        split = pybpe.Split.from_pattern(random_.choice(["gpt2", None]))
        most, least = random_.choice([None, 2, 5]), random_.choice([1, 2, 4])
        wanted = random_.choice([5, 50])
        tok = pybpe.train(
            texts,
            num_merges=wanted,
            pattern=split,
            special_tokens=special,
            protected=protected,
            tie_break=tie_break,
            min_frequency=least,
            max_token_bytes=most,
            num_threads=1,
        )
        parts = [part for text in texts for part in cut(text, protected + special)]
        want, _ = reference.train(
            words_of(parts, split),
            wanted,
            tie_break=tie_break,
            min_frequency=least,
            max_token_bytes=most,
        )
        assert tok.merges == want, seed
        reached = report_of(tok).stop_reason == "num_merges reached"
        assert reached == (len(want) == wanted)
        names = {**tok.added_tokens, **tok.special_tokens}
        for text in texts:
            ids = tok.encode(text, allowed_special="all")
            whole = [i for i in ids if i in names.values()]
            assert len(whole) == len(cut(text, protected + special)) - 1


# ---------------------------------------------------------------- going on


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


# ---------------------------------------------------------------- snapshots


@pytest.mark.parametrize("tie_break", TIES)
def test_snapshots_are_separate_runs(tie_break: str) -> None:
    for seed in range(30):
        random_ = random.Random(seed)
        texts = random_texts(random_)
        options: dict[str, Any] = {
            "tie_break": tie_break,
            "special_tokens": ["<s>"],
            "protected": ["ba"],
            "max_token_bytes": random_.choice([None, 3]),
            "initial": random_.choice([None, pybpe.train(["abc"], 257)]),
        }
        sizes = [260, 300, 267]
        tok = pybpe.train(texts, 320, snapshots=sizes, **options)
        assert tok == pybpe.train(texts, 320, **options)
        snapshots = report_of(tok).snapshots
        assert list(snapshots) == sizes
        for size in sizes:
            alone = pybpe.train(texts, size, **options)
            assert snapshots[size].to_bytes() == alone.to_bytes(), (seed, size)
            assert snapshots[size].training_report == alone.training_report


def test_snapshots_of_files_and_counts(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("low lower lowest")
    tok = pybpe.train_from_files([path], 262, snapshots=[259])
    assert report_of(tok).snapshots[259] == pybpe.train(["low lower lowest"], 259)
    counts = {"abc": 3, "bc": 2}
    tok = pybpe.train_from_counts(counts, num_merges=2, snapshots=[257, 258])
    assert report_of(tok).snapshots == {
        257: pybpe.train_from_counts(counts, 257),
        258: tok,
    }
    assert report_of(tok).snapshots[258].training_report is not None
    # It is one by its size, whatever the run was asked for.
    snapshot = report_of(report_of(tok).snapshots[258])
    assert snapshot.stop_reason == "vocab_size reached"


def test_snapshots_are_what_truncation_leaves() -> None:
    for protected in ([], ["12"]):
        tok = pybpe.train(
            TEXTS, 290, protected=protected, special_tokens=["<s>"], snapshots=[265]
        )
        assert report_of(tok).snapshots[265] == tok.truncate(265)


def test_snapshots_are_checked() -> None:
    refuse("snapshots must be a list of sizes, got int", TypeError, snapshots=280)
    refuse(r"snapshots\[0\] must be an int", TypeError, snapshots=["280"])
    refuse(r"snapshots\[1\] must be between 256 and 300.*got 301", snapshots=[256, 301])
    refuse(r"snapshots\[0\] must be between 256", snapshots=[255])


# ---------------------------------------------------------------- the report


def test_the_report_tells_time_and_memory() -> None:
    tok = pybpe.train(["low lower lowest"] * 1000, 270, snapshots=[260])
    report = report_of(tok)
    assert [phase.name for phase in report.phases] == ["count", "merge"]
    assert all(0 <= phase.seconds < 60 for phase in report.phases)
    for phase in report.phases:
        assert phase.peak_memory is None or 1 << 20 < phase.peak_memory < 1 << 40
    assert report_of(report.snapshots[260]).phases == ()
    # What was measured is no part of what is compared.
    again = report_of(pybpe.train(["low lower lowest"] * 1000, 270))
    assert again == report
    assert hash(again) == hash(report)
    copy = pickle.loads(pickle.dumps(report))
    assert (copy, copy.phases, copy.snapshots) == (
        report,
        report.phases,
        report.snapshots,
    )


def test_options_are_provenance() -> None:
    tok = pybpe.train(TEXTS, 270, max_token_bytes=5, protected=["12"])
    provenance = tok._model.provenance
    assert provenance["max_token_bytes"] == 5
    assert provenance["merges"] == len(tok.merges)
    assert type(provenance["byte_order"]) is str
    assert "initial" not in provenance


def test_the_peak_is_unknown_where_the_system_does_not_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    from pybpe import _process

    assert _process.peak_memory() is not None

    def gone(self: Path) -> bytes:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_bytes", gone)
    assert (_process.peak_memory() or 0) > 1 << 20
    monkeypatch.setitem(sys.modules, "resource", None)
    assert _process.peak_memory() is None


def test_the_page_about_training() -> None:
    import doctest

    page = Path(__file__).resolve().parent.parent / "docs" / "training.md"
    text = page.read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, None, 0)
    assert len(examples.examples) > 10
    report: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(examples, out=report.append)
    assert failed.failed == 0, "".join(report)
