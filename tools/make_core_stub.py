"""Write pybpe/_core.pyi, the types of the compiled core, from csrc/bpe.h.

    python tools/make_core_stub.py

Every constant is an `int`; a function takes an `int` for each integer, `bytes` or cffi
data for a borrowed text, and cffi data for any other pointer. `ffi` itself is `Any`:
no type says which fields the data have that it makes.
"""

from __future__ import annotations

import keyword
import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = '''\
# Made by tools/make_core_stub.py from csrc/bpe.h. DO NOT EDIT.
"""The compiled core, as cffi makes it of the declarations in csrc/bpe.h.

What each function does, who owns what, and which statuses it returns is said there.
"""

from typing import Any, final

from cffi import FFI

ffi: Any

@final
class _Lib:
'''


def declarations() -> str:
    """Return what cffi reads of the header, without comments."""
    builder = runpy.run_path(str(ROOT / "pybpe" / "_ffi_build.py"))
    return re.sub(r"/\*.*?\*/", "", builder["declarations"](), flags=re.DOTALL)


def constants(text: str) -> list[str]:
    """Return the names of all macros and enumerators, in order."""
    names = re.findall(r"#define\s+(\w+)", text)
    for body in re.findall(r"\benum\s*\w*\s*\{(.*?)\}", text, flags=re.DOTALL):
        names += [item.split("=")[0].strip() for item in body.split(",")]
    return [name for name in names if name]


def python_type(declared: str, *, result: bool) -> str:
    """Return the Python type for a C type such as "const uint8_t *"."""
    words = declared.replace("*", " * ").split()
    if "*" in words:
        text = words in (["const", "uint8_t", "*"], ["const", "char", "*"])
        return "bytes | FFI.CData" if text and not result else "FFI.CData"
    return "None" if words == ["void"] else "int"


def function(result: str, name: str, parameters: str) -> str:
    """Return one method, laid out as ruff's formatter does it."""
    typed = ["self"]
    for parameter in parameters.split(","):
        found = re.fullmatch(r"\s*(.*?[\s*])(\w+)\s*", parameter, flags=re.DOTALL)
        if found:  # not (void)
            declared, word = found.groups()
            word += "_" * keyword.iskeyword(word)  # `from` is no name in Python
            typed.append(f"{word}: {python_type(declared, result=False)}")
    if len(typed) > 1:
        typed.append("/")
    returned = python_type(result, result=True)
    line = f"    def {name}({', '.join(typed)}) -> {returned}: ..."
    if len(line) <= 88:
        return line
    inner = "".join(f"        {item},\n" for item in typed)
    return f"    def {name}(\n{inner}    ) -> {returned}: ..."


def stub() -> str:
    """Return the whole stub."""
    text = declarations()
    lines = [f"    {name}: int" for name in constants(text)]
    calls = re.findall(r"([\w\s]+?[\s*]+)(bpe_\w+)\(([^()]*)\);", text)
    lines += [function(*call) for call in calls]
    return HEAD + "\n".join(lines) + "\n\nlib: _Lib\n"


if __name__ == "__main__":
    target = ROOT / "pybpe" / "_core.pyi"
    target.write_text(stub(), encoding="utf-8")
    sys.stdout.write(f"wrote {target}\n")
