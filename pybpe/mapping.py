"""Encoding as a function over rows, for libraries that map functions over them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from pybpe._shipped import Shipped
from pybpe._text import to_utf8

if TYPE_CHECKING:
    from typing import Any

    from pybpe.permissions import Allowed, Disallowed
    from pybpe.tokenizer import Tokenizer

__all__ = ["MapFunction"]


class MapFunction:
    """Encodes a column of a batch, or of one row: a function for `datasets.map`.

        dataset = dataset.map(MapFunction(tok), batched=True, num_proc=8)

    It pickles by the tokenizer's content and the arguments given here. So worker
    processes make the tokenizer once each, and `datasets` finds in its cache what an
    equal tokenizer has encoded before, in whatever process and however it was loaded.

    >>> import pybpe
    >>> encode = MapFunction(pybpe.train(["low lower"], 258))
    >>> {name: ids.tolist() for name, ids in encode({"text": "low"}).items()}
    {'input_ids': [257]}

    Threads: a function may be called by any number of threads at once.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        column: str = "text",
        *,
        output_column: str = "input_ids",
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
        add_special_tokens: bool = False,
        num_threads: int | None = 1,
    ) -> None:
        """Say what to encode, and how.

        Args:
            tokenizer: What encodes.
            column: Where the texts are.
            output_column: Where the ids go; the other columns stay as they are.
            allowed_special: See `Tokenizer.encode`.
            disallowed_special: See `Tokenizer.encode`.
            add_special_tokens: See `Tokenizer.encode`.
            num_threads: How many threads encode a batch. One by default: libraries that
                map functions have processes for that. None takes all CPUs.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: A special token is allowed or disallowed that there is not; or
                `num_threads` is below 1.
        """
        for name, value in (("column", column), ("output_column", output_column)):
            if not isinstance(value, str):
                raise TypeError(f"{name} must be a str, got {type(value).__name__}")
        self._shipped = Shipped(tokenizer)
        self._column = column
        self._output_column = output_column
        self._allowed = _frozen(allowed_special)
        self._disallowed = _frozen(disallowed_special)
        self._add_special_tokens = bool(add_special_tokens)
        self._num_threads = num_threads
        self._encode([""])  # wrong arguments are refused here rather than far away

    def _encode(self, texts: list[Any]) -> tuple[Any, Any]:
        return self._shipped.tokenizer.encode_batch_to_numpy(
            texts,
            num_threads=self._num_threads,
            allowed_special=self._allowed,
            disallowed_special=self._disallowed,
            add_special_tokens=self._add_special_tokens,
        )

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Encode a batch of rows, a mapping from columns to lists, or a single row.

        Returns:
            The new column: for a batch a list of `uint32` arrays, for a row one.

        Raises:
            KeyError: There is no such column.
            TypeError: It holds something that is no text; the message says where.
            ValueError: The output column is there already; or see `Tokenizer.encode`.
        """
        if self._column not in batch:
            raise KeyError(
                f"there is no column {self._column!r} but {', '.join(map(repr, batch))}"
            )
        refuse_taken(self._output_column, batch)
        texts = batch[self._column]
        if isinstance(texts, (str, bytes)):
            ids, _ = self._encode([texts])
            return {self._output_column: ids}
        ids, offsets = self._encode(list(texts))
        bounds = offsets.tolist()
        rows = [ids[a:b] for a, b in pairwise(bounds)]
        return {self._output_column: rows}

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by content."""
        return _again, (
            self._shipped,
            self._column,
            self._output_column,
            _in_order(self._allowed),
            _in_order(self._disallowed),
            self._add_special_tokens,
            self._num_threads,
        )


def refuse_taken(output_column: str, columns: Collection[str]) -> None:
    """Refuse to write over a column.

    Raises:
        ValueError: There is one of this name.
    """
    if output_column in columns:
        raise ValueError(
            f"there is a column {output_column!r} already: give another output_column"
        )


def _again(
    shipped: Shipped,
    column: str,
    output_column: str,
    allowed: Any,
    disallowed: Any,
    add_special_tokens: bool,
    num_threads: int | None,
) -> MapFunction:
    """Make a function as it was when it was pickled."""
    return MapFunction(
        shipped.tokenizer,
        column,
        output_column=output_column,
        allowed_special=_frozen(allowed),
        disallowed_special=_frozen(disallowed),
        add_special_tokens=add_special_tokens,
        num_threads=num_threads,
    )


def _frozen(tokens: Any) -> Any:
    """Return a choice of special tokens that nobody can change."""
    return tokens if isinstance(tokens, str) else frozenset(map(to_utf8, tokens))


def _in_order(tokens: str | frozenset[bytes]) -> str | tuple[bytes, ...]:
    """Return such a choice so that equal ones are equal when pickled."""
    return tokens if isinstance(tokens, str) else tuple(sorted(tokens))
