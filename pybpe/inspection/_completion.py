r"""Texts around a token that holds parts of characters: ways to make them whole.

A token such as b" \xe4\xb8" turns up only where a character goes on behind it, and
which one decides whether it does: of " 中" a model may have made a token of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from pybpe.inspection._texts import begins_inside, ends_inside, last_character

_TAIL = range(0x80, 0xC0)


def fits_utf8(text: bytes) -> bool:
    r"""Tell whether bytes can be part of UTF-8.

    >>> fits_utf8(b"\xb8\xad a\xe4"), fits_utf8(b"\xff"), fits_utf8(b"\xe0\x80")
    (True, False, False)
    """
    head, missing = begins_inside(text), ends_inside(text)
    if head > 3 or (head == len(text) and head):
        return head <= 3
    start = len(text)
    if missing:
        start = last_character(text)
        if not endings(text[start:]):
            return False
    try:
        text[head:start].decode()
    except UnicodeDecodeError:
        return False
    return len(beginnings(text[:head])) > 0


@lru_cache(maxsize=64)
def endings(part: bytes) -> tuple[bytes, ...]:
    """Return what may follow the beginning of a character: 4,096 ways at most."""
    missing = ends_inside(part)
    if not missing:
        return (b"",)
    # The first missing bytes vary with the last one: near ways are not alike.
    tails = (
        bytes(0x80 + ((n >> 6 * i) + 29 * i * n) % 64 for i in reversed(range(missing)))
        for n in range(64 ** min(missing, 2))
    )
    return tuple(tail for tail in tails if _is_character(part + tail))


@lru_cache(maxsize=64)
def beginnings(part: bytes) -> tuple[bytes, ...]:
    """Return what may come before the end of a character: some thousand ways."""
    if not part:
        return (b"",)
    found = []
    for size in range(len(part) + 1, 5):
        leads = {2: range(0xC2, 0xE0), 3: range(0xE0, 0xF0), 4: range(0xF0, 0xF5)}[size]
        between = size - 1 - len(part)
        for tail in product(_TAIL, repeat=min(between, 1)):
            for lead in leads:
                # Of two bytes between, the second goes with the first.
                head = bytes([lead, *tail, *tail][: 1 + between])
                if _is_character(head + part):
                    found.append(head)
    return tuple(found)


def around(text: bytes) -> Iterator[bytes]:
    """Yield texts in which a token's parts of characters are whole characters."""
    head = text[: begins_inside(text)]
    last = b""
    if ends_inside(text):
        last = text[last_character(text) :]
    before, behind = beginnings(head), endings(last)
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
