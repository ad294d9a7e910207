r"""Texts around a token that holds parts of characters: ways to make them whole.

A token such as b" \xe4\xb8" turns up only where a character goes on behind it, and
which one decides whether it does: of " 中" a model may have made a token of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from pybpe.inspection._texts import begins_inside, ends_inside, last_character

_TAIL = range(0x80, 0xC0)


def fits_utf8(text: bytes) -> bool:
    r"""Tell whether bytes can be part of UTF-8.

    >>> [fits_utf8(text) for text in (b"\xb8\xad a\xe4", b"\xff", b"\xe4a", b"\xe0\x80")]
    [True, False, False, False]
    """
    head, missing = begins_inside(text), ends_inside(text)
    if head > 3 or (head == len(text) and head):
        return head <= 3
    start = len(text)
    if missing:
        start = last_character(text)
        if next(endings(text[start:]), None) is None:
            return False
    try:
        text[head:start].decode()
    except UnicodeDecodeError:
        return False
    return next(beginnings(text[:head]), None) is not None


def endings(part: bytes) -> Iterator[bytes]:
    """Yield what may follow the beginning of a character, at most 4,096 of them."""
    missing = ends_inside(part)
    # The last bytes vary first and the others with them: near ones are alike.
    for number in range(64 ** min(missing, 2)):
        tail = bytes(
            0x80 + ((number >> 6 * i) + 29 * i * number) % 64 for i in range(missing)
        )[::-1]
        if missing == 0 or _is_character(part + tail):
            yield tail


def beginnings(part: bytes) -> Iterator[bytes]:
    """Yield what may come before the end of a character, at most some thousands."""
    if not part:
        yield b""
        return
    for size in range(len(part) + 1, 5):
        leads = {2: range(0xC2, 0xE0), 3: range(0xE0, 0xF0), 4: range(0xF0, 0xF5)}[size]
        between = size - 1 - len(part)
        for tail in product(_TAIL, repeat=min(between, 1)):
            for lead in leads:
                # Of two bytes between, the second goes with the first.
                middle = bytes([*tail, *tail][:between])
                if _is_character(bytes([lead]) + middle + part):
                    yield bytes([lead]) + middle


def around(text: bytes) -> Iterator[bytes]:
    """Yield texts in which a token's parts of characters are whole characters."""
    head = text[: begins_inside(text)]
    last = b""
    if ends_inside(text):
        last = text[last_character(text) :]
    before, behind = list(beginnings(head)), list(endings(last))
    n = max(len(before), len(behind))
    step = 1 if len(before) == 1 or len(behind) == 1 else 7
    for round_ in range(1 if step == 1 else 16):
        for i in range(n):
            at = i + step * round_
            yield before[i % len(before)] + text + behind[at % len(behind)]


def _is_character(data: bytes) -> bool:
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        return False
