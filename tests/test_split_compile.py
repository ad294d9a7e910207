"""Compiled tables, the `regex` path and the core agree with a backtracking engine."""

from __future__ import annotations

import random
from functools import partial

import growth
import pytest
from split_reference import (
    ALPHABET,
    SCALE,
    by_core,
    check,
    random_pattern,
    ways,
    with_gaps,
)

from pybpe.split import Split, Stage
from pybpe.split.tables import MATCH_BEFORE, NEXT_STATE


def random_splits(seed: int, count: int, others: bool) -> list[Split]:
    """Return splits of random patterns that are supported, compiled or not."""
    rng = random.Random(seed)
    splits: list[Split] = []
    while len(splits) < int(count * SCALE):
        try:
            stage = Stage.compile(random_pattern(rng, others))
        except ValueError as error:
            assert "can match the empty string" in str(error)  # noqa: PT017
            continue
        if stage.compiled is not others:
            splits.append(Split([stage]))
    return splits


def test_3000_random_patterns_like_regex() -> None:
    import regex

    rng = random.Random(5)
    matches = 0
    for split in random_splits(6, 3000, others=False):
        (stage,) = split.stages
        engine = regex.compile(stage.pattern.replace(r"\z", r"\Z"))
        runs = list(ways(split))
        for _ in range(6):
            text = "".join(rng.choices(ALPHABET, k=rng.randint(0, 14)))
            spans = [found.span() for found in engine.finditer(text)]
            assert stage.match_spans(text) == spans, (stage.pattern, text)
            for name, cut in runs[1:]:
                assert cut(text) == with_gaps(spans, text), (name, stage.pattern, text)
            matches += len(spans)
    assert matches > 20_000 * SCALE  # the patterns are not all without matches


def test_random_patterns_without_tables_like_regex() -> None:
    import regex

    rng = random.Random(7)
    for split in random_splits(8, 400, others=True):
        (stage,) = split.stages
        assert stage.reason
        engine = regex.compile(stage.pattern.replace(r"\z", r"\Z"))
        for _ in range(6):
            text = "".join(rng.choices(ALPHABET, k=rng.randint(0, 14)))
            spans = [found.span() for found in engine.finditer(text)]
            assert stage.match_spans(text) == spans, (stage.pattern, text)


def test_tables_keep_their_contract() -> None:
    for split in random_splits(9, 200, others=False):
        (stage,) = split.stages
        width = stage.n_classes + 1
        rows = [
            list(stage.transitions[i * width : (i + 1) * width])
            for i in range(stage.n_states)
        ]
        assert len(stage.transitions) == stage.n_states * width
        assert not any(rows[0])
        assert not any(value & MATCH_BEFORE for value in rows[1])
        assert all(row[-1] & NEXT_STATE == 0 for row in rows)
        assert stage.class_starts[0] == 0
        assert list(stage.class_starts) == sorted(set(stage.class_starts))
        assert set(stage.class_ids) == set(range(stage.n_classes))
        # Minimal: no two classes and no two states do the same.
        assert len(set(list(zip(*rows, strict=True))[:-1])) == stage.n_classes
        assert max(2, _n_distinguishable(rows)) == stage.n_states
        # What a stage is made of is what it is.
        again = _rebuilt(stage)
        assert again == stage
        assert hash(again) == hash(stage)


def _n_distinguishable(rows: list[list[int]]) -> int:
    """Count states that differ, by the textbook's pairwise marking, slowly."""
    n = len(rows)
    differ = {
        (p, q)
        for p in range(n)
        for q in range(n)
        if any((x ^ y) & MATCH_BEFORE for x, y in zip(rows[p], rows[q], strict=True))
    }
    while True:
        more = {
            (p, q)
            for p in range(n)
            for q in range(n)
            if (p, q) not in differ
            and any(
                (x & NEXT_STATE, y & NEXT_STATE) in differ
                for x, y in zip(rows[p], rows[q], strict=True)
            )
        }
        if not more:
            break
        differ |= more
    return sum(all((p, q) in differ for q in range(p)) for p in range(n))


def _rebuilt(stage: Stage) -> Stage:
    return Stage(
        pattern=stage.pattern,
        dialect=stage.dialect,
        behavior=stage.behavior,
        unicode_version=stage.unicode_version,
        class_starts=stage.class_starts,
        class_ids=stage.class_ids,
        n_classes=stage.n_classes,
        n_states=stage.n_states,
        transitions=stage.transitions,
    )


