"""Load saved models in fresh processes: import, load, and one encoded word."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import common
import peers

import pybpe

HERE = str(Path(__file__).resolve().parent)
RUNS = 7
LIBRARIES = ("tiktoken", "gigatoken", "tokenizers", "sentencepiece")
# The process imports nothing else before, so that each library pays for all it imports.
PROGRAM = """
import sys, time
path, started = sys.argv[1], time.perf_counter()
{}
spent = time.perf_counter() - started
sys.path.insert(0, sys.argv[2])
import common
print(spent, common.peak_memory() or 0)
"""
LOAD = {
    "pybpe": "import pybpe; pybpe.load(path).encode('word')",
    "sentencepiece": "import sentencepiece as s; "
    "s.SentencePieceProcessor(model_file=path).encode('word')",
    "tokenizers": "import tokenizers as t; t.Tokenizer.from_file(path).encode('word')",
    # A short pattern: what is measured is the vocabulary.
    "tiktoken": r"import tiktoken, tiktoken.load; "
    r"r = tiktoken.load.load_tiktoken_bpe(path); "
    r"e = tiktoken.Encoding('e', pat_str=r'\S+|\s+', mergeable_ranks=r,"
    r" special_tokens={}); e.encode('word')",
    "gigatoken.tiktoken": "import gigatoken as g; "
    "g.Tokenizer.from_tiktoken(path).encode(b'word')",
    "gigatoken.model": "import gigatoken as g; "
    "g.Tokenizer.from_sentencepiece(path).encode(b'word')",
    "gigatoken.json": "import gigatoken as g; g.Tokenizer(path).encode(b'word')",
}
READERS = {
    ".tiktoken": {"tiktoken", "gigatoken"},
    ".model": {"pybpe", "sentencepiece", "gigatoken"},
    ".json": {"pybpe", "tokenizers", "gigatoken"},
    ".pybpe": {"pybpe"},
}


def measure(model: str, library: str, path: Path, cache: str) -> None:
    """Load a model in processes that find bytecode ready, and the file in memory."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["TIKTOKEN_CACHE_DIR"] = ""  # or it copies the file into its folder
    code = LOAD.get(library) or LOAD[library + path.suffix]
    command = [sys.executable, "-c", PROGRAM.format(code), str(path), HERE]
    found = []
    for _ in range(RUNS + 1):
        done = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, env=environment
        )
        found.append([float(number) for number in done.stdout.split()])
    common.record(
        "load",
        model=model,
        file="its own" if path.suffix == ".pybpe" else path.name,
        library=library,
        ms=statistics.median(spent for spent, _ in found[1:]) * 1e3,
        rss_mb=found[-1][1] or None,
    )


def main() -> None:
    args = common.arguments(__doc__, LIBRARIES).parse_args()
    common.pin(1)
    libraries = common.installed(args.peers, LIBRARIES)
    with tempfile.TemporaryDirectory() as folder:
        saved, cache = Path(folder, "saved.pybpe"), str(Path(folder, "cache"))
        for model, path in (
            ("cl100k_base", peers.ranks_path("cl100k_base")),
            (
                "Llama 2",
                common.data("vocab", "sentencepiece", "llama2_tokenizer.model"),
            ),
            ("Qwen 3", common.data("vocab", "hf", "qwen3_tokenizer.json")),
        ):
            if not path.exists():
                print(f"not there: {path}", file=sys.stderr)
                continue
            ranks = path.suffix == ".tiktoken"
            tok = peers.tokenizer(model) if ranks else pybpe.load(path)
            tok.save(saved)
            for file in (saved, path):
                for library in libraries:
                    if library in READERS[file.suffix]:
                        measure(model, library, file, cache)


if __name__ == "__main__":
    main()
