"""Counts of pretokens as things of their own: made here, merged there, trained on.

Training has two parts, counting and merging. Counts can be saved in between, so that
many machines count a part of a corpus each and one of them trains.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pybpe import _binding_training as core
from pybpe import _counts_file
from pybpe._counts_file import Head
from pybpe._training_input import (
    from_files,
    most_pretokens,
    pretokens_limited,
    thread_count,
)
from pybpe._training_options import (
    BYTE_ORDER,
    PATTERN,
    Given,
    Options,
    refuse_lone_text,
)
from pybpe._training_report import ProgressCallback, Ticker
from pybpe.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

    from pybpe._counting import PretokenCounter
    from pybpe.corpora.inputs import Format, Paths
    from pybpe.split import PatternLike, Split
    from pybpe.tokenizer import Tokenizer

__all__ = ["Counts", "count_files", "count_texts", "merge_counts"]

Token = str | bytes


class Counts:
    """The distinct pretokens of some texts: how often each occurs, and where first.

    Make them with `count_texts` or `count_files`, or `Counts.load`; put several
    together with `merge_counts`; give them to `train_from_counts`. That comes to the
    tokenizer that training on all the texts at once would have come to, to the byte.

    >>> counts = count_texts(["low lower lowest", "new newer"], pattern="gpt2")
    >>> counts.documents, counts.bytes, counts.pretokens, len(counts)
    (2, 25, 5, 5)
    >>> dict(counts.items())[b" lower"]
    1

    Two are equal when they would be saved as the same bytes. They pickle, by these
    bytes. Threads: counts never change, so any number of threads may use them at once.
    """

    __slots__ = ("__weakref__", "_head", "_table")

    def __init__(self, head: Head, table: core.Counts) -> None:
        """Take over a table; the functions of this module are the way to make one."""
        self._head = head
        self._table = table

    @property
    def split(self) -> Split:
        """What cut the texts into pretokens."""
        return self._head.split

    @property
    def special_tokens(self) -> tuple[bytes, ...]:
        """The special tokens that were cut out of the texts, in the order given."""
        return self._head.special_tokens

    @property
    def protected(self) -> tuple[bytes, ...]:
        """The protected strings that were cut out of the texts, in the order given."""
        return self._head.protected

    @property
    def initial_tokens(self) -> tuple[bytes, ...]:
        """What was cut out because the tokenizer given as `initial` does so."""
        return self._head.initial_tokens

    @property
    def documents(self) -> int:
        """How many texts or files were counted."""
        return self._head.documents

    @property
    def bytes(self) -> int:
        """Their size in UTF-8."""
        return self._head.size

    @property
    def pretokens(self) -> int:
        """How many pretokens they have: the sum of all frequencies."""
        return self._table.total

    def __len__(self) -> int:
        """Return how many distinct pretokens there are."""
        return self._table.distinct

    def items(self) -> Iterator[tuple[_Bytes, int]]:
        """Yield pretokens with their frequencies, in the order of the texts."""
        for pretoken, frequency, _ in self._table.items():
            yield pretoken, frequency

    # ------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file of counts, whole or not at all; equal counts are equal bytes.

        Raises:
            OSError: It cannot be written; what was there is still there.
        """
        from pybpe._whole_file import whole_file

        with whole_file(path) as file:
            self._write(file)

    def _write(self, file: IO[_Bytes]) -> None:
        for block in _counts_file.stream(self._head, self._table):
            file.write(block)

    def to_bytes(self) -> _Bytes:
        """Return what `save` writes."""
        out = io.BytesIO()
        self._write(out)
        return out.getvalue()

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, max_pretokens: int | None = None
    ) -> Counts:
        """Read a file of counts.

        Args:
            path: The file.
            max_pretokens: Give up when there are more distinct pretokens than this.

        Raises:
            TrainingError: It is no file of counts (the message says what it looks
                like), it is damaged or truncated, it needs a newer pybpe, or it has
                more than `max_pretokens`.
            OSError: It cannot be read.
            TypeError: `path` is no path.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path must be str or os.PathLike, got {path!r:.100}")
        return merge_counts([path], max_pretokens=max_pretokens)

    @classmethod
    def from_bytes(cls, data: _Bytes) -> Counts:
        """Read what `to_bytes` returned.

        Raises:
            TrainingError: See `load`.
            TypeError: `data` is not bytes.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data must be bytes, got {type(data).__name__}")
        sum_ = _Sum(None)
        sum_.add_file(io.BytesIO(data), "the counts")
        return sum_.counts()

    # ------------------------------------------------------------ as an object

    def __eq__(self, other: object) -> bool:
        """Compare everything that would be saved."""
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self._head == other._head
            and self.pretokens == other.pretokens
            and len(self) == len(other)
            and self.to_bytes() == other.to_bytes()
        )

    def __hash__(self) -> int:
        """Hash what is quickly told."""
        return hash((self.documents, self.bytes, self.pretokens, len(self)))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by content."""
        return Counts.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        """Show how much there is."""
        return (
            f"<pybpe.Counts of {self.documents:,} texts, {self.bytes:,} bytes: "
            f"{self.pretokens:,} pretokens, {len(self):,} of them distinct>"
        )


def no_counts(how: Head) -> Counts:
    """Return the counts of no text at all."""
    return Counts(how._replace(documents=0, size=0), core.Counts())


_Bytes = bytes  # which a property of `Counts` hides


def count_texts(
    texts: Iterable[Token],
    *,
    pattern: PatternLike = PATTERN,
    special_tokens: Iterable[Token] = (),
    protected: Iterable[Token] = (),
    initial: Tokenizer | None = None,
    max_pretokens: int | None = None,
    num_threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Counts:
    """Count the pretokens of texts, to train on them later or elsewhere.

    >>> parts = [count_texts(["low lower lowest"]), count_texts(["new newer"])]
    >>> tok = train_from_counts(merge_counts(parts), 259)
    >>> tok == train(["low lower lowest", "new newer"], 259)
    True

    Args:
        texts: Any iterable of str or bytes. Each is split on its own.
        pattern: See `pybpe.train`.
        special_tokens: See `pybpe.train`: they are cut out of the texts.
        protected: See `pybpe.train`: they are cut out as well.
        initial: The tokenizer that training will go on from, if any: what it matches in
            texts is cut out, too, and by default its split is taken.
        max_pretokens: Give up when there are more distinct pretokens than this.
        num_threads: How many threads count; by default as many as there are CPUs for
            this process.
        progress: Called with a `Progress` at most ten times a second.

    Raises:
        TypeError: An argument, or an item of `texts`, has the wrong type.
        ValueError: An option has a value that makes no sense.
        TrainingError: The texts have more than `max_pretokens`.
        Exception: Whatever `texts` or `progress` raises comes out unchanged.
    """
    refuse_lone_text(texts, "texts", "a list of texts")
    return tally(
        head_for(pattern, special_tokens, protected, initial),
        lambda counter: counter.add_texts(texts),
        None,
        num_threads=num_threads,
        max_pretokens=max_pretokens,
        progress=progress,
    )


def count_files(
    paths: Paths,
    *,
    pattern: PatternLike = PATTERN,
    special_tokens: Iterable[Token] = (),
    protected: Iterable[Token] = (),
    initial: Tokenizer | None = None,
    max_pretokens: int | None = None,
    format: Format | None = None,
    field: str = "text",
    split_on: Token | None = None,
    num_threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Counts:
    """Count the pretokens of files: of text, each one text, or of documents.

    Files are read in blocks, so they may be larger than memory.

    Args:
        paths: Files, folders or patterns, in order: see `pybpe.train_from_files`.
        pattern: See `count_texts`, as for all other arguments.
        special_tokens: See `count_texts`.
        protected: See `count_texts`.
        initial: See `count_texts`.
        max_pretokens: See `count_texts`.
        format: See `pybpe.train_from_files`.
        field: See `pybpe.train_from_files`.
        split_on: See `pybpe.train_from_files`.
        num_threads: See `count_texts`. They share one large file, too.
        progress: See `count_texts`.

    Raises:
        OSError: A file cannot be read.
        CorpusError: A file cannot be read as documents. (A `ValueError`.)
        ImportError: What reads such files is not installed.
        TypeError: See `count_texts`.
        ValueError: See `count_texts`.
        TrainingError: See `count_texts`.
    """
    take_in, total = from_files(paths, format, field, split_on)
    return tally(
        head_for(pattern, special_tokens, protected, initial),
        take_in,
        total,
        num_threads=num_threads,
        max_pretokens=max_pretokens,
        progress=progress,
    )


def merge_counts(
    parts: Iterable[Counts | str | os.PathLike[str] | bytes],
    *,
    max_pretokens: int | None = None,
) -> Counts:
    """Put counts together: those of all the texts, one part behind the other.

    Any grouping gives the same, so parts can be merged a few at a time, by many
    machines. Their order is that of the texts; it plays a part for
    `tie_break="first"` only.

    Args:
        parts: Counts, files of them, or what `Counts.to_bytes` returned. They are
            taken one after another: no more than the sum is held in memory.
        max_pretokens: Give up when there are more distinct pretokens than this.

    Raises:
        TypeError: `parts` holds something else.
        ValueError: There are none, or they were not made with the same split, special
            tokens and protected strings.
        TrainingError: A file is damaged or something else (see `Counts.load`), there
            are more than `max_pretokens`, or 2**64 texts, bytes or pretokens.
        OSError: A file cannot be read.
    """
    refuse_lone_text(parts, "parts", "a list of counts or paths")
    most = most_pretokens(max_pretokens)
    sum_ = _Sum(most)
    with pretokens_limited(most):
        for i, part in enumerate(parts):
            if isinstance(part, Counts):
                sum_.add(part, f"parts[{i}]")
            elif isinstance(part, bytes):
                with io.BytesIO(part) as file:
                    sum_.add_file(file, f"parts[{i}]")
            elif isinstance(part, (str, os.PathLike)):
                with Path(part).open("rb", buffering=0) as file:
                    sum_.add_file(file, repr(os.fspath(part)))
            else:
                raise TypeError(
                    f"parts[{i}] must be Counts, a path or bytes, got "
                    f"{type(part).__name__}"
                )
    return sum_.counts()


class _Sum:
    """Adds up counts, one part behind the other."""

    def __init__(self, most: int | None) -> None:
        self._table = core.Counts(most=most)
        self._head: Head | None = None
        self._first = ""  # the name of the first part

    def add(self, part: Counts, name: str) -> None:
        """Add counts that are in memory."""
        position = self._join(part._head, name)
        place = core.PackedPlace()
        for block in core.Packed(part._table).blocks(_counts_file.BLOCK):
            self._table.add_packed(block, position, part.bytes, place)

    def add_file(self, file: IO[bytes], name: str) -> None:
        """Add counts that are in a file.

        Raises:
            TrainingError: They cannot be read; the message has the name.
        """
        try:
            reader = _counts_file.Reader(file)
            reader.add_to(self._table, self._join(reader.head, name))
        except core.TooManyPretokens:
            raise
        except TrainingError as error:
            raise TrainingError(f"cannot load {name}: {error}") from None

    def _join(self, head: Head, name: str) -> int:
        """Take in a part's head; return the position of its first byte."""
        old = self._head
        if old is None:
            self._head, self._first = head, name
            return 0
        _refuse_unlike(old, self._first, head, name)
        size = old.size + head.size
        documents = old.documents + head.documents
        if size >= 2**64:
            raise TrainingError("the texts have 2**64 bytes or more together")
        if documents >= 2**64:
            raise TrainingError("there are 2**64 texts or more together")
        self._head = old._replace(documents=documents, size=size)
        return old.size

    def counts(self) -> Counts:
        """Return the sum.

        Raises:
            ValueError: There was no part.
        """
        if self._head is None:
            raise ValueError("parts is empty: there are no counts to merge")
        return Counts(self._head, self._table)


