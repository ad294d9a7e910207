"""Grapheme clusters, what a reader takes for one character, as tokenizers cuts them.

They are those of UAX #29 ("extended"), by the tables of the package. Regional
indicators are left out: clusters of them are always longer than what is looked up as a
whole.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate

from pybpe._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIRST_SYLLABLE, _N_SYLLABLES, _N_TRAILS = 0xAC00, 11_172, 28

# Kinds of characters, a letter each. Marks: "e" and "x" extend (the first within
# syllables of India, too), "l" links those, "s" takes space, "Z" joins pictures. "P"
# stands before what it belongs to, "C" alone; "E" are pictures, "K" letters of India;
# "L", "V", "T" parts of Hangul syllables, "v" and "t" open and closed ones; "r" and "n"
# are CR and LF, "o" all others.
MARKS = "exlsZ"
# Whatever comes next may belong to what one of these is in.
BEFORE = "PLZlr"
_CLUSTER = re.compile(
    "rn|[Crn]|P*+(?:"
    "E(?:[elx]*+ZE)*+|"
    "K(?:[eZ]*+l[elZ]*+K)*+|"
    "L*(?:V++|vV*+|t)T*+|L++|T++|"
    f"[oEKvt]?)[{MARKS}]*+"
)


@cache
def members() -> dict[str, set[int]]:
    """Return the codepoints of each kind but "o", "v" and "t"."""
    import base64
    import json
    import zlib

    from pybpe import _cluster_data

    tables = json.loads(zlib.decompress(base64.b85decode(_cluster_data.PACKED)))
    found = {"r": {ord("\r")}, "n": {ord("\n")}}
    for kind, flat in tables.items():
        edges = list(accumulate(flat))
        found[kind] = set()
        for low, high in zip(edges[::2], edges[1::2], strict=True):
            found[kind].update(range(low, high))
    return found


class _Kinds(dict[int, str]):
    """Codepoint -> kind, for all of them."""

    def __missing__(self, codepoint: int) -> str:
        index = codepoint - _FIRST_SYLLABLE
        if 0 <= index < _N_SYLLABLES:
            return "t" if index % _N_TRAILS else "v"
        # A lone surrogate is a byte that is no UTF-8: nothing belongs to it.
        return "C" if 0xD800 <= codepoint < 0xE000 else "o"


@cache
def kinds() -> _Kinds:
    """Return the kind of each codepoint."""
    return _Kinds({c: kind for kind, cs in members().items() for c in cs})


def source() -> str:
    """Return where the tables come from: the version of a rule that uses them."""
    from pybpe import _cluster_data

    return _cluster_data.SOURCE


def clusters(text: str) -> list[str]:
    """Return the clusters of a text, in linear time."""
    known = text.translate(kinds())
    if not known.strip("o"):
        return list(text)
    cut = []
    at = 0
    for found in _CLUSTER.finditer(known):
        end = found.end()
        if end > at:
            cut.append(text[at:end])
        at = end
    return cut


def charset(codepoints: Iterable[int]) -> str:
    """Return what is between the brackets of a set of `re`, for the first plane."""
    edges: list[int] = []
    for c in sorted(c for c in set(codepoints) if c < 0x10000):
        if edges and edges[-1] == c:
            edges[-1] = c + 1
        else:
            edges += [c, c + 1]
    ranges = zip(edges[::2], edges[1::2], strict=True)
    return "".join(
        f"{re.escape(chr(low))}-{re.escape(chr(high - 1))}" for low, high in ranges
    )
