"""Reading protobuf messages by tables gives what the protobuf runtime gives."""

from __future__ import annotations

import contextlib
import random
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import spm
from google.protobuf.message import DecodeError
from model_messages import make_model, make_stage, small_model
from test_model_file_damage import mutate

import pybpe
from pybpe import _wire, decoders, model_file, normalizers
from pybpe._proto import (
    pybpe_pb2,
    pybpe_schema,
    sentencepiece_pb2,
    sentencepiece_schema,
)
from pybpe.errors import ModelError
from pybpe.formats import _map_steps, sentencepiece
from pybpe.split import Split, Stage

GOLDEN = Path(__file__).parent / "golden"
MESSAGE, BYTES, STRING, ENUM, BOOL, FLOAT = 11, 12, 9, 14, 8, 2
ROOT = "pybpe.v1.Model"


def read(data: bytes, name: str = ROOT) -> Any:
    return _wire.read(data, pybpe_schema.MESSAGES, name)


def skim(data: bytes, name: str) -> Any:
    schema = sentencepiece_schema
    full = f"pybpe.sentencepiece.v1.{name}"
    return _wire.skim(data, schema.MESSAGES, schema.ENUMS, full)


def assert_equal(ours: Any, theirs: Any, depth: int = 0) -> None:
    """Compare every field, absent ones too; these to a depth, as types hold themselves.

    `theirs` is the runtime's message.
    """
    assert isinstance(ours, _wire.Message)
    there = {field.name for field, _ in theirs.ListFields()}
    assert _wire.fields_set(ours) == there
    for oneof in theirs.DESCRIPTOR.oneofs:
        if oneof.name[0] != "_":  # not those made up for `optional`
            assert ours.WhichOneof(oneof.name) == theirs.WhichOneof(oneof.name)
    for field in theirs.DESCRIPTOR.fields:
        mine, wanted = getattr(ours, field.name), getattr(theirs, field.name)
        if field.has_presence:
            assert ours.HasField(field.name) == theirs.HasField(field.name)
        if field.is_repeated:
            assert type(mine) is list
            assert len(mine) == len(wanted)
            pairs = list(zip(mine, wanted, strict=True))
        else:
            pairs = [(mine, wanted)]
        for a, b in pairs:
            if field.type != MESSAGE:
                assert type(a) is type(b)
                assert a == b or (a != a and b != b)  # NaN
            elif field.name in there or depth < 1:
                assert_equal(a, b, 0 if field.name in there else depth + 1)


def both(data: bytes, kind: Any = pybpe_pb2.Model) -> bool:
    """Read with both; say whether ours reads it. Then the contents must be the same."""
    try:
        ours = read(data, kind.DESCRIPTOR.full_name)
    except ModelError:
        return False
    assert_equal(ours, kind.FromString(data))
    return True


# ------------------------------------------------------------------ our own files


def steps() -> list[Any]:
    """Return normalizers of every kind that can be made without a vocabulary."""
    version = normalizers.UnicodeForm("NFC").version
    return [
        normalizers.UnicodeForm("NFKD", version),
        normalizers.Characters("lowercase", version),
        normalizers.Characters("nmt", version),
        normalizers.Replace("x", "a"),
        normalizers.Replace("", "a+", make_stage()),
        normalizers.Prepend("\u2581"),
        normalizers.Prefix(" ", True),
        normalizers.Strip(True, True),
        normalizers.Precompiled(_map_steps.compiled({"a": "b"})),
        normalizers.CharacterRules("ab\0c\0", "x\0", "a\0b\0"),
    ]


def saved() -> Iterator[bytes]:
    """Yield messages of saved models that have everything a model can have."""
    for path in sorted(GOLDEN.glob("*.pybpe")):
        yield path.read_bytes()[48:]
    before = make_stage(invert=True, over_bytes=True).with_steps(tuple(steps()))
    models = [
        make_model(),
        small_model(),
        make_model(special_tokens=(), flags={500: 3}, split=Split((before, before))),
        make_model(
            normalizers=tuple(steps()),
            text_prefix=(301,),
            text_suffix=(400, 301),
            decoders=(
                decoders.Join(" "),
                decoders.ByteFallback(),
                decoders.Fuse(),
                decoders.ByteLevel(),
                decoders.StripCharacter(" ", 1, 2),
                decoders.ReplaceIn(normalizers.Replace("x", "a")),
                decoders.WordEnds("</w>"),
                decoders.Marks(True, "\u2581"),
            ),
        ),
        make_model(
            symbols="some_bytes",
            unknown=97,
            fuse_unknown=True,
            split=Split((Stage.compile(r"\bx", "regex"),)),
        ),
        make_model(symbols="characters", unknown=0, word_suffix=b"</w>"),
    ]
    for model in models:
        yield model_file.model_to_bytes(model)[48:]
    rng = random.Random(7)
    files = [spm.random_model(rng, [b""]) for _ in range(8)]
    padded = sentencepiece_pb2.Model.FromString(files[0])
    padded.pieces.add(text=b"<pad>", type=spm.CONTROL)
    for file in [*files, padded.SerializeToString()]:
        made = sentencepiece.model_from_bytes(file)
        yield model_file.model_to_bytes(made)[48:]
    yield pybpe.train_sentencepiece(["ab abc"], 263, preset="lossless").to_bytes()[48:]


