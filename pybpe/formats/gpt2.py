"""GPT-2's two files: `encoder.json` + `vocab.bpe`, or `vocab.json` + `merges.txt`.

One is a JSON object from tokens to ids, the other lists the merges by rank, a line for
each: two tokens with a space between them. In both a byte is written as one printable
character (`_glyphs`). Neither says how text is split; where the merges are GPT-2's own
(RoBERTa and others have them too) it is known, otherwise the caller names the split.
"""

from __future__ import annotations

import hashlib
import os
import re
from array import array
from typing import TYPE_CHECKING

from pybpe import _glyphs
from pybpe.errors import ModelError
from pybpe.formats._published import GPT2_MERGES
from pybpe.formats._source import (
    Source,
    check_tokens,
    json_document,
    shown,
    special_or_refuse,
    utf8,
    whole_number,
)
from pybpe.model import MERGES, Model

if TYPE_CHECKING:
    from collections.abc import Iterable

# Merges file -> vocabulary file. Either name may have something in front.
_PAIRS = (("merges.txt", "vocab.json"), ("vocab.bpe", "encoder.json"))
# The first line of a merges file may be such a header. A merge can begin with the same
# word: it has no colon there.
_HEADER = re.compile(r"#version:( \S+)? *")
# What special tokens look like: <s>, <|endoftext|>, [MASK].
_LOOKS_SPECIAL = re.compile(rb"<[^<>]+>|\[[^\[\]]+\]")


def read_merges(source: Source) -> Model:
    """Return the model of a merges file and the vocabulary file beside it."""
    return read_pair(source.beside(_partner(source.path, 0)), source)


def read_vocabulary(source: Source) -> Model:
    """Return the model of a vocabulary file and the merges file beside it."""
    return read_pair(source, source.beside(_partner(source.path, 1)))


def _partner(path: str, which: int) -> str:
    """Return the path of the other file of a pair.

    Raises:
        ModelError: There is none.
    """
    kind, wanted = [("a merges", "vocabulary"), ("a vocabulary", "merges")][which]
    tried = []
    for pair in _PAIRS:
        if path.endswith(pair[which]):
            other = path.removesuffix(pair[which]) + pair[1 - which]
            if os.path.isfile(other):  # noqa: PTH113 - pathlib takes 3 ms to import
                return other
            tried.append(repr(os.path.basename(other)))  # noqa: PTH119
    there = f"{' or '.join(tried)} is not beside it" if tried else "is not found"
    raise ModelError(
        f"it is {kind} file, which says only half; the {wanted} file {there}. Pass "
        "both files: pybpe.load((vocabulary, merges))"
    )


def read_pair(vocabulary: Source, merges: Source) -> Model:
    """Return the model of a vocabulary file and a merges file.

    Tokens that are no single bytes and that no merge makes can only be special tokens.
    They become that if the caller names no special tokens and they look like some
    (`<...>` or `[...]`); any others are refused, as a sign of missing merges.

    Raises:
        ModelError: A file is malformed, or the two do not fit each other.
    """
    ids = vocabulary_of(vocabulary.data)
    digest = hashlib.sha256(_published_form(merges.data)).hexdigest()
    pairs = merge_lines(merges.data)
    left_out = _unmade(ids, pairs)
    if vocabulary.special_tokens is None:
        special_ids = {t: ids[t] for t in left_out if _LOOKS_SPECIAL.fullmatch(t)}
        named = dict(special_ids)
    else:
        extra = special_or_refuse(vocabulary.special_tokens, "special_tokens")
        special_ids = dict(extra)
        _check_agreement(special_ids, ids)
        named = special_ids | {t: 0 for t in left_out if _LOOKS_SPECIAL.fullmatch(t)}
    lost = [token for token in left_out if token not in named]
    if lost:
        raise ModelError(
            f"no merge makes {len(lost)} of the tokens, the first of them "
            f"{shown(_glyphs.to_characters(lost[0]))}: merges are missing, or the two "
            "files do not belong together. If these are special tokens, name them with "
            "special_tokens={...}"
        )
    split = vocabulary.split
    if split is None:
        if digest != GPT2_MERGES.sha256:
            raise ModelError(
                "the files do not say how text is split, and the merges are not "
                "GPT-2's: pass pattern= with the split's name or regular expression"
            )
        from pybpe.split import Split

        split = Split.from_pattern("gpt2")
    ordinary = {token: ids[token] for token in ids if token not in special_ids}
    return merges_model(
        ordinary,
        pairs,
        split=split,
        special=special_or_refuse(special_ids, "special_tokens"),
        provenance={"format": "gpt2", "merges_sha256": digest},
    )


