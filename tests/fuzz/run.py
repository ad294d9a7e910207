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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WARNINGS = "-Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes"
BASE = (
    "-std=c11 -O2 -g -UNDEBUG -DBPE_TEST_ALLOC "
    f"-Icsrc -Itests/c -Itests/fuzz {WARNINGS}"
)
# The longest input worth trying: targets leave off what is longer.
MAX_LENGTH = 3000


def flags(sanitize: str) -> list[str]:
    """Return the compiler's flags, which are the linker's too."""
    out = BASE.split()
    if os.environ.get("PYBPE_WERROR") == "1":
        out.append("-Werror")
    if sanitize:
        out += [f"-fsanitize={sanitize}", "-fno-sanitize-recover=all"]
        out.append("-fno-omit-frame-pointer")
    return out


def run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        sys.exit(f"failed: {shlex.join(command)}")


def build(names: list[str], compiler: list[str], sanitize: str) -> list[Path]:
    """Compile csrc/ and each target, with the driver or libFuzzer; return programs."""
    options = flags(sanitize)
    folder = ROOT / "build" / ("fuzz-" + sanitize.replace(",", "-")).rstrip("-") / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted(ROOT.glob("csrc/*.c"))
    if "fuzzer" not in sanitize:
        sources.append(HERE / "regression.c")

    def compile_one(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        run([*compiler, *options, "-c", str(source), "-o", str(target)])
        return target

    def link_one(name: str) -> Path:
        target = folder / name
        source = str(HERE / f"fuzz_{name}.c")
        run([*compiler, *options, source, *map(str, objects), "-o", str(target)])
        return target

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        objects = list(pool.map(compile_one, sources))
        return list(pool.map(link_one, names))


def regress(programs: list[Path]) -> int:
    """Run each target over its corpus; return how many failed."""
    failed = 0
    for program in programs:
        corpus = HERE / "corpus" / program.name
        done = subprocess.run(
            [str(program), str(corpus)], cwd=ROOT, capture_output=True, text=True
        )
        result = done.stdout.strip()
        if done.returncode != 0:
            failed += 1
            result = f"FAILED (exit status {done.returncode})"
            sys.stderr.write(done.stderr[-6000:])
        sys.stdout.write(f"fuzz_{program.name}: {result}\n")
        sys.stdout.flush()
    return failed


def fuzz(programs: list[Path], seconds: int) -> int:
    """Fuzz each target; return in how many something was found."""
    found = 0
    for program in programs:
        kept = ROOT / "build" / "fuzz" / program.name
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
                str(HERE / "corpus" / program.name),
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
            f"fuzz_{program.name}: {executions[1] if executions else '?'} executions, "
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
    names = args.names or known
    if not args.libfuzzer:
        compiler = shlex.split(os.environ.get("CC", "cc"))
        return 1 if regress(build(names, compiler, args.sanitize)) else 0
    clang = os.environ.get("CLANG") or shutil.which("clang") or "clang-14"
    programs = build(names, [clang], "fuzzer,address,undefined")
    return 1 if fuzz(programs, args.libfuzzer) else 0


if __name__ == "__main__":
    sys.exit(main())
