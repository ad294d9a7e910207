"""Write the seeds of the fuzz targets: corpus/<target>/seed-<n>, the same every time.

    python tests/fuzz/make_corpus.py

Inputs that once broke something are kept beside them under other names, and are not
touched. Seeds need not be good, only varied: libFuzzer makes the rest of them.
"""

from __future__ import annotations

import random
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"
# Name -> the values of the first byte, which chooses the kind of test.
KINDS = {
    "counts": [1, 2, 3, 4, 5, 6, 7, 8],
    "decode": [0, 5, 20, 48],
    "encode": [0, 1, 2, 3, 4, 5, 6, 12, 13, 14],
    "json_lines": [0, 0, 1, 2, 3, 4, 5],
    "match": [1, 3, 6, 20],
    "normalize": [0, 1, 3, 5, 8, 12, 13, 15],
    "pieces": [0, 1, 7, 8, 16, 24, 31],
    "split": [0, 1, 2, 3, 4, 5, 5, 5, 6, 6],
    "train": [0, 1, 2, 3, 4, 6, 7, 11, 18, 39, 50, 83, 230],
}
SIZE = 180


WORDS = [b"ab", b"the ", b" ", b"\xc3\xa9", b"\xe4\xb8\xad", b"\xff", b"aaaa", b"A\t"]
WORDS += [b"AB", b"\xe2\x96\x81", b"\xed\xbf\xbf", b"\xf0\x9f\x98\x80", b"\xe2"]


def text(rng: random.Random) -> bytes:
    return b"".join(rng.choices(WORDS, k=30))


def seed(rng: random.Random, first: int) -> bytes:
    """Return an input: numbers at the front, then something like a text."""
    numbers = bytes(
        rng.choice([0, 1, 2, 3, 16, 97, 98, 0xC2, 0xC4, 0xFE, rng.randrange(256)])
        for _ in range(rng.randrange(20, SIZE - 60))
    )
    return (bytes([first]) + numbers + text(rng))[:SIZE]


def split_seed(rng: random.Random, first: int) -> bytes:
    """Return an input for fuzz_split: tables that may be right, and a text."""
    out = bytearray([first, rng.choice([0, 2, 6, 40])])
    for _ in range([1, 1, 1, 1, 1, 2, 3, 0][first]):
        n_classes, n_states = rng.randrange(2, 6), rng.randrange(3, 9)
        behavior = rng.choice([0, 0, 0, 1, 2, 3, 4, 5])
        out += bytes([behavior, n_classes - 1, n_states - 2, 5])
        # Space; a; letters from b on; what is beyond ASCII; the rest, in two parts.
        for step in [0, 31, 64, 0, 29, 200]:
            out += bytes([step, rng.randrange(n_classes)])
        for _ in range(n_states * (n_classes + 1)):
            following = rng.choice([0, *range(2, n_states)])
            out.append(following | rng.choice([0, 0, 0xC0]))
    return bytes(out) + text(rng)


JSON_LINES = [
    b'{"text":"a\\u00e9\\n\\ud83d\\ude00\\ud83d"}\n\n{"a":{"text":[]},"text":"b"}\r\n',
    b'\t{"x":[-0.5e+10,true,null,NaN,-Infinity,[[{}]]], "text" : "one", "text":"two"}',
    b'{"a":"x","text":1}\n{"a":"","\xc3\xa9":"\xe4\xb8\xad\xf0\x9f\x98\x80"}\n',
]


def json_seed(rng: random.Random, first: int) -> bytes:
    """Return an input for fuzz_json_lines: lines, or numbers of parts of such."""
    if first % 2 == 0:
        return bytes([first, 0]) + rng.choice(JSON_LINES)
    # An object with a text under the key "a", of a few parts from all.
    inside = [rng.choice([12, 20, 22, 23, 39, 40, 41, 47]) for _ in range(6)]
    line = [0, 8, 6, *(rng.choice([14, 18, 39]) for _ in range(9)), 6, 1, 7]
    return bytes([first, 1, *line, 0, 8, 6, *inside, 6, 1, 7])


def counts_seed(rng: random.Random, first: int) -> bytes:
    """Return an input for fuzz_counts: steps of several kinds, one behind the other."""
    out = bytearray([first, rng.randrange(256)])
    for _ in range(14):
        out.append(rng.choice([0, 1, 1, 2, 3, 4, 4, 5, 6]))
        out += bytes(rng.choice([0, 1, 2, 3, 5, 17, 130, 255]) for _ in range(7))
    return bytes(out) + text(rng)


MAKERS = {"split": split_seed, "json_lines": json_seed, "counts": counts_seed}


def seeds() -> dict[str, bytes]:
    """Return all the seeds: target and file name -> contents."""
    made = {}
    for name, firsts in KINDS.items():
        rng = random.Random(name)
        for number, first in enumerate(firsts):
            make = MAKERS.get(name, seed)
            made[f"{name}/seed-{number}"] = make(rng, first)
    return made


def main() -> None:
    """Write all the seeds in the place of those that are there."""
    for old in CORPUS.glob("*/seed-*"):
        old.unlink()
    for name, data in seeds().items():
        path = CORPUS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
