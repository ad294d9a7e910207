r"""From the automaton with priorities to small tables: determinise and minimise.

A state of the deterministic automaton is the *ordered list* of the threads that are
alive after the characters read so far, best first. A transition is decided late: on
class ``c`` it first asks, before ``c`` is consumed, whether a thread has matched now
that ``c`` is known to come next. This is what lets ``(?!\S)``, ``$`` and ``\z`` be
part of the table: the end of the text is simply the last class. A thread that matches
cuts all threads after it, because the backtracking engine would have returned; those
before it live on, because the engine would still prefer them to succeed, and if they
do, the later and better match replaces the earlier.

So a scan keeps the last position at which a transition said "match", and stops when no
thread is left. If there was none, the character at the start belongs to a gap.
"""

from __future__ import annotations

from array import array

from pybpe.split.nfa import MATCHED, Nfa, NotCompilable
from pybpe.split.tables import (
    DEAD,
    MATCH_BEFORE,
    MAX_CLASSES,
    MAX_STATES,
    NEXT_STATE,
    START,
    Tables,
)

MAX_WORK = 5_000_000

Row = list[int]


def compile_tables(nfa: Nfa) -> Tables:
    """Turn the automaton into minimal tables.

    Raises:
        NotCompilable: They would be too large.
    """
    rows = _determinise(nfa)
    rows = _minimise(rows)
    if len(rows) > MAX_STATES:
        raise NotCompilable(f"it needs more than {MAX_STATES:,} states")
    # Classes that no state tells apart any more become one.
    columns: dict[tuple[int, ...], int] = {}
    merged = []
    for column in range(len(rows[DEAD]) - 1):
        content = tuple(row[column] for row in rows)
        merged.append(columns.setdefault(content, len(columns)))
    if len(columns) > MAX_CLASSES:
        raise NotCompilable(f"it tells more than {MAX_CLASSES} classes apart")
    starts = array("I")
    ids = bytearray()
    for start, class_id in zip(nfa.classes.starts, nfa.classes.ids, strict=True):
        if not ids or ids[-1] != merged[class_id]:
            starts.append(start)
            ids.append(merged[class_id])
    kept = [merged.index(column) for column in range(len(columns))]
    transitions = array("H")
    for row in rows:
        transitions.extend(row[column] for column in kept)
        transitions.append(row[-1])
    return Tables(starts, bytes(ids), len(columns), len(rows), transitions)


def _determinise(nfa: Nfa) -> list[Row]:
    """Return the rows of all reachable states; state 0 is dead, 1 the start."""
    n_columns = nfa.classes.n_classes + 1
    numbers: dict[tuple[int, ...], int] = {(): DEAD, (nfa.start,): START}
    pending: list[tuple[int, ...]] = [(nfa.start,)]
    rows: list[Row] = [[DEAD] * n_columns]
    work = 0
    for threads in pending:  # grows as states are found
        entries: list[tuple[int, int]] = []
        for thread in threads:
            entries += nfa.closure(thread)
            if work + len(entries) * n_columns > MAX_WORK:
                raise NotCompilable("its automaton is too large")
        work += len(entries) * n_columns
        if len(numbers) > MAX_STATES * 2:
            raise NotCompilable("its automaton is too large")
        row = []
        for column in range(n_columns):
            matched = 0
            alive: dict[int, None] = {}  # an ordered set: the first to come stays
            for mask, target in entries:
                if mask >> column & 1:
                    if target == MATCHED:
                        matched = MATCH_BEFORE
                        break
                    alive[target] = None
            key = tuple(alive)
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(numbers)
                pending.append(key)
            row.append(number | matched)
        rows.append(row)
    return rows


def _minimise(rows: list[Row]) -> list[Row]:
    """Merge states that no continuation of the text tells apart.

    Partition refinement: states stay in one block while their rows agree in flags and
    in the blocks they lead to. When a block is split its largest part keeps the
    number, so that only the states that lead to the smaller parts are looked at again.
    States from which nothing can match end up in the block of the dead state.
    """
    leading_to: list[set[int]] = [set() for _ in rows]
    for state, row in enumerate(rows):
        for value in row:
            leading_to[value & NEXT_STATE].add(state)
    block_of = [0] * len(rows)
    members: list[set[int]] = [set(range(len(rows)))]
    unsure = set(range(len(rows)))

    def signature(state: int) -> tuple[int, ...]:
        return tuple(
            block_of[value & NEXT_STATE] << 1 | value >> 15 for value in rows[state]
        )

    while unsure:
        parts_of: dict[int, dict[tuple[int, ...], set[int]]] = {}
        for state in unsure:
            parts = parts_of.setdefault(block_of[state], {})
            parts.setdefault(signature(state), set()).add(state)
        moved: set[int] = set()
        split: list[tuple[int, set[int]]] = []
        for block, parts in sorted(parts_of.items()):
            sure = members[block] - unsure  # these still agree with each other
            if sure:
                parts.setdefault(signature(next(iter(sure))), set()).update(sure)
            by_size = sorted(parts.values(), key=lambda part: (len(part), min(part)))
            split.extend((block, part) for part in by_size[:-1])
        for block, part in split:
            for state in part:
                block_of[state] = len(members)
            members[block] -= part
            members.append(part)
            moved |= part
        unsure = {source for state in moved for source in leading_to[state]}
    return _renumbered(rows, block_of)


def _renumbered(rows: list[Row], block_of: list[int]) -> list[Row]:
    """Return one row for each block: dead first, then in order of discovery."""
    numbers = {block_of[DEAD]: DEAD}
    order = []
    if block_of[START] == block_of[DEAD]:  # it never matches; the start stays apart
        return [rows[DEAD], [DEAD] * len(rows[DEAD])]
    numbers[block_of[START]] = START
    order.append(START)
    for state in order:  # grows as blocks are found
        for value in rows[state]:
            target = value & NEXT_STATE
            if block_of[target] not in numbers:
                numbers[block_of[target]] = len(numbers)
                order.append(target)
    return [rows[DEAD]] + [
        [
            numbers[block_of[value & NEXT_STATE]] | value & MATCH_BEFORE
            for value in rows[state]
        ]
        for state in order
    ]
