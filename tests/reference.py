"""Byte pair encoding as slow and obvious as it can be: what the core must equal.

Training looks at all the text anew for every merge, and encoding looks at all pairs
anew for every step. There is nothing clever here, so that reading can check it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

Pair = tuple[int, int]


def replace(ids: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Replace a pair by a new id wherever it occurs, from left to right.

    >>> replace([1, 1, 1, 2, 1, 1], (1, 1), 9)
    [9, 1, 2, 9]
    """
    out: list[int] = []
    i = 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def count_pairs(words: Iterable[tuple[Sequence[int], int]]) -> dict[Pair, int]:
    """Count adjacent pairs; the dict's order is that of their first occurrences.

    Occurrences that overlap count apart: three equal ids are two equal pairs.
    """
    counts: dict[Pair, int] = {}
    for ids, frequency in words:
        for pair in itertools.pairwise(ids):
            counts[pair] = counts.get(pair, 0) + frequency
    return counts


def best_pair(counts: Mapping[Pair, int], tie_break: str) -> Pair:
    """Return the pair to merge next."""
    most = max(counts.values())
    tied = [pair for pair, count in counts.items() if count == most]
    return tied[0] if tie_break == "first" else min(tied)


def train(
    words: Iterable[tuple[bytes, int]],
    n_merges: int,
    *,
    tie_break: str = "lowest",
    bytes_by_id: bytes = bytes(range(256)),
    min_frequency: int = 1,
    max_token_bytes: int | None = None,
    initial: Sequence[Pair] = (),
    first_id: int | None = None,
    known: Iterable[bytes] = (),
) -> tuple[list[Pair], list[int]]:
    """Learn merges.

    Args:
        words: Pretokens and their frequencies, in the order of the text. A pretoken may
            come more than once.
        n_merges: How many merges to learn, if there are so many.
        tie_break: "lowest" or "first".
        bytes_by_id: The single bytes by ascending id.
        min_frequency: The least count of a pair that is merged.
        max_token_bytes: The greatest length of a token that is made; None for any.
        initial: Merges that there are already; the words are encoded by them first.
        first_id: The id of the first token that is made; by default the next one.
        known: Tokens that no merge may spell.

    Returns:
        The merges, and the count that each pair had when it was merged.
    """
    text = [
        (encode_merges(word, initial, None, bytes_by_id), n) for word, n in words if n
    ]
    spelt = dict(enumerate(tokens_of(initial, bytes_by_id)))
    first = len(spelt) if first_id is None else first_id
    known = set(known)
    merges: list[Pair] = []
    merge_counts: list[int] = []
    while len(merges) < n_merges:
        counts = {
            (left, right): count
            for (left, right), count in count_pairs(text).items()
            if max_token_bytes is None
            or len(spelt[left] + spelt[right]) <= max_token_bytes
            if spelt[left] + spelt[right] not in known
        }
        if not counts:
            break
        pair = best_pair(counts, tie_break)
        if counts[pair] < min_frequency:
            break
        new = first + len(merges)
        spelt[new] = spelt[pair[0]] + spelt[pair[1]]
        text = [(replace(ids, pair, new), n) for ids, n in text]
        merges.append(pair)
        merge_counts.append(counts[pair])
    return merges, merge_counts


def train_quickly(
    words: Iterable[tuple[bytes, int]], n_merges: int, tie_break: str = "lowest"
) -> list[Pair]:
    """Learn the merges that `train` learns, from texts of real size.

    The same steps, but only the words that a merge changes are looked at again. This
    is not obvious any more: a test compares it with `train`.
    """
    text = [(list(word), n) for word, n in words if n]
    counts: dict[Pair, int] = {}
    places: dict[Pair, set[int]] = {}

    def count(number: int, sign: int) -> None:
        ids, frequency = text[number]
        for pair in itertools.pairwise(ids):
            counts[pair] = counts.get(pair, 0) + sign * frequency
            places.setdefault(pair, set()).add(number)

    for number in range(len(text)):
        count(number, 1)
    merges: list[Pair] = []
    while len(merges) < n_merges and (most := max(counts.values(), default=0)):
        tied = {pair for pair, count in counts.items() if count == most}
        if tie_break == "lowest":
            best = min(tied)
        else:
            pairs = (pair for ids, _ in text for pair in itertools.pairwise(ids))
            best = next(pair for pair in pairs if pair in tied)
        for number in places.pop(best):
            count(number, -1)
            ids, frequency = text[number]
            text[number] = replace(ids, best, 256 + len(merges)), frequency
            count(number, 1)
        merges.append(best)
    return merges


def tokens_of(
    merges: Iterable[Pair], bytes_by_id: bytes = bytes(range(256))
) -> list[bytes]:
    """Return the bytes of all tokens, by id."""
    tokens = [bytes([byte]) for byte in bytes_by_id]
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])
    return tokens


def encode_merges(
    pretoken: bytes,
    merges: Sequence[Pair],
    merge_ids: Sequence[int] | None = None,
    bytes_by_id: bytes = bytes(range(256)),
) -> list[int]:
    """Encode one pretoken where only listed pairs merge.

    One merge at a time: the pair that comes first in the list, and of several
    occurrences the leftmost.
    """
    rank: dict[Pair, int] = {}
    for i, pair in enumerate(merges):
        rank.setdefault(pair, i)
    made = range(256, 256 + len(merges)) if merge_ids is None else merge_ids
    id_of = {byte: number for number, byte in enumerate(bytes_by_id)}
    ids = [id_of[byte] for byte in pretoken]
    while True:
        found = [
            (rank[pair], i)
            for i, pair in enumerate(itertools.pairwise(ids))
            if pair in rank
        ]
        if not found:
            return ids
        which, i = min(found)
        ids[i : i + 2] = [made[which]]


def encode_ranks(
    pretoken: bytes, ranks: Mapping[bytes, int], *, whole: bool = True
) -> list[int]:
    """Encode one pretoken where any two parts merge whose concatenation is a token.

    One merge at a time: the token of the lowest rank, and of several places the
    leftmost. With `whole`, a pretoken that is a token is taken as it is.
    """
    if whole and pretoken in ranks:
        return [ranks[pretoken]]
    parts = [pretoken[i : i + 1] for i in range(len(pretoken))]
    while True:
        found = [
            (ranks[left + right], i)
            for i, (left, right) in enumerate(itertools.pairwise(parts))
            if left + right in ranks
        ]
        if not found:
            return [ranks[part] for part in parts]
        _, i = min(found)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
