"""Pretokens are counted as the split's slow path finds them, in whatever portions."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

import pybpe
from pybpe import _binding, _counting
from pybpe._binding_training import Counts, Seams
from pybpe._counting import PretokenCounter
from pybpe.split.patterns import NAMED

Items = list[tuple[bytes, int, int]]

PATTERNS: list[str | None] = [*NAMED, None]
UNCOMPILED = r"(?<=a)b|\s+|\S"

# Pieces of text on which splits go wrong: white space before and after anything, long
# runs, letters of every kind, marks, contractions, digits, invalid bytes, cut
# characters, and special tokens, whole and nearly.
PIECES = [
    *(b" ", b"  ", b"\n", b"\r\n", b"\t", b" \n", "\u3000".encode(), b"\xc2\xa0"),
    *(b"a", b"b", b"Hello", b"'s", b"'ll", b"'\xc5\xbf", b"!", b"?!/", b"123", b"9"),
    *("\u6f22\u5b57".encode(), "\u3042".encode(), "\U0001f600".encode()),
    *("e\u0301".encode(), "\xc9".encode(), "\u01c5".encode(), "\u0660\xbd".encode()),
    *(b"\xff", b"\xe6\xbc", b"\xf0\x9f", b"\x80", b"\0"),
    *(b"<|end|>", b"<|end", b"<|", b"|>", b"<|end|><|end|>", b"<|end|>x"),
]
SPECIAL = [b"<|end|>", b"<|end|>x y", b"<|", b"\n\n\n"]


def random_data(random_: random.Random, n: int) -> bytes:
    pieces = []
    while len(pieces) < n:
        pieces.append(random_.choice(PIECES) * random_.choice([1, 1, 1, 2, 40]))
    return b"".join(pieces)


def expected(
    texts: Iterable[bytes], split: pybpe.Split, special: Sequence[bytes] = ()
) -> Items:
    """Count slowly: special tokens by looking at every place, splits in Python."""
    found: dict[bytes, list[int]] = {}
    base = 0
    longest_first = sorted(special, key=len, reverse=True)
    for data in texts:
        stretches: list[tuple[int, int]] = []
        start = i = 0
        while i < len(data):
            hit = next((s for s in longest_first if data.startswith(s, i)), None)
            if hit is None:
                i += 1
                continue
            stretches.append((start, i))
            start = i = i + len(hit)
        stretches.append((start, len(data)))
        for begin, end in stretches:
            ends = split.ends(data[begin:end])
            for a, b in pairwise([0, *ends]):
                pretoken = data[begin + a : begin + b]
                item = found.setdefault(pretoken, [0, base + begin + a])
                item[0] += 1
        base += len(data)
    return [(pretoken, n, first) for pretoken, (n, first) in found.items()]


def count(
    texts: Iterable[bytes],
    split: pybpe.Split,
    special: Sequence[bytes] = (),
    num_threads: int = 1,
) -> Items:
    with PretokenCounter(split, special, num_threads, lambda done: None) as counter:
        counter.add_texts(texts)
        return counter.finish().items()


@pytest.mark.parametrize("pattern", [*PATTERNS, UNCOMPILED])
def test_counts_equal_the_slow_way(pattern: str | None) -> None:
    split = pybpe.Split.from_pattern(pattern)
    assert split.compiled == (pattern != UNCOMPILED)
    random_ = random.Random(1)
    for _ in range(20):
        texts = [
            random_data(random_, random_.choice([0, 1, 5, 60]))
            for _ in range(random_.choice([1, 7]))
        ]
        special = random_.choice([[], SPECIAL])
        assert count(texts, split, special) == expected(texts, split, special)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_blocks_of_a_text_count_as_the_whole(pattern: str | None) -> None:
    # At the level of the core: every block size from 1 to 9, and random ones.
    split = pybpe.Split.from_pattern(pattern)
    core = _binding.new_split(split.stages)
    random_ = random.Random(2)
    for _ in range(12):
        data = random_data(random_, 40)
        special = random_.choice([[], SPECIAL, [b"<|end|>"]])
        match = _binding.new_match(special, range(len(special)))
        want = expected([data], split, special)
        for size in (*range(1, 10), 0, 0, 0):
            counts = Counts()
            at = known = 0
            while known < len(data):
                known += size or random_.randint(1, 100)
                used = counts.add_text(
                    core, match, data[at:known], at, more=known < len(data)
                )
                assert used <= len(data[at:known])
                at += used
            assert at == len(data)
            assert counts.items() == want, (size, data)


@pytest.mark.parametrize("pattern", [*PATTERNS, UNCOMPILED])
def test_a_file_counts_as_its_contents(
    pattern: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = pybpe.Split.from_pattern(pattern)
    random_ = random.Random(3)
    contents = [random_data(random_, n) for n in (50, 0, 1, 200)]
    paths = [tmp_path / str(i) for i in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    want = expected(contents, split, SPECIAL)
    for block in (1, 2, 3, 17, 1000, 10**6):
        monkeypatch.setattr(_counting, "BLOCK", block)
        for num_threads in (1, 2):
            with PretokenCounter(split, SPECIAL, num_threads, lambda done: None) as c:
                for path in paths:
                    c.add_file(path, path.stat().st_size)
                assert c.finish().items() == want, (block, num_threads)
            assert (c.documents, c.size) == (4, sum(map(len, contents)))


@pytest.mark.parametrize("pattern", NAMED)
def test_a_text_is_the_sum_of_its_parts(pattern: str) -> None:
    # The last seam of every beginning of a text, for all that it is used for: the
    # pretokens of both parts are those of the whole.
    split = pybpe.Split.from_pattern(pattern)
    core = _binding.new_split(split.stages)
    random_ = random.Random(7)
    found: set[tuple[bytes, bytes]] = set()
    for _ in range(10):
        data = random_data(random_, 40)
        special = random_.choice([[], SPECIAL])
        seams = Seams(core, special)
        want = expected([data], split, special)
        places = {seams.last(data[:n]) for n in range(len(data))} - {0}
        for place in places:
            parts = dict[bytes, tuple[int, int]]()
            for base, part in ((0, data[:place]), (place, data[place:])):
                for pretoken, n, first in expected([part], split, special):
                    old_n, old_first = parts.get(pretoken, (0, base + first))
                    parts[pretoken] = (n + old_n, old_first)
            assert [(p, *of) for p, of in parts.items()] == want, (data, place)
            found.add((data[place - 1 : place], data[place : place + 1]))
    assert len(found) > 8


@pytest.mark.parametrize("pattern", NAMED)
def test_large_texts_have_seams(pattern: str) -> None:
    # Otherwise one thread counts them, and no other test would tell.
    core = _binding.new_split(pybpe.Split.from_pattern(pattern).stages)
    text = "In 2024 there were 3 of them, and one was 漢字。\n" * 3
    assert Seams(core, []).last(text.encode()) > len(text) // 2


def test_splits_without_seams() -> None:
    for pattern in (None, r"a+b|a|[^a]"):
        seams = Seams(_binding.new_split(pybpe.Split.from_pattern(pattern).stages), [])
        assert seams.last(b"aaaaa") == 0
    assert not Seams(_binding.new_split([]), [])


@pytest.mark.parametrize("pattern", [*PATTERNS, UNCOMPILED])
@pytest.mark.parametrize("window", [9, 40])
def test_threads_count_parts_of_large_texts(
    pattern: str | None, window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_counting, "_SEAM_WINDOW", window)
    monkeypatch.setattr(_counting, "PORTION", 100)
    split = pybpe.Split.from_pattern(pattern)
    random_ = random.Random(8)
    contents = [random_data(random_, n) for n in (50, 0, 1, 150)]
    paths = [tmp_path / str(i) for i in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    want = expected(contents, split, SPECIAL)
    for part in (1, 16, 300):
        monkeypatch.setattr(_counting, "LEAST_PART", part)
        monkeypatch.setattr(_counting, "MOST_PART", 2 * part)
        for num_threads in (2, 4):
            with PretokenCounter(split, SPECIAL, num_threads, lambda done: None) as c:
                for path in paths:
                    c.add_file(path, path.stat().st_size)
                assert c.finish().items() == want, (part, num_threads)
            assert c.size == sum(map(len, contents))
            assert count(contents, split, SPECIAL, num_threads) == want


def test_parts_are_about_as_large_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_counting, "LEAST_PART", 1000)
    monkeypatch.setattr(_counting, "MOST_PART", 1000)
    split = pybpe.Split.from_pattern("gpt2")
    words = b"some words " * 2000
    for text, largest in (
        (words, 1000),
        (b"a" * 5000 + words, 6000),
        (b"a" * 9000, 9000),
    ):
        with PretokenCounter(split, [], 2, lambda done: None) as counter:
            parts = list(counter._parts(lambda a, b: text[a:b], len(text)))  # noqa: B023
        assert [0, *(end for _, end in parts)] == [*(a for a, _ in parts), len(text)]
        assert all(end > start for start, end in parts)
        assert max(end - start for start, end in parts) <= largest


def test_an_unsettled_text_is_not_read_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # One pretoken of 100,000 bytes in blocks of 10: what the core is shown must stay
    # linear in the text.
    shown = 0
    add_text = Counts.add_text

    def watched(self: Counts, split: object, match: object, data: bytes, *a, **k):  # type: ignore[no-untyped-def]
        nonlocal shown
        shown += len(data)
        return add_text(self, split, match, data, *a, **k)

    monkeypatch.setattr(Counts, "add_text", watched)
    monkeypatch.setattr(_counting, "BLOCK", 10)
    monkeypatch.setattr(_counting, "PORTION", 10)
    text = b"a" * 100_000
    for pattern in ("gpt4", None):
        shown = 0
        items = count([text], pybpe.Split.from_pattern(pattern))
        assert items == [(text, 1, 0)]
        assert shown < 6 * len(text)


def test_tables_merge_in_any_order() -> None:
    split = pybpe.Split.from_pattern("cl100k")
    core = _binding.new_split(split.stages)
    random_ = random.Random(4)
    texts = [random_data(random_, 30) for _ in range(12)]
    want = expected(texts, split)
    for _ in range(20):
        tables = [Counts()]
        tables += [Counts(tables[0]) for _ in range(random_.randint(0, 4))]
        order = list(enumerate(texts))
        random_.shuffle(order)
        for i, text in order:
            position = sum(map(len, texts[:i]))
            random_.choice(tables).add_batch(core, None, [text], position)
        while len(tables) > 1:
            random_.shuffle(tables)
            tables[0].merge(tables.pop())
        assert tables[0].items() == want


def test_pretokens_of_every_length() -> None:
    # Up to 15 bytes a pretoken is its own key; the lengths around that matter, and
    # where the text ends.
    random_ = random.Random(5)
    words = [bytes(random_.choices(b"ab\0", k=n)) for n in range(1, 40) for _ in "1234"]
    split = pybpe.Split.from_pattern(r" |[^ ]+")
    for _ in range(5):
        random_.shuffle(words)
        text = b" ".join(words * 2)
        assert count([text], split) == expected([text], split)


@pytest.mark.parametrize("num_threads", [2, 5])
def test_threads_count_what_one_counts(
    num_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_counting, "PORTION", 300)
    monkeypatch.setattr(_counting, "BLOCK", 1000)
    random_ = random.Random(6)
    texts = [random_data(random_, random_.choice([1, 10, 400])) for _ in range(100)]
    for pattern in ("o200k", "deepseek_v3", UNCOMPILED):
        split = pybpe.Split.from_pattern(pattern)
        want = count(texts, split, SPECIAL)
        assert count(texts, split, SPECIAL, num_threads) == want


def test_threads_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    # In a container that allows few of them.
    started = 0
    start = _counting.threading.Thread.start

    def failing(self: object) -> None:
        nonlocal started
        if started == allowed:
            raise RuntimeError("can't start new thread")
        started += 1
        start(self)  # type: ignore[arg-type]

    monkeypatch.setattr(_counting, "PORTION", 10)
    monkeypatch.setattr(_counting.threading.Thread, "start", failing)
    texts = [b"some text"] * 100
    split = pybpe.Split.from_pattern("gpt2")
    for allowed in (0, 1, 2):
        started = 0
        assert count(texts, split, (), 4) == expected(texts, split)
        assert started == allowed
