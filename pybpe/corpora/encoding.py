"""Documents → ids as they go to disk: narrow integers, separators in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pybpe._engine import ForbiddenText
from pybpe.corpora.arguments import check_text, check_tokenizer
from pybpe.errors import UnknownTokenError
from pybpe.permissions import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pybpe.corpora.documents import Documents
    from pybpe.permissions import Allowed, Disallowed, Token
    from pybpe.tokenizer import Tokenizer

Tokens = np.ndarray[Any, np.dtype[Any]]

# Documents of fewer ids than this are put into place all at once, not one by one.
_SHORT = 200

WIDTHS = {"uint16": 1 << 16, "uint32": 1 << 32, "int32": 1 << 31}


class Encoded(NamedTuple):
    """Ids of documents, laid end to end, separators among them.

    Attributes:
        tokens: The ids.
        ends: Where each document ends in them, `int64`. The last one's end is missing
            if it goes on.
        size: How many bytes of text they are.
        empty: How many of the documents have no text.
    """

    tokens: Tokens
    ends: NDArray[np.int64]
    size: int
    empty: int = 0


class DocumentEncoder:
    """Encodes documents of any reader; threads may share it.

    Attributes:
        separator: The id between documents, None for none.
        dtype: What ids are stored as, little-endian.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        separator: Token | int | None,
        separator_at: str = "end",
        dtype: str = "auto",
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
        *,
        dtypes: tuple[str, ...] = ("uint16", "uint32"),
    ) -> None:
        """Check the options; `dtypes` are those that the layout has.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: It has a value that makes no sense, or ids do not fit.
            UnknownTokenError: There is no such separator.
        """
        check_tokenizer(tokenizer)
        check_text("dtype", dtype)
        if check_text("separator_at", separator_at) not in ("start", "end"):
            raise ValueError(
                f"separator_at must be 'start' or 'end', got {separator_at!r}"
            )
        self._tokenizer = tokenizer
        self.separator = find_separator(tokenizer, separator)
        self._in_front = separator_at == "start"
        self.dtype = np.dtype(choose_dtype(tokenizer, dtype, dtypes)).newbyteorder("<")
        self._allowed, self._disallowed = allowed_special, disallowed_special
        permissions = tokenizer._permissions
        self._match, self._forbidden = permissions.matchers(
            allowed_special, disallowed_special
        )

    def encode(self, documents: Documents, inside: bool, where: Any) -> Encoded:
        """Return the ids of documents.

        Args:
            documents: The documents.
            inside: Whether the first is the rest of one that has begun before.
            where: Returns what to call document i in a message.

        Raises:
            SpecialTokenError: A text spells a special token that is not allowed.
        """
        engine = self._tokenizer._engine
        try:
            packed = engine.encode_joined(
                documents.data,
                documents.offsets,
                self._match,
                self._forbidden,
                lambda ids, starts: self.pack(
                    ids, starts, documents.size, inside, documents.inside
                ),
            )
        except ForbiddenText as found:
            at = found.index or 0
            found.index = None
            begin, end = documents.offsets[at], documents.offsets[at + 1]
            error = self._tokenizer._permissions.refusal(
                memoryview(documents.data)[begin:end].tobytes(),
                found,
                self._allowed,
                self._disallowed,
                documents.before(at),
            )
            raise type(error)(f"{where(at)}: {error}") from None
        lengths = np.diff(np.frombuffer(documents.offsets, np.uint64))
        whole = lengths[int(inside) : len(lengths) - documents.inside]
        return packed._replace(empty=int((whole == 0).sum()))

    def pack(
        self,
        ids: Tokens,
        starts: NDArray[np.int64],
        size: int,
        inside: bool = False,
        goes_on: bool = False,
    ) -> Encoded:
        """Put separators between documents that are encoded; ids are copied.

        Args:
            ids: The ids of all of them.
            starts: Where each one's begin; one more than there are documents.
            size: How many bytes of text they are.
            inside: Whether the first is the rest of one that has begun before.
            goes_on: Whether the last one is only a part.
        """
        n = len(starts) - 1
        done = n - goes_on
        if self.separator is None or n == 0:
            return Encoded(ids.astype(self.dtype), starts[1 : done + 1], size)
        counted = np.arange(1, n + 1, dtype=np.int64)
        if self._in_front:
            # Before the ids of text i there are the separators of those up to itself.
            moved = starts[:n] + counted - inside
            ends = (starts[1:] + counted - inside)[:done]
            at = moved[int(inside) :] - 1
            total = int(starts[n]) + n - inside
        else:
            moved = starts[:n] + counted - 1
            ends = (starts[1:] + counted)[:done]
            at = ends - 1
            total = int(starts[n]) + done
        out = np.empty(total, self.dtype)
        if len(ids) >= n * _SHORT:
            bounds = starts.tolist()
            for to, begin, end in zip(moved.tolist(), bounds, bounds[1:], strict=False):
                out[to : to + end - begin] = ids[begin:end]
        else:
            own = np.ones(total, np.bool_)
            own[at] = False
            out[own] = ids
        out[at] = self.separator
        return Encoded(out, ends, size)


def find_separator(tokenizer: Tokenizer, separator: Token | int | None) -> int | None:
    """Return the id of a separator.

    Raises:
        TypeError: It is neither a string nor an int.
        UnknownTokenError: No token has it.
    """
    if separator is None:
        return None
    specials = ", ".join(f"{t!r} ({n})" for t, n in tokenizer.special_tokens.items())
    hint = (
        f"the special tokens are {specials}"
        if specials
        else "the tokenizer has no special tokens (add_special_tokens makes one)"
    )
    hint += "; None puts nothing between documents"
    if not isinstance(separator, (str, bytes)) and not hasattr(separator, "__index__"):
        raise TypeError(
            f"separator must be a token, an id or None, got {type(separator).__name__}"
        )
    try:
        if isinstance(separator, (str, bytes)):
            return tokenizer.token_id(separator)
        tokenizer.token_bytes(separator)
    except UnknownTokenError as error:
        raise UnknownTokenError(f"separator: {error}; {hint}") from None
    return int(separator)


def choose_dtype(tokenizer: Tokenizer, dtype: str, dtypes: tuple[str, ...]) -> str:
    """Return the name of the integers to write, of those that a layout has.

    Raises:
        ValueError: There is no such one, or it is too small for the highest id.
    """
    if dtype == "auto":
        return next(d for d in dtypes if tokenizer.n_vocab <= WIDTHS[d])
    if dtype not in dtypes:
        raise ValueError(
            f"dtype must be 'auto' or one of {', '.join(dtypes)} here, got {dtype!r}"
        )
    if tokenizer.n_vocab > WIDTHS[dtype]:
        raise ValueError(
            f"dtype={dtype!r} holds ids below {WIDTHS[dtype]:,}, and this tokenizer's "
            f"go up to {tokenizer.n_vocab - 1:,}: give {dtypes[-1]!r}, or 'auto'"
        )
    return dtype
