"""Write pybpe/_cluster_data.py: what tokenizers takes for one character to a reader.

Its `Precompiled` looks up grapheme clusters, which it cuts by Unicode tables of its
own. So it is asked, with a map that makes "Q" of any character: a cluster of less than
6 bytes becomes one "Q", a longer one becomes one for each character. A question is a
line of text, and the answer how long the line becomes. Run it with the release named in
the result:

    python tools/make_cluster_data.py > pybpe/_cluster_data.py

What cannot be asked makes no difference either: whether regional indicators are in one
cluster, and the like, of which all answers are longer than 5 bytes.
"""

from __future__ import annotations

import struct

from packed_data import CODEPOINTS, HANGUL, runs, write_module
from tokenizers import normalizers

# One of each kind: marks of 2 and 3 bytes, what stands before letters (2 bytes),
# pictures of 2 and 3 bytes, and a letter of India with what links it to the next.
MARK, JOINER, BEFORE = "\u0301", "\u200d", "\u0600"
SIGN, PICTURE, LETTER, LINK = "\xa9", "\u263a", "\u0915", "\u094d"
LEAD, VOWEL, TRAIL, OPEN, CLOSED = "\u1100", "\u1161", "\u11a8", "\uac00", "\uac01"


def map_of_everything() -> bytes:
    """Return a character map that makes "Q" of any character but line ends and NUL."""
    root, last, middle, early, leaf = 256, 512, 768, 1024, 1280
    cells = [1 << 31] * 1536

    def put(place: int, label: int, base: int, has_value: bool = False) -> None:
        cells[place] = label | has_value << 8 | (place ^ base) << 10

    put(0, 0, root)
    for byte in range(1, 0x80):
        if byte != ord("\n"):
            put(root ^ byte, byte, leaf, True)
    for begin, end, base in (
        (0xC2, 0xE0, last),
        (0xE0, 0xF0, middle),
        (0xF0, 0xF5, early),
    ):
        for byte in range(begin, end):
            put(root ^ byte, byte, base)
    for byte in range(0x80, 0xC0):
        put(last ^ byte, byte, leaf, True)
        put(middle ^ byte, byte, last)
        put(early ^ byte, byte, middle)
    return struct.pack(f"<I{len(cells)}I", 4 * len(cells), *cells) + b"Q\0"


CHANGE = normalizers.Precompiled(map_of_everything()).normalize_str


def answers(before: str, after: str, codepoints: list[int]) -> dict[int, int]:
    """Return how many characters each codepoint becomes between two strings."""
    lines = CHANGE("\n".join(before + chr(c) + after for c in codepoints)).split("\n")
    return dict(zip(codepoints, map(len, lines), strict=True))


def whose(before: str, after: str, codepoints: list[int], answer: int) -> set[int]:
    """Return the codepoints with this answer."""
    found = answers(before, after, codepoints)
    return {c for c, n in found.items() if n == answer}


def marks(codepoints: list[int]) -> dict[str, set[int]]:
    """Return what belongs to the character before it, by what it lets through."""
    attached = sorted(whose("a", "", codepoints, 1))
    joiner = whose(PICTURE, PICTURE + MARK, attached, 4)
    extend = whose(PICTURE, JOINER + PICTURE + MARK, attached, 5)
    link = whose(LETTER, LETTER + MARK, attached, 4)
    in_letters = whose(LETTER, LINK + LETTER + MARK, attached, 5)
    rest = set(attached)
    kinds = {
        "Z": joiner,
        "l": link,
        "e": in_letters - link - joiner,
        "x": extend - in_letters,
        "s": rest - extend - joiner,
    }
    if link & (rest - extend) or joiner & (extend | link) or joiner - in_letters:
        raise SystemExit("marks are of kinds that were not thought of")
    if in_letters - joiner - extend or sum(map(len, kinds.values())) != len(rest):
        raise SystemExit("marks are of kinds that were not thought of")
    return kinds


def hangul(codepoints: list[int]) -> dict[str, set[int]]:
    """Return the parts of syllables: by what they join on both sides."""
    behind = {
        "L": whose(BEFORE + LEAD, MARK, codepoints, 4),
        "V": whose(BEFORE + VOWEL, MARK, codepoints, 4),
        "T": whose(BEFORE + TRAIL, MARK, codepoints, 4),
        "v": whose(BEFORE + OPEN, MARK, codepoints, 4),
        "t": whose(BEFORE + CLOSED, MARK, codepoints, 4),
    }
    ahead = {
        "v": whose("", OPEN + MARK, codepoints, 3),
        "V": whose("", VOWEL + MARK, codepoints, 3),
        "T": whose("", TRAIL + MARK, codepoints, 3),
    }
    kinds: dict[str, set[int]] = {kind: set() for kind in "LVTvt"}
    # What it goes behind, and what it goes before.
    known = {
        ("L", "vV"): "L",
        ("LVv", "VT"): "V",
        ("VTvt", "T"): "T",
        ("L", "VT"): "v",
        ("L", "T"): "t",
    }
    for c in sorted(set().union(*behind.values(), *ahead.values())):
        sides = tuple(
            "".join(kind for kind, members in side.items() if c in members)
            for side in (behind, ahead)
        )
        if sides not in known:
            raise SystemExit(f"U+{c:04X} joins {sides}")
        kinds[known[sides]].add(c)
    for c in HANGUL:
        if c not in kinds["t" if (c - HANGUL.start) % 28 else "v"]:
            raise SystemExit(f"U+{c:04X} is no syllable")
    if len(kinds.pop("v") | kinds.pop("t")) != len(HANGUL):
        raise SystemExit("there are syllables in other places")
    return kinds


def kinds() -> dict[str, set[int]]:
    """Return the codepoints that are not like any other, by kind."""
    asked = [c for c in CODEPOINTS if chr(c) not in "\r\n"]
    found = marks(asked)
    control = whose("", MARK + MARK, asked, 2) - set().union(*found.values())
    rest = [c for c in asked if c not in control.union(*found.values())]
    before = whose("", "a", rest, 1)
    rest = [c for c in rest if c not in before]
    picture = whose("", JOINER + PICTURE + MARK, rest, 4)
    if picture != whose(SIGN + JOINER, "", rest, 3):
        raise SystemExit("there are pictures on one side only")
    letter = whose("", LINK + LETTER + MARK, rest, 4)
    short = [c for c in rest if c < 0x10000]
    if letter & set(short) != whose(LETTER + LINK, MARK, short, 4):
        raise SystemExit("there are letters on one side only")
    found.update({"C": control, "P": before, "E": picture, "K": letter})
    found.update(hangul(rest))
    if sum(map(len, found.values())) != len(set().union(*found.values())):
        raise SystemExit("some characters are of several kinds")
    return found


def main() -> None:
    """Print the module."""
    data = {kind: runs(sorted(members)) for kind, members in sorted(kinds().items())}
    write_module("make_cluster_data.py", data)


if __name__ == "__main__":
    main()
