"""Operations on vocabularies that make a new tokenizer from one.

Which rows of a model's matrices belong to the new ids, `rows.row_map` says, of any two
tokenizers.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, cast

from pybpe import _binding, vocabulary
from pybpe._derivation import Derivations, token_bytes
from pybpe._ids import index
from pybpe._text import to_utf8
from pybpe.errors import UnknownTokenError
from pybpe.model import BYTES, MAX_EXTRA, RANKS, SOME_BYTES, Model

if TYPE_CHECKING:
    from pybpe._engine_bpe import Engine
    from pybpe.codepoint import CodepointModel, Provenance
    from pybpe.tokenizer import Tokenizer

Token = str | bytes
Extra = tuple[tuple[bytes, int], ...]

# ---------------------------------------------------------------- truncate


def truncate(tokenizer: Tokenizer, vocab_size: int) -> Tokenizer:
    """See `Tokenizer.truncate`."""
    model = _byte_level(tokenizer, "truncate")
    if isinstance(vocab_size, bool):
        raise TypeError(f"vocab_size must be an int, got {vocab_size}")
    size = index(vocab_size, "vocab_size")
    kept = {number for _, number in (*model.special_tokens, *model.added_tokens)}
    kept |= _named(model)
    order = _order_of_making(model)
    made = set(order)
    kept.update(number for number in model.token_ids if number not in made)
    if not len(kept) <= size <= model.vocab_size:
        raise ValueError(
            f"vocab_size must be between {len(kept)} (the tokens that no merge makes, "
            f"and special and added ones) and {model.vocab_size} (what there is), got "
            f"{size}"
        )
    missing = size - len(kept)
    for number in order:
        if not missing:
            break
        if number not in kept:
            kept.add(number)
            missing -= 1
    return _with_only(model, kept, f"truncated from {model.vocab_size} to {size} ids")


def _order_of_making(model: Model) -> list[int]:
    """Return the ids that merges make, in the order in which training made them.

    Under ranks that is the order of ids. A merge list is read from its beginning; a
    merge with a part that only a later one makes waits for it.
    """
    if model.semantics == RANKS:
        lengths = zip(model.token_ids, model.token_lengths, strict=True)
        return [number for number, length in lengths if length > 1]
    there = set(model.token_ids).difference(model.merge_ids)
    flat = model.merges.tolist()
    order: list[int] = []
    waiting: dict[int, list[int]] = {}
    for first in range(len(model.merge_ids)):
        due = deque([first])
        while due:
            i = due.popleft()
            made = model.merge_ids[i]
            if made in there:
                continue
            absent = [part for part in flat[2 * i : 2 * i + 2] if part not in there]
            if absent:
                waiting.setdefault(absent[0], []).append(i)
                continue
            there.add(made)
            order.append(made)
            due.extend(waiting.pop(made, ()))
    return order


# ---------------------------------------------------------------- prune


def prune(
    tokenizer: Tokenizer, keep: Iterable[int], *, keep_special: bool
) -> Tokenizer:
    """See `Tokenizer.prune`."""
    model = _byte_level(tokenizer, "prune")
    ordinary = set(model.token_ids)
    extra = {number for _, number in (*model.special_tokens, *model.added_tokens)}
    asked = _ids(keep, ordinary | extra)
    kept = asked | _named(model)
    if keep_special:
        kept |= extra
    if model.symbols in (BYTES, SOME_BYTES):
        lengths = zip(model.token_ids, model.token_lengths, strict=True)
        kept.update(number for number, length in lengths if length == 1)
    engine = cast("Engine", tokenizer._engine)  # a byte-level model has this kind
    derivations = Derivations(model, engine.model)
    due = [number for number in kept if number in ordinary]
    while due:
        new = derivations.parts(due.pop()) - kept
        kept |= new
        due.extend(new)
    note = f"pruned from {model.vocab_size} to {len(kept)} ids"
    return _with_only(model, kept, note)


def _ids(keep: object, known: set[int]) -> set[int]:
    """Return the ids to keep.

    Raises:
        TypeError: Not an iterable of ints.
        UnknownTokenError: No token has one of them.
    """
    if isinstance(keep, (str, bytes, bytearray, Mapping)) or not isinstance(
        keep, Iterable
    ):
        raise TypeError(
            f"keep must be an iterable of ids, got {type(keep).__name__}: the ids of "
            "all tokens are range(tok.n_vocab), but for gaps"
        )
    found: set[int] = set()
    # Arrays give plain ints at once.
    for number in keep.tolist() if hasattr(keep, "tolist") else keep:
        if isinstance(number, bool):
            raise TypeError(
                "keep must hold ids, got a bool: of a mask take numpy.flatnonzero"
            )
        value = index(number, "an id in keep")
        if value not in known:
            raise UnknownTokenError(f"keep: no token has id {value}")
        found.add(value)
    return found


# ---------------------------------------------------------------- both


def _byte_level(tokenizer: Tokenizer, what: str) -> Model:
    model = tokenizer._model
    if not isinstance(model, Model):
        raise ValueError(
            f"{what} is for byte-level models only, and this is a sentencepiece one, "
            "which has scores in place of merges"
        )
    return model


def _named(model: Model) -> set[int]:
    """Return the ids that a model's settings name, and so cannot be without."""
    named = {*model.fallback_ids, *model.text_prefix, *model.text_suffix}
    if model.unknown is not None:
        named.add(model.unknown)
    named.discard(_binding.NO_ID)
    return named


