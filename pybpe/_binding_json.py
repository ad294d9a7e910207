"""The door to `_core` for lines of JSON."""

from __future__ import annotations

from pybpe._binding import fail, uncleared
from pybpe._core import ffi, lib


class BadLine(Exception):
    """A line that is no JSON object, or has no text under the key.

    Attributes:
        start: Where it begins.
    """

    def __init__(self, start: int) -> None:
        """Keep the place."""
        super().__init__(start)
        self.start = start


def json_lines(data: bytes, key: bytes) -> tuple[memoryview, memoryview]:
    """Return the text under a key of each line: see `bpe_json_lines`.

    The GIL is released meanwhile.

    Returns:
        The UTF-8 of all texts; and where each text begins in it, 64-bit numbers, one
        more than there are texts.

    Raises:
        BadLine: With the first one's place.
    """
    # The shortest line with a text is {"key":""} and its end.
    most = len(data) // (len(key) + 8) + 1
    texts = uncleared("uint8_t[]", max(1, len(data)))
    offsets = uncleared("size_t[]", most + 1)
    n, err = ffi.new("size_t *"), ffi.new("bpe_error *")
    status = lib.bpe_json_lines(
        data, len(data), key, len(key), texts, len(data), offsets, most, n, err
    )
    if status == lib.BPE_ERR_JSON:
        raise BadLine(err.pos)
    if status != lib.BPE_OK:
        fail(status)
    found = memoryview(ffi.buffer(offsets, 8 * (n[0] + 1))).cast("Q")
    return memoryview(ffi.buffer(texts, found[-1])), found
