"""Rank files: the known ones exactly, others strictly."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from peer_texts import (
    CORPORA,
    DataPath,
    check_corpus,
    check_texts,
    corpus,
    unicode_texts,
)

import pybpe
from pybpe import ModelError, Split, Tokenizer

BYTES = {bytes([b]): b for b in range(256)}
RANKS = BYTES | {b"he": 256, b"ll": 257, b"hell": 258, b"\xc3\xa9": 259}
PATTERN = r"\s+|\S+"


def rank_file(ranks: dict[bytes, int], end: bytes = b"\n") -> bytes:
    return b"".join(
        base64.b64encode(token) + b" %d" % rank + end for token, rank in ranks.items()
    )


Load = Callable[..., Tokenizer]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that loads bytes as a file."""

    def load_bytes(
        data: bytes, name: str = "some.tiktoken", **options: Any
    ) -> Tokenizer:
        path = tmp_path / name
        path.write_bytes(data)
        return pybpe.load(path, **options)

    return load_bytes


# ---------------------------------------------------------------- general


def test_like_from_ranks(load: Load) -> None:
    tok = load(rank_file(RANKS), pattern=PATTERN, special_tokens={"<s>": 260})
    assert tok == Tokenizer.from_ranks(
        RANKS, pattern=PATTERN, special_tokens={"<s>": 260}
    )
    assert tok.encode("hello \xe9") == [258, 111, 32, 259]


