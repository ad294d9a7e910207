r"""A sentencepiece model's character map as steps of a `tokenizer.json`, exactly.

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

All of this is checked, rule by rule, before it is written.
"""

from __future__ import annotations

import base64
import struct
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from pybpe.errors import ModelError
from pybpe.formats._hf_parts import literal
from pybpe.normalizers import UnicodeForm

if TYPE_CHECKING:
    from pybpe.codepoint import Normalizer

Json = dict[str, Any]

_VALUE = 1 << 31
_BLOCK = 256
# Put between characters, and between what is composed; the map takes both out.
_APART, _BAR = "\x01", "\x02"
_NOT_EXACT = (
    "it has a character map that a tokenizer.json cannot hold exactly: {}. Models "
    "trained with normalization_rule_name='identity' have none"
)
# A damaged map may lead in circles. sentencepiece's own have up to 263,000 nodes and
# rules of up to 12 bytes.
_MAX_NODES, _MAX_KEY = 1 << 20, 64
# Strings that NFC does not compose as the rules do: more are not Unicode's.
_MAX_ALONE = 256


def rules_of(charsmap: bytes) -> dict[str, str]:
    """Return the rules of a character map.

    Raises:
        ModelError: It has rules without end, or more than there can be use for.
    """
    (size,) = struct.unpack_from("<I", charsmap)
    cells = struct.unpack_from(f"<{size // 4}I", charsmap, 4)
    pool = charsmap[4 + size :]
    # The children of a node share what is left of their places without their labels.
    children: dict[int, list[int]] = {}
    for place, cell in enumerate(cells):
        if not cell & _VALUE:
            children.setdefault(place ^ (cell & 0xFF), []).append(place)
    found: dict[str, str] = {}
    todo = [(_offset(cells[0]), b"")]
    for _ in range(_MAX_NODES):
        if not todo:
            return found
        base, key = todo.pop()
        if len(key) > _MAX_KEY:
            break
        for place in children.get(base, ()):
            label = cells[place] & 0xFF
            if not label:
                continue
            below, text = place ^ _offset(cells[place]), key + bytes([label])
            if cells[place] & 0x100:
                start = cells[below] & ~_VALUE
                value = pool[start : pool.index(b"\0", start)]
                found[text.decode()] = value.decode()
            todo.append((below, text))
    raise ModelError(_NOT_EXACT.format("its rules are too long, or too many"))


def _offset(cell: int) -> int:
    return (cell >> 10) << ((cell & 0x200) >> 6)


class _Rules(NamedTuple):
    """The rules, taken apart.

    Attributes:
        single: Those of single characters.
        composed: Of the others those that single characters' rules do not change.
    """

    single: dict[str, str]
    composed: dict[str, str]


def _taken_apart(rules: dict[str, str]) -> _Rules:
    """Return the rules in two parts, of which the second works on what the first makes.

    Raises:
        ModelError: They do not come apart like this.
    """
    single = {key: value for key, value in rules.items() if len(key) == 1}
    several = {key: value for key, value in rules.items() if len(key) > 1}
    if single.get(_APART) != "" or single.get(_BAR) != "":
        raise ModelError(_NOT_EXACT.format("it does not take out U+0001 and U+0002"))
    # What stands for itself in the rules of several characters, and what for others.
    composed = {
        key: value
        for key, value in several.items()
        if all(single.get(char, char) == char for char in key)
    }
    sources: dict[str, int] = {}
    for char in {char for key in several for char in key}:
        made = single.get(char, char)
        sources[made] = sources.get(made, 0) + 1
    n_expected = 0
    for key in composed:
        n_keys = 1
        for char in key:
            n_keys *= sources[char]
        n_expected += n_keys
    for key, value in several.items():
        made = "".join(single.get(char, char) for char in key)
        if composed.get(made) != value:
            raise ModelError(_NOT_EXACT.format(f"{key!r} becomes {value!r}"))
    # Of each spelling of a character there must be rules, or of none.
    spellings = Counter(single.values())
    partly = any(n != spellings[made] + 1 for made, n in sources.items())
    if n_expected != len(several) or partly:
        raise ModelError(_NOT_EXACT.format("some of its rules are for a few spellings"))
    return _Rules(single, composed)


def steps(normalizer: Normalizer, symbols: list[str]) -> list[Json]:
    """Return the steps that do what a character map does.

    Args:
        normalizer: What has the map.
        symbols: User-defined pieces, which stay as they are.

    Raises:
        ModelError: There are none.
    """
    rules = _taken_apart(rules_of(normalizer.charsmap))
    _check_spaces(rules, normalizer)
    _check_symbols(rules, symbols)
    nfc = UnicodeForm("NFC")
    alone = [key for key, made in rules.composed.items() if nfc.apply(key) != made]
    if len(alone) > _MAX_ALONE:
        raise ModelError(_NOT_EXACT.format(f"{alone[0]!r} becomes a character"))
    singles = {}
    for char, value in rules.single.items():
        # What one character becomes is not composed with its neighbours.
        singles[char] = value if len(value) == 1 else f"{_BAR}{value}{_BAR}"
    singles[_APART] = ""
    del singles[_BAR]
    return [
        _replace({"String": _APART}, _BAR),
        *_behind(symbols),
        _replace({"Regex": _CLUSTERS}, _APART),
        {
            "type": "Precompiled",
            "precompiled_charsmap": base64.b64encode(_compiled(singles)).decode(),
        },
        _replace({"Regex": _units(rules.composed)}, _BAR),
        *(
            _replace({"String": key}, rules.composed[key])
            for key in sorted(alone, key=lambda key: (-len(key), key))
        ),
        {"type": "NFC"},
        _replace({"String": _BAR}, ""),
    ]


def _check_spaces(rules: _Rules, normalizer: Normalizer) -> None:
    """Refuse rules that do with spaces what the steps for spaces do not.

    Raises:
        ModelError: Naming one.
    """
    for key, value in (*rules.single.items(), *rules.composed.items()):
        doubled = "  " in value and normalizer.remove_extra_whitespaces
        if doubled or (key[0] == " "):
            raise ModelError(_NOT_EXACT.format(f"{key!r} becomes {value!r}"))


def _check_symbols(rules: _Rules, symbols: list[str]) -> None:
    """Refuse user-defined pieces that the rules would change.

    Raises:
        ModelError: Naming one.
    """
    changed = rules.single.keys() | {c for key in rules.composed for c in key[1:]}
    for symbol in symbols:
        if not changed.isdisjoint(symbol):
            raise ModelError(
                _NOT_EXACT.format(f"it would change the user-defined piece {symbol!r}")
            )


def _behind(symbols: list[str]) -> list[Json]:
    """Return what keeps the last letters of symbols from marks behind them."""
    if not symbols:
        return []
    longest_first = sorted(symbols, key=len, reverse=True)
    pattern = rf"(?>{'|'.join(map(literal, longest_first))})\K"
    return [_replace({"Regex": pattern}, _BAR)]


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


# ------------------------------------------------------------------ compiling


def _compiled(rules: dict[str, str]) -> bytes:
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
