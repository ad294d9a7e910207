"""minbpe's `.model` files, version 1, of its basic and its regex tokenizer.

The first line says "minbpe v1", the second is the split's regular expression (empty for
the basic tokenizer), the third the number of special tokens, a line for each of which
follows: the token, a space, its id. All other lines are merges, two ids each; the first
makes id 256.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

from pybpe import _binding
from pybpe.errors import ModelError
from pybpe.formats._source import MAX_TOKEN, Source, shown, special_or_refuse, utf8
from pybpe.model import MERGES, Model

if TYPE_CHECKING:
    from pybpe.split import Split

_HEADER = "minbpe v1"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,9}")
_MERGE = re.compile(r"(0|[1-9][0-9]{0,9}) (0|[1-9][0-9]{0,9})")
# All tokens together; merges that double a token 30 times would fill the memory.
_MAX_DATA = 1 << 30


def read(source: Source) -> Model:
    """Return the model of a minbpe file.

    Raises:
        ModelError: The file is malformed; the message says at which line.
    """
    lines = utf8(source.data).split("\n")
    if all(line.endswith("\r") for line in lines[:-1]):
        # Written on Windows.
        lines = [line.removesuffix("\r") for line in lines]
    while len(lines) > 3 and not lines[-1]:
        lines.pop()
    if lines[0].rstrip() != _HEADER:
        raise ModelError(
            f"its first line is {shown(lines[0])}; this version of pybpe reads files "
            f"that begin with {_HEADER!r}"
        )
    if len(lines) < 3:
        raise ModelError("it ends before its third line: it is cut off")
    n_special = _count(lines[2])
    if len(lines) < 3 + n_special:
        raise ModelError(
            f"it announces {n_special} special tokens and ends at line {len(lines)}: "
            "it is cut off"
        )
    special = dict(_special(lines[i], i + 1) for i in range(3, 3 + n_special))
    if len(special) < n_special:
        raise ModelError("a special token is there twice")
    if source.special_tokens is not None:
        special = dict(special_or_refuse(source.special_tokens, "special_tokens"))
    tokens, flat = _merges(lines, 3 + n_special)
    n = len(tokens)
    return Model(
        semantics=MERGES,
        whole_pretoken=False,
        token_data=b"".join(tokens),
        token_lengths=array("I", map(len, tokens)),
        token_ids=array("I", range(n)),
        merges=flat,
        merge_ids=array("I", range(256, n)),
        special_tokens=special_or_refuse(special, "special tokens"),
        split=source.split if source.split is not None else _split(lines[1]),
        provenance={"format": "minbpe"},
    )


def _split(pattern: str) -> Split:
    """Return the split of the second line."""
    from pybpe.split import Split, Stage
    from pybpe.split.patterns import GPT4

    if not pattern:
        return Split()
    if pattern == GPT4:
        return Split.from_pattern("gpt4")
    try:
        # minbpe uses the `regex` package.
        return Split([Stage.compile(pattern, "regex")])
    except ValueError as error:
        raise ModelError(f"its pattern cannot be used: {error}") from None


def _count(line: str) -> int:
    if _NUMBER.fullmatch(line) is None:
        raise ModelError(
            f"line 3 must be the number of special tokens, and is {shown(line)} (a "
            "pattern with a line end in it makes files that cannot be read)"
        )
    return int(line)


def _special(line: str, number: int) -> tuple[bytes, int]:
    """Return a special token and its id; the token may hold spaces."""
    token, _, rank = line.rpartition(" ")
    if not token or _NUMBER.fullmatch(rank) is None or int(rank) >= _binding.MAX_IDS:
        raise ModelError(
            f"line {number} must be a special token, a space and its id, and is "
            f"{shown(line)} (a token with a line end in it makes files that cannot be "
            "read)"
        )
    return token.encode(), int(rank)


def _merges(lines: list[str], first: int) -> tuple[list[bytes], array[int]]:
    """Return all tokens by id, and the merges flat."""
    tokens = [bytes([byte]) for byte in range(256)]
    flat = array("I")
    seen: set[tuple[int, int]] = set()
    room = _MAX_DATA
    for i in range(first, len(lines)):
        found = _MERGE.fullmatch(lines[i])
        if found is None:
            raise ModelError(f"line {i + 1} must be two ids, and is {shown(lines[i])}")
        left, right = int(found.group(1)), int(found.group(2))
        if max(left, right) >= len(tokens):
            raise ModelError(
                f"line {i + 1} merges {left} and {right}, but only the ids below "
                f"{len(tokens)} exist by then"
            )
        if (left, right) in seen:
            raise ModelError(
                f"line {i + 1} merges {left} and {right} again; remove one of the two"
            )
        seen.add((left, right))
        token = tokens[left] + tokens[right]
        room -= len(token)
        if len(token) > MAX_TOKEN or room < 0:
            raise ModelError(
                f"line {i + 1} makes a token of {len(token):,} bytes; the limits are "
                f"{MAX_TOKEN:,} bytes for a token and {_MAX_DATA:,} for all"
            )
        tokens.append(token)
        flat.append(left)
        flat.append(right)
    return tokens, flat
