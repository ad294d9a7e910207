"""The worst cases: megabytes of texts made to be slow, at three sizes.

Time per megabyte must not depend on the size. Two models: cl100k_base, and a small one
without a split, for which such a text is a single pretoken.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import common
import peers

import pybpe

SIZES = (1, 2, 4)
CJK = "的一是不了人我在有他这为之大来"


def hostile(n: int) -> dict[str, str]:
    """Return the texts, about `n` bytes each."""
    draw = random.Random(1)
    return {
        "one letter": "a" * n,
        "spaces": " " * n,
        "ab repeated": "ab" * (n // 2),
        "a newline, then spaces": "\n" + " " * (n - 1),
        "line breaks": "\r\n" * (n // 2),
        "random letters": "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=n)),
        "random CJK": "".join(draw.choices(CJK, k=n // 3)),
    }


def measure(job: str, work: Callable[[str], object], most: float | None) -> None:
    for megabytes in SIZES:
        scale = 1.0 if most is None else min(1.0, most / max(SIZES))
        n = int(megabytes * scale * 1e6)
        for shape, text in hostile(n).items():
            # Processor time: these texts go once, and nobody takes turns with them.
            started = time.process_time()
            work(text)
            spent = time.process_time() - started
            size = len(text.encode())
            common.record("growth", job=job, shape=shape, bytes=size, seconds=spent)


def main() -> None:
    args = common.arguments(__doc__, ()).parse_args()
    common.pin(1)
    measure("cl100k_base", peers.tokenizer("cl100k_base").encode_to_numpy, args.mb)
    corpus = f"ab aab   \n\n  {CJK}\r\n" * 50
    no_split = pybpe.train([corpus], 400, pattern=None)
    measure("no split", no_split.encode_to_numpy, args.mb)

    def train(text: str) -> object:
        return pybpe.train([text], 300, pattern=None, num_threads=1)

    measure("training", train, args.mb)


if __name__ == "__main__":
    main()
