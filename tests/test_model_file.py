"""Model files: round trips, damage, hostile contents, atomic writing, determinism."""

from __future__ import annotations

import hashlib
import json
import os
import random
import stat
import struct
import subprocess
import sys
import tracemalloc
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybpe import Tokenizer, _model_message, _step_message, _wire, model_file
from pybpe.errors import ModelError
from pybpe.model import Model
from pybpe.split import Split, Stage

GOLDEN = Path(__file__).parent / "golden"
PARTS = [name for name in Model.__slots__ if name != "split"]
STAGE_PARTS = [
    "pattern",
    "dialect",
    "behavior",
    "unicode_version",
    "class_starts",
    "class_ids",
    "n_classes",
    "n_states",
    "transitions",
]


def make_stage(**changes: Any) -> Stage:
    """Return a stage with the tables of `a+`, written by hand."""
    parts: dict[str, Any] = {
        "pattern": "a+",
        "dialect": "rust",
        "behavior": "isolated",
        "unicode_version": "16.0",
        # Other codepoints are class 0, "a" is class 1, the third column is the end.
        "class_starts": array("I", [0, ord("a"), ord("b")]),
        "class_ids": b"\0\1\0",
        "n_classes": 2,
        "n_states": 3,
        "transitions": array("H", [0, 0, 0, 0, 2, 0, 0x8000, 2, 0x8000]),
    }
    return Stage(**(parts | changes))


def make_model(**changes: Any) -> Model:
    """Return a small model that has something of everything."""
    tokens = [bytes([i]) for i in range(256)] + [b"ab", b"ab ", b"\xff\0\n"]
    parts: dict[str, Any] = {
        "semantics": "merges",
        "whole_pretoken": True,
        "token_data": b"".join(tokens),
        "token_lengths": array("I", map(len, tokens)),
        "token_ids": array("I", [*range(258), 300]),
        "merges": array("I", [97, 98, 256, 32, 257, 0]),
        "merge_ids": array("I", [256, 257, 257]),
        "special_tokens": ((b"<|a b\n\0|>", 301), (b"\xff\xfe", 400)),
        "added_tokens": ((b" ", 500),),
        "split": Split((make_stage(),)),
        "provenance": {"corpus": "caf\u00e9", "documents": 12, "shift": -1},
    }
    return Model(**(parts | changes))


def small_model(**changes: Any) -> Model:
    """Return a model so small that every byte of its file can be tried."""
    return make_model(
        **{
            "token_data": b"abab",
            "token_lengths": array("I", [1, 1, 2]),
            "token_ids": array("I", [97, 98, 256]),
            "merges": array("I", [97, 98]),
            "merge_ids": array("I", [256]),
        }
        | changes
    )


def assert_same(left: Model, right: Model) -> None:
    """Compare two models in every part."""
    for part in PARTS:
        assert getattr(left, part) == getattr(right, part), part
    for a, b in zip(left.split.stages, right.split.stages, strict=True):
        for part in STAGE_PARTS:
            assert getattr(a, part) == getattr(b, part), part


def frame(message: bytes) -> bytes:
    """Return a file around a message, with the header that belongs to it."""
    digest = hashlib.sha256(message).digest()
    return struct.pack("<8sII32s", b"\x89pybpe\r\n", 1, len(message), digest) + message


def schema() -> Any:
    return _model_message.schema()


def message_of(model: Model) -> Any:
    """Return a model's protobuf message, to be changed."""
    message = schema().Model()
    message.ParseFromString(model_file.model_to_bytes(model)[48:])
    return message


def refusal(data: bytes) -> str:
    """Return the message with which `data` is refused."""
    with pytest.raises(ModelError) as caught:
        model_file.model_from_bytes(data)
    return str(caught.value)


