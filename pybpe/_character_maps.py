"""What character maps do to a text: engines for two steps of `normalizers`.

Both look for characters that may change, and take what may belong together with them
apart: *units* of a text, between which nothing is joined. What becomes of short units
is kept, for they come again and again.
"""

from __future__ import annotations

import re
import struct
from functools import lru_cache
from itertools import chain

from pybpe import _clusters
from pybpe._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Pieces = Iterable[tuple[str, str]]

# Units up to this length are kept, and so many of them.
_KEEP_LENGTH, _KEEP = 64, 1 << 16

_VALUE, _HAS_VALUE, _LABEL = 1 << 31, 1 << 8, 0xFF
_BLOCK = 256
_DAMAGED = "its character map is damaged: {}"
# tokenizers looks up clusters that are shorter, in bytes.
_TOO_LONG = 6
# A damaged map may lead in circles. sentencepiece's have up to 265,000 nodes, and
# strings of up to 12 bytes.
_MOST_NODES, _LONGEST_KEY = 1 << 20, 64
# Characters that rules put together: there are rules of four in sentencepiece's maps.
_MOST_JOINED = 16
# `re` is slow on sets of many ranges beyond the first plane: all of it is looked at.
_FAR = "\U00010000-\U0010ffff"


# Kinds of characters that may be in one cluster with what stands before them.
_MARKS = _clusters.MARKS + "VT"


def _offset(cell: int) -> int:
    return (cell >> 10) << ((cell & 0x200) >> 6)


class Table:
    """A character map as sentencepiece compiles it: a trie in a double array.

    The children of a node are at its base, XOR their label, a byte.
    """

    def __init__(self, blob: bytes) -> None:
        """Read and check it: no look-up leaves the arrays afterwards.

        Raises:
            ValueError: It is damaged, or what it makes is no UTF-8.
        """
        size = int.from_bytes(blob[:4], "little")
        if size == 0 or size % (4 * _BLOCK) or size + 4 >= len(blob):
            raise ValueError(
                _DAMAGED.format(f"{len(blob):,} bytes, of which {size:,} are its trie")
            )
        self.cells: Sequence[int] = struct.unpack_from(f"<{size // 4}I", blob, 4)
        self.pool = blob[4 + size :]
        try:
            self.pool.decode()
        except UnicodeDecodeError as error:
            place = f"at byte {4 + size + error.start:,} is no UTF-8"
            raise ValueError(_DAMAGED.format(place)) from None
        if self.pool[-1]:
            raise ValueError(_DAMAGED.format("its last string has no end"))
        self.root = _offset(self.cells[0])
        self._check()

    def _check(self) -> None:
        cells, pool = self.cells, self.pool
        n, size = len(cells), len(pool)
        sound = self.root | _LABEL < n and not cells[0] & (_VALUE | _HAS_VALUE | _LABEL)
        for place, cell in enumerate(cells):
            if cell & _VALUE:
                start = cell ^ _VALUE
                # Within the strings, and not within a character.
                sound = sound and start < size and pool[start] & 0xC0 != 0x80
            else:
                node = place ^ _offset(cell)
                sound = sound and node | _LABEL < n
                if sound and cell & _HAS_VALUE:
                    sound = cells[node] >= _VALUE
            if not sound:
                raise ValueError(_DAMAGED.format(f"cell {place:,} leads nowhere"))

    def shortest(self, data: bytes) -> str | None:
        """Return what the shortest rule makes that a string begins with, if any does.

        This is all that tokenizers does: what is behind that beginning is lost.
        """
        cells, node = self.cells, self.root
        for byte in data:
            node ^= byte
            cell = cells[node]
            if cell & (_VALUE | _LABEL) != byte or not byte:
                return None
            node ^= _offset(cell)
            if cell & _HAS_VALUE:
                return self._value(node)
        return None

    def _value(self, node: int) -> str:
        start = self.cells[node] ^ _VALUE
        return self.pool[start : self.pool.index(0, start)].decode()

    def rules(self) -> dict[str, str]:
        """Return all rules: strings and what they become.

        Raises:
            ValueError: Some are for parts of characters, or there is no end of them.
        """
        # The children of a node share what is left of their places without labels.
        children: dict[int, list[int]] = {}
        for place, cell in enumerate(self.cells):
            if not cell & _VALUE and cell & _LABEL:
                children.setdefault(place ^ (cell & _LABEL), []).append(place)
        found: dict[str, str] = {}
        todo = [(self.root, b"")]
        n_nodes = 0
        while todo:
            node, key = todo.pop()
            places = children.get(node, ())
            n_nodes += len(places)
            if n_nodes > _MOST_NODES or (places and len(key) >= _LONGEST_KEY):
                raise ValueError(_DAMAGED.format("its rules are too long, or too many"))
            for place in places:
                cell = self.cells[place]
                below, text = place ^ _offset(cell), key + bytes([cell & _LABEL])
                if cell & _HAS_VALUE:
                    found[text.decode()] = self._value(below)
                todo.append((below, text))
        return found

    def first_plane(self) -> tuple[set[int], set[int]]:
        """Return the codepoints below U+10000 that `shortest` finds something for.

        And those for which it may if something is behind them.
        """
        found: set[int] = set()
        begun: set[int] = set()
        for lead in range(1, 0xF0):
            node = self.root ^ lead
            cell = self.cells[node]
            if cell & (_VALUE | _LABEL) == lead and not 0x80 <= lead < 0xC2:
                n_behind = (lead >= 0xC0) + (lead >= 0xE0)
                start = lead & (0x7F, 0x1F, 0xF)[n_behind]
                self._below(node, start, n_behind, found, begun)
        return found, begun

    def _below(
        self, place: int, start: int, n_behind: int, found: set[int], begun: set[int]
    ) -> None:
        cells = self.cells
        cell = cells[place]
        node = place ^ _offset(cell)
        if cell & _HAS_VALUE:
            found.update(range(start << 6 * n_behind, (start + 1) << 6 * n_behind))
        elif not n_behind:
            begun.add(start)
        else:
            for byte in range(0x80, 0xC0):
                if cells[node ^ byte] & (_VALUE | _LABEL) == byte:
                    code = start << 6 | byte & 0x3F
                    self._below(node ^ byte, code, n_behind - 1, found, begun)


