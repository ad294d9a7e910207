"""Where data come from and go to: files, stdin and stdout, and what is refused."""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader, BufferedWriter, BytesIO
from pathlib import Path
from typing import IO, cast

import click

from pybpe._whole_file import NamedSink, whole_file

_BLOCK = 1 << 20  # bytes
# Lines are taken so many bytes at a time: few calls, little memory.
_BATCH = 4 << 20
# A vocabulary in two files is read by the name of one of them.
_PAIRS = {"vocab.json", "merges.txt", "encoder.json", "vocab.bpe"}


def tell(message: str) -> None:
    """Print a message on stderr; if nobody can hear it, that is no reason to fail."""
    with suppress(OSError):
        click.echo(message, err=True)


@contextmanager
def warnings_told() -> Iterator[None]:
    """Tell warnings in the program's own words, at once."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        tell(f"pybpe: warning: {message}")

    with warnings.catch_warnings():
        # Those to developers of other packages are not for whoever types commands.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


@contextmanager
def source(path: str) -> Iterator[IO[bytes]]:
    """Open a file to read, or stdin for "-", in binary."""
    if path == "-":
        yield sys.stdin.buffer
        return
    with Path(path).open("rb") as file:
        yield file


def blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield what is left of a file, as it comes.

    Python looks for Ctrl-C between two blocks; within one `read` of much from a pipe it
    may miss it until more data come.
    """
    reader = cast("BufferedReader", file)
    while block := reader.read1(_BLOCK):
        yield block


def batches(file: IO[bytes]) -> Iterator[list[bytes]]:
    r"""Yield lists of whole lines, each with its "\n", some megabytes at a time."""
    pending: list[bytes] = []
    held = 0
    for block in blocks(file):
        pending.append(block)
        held += len(block)
        if held >= _BATCH and b"\n" in block:
            data = b"".join(pending)
            end = data.rindex(b"\n") + 1
            yield BytesIO(data[:end]).readlines()
            pending, held = [data[end:]], len(data) - end
    if lines := BytesIO(b"".join(pending)).readlines():
        yield lines


@contextmanager
def output(path: str) -> Iterator[IO[bytes]]:
    """Open a file to write, or stdout for "-", in binary; errors name it.

    A file is there when the block has ended without error, and as it was before then.
    """
    if path != "-":
        with whole_file(path) as file:
            yield file
        return
    sys.stdout.flush()
    sink = NamedSink(sys.stdout.fileno(), "stdout", closefd=False)
    with BufferedWriter(sink) as file:
        yield file


def check_output(path: str, inputs: Sequence[str]) -> None:
    """Refuse an output before the work rather than after it.

    Args:
        path: The output; "-" for stdout.
        inputs: What is read: files, folders, "-" for stdin.

    Raises:
        click.UsageError: The output is one of the inputs.
        OSError: It cannot be written.
    """
    there = _status(path, sys.stdout)
    if there is not None and stat.S_ISREG(there.st_mode):
        for name in inputs:
            found = _status(name, sys.stdin)
            if found is not None and os.path.samestat(found, there):
                shown = "stdout" if path == "-" else path
                raise click.UsageError(
                    f"{shown} is what is read, too; name another file to write"
                )
    if path == "-":
        return
    folder = Path(path).absolute().parent
    if there is None:
        if not folder.is_dir():
            raise click.ClickException(f"{path}: there is no folder {str(folder)!r}")
        needed = folder
    elif stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    else:
        needed = Path(path)
    if not os.access(needed, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def model_files(model: str) -> list[str]:
    """Return the files that loading `model` may read."""
    path = Path(model)
    if path.is_dir():
        return [str(entry) for entry in path.iterdir()]
    if path.name in _PAIRS:
        return [str(path.with_name(name)) for name in sorted(_PAIRS)]
    return [model]


def _status(path: str, stream: IO[str]) -> os.stat_result | None:
    """Return the status of a file, or of a stream for "-"; None without one."""
    with suppress(OSError, ValueError):
        return os.fstat(stream.fileno()) if path == "-" else Path(path).stat()
    return None


@contextmanager
def as_files(names: Sequence[str]) -> Iterator[list[str]]:
    """Give each name as a file's path; what stdin holds becomes a temporary file.

    So a corpus on stdin takes no memory either, and counts as one file.
    """
    if list(names).count("-") > 1:
        raise click.UsageError("stdin ('-') can be read only once")
    with tempfile.TemporaryDirectory(prefix="pybpe-") as folder:
        paths = list(names)
        if "-" in paths:
            copy = Path(folder, "stdin")
            with copy.open("wb") as file:
                file.writelines(blocks(sys.stdin.buffer))
            paths[paths.index("-")] = str(copy)
        yield paths
