"""Which tokenizers training can go on from, and the merges that it goes on with."""

from __future__ import annotations

from array import array
from itertools import chain

from pybpe import _binding
from pybpe._derivation import token_bytes
from pybpe._engine_bpe import Engine
from pybpe._typing import TYPE_CHECKING
from pybpe.model import (
    BYTES,
    LSTRIP,
    MERGES,
    NORMALIZED,
    RSTRIP,
    SINGLE_WORD,
    UNMATCHED,
    Model,
)

if TYPE_CHECKING:
    from pybpe.tokenizer import Tokenizer


def check_initial(initial: object) -> Tokenizer:
    """Return a tokenizer that training can go on from.

    Raises:
        TypeError: It is no tokenizer.
        ValueError: It does more than the trainer does, or merges by other rules.
    """
    from pybpe.tokenizer import Tokenizer

    if not isinstance(initial, Tokenizer):
        raise TypeError(f"initial must be a Tokenizer, got {type(initial).__name__}")
    model = initial._model
    why = ""
    if not isinstance(model, Model):
        why = "it is a sentencepiece model"
    elif model.symbols != BYTES or model.word_suffix:
        why = "its merges do not start from the 256 single bytes"
    elif model.normalizers:
        why = "it changes texts before it splits them"
    elif any(f & (LSTRIP | RSTRIP | SINGLE_WORD) for f in model.flags.values()):
        why = "it has special or added tokens that match under conditions"
    elif _normalized(model) not in (set(), {0}, {NORMALIZED}):
        why = "it looks for some of its special and added tokens later than for others"
    if why:
        raise ValueError(f"initial: training cannot go on from {initial!r}: {why}")
    return initial


def _normalized(model: Model) -> set[int]:
    """Return which values the flag NORMALIZED has among the tokens that are matched."""
    numbers = [n for _, n in (*model.special_tokens, *model.added_tokens)]
    flags = [model.flags.get(number, 0) for number in numbers]
    return {f & NORMALIZED for f in flags if not f & UNMATCHED}


def pairs_model(initial: Tokenizer) -> Model:
    """Return the model of a tokenizer that `check_initial` allows, by pairs.

    Under ranks any two neighbours merge that make a token. Where each token is made of
    two that rank before it, that is no more than its own pair: when all that rank
    before the token are merged as far as they go, the bytes of the token, if no merge
    crossed their ends, have become what they become by themselves, which is that
    pair. For the same reason no merge learnt later sets off one that ranks before it.

    Raises:
        ValueError: Ranks have tokens that are not made like that.
    """
    model, engine = initial._model, initial._engine
    assert isinstance(model, Model) and isinstance(engine, Engine)  # noqa: S101, PT018
    if model.semantics == MERGES:
        return model
    pairs = _binding.recover_merges(engine.model, model.token_ids)
    others = [
        token
        for number, token in zip(model.token_ids, token_bytes(model), strict=True)
        if len(token) > 1 and number not in pairs
    ]
    if others:
        shown = ", ".join(map(repr, others[:3])) + (", ..." if others[3:] else "")
        raise ValueError(
            f"initial: training cannot go on from {initial!r}: {len(others)} of its "
            f"tokens are not made of two that rank before them ({shown}), so that a "
            "merge learnt later could set off an earlier one; if there is a "
            "tokenizer.json of it, which lists its merges, go on from that"
        )
    parts = {name: getattr(model, name) for name in model.__slots__}
    parts["semantics"] = MERGES
    parts["merges"] = array("I", chain.from_iterable(pairs.values()))
    parts["merge_ids"] = array("I", pairs)
    return Model(**parts)
