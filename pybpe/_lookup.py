"""What is in the vocabulary: the part of the tokenizer that tells."""

from __future__ import annotations

from pybpe import _engines
from pybpe._ids import index
from pybpe._text import to_utf8
from pybpe._typing import TYPE_CHECKING
from pybpe.errors import UnknownTokenError
from pybpe.permissions import as_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pybpe._engines import AnyEngine, AnyModel
    from pybpe.permissions import Token
    from pybpe.split import Split


class Lookup:
    """What `Tokenizer` tells of its tokens, ids, merges and split."""

    __slots__ = ()

    # The tokenizer's.
    _model: AnyModel
    _engine: AnyEngine
    _merges: list[tuple[int, int]] | None
    _special_ids: frozenset[int] | None

    @property
    def vocab_size(self) -> int:
        """How many ids there are, special and added tokens included."""
        return self._model.vocab_size

    @property
    def n_vocab(self) -> int:
        """The highest id + 1: more than `vocab_size` where ids have gaps."""
        return self._engine.n_vocab

    @property
    def vocab(self) -> dict[bytes, int]:
        """The ordinary tokens' bytes and ids, by ascending id, as a new dict.

        This is what tiktoken calls mergeable ranks. Of tokens with equal bytes, which
        only a merge list can have, the first is there.
        """
        return self._model.vocab()

    @property
    def special_tokens(self) -> dict[Token, int]:
        """Special tokens and ids, by ascending id; bytes stand for non-UTF-8 ones."""
        return {as_text(token): number for token, number in self._model.special_tokens}

    @property
    def added_tokens(self) -> dict[Token, int]:
        """Added tokens and ids, by ascending id; bytes stand for non-UTF-8 ones."""
        tokens = _engines.added_tokens(self._model)
        return {as_text(token): number for token, number in tokens}

    @property
    def split(self) -> Split:
        """The split; `split.compiled` says whether it runs in the core."""
        return self._model.split

    @property
    def pattern(self) -> str | tuple[str, ...] | None:
        """The split's regex; several for a split in stages, None for no split."""
        patterns = tuple(stage.pattern for stage in self._model.split.stages)
        if len(patterns) < 2:
            return patterns[0] if patterns else None
        return patterns

    @property
    def merges(self) -> list[tuple[int, int]]:
        """The (left id, right id) pairs in rank order.

        A tokenizer made from ranks has none of its own. For it, each token is merged
        with the ranks below its own, and the two parts that are left are its pair;
        tokens that no merge makes have no pair.

        Raises:
            ValueError: The model is sentencepiece's: scores of pieces decide there.
        """
        if self._merges is None:
            found = _engines.find_merges(self._model, self._engine)
            object.__setattr__(self, "_merges", found)
        assert self._merges is not None  # noqa: S101 - for the type checker
        return list(self._merges)

    def token_bytes(self, number: int) -> bytes:
        """Return the bytes of one token.

        Raises:
            UnknownTokenError: No token has this id.
        """
        token = self._engine.token_bytes(index(number))
        if token is None:
            raise UnknownTokenError(f"no token has id {number}")
        return token

    def token_bytes_list(self) -> list[bytes]:
        """Return the bytes of every token: item i is `token_bytes(i)`.

        Where no token has an id, which only vocabularies with gaps have, it is b"".
        """
        from pybpe import _vocabulary_tables

        return _vocabulary_tables.token_bytes_list(self._model, self.n_vocab)

    def token_byte_lengths(self) -> NDArray[np.uint32]:
        """Return how many bytes each token has: `uint32`, shape (n_vocab,).

        0 where no token has an id. numpy must be installed.
        """
        from pybpe import _vocabulary_tables

        return _vocabulary_tables.token_byte_lengths(self._model, self.n_vocab)

    def is_special(self, number: int) -> bool:
        """Tell whether an id is that of a special token.

        Added tokens, and numbers that are no token's id, are not.

        Raises:
            TypeError: `number` is not an int.
        """
        if self._special_ids is None:
            found = frozenset(number for _, number in self._model.special_tokens)
            object.__setattr__(self, "_special_ids", found)
        return index(number) in (self._special_ids or ())

    def token_id(self, token: Token) -> int:
        """Return the id of an ordinary, added or special token.

        Raises:
            UnknownTokenError: The vocabulary does not have it.
        """
        data = to_utf8(token, "token")
        number = self._engine.find_token(data) if data else None
        if number is None:
            extra = (*self._model.special_tokens, *self._model.added_tokens)
            number = dict(extra).get(data)
        if number is None:
            raise UnknownTokenError(f"{token!r} is not in the vocabulary")
        return number

    @property
    def text_prefix(self) -> tuple[int, ...]:
        """The ids that `add_special_tokens=True` puts before a text."""
        return self._model.text_prefix

    @property
    def text_suffix(self) -> tuple[int, ...]:
        """The ids that `add_special_tokens=True` puts behind a text."""
        return self._model.text_suffix
