"""What a call costs: batches on one and two threads, tiny texts, one short message."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

if __name__ == "__main__":
    # gigatoken's pool of threads is as large as this says when it is first used.
    os.environ["RAYON_NUM_THREADS"] = "2"

import common
import numpy as np
import peers
from encoding import encode_all

ENCODING = "cl100k_base"
# Two first: threads of a pool stay on the cores of the one that started them.
THREADS = (2, 1)
BATCH = 40_000_000  # bytes: ten of the shares that pybpe gives to threads
TINY = 20  # characters
MESSAGE = 200  # characters


def batches(kind: str, text: str, libraries: list[str]) -> None:
    """Encode batches of documents, all once through for each number of threads."""
    texts = common.documents(text)
    sizes = [len(text.encode()) for text in texts]
    for threads in THREADS:
        common.pin(threads)
        made = {name: peers.make(name, ENCODING) for name in libraries}
        names = [name for name, peer in made.items() if peer.batch]
        for peer in made.values():
            if peer.batch:  # start its threads, import what it imports late
                peer.batch(peer.form(["a"]), threads)
        spent = dict.fromkeys(names, 0.0)
        for round_number, stretch in enumerate(common.segments(sizes, BATCH)):
            wanted: peers.Ids | None = None
            for name in common.turns(names, round_number):
                batch, given = made[name].batch, made[name].form(texts[stretch])
                assert batch is not None
                started = time.perf_counter()
                result = batch(given, threads)
                spent[name] += time.perf_counter() - started
                ids = peers.as_flat_array(result)
                wanted = ids if wanted is None else wanted
                if not np.array_equal(ids, wanted):
                    common.differ(name, f"a batch of {kind} on {threads} threads")
        for name in names:
            common.record(
                "batches",
                threads=threads,
                text=kind,
                library=name,
                bytes=sum(sizes),
                seconds=spent[name],
            )


def ways(peer: peers.Peer) -> dict[str, Callable[[list[Any]], object]]:
    """Return the ways to encode many texts on one thread."""
    found: dict[str, Callable[[list[Any]], object]] = {
        "loop": partial(encode_all, peer.brief or peer.encode)
    }
    batch = peer.batch
    if batch is not None:
        found["batch"] = lambda texts: batch(texts, 1)
    return found


def tiny_texts(kind: str, text: str, libraries: list[str]) -> None:
    """Encode texts of 20 characters: in a loop, and as a batch."""
    texts = common.documents(text, TINY)[:100_000]
    for way in ("loop", "batch"):
        for name in libraries:
            peer = peers.make(name, ENCODING)
            if way not in ways(peer):
                continue
            given, work = peer.form(texts), ways(peer)[way]
            work(given[:1])
            spent = common.seconds(partial(work, given))
            common.record(
                "tiny",
                way=way,
                text=kind,
                library=name,
                texts=len(texts),
                microseconds=spent / len(texts) * 1e6,
            )


def message(kind: str, text: str, libraries: list[str]) -> None:
    """Encode a short message again and again; the median of rounds."""
    made = {name: peers.make(name, ENCODING) for name in libraries}
    given = {name: peer.form([text[:MESSAGE]]) for name, peer in made.items()}
    calls: dict[str, list[float]] = {name: [] for name in libraries}
    for round_number in range(31):
        for name in common.turns(libraries, round_number):
            encode = made[name].brief or made[name].encode
            work = partial(encode_all, encode, given[name] * 200)
            calls[name].append(common.seconds(work) / 200)
    for name in libraries:
        common.record(
            "message",
            text=kind,
            library=name,
            bytes=len(text[:MESSAGE].encode()),
            microseconds=statistics.median(calls[name]) * 1e6,
        )


def main() -> None:
    parser = common.arguments(__doc__, peers.LIBRARIES)
    parser.set_defaults(text="english,multilingual")
    args = parser.parse_args()
    libraries = common.installed(args.peers, peers.LIBRARIES)
    for kind in args.text.split(","):
        text = common.read(kind, 80, args.mb)
        batches(kind, text, libraries)
        common.pin(1)
        tiny_texts(kind, text, libraries)
        message(kind, text, libraries)


if __name__ == "__main__":
    main()
