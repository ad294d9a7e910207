r"""Character maps of sentencepiece as steps of a `tokenizer.json`, and back, exactly.

A map has rules: strings of one to four characters and what each becomes, found from
left to right, the longest first. The format's `Precompiled` holds such a map, but is
applied to letters with all their marks at once, and by the shortest rule. So

- it gets the rules of single characters only, after a character that it takes out again
  was put wherever letters and marks would be taken together;
- the others, which put letters and their marks together, are left to `NFC`. That does
  more than the rules say; so before, a pattern finds the rules' strings as the map
  does, and puts another character behind each and before each mark that is in none.
  Across that, NFC does nothing. Where it knows less than the rules, there are steps for
  single strings;
- both characters are ones that the map takes out of texts, as those of NMT do: so texts
  with them are right as well.

Reading, the rules are taken from such steps, and are what they do if the steps for them
are these again.
"""

from __future__ import annotations

import base64
import re
import struct
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from pybpe._character_maps import packed, read_table, unpacked
from pybpe.normalizers import CharacterRules, UnicodeForm
from pybpe.split.patterns import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, Any]

_VALUE = 1 << 31
_BLOCK = 256
# Put between characters, and between what is composed; the map takes both out.
APART, BAR = "\x01", "\x02"


class Rules(NamedTuple):
    """The rules, taken apart.

    Attributes:
        single: Those of single characters.
        composed: Of the others those that single characters' rules do not change.
    """

    single: dict[str, str]
    composed: dict[str, str]


def alone(composed: dict[str, str]) -> list[str]:
    """Return the strings that NFC does not compose as the rules do."""
    nfc = UnicodeForm("NFC")
    return [key for key, made in composed.items() if nfc.apply(key) != made]


def steps_of(rules: Rules, symbols: Sequence[str]) -> list[Json]:
    """Return the steps that do what rules say.

    Args:
        rules: The rules.
        symbols: Strings that stay as they are, next to marks as well.
    """
    table = base64.b64encode(compiled(_singles(rules))).decode()
    return _around(rules, symbols, {"precompiled_charsmap": table})


def _singles(rules: Rules) -> dict[str, str]:
    """Return what `Precompiled` is to do."""
    singles = {}
    for char, value in rules.single.items():
        # What one character becomes is not composed with its neighbours.
        singles[char] = value if len(value) == 1 else f"{BAR}{value}{BAR}"
    singles[APART] = ""
    del singles[BAR]
    return singles


def _around(rules: Rules, symbols: Sequence[str], table: Json) -> list[Json]:
    """Return the steps, given what is in `Precompiled`."""
    return [
        _replace({"String": APART}, BAR),
        *_behind(symbols),
        _replace({"Regex": _CLUSTERS}, APART),
        {"type": "Precompiled", **table},
        _replace({"Regex": _units(rules.composed)}, BAR),
        *(
            _replace({"String": key}, rules.composed[key])
            for key in sorted(alone(rules.composed), key=lambda key: (-len(key), key))
        ),
        {"type": "NFC"},
        _replace({"String": BAR}, ""),
    ]


def _behind(symbols: Sequence[str]) -> list[Json]:
    """Return what keeps the last letters of symbols from marks behind them."""
    if not symbols:
        return []
    longest_first = sorted(symbols, key=len, reverse=True)
    pattern = rf"(?>{'|'.join(map(literal, longest_first))})\K"
    return [_replace({"Regex": pattern}, BAR)]


def _replace(pattern: dict[str, str], content: str) -> Json:
    return {"type": "Replace", "pattern": pattern, "content": content}


# Between any two characters that can be one to a reader: at least one is no ASCII.
_CLUSTERS = (
    r"(?<=[^\x00-\x7f])(?=[\s\S])|(?<=[\x00-\x7f])(?=[^\x00-\x7f])|(?<=\r)(?=\n)"
)


def _units(composed: dict[str, str]) -> str:
    r"""Return a pattern that matches behind what is composed, and before lone marks.

    `\K` forgets what was matched so far: matches are empty, and yet come one behind
    the other. They are bounded, since Oniguruma keeps each step of a loop.
    """
    later = _class({char for key in composed for char in key[1:]})
    first_of: dict[str, set[str]] = {}
    for key in composed:
        first_of.setdefault(key[1:], set()).add(key[0])
    tails: dict[tuple[int, str], set[str]] = {}
    for tail, firsts in first_of.items():
        tails.setdefault((len(tail), _class(firsts)), set()).add(tail)
    parts = [
        firsts + "".join(_class({tail[i] for tail in group}) for i in range(length))
        if _is_product(group, length)
        else firsts + f"(?:{'|'.join(sorted(map(_spelt, group)))})"
        for (length, firsts), group in sorted(tails.items(), reverse=True)
    ]
    marks = rf"\p{{M}}{later[1:-1]}"
    return rf"(?>{'|'.join(parts)}|[\s\S])(?:[^{marks}](?![{marks}])){{0,500}}\K"


def _is_product(tails: set[str], length: int) -> bool:
    """Tell whether strings are all that can be made of their characters, by place."""
    n = 1
    for i in range(length):
        n *= len({tail[i] for tail in tails})
    return n == len(tails)


def _class(chars: set[str]) -> str:
    """Return a bracket expression of some characters."""
    points = sorted(map(ord, chars))
    starts = [b for a, b in pairwise([-2, *points]) if b != a + 1]
    ends = [a for a, b in pairwise([*points, 1 << 21]) if b != a + 1]
    return "[" + "".join(map(_range, starts, ends)) + "]"


def _range(start: int, end: int) -> str:
    return f"\\x{{{start:x}}}" + (f"-\\x{{{end:x}}}" if end > start else "")


