"""What tiktoken's public tests check, checked of `pybpe.tiktoken`, without tiktoken.

The ids are those that tiktoken publishes; the comparisons with the package itself are
in test_tiktoken_dropin.py.
"""

from __future__ import annotations

import hashlib
import itertools
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

import pybpe.tiktoken as tiktoken
from pybpe.tiktoken import load, registry
from pybpe.tiktoken.core import raise_disallowed_special_token

NAMES = ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base"]


@pytest.fixture(scope="module", autouse=True)
def _data(data_path: Callable[[str], Path]) -> None:
    data_path("vocab/openai")


@pytest.fixture(scope="module", params=["r50k_base", "cl100k_base"])
def enc(request: pytest.FixtureRequest) -> tiktoken.Encoding:
    return tiktoken.get_encoding(request.param)


# ------------------------------------------------------------------ encoding


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("gpt2", "hello world", [31373, 995]),
        ("gpt2", "hello <|endoftext|>", [31373, 220, 50256]),
        ("r50k_base", "hello world", [31373, 995]),
        ("r50k_base", "", []),
        ("p50k_base", "hello world", [31373, 995]),
        ("cl100k_base", "hello world", [15339, 1917]),
        ("cl100k_base", "hello <|endoftext|>", [15339, 220, 100257]),
        ("cl100k_base", " \x850", [220, 126, 227, 15]),
        ("cl100k_base", "rer", [38149]),
        ("cl100k_base", "'rer", [2351, 81]),
        ("cl100k_base", "today\n ", [31213, 198, 220]),
        ("cl100k_base", "today\n \n", [31213, 27907]),
        ("cl100k_base", "today\n  \n", [31213, 14211]),
        ("cl100k_base", "\U0001f44d", [9468, 239, 235]),
    ],
)
def test_known_ids(name: str, text: str, ids: list[int]) -> None:
    encoding = tiktoken.get_encoding(name)
    assert encoding.encode(text, allowed_special="all") == ids
    assert encoding.decode(ids) == text


def test_zeros() -> None:
    """The longest that are tokens, and then what merges make of more."""
    encoding = tiktoken.get_encoding("gpt2")
    one = [15, 405, 830, 2388, 20483, 10535, 24598, 8269]
    for n, number in enumerate(one, 1):
        assert encoding.encode("0" * n) == [number]
    assert encoding.encode("0" * 9) == [10535, 830]
    for n, number in enumerate(one[1:7], 10):
        assert encoding.encode("0" * n) == [8269, number]
    assert encoding.encode("0" * 16) == [25645]
    assert encoding.encode("0" * 17) == [8269, 10535, 830]


def test_a_megabyte_of_one_letter() -> None:
    encoding = tiktoken.get_encoding("o200k_base")
    ids = encoding.encode("x" * 1_000_000)
    assert encoding.decode(ids) == "x" * 1_000_000


def test_repetitions(enc: tiktoken.Encoding) -> None:
    for part in ("^", "0", "a", "'s", " ", "\n"):
        for text in (part * 10_000, " " + part * 10_000, " " + part * 10_000 + "\n"):
            assert enc.decode(enc.encode(text)) == text


def test_surrogates() -> None:
    encoding = tiktoken.get_encoding("cl100k_base")
    assert encoding.encode("\ud83d\udc4d") == [9468, 239, 235]
    assert encoding.encode("\ud83d") == encoding.encode("\ufffd")


def test_bytes() -> None:
    encoding = tiktoken.get_encoding("cl100k_base")
    assert encoding._encode_bytes(b" \xec\x8b\xa4\xed") == [62085]
    for n in range(10):
        data = b"\x80" * n
        assert encoding.decode_bytes(encoding._encode_bytes(data)) == data


@hypothesis.given(data=st.binary(), text=st.text(), batch=st.lists(st.text()))
def test_there_and_back(data: bytes, text: str, batch: list[str]) -> None:
    for name in ("r50k_base", "cl100k_base"):
        encoding = tiktoken.get_encoding(name)
        assert encoding.decode_bytes(encoding._encode_bytes(data)) == data
        assert encoding.decode(encoding.encode(text)) == text
        ordinary = encoding.encode_ordinary(text)
        assert encoding.encode(text, disallowed_special=()) == ordinary
        rows = encoding.encode_batch(batch, allowed_special="all")
        assert rows == [encoding.encode(t, allowed_special="all") for t in batch]
        assert encoding.decode_batch(rows) == batch


