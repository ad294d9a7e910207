"""Write pybpe/_normalization_data.py: what Hugging Face tokenizers does to characters.

Its normal forms, its lower case and its sets of digits, punctuation and accents come
from Unicode versions of their own, which are those of no Python. So they are asked for,
one codepoint at a time, and pinned. Run it with the release named in the result:

    python tools/make_normalization_data.py > pybpe/_normalization_data.py
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from packed_data import CODEPOINTS, HANGUL, runs, write_module
from tokenizers import normalizers, pre_tokenizers

OVERLAY, IOTA = "\u0334", "\u0345"  # combining classes 1 and 240, the outermost


def combining_classes(decompose: Callable[[str], str]) -> dict[int, int]:
    """Return the combining class of every mark; only their order is sure.

    Canonical ordering swaps two marks when the second has the lower class. That sorts
    an unknown mark among marks of known classes, one for each class. (Marks of class 1
    do not move before one of class 1, but they move before the last class, 240.)
    """

    def moves(mark: str) -> bool:
        if decompose(mark) != mark:
            return False
        before_overlay = decompose(mark + OVERLAY) == OVERLAY + mark
        after_iota = decompose(IOTA + mark) == mark + IOTA
        return (before_overlay or after_iota) and mark not in (OVERLAY, IOTA)

    marks = [chr(c) for c in CODEPOINTS if moves(chr(c))]
    known = {1: OVERLAY, 240: IOTA}
    for mark in marks:
        if value := unicodedata.combining(mark):
            known.setdefault(value, mark)
    values = sorted(known)
    classes = {}
    for mark in marks:
        below = [v for v in values if decompose(known[v] + mark) == known[v] + mark]
        classes[ord(mark)] = below[-1]
    classes[ord(OVERLAY)] = 1
    classes[ord(IOTA)] = 240
    return classes


def decompositions(decompose: Callable[[str], str]) -> dict[int, str]:
    """Return what every codepoint but the Hangul syllables becomes, if it changes."""
    made = {c: decompose(chr(c)) for c in CODEPOINTS if c not in HANGUL}
    return {c: text for c, text in made.items() if text != chr(c)}


def compositions(canonical: dict[int, str]) -> dict[str, int]:
    """Return the pairs that compose, and what to."""
    compose = normalizers.NFC().normalize_str
    pairs = {}
    for c, text in canonical.items():
        if len(text) < 2 or compose(text) != chr(c):
            continue
        first = compose(text[:-1])
        if len(first) == 1 and compose(first + text[-1]) == chr(c):
            pairs[first + text[-1]] = c
        else:
            raise SystemExit(f"U+{c:04X} composes of no two characters")
    return pairs


def changed(change: Callable[[str], str]) -> dict[int, str]:
    """Return what a rule for single characters makes of those that it changes."""
    made = {c: change(chr(c)) for c in CODEPOINTS}
    return {c: text for c, text in made.items() if text != chr(c)}


def members(split: pre_tokenizers.PreTokenizer) -> list[int]:
    """Return the codepoints that a pre-tokenizer cuts off from a letter."""
    return [c for c in CODEPOINTS if len(split.pre_tokenize_str("a" + chr(c))) > 1]


def delta(table: dict[int, str]) -> list[object]:
    """Return a table as [step from the codepoint before, text, step, text, ...]."""
    flat: list[object] = []
    last = 0
    for c, text in sorted(table.items()):
        flat += [c - last, text]
        last = c
    return flat


def main() -> None:
    """Print the module."""
    canonical = decompositions(normalizers.NFD().normalize_str)
    compatible = decompositions(normalizers.NFKD().normalize_str)
    classes = combining_classes(normalizers.NFD().normalize_str)
    by_class: dict[int, list[int]] = {}
    for c, value in sorted(classes.items()):
        by_class.setdefault(value, []).append(c)
    data = {
        "canonical": delta(canonical),
        "compatible": delta(
            {c: t for c, t in compatible.items() if t != canonical.get(c, chr(c))}
        ),
        "compositions": sorted(
            [pair, chr(c)] for pair, c in compositions(canonical).items()
        ),
        "classes": {str(value): runs(cs) for value, cs in sorted(by_class.items())},
        "lowercase": delta(changed(normalizers.Lowercase().normalize_str)),
        "accents": delta(changed(normalizers.StripAccents().normalize_str)),
        "nmt": delta(changed(normalizers.Nmt().normalize_str)),
        "digits": runs(members(pre_tokenizers.Digits(individual_digits=True))),
        "punctuation": runs(members(pre_tokenizers.Punctuation("isolated"))),
    }
    write_module("make_normalization_data.py", data)


if __name__ == "__main__":
    main()
