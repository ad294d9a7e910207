"""Shards: the format, and reading them. docs/corpora.md has it byte by byte."""

from __future__ import annotations

import operator
import os
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pybpe.corpora.arguments import check_path, check_text
from pybpe.corpora.index import INDEX, read_index
from pybpe.errors import CorpusError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tokens = np.ndarray[Any, np.dtype[Any]]

MAGIC = b"pybpeTOK"
VERSION = 1
HEADER_SIZE = 256
ENDING = ".tokens"

# Magic, version, bytes of a token, tokens, documents, where the offsets are, separator,
# n_vocab, CRC-32 of all that follows the header, nothing, SHA-256 of the tokenizer.
_HEADER = struct.Struct("<8sIIQQQqQII32s")
_NO_SEPARATOR = -1


class Header(NamedTuple):
    """What a shard says of itself.

    Attributes:
        width: How many bytes a token has: 2 or 4.
        n_tokens: How many tokens there are.
        n_documents: How many documents they make up.
        separator: The id between documents; None for none.
        n_vocab: Ids are below this.
        crc: CRC-32 of all that follows the header.
        fingerprint: That of the tokenizer.
    """

    width: int
    n_tokens: int
    n_documents: int
    separator: int | None
    n_vocab: int
    crc: int
    fingerprint: str

    @property
    def offsets_at(self) -> int:
        """Where the offsets begin: behind the tokens, at a multiple of 8."""
        return HEADER_SIZE + (self.n_tokens * self.width + 7) // 8 * 8

    @property
    def file_size(self) -> int:
        """How many bytes the file has."""
        return self.offsets_at + 8 * (self.n_documents + 1)

    def to_bytes(self) -> bytes:
        """Return the first bytes of the file."""
        packed = _HEADER.pack(
            MAGIC,
            VERSION,
            self.width,
            self.n_tokens,
            self.n_documents,
            self.offsets_at,
            _NO_SEPARATOR if self.separator is None else self.separator,
            self.n_vocab,
            self.crc,
            0,
            bytes.fromhex(self.fingerprint),
        )
        return packed.ljust(HEADER_SIZE, b"\0")


def read_header(path: str | os.PathLike[str]) -> Header:
    """Return what a shard says of itself.

    Raises:
        CorpusError: The file is no shard, or not whole.
        OSError: It cannot be read.
    """
    with Path(path).open("rb") as file:
        head = file.read(HEADER_SIZE)
        size = os.fstat(file.fileno()).st_size
    if len(head) < HEADER_SIZE or not head.startswith(MAGIC):
        raise CorpusError(f"{os.fspath(path)}: not a shard of pybpe")
    _, version, width, tokens, documents, at, separator, n_vocab, crc, _, sha = (
        _HEADER.unpack_from(head)
    )
    if version != VERSION:
        raise CorpusError(
            f"{os.fspath(path)}: a shard of format version {version}, and this version "
            f"of pybpe reads version {VERSION}; upgrade pybpe"
        )
    found = Header(
        width,
        tokens,
        documents,
        None if separator == _NO_SEPARATOR else separator,
        n_vocab,
        crc,
        sha.hex(),
    )
    if width not in (2, 4) or separator < _NO_SEPARATOR:
        raise CorpusError(
            f"{os.fspath(path)}: damaged: its header says that ids have {width:,} "
            f"bytes and that the separator is {separator:,}"
        )
    if at != found.offsets_at or size != found.file_size:
        raise CorpusError(
            f"{os.fspath(path)}: damaged: it has {size:,} bytes, and its header says "
            f"{found.file_size:,}"
        )
    return found


