"""An encoding that needs no data, for both packages."""

from __future__ import annotations

from typing import Any

END = "<|endoftext|>"


def small_parts(**changes: Any) -> dict[str, Any]:
    ranks = {bytes([i]): i for i in range(256)} | {b"ab": 256, b"abc": 257, b" a": 258}
    parts = {
        "name": "small",
        "pat_str": r" ?[a-z]+|\s+(?!\S)|\s+|[^a-z\s]+",
        "mergeable_ranks": ranks,
        "special_tokens": {END: 259, "<|x|>": 260},
    }
    return parts | changes
