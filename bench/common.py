"""What the scripts that measure share: texts, turns, clocks, records of results.

Each script is a program of its own that prints one JSON object a line for each figure.
`compare.py` runs them, each part in a fresh process, and collects what they print.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Before any library with a pool of threads is imported.
os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

TEXTS = ("english", "code", "multilingual")
ENCODINGS = ("cl100k_base", "o200k_base")
SEGMENT = 5_000_000  # bytes that one library encodes before it is the next one's turn
DOCUMENT = 4_000  # characters
CHECKED = 400  # texts of which ids are compared

# Those that this process may use, as long as it is not pinned.
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []

# What is imported as what is installed as.
DISTRIBUTIONS = {
    "pybpe": "pybpe",
    "tiktoken": "tiktoken",
    "gigatoken": "gigatoken",
    "quicktok": "quicktok-v1",
    "splintr": "splintr-rs",
    "tuetoken": "tuetoken",
    "gigabpe": "gigabpe",
    "rustbpe": "rustbpe",
    "tokenizers": "tokenizers",
    "sentencepiece": "sentencepiece",
    "numpy": "numpy",
}


def arguments(about: str | None, libraries: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser with the options that all scripts have."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--text", default=",".join(TEXTS), help="kinds, with commas")
    parser.add_argument("--mb", type=float, help="no text is larger than that")
    parser.add_argument(
        "--peers", default=",".join(libraries), help="libraries, with commas"
    )
    return parser


def installed(names: str, able: Iterable[str] = DISTRIBUTIONS) -> list[str]:
    """Return pybpe, and those of the libraries that can do it and can be imported."""
    wanted = set(able).intersection(names.split(","))
    return ["pybpe", *(n for n in able if n in wanted - {"pybpe"} and find_spec(n))]


def data(*parts: str) -> Path:
    """Return the path of a file of the test data."""
    folder = os.environ.get("PYBPE_TEST_DATA")
    if not folder:
        sys.exit("set PYBPE_TEST_DATA; see docs/development.md")
    return Path(folder, *parts)


def read(kind: str, megabytes: float, most: float | None = None) -> str:
    """Return the beginning of a corpus, `megabytes` of it or `most`."""
    size = int(1e6 * min(megabytes, megabytes if most is None else most))
    with lzma.open(data("corpora", f"{kind}_100mb.txt.xz")) as file:
        return file.read(size).decode("utf-8", errors="ignore")


def documents(text: str, characters: int = DOCUMENT) -> list[str]:
    return [text[i : i + characters] for i in range(0, len(text), characters)]


def segments(sizes: Iterable[int], most: int) -> Iterator[slice]:
    """Cut a row of texts into stretches of about `most` bytes."""
    begin = end = total = 0
    for end, size in enumerate(sizes, 1):
        total += size
        if total >= most:
            yield slice(begin, end)
            begin, total = end, 0
    if begin < end:
        yield slice(begin, end)


def turns(names: Sequence[str], round_number: int) -> list[str]:
    """Return who comes after whom: everybody is first once in a while."""
    first = round_number % len(names)
    return [*names[first:], *names[:first]]


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def pin(n_cores: int) -> None:
    """Stay on the last cores that there are, where the system has such a thing."""
    if CORES:
        os.sched_setaffinity(0, set(CORES[-n_cores:]))


def peak_memory() -> float | None:
    """Return the most memory that this process has had, in MB, if the system tells."""
    status = Path("/proc/self/status")
    if status.exists():
        # The other figure that there is would begin with what the parent process has.
        found = re.search(r"^VmHWM:\s*(\d+) kB", status.read_text(), re.MULTILINE)
        return int(found[1]) / 1000 if found else None
    if find_spec("resource") is None:
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def differ(library: str, where: str) -> None:
    """Stop: a library that gives other ids does other work, and is not measured."""
    sys.exit(f"{library} gives other ids than the others: {where}")


def record(part: str, **values: Any) -> None:
    """Print a result."""
    print(json.dumps({"part": part, **values}), flush=True)
