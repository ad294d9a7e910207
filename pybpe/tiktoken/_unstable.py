"""What may still change at the end of a text: `Encoding.encode_with_unstable`.

tiktoken defines by what it does: the last pretoken is unstable, and so are all white
space tokens before it if it begins with one. Its completions are

- every token that begins with the unstable bytes;
- for each place within the unstable bytes, and each token that begins with what is
  behind the place: the ids of what is before it and the token, up to the id that
  reaches the end of the unstable bytes;
- if white space ends the unstable bytes, the ids of what is before its last character,
  and those of that.

The second are many: half of the tokens, where one space is behind the place. They are
encoded by one call of the core for a few megabytes of them.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from pybpe import _binding
from pybpe.normalizers import WHITE_SPACE
from pybpe.permissions import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from pybpe.permissions import Allowed, Disallowed
    from pybpe.tokenizer import Tokenizer

# How many bytes of possible texts are encoded at once.
_AT_ONCE = 1 << 22

_SPACES = b" \n\t"


def stable_ids(
    tokenizer: Tokenizer, data: bytes, allowed: Allowed, disallowed: Disallowed
) -> tuple[list[int], bytes]:
    """Return the ids of a text but for the unstable ones, and these as bytes.

    Raises:
        SpecialTokenError: The text spells a disallowed special token.
    """
    ids = tokenizer.encode(data, allowed_special=allowed, disallowed_special=disallowed)
    match, _ = tokenizer._permissions.matchers(allowed, disallowed)
    found = _binding.find_all(getattr(match, "together", match), data)
    stretch = data[found[-1][1] :] if found else data
    if not stretch:
        return ids, b""
    last = stretch[_last_start(tokenizer, stretch) :]
    engine: Any = tokenizer._engine
    n = len(engine.encode_pretokens(last, [len(last)]))
    special = {number for _, number in tokenizer._model.special_tokens}

    def is_space(number: int) -> bool:
        token = None if number in special else engine.token_bytes(number)
        return token is not None and not token.strip(_SPACES)

    if is_space(ids[-n]):
        while n < len(ids) and is_space(ids[-n - 1]):
            n += 1
    return ids[:-n], b"".join(map(tokenizer.token_bytes, ids[-n:]))


def _last_start(tokenizer: Tokenizer, stretch: bytes) -> int:
    """Return where the last pretoken of a text without special tokens begins."""
    split = tokenizer._model.split
    engine: Any = tokenizer._engine
    if split.compiled:
        ends = _binding.split_ends(engine.split, stretch)
    else:
        ends = split.ends(stretch)
    return ends[-2] if len(ends) > 1 else 0


def completions(
    tokenizer: Tokenizer,
    unstable: bytes,
    tokens: Sequence[bytes],
    ids: Sequence[int],
    lengths: Sequence[int],
    merged_apart: Callable[[bytes], list[int]],
) -> list[list[int]]:
    """Return what unstable bytes may become, in no order.

    Args:
        tokenizer: The tokenizer.
        unstable: At least one byte; valid UTF-8.
        tokens: The bytes of the ordinary tokens, sorted.
        ids: The ids of these tokens.
        lengths: How many bytes each id stands for.
        merged_apart: The ids of one pretoken by merges alone.
    """
    engine: Any = tokenizer._engine
    n = len(unstable)
    first, last = _beginning_with(tokens, unstable)
    match, _ = tokenizer._permissions.matchers(NONE, ())
    made: set[tuple[int, ...]] = set(zip(ids[first:last]))
    for texts, valid in _possible(tokens, unstable):
        if valid:
            rows = engine.encode_batch(texts, match, None)
        else:
            rows = map(merged_apart, texts)
        made.update(_reaching(row, n, lengths) for row in rows)
    space = unstable.decode()[-1]
    rest = unstable[: n - len(space.encode())]
    if rest and space in WHITE_SPACE:
        made.add((*merged_apart(rest), *merged_apart(space.encode())))
    return list(map(list, made))


def _beginning_with(tokens: Sequence[bytes], prefix: bytes) -> tuple[int, int]:
    """Return the range of the tokens that begin with a prefix."""
    first = bisect_left(tokens, prefix)
    after = prefix.rstrip(b"\xff")
    if not after:
        return first, len(tokens)
    after = after[:-1] + bytes([after[-1] + 1])
    return first, bisect_left(tokens, after, first)


def _possible(
    tokens: Sequence[bytes], unstable: bytes
) -> Iterator[tuple[list[bytes], bool]]:
    """Yield texts that the unstable bytes begin, and whether they are UTF-8.

    A text is the unstable bytes and what a token has behind those that it begins with.
    Tokens that begin at different places often have the same there.
    """
    more: set[bytes] = set()
    for n in range(1, len(unstable)):
        first, last = _beginning_with(tokens, unstable[-n:])
        more.update(token[n:] for token in tokens[first:last])
    valid: list[bytes] = []
    invalid: list[bytes] = []
    for rest in more:
        (valid if rest.isascii() or _is_utf8(rest) else invalid).append(rest)
    step = max(1, _AT_ONCE // (len(unstable) + 8))
    for rests, is_valid in ((valid, True), (invalid, False)):
        for first in range(0, len(rests), step):
            yield [unstable + rest for rest in rests[first : first + step]], is_valid


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _reaching(ids: list[int], size: int, lengths: Sequence[int]) -> tuple[int, ...]:
    """Return the ids up to the one that reaches a size in bytes."""
    for n, number in enumerate(ids, 1):
        size -= lengths[number]
        if size <= 0:
            return tuple(ids[:n])
    return tuple(ids)
