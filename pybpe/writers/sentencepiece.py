"""sentencepiece's `.model` files.

Models that were trained here are written as sentencepiece would have written them, byte
for byte (`formats.sentencepiece_writer`). Others know nothing of their training: of its
options only those are written that encoding and decoding depend on and that are not the
default.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pybpe._extras import optional
from pybpe.codepoint import CONTROL, NORMAL, UNKNOWN, CodepointModel
from pybpe.errors import ModelError
from pybpe.formats import sentencepiece_writer
from pybpe.writers._check import compare_ids, compare_tables, probing_texts
from pybpe.writers._parts import Job

if TYPE_CHECKING:
    from pybpe._proto import sentencepiece_pb2 as pb
    from pybpe.codepoint import Normalizer

_WHAT = "a sentencepiece model"
# A name for what a model does not have; no piece has it.
_NOWHERE = b"<none>"
_SPECIAL = (("unk", UNKNOWN), ("bos", CONTROL), ("eos", CONTROL), ("pad", CONTROL))
_USUAL = {"unk": b"<unk>", "bos": b"<s>", "eos": b"</s>", "pad": b"<pad>"}


def files(job: Job) -> list[bytes]:
    """Return the contents of the file.

    Raises:
        ModelError: The format cannot hold the tokenizer.
    """
    model = job.tokenizer._model
    if not isinstance(model, CodepointModel):
        raise ModelError(
            f"it is byte-level, and {_WHAT} holds pieces made of characters"
        )
    bos = (model.bos_id,) if model.bos_id >= 0 else ()
    if model.text_prefix != bos or model.text_suffix:
        raise ModelError(
            f"it puts {list(model.text_prefix)} before and {list(model.text_suffix)} "
            f"behind texts; {_WHAT} does not say so, and readers put {list(bos)} "
            "before them"
        )
    return [model_to_bytes(model)]


def model_to_bytes(
    model: CodepointModel,
    training: pb.Training | None = None,
    normalizer: pb.Normalizer | None = None,
) -> bytes:
    """Return the contents of a `.model` file.

    Args:
        model: What to write.
        training: The options that the model was trained with. In both messages, what
            encoding and decoding depend on is replaced where the model has something
            else; so with those of the file that it was read from, that file results.
        normalizer: The options of its changes to text.

    Raises:
        ModelError: It has parts that the format names by their piece alone, and two
            pieces could be meant.
    """
    if sentencepiece_writer.was_trained_here(model):
        return sentencepiece_writer.model_to_bytes(model)
    pb = _schema()
    message = pb.Model()
    pieces = model.pieces()
    if training is not None:
        message.training.CopyFrom(training)
    if normalizer is not None:
        message.normalizer.CopyFrom(normalizer)
    message.normalizer.SetInParent()
    _put_training(message.training, model, pieces)
    _put_normalizer(message.normalizer, model.normalizer)
    if model.denormalizer is not None:
        _put_normalizer(message.denormalizer, model.denormalizer)
    rest: bytes = message.SerializeToString(deterministic=True)
    out = []
    for text, score, kind in zip(pieces, model.scores, model.piece_types, strict=True):
        piece = pb.Piece(text=text, score=score)
        if kind != NORMAL:
            piece.type = kind
        data = piece.SerializeToString(deterministic=True)
        out.append(b"\x0a" + _varint(len(data)) + data)
    return b"".join((*out, rest))


def _put_training(
    training: pb.Training, model: CodepointModel, pieces: list[bytes]
) -> None:
    """Set the options that models depend on."""
    values: dict[str, object] = {
        "algorithm": _schema().BPE,
        "vocab_size": len(pieces),
        "byte_fallback": model.byte_fallback,
        "treat_whitespace_as_suffix": model.mark_behind,
        "unk_surface": model.unk_surface,
    }
    for name, kind in _SPECIAL:
        number: int = getattr(model, f"{name}_id")
        piece = pieces[number] if number >= 0 else None
        if piece is None:
            usual = any(
                text == _USUAL[name] and model.piece_types[i] == kind
                for i, text in enumerate(pieces)
            )
            piece = _NOWHERE if usual else _USUAL[name]
        elif _first(pieces, model, piece, kind) != number:
            raise ModelError(f"its {name} piece, {piece!r}, is not the only one")
        values |= {f"{name}_piece": piece, f"{name}_id": number}
    _put(training, values)


def _first(pieces: list[bytes], model: CodepointModel, text: bytes, kind: int) -> int:
    """Return the first piece of a text and type, which is the one that readers find."""
    return next(
        i
        for i, piece in enumerate(pieces)
        if piece == text and model.piece_types[i] == kind
    )


def _put_normalizer(message: pb.Normalizer, normalizer: Normalizer) -> None:
    _put(message, {name: getattr(normalizer, name) for name in normalizer.__slots__})


def _put(message: Any, values: dict[str, object]) -> None:
    """Set the fields that have another value, be it their default."""
    for name, value in values.items():
        if getattr(message, name) != value:
            setattr(message, name, value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _schema() -> Any:
    """Import the generated protobuf module."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Protobuf gencode version", UserWarning)
        from pybpe._proto import sentencepiece_pb2
    return sentencepiece_pb2


def check(job: Job, folder: Path) -> None:
    """Read the file back with pybpe, and with sentencepiece if that is installed."""
    from pybpe.loading import load

    tokenizer, path = job.tokenizer, folder / job.names[0]
    read = load(path)
    if read != tokenizer:
        raise ModelError("pybpe reads the file otherwise: its content is not the same")
    sentencepiece = optional("sentencepiece")
    if sentencepiece is None:
        return
    theirs = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())
    model = tokenizer._model
    assert isinstance(model, CodepointModel)  # noqa: S101
    names = [piece.decode("utf-8", "replace") for piece in model.pieces()]
    found = theirs.id_to_piece(list(range(theirs.get_piece_size())))
    compare_tables(dict(enumerate(names)), dict(enumerate(found)), "sentencepiece")

    def encode(text: str) -> list[int]:
        ids: list[int] = theirs.encode(text)
        return ids

    # It has no way to match control pieces, so texts with those are ours alone.
    special = [t for t in tokenizer.special_tokens if isinstance(t, str)]
    texts = [t for t in probing_texts(tokenizer) if not any(s in t for s in special)]
    compare_ids(tokenizer, encode, "sentencepiece", texts)
