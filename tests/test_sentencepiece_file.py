"""sentencepiece's `.model` files: what is refused and how, and damage of any kind."""

from __future__ import annotations

import importlib.util
import random
import re
import struct
import subprocess
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spm
from spm import BYTE, CONTROL, MARK, NORMAL, UNKNOWN, UNUSED, USER_DEFINED

from pybpe import ModelError
from pybpe._engine_pieces import PieceEngine
from pybpe.formats import sentencepiece as reader
from pybpe.formats._source import Source

DataPath = Callable[[str], Path]
UNK = (b"<unk>", 0.0, UNKNOWN)


def refusal(data: bytes) -> str:
    with pytest.raises(ModelError) as caught:
        spm.engine(data)
    return str(caught.value)


def model(*pieces: tuple[bytes, float, int], **options: Any) -> bytes:
    return spm.write_model([UNK, *pieces], **options)


# ------------------------------------------------------------------ other files


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is empty"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a git-lfs pointer"),
        (b"IQ== 0\nIg== 1\n", "a rank file as tiktoken uses"),
        (b'{"version": "1.0", "added_tokens": []}', "a tokenizer.json file"),
        (b"\0" * 64, "nothing but zero bytes"),
        (b"PK\x03\x04aaaa", "a zip archive"),
    ],
)
def test_other_files_are_named(data: bytes, said: str) -> None:
    assert said in refusal(data)


@pytest.mark.parametrize(
    ("algorithm", "name"), [(1, "unigram"), (3, "word"), (4, "char")]
)
def test_other_algorithms_are_named(algorithm: int, name: str) -> None:
    said = refusal(model((b"a", 0.0, NORMAL), algorithm=algorithm))
    assert f"of the type {name};" in said
    assert "use the sentencepiece package" in said


def test_no_algorithm_means_unigram() -> None:
    assert "of the type unigram" in refusal(b"\x0a\x03\x0a\x01a")


def test_the_packages_own_test_model(data_path: DataPath) -> None:
    data = data_path("vocab/sentencepiece/sp_test_model.model").read_bytes()
    assert "of the type unigram" in refusal(data)


def test_split_and_special_tokens_cannot_be_given() -> None:
    data = model((b"a", 0.0, NORMAL))
    assert isinstance(reader.read(Source("x", data=data)), object)
    with pytest.raises(ValueError, match="special_tokens cannot be given for 'x'"):
        reader.read(Source("x", data=data, special_tokens={"<s>": 1}))


# ------------------------------------------------------------------ broken rules


@pytest.mark.parametrize(
    ("pieces", "options", "said"),
    [
        ([(b"", 0.0, NORMAL)], {}, "piece 1, '', is empty"),
        ([(b"a" * 8000, 0.0, NORMAL)], {}, "has 8,000 bytes; the limit is 7,999"),
        ([(b"a" * 300_000, 0.0, NORMAL)], {}, "has 300,000 bytes"),
        ([(b"a", 0.0, NORMAL)] * 2, {}, "piece 2, 'a', is there already, as piece 1"),
        (
            [(b"a", 0.0, NORMAL), (b"a", 0.0, CONTROL)],
            {},
            "piece 2, 'a', is there already",
        ),
        ([(b"x", 0.0, UNKNOWN)], {}, "piece 1, 'x', is a second one of the type"),
        ([(b"<0x00>", 0.0, BYTE)], {}, "but the model has no byte fallback"),
        ([(b"<0x0a>", 0.0, BYTE)], {"byte_fallback": True}, "not spelt as one"),
        ([(b"<0x100>", 0.0, BYTE)], {"byte_fallback": True}, "not spelt as one"),
        (spm.byte_pieces()[:-1], {"byte_fallback": True}, "'<0xFF>' is missing"),
        ([(b"a", float("nan"), NORMAL)], {}, "a score that is not a number"),
        ([], {"charsmap": b"\0" * 3}, "map of its normalizer is damaged"),
        ([], {"charsmap": b"\0\0\0\x80" + b"\0" * 5000}, "map of its normalizer"),
        ([], {"denormalizer": b"abcdefgh"}, "map of its denormalizer is damaged"),
    ],
)
def test_what_breaks_a_rule_is_named(
    pieces: list[tuple[bytes, float, int]], options: dict[str, Any], said: str
) -> None:
    assert said in refusal(model(*pieces, **options))


def test_an_unknown_piece_is_needed_without_byte_fallback() -> None:
    said = refusal(spm.write_model([(b"a", 0.0, NORMAL)]))
    assert "no piece is of the type UNKNOWN" in said
    assert "holds no pieces" in refusal(spm.write_model([]))
    tok = spm.engine(spm.write_model(spm.byte_pieces(), byte_fallback=True))
    assert tok.encode(b"a", None, None) == [0xE2, 0x96, 0x81, 0x61]


