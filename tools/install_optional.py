"""Install what pybpe works with but does not need: the group `integration`.

    .venv/bin/python tools/install_optional.py

For the Python that runs it, and as much of it as can be had: tests that need another
package are skipped, and say so. The exit status is 0 whatever could be had.
"""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GROUP = "integration"


def requirements(
    groups: dict[str, list[str | dict[str, str]]], name: str
) -> Iterator[str]:
    """Yield the requirements of a dependency group and of those it includes."""
    for entry in groups[name]:
        if isinstance(entry, str):
            yield entry
        else:
            yield from requirements(groups, entry["include-group"])


def install(*what: str) -> str:
    """Let pip install; return why it did not, or "".

    Most of these packages' modules are never imported here. Not to compile them in
    advance halves the time.
    """
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-compile", *what]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    found = re.findall(r"^ERROR: (.*)$", done.stderr, re.MULTILINE)
    return found[-1] if found else f"pip's exit status is {done.returncode}"


def version(requirement: str) -> str:
    """Return a package's name and its version here, or "" if it is not here."""
    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return ""


def main() -> None:
    """Install all at once; if that fails, one by one."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = list(requirements(groups["dependency-groups"], GROUP))
    if install("--group", GROUP):
        for requirement in wanted:
            if reason := install(requirement):
                print(f"NOT TO BE HAD HERE: {requirement}: {reason}")
                print("Tests that need it are skipped.")
    print("Installed:", *filter(None, dict.fromkeys(map(version, wanted))), sep="\n  ")


if __name__ == "__main__":
    main()
