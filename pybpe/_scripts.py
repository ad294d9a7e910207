"""The class of a character in the training of codepoint models.

Strings whose characters are of different scripts are no pieces, unless asked for. So
each script is a number, and a few further ones are no scripts: see `csrc/bpe.h`.
"""

from __future__ import annotations

from pybpe._binding_sentences import ANY, INHERITED, LONE, N_CODEPOINTS
from pybpe._script_data import SCRIPTS

_COMMON, _HAN = 0, 1
_PROLONGED = 0x30FC  # the mark of long vowels: Common, but of the Japanese scripts

# There are no more digits than these two rows.
_DIGITS = (range(0x30, 0x3A), range(0xFF10, 0xFF1A))


def classes(*, by_script: bool, by_number: bool, lone_digits: bool) -> bytes:
    """Return the class of every character, a byte each.

    Args:
        by_script: Whether scripts are told apart.
        by_number: Whether digits are, from letters; else they go with all.
        lone_digits: Whether digits go with nothing.
    """
    table = _scripts() if by_script else bytearray([ANY]) * N_CODEPOINTS
    for row in _DIGITS:
        for digit in row:
            if lone_digits:
                table[digit] = LONE
            elif not by_number:
                table[digit] = ANY
    return bytes(table)


def _scripts() -> bytearray:
    table = bytearray([_COMMON]) * N_CODEPOINTS
    # Japanese writes them side by side.
    numbers = dict.fromkeys(("Han", "Hiragana", "Katakana"), _HAN)
    numbers["Inherited"] = INHERITED
    for name, text in SCRIPTS.items():
        number = numbers.setdefault(name, len(numbers))
        for run in text.split():
            first, _, last = run.partition("-")
            start, end = int(first, 16), int(last or first, 16) + 1
            table[start:end] = bytes([number]) * (end - start)
    table[_PROLONGED] = _HAN
    return table
