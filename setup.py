"""Build hooks that pyproject.toml cannot express: the cffi core and its tag."""

from __future__ import annotations

import os
import sysconfig
from concurrent.futures import ThreadPoolExecutor
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
    """Compile several files at a time, `csrc/` strictly when PYBPE_WERROR=1.

    The glue that cffi generates goes into the same extension but is not ours to keep
    free of warnings, so the flags are added file by file.
    """

    def build_extensions(self) -> None:
        """Wrap the compiler's steps, then build as usual."""
        compiler: Any = self.compiler
        if compiler.compiler_type == "unix":
            if os.environ.get("PYBPE_WERROR") == "1":
                be_strict(compiler)
            compile_in_parallel(compiler)
        super().build_extensions()


def be_strict(compiler: Any) -> None:
    """Let warnings in our own files be errors."""
    plain = compiler._compile

    def compile_one(
        obj: str, src: str, ext: str, cc: list[str], post: list[str], pp: Any
    ) -> None:
        ours = Path(src).parent.name == "csrc"
        plain(obj, src, ext, cc, post + STRICT if ours else post, pp)

    compiler._compile = compile_one


def compile_in_parallel(compiler: Any) -> None:
    """Let as many files be compiled at a time as there are processors."""
    plain = compiler.compile

    def compile_all(sources: list[str], **kwargs: Any) -> list[str]:
        # The folders first: setuptools does not make them twice, nor waits for another
        # thread that is about to make one.
        for name in compiler.object_filenames(sources, output_dir=kwargs["output_dir"]):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            parts = pool.map(lambda source: plain([source], **kwargs), sources)
            return [target for part in parts for target in part]

    compiler.compile = compile_all


# One wheel serves every CPython from 3.11 on, except free-threaded builds, which have
# no limited API to be tagged with.
abi3 = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    cffi_modules=["pybpe/_ffi_build.py:ffibuilder"],
    cmdclass={"build_ext": BuildExt},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if abi3 else {},
)
