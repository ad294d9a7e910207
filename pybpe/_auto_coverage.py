"""auto_character_coverage: how many merges, and which single characters, to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class _Best(NamedTuple):
    """How many merges and further characters are best, and what they save."""

    n_merges: int
    n_others: int
    value: int


class _Sums:
    """Numbers, some of which are taken away: the sum of the first n that are left."""

    def __init__(self, values: list[int]) -> None:
        self._values = values
        n = len(values)
        # Two Fenwick trees: how many are left, and their sum.
        self._left = [0, *(i & -i for i in range(1, n + 1))]
        self._sums = [0, *values]
        for i in range(1, n + 1):
            if (parent := i + (i & -i)) <= n:
                self._sums[parent] += self._sums[i]

    def remove(self, place: int) -> None:
        """Take a number away."""
        i = place + 1
        while i < len(self._left):
            self._left[i] -= 1
            self._sums[i] -= self._values[place]
            i += i & -i

    def first(self, n: int) -> int:
        """Return the sum of the first n, or of all if there are fewer."""
        at = total = 0
        step = 1 << len(self._left).bit_length()
        while step := step >> 1:
            if at + step < len(self._left) and self._left[at + step] <= n:
                at += step
                n -= self._left[at]
                total += self._sums[at]
        return total


def choose(
    merged: Sequence[str],
    merge_counts: Sequence[int],
    characters: Mapping[int, int],
    room: int,
) -> list[str]:
    """Return the pieces that save most bytes.

    The first k merges are kept with the characters in them, and the rest of the room is
    for further characters, those that save most bytes first: k is what saves most.

    Args:
        merged: What merges make, in order.
        merge_counts: How often each pair occurred when it was merged.
        characters: How often each character occurs.
        room: How many pieces there may be.
    """
    gains = {
        chr(c): n * (len(chr(c).encode()) - 1)
        for c, n in characters.items()
        if c >= 0x80
    }
    ranked = sorted(gains, key=lambda c: (-gains[c], -characters[ord(c)], c))
    rank = {c: i for i, c in enumerate(ranked)}
    best = _Best(0, 0, -1)
    free = _Sums([gains[c] for c in ranked])
    used: set[str] = set()
    value = 0
    for k in range(len(merged) + 1):
        if k > 0:
            value += merge_counts[k - 1]
            for c in set(merged[k - 1]) - used:
                used.add(c)
                if c in rank:
                    value += gains[c]
                    free.remove(rank[c])
        left = room - k - len(used)
        if left >= 0 and (total := value + free.first(left)) >= best.value:
            best = _Best(k, left, total)
    kept = merged[: best.n_merges]
    inside = set("".join(kept))
    others = [c for c in ranked if c not in inside][: best.n_others]
    return [*kept, *sorted(inside), *others]
