"""What a tokenizer promises its user: types, errors, batches, equality."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
import threading
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import growth
import numpy as np
import pytest
from hello_model import BYTES, END, PAD, hello, make
from hypothesis import given
from hypothesis import strategies as st

import pybpe
from pybpe import ModelError, SpecialTokenError, Tokenizer
from pybpe.model import Model


@pytest.fixture(scope="module")
def tok() -> Tokenizer:
    return hello()


# ------------------------------------------------------------------ text and bytes


@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    tok = make(b"he", b"\xc3\xa9")
    assert tok.decode(tok.encode(text)) == text
    assert tok.count(text) == len(tok.encode(text))


@given(st.binary())
def test_any_bytes_come_back(data: bytes) -> None:
    tok = make(b"he", b"\xc3\xa9")
    assert tok.decode_bytes(tok.encode(data)) == data


@given(st.text(), st.text())
def test_bytes_are_encoded_like_the_text_they_spell(a: str, b: str) -> None:
    tok = make(b"ab", b"\xc3\xa9")
    assert tok.encode((a + b).encode()) == tok.encode(a + b)


def test_kinds_of_bytes(tok: Tokenizer) -> None:
    for kind in (bytes, bytearray, memoryview):
        assert tok.encode(kind(b"hello")) == [259]


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("\ud83d", "\ufffd"),
        ("\ud83d\udc4d", "\U0001f44d"),
        ("a\udc4d\ud83db", "a\ufffd\ufffdb"),
    ],
)
def test_surrogates_follow_one_rule_in_every_entry_point(
    tok: Tokenizer, text: str, same_as: str
) -> None:
    want = tok.encode(same_as)
    assert tok.encode(text) == want
    assert tok.encode_ordinary(text) == want
    assert tok.encode_to_numpy(text).tolist() == want
    assert tok.encode_batch([text]) == [want]
    assert tok.count(text) == len(want)


@pytest.mark.parametrize("text", [None, 5, ["a"], 1.5, {"a": 1}, array("I", [1])])
def test_text_of_a_wrong_type(tok: Tokenizer, text: Any) -> None:
    name = type(text).__name__
    for call in (tok.encode, tok.encode_ordinary, tok.count, tok.encode_to_numpy):
        with pytest.raises(TypeError, match=f"text must be str or bytes, got {name}"):
            call(text)
    with pytest.raises(
        TypeError, match=rf"texts\[1\] must be str or bytes, got {name}"
    ):
        tok.encode_batch(["a", text])


def test_nul_and_newlines_are_ordinary(tok: Tokenizer) -> None:
    text = "a\0b\r\n\0"
    assert tok.encode(text) == list(text.encode())


def test_empty(tok: Tokenizer) -> None:
    assert tok.encode("") == tok.encode(b"") == []
    assert tok.encode_batch([]) == []
    assert tok.encode_batch(["", "hello", ""]) == [[], [259], []]
    assert tok.encode_to_numpy("").shape == (0,)
    assert tok.count("") == 0
    assert tok.decode([]) == ""
    assert tok.decode_batch([]) == []


def test_all_outputs_agree(tok: Tokenizer) -> None:
    texts = [f"hello {i} hell he\n" * (i % 7) for i in range(300)]
    want = [tok.encode(text) for text in texts]
    assert tok.encode_batch(texts) == want
    assert tok.encode_batch(iter(texts), num_threads=3) == want
    for text, ids in zip(texts, want, strict=True):
        found = tok.encode_to_numpy(text)
        assert found.dtype == np.uint32
        assert found.flags.owndata
        assert found.tolist() == ids
        assert tok.count(text) == len(ids)
    assert tok.decode_batch(want) == texts


def test_a_batch_larger_than_a_portion(tok: Tokenizer) -> None:
    texts = ["hello " * 100_000, "", "x" * 5_000_000, "hell"] * 3
    want = [tok.encode(text) for text in texts]
    for threads in (1, 2, 5):
        assert tok.encode_batch(texts, num_threads=threads) == want


def test_a_bare_text_is_no_batch(tok: Tokenizer) -> None:
    for text in ("abc", b"abc"):
        with pytest.raises(TypeError, match="use encode"):
            tok.encode_batch(text)


@pytest.mark.parametrize("number", [0, -1])
def test_num_threads_below_one(tok: Tokenizer, number: int) -> None:
    with pytest.raises(ValueError, match="num_threads must be 1 or more"):
        tok.encode_batch(["a"], num_threads=number)


def test_an_exception_of_the_batch_iterator_comes_through(tok: Tokenizer) -> None:
    class Mine(Exception):
        pass

    def texts() -> Iterator[str]:
        yield "a"
        raise Mine

    with pytest.raises(Mine):
        tok.encode_batch(texts())


# ------------------------------------------------------------------ merge semantics


def test_a_pretoken_that_is_a_token_is_taken_whole() -> None:
    tok = make(b"bcd")
    assert tok.encode("bcd") == [256]
    assert tok.encode("abcd") == list(b"abcd")


def test_rank_order_where_the_table_is_not_closed_under_merges() -> None:
    tok = make(b"ab", b"ba", b"bc", b"abc", b"babc", b"ababc")
    assert tok.encode("xababc") == [ord("x"), 261]
    assert tok.encode("abab") == [256, 256]


def test_merge_lists_do_not_take_pretokens_whole() -> None:
    merges = [(98, 99), (97, 256)]
    tok = Tokenizer.from_merges(merges, pattern=None)
    assert tok.encode("abc") == [257]
    assert tok.merges == merges
    only = {**BYTES, b"bcd": 256}
    plain = Tokenizer.from_merges([], vocab=only, pattern=None)
    whole = Tokenizer.from_merges([], vocab=only, pattern=None, whole_pretoken=True)
    assert plain.encode("bcd") == list(b"bcd")
    assert whole.encode("bcd") == [256]


def test_merges_given_as_bytes() -> None:
    tok = Tokenizer.from_merges([(b"a", b"b"), (b"ab", b"c")], pattern=None)
    assert tok.merges == [(97, 98), (256, 99)]
    assert tok.encode("abcab") == [257, 256]


def test_merges_recovered_from_ranks() -> None:
    # "bcd" has no pair, "abc" is ab + c although a + bc would do too.
    tok = make(b"ab", b"bc", b"abc", b"bcdx")
    assert tok.merges == [(97, 98), (98, 99), (256, 99)]


def test_gpt2_byte_order() -> None:
    tok = Tokenizer.from_merges([], pattern=None, byte_order="gpt2")
    assert tok.encode("!~\xa1\xad".encode("latin-1")) == [0, 93, 94, 255]
    assert tok.encode(b"\0 \n") == [188, 220, 198]
    assert sorted(tok.encode(bytes(range(256)))) == list(range(256))


# ------------------------------------------------------------------ hostile callers


def test_a_length_that_lies_is_not_believed(tok: Tokenizer) -> None:
    class Lying(bytes):
        def __len__(self) -> int:
            return 1_000_000

    assert tok.encode(Lying(b"hello")) == [259]
    assert tok.encode_batch([Lying(b"hello")]) == [[259]]
    assert tok.count(Lying(b"hello")) == 1
    assert tok.token_id(Lying(b"hello")) == 259
    with pytest.raises(SpecialTokenError):
        tok.encode("hello", disallowed_special=[Lying(b"lo")])
    assert pybpe.train([Lying(b"ab ab")], 300) == pybpe.train([b"ab ab"], 300)
    counts = {Lying(b"ab"): 2}
    assert pybpe.train_from_counts(counts, 300).token_id(b"ab") == 256


def test_a_method_that_lies_is_not_asked(tok: Tokenizer) -> None:
    class Lying(str):
        def encode(self, *_: object) -> Any:
            return 5

    assert tok.encode(Lying("hello")) == [259]


def test_merges_that_double_for_ever_are_refused_in_time() -> None:
    doubling = [(0, 0), *((256 + i, 256 + i) for i in range(60))]
    with pytest.raises(ValueError, match=r"merges\[29\] makes a token of 1073741824"):
        Tokenizer.from_merges(doubling, pattern=None)


def test_parts_of_a_model_that_do_not_fit_together() -> None:
    good = Tokenizer.from_merges([(97, 98)], pattern=None)._model
    parts = {name: getattr(good, name) for name in good.__slots__}
    for change in (
        {"token_lengths": array("I", [1] * 10)},
        {"merge_ids": array("I", [256, 256])},
        {"semantics": "x"},
    ):
        with pytest.raises(ModelError):
            Tokenizer(Model(**{**parts, **change}))


def test_numbers_too_large_to_save_do_not_stop_saving() -> None:
    tok = pybpe.train(["aaa"], 300, min_frequency=2**63)
    assert pickle.loads(pickle.dumps(tok)) == tok
    tok = pybpe.train_from_counts({"a": 2**64 - 1}, 300)
    assert pickle.loads(pickle.dumps(tok)) == tok


def test_no_work_for_each_special_token_in_each_call() -> None:
    # A hundred thousand of them: 20 ms a call, if every call looked at every one, which
    # is thousands of times what a call takes.
    def calls(n_special: int) -> Callable[[], object]:
        tok = make(special_tokens={f"<{i}>": 300 + i for i in range(n_special)})
        return lambda: [tok.encode("hello") for _ in range(200)]

    growth.check_ratio(calls(100_000), calls(1), 20)


def test_an_encoding_without_threads_to_be_had(
    tok: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    texts = ["hello " * 1_000_000] * 3
    want = tok.encode_batch(texts, num_threads=1)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert tok.encode_batch(texts, num_threads=4) == want


# ------------------------------------------------------------------ construction


def test_sizes_with_gaps() -> None:
    tok = Tokenizer.from_ranks(
        {**BYTES, b"ab": 1000}, pattern=None, special_tokens={END: 2000}
    )
    assert tok.vocab_size == 258
    assert tok.n_vocab == 2001
    assert tok.encode("ab") == [1000]


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ({b"a": 0, b"b": 1}, ModelError, "254 of the 256 single bytes"),
        ({**BYTES, b"ab": 97}, ModelError, "b'a' and b'ab' share the id 97"),
        ({**BYTES, b"": 256}, ModelError, "empty token"),
        ({**BYTES, "ab": 256}, TypeError, "must have bytes as keys, got 'ab'"),
        ({**BYTES, b"ab": "256"}, TypeError, "must be an int"),
        ({**BYTES, b"ab": -1}, ValueError, "id -1 is out of range"),
        ({**BYTES, b"ab": 2**24}, ValueError, "id 16777216 is out of range"),
        ({**BYTES, b"ab": 2**70}, ValueError, "out of range"),
        ([b"a"], TypeError, "must be a mapping"),
        (None, TypeError, "must be a mapping"),
    ],
)
def test_ranks_refused(table: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Tokenizer.from_ranks(table, pattern=None)


@pytest.mark.parametrize(
    ("merges", "error", "message"),
    [
        ([(97, 98), (97, 500)], ModelError, r"merges\[1\]: no token has id 500"),
        ([(97, 256)], ModelError, r"merges\[0\]: no token has id 256"),
        ([(b"ab", b"c")], ModelError, r"merges\[0\]: b'ab' is no token"),
        ([(97,)], TypeError, r"merges\[0\] must be a pair"),
        ([5], TypeError, r"merges\[0\] must be a pair"),
        ([("a", "b")], TypeError, "must be a pair of ids or of bytes"),
        ([(97, -1)], ModelError, "no token has id -1"),
        ("ab", TypeError, "must be a list of pairs"),
        (None, TypeError, "must be a list of pairs"),
    ],
)
def test_merges_refused(merges: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Tokenizer.from_merges(merges, pattern=None)


def test_options_of_merges_refused() -> None:
    with pytest.raises(ValueError, match="identity, gpt2, got 'latin1'"):
        Tokenizer.from_merges([], pattern=None, byte_order="latin1")
    with pytest.raises(ValueError, match="no meaning beside vocab"):
        Tokenizer.from_merges([], pattern=None, byte_order="gpt2", vocab=BYTES)
    with pytest.raises(ModelError, match="which vocab does not have"):
        Tokenizer.from_merges([(97, 98)], pattern=None, vocab=BYTES)


def test_two_merges_may_make_the_same_bytes() -> None:
    merges = [(97, 98), (98, 99), (256, 99), (97, 257)]
    tok = Tokenizer.from_merges(merges, pattern=None)
    assert tok.token_bytes(258) == tok.token_bytes(259) == b"abc"
    assert tok.encode("abc") == [258]
    assert tok.token_id("abc") == 258
    assert tok == pickle.loads(pickle.dumps(tok))


def test_not_made_of_a_file_name() -> None:
    with pytest.raises(TypeError, match=r"pybpe\.load"):
        Tokenizer("model.pybpe")  # type: ignore[arg-type]


# ------------------------------------------------------------------ identity


def test_immutable(tok: Tokenizer) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        tok.pattern = "x"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        del tok._model
    tok.special_tokens.clear()
    tok.merges.clear()
    assert tok.special_tokens == {END: 300, PAD: 301}
    assert len(tok.merges) == 4


def test_equality_is_by_content(tok: Tokenizer) -> None:
    same = make(b"he", b"ll", b"hell", b"hello", special_tokens={PAD: 301, END: 300})
    assert same == tok
    assert hash(same) == hash(tok)
    assert same.fingerprint == tok.fingerprint
    assert len(tok.fingerprint) == 64
    others = [
        make(b"he", b"ll", b"hell", b"hello", special_tokens={END: 301, PAD: 300}),
        make(b"he", b"ll", b"hell", b"hello", added_tokens={END: 300, PAD: 301}),
        make(b"ll", b"he", b"hell", b"hello", special_tokens={END: 300, PAD: 301}),
        make(b"he", b"ll", b"hell", b"hello"),
        make(
            b"he",
            b"ll",
            b"hell",
            b"hello",
            special_tokens={END: 300, PAD: 301},
            pattern=None,
        ),
    ]
    assert len({tok, same, *others}) == 6
    assert tok != "tok"


def test_pickle_and_copy(tok: Tokenizer) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(tok, protocol))
        assert again == tok
        assert again.encode("hello hell") == tok.encode("hello hell")
    assert copy.copy(tok) is tok
    assert copy.deepcopy(tok) is tok


def test_repr_says_what_it_is(tok: Tokenizer) -> None:
    assert repr(tok) == r"<pybpe.Tokenizer vocab_size=262 pattern='\\s+|\\S+'>"
    assert "pattern='cl100k'" in repr(make(pattern="cl100k"))


def test_pattern_and_split() -> None:
    assert make(pattern=None).pattern is None
    assert make().pattern == r"\s+|\S+"
    stages = make(pattern="deepseek_v3").pattern
    assert isinstance(stages, tuple)
    assert len(stages) == 3


# ------------------------------------------------------------------ batches as arrays


def _numpy_batches() -> list[list[str | bytes]]:
    rng = random.Random(5)
    words = ["hello", " world", "", "\u00e9\u4e2d", "x" * 50, b"\xff\xfe", "a\nb  c"]
    return [
        [],
        [""],
        ["", "", ""],
        ["hello"],
        [rng.choice(words) for _ in range(300)],
        # More than one portion, one of them a single long text.
        ["ab " * 2_000_000, *words, "cd" * 10, "ef " * 1_500_000, ""],
    ]


@pytest.mark.parametrize("threads", [None, 1, 2, 5])
def test_batch_to_numpy_equals_batch(threads: int | None) -> None:
    tok = Tokenizer.from_merges([(104, 101), (108, 108), (256, 257)], pattern="gpt2")
    for texts in _numpy_batches():
        want = tok.encode_batch(texts)
        ids, offsets = tok.encode_batch_to_numpy(texts, num_threads=threads)
        assert ids.dtype == np.uint32
        assert offsets.dtype == np.int64
        assert offsets.shape == (len(texts) + 1,)
        assert offsets[0] == 0
        assert offsets[-1] == len(ids) == sum(map(len, want))
        assert ids.flags.owndata
        assert ids.flags.writeable
        for i, row in enumerate(want):
            assert ids[offsets[i] : offsets[i + 1]].tolist() == row
        # What a call returned is no part of what the next one uses.
        before = ids.copy()
        tok.encode_batch_to_numpy(["other text"] * 5)
        assert np.array_equal(ids, before)


def test_batch_to_numpy_refuses_as_batch_does() -> None:
    tok = Tokenizer.from_merges([], pattern=None, special_tokens={END: 256})
    for texts, kind in (("one", TypeError), (["a", 5], TypeError), (7, TypeError)):
        with pytest.raises(kind) as first:
            tok.encode_batch(texts)  # type: ignore[arg-type]
        with pytest.raises(kind) as second:
            tok.encode_batch_to_numpy(texts)  # type: ignore[arg-type]
        assert str(first.value) == str(second.value)
    with pytest.raises(SpecialTokenError, match=r"texts\[1\]"):
        tok.encode_batch_to_numpy(["a", f"b{END}"])
    ids, offsets = tok.encode_batch_to_numpy(["a", f"b{END}"], allowed_special={END})
    assert ids.tolist() == [97, 98, 256]
    assert offsets.tolist() == [0, 1, 3]


def test_large_text_to_numpy() -> None:
    """Written into the array itself rather than copied."""
    tok = Tokenizer.from_merges([(97, 98)], pattern="gpt2", special_tokens={END: 257})
    text = "ab abc " * 400_000
    ids = tok.encode_to_numpy(text)
    assert ids.flags.owndata
    assert ids.flags.writeable
    assert np.array_equal(ids, np.array(tok.encode(text), np.uint32))
    with pytest.raises(SpecialTokenError):
        tok.encode_to_numpy(text + END)
    assert np.array_equal(tok.encode_to_numpy(text), ids)


# ------------------------------------------------------------------ caches


def test_cache_size_changes_no_ids() -> None:
    tok = pybpe.train(["the cat sat on the mat " * 50], vocab_size=270, pattern="gpt2")
    rng = random.Random(8)
    text = " ".join("".join(rng.choices("thecas", k=5)) for _ in range(20_000))
    want = tok.encode(text)
    for size in (0, 1, 81_920, 1 << 20, 100_000_000):
        other = tok.with_cache_size(size)
        assert other == tok
        assert other is not tok
        assert other.encode(text) == want
        assert other.encode(text) == want
        assert pickle.loads(pickle.dumps(other)) == tok
    assert tok.encode(text) == want


@pytest.mark.parametrize(
    ("size", "kind"), [(-1, ValueError), (1 << 33, ValueError), ("1", TypeError)]
)
def test_cache_sizes_that_are_none(size: Any, kind: type[Exception]) -> None:
    tok = Tokenizer.from_merges([], pattern=None)
    with pytest.raises(kind, match="size"):
        tok.with_cache_size(size)


def test_cache_takes_what_it_is_given() -> None:
    """A million distinct words in a cache of 1 MB: memory stays where it was."""
    code = (
        "import resource, pybpe\n"
        "tok = pybpe.Tokenizer.from_merges([(97, 98)], pattern='gpt2')\n"
        "tok = tok.with_cache_size(1 << 20)\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "texts = [' '.join(f'w{i}ab{j}' for j in range(500)) for i in range(2_000)]\n"
        "before = [tok.count(text) for text in texts[:20]] and peak()\n"
        "for text in texts: tok.count(text)\n"
        "print(peak() - before)\n"
    )
    grown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert int(grown) < 3_000  # KB: 1 MB and a little scratch
