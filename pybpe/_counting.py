"""Counting the pretokens of a corpus: batches, streams, threads.

Every byte of the corpus has a position, its offset when all texts are laid end to end,
and a pretoken's first position is all that decides its place. So it does not matter
which thread counts what, or in what portions: texts, or parts of a large text between
two seams (see `csrc/seams.h`).
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pybpe import _binding
from pybpe._binding_training import Counts, Merging, Seams
from pybpe._text import to_utf8
from pybpe.errors import became_shorter

if TYPE_CHECKING:
    import io
    from types import TracebackType

    from pybpe.split import Split

# Small texts are collected into portions of about this many bytes, or so many texts.
PORTION = 1 << 20
_MAX_BATCH = 1 << 16

# Large texts and files are counted in blocks of so many, little enough to stay in a
# core's cache from reading to splitting. Ctrl-C has to wait for one of them.
BLOCK = 1 << 18

# Where there are threads, large texts are parted: parts are as large as sensible, for
# what stands together has words in common, and small in the end, so that all threads
# end at about the same time.
LEAST_PART = 1 << 20
MOST_PART = 1 << 25

# A seam is looked for in so many bytes first, and then in all that there is.
_SEAM_WINDOW = 4 << 10

# How many parts each thread has of merging a table, with luck: the more, the less any
# of them waits for the others.
_MERGE_PARTS = 4

# The characters on both sides of a seam have no more bytes than this together.
_SIDES = 8


class _Share:
    """What one thread has counted: only that thread changes it."""

    __slots__ = ("counts", "done")

    def __init__(self, most: int | None, beside: Counts | None = None) -> None:
        self.counts = Counts(beside, most)
        self.done = 0  # bytes


class Readable(Protocol):
    """What a text is read from."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fill a buffer, or some of it; return how many bytes, 0 at the end."""


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
        if self._core is None:
            # That is Python's work: threads would not be faster, only deaf to Ctrl-C.
            num_threads = 1
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
        self._running = 0  # jobs that are not done
        self._done = threading.Condition()  # when there are none any more
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
            if not data:
                continue  # there may be millions
            if len(data) >= PORTION:
                self._submit_batch(batch, held)
                batch, held = [], 0
                view = memoryview(data)
                for start, end in self._parts(_slices(data), len(data)):
                    part = view[start:end]
                    self._submit(partial(self._count_part, part, self.size + start))
                self.size += len(data)
                continue
            batch.append(data)
            held += len(data)
            if held >= PORTION or len(batch) >= _MAX_BATCH:
                self._submit_batch(batch, held)
                batch, held = [], 0
        self._submit_batch(batch, held)

    def _submit_batch(self, batch: list[bytes], held: int) -> None:
        if held > 0:
            self._submit(partial(self._count_batch, batch, self.size, held))
        self.size += held

    def add_file(self, path: Path, size: int | None) -> None:
        """Count a file; it is one text.

        Args:
            path: The file.
            size: How many bytes it has; what is appended meanwhile is left out. None
                for a pipe, and 0 for one of the system's files without a size.

        Raises:
            CorpusError: It is shorter than that.
            OSError: It cannot be read.
        """
        self.documents += 1
        if size:
            self._submit_file(path, size)
            self.size += size
        else:
            self._count_pipe(path)

    def add_stream(self, stream: Readable) -> None:
        """Count one text that comes in blocks, on this thread."""
        self.documents += 1
        self.size += self._count_stream(stream, self.size, None, self._shares[0])

    def _submit_file(self, path: Path, size: int) -> None:
        with path.open("rb", buffering=0) as file:
            for start, end in self._parts(_portions(file), size):
                self._submit(
                    partial(self._count_file, path, start, end, size, self.size)
                )

    def _parts(
        self, known: Callable[[int, int], bytes], size: int
    ) -> Iterator[tuple[int, int]]:
        """Part a large text for several threads; yield where parts start and end.

        Args:
            known: Returns a portion of the text from its start and end.
            size: How many bytes the text has.
        """
        start = searched = 0  # there is no seam between the two
        while self._seams and size - searched > LEAST_PART:
            share = (size - searched) // (2 * self._num_threads)
            target = searched + min(max(share, LEAST_PART), MOST_PART)
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

    def _count_part(self, part: memoryview, position: int, share: _Share) -> None:
        """Count one text, or a part of one, that is in memory."""
        if self._core is None:
            self._count_slowly(bytes(part), position, share)
            self._advance(share, len(part))
            return
        start = 0
        want = BLOCK
        while start < len(part) and not self._stopped:
            block = part[start : start + want]
            more = start + len(block) < len(part)
            used = share.counts.add_text(
                self._core, self._match, block, position + start, more=more
            )
            # As long as nothing is settled the blocks double, so that a text of one
            # huge pretoken is not scanned again and again.
            want = 2 * want if used == 0 else BLOCK
            start += used
            self._advance(share, used)

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
        self,
        path: Path,
        start: int,
        end: int,
        size: int,
        position: int,
        share: _Share,
    ) -> None:
        """Count a part of a file that had `size` bytes when it was found."""
        with path.open("rb", buffering=0) as file:
            file.seek(start)
            taken = self._count_stream(file, position + start, end - start, share)
            if taken < end - start and not self._stopped:
                found = os.fstat(file.fileno()).st_size
                raise became_shorter(str(path), size, min(found, size))

    def _count_pipe(self, path: Path) -> None:
        # On this thread, because the positions of what follows depend on its length.
        with path.open("rb", buffering=0) as file:
            self.size += self._count_stream(file, self.size, None, self._shares[0])

    def _count_stream(
        self, file: Readable, position: int, size: int | None, share: _Share
    ) -> int:
        """Count one text, read in blocks, and return its size.

        Args:
            file: Where the text begins, or a part of it.
            position: The position of its first byte.
            size: How many bytes to read at most; None for all.
            share: Where to add.
        """
        taken = 0
        held = 0  # bytes at the beginning of the buffer that are not settled
        buffer = bytearray(BLOCK if size is None else max(1, min(BLOCK, size)))
        while not self._stopped:
            if 2 * held > len(buffer):
                # See `_count_part`.
                buffer += bytes(len(buffer))
            room = len(buffer) - held
            view = memoryview(buffer)
            end = held + (room if size is None else min(room, size - taken))
            block = _read_into(file, view[held:end])
            taken += block
            held += block
            if self._core is not None:
                used = share.counts.add_text(
                    self._core, self._match, view[:held], position, more=block > 0
                )
                position += used
                view[: held - used] = view[used:held]
                held -= used
            elif not block:
                self._count_slowly(bytes(view[:held]), position, share)
            view.release()
            if not block:
                break
            self._advance(share, block)
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
        with self._done:
            self._running += 1
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
            if self._error is None and not self._stopped:
                try:
                    job(share)
                except BaseException as error:  # `_wait` raises it
                    self._error = error
            with self._done:
                self._running -= 1
                if self._running == 0:
                    self._done.notify()

    def _wait(self) -> None:
        """Wait until all jobs are done, and raise what one of them raised."""
        running = True
        while running:
            self._tell()
            with self._done:
                running = self._running > 0 and not self._done.wait(0.05)
        if self._error is not None:
            raise self._error

    def finish(self) -> Counts:
        """Wait until everything is counted and return the table of all pretokens."""
        self._wait()
        tables = sorted((share.counts for share in self._shares), key=_distinct)
        counts = tables.pop()  # the largest: the least to be moved
        for table in filter(_distinct, tables):
            merging = Merging(counts, table, _MERGE_PARTS * max(1, len(self._threads)))
            for part in range(merging.n_parts):
                self._submit(partial(_merge, merging, part))
            self._wait()
            merging.end()
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


def _merge(merging: Merging, part: int, share: _Share) -> None:
    """Do a part of merging: a job that adds to no share."""
    merging.do(part)


def _slices(data: bytes) -> Callable[[int, int], bytes]:
    """Return a function that returns portions of a text."""
    return lambda start, end: data[start:end]


def _portions(file: io.FileIO) -> Callable[[int, int], bytes]:
    """Return a function that reads portions of a file."""

    def portion(start: int, end: int) -> bytes:
        buffer = bytearray(end - start)
        file.seek(start)
        with memoryview(buffer) as view:
            n = _read_into(file, view)
        return bytes(buffer[:n])

    return portion


def _read_into(file: Readable, view: memoryview) -> int:
    """Fill a buffer, return how many bytes that took: fewer at the end only.

    A pipe gives a little at a time; a block for each would be one call of the core for
    each.
    """
    done = 0
    while done < len(view) and (n := file.readinto(view[done:])):
        done += n
    return done
