"""Patterns mean what they mean in the engine their dialect is named after."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from split_reference import ALPHABET, SCALE, kept_by_rust, random_pattern

from pybpe.split import Split, Stage

Matches = Callable[[str], list[str]]

_PIECES = [
    "a", "b", "s", " ", "1", "-", "-", "&", "^", "[", "[", "[^", "]", "]", "]", "(",
    "(?:", "(?:", "(?i:", "(?s:", "(?m:", "(?i)", "(?s)", "(?m)", "(?=", "(?!", "(?<=",
    "(?<!", "(?>", "(?<n>", ")", ")", ")", ")", "|", "|", "*", "+", "?", "{2}", "{1,2}",
    "{,2}", "{2,}", "{", "}", r"\s", r"\S", r"\d", r"\D", r"\w", r"\W", r"\n", r"\r",
    r"\t", r"\x41", r"\x{61}", r"\u0061", r"\p{L}", r"\P{L}", r"\p{Lu}", r"\p{^N}",
    r"\pL", r"\h", r"\b", r"\B", r"\A", r"\z", r"\Z", "^", "$", ".", ".", "&&", "--",
    "~~", "[:alpha:]", "[:^digit:]", "[:punct:]", r"\-", r"\]", r"\.", "\u00df",
    "\u017f", "k", "K", "\u212a", "ss", "A", "B", "a-c", "_", "\\", r"\e", r"\v",
    "(?#x)", "\u01c5", r"\p{Greek}", r"\R", "++", "*?", "+?", "??",
]  # fmt: skip
_ALPHABET = "ab 1\nABs\u017fkK\u212a\u00df-&^]_.\r\u01c5"

# Engines refuse more than we need to, in lookbehind above all.
_ENGINE_REFUSES = (
    "look-behind",
    "Variable leng",
    "target of repeat operator is invalid",
)


def _rust(pattern: str) -> Matches:
    tiktoken = pytest.importorskip("tiktoken")
    kept_by_rust(pattern, "a")  # raises what is wrong with the pattern

    def matches(text: str) -> list[str]:
        # All substrings are tokens, so that every match is one id.
        substrings = {
            text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1)
        }
        ranks = {token.encode(): n for n, token in enumerate(sorted(substrings))}
        encoding = tiktoken.Encoding(
            "probe", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        )
        return [encoding.decode([i]) for i in encoding.encode_ordinary(text)]

    return matches


def _oniguruma(pattern: str) -> Matches:
    tokenizers = pytest.importorskip("tokenizers")
    split = tokenizers.pre_tokenizers.Split(
        tokenizers.Regex(pattern), "removed", invert=True
    )
    return lambda text: [piece for piece, _ in split.pre_tokenize_str(text)]


def _regex(pattern: str) -> Matches:
    import regex

    engine = regex.compile(pattern)
    return lambda text: [found.group() for found in engine.finditer(text)]


ENGINES = {"rust": _rust, "oniguruma": _oniguruma, "regex": _regex}


def matches_of(stage: Stage, text: str) -> list[str]:
    return [text[start:end] for start, end in stage.match_spans(text)]


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore::FutureWarning")  # regex on '[[' and '--'
@pytest.mark.parametrize("dialect", ENGINES)
def test_random_syntax_like_its_engine(dialect: str) -> None:
    """Random pieces of syntax: what we accept, the engine reads the same way."""
    rng = random.Random(11)
    n_accepted = 0
    for _ in range(int(4000 * SCALE)):
        pattern = "".join(rng.choices(_PIECES, k=rng.randint(1, 9)))
        try:
            stage = Stage.compile(pattern, dialect)
        except ValueError:
            continue
        try:
            engine = ENGINES[dialect](pattern)
        except Exception as error:
            if any(known in str(error) for known in _ENGINE_REFUSES):
                continue
            raise
        for _ in range(4):
            text = "".join(rng.choices(_ALPHABET, k=rng.randint(1, 9)))
            assert matches_of(stage, text) == engine(text), (pattern, text)
        n_accepted += 1
    assert n_accepted > 700 * SCALE


@pytest.mark.oracle
@pytest.mark.parametrize("dialect", ENGINES)
def test_random_patterns_like_their_engine(dialect: str) -> None:
    """The order in which ways to match are tried is the same in all engines."""
    rng = random.Random(13)
    n_compiled = 0
    for _ in range(int(500 * SCALE)):
        pattern = random_pattern(rng, others=rng.random() < 0.3)
        try:
            stage = Stage.compile(pattern, dialect)
        except ValueError:
            continue
        # Older releases of `regex` have no \z; its \Z means the same.
        known = pattern.replace(r"\z", r"\Z") if dialect == "regex" else pattern
        try:
            engine = ENGINES[dialect](known)
        except Exception as error:
            if any(refused in str(error) for refused in _ENGINE_REFUSES):
                continue
            raise
        for _ in range(4):
            text = "".join(rng.choices(ALPHABET, k=rng.randint(1, 11)))
            assert matches_of(stage, text) == engine(text), (pattern, text)
        n_compiled += stage.compiled
    assert n_compiled > 300 * SCALE


def every(matches: list[str], *dialects: str) -> dict[str, list[str]]:
    return dict.fromkeys(dialects or ENGINES, matches)


# Patterns that the dialects read differently, or that all of them must know.
CASES = [
    ("a$", "b\na\n", {"rust": [], "oniguruma": ["a"], "regex": ["a"]}),
    ("a$", "a\na", {"rust": ["a"], "oniguruma": ["a", "a"], "regex": ["a"]}),
    ("^a", "\na", {"rust": [], "oniguruma": ["a"], "regex": []}),
    (r"a\Z", "a\n", {"rust": ["a"], "oniguruma": ["a"], "regex": []}),
    (r"a\Z", "a\n\n", {"rust": ["a"], "oniguruma": [], "regex": []}),
    ("(?m:.)", "\n", {"rust": [], "oniguruma": ["\n"], "regex": []}),
    ("(?m:a$)", "a\nb", {"rust": ["a"], "oniguruma": ["a"], "regex": ["a"]}),
    (
        "[ab]{1,2}+b",
        "aabb",
        {"rust": ["aab"], "oniguruma": ["aabb"], "regex": ["aab"]},
    ),
    (r"\h", "a \t", {"rust": ["a"], "oniguruma": ["a"], "regex": [" ", "\t"]}),
    (r"\w", "\u00b2", {"rust": [], "oniguruma": ["\u00b2"], "regex": []}),
    (r"[\w]", "\u00b2", {"rust": [], "oniguruma": [], "regex": []}),
    (r"\w", "\u200d", {"rust": ["\u200d"], "oniguruma": [], "regex": ["\u200d"]}),
    ("[[:alpha:]]", "\u00e9", {"rust": [], **every(["\u00e9"], "oniguruma", "regex")}),
    ("[[:punct:]]", "\u3002+", {"rust": ["+"], "regex": ["\u3002", "+"]}),
    (r"(?i:\p{Lu})", "aA", {"rust": ["a", "A"], "oniguruma": ["A"]}),
    (r"(?i:\P{Lu})", "aA1", {"rust": ["1"], "oniguruma": ["a", "1"]}),
    (r"(?i:[\p{Lu}\n])", "aA", {"rust": ["a", "A"]}),
    (r"(?i:[^s])", "sS\u017fa", every(["a"])),
    ("(?i:k)", "kK\u212a", every(["k", "K", "\u212a"])),
    ("(?i:i)", "iI\u0130\u0131", {"rust": ["i", "I"], "oniguruma": ["i", "I"]}),
    ("[a-z&&[^b]]", "abc&", {"rust": ["a", "c"], "oniguruma": ["a", "c"]}),
    ("[^a-c&&b-d]", "abcde", every(["a", "d", "e"], "rust", "oniguruma")),
    ("[a-z--b]", "abc-", {"rust": ["a", "c"]}),
    ("[a-c~~b-d]", "abcd~", {"rust": ["a", "d"]}),
    ("[a[b]c]", "abc]", every(["a", "b", "c"], "rust", "oniguruma")),
    (r"a(?i)b|c", "aBC", {"rust": ["aB", "C"]}),
    (r"\x{41}\u{42}", "AB", {"rust": ["AB"]}),
    (r"\x41\u0042", "AB", every(["AB"])),
    (r"\U00000041", "A", {"rust": ["A"], "regex": ["A"]}),
    (r"\p{Script=Greek}|\p{sc=Han}", "\u03b1\u4e00", {"rust": ["\u03b1", "\u4e00"]}),
    (r"\p{Greek}+|\p{Hani}", "\u03b1\u4e00", every(["\u03b1", "\u4e00"])),
    (r"\p{uppercase letter}", "aA", every(["A"])),
    (r"\p{^L}", "a1", every(["1"])),
    (r"[]a]+|[^]a]", "a]b", every(["a]", "b"])),
    (r"[a-c-e]+", "bd-e", every(["b", "-e"])),
    (r"a\b", "ab a", every(["a"])),
    (r"(?<=a|bc)b", "abcb", every(["b", "b"])),
    ("(?<n>a)+|(b)", "aab", every(["aa", "b"])),
    ("(?P<n>a)b", "ab", {"rust": ["ab"], "regex": ["ab"]}),
    (r"(\w)+| ", "hi yo", every(["hi", " ", "yo"])),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "text", "expected"), CASES)
def test_known_meaning(pattern: str, text: str, expected: dict[str, list[str]]) -> None:
    for dialect, matches in expected.items():
        stage = Stage.compile(pattern, dialect)
        assert matches_of(stage, text) == matches, dialect


@pytest.mark.oracle
@pytest.mark.parametrize(("pattern", "text", "expected"), CASES)
def test_known_meaning_is_the_engines(
    pattern: str, text: str, expected: dict[str, list[str]]
) -> None:
    for dialect, matches in expected.items():
        assert ENGINES[dialect](pattern)(text) == matches, dialect


ANY = ("rust", "oniguruma", "regex")
REFUSED = [
    (ANY, "(", 0, "'(' without its ')'"),
    (ANY, ")a", 0, "')' without its '('"),
    (ANY, "ab[c", 2, "without its closing ']'"),
    (ANY, "a[]", 1, "without its closing ']'"),
    (ANY, "a\\", 1, "lone backslash"),
    (ANY, r"x\p{Foo}", 1, "unknown property 'Foo'"),
    (ANY, r"\p{L", 0, "without a closing brace"),
    (ANY, "*a", 0, "nothing to repeat"),
    (ANY, "a|*", 2, "nothing to repeat"),
    (ANY, "a**", 2, "a quantifier on a quantifier"),
    (ANY, "a{2}{3}", 4, "a quantifier on a quantifier"),
    (ANY, "a{3,1}", 1, "from 3 down to 1"),
    (ANY, "a{x}", 1, "starts no repeat count"),
    (ANY, "a{1000000}", 1, "a repeat count above 10,000"),
    (ANY, "a{99999999999999999999}", 1, "a repeat count above 10,000"),
    (ANY, "(?:(?:a{900}){900}){900}", 0, "more than 50,000 parts"),
    (ANY, r"(a)\1", 3, "back-reference"),
    (ANY, r"(?<n>a)\k<n>", 7, "refers to a group"),
    (ANY, r"a\R", 1, "any line break"),
    (ANY, r"\X", 0, "unknown escape"),
    (ANY, r"a\K", 1, "lookbehind"),
    (ANY, "(?(1)a|b)", 0, "conditional"),
    (ANY, "(?|a|b)", 0, "branch-reset"),
    (ANY, "(?R)", 0, "recursion"),
    (ANY, "(?x)a b", 2, "flag 'x'"),
    (ANY, "(?=a)*b", 5, "consumes no text"),
    (ANY, "(?:)*b", 4, "consumes no text"),
    (ANY, "a*", 0, "match the empty string"),
    (ANY, "", 0, "match the empty string"),
    (ANY, "a|", 0, "match the empty string"),
    (ANY, r"\b", 0, "match the empty string"),
    (ANY, "(?i", 0, "not supported"),
    (ANY, "[z-a]", 1, "down to"),
    (ANY, r"[a-\d]", 1, "ends with a set"),
    (ANY, r"[\d-z]", 1, "starts with a set"),
    (ANY, "[[:foo:]]", 1, "unknown POSIX class"),
    (ANY, r"\x4", 0, "incomplete hexadecimal"),
    (ANY, r"\ud800", 0, "no character"),
    (ANY, "(" * 60 + "a" + ")" * 60, 50, "nested deeper than 50"),
    (ANY, "(?:" * 60 + "a" + ")" * 60, 150, "nested deeper than 50"),
    (ANY, "a+" * 15_000, 20_000, "longer than 20,000"),
    (("rust", "oniguruma"), "[" * 60 + "a" + "]" * 60, 51, "nested deeper than 50"),
    (("rust", "oniguruma"), "x[a&&b]", 1, "holds no character"),
    (("rust", "oniguruma"), "[a&&]", 4, "nothing on one side"),
    (("regex",), "[a&&b]", 2, "set operation or plain characters"),
    (("regex",), "[[a]", 1, "V0 and V1"),
    (("regex",), r"(?i:\p{Lu})", 4, "one case only"),
    (("regex",), r"(?i:[\p{Lu}])", 5, "one case only"),
    (("oniguruma",), "(?i:ss)", 5, "takes 'ß' and 'ss' for the same"),
    (("oniguruma",), "(?i:\u00df)", 4, "takes 'ß' and 'ss' for the same"),
    (("oniguruma",), "(?i:[\u00df])", 4, "folds to several"),
    (("oniguruma",), "(?i:[a-z&&k])", 8, "folds late"),
    (("oniguruma", "regex"), "a(?i)b", 1, "flags after the start"),
    (("oniguruma",), "(?s:.)", 2, "flag 's'"),
    (("oniguruma",), r"\pL", 0, "without braces"),
    (("oniguruma",), r"\p{sc=Han}", 0, "has no '='"),
]


@pytest.mark.parametrize(("dialects", "pattern", "position", "what"), REFUSED)
def test_refusals_name_construct_and_position(
    dialects: tuple[str, ...], pattern: str, position: int, what: str
) -> None:
    for dialect in dialects:
        with pytest.raises(ValueError, match="split pattern") as caught:
            Split.from_pattern([pattern], dialect)
        message = str(caught.value)
        assert f"position {position}: " in message
        assert what in message
        assert "; " in message.partition(f"position {position}: ")[2]  # the way out
        assert len(message) < 500


def test_multi_character_folds_are_refused_where_oniguruma_has_them() -> None:
    # Not next to each other in one group, so Oniguruma does not fold them together.
    for pattern in (
        "(?i:s)(?i:s)",
        "(?i:(s)s)",
        "(?i:s+)",
        "(?i:s|s)",
        "(?i:[^\u00df])",
    ):
        Stage.compile(pattern, "oniguruma")
    for text in ("ff", "fi", "st", "ffl", "\u02bcn", "\u0390", "\ufb05"):
        with pytest.raises(ValueError, match="for the same"):
            Stage.compile(f"(?i:x{text})", "oniguruma")
        assert Stage.compile(f"(?i:x{text})", "rust").compiled


def test_unknown_dialect_and_behavior() -> None:
    with pytest.raises(ValueError, match="unknown dialect 'perl'; known are rust"):
        Split.from_pattern("a+", "perl")
    with pytest.raises(ValueError, match="behavior 'sideways' is not supported"):
        Stage.compile("a+", behavior="sideways")


def test_any_string_is_a_pattern_or_a_value_error() -> None:
    rng = random.Random(12)
    characters = r"ab(){}[]^$.|?*+\-&~:=!<>,0123pPxuUkKzZ \n" + "\u00e9\U0001f600\x00"
    for _ in range(int(3000 * SCALE)):
        pattern = "".join(rng.choices(characters, k=rng.randint(1, 14)))
        dialect = rng.choice(list(ENGINES))
        try:
            stage = Stage.compile(pattern, dialect)
        except ValueError as error:
            assert "split pattern" in str(error)  # noqa: PT017
        else:
            stage.match_spans("ab\n 12 \u00e9")
