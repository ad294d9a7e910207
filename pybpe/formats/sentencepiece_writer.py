"""Writing sentencepiece's `.model` and `.vocab` files, byte for byte as it does.

Fields go in the order of their numbers, and only those that were set: every piece has a
score, but a type only if it is not NORMAL; of the training options only those are there
that the caller of the trainer gave. `pybpe.writers.sentencepiece` writes all other
models.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

from pybpe.codepoint import NORMAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from pybpe.codepoint import CodepointModel, Normalizer

# In a model's provenance: the options it was trained with, as JSON.
OPTIONS = "sentencepiece_options"

_VARINT, _LENGTH, _FIXED32 = 0, 2, 5
_BPE = 2

# Number of each training option in the file.
_TRAINING = {
    "model_type": 3,
    "vocab_size": 4,
    "input_format": 7,
    "character_coverage": 10,
    "input_sentence_size": 11,
    "num_threads": 16,
    "max_sentence_length": 18,
    "shuffle_input_sentence": 19,
    "max_sentencepiece_length": 20,
    "split_by_unicode_script": 21,
    "split_by_whitespace": 22,
    "split_by_number": 23,
    "treat_whitespace_as_suffix": 24,
    "split_digits": 25,
    "allow_whitespace_only_pieces": 26,
    "control_symbols": 30,
    "user_defined_symbols": 31,
    "vocabulary_output_piece_score": 32,
    "hard_vocab_limit": 33,
    "byte_fallback": 35,
    "required_chars": 36,
    "unk_id": 40,
    "bos_id": 41,
    "eos_id": 42,
    "pad_id": 43,
    "unk_surface": 44,
    "unk_piece": 45,
    "bos_piece": 46,
    "eos_piece": 47,
    "pad_piece": 48,
    "pretokenization_delimiter": 53,
    "auto_character_coverage": 55,
}


def was_trained_here(model: CodepointModel) -> bool:
    """Tell whether a model knows the options it was trained with."""
    return OPTIONS in model.provenance


def model_to_bytes(model: CodepointModel) -> bytes:
    """Return the contents of the `.model` file of a model that was trained here."""
    options = options_of(model)
    options["model_type"] = _BPE
    options["vocab_size"] = model.vocab_size
    parts = [_pieces(model)]
    training = b"".join(
        _field(number, options[name])
        for name, number in _TRAINING.items()
        if name in options
    )
    parts += [_field(2, training), _field(3, _normalizer(model.normalizer, options))]
    if model.denormalizer is not None:
        rules = model.denormalizer
        flags: dict[str, Any] = {
            "add_dummy_prefix": rules.add_dummy_prefix,
            "remove_extra_whitespaces": rules.remove_extra_whitespaces,
            "escape_whitespaces": rules.escape_whitespaces,
        }
        if "denormalization_rule_tsv" in options:
            flags["normalization_rule_tsv"] = options["denormalization_rule_tsv"]
        parts.append(_field(5, _normalizer(rules, flags)))
    return b"".join(parts)


def vocab_to_bytes(model: CodepointModel, *, scores: bool = True) -> bytes:
    """Return the contents of a `.vocab` file: a piece and its score on each line."""
    out = []
    for piece, score in zip(model.pieces(), model.scores, strict=True):
        out.append(piece + (b"\t%s\n" % _shown(score) if scores else b"\n"))
    return b"".join(out)


def has_scores(model: CodepointModel) -> bool:
    """Tell whether a model's `.vocab` file shall have scores."""
    return bool(options_of(model).get("vocabulary_output_piece_score", True))


def options_of(model: CodepointModel) -> dict[str, Any]:
    """Return the options that a model says it was trained with."""
    try:
        found = json.loads(str(model.provenance.get(OPTIONS, "{}")))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _shown(score: float) -> bytes:
    return (b"%.6g" % score) if score == score else b"nan"


def _pieces(model: CodepointModel) -> bytes:
    out = bytearray()
    pack = struct.Struct("<f").pack
    for piece, score, kind in zip(
        model.pieces(), model.scores, model.piece_types, strict=True
    ):
        body = b"\x0a" + _varint(len(piece)) + piece + b"\x15" + pack(score)
        if kind != NORMAL:
            body += b"\x18" + _varint(kind)
        out += b"\x0a" + _varint(len(body)) + body
    return bytes(out)


def _normalizer(normalizer: Normalizer, options: dict[str, Any]) -> bytes:
    start = _field(1, normalizer.name) + _field(2, normalizer.charsmap)
    return _flags(start, options) + (
        _field(6, options["normalization_rule_tsv"])
        if "normalization_rule_tsv" in options
        else b""
    )


def _flags(start: bytes, options: dict[str, Any]) -> bytes:
    numbers = {
        "add_dummy_prefix": 3,
        "remove_extra_whitespaces": 4,
        "escape_whitespaces": 5,
    }
    return start + b"".join(
        _field(number, options[name])
        for name, number in numbers.items()
        if name in options
    )


# ---------------------------------------------------------------- fields


def _field(number: int, value: Any) -> bytes:
    """Return a field of the kind that its value has; a list is several."""
    if isinstance(value, (list, tuple)):
        return b"".join(_field(number, one) for one in value)
    write: Callable[[int, Any], bytes]
    if isinstance(value, (bytes, str)):
        write = _bytes_field
    elif isinstance(value, float):
        write = _float_field
    else:
        write = _number_field
    return write(number, value)


def _bytes_field(number: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | _LENGTH) + _varint(len(data)) + data


def _float_field(number: int, value: float) -> bytes:
    return _varint(number << 3 | _FIXED32) + struct.pack("<f", value)


def _number_field(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(int(value))


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative ones take ten bytes
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
