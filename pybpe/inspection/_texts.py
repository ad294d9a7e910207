"""What the tokens of any kind of model stand for, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pybpe import codepoint
from pybpe.model import ALIAS, BYTES, CHARACTERS, Model

if TYPE_CHECKING:
    from pybpe.tokenizer import Tokenizer

_MARK = codepoint.MARK
_BATCH = 4096  # texts


@dataclass(frozen=True)
class Token:
    """A token of a vocabulary.

    Attributes:
        id: Its id.
        text: The bytes of text that it stands for.
    """

    id: int
    text: bytes


def token_texts(tok: Tokenizer) -> list[bytes]:
    """Return the bytes of text that each id stands for; b"" where there is no token.

    Those of `Tokenizer.token_bytes`, but that marks are spaces, and that what stands
    for a byte under a name such as `<0x0A>` is the byte.
    """
    texts = tok.token_bytes_list()
    model = tok._model
    if isinstance(model, Model):
        if model.symbols == BYTES:
            return texts
        if model.symbols == CHARACTERS:
            texts = [text.replace(_MARK, b" ") for text in texts]
        for byte, number in enumerate(model.fallback_ids):
            if number < len(texts):
                texts[number] = bytes([byte])
        return texts
    if model.normalizer.escape_whitespaces:
        texts = [text.replace(_MARK, b" ") for text in texts]
    for number, kind in enumerate(model.piece_types):
        if kind == codepoint.BYTE:
            texts[number] = byte_of(texts[number])
    return texts


def tokens_of(tok: Tokenizer, text: str | bytes) -> list[Token]:
    """Return the tokens of a text; special tokens in it are plain text.

    >>> import pybpe
    >>> tok = pybpe.train(["low lower lowest"], 259, pattern="gpt2")
    >>> [token.text for token in tokens_of(tok, "slow")]
    [b's', b'low']
    """
    texts = token_texts(tok)
    return [Token(i, texts[i]) for i in tok.encode_ordinary(text)]


def in_batches(
    tok: Tokenizer, texts: Iterable[bytes], **options: Any
) -> Iterator[list[int]]:
    """Yield the ids of each text; so many lists are never held at once."""
    rest = iter(texts)
    while batch := list(islice(rest, _BATCH)):
        yield from tok.encode_batch(batch, **options)


def byte_of(piece: bytes) -> bytes:
    """Return the byte that a byte piece, such as `<0x0A>`, stands for."""
    return bytes([int(piece[3:5], 16)])


def ordinary_ids(tok: Tokenizer) -> list[int]:
    """Return the ids of ordinary tokens: neither special nor added, in order."""
    model = tok._model
    extra = {n for _, n in (*model.special_tokens, *model.added_tokens)}
    if isinstance(model, Model):
        extra -= {n for n, flags in model.flags.items() if flags & ALIAS}
        return [n for n in model.token_ids if n not in extra]
    return [
        n
        for n, kind in enumerate(model.piece_types)
        if kind not in (codepoint.UNKNOWN, codepoint.UNUSED) and n not in extra
    ]


def shown(text: bytes) -> str:
    r"""Return a token as people may read it, in quotes.

    >>> shown(b" the"), shown(b"\n\t"), shown("\u4e2d\u00a0".encode()), shown(b"\xe4")
    ("' the'", "'\\n\\t'", "'中\\xa0'", "b'\\xe4'")
    """
    try:
        return repr(text.decode())
    except UnicodeDecodeError:
        return repr(text)


def ends_inside(text: bytes) -> int:
    r"""Return how many bytes a character lacks that begins in a text and goes on.

    >>> ends_inside("a\u4e2d".encode()), ends_inside(b"a\xe4"), ends_inside(b"\xe4\xb8")
    (0, 2, 1)
    """
    for back, byte in enumerate(reversed(text[-3:]), 1):
        if byte >= 0xC2:
            size = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4 if byte < 0xF5 else 0
            return max(0, size - back)
        if byte < 0x80:
            return 0
    return 0


def begins_inside(text: bytes) -> int:
    r"""Return with how many bytes a text goes on with a character begun before it.

    >>> begins_inside(b"\xb8\xadx"), begins_inside(b"x")
    (2, 0)
    """
    n = 0
    while n < len(text) and text[n] & 0xC0 == 0x80:
        n += 1
    return n


def cut_character(text: bytes) -> tuple[str, range | None]:
    r"""Return the whole characters of a token, and which one it may end inside of.

    >>> cut_character(b"\xb8\xada\xd0")
    ('a', range(1024, 1088))
    """
    begin, missing = begins_inside(text), ends_inside(text)
    if not missing:
        return text[begin:].decode("utf-8", "replace"), None
    end = last_character(text)
    lead, *more = text[end:]
    size = 1 + len(more) + missing
    number = lead & (0xFF >> size + 1)
    for byte in more:
        number = number << 6 | byte & 0x3F
    # Two bytes are for codepoints from 0x80 on, three from 0x800, four from 0x10000.
    least = {2: 0x80, 3: 0x800, 4: 0x10000}[size]
    first, count = number << 6 * missing, 1 << 6 * missing
    last = range(max(first, least), min(first + count, 0x110000))
    return text[begin:end].decode("utf-8", "replace"), last


def last_character(text: bytes) -> int:
    """Return where the last character of more than one byte begins."""
    return max(i for i, byte in enumerate(text) if byte >= 0xC2)
