"""Which ids no text can get, of sentencepiece models."""

from __future__ import annotations

from collections.abc import Iterator

from pybpe import codepoint
from pybpe.codepoint import CodepointModel, Normalizer
from pybpe.inspection._characters import CharacterSearch
from pybpe.inspection._search import in_contexts
from pybpe.inspection._texts import byte_of, in_batches
from pybpe.inspection._verdicts import ADDED, FALLBACK, MERGES, UNUSED
from pybpe.tokenizer import Tokenizer

# What a character may be a piece of.
_CHARACTERS = (codepoint.NORMAL, codepoint.USER_DEFINED)
_NO_CHANGE = Normalizer("identity", b"", False, False, False)


class PieceSearch(CharacterSearch):
    """What has been found out about the ids of a sentencepiece model."""

    _model: CodepointModel

    def run(self) -> None:
        """Settle every id."""
        model = self.tok._model
        assert isinstance(model, CodepointModel)  # noqa: S101 - for the type checker
        self._model = model
        self.pieces = model.pieces()
        types = model.piece_types
        self.extra()
        known = {p for p, t in zip(self.pieces, types, strict=True) if t in _CHARACTERS}
        if model.normalizer.escape_whitespaces and codepoint.MARK in known:
            known.add(b" ")  # there are none left
        bytes_ = {i: byte_of(self.pieces[i])[0] for i in self.of(codepoint.BYTE)}
        self.settle_bytes(bytes_, known)
        for i in self.of(codepoint.UNUSED):
            self.unreachable[i] = UNUSED
        for i in self.of(codepoint.UNKNOWN):
            self.settle_unknown(i)
        self.settle_normal(self.of(codepoint.NORMAL))

    def of(self, kind: int) -> list[int]:
        """Return the ids of the pieces of one type."""
        return [i for i, t in enumerate(self._model.piece_types) if t == kind]

    def settle_unknown(self, number: int) -> None:
        """Settle the piece that stands for unknown characters."""
        known = set(self.pieces)
        chars = (chr(c).encode() for c in range(0x80, 0x3400))
        texts = iter([c for c in chars if c not in known][:64])
        if self.try_texts({number: texts}):
            if self._model.byte_fallback and len(self.of(codepoint.BYTE)) == 256:
                self.unreachable[number] = FALLBACK
            else:
                self.undecided.append(number)

    def settle_normal(self, ids: list[int]) -> None:
        """Settle ordinary pieces."""
        encoded = self.encode(self.texts[i] for i in ids)
        rest = []
        for i, got in zip(ids, encoded, strict=True):
            if i in got:
                self.by_itself.append(i)
            else:
                rest.append(i)
        rest = self.try_texts({i: self.candidates(i) for i in rest})
        joined = in_batches(self.joining(), (self.pieces[i] for i in rest))
        symbols = [piece for piece, _ in self._model.added_tokens]
        for i, got in zip(rest, joined, strict=True):
            if any(symbol in self.pieces[i] for symbol in symbols):
                self.unreachable[i] = ADDED
            elif got != [i]:
                self.unreachable[i] = MERGES
            else:
                self.undecided.append(i)

    def candidates(self, i: int) -> Iterator[bytes]:
        """Yield texts that might get an id."""
        yield from in_contexts(self.texts[i])

    def joining(self) -> Tokenizer:
        """Return a tokenizer with the same pieces that leaves texts as they are."""
        parts = {name: getattr(self._model, name) for name in self._model.__slots__}
        parts.update(normalizer=_NO_CHANGE, denormalizer=None, refuse_marks=False)
        return Tokenizer(CodepointModel(**parts))
