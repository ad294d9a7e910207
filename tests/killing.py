"""Kill `encode_files` again and again, and compare with an undisturbed run.

    python tests/killing.py large.jsonl cl100k_base.tiktoken --kills 10 --folder /tmp

Each time the process is killed (SIGKILL) at a moment drawn at random within the first
part of what an undisturbed run takes; the last run is left alone. All files must be the
same, byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pybpe

# What a child runs: the model, the source, the folder and the options are arguments. A
# state is written as often as `interval` says.
_CHILD = """
import json, sys
import pybpe
from pybpe.corpora import documents, jsonl, run, text
model, source, folder, options, interval, chunk = sys.argv[1:]
run._INTERVAL = float(interval)
for module in (documents, jsonl, text):
    module.CHUNK = int(chunk)
pybpe.load(model).encode_files(source, folder, **json.loads(options))
"""


def start(
    model: Path,
    source: Path,
    folder: Path,
    options: dict[str, Any],
    interval: float = 2.0,
    chunk: int = 4 << 20,
) -> subprocess.Popen[bytes]:
    """Begin a run in a process of its own."""
    root = str(Path(pybpe.__file__).parent.parent)
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            _CHILD,
            model,
            source,
            folder,
            json.dumps(options),
            str(interval),
            str(chunk),
        ],
        env={**os.environ, "PYTHONPATH": root},
    )


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a folder."""
    found = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def kill_again_and_again(
    model: Path,
    source: Path,
    folder: Path,
    options: dict[str, Any],
    kills: int,
    seed: int,
    **settings: Any,
) -> list[str]:
    """Kill `kills` runs, let one end, and compare; return what each kill left.

    Raises:
        AssertionError: The files differ from those of an undisturbed run.
    """
    chance = random.Random(seed)
    whole, broken = folder / "whole", folder / "broken"
    began = time.monotonic()
    assert start(model, source, whole, options, **settings).wait() == 0
    took = time.monotonic() - began
    left: list[str] = []
    while len(left) < kills:
        child = start(model, source, broken, options, **settings)
        time.sleep(chance.uniform(0, took * 0.6))
        child.kill()
        if child.wait() == 0:
            # It was quicker than to be expected: that is no kill.
            took /= 2
            shutil.rmtree(broken)
            continue
        state = broken / "progress.json"
        documents = json.loads(state.read_bytes())["totals"][0] if state.exists() else 0
        left.append(f"killed when {documents:,} documents were safe")
    assert start(model, source, broken, options, **settings).wait() == 0
    assert digests(whole) == digests(broken), left
    shutil.rmtree(whole)
    shutil.rmtree(broken)
    return left


def main() -> None:
    """Do it with the arguments of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layout", default="shards")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    options = {
        "separator": 0,
        "disallowed_special": [],
        "layout": args.layout,
        "num_threads": args.threads,
    }
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        left = kill_again_and_again(
            args.model, args.source, Path(folder), options, args.kills, args.seed
        )
    lines = [*left, "the files are those of an undisturbed run"]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
