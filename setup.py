"""Build hooks that pyproject.toml cannot express: the cffi core and its tag."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.build_ext import build_ext

# Warnings that are errors in our own C under PYBPE_WERROR=1. A release never sets it:
# a newer compiler's new warning must not stop a user's installation.
STRICT = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wconversion",
    "-Wvla",
    "-Wstrict-prototypes",
    "-Werror",
]


class BuildExt(build_ext):
    """Compile `csrc/` with the strict warnings when PYBPE_WERROR=1.

    The glue that cffi generates goes into the same extension but is not ours to keep
    free of warnings, so the flags are added file by file.
    """

    def build_extensions(self) -> None:
        """Wrap the compiler's per-file step, then build as usual."""
        compiler: Any = self.compiler
        if os.environ.get("PYBPE_WERROR") == "1" and compiler.compiler_type == "unix":
            plain = compiler._compile

            def compile_one(
                obj: str, src: str, ext: str, cc: list[str], post: list[str], pp: Any
            ) -> None:
                ours = Path(src).parent.name == "csrc"
                plain(obj, src, ext, cc, post + STRICT if ours else post, pp)

            compiler._compile = compile_one
        super().build_extensions()


# One wheel serves every CPython from 3.11 on, except free-threaded builds, which have
# no limited API to be tagged with.
abi3 = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    cffi_modules=["pybpe/_ffi_build.py:ffibuilder"],
    cmdclass={"build_ext": BuildExt},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if abi3 else {},
)
