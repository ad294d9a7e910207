"""The named patterns cut text exactly as the engines they were published for."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import growth
import pytest
from split_reference import (
    SCALE,
    assigned,
    by_core,
    by_oniguruma,
    by_regex,
    check,
    every_codepoint,
    nasty_texts,
    ways,
)

from pybpe.split import Split, pattern_names
from pybpe.split.patterns import ALIASES, NAMED

# What the patterns compile to. A change here is a change of the compiler: the tables
# may only ever get smaller, and models saved before must still equal those made now.
SIZES = {
    "gpt2": [(10, 12)],
    "gpt4": [(11, 17)],
    "cl100k": [(11, 17)],
    "o200k": [(19, 20)],
    "llama3": [(11, 17)],
    "qwen2": [(11, 15)],
    "tekken": [(10, 15)],
    "deepseek_v3": [(2, 5), (2, 3), (8, 13)],
    "digits": [(2, 3)],
}


@pytest.mark.parametrize("name", NAMED)
def test_compiles_to_small_tables(name: str) -> None:
    split = Split.from_pattern(name)
    assert split.compiled
    assert split.name == name
    assert [(s.n_classes, s.n_states) for s in split.stages] == SIZES[name]


@pytest.mark.parametrize("name", NAMED)
def test_like_regex(name: str) -> None:
    split = Split.from_pattern(name)
    expected = by_regex(*(stage.pattern for stage in split.stages))
    assert check(split, expected, nasty_texts(1, 2000)) == int(2000 * SCALE)


def test_gpt2_like_the_form_tiktoken_uses() -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public")
    split = Split.from_pattern(public.r50k_pat_str)
    expected = Split.from_pattern("gpt2").pretokens
    check(split, expected, nasty_texts(2, 2000))


@pytest.mark.oracle
def test_openai_patterns_are_the_published_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public")
    monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})
    for encoding in ("cl100k_base", "o200k_base", "o200k_harmony"):
        (stage,) = Split.from_pattern(encoding).stages
        assert stage.pattern == getattr(public, encoding)()["pat_str"]


def test_other_patterns_are_the_published_ones(
    data_path: Callable[[str], Path],
) -> None:
    for name, file in (
        ("llama3", "hf/llama3_1_tokenizer.json"),
        ("qwen2", "hf/qwen3_tokenizer.json"),
        ("deepseek_v3", "hf/deepseek_v3_tokenizer.json"),
    ):
        model = json.loads(data_path(f"vocab/{file}").read_text(encoding="utf-8"))
        stages = model["pre_tokenizer"]["pretokenizers"]
        patterns = [s["pattern"]["Regex"] for s in stages if s["type"] == "Split"]
        assert [s.pattern for s in Split.from_pattern(name).stages] == patterns
    tekken = json.loads(
        data_path("vocab/tekken/tekken_240718.json").read_text(encoding="utf-8")
    )
    (stage,) = Split.from_pattern("tekken").stages
    assert stage.pattern == tekken["config"]["pattern"]


def _substrings(text: str) -> set[str]:
    return {text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1)}


def _tiktoken_cuts_alike(pattern: str, texts: list[str], pieces: list[bytes]) -> None:
    """Assert that tiktoken cuts the joined texts into these pieces.

    tiktoken shows no pieces, only ids. So each of our pieces becomes a token, and so
    does every ASCII substring of the texts; single bytes do not. A piece that is a
    token is encoded as that one id. Any other piece holds a character of three or four
    bytes, of which no pair is a token, so that tiktoken cannot build it and panics.
    """
    tiktoken = pytest.importorskip("tiktoken")
    plain = "".join(char if char.isascii() else "\xff" for char in texts[0] * 2)
    vocabulary = set(pieces)
    for run in plain.split("\xff"):
        vocabulary.update(part.encode() for part in _substrings(run))
    ranks = {token: rank for rank, token in enumerate(sorted(vocabulary))}
    encoding = tiktoken.Encoding(
        "probe", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
    )
    ids = encoding.encode_ordinary("".join(texts))
    assert ids == [ranks[piece] for piece in pieces]


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["cl100k", "o200k"])
@pytest.mark.parametrize(
    "template",
    [
        "a{0}b ",
        pytest.param("{0}{0} \r\n", marks=pytest.mark.slow),
        pytest.param(" {0}\n", marks=pytest.mark.slow),
        pytest.param("B{0}'s  1", marks=pytest.mark.slow),
    ],
)
def test_every_codepoint_like_tiktoken(name: str, template: str) -> None:
    from pybpe import _binding

    split = Split.from_pattern(name)
    # The first ones are cut in another test: their bytes could be made of others.
    texts = [template.format(chr(cp)) for cp in every_codepoint() if cp >= 0x800]
    data = "".join(texts).encode()
    ends = _binding.split_ends(_binding.new_split(split.stages), data)
    pieces = [data[a:b] for a, b in pairwise([0, *ends])]
    _tiktoken_cuts_alike(split.stages[0].pattern, texts, pieces)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["gpt2", "gpt4", "cl100k", "o200k", "llama3"])
def test_first_codepoints_and_nasty_texts_like_tiktoken(name: str) -> None:
    # All substrings are tokens, so every piece is one id, whatever tiktoken cuts.
    tiktoken = pytest.importorskip("tiktoken")
    split = Split.from_pattern(name)
    texts = list(nasty_texts(3, 150))
    for template in ("a{0}b", " {0}'s", "\n{0}{0} 1", "'{0}"):
        texts += (
            "".join(template.format(chr(cp + i)) for i in range(16))
            for cp in range(0, 0x800, 16)
        )
    for text in texts:
        ranks = {
            token.encode(): rank for rank, token in enumerate(sorted(_substrings(text)))
        }
        encoding = tiktoken.Encoding(
            "probe",
            pat_str=split.stages[0].pattern,
            mergeable_ranks=ranks or {b"a": 0},
            special_tokens={},
        )
        want = [encoding.decode([i]) for i in encoding.encode_ordinary(text)]
        for way, cut in ways(split):
            assert cut(text) == want, (way, text)


@pytest.mark.oracle
def test_deepseek_like_tokenizers() -> None:
    split = Split.from_pattern("deepseek_v3")
    expected = by_oniguruma(*(stage.pattern for stage in split.stages))
    check(split, expected, nasty_texts(4, 2000))


@pytest.mark.oracle
@pytest.mark.parametrize(
    "listed", [assigned, pytest.param(every_codepoint, marks=pytest.mark.slow)]
)
def test_deepseek_on_codepoints_like_tokenizers(
    listed: Callable[[], list[int]],
) -> None:
    split = Split.from_pattern("deepseek_v3")
    cut = by_core(split) or split.pretokens
    expected = by_oniguruma(*(stage.pattern for stage in split.stages))
    text = "".join(f"a{chr(cp)}!{chr(cp)} " for cp in listed())
    assert cut(text) == expected(text)


@pytest.mark.parametrize(
    ("name", "text", "pieces"),
    [
        ("cl100k", "a  b", ["a", " ", " b"]),
        ("cl100k", "it'\u017f", ["it", "'\u017f"]),
        ("o200k", "it'\u017f", ["it'\u017f"]),
        ("cl100k", "a \U0001fae8", ["a", " \U0001fae8"]),
        ("cl100k", "\U00016fe4x", ["\U00016fe4x"]),
        ("cl100k", "a\r\n\r\nb", ["a", "\r\n\r\n", "b"]),
        ("cl100k", "  \n  x", ["  \n", " ", " x"]),
        # The two patterns that are called GPT-4's differ here.
        ("cl100k", "x\n  ", ["x", "\n  "]),
        ("gpt4", "x\n  ", ["x", "\n", "  "]),
        ("cl100k", "\x1c x", ["\x1c", " x"]),
        ("digits", "ab12c", ["ab", "1", "2", "c"]),
        ("deepseek_v3", "1234\u4f60a!b", ["123", "4", "\u4f60", "a", "!b"]),
    ],
)
def test_known_cases(name: str, text: str, pieces: list[str]) -> None:
    for way, cut in ways(Split.from_pattern(name)):
        assert cut(text) == pieces, way


def test_aliases() -> None:
    for alias, name in ALIASES.items():
        assert Split.from_pattern(alias) == Split.from_pattern(name)
        assert alias in pattern_names()


def test_compiling_is_quick() -> None:
    from pybpe.split.stage import _compile

    # Ten million lines of Python take a second or less. The properties of Unicode are
    # made sets of once, so that the first time takes longer.
    for name, limit in (("cl100k", 200_000), ("o200k", 500_000)):
        Split.from_pattern(name)
        _compile.cache_clear()
        assert growth.lines(lambda name=name: Split.from_pattern(name)) < limit, name


TRAPS = ["'", "a'", "\r\n", "\u0301", " \n", "\u3000", "Aa", " ", "\n", "'s", "1", "a"]


@pytest.mark.parametrize("name", NAMED)
def test_time_is_linear(name: str) -> None:
    split = Split.from_pattern(name)
    cut = by_core(split)
    size = 4_000 if cut is not None else 100
    for trap in TRAPS:
        growth.check_linear(
            cut or split.pretokens, lambda n, trap=trap: trap * (n // len(trap)), size
        )
