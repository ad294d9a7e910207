"""Vocabularies in GGUF files."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from peer_texts import DataPath, check_texts, unicode_texts

import pybpe
from pybpe import ModelError, Tokenizer, _glyphs
from pybpe.byte_order import bytes_in_order

gguf = pytest.importorskip("gguf")

MERGES = [(b"h", b"e"), (b"l", b"l"), (b"he", b"ll"), (b" ", b" ")]
TOKENS = [bytes([b]) for b in bytes_in_order("gpt2")] + [a + b for a, b in MERGES]
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

Load = Callable[..., Tokenizer]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that writes a vocabulary to a GGUF file and loads that."""

    def write_and_load(
        pre: str | None = "gpt-2",
        extra: dict[str, int] | None = None,
        merges: list[str] | None = None,
        model: str = "gpt2",
        types: list[int] | None = None,
        **options: Any,
    ) -> Tokenizer:
        extra = extra or {}
        tokens = [*map(_glyphs.to_characters, TOKENS), *extra]
        writer = gguf.GGUFWriter(tmp_path / "some.gguf", "gpt2")
        writer.add_tokenizer_model(model)
        if pre is not None:
            writer.add_tokenizer_pre(pre)
        writer.add_token_list(tokens)
        writer.add_token_types(types or [NORMAL] * len(TOKENS) + list(extra.values()))
        if merges is None:
            merges = [" ".join(map(_glyphs.to_characters, pair)) for pair in MERGES]
        writer.add_token_merges(merges)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
        return pybpe.load(tmp_path / "some.gguf", **options)

    return write_and_load


def from_merges(pattern: Any, **options: Any) -> Tokenizer:
    return Tokenizer.from_merges(MERGES, pattern=pattern, byte_order="gpt2", **options)


@pytest.mark.parametrize(
    ("pre", "pattern", "whole"),
    [
        ("gpt-2", "gpt2", False),
        ("llama-bpe", "llama3", True),
        ("qwen2", "qwen2", False),
        ("tekken", "tekken", True),
        ("deepseek-v3", "deepseek_v3", False),
        ("gpt-4o", "o200k", False),
        ("starcoder", ["digits", "gpt2"], False),
    ],
)
def test_splits(pre: str, pattern: Any, whole: bool, load: Load) -> None:
    assert load(pre) == from_merges(pattern, whole_pretoken=whole)


def test_types_of_tokens(load: Load) -> None:
    extra = {
        "<|end|>": CONTROL,
        "<unk>": UNKNOWN,
        "user defined": USER_DEFINED,
        "[PAD 5]": UNUSED,
    }
    tok = load("gpt-2", extra)
    assert tok.special_tokens == {"<|end|>": 260, "<unk>": 261}
    assert tok.added_tokens == {"user defined": 262}
    assert tok.encode("hell user defined") == [258, 220, 262]
    assert tok.decode([260, 263]) == "<|end|>[PAD 5]"
    assert load("gpt-2", extra, special_tokens={"<|end|>": 260}).special_tokens == {
        "<|end|>": 260
    }


@pytest.mark.parametrize("pre", [None, "default", "poro-chat", "no such"])
def test_unknown_splits(pre: str | None, load: Load) -> None:
    named = "names no split" if pre is None else f"names the split '{pre}'"
    with pytest.raises(ModelError, match=f"some.gguf.*{named}.*gpt-2, .*pass pattern="):
        load(pre)
    assert load(pre, pattern="gpt2") == from_merges("gpt2")


@pytest.mark.parametrize("model", ["bert", "t5", "rwkv"])
def test_other_kinds(model: str, load: Load) -> None:
    with pytest.raises(ModelError, match=f"of the kind '{model}'"):
        load(model=model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"merges": ["h"]}, "merge 1 is not two tokens"),
        ({"merges": ["h e", "h e x"]}, "merge 2 is not two tokens"),
        ({"merges": ["q u"]}, "needs the token b'qu'"),
        ({"types": [NORMAL] * 3}, "260 tokens, but types for 3"),
        ({"types": [BYTE] * 260}, "of type 6"),
        ({"types": [NORMAL] * 259 + [9]}, "of type 9"),
        ({"extra": {"a b": NORMAL}}, "holds ' ', which stands for no byte"),
        ({"extra": {"hell": NORMAL}}, "'hell' has two ids, 258 and 260"),
        ({"extra": {"": CONTROL}}, "empty token"),
    ],
    ids=range(9),
)
def test_bad_files(change: dict[str, Any], message: str, load: Load) -> None:
    with pytest.raises(ModelError, match=message):
        load(**change)


def test_every_cut(load: Load, tmp_path: Path) -> None:
    load()
    data = (tmp_path / "some.gguf").read_bytes()
    for end in range(4, len(data) - 32, 61):
        (tmp_path / "cut.gguf").write_bytes(data[:end])
        with pytest.raises(ModelError, match=r"cut\.gguf"):
            pybpe.load(tmp_path / "cut.gguf")


def test_without_the_package(
    load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    load()
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(ModelError, match=r"pip install 'pybpe\[gguf\]'"):
        pybpe.load(tmp_path / "some.gguf")


# ---------------------------------------------------------------- a real one


@pytest.mark.slow
def test_llamacpp_vectors(data_path: DataPath) -> None:
    path = data_path("vocab/llamacpp/ggml-vocab-gpt-2.gguf")
    tok = pybpe.load(path)
    *texts, _ = (
        path.with_suffix(".gguf.inp")
        .read_text(encoding="utf-8")
        .split("\n__ggml_vocab_test__\n")
    )
    ids = path.with_suffix(".gguf.out").read_text().splitlines()
    for text, expected in zip(texts, ids, strict=True):
        assert tok.encode(text) == list(map(int, expected.split()))
    assert tok == pybpe.load(data_path("vocab/openai/gpt2_encoder.json"))
    check_texts(
        tok, pybpe.get_encoding("gpt2").encode_ordinary, unicode_texts(10, 1000)
    )


def test_an_array_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    """The package would read nothing for each of the numbers announced."""
    path = tmp_path / "tiny.gguf"
    for kind, n in ((0, 2**33), (9, 2**33), (8, 2**40), (4, 2**60)):
        key = struct.pack("<Q", 1) + b"a"
        array = struct.pack("<IIQ", 9, kind, n)
        path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + key + array)
        with pytest.raises(ModelError, match="cannot be read"):
            pybpe.load(path)
