"""Describe the compiled core `pybpe._core` to cffi; run by setup.py only.

The declarations are cut out of the public header, so there is one source for them, and
the compiler checks them against the real ones. Environment variables:

* `PYBPE_DEBUG=1`: no optimisation to speak of, symbols, assertions on.
* `PYBPE_SANITIZE=address,undefined`: the same, with those sanitizers; errors are fatal.
* `PYBPE_WERROR=1`: strict warnings are errors (see setup.py).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cffi import FFI

ROOT = Path(__file__).resolve().parent.parent
BEGIN = "/* cffi: begin */"
END = "/* cffi: end */"


def declarations() -> str:
    """Return the part of `csrc/bpe.h` between the markers, without export macros.

    Raises:
        ValueError: The header has no such part, or a nested marker.
    """
    header = (ROOT / "csrc" / "bpe.h").read_text(encoding="utf-8")
    if header.count(BEGIN) != header.count(END) or BEGIN not in header:
        raise ValueError(f"csrc/bpe.h needs pairs of {BEGIN} and {END}")
    parts = [part.split(END, 1)[0] for part in header.split(BEGIN)[1:]]
    return "\n".join(parts).replace("BPE_API ", "")


def compile_flags() -> tuple[list[str], list[str]]:
    """Return (compiler flags, linker flags) for this platform and environment."""
    debug = os.environ.get("PYBPE_DEBUG") == "1"
    sanitize = os.environ.get("PYBPE_SANITIZE", "")
    if "MSC v." in sys.version:
        if sanitize:
            raise ValueError("PYBPE_SANITIZE needs gcc or clang")
        return ["/std:c11", "/utf-8", "/Od" if debug else "/O2"], []
    flags = [
        "-std=c11",
        "-fvisibility=hidden",
        # Without these a wrong type in the header's cdef would pass with a warning.
        "-Werror=incompatible-pointer-types",
        "-Werror=int-conversion",
        "-Werror=implicit-function-declaration",
    ]
    link: list[str] = []
    # Python's own flags carry -DNDEBUG, so assertions have to be asked for.
    flags += ["-O1", "-g", "-UNDEBUG"] if debug or sanitize else ["-O3"]
    if sanitize:
        link = [f"-fsanitize={sanitize}"]
        flags += [*link, "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
    return flags, link


def make_ffibuilder() -> FFI:
    """Return the cffi builder of `pybpe._core`."""
    csrc = Path("csrc")  # relative to setup.py: setuptools wants it so for the sdist
    sources = sorted(p.name for p in (ROOT / "csrc").glob("*.c"))
    headers = sorted(p.name for p in (ROOT / "csrc").glob("*.h"))
    flags, link = compile_flags()
    ffi = FFI()
    ffi.cdef(declarations())
    ffi.set_source(
        "pybpe._core",
        '#include "bpe.h"',
        sources=[(csrc / name).as_posix() for name in sources],
        depends=[(csrc / name).as_posix() for name in headers],
        include_dirs=["csrc"],
        extra_compile_args=flags,
        extra_link_args=link,
    )
    return ffi


ffibuilder = make_ffibuilder()
