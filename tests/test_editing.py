"""Tokenizers made from others: truncate, add_special_tokens, and row maps."""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from text_models import with_specials

import pybpe
from pybpe import Tokenizer

DataPath = Callable[[str], Path]

ROOT = Path(__file__).resolve().parent.parent
TEXTS = [
    path.read_text(encoding="utf-8")
    for path in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
]
SPECIAL = ["<|end|>", "<|start|>"]
BYTES = {bytes([b]): b for b in range(256)}


# ---------------------------------------------------------------- truncate


@pytest.mark.parametrize("tie_break", ["lowest", "first"])
@pytest.mark.parametrize("byte_order", ["identity", "gpt2"])
def test_truncating_is_training_to_the_smaller_size(
    tie_break: str, byte_order: str
) -> None:
    def train(size: int) -> Tokenizer:
        return pybpe.train(
            TEXTS,
            size,
            special_tokens=SPECIAL,
            tie_break=tie_break,
            byte_order=byte_order,
        )

    large = train(4000)
    assert large.vocab_size == 4000
    for size in (258, 259, 1000, 3999, 4000):
        small, wanted = large.truncate(size), train(size)
        assert small.merges == wanted.merges
        assert small.special_tokens == wanted.special_tokens
        assert small.encode_ordinary(TEXTS[0]) == wanted.encode_ordinary(TEXTS[0])
        assert small == wanted
    assert small.training_report is None


def test_truncating_twice_is_truncating_once() -> None:
    tok = pybpe.train(TEXTS, 600, special_tokens=SPECIAL)
    twice = tok.truncate(500).truncate(400)
    assert twice == tok.truncate(400)
    about = twice._model.provenance
    assert (
        about["edited"]
        == "truncated from 600 to 500 ids; truncated from 500 to 400 ids"
    )
    assert about["tie_break"] == "lowest"
    assert Tokenizer.from_bytes(twice.to_bytes())._model.provenance == about


def test_truncating_ranks_keeps_the_lowest_and_all_bytes() -> None:
    ranks = {b"ab": 0, b"abc": 1, b"cd": 2}
    ranks |= {bytes([b]): 3 + b for b in range(256)} | {b"bcd": 300}
    tok = Tokenizer.from_ranks(
        ranks, pattern=None, special_tokens={"<s>": 290}, added_tokens={"<a>": 999}
    )
    small = tok.truncate(260)
    assert small.vocab == {b"ab": 0, b"abc": 1} | {
        bytes([b]): 2 + b for b in range(256)
    }
    assert small.special_tokens == {"<s>": 258}
    assert small.added_tokens == {"<a>": 259}
    assert small.n_vocab == small.vocab_size == 260
    assert tok.truncate(258).vocab == BYTES
    # Holes close even when nothing goes.
    assert tok.n_vocab == 1000
    assert tok.truncate(262).n_vocab == tok.vocab_size == 262


def test_truncating_a_list_in_which_parts_come_late() -> None:
    """The merge for "abc" is the first in the list, and needs "ab"."""
    vocab = BYTES | {b"abc": 260, b"cd": 270, b"ab": 280, b"xy": 290}
    merges = [(b"ab", b"c"), (b"c", b"d"), (b"a", b"b"), (b"x", b"y"), (b"a", b"b")]
    tok = Tokenizer.from_merges(merges, pattern=None, vocab=vocab)
    expected = [b"cd", b"ab", b"abc", b"xy"]
    for n in range(5):
        small = tok.truncate(256 + n)
        assert set(small.vocab) - set(BYTES) == set(expected[:n])
    assert tok.truncate(259).encode("abcxy") == [256, ord("x"), ord("y")]


def test_special_tokens_that_come_first_stay_first() -> None:
    tok = Tokenizer.from_ranks(
        {bytes([b]): 10 + b for b in range(256)} | {b"ab": 266, b"cd": 267},
        pattern=None,
        special_tokens={f"<{i}>": i for i in range(10)},
    )
    small = tok.truncate(267)
    assert small.special_tokens == tok.special_tokens
    assert small.encode("abcd") == [266, 10 + ord("c"), 10 + ord("d")]


@pytest.mark.parametrize("size", [257, 601, -1, 1 << 70])
def test_sizes_that_cannot_be(size: int) -> None:
    tok = pybpe.train(TEXTS, 600, special_tokens=SPECIAL)
    with pytest.raises(
        ValueError, match=r"between 258 .* and 600 .*, got " + str(size)
    ):
        tok.truncate(size)


