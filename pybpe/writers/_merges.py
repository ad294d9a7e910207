"""Between ranks and lists of merges: exactly, or not at all.

What there is to know: under ranks, each token is made from one pair of tokens only.
Say two neighbours u and v merge to t somewhere in a text. No merge has crossed the ends
of t's bytes by then, so what happened between them is what happens when t's bytes are
merged alone, and that passes through one pair of tokens at most. So

- ranks are the same as the list of these pairs, by the ids that they make;
- a list of merges is the same as ranks if it holds all these pairs and has them in the
  order of the ids they make. By induction over the merges of a text: as long as both
  have done the same, the neighbours that ranks would merge are such pairs, and the
  list, too, takes the one that makes the lowest id, leftmost first. Whatever else is
  in the list never meets.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from pybpe import _binding
from pybpe._derivation import last_merge, token_bytes
from pybpe._engine_bpe import Engine
from pybpe.errors import ModelError
from pybpe.formats._source import shown
from pybpe.model import MERGES, RANKS, Model
from pybpe.split import Split
from pybpe.tokenizer import Tokenizer


class Merges(NamedTuple):
    """A list of merges.

    Attributes:
        pairs: Left and right id of each, by rank.
        made: The id that each makes.
    """

    pairs: list[tuple[int, int]]
    made: list[int]


def ordinary_tokens(model: Model, what: str) -> dict[bytes, int]:
    """Return the ordinary tokens and their ids, by ascending id.

    Raises:
        ModelError: Two tokens have equal bytes, which `what` cannot hold.
    """
    table: dict[bytes, int] = {}
    for token, number in zip(token_bytes(model), model.token_ids, strict=True):
        if table.setdefault(token, number) != number:
            raise ModelError(
                f"the token {shown(token)} has two ids, {table[token]} and {number}, "
                f"and {what} can hold one only"
            )
    return table


def merge_list(tokenizer: Tokenizer) -> Merges:
    """Return the merges that make the same ids, whatever kind the model is of.

    Where pretokens that are tokens are taken whole, they still have to be.
    """
    model = tokenizer._model
    assert isinstance(model, Model)  # noqa: S101 - the callers have refused others
    if model.semantics == MERGES:
        flat = model.merges.tolist()
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        return Merges(pairs, model.merge_ids.tolist())
    found = _rank_pairs(tokenizer)
    made = sorted(found)
    return Merges([found[number] for number in made], made)


def _rank_pairs(tokenizer: Tokenizer) -> dict[int, tuple[int, int]]:
    """Return the pair that makes each token of a model of ranks, where one does."""
    model, engine = tokenizer._model, tokenizer._engine
    assert isinstance(model, Model) and isinstance(engine, Engine)  # noqa: S101, PT018
    found = _binding.recover_merges(engine.model, model.token_ids)
    others = [
        (number, token)
        for number, token in zip(model.token_ids, token_bytes(model), strict=True)
        if len(token) > 1 and number not in found
    ]
    if others:
        # These are made, if at all, with the help of tokens that rank behind them.
        by_bytes = dict(zip(token_bytes(model), model.token_ids, strict=True))
        by_id = {number: token for token, number in by_bytes.items()}

        def rule(a: int, b: int) -> tuple[int, int] | None:
            made = by_bytes.get(by_id[a] + by_id[b])
            return None if made is None else (made, made)

        for number, token in others:
            ids = [by_bytes[token[i : i + 1]] for i in range(len(token))]
            pair = last_merge(ids, rule)
            if pair:
                found[number] = pair
    return found


def special_apart(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer whose special tokens are no ordinary ones, if merges allow.

    A `tokenizer.json` may have them in its vocabulary, too. As they are matched first,
    no text between them holds one; so an entry that merging neither makes nor needs
    says nothing, and other formats have no place for it.
    """
    model = tokenizer._model
    if not isinstance(model, Model) or model.semantics != MERGES:
        return tokenizer
    if model.flags or model.normalizers or model.split.changes:
        return tokenizer
    extra = {*model.special_tokens, *model.added_tokens}
    needed = {*model.merges, *model.merge_ids, *model.fallback_ids, model.unknown}
    kept = [
        (token, number)
        for token, number in zip(token_bytes(model), model.token_ids, strict=True)
        if len(token) == 1 or number in needed or (token, number) not in extra
    ]
    if len(kept) == len(model.token_ids):
        return tokenizer
    parts = {name: getattr(model, name) for name in model.__slots__}
    parts["token_data"] = b"".join(token for token, _ in kept)
    parts["token_lengths"] = array("I", [len(token) for token, _ in kept])
    parts["token_ids"] = array("I", [number for _, number in kept])
    return Tokenizer(Model(**parts))


def check_ranks(tokenizer: Tokenizer) -> None:
    """Refuse a model whose ids, taken as ranks, do not make the same ids.

    Raises:
        ModelError: Naming the first token or merge that is in the way.
    """
    model = tokenizer._model
    assert isinstance(model, Model)  # noqa: S101
    if model.semantics == RANKS and model.whole_pretoken:
        return
    found = _rank_pairs(Tokenizer(_plain(model, RANKS, True, Merges([], []))))
    pairs, made = merge_list(tokenizer)
    listed = dict(zip(reversed(pairs), reversed(made), strict=True))
    for number, pair in found.items():
        if listed.get(pair) != number:
            raise ModelError(
                f"ranks would merge the tokens {pair[0]} and {pair[1]} to "
                f"{shown(tokenizer.token_bytes(number))} (id {number}), and the list "
                "of merges does not"
            )
    last = -1
    for pair, number in dict.fromkeys(zip(pairs, made, strict=True)):
        if found.get(number) != pair:
            continue  # It never comes to this merge.
        if number < last:
            raise ModelError(
                f"the merge that makes {shown(tokenizer.token_bytes(number))} (id "
                f"{number}) comes after the one that makes id {last}: ids are not in "
                "the order of the merges, as ranks are"
            )
        last = number
    if not model.whole_pretoken:
        refuse_unmade(model, found.keys(), "ranks take pretokens whole")


def refuse_unmade(model: Model, made: object, why: str) -> None:
    """Refuse a model with tokens of several bytes that are not in `made`.

    Raises:
        ModelError: Naming the first one, and saying why that matters.
    """
    known = set(made)  # type: ignore[call-overload]
    for token, number in zip(token_bytes(model), model.token_ids, strict=True):
        if len(token) > 1 and number not in known:
            raise ModelError(
                f"no merges make the token {shown(token)} (id {number}), and {why}"
            )


def unmade_tokens(tokenizer: Tokenizer, merges: Merges) -> list[int]:
    """Return the ids of tokens that merging their bytes does not make.

    Whether pretokens are taken whole matters for these alone.
    """
    model = tokenizer._model
    assert isinstance(model, Model)  # noqa: S101
    plain = Tokenizer(_plain(model, MERGES, False, merges))
    rows = plain.encode_batch(list(token_bytes(model)))
    return [
        number
        for number, row in zip(model.token_ids, rows, strict=True)
        if row != [number]
    ]


def _plain(model: Model, semantics: str, whole: bool, merges: Merges) -> Model:
    """Return the vocabulary with other rules, no split and no special tokens."""
    flat = array("I", [number for pair in merges.pairs for number in pair])
    return Model(
        semantics=semantics,
        whole_pretoken=whole,
        token_data=model.token_data,
        token_lengths=model.token_lengths,
        token_ids=model.token_ids,
        merges=flat,
        merge_ids=array("I", merges.made),
        split=Split(),
    )
