"""Write ``pybpe/_script_data.py``: the scripts that sentencepiece's trainer knows.

It decides which characters may stand in one piece by the scripts of Unicode 9.0.0, so
these stay as they are, whatever version the rest of pybpe follows::

    python tools/make_script_data.py Scripts-9.0.0.txt

The file is https://www.unicode.org/Public/9.0.0/ucd/Scripts.txt; a part of the tests
asks the sentencepiece package about every character.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "pybpe" / "_script_data.py"
HEADER = '''"""Unicode 9.0.0 scripts. DO NOT EDIT: see tools/make_script_data.py.

Derived from the Unicode Character Database, copyright Unicode, Inc.; see
LICENSES/Unicode-3.0.txt for the terms.

Each script's runs of codepoints, hexadecimal, first-last or a single one. What is in
none of them is Common.
"""

VERSION = "9.0.0"

SCRIPTS = {
'''


def read(path: Path) -> dict[str, list[tuple[int, int]]]:
    """Return the runs of each script of a file of the Unicode Character Database."""
    found: dict[str, list[tuple[int, int]]] = {}
    for line in path.read_text("utf-8").splitlines():
        fields = line.partition("#")[0].split(";")
        if len(fields) != 2 or (name := fields[1].strip()) == "Common":
            continue
        first, _, last = fields[0].strip().partition("..")
        found.setdefault(name, []).append((int(first, 16), int(last or first, 16)))
    return found


def joined(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the runs in order, those that touch as one."""
    out: list[tuple[int, int]] = []
    for first, last in sorted(runs):
        if out and out[-1][1] + 1 == first:
            first = out.pop()[0]
        out.append((first, last))
    return out


def main() -> None:
    """Write the module."""
    scripts = read(Path(sys.argv[1]))
    parts = [HEADER]
    for name in sorted(scripts):
        words = [
            f"{first:X}" if first == last else f"{first:X}-{last:X}"
            for first, last in joined(scripts[name])
        ]
        text = " ".join(words)
        # As the formatter has it: what fits on one line stays there.
        lines = (
            [text]
            if len(text) <= 78
            else textwrap.wrap(text, 76, break_on_hyphens=False)
        )
        if len(text) + len(name) <= 88 - 11:
            parts.append(f'    "{name}": "{lines[0]}",\n')
            continue
        parts.append(f'    "{name}": (\n')
        last_line = len(lines) - 1
        for i, line in enumerate(lines):
            space = " " if i != last_line else ""
            parts.append(f'        "{line}{space}"\n')
        parts.append("    ),\n")
    parts.append("}\n")
    TARGET.write_text("".join(parts), "utf-8")


if __name__ == "__main__":
    main()
