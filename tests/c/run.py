"""Compile csrc/ and each tests/c/test_*.c into a program, and run them all.

    python tests/c/run.py [--sanitize address,undefined] [--valgrind] [NAME ...]
    python tests/c/run.py --cross aarch64-linux-gnu [NAME ...]

Needs a C compiler (gcc or clang; $CC chooses) and no make. The whole of csrc/ is built
with BPE_TEST_ALLOC, so that the tests can count allocations and make them fail, and
with assertions on. PYBPE_WERROR=1 makes warnings errors. Objects go to build/ctest*/.
As many programs run at a time as there are processors (`--jobs`).

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
import sys

from programs import ROOT, Builder

# What qemu calls a machine, where it is not what compilers call it.
EMULATORS = {"powerpc64": "ppc64", "powerpc64le": "ppc64le"}


def builder(sanitize: str, cross: str, jobs: int) -> Builder:
    """Return what makes the programs."""
    kind = f"ctest-{cross or sanitize.replace(',', '-')}".rstrip("-")
    compiler = [f"{cross}-gcc"] if cross else shlex.split(os.environ.get("CC", "cc"))
    options = ["-O1", "-pthread" if sanitize == "thread" else "-DBPE_TEST_ALLOC"]
    if cross:
        options.append("-static")
    return Builder(kind, compiler, options, sanitize, jobs)


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
    build = builder(args.sanitize, args.cross, args.jobs)
    runs = build.outcomes(sources, [], lambda program: [*wrapper, str(program)])
    for program, done in runs:
        result = done.stdout.strip() or "no output"
        if done.returncode != 0:
            failed += 1
            result += f"  (exit status {done.returncode})"
        sys.stderr.write(done.stderr)
        sys.stdout.write(f"{program.name}: {result}\n")
        sys.stdout.flush()
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
