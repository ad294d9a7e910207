"""How often a tokenizer uses which token on a text: fertility, and what it never uses.

A text is counted in portions, so that its size does not matter; only what a portion
gives is in memory.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pybpe._text import to_utf8
from pybpe.corpora.inputs import TEXT, find_sources
from pybpe.corpora.reading import check_reading, documents
from pybpe.corpora.seams import seam_finder
from pybpe.corpora.streams import Stream
from pybpe.inspection._texts import Token, ends_inside, ordinary_ids, token_texts
from pybpe.permissions import NONE

if TYPE_CHECKING:
    from pybpe.corpora.inputs import Format, Paths
    from pybpe.corpora.seams import LastSeam
    from pybpe.tokenizer import Tokenizer

    _Readable = Stream | io.BytesIO

# A portion ends at the last seam of about so many bytes; where there is no seam, at the
# last line end of so many more, and where there is none either, anywhere.
_PORTION = 1 << 20
_LINES = 4 << 20
_ANYWHERE = 16 << 20


@dataclass(frozen=True)
class TokenCount(Token):
    """A token, and how often a text uses it.

    Attributes:
        count: How many times.
    """

    count: int


@dataclass(frozen=True)
class Usage:
    """What a tokenizer made of a text.

    Attributes:
        bytes: Size of the text.
        characters: Number of characters: codepoints. Bytes that are not UTF-8 count as
            `str.decode` with "replace" counts them.
        words: Number of words: stretches between white space, as `str.split` finds
            them. For scripts without spaces this says little: look at
            `tokens_per_character` and `bytes_per_token` there.
        tokens: Number of tokens.
        single_byte_tokens: Those of them that stand for one byte, be it a letter or a
            part of one.
        split_characters: Number of characters whose bytes lie in several tokens.
        counts: How often each id was used; those that were not are missing.
    """

    bytes: int
    characters: int
    words: int
    tokens: int
    single_byte_tokens: int
    split_characters: int
    counts: Mapping[int, int]

    @property
    def tokens_per_word(self) -> float:
        """Fertility; 0 for a text without words."""
        return self.tokens / self.words if self.words else 0.0

    @property
    def tokens_per_character(self) -> float:
        """Number of tokens for each character; 0 for an empty text."""
        return self.tokens / self.characters if self.characters else 0.0

    @property
    def bytes_per_token(self) -> float:
        """Compression; 0 for an empty text."""
        return self.bytes / self.tokens if self.tokens else 0.0

    @property
    def single_byte_share(self) -> float:
        """Which part of the tokens stands for one byte: 0 to 1."""
        return self.single_byte_tokens / self.tokens if self.tokens else 0.0

    @property
    def split_share(self) -> float:
        """Which part of the characters lies in several tokens: 0 to 1."""
        return self.split_characters / self.characters if self.characters else 0.0


def usage(tok: Tokenizer, texts: Iterable[str | bytes]) -> Usage:
    r"""Count what a tokenizer makes of texts, each one encoded by itself.

    Special tokens that a text spells are plain text.

    >>> import pybpe
    >>> tok = pybpe.train(["low lower lowest"], 262, pattern="gpt2")
    >>> used = usage(tok, ["low lower", "newest"])
    >>> used.words, used.tokens, round(used.tokens_per_word, 2)
    (3, 7, 2.33)

    Args:
        tok: The tokenizer.
        texts: Any iterable of texts.

    Raises:
        TypeError: `texts` is one str or bytes, or an item is neither.
    """
    if isinstance(texts, (str, bytes, bytearray)):
        raise TypeError(
            f"texts must be an iterable of texts, got one {type(texts).__name__}: put "
            "it into a list"
        )
    tally = _Tally(tok)
    for text in texts:
        tally.add(io.BytesIO(to_utf8(text)))
    return tally.result()


def usage_of_files(
    tok: Tokenizer,
    paths: Paths,
    *,
    format: Format | None = None,
    field: str = "text",
    split_on: str | bytes | None = None,
) -> Usage:
    """Count what a tokenizer makes of files: of text, each one text, or of documents.

    The counts are those of the whole texts where they can be had without holding them:
    with a split that has tables, and without normalizers, a text is parted only where
    pretokens end whatever is around. Other texts of more than 4 MB are parted at ends
    of lines (of more than 16 MB, anywhere), and each part is encoded by itself.

    Args:
        tok: The tokenizer.
        paths: Files, folders or patterns: see `pybpe.train_from_files`.
        format: See there.
        field: See there.
        split_on: See there.

    Raises:
        CorpusError: A file cannot be read as documents. (A `ValueError`.)
        ImportError: What reads such files is not installed.
        OSError: A file cannot be read.
        TypeError: An argument has the wrong type.
        ValueError: It makes no sense.
    """
    reading = check_reading(field, split_on)
    tally = _Tally(tok)
    for source in find_sources(paths, format, may_repeat=True):
        if source.format == TEXT and reading.split_on is None:
            with Stream(source) as stream:
                tally.add(stream)
        else:
            for text in documents(source, reading):
                tally.add(io.BytesIO(text))
    return tally.result()


def most_used(tok: Tokenizer, used: Usage, n: int | None = None) -> list[TokenCount]:
    """Return the tokens that a text uses, the most frequent first; of equals by id."""
    texts = token_texts(tok)
    order = sorted(used.counts.items(), key=lambda item: (-item[1], item[0]))
    return [TokenCount(i, texts[i], count) for i, count in order[:n]]


def unused(
    tok: Tokenizer, used: Usage, trained_on: Usage | None = None
) -> list[TokenCount]:
    """Return the ordinary tokens that a text never uses, the longest first.

    A model trained on such a text never sees them, and has no idea what they mean:
    glitch tokens. Some are only steps of merging on the way to longer tokens.

    Args:
        tok: The tokenizer.
        used: What it uses on the text.
        trained_on: What it uses on another text, such as the one it was trained on. If
            given, tokens that this text does not use either are left out, and the
            counts returned are those of this text; else they are 0.
    """
    texts = token_texts(tok)
    counts: Mapping[int, int] = {} if trained_on is None else trained_on.counts
    found = [
        TokenCount(i, texts[i], counts.get(i, 0))
        for i in ordinary_ids(tok)
        if i not in used.counts and (trained_on is None or i in counts)
    ]
    found.sort(key=lambda token: (-len(token.text), -token.count, token.id))
    return found


class _Tally:
    """Counts that grow."""

    def __init__(self, tok: Tokenizer) -> None:
        self._tok = tok
        self._counts: Counter[int] = Counter()
        self._bytes = self._characters = self._words = 0
        self._last_seam = seam_finder(tok, NONE, NONE)

    def add(self, file: _Readable) -> None:
        """Count one text, which is read to its end."""
        in_word = False
        for part in _portions(file, self._last_seam):
            self._counts.update(self._tok.encode_ordinary(part))
            text = part.decode("utf-8", "replace")
            self._bytes += len(part)
            self._characters += len(text)
            self._words += len(text.split()) - (in_word and not text[0].isspace())
            in_word = not text[-1].isspace()

    def result(self) -> Usage:
        """Return what has been counted."""
        texts = token_texts(self._tok)
        tokens = single = split = 0
        for number, count in self._counts.items():
            text = texts[number]
            tokens += count
            single += count if len(text) == 1 else 0
            split += count if ends_inside(text) else 0
        return Usage(
            bytes=self._bytes,
            characters=self._characters,
            words=self._words,
            tokens=tokens,
            single_byte_tokens=single,
            split_characters=split,
            counts=dict(self._counts),
        )


def _portions(file: _Readable, last_seam: LastSeam | None) -> Iterator[bytes]:
    """Yield a text in portions; none of them is empty."""
    pending = b""
    while block := file.read(_PORTION):
        pending += block
        end = last_seam(pending) if last_seam else 0
        if not end and len(pending) >= _LINES:
            end = pending.rfind(b"\n") + 1
        if not end and len(pending) >= _ANYWHERE:
            end = len(pending)
            while end > len(pending) - 4 and pending[end - 1] & 0xC0 == 0x80:
                end -= 1
            end -= 1  # the first byte of the last character, whole or not
        if end:
            yield pending[:end]
            pending = pending[end:]
    if pending:
        yield pending
