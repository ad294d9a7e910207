"""Regenerate pybpe/_proto/*_pb2.py and .pyi from proto/*.proto.

    python tools/make_proto.py            write the modules
    python tools/make_proto.py --check    write nothing; exit 1 if they are out of date

Needs grpcio-tools in exactly the version below, in an environment of its own:

    python -m venv .venv-proto
    .venv-proto/bin/pip install grpcio-tools==1.71.2 setuptools
    .venv-proto/bin/python tools/make_proto.py

That version is old on purpose. Generated code runs on protobuf runtimes that are not
older than itself, so the oldest one we can use serves the most installations: this
one's output loads on every protobuf from 5.29.1 to 7.x.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

VERSION = "1.71.2"
ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "proto").glob("*.proto"))
# The files register in protobuf's process-wide pool under names in this folder, which
# must not be anybody else's; it is also where the modules go.
REGISTERED = Path("pybpe", "_proto")


def generate(source: Path) -> dict[str, str]:
    """Run protoc on a schema; return {file name: contents}."""
    outputs = (f"{source.stem}_pb2.py", f"{source.stem}_pb2.pyi")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                sys.executable,
                "-m",
                "grpc_tools.protoc",
                f"-I{REGISTERED.as_posix()}={source.parent}",
                f"--python_out={folder}",
                f"--pyi_out={folder}",
                (REGISTERED / source.name).as_posix(),
            ],
            check=True,
        )
        made = Path(folder, REGISTERED)
        return {
            name: stamp(source, name) + (made / name).read_text("utf-8")
            for name in outputs
        }


def stamp(source: Path, name: str) -> str:
    """Return the first lines for a generated file.

    They tie it to its source, so that the tests notice a forgotten regeneration without
    protoc at hand, and tell mypy that protoc's stubs have a bare `Mapping` in them, and
    a name of the runtime that its own stubs do not have.
    """
    text = source.read_text("utf-8")  # line ends may differ between systems
    digest = hashlib.sha256(text.encode()).hexdigest()
    mypy = ""
    if name.endswith(".pyi"):
        mypy = '# mypy: disable-error-code="type-arg,name-defined"\n'
    return f"# Made by tools/make_proto.py from a schema of SHA-256 {digest}.\n{mypy}"


def main() -> int:
    """Regenerate or compare; return the exit code."""
    parser = argparse.ArgumentParser(description="Regenerate the protobuf modules.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check: bool = parser.parse_args().check

    try:
        found = metadata.version("grpcio-tools")
    except metadata.PackageNotFoundError:
        found = "none"
    if found != VERSION:
        print(
            f"needs grpcio-tools {VERSION}, found {found}:\n"
            "    python -m venv .venv-proto\n"
            f"    .venv-proto/bin/pip install grpcio-tools=={VERSION} setuptools\n"
            "    .venv-proto/bin/python tools/make_proto.py",
            file=sys.stderr,
        )
        return 2

    stale = False
    made = {name: text for source in SOURCES for name, text in generate(source).items()}
    for name, text in made.items():
        path = ROOT / REGISTERED / name
        if not check:
            path.write_text(text, "utf-8", newline="\n")
            continue
        old = path.read_text("utf-8") if path.exists() else ""
        if old != text:
            stale = True
            shown = difflib.unified_diff(
                old.splitlines(), text.splitlines(), str(path), "regenerated", n=1
            )
            print("\n".join(line[:200] for line in list(shown)[:40]), file=sys.stderr)
    if stale:
        print("run tools/make_proto.py and commit the result", file=sys.stderr)
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
