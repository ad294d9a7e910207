"""Writing a file whole or not at all.

The data go to a temporary file in the same folder, which takes the place of the target
at the end. Until that moment a file that was there is intact. Every error names the
target as the caller wrote it, not the temporary file.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


# What temporary files are called: a process that is killed leaves one.
TEMPORARY = ".pybpe-*.tmp"


class NamedSink(io.FileIO):
    """A file to write to, whose errors name it: the system's own do not."""

    def __init__(self, handle: int, shown: str, *, closefd: bool = True) -> None:
        """Take an open descriptor and the name that errors shall give."""
        super().__init__(handle, "wb", closefd=closefd)
        self._shown = shown

    def write(self, data: ReadableBuffer, /) -> int | None:  # type: ignore[override]
        """Write some of the data; return how much, as any raw file does."""
        try:
            return super().write(data)
        except OSError as error:
            raise named(error, self._shown) from None


def named(error: OSError, path: str) -> OSError:
    """Return an error of the same class that names `path` alone."""
    if error.errno is None:
        return error
    return OSError(error.errno, error.strerror or os.strerror(error.errno), path)


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Let errors of the system name `path`."""
    try:
        yield
    except OSError as error:
        raise named(error, path) from None


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to write to; it takes its place when the block ends without error.

    An existing file keeps its permission bits; a new one gets those that `open` would
    give. A symbolic link is followed: its target is replaced. Devices and pipes,
    `/dev/stdout` among them, are written to directly.

    Raises:
        OSError: The file cannot be written; it names `path`.
    """
    shown = os.fspath(path)
    mode: int | None = None
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(shown).st_mode  # noqa: PTH116 - pathlib loses a final slash
    descriptor = None if mode is None else _descriptor(shown)
    if descriptor is not None or (mode is not None and not stat.S_ISREG(mode)):
        # A folder is refused here, by the system and in its words.
        handle = (
            os.open(shown, os.O_WRONLY | getattr(os, "O_BINARY", 0))
            if descriptor is None
            else os.dup(descriptor)
        )
        with io.BufferedWriter(NamedSink(handle, shown)) as file:
            yield file
        return
    if mode is not None and not os.access(shown, os.W_OK):
        # Replacing a file asks only for a writable folder; its own protection counts.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), shown)
    yield from _replacing(Path(os.path.realpath(shown)), shown, mode)


def _replacing(target: Path, shown: str, mode: int | None) -> Iterator[IO[bytes]]:
    """Give the file `target`, which is no symbolic link, new contents in one step."""
    # A name of its own, not one made of the target's, which may be as long as it gets.
    temporary = target.parent / TEMPORARY.replace("*", os.urandom(8).hex())
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with naming(shown):
        # The system takes the umask off the mode, as it does for open.
        handle = os.open(temporary, flags, 0o666)
    try:
        with io.BufferedWriter(NamedSink(handle, shown)) as file:
            if mode is not None:
                with naming(shown):
                    temporary.chmod(stat.S_IMODE(mode))
            yield file
            file.flush()
            with naming(shown):
                os.fsync(handle)
        with naming(shown):
            temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _descriptor(path: str) -> int | None:
    """Return the number of the open file that a path such as /dev/stdout stands for.

    Opening the path would start at the beginning of that file, over what is there; a
    duplicate of the descriptor goes on where it is.
    """
    own = os.path.realpath("/dev/fd")
    while True:
        folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100
        folder = os.path.realpath(folder)
        if folder == own and name.isdecimal():
            return int(name)
        path = os.path.join(folder, name)  # noqa: PTH118
        if not os.path.islink(path):  # noqa: PTH114
            return None
        path = os.path.join(folder, os.readlink(path))  # noqa: PTH115, PTH118


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder outlast a power cut, where the system can."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
