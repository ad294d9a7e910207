"""The door to the compiled core for counting and training; see `_binding`."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from pybpe._binding import fail, size_buffer, uncleared
from pybpe._core import ffi, lib
from pybpe.errors import TrainingError

if TYPE_CHECKING:
    from pybpe._binding import CData

STOP_NONE: int = lib.BPE_STOP_NONE
STOP_REACHED: int = lib.BPE_STOP_REACHED
STOP_EXHAUSTED: int = lib.BPE_STOP_EXHAUSTED
STOP_MIN_FREQUENCY: int = lib.BPE_STOP_MIN_FREQUENCY
STOP_TOKEN_BYTES: int = lib.BPE_STOP_TOKEN_BYTES

# The core numbers tokens up to this, and one number is none.
MAX_VOCAB_SIZE: int = lib.BPE_MAX_IDS - 1

TIES: dict[str, int] = {"lowest": lib.BPE_TIES_LOWEST, "first": lib.BPE_TIES_FIRST}


def check(status: int) -> None:
    """Raise what stands for a status of counting, if it is not BPE_OK."""
    if status == lib.BPE_OK:
        return
    if status == lib.BPE_ERR_CAPACITY:
        raise TooManyPretokens("a table of pretokens is full")
    if status == lib.BPE_ERR_LIMIT:
        raise TrainingError(
            "the frequencies of all pretokens together are 2**64 or more: scale them "
            "down"
        )
    fail(status)


class Seams:
    """Finds places where a text can be parted: its pretokens are those of both parts.

    Immutable; threads may share it.
    """

    __slots__ = ("_core", "_split")

    def __init__(self, split: CData, cut_out: Sequence[bytes]) -> None:
        """Prepare for texts that are split by `split`.

        Args:
            split: The core's splitter.
            cut_out: Strings that are cut out of texts before that.
        """
        lengths = array("I", map(len, cut_out))
        out = ffi.new("bpe_seams **")
        check(
            lib.bpe_seams_new(
                split,
                b"".join(cut_out),
                ffi.from_buffer("uint32_t[]", lengths),
                len(cut_out),
                out,
            )
        )
        self._split = split  # must outlive the core's object
        self._core = ffi.gc(out[0], lib.bpe_seams_free) if out[0] else None

    def __bool__(self) -> bool:
        """Whether texts with this split may have such places at all."""
        return self._core is not None

    def last(self, data: bytes) -> int:
        """Return the last such place strictly inside a portion of a text, or 0."""
        if self._core is None:
            return 0
        return int(lib.bpe_seams_last(self._core, data, len(data)))


class TooManyPretokens(TrainingError):
    """A table has as many pretokens as it may; `training` says it to the caller."""


class Counts:
    """A table from pretokens to their frequencies and first positions.

    Positions say which pretoken comes first; see `csrc/bpe.h`. One thread at a time may
    use a table; the GIL is released while the core works.
    """

    __slots__ = ("_consumed", "core")

    def __init__(self, beside: Counts | None = None, most: int | None = None) -> None:
        """Make an empty table.

        Args:
            beside: A table that this one is going to merge with.
            most: How many distinct pretokens there may be; None for any number.
        """
        out: CData = ffi.new("bpe_counts **")
        if beside is None:
            check(lib.bpe_counts_new(out))
        else:
            check(lib.bpe_counts_new_beside(beside.core, out))
        self.core: CData = ffi.gc(out[0], lib.bpe_counts_free)
        if most is not None:
            lib.bpe_counts_limit(self.core, most)
        self._consumed = ffi.new("size_t *")

    def add_text(
        self,
        split: CData,
        match: CData | None,
        data: bytes | memoryview,
        position: int,
        *,
        more: bool,
    ) -> int:
        """Add the pretokens of a text and return how many bytes of it that took.

        Args:
            split: The core's splitter.
            match: Finds what to cut out beforehand; None for nothing.
            data: The text, or as much of it as is known.
            position: The position of its first byte.
            more: Whether the text goes on: then its end may be left for later.
        """
        check(
            lib.bpe_counts_add_text(
                self.core,
                split,
                match or ffi.NULL,
                ffi.from_buffer("uint8_t[]", data),
                len(data),
                position,
                more,
                self._consumed,
            )
        )
        return int(self._consumed[0])

    def add_batch(
        self, split: CData, match: CData | None, texts: Sequence[bytes], position: int
    ) -> None:
        """Add the pretokens of whole texts; the first one begins at `position`."""
        offsets = array("Q", accumulate(map(len, texts), initial=0))
        check(
            lib.bpe_counts_add_batch(
                self.core,
                split,
                match or ffi.NULL,
                b"".join(texts),
                size_buffer(offsets),
                len(texts),
                position,
                ffi.NULL,
            )
        )

    def add_pretokens(self, data: bytes, ends: array[int], position: int) -> None:
        """Add the pretokens of `data` that end at the byte offsets `ends`."""
        check(
            lib.bpe_counts_add_pretokens(
                self.core,
                data,
                len(data),
                size_buffer(ends),
                len(ends),
                position,
                ffi.NULL,
            )
        )

    def add_frequencies(
        self, pretokens: Sequence[bytes], frequencies: array[int], position: int
    ) -> None:
        """Add pretokens as they are; the first has `position`, the next the next."""
        offsets = array("Q", accumulate(map(len, pretokens), initial=0))
        check(
            lib.bpe_counts_add_frequencies(
                self.core,
                b"".join(pretokens),
                size_buffer(offsets),
                ffi.from_buffer("uint64_t[]", frequencies),
                len(pretokens),
                position,
                ffi.NULL,
            )
        )

    def merge(self, other: Counts) -> None:
        """Add everything in another table, which was made beside this one or its like.

        It stays as it is.
        """
        check(lib.bpe_counts_merge(self.core, other.core))

    def add_packed(
        self, data: bytes | CData, position: int, size: int, place: PackedPlace
    ) -> int:
        """Add a part of what a `Packed` has given; return how many bytes that took.

        Args:
            data: Records, bytes or a buffer; the rest of a last one may be missing.
            position: The position of the first byte of what was counted there.
            size: How many bytes were counted there.
            place: How far the records have been added; moved on.

        Raises:
            BadRecordsError: They are no records of such a text; what was added stays.
        """
        error = ffi.new("bpe_error *")
        status = lib.bpe_counts_add_packed(
            self.core,
            ffi.from_buffer("uint8_t[]", data),
            len(data),
            position,
            size,
            place.core,
            self._consumed,
            error,
        )
        if status == lib.BPE_ERR_ARG:
            raise BadRecordsError(error.pos)
        check(status)
        return int(self._consumed[0])

    def close(self) -> None:
        """Free the table's memory now; it cannot be used any more."""
        ffi.release(self.core)

    @property
    def distinct(self) -> int:
        """How many distinct pretokens there are."""
        return int(lib.bpe_counts_size(self.core))

    @property
    def total(self) -> int:
        """The sum of all frequencies."""
        return int(lib.bpe_counts_total(self.core))

    def items(self) -> list[tuple[bytes, int, int]]:
        """Return (pretoken, frequency, first position) in order of first positions."""
        n = self.distinct
        data = ffi.new("uint8_t[]", max(1, lib.bpe_counts_bytes(self.core)))
        offsets = ffi.new("size_t[]", n + 1)
        frequencies = ffi.new("uint64_t[]", max(1, n))
        positions = ffi.new("uint64_t[]", max(1, n))
        check(lib.bpe_counts_export(self.core, data, offsets, frequencies, positions))
        everything = bytes(ffi.buffer(data))
        return [
            (everything[offsets[i] : offsets[i + 1]], frequencies[i], positions[i])
            for i in range(n)
        ]


