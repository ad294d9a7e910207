"""Decoding ids that come bit by bit."""

from __future__ import annotations

from codecs import getincrementaldecoder
from itertools import groupby
from typing import TYPE_CHECKING

from pybpe._decoder_streams import DecoderStream
from pybpe._engine_bpe import Engine
from pybpe._ids import check_errors, id_buffer, index
from pybpe.codepoint import BYTE
from pybpe.errors import UnknownTokenError
from pybpe.model import Model

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from pybpe._engine_pieces import PieceEngine

    Ids = Sequence[int] | NDArray[np.integer[Any]]

# Each byte that is no UTF-8, as "surrogateescape" gives it, becomes U+FFFD.
_ESCAPED = dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd")


class StreamDecoder:
    r"""Decodes a sequence of ids in parts.

    >>> import pybpe
    >>> tok = pybpe.Tokenizer.from_merges([(0xC3, 0xA9)], pattern=None)
    >>> stream = tok.stream_decoder()
    >>> [stream.feed(i) for i in (99, 97, 102, 0xC3, 0xA9)], stream.finish()
    (['c', 'a', 'f', '', 'é'], '')

    However the ids are cut into parts, the texts that `feed` and `finish` give are,
    put together, what `Tokenizer.decode` gives for all of them. Only the bytes of a
    character that is not complete yet are held back. (And what decoders of
    `tokenizer.json` may still change: bytes in a row by byte fallback, all of which
    become U+FFFD if they are no UTF-8; the end of a word; space at the end.) Takes time
    in proportion to the ids given to it.

    One thread at a time may use it; the tokenizer is shared as always.
    """

    def __init__(
        self, tokenizer: Any, prompt_ids: Ids = (), *, errors: str = "replace"
    ) -> None:
        """Begin after a prompt: see `Tokenizer.stream_decoder`."""
        check_errors(errors)
        model, engine = tokenizer._model, tokenizer._engine
        if isinstance(model, Model):
            if model.decoders:
                self._parts: _Part = _Tokens(engine, model, errors)
            else:
                self._parts = _Bytes(engine, errors)
        else:
            if model.denormalizer is not None and model.denormalizer.charsmap:
                raise ValueError(
                    "the model has a denormalizer, which needs all of a text at once"
                )
            self._parts = _Pieces(engine, errors)
        if hasattr(prompt_ids, "__iter__") and not hasattr(prompt_ids, "__len__"):
            prompt_ids = list(prompt_ids)
        if not hasattr(prompt_ids, "__len__") or len(prompt_ids):
            self._parts.feed(prompt_ids)

    def feed(self, ids: int | Ids) -> str:
        """Return the text that an id, or several, add to what was given before.

        Raises:
            UnknownTokenError: An id is not in the vocabulary; nothing has been fed.
            TypeError: `ids` is neither an int nor a sequence of integers.
            UnicodeDecodeError: With errors="strict".
        """
        if hasattr(ids, "__index__") and not hasattr(ids, "__len__"):
            return self._parts.feed_one(index(ids))
        return self._parts.feed(ids)  # type: ignore[arg-type]

    def finish(self) -> str:
        """Return what was held back; the next `feed` begins another text.

        Raises:
            UnicodeDecodeError: With errors="strict".
        """
        return self._parts.finish()


class _Bytes:
    """A byte-level model."""

    def __init__(self, engine: Engine, errors: str) -> None:
        self._engine = engine
        self._decoder = getincrementaldecoder("utf-8")(errors)

    def feed_one(self, number: int) -> str:
        data = self._engine.token_bytes(number)
        if data is None:
            raise UnknownTokenError(f"no token has id {number}")
        return self._decoder.decode(data)

    def feed(self, ids: Ids) -> str:
        buffer, n = id_buffer(ids)
        return self._decoder.decode(self._engine.decode(buffer, n))

    def finish(self) -> str:
        try:
            return self._decoder.decode(b"", True)
        finally:
            self._decoder.reset()


class _Pieces:
    """A sentencepiece model.

    With errors="replace", each byte that is no UTF-8 is replaced, and byte pieces make
    a character only if nothing is between them: sentencepiece's rules.
    """

    def __init__(self, engine: PieceEngine, errors: str) -> None:
        self._engine = engine
        self._types = engine.model.piece_types
        self._one_by_one = errors == "replace"
        errors = "surrogateescape" if self._one_by_one else errors
        self._decoder = getincrementaldecoder("utf-8")(errors)
        self._at_start = True

    def feed_one(self, number: int) -> str:
        return self.feed((number,))

    def feed(self, ids: Ids) -> str:
        buffer, n = id_buffer(ids)
        if not self._one_by_one:
            data, self._at_start = self._engine.decode_part(buffer, n, self._at_start)
            return self._decoder.decode(data)
        numbers = [buffer[i] for i in range(n)]
        self._engine.decode_part(buffer, n, True)  # raises for unknown ids
        text = ""
        for spells_bytes, run in groupby(numbers, lambda i: self._types[i] == BYTE):
            if not spells_bytes:
                text += self._decoder.decode(b"", True)
            part, size = id_buffer(list(run))
            data, self._at_start = self._engine.decode_part(part, size, self._at_start)
            text += self._decoder.decode(data)
        return text.translate(_ESCAPED)

    def finish(self) -> str:
        self._at_start = True
        try:
            return self._decoder.decode(b"", True).translate(
                _ESCAPED if self._one_by_one else {}
            )
        finally:
            self._decoder.reset()


class _Tokens:
    """A byte-level model with decoders, as `tokenizer.json` may have them."""

    def __init__(self, engine: Engine, model: Model, errors: str) -> None:
        self._engine = engine
        self._decoders = model.decoders
        self._exact = errors != "replace"
        self._decoder = getincrementaldecoder("utf-8")(errors)
        self._stream = DecoderStream(self._decoders, self._exact)

    def feed_one(self, number: int) -> str:
        return self.feed((number,))

    def feed(self, ids: Ids) -> str:
        buffer, n = id_buffer(ids)
        tokens = []
        for i in range(n):
            data = self._engine.token_bytes(buffer[i])
            if data is None:
                raise UnknownTokenError(
                    f"no token has id {buffer[i]} (at position {i})"
                )
            tokens.append(data.decode("utf-8", "surrogateescape"))
        return self._decoded(self._stream.feed(tokens), False)

    def finish(self) -> str:
        text = self._stream.end()
        self._stream = DecoderStream(self._decoders, self._exact)
        try:
            return self._decoded(text, True)
        finally:
            self._decoder.reset()

    def _decoded(self, text: str, final: bool) -> str:
        """Return text, of which lone surrogates stand for bytes that are no UTF-8."""
        if not self._exact:
            return text
        return self._decoder.decode(text.encode("utf-8", "surrogateescape"), final)


_Part = _Bytes | _Pieces | _Tokens