def _refuse_unlike(a: Head, name_a: str, b: Head, name_b: str) -> None:
    """Refuse to add up counts of what was not split alike.

    Raises:
        ValueError: That.
    """
    if a.split != b.split:
        what, of_a, of_b = "split", _shown_split(a.split), _shown_split(b.split)
        if of_a == of_b:
            what = "tables of the same split"
    else:
        for field in ("special_tokens", "protected", "initial_tokens"):
            if getattr(a, field) != getattr(b, field):
                what = field.replace("_", " ")
                of_a, of_b = (str(list(getattr(head, field))) for head in (a, b))
                break
        else:
            return
    raise ValueError(
        f"{name_b} was not counted with the same {what} as {name_a}: {of_b}, not "
        f"{of_a}; only what is counted alike can be merged"
    )


def _shown_split(split: Split) -> str:
    versions = sorted({stage.unicode_version for stage in split.stages})
    return f"{split!r} with Unicode {', '.join(versions)}" if versions else repr(split)


def head_for(
    pattern: PatternLike,
    special_tokens: Iterable[Token],
    protected: Iterable[Token],
    initial: Tokenizer | None,
) -> Head:
    """Check the options that matter for counting, as training checks them."""
    return head_of(
        Options(
            Given(
                vocab_size=None,
                num_merges=0,
                pattern=pattern,
                special_tokens=special_tokens,
                protected=protected,
                tie_break="lowest",
                byte_order=BYTE_ORDER,
                min_frequency=1,
                max_token_bytes=None,
                initial=initial,
                snapshots=(),
            )
        )
    )


