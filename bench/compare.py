"""Measure pybpe beside tiktoken (encoding) and rustbpe (training), on one core.

    python bench/compare.py [encode] [train] [growth] [--text english] [--mb 10]

Results are compared first: what is not equal is not measured. Every document is encoded
once, because a second pass over the same text would flatter any cache; the libraries
take turns, so that a noisy machine disturbs both alike. `growth` shows the worst cases:
time per megabyte for hostile texts, which must not depend on their size.

Texts come from $PYBPE_TEST_DATA; see docs/development.md.
"""

from __future__ import annotations

import argparse
import base64
import lzma
import os
import platform
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["RAYON_NUM_THREADS"] = "1"  # before rustbpe is imported

import pybpe

SEGMENT = 1_000_000  # bytes that one library encodes before it is the other's turn
DOCUMENT = 4_000  # characters
CL100K = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"""
    r"""| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)


def read(kind: str, megabytes: float) -> str:
    """Return the beginning of a corpus."""
    folder = os.environ.get("PYBPE_TEST_DATA")
    if not folder:
        sys.exit("set PYBPE_TEST_DATA; see docs/development.md")
    path = Path(folder, "corpora", f"{kind}_100mb.txt.xz")
    with lzma.open(path) as file:
        return file.read(int(megabytes * 1e6)).decode("utf-8", errors="ignore")


def documents(text: str) -> list[str]:
    return [text[i : i + DOCUMENT] for i in range(0, len(text), DOCUMENT)]


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure_encode(kind: str, megabytes: float) -> None:
    """Encode with the ranks and pattern of cl100k_base."""
    texts = documents(read(kind, megabytes))
    import tiktoken

    # Read here and not by tiktoken's loader, which deletes files it does not like.
    path = Path(
        os.environ["PYBPE_TEST_DATA"], "vocab", "openai", "cl100k_base.tiktoken"
    )
    lines = path.read_bytes().splitlines()
    pairs = (line.split() for line in lines if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    theirs = tiktoken.Encoding(
        "cl100k", pat_str=CL100K, mergeable_ranks=ranks, special_tokens={}
    )
    ours = pybpe.Tokenizer.from_ranks(ranks, pattern="cl100k", special_tokens={})
    for text in texts[:: max(1, len(texts) // 200)]:
        if ours.encode_ordinary(text) != theirs.encode_ordinary(text):
            sys.exit(f"ids differ on {text[:60]!r}...")
    # Fresh objects: the check has warmed caches.
    ours = pybpe.Tokenizer.from_ranks(ranks, pattern="cl100k", special_tokens={})
    spent = {"pybpe": 0.0, "tiktoken": 0.0}
    per_turn = max(1, SEGMENT // DOCUMENT)
    for start in range(0, len(texts), per_turn):
        turn = texts[start : start + per_turn]
        both: list[tuple[str, Any]] = [("pybpe", ours), ("tiktoken", theirs)]
        for name, tok in both if start // per_turn % 2 else reversed(both):
            encode = tok.encode_ordinary
            spent[name] += seconds(lambda e=encode, t=turn: [e(text) for text in t])
    n_bytes = sum(len(text.encode()) for text in texts)
    speed = {name: n_bytes / 1e6 / spent[name] for name in spent}
    print(
        f"encode  {kind:13} {n_bytes / 1e6:6.1f} MB"
        f"  pybpe {speed['pybpe']:7.1f} MB/s  tiktoken {speed['tiktoken']:6.1f} MB/s"
        f"  ratio {speed['pybpe'] / speed['tiktoken']:5.1f}"
    )


def measure_train(kind: str, megabytes: float, vocab_size: int = 8192) -> None:
    """Train with the `gpt4` split, ties `lowest`, on one thread."""
    import rustbpe

    texts = documents(read(kind, megabytes))
    ours: list[pybpe.Tokenizer] = []
    theirs = rustbpe.Tokenizer()

    def run_ours() -> None:
        ours.append(pybpe.train(texts, vocab_size, pattern="gpt4", num_threads=1))

    def run_theirs() -> None:
        theirs.train_from_iterator(iter(texts), vocab_size)

    spent = {"rustbpe": seconds(run_theirs), "pybpe": seconds(run_ours)}
    tokens = {number: bytes(token) for token, number in theirs.get_mergeable_ranks()}
    made = [ours[0].decode_bytes([number]) for number in range(256, vocab_size)]
    if made != [tokens[number] for number in range(256, vocab_size)]:
        sys.exit("the merges differ")
    n_bytes = sum(len(text.encode()) for text in texts)
    print(
        f"train   {kind:13} {n_bytes / 1e6:6.1f} MB  to {vocab_size:,} tokens"
        f"  pybpe {spent['pybpe']:6.2f} s  rustbpe {spent['rustbpe']:6.2f} s"
        f"  ratio {spent['rustbpe'] / spent['pybpe']:5.1f}"
    )


def hostile(megabytes: int) -> dict[str, str]:
    n = megabytes << 20
    draw = random.Random(1)
    return {
        "one letter": "a" * n,
        "spaces": " " * n,
        "ab": "ab" * (n // 2),
        "newline, spaces": "\n" + " " * (n - 1),
        "line breaks": "\r\n" * (n // 2),
        "random CJK": "".join(draw.choices("的一是不了人我在有他这为之大来", k=n // 3)),
    }


def measure_growth() -> None:
    """Encode hostile texts of 1 and 4 MB; with no split, so that nothing is cut."""
    corpus = "ab aab   \n\n  的一是不了人我在有他这为之大来\r\n" * 50
    tok = pybpe.train([corpus], 400, pattern=None)
    small, large = hostile(1), hostile(4)
    for name in small:
        one = seconds(lambda t=small[name]: tok.encode_ordinary(t))
        four = seconds(lambda t=large[name]: tok.encode_ordinary(t)) / 4
        print(f"growth  {name:16} 1 MB {one:6.3f} s  4 MB {four:6.3f} s per MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="*", help="encode, train, growth; default: all")
    parser.add_argument("--text", default="english,code,multilingual")
    parser.add_argument("--mb", type=float, default=10)
    args = parser.parse_args()
    what = args.what or ["encode", "train", "growth"]
    if wrong := set(what) - {"encode", "train", "growth"}:
        parser.error(f"unknown: {', '.join(sorted(wrong))}")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    cpu = platform.processor() or platform.machine()
    print(f"pybpe {pybpe.__version__}, Python {platform.python_version()}, {cpu}")
    for kind in args.text.split(","):
        if "encode" in what:
            measure_encode(kind, args.mb)
        if "train" in what:
            measure_train(kind, args.mb)
    if "growth" in what:
        measure_growth()


if __name__ == "__main__":
    main()
