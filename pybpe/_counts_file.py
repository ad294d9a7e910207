r"""Files of counted pretokens: written and read as a stream.

    offset  size  what
    0       8     magic: 89 70 79 62 70 63 0D 0A ("\x89pybpc\r\n")
    8       4     format version, little-endian: 1
    12      4     size of the message in bytes, little-endian
    16      ...   the message: pybpe.v1.Counts of proto/pybpe.proto
    ...     ...   the records: see bpe_packer in csrc/bpe.h
    ...     32    SHA-256 of everything before

The checksum is the last thing in the file, so that records are neither held in memory
to be written nor gone through twice; the message says how many bytes they take, which
tells a truncated file from a damaged one. There is no clock and no name of a machine or
a version in it: equal counts are equal bytes.

As with model files nothing that a file says is believed without a look at the data that
are there: memory is taken for records that have been read, not for those announced.
"""

from __future__ import annotations

import hashlib
import struct
from array import array
from itertools import chain
from typing import IO, TYPE_CHECKING, NamedTuple

from pybpe import _binding_training as core
from pybpe.errors import ModelError, TrainingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from hashlib import _Hash

    from pybpe._proto import pybpe_pb2
    from pybpe.split import Split

MAGIC = b"\x89pybpc\r\n"
FORMAT_VERSION = 1
# More than a split and a million special tokens take.
MAX_MESSAGE = 1 << 30
# Records are written and read so many bytes at a time.
BLOCK = 1 << 20

_HEADER = struct.Struct("<8sII")
_DIGEST = 32
_CHUNK = 1 << 20


class Head(NamedTuple):
    """What was counted, and how.

    Attributes:
        split: Cut the texts into pretokens.
        special_tokens: Cut out of the texts before that.
        protected: The same.
        initial_tokens: The same, for a tokenizer that training is to go on from.
        documents: How many texts or files there were.
        size: That of all together, in bytes.
    """

    split: Split
    special_tokens: tuple[bytes, ...]
    protected: tuple[bytes, ...]
    initial_tokens: tuple[bytes, ...]
    documents: int
    size: int

    @property
    def cut_out(self) -> tuple[bytes, ...]:
        """All that was cut out of the texts before they were split."""
        return self.special_tokens + self.protected + self.initial_tokens


class _Sizes(NamedTuple):
    """What a message says of the records behind it."""

    pretokens: int
    distinct: int
    records: int


# ------------------------------------------------------------------ writing


def stream(head: Head, table: core.Counts) -> Iterator[bytes]:
    """Yield the contents of a file, some of them buffers good until the next."""
    packed = core.Packed(table)
    message = _to_message(head, table, packed.size)
    digest = hashlib.sha256()
    head_bytes = _HEADER.pack(MAGIC, FORMAT_VERSION, len(message)) + message
    for block in chain([head_bytes], packed.blocks(BLOCK)):
        digest.update(block)
        yield block
    yield digest.digest()


def _to_message(head: Head, table: core.Counts, records_size: int) -> bytes:
    # Here rather than above: training needs this module, but seldom what it does.
    from pybpe import _model_message, _step_message

    message: pybpe_pb2.Counts = _model_message.schema().Counts(
        documents=head.documents,
        bytes=head.size,
        pretokens=table.total,
        distinct_pretokens=table.distinct,
        records_size=records_size,
    )
    for stage in head.split.stages:
        _step_message.write_stage(message.split.stages.add(), stage)
    for name in _TABLES:
        tokens = getattr(head, name)
        where = getattr(message, _TABLES[name])
        if tokens:
            where.data = b"".join(tokens)
            where.lengths = _step_message.pack("I", array("I", map(len, tokens)))
    return bytes(message.SerializeToString(deterministic=True))


# What the lists of tokens are called in the message.
_TABLES = {
    "special_tokens": "special_tokens",
    "protected": "protected",
    "initial_tokens": "initial",
}


# ------------------------------------------------------------------ reading


