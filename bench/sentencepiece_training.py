"""Compare training with sentencepiece: time, memory, and whether the files are equal.

    python bench/sentencepiece_training.py [--rounds N] [--vocab-size N] FILE ...

Each run is a process of its own, both in turn, with as many threads; the best of the
rounds counts. Needs the sentencepiece package and a system with wait4.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """What a run took: seconds, seconds of processors, megabytes."""

    wall: float
    cpu: float
    memory: float


def train(who: str, path: str, vocab_size: int, threads: int, out: str) -> None:
    """Train one model, in the process that was made for it."""
    warnings.simplefilter("ignore")
    if who == "pybpe":
        import pybpe

        tok = pybpe.train_sentencepiece_from_files(
            [path], vocab_size, num_threads=threads
        )
        tok.save_sentencepiece(out + ".model")
        return
    import sentencepiece

    sentencepiece.SentencePieceTrainer.train(
        input=path,
        model_prefix=out,
        model_type="bpe",
        vocab_size=vocab_size,
        num_threads=threads,
        minloglevel=4,
    )


def run(who: str, args: argparse.Namespace, path: str, out: str) -> Cost:
    """Run `train` in a process and measure it."""
    sizes = [str(args.vocab_size), str(args.threads)]
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, __file__, "--as", who, path, out, *sizes]
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        sys.exit(f"{who} failed")
    wall = time.perf_counter() - started
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def equal(ours: Path, theirs: Path) -> str:
    """Say whether two files are equal but for the paths that one has."""
    from pybpe._proto import sentencepiece_pb2 as pb

    model = pb.Model.FromString(theirs.read_bytes())
    model.training.ClearField("input")
    model.training.ClearField("model_prefix")
    same = model.SerializeToString(deterministic=True) == ours.read_bytes()
    return "equal" if same else "DIFFERENT"


def main() -> None:
    """Compare on each file."""
    if sys.argv[1:2] == ["--as"]:
        who, path, out, vocab_size, threads = sys.argv[2:]
        train(who, path, int(vocab_size), int(threads), out)
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for path in args.files:
            best: dict[str, Cost] = {}
            for _ in range(args.rounds):
                for who in ("sentencepiece", "pybpe"):
                    cost = run(who, args, path, str(Path(folder, who)))
                    old = best.get(who, cost)
                    best[who] = Cost(*map(min, zip(old, cost, strict=True)))
            said = equal(
                Path(folder, "pybpe.model"), Path(folder, "sentencepiece.model")
            )
            print(f"{path}: {said}")
            for what in Cost._fields:
                theirs, ours = (getattr(best[w], what) for w in best)
                print(f"  {what:6} {theirs:9.2f} {ours:9.2f} {theirs / ours:6.1f}x")


if __name__ == "__main__":
    main()
