"""Shards from documents that come from anywhere: a writer for each worker."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pybpe._threads import check_num_threads, in_threads
from pybpe.corpora.arguments import check_flag, check_path, check_text
from pybpe.corpora.documents import Documents
from pybpe.corpora.encoding import DocumentEncoder, Encoded
from pybpe.corpora.index import (
    INDEX,
    read_index,
    refuse_missing,
    remove_files,
    write_index,
)
from pybpe.corpora.layouts import About, ShardsLayout, check_shard_size
from pybpe.corpora.locks import FOLDER, Lock, is_held, writer_lock
from pybpe.corpora.output import PART, Output, State
from pybpe.corpora.run import PROGRESS, RUN
from pybpe.corpora.shards import ENDING, read_header, refuse_other
from pybpe.errors import CorpusError
from pybpe.permissions import NONE

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from pybpe.permissions import Allowed, Disallowed, Token
    from pybpe.tokenizer import Tokenizer

# Texts are taken from an iterable in batches of about so many bytes.
_BATCH = 8 << 20
_MAX_BATCH = 1 << 16  # texts: there may be millions of empty ones

# So many complete files may be open.
_MAX_WAITING = 8

# What the writers of one folder must have in common.
_COMMON = ("fingerprint", "n_vocab", "dtype", "separator", "separator_at")

# What is added up when their shards are joined.
_SUMS = ("documents", "tokens", "bytes")


class ShardReport(NamedTuple):
    """What a `ShardWriter` wrote.

    Attributes:
        documents: How many documents.
        tokens: How many ids, separators included.
        bytes: How many bytes of text; of documents that were encoded already, none.
        files: The files, in order.
    """

    documents: int
    tokens: int
    bytes: int
    files: list[str]


class ShardWriter:
    """Writes documents to shards: encodes them, or takes their ids.

    Many may write to one folder, each under a name of its own: in threads, processes or
    machines that share it. When all have finished, `join_shards` makes one set of what
    they wrote. Use it as a context manager: what it wrote appears when the block ends
    without an error, and otherwise not at all. Without any document it writes an empty
    shard.

    One thread at a time may use a writer.

    Attributes:
        report: What was written, once it is finished.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        folder: str | os.PathLike[str],
        *,
        separator: Token | int | None,
        separator_at: str = "end",
        name: str = "shard",
        dtype: str = "auto",
        shard_size: int | None = None,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
        num_threads: int | None = None,
        overwrite: bool = False,
    ) -> None:
        """Begin; what an unfinished writer of this name left behind is removed.

        Args:
            tokenizer: What encodes; its fingerprint is in every file.
            folder: Where to write; it is made if it is not there.
            separator: The token between documents, by name or id; None for none.
            separator_at: Where in each document it stands: "end" or "start".
            name: How the names of the files begin: `NAME-00000.tokens` and so on.
            dtype: "uint16", "uint32", or "auto" for the smaller that holds all ids.
            shard_size: In tokens; a shard ends with the document that reaches it. By
                default a hundred million.
            allowed_special: As for `Tokenizer.encode`.
            disallowed_special: As for `Tokenizer.encode`.
            num_threads: How many threads encode; None for all processors.
            overwrite: Whether to replace what a writer of this name has finished, as
                a task that is tried again must. It stays until this one has finished.

        Raises:
            CorpusError: A writer of this name has finished, or is at work; or the
                folder is one of `encode_files`.
            TypeError: An argument has the wrong type.
            ValueError: It has a value that makes no sense, or ids do not fit.
            UnknownTokenError: There is no such separator.
        """
        check_text("name", name)
        if not name or Path(name).name != name or name[0] in "._":
            raise ValueError(
                f"name must be the beginning of a file's name, got {name!r}"
            )
        self._encoder = encoder = DocumentEncoder(
            tokenizer,
            separator,
            separator_at,
            dtype,
            allowed_special,
            disallowed_special,
        )
        self._threads = check_num_threads(num_threads)
        size = check_shard_size(ShardsLayout, shard_size)
        self._folder = check_path("folder", folder)
        self._name = name
        self._asked = {
            "layout": "shards",
            "fingerprint": tokenizer.fingerprint,
            "n_vocab": tokenizer.n_vocab,
            "dtype": encoder.dtype.name,
            "separator": encoder.separator,
            "separator_at": separator_at,
        }
        self._overwrite = check_flag("overwrite", overwrite)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(
            writer_lock(self._folder, name),
            f"{self._folder}: another writer named {name!r} is at work; give each a "
            "name of its own",
        )
        try:
            first = self._begin()
        except BaseException:
            self._lock.release()
            raise
        about = About(
            tokenizer.fingerprint, tokenizer.n_vocab, encoder.separator, encoder.dtype
        )
        self._output = Output(
            self._folder,
            "train",
            ShardsLayout(about, name),
            size,
            encoder.dtype,
            first=first,
        )
        self._complete: list[State] = []  # whose files are not named yet
        self._documents = self._tokens = self._bytes = 0
        self._failed = False
        self.report: ShardReport | None = None

    def _begin(self) -> int:
        """Remove what an unfinished writer has left; return the number to begin with.

        Nothing that is complete is written over: an index may speak of it.
        """
        _refuse_run(self._folder)
        if self._index.exists():
            if not self._overwrite:
                raise CorpusError(
                    f"{self._index}: a writer of this name has finished; give another "
                    "name, or overwrite=True"
                )
            read_index(self._index)
        self._remove_parts()
        self._old = self._complete_shards()
        return max(self._old.values(), default=-1) + 1

    @property
    def _index(self) -> Path:
        return self._folder / f"{self._name}.{INDEX}"

    def _complete_shards(self) -> dict[str, int]:
        """Return the names and numbers of complete shards of writers of this name."""
        pattern = re.compile(re.escape(self._name) + f"-([0-9]{{5,}}){ENDING}")
        found = (pattern.fullmatch(path.name) for path in self._folder.iterdir())
        return {match[0]: int(match[1]) for match in found if match}

    def _remove_parts(self) -> None:
        for path in self._folder.iterdir():
            stem, dash, rest = path.name.rpartition("-")
            if dash and stem == self._name and rest.endswith(PART):
                path.unlink(missing_ok=True)

    # -------------------------------------------------------------- writing

    def add(self, texts: Iterable[str | bytes]) -> None:
        """Encode documents and write them.

        After an error, some of those before it may have been written.

        Args:
            texts: Any iterable, taken in batches, so it may be larger than memory.

        Raises:
            SpecialTokenError: A text spells a special token that is not allowed.
            TypeError: An item is neither str nor bytes.
            OSError: It cannot be written.
        """
        from pybpe._text import to_utf8

        if isinstance(texts, (str, bytes)):
            raise TypeError(
                f"texts must be an iterable of texts, got one {type(texts).__name__}: "
                "put it into a list"
            )
        self._refuse_finished()
        first = self._documents
        batch: list[bytes] = []
        held = 0
        for i, text in enumerate(texts):
            batch.append(to_utf8(text, f"texts[{i}]"))
            held += len(batch[-1])
            if held >= _BATCH or len(batch) >= _MAX_BATCH:
                self._add_batch(batch, first)
                batch, held = [], 0
        self._add_batch(batch, first)

    def _add_batch(self, batch: list[bytes], first: int) -> None:
        def run(share: tuple[int, int]) -> Encoded:
            texts = batch[slice(*share)]
            offsets = np.array([0, *map(len, texts)], np.uint64).cumsum(dtype=np.uint64)
            number = self._documents - first + share[0]
            return self._encoder.encode(
                Documents(b"".join(texts), memoryview(offsets)),  # type: ignore[arg-type]
                False,
                lambda i: f"texts[{number + i}]",
            )

        lengths = [len(text) for text in batch]
        for encoded in in_threads(run, lengths, self._threads):
            self._write(encoded)

    def add_ids(self, ids: NDArray[np.uint32], offsets: NDArray[np.int64]) -> None:
        """Write documents that are encoded already; separators are put in.

        Args:
            ids: The ids of all of them, end to end: what `encode_batch_to_numpy` gives.
            offsets: Document i is `ids[offsets[i]:offsets[i + 1]]`.

        Raises:
            TypeError: An array is not one of integers.
            ValueError: Offsets do not go from 0 to the end, or an id is no token's.
            OSError: It cannot be written.
        """
        self._refuse_finished()
        found, starts = np.asarray(ids), np.asarray(offsets)
        for name, array in (("ids", found), ("offsets", starts)):
            if array.ndim != 1 or array.dtype.kind not in "ui":
                raise TypeError(
                    f"{name} must be a row of integers, got an array of {array.dtype} "
                    f"and {array.ndim} dimensions"
                )
        starts = starts.astype(np.int64)
        if (
            not len(starts)
            or starts[0] != 0
            or starts[-1] != len(found)
            or (np.diff(starts) < 0).any()
        ):
            raise ValueError(
                f"offsets must ascend from 0 to the number of ids, {len(found):,}"
            )
        n_vocab = int(self._asked["n_vocab"])  # type: ignore[call-overload]
        if len(found) and not 0 <= int(found.min()) <= int(found.max()) < n_vocab:
            raise ValueError(f"ids must be below {n_vocab:,}, the tokenizer's n_vocab")
        self._write(self._encoder.pack(found, starts, 0))

    def _write(self, encoded: Encoded) -> None:
        try:
            self._output.append(encoded.tokens, encoded.ends)
            if self._output.n_waiting > _MAX_WAITING:
                self._sync()
        except BaseException:
            self._abandon()  # the file may end anywhere
            raise
        self._documents += len(encoded.ends)
        self._tokens += len(encoded.tokens)
        self._bytes += encoded.size

    # -------------------------------------------------------------- ending

    def _refuse_finished(self) -> None:
        if self._failed:
            raise ValueError(
                "the writer has failed, and what it wrote is gone: begin with a new one"
            )
        if self.report is not None:
            raise ValueError("the writer has finished: nothing can be added")

    def close(self) -> ShardReport:
        """Finish: complete the files and give them their names; then the index.

        If that fails, nothing of what it wrote stays, and what it was to replace does.

        Raises:
            CorpusError: A file was removed while it was written.
            OSError: It cannot be written.
            ValueError: It has failed before.
        """
        if self.report is not None:
            return self.report
        self._refuse_finished()
        try:
            self._output.end(one_at_least=True)
            self._sync()
            for state in self._complete:
                state.give_names()
            self._write_index()
        except BaseException:
            self._abandon()
            raise
        self.report = ShardReport(
            self._documents,
            self._tokens,
            self._bytes,
            [str(self._folder / entry["file"]) for entry in self._output.finished],
        )
        if self._overwrite:
            with suppress(OSError, CorpusError):
                self._remove_old()
        self._lock.release()
        return self.report

    def _sync(self) -> None:
        """Let what is written outlast a power cut; close complete files."""
        self._complete.append(self._output.state())
        self._complete[-1].sync()

    def _write_index(self) -> None:
        files = self._output.finished
        refuse_missing(self._folder, files)
        index = {
            **self._asked,
            "documents": self._documents,
            "tokens": self._tokens,
            "bytes": self._bytes,
            "files": files,
        }
        write_index(self._index, index)

    def _remove_old(self) -> None:
        """Remove what was replaced: first the index of the set that it was part of."""
        joined = self._folder / INDEX
        if joined.exists():
            files = read_index(joined)["files"]
            if any(entry["file"] in self._old for entry in files):
                joined.unlink()
        for name in self._old:
            (self._folder / name).unlink(missing_ok=True)

    def _abandon(self) -> None:
        """Remove what was written, unless the index speaks of it already."""
        if self._failed:
            return
        self._failed = True
        self._output.close()
        self._output.close_complete()
        for state in self._complete:
            state.close()
        files = self._output.finished
        with suppress(OSError):
            is_written = False
            with suppress(CorpusError):
                is_written = bool(files) and read_index(self._index)["files"] == files
            if not is_written:
                remove_files(self._folder, files)
            self._remove_parts()
        self._lock.release()

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish; after an error, remove what was written."""
        if error is None:
            self.close()
        elif self.report is None:
            self._abandon()


def _refuse_run(folder: Path) -> None:
    """Refuse a folder that `encode_files` writes or has written.

    Raises:
        CorpusError: It is one, or has an index that is not ours.
    """
    index = folder / INDEX
    if index.exists() and "sources" in read_index(index):
        raise CorpusError(
            f"{index}: this folder was written by encode_files, which has it for "
            "itself; give a ShardWriter another folder"
        )
    for path in (folder / FOLDER, folder / PROGRESS, folder / RUN):
        if is_held(path) if path.name == FOLDER else path.exists():
            raise CorpusError(
                f"{path}: encode_files is at work in this folder, or was broken off; "
                "give a ShardWriter another folder"
            )


def join_shards(
    folder: str | os.PathLike[str], names: Sequence[str] | None = None
) -> Path:
    """Make one set of what several writers have written to a folder.

    Args:
        folder: Where they wrote.
        names: The names of the writers, in the order that their documents shall have;
            by default all that have finished, by name.

    Returns:
        The index, which `open_shards` reads.

    Raises:
        CorpusError: A writer has not finished, two used different tokenizers or
            options, there is none, or a shard is missing or not the one that was
            written.
        TypeError: An argument has the wrong type.
    """
    where = check_path("folder", folder)
    chosen = None if names is None else _check_names(names)
    _refuse_run(where)
    if chosen is None:
        chosen = _finished_names(where)
    if not chosen:
        raise CorpusError(f"{where}: no writer has finished here")
    indexes = [read_index(where / f"{name}.{INDEX}") for name in chosen]
    for name, index in zip(chosen, indexes, strict=True):
        for key in _COMMON:
            if index.get(key) != indexes[0].get(key):
                raise CorpusError(
                    f"{where}: {name} has {key}={index.get(key)!r}, and {chosen[0]} "
                    f"has {indexes[0].get(key)!r}"
                )
        _refuse_incomplete(where / f"{name}.{INDEX}", index)
    files = [entry for index in indexes for entry in index["files"]]
    joined: dict[str, Any] = {
        **indexes[0],
        **{key: sum(index[key] for index in indexes) for key in _SUMS},
        # Empty shards are left out, but for one where there is nothing else.
        "files": [entry for entry in files if entry["documents"]] or files[:1],
    }
    write_index(where / INDEX, joined)
    return where / INDEX


def _finished_names(folder: Path) -> list[str]:
    """Return the names of all writers, which must have finished."""
    unfinished = [*sorted(folder.glob(f"*{PART}")), *sorted(folder.glob(f".*{FOLDER}"))]
    if unfinished:
        raise CorpusError(
            f"{unfinished[0]}: its writer has not finished; wait for it, run it again "
            "if it was killed, or give the names of those to join"
        )
    ending = f".{INDEX}"
    return sorted(path.name.removesuffix(ending) for path in folder.glob(f"*{ending}"))


def _check_names(names: object) -> list[str]:
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise TypeError(f"names must be a list of str, got {type(names).__name__}")
    chosen = [check_text(f"names[{i}]", name) for i, name in enumerate(names)]
    if len(set(chosen)) < len(chosen):
        raise CorpusError("a writer is named twice: its documents would be there twice")
    return chosen


def _refuse_incomplete(name: Path, index: dict[str, Any]) -> None:
    """Refuse what a writer has left if it is not what its index says."""
    for entry in index["files"]:
        path = name.with_name(entry["file"])
        try:
            header = read_header(path)
        except FileNotFoundError:
            raise CorpusError(
                f"{path}: named in {name}, but not there; restore it, or write it anew "
                "by a ShardWriter of this name with overwrite=True"
            ) from None
        refuse_other(path, header, name, index, entry)
