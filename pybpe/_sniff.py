"""Tell what kind of file some bytes are, to choose a reader or explain why none fits.

Only the beginning of a file is looked at, `HEAD` bytes.
"""

from __future__ import annotations

HEAD = 4096


class Found:
    """What a file looks like.

    Attributes:
        kind: "pybpe", "ranks", "merges", "vocabulary", "tekken", "minbpe", "gguf",
            "sentencepiece", "tokenizer_json" or "json" (some JSON); "" for all else.
        what: What it is, in words: "a ...".
        remedy: What to do about it if it cannot be read.
    """

    __slots__ = ("kind", "remedy", "what")

    def __init__(self, kind: str, what: str, remedy: str) -> None:
        """Keep them."""
        self.kind = kind
        self.what = what
        self.remedy = remedy


# Files that a function reads which is not the one that was called.
_LOAD = "read it with pybpe.load"
_UNREAD = "this version of pybpe does not read those"

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
    (
        b"\x89pybpc\r\n",
        "a file of counted pretokens",
        "train on it with pybpe.train_from_counts",
    ),
    (
        b"[\\u0000] 0\n",
        "a minbpe .vocab file, which is for people to look at",
        "give the .model file beside it",
    ),
)
# What a file begins with -> its kind, and what it is.
_FORMATS: tuple[tuple[bytes, str, str], ...] = (
    (b"\x89pybpe\r\n", "pybpe", "a pybpe model"),
    (b"GGUF", "gguf", "a GGUF file"),
    (b"minbpe v", "minbpe", "a minbpe model"),
    (b"#version:", "merges", "a merges file (merges.txt or vocab.bpe)"),
)

_SAVED = "give the file that Tokenizer.save wrote"
# Lines of a rank file: base64, space, number.
_RANK_LINE = rb"[A-Za-z0-9+/]+={0,2} [0-9]+\r?(?:\n|\Z)"
# Two words of printable characters that stand for bytes, as the lines of merges are.
_MERGE_LINE = r"[!-~\xa1-\xac\xae-\u0143]+ [!-~\xa1-\xac\xae-\u0143]+"
_VOCABULARY = rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[0-9]+\s*[,}]'


def describe(head: bytes) -> tuple[str, str]:
    """Say what bytes that are no pybpe model look like.

    Args:
        head: The first bytes of a file, `HEAD` of them if it has so many.

    Returns:
        (what it is, what to do): two phrases for the end of a message.
    """
    found = identify(head)
    return found.what, found.remedy


def identify(head: bytes) -> Found:
    """Say what a file looks like.

    Args:
        head: Its first bytes, `HEAD` of them if it has so many.
    """
    if not head:
        return Found("", "empty", _SAVED)
    if not head.strip(b"\0"):
        return Found(
            "", "nothing but zero bytes (an interrupted copy?)", "copy it again"
        )
    for prefix, what, remedy in _PREFIXES:
        if head.startswith(prefix):
            return Found("", what, remedy)
    for prefix, kind, what in _FORMATS:
        if head.startswith(prefix):
            return Found(kind, what, _LOAD)
    found = _damaged(head) or _protobuf(head) or _text(head)
    return found or Found("", f"unknown data, beginning with {head[:16]!r}", _SAVED)


def _damaged(head: bytes) -> Found | None:
    """Recognise a pybpe model that a transfer as text has changed."""
    if head.startswith((b"\x89pybpe\n", b"\x89pybpe\r\r\n")):
        return Found(
            "",
            "a pybpe model whose line ends were converted as if it were text",
            "copy it again in binary mode (with git: mark it `binary` in "
            ".gitattributes)",
        )
    if head.startswith((b"\xc2\x89pybpe", b"\xef\xbf\xbdpybpe", b"\tpybpe\r\n")):
        return Found(
            "",
            "a pybpe model that was re-encoded as if it were text",
            "copy it again in binary mode",
        )
    return None


def _protobuf(head: bytes) -> Found | None:
    """Recognise a sentencepiece model: a message that begins with a piece."""
    # Field 1 (a piece) holding field 1 (its string), then its score, a float, or, if
    # the score is 0, its type.
    if len(head) >= 5 and head[0] == 0x0A and head[2] == 0x0A:
        after = 4 + head[3]
        if head[after : after + 1] in (b"\x15", b"\x18", b"") and (
            head[1] >= head[3] + 2
        ):
            return Found(
                "sentencepiece",
                "a sentencepiece model",
                _LOAD,
            )
    return None


def _text(head: bytes) -> Found | None:
    """Recognise kinds of text."""
    import re  # not for pybpe models, which need not wait for it

    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")):
        return Found(
            "",
            "a web page, probably an error or log-in page saved by a download",
            "download the file again and look at it",
        )
    if start.startswith((b"{", b"[")):
        return _json(start)
    if re.match(_RANK_LINE, head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")):
        return Found(
            "ranks",
            "a rank file as tiktoken uses (.tiktoken)",
            f"{_LOAD}, or build the tokenizer with pybpe.Tokenizer.from_ranks",
        )
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Found("", "text in UTF-16", "save it as UTF-8")
    try:
        # The end may be cut within a character.
        text = head[:256].decode("utf-8", "strict" if len(head) < 256 else "ignore")
    except UnicodeDecodeError:
        return None
    if sum(c.isprintable() or c.isspace() for c in text) < len(text) or (
        len(text) < min(len(head), 256) // 4
    ):
        return None
    # Merges without their header; a line or two may be anything. The last may be cut.
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    whole = lines[:-1] if len(head) > 256 or not lines[-1] else lines
    if len(whole) > 2 and all(re.fullmatch(_MERGE_LINE, line) for line in whole):
        return Found("merges", "a merges file (merges.txt or vocab.bpe)", _LOAD)
    return Found("", f"text, beginning with {text[:40]!r}", _SAVED)


_JSON_WORDS: dict[str, tuple[str, str, tuple[bytes, ...]]] = {
    "tekken": (
        "a tekken.json file",
        _LOAD,
        (b'"token_bytes"', b'"default_num_special_tokens"', b'"num_vocab_tokens"'),
    ),
    "tokenizer_json": (
        "a tokenizer.json file of Hugging Face tokenizers",
        _LOAD,
        (b'"added_tokens"', b'"pre_tokenizer"', b'"truncation"', b'"post_processor"'),
    ),
}


def json_kind(data: bytes) -> str:
    """Return the kind of a JSON file, given all of it."""
    return _json(data.removeprefix(b"\xef\xbb\xbf").lstrip()).kind


def _json(start: bytes) -> Found:
    """Tell apart the JSON files that tokenizers come in."""
    import re

    if re.match(_VOCABULARY, start):
        # Before the others: a vocabulary may hold their words as tokens.
        return Found(
            "vocabulary",
            "a JSON object of tokens and ids (vocab.json or encoder.json)",
            _LOAD,
        )
    for kind, (what, remedy, words) in _JSON_WORDS.items():
        if any(word in start for word in words):
            return Found(kind, what, remedy)
    return Found("json", "JSON, but of no kind that tokenizers come in", _SAVED)
