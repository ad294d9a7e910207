"""Training and encoding on a Ray cluster, from and to Ray Datasets.

    import pybpe.ray

    ds = ray.data.read_parquet("s3://corpus/")
    tok = pybpe.ray.train(ds, 65_536)
    pybpe.ray.encode(ds, tok).write_parquet("s3://encoded/")

What comes out is what one process gives that has all the rows in a list: the same
tokenizer, for both ways to break ties, and the same ids. Every worker needs pybpe;
install it with `pip install "pybpe[ray]"`, which also says which versions of Ray go.

Each block of the dataset is counted by a task, which Ray fuses with what comes before
where it can, so that text does not travel. Counts, which are far smaller, are merged by
further tasks, a few neighbours at a time, and the last ones on the driver, which
trains. A task that fails is run again by Ray like any other.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pybpe._shipped import Shipped
from pybpe._threads import MAX_THREADS
from pybpe._training_options import BYTE_ORDER, PATTERN, refuse_lone_text
from pybpe.counts import Counts, head_for, merge_counts, no_counts, tally
from pybpe.mapping import MapFunction, refuse_taken
from pybpe.training import train_from_counts

try:
    import pyarrow as pa
    import ray
    import ray.data
    import ray.data.block
except ModuleNotFoundError as _error:
    if _error.name not in ("pyarrow", "ray", "ray.data"):
        raise  # one is there and broken, and must say so itself
    raise ImportError(
        f"pybpe.ray needs Ray Data ({_error}): pip install 'pybpe[ray]'"
    ) from None

if TYPE_CHECKING:
    from typing import Any

    from pybpe._counts_file import Head
    from pybpe._training_report import ProgressCallback
    from pybpe.permissions import Allowed, Disallowed
    from pybpe.split import PatternLike
    from pybpe.tokenizer import Tokenizer

    Token = str | bytes
    Dataset = Any  # ray.data.Dataset
    Table = Any  # pyarrow.Table

__all__ = ["count", "encode", "train", "write_shards"]

# How many neighbours a task merges.
_FAN = 8
# The columns of what counting a block returns.
_COUNTS, _ERROR = "counts", "error"


# ---------------------------------------------------------------- counting


def count(
    ds: Dataset,
    column: str = "text",
    *,
    pattern: PatternLike = PATTERN,
    special_tokens: Iterable[Token] = (),
    protected: Iterable[Token] = (),
    initial: Tokenizer | None = None,
    max_pretokens: int | None = None,
    preserve_order: bool = True,
    num_cpus: float = 1,
) -> Counts:
    """Count the pretokens of a dataset's column on all workers.

    Args:
        ds: A Ray Dataset.
        column: The column of the texts: strings, or bytes in UTF-8. Each row is a text.
        pattern: See `pybpe.count_texts`.
        special_tokens: See `pybpe.count_texts`.
        protected: See `pybpe.count_texts`.
        initial: See `pybpe.count_texts`.
        max_pretokens: See `pybpe.count_texts`. No task holds more, either.
        preserve_order: Whether to keep the order of the rows, as Ray's option of this
            name does. It is needed for `tie_break="first"` only; without it a slow
            block keeps no other waiting, and counts differ from run to run in which
            pretoken comes first, which is nothing to the lowest ids.
        num_cpus: CPUs for each task, which are as many threads.

    Returns:
        The counts, on the driver: those that `pybpe.count_texts` returns for the rows,
        to the byte if the order is preserved.

    Raises:
        TypeError: An argument has the wrong type; or the column holds no text.
        ValueError: An option makes no sense; or there is no such column, or a row is
            null.
        TrainingError: There are more than `max_pretokens`.
    """
    refuse_lone_text(special_tokens, "special_tokens", "a list of tokens")
    how = head_for(pattern, special_tokens, protected, initial)
    _known_columns(ds, column)
    counted = ds.map_batches(
        _CountBlock(how, column, max_pretokens, num_cpus),
        batch_size=None,
        batch_format="pyarrow",
        zero_copy_batch=True,
        **_resources(num_cpus),
    )
    tree = _Tree(max_pretokens)
    with _order(counted, preserve_order):
        for bundle in counted.iter_internal_ref_bundles():
            for block in bundle.block_refs:
                tree.add(block)
    return merge_counts([no_counts(how), *tree.results()], max_pretokens=max_pretokens)


class _CountBlock:
    """Counts a block: the function that Ray runs in its tasks."""

    def __init__(
        self, how: Head, column: str, max_pretokens: int | None, num_cpus: float
    ) -> None:
        self._how = how
        self._column = column
        self._max_pretokens = max_pretokens
        self._num_threads = _threads(num_cpus)

    def __call__(self, block: Table) -> Table:
        data, error = b"", b""
        try:
            texts = _texts(block, self._column)
            counts = tally(
                self._how,
                lambda counter: counter.add_texts(texts),
                None,
                num_threads=self._num_threads,
                max_pretokens=self._max_pretokens,
                progress=None,
            )
            data = counts.to_bytes()
        except (TypeError, ValueError) as found:
            # Ray would run the task again and raise an error of its own.
            error = pickle.dumps(found)
        return pa.table({_COUNTS: _blob(data), _ERROR: _blob(error)})


def _blob(data: bytes) -> Any:
    return pa.array([data], pa.large_binary())


class _Tree:
    """Merges counts as they come, neighbours only, so that their order stays.

    Level 0 has what was counted, level 1 what comes of `_FAN` of these, and so on. All
    of a level came before everything in those below it.
    """

    def __init__(self, max_pretokens: int | None) -> None:
        self._levels: list[list[Any]] = [[]]
        self._errors: list[Any] = []  # of tasks that may still run
        self._max_pretokens = max_pretokens
        self._task: Any = ray.remote(num_returns=2)(_merge)

    def add(self, ref: Any) -> None:
        """Take in the next block of counts.

        Raises:
            Exception: What a task has raised that was begun for an earlier one.
        """
        level = 0
        self._levels[0].append(ref)
        while len(self._levels[level]) == _FAN:
            merged = self._merge(self._levels[level])
            self._levels[level] = []
            level += 1
            if level == len(self._levels):
                self._levels.append([])
            self._levels[level].append(merged)
            done, self._errors = ray.wait(
                self._errors, num_returns=len(self._errors), timeout=0
            )
            _raise_any(done)

    def results(self) -> Iterator[bytes]:
        """Yield what is left to be merged here, one at a time, in order.

        Raises:
            Exception: What a task has raised.
        """
        left = [ref for level in reversed(self._levels) for ref in level]
        while len(left) > _FAN:
            groups = [left[i : i + _FAN] for i in range(0, len(left), _FAN)]
            left = [self._merge(group) for group in groups]
        _raise_any(self._errors)
        for ref in left:
            yield from _parts(ray.get(ref))

    def _merge(self, refs: list[Any]) -> Any:
        merged, error = self._task.remote(self._max_pretokens, *refs)
        self._errors.append(error)
        return merged


def _raise_any(errors: list[Any]) -> None:
    for error in ray.get(errors):
        if error is not None:
            raise error


def _merge(
    max_pretokens: int | None, *parts: Table | bytes
) -> tuple[bytes, Exception | None]:
    """Merge counts, if there are any: a task. An error is a result of its own."""
    try:
        everything = [data for part in parts for data in _parts(part)]
        if not everything:
            return b"", None
        return merge_counts(everything, max_pretokens=max_pretokens).to_bytes(), None
    except (TypeError, ValueError) as error:
        return b"", error


def _parts(part: Table | bytes) -> list[bytes]:
    """Return the counts in a block, or those that a task merged.

    Raises:
        Exception: What counting a block has raised.
    """
    if isinstance(part, bytes):
        return [part] if part else []
    if part.num_rows == 0:
        return []  # nothing was counted: these are the columns of the dataset
    for error in part.column(_ERROR).to_pylist():
        if error:
            raise pickle.loads(error)  # noqa: S301 - a task of ours has written it
    found: list[bytes] = part.column(_COUNTS).to_pylist()
    return found


@contextmanager
def _order(ds: Dataset, preserve: bool) -> Iterator[None]:
    """Let what runs in this block keep the order of rows, or not."""
    options = ds.context.execution_options
    before = options.preserve_order
    options.preserve_order = preserve or before
    try:
        yield
    finally:
        options.preserve_order = before


# ---------------------------------------------------------------- training


def train(
    ds: Dataset,
    vocab_size: int | None = None,
    *,
    column: str = "text",
    num_merges: int | None = None,
    pattern: PatternLike = PATTERN,
    special_tokens: Iterable[Token] = (),
    protected: Iterable[Token] = (),
    tie_break: str = "lowest",
    byte_order: str = BYTE_ORDER,
    min_frequency: int = 1,
    max_token_bytes: int | None = None,
    initial: Tokenizer | None = None,
    snapshots: Iterable[int] = (),
    max_pretokens: int | None = None,
    progress: ProgressCallback | None = None,
    num_cpus: float = 1,
) -> Tokenizer:
    """Train a tokenizer on a dataset's column: count on all workers, merge here.

    Args:
        ds: A Ray Dataset.
        vocab_size: See `pybpe.train`, as for all arguments not named here.
        column: See `count`.
        num_merges: See `pybpe.train`.
        pattern: See `pybpe.train`.
        special_tokens: See `pybpe.train`.
        protected: See `pybpe.train`.
        tie_break: See `pybpe.train`. For "first" the order of the rows is preserved.
        byte_order: See `pybpe.train`.
        min_frequency: See `pybpe.train`.
        max_token_bytes: See `pybpe.train`.
        initial: See `pybpe.train`.
        snapshots: See `pybpe.train`.
        max_pretokens: See `pybpe.train`.
        progress: See `pybpe.train`; it is told of merging. Counting is shown by Ray.
        num_cpus: See `count`.

    Returns:
        The tokenizer that `pybpe.train` makes of the rows.

    Raises:
        TypeError: See `pybpe.train` and `count`.
        ValueError: The same.
        TrainingError: The same.
    """
    special, more = list(special_tokens), list(protected)
    given: dict[str, Any] = {
        "num_merges": num_merges,
        "pattern": pattern,
        "special_tokens": special,
        "protected": more,
        "tie_break": tie_break,
        "byte_order": byte_order,
        "min_frequency": min_frequency,
        "max_token_bytes": max_token_bytes,
        "initial": initial,
        "snapshots": list(snapshots),
    }
    # Options that make no sense are to be refused before the work, not after it.
    train_from_counts(
        no_counts(head_for(pattern, special, more, initial)), vocab_size, **given
    )
    counts = count(
        ds,
        column,
        pattern=pattern,
        special_tokens=special,
        protected=more,
        initial=initial,
        max_pretokens=max_pretokens,
        preserve_order=tie_break == "first",
        num_cpus=num_cpus,
    )
    return train_from_counts(counts, vocab_size, progress=progress, **given)


# ---------------------------------------------------------------- encoding


def encode(
    ds: Dataset,
    tokenizer: Tokenizer,
    column: str = "text",
    *,
    output_column: str = "input_ids",
    allowed_special: Allowed = frozenset(),
    disallowed_special: Disallowed = "all",
    add_special_tokens: bool = False,
    num_cpus: float = 1,
) -> Dataset:
    """Return the dataset with a column more: the ids of the texts in another one.

    Nothing runs before the result is used, as usual with Ray. The tokenizer travels
    once to each node and is made once in each worker process, not for every task.

    Args:
        ds: A Ray Dataset.
        tokenizer: What encodes.
        column: See `count`.
        output_column: The column of ids, lists of `uint32`; by default `input_ids`, as
            `pybpe.MapFunction` and transformers call it. The others stay; leave off
            those that are not needed with `drop_columns`.
        allowed_special: See `Tokenizer.encode`.
        disallowed_special: See `Tokenizer.encode`.
        add_special_tokens: See `Tokenizer.encode`.
        num_cpus: CPUs for each task, which are as many threads.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: One makes no sense; or there is no such column, or the output column
            is there already. What a row is the cause of (see `Tokenizer.encode` and
            `count`), and columns that Ray does not know of beforehand, are told when
            the result is used, by Ray: as a `RayTaskError` that has the message.
    """
    refuse_taken(output_column, _known_columns(ds, column))
    function = MapFunction(
        tokenizer,
        column,
        output_column=output_column,
        allowed_special=allowed_special,
        disallowed_special=disallowed_special,
        add_special_tokens=add_special_tokens,
        num_threads=_threads(num_cpus),
    )
    return ds.map_batches(
        _EncodeBlock(function, column, output_column),
        batch_size=None,
        batch_format="pyarrow",
        zero_copy_batch=True,
        **_resources(num_cpus),
    )


class _EncodeBlock:
    """Encodes a block: the function that Ray runs in its tasks."""

    def __init__(self, function: MapFunction, column: str, output_column: str) -> None:
        self._function = function
        self._column = column
        self._output_column = output_column

    def __call__(self, block: Table) -> Table:
        refuse_taken(self._output_column, block.column_names)
        ids, offsets = self._function._encode(_texts(block, self._column))
        lists = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(ids))
        return block.append_column(self._output_column, lists)


# ---------------------------------------------------------------- shards


def write_shards(
    ds: Dataset,
    tokenizer: Tokenizer,
    folder: str | os.PathLike[str],
    column: str = "text",
    *,
    separator: Token | int | None,
    separator_at: str = "end",
    name: str = "shard",
    dtype: str = "auto",
    shard_size: int | None = None,
    allowed_special: Allowed = frozenset(),
    disallowed_special: Disallowed = "all",
    overwrite: bool = False,
    num_cpus: float = 1,
) -> Path:
    """Encode a dataset's column to shards, which `pybpe.open_shards` reads.

    Every task has a `pybpe.ShardWriter` of its own; when all have finished, what they
    wrote becomes one set. The documents are in the order of the rows, and all tokens
    end to end are those that one process writes; where a file ends is different, since
    none goes over the rows of two tasks. Nothing shows before everything is there, and
    a task that fails is run again from its beginning.

    Args:
        ds: A Ray Dataset. Each row is a document.
        tokenizer: What encodes.
        folder: A folder that all nodes share. It is made if it is not there.
        column: See `count`.
        separator: See `pybpe.ShardWriter`, as for all arguments not named here.
        separator_at: See `pybpe.ShardWriter`.
        name: What the names of files begin with; a task's are
            `NAME-000123-00000.tokens` and so on.
        dtype: See `pybpe.ShardWriter`.
        shard_size: See `pybpe.ShardWriter`.
        allowed_special: See `Tokenizer.encode`.
        disallowed_special: See `Tokenizer.encode`.
        overwrite: Whether to write anew what was written there under this name, and to
            take the place of the set that was joined there: its index goes before
            anything is written. A folder that `encode_files` has written is refused.
        num_cpus: CPUs for each task, which are as many threads.

    Returns:
        The index of the set, in `folder`.

    Raises:
        CorpusError: There is a set in this folder already, or what `encode_files` has
            written.
        TypeError: An argument has the wrong type.
        ValueError: One makes no sense; or there is no such column. What a row is the
            cause of is raised by Ray: as a `RayTaskError` that has the message.
        UnknownTokenError: There is no such separator.
    """
    from pybpe.corpora import ShardWriter, join_shards
    from pybpe.corpora.index import INDEX
    from pybpe.errors import CorpusError

    where = Path(folder).absolute()
    options: dict[str, Any] = {
        "separator": separator,
        "separator_at": separator_at,
        "dtype": dtype,
        "shard_size": shard_size,
        "allowed_special": allowed_special,
        "disallowed_special": disallowed_special,
        "num_threads": _threads(num_cpus),
        "overwrite": True,  # for tasks that are tried again
    }
    there = [where / INDEX, *where.glob(f"{name}-*.{INDEX}")]
    if not overwrite and (found := [path for path in there if path.exists()]):
        raise CorpusError(
            f"{found[0]}: there are shards in this folder; give another one, or "
            "overwrite=True"
        )
    # Arguments that make no sense are refused before the work; and a set of shards has
    # one writer at least, whatever rows there are.
    with ShardWriter(tokenizer, where, name=f"{name}-none", **options):
        _known_columns(ds, column)
        # Before the shards, for it must not speak of shards that are others by now.
        (where / INDEX).unlink(missing_ok=True)
        for path in where.glob(f"{name}-*"):
            if path.name.removeprefix(f"{name}-")[:6].isdecimal():
                path.unlink()
    sink = _Shards(tokenizer, where, column, name, options)
    with _order(ds, True):
        ds.write_datasink(sink, ray_remote_args=_resources(num_cpus))
    return join_shards(where, [f"{name}-none", *sorted(sink.names)])


class _Shards(ray.data.Datasink):  # type: ignore[misc]
    """Writes what a task has, under the number of the task."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        folder: Path,
        column: str,
        name: str,
        options: dict[str, Any],
    ) -> None:
        self._shipped = Shipped(tokenizer)
        self._folder = folder
        self._column = column
        self._name = name
        self._options = options
        self.names: list[str] = []

    def write(self, blocks: Iterable[Any], ctx: Any) -> str:
        """Write blocks: a task. Return the name of the writer."""
        from pybpe.corpora import ShardWriter

        name = f"{self._name}-{ctx.task_idx:06d}"
        with ShardWriter(
            self._shipped.tokenizer, self._folder, name=name, **self._options
        ) as writer:
            for block in blocks:
                table = ray.data.block.BlockAccessor.for_block(block).to_arrow()
                writer.add(_texts(table, self._column))
        return name

    def on_write_complete(self, write_result: Any) -> None:
        """Keep the names of all writers: on the driver."""
        self.names = list(write_result.write_returns)


