"""A sentencepiece model as a `tokenizer.json`.

Its normalizer does what sentencepiece does with spaces, to each stretch of text between
special tokens; its model has the merges that `_piece_merges` finds.

User-defined pieces are matched in normalized text, as added tokens can be; but these go
through the normalizer themselves, which would put a mark before each. Where it changes
one of them, the pre-tokenizer cuts them out instead, and `ignore_merges` takes them
whole. It would do that with other pieces, too, that no merges make, such as "<0x41>"
where a text has these very characters: so the pre-tokenizer also cuts each of them at
one place across which no piece lies.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from pybpe.codepoint import (
    BYTE,
    CONTROL,
    MARK,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    CodepointModel,
)
from pybpe.errors import ModelError
from pybpe.formats._hf_parts import literal, normalizers
from pybpe.formats._source import shown
from pybpe.normalizers import apply_all
from pybpe.writers import _hf_parts
from pybpe.writers._parts import text_of
from pybpe.writers._piece_merges import PieceMerges

Json = dict[str, Any]

_WHAT = "a tokenizer.json"
_MARK = MARK.decode()
# sentencepiece looks at so many symbols of which one is the beginning of the next.
_MAX_NESTED = 64


def document_of(model: CodepointModel) -> Json:
    """Return what the file holds, as JSON's objects.

    Raises:
        ModelError: Naming the first thing that the format cannot say.
    """
    _refuse(model)
    texts = [text_of(piece, _WHAT) for piece in model.pieces()]
    merges = PieceMerges(model)
    normalizer = _normalizer(model)
    symbols = _of_type(texts, model, USER_DEFINED)
    _refuse_symbols(symbols)
    steps = normalizers(normalizer)
    as_added = all(apply_all(steps, symbol) == symbol for symbol in symbols)
    pre_tokenizer = None
    if not as_added:
        pre_tokenizer = _pre_tokenizer(model, texts, merges, symbols)
    added = []
    for number, text in enumerate(texts):
        kind = model.piece_types[number]
        if kind == CONTROL or (kind == USER_DEFINED and as_added):
            added.append(_added_token(number, text, kind == CONTROL))
    names = dict(enumerate(texts))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": _hf_parts.post_processor(
            model.text_prefix, model.text_suffix, names
        ),
        "decoder": _decoder(model, texts),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": texts[model.unk_id] if model.unk_id >= 0 else None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": model.byte_fallback,
            "ignore_merges": pre_tokenizer is not None,
            "vocab": {text: number for number, text in enumerate(texts)},
            "merges": [[texts[left], texts[right]] for left, right in merges.pairs],
        },
    }


def _of_type(texts: list[str], model: CodepointModel, wanted: int) -> list[str]:
    pairs = zip(texts, model.piece_types, strict=True)
    return [text for text, kind in pairs if kind == wanted]


def _added_token(number: int, content: str, special: bool) -> Json:
    return {
        "id": number,
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": not special,
        "special": special,
    }


# ------------------------------------------------------------------ what does not fit


def _refuse(model: CodepointModel) -> None:
    """Refuse what the format has no place for.

    Raises:
        ModelError: Naming it.
    """
    if model.normalizer.charsmap:
        raise ModelError(
            f"it has a character map ({model.normalizer.name or 'without a name'}), "
            f"which {_WHAT} cannot hold exactly: the part that is made for such maps "
            "takes letters and their marks apart otherwise than sentencepiece, and "
            "loses some. Models trained with normalization_rule_name='identity' "
            "have none"
        )
    for part, wrong in (
        ("a denormalizer", model.denormalizer is not None),
        ("spaces without marks", not model.normalizer.escape_whitespaces),
        ("marks behind words", model.mark_behind),
    ):
        if wrong:
            raise ModelError(f"it has {part}; {_WHAT} cannot say so")
    unknown = model.pieces()[model.unk_id] if model.unk_id >= 0 else b""
    if len(unknown.decode("utf-8", "replace")) == 1:
        raise ModelError(
            f"its unknown piece {shown(unknown)} is one character: {_WHAT} would take "
            "that character for known"
        )


def _refuse_symbols(symbols: list[str]) -> None:
    """Refuse user-defined pieces that sentencepiece finds in a way of its own.

    Raises:
        ModelError: Naming the first one.
    """
    known = set(symbols)
    for symbol in symbols:
        if " " in symbol:
            raise ModelError(
                f"its user-defined piece {shown(symbol)} holds a space, which is found "
                f"before spaces get marks; {_WHAT} cannot say so"
            )
        nested = sum(symbol[:end] in known for end in range(1, len(symbol) + 1))
        if nested > _MAX_NESTED:
            raise ModelError(
                f"its user-defined piece {shown(symbol)} begins with {nested - 1} "
                f"others, of which sentencepiece finds the {_MAX_NESTED} shortest"
            )


# ------------------------------------------------------------------ text


def _normalizer(model: CodepointModel) -> Json:
    """Return what is done with spaces."""
    spaces = model.normalizer
    parts: list[Json] = []
    if spaces.remove_extra_whitespaces:
        # A space that is put before the text joins those that are there.
        if spaces.add_dummy_prefix:
            parts.append({"type": "Prepend", "prepend": " "})
        else:
            parts.append(_replace(r"\A +", ""))
        parts += [
            _replace(" {2,}", " "),
            {"type": "Replace", "pattern": {"String": " "}, "content": _MARK},
            _replace(rf"{_MARK}+\z", ""),
        ]
        return {"type": "Sequence", "normalizers": parts}
    if spaces.add_dummy_prefix:
        parts.append({"type": "Prepend", "prepend": _MARK})
    parts.append({"type": "Replace", "pattern": {"String": " "}, "content": _MARK})
    return {"type": "Sequence", "normalizers": parts} if parts[1:] else parts[0]


def _replace(pattern: str, content: str) -> Json:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def _pre_tokenizer(
    model: CodepointModel, texts: list[str], merges: PieceMerges, symbols: list[str]
) -> Json:
    """Return what cuts out the user-defined pieces."""
    longest_first = sorted(symbols, key=len, reverse=True)
    parts = [
        {
            "type": "Split",
            "pattern": {"Regex": "|".join(map(literal, longest_first))},
            "behavior": "Isolated",
            "invert": False,
        }
    ]
    cuts = _cuts(model, texts, merges, symbols)
    if cuts:
        parts.append(
            {
                "type": "Split",
                "pattern": {
                    "Regex": "|".join(f"{literal(a)}(?={literal(b)})" for a, b in cuts)
                },
                "behavior": "MergedWithPrevious",
                "invert": False,
            }
        )
    return {"type": "Sequence", "pretokenizers": parts}


def _cuts(
    model: CodepointModel, texts: list[str], merges: PieceMerges, symbols: list[str]
) -> list[tuple[str, str]]:
    """Return pairs of characters to cut between, for pieces that no merges make.

    Raises:
        ModelError: Some piece has no such place.
    """
    kinds = model.piece_types
    unmade = {n for n in merges.unmade if kinds[n] in (NORMAL, BYTE, UNKNOWN)}
    made = [
        text
        for number, text in enumerate(texts)
        if kinds[number] == NORMAL and number not in unmade
    ]
    taken = set(_pairs_of([*made, *symbols]))
    # Between unknown characters a cut would show: there would be two, not one.
    known = set(made)
    found: dict[tuple[str, str], None] = {}
    for number in sorted(unmade):
        free = [
            pair
            for pair in pairwise(texts[number])
            if pair not in taken and (model.byte_fallback or known.issuperset(pair))
        ]
        if not free:
            raise ModelError(
                f"it has user-defined pieces, and the piece {shown(texts[number])}, "
                f"which joining does not make: {_WHAT} would take it whole where it "
                "stands alone"
            )
        if not any(pair in found for pair in free):
            found[free[0]] = None
    return list(found)


def _pairs_of(texts: Iterable[str]) -> Iterable[tuple[str, str]]:
    for text in texts:
        yield from pairwise(text)


# ------------------------------------------------------------------ and back


def _decoder(model: CodepointModel, texts: list[str]) -> Json:
    """Return what makes text of pieces.

    Raises:
        ModelError: What stands for unknown text cannot be put in.
    """
    parts: list[Json] = []
    surface = model.unk_surface.decode("utf-8", "replace")
    if model.unk_id >= 0 and surface != texts[model.unk_id]:
        unknown = texts[model.unk_id]
        for number, text in enumerate(texts):
            if unknown in text and number != model.unk_id:
                raise ModelError(
                    f"its unknown piece {shown(unknown)}, which decodes to "
                    f"{shown(surface)}, is part of another piece, {shown(text)}: "
                    f"{_WHAT} cannot tell them apart"
                )
        parts.append(
            {"type": "Replace", "pattern": {"String": unknown}, "content": surface}
        )
    parts += [
        {"type": "Replace", "pattern": {"String": _MARK}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    spaces = model.normalizer
    if spaces.add_dummy_prefix or spaces.remove_extra_whitespaces:
        parts.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": parts}
