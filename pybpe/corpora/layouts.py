"""What files of ids look like: pybpe's own shards, and what trainers of others read.

A layout says how a file is completed once its ids are in it; docs/corpora.md describes
each byte by byte.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np

from pybpe.corpora.arguments import check_text
from pybpe.corpora.shards import ENDING, HEADER_SIZE, Header
from pybpe.errors import CorpusError

_BLOCK = 1 << 20  # bytes


class About(NamedTuple):
    """What a header may say beside numbers of tokens."""

    fingerprint: str
    n_vocab: int
    separator: int | None
    dtype: np.dtype[Any]


class Layout:
    """One way to store ids; the attributes are what subclasses say of theirs.

    Attributes:
        name: What callers call it.
        dtypes: The integers it has, smallest first.
        header_size: Where the ids begin in a file.
        shard_size: How many ids a file has by default; None: all in one file.
        max_shard_size: How many it may have; None: one file whatever its size.
        cuts: Whether a file ends in the midst of a document, too.
        keeps_ends: Whether it says where documents end.
        max_document: How many ids a document may have; None for any number.
        has_crc: Whether there is a checksum.
    """

    name = ""
    dtypes: tuple[str, ...] = ("uint16", "uint32")
    header_size = 0
    shard_size: int | None = None
    max_shard_size: int | None = None
    cuts = False
    keeps_ends = False
    max_document: int | None = None
    has_crc = False

    def names(self, split: str, number: int) -> tuple[str, ...]:
        """Return the names of the files that belong together; ids are in the first."""
        raise NotImplementedError

    def complete(
        self, file: IO[bytes], part: Part, ends: IO[bytes], more: list[IO[bytes]]
    ) -> None:
        """Write what is missing around the ids.

        Args:
            file: The file with the ids, open for reading and writing.
            part: What is in it.
            ends: `int64`, where each document ends; empty where not kept.
            more: The other files, empty.
        """


class Part(NamedTuple):
    """A file that is written: what is in it so far.

    Attributes:
        n_tokens: How many ids.
        n_documents: How many documents end in it.
        last_end: Where the last of them ends, in ids.
        crc: CRC-32 of the ids, if the layout has a checksum.
        ends_crc: CRC-32 of the list of ends, if the layout keeps it.
    """

    n_tokens: int = 0
    n_documents: int = 0
    last_end: int = 0
    crc: int = 0
    ends_crc: int = 0


class ShardsLayout(Layout):
    """Our own: header, ids, offsets of documents."""

    name = "shards"
    header_size = HEADER_SIZE
    shard_size = 100_000_000
    max_shard_size = 1 << 48
    keeps_ends = True
    has_crc = True

    def __init__(self, about: About, prefix: str | None = None) -> None:
        """Keep what headers say, and how names begin: by default like the split."""
        self._about = about
        self._prefix = prefix

    def names(self, split: str, number: int) -> tuple[str, ...]:
        """Return the name of a shard."""
        return (f"{self._prefix or split}-{number:05d}{ENDING}",)

    def complete(
        self, file: IO[bytes], part: Part, ends: IO[bytes], more: list[IO[bytes]]
    ) -> None:
        """Write offsets behind the ids, and then the header."""
        about = self._about
        width = about.dtype.itemsize
        header = Header(
            width,
            part.n_tokens,
            part.n_documents,
            about.separator,
            about.n_vocab,
            0,
            about.fingerprint,
        )
        crc = part.crc
        file.seek(HEADER_SIZE + part.n_tokens * width)
        padding = header.offsets_at - file.tell()
        for block in chain((bytes(padding), bytes(8)), _blocks(ends)):
            write(file, block)
            crc = zlib.crc32(block, crc)
        file.seek(0)
        write(file, header._replace(crc=crc).to_bytes())


class NanoGptLayout(Layout):
    """nanoGPT's train.bin and val.bin: ids and nothing else."""

    name = "nanogpt"

    def __init__(self, _about: About) -> None:
        """There is nothing to know."""

    def names(self, split: str, number: int) -> tuple[str, ...]:
        """Return the one name."""
        return (f"{split}.bin",)


