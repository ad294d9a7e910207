"""Where in a text its ids come from, in bytes and in characters."""

from __future__ import annotations

from array import array
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from pybpe import _binding, _vocabulary_tables
from pybpe._encoded_pieces import surrogate_starts
from pybpe._engine import ForbiddenText
from pybpe._engine_bpe import Engine
from pybpe._ids import id_buffer
from pybpe._text import to_utf8
from pybpe.errors import NoOffsetsError
from pybpe.model import BYTES, Model

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pybpe._engine_pieces import PieceEngine
    from pybpe._pipeline import PipelineEngine
    from pybpe.tokenizer import Tokenizer

    Spans = list[tuple[int, int]]
    Encode = Callable[[bytes, Any, Any], tuple[list[int], Spans]]

# Whether a byte of UTF-8 begins a character.
_BEGINS = bytes(not 0x80 <= byte < 0xC0 for byte in range(256))


def token_lengths(tokenizer: Any) -> array[int]:
    """Return how many bytes each id stands for."""
    if tokenizer._lengths is None:
        found = _vocabulary_tables.lengths(tokenizer._model, tokenizer.n_vocab)
        object.__setattr__(tokenizer, "_lengths", found)
    known: array[int] = tokenizer._lengths
    return known


def tiles(tokenizer: Any) -> bool:
    """Tell whether the tokens of any text are the text, cut into parts."""
    model = tokenizer._model
    return (
        type(tokenizer._engine) is Engine
        and isinstance(model, Model)
        and model.symbols == BYTES
        and not model.split.drops
        and not model.flags
    )


def encoder(tokenizer: Any) -> Encode:
    """Return what encodes a text like `engine.encode`, and says where ids come from.

    It raises NoOffsetsError where nothing in the text is what an id comes from.
    """
    engine = tokenizer._engine
    lengths = token_lengths(tokenizer)
    if tiles(tokenizer):

        def whole(data: bytes, match: Any, forbidden: Any) -> tuple[list[int], Spans]:
            ids = engine.encode(data, match, forbidden)
            return ids, _side_by_side(ids, lengths, 0)

        return whole
    if not isinstance(engine, Engine):
        return lambda data, match, forbidden: _of_pieces(engine, data, match, forbidden)
    aligner = _Aligner(tokenizer, lengths)
    if type(engine) is Engine:
        return aligner.encode
    return aligner.encode_through_pipeline


def in_characters(spans: Spans, text: str | bytes) -> Spans:
    """Return places in characters: of each place, the character that has the byte."""
    data = to_utf8(text)
    if data.isascii():
        return spans
    starts = None
    if isinstance(text, str):
        starts = surrogate_starts(text, data)
    else:
        # Bytes that are part of no character are a character each: the same bytes,
        # with a question mark for each of these.
        data = data.decode("utf-8", "surrogateescape").encode("utf-8", "replace")
    # How many characters begin before each place; one more behind the end, so that a
    # place there is that of the character that would begin there.
    begun = array("Q", accumulate((data + b" ").translate(_BEGINS), initial=0))
    if starts is None:
        return [(begun[begin + 1] - 1, begun[end]) for begin, end in spans]
    return [(starts[begun[begin + 1] - 1], starts[begun[end]]) for begin, end in spans]


def _side_by_side(ids: list[int], lengths: array[int], start: int) -> Spans:
    """Return the spans of tokens whose text lies without gaps from a place on."""
    sizes = map(lengths.__getitem__, ids)
    return list(pairwise(accumulate(sizes, initial=start)))


class _Aligner:
    """Encodes with models of which tokens need not be what the text was.

    They are, for nearly all texts; whether so is looked at.
    """

    def __init__(self, tokenizer: Tokenizer, lengths: array[int]) -> None:
        self._engine: Any = tokenizer._engine
        self._model: Any = tokenizer._model
        self._lengths = lengths

    def encode(
        self, data: bytes, match: Any, forbidden: Any
    ) -> tuple[list[int], Spans]:
        ids = Engine.encode(self._engine, data, match, forbidden)
        return ids, self._place(ids, data, 0)

    def encode_through_pipeline(
        self, data: bytes, match: Any, forbidden: Any
    ) -> tuple[list[int], Spans]:
        from pybpe import _pipeline
        from pybpe.normalizers import apply_all, keep_start

        engine: PipelineEngine = self._engine
        if engine._is_plain(data, match):
            return self.encode(data, match.together, forbidden)
        _pipeline._refuse_forbidden(data, forbidden)
        ids: list[int] = []
        spans: Spans = []
        steps = engine._steps
        for start, end, number in engine._parts(data, match.given):
            if number is not None:
                ids.append(number)
                spans.append((start, end))
                continue
            part = data[start:end]
            text = part.decode("utf-8", "surrogateescape")
            first = start == 0 and keep_start(steps, text)
            changed = apply_all(steps, text, first)
            if changed != text:
                self._refuse(steps)
            inner: list[tuple[int, int, int | None]] = [(0, len(part), None)]
            if match.normalized is not None:
                inner = list(engine._parts(part, match.normalized))
            for at, until, found in inner:
                if found is not None:
                    ids.append(found)
                    spans.append((start + at, start + until))
                    continue
                row = self._stretch(part[at:until], first and at == 0)
                ids += row
                spans += self._place(row, part[at:until], start + at)
        return ids, spans

    def _stretch(self, data: bytes, first: bool) -> list[int]:
        """Return the ids of text that no added token is in."""
        engine: PipelineEngine = self._engine
        text = data.decode("utf-8", "surrogateescape")
        pieces = [
            piece
            if isinstance(piece, bytes)
            else piece.encode("utf-8", "surrogateescape")
            for piece in engine._stretch(text, first)
        ]
        joined = b"".join(pieces)
        if joined != data:
            self._refuse(
                [s for stage in self._model.split.stages for s in stage.before]
            )
        if engine._cut is None:
            return Engine.encode(engine, joined, None, None)
        return engine.encode_pretokens(joined, accumulate(map(len, pieces)))

    def _place(self, ids: list[int], data: bytes, start: int) -> Spans:
        """Return the spans of ids whose tokens must be a text, cut into parts."""
        buffer, n = id_buffer(ids)
        if Engine.decode(self._engine, buffer, n) != data:
            self._refuse(())
        return _side_by_side(ids, self._lengths, start)

    def _refuse(self, steps: Any) -> None:
        names = ", ".join(dict.fromkeys(type(step).__name__ for step in steps))
        if not names and self._model.split.drops:
            names = "split that drops text"
        cause = f"the tokenizer's {names}" if names else "the vocabulary"
        raise NoOffsetsError(
            f"{cause} makes another text of this one, so that its ids have no places "
            "in it; normalise the text first, or encode without offsets"
        )


def _of_pieces(
    engine: PieceEngine, data: bytes, match: Any, forbidden: Any
) -> tuple[list[int], Spans]:
    """Encode with a sentencepiece model; text between special tokens is a text each."""
    if forbidden is not None and (refused := _binding.find_all(forbidden, data)):
        raise ForbiddenText(refused[0][0])
    ids: list[int] = []
    spans: Spans = []
    at = 0
    for begin, end, number in [*_binding.find_all(match, data), (len(data), 0, -1)]:
        for piece in engine.encode_with_pieces(data[at:begin]) if at < begin else ():
            ids.append(piece.id)
            spans.append((at + piece.begin, at + piece.end))
        if number >= 0:
            ids.append(number)
            spans.append((begin, end))
        at = end
    return ids, spans
