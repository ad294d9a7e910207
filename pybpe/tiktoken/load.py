"""Rank files: the names of `tiktoken.load`."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from pybpe import encodings
from pybpe.byte_order import bytes_in_order
from pybpe.errors import ModelError
from pybpe.formats import gpt2
from pybpe.formats._published import File
from pybpe.formats.tiktoken import normalized, parse

__all__ = [
    "check_hash",
    "data_gym_to_mergeable_bpe_ranks",
    "dump_tiktoken_bpe",
    "load_tiktoken_bpe",
    "read_file",
    "read_file_cached",
]


class DisagreementError(ModelError, AssertionError):
    """Two files are not of the same vocabulary; tiktoken asserts it."""


def read_file(blobpath: str) -> bytes:
    """Return the contents of a file.

    Raises:
        ValueError: It is an address, of which nobody knows what it gives: see
            `read_file_cached`.
        OSError: It cannot be read.
    """
    return read_file_cached(blobpath)


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Tell whether data have a SHA-256, given in hexadecimal."""
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """Return the contents of a file, or what an address gives.

    Args:
        blobpath: A path, or an address that begins with "https://". What is downloaded
            goes through tiktoken's cache, and `expected_hash` must be given.
        expected_hash: The contents' SHA-256 in hexadecimal.

    Raises:
        ValueError: The contents do not have this hash, or it is an address without one.
        OSError: It cannot be read.
    """
    if "://" in blobpath:
        if expected_hash is None or not blobpath.startswith("https://"):
            raise ValueError(
                f"{blobpath}: only https addresses are read, and only with "
                "expected_hash; download the file and pass its path"
            )
        file, tried = File(blobpath, expected_hash), list[str]()
        cached = encodings._cached(file, tried)
        if cached is not None:
            return cached
        return encodings._download(blobpath, file, tried)
    data = Path(blobpath).read_bytes()
    if expected_hash is not None and not check_hash(data, expected_hash):
        found = hashlib.sha256(data).hexdigest()
        raise ValueError(f"{blobpath} has the SHA-256 {found}, not {expected_hash}")
    return data


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """Return the ranks that GPT-2's two files describe.

    Args:
        vocab_bpe_file: Where the merges are; a path or an address, as for
            `read_file_cached`.
        encoder_json_file: Where the vocabulary is.
        vocab_bpe_hash: The SHA-256 of the merges.
        encoder_json_hash: That of the vocabulary.
        clobber_one_byte_tokens: Whether single bytes have the ids that the vocabulary
            gives them, and not those of GPT-2.

    Raises:
        DisagreementError: The vocabulary has other ids than the merges make (an
            `AssertionError`).
        ValueError: A file is malformed, does not have its hash, or is an address
            without one.
        OSError: One cannot be read.
    """
    merges = gpt2.merge_lines(read_file_cached(vocab_bpe_file, vocab_bpe_hash))
    encoder = gpt2.vocabulary_of(read_file_cached(encoder_json_file, encoder_json_hash))
    for token in (b"<|endoftext|>", b"<|startoftext|>"):
        encoder.pop(token, None)
    ranks = {bytes([byte]): rank for rank, byte in enumerate(bytes_in_order("gpt2"))}
    for rank, (left, right) in enumerate(merges, len(ranks)):
        ranks[left + right] = rank
    if clobber_one_byte_tokens:
        ranks |= {t: number for t, number in encoder.items() if len(t) == 1}
    if ranks != encoder:
        for token in (*ranks, *encoder):
            if ranks.get(token) != encoder.get(token):
                raise DisagreementError(
                    f"{encoder_json_file} gives the token {token!r} the id "
                    f"{encoder.get(token)}, and with {vocab_bpe_file} it has "
                    f"{ranks.get(token)}"
                )
    return ranks


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
    data = read_file_cached(tiktoken_bpe_file, expected_hash)
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