class Merging:
    """Adds everything in a table to another one, in parts that threads can share."""

    __slots__ = ("_core", "_tables", "n_parts")

    def __init__(self, counts: Counts, other: Counts, n_parts: int) -> None:
        """Prepare; nobody else may use `counts` before the end.

        Args:
            counts: The table that grows.
            other: A table that was made beside it. It stays as it is.
            n_parts: How many parts there shall be.
        """
        out: CData = ffi.new("bpe_merging **")
        check(lib.bpe_merging_new(counts.core, other.core, n_parts, out))
        self._core = ffi.gc(out[0], lib.bpe_merging_free)
        self._tables = counts, other  # must outlive the core's object
        self.n_parts = n_parts

    def do(self, part: int) -> None:
        """Do a part; each is to be done once, on any thread."""
        check(lib.bpe_merging_part(self._core, part))

    def end(self) -> None:
        """Bring it to an end, when all parts are done."""
        try:
            check(lib.bpe_merging_end(self._core))
        finally:
            ffi.release(self._core)


class BadRecordsError(Exception):
    """Bytes that should be records of counts are none; its argument says where."""


class PackedPlace:
    """How far a stream of records has been added to a table; at first, not at all."""

    __slots__ = ("core",)

    def __init__(self) -> None:
        self.core: CData = ffi.new("bpe_packed_place *")

    @property
    def records(self) -> int:
        """How many records have been added."""
        return int(self.core.n)


