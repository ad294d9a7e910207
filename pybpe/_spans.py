"""Where in a text its ids come from, in bytes and in characters."""

from __future__ import annotations

from array import array
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from pybpe import _binding, _vocabulary_tables
from pybpe._encoded_pieces import surrogate_starts
from pybpe._engine import ForbiddenText
from pybpe._engine_bpe import Engine
from pybpe._text import to_utf8
from pybpe.errors import NoOffsetsError
from pybpe.model import BYTES, Model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

    from pybpe._alignment import Aligned
    from pybpe._engine_pieces import PieceEngine
    from pybpe._pipeline import PipelineEngine
    from pybpe.normalizers import Step
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

    It raises NoOffsetsError where that is not known.
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
        model: Any = tokenizer._model
        self._model = model
        self._lengths = lengths
        # Tokens that stand for one byte of a character, spelt as <0x41>.
        fallback = model.fallback_ids
        self._fallback = {number: bytes([i]) for i, number in enumerate(fallback)}

    def encode(
        self, data: bytes, match: Any, forbidden: Any
    ) -> tuple[list[int], Spans]:
        ids = Engine.encode(self._engine, data, match, forbidden)
        return ids, self._place(ids, data, 0)

    def encode_through_pipeline(
        self, data: bytes, match: Any, forbidden: Any
    ) -> tuple[list[int], Spans]:
        from pybpe import _pipeline
        from pybpe._alignment import unchanged
        from pybpe.normalizers import keep_start

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
            text = data[start:end].decode("utf-8", "surrogateescape")
            first = start == 0 and keep_start(steps, text)
            changed = self._through(steps, unchanged(text, start), first)
            if match.normalized is None:
                self._encode_stretch(data, changed, first, ids, spans)
                continue
            inner, begins, ends = changed.bytes_with_places(data)
            # Which character each byte of the changed text belongs to.
            clean = inner.decode("utf-8", "surrogateescape").encode("utf-8", "replace")
            begun = array("Q", accumulate(clean.translate(_BEGINS), initial=0))
            for at, until, found in engine._parts(inner, match.normalized):
                if found is None:
                    part = changed.part(begun[at], begun[until])
                    self._encode_stretch(data, part, first and at == 0, ids, spans)
                else:
                    ids.append(found)
                    spans.append((begins[at], ends[until - 1]))
        return ids, spans

    def _through(
        self,
        steps: Iterable[Step],
        aligned: Aligned,
        first: bool,
        keeping: bool = False,
    ) -> Aligned:
        """Return what steps make of a text.

        Args:
            steps: The steps.
            aligned: The text.
            first: Whether it is the beginning of what is encoded.
            keeping: Whether a step that takes the beginning away ends that.
        """
        from pybpe._alignment import through

        for step in steps:
            if not aligned.text:
                break
            first = first and (not keeping or step.keeps_start(aligned.text))
            made = through(step, aligned, first)
            if made is None:
                self._refuse(step)
            aligned = made
        return aligned

    def _encode_stretch(
        self,
        source: bytes,
        aligned: Aligned,
        first: bool,
        ids: list[int],
        spans: Spans,
    ) -> None:
        """Append the ids of normalized text that no added token is in."""
        engine: PipelineEngine = self._engine
        if engine._cut is not None:
            data, begins, ends = aligned.bytes_with_places(source)
            pieces = [
                piece.encode("utf-8", "surrogateescape")
                for piece in engine._cut(aligned.text, first)
            ]
            if b"".join(pieces) != data:
                self._refuse(None)
            row = engine.encode_pretokens(data, accumulate(map(len, pieces)))
        else:
            aligned = self._through(engine._first, aligned, first, True)
            data, begins, ends = aligned.bytes_with_places(source)
            row = Engine.encode(engine, data, None, None)
        ids += row
        spans += [
            (begins[begin], ends[end - 1]) for begin, end in self._place(row, data, 0)
        ]

    def _place(self, ids: list[int], data: bytes, start: int) -> Spans:
        """Return the spans of ids whose tokens must be a text, cut into parts."""
        fallback = self._fallback
        lengths = self._lengths
        table = self._engine.token_bytes
        bytes_of = [fallback[i] if i in fallback else table(i) for i in ids]
        if b"".join(bytes_of) != data:
            self._refuse(None)
        if not fallback:
            return _side_by_side(ids, lengths, start)
        return list(pairwise(accumulate(map(len, bytes_of), initial=start)))

    def _refuse(self, step: Step | None) -> NoReturn:
        if step is not None:
            cause = f"the tokenizer's {type(step).__name__}"
        elif self._model.split.drops:
            cause = "the tokenizer's split, which drops text,"
        elif self._model.split.changes:
            cause = "the tokenizer's split, which changes text,"
        else:
            cause = "the vocabulary, which lacks characters,"
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
