"""What the tools have in common that ask tokenizers about every codepoint."""

from __future__ import annotations

import base64
import json
import sys
import zlib
from collections.abc import Iterable

import tokenizers

CODEPOINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)


def runs(codepoints: Iterable[int]) -> list[int]:
    """Return ascending codepoints as an inversion list, written as differences."""
    edges: list[int] = []
    for c in codepoints:
        if edges and edges[-1] == c:
            edges[-1] = c + 1
        else:
            edges += [c, c + 1]
    return [b - a for a, b in zip([0, *edges], edges, strict=False)]


def write_module(tool: str, data: object) -> None:
    """Print a module that holds data, packed, and the release that they are of.

    Args:
        tool: The file name of the tool that made them.
        data: What JSON can hold.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    packed = base64.b85encode(zlib.compress(text.encode(), 9)).decode()
    out = sys.stdout
    out.write(f'"""Made by tools/{tool}; do not edit."""\n\n')
    out.write("from __future__ import annotations\n\n")
    out.write(f'SOURCE = "tokenizers {tokenizers.__version__}"\n')
    out.write("# base85 of zlib of JSON.\nPACKED = (\n")
    for at in range(0, len(packed), 80):
        out.write(f'    "{packed[at : at + 80]}"\n')
    out.write(")\n")
