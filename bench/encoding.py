"""Encode with published encodings: documents in turns, then a large text in one call.

Every document is encoded once, because a second pass over the same text would flatter
any cache. The libraries take turns of 5 MB, so that a noisy machine disturbs all alike,
and all stay on one core. Ids are compared afterwards: before, it would warm caches.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import common
import numpy as np
import peers


def encode_all(encode: Callable[[Any], Any], texts: Iterable[Any]) -> None:
    for text in texts:
        encode(text)


def documents(encoding: str, kind: str, text: str, libraries: list[str]) -> None:
    """Measure documents of 4,000 characters, and the first 5 MB of them."""
    texts = common.documents(text)
    sizes = [len(text.encode()) for text in texts]
    made = {name: peers.make(name, encoding) for name in libraries}
    spent: dict[str, list[float]] = {name: [] for name in libraries}
    stretches = list(common.segments(sizes, common.SEGMENT))
    for round_number, stretch in enumerate(stretches):
        for name in common.turns(libraries, round_number):
            given = made[name].form(texts[stretch])
            work = partial(encode_all, made[name].encode, given)
            spent[name].append(common.seconds(work))
    compare(made, texts, f"{encoding}, {kind}")
    first = sum(sizes[stretches[0]])
    for name in libraries:
        where = {"encoding": encoding, "text": kind, "library": name}
        for case, n_bytes, total in (
            ("documents", sum(sizes), sum(spent[name])),
            ("first 5 MB", first, spent[name][0]),
        ):
            common.record("encode", case=case, **where, bytes=n_bytes, seconds=total)


def compare(made: dict[str, peers.Peer], texts: list[str], where: str) -> None:
    """Compare ids of texts from all over the corpus with pybpe's."""
    sample = texts[:: max(1, len(texts) // common.CHECKED)]
    wanted = [peers.as_array(made["pybpe"].encode(text)) for text in sample]
    for name, peer in made.items():
        for text, given, ids in zip(sample, peer.form(sample), wanted, strict=True):
            if not np.array_equal(peers.as_array(peer.encode(given)), ids):
                common.differ(name, f"{where}: {text[:60]!r}")


def one_text(encoding: str, kind: str, text: str, libraries: list[str]) -> None:
    """Measure one call for the whole text, each library with a new tokenizer."""
    wanted = None
    for name in libraries:
        peer = peers.make(name, encoding)
        (given,) = peer.form([text])
        started = time.perf_counter()
        ids = peer.encode(given)
        spent = time.perf_counter() - started
        found = hashlib.sha256(peers.as_array(ids).tobytes()).digest()
        del ids
        wanted = wanted or found
        if found != wanted:
            common.differ(name, f"{encoding}, {kind} as one text")
        common.record(
            "encode",
            case="one text",
            encoding=encoding,
            text=kind,
            library=name,
            bytes=len(text.encode()),
            seconds=spent,
        )


def main() -> None:
    parser = common.arguments(__doc__, peers.LIBRARIES)
    parser.add_argument("--encoding", default=",".join(common.ENCODINGS))
    args = parser.parse_args()
    libraries = common.installed(args.peers, peers.LIBRARIES)
    common.pin(1)
    for encoding in args.encoding.split(","):
        for kind in args.text.split(","):
            text = common.read(kind, 50, args.mb)
            documents(encoding, kind, text, libraries)
            one_text(encoding, kind, common.read(kind, 100, args.mb), libraries)


if __name__ == "__main__":
    main()
