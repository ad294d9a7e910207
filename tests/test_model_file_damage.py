"""Model files that are damaged or hostile, and models that are not written."""

from __future__ import annotations

import random
import struct
import tracemalloc
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_messages import (
    EXPECTED,
    GOLDEN,
    assert_same,
    frame,
    make_model,
    make_stage,
    message_of,
    refusal,
    schema,
    small_model,
)

from pybpe import Tokenizer, _wire, model_file
from pybpe.errors import ModelError
from pybpe.split import Split

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
