"""From ids to text: the part of the tokenizer that decodes."""

from __future__ import annotations

from collections.abc import Iterable

from pybpe._ids import check_errors, id_buffer
from pybpe._threads import Portion, in_threads
from pybpe._typing import TYPE_CHECKING
from pybpe.errors import UnknownTokenError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from pybpe._engines import AnyEngine
    from pybpe.streaming import StreamDecoder


class Decoding:
    """What `Tokenizer` does with ids."""

    __slots__ = ()

    _engine: AnyEngine  # the tokenizer's

    def decode_bytes(self, ids: Sequence[int] | NDArray[np.integer[Any]]) -> bytes:
        """Return the bytes of a sequence of ids: exact, for any ids.

        Args:
            ids: A sequence of ints, or a one-dimensional array of any integer type.

        Raises:
            UnknownTokenError: An id is not in the vocabulary; the message names it and
                its position.
            TypeError: `ids` is not a sequence of integers.
        """
        buffer, n = id_buffer(ids)
        return self._engine.decode(buffer, n)

    def decode(
        self, ids: Sequence[int] | NDArray[np.integer[Any]], errors: str = "replace"
    ) -> str:
        """Return the text of a sequence of ids.

        A sequence that ends or begins inside a character has no exact text: with
        errors="replace" U+FFFD stands for the broken part. `decode_bytes` is exact.

        Args:
            ids: As for `decode_bytes`.
            errors: What to do with bytes that are not UTF-8, as for `bytes.decode`.
        """
        check_errors(errors)
        buffer, n = id_buffer(ids)
        return self._engine.decode_text(buffer, n, errors)

    def stream_decoder(
        self,
        prompt_ids: Sequence[int] | NDArray[np.integer[Any]] = (),
        *,
        errors: str = "replace",
    ) -> StreamDecoder:
        """Return a decoder for ids that come one by one, as from a language model.

        Args:
            prompt_ids: Ids before the first one. Their text is not given again, but
                what they leave open is: a character that begins in them, the space
                that a sentencepiece model puts between words.
            errors: As for `decode`.

        Raises:
            UnknownTokenError: As for `decode`.
            ValueError: A decoder of the tokenizer needs all of a text at once.
        """
        from pybpe.streaming import StreamDecoder

        return StreamDecoder(self, prompt_ids, errors=errors)

    def decode_batch(
        self,
        batch: Iterable[Sequence[int] | NDArray[np.integer[Any]]],
        *,
        errors: str = "replace",
        num_threads: int | None = None,
    ) -> list[str]:
        """Return the text of each sequence of ids, as `decode` gives it.

        Raises:
            UnknownTokenError: As for `decode`; the message says in which sequence.
            TypeError: An item is not a sequence of integers; the message says which.
        """
        check_errors(errors)
        given: object = batch
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise TypeError(
                "batch must be an iterable of sequences of ids, got "
                f"{type(batch).__name__}"
            )
        rows = [id_buffer(ids, f"batch[{i}]") for i, ids in enumerate(batch)]

        def decode_portion(portion: Portion) -> list[str]:
            first, last = portion
            return [self._decode_row(i, *rows[i], errors) for i in range(first, last)]

        results = in_threads(decode_portion, [n for _, n in rows], num_threads)
        return [text for result in results for text in result]

    def _decode_row(self, i: int, buffer: Any, n: int, errors: str) -> str:
        try:
            return self._engine.decode_text(buffer, n, errors)
        except UnknownTokenError as error:
            raise UnknownTokenError(f"batch[{i}]: {error}") from None