def _ascii_but(codepoints: set[int]) -> bytes:
    return bytes(c for c in range(0x80) if c not in codepoints)


class _Units:
    """An engine: how it cuts a text into units is up to its kinds.

    Attributes:
        known: Units that came up -> what they become.
        ascii_others: The bytes of ASCII that stay as they are.
    """

    ascii_others: bytes

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def units(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the beginnings and ends of units that may change."""
        raise NotImplementedError

    def pieces_of(self, unit: str) -> Pieces:
        """Yield the parts of a unit, and what each becomes."""
        raise NotImplementedError

    def apply(self, text: str) -> str:
        """Return the changed text, in linear time."""
        made = []
        at = 0
        known = self.known
        for begin, end in self.units(text):
            made.append(text[at:begin])
            unit = text[begin:end]
            changed = known.get(unit)
            made.append(self._made(unit) if changed is None else changed)
            at = end
        if not made:
            return text
        made.append(text[at:])
        return "".join(made)

    def _made(self, unit: str) -> str:
        made = "".join([piece for _, piece in self.pieces_of(unit)])
        if len(unit) <= _KEEP_LENGTH:
            if len(self.known) >= _KEEP:
                self.known.clear()
            self.known[unit] = made
        return made

    def pieces(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield the parts of a text, from where to where, and what each becomes."""
        at = 0
        for begin, end in chain(self.units(text), [(len(text), len(text))]):
            yield from ((i, i + 1, text[i]) for i in range(at, begin))
            at = begin
            for part, piece in self.pieces_of(text[begin:end]):
                if part == piece:
                    yield from ((at + i, at + i + 1, c) for i, c in enumerate(part))
                else:
                    yield at, at + len(part), piece
                at += len(part)


def _behind(joining: set[int], before: set[int]) -> tuple[str, str]:
    """Return a pattern for all that a unit can have behind its first character.

    Nothing is joined behind a character that is not in `joining` if nothing before that
    was in `before`. And what the pattern has behind the first character that it takes.
    """
    far = "".join(re.escape(chr(c)) for c in sorted(before) if c > 0xFFFF)
    some = _clusters.charset(joining) + _FAR
    near = f"[{_clusters.charset(joining - before)}]*+"
    plain = f"{near}(?:(?![{far}])[{_FAR}]{near})*+"
    opens = f"[{_clusters.charset(before)}{far}]"
    opened = f"[{some}]*+[^{some}]?{plain}"
    tail = f"{plain}(?:{opens}{opened})*+"
    return tail, f"(?:(?<={opens}){opened})?+{tail}"


class ClusterMap(_Units):
    """A map applied as tokenizers applies `Precompiled`.

    That looks up clusters of up to 5 bytes as a whole, and each character of others and
    of those that no rule begins.
    """

    def __init__(self, table: bytes) -> None:
        """Read the table.

        Raises:
            ValueError: It is damaged.
        """
        super().__init__()
        self._table = read_table(table)
        single, begun = self._table.first_plane()
        self.ascii_others = _ascii_but(single | {ord("\r")})
        members = _clusters.members()
        marks = {c for kind in _MARKS for c in members[kind]}
        before = {c for kind in _clusters.BEFORE for c in members[kind]}
        self._marks, self._joining = marks, marks | before
        self._values: dict[str, str | None] = {}
        # What a rule is for, and what a longer one begins with and joins anything.
        alone = single | (begun & before)
        changing = _clusters.charset(alone) + _FAR
        looked_at = _clusters.charset(alone | marks) + _FAR
        # Those, or a mark behind what a longer rule begins with.
        pattern = f"[{looked_at}](?:(?<=[{changing}])"
        if near := _clusters.charset(begun - alone):
            pattern += f"|(?<=[{near}][{_clusters.charset(marks)}])"
        tail, behind = _behind(marks | before | single, before)
        self._search = re.compile(f"{pattern}){behind}").search
        self._tail = re.compile(tail).match

    def units(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the beginnings and ends of units that may change."""
        search, marks, joining = self._search, self._marks, self._joining
        at = 0
        while found := search(text, at):
            place, end = found.span()
            begin = place
            if place > at:
                is_mark = ord(text[place]) in marks
                begin -= is_mark
                # Of the characters before, which are plain as a rule, one at most is in
                # the unit.
                if ord(text[place - 1]) in joining or (
                    is_mark and begin > at and ord(text[begin - 1]) in joining
                ):
                    begin, end = self._around(text, at, place)
            yield begin, end
            at = end

    def _around(self, text: str, start: int, place: int) -> tuple[int, int]:
        """Return where the unit is that a character is in, between marks and the like.

        It may hold more. No cluster can have characters on both sides of its ends.
        """
        marks, joining = self._marks, self._joining
        at = place
        while at > start:
            if ord(text[at]) not in marks and ord(text[at - 1]) not in joining:
                break
            at -= 1
        begin = end = at
        while end <= place:
            begin = end
            behind = begin + (ord(text[begin]) not in joining)
            found = self._tail(text, behind)
            end = max(found.end() if found else behind, begin + 1)
        return begin, end

    def pieces_of(self, unit: str) -> Iterator[tuple[str, str]]:
        """Yield the parts of a unit, and what each becomes."""
        value = self._value
        for cluster in _clusters.clusters(unit):
            made = value(cluster) if len(cluster) < _TOO_LONG else None
            if made is not None:
                yield cluster, made
            else:
                for char in cluster:
                    made = value(char)
                    yield char, char if made is None else made

    def _value(self, cluster: str) -> str | None:
        try:
            return self._values[cluster]
        except KeyError:
            made = None
        data = cluster.encode("utf-8", "surrogatepass")
        # A lone surrogate is a byte that is no UTF-8.
        if len(data) < _TOO_LONG and not "\ud800" <= cluster < "\ue000":
            made = self._table.shortest(data)
        if len(self._values) >= _KEEP:
            self._values.clear()
        self._values[cluster] = made
        return made


def unpacked(text: str) -> dict[str, str]:
    """Return rules that were written one after another, NUL behind every string.

    Raises:
        ValueError: They are not.
    """
    strings = text.split("\0")
    if strings.pop() or len(strings) % 2:
        raise ValueError("its rules for characters are damaged")
    rules = dict(zip(strings[::2], strings[1::2], strict=True))
    if packed(rules) != text:
        raise ValueError("its rules for characters are out of order")
    return rules


def packed(rules: dict[str, str]) -> str:
    """Return rules as one string; the same for equal ones."""
    return "".join(f"{key}\0{rules[key]}\0" for key in sorted(rules))


class RuleMap(_Units):
    """Rules applied as sentencepiece applies them; see `normalizers.CharacterRules`."""

    def __init__(self, single: str, joined: str, kept: str) -> None:
        """Read the rules.

        Raises:
            ValueError: They are damaged, or not of the kind that they should be.
        """
        super().__init__()
        self._single = unpacked(single)
        self._joined = unpacked(joined)
        symbols = kept.split("\0")
        if any(len(key) != 1 for key in self._single) or symbols.pop() or "" in symbols:
            raise ValueError("its rules for characters are damaged")
        self._longest = max(map(len, self._joined), default=0)
        if any(len(key) < 2 for key in self._joined) or self._longest > _MOST_JOINED:
            raise ValueError(
                f"its rules for several characters are not of 2 to {_MOST_JOINED}"
            )
        changed = set(self._single).union(*(key[1:] for key in self._joined))
        points = set(map(ord, changed))
        self.ascii_others = _ascii_but(points)
        some = _clusters.charset(points) + _FAR
        self._search = re.compile(f"[{some}]+").search
        longest_first = sorted(symbols, key=len, reverse=True)
        parts = "|".join(map(re.escape, longest_first))
        self._kept = re.compile(parts).finditer if kept else None

    def units(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the beginnings and ends of units that may change."""
        start = 0
        for found in self._kept(text) if self._kept else ():
            yield from self._between(text, start, found.end())
            start = found.end()
        yield from self._between(text, start, len(text))

    def _between(self, text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield those of a part of the text, across whose ends nothing is joined."""
        search = self._search
        while found := search(text, start, stop):
            yield max(start, found.start() - 1), found.end()
            start = found.end()

    def pieces_of(self, unit: str) -> Iterator[tuple[str, str]]:
        """Yield the parts of a unit, and what each becomes."""
        made = [self._single.get(char, char) for char in unit]
        # What becomes of one character: one, or what nothing is joined with.
        chars = "".join(text if len(text) == 1 else "\0" for text in made)
        at = 0
        while at < len(unit):
            for n in range(self._longest, 1, -1):
                joined = self._joined.get(chars[at : at + n])
                if joined is not None:
                    yield unit[at : at + n], joined
                    at += n
                    break
            else:
                yield unit[at], made[at]
                at += 1


read_table = lru_cache(16)(Table)
cluster_map = lru_cache(16)(ClusterMap)
rule_map = lru_cache(16)(RuleMap)
