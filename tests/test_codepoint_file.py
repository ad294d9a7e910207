"""sentencepiece models in pybpe's own files: round trips, damage, old files."""

from __future__ import annotations

import json
import random
from array import array
from collections.abc import Callable
from typing import Any

import pytest
import spm
from model_messages import GOLDEN, frame
from spm import CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED

from pybpe import (
    ModelError,
    Tokenizer,
    _model_message,
    model_file,
)
from pybpe.codepoint import CodepointModel, Normalizer


def make_model(**changes: Any) -> CodepointModel:
    """Return a small model that has something of everything."""
    texts = [b"<unk>", b"<s>", b"a", b"b", b"ab", b"\xff\0"]
    parts: dict[str, Any] = {
        "piece_data": b"".join(texts),
        "piece_lengths": array("I", map(len, texts)),
        "scores": array("f", [0.0, -0.0, -1.5, float("-inf"), 3e-45, 7]),
        "piece_types": bytes([UNKNOWN, CONTROL, NORMAL, UNUSED, NORMAL, USER_DEFINED]),
        "byte_fallback": False,
        "mark_behind": True,
        "normalizer": Normalizer("caf\u00e9", b"", True, False, True),
        "denormalizer": Normalizer("", b"", False, False, False),
        "unk_surface": b"\xff",
        "unk_id": 0,
        "bos_id": 1,
        "text_prefix": (1,),
        "text_suffix": (1, 2),
        "provenance": {"corpus": "none"},
    }
    return CodepointModel(**(parts | changes))


def assert_same(left: Any, right: Any) -> None:
    assert isinstance(left, CodepointModel)
    for part in CodepointModel.__slots__:
        a, b = getattr(left, part), getattr(right, part)
        assert a.tobytes() == b.tobytes() if part == "scores" else a == b, part


CHANGES: list[dict[str, Any]] = [
    {},
    {"piece_data": make_model().piece_data[:-1] + b"x"},
    {"scores": array("f", [0.0, 0.0, -1.5, float("-inf"), 3e-45, 7])},
    {"piece_types": bytes([UNKNOWN, CONTROL, NORMAL, NORMAL, NORMAL, USER_DEFINED])},
    {"mark_behind": False},
    {"normalizer": Normalizer("", b"", False, False, True)},
    {"normalizer": Normalizer("", b"", True, True, True)},
    {"normalizer": Normalizer("", b"", True, False, False)},
    {"denormalizer": None},
    {"denormalizer": Normalizer("", b"", True, False, False)},
    {"unk_surface": b""},
    {"unk_id": -1},
    {"bos_id": 0},
    {"eos_id": 0},
    {"pad_id": 5},
    {"text_prefix": ()},
    {"text_suffix": ()},
]


@pytest.mark.parametrize("change", CHANGES, ids=range(len(CHANGES)))
def test_round_trip(change: dict[str, Any]) -> None:
    model = make_model(**change)
    data = model_file.model_to_bytes(model)
    again = model_file.model_from_bytes(data)
    assert_same(again, model)
    assert model_file.model_to_bytes(again) == data


def test_everything_but_names_is_in_the_fingerprint() -> None:
    prints = {model_file.fingerprint(make_model(**change)) for change in CHANGES}
    assert len(prints) == len(CHANGES)
    renamed = make_model(
        normalizer=Normalizer("other", b"", True, False, True), provenance={}
    )
    assert model_file.fingerprint(renamed) == model_file.fingerprint(make_model())


def test_random_models_survive() -> None:
    rng = random.Random(77)
    for _ in range(60):
        data = spm.random_model(rng, [b""])
        engine = spm.engine(data)
        tok = Tokenizer(engine.model)
        again = Tokenizer.from_bytes(tok.to_bytes())
        assert_same(again._model, engine.model)
        text = spm.letters_text(rng)
        assert again.encode_ordinary(text) == engine.encode(text, None, None)


def test_every_cut_and_bit_flip_is_refused() -> None:
    data = model_file.model_to_bytes(make_model())
    for n in range(len(data)):
        with pytest.raises(ModelError):
            model_file.model_from_bytes(data[:n])
    for i in range(len(data)):
        for bit in range(8):
            flipped = data[:i] + bytes([data[i] ^ 1 << bit]) + data[i + 1 :]
            with pytest.raises(ModelError):
                model_file.model_from_bytes(flipped)


