"""Random `tokenizer.json` documents and texts that go with them."""

from __future__ import annotations

import base64
import random
from typing import Any

from pybpe import _glyphs
from pybpe.formats import _map_steps

# Characters on which tokenizers have been seen to differ.
NASTY = (
    "\u017f\u212a\u0130\u0131\xdf\u1e9e\u03a3\u03c2\x85\x1c\x1d\x1e\x1f\x00\ufffd\u2581\u0120"
    "\u010a\u0301\u0316\u0345\u0334\u0327e\u0301\xe9\u0149\uff21\u1100\u1161\u11a8\uac00"
    "\u0e33\u0f71\u200d\ufe0f\U0001f468\U0001f469\U0001f1e9\u0660\xb2\xbd\u2160\u3007"
    "\u0378\U00010d50\U000e0001\ufdfa\u1fb3\u0390\u0344\u2028\u2029\ufeff\u200b"
)
SPACES = (
    " \t\n\x0b\x0c\r\x85\xa0\u1680\u2000\u2003"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


# What added tokens are made of: they overlap, hold or are white space, and change when
# they are normalized.
ADDED = [
    "<s>",
    "<x>",
    "<x>y",
    "ab",
    "b",
    " ",
    "  ",
    "   ",
    "\n",
    "A",
    "e\u0301",
    "\xe9",
]
ADDED += ["\u2581", "a b", "_a", "\u0120x", "il\xf6veyou", "\u010d", "abab"]


def any_character(rng: random.Random) -> str:
    """Return a character from all of Unicode, assigned or not."""
    while 0xD800 <= (c := rng.randrange(0x110000)) < 0xE000:
        pass
    return chr(c)


def text(rng: random.Random, own: list[str], n: int = 12) -> str:
    """Return a text of up to n parts, some of them from a vocabulary's own strings."""
    parts = []
    for _ in range(rng.randint(0, n)):
        kind = rng.random()
        if kind < 0.25:
            parts.append(rng.choice("abcde"))
        elif kind < 0.35:
            parts.append(rng.choice(["ab", "abc", "12", "A", "'s", "--", "_", "x1"]))
        elif kind < 0.5:
            parts.append(rng.choice(SPACES) * rng.choice([1, 1, 1, 2, 3]))
        elif kind < 0.65 and own:
            parts.append(rng.choice(own))
        elif kind < 0.8:
            parts.append(rng.choice(NASTY))
        elif kind < 0.9:
            parts.append(rng.choice(".,!-<>|'1234567890"))
        else:
            parts.append(any_character(rng))
    return "".join(parts)


def _merges(rng: random.Random, alphabet: list[str], vocab: dict[str, int]) -> Any:
    merges: list[list[str]] = []
    tokens = [*alphabet, *(token for token in vocab if token.endswith("</w>"))]
    for _ in range(rng.randint(0, 40)):
        # Some are listed twice, or make what another merge makes.
        left, right = rng.choice(tokens), rng.choice(tokens)
        made = left + right
        if len(made) > 12:
            continue
        if made not in vocab:
            vocab[made] = max(vocab.values()) + 1
            tokens.append(made)
        merges.append([left, right])
    if rng.random() < 0.3 and not any(" " in part for pair in merges for part in pair):
        return [" ".join(pair) for pair in merges]
    return merges


def _pattern(rng: random.Random) -> dict[str, str]:
    if rng.random() < 0.4:
        return {"String": rng.choice(["a", " ", "ab", "-", ".", "\u2581", "1", "\\"])}
    return {
        "Regex": rng.choice(
            [
                r"\s+",
                r"\p{N}{1,3}",
                r"[a-c]+",
                r"\s+(?!\S)|\s+",
                r"\p{L}+|\p{N}",
                r"a|b",
                r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+",
                r"\w+",
                r"[^\w\s]+",
                r"(?<=a)b",
                r" ",
            ]
        )
    }


def _space_mark(rng: random.Random) -> str:
    return rng.choice(["\u2581", "\u2581", "\u2581", "_"])


def character_map(rng: random.Random) -> dict[str, str]:
    """Return rules for some characters and strings, of clusters and of others."""
    letters = [*NASTY, *"aeb \r\n\xa9\u0600\u0915\u094d\u1160"]
    rules = {}
    for _ in range(rng.choice([1, 5, 50])):
        key = "".join(rng.choices(letters, k=rng.choice([1, 1, 1, 2, 2, 3])))
        value = rng.choice([key, "", " ", "x", "fi", "\u2581", "e\u0301"])
        if "\0" not in key:
            rules[key] = value
    return rules or {"a": "b"}


def normalizer(rng: random.Random) -> Any:
    """Return a normalizer, or None."""

    def one() -> dict[str, Any]:
        kind = rng.choice(
            [
                "NFC",
                "NFD",
                "NFKC",
                "NFKD",
                "Lowercase",
                "Replace",
                "Prepend",
                "Strip",
                "StripAccents",
                "Nmt",
                "Precompiled",
            ]
        )
        part: dict[str, Any] = {"type": kind}
        if kind == "Replace":
            part |= {
                "pattern": _pattern(rng),
                "content": rng.choice(["", "a", "\u2581", "  ", "xy", r"\1"]),
            }
        elif kind == "Precompiled":
            table = _map_steps.compiled(character_map(rng))
            part["precompiled_charsmap"] = base64.b64encode(table).decode()
        elif kind == "Prepend":
            part["prepend"] = rng.choice(["\u2581", " ", "ab"])
        elif kind == "Strip":
            part |= {
                "strip_left": rng.random() < 0.5,
                "strip_right": rng.random() < 0.5,
            }
        return part

    roll = rng.random()
    if roll < 0.4:
        return None
    if roll < 0.7:
        return one()
    return {
        "type": "Sequence",
        "normalizers": [one() for _ in range(rng.randint(0, 3))],
    }


def _stage(rng: random.Random) -> dict[str, Any]:
    kind = rng.choice(
        [
            "Split",
            "Split",
            "Split",
            "Digits",
            "Punctuation",
            "Whitespace",
            "WhitespaceSplit",
            "CharDelimiterSplit",
            "BertPreTokenizer",
            "FixedLength",
        ]
    )
    part: dict[str, Any] = {"type": kind}
    behavior = rng.choice(
        ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
    )
    if kind == "Split":
        part |= {
            "pattern": _pattern(rng),
            "behavior": behavior,
            "invert": rng.random() < 0.4,
        }
    elif kind == "Digits":
        part["individual_digits"] = rng.random() < 0.5
    elif kind == "Punctuation":
        part["behavior"] = behavior
    elif kind == "CharDelimiterSplit":
        part["delimiter"] = rng.choice("a -\u2581")
    elif kind == "FixedLength":
        part["length"] = rng.randint(1, 4)
    return part


def _metaspace(rng: random.Random) -> dict[str, Any]:
    return {
        "type": "Metaspace",
        "replacement": _space_mark(rng),
        "prepend_scheme": rng.choice(["always", "first", "never"]),
        "split": rng.random() < 0.5,
    }


def pre_tokenizer(rng: random.Random, byte_level: bool) -> Any:
    """Return a pre-tokenizer, or None; with ByteLevel in it if that is asked for."""
    parts: list[dict[str, Any]] = [_stage(rng) for _ in range(rng.choice([0, 0, 1, 2]))]
    if rng.random() < 0.3:
        parts.insert(rng.randint(0, len(parts)), _metaspace(rng))
    if byte_level:
        parts.append(
            {
                "type": "ByteLevel",
                "add_prefix_space": rng.random() < 0.4,
                "trim_offsets": True,
                "use_regex": rng.random() < 0.5,
            }
        )
        parts += [_stage(rng) for _ in range(rng.choice([0, 0, 0, 1]))]
    if not parts:
        return None
    if len(parts) == 1 and rng.random() < 0.7:
        return parts[0]
    return {"type": "Sequence", "pretokenizers": parts}


def _added_tokens(rng: random.Random, vocab: dict[str, int]) -> list[dict[str, Any]]:
    contents = dict.fromkeys(
        rng.choice([*ADDED, *list(vocab)[:5]])
        for _ in range(rng.choice([0, 1, 2, 4, 7]))
    )
    return [
        {
            "id": 1000 + i,
            "content": content,
            "single_word": rng.random() < 0.2,
            "lstrip": rng.random() < 0.2,
            "rstrip": rng.random() < 0.2,
            "normalized": rng.random() < 0.4,
            "special": rng.random() < 0.4,
        }
        for i, content in enumerate(contents)
    ]


def _decoder(rng: random.Random, byte_level: bool) -> Any:
    if byte_level:
        return {
            "type": "ByteLevel",
            "add_prefix_space": True,
            "trim_offsets": True,
            "use_regex": True,
        }
    choices: list[Any] = [
        None,
        {"type": "Fuse"},
        {"type": "ByteFallback"},
        _metaspace(rng),
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        {"type": "Replace", "pattern": {"Regex": "[ab]+"}, "content": "<>"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        {"type": "BPEDecoder", "suffix": "</w>"},
    ]
    if rng.random() < 0.5:
        return rng.choice(choices)
    parts = [rng.choice(choices[1:]) for _ in range(rng.randint(0, 3))]
    return {"type": "Sequence", "decoders": parts}


def document(rng: random.Random) -> dict[str, Any]:
    """Return a document that `tokenizers` loads."""
    byte_level = rng.random() < 0.5
    if byte_level:
        alphabet = list(_glyphs.CHARACTERS)
        if rng.random() < 0.2:
            alphabet = [c for c in alphabet if rng.random() < 0.95] + ["a"]
    else:
        alphabet = [*"abcde AB12.-_\u2581\xe9", *rng.sample(NASTY, 5)]
        if rng.random() < 0.3:
            alphabet += [f"<0x{b:02X}>" for b in range(256) if rng.random() < 0.999]
    vocab: dict[str, int] = {}
    gaps = rng.random() < 0.1
    number = 3 if gaps else 0
    for token in dict.fromkeys(alphabet):
        vocab[token] = number
        number += 2 if gaps and rng.random() < 0.05 else 1
    unk = None
    if rng.random() < 0.4:
        unk = rng.choice(["<unk>", "a"])
        vocab.setdefault(unk, number)
    suffix = None
    if rng.random() < 0.15:
        suffix = rng.choice(["</w>", "b"])
        for token in rng.sample(list(vocab), len(vocab) // 2):
            vocab.setdefault(token + suffix, max(vocab.values()) + 1)
    common = [c for c in "abcd 12\u2581\u0120." if c in vocab]
    merges = _merges(rng, common, vocab)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added_tokens(rng, vocab),
        "normalizer": normalizer(rng),
        "pre_tokenizer": pre_tokenizer(rng, byte_level),
        "post_processor": None,
        "decoder": _decoder(rng, byte_level),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": unk,
            "continuing_subword_prefix": rng.choice([None, ""]),
            "end_of_word_suffix": suffix,
            "fuse_unk": rng.random() < 0.5,
            "byte_fallback": rng.random() < 0.4,
            "ignore_merges": rng.random() < 0.3,
            "vocab": vocab,
            "merges": merges,
        },
    }