# ------------------------------------------------------------------ round trips


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Draw models that fit together in size but need make no sense otherwise."""
    tokens = draw(st.lists(st.binary(max_size=9), max_size=30))
    gaps = draw(
        st.one_of(
            st.just([0] * len(tokens)),
            st.lists(
                st.integers(0, 500_000), min_size=len(tokens), max_size=len(tokens)
            ),
        )
    )
    ids = array("I")
    for gap in gaps:
        ids.append((ids[-1] + 1 if ids else 0) + gap)
    ranks = draw(st.booleans())
    merge_ids = draw(
        st.one_of(
            st.just([]),
            st.just(list(ids[len(ids) // 2 :])),
            st.lists(st.integers(0, 2**32 - 1), max_size=20),
        )
    )
    merges = [draw(st.integers(0, 2**32 - 1)) for _ in range(2 * len(merge_ids))]
    extra = st.dictionaries(
        st.integers(0, (1 << 24) - 1), st.binary(min_size=1, max_size=9), max_size=9
    ).map(
        lambda d: tuple(
            (d[i], i) for i in sorted(d) if list(d.values()).count(d[i]) == 1
        )
    )
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
    split = draw(
        st.sampled_from(
            [
                Split(()),
                Split((make_stage(),)),
                Split(
                    (
                        make_stage(dialect="oniguruma", pattern="\0\n $ "),
                        # Without tables, as patterns are that do not compile.
                        Stage.compile(r"\bx", "regex"),
                        make_stage(),
                    )
                ),
            ]
        )
    )
    return Model(
        semantics="ranks" if ranks else "merges",
        whole_pretoken=draw(st.booleans()),
        token_data=b"".join(tokens),
        token_lengths=array("I", map(len, tokens)),
        token_ids=ids,
        merges=array("I", [] if ranks else merges),
        merge_ids=array("I", [] if ranks else merge_ids),
        special_tokens=draw(extra),
        added_tokens=draw(extra),
        split=split,
        provenance=draw(
            st.dictionaries(
                text, st.one_of(text, st.integers(-(2**63), 2**63 - 1)), max_size=5
            )
        ),
    )


@given(models())
def test_round_trip(model: Model) -> None:
    data = model_file.model_to_bytes(model)
    again = model_file.model_from_bytes(data)
    assert_same(again, model)
    assert model_file.model_to_bytes(again) == data
    assert model_file.fingerprint(again) == model_file.fingerprint(model)


def test_round_trip_through_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a model \u00e9"
    for model in [make_model(), make_model(split=Split(()), provenance={})]:
        model_file.save_model(model, path)
        assert_same(model_file.load_model(str(path)), model)
        assert path.read_bytes() == model_file.model_to_bytes(model)
        assert model_file.is_model_file(path.read_bytes()[:8])


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_are_read(kind: Any) -> None:
    data = kind(model_file.model_to_bytes(make_model()))
    assert_same(model_file.model_from_bytes(data), make_model())


def test_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match="must be bytes, got str"):
        model_file.model_from_bytes("no")  # type: ignore[arg-type]


def test_implied_numbers_are_not_written() -> None:
    ids = array("I", range(259))
    plain = make_model(token_ids=ids, merge_ids=array("I", [256, 257, 258]))
    message = message_of(plain)
    assert message.tokens.ids == b""
    assert message.merge_ids == b""
    for part, value in [
        ("token_ids", array("I", [*range(1, 258), 259, 260])),
        ("merge_ids", array("I", [256, 258, 257])),
    ]:
        model = make_model(**({"token_ids": ids} | {part: value}))
        message = message_of(model)
        assert message.tokens.ids or message.merge_ids
        data = model_file.model_to_bytes(model)
        assert getattr(model_file.model_from_bytes(data), part) == value


# ------------------------------------------------------------------ fingerprint


def test_fingerprint_leaves_provenance_out() -> None:
    model = make_model()
    same = make_model(provenance={})
    assert model_file.fingerprint(same) == model_file.fingerprint(model)
    assert len(model_file.fingerprint(model)) == 64


@pytest.mark.parametrize(
    "changes",
    [
        {"whole_pretoken": False},
        {"token_data": make_model().token_data[:-1] + b"x"},
        {"token_ids": array("I", [*range(258), 299])},
        {"token_lengths": array("I", [1] * 255 + [2, 1, 3, 3])},
        {"merges": array("I", [97, 98, 256, 32, 257, 1])},
        {"merge_ids": array("I", [256, 257, 300])},
        {"special_tokens": ((b"<|a b\n\0|>", 301),)},
        {"special_tokens": ((b"<|a b\n\0|>", 302), (b"\xff\xfe", 400))},
        {"added_tokens": ()},
        {"split": Split(())},
        {"split": Split((make_stage(), make_stage()))},
        {"split": Split((make_stage(pattern="a"),))},
        {"split": Split((make_stage(dialect="regex"),))},
        {"split": Split((make_stage(unicode_version="15.0"),))},
        {"split": Split((make_stage(class_starts=array("I", [0, 97, 99])),))},
        {"split": Split((make_stage(class_ids=b"\0\1\1"),))},
        {
            "split": Split(
                (
                    make_stage(
                        transitions=array("H", [0, 0, 0, 0, 2, 0, 32768, 1, 32768])
                    ),
                )
            )
        },
    ],
)
def test_fingerprint_covers_content(changes: dict[str, Any]) -> None:
    changed = model_file.fingerprint(make_model(**changes))
    assert changed != model_file.fingerprint(make_model())


# ------------------------------------------------------------------ accidents


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.pybpe"
    data = model_file.model_to_bytes(small_model())
    for n in range(len(data)):
        said = refusal(data[:n])
        assert ("empty" if n == 0 else "truncated") in said
        path.write_bytes(data[:n])
        with pytest.raises(ModelError, match=r"cut\.pybpe"):
            model_file.load_model(path)


def test_every_bit_flip_is_refused() -> None:
    data = model_file.model_to_bytes(small_model())
    for i in range(len(data)):
        for bit in range(8):
            refusal(data[:i] + bytes([data[i] ^ 1 << bit]) + data[i + 1 :])


def test_data_after_the_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.pybpe"
    path.write_bytes(model_file.model_to_bytes(make_model()) + b"\0" * 5000)
    assert "more data follow" in refusal(path.read_bytes())
    with pytest.raises(ModelError, match="more data follow"):
        model_file.load_model(path)


# What people give instead of a model, and what they must be told.
FOREIGN = [
    (b"", "empty"),
    (b"\0" * 9000, "zero bytes"),
    (b"\n\n<!DOCTYPE html><html><head>", "web page"),
    (b"<?xml version='1.0'?><Error/>", "web page"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "git lfs pull"),
    (b'{"version": "1.0", "truncation": null, "added_tokens": []', "tokenizer.json"),
    (b'{\n  "config": {\n "pattern": "x"}, "vocab": [{"token_bytes": ', "tekken"),
    (b'{"!": 0, "\\"": 1, "#": 2', "vocab.json"),
    (b'{"a": {}}', "but JSON"),
    (b"IQ== 0\nIg== 1\n", "from_ranks"),
    (b"minbpe v1\n\n0\n97 98\n", "minbpe"),
    (b"#version: 0.2\nh e\n", "merges.txt"),
    (b"GGUF\x03\0\0\0", "GGUF"),
    (b"\x1f\x8b\x08\0\0\0\0\0", "gzip"),
    (b"PK\x03\x04\x14\0", "zip archive"),
    (b"\x28\xb5\x2f\xfd\x04\0", "zstd"),
    (b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02\n\x0c\n\x03<s>", "sentencepiece"),
    (b"\x89pybpe\n\x01\0\0\0", "line ends"),
    (b"\x89pybpe\r\r\n\x01\0\0\0", "line ends"),
    (b"\xef\xbf\xbdpybpe\r\n\x01", "re-encoded"),
    ("caf\u00e9, hello".encode(), "text, beginning with 'caf\u00e9"),
    (b"\xff\xfeh\0e\0", "UTF-16"),
    (b"\x80\x04\x95\x01\xc3\x28", "unknown data"),
    (b"\n\x02\n", "unknown data"),
]


@pytest.mark.parametrize(("data", "said"), FOREIGN)
def test_foreign_files_are_named(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "thing.bin"
    path.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        model_file.load_model(path)
    assert said in str(caught.value)
    assert "thing.bin" in str(caught.value)
    assert said in refusal(data)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        model_file.load_model(tmp_path / "none")
    with pytest.raises(OSError, match=r"irectory|denied"):
        model_file.load_model(tmp_path)


def test_newer_format_version_is_named() -> None:
    data = bytearray(model_file.model_to_bytes(make_model()))
    data[8] = 2
    assert "format version 2" in refusal(bytes(data))
    assert "upgrade" in refusal(bytes(data))


# ------------------------------------------------------------------ hostile files


def test_every_bit_flip_with_a_right_hash() -> None:
    """Whatever loads must be a model that can be written and loaded again."""
    message = model_file.model_to_bytes(small_model())[48:]
    loaded = 0
    for i in range(len(message)):
        for bit in range(8):
            flipped = message[:i] + bytes([message[i] ^ 1 << bit]) + message[i + 1 :]
            loaded += survives(frame(flipped))
    assert 0 < loaded < 8 * len(message)


def test_random_mutations_with_a_right_hash() -> None:
    rng = random.Random(20_261)
    messages = [
        model_file.model_to_bytes(model)[48:]
        for model in [
            small_model(),
            make_model(),
            make_model(semantics="ranks", merges=array("I"), merge_ids=array("I")),
        ]
    ]
    loaded = 0
    for _ in range(6000):
        loaded += survives(frame(mutate(rng, rng.choice(messages))))
    assert 0 < loaded < 6000


def mutate(rng: random.Random, message: bytes) -> bytes:
    """Damage a message in 1 to 4 places."""
    for _ in range(rng.randint(1, 4)):
        i, j = sorted(rng.randrange(len(message) + 1) for _ in range(2))
        j = rng.choice([j, min(len(message), i + 3)])
        part = rng.choice(
            [
                b"",
                message[i:j] * 2,
                rng.randbytes(rng.randint(1, 4)),
                b"\xff\xff\xff\xff\x0f",
                bytes([rng.choice([0x08, 0x22, 0x52, 0x0A, 0x12, 0x4A, 0x5A])]),
                message[rng.randrange(len(message) + 1) :][: j - i],
            ]
        )
        message = message[:i] + part + message[j:]
    return message


def survives(data: bytes) -> bool:
    """Load data that may be refused; say whether they were a model."""
    try:
        model = model_file.model_from_bytes(data)
    except ModelError:
        return False
    assert_same(
        model_file.model_from_bytes(model_file.model_to_bytes(model)),
        model,
    )
    return True


@pytest.fixture
def memory() -> Iterator[Any]:
    """Yield a function that returns the peak of traced memory, in bytes."""
    schema()
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def test_announced_sizes_take_no_memory(tmp_path: Path, memory: Any) -> None:
    path = tmp_path / "liar.pybpe"
    liars = [
        struct.pack("<8sII32s", b"\x89pybpe\r\n", 1, size, bytes(32)) + b"x" * 100
        for size in [1 << 20, 1 << 30, (1 << 32) - 1]
    ]
    # A length of 2^31 - 1, and one of 2^63, for the tokens and within them.
    for size in [b"\xff\xff\xff\xff\x07", b"\xff" * 8 + b"\x7f", b"\xff" * 12]:
        liars += [frame(b"\x22" + size + b"a"), frame(b"\x22\x09\x0a" + size + b"aaaa")]
    for liar in liars:
        refusal(liar)
        path.write_bytes(liar)
        with pytest.raises(ModelError):
            model_file.load_model(path)
    assert memory() < 4_000_000


def test_endless_file_is_refused() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("no /dev/zero here")
    with pytest.raises(ModelError, match="zero bytes"):
        model_file.load_model("/dev/zero")


@pytest.mark.parametrize(
    "part", [b"\x4a\x00", b"\x52\x02\x0a\x00", b"\x5a\x02\x0a\x00"]
)
def test_crowds_of_tiny_messages_are_refused(part: bytes, memory: Any) -> None:
    """Each would be an object of some hundred bytes."""
    data = frame(part * 1_000_000 if part[0] == 0x4A else part + part[2:] * 500_000)
    before = memory()
    refusal(data)
    assert memory() - before < 3 * len(data)
    inner = part[2:] * 20_000
    size = bytes([len(inner) & 0x7F | 0x80, len(inner) >> 7 & 0x7F | 0x80])
    data = frame(part[:1] + size + bytes([len(inner) >> 14]) + inner)
    if inner:
        assert f"more than {_wire.MAX_FIELDS:,} protobuf fields" in refusal(data)


def test_unknown_fields_are_refused_and_numbered() -> None:
    message = model_file.model_to_bytes(make_model())[48:]
    # Field 99, in the model and in its token table (field 4).
    assert "number 99 of pybpe.v1.Model" in refusal(frame(message + b"\x98\x06\x01"))
    inner = b"\x22\x03\x98\x06\x01"
    assert "number 99 of pybpe.v1.TokenTable" in refusal(frame(inner))
    assert "newer version" in refusal(frame(inner))


def test_wire_level_faults_are_refused() -> None:
    for message, said in [
        (b"\x0d\1\0\0\0", "Model.kind has the wrong wire type"),
        (b"\x23\x24", "Model.tokens has the wrong wire type"),
        (b"\x08\x01\x08\x01", "Model.kind is there twice"),
        (b"\x08", "number in pybpe.v1.Model is cut short"),
        (b"\x08" + b"\x80" * 10 + b"\x01", "number in pybpe.v1.Model is too long"),
        (b"\x88" + b"\x80" * 5 + b"\x00\x01", "number in pybpe.v1.Model is too long"),
        (b"\x52\x05\x0a\x03\x0a\x01\xff", "Stage.pattern is not UTF-8"),
        (
            b"\x5a\x06\x0a\x04\x12\x00\x18\x00",
            "Entry.text and pybpe.v1.Provenance.Entry.number are there, of",
        ),
        (b"\x22\x05\x0a", "Model.tokens is cut short: 5 bytes announced, 1 left"),
        (b"", "model kind 0 (KIND_UNSPECIFIED)"),
    ]:
        assert said in refusal(frame(message))


def edit_normalizer(m: Any) -> None:
    m.normalizers.add().lowercase.unicode_version = "16.0"


def set_field(path: str, value: Any) -> Any:
    """Return a function that sets a field, named by a dotted path, of a message."""

    def change(message: Any) -> None:
        *way, last = path.split(".")
        for name in way:
            message = getattr(message, name)
            if name == "stages":
                message = message[0]
        setattr(message, last, value)

    return change


def u32(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


REFUSED = [
    (set_field("kind", 3), "model kind 3 (unknown)"),
    (set_field("kind", 77), "model kind 77 (unknown)"),
    (set_field("semantics", 0), "merge semantics 0"),
    (set_field("semantics", 4), "merge semantics 4 (unknown)"),
    (set_field("semantics", 1), "lists merges, but its semantics are ranks"),
    (edit_normalizer, "needs the Unicode tables of '16.0'"),
    (lambda m: m.normalizers.add(), "normalizer (empty)"),
    (set_field("tokens.scores", b"\0" * 4), "tokens have scores"),
    (set_field("tokens.types", b"\1"), "tokens have types"),
    (set_field("tokens.flags", b"\1"), "tokens have flags"),
    (set_field("special_tokens.flags", b"\1"), "have 1 flags for 2 tokens"),
    (set_field("added_tokens.flags", b"\x40"), "the flags 64 for the id 500"),
    (set_field("fallback_ids", u32(1)), "nothing is unknown"),
    (set_field("unknown.id", 1), "nothing is unknown"),
    (set_field("unknown.fuse", True), "nothing is unknown"),
    (set_field("text_prefix", u32(1 << 24)), "the id 16777216 around a text"),
    (lambda m: m.decoders.add(), "a decoder (empty)"),
    (lambda m: m.decoders.add().strip.SetInParent(), "cannot strip ''"),
    (lambda m: m.normalizers.add().replace.SetInParent(), "an empty pattern"),
    (lambda m: [m.normalizers.add() for _ in range(257)], "257 normalizers"),
    (set_field("tokens.data", b"xyz"), "add up to 264 bytes, but there are 3"),
    (set_field("tokens.lengths", b"\1\0\0\0\1"), "take 5 bytes, not a multiple of 4"),
    (set_field("tokens.ids", u32(1, 2)), "259 tokens but 2 ids"),
    (set_field("merges", u32(1, 2, 3)), "merges"),
    (set_field("merges", u32(1, 2)), "merges"),
    (set_field("merge_ids", u32(1)), "merges"),
    (set_field("special_tokens.ids", u32(5, 5)), "the id 5; the ids must ascend"),
    (set_field("special_tokens.ids", u32(5, 1 << 24)), "the id 16777216"),
    (set_field("special_tokens.lengths", u32(0, 11)), "id 301 is empty"),
    (set_field("split.stages.dialect", 9), "pattern dialect 9 (unknown)"),
    (set_field("split.stages.dialect", 0), "pattern dialect 0"),
    (set_field("split.stages.behavior", 6), "split behavior 6 (unknown)"),
    (set_field("split.stages.pattern", "x" * 1_048_577), "more than 1,048,576 bytes"),
    (set_field("split.stages.class_starts", b""), "do not cover"),
    (set_field("split.stages.class_starts", u32(1, 2, 3)), "do not cover"),
    (set_field("split.stages.class_starts", u32(0, 9, 0x110000)), "do not cover"),
    (set_field("split.stages.class_starts", u32(0, 9, 9)), "out of order"),
    (set_field("split.stages.class_ids", b"\0\0\2\0\0\0"), "class numbers"),
    (set_field("split.stages.class_ids", b"\0\0\1\0"), "class numbers"),
    (set_field("split.stages.n_classes", 0), "0 classes"),
    (set_field("split.stages.n_classes", 256), "256 classes; the limit is 255"),
    (set_field("split.stages.n_states", 1), "1 states"),
    (set_field("split.stages.n_states", 4097), "4097 states"),
    (set_field("split.stages.n_states", 4), "9 transitions, which do not fit 4 states"),
    (set_field("split.stages.n_states", 0), "9 transitions"),
    (lambda m: m.provenance.entries.add(key="corpus", text="x"), "'corpus' twice"),
    (lambda m: m.provenance.entries.add(key="k"), "'k' without a value"),
    (lambda m: m.split.stages.extend(list(m.split.stages) * 16), "17 stages"),
    (
        lambda m: m.provenance.entries.extend(
            [schema().Provenance.Entry(key=f"{i}", number=i) for i in range(1024)]
        ),
        "1,027 entries; the limit is 1,024",
    ),
    (set_field("special_tokens.lengths", u32(1) * 1_048_577), "limit is 1,048,576"),
]


@pytest.mark.parametrize(
    ("change", "said"),
    REFUSED,
    ids=[f"{i}-{said}" for i, (_, said) in enumerate(REFUSED)],
)
def test_contents_are_refused_by_name(change: Any, said: str) -> None:
    message = message_of(make_model())
    change(message)
    assert said in refusal(frame(message.SerializeToString()))


def test_too_many_tokens_are_refused() -> None:
    message = message_of(make_model())
    message.tokens.lengths = bytes(4 * 16_777_217)
    said = refusal(frame(message.SerializeToString()))
    assert "16,777,217 tokens; the limit is 16,777,216" in said


@pytest.mark.parametrize("text", ["a+", "16.0", "corpus", "caf\u00e9"])
def test_strings_that_are_not_utf8_are_refused(text: str) -> None:
    message = model_file.model_to_bytes(make_model())[48:]
    raw = text.encode()
    assert message.count(raw) == 1
    said = refusal(frame(message.replace(raw, b"\xff" * len(raw))))
    assert "is not UTF-8" in said


# ------------------------------------------------------------------ what is not written


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"semantics": "other"}, "'other'"),
        ({"token_lengths": array("I", [1])}, "1 tokens but 259 ids"),
        ({"token_data": b"x"}, "add up"),
        ({"merges": array("I", [1, 2])}, "merges"),
        ({"semantics": "ranks"}, "ranks"),
        ({"special_tokens": ((b"a", 2), (b"b", 1))}, "b'b' has the id 1"),
        ({"special_tokens": ((b"", 2),)}, "empty"),
        ({"special_tokens": ((b"a", 2), (b"a", 3))}, "same bytes"),
        ({"added_tokens": ((b"a", 1 << 24),)}, "16777216"),
        ({"split": Split((make_stage(),) * 17)}, "17 stages"),
        ({"provenance": {"x": 1.5}}, "'x' to 1.5"),
        ({"provenance": {"x": None}}, "'x' to None"),
        ({"provenance": {"x": 1 << 63}}, "more than 64 bits"),
        ({"provenance": {3: "x"}}, "not 3"),
    ],
)
def test_unreadable_models_are_not_written(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ModelError) as caught:
        model_file.save_model(make_model(**changes), tmp_path / "m")
    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("part", ["key", "value", "pattern"])
def test_lone_surrogates_are_refused(part: str) -> None:
    """They cannot be stored; and must not come out as a UnicodeEncodeError."""
    bad = "\ud800"
    changes: dict[str, Any] = {
        "key": {"provenance": {bad: 1}},
        "value": {"provenance": {"a": bad}},
        "pattern": {"split": Split((make_stage(pattern=bad),))},
    }[part]
    with pytest.raises(ModelError, match="surrogate"):
        model_file.model_to_bytes(make_model(**changes))


# ------------------------------------------------------------------ writing


@pytest.fixture
def umask() -> Iterator[int]:
    old = os.umask(0o027)
    yield 0o027
    os.umask(old)


@pytest.mark.skipif(os.name != "posix", reason="permission bits of POSIX")
def test_permissions_are_those_of_open(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "m"
    model_file.save_model(make_model(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o604)
    model_file.save_model(small_model(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert_same(model_file.load_model(path), small_model())


def test_protected_file_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"old")
    # What the system says to anybody but root of a file with mode 0444.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="m"):
        model_file.save_model(make_model(), path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_symlinks_are_followed(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    link, loose = tmp_path / "link", tmp_path / "loose"
    try:
        link.symlink_to(Path("real", "m"))
        loose.symlink_to(Path("real", "new"))
    except OSError:
        pytest.skip("no symbolic links here")
    (folder / "m").write_bytes(b"old")
    model_file.save_model(make_model(), link)
    model_file.save_model(make_model(), loose)
    assert link.is_symlink()
    assert loose.is_symlink()
    assert sorted(p.name for p in folder.iterdir()) == ["m", "new"]
    assert_same(model_file.load_model(folder / "m"), make_model())
    assert_same(model_file.load_model(link), make_model())


@pytest.mark.parametrize("error", [OSError(28, "disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, where: str
) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(
        *((os, "fsync") if where == "fsync" else (Path, "replace")), fail
    )
    with pytest.raises(type(error)):
        model_file.save_model(make_model(), path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_longest_name_is_fine(tmp_path: Path) -> None:
    path = tmp_path / ("m" * 255)
    try:
        path.touch()
    except OSError:
        pytest.skip("shorter names only here")
    model_file.save_model(make_model(), path)
    assert_same(model_file.load_model(path), make_model())


def test_current_folder_and_missing_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model_file.save_model(make_model(), "m")
    assert_same(model_file.load_model("m"), make_model())
    with pytest.raises(FileNotFoundError):
        model_file.save_model(make_model(), "no/m")
    with pytest.raises(OSError, match=r"irectory|denied"):
        model_file.save_model(make_model(), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("error", [PermissionError(13, "denied"), OSError(28, "full")])
@pytest.mark.parametrize("where", ["open", "fsync", "replace"])
def test_errors_name_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, where: str
) -> None:
    """Not the temporary file, which the caller knows nothing of."""
    missing = str(tmp_path / "no" / "m")
    with pytest.raises(FileNotFoundError) as nowhere:
        model_file.save_model(make_model(), missing)
    assert (nowhere.value.filename, nowhere.value.filename2) == (missing, None)

    def fail(path: object, *_: object) -> None:
        raise OSError(error.errno, error.strerror, path)

    monkeypatch.setattr(*((Path if where == "replace" else os), where), fail)
    path = str(tmp_path / "m")
    with pytest.raises(type(error)) as caught:
        model_file.save_model(make_model(), path)
    assert (caught.value.filename, caught.value.filename2) == (path, None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_named() -> None:
    with pytest.raises(OSError, match="/dev/full"):
        model_file.save_model(make_model(), "/dev/full")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_are_written_to_and_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = (
        "import sys; from pybpe import model_file as f; "
        "sys.stdout.buffer.write(f.model_to_bytes(f.load_model(sys.argv[1])))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(pipe)], stdout=subprocess.PIPE
    ) as reader:
        model_file.save_model(make_model(), pipe)
        out, _ = reader.communicate(timeout=600)
    assert reader.returncode == 0
    assert out == model_file.model_to_bytes(make_model())
    assert stat.S_ISFIFO(pipe.stat().st_mode)


# ------------------------------------------------------------------ processes, protobuf


def run(code: str, *args: str, **environment: str) -> str:
    """Run Python code in a fresh process, warnings being errors; return its output."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *args],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


