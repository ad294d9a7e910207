"""Count the instructions of the core's main jobs, and compare with what they were.

    python bench/instructions.py            compare; exit 1 if a job takes more
    python bench/instructions.py --write    make bench/instructions.json anew

Time on a shared machine is noise; the number of instructions that callgrind counts
(https://valgrind.org) differs by a few percent from run to run, for hash tables have
random seeds. It says nothing about memory, so it notices only one kind of regression,
but that one for certain. The texts are made up here, by the same rule on every machine.
Figures hold for one compiler and its flags: with another one nothing is compared, and
the output says so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).with_suffix(".json")
# More than this above the figure fails.
TOLERANCE = 0.1
# What is counted: the core's functions, with all that they call.
JOBS = {
    "split": "bpe_split_ends",
    "encode": "bpe_encode",
    "decode": "bpe_decode",
    "count pretokens": "bpe_counts_add_batch",
    "train": "bpe_trainer_run",
    "build a model": "bpe_model_new",
    "encode as sentencepiece": "bpe_pieces_encode",
}


def made_up_text(seed: int, size: int) -> str:
    """Return `size` words that follow Zipf's law, with numbers and marks in between."""
    rng = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgkjxqz"
    vocabulary = [
        "".join(
            letters[min(int(rng.expovariate(0.18)), 25)]
            for _ in range(rng.randint(2, 9))
        )
        for _ in range(20_000)
    ]
    vocabulary += ["\u0441\u043b\u043e\u0432\u043e", "\u4e2d\u6587", "caf\u00e9"]
    words = []
    for _ in range(size):
        word = vocabulary[min(int(rng.paretovariate(0.7)), len(vocabulary)) - 1]
        chance = rng.random()
        if chance < 0.03:
            word = str(rng.randrange(100_000))
        elif chance < 0.1:
            word = word.capitalize()
        words.append(
            word + rng.choices(["", ",", ".", "\n", "\n\n  "], [80, 9, 8, 2, 1])[0]
        )
    return " ".join(words)


def work() -> None:
    """Do all jobs, each once: this is what callgrind runs."""
    import pybpe
    from pybpe import _binding

    corpus = [made_up_text(i, 4_000) for i in range(10)]
    text = made_up_text(99, 40_000)
    tok = pybpe.train(corpus, vocab_size=4_000, pattern="cl100k", num_threads=1)
    ids = tok.encode(text)
    if tok.decode(ids) != text:
        sys.exit("the text did not come back")
    split = _binding.new_split(tok.split.stages)
    _binding.split_ends(split, text.encode())
    pieces = pybpe.Tokenizer(_sentencepiece_model(tok))
    pieces.encode(text)


def _sentencepiece_model(tok: Any) -> Any:
    """Return a model of the other kind with the tokens that are text."""
    from array import array

    from pybpe import codepoint

    mark = codepoint.MARK
    pieces: dict[bytes, int] = {b"<unk>": 2}
    for token in tok.vocab:
        if b"\n" in token or not token.decode("utf-8", "ignore"):
            continue
        pieces.setdefault(token.replace(b" ", mark), 1)
    pieces.setdefault(mark, 1)
    return codepoint.CodepointModel(
        piece_data=b"".join(pieces),
        piece_lengths=array("I", map(len, pieces)),
        scores=array("f", [-float(i) for i in range(len(pieces))]),
        piece_types=bytes(pieces.values()),
        byte_fallback=False,
        normalizer=codepoint.Normalizer("identity", b"", True, False, True),
    )


def count() -> dict[str, int]:
    """Run `work` under callgrind; return the instructions of each job."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        toggles = [f"--toggle-collect={function}" for function in JOBS.values()]
        subprocess.run(
            [
                "valgrind",
                "--quiet",
                "--tool=callgrind",
                f"--callgrind-out-file={out}",
                *toggles,
                sys.executable,
                __file__,
                "--work",
            ],
            check=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
        listing = subprocess.run(
            ["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(out)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    found = {}
    for job, function in JOBS.items():
        pattern = rf"^\s*([\d,]+) .*:{function}(?:'\d+)?(?: \[|$)"
        numbers = re.findall(pattern, listing, re.MULTILINE)
        if not numbers:
            sys.exit(f"callgrind saw no call of {function}; is it inlined or renamed?")
        found[job] = max(int(number.replace(",", "")) for number in numbers)
    return found


def compiler() -> str:
    """Return what the figures depend on: the compiler's version and the machine."""
    import platform
    import sysconfig

    command = (sysconfig.get_config_var("CC") or "cc").split()[0]
    version = subprocess.run(
        [command, "-dumpfullversion"], check=True, capture_output=True, text=True
    ).stdout.strip()
    return f"{Path(command).name} {version} {platform.machine()}"


def compare(found: dict[str, int]) -> bool:
    """Print a table; return whether no job takes more than it may."""
    known = json.loads(FIGURES.read_text(encoding="utf-8"))
    here = compiler()
    comparable = known["compiler"] == here
    good = True
    for job, n in found.items():
        before = known["instructions"].get(job)
        change = n / before - 1 if before else 0.0
        too_many = comparable and (before is None or change > TOLERANCE)
        good = good and not too_many
        verdict = "  too many" if too_many else ""
        print(f"{job:24s} {n:14,} instructions  {change:+.1%}{verdict}")
    if not comparable:
        print(f"not compared: the figures are for {known['compiler']}, this is {here}")
    elif not good:
        print(
            "If more instructions are what it takes, say why in the commit that makes "
            "the figures anew: python bench/instructions.py --write"
        )
    return good


def main() -> int:
    """Compare or write; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the figures")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work()
        return 0
    if not shutil.which("valgrind"):
        print("needs valgrind", file=sys.stderr)
        return 2
    found = count()
    if not args.write:
        return 0 if compare(found) else 1
    figures = {"compiler": compiler(), "instructions": found}
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