def _spelt(text: str) -> str:
    return "".join(f"\\x{{{ord(char):x}}}" for char in text)


# ------------------------------------------------------------------ reading


_SET = r"\[[^\]]*\]"
_TAILS = re.compile(rf"({_SET})(?:\(\?:([^)]*)\)|((?:{_SET})+))")
_CHARACTER = re.compile(r"\\x\{([0-9a-f]{1,6})\}(?:-\\x\{([0-9a-f]{1,6})\})?")
# Steps before `Precompiled`, with the one that keeps symbols apart.
_MOST_BEFORE = 3
# Beyond what there is by far: no pattern makes us list more.
_MOST_STRINGS = 1 << 17


def read(parts: Sequence[Json]) -> tuple[CharacterRules, int] | None:
    """Return the rules that some steps are for, and how many steps; None if for none.

    Args:
        parts: Steps of a file, the first of which may be the first of those.
    """
    if not parts or parts[0] != _replace({"String": APART}, BAR):
        return None
    last = _replace({"String": BAR}, "")
    n = next((i for i, part in enumerate(parts) if part == last), -1) + 1
    kinds = [part.get("type") for part in parts[:n]]
    if kinds.count("Precompiled") != 1:
        return None
    at = kinds.index("Precompiled")
    try:
        symbols = _symbols(parts[1]["pattern"]["Regex"]) if at == _MOST_BEFORE else []
        blob = base64.b64decode(parts[at]["precompiled_charsmap"], validate=True)
        singles = read_table(blob).rules()
        composed = _composed(parts[at + 1 : n])
    except (ValueError, TypeError, LookupError, AttributeError):
        return None
    single = {
        key: value[1:-1] if value[:1] == value[1:][-1:] == BAR else value
        for key, value in singles.items()
    }
    single[BAR] = ""
    rules = Rules(single, composed)
    table = {name: value for name, value in parts[at].items() if name != "type"}
    if _singles(rules) != singles or _around(rules, symbols, table) != parts[:n]:
        return None
    kept = "".join(f"{symbol}\0" for symbol in symbols)
    return CharacterRules(packed(composed), kept, packed(single)), n


def written(step: CharacterRules) -> list[Json] | None:
    """Return the steps of a file that do what rules say; None if no such steps do."""
    rules = Rules(unpacked(step.single), unpacked(step.joined))
    if rules.single.get(APART) != "" or rules.single.get(BAR) != "":
        return None
    parts = steps_of(rules, step.kept.split("\0")[:-1])
    return parts if read(parts) == (step, len(parts)) else None


def _symbols(pattern: str) -> list[str]:
    inner = pattern.removeprefix("(?>").removesuffix(r")\K")
    found = re.findall(r"(?:[^|\\]|\\.)+", inner, re.DOTALL)
    return [re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL) for text in found]


def _composed(parts: Sequence[Json]) -> dict[str, str]:
    """Return the rules of several characters, as far as the steps tell."""
    nfc = UnicodeForm("NFC")
    others = {
        part["pattern"]["String"]: part["content"]
        for part in parts[1:]
        if part["type"] == "Replace"
    }
    composed: dict[str, str] = {}
    for firsts, spelt, sets in _TAILS.findall(parts[0]["pattern"]["Regex"]):
        tails = [_characters(tail) for tail in spelt.split("|")] if spelt else [""]
        for each in re.findall(_SET, sets):
            tails = [tail + char for tail in tails for char in _characters(each)]
            _check_number(len(tails))
        for first in _characters(firsts):
            for tail in tails:
                key = first + tail
                composed[key] = others[key] if key in others else nfc.apply(key)
        _check_number(len(composed))
    return composed


def _check_number(n: int) -> None:
    if n > _MOST_STRINGS:
        raise ValueError("far too many strings")


def _characters(spelt: str) -> str:
    """Return the characters of a set, or of a string, in a pattern."""
    made: list[str] = []
    for first, last in _CHARACTER.findall(spelt):
        low = int(first, 16)
        points = range(low, int(last or first, 16) + 1)
        _check_number(len(points))
        made += map(chr, points)
    return "".join(made)


# ------------------------------------------------------------------ compiling


def compiled(rules: dict[str, str]) -> bytes:
    """Return a character map of rules, as sentencepiece compiles them."""
    pool, starts = bytearray(), dict[str, int]()
    trie: dict[int, Any] = {}
    for key, value in sorted(rules.items()):
        if value not in starts:
            starts[value] = len(pool)
            pool += value.encode() + b"\0"
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = starts[value]
    cells = _placed(trie)
    size = (max(cells) // _BLOCK + 1) * _BLOCK
    # An empty cell is a value, which no label finds.
    array = [cells.get(place, _VALUE) for place in range(size)]
    return struct.pack(f"<I{size}I", 4 * size, *array) + bytes(pool)


def _placed(trie: dict[int, Any]) -> dict[int, int]:
    """Return the cells of a trie: its nodes are at their parents' base, XOR label.

    Each node has a base of its own, or a child of one would be found in another.
    """
    cells = {0: 0}
    taken, bases, start = {0}, {0}, 1
    todo = [(0, 0, trie)]
    while todo:
        place, label, node = todo.pop()
        base = start
        while base in bases or any(base ^ byte in taken for byte in node):
            base += 1
        bases.add(base)
        taken.update(base ^ byte for byte in node)
        # Where little room is left, it is not worth looking for.
        start += (base - start) // 64
        cells[place] = label | (0 in node) << 8 | (place ^ base) << 10
        for byte, child in node.items():
            if byte:
                todo.append((base ^ byte, byte, child))
            else:
                cells[base] = child | _VALUE
    return cells
