"""sentencepiece's `.model` files, as far as they hold BPE models.

Such a file is one protobuf message, described in proto/sentencepiece.proto. Its pieces
are read here byte by byte: an object of each would take many times as long, and memory
before anything could be refused.
"""

from __future__ import annotations

import struct
import sys
from array import array
from typing import TYPE_CHECKING, Any, NoReturn

from pybpe import _sniff, _wire
from pybpe._proto.sentencepiece_schema import ENUMS, MESSAGES
from pybpe.codepoint import (
    CONTROL,
    NORMAL,
    UNKNOWN,
    CodepointModel,
    Normalizer,
)
from pybpe.errors import ModelError

if TYPE_CHECKING:
    from pybpe._proto import sentencepiece_pb2 as pb
    from pybpe.formats._source import Source

# The options of a training run take a few hundred bytes; lists of files and of symbols
# may make it more.
_MAX_TRAINING = 16 << 20

_PIECES, _TRAINING, _NORMALIZER, _DENORMALIZER = 1, 2, 3, 5
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5

_ALGORITHMS = {1: "unigram", 2: "BPE", 3: "word", 4: "char"}
_BPE = 2


def read(source: Source) -> CodepointModel:
    """Return the model of a sentencepiece file.

    Raises:
        ModelError: The file is malformed, or its model is not BPE.
        ValueError: The caller gave a split or special tokens, which belong to the file.
    """
    refuse_options(source)
    return model_from_bytes(source.data)


def refuse_options(source: Source) -> None:
    """Refuse what a caller of `pybpe.load` cannot give for such a model.

    Raises:
        ValueError: They gave a split or special tokens.
    """
    for option, value in (
        ("pattern", source.split),
        ("special_tokens", source.special_tokens),
    ):
        if value is not None:
            raise ValueError(
                f"{option} cannot be given for {source.path!r}: a sentencepiece model "
                "holds its own pieces and is not split by a pattern"
            )


def model_from_bytes(data: bytes) -> CodepointModel:
    """Return the model that the contents of a `.model` file describe.

    Raises:
        ModelError: They describe none, or one that is not BPE; the message says what
            they look like. What only the core can check is left to it.
    """
    if not data:
        raise ModelError("it is empty; give a sentencepiece .model file")
    try:
        parts = _Parts(data)
    except (IndexError, ModelError) as error:
        _refuse(data, error)
    try:
        if sum(map(len, parts.training)) > _MAX_TRAINING:
            raise ModelError(
                f"its training options take more than {_MAX_TRAINING:,} bytes"
            )
        training: pb.Training = _parse(
            "Training", b"".join(parts.training), "its training options"
        )
        normalizer: pb.Normalizer = _parse(
            "Normalizer", b"".join(parts.normalizer), "its normalizer"
        )
        denormalizer: pb.Normalizer = _parse(
            "Normalizer", b"".join(parts.denormalizer), "its denormalizer"
        )
        if not parts.lengths:
            raise ModelError("it holds no pieces")
    except ModelError as error:
        _refuse(data, error)
    algorithm = training.algorithm
    if algorithm != _BPE:
        raise ModelError(
            f"it is a sentencepiece model of the type {_ALGORITHMS[algorithm]}; pybpe "
            "runs those of the type BPE only: use the sentencepiece package for it, or "
            "a vocabulary trained with model_type='bpe'"
        )
    about: dict[str, str | int] = {"format": "sentencepiece"}
    bos = parts.special(training.bos_piece or b"<s>", CONTROL)
    return CodepointModel(
        piece_data=bytes(parts.texts),
        piece_lengths=parts.lengths,
        scores=parts.floats(),
        piece_types=bytes(parts.types),
        byte_fallback=training.byte_fallback,
        mark_behind=training.treat_whitespace_as_suffix,
        normalizer=_normalizer(normalizer),
        denormalizer=_normalizer(denormalizer) if denormalizer.charsmap else None,
        unk_surface=training.unk_surface,
        unk_id=parts.special(training.unk_piece or b"<unk>", UNKNOWN),
        bos_id=bos,
        eos_id=parts.special(training.eos_piece or b"</s>", CONTROL),
        pad_id=parts.special(training.pad_piece or b"<pad>", CONTROL),
        # Not in the file: sentencepiece's callers say what to add. This is what the
        # models do that are known for their .model files: Llama, Mistral, Gemma.
        text_prefix=(bos,) if bos >= 0 else (),
        provenance=about,
    )


def _refuse(data: bytes, error: Exception) -> NoReturn:
    """Say that the data are no model, and what they are instead."""
    if isinstance(error, IndexError):
        error = ModelError("it is cut short")
    found = _sniff.identify(data[: _sniff.HEAD])
    if found.kind == "sentencepiece" or not found.what or "unknown" in found.what:
        raise ModelError(
            f"it is no intact sentencepiece model: {error}; copy or download it again"
        ) from None
    raise ModelError(
        f"it is no sentencepiece model but {found.what}; {found.remedy}"
    ) from None