def test_damage_with_a_right_hash_is_refused_or_runs() -> None:
    """What passes goes to the C core, which must refuse it or work with it."""
    rng = random.Random(5)
    golden = (GOLDEN / "model_v1_pieces.pybpe").read_bytes()[48:]
    small = model_file.model_to_bytes(make_model())[48:]
    ran = refused = 0
    for _ in range(3000):
        message = bytearray(rng.choice([golden, small]))
        for _ in range(rng.randint(1, 3)):
            i = rng.randrange(len(message))
            if rng.random() < 0.7:
                message[i] ^= 1 << rng.randrange(8)
            else:
                del message[i : i + rng.randint(1, 4)]
        try:
            tok = Tokenizer.from_bytes(frame(bytes(message)))
        except ModelError:
            refused += 1
            continue
        ran += 1
        assert Tokenizer.from_bytes(tok.to_bytes()).to_bytes() == tok.to_bytes()
        ids = tok.encode_ordinary("ab \uff21\u4f60 hello<gap>")
        tok.decode(ids)
    assert ran > 200
    assert refused > 200


def changed(change: Callable[[Any], object]) -> bytes:
    """Return the file of `make_model()` after a change of its message."""
    message = _model_message.schema().Model()
    message.ParseFromString(model_file.model_to_bytes(make_model())[48:])
    change(message)
    return frame(message.SerializeToString(deterministic=True))


def setter(path: str, value: Any) -> Callable[[Any], object]:
    def change(message: Any) -> None:
        *parents, name = path.split(".")
        for parent in parents:
            message = getattr(message, parent)
        setattr(message, name, value)

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (setter("whole_pretoken", True), "it has whole_pretoken"),
        (setter("merges", b"\0" * 8), "it has merges"),
        (setter("unknown.id", 1), "it has unknown"),
        (setter("tokens.ids", b"\0" * 24), "it has ids"),
        (setter("tokens.flags", b"\0" * 6), "it has flags"),
        (setter("kind", 1), "no such model"),
        (setter("semantics", 2), "it has pieces"),
        (lambda m: m.ClearField("pieces"), "no such model"),
        (lambda m: m.pieces.ClearField("normalizer"), "how text is normalized"),
        (lambda m: m.ClearField("tokens"), "it has 0 pieces"),
        (setter("tokens.scores", b"\0" * 23), "cut short"),
        (setter("tokens.scores", b"\0" * 20), "6 pieces but 5 scores"),
        (setter("tokens.types", b"\1" * 7), "6 pieces but 7 types"),
        (setter("tokens.types", b"\1\1\1\0\1\1"), "of the type 0, which is none"),
        (setter("tokens.data", b"abc"), "add up to 14 bytes, but there are 3"),
        (setter("pieces.eos_id", 6), "eos_id, 6, is no piece's"),
        (setter("pieces.pad_id", 2**32 - 1), "pad_id, 4294967295, is no piece's"),
        (setter("text_prefix", b"\6\0\0\0"), "the id 6 around a text"),
    ],
)
def test_contradictions_are_refused(change: Callable[[Any], object], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        model_file.model_from_bytes(changed(change))


@pytest.mark.parametrize(
    "change",
    [
        {"scores": array("f", [0.0])},
        {"piece_types": b"\1" * 5},
        {"piece_data": b""},
        {"unk_id": 6},
        {"bos_id": -2},
        {"text_suffix": (-1,)},
        {"normalizer": Normalizer("\ud800", b"", True, True, True)},
        {"provenance": {"a": 1.5}},
    ],
    ids=range(8),
)
def test_what_cannot_be_read_is_not_written(change: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="cannot write the model"):
        model_file.model_to_bytes(make_model(**change))


def test_format_version_1_loads_for_ever() -> None:
    expected = json.loads((GOLDEN / "model_v1_pieces.json").read_text("utf-8"))
    data = (GOLDEN / "model_v1_pieces.pybpe").read_bytes()
    tok = Tokenizer.from_bytes(data)
    rows = [tok.encode(text, allowed_special="all") for text in expected["texts"]]
    assert rows == expected["ids"]
    assert tok.decode_batch(rows) == expected["decoded"]
    assert tok.fingerprint == expected["fingerprint"]
    assert tok.to_bytes() == data
    assert set(tok._model.piece_types) == {1, 2, 3, 4, 5, 6}  # type: ignore[union-attr]
