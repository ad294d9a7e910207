"""Control over the vocabulary: sizes, longest tokens, protected strings, several sizes
from one run."""

from __future__ import annotations

import pickle
import random
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
