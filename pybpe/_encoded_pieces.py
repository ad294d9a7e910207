"""What a text was encoded to, piece by piece, with places in the text."""

from __future__ import annotations

from typing import NamedTuple


class EncodedPiece(NamedTuple):
    """One id of an encoded text, and where it comes from.

    Attributes:
        id: The id.
        piece: The piece's bytes; of the unknown piece the text that it stands for.
        begin: Where in the source, in bytes, the text begins that it stands for.
        end: Where that text ends. Of the byte pieces that spell a character, all but
            the last stand for no text.
    """

    id: int
    piece: bytes
    begin: int
    end: int


# The bytes of UTF-8 that do not begin a character.
_CONTINUATION = bytes(range(0x80, 0xC0))


def in_characters(
    found: list[EncodedPiece], text: str, data: bytes
) -> list[EncodedPiece]:
    """Return pieces with their places counted in characters of a str.

    Args:
        found: The pieces, with places in bytes of `data`.
        text: The text.
        data: What `_text.to_utf8` makes of it.
    """
    if text.isascii():
        return found
    starts = surrogate_starts(text, data)
    byte = count = 0
    out = []
    for number, piece, begin, end in found:
        places = []
        for place in (begin, end):
            if place < byte:
                byte = count = 0
            count += len(data[byte:place].translate(None, _CONTINUATION))
            byte = place
            places.append(count if starts is None else starts[count])
        out.append(EncodedPiece(number, piece, *places))
    return out


def surrogate_starts(text: str, data: bytes) -> list[int] | None:
    """Return where in a str each character of its UTF-8 begins, and its length.

    None if it is the same: only pairs of surrogates are two characters in a str, and
    one in UTF-8.
    """
    if len(data.translate(None, _CONTINUATION)) == len(text):
        return None
    starts, at = [0], 0
    for char in data.decode():
        at += 2 if char > "\uffff" and text[at] < char else 1
        starts.append(at)
    return starts
