"""Rank files: the names of `tiktoken.load` that programs use."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from pybpe import encodings
from pybpe.formats._published import File
from pybpe.formats.tiktoken import normalized, parse

__all__ = ["dump_tiktoken_bpe", "load_tiktoken_bpe"]


def load_tiktoken_bpe(
    tiktoken_bpe_file: str, expected_hash: str | None = None
) -> dict[bytes, int]:
    """Return the ranks of a `.tiktoken` file.

    Args:
        tiktoken_bpe_file: A path, or an address that begins with "https://". What is
            downloaded goes through tiktoken's cache, and `expected_hash` must be given.
        expected_hash: The file's SHA-256 in hexadecimal.

    Raises:
        ValueError: The file does not have this hash or is no rank file, or it is an
            address without a hash.
        OSError: It cannot be read.
    """
    if "://" in tiktoken_bpe_file:
        if expected_hash is None or not tiktoken_bpe_file.startswith("https://"):
            raise ValueError(
                f"{tiktoken_bpe_file}: only https addresses are read, and only with "
                "expected_hash; download the file and pass its path"
            )
        file, tried = File(tiktoken_bpe_file, expected_hash), list[str]()
        data = encodings._cached(file, tried)
        if data is None:
            data = encodings._download(tiktoken_bpe_file, file, tried)
    else:
        data = Path(tiktoken_bpe_file).read_bytes()
        found = hashlib.sha256(data).hexdigest()
        if expected_hash is not None and found != expected_hash:
            raise ValueError(
                f"{tiktoken_bpe_file} has the SHA-256 {found}, not {expected_hash}"
            )
    ranks = parse(normalized(data), published=False)
    return dict(zip(ranks.tokens, ranks.ids, strict=True))


def dump_tiktoken_bpe(bpe_ranks: dict[bytes, int], tiktoken_bpe_file: str) -> None:
    """Write ranks to a `.tiktoken` file, the lowest first, whole or not at all.

    Raises:
        OSError: The file cannot be written.
    """
    from pybpe._whole_file import whole_file

    with whole_file(tiktoken_bpe_file) as out:
        for token, rank in sorted(bpe_ranks.items(), key=lambda item: item[1]):
            out.write(b"%s %d\n" % (base64.b64encode(token), rank))
