"""The printable characters that stand for bytes in GPT-2-style text files.

GPT-2's vocabulary files are text, and a token is any bytes, so each byte is written as
one printable character: itself where Latin-1 has a visible one, otherwise one from
U+0100 on. A space is then U+0120, a newline U+010A.
"""

from __future__ import annotations

import codecs

from pybpe.byte_order import bytes_in_order

_N_VISIBLE = 188


def _characters() -> str:
    """Return the character of each byte, in the order of the bytes."""
    order = bytes_in_order("gpt2")
    table = {byte: chr(byte) for byte in order[:_N_VISIBLE]}
    table.update((byte, chr(0x100 + i)) for i, byte in enumerate(order[_N_VISIBLE:]))
    return "".join(table[byte] for byte in range(256))


CHARACTERS = _characters()
_MAP = codecs.charmap_build(CHARACTERS)


def to_bytes(text: str) -> bytes:
    """Return the bytes that the characters stand for.

    Raises:
        UnicodeEncodeError: A character stands for no byte.
    """
    return codecs.charmap_encode(text, "strict", _MAP)[0]


def to_characters(data: bytes) -> str:
    """Return the characters that stand for some bytes."""
    return codecs.charmap_decode(data, "strict", CHARACTERS)[0]
