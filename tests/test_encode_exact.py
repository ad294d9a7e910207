"""Ids against tiktoken's, and every way of encoding against every other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import growth
import pytest
import reference
import regex

import pybpe
from pybpe import Tokenizer

BYTES = {bytes([b]): b for b in range(256)}
TEXTS = ("english", "code", "multilingual")


def every_path(tok: Tokenizer) -> Iterator[Callable[[str], list[int]]]:
    """Yield encoders that take each way through the core."""
    for path in ("auto", "short", "long"):
        for use_cache in (False, True):
            engine = tok._engine.configured(path, use_cache)
            yield lambda text, engine=engine: engine.encode(text.encode(), None, None)


def random_ranks(rng: random.Random, letters: str) -> dict[bytes, int]:
    """Return a table of random strings: tokens that no merge makes, and the like."""
    tokens: dict[bytes, None] = {}
    while len(tokens) < 60:
        n = rng.choice((2, 2, 3, 3, 4, 5, 8))
        tokens["".join(rng.choices(letters, k=n)).encode()] = None
        if len(letters) ** 3 < len(tokens):
            break
    return BYTES | {token: 256 + i for i, token in enumerate(tokens)}


@pytest.mark.oracle
def test_random_tables_against_tiktoken_and_the_reference() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    rng = random.Random(300)
    for table in range(300):
        letters = "abcd"[: rng.randint(1, 4)]
        ranks = random_ranks(rng, letters)
        pattern = rng.choice([r"[\s\S]+", r"a+|[^a]+"])
        ref = tiktoken.Encoding(
            f"table{table}", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        )
        tok = Tokenizer.from_ranks(ranks, pattern=pattern)
        paths = list(every_path(tok))
        for longest in (9, 60, 140, 700):
            text = "".join(rng.choices(letters, k=rng.randint(1, longest)))
            want = ref.encode_ordinary(text)
            for encode in paths:
                assert encode(text) == want
            if longest < 200:
                assert want == [
                    number
                    for pretoken in regex.findall(pattern, text)
                    for number in reference.encode_ranks(pretoken.encode(), ranks)
                ]


def test_many_pretokens_in_one_call_against_the_reference() -> None:
    """Words known, new, repeated, long and very long, merged together."""
    rng = random.Random(302)
    for _ in range(25):
        letters = "abcé"[: rng.randint(1, 4)]
        ranks = random_ranks(rng, letters)
        tok = Tokenizer.from_ranks(ranks, pattern="z|[^z]+")
        paths = list(every_path(tok))
        longest = (3, 9, 20, 70, 140)
        words = [
            "".join(rng.choices(letters, k=rng.randint(1, rng.choice(longest))))
            for _ in range(120)
        ]
        ids = {
            word: reference.encode_ranks(word.encode(), ranks) for word in ["z", *words]
        }
        chosen = rng.choices(words, k=700)
        text = "z".join(chosen)
        want = [number for word in chosen for number in [*ids[word], *ids["z"]]]
        for encode in paths:
            assert encode(text) == want[: -len(ids["z"])]


def test_random_merge_lists_against_the_reference() -> None:
    rng = random.Random(301)
    shuffled = 0
    for _ in range(200):
        letters = list(b"abc"[: rng.randint(1, 3)])
        merges: list[tuple[int, int]] = []
        while len(merges) < 40:
            known = [*letters, *range(256, 256 + len(merges))]
            pair = (rng.choice(known), rng.choice(known))
            if pair not in merges:
                merges.append(pair)
        tok = Tokenizer.from_merges(merges, pattern=None)
        check_merge_list(tok, letters, rng)
        vocab = BYTES | {tok.token_bytes(i): i for i in range(256, 296)}
        if len(vocab) == 296:
            # As in lists that nobody trained: parts are listed after their use.
            shuffled += 1
            pairs = [(tok.token_bytes(a), tok.token_bytes(b)) for a, b in merges]
            rng.shuffle(pairs)
            tok = Tokenizer.from_merges(pairs, pattern=None, vocab=vocab)
            check_merge_list(tok, letters, rng)
    assert shuffled > 10


def check_merge_list(tok: Tokenizer, letters: list[int], rng: random.Random) -> None:
    made = list(tok._model.merge_ids)
    for longest in (9, 60, 140):
        text = bytes(rng.choices(letters, k=rng.randint(1, longest)))
        want = reference.encode_merges(text, tok.merges, made)
        for encode in every_path(tok):
            assert encode(text.decode()) == want


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_published_encodings_against_tiktoken(
    name: str, data_path: Callable[[str], Path]
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    data_path(f"vocab/openai/{name}.tiktoken")
    ref = tiktoken.get_encoding(name)
    tok = Tokenizer.from_ranks(
        ref._mergeable_ranks, pattern=ref._pat_str, special_tokens=ref._special_tokens
    )
    assert tok.split.compiled
    assert tok.n_vocab == ref.n_vocab
    for language in TEXTS:
        text = data_path(f"corpora/{language}_1mb.txt").read_text("utf-8", None)
        ids = tok.encode(text)
        assert ids == ref.encode(text)
        assert tok.decode(ids) == text
        lines = text.splitlines(keepends=True)
        assert tok.encode_batch(lines) == ref.encode_batch(lines)
        for encode in every_path(tok):
            assert encode(text[:200_000]) == ref.encode(text[:200_000])
    for text in ["<|endoftext|>", "a<|endofprompt|> b", "\ud83d", " " * 50_000]:
        assert tok.encode(text, allowed_special="all") == ref.encode(
            text, allowed_special="all"
        )


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k"])
def test_a_trained_model_against_tiktoken(
    pattern: str, data_path: Callable[[str], Path]
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    texts = [
        data_path(f"corpora/{language}_1mb.txt").read_text("utf-8")
        for language in TEXTS
    ]
    tok = pybpe.train(texts, 6000, pattern=pattern, special_tokens=["<|end|>"])
    ranks = {tok.token_bytes(i): i for i in range(tok.n_vocab - 1)}
    assert len(ranks) == 5999
    special = {"<|end|>": 5999}
    ref = tiktoken.Encoding(
        pattern, pat_str=tok.pattern, mergeable_ranks=ranks, special_tokens=special
    )
    by_ranks = Tokenizer.from_ranks(ranks, pattern=pattern, special_tokens=special)
    for text in texts:
        mixed = f"{text}<|end|>{text[:1000]}"
        want = ref.encode(mixed, allowed_special="all")
        assert by_ranks.encode(mixed, allowed_special="all") == want
        assert tok.encode(mixed, allowed_special="all") == want
        assert tok.decode(want) == mixed
    assert by_ranks.merges == tok.merges


def test_a_split_that_does_not_compile_gives_the_same_ids() -> None:
    rng = random.Random(302)
    special = {"<e>": 400, b"\xff\xfe": 401}
    ranks = random_ranks(rng, "ab ")
    compiled = Tokenizer.from_ranks(ranks, pattern=r"\s+|\S+", special_tokens=special)
    slow = Tokenizer.from_ranks(
        ranks, pattern=r"(?<!\s)\s+|(?<!\S)\S+", special_tokens=special
    )
    assert compiled.split.compiled
    assert not slow.split.compiled
    for _ in range(200):
        parts = [rng.choice(["a", "b", " ", "\u00e9", "\u3000"]) for _ in range(30)]
        text = "".join(parts)
        assert slow.encode(text) == compiled.encode(text)
        assert slow.count(text) == compiled.count(text)
        assert slow.encode_to_numpy(text).tolist() == compiled.encode(text)
        cut = rng.randint(0, 30)
        data = text[:cut].encode() + b"\xff<e>\xff\xfe\xe2\x82" + text[cut:].encode()
        want = compiled.encode(data, allowed_special="all")
        assert slow.encode(data, allowed_special="all") == want
        assert slow.encode_batch([data, text], allowed_special="all") == [
            want,
            compiled.encode(text),
        ]
        with pytest.raises(pybpe.SpecialTokenError, match="'<e>' at character"):
            slow.encode(data, allowed_special={b"\xff\xfe"})


# ------------------------------------------------------------------ linear time

RNG = random.Random(4)
SHAPES: dict[str, Callable[[int], str]] = {
    "one letter": lambda n: "a" * n,
    "spaces": lambda n: " " * n,
    "ab": lambda n: "ab" * (n // 2),
    "cjk": lambda n: "".join(map(chr, RNG.choices(range(0x4E00, 0x9FA5), k=n // 3))),
    "crlf": lambda n: "\r\n" * (n // 2),
    "newline, spaces": lambda n: "\n" + " " * n,
    "apostrophes": lambda n: "a'" * (n // 2),
    "marks": lambda n: "\u0301" * (n // 2),
    "case": lambda n: "Aa" * (n // 2),
    "special-like": lambda n: "<|end|" * (n // 6),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pattern", ["cl100k", "o200k", None])
def test_time_grows_with_the_text_not_its_square(shape: str, pattern: str) -> None:
    merges = [(97, 97), (32, 32), (97, 98), (256, 256), (257, 257), (260, 260)]
    tok = Tokenizer.from_merges(merges, pattern=pattern, special_tokens=["<|end|>"])
    growth.check_linear(tok.count, SHAPES[shape], 30_000)