REWRITE = """
import sys
from pybpe import model_file as f
model = f.load_model(sys.argv[1])
print(f.model_to_bytes(model).hex(), f.fingerprint(model))
"""


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "12345"},
        {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"},
    ],
)
def test_bytes_are_the_same_in_every_process(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    path = tmp_path / "m"
    model_file.save_model(make_model(), path)
    data = path.read_bytes()
    written = run(REWRITE, str(path), **environment)
    assert written == f"{data.hex()} {model_file.fingerprint(make_model())}"


def test_order_of_provenance_does_not_matter() -> None:
    pairs = list(make_model().provenance.items())
    turned = make_model(provenance=dict(reversed(pairs)))
    assert model_file.model_to_bytes(turned) == model_file.model_to_bytes(make_model())


@pytest.mark.parametrize("name", sorted(p.name for p in GOLDEN.glob("*.pybpe")))
def test_protobuf_is_imported_for_writing_only(name: str) -> None:
    code = (
        "import sys, pybpe; tok = pybpe.load(sys.argv[1]); tok.encode('a')\n"
        "print([m for m in sys.modules if m.startswith('google')], end=' ')\n"
        "tok.to_bytes(); print('google.protobuf' in sys.modules)"
    )
    assert run(code, str(GOLDEN / name)) == "[] True"


@pytest.mark.parametrize("name", sorted(p.name for p in GOLDEN.glob("*.pybpe")))
def test_loading_imports_nothing_slow(name: str) -> None:
    """Each of these takes longer to import than a small model takes to load."""
    # Without site-packages' .pth files, which may import anything.
    code = (
        "import sys; sys.path[:] = sys.argv[2:]; there = set(sys.modules)\n"
        "import pybpe; pybpe.load(sys.argv[1]).encode('a')\n"
        "slow = {'typing', 're', 'enum', 'contextlib', 'pathlib', 'dataclasses'}\n"
        "print(*slow & (set(sys.modules) - there))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, str(GOLDEN / name), *sys.path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 65_535, 65_536, 65_537, 200_000])
def test_counted_is_a_range(n: int) -> None:
    assert _step_message.counted(n) == array("I", range(n))


def test_schema_registers_under_names_of_its_own() -> None:
    file = schema().DESCRIPTOR
    assert file.name == "pybpe/_proto/pybpe.proto"
    assert file.package == "pybpe.v1"


def test_generated_code_is_up_to_date(project_root: Path) -> None:
    """See tools/make_proto.py, whose --check compares in full."""
    text = (project_root / "proto" / "pybpe.proto").read_text("utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()
    for name in ["pybpe_pb2.py", "pybpe_pb2.pyi", "pybpe_schema.py"]:
        generated = (project_root / "pybpe" / "_proto" / name).read_text("utf-8")
        assert digest in generated.splitlines()[0]


def test_names_match_the_schema() -> None:
    """The numbers written in _model_message are those of the schema."""
    pb = schema()
    for table, enum in [
        (_model_message._SEMANTICS, pb.MergeSemantics),
        (_step_message._DIALECTS, pb.Dialect),
        (_step_message._BEHAVIORS, pb.Behavior),
    ]:
        for name, number in table.items():
            assert enum.Name(number).endswith("_" + name.upper())
    assert pb.Kind.Name(_model_message._BYTE_LEVEL) == "KIND_BYTE_LEVEL_BPE"


# ------------------------------------------------------------------ golden files


EXPECTED = json.loads((GOLDEN / "model_v1.json").read_text("utf-8"))


@pytest.mark.parametrize("name", sorted(EXPECTED["models"]))
def test_format_version_1_loads_for_ever(name: str) -> None:
    expected = EXPECTED["models"][name]
    tok = Tokenizer.from_bytes((GOLDEN / name).read_bytes())
    for text, ids in zip(EXPECTED["texts"], expected["ids"], strict=True):
        assert tok.encode(text, allowed_special="all") == ids
        assert tok.decode(ids) == text
    # And nothing that an upgrade changes shows in what is written.
    assert tok.fingerprint == expected["fingerprint"]
    assert tok.to_bytes() == (GOLDEN / name).read_bytes()


def test_golden_files_hold_something_of_everything() -> None:
    models = [model_file.load_model(GOLDEN / name) for name in EXPECTED["models"]]
    assert {m.semantics for m in models} == {"ranks", "merges"}
    assert {len(m.split.stages) for m in models} == {0, 1, 3}
    for part in ["merges", "special_tokens", "added_tokens", "provenance"]:
        assert any(getattr(m, part) for m in models), part
    assert any(list(m.token_ids) != list(range(len(m.token_ids))) for m in models)


def test_every_damaged_model_is_refused_or_runs() -> None:
    """What passes here goes to the C core, which must refuse it or work with it."""
    rng = random.Random(20_262)
    messages = [(GOLDEN / name).read_bytes()[48:] for name in EXPECTED["models"]]
    ran = 0
    for _ in range(8000):
        message = rng.choice(messages)
        if rng.random() < 0.5:
            i = rng.randrange(len(message))
            flipped = bytes([message[i] ^ 1 << rng.randrange(8)])
            message = message[:i] + flipped + message[i + 1 :]
        else:
            message = mutate(rng, message)
        try:
            tok = Tokenizer.from_bytes(frame(message))
        except ModelError:
            continue
        ran += 1
        for data in [b"hello, \xff\xfe\0 low\r\n ", EXPECTED["texts"][2].encode()]:
            assert tok.decode_bytes(tok.encode_ordinary(data)) == data
    assert 0 < ran < 8000
