"""What folders of ids say of themselves, in JSON: written whole, read strictly.

Folders may come from anybody, and what is named here may be removed: so a file is named
by a plain name, which lies in the folder, and a number is one that files can have.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from pybpe._whole_file import whole_file
from pybpe.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

INDEX = "index.json"

_FORMAT, _VERSION = "pybpe corpus", 1
# What every index begins with: by this one is known that is not whole.
_OPENING = b'{\n "format": "pybpe corpus"'
_SEAL = "crc32"
_RESTORE = "write it anew or restore it from a good copy"
_MAX_NUMBER = 2**63
_MAX_NAME = 255  # bytes


class _WrongError(Exception):
    """Something is not as it is written by us."""


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a small file, whole or not at all."""
    with whole_file(path) as file:
        file.write(json.dumps(value, indent=1).encode() + b"\n")


def write_sealed(path: Path, value: Mapping[str, Any]) -> None:
    """Write a small file with a checksum of what it says."""
    write_json(path, {**value, _SEAL: _checksum(value)})


def _read_sealed(path: Path) -> dict[str, Any]:
    """Return what a file with a checksum says."""
    said = _object(json.loads(path.read_bytes()))
    _demand(said.pop(_SEAL, None) == _checksum(said))
    return said


def _checksum(value: Mapping[str, Any]) -> int:
    return crc32(json.dumps(value, sort_keys=True).encode())


def write_index(path: Path, content: Mapping[str, Any]) -> None:
    """Write an index."""
    write_json(path, {"format": _FORMAT, "version": _VERSION, **content})


def read_index(path: Path) -> dict[str, Any]:
    """Return what an index says.

    Raises:
        CorpusError: It is not there, or no index, or damaged, or needs a newer pybpe.
        OSError: It cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise CorpusError(
            f"{path}: not there: the shards are not finished (run it again), or not "
            "joined (join_shards)"
        ) from None
    try:
        index = _object(json.loads(data))
        _demand(index.get("format") == _FORMAT)
    except (ValueError, RecursionError, _WrongError):
        if data.startswith(_OPENING):
            raise CorpusError(
                f"{path}: damaged: it begins as an index does, and is not whole; "
                f"{_RESTORE}"
            ) from None
        raise CorpusError(f"{path}: not an index of pybpe") from None
    if index.get("version") != _VERSION:
        raise CorpusError(
            f"{path}: an index of format version {index.get('version')}, and this "
            f"version of pybpe reads version {_VERSION}; upgrade pybpe"
        )
    try:
        _entries(index.get("files"))
        for name in ("documents", "tokens", "bytes"):
            _number(index.get(name))
        for name in ("documents", "tokens"):
            _demand(index[name] == sum(entry[name] for entry in index["files"]))
        for name in ("layout", "dtype", "fingerprint"):
            _text(index.get(name))
        _number(index.get("n_vocab"))
        if index.get("separator") is not None:
            _number(index["separator"])
        if "empty" in index:
            _number(index["empty"])
        if "sources" in index:
            _sources(index["sources"])
    except _WrongError:
        raise CorpusError(
            f"{path}: damaged: it does not say what an index says; {_RESTORE}"
        ) from None
    return index


def read_run(path: Path) -> dict[str, Any]:
    """Return what an unfinished run was asked for.

    Raises:
        CorpusError: It is not there, or damaged.
    """
    try:
        run = _read_sealed(path)
        _sources(run.get("sources"))
    except (FileNotFoundError, ValueError, RecursionError, _WrongError):
        raise _damaged(path) from None
    return run


def read_progress(
    path: Path, splits: Sequence[str], n_sources: int | None
) -> dict[str, Any]:
    """Return how far an unfinished run is.

    Args:
        path: The file.
        splits: Those that it must have.
        n_sources: How many sources there are; None where nobody goes on with it.

    Raises:
        CorpusError: It is not there, or damaged.
    """
    try:
        state = _read_sealed(path)
        said = _object(state.get("splits"))
        _demand(set(splits) <= set(said))
        for split in said.values():
            _entries(_object(split).get("finished"))
            _numbers(split.get("part"), 5)
        _numbers(state.get("totals"), 4)
        source, (position, number, inside) = _list(state.get("position"))
        _numbers([source, position, number], 3)
        _demand(isinstance(inside, bool))
        _demand(n_sources is None or source < n_sources)
        for which, total in (("documents", 0), ("tokens", 2)):
            written = sum(
                split["part"][which == "documents"]
                + sum(entry[which] for entry in split["finished"])
                for split in said.values()
            )
            begun = inside and which == "documents"
            _demand(state["totals"][total] == written + begun)
    except (FileNotFoundError, ValueError, TypeError, RecursionError, _WrongError):
        raise _damaged(path) from None
    return state


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


def _damaged(path: Path) -> CorpusError:
    return CorpusError(
        f"{path}: missing or damaged, so the run cannot be gone on with; begin anew "
        "with overwrite=True"
    )


# ------------------------------------------------------------------ values


def _demand(is_right: bool) -> None:
    if not is_right:
        raise _WrongError


def _object(value: Any) -> dict[str, Any]:
    _demand(isinstance(value, dict))
    return value  # type: ignore[no-any-return]


def _list(value: Any) -> list[Any]:
    _demand(isinstance(value, list))
    return value  # type: ignore[no-any-return]


def _text(value: Any) -> str:
    _demand(isinstance(value, str))
    return value  # type: ignore[no-any-return]


def _number(value: Any) -> None:
    _demand(type(value) is int and 0 <= value < _MAX_NUMBER)


def _numbers(values: Any, n: int) -> None:
    _demand(len(_list(values)) == n)
    for value in values:
        _number(value)


def _entries(values: Any) -> None:
    for value in _list(values):
        entry = _object(value)
        name = _text(entry.get("file"))
        _demand(name not in ("", "..") and Path(name).name == name)
        _demand(name.isprintable())
        _demand(len(name.encode()) <= _MAX_NAME)
        _text(entry.get("split"))
        for key in ("documents", "tokens", "size"):
            _number(entry.get(key))


def _sources(values: Any) -> None:
    for value in _list(values):
        source = _object(value)
        _text(source.get("path"))
        _demand({"format", "size"} <= set(source))
