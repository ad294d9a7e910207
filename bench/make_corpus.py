"""Write a large corpus: texts, again and again, a part of each copy altered.

    python bench/make_corpus.py --megabytes 1000 english.txt -o /tmp/large.txt
    python bench/make_corpus.py --megabytes 1000 english.txt.xz code.txt.xz -o large.txt

Real text goes on having new words, though fewer and fewer. So in each copy one line in
`--every` has two pairs of letters exchanged, other ones each time, which makes new
words of much of it; the rest is as it was. The same arguments give the same bytes.
"""

from __future__ import annotations

import argparse
import itertools
import lzma
from collections.abc import Iterator
from pathlib import Path

LETTERS = b"etaoinshrdlucmfwypvbgkqjxz"


def altered(number: int) -> bytes:
    """Return the table that exchanges two pairs of letters, others for each number."""
    pairs = list(itertools.combinations(range(len(LETTERS)), 2))
    table = bytearray(range(256))
    for i in (number, number * 7 + 3):
        a, b = (LETTERS[k] for k in pairs[i % len(pairs)])
        table[a], table[b] = table[b], table[a]
    return bytes(table)


def read(path: Path) -> bytes:
    """Return the contents of a file, unpacked if it is packed by xz."""
    if path.suffix == ".xz":
        with lzma.open(path) as file:
            return file.read()
    return path.read_bytes()


def copies(texts: list[bytes], every: int) -> Iterator[bytes]:
    """Yield the lines of the texts as they are, then altered copies without end."""
    for number in itertools.count():
        table = altered(number)
        for text in texts:
            for i, line in enumerate(text.splitlines(keepends=True)):
                yield line.translate(table) if number and i % every == 0 else line


def main() -> None:
    """Write as many bytes as asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    left = args.megabytes * 10**6
    texts = [read(path) for path in args.texts]
    with args.output.open("wb") as file:
        for line in copies(texts, args.every):
            left -= file.write(line[:left])
            if left == 0:
                break


if __name__ == "__main__":
    main()