def refuse_other(
    path: str | os.PathLike[str],
    header: Header,
    name: Path,
    index: Mapping[str, Any],
    entry: Mapping[str, Any],
) -> None:
    """Refuse a shard that is not the one that an index speaks of.

    Args:
        path: The shard.
        header: What it says of itself.
        name: The index.
        index: What that says of all shards.
        entry: What it says of this one.

    Raises:
        CorpusError: They differ; the first difference is named.
    """
    for key, found, said in (
        ("fingerprint", header.fingerprint, index["fingerprint"]),
        ("dtype", f"uint{8 * header.width}", index["dtype"]),
        ("separator", header.separator, index.get("separator")),
        ("n_vocab", header.n_vocab, index["n_vocab"]),
        ("tokens", header.n_tokens, entry["tokens"]),
        ("documents", header.n_documents, entry["documents"]),
    ):
        if found != said:
            raise CorpusError(
                f"{os.fspath(path)}: its header says {key}={found!r}, and {name} says "
                f"{said!r}: one of them is damaged, or of another corpus; write it "
                "anew or restore it from a good copy"
            )


class Shard:
    """One file, mapped into memory: nothing is read before it is asked for.

    Attributes:
        path: The file.
        header: What it says of itself.
        tokens: All ids, one document after the other, as an array in the file.
        offsets: `int64`: document i is `tokens[offsets[i]:offsets[i + 1]]`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Map a file.

        Raises:
            CorpusError: The file is no shard, or not whole.
            OSError: It cannot be read.
        """
        self.path = os.fspath(path)
        self.header = read_header(path)
        head = self.header
        dtype = np.dtype(f"<u{head.width}")
        self.offsets: NDArray[np.int64] = np.memmap(
            path, "<i8", "r", head.offsets_at, (head.n_documents + 1,)
        )
        # Nothing cannot be mapped, nor needs it.
        self.tokens: Tokens = (
            np.memmap(path, dtype, "r", HEADER_SIZE, (head.n_tokens,))
            if head.n_tokens
            else np.empty(0, dtype)
        )

    def __repr__(self) -> str:
        """Name the file, and what is in it."""
        n = self.header.n_tokens
        return f"<pybpe.Shard {self.path!r}: {len(self):,} documents, {n:,} tokens>"

    def __len__(self) -> int:
        """How many documents there are."""
        return self.header.n_documents

    def __getitem__(self, index: int) -> Tokens:
        """Return the ids of a document; raises `CorpusError` if it is damaged."""
        n = len(self)
        index = operator.index(index)
        if not -n <= index < n:
            raise IndexError(f"document {index} of {n:,}")
        index %= n
        begin, end = self.offsets[index : index + 2].tolist()
        return self._document(begin, end)

    def __iter__(self) -> Iterator[Tokens]:
        """Yield the ids of each document."""
        offsets = self.offsets.tolist()
        for i in range(len(self)):
            yield self._document(offsets[i], offsets[i + 1])

    def _document(self, begin: int, end: int) -> Tokens:
        # Others would give some array, too.
        if not 0 <= begin <= end <= self.header.n_tokens:
            raise CorpusError(
                f"{self.path}: damaged: a document is said to be tokens {begin:,} to "
                f"{end:,} of {self.header.n_tokens:,}; write it anew or restore it "
                "from a good copy"
            )
        return self.tokens[begin:end]

    def verify(self) -> None:
        """Read the whole file and compare with its checksum.

        Raises:
            CorpusError: It is damaged.
        """
        crc = 0
        with Path(self.path).open("rb") as file:
            file.seek(HEADER_SIZE)
            while block := file.read(1 << 22):
                crc = zlib.crc32(block, crc)
        if crc != self.header.crc:
            raise CorpusError(
                f"{self.path}: damaged: its contents do not have the checksum that its "
                "header gives; write it anew or restore it from a good copy"
            )


