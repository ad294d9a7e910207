"""Counting the pretokens of a corpus: batches, streams, threads.

Every byte of the corpus has a position, its offset when all texts are laid end to end,
and a pretoken's first position is all that decides its place. So it does not matter
which thread counts what, or in what portions: texts, or parts of a large text between
two seams (see `csrc/seams.h`).
"""

from __future__ import annotations

import io
import queue
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pybpe import _binding
from pybpe._binding_training import Counts, Seams
from pybpe._text import to_utf8

if TYPE_CHECKING:
    from types import TracebackType

    from pybpe.split import Split

# Small texts are collected into portions of about this many bytes, large ones and files
# are read in blocks of so many. Ctrl-C has to wait for one of them.
PORTION = 1 << 20
BLOCK = 1 << 20

# Where there are threads, large texts are parted about every so many bytes.
PART = 4 << 20

# A seam is looked for in so many bytes first, and then in all that there is.
_SEAM_WINDOW = 4 << 10

# The characters on both sides of a seam have no more bytes than this together.
_SIDES = 8


class _Share:
    """What one thread has counted: only that thread changes it."""

    __slots__ = ("counts", "done")

    def __init__(self, most: int | None, beside: Counts | None = None) -> None:
        self.counts = Counts(beside, most)
        self.done = 0  # bytes


# A portion of the corpus: adds itself to a share.
_Job = Callable[[_Share], object]


