"""Plain tables for terminals: columns of text, two spaces between."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

Cell = str | int | float


def table(
    headers: Sequence[str], rows: Iterable[Sequence[Cell]], indent: str = ""
) -> Iterator[str]:
    """Yield the lines of a table: text to the left, numbers to the right.

    A column is one of numbers if its first cell is. Floats have two decimals, and
    integers commas; what is to look otherwise comes as text that begins with a space,
    which goes to the right, too.
    """
    given = [list(row) for row in rows]
    if not given:
        return
    right = [not isinstance(cell, str) or cell[:1] == " " for cell in given[0]]
    lines = [list(headers)] * any(headers)
    lines += [[_shown(cell) for cell in row] for row in given]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            " " * (width - _width(cell)) + cell
            if to_right
            else cell + " " * (width - _width(cell))
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ]
        yield (indent + "  ".join(cells)).rstrip()


def percent(share: float) -> str:
    """Return a share as a cell."""
    return f" {100 * share:.1f} %"


def _shown(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell.lstrip(" ")
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.2f}"


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))