def test_saved_models_read_as_protobuf_reads_them() -> None:
    messages = list(saved())
    for message in messages:
        assert both(message)
    # And they hold something of every field.
    seen: set[str] = set()
    for message in messages:
        seen |= fields_of(pybpe_pb2.Model.FromString(message))
    known = {
        f"{name}.{row[0]}"
        for name, rows in pybpe_schema.MESSAGES.items()
        for row in rows.values()
    }
    # Heads of files of counts have a test of their own in test_counts.py.
    missing = {name.removeprefix("pybpe.v1.") for name in known - seen}
    assert {name for name in missing if not name.startswith("Counts.")} <= {
        "Model.fallback_ids",
        "TokenTable.ids",
    }


def fields_of(message: Any) -> set[str]:
    """Return the full names of all fields that are there."""
    found: set[str] = set()
    for field, value in message.ListFields():
        found.add(field.full_name)
        if field.type == MESSAGE:
            for inner in value if field.is_repeated else [value]:
                found |= fields_of(inner)
    return found


def fill(rng: random.Random, message: Any, depth: int = 0) -> None:
    """Set fields of a message at random, messages in it too."""
    chosen = [rng.choice(oneof.fields) for oneof in message.DESCRIPTOR.oneofs]
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.3 or (field.containing_oneof and field not in chosen):
            continue
        if field.type != MESSAGE:
            setattr(message, field.name, value_for(rng, field))
        elif depth < 4:
            many = rng.randrange(3) if field.is_repeated else 1
            for _ in range(many):
                inner = getattr(message, field.name)
                if field.is_repeated:
                    inner = inner.add()
                inner.SetInParent()
                fill(rng, inner, depth + 1)