def head_of(options: Options) -> Head:
    """Return how texts are counted for training with these options; so far, none."""
    special, protected = tuple(options.special), tuple(options.protected)
    others = dict.fromkeys(options.cut_out[len(special) + len(protected) :])
    return Head(options.split, special, protected, tuple(others), 0, 0)


def options_for(counts: Counts, given: Given) -> Options:
    """Check the options of training on counts, and hold them against the counts.

    Raises:
        TypeError: One has the wrong type.
        ValueError: One makes no sense, or does not go with what was counted.
    """
    initial = given["initial"]
    if given["pattern"] is PATTERN:
        given["pattern"] = counts.split
        if initial is not None and initial.split != counts.split:
            raise ValueError(
                f"initial splits by {_shown_split(initial.split)}, and the counts were "
                f"made with {_shown_split(counts.split)}: give that as pattern if it "
                "is what you want"
            )
    options = Options(given)
    if options.split != counts.split:
        raise ValueError(
            f"pattern: the counts were made with {_shown_split(counts.split)}, not "
            f"{_shown_split(options.split)}: leave it out, or count again"
        )
    wanted, found = set(options.cut_out), set(counts._head.cut_out)
    if more := wanted - found:
        raise ValueError(
            f"special_tokens, protected or initial: {_shown(more)} was not cut out of "
            "the texts when they were counted: count again with it, or add special "
            "tokens to the finished tokenizer"
        )
    if less := found - wanted:
        raise ValueError(
            f"special_tokens, protected or initial: {_shown(less)} was cut out of the "
            "texts when they were counted: name it as special or protected, or "
            "give the tokenizer that has it as initial"
        )
    return options


def _shown(tokens: set[bytes]) -> str:
    return ", ".join(
        repr(token.decode("utf-8", "backslashreplace")) for token in sorted(tokens)[:5]
    )


def tally(
    how: Head,
    take_in: Callable[[PretokenCounter], None],
    total: int | None,
    *,
    num_threads: int | None,
    max_pretokens: int | None,
    progress: ProgressCallback | None,
) -> Counts:
    """Count what `take_in` gives to a counter: `total` bytes, if that is known."""
    from pybpe._counting import PretokenCounter

    threads = thread_count(num_threads)
    most = most_pretokens(max_pretokens)
    ticker = Ticker(progress, "count", total, "bytes")
    with (
        pretokens_limited(most),
        PretokenCounter(how.split, how.cut_out, threads, ticker, most) as counter,
    ):
        take_in(counter)
        table = counter.finish()
    ticker.finish(counter.size)
    return Counts(how._replace(documents=counter.documents, size=counter.size), table)
