"""docs/design.md is the map: it names every module, and imports go the way it shows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAP = ROOT / "docs" / "design.md"

if not MAP.exists():
    pytest.skip("the map is in the source tree", allow_module_level=True)

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): (
        path
    )
    for path in (ROOT / "pybpe").rglob("*.py")
}
# What only setup.py runs.
BUILD = {"pybpe._ffi_build"}

# Methods of a class that call what is made of it import that when they run.
METHODS = {
    ("pybpe._encoding", "pybpe._spans"),
    ("pybpe._encoding", "pybpe.corpora"),
    ("pybpe.tokenizer", "pybpe.editing"),
    ("pybpe.tokenizer", "pybpe.tiktoken.convert"),
    ("pybpe.tokenizer", "pybpe.writers"),
    ("pybpe.tokenizer", "pybpe.writers.sentencepiece"),
    ("pybpe.tiktoken.core", "pybpe.tiktoken.registry"),
}


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the modules of pybpe that one statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in MODULES)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0
        for alias in node.names:
            for name in (f"{node.module}.{alias.name}", f"{node.module}"):
                if name in MODULES:
                    yield name
                    break


def imports(node: ast.AST, running: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield what a module imports, and whether a function does so when it runs.

    What only type checkers see is left out.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        for name in imported(child):
            yield name, running
        is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield from imports(child, running or is_function)


EDGES = {
    (module, name, later)
    for module, path in MODULES.items()
    for name, later in imports(ast.parse(path.read_bytes()))
    if name != module
}


def rows() -> dict[str, int]:
    """Return the row of the map's table in which each module or package stands."""
    _, _, part = MAP.read_text(encoding="utf-8").partition("**Python** (`pybpe/`)\n")
    part = part.partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| `")]
    return {
        "pybpe." + name.strip("`/"): number
        for number, line in enumerate(lines)
        for name in re.findall(r"`[^`]+`", line.split(" | ")[0])
    }


ROWS = rows()


def row_of(module: str) -> int | None:
    """Return the row of a module, or of the package that it is in."""
    while module not in ROWS and "." in module:
        module = module.rpartition(".")[0]
    return ROWS.get(module)


def test_the_map_names_every_module() -> None:
    assert len(ROWS) > 60
    wanted = MODULES.keys() - {"pybpe"} - BUILD
    assert sorted(name for name in wanted if row_of(name) is None) == []
    assert sorted(ROWS.keys() - MODULES.keys()) == []


def test_packages_are_explained_module_by_module() -> None:
    text = MAP.read_text(encoding="utf-8")
    for package in ("corpora", "inspection", "split", "tiktoken"):
        (line,) = (
            line for line in text.splitlines() if line.startswith(f"| `{package}/` |")
        )
        for module in MODULES:
            if module.startswith(f"pybpe.{package}."):
                assert f"`{module.rpartition('.')[2]}`" in line, module


def test_imports_go_one_way() -> None:
    """From each module to such as stand above it in the table."""
    wrong = []
    for module, name, later in sorted(EDGES):
        mine, other = row_of(module), row_of(name)
        if mine is None or other is None or mine >= other:
            continue
        if not (later and (module, name) in METHODS):
            wrong.append(f"{module} imports {name}")
    assert wrong == []


def test_there_is_no_circle() -> None:
    """Not even within a package, nor of imports that wait for a function to run."""
    found = {(module, name) for module, name, later in EDGES if later}
    assert found >= METHODS
    graph: dict[str, set[str]] = {}
    for module, name, later in EDGES:
        if not (later and (module, name) in METHODS):
            graph.setdefault(module, set()).add(name)
    assert len(list(TopologicalSorter(graph).static_order())) > 100  # or CycleError
