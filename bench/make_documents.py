"""Write a corpus of documents as JSON lines: for measuring `pybpe prepare`.

    python bench/make_documents.py --megabytes 1000 english_100mb.txt.xz \
        code_100mb.txt.xz multilingual_100mb.txt.xz -o large.jsonl

The texts are those of make_corpus.py, which alters a part of each copy; they are cut at
ends of lines into documents whose sizes are log-normal, of 4 KB on average. Each line
has an id and a source, too, and non-ASCII characters stand for themselves, as in most
published corpora. The same arguments give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

from make_corpus import copies, read

MEAN, SIGMA = 4000, 1.0  # bytes; of the logarithm


def documents(lines: Iterator[bytes]) -> Iterator[str]:
    """Yield texts of many lines, without end."""
    chance = random.Random(4)
    while True:
        # The mean of a log-normal distribution is exp(mu + sigma^2 / 2).
        wanted = MEAN * chance.lognormvariate(-SIGMA * SIGMA / 2, SIGMA)
        parts: list[bytes] = []
        held = 0
        while held < wanted:
            parts.append(next(lines))
            held += len(parts[-1])
        yield b"".join(parts).decode("utf-8", "replace")


def main() -> None:
    """Write as many bytes as asked for, to the end of a line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    left = args.megabytes * 10**6
    lines = copies([read(path) for path in args.texts], args.every)
    with args.output.open("wb") as file:
        for number, text in enumerate(documents(lines)):
            record = {"id": f"doc-{number:08}", "text": text, "source": "copies"}
            left -= file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            if left <= 0:
                break


if __name__ == "__main__":
    main()
