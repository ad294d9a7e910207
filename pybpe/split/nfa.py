"""From a pattern's tree to a nondeterministic automaton with priorities.

A thread of the automaton is one way a backtracking engine might try. Forks list their
targets in the order in which such an engine tries them, and everything downstream
keeps threads in that order, so the automaton prefers what the engine would prefer.

Characters are consumed by ``Take``. Lookahead of one character is a ``Test`` of the
character that comes next without consuming it, the end of the text counting as one
more class. What cannot be said that way (see ``NotCompilable``) runs on ``regex``.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from pybpe.split import charset
from pybpe.split.ast import (
    Atomic,
    Chars,
    Choice,
    Edge,
    Look,
    Node,
    Repeat,
    Sequence,
    can_be_empty,
)
from pybpe.split.classes import Partition, partition
from pybpe.unicode import EVERYTHING, Ranges

MAX_NFA_STATES = 20_000
FINAL = 0  # the number of the final state
MATCHED = -1  # in place of a state to go to: the thread has matched already


class NotCompilable(Exception):
    """The pattern has no tables; the message says what stands in the way."""


class Take(NamedTuple):
    """Consume one character of set number ``chars``."""

    chars: int
    next: int


class Fork(NamedTuple):
    """Go on in several places, the first one preferred."""

    targets: tuple[int, ...]


class Test(NamedTuple):
    """Go on if the next character is in set ``chars``, or at the end if ``at_end``."""

    chars: int
    at_end: bool
    next: int


class Final(NamedTuple):
    """A match ends here."""


State: TypeAlias = Take | Fork | Test | Final


class Nfa(NamedTuple):
    """The automaton over classes; state ``FINAL`` is final.

    Attributes:
        states: The states.
        start: Number of the first state.
        classes: The partition of codepoints its sets make.
        closures: See ``closure``; one for each state, made when first asked for.
    """

    states: list[State]
    start: int
    classes: Partition
    closures: dict[int, tuple[tuple[int, int], ...]]

    @property
    def end_bit(self) -> int:
        """The bit of the end of the text in class masks."""
        return 1 << self.classes.n_classes

    def closure(self, state: int) -> tuple[tuple[int, int], ...]:
        """Return what a thread in ``state`` can do, by priority.

        Each entry is a mask of classes and a target: if the next character is in one
        of the classes, the thread consumes it and goes on in the target; for target
        ``MATCHED`` it does not consume it, but has matched before it. Lookahead is
        resolved here: passing a ``Test`` narrows the mask. A class for which a match
        has been found is cut from all later entries: they have lower priority.
        """
        known = self.closures.get(state)
        if known is not None:
            return known
        masks = self.classes.masks
        alive = self.end_bit * 2 - 1
        visited: dict[int, int] = {}
        entries = []
        stack = [(state, alive)]
        while stack:
            current, mask = stack.pop()
            # For a class, the first visit to a state is the preferred one; a later
            # visit could only do the same again.
            mask &= alive & ~visited.get(current, 0)
            if not mask:
                continue
            visited[current] = visited.get(current, 0) | mask
            node = self.states[current]
            if isinstance(node, Take):
                if mask & masks[node.chars]:
                    entries.append((mask & masks[node.chars], node.next))
            elif isinstance(node, Fork):
                stack.extend((target, mask) for target in reversed(node.targets))
            elif isinstance(node, Test):
                passing = masks[node.chars] | (self.end_bit if node.at_end else 0)
                stack.append((node.next, mask & passing))
            else:
                entries.append((mask, MATCHED))
                alive &= ~mask
        self.closures[state] = tuple(entries)
        return self.closures[state]


def build(tree: Node) -> Nfa:
    """Build the automaton of a pattern.

    Raises:
        NotCompilable: The pattern needs what the automaton cannot do.
    """
    builder = _Builder()
    start = builder.add_node(tree, FINAL)
    nfa = Nfa(builder.states, start, partition(list(builder.set_numbers)), {})
    for reservation in builder.reservations:
        _check_reservation(nfa, reservation)
    return nfa


def next_character(node: Node) -> tuple[Ranges, bool] | None:
    """Return when a node matches, if the next character alone decides.

    Returns:
        The characters before which the node matches and whether it matches at the end
        of the text; None if more than the next character decides.
    """
    if isinstance(node, Chars):
        return node.ranges, False
    if isinstance(node, Edge):
        return ((), True) if node.end else None
    if isinstance(node, Atomic):
        return next_character(node.body)
    if isinstance(node, Repeat):
        if node.least == 0:
            return EVERYTHING, True
        return next_character(node.body) if node.least == 1 else None
    if isinstance(node, Look):
        inner = None if node.behind else next_character(node.body)
        if inner is None or not node.negative:
            return inner
        return charset.complement(inner[0]), not inner[1]
    if isinstance(node, Choice):
        found = [next_character(branch) for branch in node.branches]
        known = [result for result in found if result is not None]
        if len(known) < len(found):
            return None
        return charset.union([result[0] for result in known]), any(
            result[1] for result in known
        )
    return _next_of_sequence(node)


def _next_of_sequence(node: Sequence) -> tuple[Ranges, bool] | None:
    """Tests, then one part that consumes, then parts that cannot fail."""
    ranges, at_end = EVERYTHING, True
    for index, part in enumerate(node.parts):
        decides = next_character(part)
        if decides is None:
            return None
        ranges = charset.intersection(ranges, decides[0])
        at_end = at_end and decides[1]
        if not isinstance(part, (Look, Edge)):
            rest = node.parts[index + 1 :]
            return (ranges, at_end) if all(map(_cannot_fail, rest)) else None
    return ranges, at_end


def _cannot_fail(node: Node) -> bool:
    """Tell whether a node matches everywhere, the empty string if nothing else."""
    if isinstance(node, Repeat):
        return node.least == 0 or _cannot_fail(node.body)
    if isinstance(node, Sequence):
        return all(map(_cannot_fail, node.parts))
    if isinstance(node, Choice):
        return any(map(_cannot_fail, node.branches))
    return isinstance(node, Atomic) and _cannot_fail(node.body)


class _Reservation(NamedTuple):
    """A possessive or atomic part that was built as an ordinary one.

    Attributes:
        chars: Number of the set that all characters of the part belong to, None if
            the part is not a greedy repeat of one class.
        exit: State that follows the part.
    """

    chars: int | None
    exit: int


class _Builder:
    """Builds states back to front: each node is given the state that follows it."""

    def __init__(self) -> None:
        self.states: list[State] = [Final()]
        self.set_numbers: dict[Ranges, int] = {}
        self.reservations: list[_Reservation] = []

    def add(self, state: State) -> int:
        if len(self.states) >= MAX_NFA_STATES:
            raise NotCompilable(f"it needs more than {MAX_NFA_STATES:,} states")
        self.states.append(state)
        return len(self.states) - 1

    def number_of(self, ranges: Ranges) -> int:
        return self.set_numbers.setdefault(ranges, len(self.set_numbers))

    def add_node(self, node: Node, following: int) -> int:
        """Add the states of a node and return the one to enter it by."""
        if isinstance(node, Chars):
            return self.add(Take(self.number_of(node.ranges), following))
        if isinstance(node, Sequence):
            for part in reversed(node.parts):
                following = self.add_node(part, following)
            return following
        if isinstance(node, Choice):
            branches = [self.add_node(branch, following) for branch in node.branches]
            return self.add(Fork(tuple(branches)))
        if isinstance(node, Repeat):
            return self.add_repeat(node, following)
        if isinstance(node, Atomic):
            return self.add_atomic(node, following)
        return self.add_test(node, following)

    def add_test(self, node: Look | Edge, following: int) -> int:
        decides = next_character(node)
        if decides is None:
            if isinstance(node, Edge) or node.behind:
                raise NotCompilable("it looks at the text before the match")
            raise NotCompilable("it looks ahead more than one character")
        ranges, at_end = decides
        return self.add(Test(self.number_of(ranges), at_end, following))

    def add_atomic(self, node: Atomic, following: int) -> int:
        body = node.body
        if isinstance(body, Repeat) and body.kind == "greedy":
            return self.add_repeat(body._replace(kind="possessive"), following)
        if not _has_one_way(body):
            self.reservations.append(_Reservation(None, following))
        return self.add_node(body, following)

    def add_repeat(self, node: Repeat, following: int) -> int:
        if (node.most is None or node.most > 1) and can_be_empty(node.body):
            raise NotCompilable("it repeats what can match the empty string")
        if node.kind == "possessive":
            chars = (
                self.number_of(node.body.ranges)
                if isinstance(node.body, Chars)
                else None
            )
            self.reservations.append(_Reservation(chars, following))
        lazy = node.kind == "lazy"
        if node.most is None:
            # The loop comes last: least copies, then any number more.
            loop = self.add(Fork(()))
            body = self.add_node(node.body, loop)
            self.states[loop] = Fork((following, body) if lazy else (body, following))
            entry = loop
        else:
            # Nested options: (x(x(x)?)?)?, all of which go on to the same place.
            entry = following
            for _ in range(node.most - node.least):
                body = self.add_node(node.body, entry)
                entry = self.add(Fork((following, body) if lazy else (body, following)))
        for _ in range(node.least):
            entry = self.add_node(node.body, entry)
        return entry


def _has_one_way(node: Node) -> bool:
    """Tell whether a node can match in one way only, so that atomic means nothing."""
    if isinstance(node, Sequence):
        return all(map(_has_one_way, node.parts))
    if isinstance(node, Repeat):
        return node.least == node.most and _has_one_way(node.body)
    return isinstance(node, (Chars, Look, Edge))


def _check_reservation(nfa: Nfa, reservation: _Reservation) -> None:
    r"""Make sure that giving nothing back and giving back come to the same.

    An engine returns into the part only after what follows it has failed. So it makes
    no difference if what follows cannot fail. For a repeat of one class it makes none
    either if what follows cannot succeed where the repeat could have gone on: all the
    places it might be cut back to stand before a character of the class. (``\s++$`` and
    ``\p{L}++\d`` are so; ``\s++(?!\S)`` is not, as the test holds before a space.)

    Raises:
        NotCompilable: It does make a difference, or might.
    """
    entries = nfa.closure(reservation.exit)
    matching = 0
    possible = 0
    for mask, target in entries:
        possible |= mask
        if target == MATCHED:
            matching |= mask
    if matching == nfa.end_bit * 2 - 1:
        return
    if reservation.chars is None:
        raise NotCompilable("it has an atomic group or a possessive repeat of a group")
    if possible & nfa.classes.masks[reservation.chars]:
        raise NotCompilable("a possessive repeat competes with what follows it")
