"""Counting the words of a corpus whose texts are lines, as sentencepiece takes it.

Lines do not depend on each other and neither does anything on their order, so any
thread may count any lines.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING

from pybpe._binding_sentences import Lines, Sentences
from pybpe._binding_training import Counts
from pybpe._text import to_utf8
from pybpe._training_options import integer
from pybpe.errors import TrainingError

if TYPE_CHECKING:
    from pybpe._piece_options import Options
    from pybpe.codepoint import Normalizer

# Lines are handed out in portions of about so many bytes.
PORTION = 4 << 20
_MAX_BATCH = 1 << 16

_RESERVED = "\u2585".encode()
_WEIGHT = re.compile(rb"\s*\+?0*([1-9][0-9]*)\s*")

Batch = tuple[list[bytes], "array[int] | None"]


class _Share:
    """What one thread at a time works with."""

    __slots__ = ("counts", "sentences")

    def __init__(self, sentences: Sentences, beside: Counts | None) -> None:
        self.sentences = sentences
        self.counts = Counts(beside)


class SentenceCounter:
    """Counts the words of lines, on this thread or on others.

    Attributes:
        size: How many bytes have been taken, ends of lines included.
    """

    def __init__(
        self,
        options: Options,
        normalizer: Normalizer,
        num_threads: int,
        progress: Callable[[int], None],
    ) -> None:
        """Prepare for lines.

        Args:
            options: The options of training.
            normalizer: What to do to each line first.
            num_threads: 1 counts on the calling thread; more start so many others.
            progress: Called every now and then, on the calling thread, with the number
                of bytes handed out.
        """
        self._options = options
        self._progress = progress
        self._tsv = options["input_format"] == "tsv"
        # With a limit it matters which lines come first.
        self._limit: int = options["input_sentence_size"]
        self._kept = 0
        if self._limit:
            num_threads = 1
        self._shares: list[_Share] = []
        for _ in range(num_threads):
            sentences = Sentences(
                normalizer,
                mark_behind=options["treat_whitespace_as_suffix"],
                words=options.words,
                longest=options["max_sentence_length"],
                cut=options.cut,
                delimiter=options.delimiter,
                classes=options.classes,
            )
            first = self._shares[0].counts if self._shares else None
            self._shares.append(_Share(sentences, first))
        self._free: SimpleQueue[_Share] = SimpleQueue()
        for share in self._shares:
            self._free.put(share)
        self._pool = ThreadPoolExecutor(num_threads) if num_threads > 1 else None
        self._running: list[Future[None]] = []
        self.size = 0

    # -------------------------------------------------------------- taking in

    def add_blocks(self, texts: Iterable[Iterable[bytes]]) -> None:
        """Count the lines of texts that come in blocks; the last needs no LF.

        Raises:
            TrainingError: A line is not as `input_format` has it.
        """
        if self._tsv or self._limit:
            lines = (line for blocks in texts for line in _lines_of(blocks))
            self._add_all(self._numbered(lines, strip=False), strip=False)
            return
        for blocks in texts:
            for lines_together in _whole_lines(blocks):
                self._submit_lines(lines_together)

    def add_texts(self, texts: Iterable[str | bytes]) -> None:
        """Count texts, each of which is a line; CR and LF at their ends are left out.

        Raises:
            TypeError: An item is neither str nor bytes.
            TrainingError: A text is not as `input_format` has it.
        """
        found = (
            to_utf8(text, f"texts[{i}]") if type(text) is not bytes else text
            for i, text in enumerate(texts)
        )
        strip = not self._tsv
        self._add_all(self._numbered(found, strip=True), strip=strip)

    def add_counts(self, counts: Mapping[str | bytes, int]) -> None:
        """Count texts, each as often as the mapping says."""
        self._add_all(self._weighed(counts), strip=True)

    def _weighed(
        self, counts: Mapping[str | bytes, int]
    ) -> Iterator[tuple[bytes, int]]:
        for text, weight in counts.items():
            data = to_utf8(text, "a text in counts")
            weight = integer(weight, f"counts[{text!r}]", 0, 2**63 - 1)
            if weight and self._wants(data.rstrip(b"\r\n")):
                yield data, weight

    def _numbered(
        self, lines: Iterable[bytes], *, strip: bool
    ) -> Iterator[tuple[bytes, int]]:
        """Give each line its weight, and end when there are enough."""
        for i, line in enumerate(lines):
            if strip and (self._tsv or self._limit):
                line = line.rstrip(b"\r\n")
            weight = 1
            if self._tsv:
                line, weight = _columns(line, i)
            if not self._wants(line):
                return
            yield line, weight

    def _wants(self, line: bytes) -> bool:
        """Tell whether a line is among the first that are kept; count it.

        Raises:
            TrainingError: sentencepiece would draw lots.
        """
        if not self._limit:
            return True
        if (
            not line
            or len(line) > self._options["max_sentence_length"]
            or _RESERVED in line
        ):
            return True  # the core leaves it out and counts it
        if self._kept >= self._limit:
            if self._options["shuffle_input_sentence"]:
                raise TrainingError(
                    f"there are more than input_sentence_size={self._limit} lines, of "
                    "which sentencepiece draws some at random, others each time; give "
                    "shuffle_input_sentence=False for the first ones, or a sample"
                )
            return False
        self._kept += 1
        return True

    def _add_all(self, lines: Iterable[tuple[bytes, int]], *, strip: bool) -> None:
        batch: list[bytes] = []
        weights = array("Q")
        held = 0
        plain = True
        for line, weight in lines:
            batch.append(line)
            weights.append(weight)
            plain = plain and weight == 1
            held += len(line)
            if held >= PORTION or len(batch) >= _MAX_BATCH:
                self._submit_batch(batch, None if plain else weights, held, strip)
                batch, weights, held, plain = [], array("Q"), 0, True
        self._submit_batch(batch, None if plain else weights, held, strip)

    # -------------------------------------------------------------- counting

    def _submit_lines(self, data: bytes) -> None:
        if data:
            self._submit(partial(_count_lines, data), len(data))

    def _submit_batch(
        self, batch: list[bytes], weights: array[int] | None, size: int, strip: bool
    ) -> None:
        if batch:
            self._submit(partial(_count_batch, batch, weights, strip), size)

    def _submit(self, job: Callable[[_Share], None], size: int) -> None:
        """Run a job as soon as a share is free."""
        self.size += size
        self._progress(self.size)
        share = self._free.get()
        if self._pool is None:
            self._run(job, share)
            return
        try:
            self._running.append(self._pool.submit(self._run, job, share))
        except RuntimeError:
            # No more threads to be had here: make do with those there are, or this one.
            self._run(job, share)
        # What is done may have failed.
        for future in [f for f in self._running if f.done()]:
            self._running.remove(future)
            future.result()

    def _run(self, job: Callable[[_Share], None], share: _Share) -> None:
        try:
            job(share)
        finally:
            self._free.put(share)

    def finish(self) -> tuple[Counts, Lines]:
        """Wait until everything is counted; return the words, and what lines became."""
        for future in self._running:
            future.result()
        self._running.clear()
        counts = self._shares[0].counts
        for share in self._shares[1:]:
            counts.merge(share.counts)
            share.counts.close()
        each = [share.sentences.lines for share in self._shares]
        return counts, Lines(*map(sum, zip(*each, strict=True)))

    def __enter__(self) -> SentenceCounter:
        """Return the counter itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all threads that still run."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _count_lines(data: bytes, share: _Share) -> None:
    share.sentences.add_lines(share.counts, data, more=False)


