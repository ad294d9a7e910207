r"""Character classes in brackets: ``[a-z]``, ``[^\s\p{L}]``, ``[\p{L}&&[^a]]``."""

from __future__ import annotations

from collections.abc import Callable

from pybpe.split import charset
from pybpe.split.scanner import Scanner
from pybpe.unicode import Ranges, multi_folds

MAX_NESTING = 50

_OPERATORS: dict[str, Callable[[Ranges, Ranges], Ranges]] = {
    "&&": charset.intersection,
    "--": charset.difference,
    "~~": charset.symmetric_difference,
}
_DIALECT_OPERATORS = {"rust": ("&&", "--", "~~"), "oniguruma": ("&&",), "regex": ()}
# What a dialect takes for plain characters, but its users or its next version may not.
_DOUBTFUL = {
    "rust": (),
    "oniguruma": ("--",),
    "regex": ("&&", "--", "~~", "||"),
}


def parse_brackets(
    scanner: Scanner, ignore_case: bool, depth: int = 0
) -> tuple[Ranges, bool]:
    """Read a class whose opening bracket has just been read.

    Items next to each other are united; ``&&``, ``--`` and ``~~`` bind less tightly and
    group from the left; a leading ``^`` negates the whole. Case is folded in each item,
    so before any negation: ``(?i:[^s])`` holds neither ``S`` nor the long s.

    Args:
        scanner: The pattern.
        ignore_case: Whether ``(?i)`` is on here.
        depth: How many classes this one is inside of.

    Returns:
        The set, and whether it was written with ``^``.
    """
    start = scanner.position - 1
    if depth > MAX_NESTING:
        scanner.refuse(
            f"classes nested deeper than {MAX_NESTING}", "write it flatter", start
        )
    negated = scanner.take("^")
    result: Ranges = ()
    operator = ""
    while True:
        operand_start = scanner.position
        first = not operator
        operand = _union(scanner, start, ignore_case, depth, first)
        empty = scanner.position == operand_start
        result = _OPERATORS[operator](result, operand) if operator else operand
        ahead = scanner.peek(2)
        is_operator = ahead in _DIALECT_OPERATORS[scanner.dialect]
        if empty and (operator or is_operator):
            scanner.refuse(
                f"nothing on one side of {operator or ahead!r} in a class",
                "write both sides, or escape the characters",
            )
        if scanner.take("]"):
            break
        if ignore_case and scanner.dialect == "oniguruma":
            scanner.refuse(
                f"{ahead!r} in a class under (?i), which Oniguruma folds late",
                "write upper and lower case into the class and leave (?i) out",
            )
        operator = ahead
        scanner.position += 2
    if negated:
        result = charset.complement(result)
    if not result:
        scanner.refuse("a class that holds no character", "write one that does", start)
    return result, negated


def _union(
    scanner: Scanner, start: int, ignore_case: bool, depth: int, first: bool
) -> Ranges:
    """Read items up to an operator or the closing bracket, which stays unread."""
    items: list[Ranges] = []
    opening = scanner.position if first else -1
    while True:
        if scanner.at_end():
            scanner.refuse("a class without its closing ']'", "close it", start)
        ahead = scanner.peek(2)
        if ahead in _DIALECT_OPERATORS[scanner.dialect]:
            break
        if ahead in _DOUBTFUL[scanner.dialect]:
            scanner.refuse(
                f"{ahead!r} in a class: set operation or plain characters?",
                "escape the characters, or use the rust dialect for set operations",
            )
        if ahead[0] == "]" and scanner.position != opening:
            break
        items.append(_item(scanner, ignore_case, depth))
    return charset.union(items) if items else ()


def _item(scanner: Scanner, ignore_case: bool, depth: int) -> Ranges:
    """Read one character, range, escape, POSIX class or nested class."""
    start = scanner.position
    if scanner.peek() == "[":
        return _nested(scanner, ignore_case, depth)
    low = _member(scanner, ignore_case)
    is_range = scanner.peek() == "-" and scanner.peek(2) not in ("-]", "--")
    if isinstance(low, tuple):
        if is_range:
            scanner.refuse(
                "a range that starts with a set", r"escape the dash: '\-'", start
            )
        return fold_set(scanner, low, start) if ignore_case else low
    ranges = charset.single(low)
    if is_range:
        scanner.position += 1
        high = None if scanner.peek() == "[" else _member(scanner, ignore_case)
        if not isinstance(high, int):
            scanner.refuse(
                "a range that ends with a set", r"escape the dash: '\-'", start
            )
        if high < low:
            scanner.refuse(
                f"the range from U+{low:04X} down to U+{high:04X}",
                "write the lower end first",
                start,
            )
        ranges = (low, high + 1)
    return charset.fold(ranges) if ignore_case else ranges


def _member(scanner: Scanner, ignore_case: bool) -> int | Ranges:
    """Read one member of a class, an escape or the character itself."""
    if scanner.at_end():
        scanner.refuse("a class without its closing ']'", "close it")
    char = scanner.next()
    if char == "\\":
        return scanner.escape(in_brackets=True, ignore_case=ignore_case)
    return ord(char)


def _nested(scanner: Scanner, ignore_case: bool, depth: int) -> Ranges:
    """Read ``[:alpha:]`` or a nested class."""
    start = scanner.position
    if scanner.peek(2) == "[:":
        end = scanner.pattern.find(":]", start)
        name = scanner.pattern[start + 2 : max(end, start + 2)]
        if name.removeprefix("^") not in charset.POSIX_NAMES:
            scanner.refuse(
                f"unknown POSIX class {name!r}",
                f"known are {', '.join(charset.POSIX_NAMES)}",
            )
        scanner.position = end + 2
        ranges = charset.posix(name.removeprefix("^"), scanner.dialect)
        if ignore_case and scanner.dialect == "rust":
            ranges = charset.fold(ranges)
        if name.startswith("^"):
            ranges = charset.complement(ranges)
        return fold_set(scanner, ranges, start) if ignore_case else ranges
    if scanner.dialect == "regex":
        scanner.refuse(
            "'[' in a class means different things in `regex` V0 and V1",
            r"escape it as '\[', or use another dialect for nested classes",
        )
    if ignore_case and scanner.dialect == "oniguruma":
        scanner.refuse(
            "a class in a class under (?i), which Oniguruma folds late",
            "write upper and lower case into the class and leave (?i) out",
        )
    scanner.position += 1
    return parse_brackets(scanner, ignore_case, depth + 1)[0]


def fold_set(scanner: Scanner, ranges: Ranges, start: int) -> Ranges:
    r"""Fold a set that an escape such as ``\p{Lu}`` stands for, in brackets.

    The rust dialect has done so already, before any negation: ``(?i)\P{Lu}`` holds no
    letter that has two cases. Oniguruma folds what stands in the brackets. What `regex`
    does depends on the property, so there we refuse where it would matter.
    """
    if scanner.dialect == "oniguruma":
        return charset.fold(ranges)
    if scanner.dialect == "regex":
        refuse_cased_set(scanner, ranges, start)
    return ranges


def refuse_cased_set(scanner: Scanner, ranges: Ranges, start: int) -> None:
    """Refuse a set that holds a letter but not its other case."""
    if charset.fold(ranges) != ranges:
        scanner.refuse(
            "a set with letters of one case only, under (?i)",
            r"use '\p{LC}', or leave (?i) out here",
            start,
        )


def holds_multi_fold(ranges: Ranges) -> bool:
    """Tell whether a set holds a character that folds to several, like U+00DF."""
    return any(charset.contains(ranges, cp) for cp in multi_folds())
