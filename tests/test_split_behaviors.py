"""Split behaviors: what becomes of matches and gaps, in Python and in the core."""

from __future__ import annotations

import inspect
import pickle
import random
from array import array
from typing import Any

import pytest

import pybpe
from pybpe import Tokenizer, _binding
from pybpe.normalizers import Prefix
from pybpe.split import Split, Stage
from pybpe.split.stage import BEHAVIORS, CORE_BEHAVIORS

TEXT = "--a--b-c--"
# (behavior, invert) -> the pieces of TEXT that matches of "-+" and of "-" give.
PIECES = {
    ("isolated", False): ("-- a -- b - c --", "- - a - - b - c - -"),
    ("isolated", True): ("-- a -- b - c --", "- - a - - b - c - -"),
    ("removed", False): ("a b c", "a b c"),
    ("removed", True): ("-- -- - --", "- - - - - - -"),
    ("merged_with_previous", False): ("-- a-- b- c--", "- - a- - b- c- -"),
    ("merged_with_previous", True): ("--a --b -c --", "- -a - -b -c - -"),
    ("merged_with_next", False): ("--a --b -c --", "- -a - -b -c - -"),
    ("merged_with_next", True): ("-- a-- b- c--", "- - a- - b- c- -"),
    ("contiguous", False): ("-- a -- b - c --", "-- a -- b - c --"),
    ("contiguous", True): ("-- a -- b - c --", "-- a -- b - c --"),
}


def by_core(split: Split, data: bytes) -> list[bytes]:
    """Return what the core makes of some bytes."""
    starts, ends = _binding.split_spans(_binding.new_split(split.stages), data)
    return [data[a:b] for a, b in zip(starts, ends, strict=True)]


def by_python(split: Split, text: str) -> list[bytes]:
    """Return what the slow path makes of a text."""
    return [piece.encode("utf-8", "surrogateescape") for piece in split.pretokens(text)]


@pytest.mark.parametrize("behavior", PIECES)
def test_pieces(behavior: tuple[str, bool]) -> None:
    for pattern, pieces in zip(["-+", "-"], PIECES[behavior], strict=True):
        stage = Stage.compile(
            pattern, "oniguruma", behavior=behavior[0], invert=behavior[1]
        )
        split = Split([stage])
        assert split.pretokens(TEXT) == pieces.split()
        assert by_core(split, TEXT.encode()) == pieces.encode().split()
        assert split.drops == (behavior[0] == "removed")


def test_every_behavior_is_tested() -> None:
    assert {name for name, _ in PIECES} == set(BEHAVIORS)
    assert PIECES.keys() == CORE_BEHAVIORS.keys()


def test_core_equals_python_on_random_splits() -> None:
    rng = random.Random(3)
    patterns = [r"a", r"a+", r"[ab]+|c", r"\s+(?!\S)|\s+", r"b*a", r"\p{L}+", r"a|aab"]
    for _ in range(3000):
        stages = []
        for _ in range(rng.randint(1, 3)):
            behavior, invert = rng.choice(list(CORE_BEHAVIORS))
            pattern = rng.choice(patterns)
            stages.append(
                Stage.compile(pattern, "oniguruma", behavior=behavior, invert=invert)
            )
        split = Split(stages)
        text = "".join(rng.choices("aabc \n\u00e9\u4e2d", k=rng.randint(0, 12)))
        assert by_core(split, text.encode()) == by_python(split, text), (split, text)


def test_long_texts_take_linear_work() -> None:
    """Half a million characters; a quadratic loop would not end."""
    for behavior, invert in CORE_BEHAVIORS:
        for pattern in ["a", "b", r"a+b|a"]:
            stage = Stage.compile(
                pattern, "oniguruma", behavior=behavior, invert=invert
            )
            data = b"a" * 500_000
            pieces = by_core(Split([stage]), data)
            if behavior != "removed":
                assert sum(map(len, pieces)) == len(data)


