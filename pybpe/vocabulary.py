"""From the tables that people hold, ranks or merges, to a `Model`."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pybpe import _binding
from pybpe._text import to_utf8
from pybpe.byte_order import bytes_in_order
from pybpe.errors import ModelError
from pybpe.model import MAX_EXTRA, MERGES, RANKS, Model

if TYPE_CHECKING:
    from pybpe.split import Split

Token = str | bytes
# The core's limit for all tokens together.
_MAX_BYTES = 1 << 30
Extra = tuple[tuple[bytes, int], ...]


def check_id(number: object, what: str) -> int:
    """Return an id given by a caller.

    Args:
        number: An int from 0 to `MAX_IDS - 1`.
        what: What the id belongs to, for the error.

    Raises:
        TypeError: It is not an int.
        ValueError: It is out of range.
    """
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError(f"{what}: an id must be an int, got {number!r}")
    value: int = number.__index__()
    if not 0 <= value < _binding.MAX_IDS:
        raise ValueError(
            f"{what}: id {value} is out of range, ids lie between 0 and "
            f"{_binding.MAX_IDS - 1}"
        )
    return value


def extra_tokens(tokens: Mapping[Token, int] | None, what: str) -> Extra:
    """Return special or added tokens as bytes, by ascending id.

    Raises:
        TypeError: Not a mapping, a token is no string, or an id no int.
        ValueError: A token is empty, given twice, or two share an id.
    """
    if tokens is None:
        return ()
    if not isinstance(tokens, Mapping):
        raise TypeError(
            f"{what} must be a mapping from tokens to ids, got {type(tokens).__name__}"
        )
    if len(tokens) > MAX_EXTRA:
        raise ValueError(f"{what} holds {len(tokens)} tokens; the limit is {MAX_EXTRA}")
    if (found := _checked_at_once(tokens)) is not None:
        return found
    by_id: dict[int, bytes] = {}
    seen: set[bytes] = set()
    for token, number in tokens.items():
        data = to_utf8(token, f"a token in {what}")
        if not data:
            raise ValueError(f"{what} holds an empty token: it would match everywhere")
        if data in seen:
            raise ValueError(f"{what} holds {token!r} twice, as str and as bytes")
        seen.add(data)
        value = check_id(number, f"{what}[{token!r}]")
        if value in by_id:
            raise ValueError(
                f"{what}: {by_id[value]!r} and {data!r} share the id {value}"
            )
        by_id[value] = data
    return tuple((by_id[number], number) for number in sorted(by_id))


def _checked_at_once(tokens: Mapping[Token, int]) -> Extra | None:
    """Return what `extra_tokens` does, if nothing is wrong or unusual; else None.

    A million tokens take a quarter of the time of looking at one after the other.
    """
    try:
        strings = list(map(to_utf8, tokens))
        ids = array("I", tokens.values())
    except (TypeError, OverflowError):
        return None
    n = len(strings)
    if n == 0 or set(map(type, tokens.values())) != {int}:
        return None
    if max(ids) >= _binding.MAX_IDS or len(set(ids)) != n:
        return None
    if len({b"", *strings}) != n + 1:
        return None
    return tuple(sorted(zip(strings, ids, strict=True), key=id_of))


def id_of(token: tuple[bytes, int]) -> int:
    """Return the id of a token: what tables of them are sorted by."""
    return token[1]


def check_apart(special: Extra, added: Extra) -> None:
    """Refuse tokens that are both special and added, and ids that both use.

    Raises:
        ValueError: Naming the token or the id.
    """
    strings = {token for token, _ in special}
    numbers = {number: token for token, number in special}
    for token, number in added:
        if token in strings:
            raise ValueError(f"{token!r} cannot be both a special and an added token")
        if number in numbers:
            raise ValueError(f"{numbers[number]!r} and {token!r} share the id {number}")


def model_from_ranks(
    ranks: Mapping[bytes, int],
    *,
    split: Split,
    special_tokens: Mapping[Token, int] | None,
    added_tokens: Mapping[Token, int] | None,
) -> Model:
    """Return the model of `Tokenizer.from_ranks`, which documents the arguments."""
    tokens, ids = _sorted_tokens(ranks, "ranks")
    special = extra_tokens(special_tokens, "special_tokens")
    added = extra_tokens(added_tokens, "added_tokens")
    check_apart(special, added)
    return ranks_model(tokens, ids, split=split, special=special, added=added)


def ranks_model(
    tokens: list[bytes],
    ids: array[int],
    *,
    split: Split,
    special: Extra,
    added: Extra = (),
    provenance: dict[str, str | int] | None = None,
) -> Model:
    """Return a model of tokens, by ascending id, that merge by rank."""
    return Model(
        semantics=RANKS,
        whole_pretoken=True,
        token_data=b"".join(tokens),
        token_lengths=array("I", map(len, tokens)),
        token_ids=ids,
        merges=array("I"),
        merge_ids=array("I"),
        special_tokens=special,
        added_tokens=added,
        split=split,
        provenance=provenance,
    )


def _sorted_tokens(
    table: Mapping[bytes, int], what: str
) -> tuple[list[bytes], array[int]]:
    """Return the tokens and ids of a vocabulary by ascending id.

    Raises:
        TypeError: Not a mapping from bytes to ints.
        ValueError: An id is out of range.
        ModelError: Two tokens share an id, or one is empty.
    """
    if not isinstance(table, Mapping):
        raise TypeError(
            f"{what} must be a mapping from bytes to ids, got {type(table).__name__}"
        )
    try:
        pairs = sorted(zip(table.values(), table.keys(), strict=True))
        ids = array("I", [number for number, _ in pairs])
        tokens = [token for _, token in pairs]
        b"".join(tokens)
    except (TypeError, OverflowError):
        # Find the culprit; the quick way above does not say.
        for token, number in table.items():
            if not isinstance(token, bytes):
                raise TypeError(
                    f"{what} must have bytes as keys, got {token!r}"
                ) from None
            check_id(number, f"{what}[{token!r}]")
        raise
    if ids and ids[-1] >= _binding.MAX_IDS:
        check_id(ids[-1], f"{what}[{tokens[-1]!r}]")
    for i in range(1, len(ids)):
        if ids[i] == ids[i - 1]:
            raise ModelError(
                f"{what}: {tokens[i - 1]!r} and {tokens[i]!r} share the id {ids[i]}"
            )
    if b"" in table:
        raise ModelError(f"{what} holds an empty token (id {table[b'']})")
    return tokens, ids


def model_from_merges(
    merges: Iterable[tuple[int, int] | tuple[bytes, bytes]],
    *,
    split: Split,
    special_tokens: Mapping[Token, int] | Sequence[Token] | None,
    added_tokens: Mapping[Token, int] | None,
    byte_order: str = "identity",
    vocab: Mapping[bytes, int] | None = None,
    whole_pretoken: bool = False,
) -> Model:
    """Return the model of `Tokenizer.from_merges`, which documents the arguments."""
    if vocab is not None and byte_order != "identity":
        raise ValueError(
            f"byte_order={byte_order!r} has no meaning beside vocab, which says what "
            "id each byte has"
        )
    if isinstance(merges, (str, bytes, Mapping)) or not isinstance(merges, Iterable):
        raise TypeError(f"merges must be a list of pairs, got {type(merges).__name__}")
    builder = _MergeTable(byte_order, vocab)
    for i, pair in enumerate(merges):
        builder.add(i, pair)
    tokens, ids = builder.vocabulary()
    if special_tokens is not None and not isinstance(special_tokens, Mapping):
        special_tokens = _numbered(special_tokens, ids[-1] + 1)
    special = extra_tokens(special_tokens, "special_tokens")
    added = extra_tokens(added_tokens, "added_tokens")
    check_apart(special, added)
    return Model(
        semantics=MERGES,
        whole_pretoken=bool(whole_pretoken),
        token_data=b"".join(tokens),
        token_lengths=array("I", map(len, tokens)),
        token_ids=ids,
        merges=builder.merges,
        merge_ids=builder.made,
        special_tokens=special,
        added_tokens=added,
        split=split,
    )


def _numbered(tokens: object, first: int) -> dict[Token, int]:
    """Give ids from `first` on to a sequence of special tokens.

    Raises:
        TypeError: It is not a sequence of strings.
        ValueError: A token occurs twice.
    """
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        raise TypeError(
            "special_tokens must be a mapping to ids or a sequence of tokens, got "
            f"{type(tokens).__name__}"
        )
    numbered: dict[Token, int] = {}
    for token in tokens:
        if token in numbered:
            raise ValueError(f"special_tokens holds {token!r} twice")
        numbered[token] = first + len(numbered)
    return numbered


class _MergeTable:
    """Reads a list of merges; knows the vocabulary that they build up, or are given."""

    def __init__(self, byte_order: str, vocab: Mapping[bytes, int] | None) -> None:
        self.merges = array("I")
        self.made = array("I")
        self._size = 0  # of the tokens made, in bytes
        self._given = None if vocab is None else _sorted_tokens(vocab, "vocab")
        if self._given is None:
            self._tokens = [bytes([b]) for b in bytes_in_order(byte_order)]
            self._by_id = dict(enumerate(self._tokens))
        else:
            tokens, ids = self._given
            self._tokens = tokens
            self._by_id = dict(zip(ids, tokens, strict=True))
        self._by_bytes: dict[bytes, int] = {}
        for number, token in self._by_id.items():
            self._by_bytes.setdefault(token, number)

    def add(self, i: int, pair: Any) -> None:
        try:
            left, right = pair
        except (TypeError, ValueError):
            raise TypeError(
                f"merges[{i}] must be a pair of ids or of bytes, got {pair!r}"
            ) from None
        left, right = self._id(i, left), self._id(i, right)
        parts = self._by_id[left], self._by_id[right]
        self._size += len(parts[0]) + len(parts[1])
        if self._size > _MAX_BYTES:
            raise ValueError(
                f"merges[{i}] makes a token of {len(parts[0]) + len(parts[1])} bytes: "
                "all tokens together would have more than 1 GiB"
            )
        made = b"".join(parts)
        if self._given is None:
            number = len(self._tokens)
            self._tokens.append(made)
            self._by_id[number] = made
            self._by_bytes.setdefault(made, number)
        else:
            found = self._by_bytes.get(made)
            if found is None:
                raise ModelError(
                    f"merges[{i}], {pair!r}, makes {made!r}, which vocab does not have"
                )
            number = found
        self.merges.extend((left, right))
        self.made.append(number)

    def _id(self, i: int, part: Any) -> int:
        if isinstance(part, bytes):
            if part not in self._by_bytes:
                raise ModelError(
                    f"merges[{i}]: {part!r} is no token, nor made by an earlier merge"
                )
            return self._by_bytes[part]
        if isinstance(part, bool) or not hasattr(part, "__index__"):
            raise TypeError(
                f"merges[{i}] must be a pair of ids or of bytes, and holds {part!r}"
            )
        part = part.__index__()
        if part not in self._by_id:
            raise ModelError(
                f"merges[{i}]: no token has id {part}, nor does an earlier merge make "
                "it"
            )
        return int(part)

    def vocabulary(self) -> tuple[list[bytes], array[int]]:
        if self._given is not None:
            return self._given
        return self._tokens, array("I", range(len(self._tokens)))
