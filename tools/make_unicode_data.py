"""Write ``pybpe/_unicode_data.py``: the Unicode tables that splits are built on.

The tables are pinned to one Unicode version, so that an upgrade of Python or of
any package never changes where a text is split. Run it with the two packages it
reads the facts from::

    pip install unicodedata2==16.0.0 regex
    python tools/make_unicode_data.py            # writes the file
    python tools/make_unicode_data.py --check    # fails when the file differs

General categories come from ``unicodedata2``, whose release is the Unicode
version. It has no scripts, binary properties or case folding; for those we ask
``regex``, which follows a later Unicode version, about the codepoints that
version 16.0 assigns. (``tests/test_unicode.py`` compares the result with a third
engine, tiktoken's, which is at 16.0 as well.)
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import regex
import unicodedata2
from regex import _regex, _regex_core

VERSION = "16.0"
TARGET = Path(__file__).resolve().parent.parent / "pybpe" / "_unicode_data.py"
N_CODEPOINTS = 0x110000
SURROGATES = range(0xD800, 0xE000)

# Name, and the general category that it holds besides a list of its own. A letter may
# change its category between versions (U+0295 did in 17.0); the lists hardly ever do.
BINARY_PROPERTIES = {
    "Alphabetic": None,
    "Lowercase": "Ll",
    "Uppercase": "Lu",
    "White_Space": None,
}

# `regex` adds the Turkish dotted and dotless i to the cases of I. Simple case
# folding does not: these two fold to themselves.
TURKISH_I = {0x130, 0x131}

HEADER = '''"""Unicode {version} tables. DO NOT EDIT: see tools/make_unicode_data.py.

Derived from the Unicode Character Database, copyright Unicode, Inc.; see
LICENSES/Unicode-3.0.txt for the terms.

Runs are written as text, ascending, with no gaps from codepoint 0 on:

* ``CATEGORIES``: general category and length of each run.
* ``BINARY``, ``SCRIPTS``: run lengths, alternately outside and inside the set.
* ``FOLD_ORBITS``: codepoints (hexadecimal) that simple case folding makes equal.
* ``MULTI_FOLDS``: codepoint and the several codepoints of its full case folding.
"""

# ruff: noqa: E501
'''


def assigned_codepoints() -> list[int]:
    """Return all codepoints that are assigned and may stand in a ``str``."""
    return [
        cp
        for cp in range(N_CODEPOINTS)
        if cp not in SURROGATES and unicodedata2.category(chr(cp)) != "Cn"
    ]


def category_runs() -> str:
    """Return the general category of every codepoint, run-length coded."""
    runs: list[tuple[str, int]] = []
    for cp in range(N_CODEPOINTS):
        category = unicodedata2.category(chr(cp))
        if runs and runs[-1][0] == category:
            runs[-1] = (category, runs[-1][1] + 1)
        else:
            runs.append((category, 1))
    return " ".join(f"{category}{length}" for category, length in runs)


def set_runs(codepoints: Iterable[int]) -> str:
    """Return a set of codepoints as alternate run lengths, outside first."""
    edges = [0]
    for cp in sorted(codepoints):
        if len(edges) % 2 == 1 and len(edges) > 1 and edges[-1] == cp:
            edges[-1] = cp + 1
        else:
            edges += [cp, cp + 1]
    return " ".join(str(right - left) for left, right in pairwise(edges))


def members(pattern: str, text: str) -> list[int]:
    """Return the codepoints of ``text`` that ``regex`` matches."""
    return [ord(char) for char in regex.findall(pattern, text)]


def binary_members(name: str, category: str | None, text: str) -> set[int]:
    """Return the members of a binary property in the pinned version."""
    found = set(members(rf"\p{{{name}}}", text))
    if category is None:
        return found
    listed = found - set(members(rf"\p{{{category}}}", text))
    return listed | {ord(c) for c in text if unicodedata2.category(c) == category}


def script_tables(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the runs of each script by code, and codes by normalised name."""
    names_of: dict[int, list[str]] = {}
    for name, value in _regex_core.PROPERTIES["SC"][1].items():
        names_of.setdefault(value, []).append(name)
    runs: dict[str, str] = {}
    codes: dict[str, str] = {}
    for names in names_of.values():
        code = next(name for name in names if len(name) == 4).title()
        found = members(rf"\p{{Script={names[0]}}}", text)
        if not found or code == "Zzzz":  # no member yet in this version
            continue
        runs[code] = set_runs(found)
        codes.update((name.lower(), code) for name in names)
    return runs, codes