class LlmCLayout(Layout):
    """llm.c's and modded-nanogpt's: 256 int32 of header, then ids."""

    name = "llm.c"
    header_size = 1024
    shard_size = 100_000_000
    max_shard_size = (1 << 31) - 1
    cuts = True

    # Magic number and version, by the width of ids.
    _MAGIC: ClassVar = {2: (20240520, 1), 4: (20240801, 7)}

    def __init__(self, about: About) -> None:
        """Keep how wide ids are."""
        self._width = about.dtype.itemsize

    def names(self, split: str, number: int) -> tuple[str, ...]:
        """Return the name, which has the split and six digits."""
        return (f"{split}_{number:06d}.bin",)

    def complete(
        self, file: IO[bytes], part: Part, ends: IO[bytes], more: list[IO[bytes]]
    ) -> None:
        """Write the header."""
        header = struct.pack("<3i", *self._MAGIC[self._width], part.n_tokens)
        file.seek(0)
        write(file, header.ljust(self.header_size, b"\0"))


class MegatronLayout(Layout):
    """Megatron-LM's indexed dataset: ids in .bin, documents in .idx."""

    name = "megatron"
    # Megatron knows no uint32.
    dtypes = ("uint16", "int32")
    keeps_ends = True
    max_document = (1 << 31) - 1

    _CODES: ClassVar = {2: 8, 4: 4}  # uint16, int32

    def __init__(self, about: About) -> None:
        """Keep how wide ids are."""
        self._width = about.dtype.itemsize

    def names(self, split: str, number: int) -> tuple[str, ...]:
        """Return the names, which differ in their endings alone."""
        return f"{split}.bin", f"{split}.idx"

    def complete(
        self, file: IO[bytes], part: Part, ends: IO[bytes], more: list[IO[bytes]]
    ) -> None:
        """Write the index: each document is one sequence."""
        (index,) = more
        n = part.n_documents
        code = self._CODES[self._width]
        # MMIDIDX, version, dtype, sequences, entries of the list of documents.
        write(index, struct.pack("<9sQBQQ", b"MMIDIDX\0\0", 1, code, n, n + 1))
        for lengths in _lengths(ends):
            write(index, lengths.astype("<i4"))
        begin = 0
        for lengths in _lengths(ends):
            stops = lengths.cumsum() + begin
            write(index, ((stops - lengths) * self._width).astype("<i8"))
            begin = int(stops[-1])
        for first in range(0, n + 1, _BLOCK):
            numbers = np.arange(first, min(first + _BLOCK, n + 1), dtype="<i8")
            write(index, numbers)


_LAYOUTS: dict[str, type[Any]] = {
    kind.name: kind
    for kind in (ShardsLayout, NanoGptLayout, LlmCLayout, MegatronLayout)
}
LAYOUTS = tuple(_LAYOUTS)


def layout_type(name: str) -> type[Any]:
    """Return a layout by its name.

    Raises:
        TypeError: It is no str.
        ValueError: There is none.
    """
    if check_text("layout", name) not in _LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, got {name!r}")
    return _LAYOUTS[name]


def check_shard_size(kind: type[Layout], shard_size: int | None) -> int | None:
    """Return how many ids a file shall have; None for all in one file.

    Raises:
        TypeError: It is no int.
        ValueError: It makes no sense, or the layout has one file only.
    """
    if shard_size is None:
        return kind.shard_size
    if isinstance(shard_size, bool) or not isinstance(shard_size, int):
        raise TypeError(f"shard_size must be an int, got {type(shard_size).__name__}")
    most = kind.max_shard_size
    if most is None:
        raise ValueError(f"layout={kind.name!r} is one file: it has no shard_size")
    if not 1 <= shard_size <= most:
        raise ValueError(
            f"shard_size must be between 1 and {most:,} tokens, got {shard_size}"
        )
    return shard_size


def refuse_long(kind: Layout, length: int, number: int) -> None:
    """Refuse a document that the layout has no room for.

    Raises:
        CorpusError: It has too many ids.
    """
    if kind.max_document is not None and length > kind.max_document:
        raise CorpusError(
            f"document {number:,} has {length:,} tokens, and layout={kind.name!r} "
            f"holds {kind.max_document:,} at most: cut it, or choose layout='shards'"
        )


def write(file: IO[bytes], data: bytes | np.ndarray[Any, Any]) -> None:
    """Write all of it to a file without a buffer, which may take less at once."""
    view = memoryview(data) if isinstance(data, bytes) else raw(data)
    while len(view):
        view = view[file.write(view) :]


def raw(array: np.ndarray[Any, Any]) -> memoryview:
    """Return the bytes of an array."""
    return np.ascontiguousarray(array).view(np.uint8).data


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while block := file.read(_BLOCK):
        yield block


def _lengths(ends: IO[bytes]) -> Iterator[Any]:
    last = 0
    for block in _blocks(ends):
        found = np.frombuffer(block, "<i8")
        yield np.diff(found, prepend=last)
        last = int(found[-1])
