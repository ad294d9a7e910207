"""`encode_files`: files of documents → files of ids."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pybpe._text import to_utf8
from pybpe._threads import MAX_THREADS, check_num_threads
from pybpe.corpora.arguments import check_flag, check_path, check_text
from pybpe.corpora.documents import CHUNK, Chunk, Place
from pybpe.corpora.encoding import DocumentEncoder, Encoded
from pybpe.corpora.index import INDEX
from pybpe.corpora.inputs import Source, find_sources, names_of
from pybpe.corpora.layouts import (
    About,
    NanoGptLayout,
    ShardsLayout,
    check_shard_size,
    layout_type,
)
from pybpe.corpora.locks import locked
from pybpe.corpora.output import PART, Output
from pybpe.corpora.overlap import refuse_overlap
from pybpe.corpora.pipeline import in_order
from pybpe.corpora.reading import FIELD, Reading, check_reading, chunks
from pybpe.corpora.run import (
    PROGRESS,
    RUN,
    Position,
    Run,
    Totals,
    clear,
    finished,
    refuse_writers,
    tidy,
)
from pybpe.corpora.seams import seam_finder
from pybpe.errors import CorpusError
from pybpe.permissions import NONE

if TYPE_CHECKING:
    from pybpe.corpora.inputs import Format, Paths
    from pybpe.permissions import Allowed, Disallowed, Token
    from pybpe.tokenizer import Tokenizer

_TOO_WIDE = (
    "layout='nanogpt': the files have uint32, for ids go up to {:,}, and nanoGPT's own "
    "loader reads uint16 whatever they have: change np.uint16 there to np.uint32"
    " (dtype='uint32' says that you know)"
)

# Seconds between two calls of `progress`.
_INTERVAL = 0.1


class EncodingProgress(NamedTuple):
    """How far `encode_files` is; what `progress` callbacks get.

    Attributes:
        done: How many bytes of the files have been read, encoded and written.
        total: How many there are; None if one is a pipe.
        documents: How many documents are written.
        tokens: How many ids are written.
    """

    done: int
    total: int | None
    documents: int
    tokens: int


class EncodingReport(NamedTuple):
    """What `encode_files` did.

    Attributes:
        documents: How many documents there are.
        empty: How many of them have no text.
        tokens: How many ids, separators included.
        bytes: How many bytes of text.
        files: The files with the ids, in order.
        dtype: What ids are stored as.
        resumed: How many documents an earlier run had written; all of them, if there
            was nothing left to do.
        seconds: How long this run took.
        bytes_per_second: How fast it was, in bytes of text.
    """

    documents: int
    empty: int
    tokens: int
    bytes: int
    files: list[str]
    dtype: str
    resumed: int
    seconds: float
    bytes_per_second: float

    @property
    def tokens_per_byte(self) -> float:
        """How many tokens a byte of text takes."""
        return self.tokens / self.bytes if self.bytes else 0.0


def encode_files(
    tokenizer: Tokenizer,
    paths: Paths,
    folder: str | os.PathLike[str],
    *,
    separator: Token | int | None,
    separator_at: str = "end",
    layout: str = "shards",
    dtype: str = "auto",
    shard_size: int | None = None,
    val_fraction: float = 0.0,
    format: Format | None = None,
    field: str = FIELD,
    split_on: str | bytes | None = None,
    allowed_special: Allowed = NONE,
    disallowed_special: Disallowed = "all",
    num_threads: int | None = None,
    overwrite: bool = False,
    progress: Callable[[EncodingProgress], object] | None = None,
) -> EncodingReport:
    """Encode the documents of files into files of ids; see `Tokenizer.encode_files`."""
    started = time.monotonic()
    kind = layout_type(layout)
    encoder = DocumentEncoder(
        tokenizer,
        separator,
        separator_at,
        dtype,
        allowed_special,
        disallowed_special,
        dtypes=kind.dtypes,
    )
    reading = check_reading(field, split_on)._replace(
        last_seam=seam_finder(tokenizer, allowed_special, disallowed_special)
    )
    if kind is NanoGptLayout and dtype == "auto" and encoder.dtype.itemsize > 2:
        warnings.warn(
            _TOO_WIDE.format(tokenizer.n_vocab - 1), UserWarning, stacklevel=3
        )
    asked = {
        "layout": layout,
        "fingerprint": tokenizer.fingerprint,
        "n_vocab": tokenizer.n_vocab,
        "dtype": encoder.dtype.name,
        "separator": encoder.separator,
        "separator_at": separator_at,
        "shard_size": check_shard_size(kind, shard_size),
        "val_fraction": _check_fraction(val_fraction),
        "field": field,
        "split_on": None if split_on is None else _shown(split_on),
        "allowed_special": _permission(allowed_special),
        "disallowed_special": _permission(disallowed_special),
    }
    threads = min(check_num_threads(num_threads), MAX_THREADS)
    if not tokenizer.split.compiled:
        # That is Python's work: threads would not be faster, only deaf to Ctrl-C.
        threads = 1
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function, got {progress!r}")
    check_flag("overwrite", overwrite)
    target = check_path("folder", folder)
    outputs = _outputs(target, kind, encoder, asked)
    sources = _sources(paths, format, target, outputs)
    target.mkdir(parents=True, exist_ok=True)
    with locked(target):
        refuse_writers(target)
        if overwrite:
            clear(target)
        index = finished(target, asked, sources)
        if index is not None:
            tidy(target)
            return _report(target, index, Totals(index["documents"]), started)
        run = Run(target, asked, sources, outputs, asked["val_fraction"])
        before = run.totals
        index = _Work(run, encoder, reading, sources).do(threads, progress)
    return _report(target, index, before, started)


def _outputs(
    folder: Path, kind: type[Any], encoder: DocumentEncoder, asked: dict[str, Any]
) -> list[Output]:
    """Return what writes each split: "train", and "val" if a share goes there."""
    dtype = encoder.dtype
    about = About(asked["fingerprint"], asked["n_vocab"], encoder.separator, dtype)
    splits = ("train", "val") if asked["val_fraction"] else ("train",)
    if kind is ShardsLayout and len(splits) == 1:
        layout = ShardsLayout(about, "shard")
    else:
        layout = kind(about)
    size = asked["shard_size"]
    return [Output(folder, split, layout, size, dtype) for split in splits]


def _sources(
    paths: Paths, format: Format | None, folder: Path, outputs: list[Output]
) -> list[Source]:
    """Return the inputs, none of which stands for what is written."""
    if format is not None:
        check_text("format", format)
    found = names_of(paths)
    names = [name for output in outputs for name in output.names()]
    parts = [name + PART for name in names]
    refuse_overlap(found, folder, [INDEX, RUN, PROGRESS, *names, *parts])
    sources = find_sources(found, format)
    if not sources:
        raise CorpusError("paths is empty: give files, folders or patterns")
    return sources


class _Job(NamedTuple):
    """Some chunks that one thread encodes at once."""

    chunks: list[tuple[int, Chunk]]
    raw_position: int  # of all sources together


class _Work:
    """Reading, encoding and writing what is left of the sources."""

    def __init__(
        self,
        run: Run,
        encoder: DocumentEncoder,
        reading: Reading,
        sources: list[Source],
    ) -> None:
        self._run = run
        self._encoder = encoder
        self._reading = reading
        self._sources = sources

    def do(
        self, threads: int, progress: Callable[[EncodingProgress], object] | None
    ) -> dict[str, Any]:
        """Do all of it; `progress` is called on this thread. Return the index."""
        run = self._run
        try:
            self._encode_all(threads, progress)
            return run.finish()
        except BaseException:
            # Ctrl-C, a bad line, a full disk: what is written so far need not be done
            # again. If even this fails, the state before it holds.
            with suppress(OSError, CorpusError):
                run.leave()
            raise
        finally:
            run.close()

    def _encode_all(
        self, threads: int, progress: Callable[[EncodingProgress], object] | None
    ) -> None:
        run = self._run
        sizes = [source.size for source in self._sources]
        total = None if None in sizes else sum(filter(None, sizes))
        next_call = 0.0
        jobs = self._jobs(run.position)
        for job, results in in_order(jobs, self._encode, threads):
            for (source, chunk), encoded in zip(job.chunks, results, strict=True):
                run.write(encoded, Position(source, chunk.after))
            now = time.monotonic()
            if progress is not None and now >= next_call:
                next_call = now + _INTERVAL
                progress(_progress(run.totals, job.raw_position, total))
        if progress is not None:
            progress(_progress(run.totals, total or 0, total))

    def _jobs(self, position: Position) -> Iterator[_Job]:
        """Yield what is left to read; small chunks together."""
        held: list[tuple[int, Chunk]] = []
        size = 0
        behind = sum(s.size or 0 for s in self._sources[: position.source])
        raw = behind
        inside_first = position.place
        for number in range(position.source, len(self._sources)):
            source = self._sources[number]
            for chunk in chunks(source, inside_first, self._reading):
                held.append((number, chunk))
                size += chunk.size
                raw = behind + chunk.raw_position
                if size >= CHUNK // 2:
                    yield _Job(held, raw)
                    held, size = [], 0
            inside_first = Place()
            _refuse_change(source)
            behind += source.size or 0
        if held:
            yield _Job(held, raw)

    def _encode(self, job: _Job) -> list[Encoded]:
        return [
            self._encoder.encode(chunk.documents(), chunk.inside, chunk.where)
            for _, chunk in job.chunks
        ]


def _refuse_change(source: Source) -> None:
    """Refuse a file that others wrote to while it was read."""
    if source.size is None:
        return
    status = Path(source.path).stat()
    if (status.st_size, status.st_mtime_ns) != (source.size, source.mtime_ns):
        raise CorpusError(f"{source.path}: changed while it was read")


def _progress(totals: Totals, done: int, total: int | None) -> EncodingProgress:
    return EncodingProgress(done, total, totals.documents, totals.tokens)


def _report(
    folder: Path, index: dict[str, Any], before: Totals, started: float
) -> EncodingReport:
    seconds = time.monotonic() - started
    n_before = before.documents
    done = index["bytes"] - before.bytes if n_before < index["documents"] else 0
    return EncodingReport(
        index["documents"],
        index["empty"],
        index["tokens"],
        index["bytes"],
        [str(folder / entry["file"]) for entry in index["files"]],
        index["dtype"],
        n_before,
        seconds,
        done / seconds if seconds else 0.0,
    )


def _check_fraction(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"val_fraction must be a number, got {type(value).__name__}")
    if not 0 <= value < 1:
        raise ValueError(f"val_fraction must be at least 0 and below 1, got {value}")
    return float(value)


def _permission(tokens: Any) -> Any:
    """Return a set of tokens, or "all", as JSON has it."""
    if isinstance(tokens, str):
        return tokens
    return sorted(_shown(token) for token in tokens)


def _shown(token: str | bytes) -> str:
    return to_utf8(token).decode("utf-8", "backslashreplace")