def test_texts_that_are_known_for_trouble(enc: tiktoken.Encoding) -> None:
    around = itertools.product(("", " "), ("hello", "hello world"), ("", " ", "  "))
    for text in (*map("".join, around), "\u8bf7\u8003\u8bd5\u6211\uff0112345"):
        assert enc.decode(enc.encode(text)) == text
        assert enc.decode(enc.encode_ordinary(text)) == text


def test_batches(enc: tiktoken.Encoding) -> None:
    texts = ["hello world", "goodbye world"]
    for some in (texts[:1], texts):
        assert enc.encode_batch(some) == [enc.encode(text) for text in some]
        ordinary = [enc.encode_ordinary(text) for text in some]
        assert enc.encode_ordinary_batch(some) == ordinary


# ------------------------------------------------------------------ single tokens


@pytest.mark.parametrize("name", NAMES)
def test_single_tokens(name: str) -> None:
    encoding = tiktoken.get_encoding(name)
    for number in range(encoding.n_vocab):
        try:
            token = encoding.decode_single_token_bytes(number)
        except KeyError:
            continue
        assert encoding.encode_single_token(token) == number


def test_special_tokens() -> None:
    encoding = tiktoken.get_encoding("cl100k_base")
    end = encoding.encode_single_token("<|endoftext|>")
    prefix = encoding.encode_single_token("<|fim_prefix|>")
    middle = encoding.encode_single_token("<|fim_middle|>")
    assert end == encoding.eot_token
    text = "<|endoftext|> hello <|fim_prefix|>"
    refused: list[Any] = ["all", {"<|endoftext|>"}, {"<|fim_prefix|>"}]
    with pytest.raises(ValueError, match="special token"):
        encoding.encode(text)
    for disallowed in refused:
        with pytest.raises(ValueError, match="special token"):
            encoding.encode(text, disallowed_special=disallowed)
    text += " there <|fim_middle|>"
    every = {end, prefix, middle}
    wanted: list[tuple[Any, Any, set[int]]] = [
        (set(), (), set()),
        ("all", (), every),
        ("all", "all", every),
        ({"<|fim_prefix|>"}, (), {prefix}),
        ({"<|endoftext|>"}, (), {end}),
        ({"<|fim_middle|>"}, (), {middle}),
    ]
    for allowed, disallowed, expected in wanted:
        ids = encoding.encode(
            text, allowed_special=allowed, disallowed_special=disallowed
        )
        assert every.intersection(ids) == expected
    with pytest.raises(ValueError, match=r"'<\|x\|>', which is not allowed"):
        raise_disallowed_special_token("<|x|>")


# ------------------------------------------------------------------ offsets


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("", []),
        ("hello world", [0, 5]),
        ("hello world<|endoftext|> green cow", [0, 5, 11, 24, 30]),
        (
            "\u6211\u975e\u5e38\u6e34\u671b\u4e0e\u4eba\u5de5\u667a\u80fd\u4e00\u8d77"
            "\u5de5\u4f5c",
            [0, 1, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13],
        ),
        (
            "\u0ba8\u0b9f\u0bbf\u0b95\u0bb0\u0bcd \u0b9a\u0bc2\u0bb0\u0bcd\u0baf\u0bbe",
            [0, 0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 9, 10, 11, 12, 12],
        ),
        (" \u0120\u9664", [0, 1]),
    ],
)
def test_offsets(text: str, offsets: list[int]) -> None:
    encoding = tiktoken.get_encoding("cl100k_base")
    ids = encoding.encode(text, allowed_special="all")
    assert encoding.decode_with_offsets(ids) == (text, offsets)
    one_by_one: Any = (number for number in ids)
    assert encoding.decode_with_offsets(one_by_one) == (text, offsets)


@hypothesis.given(numbers=st.lists(st.integers(0, 100_255), min_size=1, max_size=20))
def test_offsets_of_any_tokens(numbers: list[int]) -> None:
    """A token begins where what comes before it is no longer the text's beginning."""
    encoding = tiktoken.get_encoding("cl100k_base")
    text = encoding.decode(numbers, errors="ignore")
    ids = encoding.encode(text, allowed_special="all")
    expected = []
    for i in range(len(ids)):
        before = encoding.decode(ids[:i], errors="ignore")
        same = (a == b for a, b in zip(text, before, strict=False))
        expected.append(len(list(itertools.takewhile(bool, same))))
    assert encoding.decode_with_offsets(ids) == (text, expected)


