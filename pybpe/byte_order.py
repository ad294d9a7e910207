"""The orders in which the 256 single bytes get their ids."""

from __future__ import annotations

NAMES = ("identity", "gpt2")


def bytes_in_order(name: str) -> bytes:
    """Return the 256 bytes in the order of their ids.

    Args:
        name: "identity" (byte b has id b), or "gpt2": GPT-2 numbers first the bytes
            that are printable characters of Latin-1, ascending, then all others.

    Raises:
        ValueError: The name is neither.
    """
    if name == "identity":
        return bytes(range(256))
    if name == "gpt2":
        printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
        return bytes(printable + [b for b in range(256) if b not in printable])
    raise ValueError(f"byte_order must be one of {', '.join(NAMES)}, got {name!r}")
