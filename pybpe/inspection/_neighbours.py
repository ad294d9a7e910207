"""What can stand beside a token in one pretoken: tokens that leave it as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pybpe.inspection import _completion
from pybpe.inspection._texts import begins_inside, ends_inside, in_batches

if TYPE_CHECKING:
    from pybpe.inspection._automaton import Cuts
    from pybpe.tokenizer import Tokenizer

# So many rows of neighbours are followed up, and of each token so many neighbours.
_CHAINS = 256
_MANY = 4096


class Neighbours:
    """Finds the tokens that can stand before or behind one that cannot stand alone."""

    def __init__(
        self, merging: Tokenizer, cuts: Cuts, ids: list[int], texts: list[bytes]
    ) -> None:
        """Keep what is asked.

        Args:
            merging: A tokenizer that takes every text for one pretoken.
            cuts: What the split can do.
            ids: The ids of all ordinary tokens.
            texts: The text of each id.
        """
        self._merging = merging
        self._cuts = cuts
        self._texts = texts
        self._ids = ids
        self._tails = [i for i in ids if begins_inside(texts[i])]
        self._heads = [i for i in ids if ends_inside(texts[i])]

    def around(self, number: int) -> Iterator[bytes] | None:
        """Return texts that may get a token; None if it is certain that none does."""
        text = self._texts[number]
        behind: list[bytes] | None = [b""]
        before: list[bytes] | None = [b""]
        if not self._cuts.can_end(text) or ends_inside(text):
            behind = self._chains(number, forward=True)
        if not self._cuts.can_begin(text) or begins_inside(text):
            before = self._chains(number, forward=False)
        if behind is None or before is None:
            return None
        return (
            whole
            for right in behind
            for left in before
            for whole in _completion.around(left + text + right)
        )

    def _chains(self, number: int, forward: bool) -> list[bytes] | None:
        """Return what rows of tokens may stand on one side; None for nothing.

        A row ends with a token that ends (or, backward, begins) with a whole character.
        """
        cut = ends_inside if forward else begins_inside
        # What has been reached, and the row that led there.
        rows = {number: b""}
        new = [number]
        found: list[bytes] = []
        while new and len(found) < _CHAINS:
            known, new = new, []
            for at in known:
                for i in self._beside(at, forward):
                    text, row = self._texts[i], rows[at]
                    longer = row + text if forward else text + row
                    if not cut(text):
                        found.append(longer)
                    elif i not in rows:
                        rows[i] = longer
                        new.append(i)
        return found or None

    def _beside(self, number: int, forward: bool) -> list[int]:
        """Return the ids of the tokens that leave a token alone on one side of it."""
        text = self._texts[number]
        cut = ends_inside(text) if forward else begins_inside(text)
        ids = (self._tails if forward else self._heads) if cut else self._ids
        near: dict[bytes, bool] = {}
        pairs, texts = [], []
        for i in ids:
            other = self._texts[i]
            if not cut:
                # Most are ruled out by the character that would stand there.
                char = _first_character(other) if forward else _last_character(other)
                if char not in near:
                    near[char] = self._possible(_joined(text, char, forward))
                if not near[char]:
                    continue
            pairs.append([number, i] if forward else [i, number])
            texts.append(_joined(text, other, forward))
        found = []
        encoded = in_batches(self._merging, texts)
        for pair, both, got in zip(pairs, texts, encoded, strict=True):
            if got == pair and self._possible(both):
                found.append(pair[1] if forward else pair[0])
                if len(found) == _MANY:
                    break
        return found

    def _possible(self, text: bytes) -> bool:
        return _completion.fits_utf8(text) and self._cuts.can_be_inside(text)


def _joined(text: bytes, other: bytes, forward: bool) -> bytes:
    return text + other if forward else other + text


def _first_character(text: bytes) -> bytes:
    """Return the first character of a token, or the part of one."""
    end = begins_inside(text) or 1
    while end < len(text) and text[end] & 0xC0 == 0x80:
        end += 1
    return text[:end]


def _last_character(text: bytes) -> bytes:
    """Return the last character of a token, or the part of one."""
    begin = len(text) - 1
    while begin and text[begin] & 0xC0 == 0x80:
        begin -= 1
    return text[begin:]
