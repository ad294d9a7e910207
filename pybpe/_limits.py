"""How much of a text a number of ids holds.

No formula says: the ids of a part of a text need not be a part of its ids, for both the
split and the merges look at what comes behind. So the cut is guessed, at the end of as
many ids as are wanted, and the part is encoded by itself to see. Nearly always that was
right; if not, the part is made shorter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybpe import _binding, _spans
from pybpe._engine import ForbiddenText
from pybpe._ids import index
from pybpe._text import to_utf8
from pybpe.errors import NoOffsetsError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pybpe.permissions import Allowed, Disallowed, Token

# As many bytes per id are encoded at first, and as many ids more than are wanted: what
# is behind a cut has then hardly any influence on where it is.
_BYTES_PER_ID = 6
_MORE_IDS = 32


def checked(number: object, what: str, least: int = 0) -> int:
    """Return a limit given by a caller.

    Raises:
        TypeError: It is not an int.
        ValueError: It is too small.
    """
    if isinstance(number, bool):
        raise TypeError(f"{what} must be an int, got a bool")
    value = index(number, what)
    if value < least:
        raise ValueError(f"{what} must be {least} or more, got {value}")
    return value


def fits(
    tokenizer: Any, text: Token, n: int, allowed: Allowed, disallowed: Disallowed
) -> bool:
    """Tell whether a text has at most `n` ids: see `Tokenizer.fits`."""
    limit = checked(n, "n")
    most = _most_bytes(tokenizer, limit)
    # Of a str, each character is at least one byte.
    if most is not None and hasattr(text, "__len__") and len(text) > most:
        return False
    count: int = tokenizer.count(
        text, allowed_special=allowed, disallowed_special=disallowed
    )
    return count <= limit


def relevant(tokenizer: Any, text: Any, limit: int, side: str) -> Any:
    """Return the part of a long text that can be told from it to fit or not."""
    most = _most_bytes(tokenizer, limit)
    if most is None or not isinstance(text, (str, bytes)) or len(text) <= most + 4:
        return text
    # More than fits, so that it is seen not to fit, and the character at the cut,
    # which may be broken, is not in what stays.
    return text[: most + 4] if side == "right" else text[-most - 4 :]


def _most_bytes(tokenizer: Any, limit: int) -> int | None:
    """Return how many bytes some ids stand for at most; None if there is no telling."""
    if not _spans.tiles(tokenizer):
        return None
    return limit * max(_spans.token_lengths(tokenizer))


class Cutter:
    """Finds how much of a text fits."""

    def __init__(
        self, tokenizer: Any, allowed: Allowed, disallowed: Disallowed
    ) -> None:
        """Use one tokenizer with one set of permissions."""
        self._permissions = tokenizer._permissions
        self._allowed, self._disallowed = allowed, disallowed
        self._match, self._forbidden = self._permissions.matchers(allowed, disallowed)
        self._engine = tokenizer._engine
        self._encode = _spans.encoder(tokenizer)

    def refuse_forbidden(self, data: bytes, begin: int, end: int) -> None:
        """Refuse a part of a text that spells a disallowed special token.

        Raises:
            SpecialTokenError: It does.
        """
        if self._forbidden is None:
            return
        found = _binding.find_all(self._forbidden, data[begin:end])
        if found:
            hit = ForbiddenText(begin + found[0][0])
            raise self._permissions.refusal(data, hit, self._allowed, self._disallowed)

    def fitting_end(self, data: bytes, begin: int, limit: int) -> int:
        """Return the end of a part from `begin` on that has at most `limit` ids."""
        size = limit * _BYTES_PER_ID + _MORE_IDS
        while True:
            stop = _floor(data, begin + size)
            spans = self._spans(data[begin:stop])
            if stop == len(data) or len(spans) > limit + _MORE_IDS:
                break
            size *= 2
        if stop == len(data) and len(spans) <= limit:
            return stop
        less = 0
        while less < limit:
            end = _floor(data, begin + spans[limit - less - 1][1])
            if end <= begin:
                break
            excess = self._count(data[begin:end]) - limit
            if excess <= 0:
                return end
            less += max(excess, less)
        end = _ceiling(data, begin + 1)
        return end if limit and self._count(data[begin:end]) <= limit else begin

    def fitting_start(self, data: bytes, begin: int, end: int, limit: int) -> int:
        """Return the start of a part, not before `begin`, up to `end` that fits."""
        size = limit * _BYTES_PER_ID + _MORE_IDS
        while True:
            stop = max(begin, _ceiling(data, end - size))
            spans = self._spans(data[stop:end])
            if stop == begin or len(spans) > limit + _MORE_IDS:
                break
            size *= 2
        if stop == begin and len(spans) <= limit:
            return begin
        less = 0
        while less < limit:
            start = _ceiling(data, stop + spans[less - limit][0])
            if start >= end:
                break
            excess = self._count(data[start:end]) - limit
            if excess <= 0:
                return start
            less += max(excess, less)
        start = _floor(data, end - 1)
        return start if limit and self._count(data[start:end]) <= limit else end

    def _count(self, data: bytes) -> int:
        count: int = self._engine.count(data, self._match, None)
        return count

    def _spans(self, data: bytes) -> list[tuple[int, int]]:
        """Return about where ids come from: exactly, if it is known."""
        try:
            return self._encode(data, self._match, None)[1]
        except NoOffsetsError:
            n = self._count(data)
            return [(len(data) * i // n, len(data) * (i + 1) // n) for i in range(n)]


def ranges(
    cutter: Cutter, data: bytes, limit: int, overlap: int
) -> Iterator[tuple[int, int]]:
    """Yield where the pieces of a text begin and end: see `Tokenizer.split_text`.

    Raises:
        ValueError: A character has more than `limit` ids.
    """
    begin = last_end = 0
    while last_end < len(data):
        end = cutter.fitting_end(data, begin, limit)
        if end <= last_end:
            if begin == last_end:
                char = to_utf8(data[begin : _ceiling(data, begin + 1)])
                raise ValueError(
                    f"{char.decode('utf-8', 'backslashreplace')!r} (byte {begin}) "
                    f"alone has more than {limit} ids: raise max_tokens"
                )
            begin = last_end  # The overlap leaves no room for the next character.
            continue
        yield begin, end
        last_end = end
        if overlap:
            start = cutter.fitting_start(data, begin, end, overlap)
            begin = max(start, _ceiling(data, begin + 1))
        else:
            begin = end


def _floor(data: bytes, at: int) -> int:
    """Return the last boundary of characters that is not behind a place."""
    if at >= len(data):
        return len(data)
    start = max(at, 0)
    while start > max(0, at - 3) and data[start] & 0xC0 == 0x80:
        start -= 1
    return start if start + _character_size(data, start) > at else max(at, 0)


def _ceiling(data: bytes, at: int) -> int:
    """Return the first boundary of characters that is not before a place."""
    start = _floor(data, at)
    return start if start >= at else start + _character_size(data, start)


def _character_size(data: bytes, at: int) -> int:
    """Return the size of the character that begins at a place, or of a stray byte."""
    if at >= len(data) or data[at] < 0xC2:
        return 1
    size = 2 if data[at] < 0xE0 else 3 if data[at] < 0xF0 else 4
    try:
        data[at : at + size].decode()
    except UnicodeDecodeError:
        return 1
    return size
