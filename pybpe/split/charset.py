r"""Sets of codepoints as inversion lists: algebra, and the sets patterns name.

See ``pybpe.unicode`` for the form. No operation here ever walks over codepoints,
only over the edges of sets: ``\p{L}`` is 1,300 numbers, not 141,000.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache

from pybpe.unicode import EVERYTHING, N_CODEPOINTS, Ranges, binary, category
from pybpe.unicode import fold_orbits as _fold_orbits

NEWLINE: Ranges = (10, 11)
HEX_DIGITS: Ranges = (48, 58, 65, 71, 97, 103)
JOIN_CONTROLS: Ranges = (0x200C, 0x200E)
# Oniguruma counts these superscripts and fractions as word characters.
ONIGURUMA_EXTRA_WORD: Ranges = (0xB2, 0xB4, 0xB9, 0xBA, 0xBC, 0xBF)

_ASCII_POSIX: dict[str, Ranges] = {
    "alnum": (48, 58, 65, 91, 97, 123),
    "alpha": (65, 91, 97, 123),
    "ascii": (0, 128),
    "blank": (9, 10, 32, 33),
    "cntrl": (0, 32, 127, 128),
    "digit": (48, 58),
    "graph": (33, 127),
    "lower": (97, 123),
    "print": (32, 127),
    "punct": (33, 48, 58, 65, 91, 97, 123, 127),
    "space": (9, 14, 32, 33),
    "upper": (65, 91),
    "word": (48, 58, 65, 91, 95, 96, 97, 123),
    "xdigit": HEX_DIGITS,
}
POSIX_NAMES = tuple(_ASCII_POSIX)


def combine(sets: Sequence[Ranges], keep: Callable[[int], bool]) -> Ranges:
    """Combine sets by a Boolean function.

    Args:
        sets: The operands.
        keep: Told which operands hold a codepoint (bit ``i`` for ``sets[i]``), says
            whether the result holds it. ``keep(0)`` must be false.

    Returns:
        The combined set.
    """
    flips: dict[int, int] = {}
    for index, ranges in enumerate(sets):
        for edge in ranges:
            flips[edge] = flips.get(edge, 0) ^ (1 << index)
    result = []
    holders = 0
    inside = False
    for edge in sorted(flips):
        holders ^= flips[edge]
        if keep(holders) is not inside:
            result.append(edge)
            inside = not inside
    return tuple(result)


def union(sets: Sequence[Ranges]) -> Ranges:
    """Return the codepoints that are in any of ``sets``."""
    if len(sets) == 1:
        return sets[0]
    return combine(sets, bool)


def intersection(left: Ranges, right: Ranges) -> Ranges:
    """Return the codepoints that are in both sets."""
    return combine((left, right), lambda holders: holders == 0b11)


def difference(left: Ranges, right: Ranges) -> Ranges:
    """Return the codepoints of ``left`` that are not in ``right``."""
    return combine((left, right), lambda holders: holders == 0b01)


def symmetric_difference(left: Ranges, right: Ranges) -> Ranges:
    """Return the codepoints that are in exactly one of the sets."""
    return combine((left, right), lambda holders: holders in (0b01, 0b10))


def complement(ranges: Ranges) -> Ranges:
    """Return all other codepoints."""
    return difference(EVERYTHING, ranges)


def contains(ranges: Ranges, codepoint: int) -> bool:
    """Tell whether a codepoint is in the set."""
    return bisect_right(ranges, codepoint) % 2 == 1


def single(codepoint: int) -> Ranges:
    """Return the set of one codepoint."""
    return (codepoint, codepoint + 1)


def from_codepoints(codepoints: Iterable[int]) -> Ranges:
    """Return the set of the given codepoints."""
    flips: list[int] = []
    for cp in sorted(set(codepoints)):
        if flips and flips[-1] == cp:
            flips[-1] = cp + 1
        else:
            flips += (cp, cp + 1)
    return tuple(flips)


def size(ranges: Ranges) -> int:
    """Return how many codepoints the set holds."""
    return sum(ranges[1::2]) - sum(ranges[::2])


def intersects(left: Ranges, right: Ranges) -> bool:
    """Tell whether the sets share a codepoint."""
    return bool(intersection(left, right))


@lru_cache(maxsize=256)
def fold(ranges: Ranges) -> Ranges:
    """Add to a set all codepoints that simple case folding equals to a member."""
    orbits = _fold_orbits()
    if size(ranges) <= 64:
        members: Iterable[int] = (
            cp
            for start, end in zip(ranges[::2], ranges[1::2], strict=True)
            for cp in range(start, end)
            if cp in orbits
        )
    else:
        members = (cp for cp in orbits if contains(ranges, cp))
    extra = from_codepoints(twin for cp in members for twin in orbits[cp])
    return union((ranges, extra))


@cache
def white_space() -> Ranges:
    r"""Return what ``\s`` matches: White_Space, in every dialect."""
    return binary("white_space")


@cache
def word(dialect: str, in_brackets: bool = False) -> Ranges:
    r"""Return what ``\w`` matches in a dialect, alone or inside ``[...]``."""
    base = union((binary("alphabetic"), category("M", "Nd", "Pc")))
    if dialect != "oniguruma":
        return union((base, JOIN_CONTROLS))
    return base if in_brackets else union((base, ONIGURUMA_EXTRA_WORD))


@cache
def perl_class(letter: str, dialect: str, in_brackets: bool = False) -> Ranges | None:
    r"""Return what ``\d``, ``\s``, ``\w`` or ``\h`` matches, or None if unknown.

    Capital letters are the complements. ``in_brackets`` tells whether the escape stands
    inside ``[...]``: Oniguruma makes a difference for ``\w``.
    """
    if letter == "d":
        return category("Nd")
    if letter == "s":
        return white_space()
    if letter == "w":
        return word(dialect, in_brackets)
    if letter == "h":
        return posix("blank", dialect) if dialect == "regex" else HEX_DIGITS
    if letter == "H" and dialect == "regex":
        return None  # not an escape there
    if letter in "DSWH":
        positive = perl_class(letter.lower(), dialect, in_brackets)
        return None if positive is None else complement(positive)
    return None


@cache
def posix(name: str, dialect: str) -> Ranges:
    """Return what ``[:name:]`` matches: ASCII in the rust dialect, Unicode elsewhere.

    Args:
        name: One of ``POSIX_NAMES``.
        dialect: The dialect of the pattern.

    Returns:
        The set as an inversion list.
    """
    if dialect == "rust" or name in ("ascii", "xdigit"):
        return _ASCII_POSIX[name]
    if name == "alpha":
        return binary("alphabetic")
    if name in ("lower", "upper"):
        return binary(name + "case")
    if name == "space":
        return white_space()
    if name == "word":
        return word(dialect, in_brackets=True)
    if name == "cntrl":
        return category("Cc")
    if name == "blank":
        return union((category("Zs"), single(9)))
    digits = category("Nd") if dialect == "oniguruma" else (48, 58)
    if name == "digit":
        return digits
    if name == "alnum":
        return union((binary("alphabetic"), digits))
    if name == "punct":
        symbols = category("P", "S")
        if dialect == "oniguruma":
            return symbols
        return difference(symbols, intersection(category("S"), binary("alphabetic")))
    invisible = union((white_space(), category("Cc", "Cs", "Cn")))
    graph = difference((0, N_CODEPOINTS), invisible)
    return graph if name == "graph" else union((graph, category("Zs")))