class PretokenCounter:
    """Counts the pretokens of texts and files, on this thread or on others.

    Use it as a context manager: leaving it ends all threads, whatever happened.

    Attributes:
        documents: How many texts and files have been taken.
        size: How many bytes they hold.
    """

    def __init__(
        self,
        split: Split,
        special_tokens: Sequence[bytes],
        num_threads: int,
        progress: Callable[[int], None],
        max_pretokens: int | None = None,
    ) -> None:
        """Prepare for texts that are split by `split`.

        Args:
            split: Cuts texts into pretokens.
            special_tokens: What is cut out of every text first, and not counted.
            num_threads: 1 counts on the calling thread; more start so many others.
            progress: Called every now and then, on the calling thread, with the number
                of bytes counted.
            max_pretokens: How many distinct pretokens there may be. Every thread's
                table keeps to it, and so does what they add up to: whether they are
                too many depends on the texts alone.
        """
        if split.drops or split.changes:
            raise ValueError(
                f"{split!r} drops or changes text, so pretokens are not parts of the "
                "texts; pybpe trains with splits that only cut"
            )
        self._split = split
        self._match = _binding.new_match(special_tokens, range(len(special_tokens)))
        self._core = _binding.new_split(split.stages) if split.compiled else None
        self._seams = (
            Seams(self._core, special_tokens)
            if self._core is not None and num_threads > 1
            else None
        )
        self._num_threads = num_threads
        self._progress = progress
        self._max_pretokens = max_pretokens
        self._shares = [_Share(max_pretokens)]  # the first is the calling thread's
        self._threads: list[threading.Thread] = []
        self._jobs: queue.Queue[_Job | None] = queue.Queue(2 * num_threads)
        self._error: BaseException | None = None
        self._stopped = False
        self.documents = 0
        self.size = 0

    # -------------------------------------------------------------- taking in

    def add_texts(self, texts: Iterable[str | bytes]) -> None:
        """Count texts; each is split on its own.

        Raises:
            TypeError: An item is neither str nor bytes.
        """
        batch: list[bytes] = []
        held = 0
        for i, text in enumerate(texts):
            if type(text) is bytes:
                data = text
            elif type(text) is str:
                data = to_utf8(text)
            else:
                data = to_utf8(text, f"texts[{i}]")
            self.documents += 1
            if len(data) >= PORTION:
                self._submit_batch(batch, held)
                batch, held = [], 0
                for start, end in self._parts(_slices(data), len(data)):
                    self._submit(partial(self._count_part, data, start, end, self.size))
                self.size += len(data)
                continue
            batch.append(data)
            held += len(data)
            if held >= PORTION:
                self._submit_batch(batch, held)
                batch, held = [], 0
        self._submit_batch(batch, held)

    def _submit_batch(self, batch: list[bytes], held: int) -> None:
        if held > 0:
            self._submit(partial(self._count_batch, batch, self.size, held))
        self.size += held

    def add_files(self, paths: Iterable[Path]) -> None:
        """Count files; each is one text.

        Raises:
            OSError: A file cannot be read.
        """
        for path in paths:
            self.documents += 1
            status = path.stat()
            if stat.S_ISREG(status.st_mode) and status.st_size > 0:
                # What is appended meanwhile is left out: the next file's positions
                # follow the size that the file has now.
                self._submit_file(path, status.st_size)
                self.size += status.st_size
            else:
                # A pipe, or one of the system's files without a size.
                self._count_pipe(path)

    def add_stream(self, read: Callable[[int], bytes | None]) -> None:
        """Count one text that comes in blocks, on this thread.

        Args:
            read: Returns up to so many bytes, none at the end.
        """
        self.documents += 1
        self.size += self._count_stream(read, self.size, None, self._shares[0])

    def _submit_file(self, path: Path, size: int) -> None:
        with path.open("rb", buffering=0) as file:
            for start, end in self._parts(_portions(file), size):
                self._submit(partial(self._count_file, path, start, end, self.size))

    def _parts(
        self, known: Callable[[int, int], bytes], size: int
    ) -> Iterator[tuple[int, int]]:
        """Part a large text for several threads; yield where parts start and end.

        Args:
            known: Returns a portion of the text from its start and end.
            size: How many bytes the text has.
        """
        start = searched = 0  # there is no seam between the two
        while self._seams and size - searched > PART:
            target = searched + PART
            near = max(searched, target - _SEAM_WINDOW)
            seam, base = self._seams.last(known(near, target)), near
            if seam == 0 and near > searched:
                seam, base = self._seams.last(known(searched, near + _SIDES)), searched
            if seam:
                yield start, base + seam
                start = searched = base + seam
            else:
                searched = max(searched + 1, target - _SIDES)
        yield start, size

    # -------------------------------------------------------------- counting

    def _count_part(
        self, data: bytes, start: int, end: int, position: int, share: _Share
    ) -> None:
        part = data if end - start == len(data) else data[start:end]
        read = io.BytesIO(part).read
        self._count_stream(read, position + start, len(part), share)

    def _count_batch(
        self, batch: list[bytes], position: int, size: int, share: _Share
    ) -> None:
        if self._core is not None:
            share.counts.add_batch(self._core, self._match, batch, position)
        else:
            for data in batch:
                self._count_slowly(data, position, share)
                position += len(data)
        self._advance(share, size)

    def _count_file(
        self, path: Path, start: int, end: int, position: int, share: _Share
    ) -> None:
        with path.open("rb", buffering=0) as file:
            file.seek(start)
            self._count_stream(file.read, position + start, end - start, share)

    def _count_pipe(self, path: Path) -> None:
        # On this thread, because the positions of what follows depend on its length.
        with path.open("rb", buffering=0) as file:
            self.size += self._count_stream(
                _at_once(file), self.size, None, self._shares[0]
            )

    def _count_stream(
        self,
        read: Callable[[int], bytes | None],
        position: int,
        size: int | None,
        share: _Share,
    ) -> int:
        """Count one text, read in blocks, and return its size.

        Args:
            read: Returns up to so many bytes, none at the end.
            position: The position of the text's first byte.
            size: How many bytes to read at most; None for all.
            share: Where to add.
        """
        taken = 0
        pending = b""
        while not self._stopped:
            # As long as nothing is settled the blocks double, so that a text of one
            # huge pretoken is not scanned again and again.
            want = max(BLOCK, len(pending))
            block = read(want if size is None else min(want, size - taken)) or b""
            taken += len(block)
            pending += block
            if self._core is not None:
                more = len(block) > 0
                used = share.counts.add_text(
                    self._core, self._match, pending, position, more=more
                )
                position += used
                pending = pending[used:]
            elif not block:
                self._count_slowly(pending, position, share)
            if not block:
                break
            self._advance(share, len(block))
        return taken

    def _count_slowly(self, data: bytes, position: int, share: _Share) -> None:
        """Count one text with a split that has no tables."""
        start = 0
        hits = [(a, b) for a, b, _ in _binding.find_all(self._match, data)]
        for hit_start, hit_end in (*hits, (len(data), len(data))):
            stretch = data[start:hit_start]
            ends = self._split.ends(stretch)
            share.counts.add_pretokens(stretch, ends, position + start)
            start = hit_end

    # -------------------------------------------------------------- threads

    def _advance(self, share: _Share, size: int) -> None:
        share.done += size
        if share is self._shares[0]:
            self._tell()

    def _tell(self) -> None:
        """Call `progress`; on the calling thread only."""
        self._progress(sum(share.done for share in self._shares))

    def _submit(self, job: _Job) -> None:
        """Run a job: on the next thread that is free, or here if there are none."""
        if 1 < self._num_threads > len(self._threads):
            self._start_thread()
        if not self._threads:
            job(self._shares[0])
            return
        while True:
            if self._error is not None:
                raise self._error
            self._tell()
            try:
                self._jobs.put(job, timeout=0.1)
            except queue.Full:
                continue
            return

    def _start_thread(self) -> None:
        share = _Share(self._max_pretokens, self._shares[0].counts)
        name = f"pybpe-count-{len(self._threads)}"
        thread = threading.Thread(
            target=self._work, args=(share,), name=name, daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            # No more to be had here: make do with those there are.
            self._num_threads = len(self._threads)
            return
        self._shares.append(share)
        self._threads.append(thread)

    def _work(self, share: _Share) -> None:
        """Run jobs until there are none; after an error only take them away."""
        while (job := self._jobs.get()) is not None:
            if self._error is not None or self._stopped:
                continue
            try:
                job(share)
            except BaseException as error:  # `finish` raises it
                self._error = error

    def finish(self) -> Counts:
        """Wait until everything is counted and return the table of all pretokens."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            while thread.is_alive():
                thread.join(0.05)
                self._tell()
        self._threads.clear()
        if self._error is not None:
            raise self._error
        tables = sorted((share.counts for share in self._shares), key=_distinct)
        counts = tables.pop()  # the largest: the least to be moved
        for table in tables:
            counts.merge(table)
            table.close()
        return counts

    def __enter__(self) -> PretokenCounter:
        """Return the counter itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all threads that still run."""
        self._stopped = True
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()


def _distinct(counts: Counts) -> int:
    return counts.distinct


def _slices(data: bytes) -> Callable[[int, int], bytes]:
    """Return a function that returns portions of a text."""
    return lambda start, end: data[start:end]


def _portions(file: io.FileIO) -> Callable[[int, int], bytes]:
    """Return a function that reads portions of a file."""
    read = _at_once(file)

    def portion(start: int, end: int) -> bytes:
        file.seek(start)
        return read(end - start)

    return portion


def _at_once(file: BinaryIO | io.RawIOBase) -> Callable[[int], bytes]:
    """Return a reader that returns fewer bytes than asked for at the end only.

    A pipe gives a little at a time; a block for each would be one call of the core for
    each.
    """

    def read(n: int) -> bytes:
        parts = []
        while n > 0 and (part := file.read(n)):
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    return read
