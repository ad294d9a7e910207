"""Tell what kind of file some bytes are, for messages about files that cannot be read.

Only the beginning of a file is looked at; 4,096 bytes are enough.
"""

from __future__ import annotations

import re

# What a file begins with -> (what it is, what to do about it).
_PREFIXES: tuple[tuple[bytes, str, str], ...] = (
    (
        b"version https://git-lfs.github.com/",
        "a git-lfs pointer, which stands for a file that was not fetched",
        "run `git lfs pull`, or download the file itself",
    ),
    (b"\x1f\x8b", "compressed with gzip", "decompress it first"),
    (b"BZh", "compressed with bzip2", "decompress it first"),
    (b"\xfd7zXZ\0", "compressed with xz", "decompress it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "decompress it first"),
    (
        b"PK\x03\x04",
        "a zip archive (PyTorch checkpoints and wheels are, too)",
        "take the model file out of it",
    ),
    (b"GGUF", "a GGUF file", "this version of pybpe does not read those"),
    (
        b"minbpe v1",
        "a minbpe model",
        "build the tokenizer with pybpe.Tokenizer.from_merges",
    ),
    (
        b"#version:",
        "a merges.txt file",
        "build the tokenizer with pybpe.Tokenizer.from_merges",
    ),
)

_SAVED = "give the file that Tokenizer.save wrote"
# A line of a rank file: base64, space, number.
_RANK_LINE = re.compile(rb"[A-Za-z0-9+/]+={0,2} [0-9]+\r?\n")


def describe(head: bytes) -> tuple[str, str]:
    """Say what bytes that are no pybpe model look like.

    Args:
        head: The first bytes of a file, 4,096 of them if it has so many.

    Returns:
        (what it is, what to do): two phrases for the end of a message.
    """
    if not head:
        return "empty", _SAVED
    if not head.strip(b"\0"):
        return "nothing but zero bytes (an interrupted copy?)", "copy it again"
    for prefix, what, remedy in _PREFIXES:
        if head.startswith(prefix):
            return what, remedy
    found = _damaged(head) or _protobuf(head) or _text(head)
    return found or (f"unknown data, beginning with {head[:16]!r}", _SAVED)


def _damaged(head: bytes) -> tuple[str, str] | None:
    """Recognise a pybpe model that a transfer as text has changed."""
    if head.startswith((b"\x89pybpe\n", b"\x89pybpe\r\r\n")):
        return (
            "a pybpe model whose line ends were converted as if it were text",
            "copy it again in binary mode (with git: mark it `binary` in "
            ".gitattributes)",
        )
    if head.startswith((b"\xc2\x89pybpe", b"\xef\xbf\xbdpybpe", b"\tpybpe\r\n")):
        return (
            "a pybpe model that was re-encoded as if it were text",
            "copy it again in binary mode",
        )
    return None


def _protobuf(head: bytes) -> tuple[str, str] | None:
    """Recognise a sentencepiece model: a message that begins with a piece."""
    # Field 1 (a piece) holding field 1 (its string), then its score, a float.
    if len(head) >= 5 and head[0] == 0x0A and head[2] == 0x0A:
        after = 4 + head[3]
        if head[after : after + 1] in (b"\x15", b"") and head[1] >= head[3] + 2:
            return (
                "a sentencepiece model",
                "this version of pybpe runs byte-level models only",
            )
    return None


def _text(head: bytes) -> tuple[str, str] | None:
    """Recognise kinds of text."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")):
        return (
            "a web page, probably an error or log-in page saved by a download",
            "download the file again and look at it",
        )
    if start.startswith((b"{", b"[")):
        return _json(start)
    if _RANK_LINE.match(head):
        return (
            "a rank file as tiktoken uses (.tiktoken)",
            "build the tokenizer with pybpe.Tokenizer.from_ranks",
        )
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "text in UTF-16", _SAVED
    try:
        # The end may be cut within a character.
        text = head[:256].decode("utf-8", "strict" if len(head) < 256 else "ignore")
    except UnicodeDecodeError:
        return None
    if sum(c.isprintable() or c.isspace() for c in text) < len(text) or (
        len(text) < min(len(head), 256) // 4
    ):
        return None
    return f"text, beginning with {text[:40]!r}", _SAVED


def _json(start: bytes) -> tuple[str, str]:
    """Tell apart the JSON files that tokenizers come in."""
    if b'"tekken' in start or b'"token_bytes"' in start:
        return "a tekken.json file", "this version of pybpe does not read those"
    if any(
        key in start for key in (b'"added_tokens"', b'"pre_tokenizer"', b'"truncation"')
    ):
        return (
            "a tokenizer.json file of Hugging Face tokenizers",
            "this version of pybpe does not read those",
        )
    if re.match(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[0-9]+\s*[,}]', start):
        return (
            "a JSON object of tokens and ids (vocab.json or encoder.json)",
            "build the tokenizer with pybpe.Tokenizer.from_merges",
        )
    return "JSON", _SAVED
