"""`Encoding`: tiktoken's class, with pybpe's tokenizer inside."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pybpe._ids import id_buffer, index
from pybpe._text import to_utf8
from pybpe.errors import ModelError, SpecialTokenError, UnknownTokenError
from pybpe.permissions import Permissions
from pybpe.split import Split, Stage
from pybpe.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Any, Literal, NoReturn

    import numpy as np
    from numpy.typing import NDArray

# The bytes of UTF-8 that do not begin a character.
_CONTINUATION = bytes(range(0x80, 0xC0))

_NONE: frozenset[str] = frozenset()


class WrongSizeError(ModelError, AssertionError):
    """The tokens do not number `explicit_n_vocab`; tiktoken asserts it."""


class IdRangeError(UnknownTokenError, OverflowError):
    """A number that cannot be an id: tiktoken raises OverflowError."""


class NotAnIdError(TypeError, AssertionError):
    """Not an int; tiktoken asserts it."""


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise the error about a text that spells a special token.

    Raises:
        SpecialTokenError: Always (a `ValueError`).
    """
    raise SpecialTokenError(
        f"the text spells the special token {token!r}, which is not allowed: pass it "
        f"to allowed_special if it is meant, or disallowed_special=() if it is "
        "ordinary text"
    )


class Encoding:
    """An encoding with the methods of `tiktoken.Encoding`, and the same results.

    >>> enc = Encoding(
    ...     "letters",
    ...     pat_str=r"[a-z]+|[^a-z]+",
    ...     mergeable_ranks={bytes([i]): i for i in range(256)} | {b"ab": 256},
    ...     special_tokens={},
    ... )
    >>> enc.encode("abba"), enc.decode([256, 98])
    ([256, 98, 97], 'abb')

    A special token that shares its id with another one is matched; decoding gives the
    one that comes first in `special_tokens`.

    Thread and fork safety: as for `pybpe.Tokenizer`.

    Attributes:
        name: What the encoding is called.
        max_token_value: The highest id.
    """

    name: str
    max_token_value: int

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        """Make an encoding.

        Args:
            name: What to call it.
            pat_str: The regular expression that cuts texts into pretokens, in the
                syntax that tiktoken takes (Rust's).
            mergeable_ranks: Each token's bytes and its id; lower ids merge first. All
                256 single bytes must be there.
            special_tokens: Special tokens and their ids.
            explicit_n_vocab: How many tokens there must be, if that is to be checked;
                ids must then have no gaps at the end.

        Raises:
            ModelError: The tokens contradict each other (a `ValueError`), or do not
                number `explicit_n_vocab` (an `AssertionError`, too).
            ValueError: The pattern cannot be used, or a limit is passed.
            TypeError: An argument is of another type.
        """
        if explicit_n_vocab:
            found = len(mergeable_ranks) + len(special_tokens)
            highest = max([*mergeable_ranks.values(), *special_tokens.values()])
            if not found == explicit_n_vocab == highest + 1:
                raise WrongSizeError(
                    f"explicit_n_vocab is {explicit_n_vocab:,}, but there are "
                    f"{found:,} tokens, and the highest id is {highest:,}"
                )
        first_names: dict[int, str] = {}
        for token, number in special_tokens.items():
            first_names.setdefault(number, token)
        tokenizer = Tokenizer.from_ranks(
            mergeable_ranks,
            pattern=Split([Stage.compile(pat_str, "rust")]),
            special_tokens={token: number for number, token in first_names.items()},
        )
        self._set(tokenizer, name, special_tokens)
        self.__dict__["_pat_str"] = pat_str
        self.__dict__["_mergeable_ranks"] = mergeable_ranks

    @classmethod
    def _of(
        cls,
        tokenizer: Tokenizer,
        name: str,
        second_names: Mapping[str, int] | None = None,
    ) -> Encoding:
        """Return a published encoding, given its tokenizer."""
        self = cls.__new__(cls)
        special = {str(t): number for t, number in tokenizer.special_tokens.items()}
        self._set(tokenizer, name, special | dict(second_names or {}))
        return self

    def _set(
        self, tokenizer: Tokenizer, name: str, special_tokens: dict[str, int]
    ) -> None:
        if len(special_tokens) != len(tokenizer.special_tokens):
            tokenizer = _with_all_names(tokenizer, special_tokens)
        self.name = name
        self.max_token_value = tokenizer.n_vocab - 1
        self._tokenizer = tokenizer
        self._special_tokens = special_tokens
        self._special_token_values = set(special_tokens.values())

    @cached_property
    def _pat_str(self) -> str:
        return str(self._tokenizer.pattern)

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        return self._tokenizer.vocab

    def __repr__(self) -> str:
        """Say the name."""
        return f"<Encoding {self.name!r}>"

    # -------------------------------------------------------------- encoding

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text in which special tokens are nothing special."""
        _check_text(text)
        return self._tokenizer.encode(text, disallowed_special=())

    def encode(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = _NONE,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[int]:
        """Return the ids of a text.

        Args:
            text: The text; lone surrogates count as U+FFFD.
            allowed_special: The special tokens that become their ids, or "all".
            disallowed_special: The strings that raise; "all" means every special token
                that is not allowed, () none. None is the same as (), as in tiktoken.

        Raises:
            ValueError: The text spells a disallowed special token.
            TypeError: `text` is no str.
        """
        _check_text(text)
        return self._tokenizer.encode(
            text,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special or (),
        )

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = _NONE,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> NDArray[np.uint32]:
        """Return `encode` as a `uint32` array."""
        _check_text(text)
        return self._tokenizer.encode_to_numpy(
            text,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special or (),
        )

    def encode_ordinary_batch(
        self, text: list[str], *, num_threads: int = 8
    ) -> list[list[int]]:
        """Return `encode_ordinary` of each text."""
        return self._tokenizer.encode_batch(
            list(text), num_threads=num_threads, disallowed_special=()
        )

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Literal["all"] | AbstractSet[str] = _NONE,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[list[int]]:
        """Return `encode` of each text; `num_threads` is how many at most."""
        return self._tokenizer.encode_batch(
            list(text),
            num_threads=num_threads,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
        )

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = _NONE,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that stay when text is appended, and what may follow them.

        Each of the second is ids that the rest of the text can become, with what is
        appended: they stand for the rest and maybe more. They come in no order.

        Raises:
            ValueError: The text spells a disallowed special token.
            TypeError: `text` is no str.
        """
        from pybpe.tiktoken import _unstable

        _check_text(text)
        stable, rest = _unstable.stable_ids(
            self._tokenizer, to_utf8(text), allowed_special, disallowed_special or ()
        )
        if not rest:
            return stable, []
        return stable, _unstable.completions(
            self._tokenizer,
            rest,
            self._sorted_tokens,
            self._sorted_ids,
            self._lengths,
            self._merged_apart,
        )

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of one token, special or not.

        Raises:
            KeyError: There is no such token.
            TypeError: It is neither a str nor bytes.
        """
        if not isinstance(text_or_bytes, (str, bytes)):
            raise TypeError(
                f"a token must be str or bytes, got {type(text_or_bytes).__name__}"
            )
        data = to_utf8(text_or_bytes)
        number = self._tokenizer._engine.find_token(data) if data else None
        if number is not None:
            return number
        try:
            return self._special_tokens[data.decode()]
        except (KeyError, UnicodeDecodeError):
            raise UnknownTokenError(f"{data!r} is not in the vocabulary") from None

    # -------------------------------------------------------------- decoding

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of ids.

        Raises:
            KeyError: No token has one of the ids. (An `OverflowError`, too, if it is
                negative or above 2^32 - 1.)
        """
        try:
            buffer, n = id_buffer(tokens, "tokens")
        except UnknownTokenError as error:
            raise IdRangeError(*error.args) from None
        return self._tokenizer._engine.decode(buffer, n)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Return the text of ids; `errors` as for `bytes.decode`.

        With the default, bytes that are no UTF-8 become U+FFFD. `decode_bytes` is
        exact.

        Raises:
            KeyError: As for `decode_bytes`.
            UnicodeDecodeError: With errors="strict".
        """
        return self.decode_bytes(tokens).decode("utf-8", errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of one token, special or not.

        Raises:
            KeyError: As for `decode_bytes`.
        """
        number = index(token)
        if not 0 <= number < 1 << 32:
            raise IdRangeError("no token has such an id: 0 to 2^32 - 1 can be one")
        return self._tokenizer.token_bytes(number)

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each token.

        Raises:
            KeyError: As for `decode_bytes`.
        """
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Return the text of ids, and where in it each token begins.

        A token that begins within a character has the place of that character.

        Raises:
            KeyError: As for `decode_bytes`.
            UnicodeDecodeError: The bytes are no UTF-8.
        """
        parts = self.decode_tokens_bytes(tokens)
        offsets = []
        n_begun = 0
        for part in parts:
            within = part[0] in _CONTINUATION and n_begun > 0
            offsets.append(n_begun - within)
            n_begun += len(part.translate(None, _CONTINUATION))
        return b"".join(parts).decode(), offsets

    def decode_batch(
        self,
        batch: Sequence[Sequence[int]],
        *,
        errors: str = "replace",
        num_threads: int = 8,
    ) -> list[str]:
        """Return `decode` of each sequence of ids."""
        return self._tokenizer.decode_batch(
            batch, errors=errors, num_threads=num_threads
        )

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """Return `decode_bytes` of each sequence of ids."""
        from pybpe._threads import Portion, in_threads

        rows = list(batch)

        def decode_portion(portion: Portion) -> list[bytes]:
            return [self.decode_bytes(ids) for ids in rows[slice(*portion)]]

        parts = in_threads(decode_portion, map(len, rows), num_threads)
        return [data for part in parts for data in part]

    # -------------------------------------------------------------- vocabulary

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of the ordinary tokens, sorted."""
        return list(self._sorted_tokens)

    @cached_property
    def _sorted_tokens(self) -> list[bytes]:
        return sorted(self._tokenizer.vocab)

    @cached_property
    def _sorted_ids(self) -> list[int]:
        return list(map(self._tokenizer.vocab.__getitem__, self._sorted_tokens))

    @cached_property
    def _lengths(self) -> list[int]:
        return list(map(len, self._tokenizer.token_bytes_list()))

    @property
    def eot_token(self) -> int:
        """The id of "<|endoftext|>".

        Raises:
            KeyError: There is no such token.
        """
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Tell whether an id is that of a special token.

        Raises:
            TypeError: `token` is no int. (An `AssertionError`, too.)
        """
        if not isinstance(token, int):
            raise NotAnIdError(f"an id must be an int, got {type(token).__name__}")
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """The highest id + 1."""
        return self.max_token_value + 1

    # -------------------------------------------------------------- private in tiktoken

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Return the ids of one pretoken: no split, no special tokens."""
        data = to_utf8(text_or_bytes)
        return self._tokenizer._engine.encode_pretokens(  # type: ignore[union-attr]
            data, [len(data)] if data else []
        )

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """Return `encode_ordinary`; tiktoken splits in Python here, to the same end."""
        return self.encode_ordinary(text)

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Return the ids of bytes.

        Of bytes that are not UTF-8, the pretoken at the end of what is, and all that
        follows, merge as one pretoken.
        """
        if not isinstance(text, bytes):
            raise TypeError(f"text must be bytes, got {type(text).__name__}")
        try:
            text.decode()
        except UnicodeDecodeError as error:
            from pybpe.tiktoken import _unstable

            valid, rest = text[: error.start], text[error.start :]
            stable, unstable = _unstable.stable_ids(self._tokenizer, valid, _NONE, ())
            return stable + self._encode_single_piece(unstable + rest)
        return self._tokenizer.encode(text, disallowed_special=())

    def _merged_apart(self, data: bytes) -> list[int]:
        """Return the ids of one pretoken by merges alone, even if it is a token."""
        ids = self._encode_single_piece(data)
        if len(ids) != 1 or len(data) == 1:
            return ids
        return _merge(data, self._tokenizer._engine.find_token)

    def __getstate__(self) -> object:
        """Return the name of a published encoding, or what to make another one of."""
        from pybpe.tiktoken import registry

        if self is registry.ENCODINGS.get(self.name):
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, value: object) -> None:
        """Take over what `__getstate__` gave."""
        if isinstance(value, str):
            from pybpe.tiktoken import registry

            self.__dict__.update(registry.get_encoding(value).__dict__)
            return
        state: Any = value
        self.__init__(**state)  # type: ignore[misc]


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, got {type(text).__name__}")


def _with_all_names(tokenizer: Tokenizer, special: Mapping[str, int]) -> Tokenizer:
    """Return a tokenizer that matches these special tokens, which may share ids."""
    strings = {token.encode(): number for token, number in special.items()}
    new_match = tokenizer._engine.new_match
    return tokenizer._with("_permissions", Permissions(strings, {}, new_match))


def _merge(data: bytes, find: Any) -> list[int]:
    """Return the ids of a pretoken that is a token, by merges alone.

    In nearly all vocabularies merges make every token, so that this is for the few
    tokens that are found whole only. They are short; the obvious way will do.
    """
    parts = [data[i : i + 1] for i in range(len(data))]
    while len(parts) > 1:
        found = [find(parts[i] + parts[i + 1]) for i in range(len(parts) - 1)]
        ranks = [rank for rank in found if rank is not None]
        if not ranks:
            break
        at = found.index(min(ranks))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return [find(part) for part in parts]
