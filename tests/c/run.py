"""Compile csrc/ and each tests/c/test_*.c into a program, and run them all.

    python tests/c/run.py [--sanitize address,undefined] [--valgrind] [NAME ...]
    python tests/c/run.py --cross aarch64-linux-gnu [NAME ...]

Needs a C compiler (gcc or clang; $CC chooses) and no make. The whole of csrc/ is built
with BPE_TEST_ALLOC, so that the tests can count allocations and make them fail, and
with assertions on. PYBPE_WERROR=1 makes warnings errors. Objects go to build/ctest*/.

With `--sanitize thread` the programs are tests/c/threads_*.c instead, and allocations
are not counted: the counters are the only globals there are, and not made for threads.

With `--cross` the programs are compiled by that machine's gcc, linked statically, and
run under qemu's user-mode emulation (on Debian: gcc-aarch64-linux-gnu,
libc6-dev-arm64-cross, qemu-user). PYBPE_TEST_PART=10 does a tenth of the rounds of the
tests that take longest.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WARNINGS = "-Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes"
BASE = f"-std=c11 -O1 -g -UNDEBUG -Icsrc -Itests/c {WARNINGS}"


# What qemu calls a machine, where it is not what compilers call it.
EMULATORS = {"powerpc64": "ppc64", "powerpc64le": "ppc64le"}


def flags(sanitize: str, cross: str) -> list[str]:
    """Return the compiler's flags, which are the linker's too."""
    out = BASE.split()
    if cross:
        out.append("-static")
    out.append("-pthread" if sanitize == "thread" else "-DBPE_TEST_ALLOC")
    if os.environ.get("PYBPE_WERROR") == "1":
        out.append("-Werror")
    if sanitize:
        out += [f"-fsanitize={sanitize}", "-fno-sanitize-recover=all"]
        out.append("-fno-omit-frame-pointer")
    return out


def run(command: list[str]) -> None:
    """Run a compiler command in the project's folder; stop the program on failure."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.stderr:
        sys.stderr.write(done.stderr)
    if done.returncode != 0:
        sys.exit(f"failed: {shlex.join(command)}")


def build(sources: list[Path], sanitize: str, cross: str, jobs: int) -> list[Path]:
    """Compile what is older than its source or any header; return the programs."""
    kind = cross or sanitize.replace(",", "-")
    folder = ROOT / "build" / f"ctest-{kind}".rstrip("-")
    folder.mkdir(parents=True, exist_ok=True)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if cross:
        compiler = [f"{cross}-gcc"]
    options = flags(sanitize, cross)

    # A change of flags is as good as a change of every file.
    stamp = folder / "flags"
    wanted = shlex.join(compiler + options)
    if not stamp.exists() or stamp.read_text() != wanted:
        stamp.write_text(wanted)
    headers = [*ROOT.glob("csrc/*.h"), *ROOT.glob("tests/c/*.h"), stamp]
    newest = max(path.stat().st_mtime for path in headers)

    def compile_one(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        changed = max(newest, source.stat().st_mtime)
        if not target.exists() or target.stat().st_mtime <= changed:
            run([*compiler, *options, "-c", str(source), "-o", str(target)])
        return target

    def link_one(objects: list[Path], test: Path) -> Path:
        target = test.with_suffix("")
        run([*compiler, *options, str(test), *map(str, objects), "-o", str(target)])
        return target

    with ThreadPoolExecutor(jobs) as pool:
        core = list(pool.map(compile_one, sorted(ROOT.glob("csrc/*.c"))))
        tests = list(pool.map(compile_one, sources))
        return list(pool.map(lambda test: link_one(core, test), tests))


def main() -> int:
    """Build and run; return the exit status."""
    parser = argparse.ArgumentParser(description="Run the C tests.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as maps, split")
    parser.add_argument("--sanitize", default="", help="such as address,undefined")
    parser.add_argument("--valgrind", action="store_true", help="run under valgrind")
    parser.add_argument(
        "--cross", default="", metavar="TRIPLE", help="such as aarch64-linux-gnu"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    if args.cross and (args.sanitize or args.valgrind):
        parser.error("--cross goes with neither --sanitize nor --valgrind")
    kind = "threads_" if args.sanitize == "thread" else "test_"
    found = {
        path.stem.removeprefix(kind): path
        for path in sorted(ROOT.glob(f"tests/c/{kind}*.c"))
    }
    if unknown := sorted(set(args.names) - set(found)):
        parser.error(f"no {kind}{unknown[0]}.c; there are {', '.join(found)}")
    sources = [found[name] for name in args.names or found]
    wrapper = []
    if args.valgrind:
        wrapper = ["valgrind", "-q", "--leak-check=full", "--error-exitcode=9"]
    if args.cross:
        machine = args.cross.split("-")[0]
        wrapper = ["qemu-" + EMULATORS.get(machine, machine)]
    failed = 0
    for program in build(sources, args.sanitize, args.cross, args.jobs):
        done = subprocess.run(
            [*wrapper, str(program)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        result = done.stdout.strip() or "no output"
        if done.returncode != 0:
            failed += 1
            result += f"  (exit status {done.returncode})"
        sys.stdout.write(f"{program.name}: {result}\n")
        sys.stdout.flush()
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
