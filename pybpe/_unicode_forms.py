"""Unicode normal forms and other rules for characters, on tables pinned in the package.

The tables are those of Hugging Face tokenizers (see tools/make_normalization_data.py),
not those of the running Python: a model's ids do not change with either.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate

from pybpe._typing import TYPE_CHECKING
from pybpe.unicode import Ranges

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FORMS = ("NFC", "NFD", "NFKC", "NFKD")

_FIRST_SYLLABLE, _N_SYLLABLES = 0xAC00, 11_172
_FIRST_L, _FIRST_V, _FIRST_T = 0x1100, 0x1161, 0x11A7
_N_L, _N_V, _N_T = 19, 21, 28

# Stretches of characters that need work are kept, up to this length and this many.
_KEEP_LENGTH, _KEEP = 64, 1 << 16


@cache
def data() -> dict[str, Any]:
    """Return the tables as they were written."""
    import base64
    import json
    import zlib

    from pybpe import _normalization_data

    packed = base64.b85decode(_normalization_data.PACKED)
    tables: dict[str, Any] = json.loads(zlib.decompress(packed))
    return tables


def source() -> str:
    """Return where the tables come from: the version of a rule that uses them."""
    from pybpe import _normalization_data

    return _normalization_data.SOURCE


@cache
def mapping(name: str) -> dict[int, str]:
    """Return codepoint -> text for "canonical", "lowercase", "accents" and the like."""
    flat = data()[name]
    return dict(zip(accumulate(flat[::2]), flat[1::2], strict=True))


@cache
def char_set(name: str) -> Ranges:
    """Return "digits" or "punctuation" as an inversion list."""
    return tuple(accumulate(data()[name]))


def bracket_class(ranges: Ranges) -> str:
    """Return a set as a bracket class that all dialects of patterns can read."""
    parts = []
    for low, high in zip(ranges[::2], ranges[1::2], strict=True):
        ends = dict.fromkeys((low, high - 1))
        parts.append("-".join(_escaped(c) for c in ends))
    return "[" + "".join(parts) + "]"


def _escaped(codepoint: int) -> str:
    char = chr(codepoint)
    return "\\" + char if char.isascii() and not char.isalnum() else char


class _Form:
    """One of the normal forms.

    A text is normalised where it may need it only. What needs it are runs of
    *suspects*: characters that decompose, move, or join the one before them, so the
    character before a run belongs to it. No other character is ever affected.
    """

    def __init__(self, name: str) -> None:
        import re  # loading a model need not wait for it

        self.compose = name.endswith("C")
        self.decomposed = dict(mapping("canonical"))
        if "K" in name:
            self.decomposed.update(mapping("compatible"))
        self.classes: dict[int, int] = {}
        for value, runs in data()["classes"].items():
            edges = list(accumulate(runs))
            for low, high in zip(edges[::2], edges[1::2], strict=True):
                self.classes.update(dict.fromkeys(range(low, high), int(value)))
        self.pairs: dict[str, str] = dict(data()["compositions"])
        self.search = re.compile(f"[{self._suspects()}]+").search
        self.known: dict[str, str] = {}

    def _suspects(self) -> str:
        import re

        suspects = set(self.classes)
        canonical = mapping("canonical")
        composed = {ord(char) for char in self.pairs.values()} if self.compose else ()
        suspects.update(
            c
            for c, text in self.decomposed.items()
            if c not in composed or canonical.get(c) != text
        )
        if self.compose:
            suspects.update(ord(pair[1]) for pair in self.pairs)
            suspects.update(range(_FIRST_V, _FIRST_V + _N_V))
            suspects.update(range(_FIRST_T + 1, _FIRST_T + _N_T))
        else:
            suspects.update(range(_FIRST_SYLLABLE, _FIRST_SYLLABLE + _N_SYLLABLES))
        # `re` is slow on sets of many ranges beyond the first plane: take all of it.
        edges: list[int] = []
        for c in sorted(c for c in suspects if c < 0x10000):
            if edges and edges[-1] == c:
                edges[-1] = c + 1
            else:
                edges += [c, c + 1]
        ranges = zip(edges[::2], edges[1::2], strict=True)
        first_plane = "".join(
            f"{re.escape(chr(low))}-{re.escape(chr(high - 1))}" for low, high in ranges
        )
        return first_plane + "\U00010000-\U0010ffff"

    def apply(self, text: str) -> str:
        """Return the normal form of a text, in linear time but for runs of marks."""
        if text.isascii():
            return text
        pieces = []
        at = 0
        found = self.search(text)
        while found:
            begin = max(at, found.start() - 1)
            end = found.end()
            pieces.append(text[at:begin])
            pieces.append(self._run(text[begin:end]))
            at = end
            found = self.search(text, end)
        if not pieces:
            return text
        pieces.append(text[at:])
        return "".join(pieces)

    def _run(self, run: str) -> str:
        made = self.known.get(run)
        if made is None:
            made = self._normalise(run)
            if len(run) <= _KEEP_LENGTH:
                if len(self.known) >= _KEEP:
                    self.known.clear()
                self.known[run] = made
        return made

    def _normalise(self, run: str) -> str:
        classes = self.classes
        chars: list[str] = []
        for char in run:
            chars += self._decompose(char)
        values = [classes.get(ord(char), 0) for char in chars]
        if any(values):
            chars = _in_order(chars, values)
        return "".join(self._compose(chars)) if self.compose else "".join(chars)

    def _decompose(self, char: str) -> str:
        index = ord(char) - _FIRST_SYLLABLE
        if not 0 <= index < _N_SYLLABLES:
            return self.decomposed.get(ord(char), char)
        lead, rest = divmod(index, _N_V * _N_T)
        vowel, trail = divmod(rest, _N_T)
        made = chr(_FIRST_L + lead) + chr(_FIRST_V + vowel)
        return made + chr(_FIRST_T + trail) if trail else made

    def _compose(self, chars: list[str]) -> list[str]:
        made: list[str] = []
        starter = -1  # index in `made` of what marks may join
        last = 0  # combining class of the character before, 0 if it was joined
        for char in chars:
            value = self.classes.get(ord(char), 0)
            if starter >= 0 and (last < value or starter == len(made) - 1):
                joined = self._join(made[starter], char)
                if joined is not None:
                    made[starter] = joined
                    continue
            if value == 0:
                starter = len(made)
            last = value
            made.append(char)
        return made

    def _join(self, first: str, second: str) -> str | None:
        a, b = ord(first), ord(second)
        if 0 <= a - _FIRST_L < _N_L and 0 <= b - _FIRST_V < _N_V:
            index = ((a - _FIRST_L) * _N_V + b - _FIRST_V) * _N_T
            return chr(_FIRST_SYLLABLE + index)
        index = a - _FIRST_SYLLABLE
        if 0 <= index < _N_SYLLABLES and index % _N_T == 0 and 0 < b - _FIRST_T < _N_T:
            return chr(a + b - _FIRST_T)
        return self.pairs.get(first + second)


def _in_order(chars: list[str], values: list[int]) -> list[str]:
    """Sort each run of marks by combining class, keeping the order within a class."""
    made: list[str] = []
    at = 0
    while at < len(chars):
        end = at
        while end < len(chars) and values[end]:
            end += 1
        if end == at:
            made.append(chars[at])
            at += 1
            continue
        made += [chars[i] for i in sorted(range(at, end), key=values.__getitem__)]
        at = end
    return made


@cache
def form(name: str) -> Callable[[str], str]:
    """Return the function from a text to its normal form.

    Args:
        name: One of `FORMS`.
    """
    return _Form(name).apply