class Packed:
    """A table as bytes: records of its pretokens, in order of first positions.

    Attributes:
        size: The bytes of all records.
    """

    __slots__ = ("_core", "_counts", "size")

    def __init__(self, counts: Counts) -> None:
        """Prepare to give the records of a table, which must not change any more."""
        out: CData = ffi.new("bpe_packer **")
        check(lib.bpe_packer_new(counts.core, out))
        self._counts = counts
        self._core = ffi.gc(out[0], lib.bpe_packer_free)
        self.size = int(lib.bpe_packer_size(self._core))

    def blocks(self, about: int) -> Iterator[CData]:
        """Yield the records, once, in blocks of about so many bytes.

        A block is a buffer that the next one overwrites.
        """
        room = max(about, lib.bpe_packer_longest(self._core))
        block = uncleared("uint8_t[]", room)
        while used := lib.bpe_packer_next(self._core, block, room):
            yield ffi.buffer(block, used)


class Trainer:
    """Learns merges from a table of counts, a portion of the work at a time."""

    __slots__ = ("_core", "_start")

    def __init__(
        self,
        counts: Counts,
        *,
        n_merges: int,
        ties: int,
        start: array[int] | CData,
        min_frequency: int = 1,
        max_token_bytes: int = 0,
    ) -> None:
        """Copy what is needed of `counts`.

        Args:
            counts: The pretokens.
            n_merges: How many merges to learn.
            ties: One of the values of `TIES`.
            start: The id of each byte, `array("I")`, a permutation of 0 to 255; or the
                core's model to go on from.
            min_frequency: The least count of a pair that is merged.
            max_token_bytes: The most bytes of a token that is made; 0 for any number.

        Raises:
            TrainingError: A limit of the core is passed.
        """
        options: CData = ffi.new("bpe_trainer_options *")
        options.n_merges = n_merges
        options.min_frequency = min_frequency
        options.ties = ties
        options.max_token_bytes = max_token_bytes
        # A model must outlive the trainer.
        self._start: array[int] | CData | None = start
        if isinstance(start, array):
            view = options.byte_ids = ffi.from_buffer("uint32_t[]", start)
        else:
            view = options.initial = start
        out = ffi.new("bpe_trainer **")
        status = lib.bpe_trainer_new(counts.core, options, out, ffi.NULL)
        del view
        if status == lib.BPE_ERR_LIMIT:
            raise TrainingError(
                "the distinct pretokens hold 4 GB or more together, or 2**63 or more "
                "pairs with their frequencies: train on less text, on smaller "
                "frequencies, or with a pattern that splits more finely"
            )
        check(status)
        self._core = ffi.gc(out[0], lib.bpe_trainer_free)

    @classmethod
    def of_core(cls, core: CData) -> Trainer:
        """Take a trainer that another door has made."""
        trainer = cls.__new__(cls)
        trainer._core = core
        trainer._start = None
        return trainer

    def run(self, budget: int) -> int:
        """Do about `budget` units of work and return one of `STOP_*`."""
        check(lib.bpe_trainer_run(self._core, budget))
        return int(lib.bpe_trainer_stop(self._core))

    @property
    def n_merges(self) -> int:
        """How many merges have been learnt."""
        return int(lib.bpe_trainer_n_merges(self._core))

    @property
    def work(self) -> int:
        """Units of work done."""
        return int(lib.bpe_trainer_work(self._core))

    def merges(self) -> array[int]:
        """Return the merges, flat: left id, right id, left id, right id, ..."""
        out = array("I")
        p = lib.bpe_trainer_merges(self._core)
        out.frombytes(ffi.buffer(p, 2 * out.itemsize * self.n_merges))
        return out

    def merge_counts(self) -> array[int]:
        """Return the count that each pair had when it was merged."""
        out = array("Q")
        p = lib.bpe_trainer_merge_counts(self._core)
        out.frombytes(ffi.buffer(p, out.itemsize * self.n_merges))
        return out
