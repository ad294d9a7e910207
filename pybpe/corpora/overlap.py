"""Whether what is written would be read: a folder that inputs stand for as well.

The first run would find nothing there yet. The next one, and one that is gone on with,
would take what the first has written for documents.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from pybpe.errors import CorpusError


def refuse_overlap(
    names: Iterable[str | os.PathLike[str]], folder: Path, files: Iterable[str]
) -> None:
    """Refuse a folder to write to that is in one to read, or that a pattern matches.

    A folder that is both is refused for what it holds; see `run`.

    Args:
        names: The inputs: files, folders and patterns.
        folder: Where to write.
        files: The names of what will be written there.

    Raises:
        CorpusError: It is so.
    """
    target = Path(os.path.realpath(folder))
    for name in [os.fspath(name) for name in names]:
        if not os.path.lexists(name) and glob.has_magic(name):
            if _pattern_reaches(name, target, files):
                raise CorpusError(
                    f"{folder}: the pattern {name!r} matches what is written there; "
                    "write to a folder outside of the inputs"
                )
        elif target != (inputs := Path(os.path.realpath(name))) and _below(
            inputs, target
        ):
            raise CorpusError(
                f"{folder}: it is inside of the input {name}, where what is written "
                "would be read; write to a folder outside of the inputs"
            )


def _below(inputs: Path, target: Path) -> bool:
    """Tell whether files in a folder are among those that another one stands for."""
    if not target.is_relative_to(inputs):
        return False
    # Names that begin so are passed over in folders.
    return all(part[0] not in "._" for part in target.relative_to(inputs).parts)


def _pattern_reaches(pattern: str, target: Path, files: Iterable[str]) -> bool:
    """Tell whether a pattern matches files in a folder, or a folder that it is in."""
    parts = Path(os.path.abspath(pattern)).parts  # noqa: PTH100 - keeps the pattern
    n_plain = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    base = Path(os.path.realpath(Path(*parts[:n_plain])))
    if not target.is_relative_to(base):
        return False
    inside, wanted = target.relative_to(base).parts, parts[n_plain:]
    if any(_matches((*inside, file), wanted) for file in files):
        return True
    return any(
        _matches(inside[:n], wanted) and _below(base.joinpath(*inside[:n]), target)
        for n in range(len(inside) + 1)
    )


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Tell whether `glob` finds a path by a pattern; both are cut at slashes."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        if _matches(parts, pattern[1:]):
            return True
        return bool(parts) and parts[0][0] != "." and _matches(parts[1:], pattern)
    if not parts or (parts[0][0] == "." and pattern[0][0] != "."):
        return False
    return fnmatch.fnmatch(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
