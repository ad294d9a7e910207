"""Regenerate pybpe/_proto/*_pb2.py, *_pb2.pyi and *_schema.py from proto/*.proto.

    python tools/make_proto.py            write the modules
    python tools/make_proto.py --check    write nothing; exit 1 if they are out of date

Needs grpcio-tools in exactly the version below, in an environment of its own:

    python -m venv .venv-proto
    .venv-proto/bin/pip install grpcio-tools==1.71.2 setuptools
    .venv-proto/bin/python tools/make_proto.py

That version is old on purpose. Generated code runs on protobuf runtimes that are not
older than itself, so the oldest one we can use serves the most installations: this
one's output loads on every protobuf from 5.29.1 to 7.x.

The first two are protoc's. The third is ours: the messages and enums as plain tables,
by which pybpe/_wire.py reads files without protobuf.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

VERSION = "1.71.2"
ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "proto").glob("*.proto"))
# The files register in protobuf's process-wide pool under names in this folder, which
# must not be anybody else's; it is also where the modules go.
REGISTERED = Path("pybpe", "_proto")


# What pybpe/_wire.py reads: FieldDescriptorProto.TYPE_* -> the table's word for it.
KINDS = {
    2: "float",
    4: "uint64",
    5: "int32",
    8: "bool",
    9: "string",
    11: "message",
    12: "bytes",
    13: "uint32",
    14: "enum",
    18: "sint64",
}
REPEATED = 3  # FieldDescriptorProto.LABEL_REPEATED


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
                f"--descriptor_set_out={folder}/set",
                (REGISTERED / source.name).as_posix(),
            ],
            check=True,
        )
        made = Path(folder, REGISTERED)
        contents = {name: (made / name).read_text("utf-8") for name in outputs}
        contents[f"{source.stem}_schema.py"] = tables(Path(folder, "set").read_bytes())
    return {name: stamp(source, name) + text for name, text in contents.items()}


def tables(descriptors: bytes) -> str:
    """Return a module with the messages and enums of a serialised descriptor set."""
    from google.protobuf import descriptor_pb2  # comes with grpcio-tools

    (file,) = descriptor_pb2.FileDescriptorSet.FromString(descriptors).file
    lines = [
        f'"""The messages and enums of the package {file.package}, as tables."""',
        "",
        "from __future__ import annotations",
        "",
        "# Number of a field -> name; type; full name of a message's or enum's type;",
        '# "repeated", "optional" (may be absent), "=" and its oneof, or ""; and the',
        "# value when it is absent, None for messages and repeated fields.",
        "MESSAGES: dict[str, dict[int, tuple[str, str, str, str, object]]] = {",
    ]
    enums = dict(named(file.package, file.enum_type))
    for path, message in walk(file.package, file.message_type):
        enums.update(named(path, message.enum_type))
        rows = [row(message, field, enums, file) for field in message.field]
        lines += [f'    "{path}": {{', *rows, "    },"]
    lines += ["}", "", "# Numbers and names.", "ENUMS: dict[str, dict[int, str]] = {"]
    for path, enum in enums.items():
        rows = [f'        {value.number}: "{value.name}",' for value in enum.value]
        lines += [f'    "{path}": {{', *rows, "    },"]
    lines.append("}")
    return "\n".join(lines) + "\n"


def named(path: str, parts: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the full names of descriptors, and these."""
    return ((f"{path}.{part.name}", part) for part in parts)


def walk(path: str, messages: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the full names of messages and of those within them, and these."""
    for inner, message in named(path, messages):
        yield inner, message
        yield from walk(inner, message.nested_type)


def row(message: Any, field: Any, enums: dict[str, Any], file: Any) -> str:
    """Return the line of one field."""
    kind, of = KINDS[field.type], field.type_name.removeprefix(".")
    repeated = field.label == REPEATED
    if repeated and kind not in ("message", "string"):
        raise SystemExit(f"{field.name}: pybpe/_wire.py reads no packed fields")
    label = ""
    if repeated:
        label = "repeated"
    elif field.HasField("oneof_index") and not field.proto3_optional:
        label = f"={message.oneof_decl[field.oneof_index].name}"
    elif field.proto3_optional or file.syntax != "proto3":
        label = "optional"
    shown = "None" if repeated else default(field, kind, enums)
    parts = f'"{field.name}", "{kind}", "{of}", "{label}", {shown}'
    return f"        {field.number}: ({parts}),"


def default(field: Any, kind: str, enums: dict[str, Any]) -> str:
    """Return the Python for what an absent field has as its value."""
    said: str = field.default_value
    if kind == "message":
        return "None"
    if kind == "bool":
        return str(said == "true")
    if kind == "string":
        return json.dumps(said)
    if kind == "bytes":
        # Escaped as in C, of which what is in use is the same in Python.
        return f'b"{said}"'
    if kind == "float":
        return repr(struct.unpack("f", struct.pack("f", float(said or 0)))[0])
    if kind == "enum" and said:
        values = enums[field.type_name.removeprefix(".")].value
        return str(next(v.number for v in values if v.name == said))
    return said or "0"


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
