"""What is to be read: names of files, folders, patterns → sources of a known kind."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from pybpe.errors import CorpusError

# Names of files, folders and patterns: many, or a single one.
Paths: TypeAlias = "Iterable[str | os.PathLike[str]] | str | os.PathLike[str]"

# What files may hold.
Format: TypeAlias = Literal["text", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = ("text", "jsonl", "parquet")
TEXT, JSONL, PARQUET = FORMATS

# What the endings of names say, without those of compression.
_ENDINGS = {
    ".txt": TEXT,
    ".text": TEXT,
    ".md": TEXT,
    ".jsonl": JSONL,
    ".ndjson": JSONL,
    ".parquet": PARQUET,
}
COMPRESSIONS = {
    ".gz": "gzip",
    ".zst": "zstd",
    ".zstd": "zstd",
    ".xz": "xz",
    ".bz2": "bzip2",
}
# Files of these are no text, whoever names them; what to do instead.
_REFUSED = {
    ".json": "if each line is an object, give format='jsonl'",
    ".csv": "write its texts as .jsonl or .parquet",
    ".tsv": "write its texts as .jsonl or .parquet",
    ".arrow": "write it as .parquet",
    ".feather": "write it as .parquet",
    ".npy": "it holds numbers",
    ".zip": "unpack it",
    ".tar": "unpack it",
    ".tgz": "unpack it",
    ".7z": "unpack it",
}


class Source(NamedTuple):
    """One file to read.

    Attributes:
        path: Its name as the caller gave it, or as found in a folder that was given.
        format: "text", "jsonl" or "parquet".
        compression: "gzip", "zstd", "xz" or "bzip2"; None for none.
        size: In bytes, as it lies there; None for a pipe.
        mtime_ns: When it was last changed.
    """

    path: str
    format: str
    compression: str | None
    size: int | None
    mtime_ns: int


def find_sources(
    paths: Paths, format: Format | None = None, *, may_repeat: bool = False
) -> list[Source]:
    """Return the files that paths stand for, in the order in which they are read.

    A file stands for itself; a folder for all files in it and below, by name; a pattern
    such as `data/*.jsonl.zst` for the files that match it, by name. What a file holds
    is told by its ending (`.txt`, `.jsonl`, `.ndjson`, `.parquet`; before `.gz`,
    `.zst`, `.xz`, `.bz2`); a named file with another ending is text. In folders, names
    that begin with a dot or `_` are passed over, as everywhere in this trade.

    Args:
        paths: Names, one or many.
        format: What all files hold, whatever their names: "text", "jsonl" or "parquet".
        may_repeat: Whether a file may come twice.

    Raises:
        TypeError: One is no path.
        ValueError: `format` is none of the three.
        FileNotFoundError: There is no such file.
        CorpusError: A pattern matches no file, a folder holds none or others beside, a
            file comes twice, or its ending is of something else.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    found: list[Source] = []
    seen: dict[tuple[int, int], str] = {}
    for name in names_of(paths):
        for path, status in _expand(name, format):
            identity = status.st_dev, status.st_ino
            if identity in seen and not may_repeat:
                raise CorpusError(
                    f"{path}: given twice (as {seen[identity]} before): its documents "
                    "would be there twice"
                )
            if status.st_ino:
                seen[identity] = path
            found.append(_source(path, status, format))
    return found


def names_of(paths: object) -> list[str]:
    """Return names, of which the caller gave one or several.

    Raises:
        TypeError: Something else was given.
    """
    if isinstance(paths, (str, os.PathLike)):
        return [_as_name(paths, "paths")]
    if isinstance(paths, (bytes, bytearray)) or not isinstance(paths, Iterable):
        raise _no_name(paths, "paths")
    return [_as_name(path, f"paths[{i}]") for i, path in enumerate(paths)]


def _as_name(path: object, what: str) -> str:
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else path
    if not isinstance(name, str):
        raise _no_name(path, what)
    return name


def _no_name(path: object, what: str) -> TypeError:
    hint = "; os.fsdecode makes a str of bytes" if isinstance(path, bytes) else ""
    return TypeError(f"{what} must be str or os.PathLike, got {path!r:.100}{hint}")


def _expand(name: str, format: str | None) -> list[tuple[str, os.stat_result]]:
    """Return the files that one name stands for."""
    try:
        status = os.stat(name)  # noqa: PTH116 - errors name it as it was given
    except FileNotFoundError:
        if not any(mark in name for mark in "*?["):
            raise
        import glob

        paths = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - keeps the name
        if not paths:
            raise CorpusError(f"{name}: no file matches this pattern") from None
        return [found for path in paths for found in _expand(path, format)]
    if not stat.S_ISDIR(status.st_mode):
        return [(name, status)]
    return _in_folder(name, format)


def _in_folder(name: str, format: str | None) -> list[tuple[str, os.stat_result]]:
    paths: list[str] = []
    seen: dict[tuple[int, int], str] = {}
    for folder, folders, files in os.walk(name, onerror=_fail, followlinks=True):
        status = Path(folder).stat()
        before = seen.setdefault((status.st_dev, status.st_ino), folder)
        if before != folder and status.st_ino:
            raise CorpusError(
                f"{folder}: a link to {before}: its documents would be there twice"
            )
        folders[:] = sorted(f for f in folders if f[0] not in "._")
        paths += [os.path.join(folder, f) for f in files if f[0] not in "._"]  # noqa: PTH118
    if not paths:
        raise CorpusError(f"{name}: the folder holds no files")
    if format is None and (others := [p for p in paths if _by_ending(p)[0] is None]):
        raise CorpusError(
            f"{min(others)}: what such a file holds is not known, and {name} was given "
            f"as a whole; give a pattern, such as {os.path.join(name, '*.jsonl')!r}, "  # noqa: PTH118
            "or format='text' if all of them are text"
        )
    return [(path, Path(path).stat()) for path in sorted(paths)]


def _fail(error: OSError) -> None:
    """Let no folder be passed over because it cannot be read."""
    raise error


def _by_ending(path: str) -> tuple[str | None, str | None, str]:
    """Return format, compression and the ending that told the former."""
    name, ending = os.path.splitext(path)  # noqa: PTH122 - str in, str out
    compression = COMPRESSIONS.get(ending.lower())
    if compression:
        ending = os.path.splitext(name)[1]  # noqa: PTH122
    return _ENDINGS.get(ending.lower()), compression, ending.lower()


def _source(path: str, status: os.stat_result, format: str | None) -> Source:
    told, compression, ending = _by_ending(path)
    if format is None and told is None and ending in _REFUSED:
        raise CorpusError(
            f"{path}: {ending} files are not read: {_REFUSED[ending]}, or give "
            "format='text' to take it as it is"
        )
    kind = format or told or TEXT
    if kind == PARQUET and compression:
        raise CorpusError(
            f"{path}: parquet files are compressed inside; one that is compressed as a "
            "whole must be unpacked first"
        )
    size = status.st_size if stat.S_ISREG(status.st_mode) else None
    return Source(path, kind, compression, size, status.st_mtime_ns)
