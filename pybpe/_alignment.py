"""Text that normalizers have changed, and where each of its characters comes from."""

from __future__ import annotations

from array import array
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING
from unicodedata import combining

from pybpe.normalizers import (
    CharacterRules,
    Precompiled,
    Prefix,
    Prepend,
    Replace,
    match_spans,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pybpe.normalizers import Step


class Aligned:
    """A text, and where in a source in bytes the text of each character is.

    Of a character that was put in, that is an empty place: where what follows begins.
    Lone surrogates stand for bytes that are no UTF-8.

    Attributes:
        text: The text.
        begins: Where the source of each character begins.
        ends: Where it ends.
    """

    def __init__(self, text: str, begins: array[int], ends: array[int]) -> None:
        """Keep them."""
        self.text = text
        self.begins = begins
        self.ends = ends

    def part(self, begin: int, end: int) -> Aligned:
        """Return some of the characters."""
        return Aligned(
            self.text[begin:end], self.begins[begin:end], self.ends[begin:end]
        )

    def bytes_with_places(self, source: bytes) -> tuple[bytes, array[int], array[int]]:
        """Return the text in UTF-8, and where in the source each byte comes from.

        A byte of a character that is as it was comes from one byte; one of a character
        that was changed, from all of what that was made of.
        """
        begins, ends = array("Q"), array("Q")
        chars = [char.encode("utf-8", "surrogateescape") for char in self.text]
        for char, begin, end in zip(chars, self.begins, self.ends, strict=True):
            n = len(char)
            if end - begin == n and source[begin:end] == char:
                begins.extend(range(begin, end))
                ends.extend(range(begin + 1, end + 1))
            else:
                begins.extend([begin] * n)
                ends.extend([end] * n)
        return b"".join(chars), begins, ends


def unchanged(text: str, start: int) -> Aligned:
    """Return a text that lies in the source from a place on, as it is."""
    sizes = (len(char.encode("utf-8", "surrogateescape")) for char in text)
    places = array("Q", accumulate(sizes, initial=start))
    return Aligned(text, places[:-1], places[1:])


def through(step: Step, aligned: Aligned, first: bool) -> Aligned | None:
    """Return what a step makes of a text; None if that has no places in the source."""
    text = aligned.text
    changed = step.apply(text, first)
    if changed == text:
        return aligned
    if isinstance(step, (Prepend, Prefix)):
        places = array("Q", aligned.begins[:1]) * len(step.content)
        return Aligned(changed, places + aligned.begins, places + aligned.ends)
    if isinstance(step, Replace):
        return _pieced(aligned, changed, _replaced(step, text))
    if isinstance(step, (Precompiled, CharacterRules)):
        return _pieced(aligned, changed, step.pieces(text))
    for sizes in ([1] * len(text), _clusters(text)):
        # Character by character, or with the marks that belong to each.
        bounds = [0, *accumulate(sizes)]
        made = [
            (begin, end, step.apply(text[begin:end], first))
            for begin, end in pairwise(bounds)
        ]
        if "".join(piece for _, _, piece in made) == changed:
            return _pieced(aligned, changed, made)
    return None


def _replaced(step: Replace, text: str) -> Iterable[tuple[int, int, str]]:
    """Yield the parts of a text, and what a Replace makes of each."""
    if step.stage is not None:
        spans = match_spans(step.stage, text)
    else:
        n = len(step.pattern)
        parts = text.split(step.pattern)[:-1]
        ends = accumulate(len(part) + n for part in parts)
        spans = [(end - n, end) for end in ends]
    at = 0
    for begin, end in spans:
        yield from ((i, i + 1, text[i]) for i in range(at, begin))
        yield begin, end, step.content
        at = end
    yield from ((i, i + 1, text[i]) for i in range(at, len(text)))


def _clusters(text: str) -> Sequence[int]:
    """Return the sizes of parts: a character each, with the marks behind it."""
    sizes: list[int] = []
    for char in text:
        if sizes and combining(char):
            sizes[-1] += 1
        else:
            sizes.append(1)
    return sizes


def _pieced(
    aligned: Aligned, changed: str, parts: Iterable[tuple[int, int, str]]
) -> Aligned:
    """Return the changed text, given what became of each part."""
    begins, ends = array("Q"), array("Q")
    for begin, end, piece in parts:
        if end - begin == len(piece) == 1:
            begins.append(aligned.begins[begin])
            ends.append(aligned.ends[begin])
        else:
            begins.extend([aligned.begins[begin]] * len(piece))
            ends.extend([aligned.ends[end - 1]] * len(piece))
    return Aligned(changed, begins, ends)
