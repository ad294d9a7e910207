"""Build the fuzz targets tests/fuzz/fuzz_*.c and run them.

    python tests/fuzz/run.py [--sanitize address,undefined] [NAME ...]
    python tests/fuzz/run.py --libfuzzer SECONDS [NAME ...]

The first runs each target over its inputs in corpus/<name>/ with any C compiler ($CC
chooses): the regression test. The second fuzzes each for so many seconds, with clang
($CLANG chooses; Debian: clang-14 and libclang-rt-14-dev) and the sanitizers. What
libFuzzer keeps goes to build/fuzz/<name>/, and an input that breaks something to
build/fuzz/<name>-crash-*; corpus/ is only read.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "c"))

from programs import ROOT, Builder  # noqa: E402 - see the line before

# The longest input worth trying: targets leave off what is longer.
MAX_LENGTH = 3000


def regress(sources: list[Path], sanitize: str) -> int:
    """Build and run each target over its corpus; return how many failed.

    With the options, and so the objects, of the C tests.
    """
    kind = "ctest-" + sanitize.replace(",", "-")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    build = Builder(kind.rstrip("-"), compiler, ["-O1", "-DBPE_TEST_ALLOC"], sanitize)

    def command(program: Path) -> list[str]:
        return [str(program), str(HERE / "corpus" / target_of(program))]

    failed = 0
    for program, done in build.outcomes(sources, [HERE / "regression.c"], command):
        result = done.stdout.strip()
        if done.returncode != 0:
            failed += 1
            result = f"FAILED (exit status {done.returncode})"
            sys.stderr.write(done.stderr[-6000:])
        sys.stdout.write(f"{program.name}: {result}\n")
        sys.stdout.flush()
    return failed


def target_of(program: Path) -> str:
    """Return the name of a target by its program's."""
    return program.name.removeprefix("fuzz_")


def fuzz(sources: list[Path], seconds: int) -> int:
    """Build and fuzz each target; return in how many something was found."""
    clang = os.environ.get("CLANG") or shutil.which("clang") or "clang-14"
    sanitize = "fuzzer,address,undefined"
    build = Builder(
        "fuzz-" + sanitize.replace(",", "-"),
        [clang],
        ["-O2", "-DBPE_TEST_ALLOC"],
        sanitize,
    )
    found = 0
    for program in build.programs(sources, []):
        name = target_of(program)
        kept = ROOT / "build" / "fuzz" / name
        kept.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [
                str(program),
                f"-max_total_time={seconds}",
                f"-max_len={MAX_LENGTH}",
                "-timeout=20",
                "-print_final_stats=1",
                f"-artifact_prefix={kept}-",
                str(kept),
                str(HERE / "corpus" / name),
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        log = done.stdout + done.stderr
        kept.with_suffix(".log").write_text(log, encoding="utf-8")
        executions = re.search(r"number_of_executed_units: *(\d+)", log)
        coverage = re.findall(r"cov: (\d+)", log)
        sys.stdout.write(
            f"{program.name}: {executions[1] if executions else '?'} executions, "
            f"coverage {coverage[-1] if coverage else '?'}: "
            f"{'nothing found' if done.returncode == 0 else 'FAILED'}\n"
        )
        sys.stdout.flush()
        if done.returncode != 0:
            found += 1
            sys.stderr.write(log[-4000:])
    return found


def main() -> int:
    """Build and run; return the exit status."""
    parser = argparse.ArgumentParser(description="Run the fuzz targets.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as split")
    parser.add_argument("--sanitize", default="", help="such as address,undefined")
    parser.add_argument("--libfuzzer", type=int, metavar="SECONDS", default=0)
    args = parser.parse_args()
    known = sorted(p.stem.removeprefix("fuzz_") for p in HERE.glob("fuzz_*.c"))
    if unknown := sorted(set(args.names) - set(known)):
        parser.error(f"no fuzz_{unknown[0]}.c; there are {', '.join(known)}")
    sources = [HERE / f"fuzz_{name}.c" for name in args.names or known]
    if args.libfuzzer:
        return 1 if fuzz(sources, args.libfuzzer) else 0
    return 1 if regress(sources, args.sanitize) else 0


if __name__ == "__main__":
    sys.exit(main())
