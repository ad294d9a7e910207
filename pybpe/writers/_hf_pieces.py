"""A sentencepiece model as a `tokenizer.json`.

Its normalizer does what sentencepiece does with spaces, to each stretch of text between
special tokens; its model has the merges that `_piece_merges` finds.

User-defined pieces are matched in normalized text, as added tokens can be; but these go
through the normalizer themselves, which would put a mark before each. Where it changes
one of them, the pre-tokenizer cuts them out instead, and `ignore_merges` takes them
whole. It would do that with other pieces, too, that no merges make, such as "<0x41>"
where a text has these very characters. So the pre-tokenizer also cuts each of them: if
it can, between two characters that no piece has side by side; else where it stands
alone between two symbols, at one place across which nothing is joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from pybpe.formats._hf_parts import normalizers
from pybpe.formats._source import shown
from pybpe.normalizers import apply_all
from pybpe.split.patterns import literal
from pybpe.writers import _charsmap, _hf_parts
from pybpe.writers._parts import text_of
from pybpe.writers._piece_merges import PieceMerges, holding

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
    unknown = _unknown(model, texts)
    if unknown is not None and len(unknown) == 1:
        raise ModelError(
            f"its unknown piece {shown(unknown)} is one character: {_WHAT} would take "
            "that character for known"
        )
    merges = PieceMerges(model)
    symbols = _of_type(texts, model, USER_DEFINED)
    _refuse_symbols(symbols)
    spaces = _spaces(model)
    # The character map leaves them as they are.
    steps = normalizers(_sequence(spaces))
    as_added = all(apply_all(steps, symbol) == symbol for symbol in symbols)
    if model.normalizer.charsmap:
        # The space before a text is there even if nothing else is left of it.
        first = int(model.normalizer.add_dummy_prefix)
        changes = _charsmap.steps(model.normalizer, symbols)
        spaces = [*spaces[:first], *changes, *spaces[first:]]
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
        "normalizer": _sequence(spaces),
        "pre_tokenizer": pre_tokenizer,
        "post_processor": _hf_parts.post_processor(
            model.text_prefix, model.text_suffix, names
        ),
        "decoder": _decoder(model, texts, unknown),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": unknown,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": model.byte_fallback,
            "ignore_merges": pre_tokenizer is not None,
            "vocab": {text: number for number, text in enumerate(texts)},
            "merges": [[texts[left], texts[right]] for left, right in merges.pairs],
        },
    }


def _unknown(model: CodepointModel, texts: list[str]) -> str | None:
    """Return the piece that text without one becomes, if there is one."""
    number = model.piece_types.find(UNKNOWN)
    return texts[number] if number >= 0 else None


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
    for part, wrong in (
        ("a denormalizer", model.denormalizer is not None),
        ("spaces without marks", not model.normalizer.escape_whitespaces),
        ("marks behind words", model.mark_behind),
    ):
        if wrong:
            raise ModelError(f"it has {part}; {_WHAT} cannot say so")


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


def _spaces(model: CodepointModel) -> list[Json]:
    """Return what is done with spaces; a mark before the text comes first."""
    spaces = model.normalizer
    parts: list[Json] = []
    if spaces.add_dummy_prefix:
        # If there is more to do, a space, which is done like others.
        more = spaces.remove_extra_whitespaces or spaces.charsmap
        parts.append({"type": "Prepend", "prepend": " " if more else _MARK})
    elif spaces.remove_extra_whitespaces:
        parts.append(_replace(r"\A +", ""))
    if spaces.remove_extra_whitespaces:
        parts.append(_replace(" {2,}", " "))
    parts.append({"type": "Replace", "pattern": {"String": " "}, "content": _MARK})
    if spaces.remove_extra_whitespaces:
        parts.append(_replace(rf"{_MARK}+\z", ""))
    return parts


def _replace(pattern: str, content: str) -> Json:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def _sequence(parts: list[Json]) -> Json:
    return {"type": "Sequence", "normalizers": parts} if parts[1:] else parts[0]


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
    for pattern, behavior in _cuts(model, texts, merges, symbols):
        parts.append(
            {
                "type": "Split",
                "pattern": {"Regex": pattern},
                "behavior": behavior,
                "invert": False,
            }
        )
    return {"type": "Sequence", "pretokenizers": parts}


def _cuts(
    model: CodepointModel, texts: list[str], merges: PieceMerges, symbols: list[str]
) -> Iterator[tuple[str, str]]:
    """Yield patterns and behaviors that cut pieces which no merges make.

    Raises:
        ModelError: Some piece has no place to cut it.
    """
    kinds = model.piece_types
    made = [
        text
        for number, text in enumerate(texts)
        if kinds[number] == NORMAL and number not in merges.unmade
    ]
    holds_symbol = holding(symbols)
    unmade = {
        texts[number]
        for number in merges.unmade
        if kinds[number] in (NORMAL, BYTE, UNKNOWN) and not holds_symbol(texts[number])
    }
    known = set(made)
    if not model.byte_fallback:
        # Where none of its characters is a piece, it becomes itself in any case.
        unmade -= {
            t for t in unmade if t == _unknown(model, texts) and known.isdisjoint(t)
        }
    taken = {pair for text in (*made, *symbols) for pair in pairwise(text)}

    def shows(left: str, right: str) -> bool:
        """Tell whether a cut would make two unknown pieces of one."""
        return not model.byte_fallback and left not in known and right not in known

    anywhere: dict[tuple[str, str], None] = {}
    alone = []
    for text in sorted(unmade):
        free = [p for p in pairwise(text) if p not in taken and not shows(*p)]
        if free and not any(pair in anywhere for pair in free):
            anywhere[free[0]] = None
        if not free:
            alone.append(_parted(text, merges, unmade, shows))
    if anywhere:
        cuts = (f"{literal(left)}(?={literal(right)})" for left, right in anywhere)
        yield "|".join(cuts), "MergedWithPrevious"
    if alone:
        cuts = (rf"{literal(left)}(?={literal(right)}\z)" for left, right in alone)
        yield rf"\A(?:{'|'.join(cuts)})", "Isolated"


def _parted(
    text: str,
    merges: PieceMerges,
    unmade: set[str],
    shows: Callable[[str, str], bool],
) -> tuple[str, str]:
    """Return a text parted where no merge crosses, into what is taken as it should be.

    Raises:
        ModelError: There is no such place.
    """
    parts = merges.joined(text)
    for i in range(1, len(parts)):
        left, right = "".join(parts[:i]), "".join(parts[i:])
        if not (left in unmade or right in unmade or shows(parts[i - 1], parts[i])):
            return left, right
    raise ModelError(
        f"it has user-defined pieces, and the piece {shown(text)}, which joining does "
        f"not make: {_WHAT} would take it whole where it stands alone"
    )


# ------------------------------------------------------------------ and back


def _decoder(model: CodepointModel, texts: list[str], unknown: str | None) -> Json:
    """Return what makes text of pieces.

    Raises:
        ModelError: What stands for unknown text cannot be put in.
    """
    parts: list[Json] = []
    surface = model.unk_surface.decode("utf-8", "replace")
    if unknown is not None and surface != unknown:
        for text in texts:
            if unknown in text and text != unknown:
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
    # Where no mark is put before texts, one that begins in unknown text keeps the space
    # that stands for that.
    spaces = model.normalizer
    strips = spaces.remove_extra_whitespaces and model.byte_fallback
    if spaces.add_dummy_prefix or strips:
        parts.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": parts}