def _normalizer(message: pb.Normalizer) -> Normalizer:
    """Return a message's content; where it says nothing, the format's defaults."""
    return Normalizer(
        name=message.name,
        charsmap=message.charsmap,
        add_dummy_prefix=message.add_dummy_prefix,
        remove_extra_whitespaces=message.remove_extra_whitespaces,
        escape_whitespaces=message.escape_whitespaces,
    )


class _Parts:
    """What a file's outermost message holds: the pieces, and the others' bytes.

    Reading past the end raises IndexError.
    """

    def __init__(self, data: bytes) -> None:
        self.texts = bytearray()
        self.lengths = array("I")
        self.types = bytearray()
        self.scores = bytearray()
        self.training: list[bytes] = []
        self.normalizer: list[bytes] = []
        self.denormalizer: list[bytes] = []
        self._special: dict[tuple[bytes, int], int] = {}
        pos = 0
        while pos < len(data):
            if data[pos] == 0x0A and data[pos + 1] < 0x80:
                start = pos + 2
                pos = start + data[pos + 1]
                if pos > len(data):
                    raise IndexError
                self._piece(data, start, pos)
            else:
                pos = self._field(data, pos)

    def _field(self, data: bytes, pos: int) -> int:
        """Read the field at `pos`; return where the next one begins."""
        tag, pos = _varint(data, pos)
        number, kind = tag >> 3, tag & 7
        if number == 0 or kind not in (_VARINT, _FIXED64, _LENGTH, _FIXED32):
            raise ModelError(f"byte {pos - 1} is not the beginning of a field")
        if kind == _VARINT:
            return _varint(data, pos)[1]
        size = {_FIXED64: 8, _FIXED32: 4}.get(kind)
        if size is None:
            size, pos = _varint(data, pos)
        end = pos + size
        if end > len(data):
            raise ModelError(
                f"field {number} is cut short: {size:,} bytes announced, "
                f"{len(data) - pos:,} left"
            )
        if kind == _LENGTH and number == _PIECES:
            self._piece(data, pos, end)
        elif kind == _LENGTH:
            # A message that comes in parts is their concatenation.
            parts = {
                _TRAINING: self.training,
                _NORMALIZER: self.normalizer,
                _DENORMALIZER: self.denormalizer,
            }.get(number)
            if parts is not None:
                parts.append(data[pos:end])
        return end

    def _piece(self, data: bytes, start: int, end: int) -> None:
        """Add the piece data[start, end)."""
        # As everybody writes it: text, score, and type if it is not NORMAL.
        if end - start > 2 and data[start] == 0x0A:
            stop = start + 2 + data[start + 1]
            rest = end - stop
            if data[start + 1] < 0x80 and (
                rest == 5 or (rest == 7 and data[stop + 5] == 0x18)
            ):
                kind = data[stop + 6] if rest == 7 else NORMAL
                if data[stop] == 0x15 and kind < 0x80:
                    text = data[start + 2 : stop]
                    self._add(text, data[stop + 1 : stop + 5], kind)
                    return
        piece: pb.Piece = _parse("Piece", data[start:end], f"piece {len(self.lengths)}")
        self._add(piece.text, struct.pack("<f", piece.score), piece.type)

    def _add(self, text: bytes, score: bytes, kind: int) -> None:
        if not text:
            # Here, since so many would fit into a file.
            raise ModelError(f"piece {len(self.lengths)}, '', is empty")
        if not 1 <= kind <= 6:
            kind = NORMAL  # what protobuf makes of a number it does not know
        if kind in (CONTROL, UNKNOWN):
            self._special.setdefault((text, kind), len(self.lengths))
        self.texts += text
        self.lengths.append(len(text))
        self.types.append(kind)
        self.scores += score

    def special(self, text: bytes, kind: int) -> int:
        """Return the id of a piece of this text and type, or -1."""
        return self._special.get((text, kind), -1)

    def floats(self) -> array[float]:
        """Return the scores."""
        out = array("f")
        out.frombytes(self.scores)
        if sys.byteorder == "big":
            out.byteswap()
        return out


def _varint(data: bytes, pos: int) -> tuple[int, int]:
    """Read the number at `pos`; return it and the position after it."""
    value = shift = 0
    while shift < 70:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7
    raise ModelError(f"the number before byte {pos} is too long")


def _parse(kind: str, data: bytes, what: str) -> Any:
    """Return a message inside the file.

    Raises:
        ModelError: The bytes are no such message.
    """
    try:
        return _wire.skim(data, MESSAGES, ENUMS, f"pybpe.sentencepiece.v1.{kind}")
    except ModelError as error:
        raise ModelError(f"{what} cannot be parsed: {error}") from None