# ---------------------------------------------------------------- blocks


def _known_columns(ds: Dataset, column: str) -> list[str]:
    """Return the columns of a dataset, if Ray knows them without running anything.

    Raises:
        ValueError: `column` is not among them.
    """
    schema = ds.schema(fetch_if_missing=False)
    names = [] if schema is None else list(schema.names)
    if names:
        _refuse_missing(column, names)
    return names


def _refuse_missing(column: str, names: list[str]) -> None:
    if column not in names:
        raise ValueError(
            f"there is no column {column!r} but "
            f"{', '.join(map(repr, names)) or 'none at all'}"
        )


def _texts(block: Table, column: str) -> list[bytes]:
    """Return the texts in a block of rows."""
    if block.num_rows == 0:
        return []  # it need not have columns, nor these a type
    _refuse_missing(column, block.column_names)
    found = block.column(column)
    kind = found.type.value_type if pa.types.is_dictionary(found.type) else found.type
    if found.null_count:
        raise ValueError(
            f"column {column!r} has rows without a text (null): leave them out, or put "
            "'' there"
        )
    if not (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    ):
        raise TypeError(f"column {column!r} must hold text or bytes, not {found.type}")
    texts: list[bytes] = found.cast(kind).cast(pa.large_binary()).to_pylist()
    return texts


def _resources(num_cpus: float) -> dict[str, float]:
    """Return what to ask Ray for: nothing if that comes to the same.

    Tasks that ask for different things are not fused.
    """
    return {} if num_cpus == 1 else {"num_cpus": num_cpus}


def _threads(num_cpus: float) -> int:
    """Return how many threads a task has use for."""
    if isinstance(num_cpus, bool) or not isinstance(num_cpus, (int, float)):
        raise TypeError(f"num_cpus must be a number, got {num_cpus!r}")
    if not 0 < num_cpus <= MAX_THREADS:
        raise ValueError(
            f"num_cpus must be above 0 and at most {MAX_THREADS}, got {num_cpus}"
        )
    return max(1, int(num_cpus))
