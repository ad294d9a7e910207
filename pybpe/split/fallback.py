"""Patterns that have no tables run on the ``regex`` package, over our own classes.

``regex`` follows a Unicode version and a dialect of its own, so it is never shown the
text or the pattern. Each class of codepoints gets a stand-in from the private use area;
the text is translated to stand-ins and so is the tree: every set is written out as the
stand-ins of its classes. What is left for ``regex`` to do is the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pybpe.split.ast import (
    Atomic,
    Chars,
    Choice,
    Edge,
    Look,
    Node,
    Repeat,
    Sequence,
)
from pybpe.split.classes import Partition, partition
from pybpe.unicode import Ranges

FIRST_STAND_IN = 0xE000
MAX_CLASSES = 6400  # as many as the private use area of the first plane holds

Spans = list[tuple[int, int]]


def class_sets(node: Node) -> Iterator[Ranges]:
    """Yield all sets of characters in a tree."""
    if isinstance(node, Chars):
        yield node.ranges
    elif isinstance(node, Sequence):
        for part in node.parts:
            yield from class_sets(part)
    elif isinstance(node, Choice):
        for branch in node.branches:
            yield from class_sets(branch)
    elif isinstance(node, (Repeat, Atomic, Look)):
        yield from class_sets(node.body)


def classes_of(tree: Node) -> tuple[Partition, dict[Ranges, int]]:
    """Return the classes a tree tells apart, and the mask of each of its sets.

    Raises:
        ValueError: There are more than stand-ins.
    """
    sets = list(dict.fromkeys(class_sets(tree)))
    classes = partition(sets)
    if classes.n_classes > MAX_CLASSES:
        raise ValueError(
            f"the split pattern tells {classes.n_classes:,} kinds of characters apart "
            f"and has no tables; up to {MAX_CLASSES:,} are supported: use fewer "
            "different classes"
        )
    return classes, dict(zip(sets, classes.masks, strict=True))


def rewrite(node: Node, masks: dict[Ranges, int]) -> str:
    """Return a tree as a pattern for ``regex`` over stand-ins."""
    if isinstance(node, Chars):
        return _stand_in_class(masks[node.ranges])
    if isinstance(node, Sequence):
        return "(?:" + "".join(rewrite(part, masks) for part in node.parts) + ")"
    if isinstance(node, Choice):
        return "(?:" + "|".join(rewrite(part, masks) for part in node.branches) + ")"
    if isinstance(node, Repeat):
        most = "" if node.most is None else node.most
        mode = {"greedy": "", "lazy": "?", "possessive": "+"}[node.kind]
        return f"(?:{rewrite(node.body, masks)}){{{node.least},{most}}}{mode}"
    if isinstance(node, Atomic):
        return f"(?>{rewrite(node.body, masks)})"
    if isinstance(node, Edge):
        return r"\Z" if node.end else r"\A"
    kind = ("<" if node.behind else "") + ("!" if node.negative else "=")
    return f"(?{kind}{rewrite(node.body, masks)})"


def _stand_in_class(mask: int) -> str:
    """Return the stand-ins of the classes in a mask as a bracket class."""
    ranges = []
    class_id = 0
    while mask >> class_id:
        first = class_id
        while mask >> class_id & 1:
            class_id += 1
        if class_id > first:
            low, high = chr(FIRST_STAND_IN + first), chr(FIRST_STAND_IN + class_id - 1)
            ranges.append(low if low == high else f"{low}-{high}")
        class_id += 1
    return "[" + "".join(ranges) + "]"


class _StandIns(dict[int, int]):
    """Codepoint to stand-in, filled as codepoints turn up."""

    def __init__(self, classes: Partition) -> None:
        super().__init__()
        self.classes = classes

    def __missing__(self, codepoint: int) -> int:
        stand_in = FIRST_STAND_IN + self.classes.class_of(codepoint)
        self[codepoint] = stand_in
        return stand_in


def matcher(tree: Node) -> Callable[[str], Spans]:
    """Return a function that finds all matches of a tree in a text.

    Raises:
        ValueError: `regex` cannot run it.
    """
    import regex

    classes, masks = classes_of(tree)
    try:
        pattern = regex.compile(rewrite(tree, masks), flags=regex.V1)
    except regex.error as error:
        raise ValueError(
            f"the split pattern has no tables and `regex` refuses it: {error}; "
            "write it with fewer nested groups and lookarounds"
        ) from None
    stand_ins = _StandIns(classes)

    def match_spans(text: str) -> Spans:
        return [found.span() for found in pattern.finditer(text.translate(stand_ins))]

    return match_spans
