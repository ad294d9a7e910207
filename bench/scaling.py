"""Measure what docs/scaling.md reckons with: the rates of every step of a large job.

    python bench/scaling.py [--vocab-size N] TEXT ...

Each TEXT is a file. It is cut at line ends into 16 parts, as a job over many machines
would have them. Everything runs on one thread: rates are those of one core, and what
many cores do is that many times as much, but for the last merge and the training, which
one process does. Seconds are of CPU, and of the best of two runs.
"""

from __future__ import annotations

import argparse
import gc
import math
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pybpe

PARTS = 16
DOCUMENT = 4000  # bytes
END = "<|endoftext|>"

_T = TypeVar("_T")


def best(act: Callable[[], _T]) -> tuple[float, _T]:
    """Return the CPU seconds of the better of two runs, and what it returned."""
    seconds = math.inf
    for _ in range(2):
        gc.collect()
        begun = time.process_time()
        result = act()
        seconds = min(seconds, time.process_time() - begun)
    return seconds, result


def parts_of(text: bytes, folder: Path) -> list[Path]:
    """Write a text in parts that end at line ends."""
    paths = []
    begin = 0
    for i in range(PARTS):
        end = len(text) * (i + 1) // PARTS
        end = len(text) if i == PARTS - 1 else text.find(b"\n", end - 1) + 1 or end
        paths.append(folder / f"{i:02}.txt")
        paths[-1].write_bytes(text[begin:end])
        begin = end
    return paths


def measure(path: Path, vocab_size: int, folder: Path) -> None:
    """Print the rates for one file."""
    text = path.read_bytes()
    mb = len(text) / 1e6
    paths = parts_of(text, folder)
    print(f"{path.name}: {mb:,.0f} MB")

    def show(what: str, value: str) -> None:
        print(f"  {what:42} {value}")

    seconds, whole = best(lambda: pybpe.count_files(paths, num_threads=1))
    show("count", f"{mb / seconds:,.0f} MB/s")
    distinct = [
        len(pybpe.count_files(paths[: PARTS >> i], num_threads=1)) for i in (2, 1, 0)
    ]
    show("distinct pretokens of 1/4, 1/2, all", " ".join(f"{n:,}" for n in distinct))
    show("their growth per doubling", f"{distinct[2] / distinct[1]:.2f}")
    one = folder / "all.counts"
    seconds, _ = best(lambda: whole.save(one))
    size = one.stat().st_size
    show("counts file", f"{size / 1e6:,.1f} MB, {size / len(whole):.1f} bytes each")
    show("save", f"{len(whole) / seconds / 1e6:,.1f} million pretokens/s")
    seconds, _ = best(lambda: pybpe.Counts.load(one))
    show("load", f"{len(whole) / seconds / 1e6:,.1f} million pretokens/s")
    files = []
    for i, part in enumerate(paths):
        files.append(folder / f"{i:02}.counts")
        pybpe.count_files([part], num_threads=1).save(files[-1])
    records = sum(len(pybpe.Counts.load(file)) for file in files)
    size = sum(file.stat().st_size for file in files)
    seconds, merged = best(lambda: pybpe.merge_counts(files))
    if merged != whole:
        raise SystemExit("merging gave something else than counting")
    show(
        f"merge {PARTS} parts, {size / 1e6:,.1f} MB",
        f"{records / seconds / 1e6:,.1f} million pretokens/s, {seconds:.2f} s",
    )
    seconds, tok = best(lambda: pybpe.train_from_counts(whole, vocab_size))
    show(f"train {tok.vocab_size:,} ids", f"{seconds:.1f} s")
    model = tok.truncate(vocab_size - 1).add_special_tokens([END]).to_bytes()
    documents = [text[at : at + DOCUMENT] for at in range(0, len(text), DOCUMENT)]

    def encode() -> None:
        # A new tokenizer each time: nothing is in its caches.
        with pybpe.ShardWriter(
            pybpe.Tokenizer.from_bytes(model),
            folder / "shards",
            separator=END,
            disallowed_special=(),
            num_threads=1,
            overwrite=True,
        ) as writer:
            writer.add(documents)

    seconds, _ = best(encode)
    written = sum(p.stat().st_size for p in (folder / "shards").glob("*.tokens"))
    show(
        "encode and write shards",
        f"{mb / seconds:,.0f} MB/s, {written / len(text):.2f} bytes per byte of text",
    )


def main() -> None:
    """Measure each file that was named."""
    parser = argparse.ArgumentParser(description="Measure the steps of a large job.")
    parser.add_argument("texts", nargs="+", type=Path, metavar="TEXT")
    parser.add_argument("--vocab-size", type=int, default=65_536)
    arguments = parser.parse_args()
    for path in arguments.texts:
        with tempfile.TemporaryDirectory(prefix="pybpe-scaling-") as folder:
            measure(path, arguments.vocab_size, Path(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory {peak / 1e3:,.0f} MB")


if __name__ == "__main__":
    main()
