"""A run that writes a folder: what it was asked for, how far it is, and its end.

`run.json` says what is asked for, sources included, and is written once;
`progress.json` how far it is, anew at each state. Both go when `index.json` comes.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pybpe._whole_file import TEMPORARY
from pybpe.corpora.documents import Place
from pybpe.corpora.index import (
    INDEX,
    read_index,
    read_progress,
    read_run,
    refuse_missing,
    remove_files,
    write_index,
    write_sealed,
)
from pybpe.corpora.inputs import PARQUET
from pybpe.corpora.locks import FOLDER
from pybpe.corpora.output import ENDS, PART, Output, State
from pybpe.corpora.parquet import pyarrow
from pybpe.errors import CorpusError

if TYPE_CHECKING:
    from pybpe.corpora.encoding import Encoded, Tokens
    from pybpe.corpora.inputs import Source

RUN, PROGRESS = "run.json", "progress.json"

# Seconds between two states: about so much work is done again after a kill.
_INTERVAL = 2.0

# So many complete files may wait for the disk.
_MAX_WAITING = 8


class Totals(NamedTuple):
    """What has been written so far.

    Attributes:
        documents: How many documents, begun ones included.
        empty: How many of them have no text.
        tokens: How many ids, separators included.
        bytes: How many bytes of text.
    """

    documents: int = 0
    empty: int = 0
    tokens: int = 0
    bytes: int = 0


# The names that layouts give.
_NAMES = re.compile(
    r"(shard|train|val)-[0-9]{5,}\.tokens|(train|val)(_[0-9]{6,})?\.(bin|idx)"
)
_PARTS = re.compile(f"({_NAMES.pattern})({re.escape(ENDS)}|{re.escape(PART)})")


class Position(NamedTuple):
    """A place in all sources: the number of one, and the place in it."""

    source: int = 0
    place: Place = Place()


class Run:
    """A folder that is being written.

    Attributes:
        position: Where to go on.
        totals: What is written up to there.
    """

    def __init__(
        self,
        folder: Path,
        asked: Mapping[str, Any],
        sources: Sequence[Source],
        outputs: Sequence[Output],
        val_fraction: float,
    ) -> None:
        """Begin a run, or go on with one that was broken off.

        Args:
            folder: Where to write; it is there.
            asked: The options, as JSON has them.
            sources: What is read.
            outputs: One for "train", and one for "val" if there is a `val_fraction`.
            val_fraction: The share of documents that go to "val".

        Raises:
            CorpusError: What is there was asked for with other options or sources, or
                is nothing of ours.
        """
        self._folder = folder
        self._asked = dict(asked)
        self._sources = sources
        self._outputs = outputs
        self._val_limit = int(val_fraction * 2.0**64)
        self._pool = ThreadPoolExecutor(1, "pybpe-state")
        self._committing: Future[None] | None = None
        self._torn = False  # whether a `write` has begun and not ended
        self.position = Position()
        self.totals = Totals()
        self._next_state = 0.0
        if _has_written(folder):
            self._go_on()
        else:
            _refuse_strangers(folder, [PROGRESS])
            _forget(folder)
            self._save_run()
            self.commit()

    # -------------------------------------------------------------- beginning

    def _go_on(self) -> None:
        for source in self._sources:
            if source.size is None:
                raise CorpusError(
                    f"{source.path}: a pipe cannot be read again, so the run cannot be "
                    "gone on with; begin anew with overwrite=True, better from files"
                )
        refuse_changes(self._folder, read_run(self._folder / RUN), self._run())
        # Of what is written nothing depends on how special tokens would be treated:
        # there were none, or the run would not have come so far.
        _remove_temporary(self._folder)
        self._save_run()
        splits = [output.split for output in self._outputs]
        state = read_progress(self._folder / PROGRESS, splits, len(self._sources))
        source, place = state["position"]
        self.position = Position(source, Place(*place))
        _refuse_beyond(self._folder / PROGRESS, self._sources[source], Place(*place))
        self.totals = Totals(*state["totals"])
        for output in self._outputs:
            output.restore(state["splits"][output.split])

    def _run(self) -> dict[str, Any]:
        """Return what `run.json` says."""
        return {**self._asked, "sources": _with_times(self._sources)}

    def _save_run(self) -> None:
        write_sealed(self._folder / RUN, self._run())

    # -------------------------------------------------------------- writing

    def write(self, encoded: Encoded, position: Position) -> None:
        """Write documents, and know that they end at a position of the sources.

        Raises:
            OSError: It cannot be written. What the last state says stays.
        """
        tokens, ends, size, empty = encoded
        n_begun = len(ends) + position.place.inside - self.position.place.inside
        old = self.totals
        new = Totals(
            old.documents + n_begun,
            old.empty + empty,
            old.tokens + len(tokens),
            old.bytes + size,
        )
        with self._all_or_nothing():
            if self._val_limit:
                self._write_split(tokens, ends)
            else:
                self._outputs[0].append(tokens, ends)
            self.totals, self.position = new, position
        waiting = sum(output.n_waiting for output in self._outputs)
        if waiting or time.monotonic() >= self._next_state:
            self.commit(wait=waiting > _MAX_WAITING)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """After an error or Ctrl-C, be where the block began, unless a file is done.

        Then it is torn: files have more than the position says, and the last state
        must do.
        """
        before = self.totals, self.position
        parts = [
            (output, output.part, len(output.finished)) for output in self._outputs
        ]
        self._torn = True
        try:
            yield
        except BaseException:
            self.totals, self.position = before
            for output, part, n_finished in parts:
                if len(output.finished) > n_finished:
                    raise
                # What was written more is cut off when the run is gone on with.
                output.part = part
            self._torn = False
            raise
        self._torn = False

    def _write_split(self, tokens: Tokens, ends: Any) -> None:
        """Write each document to its split; which one depends on its number alone."""
        inside = self.position.place.inside
        first = self.totals.documents - inside
        goes_on = len(ends) == 0 or int(ends[-1]) < len(tokens)
        bounds = np.concatenate([ends, [len(tokens)]]) if goes_on else ends
        numbers = np.arange(first, first + len(bounds), dtype=np.uint64)
        to_val = _spread(numbers) < self._val_limit
        lengths = np.diff(bounds, prepend=0)
        of_token = np.repeat(to_val, lengths)
        for output, mine, ours in (
            (self._outputs[0], ~to_val, ~of_token),
            (self._outputs[1], to_val, of_token),
        ):
            if mine.any():
                stops = lengths[mine].cumsum()
                last_goes_on = goes_on and mine[-1]
                output.append(tokens[ours], stops[:-1] if last_goes_on else stops)

    def commit(self, *, wait: bool = True) -> None:
        """Write down how far it is, for a later run to go on from.

        The disk takes its time, so this is done by a thread of its own, one state at a
        time; unless told to wait, it is left out while the one before is at it.

        Nothing is done where the position is not that of the files.

        Raises:
            OSError: This state, or the one before, could not be written.
        """
        if self._torn:
            return
        if self._committing is not None:
            if not wait and not self._committing.done():
                return
            committing, self._committing = self._committing, None
            committing.result()
        states = {output.split: output.state() for output in self._outputs}
        source, place = self.position
        said = {
            "position": [source, list(place)],
            "totals": list(self.totals),
            "splits": {split: state.said for split, state in states.items()},
        }
        self._next_state = time.monotonic() + _INTERVAL
        self._committing = self._pool.submit(self._commit, [*states.values()], said)
        if wait:
            committing, self._committing = self._committing, None
            committing.result()

    def _commit(self, states: Sequence[State], said: dict[str, Any]) -> None:
        try:
            for state in states:
                state.sync()
        except BaseException:
            for state in states:
                state.close()
            raise
        write_sealed(self._folder / PROGRESS, said)
        for state in states:
            state.give_names()

    # -------------------------------------------------------------- ending

    def finish(self) -> dict[str, Any]:
        """Complete all files and write the index, which is returned.

        Raises:
            CorpusError: There were no documents, or none for one of the splits; or a
                file was removed by others.
        """
        for output in self._outputs:
            if output.n_documents == 0:
                raise CorpusError(
                    "there are no documents in the files"
                    if self.totals.documents == 0
                    else f"of {self.totals.documents:,} documents none went to "
                    f"{output.split!r}: give another val_fraction"
                )
        for output in self._outputs:
            output.end()
        self.commit()
        index = {
            **self._asked,
            **self.totals._asdict(),
            "files": [entry for output in self._outputs for entry in output.finished],
            "sources": [_of_source(source) for source in self._sources],
        }
        refuse_missing(self._folder, index["files"])
        write_index(self._folder / INDEX, index)
        tidy(self._folder)
        return index

    def leave(self) -> None:
        """Write down how far it is; of a run that has written nothing leave nothing.

        Raises:
            CorpusError: A file was removed by others.
            OSError: It cannot be written. What the last state says stays.
        """
        self.commit()
        if not self.totals.documents:
            self.close()
            _forget(self._folder)

    def close(self) -> None:
        """Close the files."""
        self._pool.shutdown()
        for output in self._outputs:
            output.close()
            output.close_complete()


def finished(
    folder: Path, asked: Mapping[str, Any], sources: Sequence[Source]
) -> dict[str, Any] | None:
    """Return the index of a folder that holds already what is asked for.

    Raises:
        CorpusError: It holds something else, a source is newer, or a file is missing.
    """
    path = folder / INDEX
    if not path.exists():
        return None
    index = read_index(path)
    plain = [_of_source(source) for source in sources]
    refuse_changes(folder, index, {**asked, "sources": plain})
    refuse_missing(folder, index["files"])
    done = path.stat().st_mtime_ns
    for source in sources:
        if source.mtime_ns > done:
            raise CorpusError(
                f"{source.path} was changed after {folder} was written from it; "
                "give another folder, or overwrite=True"
            )
    return index


def clear(folder: Path) -> None:
    """Remove what a run has written to a folder, finished or not; nothing else.

    Raises:
        CorpusError: Its index is not ours, or there is something else in it: then all
            of it stays.
    """
    path = folder / INDEX
    files = read_index(path)["files"] if path.exists() else []
    complete = _complete_files(folder)
    known = {Path(entry["file"]) for entry in [*files, *complete]}
    of_megatron = {name.with_suffix(".idx") for name in known if name.suffix == ".bin"}
    names = {name.name for name in known | of_megatron}
    _refuse_strangers(folder, {INDEX, PROGRESS, *names})
    remove_files(folder, files)
    path.unlink(missing_ok=True)
    remove_files(folder, complete)
    _forget(folder)


def _complete_files(folder: Path) -> list[dict[str, Any]]:
    """Return the complete files of an unfinished run."""
    state = folder / PROGRESS
    if not state.exists():
        return []
    try:
        splits = read_progress(state, (), None)["splits"].values()
        return [entry for split in splits for entry in split["finished"]]
    except CorpusError:
        # Damaged. The folder was empty when the run began, so what has one of the names
        # that runs give is its own.
        names = (path.name for path in folder.iterdir())
        return [{"file": name} for name in names if _NAMES.fullmatch(name)]


def refuse_writers(folder: Path) -> None:
    """Refuse a folder in which `ShardWriter`s are at work, or have been.

    Raises:
        CorpusError: It is one.
    """
    for path in sorted(folder.iterdir()):
        name = path.name
        of_writer = name.endswith(f".{INDEX}") or (
            name.startswith(".") and name.endswith(FOLDER) and name != FOLDER
        )
        if of_writer:
            raise CorpusError(
                f"{path}: ShardWriters write to this folder, or have written to it "
                "(join_shards makes one set of that); give encode_files another folder"
            )


def _refuse_strangers(folder: Path, known: Collection[str]) -> None:
    """Refuse a folder that holds what no run has written.

    Raises:
        CorpusError: There is something else than what is known, or may be left over.
    """
    strangers = sorted(
        path.name
        for path in folder.iterdir()
        if path.name not in (FOLDER, RUN, *known)
        and not _PARTS.fullmatch(path.name)
        and not path.match(TEMPORARY)
    )
    if strangers:
        raise CorpusError(
            f"{folder}: the folder holds other files, such as {strangers[0]!r}; give a "
            "new or an empty one"
        )


def tidy(folder: Path) -> None:
    """Remove from a finished folder what only an unfinished one needs."""
    for name in (PROGRESS, RUN):
        (folder / name).unlink(missing_ok=True)
    _remove_temporary(folder)


def _forget(folder: Path) -> None:
    """Remove what an unfinished run has left; its complete files stay."""
    tidy(folder)
    for left in folder.iterdir():
        if _PARTS.fullmatch(left.name):
            left.unlink()


def _has_written(folder: Path) -> bool:
    """Tell whether there is an unfinished run with anything to go on from.

    Raises:
        CorpusError: What it says of itself is damaged.
    """
    path = folder / PROGRESS
    return path.exists() and bool(read_progress(path, (), None)["totals"][0])


def _refuse_beyond(path: Path, source: Source, place: Place) -> None:
    """Refuse to go on from behind the end of a file, where nothing would be read.

    Of a packed file only its reader knows how long it is.

    Raises:
        CorpusError: The place is there.
    """
    if source.format == PARQUET:
        _, parquet = pyarrow()
        size = parquet.read_metadata(source.path).num_rows
    elif source.compression is not None:
        return
    else:
        size = source.size
    if size is not None and place.position > size:
        unit = "rows" if source.format == PARQUET else "bytes"
        raise CorpusError(
            f"{path}: damaged: it says that {place.position:,} {unit} of {source.path} "
            f"are done, and that has {size:,}; begin anew with overwrite=True"
        )


def _remove_temporary(folder: Path) -> None:
    """Remove what a kill in the midst of writing a small file leaves."""
    for path in folder.glob(TEMPORARY):
        path.unlink(missing_ok=True)


def refuse_changes(
    folder: Path, before: Mapping[str, Any], now: Mapping[str, Any]
) -> None:
    """Refuse to go on with what was begun otherwise; the first difference is named.

    Raises:
        CorpusError: There is one.
    """
    way_out = "give another folder, or overwrite=True to begin anew"
    for name, value in now.items():
        if name == "sources":
            continue
        if before.get(name) != value and not _is_relaxed(name, before, now):
            if name == "fingerprint":
                raise CorpusError(
                    f"{folder}: begun with another tokenizer: its fingerprint begins "
                    f"with {str(before.get(name))[:12]}, and this one's with "
                    f"{value[:12]}; {way_out}"
                )
            raise CorpusError(
                f"{folder}: begun with {name}={_shown(before.get(name))}, and this is "
                f"{name}={_shown(value)}; {way_out}"
            )
    old, new = before.get("sources", []), now["sources"]
    for one, other in zip(old, new, strict=False):
        if one["path"] != other["path"]:
            raise CorpusError(
                f"{folder}: begun with the input {one['path']}, and now there is "
                f"{other['path']} in its place; {way_out}"
            )
        if one != other:
            raise CorpusError(
                f"{other['path']}: changed since {folder} was begun ({one['size']} "
                f"bytes then, {other['size']} now); {way_out}"
            )
    if len(old) != len(new):
        raise CorpusError(
            f"{folder}: begun with {len(old):,} files, and now there are "
            f"{len(new):,}; {way_out}"
        )


def _is_relaxed(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Tell whether only special tokens that were all refused are now taken somehow."""
    refused = {"allowed_special": [], "disallowed_special": "all"}
    return name in refused and all(before.get(k) == v for k, v in refused.items())


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 100 else text[:97] + "..."


def _of_source(source: Source) -> dict[str, Any]:
    return {"path": source.path, "format": source.format, "size": source.size}


def _with_times(sources: Sequence[Source]) -> list[dict[str, Any]]:
    return [{**_of_source(source), "mtime_ns": source.mtime_ns} for source in sources]


def _spread(numbers: np.ndarray[Any, np.dtype[np.uint64]]) -> Any:
    """Return numbers of 64 bits that look as if drawn at random (SplitMix64)."""
    z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
