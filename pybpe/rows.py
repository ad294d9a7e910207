"""Which row of a model's embedding or output matrix belongs to which id.

A language model has one row for each id. When its tokenizer changes, `row_map` says
which of the old rows belong where, and the new matrix follows in one line of numpy or
torch; docs/editing.md has the recipes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybpe._derivation import token_bytes
from pybpe._extras import need_numpy
from pybpe.model import Model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pybpe.tokenizer import Tokenizer


def row_map(old: Tokenizer, new: Tokenizer) -> NDArray[np.int64]:
    """Return which row of a matrix for `old` belongs to each id of `new`.

    A token of `new` has the row of the token of `old` with the same bytes that is of
    the same kind, ordinary or not; special and added tokens are of one kind. It works
    for any two tokenizers, whether one was made from the other by `truncate`, `prune`
    or `add_special_tokens`, or trained elsewhere. Of several ordinary tokens with equal
    bytes, which only a list of merges can have, those go together that are merged from
    the same parts.

    >>> from pybpe import Tokenizer
    >>> old = Tokenizer.from_merges([(97, 98), (256, 99)], pattern=None)
    >>> new = old.add_special_tokens(["<s>"])
    >>> row_map(old, new)[254:].tolist()
    [254, 255, 256, 257, -1]

    Args:
        old: The tokenizer that the matrix is for.
        new: The one that a matrix is wanted for.

    Returns:
        `int64`, shape (new.n_vocab,): `rows[new_id]` is the old id, or -1 where `old`
        has no such token or `new` has no token with this id.

    Raises:
        TypeError: An argument is no tokenizer.
        ValueError: One is byte-level and the other sentencepiece's: they spell their
            tokens differently.
    """
    need_numpy("row_map")
    import numpy as np

    from pybpe.tokenizer import Tokenizer

    for name, given in (("old", old), ("new", new)):
        if not isinstance(given, Tokenizer):
            raise TypeError(f"{name} must be a Tokenizer, got {type(given).__name__}")
    a, b = old._model, new._model
    if isinstance(a, Model) != isinstance(b, Model):
        raise ValueError(
            "of a byte-level and a sentencepiece tokenizer there is no row map: they "
            "spell their tokens differently"
        )
    rows = [-1] * new.n_vocab
    known = {**dict(a.added_tokens), **dict(a.special_tokens)}
    for token, number in (*b.added_tokens, *b.special_tokens):
        rows[number] = known.get(token, -1)
    ordinary = a.vocab()
    table = b.vocab()
    for token, number in table.items():
        # A token that is ordinary and special at once may have been only the latter.
        rows[number] = ordinary.get(token, rows[number])
    if (
        isinstance(a, Model)
        and isinstance(b, Model)
        and (len(table) < len(b.token_ids) or len(ordinary) < len(a.token_ids))
    ):
        _match_equal(a, b, rows)
    return np.array(rows, np.int64)


def _match_equal(old: Model, new: Model, rows: list[int]) -> None:
    """Put right the rows of ordinary tokens whose bytes others have, too."""
    places: dict[bytes, tuple[list[int], list[int]]] = {}
    for side, model in enumerate((old, new)):
        for number, token in zip(model.token_ids, token_bytes(model), strict=True):
            places.setdefault(token, ([], []))[side].append(number)
    made = _made_by(old)
    merged = set(made.values())
    pairs: dict[int, list[tuple[int, int]]] = {}
    for pair, number in _made_by(new).items():
        pairs.setdefault(number, []).append(pair)
    # Short ones first: parts are known then.
    for token in sorted(places, key=len):
        before, now = places[token]
        if not before or len(before) == len(now) == 1:
            continue
        # Those that no merge makes come first: they are for those left over.
        free = dict.fromkeys(sorted(before, key=merged.__contains__))
        for number in now:
            found = (made.get((rows[a], rows[b])) for a, b in pairs.get(number, ()))
            rows[number] = next((old_id for old_id in found if old_id in free), -1)
            free.pop(rows[number], None)
        for number in now:
            if rows[number] == -1 and free:
                rows[number] = next(iter(free))
                del free[rows[number]]


def _made_by(model: Model) -> dict[tuple[int, int], int]:
    """Return what each pair of ids makes; of equal pairs the first counts."""
    made: dict[tuple[int, int], int] = {}
    flat = model.merges.tolist()
    for left, right, number in zip(flat[::2], flat[1::2], model.merge_ids, strict=True):
        made.setdefault((left, right), number)
    return made
