"""Compile csrc/ with tests over it into programs; for run.py here and in fuzz/.

Each kind of build (a sanitizer, another machine) has a folder of its own in build/.
What is newer there than its source and every header is not compiled again, so the C
tests and the fuzz targets compile the core once between them.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WARNINGS = "-Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes"
INCLUDES = "-Icsrc -Itests/c -Itests/fuzz"
# What can change what any of the programs is.
HEADERS = ("csrc/*.h", "tests/c/*.h", "tests/fuzz/*.h")

Outcome = subprocess.CompletedProcess[str]


def run(command: list[str]) -> None:
    """Run a compiler command in the project's folder; stop the program on failure."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.stderr:
        sys.stderr.write(done.stderr)
    if done.returncode != 0:
        sys.exit(f"failed: {shlex.join(command)}")


@dataclass
class Builder:
    """Makes programs of one kind.

    Args:
        kind: The name of their folder in build/.
        compiler: The compiler's command.
        options: Its options, besides those that all kinds have in common.
        sanitize: What `-fsanitize` gets, or "".
        jobs: How many compilers, and programs, run at a time.
    """

    kind: str
    compiler: list[str]
    options: list[str]
    sanitize: str = ""
    jobs: int = os.cpu_count() or 1

    def __post_init__(self) -> None:
        """Put the command together, and see whether it is still the same."""
        command = [*self.compiler, "-std=c11", "-g", "-UNDEBUG", *self.options]
        command += [*INCLUDES.split(), *WARNINGS.split()]
        if os.environ.get("PYBPE_WERROR") == "1":
            command.append("-Werror")
        if self.sanitize:
            command += [f"-fsanitize={self.sanitize}", "-fno-sanitize-recover=all"]
            command.append("-fno-omit-frame-pointer")
        self.command = command
        self.folder = ROOT / "build" / self.kind
        self.folder.mkdir(parents=True, exist_ok=True)
        # A change of options is as good as a change of every file.
        stamp = self.folder / "flags"
        wanted = shlex.join(command)
        if not stamp.exists() or stamp.read_text() != wanted:
            stamp.write_text(wanted)
        headers = [path for pattern in HEADERS for path in ROOT.glob(pattern)]
        self.newest = max(path.stat().st_mtime for path in [*headers, stamp])

    def compile(self, source: Path) -> Path:
        """Return the object of a source, made anew if that is older."""
        target = self.folder / f"{source.stem}.o"
        changed = max(self.newest, source.stat().st_mtime)
        if not target.exists() or target.stat().st_mtime <= changed:
            run([*self.command, "-c", str(source), "-o", str(target)])
        return target

    def program(self, source: Path, objects: list[str]) -> Path:
        """Return the program of a source and of the objects of what it tests."""
        target = self.folder / source.stem
        run([*self.command, str(self.compile(source)), *objects, "-o", str(target)])
        return target

    def programs(self, sources: list[Path], also: list[Path]) -> list[Path]:
        """Return a program for each source, made of it, of csrc/ and of `also`."""
        with ThreadPoolExecutor(self.jobs) as pool:
            objects = self._objects(pool, also)
            return list(pool.map(lambda source: self.program(source, objects), sources))

    def outcomes(
        self,
        sources: list[Path],
        also: list[Path],
        command: Callable[[Path], list[str]],
    ) -> Iterator[tuple[Path, Outcome]]:
        """Make the same programs and run `command` of each, in the project's folder.

        They run as soon as they are made, several at a time, and are returned in the
        order of the sources.
        """

        def outcome(source: Path) -> tuple[Path, Outcome]:
            program = self.program(source, objects)
            return program, subprocess.run(
                command(program), cwd=ROOT, capture_output=True, text=True
            )

        with ThreadPoolExecutor(self.jobs) as pool:
            objects = self._objects(pool, also)
            yield from pool.map(outcome, sources)

    def _objects(self, pool: ThreadPoolExecutor, also: list[Path]) -> list[str]:
        core = sorted(ROOT.glob("csrc/*.c"))
        return list(map(str, pool.map(self.compile, [*core, *also])))
