"""The tables of a compiled stage: their form and their limits."""

from __future__ import annotations

from pybpe._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from array import array

MAX_STATES = 4096
MAX_CLASSES = 255
MATCH_BEFORE = 0x8000
NEXT_STATE = 0x7FFF
DEAD, START = 0, 1


class Tables:
    """What a compiled stage runs on.

    Attributes:
        class_starts: First codepoint of each run of one class, ascending, from 0 on.
        class_ids: Class of each run.
        n_classes: Number of classes, the end of the text not counted.
        n_states: Number of states: 0 is dead, 1 the start.
        transitions: ``n_states`` rows of ``n_classes + 1`` columns, the last for the
            end of the text: next state, with ``MATCH_BEFORE`` if a match ends before
            the character of the column.
    """

    __slots__ = ("class_ids", "class_starts", "n_classes", "n_states", "transitions")

    def __init__(
        self,
        class_starts: array[int],
        class_ids: bytes,
        n_classes: int,
        n_states: int,
        transitions: array[int],
    ) -> None:
        """Keep them."""
        self.class_starts = class_starts
        self.class_ids = class_ids
        self.n_classes = n_classes
        self.n_states = n_states
        self.transitions = transitions