@pytest.mark.slow
def test_too_many_pairs_are_a_limit() -> None:
    """All of a, aa, aaa, ... join in every way."""
    pieces = [(b"a" * n, -float(n), NORMAL) for n in range(1, 4_200)]
    with pytest.raises(ValueError, match="too large") as caught:
        spm.engine(model(*pieces))
    assert not isinstance(caught.value, ModelError)


def test_nul_in_pieces_is_allowed() -> None:
    tok = spm.engine(
        model((b"a\0b", 0.0, NORMAL), (b"a\0", -1.0, NORMAL), add_dummy_prefix=False)
    )
    assert tok.encode(b"a\0b", None, None) == [1]
    # With byte fallback, one that is just NUL is never found, as in the package.
    listed = [UNK, *spm.byte_pieces(), (b"\0", 0.0, NORMAL)]
    tok = spm.engine(
        spm.write_model(listed, byte_fallback=True, add_dummy_prefix=False)
    )
    assert tok.encode(b"\0", None, None) == [1]
    assert tok.find_token(b"\0") is None
    assert tok.token_bytes(257) == b"\0"


# ------------------------------------------------------------------ the wire format


def test_fields_come_in_any_order_and_unknown_ones_are_passed_over() -> None:
    data = model((b"a", -1.5, NORMAL), (b"b" * 200, 0.25, USER_DEFINED))
    plain = reader.model_from_bytes(data)
    unknown = [b"\xc8\x0c\x05", b"\xca\x0c\x02ab", b"\xcd\x0cabcd", b"\xc9\x0cabcdefgh"]
    # A piece's fields backwards, with one it does not have, and a type that is none.
    odd = b"\x0a\x0d\xc8\x0c\x01\x18\x63\x15\0\0\x80\x3f\x0a\x01z"
    made = reader.model_from_bytes(b"".join(unknown) + data + unknown[1] + odd)
    assert made.pieces() == [*plain.pieces(), b"z"]
    assert made.scores.tolist() == [0.0, -1.5, 0.25, 1.0]
    assert made.piece_types == bytes([UNKNOWN, NORMAL, USER_DEFINED, NORMAL])
    assert made.normalizer == plain.normalizer


def test_messages_that_come_in_parts_are_merged() -> None:
    first = model((b"a", 0.0, NORMAL), byte_fallback=False)
    # A second training message says nothing but: the mark stands behind.
    made = reader.model_from_bytes(first + b"\x12\x03\xc0\x01\x01")
    assert made.mark_behind
    assert len(made.pieces()) == 2


def test_special_ids_come_from_the_pieces() -> None:
    pieces = [(b"<pad>", 0.0, CONTROL), (b"<s>", 0.0, NORMAL), (b"</s>", 0.0, CONTROL)]
    made = reader.model_from_bytes(model(*pieces))
    ids = (made.unk_id, made.pad_id, made.bos_id, made.eos_id)
    assert ids == (0, 1, -1, 3)  # <s> is no control piece


def test_schema_registers_under_names_of_its_own() -> None:
    from pybpe._proto import sentencepiece_pb2 as schema

    assert schema.DESCRIPTOR.name == "pybpe/_proto/sentencepiece.proto"
    assert schema.DESCRIPTOR.package == "pybpe.sentencepiece.v1"


