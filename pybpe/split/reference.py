"""The scan over a stage's tables in plain Python: slow, and the rule for all others.

The core does the same in C. This version serves the stages with tables of a split that
has some without, where no core is at hand, and tests.
"""

from __future__ import annotations

from bisect import bisect_right

from pybpe.split.tables import DEAD, MATCH_BEFORE, NEXT_STATE, START, Tables

Spans = list[tuple[int, int]]


def match_spans(tables: Tables, text: str) -> Spans:
    """Return start and end of each match in a text, in characters.

    What lies between matches is a gap. The time is linear in the text whatever the
    pattern: how a scan goes on depends on the state and the position only, so what was
    walked in vain after the last match of one scan is remembered, and no later scan
    walks it again.
    """
    starts, ids = tables.class_starts, tables.class_ids
    class_of: dict[str, int] = {}
    for char in set(text):
        class_of[char] = ids[bisect_right(starts, ord(char)) - 1]
    columns = [class_of[char] for char in text]
    columns.append(tables.n_classes)  # the end of the text
    width = tables.n_classes + 1
    transitions = tables.transitions
    spans: Spans = []
    failed: set[tuple[int, int]] = set()
    failed_until = 0
    begin = 0
    while begin < len(text):
        state, position, end = START, begin, begin
        in_vain: list[tuple[int, int]] = []
        while state != DEAD:
            if position < failed_until and (state, position) in failed:
                break
            value = transitions[state * width + columns[position]]
            if value & MATCH_BEFORE:
                end = position
                in_vain.clear()
            else:
                in_vain.append((state, position))
            state = value & NEXT_STATE
            position += 1
        if len(in_vain) > 1:
            failed.update(in_vain)
            failed_until = max(failed_until, position)
        if end > begin:
            spans.append((begin, end))
            begin = end
        else:
            begin += 1
    return spans