def test_what_has_no_offsets() -> None:
    encoding = tiktoken.get_encoding("cl100k_base")
    with pytest.raises(KeyError):
        encoding.decode_with_offsets([encoding.max_token_value + 1])
    with pytest.raises(UnicodeDecodeError):
        encoding.decode_with_offsets(encoding._encode_bytes(b"\x80"))


# ------------------------------------------------------------------ names and files


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt2", "gpt2"),
        ("text-davinci-003", "p50k_base"),
        ("text-davinci-edit-001", "p50k_edit"),
        ("gpt-3.5-turbo-0301", "cl100k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
    ],
)
def test_models(model: str, name: str) -> None:
    assert tiktoken.encoding_for_model(model).name == name


def test_nothing_that_is_optional_is_imported() -> None:
    program = (
        "import sys, pybpe.tiktoken\n"
        "assert not {'blobfile', 'requests', 'numpy', 'tiktoken'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_pickles() -> None:
    old = tiktoken.get_encoding("r50k_base")
    custom = tiktoken.Encoding(
        name="custom",
        pat_str=old._pat_str,
        mergeable_ranks=old._mergeable_ranks,
        special_tokens={"<|pickle|>": 100_000},
    )
    for encoding in (old, custom):
        new = pickle.loads(pickle.dumps(encoding))
        assert new.encode("hello world") == encoding.encode("hello world")
        assert new.name == encoding.name
    assert new.encode("<|pickle|>", allowed_special="all") == [100_000]


def test_the_files_of_gpt2(data_path: Callable[[str], Path], tmp_path: Path) -> None:
    merges = str(data_path("vocab/openai/gpt2_vocab.bpe"))
    encoder = str(data_path("vocab/openai/gpt2_encoder.json"))
    expected = tiktoken.get_encoding("gpt2")._mergeable_ranks
    assert load.data_gym_to_mergeable_bpe_ranks(merges, encoder) == expected
    digest = hashlib.sha256(Path(merges).read_bytes()).hexdigest()
    ranks = load.data_gym_to_mergeable_bpe_ranks(
        merges, encoder, digest, clobber_one_byte_tokens=True
    )
    assert ranks == expected
    with pytest.raises(ValueError, match="has the SHA-256"):
        load.data_gym_to_mergeable_bpe_ranks(merges, encoder, "0" * 64)
    other = tmp_path / "encoder.json"
    other.write_text(Path(encoder).read_text().replace("19305", "19306", 1))
    with pytest.raises(ValueError, match="same id"):
        load.data_gym_to_mergeable_bpe_ranks(merges, str(other))
    other.write_text('{"!": 0}')
    with pytest.raises(AssertionError, match="it has 1"):
        load.data_gym_to_mergeable_bpe_ranks(merges, str(other))


def test_reading_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"data")
    digest = hashlib.sha256(b"data").hexdigest()
    assert load.check_hash(b"data", digest)
    assert not load.check_hash(b"date", digest)
    assert load.read_file(str(path)) == b"data"
    assert load.read_file_cached(str(path), digest) == b"data"
    with pytest.raises(ValueError, match="has the SHA-256"):
        load.read_file_cached(str(path), "0" * 64)
    for address in ("https://example.com/x", "http://example.com/x", "az://x/y"):
        with pytest.raises(ValueError, match="only https addresses"):
            load.read_file(address)


def test_registered_encodings() -> None:
    parts = registry.ENCODING_CONSTRUCTORS["gpt2"]()
    text = "hello <|endoftext|>"
    expected = tiktoken.get_encoding("gpt2").encode(text, allowed_special="all")
    assert tiktoken.Encoding(**parts).encode(text, allowed_special="all") == expected
    parts = {**parts, "name": "mine", "special_tokens": {}}
    registry.ENCODING_CONSTRUCTORS["mine"] = lambda: parts
    try:
        assert "mine" in tiktoken.list_encoding_names()
        assert tiktoken.get_encoding("mine").encode("hello world") == [31373, 995]
    finally:
        del registry.ENCODING_CONSTRUCTORS["mine"]
        registry.ENCODINGS.pop("mine", None)