class Reader:
    """Reads a file of counts: its head at once, its records when asked for.

    Attributes:
        head: What was counted, and how.
        sizes: How much of it there is.
    """

    def __init__(self, file: IO[bytes]) -> None:
        """Read the head.

        Raises:
            TrainingError: This is no file of counts, or it is damaged, or needs a newer
                pybpe.
        """
        self._file = file
        self._digest: _Hash = hashlib.sha256()
        self._taken = 0  # bytes
        message = self._read(_read_header(self))
        try:
            self.head, self.sizes = _from_message(message)
        except ModelError as error:
            raise TrainingError(str(error)) from None

    def take(self, n: int) -> bytes:
        """Read `n` bytes, or fewer at the end of the file, as part of what is summed.

        In chunks, so that memory is taken for what is there, not for what is announced.
        """
        chunks = []
        while n > 0 and (chunk := self._file.read(min(n, _CHUNK))):
            chunks.append(chunk)
            n -= len(chunk)
        data = b"".join(chunks)
        self._digest.update(data)
        self._taken += len(data)
        return data

    def _read(self, n: int) -> bytes:
        data = self.take(n)
        if len(data) < n:
            raise self._truncated(n - len(data))
        return data

    def _truncated(self, missing: int) -> TrainingError:
        return TrainingError(
            f"it is truncated: {self._taken:,} of at least {self._taken + missing:,} "
            "bytes are there; restore it from a good copy"
        )

    def add_to(self, table: core.Counts, position: int) -> None:
        """Add all records to a table, and check the rest of the file.

        Args:
            table: Where to; after an error it holds a part.
            position: The position of the first byte of what was counted here.

        Raises:
            TrainingError: The file is damaged.
            TooManyPretokens: The table is full.
        """
        total, empty = table.total, table.distinct == 0
        place = core.PackedPlace()
        left = self.sizes.records
        pending = b""
        while left:
            # As long as no record is whole the blocks double: it may be a huge one.
            block = self._read(min(left, max(BLOCK, len(pending))))
            left -= len(block)
            pending += block
            try:
                used = table.add_packed(pending, position, self.head.size, place)
            except core.BadRecordsError:
                raise _damaged("a record of it makes no sense") from None
            pending = pending[used:]
        if (
            pending
            or place.records != self.sizes.distinct
            or table.total - total != self.sizes.pretokens
            # A pretoken that is there twice shows in an empty table only; in others
            # it counts for what it says.
            or (empty and table.distinct != self.sizes.distinct)
        ):
            raise _damaged("its records are not those that it announces")
        self._end()

    def verify(self) -> None:
        """Read all records, and hold the file against its SHA-256, without counting.

        Raises:
            TrainingError: The file is damaged.
        """
        left = self.sizes.records
        while left:
            left -= len(self._read(min(left, BLOCK)))
        self._end()

    def _end(self) -> None:
        """Check what comes behind the records."""
        digest = self._digest.digest()
        if self._read(_DIGEST) != digest:
            raise _damaged("its contents do not have the SHA-256 at its end")
        if self.take(1):
            raise TrainingError(
                f"more data follow after its {self._taken - 1:,} bytes; restore it "
                "from a good copy"
            )


def _damaged(why: str) -> TrainingError:
    return TrainingError(f"it is damaged: {why}; restore it from a good copy")


def _read_header(reader: Reader) -> int:
    """Check the beginning of a file; return the size of the message."""
    head = reader.take(_HEADER.size)
    if not head.startswith(MAGIC):
        from pybpe import _sniff

        if head and MAGIC.startswith(head):
            raise reader._truncated(_HEADER.size - len(head))
        what, _ = _sniff.describe(head + reader.take(_sniff.HEAD - len(head)))
        raise TrainingError(
            f"not a file of counts but {what}; give one that `pybpe count` wrote"
        )
    if len(head) < _HEADER.size:
        raise reader._truncated(_HEADER.size - len(head))
    _, version, size = _HEADER.unpack(head)
    if version != FORMAT_VERSION:
        raise TrainingError(
            f"it is a file of counts of format version {version}, and this version of "
            f"pybpe reads version {FORMAT_VERSION}; upgrade pybpe"
        )
    if size > MAX_MESSAGE:
        raise TrainingError(
            f"its header announces {size:,} bytes; the limit is {MAX_MESSAGE:,}"
        )
    return int(size)


def _from_message(data: bytes) -> tuple[Head, _Sizes]:
    """Read the message.

    Raises:
        ModelError: It is no such message, or needs a newer version.
    """
    from pybpe import _model_message, _wire
    from pybpe._proto.pybpe_schema import MESSAGES

    message: pybpe_pb2.Counts = _wire.read(data, MESSAGES, "pybpe.v1.Counts")
    tokens = {}
    for name, field in _TABLES.items():
        what = name.replace("_", " ")
        table = getattr(message, field)
        if table.ids or table.flags:
            raise ModelError(f"its {what} have ids or flags, which no counts have")
        found = _model_message.read_extra(what, table)
        _model_message.check_extra(what, found)
        tokens[name] = tuple(token for token, _ in found)
    split = _model_message.read_split(message.split)
    if split.drops or split.changes:
        raise ModelError(f"its split {split!r} drops or changes text")
    head = Head(split, **tokens, documents=message.documents, size=message.bytes)
    if len(set(head.cut_out)) < len(head.cut_out):
        raise ModelError("a string that was cut out is there twice")
    if message.distinct_pretokens > message.pretokens:
        raise ModelError("it has more distinct pretokens than pretokens")
    if message.pretokens > message.bytes:
        raise ModelError("it has more pretokens than bytes")
    return head, _Sizes(
        message.pretokens, message.distinct_pretokens, message.records_size
    )