class Shards:
    """The documents of a folder of shards, and their ids as one long row.

    Nothing is read before it is asked for; arrays are parts of the files. Threads and
    forked processes may share it.

    Attributes:
        shards: The files, in order.
        dtype: What ids are stored as.
        n_tokens: How many ids there are.
        fingerprint: That of the tokenizer.
        separator: The id between documents; None for none.
        n_vocab: Ids are below this.
        index: What index.json says.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        """Open shards, which must be of one tokenizer.

        Raises:
            CorpusError: A file is no shard, not whole, or unlike the others.
            OSError: A file cannot be read.
        """
        if not paths:
            raise CorpusError("no shards to open")
        self.shards = [Shard(path) for path in paths]
        first = self.shards[0].header
        for shard in self.shards[1:]:
            for name in ("fingerprint", "width", "separator", "n_vocab"):
                one, other = getattr(first, name), getattr(shard.header, name)
                if one != other:
                    raise CorpusError(
                        f"{shard.path}: its {name} is {other}, and that of "
                        f"{self.shards[0].path} is {one}"
                    )
        self.dtype = np.dtype(f"<u{first.width}")
        self.fingerprint = first.fingerprint
        self.separator = first.separator
        self.n_vocab = first.n_vocab
        self.index: dict[str, Any] = {}
        headers = [shard.header for shard in self.shards]
        self._documents = list(accumulate((h.n_documents for h in headers), initial=0))
        self._tokens = list(accumulate((h.n_tokens for h in headers), initial=0))

    @property
    def n_tokens(self) -> int:
        """How many ids there are."""
        return self._tokens[-1]

    def __repr__(self) -> str:
        """Tell how much there is."""
        return (
            f"<pybpe.Shards: {len(self):,} documents, {self.n_tokens:,} tokens "
            f"({self.dtype.name}) in {len(self.shards)} files>"
        )

    def __len__(self) -> int:
        """How many documents there are."""
        return self._documents[-1]

    def __getitem__(self, index: Any) -> Any:
        """Return the ids of a document, separator included; of a slice, a list."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        n = len(self)
        index = operator.index(index)
        if not -n <= index < n:
            raise IndexError(f"document {index} of {n:,}")
        index %= n
        number = bisect_right(self._documents, index) - 1
        return self.shards[number][index - self._documents[number]]

    def __iter__(self) -> Iterator[Tokens]:
        """Yield the ids of each document."""
        for shard in self.shards:
            yield from shard

    def tokens(self, begin: int, end: int) -> Tokens:
        """Return ids begin to end of the long row that all documents make up.

        Within a shard it is a part of the file; across shards, a copy.

        Raises:
            IndexError: There are not so many.
        """
        if not 0 <= begin <= end <= self.n_tokens:
            raise IndexError(f"tokens {begin} to {end} of {self.n_tokens:,}")
        parts: list[Tokens] = []
        number = bisect_right(self._tokens, begin) - 1
        while begin < end:
            start = self._tokens[number]
            stop = min(end, self._tokens[number + 1])
            parts.append(self.shards[number].tokens[begin - start : stop - start])
            begin = stop
            number += 1
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([np.empty(0, self.dtype), *parts])

    def verify(self) -> None:
        """Read every file and compare with its checksum; raises `CorpusError`."""
        for shard in self.shards:
            shard.verify()


def open_shards(path: str | os.PathLike[str], split: str | None = None) -> Shards:
    """Open what `encode_files` or `join_shards` has written: a folder, or its index.

    Args:
        path: The folder, its index.json, or one shard.
        split: "train" or "val" of a folder that has both.

    Raises:
        CorpusError: There is no index: it was not finished, or not joined; or a file is
            missing, damaged or not the one that the index speaks of; or there are
            several splits, and it is not said which.
        OSError: It cannot be read.
        TypeError: An argument has the wrong type.
    """
    name = check_path("path", path)
    if split is not None:
        check_text("split", split)
    if name.suffix == ENDING:
        return Shards([name])
    if name.is_dir():
        name /= INDEX
    index = read_index(name)
    if index.get("layout") != "shards":
        raise CorpusError(f"{name}: written as {index.get('layout')!r}, not as shards")
    splits: dict[str, list[dict[str, Any]]] = {}
    for entry in index["files"]:
        splits.setdefault(entry["split"], []).append(entry)
    if split is None and len(splits) == 1:
        (split,) = splits
    if split not in splits:
        raise CorpusError(
            f"{name}: there are the splits {', '.join(map(repr, sorted(splits)))}: "
            f"give one of them as split, got {split!r}"
        )
    try:
        found = Shards([name.with_name(entry["file"]) for entry in splits[split]])
    except FileNotFoundError as error:
        raise CorpusError(f"{error.filename}: named in {name}, but not there") from None
    for shard, entry in zip(found.shards, splits[split], strict=True):
        refuse_other(shard.path, shard.header, name, index, entry)
    found.index = index
    return found
