"""Normalizers: forms and rules against Hugging Face tokenizers, and by hand."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from pathlib import Path

import growth
import pytest
from split_reference import SCALE

from pybpe import _unicode_forms
from pybpe.normalizers import (
    WHITE_SPACE,
    Characters,
    Prefix,
    Prepend,
    Replace,
    Step,
    Strip,
    UnicodeForm,
    apply_all,
    keep_start,
)
from pybpe.split import Stage

EXAMPLES = int(2000 * SCALE)
CODEPOINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def regex(pattern: str) -> Stage:
    return Stage.compile(pattern, "oniguruma")


STEPS: list[tuple[Step, str, str]] = [
    (UnicodeForm("NFC"), "e\u0301 \u212b \ufb01", "\xe9 \xc5 \ufb01"),
    (UnicodeForm("NFD"), "\xe9 \uac01", "e\u0301 \u1100\u1161\u11a8"),
    (UnicodeForm("NFKC"), "\ufb01 \uff21 e\u0301", "fi A \xe9"),
    (UnicodeForm("NFKD"), "\ufb01 \xe9", "fi e\u0301"),
    (UnicodeForm("NFC"), "\u1100\u1161\u11a8\u1100\u1161", "\uac01\uac00"),
    # Marks are sorted by class, and one that is blocked does not join.
    (UnicodeForm("NFC"), "a\u0301\u0316", "\xe1\u0316"),
    (UnicodeForm("NFC"), "a\u0300\u0301", "\xe0\u0301"),
    (UnicodeForm("NFC"), "", ""),
    (Characters("lowercase"), "A\u0130\u03a3 \xc9", "ai\u0307\u03c3 \xe9"),
    (Characters("accents"), "e\u0301\u0327x", "ex"),
    (Characters("nmt"), "a\x01\x1f\x0bb\x85\u200bc\x00", "ab\x85 c\x00"),
    (Replace("bb", "a"), "xaax", "xbbbbx"),
    (Replace("", " "), " a b ", "ab"),
    (Replace("b", "aa"), "aaaaa", "bba"),
    (Replace(r"\1", r"(\w)\w?", regex(r"(\w)\w?")), "ab c", r"\1 \1"),
    (Replace("-", r"\s+", regex(r"\s+")), "a  b\n\u3000c" * 20, "a-b-c" * 20),
    (Prepend("\u2581"), "a", "\u2581a"),
    (Prepend("\u2581"), "\u2581a", "\u2581\u2581a"),
    (Prepend("\u2581"), "", ""),
    (Prefix(" "), "a", " a"),
    (Prefix(" "), " a", " a"),
    (Prefix(" "), "", ""),
    (Strip(True, True), "\x85\u3000a b\xa0\n", "a b"),
    (Strip(True, False), " a ", "a "),
    (Strip(False, True), " a ", " a"),
    (Strip(False, False), " a ", " a "),
    (Strip(True, True), "\x1c\x1fa\u200b", "\x1c\x1fa\u200b"),
]


@pytest.mark.parametrize(("step", "text", "wanted"), STEPS, ids=lambda v: ascii(v)[:40])
def test_steps(step: Step, text: str, wanted: str) -> None:
    assert step.apply(text) == wanted
    if step.leaves(text.encode()):
        assert wanted == text


def test_white_space_is_unicodes() -> None:
    assert len(WHITE_SPACE) == 25
    assert "\x85" in WHITE_SPACE
    assert "\x1c" not in WHITE_SPACE


def test_prefix_of_the_first_stretch_only() -> None:
    step = Prefix("_", first_only=True)
    assert step.apply("a", first=True) == "_a"
    assert step.apply("a", first=False) == "a"


@pytest.mark.parametrize(
    ("steps", "text", "kept"),
    [
        ((Strip(True, False),), " a", False),
        ((Strip(True, False),), "a", True),
        ((Replace("", "a"),), "ab", False),
        ((Replace("x", "a"),), "ab", True),
        ((Replace("x", "ab"),), "ab", False),
        ((Replace("x", "[ab]+", regex("[ab]+")),), "ab", False),
        ((Replace("x", "[ab]+", regex("[ab]+")),), "cab", True),
        ((Characters("nmt"),), "\x01a", False),
        ((Prepend("x"), Strip(True, True)), "a", True),
        ((Strip(True, True), Replace("", "a")), "ba", True),
    ],
)
def test_whether_the_start_is_kept(
    steps: tuple[Step, ...], text: str, kept: bool
) -> None:
    assert keep_start(steps, text) == kept


def test_steps_are_values() -> None:
    steps = [step for step, _, _ in STEPS]
    for step in steps:
        again = pickle.loads(pickle.dumps(step))
        assert again == step
        assert hash(again) == hash(step)
        with pytest.raises(AttributeError, match="immutable"):
            step.form = 1  # type: ignore[attr-defined]
    assert Prepend("x") != Prefix("x")
    assert Prepend("x") != "x"
    assert repr(Prepend("x")) == "Prepend('x',)"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: UnicodeForm("NFX"), "none of the forms NFC"),
        (lambda: UnicodeForm("NFC", "3.2"), "tables of '3.2'"),
        (lambda: Characters("upper"), "none of the rules"),
        (lambda: Replace("a", ""), "empty pattern"),
    ],
)
def test_refusals(make: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()  # type: ignore[operator]


def test_invalid_bytes_stay() -> None:
    text = b"e\xcc\x81\xffE\xcc".decode("utf-8", "surrogateescape")
    steps: tuple[Step, ...] = (
        UnicodeForm("NFKC"),
        Characters("lowercase"),
        Replace("!", "x+", regex("x+")),
        Strip(True, True),
    )
    made = apply_all(steps, text).encode("utf-8", "surrogateescape")
    assert made == b"\xc3\xa9\xffe\xcc"


# What is repeated after an "a".
LONG = ["\u0301\u0316", "\u1100\u1161\u11a8", "\u0301", "e\u0301", " ", "\u0f71\u0f72"]


@pytest.mark.parametrize("unit", LONG, ids=ascii)
def test_time_is_linear(unit: str) -> None:
    steps = [
        *map(UnicodeForm, _unicode_forms.FORMS),
        Replace("\u2581", " "),
        Replace("\u2581", r"\s|\u0301", regex(r"\s|\u0301")),
    ]
    for step in steps:
        made = step.apply("a" + unit * 10_000)
        assert step.apply(made) == made
        growth.check_linear(step.apply, lambda n: "a" + unit * n, 100)


def test_text_that_needs_nothing_is_returned_as_it_is() -> None:
    for text in ["plain", "\u4e2d\u6587 \xe9", "\u043f\u0440"]:
        assert UnicodeForm("NFC").apply(text) is text


@pytest.mark.oracle
@pytest.mark.parametrize("name", _unicode_forms.FORMS)
def test_forms_of_every_codepoint(name: str) -> None:
    normalizers = pytest.importorskip("tokenizers").normalizers
    theirs = getattr(normalizers, name)().normalize_str
    ours = _unicode_forms.form(name)
    assert [c for c in CODEPOINTS if theirs(chr(c)) != ours(chr(c))] == []


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("rule", "name"),
    [("lowercase", "Lowercase"), ("accents", "StripAccents"), ("nmt", "Nmt")],
)
def test_rules_of_every_codepoint(rule: str, name: str) -> None:
    normalizers = pytest.importorskip("tokenizers").normalizers
    theirs = getattr(normalizers, name)().normalize_str
    ours = Characters(rule).apply
    assert [c for c in CODEPOINTS if theirs(chr(c)) != ours(chr(c))] == []


@pytest.mark.oracle
def test_sets_of_every_codepoint() -> None:
    pre = pytest.importorskip("tokenizers").pre_tokenizers
    for name, theirs in [
        ("digits", pre.Digits(individual_digits=True)),
        ("punctuation", pre.Punctuation("isolated")),
        ("punctuation", pre.BertPreTokenizer()),
    ]:
        edges = _unicode_forms.char_set(name)
        ours = {
            c
            for low, high in zip(edges[::2], edges[1::2], strict=True)
            for c in range(low, high)
        }
        cut = {c for c in CODEPOINTS if len(theirs.pre_tokenize_str("a" + chr(c))) > 1}
        assert cut == ours


@pytest.mark.oracle
@pytest.mark.parametrize("name", _unicode_forms.FORMS)
def test_forms_of_random_text(name: str) -> None:
    normalizers = pytest.importorskip("tokenizers").normalizers
    theirs = getattr(normalizers, name)().normalize_str
    ours = _unicode_forms.form(name)
    tables = _unicode_forms._Form("NFKC")
    marks = list(map(chr, tables.classes))
    pairs = list(tables.pairs)
    jamo = [chr(c) for c in (*range(0x1100, 0x1200), *range(0xAC00, 0xAC40), 0xD7A3)]
    odd = list(map(chr, {**_unicode_forms.mapping("compatible"), **tables.decomposed}))
    rng = random.Random(name)
    for _ in range(EXAMPLES):
        parts = []
        for _ in range(rng.randint(1, 8)):
            source = rng.choice([marks, marks, pairs, jamo, odd, "aeioun ", None])
            parts.append(
                chr(rng.choice(CODEPOINTS)) if source is None else rng.choice(source)
            )
        text = "".join(parts)
        assert ours(text) == theirs(text), ascii(text)


@pytest.mark.oracle
@pytest.mark.slow
def test_tables_are_what_the_tool_makes(project_root: Path) -> None:
    """A release of tokenizers that disagrees needs a decision, so it must not pass."""
    pytest.importorskip("tokenizers")
    tool = project_root / "tools" / "make_normalization_data.py"
    made = subprocess.run(
        [sys.executable, str(tool)], capture_output=True, text=True, check=True
    )
    module = project_root / "pybpe" / "_normalization_data.py"
    assert module.read_text("utf-8") == made.stdout


def test_steps_that_multiply_a_text_are_stopped() -> None:
    double = Replace("aa", "a")
    assert apply_all((double,) * 5, "xa") == "x" + "a" * 32
    with pytest.raises(ValueError, match="they multiply it"):
        apply_all((double,) * 60, "a")


def test_steps_that_multiply_a_beginning_are_refused() -> None:
    steps = tuple(Replace("a" * 10, "a") for _ in range(12))
    with pytest.raises(ValueError, match="multiply"):
        keep_start(steps, "a")
    with pytest.raises(ValueError, match="multiply"):
        apply_all(steps, "a")
