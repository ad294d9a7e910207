"""Measure pybpe beside the other libraries that are installed.

    python bench/compare.py [PART ...] [--json FILE] [--text english] [--mb 5]

    encode         cl100k_base and o200k_base: documents, one large text, the first 5 MB
    sentencepiece  documents with Llama 2's model
    calls          batches on one and two threads, tiny texts, a short message
    train          seconds and memory, each run in a process of its own
    growth         texts made to be slow, at three sizes
    load           saved models in fresh processes

Each part runs in a process of its own; its script in this folder says how it measures,
and runs alone, too. A library that gives other ids than pybpe stops everything.
`pip install --group bench` installs the others. docs/performance.md is about the
results: `python bench/report.py FILE` and `python bench/charts.py FILE` renew it.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import common

import pybpe

HERE = Path(__file__).resolve().parent
PARTS = {
    "encode": "encoding.py",
    "sentencepiece": "pieces.py",
    "calls": "calls.py",
    "train": "training.py",
    "growth": "hostile.py",
    "load": "loading.py",
}


def processor() -> str:
    """Return what the processor calls itself, as far as the system tells."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def machine() -> dict[str, Any]:
    memory = 0
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": processor(),
        "cores": len(common.CORES) or os.cpu_count(),
        "memory_gb": round(memory / 1e9),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions(names: str) -> dict[str, str]:
    """Return the versions of the libraries that are there."""
    found = {"pybpe": pybpe.__version__}
    for name in common.installed(names)[1:]:
        found[name] = importlib.metadata.version(common.DISTRIBUTIONS[name])
    return found


def in_words(result: dict[str, Any]) -> str:
    """Return a result as a line for people."""
    shown = {key: value for key, value in result.items() if key != "tokens"}
    if "bytes" in shown and "seconds" in shown:
        size, time = shown.pop("bytes"), shown["seconds"]
        shown["mb"] = size / 1e6
        shown["mb_per_s"] = size / 1e6 / max(time, 1e-9)
    words = []
    for key, value in shown.items():
        number = f"{value:.3g}" if isinstance(value, float) else str(value)
        words.append(number if isinstance(value, str) else f"{key} {number}")
    return "  ".join(words)


def run(part: str, options: list[str]) -> list[dict[str, Any]]:
    """Run the script of a part; return its results, shown as they come."""
    command = [sys.executable, str(HERE / PARTS[part]), *options]
    results = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            results.append(json.loads(line))
            print(in_words(results[-1]), flush=True)
    if process.returncode != 0:
        sys.exit(f"stopped: {PARTS[part]} failed")
    return results


def write(path: Path, content: dict[str, Any]) -> None:
    """Write one result a line, so that a change of one is a change of one line."""
    results = ",\n  ".join(json.dumps(each) for each in content["results"])
    head = json.dumps({**content, "results": []}, indent=1)
    text = head.replace('"results": []', f'"results": [\n  {results}\n ]')
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="default: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results")
    parser.add_argument("--text", help="kinds of text, with commas")
    parser.add_argument("--mb", type=float, help="no text is larger than that")
    parser.add_argument(
        "--peers", help="libraries beside pybpe; default: all there are"
    )
    parser.add_argument("--vocab-size", type=int, help="what is trained to")
    args = parser.parse_args()
    parts = args.parts or list(PARTS)
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    names = args.peers or ",".join(common.DISTRIBUTIONS)
    content: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "versions": versions(names),
        "most_mb": args.mb,
        "results": [],
    }
    print(*content["machine"].values(), sep=", ")
    print(", ".join(f"{name} {number}" for name, number in content["versions"].items()))
    for part in parts:
        options = []
        for name in ("text", "mb", "peers"):
            value = getattr(args, name)
            if value is not None:
                options.append(f"--{name}={value}")
        if part == "train" and args.vocab_size:
            options.append(f"--vocab-size={args.vocab_size}")
        content["results"] += run(part, options)
        if args.json:
            write(args.json, content)


if __name__ == "__main__":
    main()
