"""Train on one core: each run in a process of its own, in turns, the best of three.

All cut text as GPT-2 does, but for sentencepiece, which has its own way. pybpe, rustbpe
and Hugging Face's library are given the same strings, gigabpe and sentencepiece the
file. The tokens of pybpe and rustbpe must be equal; the others decide ties otherwise.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import common

LIBRARIES = ("gigabpe", "rustbpe", "tokenizers", "sentencepiece")
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BLOCK = 1 << 16  # characters
RUNS = 3


def blocks(path: str) -> Iterator[str]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        while block := file.read(BLOCK):
            yield block


def train(library: str, path: str, vocab_size: int) -> list[bytes] | None:
    """Train; return the tokens in order if they must be equal to others'."""
    if library == "pybpe":
        import pybpe

        ours = pybpe.train(blocks(path), vocab_size, pattern=GPT2, num_threads=1)
        return list(ours.vocab)
    if library == "rustbpe":
        import rustbpe

        theirs = rustbpe.Tokenizer()
        theirs.train_from_iterator(blocks(path), vocab_size, pattern=GPT2)
        return [bytes(token) for token, _ in theirs.get_mergeable_ranks()]
    if library == "gigabpe":
        import gigabpe

        gigabpe.train_bpe(
            [path], vocab_size=vocab_size, pretokenizer="bytelevel", threads=1
        )
    elif library == "tokenizers":
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers

        level = pre_tokenizers.ByteLevel
        tok = Tokenizer(models.BPE())
        tok.pre_tokenizer = level(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            initial_alphabet=level.alphabet(),
            show_progress=False,
        )
        tok.train_from_iterator(blocks(path), trainer)
    else:
        import sentencepiece

        sentencepiece.SentencePieceTrainer.train(
            input=path,
            model_prefix=f"{path}.spm",
            vocab_size=vocab_size,
            model_type="bpe",
            byte_fallback=True,
            normalization_rule_name="identity",
            max_sentence_length=1 << 20,
            num_threads=1,
            minloglevel=2,
        )
    return None


def run(library: str, path: str, vocab_size: int) -> None:
    """Be the process that trains: print seconds, memory and a hash of the tokens."""
    common.pin(1)
    importlib.import_module(library)
    started = time.perf_counter()
    tokens = train(library, path, vocab_size)
    spent = time.perf_counter() - started
    found: dict[str, Any] = {"seconds": spent, "rss_mb": common.peak_memory()}
    if tokens is not None:
        digest = hashlib.sha256(b"".join(b"%d:" % len(t) + t for t in tokens))
        found["tokens"] = digest.hexdigest()
    print(json.dumps(found))


def measure(kind: str, text: str, vocab_size: int, libraries: list[str]) -> None:
    best: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "corpus.txt")
        path.write_text(text, encoding="utf-8", newline="")
        for round_number in range(RUNS):
            for name in common.turns(libraries, round_number):
                command = [sys.executable, __file__, "--child", name, str(path)]
                command += ["--vocab-size", str(vocab_size)]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
                found = json.loads(done.stdout.splitlines()[-1])
                best[name] = min(best.get(name, found), found, key=_seconds)
    tokens = {found["tokens"] for found in best.values() if "tokens" in found}
    if len(tokens) > 1:
        common.differ("rustbpe", f"training on {kind}")
    for name, found in best.items():
        common.record(
            "train",
            text=kind,
            library=name,
            bytes=len(text.encode()),
            vocab_size=vocab_size,
            seconds=found["seconds"],
            rss_mb=found["rss_mb"],
        )


def _seconds(found: dict[str, Any]) -> float:
    return float(found["seconds"])


def main() -> None:
    parser = common.arguments(__doc__, LIBRARIES)
    parser.set_defaults(text="english,multilingual")
    parser.add_argument("--vocab-size", type=int, default=32_768)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        run(args.child[0], args.child[1], args.vocab_size)
        return
    libraries = common.installed(args.peers, LIBRARIES)
    for kind in args.text.split(","):
        measure(kind, common.read(kind, 100, args.mb), args.vocab_size, libraries)


if __name__ == "__main__":
    main()