# Modules made from the original schema. Those of both packages are not to be had
# together: each names its own `sentencepiece_model.proto`, and the contents differ.
OTHERS = {
    "sentencepiece": [
        "from sentencepiece import sentencepiece_model_pb2",
        "from sentencepiece import sentencepiece_pb2",
    ],
    "transformers": ["from transformers.utils import sentencepiece_model_pb2_new"],
}


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("package", "order"),
    [
        (package, n)
        for package, others in OTHERS.items()
        for n in range(len(others) + 1)
    ],
)
def test_schema_is_imported_beside_others(package: str, order: int) -> None:
    """In any order."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"needs {package}")
    imports = ["from pybpe._proto import sentencepiece_pb2 as ours", *OTHERS[package]]
    code = "; ".join(imports[order:] + imports[:order])
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_reading_needs_no_protobuf() -> None:
    code = (
        "import sys; from pybpe.formats import sentencepiece as f\n"
        f"f.model_from_bytes({model((b'a', 0.0, NORMAL), (b'b', 0.5, NORMAL))!r})\n"
        "assert not any(m.startswith('google.protobuf') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_generated_code_is_up_to_date(project_root: Path) -> None:
    """See tools/make_proto.py, whose --check compares in full."""
    import hashlib

    text = (project_root / "proto" / "sentencepiece.proto").read_text("utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()
    for ending in ["_pb2.py", "_pb2.pyi", "_schema.py"]:
        name = "sentencepiece" + ending
        generated = (project_root / "pybpe" / "_proto" / name).read_text("utf-8")
        assert digest in generated.splitlines()[0]


@pytest.mark.oracle
def test_schema_has_the_fields_of_the_original() -> None:
    """Numbers, labels and types, but for the strings that are bytes here."""
    original = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    from pybpe._proto import sentencepiece_pb2 as schema

    strings = {9, 12}  # string, bytes
    for ours, theirs in [
        (schema.Model, original.ModelProto),
        (schema.Piece, original.ModelProto.SentencePiece),
        (schema.Training, original.TrainerSpec),
        (schema.Normalizer, original.NormalizerSpec),
    ]:
        mine = ours.DESCRIPTOR.fields_by_number
        for number, field in theirs.DESCRIPTOR.fields_by_number.items():
            if number == 4 and ours is schema.Model:
                continue
            assert number in mine, (theirs, number)
            types = {mine[number].type, field.type}
            assert len(types) == 1 or types == strings
            if field.has_default_value and field.type not in strings:
                assert mine[number].default_value == field.default_value
        assert len(mine) >= len(theirs.DESCRIPTOR.fields_by_number) - 1


# ------------------------------------------------------------------ damage


def damaged_base() -> list[bytes]:
    """Return small models with everything in them: pieces, bytes, rules, symbols."""
    rng = random.Random(5)
    found = [spm.random_model(rng, [b"", tiny_charsmap()]) for _ in range(6)]
    unused = [(b"ab", -1.0, UNUSED), (b"a", 0.0, NORMAL), (b"b", 0.0, USER_DEFINED)]
    return [*found, model(*unused, charsmap=tiny_charsmap())]


def tiny_charsmap() -> bytes:
    """Return a map of one rule: "A" becomes "aa"."""
    cells = [0x80000000] * 512
    root = 256
    cells[0] = root << 10
    at = root ^ ord("A")
    leaf = 260
    cells[at] = (at ^ leaf) << 10 | 0x100 | ord("A")
    cells[leaf] = 0x80000000
    return struct.pack("<I", 4 * len(cells)) + array("I", cells).tobytes() + b"aa\0"


def test_the_tiny_charsmap_works() -> None:
    tok = spm.engine(model((b"a", 0.0, NORMAL), charsmap=tiny_charsmap()))
    assert tok.normalize(b"AbA") == (MARK + "aabaa").encode()


def use(engine: PieceEngine) -> None:
    """Work with an engine: whatever its model, nothing may go wrong."""
    text = "abc A\u00e9 <0x41> \u4e2d\u2581a\0b  c".encode() + b"\xe2\x96\xff"
    ids = engine.encode(text, None, None)
    engine.encode_batch([text, b"", text], None, None, (0.3, 1))
    engine.encode_with_pieces(text)
    engine.normalize_with_offsets(text)
    engine.decode_ids(ids)
    engine.decode_ids(range(engine.n_vocab))


def test_every_truncation_is_refused_or_works() -> None:
    n_refused = 0
    for data in damaged_base():
        for n in range(len(data)):
            try:
                use(spm.engine(data[:n]))
            except ModelError:
                n_refused += 1
    assert n_refused > 1000


@pytest.mark.parametrize(
    "n", [600, pytest.param(40_000, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_random_damage_is_refused_or_works(n: int) -> None:
    rng = random.Random(n)
    bases = damaged_base()
    outcomes = {"refused": 0, "loaded": 0}
    for _ in range(n):
        data = bytearray(rng.choice(bases))
        for _ in range(rng.choice([1, 1, 1, 2, 5, 20])):
            at = rng.randrange(len(data))
            kind = rng.randrange(4)
            if kind == 0:
                data[at] ^= 1 << rng.randrange(8)
            elif kind == 1:
                data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF])
            elif kind == 2:
                del data[at : at + rng.randrange(1, 9)]
            else:
                data[at:at] = rng.randbytes(rng.randrange(1, 9))
            if not data:
                break
        try:
            use(spm.engine(bytes(data)))
            outcomes["loaded"] += 1
        except ModelError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > n // 20


def test_published_models_cut_short(data_path: DataPath) -> None:
    data = data_path("vocab/sentencepiece/llama2_tokenizer.model").read_bytes()
    rng = random.Random(3)
    cuts = [*range(1, 200), *(rng.randrange(len(data)) for _ in range(30))]
    messages = []
    for n in [*cuts, *range(len(data) - 60, len(data))]:
        try:
            use(spm.engine(data[:n]))
        except ModelError as error:
            messages.append(str(error))
    assert len(messages) > 250
    for message in messages:
        assert re.search("sentencepiece|missing", message)


@pytest.mark.parametrize(
    ("piece", "said"),
    [(b"\n\0", "is empty"), (b"\n\x08\n\x01a\x15\0\0\0\0", "is there already")],
)
def test_many_small_pieces_take_little_memory(piece: bytes, said: str) -> None:
    """Less than ten times the file, however its bytes are divided."""
    pytest.importorskip("resource")
    n = 10_000_000 // len(piece)
    code = (
        "import resource; from pybpe.formats import sentencepiece as f\n"
        "from pybpe._engine_pieces import PieceEngine\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n"
        f"    PieceEngine(f.model_from_bytes({piece!r} * {n} + b'\\x12\\2\\x18\\2'))\n"
        "except ValueError as error:\n"
        f"    assert {said!r} in str(error), error\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert int(done.stdout) < 100_000  # KB
