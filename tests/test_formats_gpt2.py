"""GPT-2's pairs of files."""

from __future__ import annotations

import json
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
from pybpe import ModelError, Tokenizer, _glyphs
from pybpe.byte_order import bytes_in_order

PATTERN = r"\s+|\S+"
MERGES = [(b"h", b"e"), (b"l", b"l"), (b"he", b"ll"), (b" ", b" "), (b"\n", b"\n")]
TOKENS = [bytes([b]) for b in bytes_in_order("gpt2")] + [a + b for a, b in MERGES]
VOCAB = {_glyphs.to_characters(token): i for i, token in enumerate(TOKENS)}


def lines(merges: list[tuple[bytes, bytes]]) -> list[str]:
    return [" ".join(map(_glyphs.to_characters, pair)) for pair in merges]


HEADER = "#version: 0.2"
Pair = Callable[..., Tokenizer]


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    """Return a function that loads a vocabulary and the lines of a merges file."""

    def load(
        vocab: dict[str, int] | str,
        merges: list[str] | bytes,
        **options: Any,
    ) -> Tokenizer:
        text = vocab if isinstance(vocab, str) else json.dumps(vocab)
        (tmp_path / "vocab.json").write_text(text, encoding="utf-8")
        if isinstance(merges, list):
            merges = "\n".join([*merges, ""]).encode()
        (tmp_path / "merges.txt").write_bytes(merges)
        options.setdefault("pattern", PATTERN)
        return pybpe.load(tmp_path / "vocab.json", **options)

    return load


EXPECTED = Tokenizer.from_merges(MERGES, pattern=PATTERN, byte_order="gpt2")


def test_glyphs() -> None:
    every = bytes(range(256))
    assert _glyphs.to_bytes(_glyphs.to_characters(every)) == every
    assert (
        _glyphs.to_characters(b" \n\t\x00\xad!~") == "\u0120\u010a\u0109\u0100\u0143!~"
    )
    for wrong in ("\u0144", " ", "\x85", "\u2028", "\r", "\U0001f600"):
        with pytest.raises(UnicodeEncodeError):
            _glyphs.to_bytes(wrong)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", ""])
@pytest.mark.parametrize("header", [[HEADER], ["#version: 0.2 "], []])
def test_like_from_merges(pair: Pair, end: str, header: list[str]) -> None:
    newline = "\r\n" if end == "\r\n" else "\n"
    data = (newline.join([*header, *lines(MERGES)]) + end).encode()
    assert pair(VOCAB, data) == EXPECTED
    assert EXPECTED.encode("hello\n\n") == [258, 111 - 33, 260]


def test_spaces_and_newlines_in_merges(pair: Pair) -> None:
    assert pair(VOCAB, [HEADER, *lines(MERGES)]).encode("  \n\n") == [259, 260]


def test_ids_may_have_any_order(pair: Pair) -> None:
    vocab = {token: 1000 - number for token, number in VOCAB.items()}
    tok = pair(vocab, lines(MERGES))
    table = {_glyphs.to_bytes(token): number for token, number in vocab.items()}
    assert tok == Tokenizer.from_merges(MERGES, pattern=PATTERN, vocab=table)
    assert tok.encode("hell") == [1000 - 258]


def test_only_the_first_line_is_a_header(pair: Pair) -> None:
    parts = [b"#v", b"#ve", b"#ver", b"#vers", b"#versi", b"#versio", b"#version"]
    merges = [(part[:-1], part[-1:]) for part in parts] + [(b"#version", b"x")]
    tokens = [*TOKENS[:256], *(a + b for a, b in merges)]
    vocab = {_glyphs.to_characters(token): i for i, token in enumerate(tokens)}
    expected = Tokenizer.from_merges(merges, pattern=PATTERN, byte_order="gpt2")
    text = lines(merges)
    for body in ([HEADER, *text], text):
        assert pair(vocab, body) == expected
    # Without a header such a merge may come first.
    first = [text[-1], *text[:-1]]
    tok = pair(vocab, first)
    assert tok.merges[0] == (vocab["#version"], vocab["x"])
    with pytest.raises(ModelError, match=r"merge 1, .* needs the token b'#version:'"):
        pair(vocab, [HEADER, HEADER, *text])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a", "is not two tokens with one space between"),
        ("a b c", "is not two tokens"),
        ("a  b", "is not two tokens"),
        ("", "is not two tokens"),
        ("a\tb", "is not two tokens"),
        ("a\x85 b", "holds '\\\\x85', which stands for no byte"),
        ("a\u2028 b", "holds '\\\\u2028', which"),
        ("a\r b", "holds '\\\\r', which"),
        ("a \u4f60", "holds '\u4f60', which"),
        ("h e", "is there twice"),
    ],
    ids=ascii,
)
def test_bad_merges(pair: Pair, line: str, message: str) -> None:
    body = lines(MERGES)
    with pytest.raises(ModelError, match=f"line 4 of the merges.*{message}"):
        pair(VOCAB, [HEADER, *body[:2], line, *body[2:]])


