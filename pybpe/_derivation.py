"""How merging makes a token of its symbols: what must stay if the token is to stay.

A token that turns up in any encoded text was made from the symbols of its own bytes
alone: no merge crossed its ends, and what happens elsewhere in a pretoken does not
change which of the pairs inside comes first. So merging the token's bytes by themselves
shows how it is made, and if they do not become the token, no merge ever makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise

from pybpe import _binding
from pybpe.model import CHARACTERS, RANKS, Model

Pair = tuple[int, int]
# (left id, right id) -> (rank, id made), None for a pair that does not merge.
Rule = Callable[[int, int], tuple[int, int] | None]


class Derivations:
    """The ids that each token of a model is merged from."""

    def __init__(self, model: Model, core: _binding.CData) -> None:
        """Look through the merges once.

        Args:
            model: A byte-level model.
            core: What the core made of it.
        """
        self._model = model
        self._tokens = dict(zip(model.token_ids, token_bytes(model), strict=True))
        self._by_bytes: dict[bytes, int] = {}
        for number, token in self._tokens.items():
            self._by_bytes.setdefault(token, number)
        # Of each token the pairs that make it, without those that come a second time.
        self._pairs: dict[int, list[Pair]] = {}
        self._rule: Rule
        if model.semantics == RANKS:
            found = _binding.recover_merges(core, model.token_ids)
            self._pairs = {number: [pair] for number, pair in found.items()}
            self._rule = self._by_rank
            return
        self._merges: dict[Pair, tuple[int, int]] = {}
        flat = model.merges.tolist()
        for rank, made in enumerate(model.merge_ids):
            pair = flat[2 * rank], flat[2 * rank + 1]
            if pair not in self._merges:
                self._merges[pair] = rank, made
                self._pairs.setdefault(made, []).append(pair)
        self._rule = lambda a, b: self._merges.get((a, b))

    def parts(self, number: int) -> set[int]:
        """Return the ids that a token is made from in its last merge.

        A symbol has none, nor has a token that no merge makes, though a pretoken that
        is one may be taken whole.
        """
        pairs = self._pairs.get(number, [])
        ranks = self._model.semantics == RANKS
        if len(pairs) == 1 or (not pairs and not ranks):
            return {part for pair in pairs for part in pair}
        # One of several pairs, or under ranks one with a part that ranks behind the
        # token, which recovering merges leaves out: see by merging.
        token = self._tokens.get(number)
        found: set[int] = set()
        for symbols in self._symbols(token) if token else ():
            ids = [self._by_bytes.get(symbol) for symbol in symbols]
            if None in ids:
                # What becomes of unknown symbols is more than merging; be generous.
                return {part for pair in pairs for part in pair}
            found.update(last_merge([i for i in ids if i is not None], self._rule))
        return found

    def _by_rank(self, left: int, right: int) -> tuple[int, int] | None:
        made = self._by_bytes.get(self._tokens[left] + self._tokens[right])
        return None if made is None else (made, made)

    def _symbols(self, token: bytes) -> Iterator[list[bytes]]:
        """Yield the symbols that a token's bytes are taken apart into.

        With a word suffix, a token may be one at the end of a pretoken or another.
        """
        if self._model.symbols != CHARACTERS:
            yield [token[i : i + 1] for i in range(len(token))]
            return
        text = token.decode("utf-8", "surrogateescape")
        yield [char.encode("utf-8", "surrogateescape") for char in text]
        suffix = self._model.word_suffix
        if suffix and token.endswith(suffix) and token != suffix:
            text = token.removesuffix(suffix).decode("utf-8", "surrogateescape")
            symbols = [char.encode("utf-8", "surrogateescape") for char in text]
            yield [*symbols[:-1], symbols[-1] + suffix]


def token_bytes(model: Model) -> Iterator[bytes]:
    """Yield the bytes of every ordinary token, by ascending id."""
    start = 0
    for length in model.token_lengths:
        yield model.token_data[start : start + length]
        start += length


def last_merge(ids: list[int], rule: Rule) -> Pair | tuple[()]:
    """Merge symbols, and return the last pair; () if they do not become one token.

    One merge at a time, lowest rank first, of several places the leftmost:
    O(n log n) for n symbols.
    """
    n = len(ids)
    after, before = list(range(1, n + 1)), list(range(-1, n - 1))
    due = [rule(a, b) for a, b in pairwise(ids)] + [None]
    heap = [(found[0], at) for at, found in enumerate(due) if found is not None]
    heapify(heap)
    left = n
    while heap:
        rank, at = heappop(heap)
        found = due[at]
        if found is None or found[0] != rank:
            continue  # left behind by a merge next to it
        gone = after[at]
        pair = ids[at], ids[gone]
        left -= 1
        if left == 1:
            return pair
        ids[at], after[at], due[gone] = found[1], after[gone], None
        if after[at] < n:
            before[after[at]] = at
        for place in (at, before[at]):
            if place >= 0:
                due[place] = None
                if after[place] < n:
                    due[place] = new = rule(ids[place], ids[after[place]])
                    if new is not None:
                        heappush(heap, (new[0], place))
    return ()
