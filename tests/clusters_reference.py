"""Grapheme clusters and character maps, done plainly.

Clusters by the rules of UAX #29 one after another, and maps as dictionaries.
"""

from __future__ import annotations

from pybpe import _clusters


def kind(char: str) -> str:
    return _clusters.kinds()[ord(char)]


def joined(before: str, char: str) -> bool:
    """Tell whether a character belongs to the cluster that ends a text: UAX #29."""
    kinds = "".join(map(kind, before))
    last, this = kinds[-1], kind(char)
    if last == "r" and this == "n":  # GB3
        return True
    if last in "Crn" or this in "Crn":  # GB4, GB5
        return False
    if last + this in ("LL", "LV", "Lv", "Lt", "vV", "vT", "VV", "VT", "tT", "TT"):
        return True  # GB6, GB7, GB8
    if this in "exlZs" or last == "P":  # GB9, GB9a, GB9b
        return True
    if this == "K":  # GB9c: a letter, then marks, a link among them
        at = len(kinds) - 1
        while at >= 0 and kinds[at] in "elZ":
            at -= 1
        return at >= 0 and kinds[at] == "K" and "l" in kinds[at:]
    if this == "E" and last == "Z":  # GB11
        return kinds[:-1].rstrip("elx").endswith("E")
    return False


def plain_clusters(string: str) -> list[str]:
    found: list[str] = []
    for i, char in enumerate(string):
        if i and joined(string[:i], char):
            found[-1] += char
        else:
            found.append(char)
    return found


def plain_map(rules: dict[str, str], string: str) -> str:
    """Return what tokenizers makes of a text."""

    def shortest(part: str) -> str | None:
        known = (part[:n] for n in range(1, len(part) + 1) if part[:n] in rules)
        return next((rules[key] for key in known), None)

    made = ""
    for cluster in plain_clusters(string):
        whole = shortest(cluster) if len(cluster.encode()) < 6 else None
        if whole is not None:
            made += whole
            continue
        for char in cluster:
            one = shortest(char)
            made += char if one is None else one
    return made


def plain_rules(rules: dict[str, str], string: str, kept: list[str]) -> str:
    """Return what sentencepiece makes of a text."""
    made, at, stop = "", 0, len(string)
    while at < stop:
        symbol = max((s for s in kept if string.startswith(s, at)), key=len, default="")
        if symbol:
            made += symbol
            at += len(symbol)
            continue
        starts = (string[at : at + n] for n in range(1, 9))
        keys = [start for start in starts if start in rules]
        key = max(keys, key=len, default=string[at])
        made += rules.get(key, key)
        at += len(key)
    return made
