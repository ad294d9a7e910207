"""Partition of all codepoints into the classes that a pattern can tell apart."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from pybpe.unicode import N_CODEPOINTS, Ranges

MAX_CELLS = 2_000_000  # sets times classes


class Partition(NamedTuple):
    """Classes of codepoints, numbered as they first occur.

    Attributes:
        starts: First codepoint of each run of one class, ascending, from 0 on.
        ids: Class of each run.
        n_classes: Number of classes.
        masks: For each set the partition was made from, its classes: bit ``c`` of
            ``masks[i]`` is set if class ``c`` lies in set ``i``.
    """

    starts: list[int]
    ids: list[int]
    n_classes: int
    masks: list[int]

    def class_of(self, codepoint: int) -> int:
        """Return the class of a codepoint."""
        return self.ids[bisect_right(self.starts, codepoint) - 1]


def partition(sets: Sequence[Ranges]) -> Partition:
    """Return the coarsest partition in which every set is a union of classes.

    Two codepoints share a class when the same sets hold both. Sweeping over the edges
    of all sets in ascending order, the sets that hold the current codepoint are a
    bit mask; each mask that occurs is a class.

    Raises:
        ValueError: There are too many sets and classes.
    """
    flips = {0: 0}
    for index, ranges in enumerate(sets):
        for edge in ranges:
            flips[edge] = flips.get(edge, 0) ^ (1 << index)
    flips.pop(N_CODEPOINTS, None)
    starts: list[int] = []
    ids: list[int] = []
    class_of_mask: dict[int, int] = {}
    holders = 0
    for edge in sorted(flips):
        holders ^= flips[edge]
        class_id = class_of_mask.setdefault(holders, len(class_of_mask))
        if not ids or ids[-1] != class_id:
            starts.append(edge)
            ids.append(class_id)
    if len(sets) * len(class_of_mask) > MAX_CELLS:
        raise ValueError(
            f"the split pattern has {len(sets):,} different sets of characters, which "
            f"tell {len(class_of_mask):,} kinds of characters apart; that is too many: "
            "put characters that are treated alike into one class"
        )
    masks = [0] * len(sets)
    for holders, class_id in class_of_mask.items():
        while holders:
            lowest = holders & -holders
            masks[lowest.bit_length() - 1] |= 1 << class_id
            holders ^= lowest
    return Partition(starts, ids, len(class_of_mask), masks)
