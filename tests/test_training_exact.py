"""Training learns the merges that the slow reference learns, and those of its peers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import reference
from training_peers import (
    huggingface_merges,
    huggingface_style,
    made_by,
    rustbpe_tokens,
)

import pybpe
from pybpe._binding_training import TIES, Counts, Trainer
from pybpe.byte_order import bytes_in_order

Words = list[tuple[bytes, int]]
Merges = list[tuple[int, int]]


def train_core(
    words: Words,
    n_merges: int,
    tie_break: str,
    bytes_by_id: bytes = bytes(range(256)),
    min_frequency: int = 1,
    budget: int = 1000,
    max_token_bytes: int | None = None,
) -> tuple[Merges, list[int], Trainer]:
    from array import array

    counts = Counts()
    counts.add_frequencies(
        [word for word, _ in words], array("Q", [n for _, n in words]), 0
    )
    trainer = Trainer(
        counts,
        n_merges=n_merges,
        min_frequency=min_frequency,
        ties=TIES[tie_break],
        max_token_bytes=max_token_bytes or 0,
        start=array("I", [bytes_by_id.index(byte) for byte in range(256)]),
    )
    while not trainer.run(budget):
        pass
    flat = trainer.merges()
    merges = list(zip(flat[::2], flat[1::2], strict=True))
    return merges, trainer.merge_counts().tolist(), trainer


def random_words(random_: random.Random) -> Words:
    """A few words over few letters, or one long word."""
    letters = bytes(random_.sample(range(256), random_.choice([1, 2, 2, 3, 4])))

    def word(longest: int) -> bytes:
        return bytes(random_.choices(letters, k=random_.randint(0, longest)))

    if random_.random() < 0.3:
        return [(word(700), random_.randint(1, 3))]
    counts: Counter[bytes] = Counter()
    for _ in range(random_.randint(1, 30)):
        frequency = random_.choice([1, 1, 1, 2, 50, 2**32 - 2, 2**32 - 1, 2**33])
        counts[word(random_.choice([1, 3, 8, 20, 300]))] += frequency
    return list(counts.items())


@pytest.mark.parametrize("seed", range(20))
def test_merges_and_counts_equal_the_reference(seed: int) -> None:
    for number in range(100):
        random_ = random.Random(100 * seed + number)
        words = random_words(random_)
        n_merges = random_.choice([0, 1, 5, 50, 300])
        tie_break = random_.choice(["first", "lowest"])
        order = bytes_in_order(random_.choice(["identity", "gpt2"]))
        least = random_.choice([1, 1, 1, 2, 5])
        most = random_.choice([None, None, 1, 2, 3, 5, 16])
        want = reference.train(
            words,
            n_merges,
            tie_break=tie_break,
            bytes_by_id=order,
            min_frequency=least,
            max_token_bytes=most,
        )
        budget = random_.choice([1, 100, 10**6])
        got = train_core(words, n_merges, tie_break, order, least, budget, most)
        assert got[:2] == want, (seed, number)


@pytest.mark.parametrize("tie_break", ["lowest", "first"])
def test_the_reference_for_large_texts_is_the_reference(tie_break: str) -> None:
    for seed in range(300):
        random_ = random.Random(seed)
        words = random_words(random_)
        n_merges = random_.choice([0, 1, 5, 50, 300])
        want, _ = reference.train(words, n_merges, tie_break=tie_break)
        got = reference.train_quickly(words, n_merges, tie_break)
        assert got == want, seed


def test_tokens_are_distinct() -> None:
    # Two merges never make the same bytes: where a string stands between the same
    # edges, its inside is always merged in the same way, so it becomes a token
    # everywhere at once. (So it does not matter that Hugging Face would reuse an id.)
    for seed in range(200):
        random_ = random.Random(seed)
        words = random_words(random_)
        merges, _, _ = train_core(words, 300, random_.choice(["first", "lowest"]))
        tokens = reference.tokens_of(merges)
        assert len(set(tokens)) == len(tokens), seed


# Merges in order with the whole text as one pretoken, from the tools themselves.
@pytest.mark.parametrize(
    ("text", "first", "lowest"),
    [
        ("aaaaaaa", "aa aaaa aaaaaa aaaaaaa", "aa aaaa aaa aaaaaaa"),
        ("aaabdaaabac", "aa aaa aaab aaabd", "aa ab aaab ac"),
        ("bbbaaaddddcccc", "dd cc bb aa", "cc dd aa bb"),
        ("aaabbbccccdddd", "cc dd aa bb", "cc dd aa bb"),
        ("abcabcabd", "ab abc abcabc abcabcab", "ab cab abcab cabd"),
        ("zazaza bzbz", "za zaza bz zazaza", "za|bz|zaza| bz"),
        ("abababab", "ab abab abababab", "ab abab abababab"),
        ("aaaa", "aa aaaa", "aa aaaa"),
    ],
)
def test_known_merges(text: str, first: str, lowest: str) -> None:
    for tie_break, want in (("first", first), ("lowest", lowest)):
        tok = pybpe.train([text], 260, pattern=None, tie_break=tie_break)
        learnt = [tok.token_bytes(i).decode() for i in range(256, tok.vocab_size)]
        assert learnt == want.split("|" if "|" in want else " ")


def test_ties_go_by_the_pretokens_of_all_texts() -> None:
    texts = ["xy zx", "", "zx yz xy yz"]
    tok = pybpe.train(texts, 259, pattern=r"\w+|\s", tie_break="first")
    assert [tok.token_bytes(i) for i in (256, 257, 258)] == [b"xy", b"zx", b"yz"]


def test_pair_counts_beyond_32_bits() -> None:
    tok = pybpe.train_from_counts({"the": 3_000_000_000, "he": 2**62}, 258)
    assert tok.merges == [(ord("h"), ord("e")), (ord("t"), 256)]
    assert tok.training_report is not None
    assert tok.training_report.pretokens == 3_000_000_000 + 2**62


@pytest.mark.parametrize("tie_break", ["lowest", "first"])
def test_encoding_does_to_a_text_what_training_did(tie_break: str) -> None:
    for seed in range(100):
        random_ = random.Random(seed)
        text = "".join(random_.choices("abc ", k=random_.randint(2, 300)))
        tok = pybpe.train(
            [text], 256 + seed, pattern=" ?[a-c]+| +", tie_break=tie_break
        )
        words = tok.split.pretokens(text)
        want = [
            i for w in words for i in reference.encode_merges(w.encode(), tok.merges)
        ]
        assert tok.encode(text) == want
        report = tok.training_report
        assert report is not None
        if report.stop_reason == "nothing left to merge":
            assert len(want) == len(words)


# ---------------------------------------------------------------- linear time


def fibonacci(n: int) -> bytes:
    a, b = b"a", b"ab"
    while len(b) < n:
        a, b = b, b + a
    return b[:n]


ADVERSARIAL: dict[str, Callable[[int], bytes]] = {
    "one letter": lambda n: b"a" * n,
    "two in turn": lambda n: b"ab" * (n // 2),
    "indentation": lambda n: (b"\n" + b" " * 15) * (n // 16),
    "CRLF": lambda n: b"\r\n" * (n // 2),
    "Fibonacci": fibonacci,
    "ACGT": lambda n: bytes(random.Random(1).choices(b"ACGT", k=n)),
    "CJK": lambda n: "".join(
        map(chr, random.Random(1).choices(range(0x4E00, 0x9FFF), k=n // 3))
    ).encode(),
}


@pytest.mark.parametrize("tie_break", ["lowest", "first"])
@pytest.mark.parametrize("name", list(ADVERSARIAL))
def test_one_long_pretoken_takes_linear_work(name: str, tie_break: str) -> None:
    # What is counted is work, not time, so this cannot fail because a machine is busy.
    work = []
    for size in (1 << 18, 1 << 19, 1 << 20):
        text = ADVERSARIAL[name](size)
        work.append(train_core([(text, 1)], 1000, tie_break)[2].work)
    assert work[1] < 2.2 * work[0] + 20_000
    assert work[2] < 2.2 * work[1] + 20_000
    assert work[2] < 12 * (1 << 20)


@pytest.mark.parametrize("tie_break", ["lowest", "first"])
def test_merging_to_the_very_end_takes_linear_work(tie_break: str) -> None:
    # Every pair is merged, the last ones with a count of 1, in a word that has
    # thousands of different tokens.
    work = []
    for size in (10_000, 20_000):
        text = bytes(random.Random(2).choices(range(256), k=size))
        merges, _, trainer = train_core([(text, 1)], size, tie_break)
        assert reference.tokens_of(merges)[-1] == text
        work.append(trainer.work)
    assert work[1] < 2.3 * work[0]


# ---------------------------------------------------------------- peers


ALPHABETS = ["ab", "abc", "aab ", "ab1 \n", "a\xe9 ", "\u6f22\u5b57a", "ab'st  "]


def random_texts(random_: random.Random) -> list[str]:
    letters = random_.choice(ALPHABETS)
    return [
        "".join(random_.choices(letters, k=random_.choice([3, 20, 100, 400])))
        for _ in range(random_.randint(1, 12))
    ]


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(5))
def test_random_texts_give_rustbpe_merges(seed: int) -> None:
    for number in range(60):
        random_ = random.Random(100 * seed + number)
        texts = random_texts(random_)
        size = random_.choice([256, 257, 280, 400])
        tok = pybpe.train(texts, size, pattern="gpt4")
        assert made_by(tok) == rustbpe_tokens(texts, size), (seed, number)


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(5))
def test_random_texts_give_huggingface_merges(seed: int) -> None:
    for number in range(60):
        random_ = random.Random(100 * seed + number)
        texts = random_texts(random_)
        size = random_.choice([256, 257, 280, 400])
        least = random_.choice([1, 1, 2, 3])
        most = random_.choice([None, None, 2, 3, 5])
        tok = pybpe.train(
            texts,
            size,
            pattern="gpt2",
            byte_order="gpt2",
            min_frequency=least,
            max_token_bytes=most,
        )
        # Its tokens are shorter than its limit, but for those of two bytes.
        want = huggingface_merges(texts, size, least, most and most + 1)
        assert huggingface_style(tok) == want, (seed, number)


def documents(path: Path, size: int) -> list[str]:
    """The beginning of a text in pieces of 64 KB; the cuts fall anywhere."""
    text = path.read_bytes()[:size].decode(errors="ignore")
    return [text[i : i + 65536] for i in range(0, len(text), 65536)]


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["english", "multilingual"])
def test_real_text_gives_the_merges_of_both(
    name: str, data_path: Callable[[str], Path]
) -> None:
    texts = documents(data_path(f"corpora/{name}_1mb.txt"), 1 << 20)
    tok = pybpe.train(texts, 4096, pattern="gpt4")
    assert made_by(tok) == rustbpe_tokens(texts, 4096)
    tok = pybpe.train(texts, 4096, pattern="gpt2", byte_order="gpt2")
    assert huggingface_style(tok) == huggingface_merges(texts, 4096, 0)


@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.parametrize("name", ["english", "multilingual"])
@pytest.mark.parametrize("mb", [3, pytest.param(10, marks=pytest.mark.long)])
def test_megabytes_give_the_merges_of_both(
    mb: int, name: str, data_path: Callable[[str], Path]
) -> None:
    import lzma

    with lzma.open(data_path(f"corpora/{name}_100mb.txt.xz")) as file:
        text = file.read(mb << 20).decode(errors="ignore")
    texts = [text[i : i + 65536] for i in range(0, len(text), 65536)]
    tok = pybpe.train(texts, 8192, pattern="gpt4")
    assert made_by(tok) == rustbpe_tokens(texts, 8192)
    tok = pybpe.train(texts, 8192, pattern="gpt2", byte_order="gpt2")
    assert huggingface_style(tok) == huggingface_merges(texts, 8192, 0)


def pretokens_in_order(text: str, pattern: str | None) -> Iterator[tuple[bytes, int]]:
    split = pybpe.Split.from_pattern(pattern)
    for piece in split.pretokens(text):
        yield piece.encode(), 1


def check_minbpe(text: str, vocab_size: int, pattern: str | None) -> None:
    # minbpe counts every pretoken where it stands; so does the reference when each
    # comes with a frequency of 1. To save time equal ones are put together here, which
    # changes neither counts nor the order of first occurrences.
    words: Counter[bytes] = Counter()
    for word, n in pretokens_in_order(text, pattern):
        words[word] += n
    n_merges = vocab_size - 256
    if pattern is None:  # one word, which every merge changes: nothing can be saved
        want, _ = reference.train(list(words.items()), n_merges, tie_break="first")
    else:
        want = reference.train_quickly(list(words.items()), n_merges, "first")
    tok = pybpe.train([text], vocab_size, pattern=pattern, tie_break="first")
    assert tok.merges == want


@pytest.mark.parametrize("pattern", [None, "gpt2", "gpt4"])
def test_taylorswift_begins_as_with_minbpe(
    pattern: str | None, data_path: Callable[[str], Path]
) -> None:
    text = data_path("corpora/taylorswift.txt").read_text(encoding="utf-8")
    size = 10_000 if pattern is None else 40_000
    check_minbpe(text[:size], 400, pattern)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "vocab_size"), [(None, 512), ("gpt2", 2000), ("gpt4", 2000)]
)
def test_taylorswift_gives_minbpe_merges(
    pattern: str | None, vocab_size: int, data_path: Callable[[str], Path]
) -> None:
    text = data_path("corpora/taylorswift.txt").read_text(encoding="utf-8")
    check_minbpe(text, vocab_size, pattern)