def test_no_split(load: Load) -> None:
    tok = load(rank_file(RANKS), pattern=Split())
    assert tok == Tokenizer.from_ranks(RANKS, pattern=None)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda d: d.replace(b"\n", b"\r\n"), id="crlf"),
        pytest.param(lambda d: d.removesuffix(b"\n"), id="no newline at the end"),
        pytest.param(lambda d: d.replace(b"\n", b"\r\n")[:-2], id="crlf, none at end"),
        pytest.param(lambda d: d.replace(b"\n", b"\n\n"), id="blank lines"),
        pytest.param(lambda d: b"\r\n\r\n" + d + b"\n\n", id="blank lines around"),
        pytest.param(lambda d: b"\xef\xbb\xbf" + d, id="byte order mark"),
        pytest.param(
            lambda d: b"".join(reversed(d.splitlines(True))), id="another order"
        ),
    ],
)
def test_same_ranks(load: Load, change: Callable[[bytes], bytes]) -> None:
    data = rank_file(RANKS)
    expected = load(data, pattern=PATTERN)
    assert load(change(data), pattern=PATTERN) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"aGU=", "line 257 is not a token in base64, a space and a rank"),
        (b"aGU= 256 1", "line 257 is not"),
        (b"aGU=  256", "line 257 is not"),
        (b"aGU=\t256", "line 257 is not"),
        (b" aGU= 256", "line 257 is not"),
        (b"aGU= -1", "line 257 is not"),
        (b"aGU= +256", "line 257 is not"),
        (b"aGU= 0256", "line 257 is not"),
        (b"aGU= 2_56", "line 257 is not"),
        (b"aGU= 256.0", "line 257 is not"),
        (b"aGU= \xd9\xa1", "line 257 is not"),
        (b"aGU= 99999999999", "line 257 is not"),
        (b"aGU= 4294967296", "line 257: rank 4294967296 is too high"),
        (b"aGU= 16777216", "line 257: rank 16777216 is too high|rank 16777216 is"),
        (b"aGU 256", "line 257: b'aGU' is not valid base64"),
        (b"aGU== 256", "line 257: b'aGU==' is not valid base64"),
        (b"aGV= 256", "line 257: b'aGV=' is not valid base64"),
        (b"a-U= 256", "line 257 is not"),
        (b"= 256", "line 257 is not"),
        (b"aA== 256", "the token b'h' has two ids, 104 and 256"),
        (b"aGU= 104", "tokens b'h' and b'he' have the same rank, 104"),
        (b"aGU= 257", "no token has rank 256, though ranks go up to 257"),
    ],
    ids=lambda value: repr(value) if isinstance(value, bytes) else "",
)
def test_bad_lines(load: Load, line: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        load(rank_file(BYTES) + line + b"\n", pattern=PATTERN)
    assert "some.tiktoken" in str(caught.value)


def test_gaps_that_special_tokens_fill(load: Load) -> None:
    ranks = BYTES | {b"he": 258, b"ll": 259}
    special = {"<s>": 256, "</s>": 257}
    tok = load(rank_file(ranks), pattern=PATTERN, special_tokens=special)
    assert tok == Tokenizer.from_ranks(ranks, pattern=PATTERN, special_tokens=special)
    with pytest.raises(ModelError, match="no token has rank 257"):
        load(rank_file(ranks), pattern=PATTERN, special_tokens={"<s>": 256})
    with pytest.raises(ModelError, match="id 256 of b'<s>' already stands"):
        load(rank_file(RANKS), pattern=PATTERN, special_tokens={"<s>": 256})


def test_missing_bytes(load: Load) -> None:
    data = rank_file({b"a": 0, b"b": 1, b"ab": 2})
    with pytest.raises(ModelError, match="254 of the 256 single bytes"):
        load(data, pattern=PATTERN)


def test_cut_anywhere(load: Load) -> None:
    data = rank_file(RANKS)
    whole = {
        len(rank_file(dict(list(RANKS.items())[:n]))) - at
        for n in range(256, 261)
        for at in (0, 1)
    }
    loaded = set()
    for end in range(len(rank_file(BYTES)) - 30, len(data) + 1):
        try:
            load(data[:end], pattern=PATTERN)
        except ModelError:
            continue
        loaded.add(end)
    # What is cut between lines is as good as any file; see the known ones below.
    assert loaded == whole


def test_unknown_split(load: Load) -> None:
    with pytest.raises(ModelError) as caught:
        load(rank_file(RANKS))
    message = str(caught.value)
    assert "260 tokens" in message
    assert "pass pattern=" in message
    assert "Llama 3" in message


# ---------------------------------------------------------------- known files

KNOWN = {
    "r50k_base": ("openai/r50k_base.tiktoken", "gpt2", 50257),
    "p50k_base": ("openai/p50k_base.tiktoken", "gpt2", 50281),
    "cl100k_base": ("openai/cl100k_base.tiktoken", "cl100k", 100261),
    "o200k_base": ("openai/o200k_base.tiktoken", "o200k", 200000),
    "Llama 3": ("tiktoken_style/llama3_tokenizer.model", "llama3", 128256),
    "Qwen": ("tiktoken_style/qwen.tiktoken", "qwen2", 151851),
}


@pytest.fixture
def known(data_path: DataPath) -> Callable[[str], Path]:
    return lambda name: data_path(f"vocab/{KNOWN[name][0]}")


@pytest.mark.parametrize("name", KNOWN)
def test_known(name: str, known: Callable[[str], Path]) -> None:
    tok = pybpe.load(known(name))
    _, pattern, size = KNOWN[name]
    assert (tok.split.name, tok.vocab_size) == (pattern, size)
    if name.endswith("_base"):
        assert tok == pybpe.get_encoding(name)


def test_known_by_their_ranks(load: Load, known: Callable[[str], Path]) -> None:
    data = known("r50k_base").read_bytes()
    tok = load(data.replace(b"\n", b"\r\n")[:-2])
    assert tok == pybpe.get_encoding("r50k_base")


def test_other_options_for_known(known: Callable[[str], Path]) -> None:
    tok = pybpe.load(
        known("r50k_base"), pattern="cl100k", special_tokens={"<s>": 60000}
    )
    assert tok.split.name == "cl100k"
    assert tok.special_tokens == {"<s>": 60000}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("share", [0.1, 0.35, 0.999])
def test_known_cut_between_lines(
    name: str, share: float, load: Load, known: Callable[[str], Path]
) -> None:
    lines = known(name).read_bytes().splitlines(keepends=True)
    cut = b"".join(lines[: int(len(lines) * share)])
    with pytest.raises(ModelError, match="it is cut off"):
        load(cut, pattern="gpt2", special_tokens={})


def test_known_with_more(load: Load, known: Callable[[str], Path]) -> None:
    """A vocabulary that goes on where another ends is no shortened third one."""
    data = known("cl100k_base").read_bytes()
    more = data + rank_file(
        {b"no token of this kind %d" % i: 100256 + i for i in range(9)}
    )
    assert load(more, pattern="cl100k").vocab_size == 100265


def test_known_changed(load: Load, known: Callable[[str], Path]) -> None:
    data = known("r50k_base").read_bytes().replace(b"IQ== 0\n", b"IQ== 1\n")
    with pytest.raises(ModelError, match="same rank, 1"):
        load(data.replace(b"Ig== 1\n", b"Ig== 1\n"))
    swapped = data.replace(b"Ig== 1\n", b"Ig== 0\n")
    with pytest.raises(ModelError, match="not one of those whose split is known"):
        load(swapped)
    assert load(swapped, pattern="gpt2").encode("!") == [1]


def test_llama3_special_tokens(known: Callable[[str], Path]) -> None:
    special = pybpe.load(known("Llama 3")).special_tokens
    assert len(special) == 256
    for token, number in {
        "<|begin_of_text|>": 128000,
        "<|end_of_text|>": 128001,
        "<|reserved_special_token_0|>": 128002,
        "<|reserved_special_token_3|>": 128005,
        "<|start_header_id|>": 128006,
        "<|end_header_id|>": 128007,
        "<|reserved_special_token_4|>": 128008,
        "<|eot_id|>": 128009,
        "<|reserved_special_token_5|>": 128010,
        "<|reserved_special_token_250|>": 128255,
    }.items():
        assert special[token] == number


def test_llama3_whole_pretokens(known: Callable[[str], Path]) -> None:
    """Its tokens that no merges of lower ranks make are reachable as pretokens."""
    tok = pybpe.load(known("Llama 3"))
    assert len(tok.encode(" Vi\u1ec7t")) == 1
    by_merges = len(tok.merges)
    assert 128000 - 256 - by_merges == 678


def test_qwen_special_tokens(known: Callable[[str], Path]) -> None:
    special = pybpe.load(known("Qwen")).special_tokens
    assert len(special) == 208
    assert special["<|endoftext|>"] == 151643
    assert special["<|im_start|>"] == 151644
    assert special["<|im_end|>"] == 151645
    assert special["<|extra_0|>"] == 151646
    assert special["<|extra_204|>"] == 151850


# ---------------------------------------------------------------- peers


def peer_of(path: Path, tok: Tokenizer) -> Any:
    """Return tiktoken's encoding of the same ranks, split and special tokens."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {}
    for line in path.read_bytes().splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    return tiktoken.Encoding(
        path.name,
        pat_str=tok.pattern,
        mergeable_ranks=ranks,
        special_tokens=tok.special_tokens,
    )


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", ["Llama 3", "Qwen"])
def test_like_tiktoken(
    name: str, known: Callable[[str], Path], data_path: DataPath
) -> None:
    tok = pybpe.load(known(name))
    peer = peer_of(known(name), tok)
    for text in CORPORA:
        check_corpus(tok, peer.encode_ordinary, corpus(data_path, text))
    check_texts(tok, peer.encode_ordinary, unicode_texts(3, 1000))
    check_texts(
        tok,
        lambda text: peer.encode(text, allowed_special="all"),
        unicode_texts(4, 1000, list(tok.special_tokens)),
        lambda text: tok.encode(text, allowed_special="all"),
    )
    # Every token as a pretoken of its own, as far as it is text.
    tokens = [
        peer.decode_single_token_bytes(i) for i in range(len(tok._model.token_ids))
    ]
    texts = [t.decode() for t in tokens if t.isascii() or _is_utf8(t)]
    assert tok.encode_batch(texts, disallowed_special=()) == [
        peer.encode_ordinary(text) for text in texts
    ]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file"),
    [("Llama 3", "llama3_1_tokenizer.json"), ("Qwen", "qwen3_tokenizer.json")],
)
def test_like_hugging_face(
    name: str, file: str, known: Callable[[str], Path], data_path: DataPath
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.Tokenizer.from_file(str(data_path(f"vocab/hf/{file}")))
    tok = pybpe.load(known(name))
    # Theirs matches special tokens in any text, and Qwen's normalizes: ours gets what
    # theirs makes of the text.
    norm = theirs.normalizer
    specials = ("<|", "<tool", "<think", "</t")

    def peer(text: str) -> list[int]:
        ids: list[int] = theirs.encode(text, add_special_tokens=False).ids
        return ids

    texts = [
        text if norm is None else norm.normalize_str(text)
        for text in unicode_texts(5, 1000)
        if not any(mark in text for mark in specials)
    ]
    for name_ in CORPORA:
        whole = corpus(data_path, name_)
        assert not any(mark in whole for mark in specials)
        texts += whole.splitlines(keepends=True)
    if norm is not None:
        texts = [norm.normalize_str(text) for text in texts]
    for text in texts:
        assert tok.encode_ordinary(text) == peer(text), text