def value_for(rng: random.Random, field: Any) -> Any:
    if field.type == BYTES:
        return rng.choice([b"", b"\xff", rng.randbytes(200)])
    if field.type == STRING:
        return rng.choice(["", "a", "\u00e9\U0001f600\0", "\uffff" * 50])
    if field.type == BOOL:
        return rng.random() < 0.5
    if field.type == FLOAT:
        return rng.choice([0.0, -0.0, 1.5, float("inf"), float("nan"), 1e-40])
    if field.type == ENUM:
        if field.enum_type.is_closed:
            return rng.choice(field.enum_type.values).number
        return rng.choice([0, 1, 77, -1, 2**31 - 1, -(2**31)])
    top = {4: 2**64 - 1, 5: 2**31 - 1, 13: 2**32 - 1, 18: 2**63 - 1}[field.type]
    low = -top - 1 if field.type in (5, 18) else 0
    return rng.choice([0, 1, top, low, low // 2, rng.randrange(low, top)])


def test_random_messages_read_as_protobuf_reads_them() -> None:
    rng = random.Random(1)
    seen: set[str] = set()
    for _ in range(150):
        for kind in (pybpe_pb2.Model, pybpe_pb2.Counts):
            message = kind()
            fill(rng, message)
            seen |= fields_of(message)
            assert both(message.SerializeToString(), kind)
    total = sum(len(fields) for fields in pybpe_schema.MESSAGES.values())
    assert len(seen) == total


@pytest.mark.parametrize(
    "n", [3_000, pytest.param(100_000, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_damage_is_refused_or_reads_as_protobuf_reads_it(n: int) -> None:
    rng = random.Random(n)
    bases = [message for message in saved() if len(message) < 3_000]
    for _ in range(12):
        message = pybpe_pb2.Model()
        fill(rng, message, 1)
        bases.append(message.SerializeToString())
    kinds = [pybpe_pb2.Normalizer, pybpe_pb2.Decoder, pybpe_pb2.Provenance.Entry]
    ends = {True: 0, False: 0}
    for _ in range(n):
        kind = rng.choice([pybpe_pb2.Model, pybpe_pb2.Model, *kinds])
        data = rng.choice(bases)
        if kind is not pybpe_pb2.Model:
            small = kind()
            fill(rng, small, 2)
            data = small.SerializeToString()
        ends[both(mutate(rng, data), kind)] += 1
    assert min(ends.values()) > n // 50


def test_short_bytes_of_every_kind() -> None:
    """All messages of up to two bytes, and of some types all of three."""
    n = 0
    for kind in [pybpe_pb2.Unknown, pybpe_pb2.Provenance.Entry, pybpe_pb2.Decoder]:
        for tag in range(256):
            n += both(bytes([tag]), kind)
            for byte in range(256):
                n += both(bytes([tag, byte]), kind)
            for rest in [
                b"\x80\x00",
                b"\x80\x01",
                b"\x01a",
                b"\x02\xff\xff",
                b"\x00\x00",
            ]:
                n += both(bytes([tag]) + rest, kind)
    assert n > 400


@pytest.mark.parametrize(
    "number",
    [
        b"\x80\x00",
        b"\xff\xff\xff\xff\x0f",
        b"\x80\x80\x80\x80\x10",
        b"\x80\x80\x80\x80\x80\x00",
        b"\xff" * 9 + b"\x01",
        b"\x80" * 9 + b"\x01",
        b"\x80" * 9 + b"\x00",
    ],
)
def test_long_numbers_are_what_protobuf_takes_them_for(number: bytes) -> None:
    # As enum, bool, uint32 and sint64.
    assert both(b"\x08" + number)
    assert both(b"\x18" + number)
    assert both(b"\x30" + number, pybpe_pb2.Pieces)
    assert both(b"\x18" + number, pybpe_pb2.Provenance.Entry)


def test_numbers_before_fields_may_be_long_to_a_degree() -> None:
    entry = pybpe_pb2.Provenance.Entry
    for data in [b"\x8a\x80\x80\x80\x00\x01a", b"\x0a\x81\x80\x80\x80\x00a"]:
        assert both(data, entry)
    for data in [b"\x8a\x80\x80\x80\x80\x00\x01a", b"\x0a\x81\x80\x80\x80\x80\x00a"]:
        assert not both(data, entry)
        with pytest.raises(DecodeError):
            entry.FromString(data)


def test_depth_is_bounded() -> None:
    data = b""
    for _ in range(100_000):
        # A stage with a normalizer that replaces what a stage matches.
        inner = b"\x2a" + size(data) + data
        inner = b"\x1a" + size(inner) + inner
        data = b"\x62" + size(inner) + inner
        if len(data) > 400:
            break
    with pytest.raises(ModelError, match="nested too deeply"):
        read(data, "pybpe.v1.Stage")


def size(data: bytes) -> bytes:
    n, out = len(data), b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def test_absent_parts_are_new_each_time() -> None:
    message = read(b"")
    message.normalizers.append(1)
    assert message.normalizers == []
    assert message.split.stages == []
    with pytest.raises(AttributeError, match="no field 'nothing'"):
        _ = message.nothing


# ------------------------------------------------------------------ files of others


def both_skim(data: bytes, kind: Any) -> bool:
    """Skim with ours and parse with theirs; say whether both take it."""
    theirs = None
    with contextlib.suppress(DecodeError):
        theirs = kind.FromString(data)
    try:
        ours = skim(data, kind.DESCRIPTOR.name)
    except ModelError as error:
        # Inside groups the runtime looks at no numbers.
        if "the number 0" not in str(error) and theirs is not None:
            raise
        return False
    assert theirs is not None
    for field in kind.DESCRIPTOR.fields:
        if field.is_repeated:
            continue
        try:
            wanted = getattr(theirs, field.name)
        except UnicodeDecodeError:
            wanted = ""
        if field.type == STRING and isinstance(wanted, bytes):
            wanted = ""  # what is no UTF-8, in some versions
        mine = getattr(ours, field.name)
        assert type(mine) is type(wanted)
        assert mine == wanted or (mine != mine and wanted != wanted)
        assert ours.HasField(field.name) == theirs.HasField(field.name)
    return True


@pytest.mark.parametrize(
    "n", [4_000, pytest.param(100_000, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_skimming_is_what_protobuf_reads(n: int) -> None:
    rng = random.Random(n)
    kinds = [
        sentencepiece_pb2.Training,
        sentencepiece_pb2.Normalizer,
        sentencepiece_pb2.Piece,
    ]
    ends = {True: 0, False: 0}
    for _ in range(n):
        kind = rng.choice(kinds)
        message = kind()
        for field in message.DESCRIPTOR.fields:
            if rng.random() < 0.3 and not field.is_repeated:
                setattr(message, field.name, value_for(rng, field))
        data = message.SerializeToString()
        for _ in range(rng.randrange(3)):
            data += rng.choice(STRANGE)
        if rng.random() < 0.7:
            data = mutate(rng, data)
        ends[both_skim(data, kind)] += 1
    assert min(ends.values()) > n // 20


STRANGE = [
    b"\x18\x63",  # an enum or a flag of another number
    b"\x18\x02\x18\x63",
    b"\x19" + bytes(8),  # other wire types
    b"\x1d" + bytes(4),
    b"\x1a\x01x",
    b"\xc2\x0c\x02ab",  # extensions
    b"\xc0\x0c\x07",
    b"\xc3\x0c\x08\x01\xc4\x0c",  # groups
    b"\xc3\x0c\x13\x14\xc4\x0c",
    b"\xc3\x0c",
    b"\xc4\x0c",
    b"\xc3\x0c\xcc\x0c",
    b"\x00\x00",  # number 0
    b"\x0a\x02\xff\xff",  # no UTF-8
    b"\x80\x80\x80\x80\x10\x00",  # a number above 2^29
]


def test_strange_fields_are_skimmed_as_protobuf_does() -> None:
    for kind in [sentencepiece_pb2.Training, sentencepiece_pb2.Normalizer]:
        taken = [both_skim(part, kind) for part in STRANGE]
        assert set(taken) == {True, False}
    nested = b"\xc3\x0c" * 90 + b"\xc4\x0c" * 90
    assert both_skim(nested, sentencepiece_pb2.Training)
    with pytest.raises(ModelError, match="groups"):
        skim(b"\xc3\x0c" * 1000 + b"\xc4\x0c" * 1000, "Training")


def test_crowds_of_fields_take_no_memory() -> None:
    data = b"\x0a\x00" * 50_000
    tracemalloc.start()
    try:
        skim(data, "Training")
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    with pytest.raises(ModelError, match="more than 1,048,576 fields"):
        skim(data * 21, "Training")


# ------------------------------------------------------------------ the tables


@pytest.mark.parametrize(
    ("tables", "pb"),
    [(pybpe_schema, pybpe_pb2), (sentencepiece_schema, sentencepiece_pb2)],
)
def test_tables_say_what_the_descriptors_say(tables: Any, pb: Any) -> None:
    names: set[str] = set()

    def compare(message: Any) -> None:
        names.add(message.full_name)
        rows = tables.MESSAGES[message.full_name]
        assert set(rows) == set(message.fields_by_number)
        for number, field in message.fields_by_number.items():
            name, kind, of, label, default = rows[number]
            assert name == field.name
            type_of = field.message_type or field.enum_type
            assert of == ("" if type_of is None else type_of.full_name)
            assert getattr(field, f"TYPE_{kind.upper()}") == field.type
            assert (label == "repeated") == field.is_repeated
            if field.type == MESSAGE or field.is_repeated:
                assert default is None
            else:
                absent = getattr(message._concrete_class(), name)
                assert default == absent
                assert type(default) is type(absent)
                assert (label != "") == field.has_presence
        for inner in message.nested_types:
            compare(inner)

    for message in pb.DESCRIPTOR.message_types_by_name.values():
        compare(message)
    assert names == set(tables.MESSAGES)
    for name, values in tables.ENUMS.items():
        enum: Callable[..., Any] = pb.DESCRIPTOR.pool.FindEnumTypeByName
        assert {v.number: v.name for v in enum(name).values} == values


def test_pybpe_loads_what_it_saved_without_protobuf() -> None:
    tok = pybpe.train(["low lower lowest"] * 3, vocab_size=260, pattern="gpt4")
    data = tok.to_bytes()
    hidden = {n: m for n, m in sys.modules.items() if n.startswith("google.protobuf")}
    hidden |= {"pybpe._proto.pybpe_pb2": pybpe_pb2}
    try:
        for name in hidden:
            sys.modules[name] = None  # type: ignore[assignment]
        assert pybpe.Tokenizer.from_bytes(data).encode("lower") == tok.encode("lower")
    finally:
        sys.modules.update(hidden)
