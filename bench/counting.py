"""Count pretokens with several threads, and tell what the machine would allow.

    python bench/counting.py [--rounds N] [--threads N] [--pattern NAME] FILE ...

For each file, in turns, each time in a process of its own: one thread counts it; so
many threads count it; and so many processes count a part of it each, at the same time.
The last is what there is to be had: what threads lose against it is ours, the rest the
machine's. What is printed is the counting phase of the training report, and beside it
the processors' seconds and the peak memory of the process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import common

# Until then all processes that start together are there.
HEAD_START = 0.5

Figures = tuple[float, float, float]  # seconds, processors' seconds, MB


def count(path: str, pattern: str, threads: int, start: float) -> None:
    """Be a process that counts; begin at the time that is given."""
    import pybpe

    pybpe.train(["a"], 256, pattern=pattern)  # everything is imported now
    while time.time() < start:
        pass
    used = time.process_time()
    tok = pybpe.train_from_files([path], 256, pattern=pattern, num_threads=threads)
    used = time.process_time() - used
    report = tok.training_report
    if report is None:
        sys.exit("no report")
    print(json.dumps([report.phases[0].seconds, used, common.peak_memory() or 0.0]))


def together(paths: Sequence[Path], pattern: str, threads: int) -> Figures:
    """Count files, each in a process; return the longest time and all of the rest."""
    start = time.time() + (HEAD_START if len(paths) > 1 else 0)
    command = [sys.executable, __file__, "--child", "--pattern", pattern]
    command += ["--threads", str(threads), "--start", repr(start)]
    running = [
        subprocess.Popen([*command, str(path)], stdout=subprocess.PIPE)
        for path in paths
    ]
    seconds, used, memory = zip(
        *(json.loads(process.communicate()[0]) for process in running), strict=True
    )
    return max(seconds), sum(used), sum(memory)


def parts(path: Path, n: int, folder: Path) -> list[Path]:
    """Write n parts of a file, of about the same size."""
    data = path.read_bytes()
    size = -(-len(data) // n)
    made = [folder / f"part{i}" for i in range(n)]
    for i, part in enumerate(made):
        part.write_bytes(data[i * size : (i + 1) * size])
    return made


def measure(path: Path, pattern: str, threads: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        pieces = parts(path, threads, Path(folder))
        ways = {
            "1 thread": ([path], 1),
            f"{threads} threads": ([path], threads),
            f"{threads} processes": (pieces, 1),
        }
        figures: dict[str, list[Figures]] = {way: [] for way in ways}
        for i in range(rounds):
            for way in common.turns(list(ways), i):
                figures[way].append(together(ways[way][0], pattern, ways[way][1]))
    print(
        f"{path.name}: seconds (median, least), processors' seconds, MB, times as fast"
    )
    alone = figures["1 thread"]
    for way, each in figures.items():
        seconds, used, memory = (statistics.median(x) for x in zip(*each, strict=True))
        least = min(x[0] for x in each)
        faster = statistics.median(
            a[0] / b[0] for a, b in zip(alone, each, strict=True)
        )
        costs = f"{seconds:.3f} {least:.3f}  {used:.3f}  {memory:.0f}"
        print(f"  {way:<12} {costs}  {faster:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pattern", default="gpt2")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--start", type=float, default=0.0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        count(str(args.files[0]), args.pattern, args.threads, args.start)
        return
    for path in args.files:
        measure(path, args.pattern, args.threads, args.rounds)


if __name__ == "__main__":
    main()