def merges_model(
    ids: dict[bytes, int],
    pairs: list[tuple[bytes, bytes]],
    *,
    split: object,
    special: tuple[tuple[bytes, int], ...] = (),
    added: tuple[tuple[bytes, int], ...] = (),
    whole_pretoken: bool = False,
    provenance: dict[str, str | int] | None = None,
) -> Model:
    """Return a model of tokens and of merges by rank.

    Args:
        ids: The ordinary tokens and their ids.
        pairs: The merges, as the bytes of both parts.
        split: A `Split`.
        special: Special tokens by ascending id.
        added: Added tokens by ascending id.
        whole_pretoken: Whether a pretoken that is a token is taken whole.
        provenance: What to keep for people to read.

    Raises:
        ModelError: Two tokens share an id, or a merge has a part, or makes a token,
            that is not there.
    """
    from pybpe.split import Split

    if not isinstance(split, Split):
        raise TypeError(f"split must be a Split, got {type(split).__name__}")
    order = sorted(ids.items(), key=lambda item: item[1])
    tokens = [token for token, _ in order]
    numbers = array("I", [number for _, number in order])
    for i in range(1, len(numbers)):
        if numbers[i] == numbers[i - 1]:
            raise ModelError(
                f"the tokens {shown(tokens[i - 1])} and {shown(tokens[i])} have the "
                f"same id, {numbers[i]}"
            )
    check_tokens(tokens, numbers)
    flat, made = array("I"), array("I")
    try:
        for left, right in pairs:
            flat.append(ids[left])
            flat.append(ids[right])
            made.append(ids[left + right])
    except KeyError as error:
        i = len(made)
        raise ModelError(
            f"merge {i + 1}, of {shown(pairs[i][0])} and {shown(pairs[i][1])}, needs "
            f"the token {shown(error.args[0])}, which the vocabulary does not have"
        ) from None
    return Model(
        semantics=MERGES,
        whole_pretoken=whole_pretoken,
        token_data=b"".join(tokens),
        token_lengths=array("I", map(len, tokens)),
        token_ids=numbers,
        merges=flat,
        merge_ids=made,
        special_tokens=special,
        added_tokens=added,
        split=split,
        provenance=provenance,
    )


def vocabulary_of(data: bytes) -> dict[bytes, int]:
    """Return the tokens and ids of a vocabulary file.

    Raises:
        ModelError: It is malformed, or two tokens share an id.
    """
    table = json_document(data)
    if not isinstance(table, dict) or not table:
        raise ModelError("the vocabulary must be a JSON object from tokens to ids")
    ids: dict[bytes, int] = {}
    seen: dict[int, str] = {}
    for text, value in table.items():
        number = whole_number(value, f"the id of {shown(text)}")
        if number in seen:
            raise ModelError(
                f"the tokens {shown(seen[number])} and {shown(text)} have the same "
                f"id, {number}"
            )
        seen[number] = text
        try:
            token = _glyphs.to_bytes(text)
        except UnicodeEncodeError as error:
            raise ModelError(
                f"the token {shown(text)} (id {number}) holds {text[error.start]!r}, "
                "which stands for no byte: the vocabulary is not byte-level"
            ) from None
        ids[token] = number
    return ids


def _published_form(data: bytes) -> bytes:
    """Return a merges file as GPT-2's is published, to be recognised by its hash."""
    return data.replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n"


def merge_lines(data: bytes) -> list[tuple[bytes, bytes]]:
    r"""Return the merges of a merges file.

    Lines end at a newline and nowhere else: tokens may hold what other programs take
    for line ends. Only the first line can be a header.

    Raises:
        ModelError: A line is malformed; the message says which.
    """
    text = utf8(data)
    lines = text.split("\n")
    while lines and lines[-1] in ("", "\r"):
        lines.pop()
    if lines and all(line.endswith("\r") for line in lines[:-1]) and len(lines) > 1:
        # Converted line ends; a carriage return in a token is another character here.
        lines = [line.removesuffix("\r") for line in lines]
    first = 1 if lines and _HEADER.fullmatch(lines[0]) else 0
    try:
        return _pairs(lines[first:])
    except _BadLine as bad:
        number = first + bad.index + 1
        raise ModelError(
            f"line {number} of the merges, {shown(lines[number - 1])}, {bad.why}"
        ) from None


class _BadLine(Exception):
    """A merge that cannot be read: its index, and the end of a sentence about it."""

    def __init__(self, index: int, why: str) -> None:
        super().__init__(index, why)
        self.index = index
        self.why = why


def _pairs(lines: Iterable[str]) -> list[tuple[bytes, bytes]]:
    pairs = []
    seen: set[tuple[bytes, bytes]] = set()
    for i, line in enumerate(lines):
        parts = line.split(" ")
        if len(parts) != 2 or not all(parts):
            raise _BadLine(i, "is not two tokens with one space between them")
        try:
            pair = (_glyphs.to_bytes(parts[0]), _glyphs.to_bytes(parts[1]))
        except UnicodeEncodeError as error:
            char = error.object[error.start]
            raise _BadLine(i, f"holds {char!r}, which stands for no byte") from None
        if pair in seen:
            raise _BadLine(i, "is there twice")
        seen.add(pair)
        pairs.append(pair)
    return pairs


def _unmade(ids: dict[bytes, int], pairs: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Return the tokens that are neither single bytes nor made by a merge."""
    made = {left + right for left, right in pairs}
    return [token for token in ids if len(token) > 1 and token not in made]


def _check_agreement(special: dict[bytes, int], ids: dict[bytes, int]) -> None:
    """Refuse special tokens to which the vocabulary gives other ids.

    Raises:
        ModelError: Naming the token and both ids.
    """
    for token, number in special.items():
        if ids.get(token, number) != number:
            raise ModelError(
                f"special_tokens gives {shown(token)} the id {number}, the vocabulary "
                f"gives it {ids[token]}"
            )