def fold_orbits(assigned: list[int]) -> list[list[int]]:
    """Return the groups of codepoints that simple case folding makes equal."""
    flags = regex.IGNORECASE | regex.UNICODE
    known = set(assigned) - TURKISH_I
    orbits = {
        tuple(sorted(known.intersection(_regex.get_all_cases(flags, cp))))
        for cp in known
    }
    groups = sorted(list(orbit) for orbit in orbits if len(orbit) > 1)
    overlapping = [
        hex(cp)
        for cp, count in Counter(cp for group in groups for cp in group).items()
        if count > 1
    ]
    if overlapping:
        raise SystemExit(f"case orbits overlap at {overlapping}")
    return groups


def multi_folds(assigned: list[int]) -> list[tuple[int, str]]:
    """Return the codepoints whose full case folding is several codepoints."""
    return [(cp, chr(cp).casefold()) for cp in assigned if len(chr(cp).casefold()) > 1]


def wrapped(name: str, text: str) -> str:
    """Return an assignment of ``text`` in short source lines."""
    lines, line = [], ""
    for word in text.split(" "):
        if len(line) + len(word) > 110:
            lines.append(line)
            line = ""
        line += word + " "
    lines.append(line.rstrip())
    body = "\n".join(f'    "{line}"' for line in lines)
    return f"{name} = (\n{body}\n)\n"


def wrapped_dict(name: str, value_type: str, items: dict[str, str]) -> str:
    """Return an assignment of a dictionary, one long line for each item."""
    body = "".join(f'    "{key}": "{value}",\n' for key, value in items.items())
    return f"{name}: dict[str, {value_type}] = {{\n{body}}}\n"


def source() -> str:
    """Return the text of the generated module."""
    if unicodedata2.unidata_version.rpartition(".")[0] != VERSION:
        raise SystemExit(
            f"unicodedata2 {VERSION}.0 is needed, found {unicodedata2.unidata_version}"
        )
    assigned = assigned_codepoints()
    text = "".join(map(chr, assigned))
    scripts, script_codes = script_tables(text)
    binary = {
        name.lower(): set_runs(binary_members(name, category, text))
        for name, category in BINARY_PROPERTIES.items()
    }
    orbits = " ".join(
        ",".join(f"{cp:x}" for cp in orbit) for orbit in fold_orbits(assigned)
    )
    folds = " ".join(
        f"{cp:x}:" + ",".join(f"{ord(char):x}" for char in folded)
        for cp, folded in multi_folds(assigned)
    )
    parts = [
        HEADER.format(version=VERSION),
        f'VERSION = "{VERSION}"\n',
        wrapped("CATEGORIES", category_runs()),
        wrapped_dict("BINARY", "str", binary),
        wrapped_dict("SCRIPTS", "str", dict(sorted(scripts.items()))),
        wrapped(
            "SCRIPT_CODES",
            " ".join(f"{name}={code}" for name, code in sorted(script_codes.items())),
        ),
        wrapped("FOLD_ORBITS", orbits),
        wrapped("MULTI_FOLDS", folds),
    ]
    return "\n".join(parts)


def main() -> int:
    """Write the module, or compare it with what is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    made = source()
    if parser.parse_args().check:
        if TARGET.read_text(encoding="utf-8") != made:
            sys.stderr.write(f"{TARGET.name} is not what this script makes\n")
            return 1
        return 0
    TARGET.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
