"""Compare `encode_files` with the bare encoder on the same documents.

    python bench/prepare.py large.jsonl cl100k_base.tiktoken --threads 1 2

The bare encoder is one call of `encode_batch_to_numpy` on all texts, which are in
memory before the clock runs. Both begin with a tokenizer that has seen nothing, and
take turns; the figure is that of the quickest turns. `make_documents.py` writes such a
file.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import pybpe


def bare(model: str, texts: list[bytes], threads: int) -> tuple[float, float]:
    """Return wall and processor time of encoding texts that are in memory."""
    tok = pybpe.load(model)
    tok.encode_batch_to_numpy(["warm"], num_threads=1)
    started, used = time.perf_counter(), time.process_time()
    tok.encode_batch_to_numpy(texts, num_threads=threads, disallowed_special=())
    return time.perf_counter() - started, time.process_time() - used


def prepared(
    model: str, source: str, threads: int, layout: str, field: str, folder: str
) -> tuple[float, float]:
    """Return wall and processor time of the whole way from file to files."""
    tok = pybpe.load(model)
    tok.encode_batch_to_numpy(["warm"], num_threads=1)
    started, used = time.perf_counter(), time.process_time()
    tok.encode_files(
        source,
        folder,
        separator=0,
        layout=layout,
        field=field,
        disallowed_special=(),
        num_threads=threads,
        overwrite=True,
    )
    return time.perf_counter() - started, time.process_time() - used


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--layout", default="shards")
    parser.add_argument("--field", default="text")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where to write; default: /tmp")
    args = parser.parse_args()
    texts = list(pybpe.read_documents(args.source, field=args.field))
    size = sum(map(len, texts))
    print(f"{len(texts):,} documents, {size:,} bytes of text")
    for threads in args.threads:
        best = {}
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            for _ in range(args.turns):
                for name, took in (
                    ("bare", bare(args.model, texts, threads)),
                    (
                        "prepare",
                        prepared(
                            args.model,
                            args.source,
                            threads,
                            args.layout,
                            args.field,
                            folder,
                        ),
                    ),
                ):
                    best[name] = min(best.get(name, took), took)
        for name, (wall, used) in best.items():
            print(
                f"{threads} thread(s) {name:8} {size / wall / 1e6:6.0f} MB/s, "
                f"{wall:.2f} s, {used:.2f} s of processors"
            )
        print(f"{threads} thread(s): {best['bare'][0] / best['prepare'][0]:.0%}")
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB")


if __name__ == "__main__":
    main()
