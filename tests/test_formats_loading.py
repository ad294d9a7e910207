"""`load` finds out what a file is, and says what it is when it cannot read it."""

from __future__ import annotations

import base64
import gzip
import json
import os
import threading
from pathlib import Path

import pytest

import pybpe
from pybpe import ModelError, Tokenizer
from pybpe.formats import _source

TOK = Tokenizer.from_merges([(104, 101)], pattern="gpt2", special_tokens=["<s>"])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it is empty"),
        (b"\0" * 100, "nothing but zero bytes"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"\n <html><body>404", "a web page"),
        (b"<?xml version='1.0'?><Error>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "git-lfs pointer"),
        (gzip.compress(b"IQ== 0\n"), "compressed with gzip"),
        (b"PK\x03\x04....", "a zip archive"),
        (b'{"version": "1.0", "truncation": null}', "its model must be an object"),
        (b'{"architectures": ["x"]}', "JSON, but of no kind that tokenizers come in"),
        (b"[]", "JSON, but of no kind"),
        (b"Once upon a time there", "it is text, beginning with 'Once upon"),
        (b"\xff\xfe#\0v\0", "text in UTF-16"),
        (b"\x80\x04\x95\x00\x01", "unknown data"),
        (b"\x89pybpe\n", "line ends were converted"),
    ],
    ids=range(15),
)
def test_names_what_it_cannot_read(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=message) as caught:
        pybpe.load(path)
    assert str(caught.value).startswith(f"cannot load '{path}': ")


def test_own_models(tmp_path: Path) -> None:
    TOK.save(tmp_path / "mine.pybpe")
    assert pybpe.load(tmp_path / "mine.pybpe") == TOK
    assert pybpe.load(str(tmp_path)) == TOK
    for options in ({"pattern": "gpt2"}, {"special_tokens": {}}):
        with pytest.raises(ValueError, match="which holds its own"):
            pybpe.load(tmp_path / "mine.pybpe", **options)  # type: ignore[arg-type]


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        pybpe.load(tmp_path / "nothing")


def test_wrong_arguments(tmp_path: Path) -> None:
    path = tmp_path / "some.tiktoken"
    path.write_bytes(b"IQ== 0\n")
    with pytest.raises(TypeError):
        pybpe.load(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown split pattern 'nothing'"):
        pybpe.load(path, pattern="nothing")
    with pytest.raises(TypeError, match="special_tokens must be a mapping"):
        pybpe.load(path, special_tokens=["<s>"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="empty token"):
        pybpe.load(path, special_tokens={"": 1})
    with pytest.raises(ValueError, match="a pair of files, got 1"):
        pybpe.load((path,))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"as a pair: a pair .* these are a rank file"):
        pybpe.load((path, path))


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"it holds none of tekken.json"):
        pybpe.load(tmp_path)
    for name in ("a.pybpe", "b.pybpe"):
        TOK.save(tmp_path / name)
    with pytest.raises(
        ModelError, match=r"2 files that could be meant, such as a.pybpe"
    ):
        pybpe.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"version": "1.0", "added_tokens": []}')
    with pytest.raises(
        ModelError, match=r"tokenizer.json': its model must be an object"
    ):
        pybpe.load(tmp_path)


def test_files_that_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_source, "MAX_FILE", 1000)
    (tmp_path / "vocab.json").write_text(json.dumps({"a" * 1000: 0}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    with pytest.raises(ModelError, match="more than 1,000 bytes"):
        pybpe.load(tmp_path)


def test_a_vocabulary_may_hold_the_words_of_other_formats(tmp_path: Path) -> None:
    vocab = {"added_tokens": 0, "token_bytes": 1, "pre_tokenizer": 2}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab))
    with pytest.raises(
        ModelError, match="it is a vocabulary file, which says only half"
    ):
        pybpe.load(tmp_path / "vocab.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_can_be_read_only_once(tmp_path: Path) -> None:
    ranks = {bytes([b]): b for b in range(256)} | {b"ab": 256}
    want = pybpe.Tokenizer.from_ranks(ranks, pattern="gpt2")
    lines = b"".join(
        base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items()
    )
    for contents, options in ((lines, {"pattern": "gpt2"}), (want.to_bytes(), {})):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(contents,))
        writer.start()
        tok = pybpe.load(pipe, **options)  # type: ignore[arg-type]
        writer.join()
        pipe.unlink()
        assert tok.encode("ab abc") == want.encode("ab abc")