def _with_only(model: Model, kept: set[int], note: str) -> Tokenizer:
    """Return the tokenizer of a model's tokens with the ids in `kept`, made dense."""
    new = {old: number for number, old in enumerate(sorted(kept))}
    tokens: list[bytes] = []
    ids = array("I")
    for number, token in zip(model.token_ids, token_bytes(model), strict=True):
        if number in new:
            tokens.append(token)
            ids.append(new[number])
    merges, merge_ids = array("I"), array("I")
    first: dict[tuple[int, int], int] = {}
    flat = model.merges.tolist()
    for i, made in enumerate(model.merge_ids):
        left, right = flat[2 * i], flat[2 * i + 1]
        # Of equal pairs the first counts: the next must not take its place.
        counts = first.setdefault((left, right), made)
        if made in new and left in new and right in new and counts in new:
            merges.extend((new[left], new[right]))
            merge_ids.append(new[made])
    return _changed(
        model,
        note,
        token_data=b"".join(tokens),
        token_lengths=array("I", map(len, tokens)),
        token_ids=ids,
        merges=merges,
        merge_ids=merge_ids,
        special_tokens=_renumbered(model.special_tokens, new),
        added_tokens=_renumbered(model.added_tokens, new),
        unknown=None if model.unknown is None else new[model.unknown],
        fallback_ids=array("I", (new.get(i, i) for i in model.fallback_ids)),
        flags={new[i]: flags for i, flags in model.flags.items() if i in new},
        text_prefix=tuple(new[i] for i in model.text_prefix),
        text_suffix=tuple(new[i] for i in model.text_suffix),
    )


def _renumbered(tokens: Extra, new: Mapping[int, int]) -> Extra:
    return tuple((token, new[number]) for token, number in tokens if number in new)


def _changed(model: Model | CodepointModel, note: str, **parts: object) -> Tokenizer:
    """Return a tokenizer of a model with some parts exchanged, and a note of it."""
    from pybpe.tokenizer import Tokenizer

    # What a class keeps in slots is what its constructor takes.
    known: dict[str, Any] = {name: getattr(model, name) for name in model.__slots__}
    known.update(parts)
    known["provenance"] = _noted(model.provenance, note)
    return Tokenizer(type(model)(**known))


def _noted(provenance: Provenance, note: str) -> Provenance:
    before = provenance.get("edited")
    return {**provenance, "edited": f"{before}; {note}" if before else note}


# ---------------------------------------------------------------- special tokens


def add_special_tokens(
    tokenizer: Tokenizer, tokens: Mapping[Token, int] | Iterable[Token]
) -> Tokenizer:
    """See `Tokenizer.add_special_tokens`."""
    model = tokenizer._model
    if isinstance(tokens, Mapping):
        new = vocabulary.extra_tokens(tokens, "tokens")
    else:
        new = _numbered(tokens, tokenizer.n_vocab)
    _refuse_clashes(tokenizer, new)
    note = f"added {len(new)} special token{'s' if len(new) != 1 else ''}"
    if not isinstance(model, Model):
        return _with_control_pieces(model, new, note)
    special = model.special_tokens + new
    if len(special) > MAX_EXTRA:
        raise ValueError(
            f"with these there would be {len(special)} special tokens; the limit is "
            f"{MAX_EXTRA}"
        )
    if model.special_tokens and new and new[0][1] < model.special_tokens[-1][1]:
        special = tuple(sorted(special, key=vocabulary.id_of))
    return _changed(model, note, special_tokens=special)


