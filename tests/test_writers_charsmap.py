"""sentencepiece's character maps in a `tokenizer.json`: the same for any text."""

from __future__ import annotations

import json
import random
import struct
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import spm
from map_models import LINE, trained

import pybpe
from pybpe import ModelError
from pybpe.codepoint import CodepointModel, Normalizer
from pybpe.formats import _map_steps
from pybpe.writers import _charsmap
from pybpe.writers._charsmap import rules_of, steps

sentencepiece = pytest.importorskip("sentencepiece")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.oracle


def normalizer_of(**options: Any) -> Normalizer:
    model = trained(**options)._model
    assert isinstance(model, CodepointModel)
    return model.normalizer


def with_map(charsmap: bytes, **options: Any) -> Normalizer:
    parts: dict[str, Any] = {
        "add_dummy_prefix": True,
        "remove_extra_whitespaces": True,
        "escape_whitespaces": True,
        **options,
    }
    return Normalizer("user_defined", charsmap, **parts)


@cache
def theirs() -> Any:
    """Return what sentencepiece makes of a text by the rules alone."""
    return sentencepiece.SentencePieceNormalizer(
        rule_name="nmt_nfkc",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        escape_whitespaces=False,
    )


def in_tokenizers(parts: list[dict[str, Any]]) -> Any:
    empty = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    values = {"normalizer": {"type": "Sequence", "normalizers": parts}, "model": empty}
    return tokenizers.Tokenizer.from_str(json.dumps({"version": "1.0", **values}))


def test_rules() -> None:
    rules = rules_of(normalizer_of().charsmap)
    assert len(rules) > 200_000
    assert rules["\uff21"] == "A"
    assert rules["\uff21\u0301"] == "\u00c1"
    assert rules["\u200b"] == " "
    assert rules["\x01"] == ""
    rng = random.Random(1)
    for key in rng.sample(list(rules), 2000):
        assert theirs().normalize(key) == rules[key]


@pytest.mark.parametrize("seed", range(20))
def test_maps_are_compiled_right(seed: int) -> None:
    rng = random.Random(seed)
    letters = ["a", "b", "\u00e9", "\u4e2d", "\U0001f600", "\x01", "\uffff"]
    letters += map(chr, rng.sample(range(0x80, 0x2000), 300))
    rules = {
        "".join(rng.choices(letters, k=rng.choice([1, 1, 2, 3]))): rng.choice(
            ["", " ", *letters]
        )
        for _ in range(rng.choice([1, 20, 500]))
    }
    compiled = _map_steps.compiled(rules)
    assert rules_of(compiled) == rules
    # And sentencepiece, whose rules for damaged maps are strict, takes it.
    pieces = [(b"<unk>", 0.0, spm.UNKNOWN), (b"a", 0.0, spm.NORMAL)]
    data = spm.write_model(
        pieces,
        charsmap=compiled,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=data)
    for key, value in rules.items():
        assert model.normalize(key) == value.replace(" ", spm.MARK)


def test_texts_are_normalized_as_by_sentencepiece() -> None:
    normalizer = normalizer_of()
    ours = in_tokenizers(steps(normalizer, [])).normalizer
    rules = _charsmap._taken_apart(rules_of(normalizer.charsmap))
    rng = random.Random(2)
    marks = sorted({char for key in rules.composed for char in key[1:]})
    marks += [
        "\u0316",
        "\u0334",
        "\u05b0",
        "\u200d",
        "\x01",
        "\x02",
        "\u0344",
        " ",
        "\r",
    ]
    letters = sorted({key[0] for key in rules.composed}) + sorted(rules.single)
    letters += ["\r", "\n", "\U0001f468", "\U0001f1e9", "\uac00", "\u1e00", "\u00ea"]
    newer = sorted(
        {char for key in rules.composed if key > "\U00011300" for char in key}
    )
    texts = list(rules.composed)[::9] + rng.sample(sorted(rules.single), 1000)
    texts += [chr(c) for c in rng.sample(range(0xE000), 2000) if c < 0xD800 and c]
    for group in ((letters, marks, marks), (newer, newer, marks)):
        texts += [
            "".join(rng.choice(rng.choice(group)) for _ in range(rng.randrange(9)))
            for _ in range(1000)
        ]
    for text in texts:
        assert ours.normalize_str(text) == theirs().normalize(text), ascii(text)


@pytest.mark.parametrize(
    ("symbols", "add_dummy_prefix", "remove_extra_whitespaces", "byte_fallback"),
    [
        ("", True, True, False),
        ("<x> <tool> ab", True, True, True),
        ("<x> <tool> ab", False, False, True),
        ("", True, False, False),
        ("<x> <tool> ab", False, True, False),
    ],
)
def test_ids(
    symbols: str,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    byte_fallback: bool,
    tmp_path: Path,
) -> None:
    tok = trained(
        symbols=symbols,
        add_dummy_prefix=add_dummy_prefix,
        remove_extra_whitespaces=remove_extra_whitespaces,
        byte_fallback=byte_fallback,
    )
    tok.save_as(tmp_path / "tokenizer.json")
    there = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    rng = random.Random(3)
    more = [
        b"<c>",
        b"<x>",
        b"<x>\xcc\xb8",
        b"ab\xcc\x81",
        b"\x03",
        b"  ",
        LINE.encode(),
    ]
    for _ in range(200):
        text = spm.random_text(rng, more).decode("utf-8", "replace")
        ids = tok.encode(text, allowed_special="all")
        assert there.encode(text, add_special_tokens=False).ids == ids, ascii(text)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nfkc", "does not take out U\\+0001"),
        ("nmt_nfkc_cf", "cannot hold exactly: '.*' becomes"),
    ],
)
def test_other_maps_are_refused(name: str, message: str, tmp_path: Path) -> None:
    tok = trained(normalization_rule_name=name)
    with pytest.raises(ModelError, match=message):
        tok.save_as(tmp_path / "tokenizer.json")
    assert list(tmp_path.iterdir()) == []


NMT = {"\x01": "", "\x02": ""}


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"ab": "c"}, "'ab' becomes a character"),
        ({"x": "y", "ab": "c", "xb": "d"}, "few spellings|becomes"),
        ({"a\u0301": "\u00e1", "\uff21": "a"}, "a few spellings"),
        ({"a": "b  c"}, "'a' becomes 'b  c'"),
        ({" a": "b"}, "' a' becomes 'b'"),
        ({"[": "("}, r"would change the user-defined piece '\[x\]'"),
    ],
)
def test_rules_that_do_not_come_apart(rules: dict[str, str], message: str) -> None:
    charsmap = _map_steps.compiled({**NMT, **rules})
    normalizer = with_map(charsmap)
    if "becomes a character" in message:
        # A few such rules have steps of their own.
        parts = steps(normalizer, [])
        assert in_tokenizers(parts).normalizer.normalize_str("abab a\x01b") == "cc ab"
        return
    with pytest.raises(ModelError, match=message):
        steps(normalizer, ["[x]"])


def test_without_tokenizers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tok = trained()
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    tok.save_as(tmp_path / "tokenizer.json")
    back = pybpe.load(tmp_path / "tokenizer.json")
    assert back.encode(LINE) == tok.encode(LINE)


def test_a_map_that_leads_in_circles_is_refused() -> None:
    cells = [0] * 512
    cells[0] = 0x100 << 10
    for label in (0x61, 0x62):
        cells[0x100 ^ label] = label << 10 | label  # below it is where it stands
    data = struct.pack("<I512I", 4 * 512, *cells) + b"\0"
    with pytest.raises(ModelError, match="its rules are too long, or too many"):
        rules_of(data)