def test_merges_without_their_tokens(pair: Pair) -> None:
    with pytest.raises(ModelError, match=r"merge 6, .* needs the token b'zz'"):
        pair(VOCAB, [*lines(MERGES), "z z"])
    with pytest.raises(ModelError, match=r"merge 1, .* needs the token b'qu'"):
        pair(VOCAB, ["qu a", *lines(MERGES)])


def test_not_utf8(pair: Pair) -> None:
    with pytest.raises(ModelError, match="line 2 is not UTF-8"):
        pair(VOCAB, b"h e\nl\xff l\n")


def test_cut_merges(pair: Pair) -> None:
    with pytest.raises(
        ModelError, match=r"no merge makes \d+ of the tokens, .* merges are missing"
    ):
        pair(VOCAB, [HEADER, *lines(MERGES)[:-1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 0, "b": 0}', "tokens 'a' and 'b' have the same id, 0"),
        ('{"a": 0, "a": 1}', "has the key 'a' twice"),
        ('{"a": 0, "b": 1.5}', "id of 'b' must be a whole number, and is 1.5"),
        ('{"a": 0, "b": true}', "id of 'b' must be a whole number, and is True"),
        ('{"a": 0, "b": -1}', "id of 'b' is -1; it must lie between"),
        ('{"a": 0, "b": 16777216}', "id of 'b' is 16777216"),
        ('{"a": 0, "b": NaN}', "holds NaN"),
        ('{"a": 0, "b c": 1}', "holds ' ', which stands for no byte"),
        ('{"a": 0, "\\ud800": 1}', "stands for no byte"),
        ('{"a": 0, "b": 1', "not valid JSON at line 1.*cut off"),
        ('{"a": 0, "b": ' + "[" * 100_000, "nested too deeply|not valid JSON"),
        ('{"a": 0, "b": ' + "1" * 5000 + "}", "cannot be read"),
    ],
    ids=lambda value: value[:20],
)
def test_bad_vocabularies(pair: Pair, text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        pair(text, lines(MERGES))


def test_every_cut_of_a_vocabulary(pair: Pair) -> None:
    text = json.dumps(VOCAB)
    for end in range(20, len(text), 97):
        with pytest.raises(ModelError):
            pair(text[:end], lines(MERGES))


def test_special_tokens(pair: Pair) -> None:
    vocab = {"<s>": 1000, "[MASK]": 1001, **VOCAB}
    tok = pair(vocab, lines(MERGES))
    assert tok.special_tokens == {"<s>": 1000, "[MASK]": 1001}
    # Only those named, then; the others decode.
    tok = pair(vocab, lines(MERGES), special_tokens={"<s>": 1000, "</s>": 1002})
    assert tok.special_tokens == {"<s>": 1000, "</s>": 1002}
    assert tok.decode([1001]) == "[MASK]"
    with pytest.raises(
        ModelError, match=r"gives b'<s>' the id 5, the vocabulary.*1000"
    ):
        pair(vocab, lines(MERGES), special_tokens={"<s>": 5})
    # What does not look special has to be named.
    vocab["madeupword0000"] = 1003
    with pytest.raises(ModelError, match=r"no merge makes .* 'madeupword0000'"):
        pair(vocab, lines(MERGES))
    named = {"madeupword0000": 1003, "<s>": 1000}
    assert pair(vocab, lines(MERGES), special_tokens=named).special_tokens == {
        "<s>": 1000,
        "madeupword0000": 1003,
    }


def test_unknown_split(pair: Pair) -> None:
    with pytest.raises(ModelError, match=r"do not say how text is split.*pattern="):
        pair(VOCAB, lines(MERGES), pattern=None)


# ---------------------------------------------------------------- finding both


@pytest.mark.parametrize(
    ("vocabulary", "merges"),
    [
        ("vocab.json", "merges.txt"),
        ("encoder.json", "vocab.bpe"),
        ("mine-vocab.json", "mine-merges.txt"),
    ],
)
def test_pairs_of_names(vocabulary: str, merges: str, tmp_path: Path) -> None:
    (tmp_path / vocabulary).write_text(json.dumps(VOCAB))
    (tmp_path / merges).write_text("\n".join(lines(MERGES)), encoding="utf-8")
    a, b = tmp_path / vocabulary, tmp_path / merges
    for path in (a, b, str(a), (a, b), (b, a)):
        assert pybpe.load(path, pattern=PATTERN) == EXPECTED
    if "-" not in vocabulary:
        assert pybpe.load(tmp_path, pattern=PATTERN) == EXPECTED


def test_half_a_pair(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps(VOCAB))
    with pytest.raises(ModelError, match=r"'merges.txt' is not beside it. Pass both"):
        pybpe.load(tmp_path / "vocab.json")
    (tmp_path / "odd").write_text("\n".join(lines(MERGES)), encoding="utf-8")
    with pytest.raises(ModelError, match="the vocabulary file is not found"):
        pybpe.load(tmp_path / "odd")
    both = tmp_path / "odd", tmp_path / "vocab.json"
    assert pybpe.load(both, pattern=PATTERN) == EXPECTED


# ---------------------------------------------------------------- peers


@pytest.fixture
def gpt2(data_path: DataPath) -> Tokenizer:
    return pybpe.load(data_path("vocab/openai/gpt2_encoder.json"))


def test_gpt2(gpt2: Tokenizer, data_path: DataPath) -> None:
    assert gpt2.special_tokens == {"<|endoftext|>": 50256}
    assert gpt2.vocab_size == 50257
    assert gpt2.split.name == "gpt2"
    assert gpt2 == pybpe.load(data_path("vocab/openai/gpt2_vocab.bpe"))


def test_llamacpp_vectors(gpt2: Tokenizer, data_path: DataPath) -> None:
    folder = data_path("vocab/llamacpp")
    cases = (folder / "ggml-vocab-gpt-2.gguf.inp").read_text(encoding="utf-8")
    *texts, _ = cases.split("\n__ggml_vocab_test__\n")
    ids = (folder / "ggml-vocab-gpt-2.gguf.out").read_text().splitlines()
    for text, expected in zip(texts, ids, strict=True):
        assert gpt2.encode(text) == list(map(int, expected.split()))


@pytest.mark.oracle
def test_like_tiktoken(gpt2: Tokenizer) -> None:
    peer = pytest.importorskip("tiktoken").get_encoding("gpt2")
    check_texts(gpt2, peer.encode_ordinary, unicode_texts(6, 1000))


@pytest.mark.oracle
@pytest.mark.slow
def test_like_tiktoken_on_corpora(gpt2: Tokenizer, data_path: DataPath) -> None:
    peer = pytest.importorskip("tiktoken").get_encoding("gpt2")
    for name in CORPORA:
        check_corpus(gpt2, peer.encode_ordinary, corpus(data_path, name))


@pytest.mark.oracle
@pytest.mark.slow
def test_files_of_hugging_face(data_path: DataPath, tmp_path: Path) -> None:
    """A vocabulary trained and saved by `tokenizers`, read from its two files."""
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.ByteLevelBPETokenizer()
    text = data_path("corpora/multilingual_1mb.txt").read_text(encoding="utf-8")
    theirs.train_from_iterator(
        text.splitlines(keepends=True)[:5000],
        vocab_size=5000,
        special_tokens=["<s>", "<pad>"],
        show_progress=False,
    )
    theirs.save_model(str(tmp_path))
    tok = pybpe.load(tmp_path, pattern="gpt2")
    assert set(tok.special_tokens) == {"<s>", "<pad>"}

    def peer(text: str) -> list[int]:
        ids: list[int] = theirs.encode(text).ids
        return ids

    check_texts(tok, peer, unicode_texts(7, 1000))
    for name in CORPORA:
        for line in corpus(data_path, name).splitlines(keepends=True)[:3000]:
            if "<s>" not in line and "<pad>" not in line:
                assert tok.encode_ordinary(line) == peer(line)
