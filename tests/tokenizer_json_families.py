"""Pre-tokenizers as families of published tokenizers have them in their files."""

from __future__ import annotations

from typing import Any


def _split(
    pattern: str, behavior: str = "Isolated", invert: bool = False, kind: str = "Regex"
) -> dict[str, Any]:
    return {
        "type": "Split",
        "pattern": {kind: pattern},
        "behavior": behavior,
        "invert": invert,
    }


def _byte_level(use_regex: bool, add_prefix_space: bool = False) -> dict[str, Any]:
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": True,
        "use_regex": use_regex,
    }


def _sequence(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(parts)}


def _digits(one: bool) -> dict[str, Any]:
    return {"type": "Digits", "individual_digits": one}


def _metaspace(scheme: str, split: bool) -> dict[str, Any]:
    return {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": scheme,
        "split": split,
    }


_TAIL = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_BEFORE = r"[^\r\n\p{L}\p{N}]?"
_CASES = "|".join(
    f"{_BEFORE}{_UPPER}{a}{_LOWER}{b}{_ENDINGS}?" for a, b in ("*+", "+*")
)
_LOOKING = r"[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))*((?=[\p{L}])([^A-Z]))+"
_HAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"

FAMILIES: dict[str, dict[str, Any]] = {
    "gpt2": _byte_level(True),
    "roberta": _byte_level(True, add_prefix_space=True),
    "starcoder": _sequence(_digits(True), _byte_level(True)),
    "falcon": _sequence(
        {"type": "Punctuation", "behavior": "Contiguous"},
        _byte_level(True),
        _digits(False),
        _split("[0-9][0-9][0-9]"),
    ),
    "bloom": _sequence(
        _split(" ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"),
        _byte_level(False),
    ),
    "viking": _sequence(
        _split(" ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"),
        _digits(True),
        _byte_level(False),
    ),
    "clip": _sequence(
        _split(
            r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d"
            r"|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
            "Removed",
            True,
        ),
        _byte_level(True),
    ),
    "gpt4": _sequence(
        _split(
            _ENDINGS
            + rf"|{_BEFORE}\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
            + _TAIL
        ),
        _byte_level(False),
    ),
    "phi4": _sequence(
        _split(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}"
            r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
            "Removed",
            True,
        ),
        _byte_level(False),
    ),
    "gpt4o": _sequence(
        _split(rf"{_CASES}|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*" + _TAIL),
        _byte_level(False),
    ),
    "pixtral": _sequence(
        _split(_LOOKING + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + _TAIL),
        _byte_level(False),
    ),
    "exaone": _sequence(
        _split(r"\d+| ?\p{L}+|[^\w\s]|\s+"),
        _byte_level(False),
    ),
    "deepseek_coder": _sequence(
        _split("[\r\n]"),
        _split(r"\s?\p{L}+"),
        _split(r"\s?\p{P}+"),
        _split(_HAN),
        _digits(True),
        _byte_level(False),
    ),
    "deepseek_llm": _sequence(
        _split("[\r\n]"),
        _split("\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba]+"),
        _split("\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"),
        _split(r"\s+$"),
        _split(_HAN),
        _digits(True),
        _byte_level(False),
    ),
    "thousands": _sequence(
        _split(r" ?\p{L}+|\d{1,3}(?=(?:\d{3})*\b)| ?[^\s\p{L}\p{N}]+|\s+"),
        _byte_level(False),
    ),
    "gemma": _split(" ", "MergedWithPrevious", kind="String"),
    "llama": _metaspace("first", False),
    "t5": _sequence({"type": "WhitespaceSplit"}, _metaspace("always", True)),
    "words": {"type": "Whitespace"},
    "bert": {"type": "BertPreTokenizer"},
}
# Families whose patterns have no tables.
ON_REGEX = {"thousands"}
