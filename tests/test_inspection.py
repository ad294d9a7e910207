"""pybpe.inspection: what it says of texts and vocabularies is what encoding does."""

from __future__ import annotations

import doctest
import gzip
import itertools
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import spm
from hypothesis import given
from hypothesis import strategies as st

import pybpe
from pybpe import inspection
from pybpe.codepoint import NORMAL, UNKNOWN, UNUSED, USER_DEFINED
from pybpe.inspection import _completion, _kinds, _reach, _texts, _usage
from pybpe.inspection import _verdicts as why

# ------------------------------------------------------------------ reachability


def all_texts(alphabet: str, longest: int) -> list[str]:
    return [
        "".join(chars)
        for n in range(longest + 1)
        for chars in itertools.product(alphabet, repeat=n)
    ]


# Bytes of one, and of two that begin or end alike: C3 A9, C3 A3 and C8 A3.
ALPHABETS = [("ab ", 7), ("a1\n'", 6), ("éãa", 6), ("\u0223ã ", 6)]
PATTERNS = [None, "gpt2", "cl100k", "qwen2", r"a+b|a|[^a]", r"\s|\S", r"[^ ]+ ?| "]


def random_merges(rng: random.Random, alphabet: str, n: int) -> list[tuple[int, int]]:
    """Return merges of tokens that texts over an alphabet may have."""
    tokens = {byte: bytes([byte]) for byte in alphabet.encode()}
    merges: list[tuple[int, int]] = []
    while len(merges) < n:
        pair = rng.choice([*tokens]), rng.choice([*tokens])
        both = tokens[pair[0]] + tokens[pair[1]]
        if both not in tokens.values() and len(both) < 7:
            tokens[256 + len(merges)] = both
            merges.append(pair)
    return merges


def check(tok: pybpe.Tokenizer, texts: list[str]) -> inspection.Reachability:
    """Compare with what texts get; return what was said."""
    found = inspection.reachability(tok)
    got = {i for ids in tok.encode_batch(texts, disallowed_special=()) for i in ids}
    assert got.isdisjoint(found.unreachable), (got & {*found.unreachable}, found)
    assert got.isdisjoint(found.from_bytes_only)
    stand_for = _texts.token_texts(tok)
    own = [stand_for[i] for i in found.by_itself]
    for i, ids in zip(
        found.by_itself, tok.encode_batch(own, disallowed_special=()), strict=True
    ):
        assert i in ids
    for i, text in found.in_context.items():
        assert i in tok.encode_ordinary(text)
    for i, data in found.from_bytes_only.items():
        assert i in tok.encode_ordinary(data)
    parts = [
        *(found.by_itself, found.in_context, found.by_permission),
        *(found.from_bytes_only, found.unreachable, found.undecided),
    ]
    assert sum(map(len, parts)) == tok.vocab_size == len(set().union(*parts))
    return found


@pytest.mark.parametrize(
    "seed",
    [*range(6), *(pytest.param(i, marks=pytest.mark.long) for i in range(6, 100))],
)
def test_like_all_short_texts(seed: int) -> None:
    """What no text gets is got by none of all texts over an alphabet."""
    rng = random.Random(seed)
    alphabet, longest = ALPHABETS[seed % len(ALPHABETS)]
    texts = all_texts(alphabet, longest)
    undecided = 0
    for pattern in PATTERNS:
        merges = random_merges(rng, alphabet, rng.randrange(1, 14))
        undecided += len(
            check(pybpe.Tokenizer.from_merges(merges, pattern=pattern), texts).undecided
        )
        ranks = {bytes([byte]): byte for byte in range(256)}
        while len(ranks) < 266:
            text = rng.choice(texts).encode()
            begin = rng.randrange(len(text) + 1)
            token = text[begin : begin + rng.randrange(2, 6)]
            if len(token) > 1:
                ranks.setdefault(token, len(ranks))
        undecided += len(
            check(pybpe.Tokenizer.from_ranks(ranks, pattern=pattern), texts).undecided
        )
    # Some are left open, for instance where matches leave gaps; most must not be.
    assert undecided <= 8