def _numbered(tokens: object, first: int) -> Extra:
    """Return tokens as bytes with the ids from `first` on.

    Raises:
        TypeError: Not an ordered iterable of str or bytes.
        ValueError: A token is empty or comes twice.
    """
    if isinstance(tokens, (str, bytes, bytearray, memoryview)):
        raise TypeError(
            f"tokens must be a list of tokens, got one {type(tokens).__name__}: make "
            "it a list"
        )
    if not isinstance(tokens, Iterable) or isinstance(tokens, Set):
        raise TypeError(
            "tokens must be a list of tokens, or a mapping from tokens to ids, got a "
            f"{type(tokens).__name__}: their order decides their ids"
        )
    given = list(tokens)
    try:
        strings = list(map(to_utf8, given))
    except TypeError:
        strings = [to_utf8(token, f"tokens[{i}]") for i, token in enumerate(given)]
    if len({b"", *strings}) <= len(strings):
        seen: set[bytes] = set()
        for i, string in enumerate(strings):
            if not string:
                raise ValueError(f"tokens[{i}] is empty: it would match everywhere")
            if string in seen:
                raise ValueError(f"tokens[{i}], {given[i]!r}, is there twice")
            seen.add(string)
    if first + len(strings) > _binding.MAX_IDS:
        raise ValueError(
            f"{len(strings)} tokens are too many: the last would have the id "
            f"{first + len(strings) - 1}, and ids lie below {_binding.MAX_IDS}"
        )
    return tuple(zip(strings, range(first, first + len(strings)), strict=True))


def _refuse_clashes(tokenizer: Tokenizer, new: Extra) -> None:
    """Refuse new special tokens whose string or id is there already.

    Raises:
        ValueError: Naming the token, the id, and what to do.
    """
    model = tokenizer._model
    strings, numbers = {token for token, _ in new}, {number for _, number in new}
    for kind, table in (
        ("a special", dict(model.special_tokens)),
        ("an added", dict(model.added_tokens)),
    ):
        for token in sorted(table.keys() & strings):
            raise ValueError(
                f"{_shown(token)} is {kind} token already, with the id {table[token]}"
            )
    ordinary = model.vocab()
    same = {token: ordinary[token] for token in ordinary.keys() & strings}
    for token, number in new if same else ():
        if same.get(token, number) != number or (
            token in same and not isinstance(model, Model)
        ):
            way_out = (
                f"; to make that one special, give it this id: {{{_shown(token)}: "
                f"{same[token]}}}"
            )
            raise ValueError(
                f"{_shown(token)} is an ordinary token already, with the id "
                f"{same[token]}{way_out if isinstance(model, Model) else ''}"
            )
    taken = {*ordinary.values()}
    if isinstance(model, Model):
        taken.update(model.token_ids)  # of equal tokens the table above has the first
    taken.update(n for _, n in (*model.special_tokens, *model.added_tokens))
    if taken.isdisjoint(numbers):
        return
    for token, number in new:
        if number in taken and token not in same:
            raise ValueError(
                f"id {number} of {_shown(token)} already stands for "
                f"{_shown(tokenizer.token_bytes(number))}"
            )
    extra = {n for _, n in (*model.special_tokens, *model.added_tokens)}
    for token, number in new:
        if number in extra:
            raise ValueError(
                f"id {number} of {_shown(token)} is a special or added token's already"
            )


def _shown(token: bytes) -> str:
    from pybpe.permissions import as_text

    return repr(as_text(token))


def _with_control_pieces(model: CodepointModel, new: Extra, note: str) -> Tokenizer:
    """Return a sentencepiece tokenizer with control pieces behind all others.

    Control pieces take no part in joining, so no other text gets other ids.

    Raises:
        ValueError: The ids are not those after the last piece's: there can be no gaps.
    """
    from pybpe.codepoint import CONTROL

    first = model.vocab_size
    for i, (token, number) in enumerate(new):
        if number != first + i:
            raise ValueError(
                f"{_shown(token)} cannot have the id {number}: pieces of a "
                f"sentencepiece model have no gaps, and the next id is {first + i}"
            )
    strings = [token for token, _ in new]
    return _changed(
        model,
        note,
        piece_data=b"".join([model.piece_data, *strings]),
        piece_lengths=model.piece_lengths + array("I", map(len, strings)),
        scores=model.scores + array("f", bytes(4 * len(strings))),
        piece_types=model.piece_types + bytes([CONTROL]) * len(strings),
    )
