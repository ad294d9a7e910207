"""Which special tokens a call lets in, and which strings it refuses."""

from __future__ import annotations

from collections.abc import Collection

from pybpe import _binding
from pybpe._engine import ForbiddenText
from pybpe._text import to_utf8
from pybpe._typing import TYPE_CHECKING
from pybpe.errors import SpecialTokenError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet
    from typing import Any, Literal

    Allowed = Literal["all"] | AbstractSet["Token"]
    Disallowed = Literal["all"] | Collection["Token"]

Token = str | bytes

NONE: frozenset[Token] = frozenset()

# Matchers for this many different sets of tokens are kept.
_KEEP = 32


class Permissions:
    """The special and added tokens of a tokenizer, and what calls may do with them.

    Thread safety: the dict of matchers only ever gains or loses whole entries, and two
    threads that build the same matcher at once get equal ones.
    """

    __slots__ = ("_added", "_matchers", "_new_match", "_special", "_usual")

    def __init__(
        self,
        special: Mapping[bytes, int],
        added: Mapping[bytes, int],
        new_match: Callable[[list[bytes], list[int]], Any] = _binding.new_match,
    ) -> None:
        """Keep both tables; `new_match` makes what finds strings that become ids."""
        self._new_match = new_match
        self._special = dict(special)
        self._added = dict(added)
        self._matchers: dict[tuple[frozenset[bytes], bool], Any] = {}
        self._usual: dict[tuple[Any, Any], tuple[Any, Any]] = {}

    def matchers(self, allowed: Allowed, disallowed: Disallowed) -> tuple[Any, Any]:
        """Return the core's matcher of what becomes an id, and of what is refused.

        Raises:
            TypeError: An argument is neither "all" nor a collection of tokens.
            ValueError: A collection holds an empty string.
        """
        # Nearly every call passes "all" or nothing at all: one look-up then.
        try:
            return self._usual[allowed, disallowed]
        except (KeyError, TypeError):  # TypeError: a set or a list, which has no hash
            pass
        may, must_not = self._resolve(allowed, disallowed)
        found = (
            self._matcher(may.intersection(self._special), True),
            self._matcher(must_not, False),
        )
        if _is_usual(allowed) and _is_usual(disallowed):
            self._usual[allowed, disallowed] = found
        return found

    def refusal(
        self,
        data: bytes,
        found: ForbiddenText,
        allowed: Allowed,
        disallowed: Disallowed,
        before: tuple[int, int] = (0, 0),
    ) -> SpecialTokenError:
        """Return the error about the refused string that was found in `data`.

        Where `data` is not the whole text, `before` says how much is before it: bytes,
        characters.
        """
        position = found.position
        _, must_not = self._resolve(allowed, disallowed)
        token = as_text(
            max(
                (t for t in must_not if data.startswith(t, position)),
                key=len,
                default=data[position : position + 1],
            )
        )
        character = before[1] + len(data[:position].decode("utf-8", "replace"))
        which = "the text" if found.index is None else f"texts[{found.index}]"
        return SpecialTokenError(
            f"{which} spells the special token {token!r} at character {character} "
            f"(byte {before[0] + position}), which this call does not allow. To encode "
            f"it as the special token, pass allowed_special={{{token!r}}}; to encode "
            "it as plain text, pass disallowed_special=() or call encode_ordinary."
        )

    def _resolve(
        self, allowed: Allowed, disallowed: Disallowed
    ) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """Return the two sets as bytes, with "all" spelled out."""
        if isinstance(allowed, str) and allowed == "all":
            may = frozenset(self._special)
        else:
            may = _token_set(allowed, "allowed_special")
        if isinstance(disallowed, str) and disallowed == "all":
            return may, frozenset(self._special) - may
        return may, _token_set(disallowed, "disallowed_special")

    def _matcher(self, tokens: frozenset[bytes], becomes_ids: bool) -> Any:
        """Return the matcher of special tokens (with added ones), or of any strings.

        Building one takes time in proportion to the strings, so those in use are kept.
        """
        key = (tokens, becomes_ids)
        try:
            return self._matchers[key]
        except KeyError:
            pass
        if becomes_ids:
            table = {token: self._special[token] for token in sorted(tokens)}
            table.update(self._added)
            matcher = self._new_match(list(table), list(table.values()))
        else:
            matcher = _binding.new_match(list(tokens), [0] * len(tokens))
        if len(self._matchers) >= _KEEP:
            self._matchers.clear()
        self._matchers[key] = matcher
        return matcher


def _is_usual(tokens: object) -> bool:
    """Tell whether an argument is one of the few that say "all" or nothing."""
    if type(tokens) is str:
        return tokens == "all"
    return type(tokens) in (frozenset, tuple) and not tokens


def as_text(token: bytes) -> Token:
    """Return a str for UTF-8 and the bytes themselves for anything else."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return token


def _token_set(tokens: object, what: str) -> frozenset[bytes]:
    """Return a collection of tokens as bytes.

    Raises:
        TypeError: It is a bare string, or holds something that is no string.
        ValueError: It holds an empty string, which would be found everywhere.
    """
    if isinstance(tokens, (str, bytes)):
        raise TypeError(
            f'{what} must be "all" or a set of tokens, got {tokens!r}: '
            f"put it into a set, {{{tokens!r}}}"
        )
    if not isinstance(tokens, Collection):
        raise TypeError(
            f'{what} must be "all" or a set of tokens, got {type(tokens).__name__}'
        )
    found = frozenset(to_utf8(token, f"a token in {what}") for token in tokens)
    if b"" in found:
        raise ValueError(f"{what} holds an empty string")
    return found
