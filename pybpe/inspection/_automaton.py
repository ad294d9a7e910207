"""What a split can do to a string, whatever stands around it: read off its tables.

A pretoken begins in the start state and ends where the automaton last said that a match
ends. So a string can lie inside one pretoken if and only if there is a state, reached
by what the pretoken begins with, from which the string leads to a state where a match
can still end; and it can be a pretoken by itself if it leads there from the start and a
match can end right behind it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from pybpe.inspection._texts import begins_inside, cut_character, ends_inside
from pybpe.split.same import leaves_gaps
from pybpe.split.tables import DEAD, MATCH_BEFORE, NEXT_STATE, START

if TYPE_CHECKING:
    from pybpe.split import Split, Stage

# The characters of several bytes.
_LONGER = range(0x80, 0x110000)


class Cuts:
    """What a whole split can do; in doubt it can leave a string whole."""

    def __init__(self, split: Split) -> None:
        """Look through the tables of those stages whose matches are pretokens."""
        self._stages = [_Automaton(stage) for stage in split.stages if _is_plain(stage)]
        # Ends of what a stage cuts are ends of pretokens, but not the other way round.
        self._only = self._stages if len(split.stages) == 1 else []

    def can_be_inside(self, text: bytes) -> bool:
        """Tell whether some pretoken may hold a string; False is certain."""
        return all(stage.can_be_inside(text) for stage in self._stages)

    def can_be_whole(self, text: bytes) -> bool:
        """Tell whether a string may be a pretoken by itself; False is certain."""
        return all(stage.can_begin(text, True) for stage in self._only)

    def can_begin(self, text: bytes) -> bool:
        """Tell whether a pretoken may begin with a string; False is certain."""
        return all(stage.can_begin(text, False) for stage in self._only)

    def can_end(self, text: bytes) -> bool:
        """Tell whether a pretoken may end with a string; False is certain."""
        return all(stage.can_end(text) for stage in self._only)


def _is_plain(stage: Stage) -> bool:
    return (
        stage.compiled
        and stage.behavior == "isolated"
        and not stage.before
        and not stage.over_bytes
        and not leaves_gaps(stage)
    )


class _Automaton:
    """The tables of a stage, and what can be reached in them."""

    def __init__(self, stage: Stage) -> None:
        self._starts = stage.class_starts
        self._classes = bytes(stage.class_ids)
        self._columns = stage.n_classes + 1
        self._table = stage.transitions
        n = stage.n_states
        self._rows = [
            self._table[s * self._columns : (s + 1) * self._columns] for s in range(n)
        ]
        self._reached = self._closure({START})
        self._useful = self._where_matches_may_end()

    def can_be_inside(self, text: bytes) -> bool:
        states = self._reached
        if begins_inside(text):
            states = self._after_one_of(states, _LONGER)
        return not self._through(states, text).isdisjoint(self._useful)

    def can_begin(self, text: bytes, whole: bool) -> bool:
        if begins_inside(text) or (whole and ends_inside(text)):
            return False  # ends of pretokens are ends of characters
        states = self._through({START}, text)
        return self._may_end(states) if whole else not states.isdisjoint(self._useful)

    def can_end(self, text: bytes) -> bool:
        if ends_inside(text):
            return False
        states = self._reached
        if begins_inside(text):
            states = self._after_one_of(states, _LONGER)
        return self._may_end(self._through(states, text))

    def _may_end(self, states: set[int]) -> bool:
        return any(to & MATCH_BEFORE for s in states for to in self._rows[s])

    def _through(self, states: set[int], text: bytes) -> set[int]:
        """Go through the whole characters of a text, and one of those it may end in."""
        middle, last = cut_character(text)
        states = self._after(states, middle)
        if last is None:
            return states
        return self._after_one_of(states, last)

    def _after_one_of(self, states: set[int], chars: range) -> set[int]:
        """Go through one character, whichever of some it is."""
        first = bisect_right(self._starts, chars[0]) - 1
        columns = {*self._classes[first : bisect_right(self._starts, chars[-1])]}
        found = {self._rows[s][c] & NEXT_STATE for s in states for c in columns}
        return found - {DEAD}

    def _after(self, states: set[int], text: str) -> set[int]:
        for char in text:
            column = self._classes[bisect_right(self._starts, ord(char)) - 1]
            states = {self._rows[s][column] & NEXT_STATE for s in states} - {DEAD}
        return states

    def _after_any(self, states: set[int]) -> set[int]:
        found = {to & NEXT_STATE for s in states for to in self._rows[s][:-1]}
        return found - {DEAD}

    def _closure(self, states: set[int]) -> set[int]:
        found, new = set(states), states
        while new:
            new = self._after_any(new) - found
            found |= new
        return found

    def _where_matches_may_end(self) -> set[int]:
        rows = list(enumerate(self._rows))
        useful = {s for s, row in rows if any(to & MATCH_BEFORE for to in row)}
        while True:
            more = {
                s
                for s, row in rows
                if s not in useful and any(to & NEXT_STATE in useful for to in row[:-1])
            }
            if not more:
                return useful - {DEAD}
            useful |= more
