"""The class of a character in the training of codepoint models.

Strings whose characters are of different scripts are no pieces, unless asked for. So
each script is a number, and two further ones are not scripts: see `csrc/bpe.h`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable

from pybpe._binding_sentences import ANY, INHERITED
from pybpe._script_data import SCRIPTS

_COMMON = 0


def _runs() -> tuple[list[int], list[int], list[int]]:
    """Return where runs begin, where they end, and their classes, in order."""
    numbers = {"Inherited": INHERITED}
    found: list[tuple[int, int, int]] = []
    for name, text in SCRIPTS.items():
        # Japanese writes them side by side.
        name = "Han" if name in ("Hiragana", "Katakana") else name
        number = numbers.setdefault(name, len(numbers))
        for run in text.split():
            first, _, last = run.partition("-")
            found.append((int(first, 16), int(last or first, 16), number))
    found.sort()
    return [f[0] for f in found], [f[1] for f in found], [f[2] for f in found]


_FIRST, _LAST, _CLASS = _runs()
_HAN = _CLASS[bisect_right(_FIRST, 0x4E00) - 1]
_PROLONGED = 0x30FC  # the mark of long vowels: Common, but of the Japanese scripts


def is_digit(codepoint: int) -> bool:
    """Tell whether a character is a digit, of which there are but two rows."""
    return 0x30 <= codepoint <= 0x39 or 0xFF10 <= codepoint <= 0xFF19


def script(codepoint: int) -> int:
    """Return the number of a character's script."""
    if codepoint == _PROLONGED:
        return _HAN
    i = bisect_right(_FIRST, codepoint) - 1
    return _CLASS[i] if i >= 0 and codepoint <= _LAST[i] else _COMMON


def classes(codepoints: Iterable[int], *, split_by_number: bool) -> array[int]:
    """Return the class of each character; digits may go with all or be Common."""
    return array(
        "B",
        (ANY if not split_by_number and is_digit(c) else script(c) for c in codepoints),
    )