@pytest.mark.parametrize("size", [True, 300.0, "300", None])
def test_sizes_of_another_type(size: Any) -> None:
    with pytest.raises(TypeError, match="vocab_size must be an int"):
        pybpe.train(TEXTS, 600).truncate(size)


# ---------------------------------------------------------------- special tokens


def test_special_tokens_are_added_behind() -> None:
    tok = with_specials()
    new = tok.add_special_tokens(["<x>", b"<\xff>"])
    assert new.special_tokens == {"<s>": 300, "</s>": 310, "<x>": 311, b"<\xff>": 312}
    assert new.encode(b"ab<x><\xff>", allowed_special="all") == [256, 311, 312]
    assert new.encode_ordinary("ab<x>") == tok.encode_ordinary("ab<x>")
    with pytest.raises(pybpe.SpecialTokenError):
        new.encode("<x>")
    assert new._model.provenance["edited"] == "added 2 special tokens"
    assert pybpe.row_map(tok, new)[[256, 258, 310, 311]].tolist() == [256, -1, 310, -1]
    assert tok.add_special_tokens([]) == tok
    assert tok.special_tokens == {"<s>": 300, "</s>": 310}


def test_special_tokens_are_added_at_given_ids() -> None:
    new = with_specials().add_special_tokens({"<y>": 302, "<x>": 301, "<z>": 5000})
    assert list(new.special_tokens.items()) == [
        ("<s>", 300),
        ("<x>", 301),
        ("<y>", 302),
        ("</s>", 310),
        ("<z>", 5000),
    ]
    assert new.n_vocab == 5001
    assert Tokenizer.from_bytes(new.to_bytes()) == new


