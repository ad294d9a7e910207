"""Shards from documents that come from anywhere: a writer for each worker."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pybpe._threads import check_num_threads, in_threads
from pybpe.corpora.documents import Documents
from pybpe.corpora.encoding import DocumentEncoder, Encoded
from pybpe.corpora.index import INDEX, read_index, remove_files, write_index
from pybpe.corpora.layouts import About, ShardsLayout, check_shard_size
from pybpe.corpora.output import PART, Output
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
    without an error, and otherwise not at all.

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
                a task that is tried again must.

        Raises:
            CorpusError: A writer of this name has finished.
            TypeError: An argument has the wrong type.
            ValueError: It has a value that makes no sense, or ids do not fit.
            UnknownTokenError: There is no such separator.
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, got {type(name).__name__}")
        if not name or Path(name).name != name or name[0] in "._":
            raise ValueError(
                f"name must be the beginning of a file's name, got {name!r}"
            )
        encoder = DocumentEncoder(
            tokenizer,
            separator,
            separator_at,
            dtype,
            allowed_special,
            disallowed_special,
        )
        self._encoder = encoder
        self._threads = check_num_threads(num_threads)
        size = check_shard_size(ShardsLayout, shard_size)
        self._folder = Path(folder)
        self._name = name
        self._asked = {
            "layout": "shards",
            "fingerprint": tokenizer.fingerprint,
            "n_vocab": tokenizer.n_vocab,
            "dtype": encoder.dtype.name,
            "separator": encoder.separator,
            "separator_at": separator_at,
        }
        self._begin(overwrite)
        about = About(
            tokenizer.fingerprint, tokenizer.n_vocab, encoder.separator, encoder.dtype
        )
        layout = ShardsLayout(about, name)
        self._output = Output(self._folder, "train", layout, size, encoder.dtype)
        self._documents = self._tokens = self._bytes = 0
        self.report: ShardReport | None = None

    def _begin(self, overwrite: bool) -> None:
        """Make the folder, and remove what writers of this name have left."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._index.exists():
            if not overwrite:
                raise CorpusError(
                    f"{self._index}: a writer of this name has finished; give another "
                    "name, or overwrite=True"
                )
            remove_files(self._folder, read_index(self._index)["files"])
            self._index.unlink()
        self._remove_parts()

    @property
    def _index(self) -> Path:
        return self._folder / f"{self._name}.{INDEX}"

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
        self._output.append(encoded.tokens, encoded.ends)
        self._documents += len(encoded.ends)
        self._tokens += len(encoded.tokens)
        self._bytes += encoded.size

    # -------------------------------------------------------------- ending

    def _refuse_finished(self) -> None:
        if self.report is not None:
            raise ValueError("the writer has finished: nothing can be added")

    def close(self) -> ShardReport:
        """Finish: complete the files and give them their names; then the index.

        Raises:
            OSError: It cannot be written.
        """
        if self.report is not None:
            return self.report
        self._output.end()
        state = self._output.state()
        state.sync()
        state.give_names()
        files = self._output.finished
        index = {
            **self._asked,
            "documents": self._documents,
            "tokens": self._tokens,
            "bytes": self._bytes,
            "files": files,
        }
        write_index(self._index, index)
        self.report = ShardReport(
            self._documents,
            self._tokens,
            self._bytes,
            [str(self._folder / entry["file"]) for entry in files],
        )
        return self.report

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
            self._output.close()
            self._output.close_complete()
            with suppress(OSError):
                self._remove_parts()


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
            options, or there is none.
    """
    where = Path(folder)
    if names is None:
        ending = f".{INDEX}"
        names = sorted(p.name.removesuffix(ending) for p in where.glob(f"*{ending}"))
        unfinished = sorted(where.glob(f"*{PART}"))
        if unfinished:
            raise CorpusError(
                f"{unfinished[0]}: its writer has not finished; wait for it, or give "
                "the names of those to join"
            )
    if not names:
        raise CorpusError(f"{where}: no writer has finished here")
    if len(set(names)) < len(names):
        raise CorpusError("a writer is named twice: its documents would be there twice")
    indexes = [read_index(where / f"{name}.{INDEX}") for name in names]
    for name, index in zip(names, indexes, strict=True):
        for key in _COMMON:
            if index.get(key) != indexes[0].get(key):
                raise CorpusError(
                    f"{where}: {name} has {key}={index.get(key)!r}, and {names[0]} has "
                    f"{indexes[0].get(key)!r}"
                )
    joined: dict[str, Any] = {
        **indexes[0],
        **{key: sum(index[key] for index in indexes) for key in _SUMS},
        "files": [entry for index in indexes for entry in index["files"]],
    }
    write_index(where / INDEX, joined)
    return where / INDEX