def test_more_pretokens_than_fit_in_a_batch() -> None:
    stage = Stage.compile(r"\s", "rust", behavior="removed")
    tok = Tokenizer.from_merges([(97, 98)], pattern=Split([stage]))
    assert tok.encode("ab " * 1000) == [256] * 1000
    assert tok.encode(" ") == []
    assert tok.count("ab c") == 2
    assert tok.encode_batch(["ab", "  ", "a b"]) == [[256], [], [97, 98]]
    assert tok.decode(tok.encode("ab ab")) == "abab"


def over_bytes(pattern: str) -> Stage:
    """Return a stage that takes each byte for the character of the same number."""
    stage = Stage.compile(pattern, "rust")
    parts: dict[str, Any] = {
        name: getattr(stage, name)
        for name in sorted(inspect.signature(Stage).parameters)
        if name != "over_bytes"
    }
    return Stage(**parts, over_bytes=True)


def test_stages_over_bytes() -> None:
    # U+00E9 is C3 A9 in UTF-8; the stage sees U+00C3, a letter, and U+00A9, a symbol.
    split = Split([over_bytes(r"\p{L}+")])
    assert by_core(split, "x\u00e9y".encode()) == [b"x\xc3", b"\xa9", b"y"]
    assert by_python(split, "x\u00e9y") == [b"x\xc3", b"\xa9", b"y"]
    assert by_core(split, b"\xff\xc3") == [b"\xff\xc3"]


def test_stages_with_steps() -> None:
    first = Stage.compile(r"\d", "rust")
    second = Stage.compile(r" ?\w+", "rust").with_steps((Prefix(" "),))
    split = Split([first, second])
    assert split.compiled
    assert split.changes
    assert split.pretokens("a1b") == [" a", " 1", " b"]
    only = Split([first.with_steps((Prefix("_", first_only=True),)), second])
    assert only.pretokens("1a") == [" _", " 1", " a"]
    with pytest.raises(ValueError, match="drops or changes text"):
        split.ends(b"a")


def test_content_counts() -> None:
    plain = Stage.compile("a+", "rust")
    others = [
        plain.with_behavior("removed"),
        plain.with_behavior("isolated", invert=True),
        plain.with_steps((Prefix(" "),)),
        over_bytes("a+"),
    ]
    assert len({plain, *others}) == 5
    for stage in others:
        again = pickle.loads(pickle.dumps(stage))
        assert again == stage
        assert hash(again) == hash(stage)
        assert Split([stage]).name is None
    with pytest.raises(ValueError, match="behavior 'sideways' is not supported"):
        plain.with_behavior("sideways")


def test_the_core_checks_behaviors(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage.compile("a+", "rust")
    monkeypatch.setitem(CORE_BEHAVIORS, ("isolated", False), 6)
    with pytest.raises(Exception, match="argument"):
        _binding.new_split([stage])


def test_training_takes_splits_that_only_cut() -> None:
    cutting = Stage.compile(" ", "rust", behavior="merged_with_next")
    tok = pybpe.train(["ab ab ab"], 257, pattern=Split([cutting]))
    assert tok.encode("ab ab") == [256, 32, 256]
    for stage in (
        cutting.with_behavior("removed"),
        cutting.with_steps((Prefix(" "),)),
    ):
        with pytest.raises(ValueError, match="splits that only cut"):
            pybpe.train(["ab"], 257, pattern=Split([stage]))


def test_ends_are_refused_where_text_vanishes() -> None:
    split = _binding.new_split([Stage.compile("a", "rust", behavior="removed")])
    with pytest.raises(Exception, match="argument"):
        _binding.split_ends(split, b"ab")
    assert _binding.split_spans(split, b"aba") == (array("Q", [1]), array("Q", [2]))
    whole = _binding.new_split([])
    assert _binding.split_spans(whole, b"aba") == (array("Q", [0]), array("Q", [3]))
    assert _binding.split_spans(whole, b"") == (array("Q"), array("Q"))
