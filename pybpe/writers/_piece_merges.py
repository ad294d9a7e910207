"""From a sentencepiece model's scores to a list of merges: exactly, or not at all.

sentencepiece joins any two neighbours whose concatenation is a piece, the highest score
first, of equal scores the leftmost. As with ranks (`_merges`), a piece is joined from
one pair only: until it is there, no join has crossed its ends, so what happens inside
is what happens when its characters are joined alone. A list of these pairs by falling
score does the same, except that pieces of equal score have an order there. That makes
no difference if

- no two of them can want the same symbol (the right part of one is the left part of
  the other), and
- none is part of a piece with the same or a higher score,

for then all of their places are joined before anything else is, in whatever order.

There is one more case, since Llama's and Mistral's vocabularies have it: runs of one
character that share a score. Say M is the longest, and a run of M becomes that piece.
Then joining the leftmost pair first takes a run of n apart into as many of length M as
there are, and what the rest becomes by itself: as long as some pair among the first M
characters can be joined, it comes before those that reach further. If M is a power of
two, and so are other lengths, a list can do the same. With (1, 1), (2, 2), (4, 4), ...
up to M in front, it leaves the binary digits of the rest behind the pieces of length M,
the largest first; what then puts the digits together is tried for each rest below M.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from itertools import groupby, pairwise
from typing import TypeVar

from pybpe._derivation import last_merge
from pybpe.codepoint import NORMAL, UNUSED, USER_DEFINED, CodepointModel
from pybpe.errors import ModelError
from pybpe.formats._source import shown

Pair = tuple[int, int]
T = TypeVar("T", int, str)

# Longer runs are not tried.
_LONGEST_RUN = 64


def holding(strings: Iterable[str]) -> Callable[[str], object]:
    """Return a function that tells whether a text holds one of some strings.

    Gemma's vocabularies have 6,000 of them and a quarter of a million texts.
    """
    pattern = "|".join(map(re.escape, strings))
    return re.compile(pattern or "(?!)").search


class PieceMerges:
    """The merges of a model.

    Attributes:
        pairs: Left and right id of each, by rank; they make the pieces whose text is
            the two parts' texts.
        unmade: The ids of pieces of several characters that joining does not make.
    """

    def __init__(self, model: CodepointModel) -> None:
        """Find the merges.

        Raises:
            ModelError: No list of merges is the same; the message names the pieces.
        """
        self._texts = [piece.decode("utf-8", "replace") for piece in model.pieces()]
        self._types = model.piece_types
        self._scores = [(score, math.copysign(1, score)) for score in model.scores]
        self._made = self._derivations()
        self.unmade = {
            number
            for number, text in enumerate(self._texts)
            if number not in self._made
            and (len(text) > 1 or self._types[number] != NORMAL)
            and self._types[number] != USER_DEFINED
        }
        self.pairs = self._ordered()

    # ------------------------------------------------------------------ which pairs

    def _derivations(self) -> dict[int, Pair]:
        """Return the pair that makes each piece, where one does.

        Raises:
            ModelError: A part is no piece, or one that is taken apart again.
        """
        texts, types = self._texts, self._types
        kinds = (NORMAL, USER_DEFINED, UNUSED)
        joined = {text: i for i, text in enumerate(texts) if types[i] in kinds}
        holds_symbol = holding(
            text for i, text in enumerate(texts) if types[i] == USER_DEFINED
        )
        order = {score: i for i, score in enumerate(sorted(set(self._scores))[::-1])}
        ranks = [order[score] for score in self._scores]
        # Characters that are no pieces may be parts of some: they get ids behind all.
        names = list(texts)
        by_name = {text: i for i, text in enumerate(texts)}

        def rule(left: int, right: int) -> tuple[int, int] | None:
            made = joined.get(names[left] + names[right])
            return None if made is None else (ranks[made], made)

        found: dict[int, Pair] = {}
        for number, text in enumerate(texts):
            if types[number] not in (NORMAL, UNUSED):
                continue
            if types[number] == UNUSED and len(text) == 1:
                self._refuse_unused(number)
            if len(text) == 1 or holds_symbol(text):
                continue  # Of the latter, a part is always matched first.
            ids = []
            for char in text:
                if char not in by_name:
                    by_name[char] = len(names)
                    names.append(char)
                ids.append(by_name[char])
            pair = last_merge(ids, rule)
            if not pair:
                continue
            if types[number] == UNUSED:
                self._refuse_unused(number)
            for part in pair:
                if part >= len(texts) or types[part] != NORMAL:
                    raise ModelError(
                        f"the piece {shown(text)} is joined from "
                        f"{' and '.join(shown(names[i]) for i in pair)}, of which "
                        f"{shown(names[part])} is no ordinary piece: merges need both"
                    )
            found[number] = pair
        return found

    def _refuse_unused(self, number: int) -> None:
        raise ModelError(
            f"the piece {shown(self._texts[number])} (id {number}) is marked as not "
            "used: what would become it is taken apart again, which merges cannot say"
        )

    def joined(self, text: str) -> list[str]:
        """Return what a short text is joined to."""
        ranks = {
            (self._texts[left], self._texts[right]): rank
            for rank, (left, right) in enumerate(self.pairs)
        }
        return _joined(list(text), ranks)

    # ------------------------------------------------------------------ their order

    def _ordered(self) -> list[Pair]:
        """Return the pairs by falling score."""
        # What each piece is part of.
        wholes: dict[int, list[int]] = {}
        for number, pair in self._made.items():
            for part in {*pair}:
                wholes.setdefault(part, []).append(number)
        out: list[Pair] = []
        by_score = sorted(self._made, key=lambda i: self._scores[i], reverse=True)
        for _, group in groupby(by_score, key=lambda i: self._scores[i]):
            equal = list(group)
            if len(equal) == 1:
                out.append(self._made[equal[0]])
            else:
                out += self._of_equal_score(equal, wholes)
        return out

    def _of_equal_score(
        self, equal: list[int], wholes: dict[int, list[int]]
    ) -> list[Pair]:
        """Return the pairs of pieces that share a score.

        Raises:
            ModelError: Their order in the text matters.
        """
        score = self._scores[equal[0]]
        runs: dict[str, list[int]] = {}
        others = []
        for number in equal:
            text = self._texts[number]
            if text == text[0] * len(text):
                runs.setdefault(text[0], []).append(number)
            else:
                others.append(number)
        out: list[Pair] = []
        for char, members in runs.items():
            if len(members) == 1:
                others += members
            else:
                out += self._of_run(char, members)
        members_of = {i: runs[self._texts[i][0]] for m in runs.values() for i in m}
        by_left: dict[int, list[int]] = {}
        for number in equal:
            by_left.setdefault(self._made[number][0], []).append(number)
        for number in equal:
            rivals = [
                *by_left.get(self._made[number][1], ()),
                *(i for i in wholes.get(number, ()) if self._scores[i] >= score),
            ]
            own = members_of.get(number, [number])
            if number in others:
                own = [number]
            for rival in rivals:
                if rival not in own:
                    raise ModelError(
                        f"the pieces {shown(self._texts[number])} and "
                        f"{shown(self._texts[rival])} have scores of which it depends "
                        "on the text which one is joined first, and merges have one "
                        "order"
                    )
        return out + [self._made[number] for number in sorted(others)]

    def _of_run(self, char: str, members: list[int]) -> list[Pair]:
        """Return the pairs of the runs of a character.

        Raises:
            ModelError: No list of merges takes all runs apart like the leftmost pair
                first, or some runs have another score.
        """
        of_length = {len(self._texts[i]): i for i in members}
        elsewhere = any(
            self._texts[i] == char * len(self._texts[i]) and i not in members
            for i in self._made
        )
        merges = None if elsewhere else _run_merges(set(of_length))
        if merges is None:
            raise ModelError(
                f"its runs of {shown(char)} share a score, so that the leftmost are "
                "joined first, and no order of merges does the same with these lengths"
            )
        of_length[1] = self._made[of_length[2]][0]
        return [(of_length[left], of_length[right]) for left, right in merges]


def _run_merges(lengths: set[int]) -> list[Pair] | None:
    """Return the merges that take runs apart like the leftmost pair first.

    Args:
        lengths: Of the runs that are pieces, but for 1.

    Returns:
        The lengths of the left and right parts; None if there are no such merges.
    """
    longest = max(lengths)
    doubled = {1 << i for i in range(1, longest.bit_length())}
    if longest > _LONGEST_RUN or longest not in doubled or doubled - lengths:
        return None
    # From what the digits but the last make, and the last digit.
    digits = [(k & (k - 1), k & -k) for k in lengths - doubled]
    merges = [(k // 2, k // 2) for k in sorted(doubled)]
    merges += sorted((p for p in digits if p[0] in lengths), reverse=True)
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    leftmost = {(left, k - left): 0 for k in lengths for left in range(1, k)}
    if _joined([1] * longest, leftmost) != [longest]:
        return None
    for n in range(2, longest):
        if _joined([1] * n, leftmost) != _joined([1] * n, ranks):
            return None
    return merges


def _joined(parts: list[T], ranks: dict[tuple[T, T], int]) -> list[T]:
    """Return what parts are joined to, the lowest rank first, then the leftmost."""
    out = list(parts)
    while due := [(ranks[p], i) for i, p in enumerate(pairwise(out)) if p in ranks]:
        _, at = min(due)
        out[at : at + 2] = [out[at] + out[at + 1]]
    return out
