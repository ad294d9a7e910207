"""Codepoint models in the protobuf message of proto/pybpe.proto, and back.

See `_model_message`, which this is a part of.
"""

from __future__ import annotations

import sys
from array import array

from pybpe import _wire
from pybpe._step_message import check_text, pack, unpack
from pybpe._typing import TYPE_CHECKING
from pybpe.codepoint import BYTE, NORMAL, CodepointModel, Normalizer
from pybpe.errors import ModelError

if TYPE_CHECKING:
    from pybpe._proto import pybpe_pb2

MAX_PIECES = 16_777_215  # fewer than BPE_MAX_IDS of bpe.h

# Numbers of the enums in the schema.
KIND = 2
SEMANTICS = 3

# All that such a model has.
_FIELDS = frozenset(
    (
        "kind",
        "semantics",
        "tokens",
        "text_prefix",
        "text_suffix",
        "pieces",
        "provenance",
    )
)
_TABLE = frozenset(("data", "lengths", "scores", "types"))
_IDS = ("unk_id", "bos_id", "eos_id", "pad_id")


def write(message: pybpe_pb2.Model, model: CodepointModel, names: bool) -> None:
    """Write all of a model but its provenance; `names` of rules only if asked."""
    check(model)
    message.kind = KIND  # type: ignore[assignment]
    message.semantics = SEMANTICS  # type: ignore[assignment]
    message.tokens.data = model.piece_data
    message.tokens.lengths = pack("I", model.piece_lengths)
    message.tokens.scores = _little_endian(model.scores).tobytes()
    message.tokens.types = model.piece_types
    message.text_prefix = pack("I", array("I", model.text_prefix))
    message.text_suffix = pack("I", array("I", model.text_suffix))
    pieces = message.pieces
    pieces.SetInParent()
    pieces.byte_fallback = model.byte_fallback
    pieces.mark_behind = model.mark_behind
    pieces.refuse_marks = model.refuse_marks
    _write_rules(pieces.normalizer, model.normalizer, names)
    if model.denormalizer is not None:
        _write_rules(pieces.denormalizer, model.denormalizer, names)
    pieces.unk_surface = model.unk_surface
    for name in _IDS:
        number: int = getattr(model, name)
        if number >= 0:
            setattr(pieces, name, number)


def _write_rules(
    message: pybpe_pb2.TextRules, normalizer: Normalizer, names: bool
) -> None:
    message.SetInParent()
    if names:
        message.name = normalizer.name
    message.charsmap = normalizer.charsmap
    message.add_dummy_prefix = normalizer.add_dummy_prefix
    message.remove_extra_whitespaces = normalizer.remove_extra_whitespaces
    message.escape_whitespaces = normalizer.escape_whitespaces


def read(message: pybpe_pb2.Model, provenance: dict[str, str | int]) -> CodepointModel:
    """Read what `write` wrote.

    Raises:
        ModelError: The parts do not fit together, or belong to another kind of model.
    """
    _refuse_others("a sentencepiece model", message, _FIELDS)
    _refuse_others("the pieces of a sentencepiece model", message.tokens, _TABLE)
    if message.kind != KIND or not message.HasField("pieces"):
        raise ModelError("its merge semantics are scores, but it is no such model")
    pieces = message.pieces
    if not pieces.HasField("normalizer"):
        raise ModelError("it does not say how text is normalized")
    scores = array("f")
    if len(message.tokens.scores) % scores.itemsize:
        raise ModelError("its scores are cut short")
    scores.frombytes(message.tokens.scores)
    ids = {
        name: getattr(pieces, name) if pieces.HasField(name) else -1 for name in _IDS
    }
    model = CodepointModel(
        piece_data=message.tokens.data,
        piece_lengths=unpack("I", message.tokens.lengths, "lengths of the pieces"),
        scores=_little_endian(scores),
        piece_types=message.tokens.types,
        byte_fallback=pieces.byte_fallback,
        mark_behind=pieces.mark_behind,
        refuse_marks=pieces.refuse_marks,
        normalizer=_read_rules(pieces.normalizer),
        denormalizer=_read_rules(pieces.denormalizer)
        if pieces.HasField("denormalizer")
        else None,
        unk_surface=pieces.unk_surface,
        text_prefix=tuple(unpack("I", message.text_prefix, "prefix's ids")),
        text_suffix=tuple(unpack("I", message.text_suffix, "suffix's ids")),
        provenance=provenance,
        **ids,
    )
    check(model)
    return model


def _read_rules(message: pybpe_pb2.TextRules) -> Normalizer:
    return Normalizer(
        name=message.name,
        charsmap=message.charsmap,
        add_dummy_prefix=message.add_dummy_prefix,
        remove_extra_whitespaces=message.remove_extra_whitespaces,
        escape_whitespaces=message.escape_whitespaces,
    )


def _refuse_others(
    what: str,
    message: pybpe_pb2.Model | pybpe_pb2.TokenTable,
    known: frozenset[str],
) -> None:
    """Refuse fields that a reader would pass over."""
    others = sorted(_wire.fields_set(message) - known)
    if others:
        raise ModelError(f"it has {others[0]}, which {what} cannot have")


def _little_endian(scores: array[float]) -> array[float]:
    if sys.byteorder == "little":
        return scores
    swapped = scores[:]
    swapped.byteswap()
    return swapped


def check(model: CodepointModel) -> None:
    """Refuse a model whose parts do not fit together, before anything is built of it.

    What pieces and character maps hold is checked by the core.

    Raises:
        ModelError: They do not.
    """
    n = len(model.piece_lengths)
    if not 0 < n <= MAX_PIECES:
        raise ModelError(f"it has {n:,} pieces; there must be 1 to {MAX_PIECES:,}")
    for what, found in (
        ("scores", len(model.scores)),
        ("types", len(model.piece_types)),
    ):
        if found != n:
            raise ModelError(f"it has {n:,} pieces but {found:,} {what} of them")
    if (total := sum(model.piece_lengths)) != len(model.piece_data):
        raise ModelError(
            f"the lengths of its pieces add up to {total:,} bytes, but there are "
            f"{len(model.piece_data):,}"
        )
    wrong = model.piece_types.translate(None, bytes(range(NORMAL, BYTE + 1)))
    if wrong:
        raise ModelError(f"it has a piece of the type {wrong[0]}, which is none")
    for name in _IDS:
        if not -1 <= getattr(model, name) < n:
            raise ModelError(f"its {name}, {getattr(model, name)}, is no piece's")
    for number in (*model.text_prefix, *model.text_suffix):
        if not 0 <= number < n:
            raise ModelError(f"it puts the id {number} around a text, which cannot be")
    for what, rules in (
        ("normalizer", model.normalizer),
        ("denormalizer", model.denormalizer),
    ):
        if rules is not None:
            check_text(f"the name of its {what}", rules.name)
