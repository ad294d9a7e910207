"""The decoders of `tokenizer.json`, applied to tokens that come bit by bit.

A decoder turns a list of tokens into another. Most look at one token at a time, some at
the first or the last as well, and some make one token of all: what comes after those
gets that one token in parts.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import TYPE_CHECKING

from pybpe.decoders import (
    ByteFallback,
    ByteLevel,
    Decoder,
    Fuse,
    Join,
    Marks,
    ReplaceIn,
    StripCharacter,
    WordEnds,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Local:
    """A decoder for which all tokens but the first, or the last, are alike.

    Its list is given an empty token in the place of the first one, if that has been
    decoded already, and of the last one, if that is yet to come.
    """

    def __init__(self, decoder: Decoder, exact: bool) -> None:
        self._decoder, self._exact = decoder, exact
        self._begun = False
        self._held: list[str] = []

    def feed(self, tokens: list[str]) -> list[str]:
        tokens = self._held + tokens
        n = self._n_ready(tokens)
        self._held = tokens[n:]
        return self._decode(tokens[:n], [""] if n < len(tokens) else [])

    def end(self) -> list[str]:
        return self._decode(self._held, [])

    def _decode(self, tokens: list[str], behind: list[str]) -> list[str]:
        if not tokens:
            return []
        before = [""] if self._begun else []
        self._begun = True
        made = self._decoder.decode([*before, *tokens, *behind], self._exact)
        return made[len(before) : len(made) - len(behind)]

    def _n_ready(self, tokens: list[str]) -> int:
        """Return of how many tokens it is known what becomes of them."""
        return len(tokens)


class _LastApart(_Local):
    """The last token is different, and the next one may not be the last."""

    def _n_ready(self, tokens: list[str]) -> int:
        return max(0, len(tokens) - 1)


class _ByteRuns(_Local):
    """Bytes in a row are decoded together: all become U+FFFD if they are no UTF-8."""

    def __init__(self, decoder: ByteFallback, exact: bool) -> None:
        super().__init__(decoder, exact)
        self._is_byte = decoder._byte

    def _n_ready(self, tokens: list[str]) -> int:
        n = len(tokens)
        while n and self._is_byte(tokens[n - 1]) is not None:
            n -= 1
        return n

    def _decode(self, tokens: list[str], behind: list[str]) -> list[str]:
        return self._decoder.decode(tokens, self._exact)


class _Joined:
    """All tokens become one, with a string between them."""

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._begun = False

    def feed(self, tokens: list[str]) -> list[str]:
        if not tokens:
            return []
        before = self._separator if self._begun else ""
        self._begun = True
        return [before + self._separator.join(tokens)]

    def end(self) -> list[str]:
        return []


class _Glyphs:
    """All tokens become one, the text of their bytes."""

    def __init__(self, decoder: ByteLevel, exact: bool) -> None:
        self._decoder = decoder
        self._utf8 = getincrementaldecoder("utf-8")(
            "surrogateescape" if exact else "replace"
        )

    def feed(self, tokens: list[str]) -> list[str]:
        (text,) = self._decoder.decode(tokens, True)
        return [self._utf8.decode(text.encode("utf-8", "surrogateescape"))]

    def end(self) -> list[str]:
        return [self._utf8.decode(b"", True)]


class _Stripped:
    """A character is stripped from the ends of one token that comes in parts."""

    def __init__(self, decoder: StripCharacter) -> None:
        self._content, self._stop = decoder.content, decoder.stop
        self._left = decoder.start
        self._held = ""

    def feed(self, tokens: list[str]) -> list[str]:
        text = self._held + "".join(tokens)
        at = 0
        while at < len(text) and self._left and text[at] == self._content:
            at += 1
            self._left -= 1
        if at < len(text):
            self._left = 0
        end = len(text)
        least = max(at, end - self._stop)
        while end > least and text[end - 1] == self._content:
            end -= 1
        self._held = text[end:]
        return [text[at:end]]

    def end(self) -> list[str]:
        return []


_Stage = _Local | _Joined | _Glyphs | _Stripped


class DecoderStream:
    """Decoders in a row."""

    def __init__(self, decoders: Sequence[Decoder], exact: bool) -> None:
        """Begin a text; `exact` as for `Decoder.decode`.

        Raises:
            ValueError: A decoder needs all of a text at once.
        """
        self._stages: list[_Stage] = []
        one = False  # whether all tokens are one already
        for decoder in decoders:
            if isinstance(decoder, StripCharacter) and one:
                self._stages.append(_Stripped(decoder))
            elif isinstance(decoder, (ReplaceIn, StripCharacter, Marks)) and not one:
                self._stages.append(_Local(decoder, exact))
            elif isinstance(decoder, WordEnds) and not one:
                self._stages.append(_LastApart(decoder, exact))
            elif isinstance(decoder, ByteFallback) and not one:
                self._stages.append(_ByteRuns(decoder, exact))
            elif isinstance(decoder, ByteLevel) and not one:
                self._stages.append(_Glyphs(decoder, exact))
                one = True
            elif isinstance(decoder, (Fuse, Join)):
                if not one:
                    separator = decoder.separator if isinstance(decoder, Join) else ""
                    self._stages.append(_Joined(separator))
                one = True
            else:
                raise ValueError(
                    f"the tokenizer's decoder {type(decoder).__name__} needs all of a "
                    "text at once: decode the ids so far, or a window of them, instead"
                )

    def feed(self, tokens: list[str]) -> str:
        """Return the text that some tokens add."""
        for stage in self._stages:
            tokens = stage.feed(tokens)
        return "".join(tokens)

    def end(self) -> str:
        """Return the text that was held back."""
        tokens: list[str] = []
        for stage in self._stages:
            tokens = stage.feed(tokens) + stage.end() if tokens else stage.end()
        return "".join(tokens)
