"""Writing ids so that it can be gone on with, whenever it was broken off.

A file grows under a name that ends with `.part`, and so does a list of where documents
end in it. Every now and then the lengths of both are written down, together with the
place in the inputs that they belong to (`Run.commit`): that is the state to go on
from. What was written after it is cut off again. A file gets its own name after the
state says that it is complete.

So whenever the process is killed, going on gives the bytes that one run would have
given: ids depend on the documents alone, and no byte on when states were written.
"""

from __future__ import annotations

import io
import os
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from pybpe._whole_file import naming
from pybpe.corpora.index import refuse_missing
from pybpe.corpora.layouts import Layout, Part, raw, refuse_long, write
from pybpe.errors import CorpusError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pybpe.corpora.encoding import Tokens

PART = ".part"
ENDS = ".ends" + PART

_BLOCK = 1 << 20  # bytes


class Output:
    """The files of one split, filled one after the other.

    Attributes:
        finished: The files that are complete: name, tokens, documents, size.
        part: What is in the one that is written.
    """

    def __init__(
        self,
        folder: Path,
        split: str,
        layout: Layout,
        shard_size: int | None,
        dtype: np.dtype[Any],
        *,
        first: int = 0,
    ) -> None:
        """Begin with file number `first`; it is made when there is something to write.

        What is there already under a name that is wanted gets lost.
        """
        self._folder = folder
        self.split = split
        self._layout = layout
        self._shard_size = shard_size
        self._width = dtype.itemsize
        self.finished: list[dict[str, Any]] = []
        self._number = first
        self._complete_files: list[CompleteFile] = []  # not named yet
        self.part = Part()
        self._file: IO[bytes] | None = None
        self._ends: IO[bytes] | None = None

    # -------------------------------------------------------------- writing

    @property
    def n_documents(self) -> int:
        """How many documents there are, in all files."""
        before: int = sum(entry["documents"] for entry in self.finished)
        return before + self.part.n_documents

    @property
    def n_waiting(self) -> int:
        """How many files are complete and wait for their names."""
        return len(self._complete_files)

    def append(self, tokens: Tokens, ends: NDArray[np.int64]) -> None:
        """Write ids of documents that end where it says; the last may go on.

        Raises:
            OSError: It cannot be written.
            CorpusError: A document has more ids than the layout can hold.
        """
        at = done = 0
        while self._shard_size is not None:
            room = self._shard_size - self.part.n_tokens
            if self._layout.cuts:
                stop = at + room
                if stop > len(tokens):
                    break
                last = int(np.searchsorted(ends, stop, "right"))
            else:
                last = max(done, int(np.searchsorted(ends, at + room))) + 1
                if last > len(ends):
                    break
                stop = int(ends[last - 1])
            self._write(tokens[at:stop], ends[done:last] - at)
            self._complete()
            at, done = stop, last
        if at < len(tokens) or done < len(ends):
            self._write(tokens[at:], ends[done:] - at)

    def _write(self, tokens: Tokens, ends: NDArray[np.int64]) -> None:
        file, ends_file = self._files()
        part = self.part
        ends = ends + part.n_tokens
        last_end = part.last_end
        if len(ends):
            if self._layout.max_document is not None:
                lengths = np.diff(ends, prepend=last_end)
                longest = int(lengths.argmax())
                number = self.n_documents + longest + 1
                refuse_long(self._layout, int(lengths[longest]), number)
            last_end = int(ends[-1])
        ends_crc = part.ends_crc
        with naming(self._path(0)):
            write(file, tokens)
            if ends_file is not None:
                ends = ends.astype("<i8", copy=False)
                write(ends_file, ends)
                ends_crc = crc32(raw(ends), ends_crc)
        self.part = Part(
            part.n_tokens + len(tokens),
            part.n_documents + len(ends),
            last_end,
            crc32(raw(tokens), part.crc) if self._layout.has_crc else 0,
            ends_crc,
        )

    def _files(self) -> tuple[IO[bytes], IO[bytes] | None]:
        """Return the open files; those of a part that has begun before go on there."""
        if self._file is None:
            part = self.part
            start = self._layout.header_size + part.n_tokens * self._width
            self._file = _open_at(self._path(0, PART), start)
            if self._layout.keeps_ends:
                self._ends = _open_at(self._path(0, ENDS), 8 * part.n_documents)
        return self._file, self._ends

    def names(self) -> tuple[str, ...]:
        """Return how the files that are written now will be called."""
        return self._layout.names(self.split, self._number)

    def _path(self, which: int, ending: str = "") -> str:
        return str(self._folder / (self.names()[which] + ending))

    def _complete(self) -> None:
        """Make the file whole and begin another; it gets its name later."""
        file, ends = self._files()
        names = self.names()
        with naming(self._path(0)):
            others = [_open_at(self._path(i, PART), 0) for i in range(1, len(names))]
            try:
                self._layout.complete(file, self.part, ends or io.BytesIO(), others)
                size = file.seek(0, os.SEEK_END)
            except BaseException:
                for other in others:
                    other.close()
                raise
        files = [file, *others, *([ends] if ends else [])]
        self._complete_files.append(CompleteFile(self._folder, names, files))
        self._file = self._ends = None
        entry: dict[str, Any] = {
            "file": names[0],
            "split": self.split,
            "documents": self.part.n_documents,
            "tokens": self.part.n_tokens,
            "size": size,
        }
        self.finished.append(entry)
        self._number += 1
        self.part = Part()

    def end(self, *, one_at_least: bool = False) -> None:
        """Make the last file whole, if there is something in it or it is the only one.

        Args:
            one_at_least: Whether there shall be a file, be it one without documents.
        """
        is_missing = one_at_least and not self.finished
        if self.part.n_documents or self.part.n_tokens or is_missing:
            self._complete()

    # -------------------------------------------------------------- states

    def state(self) -> State:
        """Return what `restore` needs to go on from here, and hand over complete files.

        Writing may go on at once, for files only grow; they are closed by the states
        that hand them over, so no earlier state finds one closed.
        """
        endings = ((PART, self._file), (ENDS, self._ends))
        open_files = [
            (self._path(0, ending), file)
            for ending, file in endings
            if file is not None
        ]
        complete, self._complete_files = self._complete_files, []
        said = {"finished": [*self.finished], "part": list(self.part)}
        return State(said, open_files, complete)

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state: give complete files their names, if they have none yet.

        Raises:
            CorpusError: A file that the state names is not there, or not whole.
        """
        self.finished = list(state["finished"])
        for number in range(len(self.finished)):
            names = self._layout.names(self.split, number)
            CompleteFile(self._folder, names, []).give_names()
        refuse_missing(self._folder, self.finished)
        self._number = len(self.finished)
        self.part = Part(*state["part"])
        part = self.part
        if part.n_tokens or part.n_documents:
            crc = part.crc if self._layout.has_crc else None
            path, start = self._path(0, PART), self._layout.header_size
            _refuse_damaged(Path(path), start, part.n_tokens * self._width, crc)
            if self._layout.keeps_ends:
                path, size = self._path(0, ENDS), 8 * part.n_documents
                _refuse_damaged(Path(path), 0, size, part.ends_crc)

    def close(self) -> None:
        """Close what is open."""
        for file in (self._file, self._ends):
            if file is not None:
                file.close()
        self._file = self._ends = None

    def close_complete(self) -> None:
        """Close files that nobody will name."""
        for complete in self._complete_files:
            complete.close()
        self._complete_files.clear()


class CompleteFile(NamedTuple):
    """Files that belong together and are complete, but have not got their names."""

    folder: Path
    names: tuple[str, ...]
    files: list[IO[bytes]]

    def sync(self) -> None:
        """Let them outlast a power cut, and close them.

        Raises:
            CorpusError: One was removed by others.
            OSError: The disk cannot hold it.
        """
        names = [*(name + PART for name in self.names), self.names[0] + ENDS]
        for name, file in zip(names, self.files, strict=False):
            _sync(str(self.folder / name), file)
            file.close()

    def give_names(self) -> None:
        """Give them their names; a state must say already that they are complete."""
        # The one with the ids last: when it is there, all are.
        for name in reversed(self.names):
            path = self.folder / name
            with naming(str(path)), suppress(FileNotFoundError):
                path.with_name(name + PART).replace(path)
        with suppress(FileNotFoundError):
            (self.folder / (self.names[0] + ENDS)).unlink()

    def close(self) -> None:
        """Close them."""
        for file in self.files:
            file.close()


class State(NamedTuple):
    """How far a split is, and what must be on the disk before it may be said."""

    said: dict[str, Any]
    open_files: list[tuple[str, IO[bytes]]]
    complete: list[CompleteFile]

    def sync(self) -> None:
        """Let what the state speaks of outlast a power cut.

        Raises:
            CorpusError: A file was removed by others.
            OSError: The disk cannot hold it.
        """
        for path, file in self.open_files:
            _sync(path, file)
        for complete in self.complete:
            complete.sync()

    def give_names(self) -> None:
        """Name the files that are complete."""
        for complete in self.complete:
            complete.give_names()

    def close(self) -> None:
        """Close the files that are complete, of which `sync` has closed some or all."""
        for complete in self.complete:
            complete.close()


def _open_at(path: str, start: int) -> IO[bytes]:
    """Open a file, cut off or filled up with zeros at a place to go on from."""
    with naming(path):
        handle = os.open(
            path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666
        )
        file = os.fdopen(handle, "r+b", buffering=0)
        try:
            file.truncate(start)
            file.seek(start)
        except BaseException:
            file.close()
            raise
    return file


def _sync(path: str, file: IO[bytes]) -> None:
    """Let a file outlast a power cut; refuse one that nobody finds by its name."""
    with naming(path):
        os.fsync(file.fileno())
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(file.fileno()), Path(path).stat()):
            return
    raise CorpusError(
        f"{path}: removed or replaced by others while it was written, so what was in "
        "it is lost; begin anew with overwrite=True"
    )


def _refuse_damaged(path: Path, start: int, size: int, crc: int | None) -> None:
    """Refuse a file of an unfinished run that does not hold what it held.

    Args:
        path: The file; what a run wrote after its last state may follow.
        start: Where the data begin.
        size: How many bytes they are.
        crc: Their CRC-32; None where nobody knows.

    Raises:
        CorpusError: There is less, or something else.
    """
    if not path.exists() or path.stat().st_size < start + size:
        raise CorpusError(
            f"{path}: there should be {start + size:,} bytes of an unfinished run, and "
            "there are not; begin anew with overwrite=True"
        )
    if crc is None:
        return
    found, left = 0, size
    with path.open("rb") as file:
        file.seek(start)
        while left and (block := file.read(min(left, _BLOCK))):
            found = crc32(block, found)
            left -= len(block)
    if found != crc:
        raise CorpusError(
            f"{path}: damaged: its first {start + size:,} bytes are not those that the "
            "unfinished run has written; begin anew with overwrite=True"
        )