def test_an_ordinary_token_becomes_special() -> None:
    tok = with_specials()
    new = tok.add_special_tokens({"ab": 256})
    assert new.vocab == tok.vocab
    assert new.encode("cabd", allowed_special="all") == [99, 256, 100]
    assert pybpe.row_map(tok, new).tolist() == [
        n if n < 258 or n in (300, 305, 310) else -1 for n in range(311)
    ]
    assert new.truncate(260).special_tokens == {"ab": 256, "<s>": 257, "</s>": 259}


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        (["<s>"], ValueError, "'<s>' is a special token already, with the id 300"),
        ({b"<s>": 400}, ValueError, "'<s>' is a special token already"),
        (["<a>"], ValueError, "'<a>' is an added token already, with the id 305"),
        (
            ["ab"],
            ValueError,
            r"an ordinary token already, with the id 256.*\{'ab': 256\}",
        ),
        ({"ab": 400}, ValueError, "'ab' is an ordinary token already"),
        ({"<x>": 256}, ValueError, "id 256 of '<x>' already stands for 'ab'"),
        ({"<x>": 300}, ValueError, "id 300 of '<x>' already stands for '<s>'"),
        ({"<x>": 305}, ValueError, "id 305 of '<x>' already stands for '<a>'"),
        (["<x>", "<y>", "<x>"], ValueError, r"tokens\[2\], '<x>', is there twice"),
        (["<x>", b"<x>"], ValueError, r"tokens\[1\], b'<x>', is there twice"),
        ({"<x>": 400, b"<x>": 401}, ValueError, "twice"),
        ({"<x>": 400, "<y>": 400}, ValueError, "share the id 400"),
        (["<x>", ""], ValueError, r"tokens\[1\] is empty"),
        ({"": 400}, ValueError, "empty token"),
        ({"<x>": -1}, ValueError, "id -1 is out of range"),
        ({"<x>": 1 << 24}, ValueError, "out of range"),
        ({"<x>": True}, TypeError, "must be an int"),
        ({"<x>": "400"}, TypeError, "must be an int"),
        (["<x>", 1], TypeError, r"tokens\[1\] must be str or bytes, got int"),
        ("<x>", TypeError, "got one str: make it a list"),
        ({"<x>"}, TypeError, "a list of tokens, .* got a set"),
        (None, TypeError, "a list of tokens"),
    ],
)
def test_clashes_are_refused(tokens: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        with_specials().add_special_tokens(tokens)


def test_ids_end_somewhere() -> None:
    tok = with_specials().add_special_tokens({"<x>": (1 << 24) - 2})
    assert tok.add_special_tokens(["<y>"]).n_vocab == 1 << 24
    with pytest.raises(ValueError, match="2 tokens are too many"):
        tok.add_special_tokens(["<y>", "<z>"])


@pytest.mark.slow
def test_a_million_special_tokens() -> None:
    tok = with_specials()
    tokens = [f"<|extra_{i}|>" for i in range(1_000_000)]
    new = tok.add_special_tokens(tokens)
    text = "ab<|extra_999999|>cd<|extra_12|>"
    ids = new.encode(text, allowed_special="all", disallowed_special=())
    # It takes about a second; a way that is quadratic anywhere takes hours.
    assert ids == [256, 311 + 999_999, 257, 311 + 12]
    assert new.n_vocab == 1_000_311
    assert new.decode(ids) == text
    with pytest.raises(ValueError, match="the limit is 1048576"):
        new.add_special_tokens([f"<|more_{i}|>" for i in range(50_000)])


# ---------------------------------------------------------------- sentencepiece


def test_sentencepiece_models_take_control_pieces(data_path: DataPath) -> None:
    tok = pybpe.load(data_path("vocab/sentencepiece/llama2_tokenizer.model"))
    text = data_path("corpora/taylorswift.txt").read_text(encoding="utf-8")[:20_000]
    new = tok.add_special_tokens(["<|user|>", "\u2581a\u2581b\u2581", "a b"])
    assert new.encode_ordinary(text) == tok.encode_ordinary(text)
    assert new.encode_ordinary("x<|user|> a b") == tok.encode_ordinary("x<|user|> a b")
    assert new.encode("<|user|>", allowed_special="all")[-1] == tok.n_vocab
    assert new.n_vocab == tok.n_vocab + 3
    assert new.special_tokens.keys() - tok.special_tokens.keys() >= {"<|user|>", "a b"}
    assert Tokenizer.from_bytes(new.to_bytes()) == new
    rows = pybpe.row_map(tok, new)
    assert rows.tolist() == [*range(tok.n_vocab), -1, -1, -1]
    assert tok.add_special_tokens({"<x>": tok.n_vocab}).n_vocab == tok.n_vocab + 1
    for tokens, message in [
        ({"<x>": tok.n_vocab + 1}, f"have no gaps, and the next id is {tok.n_vocab}"),
        (["<s>"], "'<s>' is a special token already"),
        (["<unk>"], "'<unk>' is an ordinary token already, with the id 0$"),
        ({"<unk>": 0}, "'<unk>' is an ordinary token already"),
        ({"<x>": 0}, "id 0 of '<x>' already stands for '<unk>'"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message).replace(r"\$", "$")):
            tok.add_special_tokens(tokens)
    for refused in (lambda: tok.truncate(300), lambda: tok.prune([300])):
        with pytest.raises(ValueError, match="for byte-level models only"):
            refused()
    with pytest.raises(ValueError, match="there is no row map"):
        pybpe.row_map(tok, with_specials())


# ---------------------------------------------------------------- row maps


def test_row_maps_go_by_bytes_and_kind() -> None:
    old = Tokenizer.from_ranks(
        BYTES | {b"ab": 256, b"<s>": 257},
        pattern=None,
        special_tokens={"<e>": 258},
        added_tokens={"<a>": 259, "<b>": 260},
    )
    new = Tokenizer.from_ranks(
        BYTES | {b"<e>": 256, b"ab": 300},
        pattern=None,
        special_tokens={"<s>": 301, "<a>": 302},
        added_tokens={"<b>": 303},
    )
    rows = pybpe.row_map(old, new)
    assert (rows.dtype, rows.shape) == (np.dtype(np.int64), (304,))
    assert rows[256:].tolist() == [-1] * 44 + [256, -1, 259, 260]
    assert pybpe.row_map(old, old).tolist() == list(range(261))


def test_row_maps_are_of_tokenizers() -> None:
    with pytest.raises(TypeError, match="new must be a Tokenizer, got str"):
        pybpe.row_map(with_specials(), "gpt2")  # type: ignore[arg-type]


PAGE = (ROOT / "docs" / "editing.md").read_text(encoding="utf-8")


def test_the_page_about_it() -> None:
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "editing.md", None, 0)
    assert len(examples.examples) > 20
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    failed = runner.run(examples, out=report.append).failed
    assert failed == 0, "".join(report)


def test_the_recipe_in_torch() -> None:
    torch = pytest.importorskip("torch")
    (recipe,) = (
        block
        for block in re.findall(
            r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE
        )
        if ">>>" not in block
    )
    names: dict[str, Any] = {}
    exec(recipe, names)  # noqa: S102 - our own page
    matrix = torch.arange(6.0).reshape(3, 2)
    out = names["transplant_torch"](matrix, np.array([2, -1, 0]), 2)
    assert out.tolist() == [[4.0, 5.0], [1.0, 2.0], [0.0, 1.0]]
