r"""The tree a split pattern is parsed into.

Few node types: whatever a dialect writes differently (``$``, ``\b``, ``{2}+``) the
parser turns into these, so nothing after it needs to know the dialect.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from pybpe.unicode import Ranges


class Chars(NamedTuple):
    """One codepoint of a set."""

    ranges: Ranges


class Sequence(NamedTuple):
    """Parts one after another; the empty sequence matches the empty string."""

    parts: tuple[Node, ...]


class Choice(NamedTuple):
    """The first branch that leads to a match."""

    branches: tuple[Node, ...]


class Repeat(NamedTuple):
    """A quantifier; ``most`` is None for no upper bound."""

    body: Node
    least: int
    most: int | None
    kind: Literal["greedy", "lazy", "possessive"]


class Atomic(NamedTuple):
    """A group that gives nothing back once it has matched."""

    body: Node


class Look(NamedTuple):
    """Lookahead, or lookbehind if ``behind``; it consumes nothing."""

    body: Node
    behind: bool
    negative: bool


class Edge(NamedTuple):
    """The start or the end of the text."""

    end: bool


Node: TypeAlias = Chars | Sequence | Choice | Repeat | Atomic | Look | Edge

EMPTY = Sequence(())


def can_be_empty(node: Node) -> bool:
    """Tell whether a node may match the empty string, assertions taken as true."""
    if isinstance(node, Chars):
        return False
    if isinstance(node, Sequence):
        return all(can_be_empty(part) for part in node.parts)
    if isinstance(node, Choice):
        return any(can_be_empty(branch) for branch in node.branches)
    if isinstance(node, Repeat):
        return node.least == 0 or can_be_empty(node.body)
    if isinstance(node, Atomic):
        return can_be_empty(node.body)
    return True  # Look, Edge


def expanded_size(node: Node) -> int:
    """Return how many nodes there are once bounded repeats are written out."""
    if isinstance(node, Sequence):
        return 1 + sum(expanded_size(part) for part in node.parts)
    if isinstance(node, Choice):
        return 1 + sum(expanded_size(branch) for branch in node.branches)
    if isinstance(node, Repeat):
        copies = node.least + 1 if node.most is None else node.most
        return 1 + max(copies, 1) * expanded_size(node.body)
    if isinstance(node, (Atomic, Look)):
        return 1 + expanded_size(node.body)
    return 1
