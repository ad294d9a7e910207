"""The index of a folder: what was asked for, and the files that came of it; JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pybpe._whole_file import whole_file
from pybpe.errors import CorpusError

INDEX = "index.json"

_FORMAT, _VERSION = "pybpe corpus", 1


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a small file, whole or not at all."""
    with whole_file(path) as file:
        file.write(json.dumps(value, indent=1).encode() + b"\n")


def write_index(path: Path, content: Mapping[str, Any]) -> None:
    """Write an index."""
    write_json(path, {"format": _FORMAT, "version": _VERSION, **content})


def read_index(path: Path) -> dict[str, Any]:
    """Return what an index says.

    Raises:
        CorpusError: It is not there, no index, or one of a newer pybpe.
    """
    try:
        index = json.loads(path.read_bytes())
        ours = index["format"] == _FORMAT and are_files(index["files"])
    except FileNotFoundError:
        raise CorpusError(
            f"{path}: not there: the shards are not finished (run it again), or not "
            "joined (join_shards)"
        ) from None
    except (ValueError, KeyError, TypeError):
        ours = False
    if not ours:
        raise CorpusError(f"{path}: not an index of pybpe")
    if index["version"] != _VERSION:
        raise CorpusError(
            f"{path}: an index of version {index['version']!r}, and this version of "
            f"pybpe reads version {_VERSION}; upgrade pybpe"
        )
    found: dict[str, Any] = index
    return found


def are_files(value: object) -> bool:
    """Tell whether a list is one of files, all of them in the folder of the index."""
    return isinstance(value, list) and all(
        isinstance(entry, dict)
        and isinstance(entry.get("split"), str)
        and isinstance(entry.get("file"), str)
        and entry["file"] not in ("", "..")
        and entry["file"] == Path(entry["file"]).name
        and isinstance(entry.get("size"), int)
        for entry in value
    )


def refuse_missing(folder: Path, files: Iterable[Mapping[str, Any]]) -> None:
    """Refuse to go by a list of files that are not all there.

    Raises:
        CorpusError: One is missing, or not as large as it was.
    """
    for entry in files:
        path = folder / entry["file"]
        if not path.exists() or path.stat().st_size != entry["size"]:
            raise CorpusError(
                f"{path}: it was complete, and is not there any more or has changed; "
                "begin anew with overwrite=True"
            )


def remove_files(folder: Path, files: Iterable[Mapping[str, Any]]) -> None:
    """Remove the files that an index or a state lists, and what belongs to them."""
    for entry in files:
        path = folder / entry["file"]
        path.unlink(missing_ok=True)
        if path.suffix == ".bin":  # of the layout "megatron"
            path.with_suffix(".idx").unlink(missing_ok=True)
