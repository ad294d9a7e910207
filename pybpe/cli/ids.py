"""Ids as text, JSON and binary numbers: what `encode` writes and `decode` reads."""

from __future__ import annotations

import json
import sys
from array import array
from typing import IO, Any

import click

FORMATS = ("text", "json", "uint16", "uint32")
BINARY = ("uint16", "uint32")
# Ids are below 2^32; longer words are not even looked at.
_MAX_DIGITS = 10
_JSON_SPACE = " \t\r\n"


def _integer_type(width: str) -> str:
    """Return array's code for "uint16" or "uint32"."""
    return "H" if width == "uint16" else "I"


def write_ids(out: IO[bytes], ids: list[int], form: str, end: bytes = b"\n") -> None:
    """Write the ids of one text; what is not binary is a line that `end` ends."""
    if form == "text":
        out.write(" ".join(map(str, ids)).encode() + end)
    elif form == "json":
        out.write(json.dumps(ids, separators=(",", ":")).encode() + end)
    else:
        values = array(_integer_type(form), ids)
        if sys.byteorder == "big":
            values.byteswap()
        out.write(values.tobytes())


def read_ids(data: bytes, form: str) -> list[int]:
    """Read all ids that there are, those of all lines or lists in a row."""
    if form == "json":
        return _json_lists(data)
    if form == "text":
        ids: list[int] = []
        for number, line in enumerate(data.split(b"\n"), 1):
            ids += _words(line, f"line {number}, ")
        return ids
    values = array(_integer_type(form))
    if len(data) % values.itemsize:
        raise click.ClickException(
            f"{len(data):,} bytes are no whole number of {form} values"
        )
    values.frombytes(data)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()


def read_line(line: bytes, form: str, number: int) -> list[int]:
    """Read the ids of one text from line `number` of a file."""
    if form == "text":
        return _words(line, f"line {number}, ")
    if not line.strip():
        raise click.ClickException(
            f"line {number} is empty; the JSON list of an empty text is []"
        )
    return _json_lists(line, number)


def arguments(words: tuple[str, ...]) -> list[int]:
    """Read ids that were given as arguments.

    Raises:
        click.UsageError: One is none.
    """
    try:
        return _words(" ".join(words).encode("utf-8", "surrogateescape"), "")
    except click.ClickException as error:
        raise click.UsageError(error.message) from None


def _words(line: bytes, where: str) -> list[int]:
    words = line.split()
    for position, word in enumerate(words, 1):
        if not word.isdigit() or len(word) > _MAX_DIGITS:
            shown = word[:40].decode("utf-8", "backslashreplace")
            raise click.ClickException(f"{where}item {position}: {shown!r} is no id")
    return [int(word) for word in words]


def _json_lists(data: bytes, first_line: int = 1) -> list[int]:
    """Read JSON lists of ids, each on lines of its own, and nothing else."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        raise click.ClickException(f"line {line} is not UTF-8, so no JSON") from None
    ids: list[int] = []
    # NaN and Infinity, which are no JSON, become strings, which are no ids.
    decoder = json.JSONDecoder(parse_constant=str)
    line, start, end = first_line, 0, len(text)
    while True:
        at = start
        while at < end and text[at] in _JSON_SPACE:
            at += 1
        if at == end:
            return ids
        broken = text.count("\n", start, at)
        line += broken
        if start and not broken:
            raise click.ClickException(
                f"line {line} has more than one JSON value; one list a line, please"
            )
        value, start = _json_value(decoder, text, at, line)
        ids += _checked(value, line)
        line += text.count("\n", at, start)


def _json_value(
    decoder: json.JSONDecoder, text: str, at: int, line: int
) -> tuple[Any, int]:
    """Return the value that begins at `at`, on `line`, and where it ends."""
    try:
        return decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        line += text.count("\n", at, error.pos)
        column = error.pos - text.rfind("\n", 0, error.pos)
        raise click.ClickException(
            f"line {line}, column {column} is no valid JSON: {error.msg}"
        ) from None
    except RecursionError:
        raise click.ClickException(f"line {line}: lists within lists") from None
    except ValueError:
        raise click.ClickException(
            f"line {line}: a number of thousands of digits is no id"
        ) from None


def _checked(items: Any, line: int) -> list[int]:
    """Return a JSON value that is a list of ids."""
    if not isinstance(items, list):
        raise click.ClickException(
            f"line {line}: a JSON list of ids belongs here, not {_shown(items)}"
        )
    if not all(type(item) is int and item >= 0 for item in items):
        position, item = next(
            (n, item)
            for n, item in enumerate(items, 1)
            if type(item) is not int or item < 0
        )
        hint = "; one list a line, please" if isinstance(item, list) else ""
        raise click.ClickException(
            f"line {line}, item {position}: {_shown(item)} is no id{hint}"
        )
    return items


def _shown(value: object) -> str:
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