def test_every_reason_is_given() -> None:
    pairs = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc"), (b"x", b" "), (b"q", b"r")]
    tok = pybpe.Tokenizer.from_merges(
        pairs, pattern="gpt2", added_tokens={b"qr": 300}, special_tokens={"<s>": 301}
    )
    found = inspection.reachability(tok)
    reasons = {tok.token_bytes(i): reason for i, reason in found.unreachable.items()}
    assert reasons == {b"abc": why.MERGES, b"x ": why.SPLIT, b"qr": why.ADDED}
    assert found.by_permission == (301,)
    assert 300 in found.by_itself
    assert len(found.from_bytes_only) == 13
    assert found.undecided == ()


def test_a_neighbour_that_always_merges_makes_a_token_unreachable() -> None:
    """Behind C3 one of the bytes 80 to BF follows, and all of them merge with it."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    for tail in range(0x80, 0xC0):
        ranks[bytes([0xC3, tail])] = len(ranks)
    ranks[b"x\xc3"] = len(ranks)
    tok = pybpe.Tokenizer.from_ranks(ranks, pattern=r"[\s\S]+")
    found = inspection.reachability(tok)
    assert found.from_bytes_only[ranks[b"x\xc3"]] == b"x\xc3"
    del ranks[b"\xc3\xbf"]
    ranks = {token: i for i, token in enumerate(ranks)}
    tok = pybpe.Tokenizer.from_ranks(ranks, pattern=r"[\s\S]+")
    assert inspection.reachability(tok).in_context[ranks[b"x\xc3"]] == "xÿ"


def test_a_token_that_only_stands_inside_a_longer_pretoken() -> None:
    r"""Of "b+\n" the pattern takes the newline only behind a "b"."""
    tok = pybpe.Tokenizer.from_merges([(b"\n", b"!")], pattern=r"b\n!|\n|[^\n]")
    found = inspection.reachability(tok)
    assert "b\n!" in found.in_context[256]
    tok = pybpe.Tokenizer.from_merges(
        [(b"b", b"\n"), (b"\n", b"!")], pattern=r"b\n!|\n|[^\n]"
    )
    assert inspection.reachability(tok).unreachable == {257: why.NEIGHBOURS}


def test_whole_pretokens_are_told_from_merged_ones() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"bcd": 256, b" x y": 257}
    tok = pybpe.Tokenizer.from_ranks(ranks, pattern=r"\w+|\s|[^\w\s]")
    found = inspection.reachability(tok)
    assert found.whole_pretokens == (256,)
    assert 256 in found.by_itself
    assert found.unreachable == {257: why.MERGES}


def test_sentencepiece_models(tmp_path: Path) -> None:
    pieces = ["▁", "a", "b", "▁a", "ab", "ba", "aba", "abba", "cd", "c"]
    known = [(piece.encode(), -float(i), NORMAL) for i, piece in enumerate(pieces)]
    data = spm.write_model(
        [
            (b"<unk>", 0.0, UNKNOWN),
            *known,
            (b"bb", 0.0, UNUSED),
            (b"ca", 0.0, USER_DEFINED),
        ]
    )
    (tmp_path / "tok.model").write_bytes(data)
    tok = pybpe.load(tmp_path / "tok.model")
    found = check(tok, all_texts("abcd ", 5))
    reasons = {tok.token_bytes(i): reason for i, reason in found.unreachable.items()}
    assert reasons == {b"bb": why.UNUSED, b"abba": why.MERGES}
    assert found.undecided == ()


def test_byte_pieces_whose_characters_all_have_pieces() -> None:
    lines = ["the cat sat on the mat", "é"]
    tok = pybpe.train_sentencepiece(
        lines, 300, preset="lossless", hard_vocab_limit=False
    )
    found = check(tok, all_texts("the ", 5))
    reasons = {tok.token_bytes(i): reason for i, reason in found.unreachable.items()}
    assert reasons[b"<0x61>"] == why.COVERED  # an "a" is a piece
    assert b"<0x62>" not in reasons  # a "b" is not
    assert reasons[b"<0x20>"] == why.COVERED  # spaces are marks
    assert reasons[b"<0xFF>"] == why.NO_UTF8
    assert reasons[b"<unk>"] == why.FALLBACK


PUBLISHED = {
    "vocab/openai/o200k_base.tiktoken": (1, 13, 0),
    "vocab/openai/cl100k_base.tiktoken": (0, 13, 0),
    # 678 of Llama 3's tokens have no pair of lower ranks; 90 of them merge from parts
    # of higher ones.
    "vocab/tiktoken_style/llama3_tokenizer.model": (1, 13, 588),
    "vocab/hf/qwen3_tokenizer.json": (1915, 17, 0),
    "vocab/hf/gpt_neox_20b_tokenizer.json": (221, 1, 0),
    "vocab/hf/mistral_v1_tokenizer.json": (127, 13, 0),
    "vocab/sentencepiece/llama2_tokenizer.model": (111, 0, 0),
}


# These are quick, and have all the reasons between them.
QUICK = ("openai/o200k", "style/llama3", "gpt_neox", "sentencepiece/llama2")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[] if any(q in name for q in QUICK) else pytest.mark.long
        )
        for name in PUBLISHED
    ],
)
def test_published_vocabularies_leave_nothing_open(
    name: str, data_path: Callable[[str], Path]
) -> None:
    tok = pybpe.load(data_path(name))
    found = check(tok, ["Hello, world! 日本語 2026\n\n  ok", "\u043e\u0434", "\r\n//"])
    counts = len(found.unreachable), len(found.from_bytes_only)
    assert (*counts, len(found.whole_pretokens)) == PUBLISHED[name]
    assert found.undecided == ()


@pytest.mark.oracle
def test_tiktoken_never_gives_the_one_of_o200k(
    data_path: Callable[[str], Path],
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    data_path("vocab/openai/o200k_base.tiktoken")
    encoding = tiktoken.get_encoding("o200k_base")
    number = encoding._mergeable_ranks[b"\xd0\xbe\xd0"]
    ends = ["", "\u0430", "\u043e", " ", "x", "\u044c"]
    for char in map(chr, range(0x400, 0x440)):
        for before, behind in itertools.product(ends, ends):
            assert number not in encoding.encode(f"{before}\u043e{char}{behind}")


# ------------------------------------------------------------------ usage

TRAINED = pybpe.train(
    ["the cat sat on the mat, 1234 times: é日本語 \U0001f600 é日本語\n\n    x = 1\n"]
    * 3,
    310,
    special_tokens=["<s>"],
    protected=["t s"],
)
UNSPLIT = pybpe.Tokenizer.from_merges([(b"t", b"h"), (b"\n", b"\n")], pattern=None)


def naive(tok: pybpe.Tokenizer, data: bytes) -> inspection.Usage:
    """Count from the places of tokens rather than from how often each comes."""
    ids, spans = tok.encode_with_offsets(data, unit="bytes", disallowed_special=())
    text = data.decode("utf-8", "replace")
    ends = {end for _, end in spans}
    split, at = 0, 0
    if data == text.encode():
        for char in text:
            after = at + len(char.encode())
            split += any(at < end < after for end in ends)
            at = after
    return inspection.Usage(
        bytes=len(data),
        characters=len(text),
        words=len(text.split()),
        tokens=len(ids),
        single_byte_tokens=sum(end - begin == 1 for begin, end in spans),
        split_characters=split,
        counts=Counter(ids),
    )


@given(
    st.text(st.sampled_from("the cat\n 1é日\U0001f600<s>,"), max_size=60),
    st.integers(1, 40),
)
def test_usage_does_not_depend_on_portions(text: str, portion: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_usage, "_PORTION", portion)
        assert inspection.usage(TRAINED, [text]) == naive(TRAINED, text.encode())


@given(st.binary(max_size=40), st.integers(1, 12))
def test_bytes_of_any_kind_are_counted(data: bytes, portion: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_usage, "_PORTION", portion)
        found = inspection.usage(TRAINED, [data])
    assert found.counts == Counter(TRAINED.encode_ordinary(data))
    assert found.bytes == len(data)


def test_texts_without_seams_are_parted_at_line_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text"
    lines = [f"the thing {i} é" for i in range(50)]
    path.write_text("\n\n".join(lines), "utf-8")
    monkeypatch.setattr(_usage, "_PORTION", 20)
    monkeypatch.setattr(_usage, "_LINES", 40)
    found = inspection.usage_of_files(UNSPLIT, path)
    assert (found.bytes, found.words) == (path.stat().st_size, 200)
    assert found.counts[256] == 100  # "th" in every line, whatever the parts
    monkeypatch.setattr(_usage, "_ANYWHERE", 40)
    path.write_text("é" * 500, "utf-8")
    found = inspection.usage_of_files(UNSPLIT, [path])
    assert (found.characters, found.words, found.split_characters) == (500, 1, 500)


def test_usage_of_several_files_and_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("the cat")
    (tmp_path / "b").write_text("sat")
    both = inspection.usage_of_files(TRAINED, [tmp_path / "a", str(tmp_path / "b")])
    assert both == inspection.usage(TRAINED, ["the cat", b"sat"])
    nothing = inspection.usage(TRAINED, [])
    assert (nothing.tokens_per_word, nothing.tokens_per_character) == (0, 0)
    assert (nothing.bytes_per_token, nothing.split_share) == (0, 0)
    assert nothing.single_byte_share == 0
    with pytest.raises(TypeError, match="put it into a list"):
        inspection.usage(TRAINED, "one text")
    with pytest.raises(FileNotFoundError):
        inspection.usage_of_files(TRAINED, tmp_path / "missing")


def test_usage_of_documents(tmp_path: Path) -> None:
    """Files are those that training reads, and read alike."""
    texts = ["the cat", "sat\non", "", "é"]
    lines = "\n".join(json.dumps({"content": text}) for text in texts)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"the cat;sat;"))
    want = inspection.usage(TRAINED, texts)
    for paths in (tmp_path / "corpus", [str(tmp_path / "corpus" / "*.gz")]):
        assert inspection.usage_of_files(TRAINED, paths, field="content") == want
    path = tmp_path / "b.txt.gz"
    want = inspection.usage(TRAINED, ["the cat;sat;"])
    assert inspection.usage_of_files(TRAINED, path) == want
    want = inspection.usage(TRAINED, ["the cat", "sat"])
    assert inspection.usage_of_files(TRAINED, path, split_on=";") == want
    with pytest.raises(pybpe.CorpusError, match="has no field 'text'"):
        inspection.usage_of_files(TRAINED, tmp_path / "corpus")


def test_unused_tokens_are_ordinary_and_the_longest_comes_first() -> None:
    used = inspection.usage(TRAINED, ["the mat"])
    found = inspection.unused(TRAINED, used)
    ids = {token.id for token in found}
    extra = {*TRAINED.special_tokens.values(), *TRAINED.added_tokens.values()}
    assert ids == {*range(TRAINED.n_vocab)} - {*used.counts} - extra
    lengths = [len(token.text) for token in found]
    assert lengths == sorted(lengths, reverse=True)
    trained_on = inspection.usage(TRAINED, ["the cat sat"] * 2)
    found = inspection.unused(TRAINED, used, trained_on)
    assert {token.id for token in found} == {
        i for i in trained_on.counts if i not in used.counts and i not in extra
    }
    assert all(token.count == trained_on.counts[token.id] for token in found)


def test_most_used() -> None:
    used = inspection.usage(TRAINED, ["cat cat the cat"])
    first = inspection.most_used(TRAINED, used)[0]
    assert (first.text, first.count) == (b"at", 3)
    assert len(inspection.most_used(TRAINED, used, 1)) == 1


# ------------------------------------------------------------------ kinds


def test_numbers_are_cut_as_encoding_cuts_them() -> None:
    tok = pybpe.train(["123 1234 999 12 1999 2000"], 270, pattern="gpt2")
    found = inspection.numbers(tok, 5)
    for length in found.lengths[:4]:
        least = 10 ** (length.digits - 1) if length.digits > 1 else 0
        shapes = Counter(
            tuple(len(tok.token_bytes(i)) for i in tok.encode(str(number)))
            for number in range(least, 10**length.digits)
        )
        assert length.shapes == shapes
        assert length.numbers == shapes.total()
        assert length.whole == shapes[(length.digits,)]
        n_tokens = sum(len(shape) * n for shape, n in shapes.items())
        assert length.tokens == pytest.approx(n_tokens / length.numbers)
    last = found.lengths[4]
    assert last.numbers == sum(last.shapes.values()) == 9000
    assert {f"{n:03}" for n in range(1000)} - {*found.missing} == {
        token.decode() for token in tok.vocab if len(token) == 3 and token.isdigit()
    }
    with pytest.raises(ValueError, match="between 1 and 100"):
        inspection.numbers(tok, 0)


def test_long_numbers_are_a_sample_without_repetition() -> None:
    for digits in (5, 6, 9):
        sample = _kinds._numbers_of(digits)
        assert len({*sample}) == 9000
        assert {len(number) for number in sample} == {digits}
        last = Counter(number[-1] for number in sample)
        assert max(last.values()) < 1.2 * min(last.values())


def test_numbers_after_a_space() -> None:
    tok = pybpe.Tokenizer.from_merges([(b" ", b"1"), (b" 1", b"2")], pattern="gpt2")
    assert inspection.numbers(tok, 2).lengths[1].whole == 0
    assert inspection.numbers(tok, 2, before=" ").lengths[1].whole == 1


def test_white_space() -> None:
    text = "x\n        y\n    z\t\t\n\n  \n"
    tok = pybpe.train([text] * 4, 264, pattern="cl100k")
    found = inspection.white_space(tok, 8)
    runs = {token for token in tok.vocab if token.decode("latin-1").isspace()}
    spaces = sorted(len(token) for token in runs if set(token) == {32})
    assert list(found.spaces) == spaces
    assert len(spaces) > 1
    for n, tokens in found.indents.items():
        line = b"\n" + b" " * n + b"return"
        assert b"".join(token.text for token in tokens) == line


def test_scripts() -> None:
    words = ["cat", "кот", "猫", "12", "!?", "\t", "aя", "\u0301"]
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {
        word.encode(): 256 + i for i, word in enumerate(words) if len(word.encode()) > 1
    }
    tok = pybpe.Tokenizer.from_ranks(ranks, pattern=None)
    found = inspection.scripts(tok)
    assert sum(found.values()) == tok.vocab_size
    assert (found["Latin"], found["Cyrillic"], found["Han"]) == (53, 1, 1)
    assert found[_kinds.SEVERAL] == 1
    assert found[_kinds.PARTS] == 128
    assert found[_kinds.DIGITS] == 11
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_longest_tokens_and_forms_of_words() -> None:
    longest = inspection.longest_tokens(TRAINED, 3)
    assert [len(token.text) for token in longest] == sorted(
        map(len, TRAINED.vocab), reverse=True
    )[:3]
    forms = inspection.word_forms(TRAINED, "Cat")
    assert [*forms] == ["Cat", "cat", "CAT", " Cat", " cat", " CAT"]
    for form, tokens in forms.items():
        assert b"".join(token.text for token in tokens).decode() == form


def test_sentencepiece_tokens_stand_for_text() -> None:
    tok = pybpe.train_sentencepiece(
        ["the cat"], 300, preset="lossless", hard_vocab_limit=False
    )
    tokens = inspection.tokens_of(tok, "the z")
    assert [token.text for token in tokens] == [b"the", b" ", b"z"]
    used = inspection.usage(tok, ["the é"])
    assert (used.split_characters, used.characters) == (1, 5)


def test_shown() -> None:
    assert inspection.shown(b" a\n") == "' a\\n'"
    assert inspection.shown(b"\xff") == "b'\\xff'"


@pytest.mark.parametrize("module", [_completion, _kinds, _reach, _texts, _usage])
def test_doctests(module: object) -> None:
    tested = doctest.testmod(module)  # type: ignore[arg-type]
    assert tested.attempted > 0
    assert tested.failed == 0