@pytest.mark.parametrize(
    "pattern",
    [
        r"\p{L}++\d|.",  # what follows cannot be a letter
        r"\s++$|.",
        r"a{1,3}+",  # nothing follows
        r"(?>\s+)b|.",
        r"(?>ab)c|.",  # only one way to match
        r"(?>a|ab)",  # nothing follows
        r"a*+[^a]|.",
        r"(?:a++b?)+",
    ],
)
def test_possessive_that_compiles(pattern: str) -> None:
    split = Split.from_pattern(pattern)
    assert split.compiled, split.stages[0].reason
    _like_regex(split)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"\s++(?!\S)|.", "competes"),
        (r"a++[ab]|.", "competes"),
        (r"(?>a|ab)c|.", "atomic"),
        (r"(?:ab)++a|.", "atomic"),
        (r"(?:a*b?)*1", "repeats"),
        (r"a(?=bb)|.", "more than one"),
        (r"(?<=a)b|.", "before the match"),
        (r"\ba|.", "before the match"),
        (r"^a|.", "before the match"),
        (r"a\Z|.", "more than one"),
        (r"[ab]*a[ab]{13}|.", "large"),
        (r"(?:[ab]{1,200}1){1,150}", "states"),
    ],
)
def test_does_not_compile_and_says_why(pattern: str, reason: str) -> None:
    split = Split.from_pattern(pattern)
    assert not split.compiled
    assert reason in split.stages[0].reason
    if r"\Z" not in pattern:
        _like_regex(split)


def _like_regex(split: Split) -> None:
    import regex

    rng = random.Random(10)
    engine = regex.compile(split.stages[0].pattern.replace("$", r"\Z"))

    def expected(text: str) -> list[str]:
        return with_gaps((found.span() for found in engine.finditer(text)), text)

    texts = ["".join(rng.choices(ALPHABET, k=rng.randint(0, 12))) for _ in range(300)]
    check(split, expected, texts)


QUADRATIC = [
    (r"\s+x|\s|\S", " "),
    (r"a+b|a", "a"),
    ("<[^>]*>|[^<]|<", "<"),
    (r"[a-z]+\d|[a-z]", "ab"),
]


@pytest.mark.parametrize(("pattern", "unit"), QUADRATIC)
def test_overshoot_is_linear(pattern: str, unit: str) -> None:
    split = Split.from_pattern(pattern)
    for name, cut in ways(split):
        assert len(cut(unit * 1000)) == len(unit) * 1000
        if name == "core":
            growth.check_linear(cut, lambda n: unit * n, 300)
        elif name == "reference":
            # Sixteen times the text takes 16 times the steps, not 256 times.
            few = growth.lines(partial(cut, unit * 100))
            many = growth.lines(partial(cut, unit * 1600))
            assert 15 * few < many < 17 * few
        else:
            assert name == "regex"  # it backtracks; linear time is for tables


@pytest.mark.slow
def test_compiling_ends_soon_whatever_the_pattern() -> None:
    for pattern in (
        "(?:a|b|[^ab]){1,900}",
        r"(?:\p{L}{1,40}\d{1,40}){1,20}",
        "(?:a?){60}b",
        "(?:(?:(?:a?b?){9}){9}){9}c",
        "(?:" * 40 + "a" + "|b)" * 40,
        "|".join(f"[\\x{{{n:x}}}-\\x{{{n + 77:x}}}]{{2}}" for n in range(99, 9900, 29)),
        "|".join(f"[\\p{{L}}{chr(n)}]a" for n in range(0x2000, 0x2000 + 1200)),
        "|".join(f"[^{chr(n)}]a" for n in range(0x4E00, 0x4E00 + 1300)),
        r"(?i:[\p{L}])" * 1500,
        f"(?i:{'a' * 19_000})",
        "a{10000}",
        "(?:ab?){4000}",
        "(?:a|b|(?=c)|)" * 1000 + "b",
    ):
        for dialect in ("rust", "oniguruma"):

            def compile_it(pattern: str = pattern, dialect: str = dialect) -> None:
                try:
                    Stage.compile(pattern, dialect)
                except ValueError as error:
                    assert "position" in str(error)  # noqa: PT017

            # About a second at most. What is not held back takes minutes, or for ever.
            assert growth.spent(compile_it) < 60, (pattern[:40], dialect)


def test_too_many_kinds_of_characters_are_refused() -> None:
    pattern = "|".join(f"{chr(n)}a" for n in range(0x4E00, 0x4E00 + 1500))
    with pytest.raises(ValueError, match=r"1,501 different sets .* too many: put"):
        Split.from_pattern(pattern)


def test_core_is_tested_when_built() -> None:
    try:
        import pybpe._core
    except ImportError:
        pytest.skip("the core has not been built")
    assert pybpe._core is not None
    cut = by_core(Split.from_pattern("gpt2"))
    assert cut is not None
    assert cut("ab c") == ["ab", " c"]