def _count_batch(
    batch: list[bytes], weights: array[int] | None, strip: bool, share: _Share
) -> None:
    share.sentences.add_batch(share.counts, batch, weights, strip=strip)


def _whole_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks put together, or cut, so that they end with LF; but for the last."""
    pending: list[bytes] = []
    held = 0
    for block in blocks:
        held += len(block)
        cut = block.rfind(b"\n") + 1 if held >= PORTION else 0
        if not cut:
            pending.append(block)
            continue
        yield b"".join((*pending, block[:cut]))
        pending, held = [block[cut:]], len(block) - cut
    yield b"".join(pending)


def _lines_of(blocks: Iterable[bytes]) -> Iterator[bytes]:
    for lines in _whole_lines(blocks):
        yield from lines.removesuffix(b"\n").split(b"\n") if lines else ()


def _columns(line: bytes, number: int) -> tuple[bytes, int]:
    """Return the text and the weight of a line of input_format="tsv".

    Raises:
        TrainingError: It has not those two, or the weight is below 1.
    """
    columns = line.split(b"\t")
    found = _WEIGHT.fullmatch(columns[1]) if len(columns) == 2 else None
    if found is None or (weight := int(found[1])) >= 1 << 63:
        raise TrainingError(
            f"line {number + 1} is not a text, a tab and a number from 1 on, as "
            f"input_format='tsv' has it: {line[:80]!r}"
        )
    return columns[0], weight
