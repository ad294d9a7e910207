"""Locks: files that one process at a time holds, for the folder or for one writer.

The system lets go of a lock when its holder ends, however it ends. What a kill leaves
is a file that the next one takes: its presence alone refuses nobody.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from pybpe._whole_file import naming
from pybpe.errors import CorpusError

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def is_held(path: Path) -> bool:
        """Tell whether somebody holds a lock now; the file of a dead one goes."""
        try:
            path.unlink(missing_ok=True)
        except PermissionError:  # open files cannot be removed
            return True
        return False

else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def is_held(path: Path) -> bool:
        """Tell whether somebody holds a lock now."""
        try:
            with path.open("rb") as file:
                # Shared: those who ask do not take each other for holders.
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False


# That of a run of `encode_files`, which has the folder for itself.
FOLDER = ".lock"


def writer_lock(folder: Path, name: str) -> Path:
    """Return the lock of one of the writers of a folder."""
    return folder / f".{name}{FOLDER}"


class Lock:
    """A lock that is held from its making to `release`, or until it is collected."""

    def __init__(self, path: Path, busy: str) -> None:
        """Take it.

        Args:
            path: The file, which is made if it is not there.
            busy: What to say if another holds it.

        Raises:
            CorpusError: Another process, or another part of this one, holds it.
            OSError: The file cannot be made, or the system cannot lock it.
        """
        self._path = path
        while True:
            with naming(str(path)):
                file = path.open("ab")
            if _holds(file, path, busy):
                break
            file.close()
        self._file: IO[bytes] = file

    def release(self) -> None:
        """Let go of it, and remove the file; again does nothing."""
        if self._file.closed:
            return
        with suppress(OSError):
            if sys.platform == "win32":  # where open files cannot be removed
                self._file.close()
            self._path.unlink()
        self._file.close()


def _holds(file: IO[bytes], path: Path, busy: str) -> bool:
    """Lock an open file; tell whether it is still the one of this name."""
    try:
        with naming(str(path)):
            _take(file.fileno())
        # Whoever had it before may just have removed it.
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
    except (BlockingIOError, PermissionError):  # POSIX, Windows
        file.close()
        raise CorpusError(busy) from None
    except BaseException:
        file.close()
        raise


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a folder.

    Raises:
        CorpusError: Another process is at it.
    """
    lock = Lock(folder / FOLDER, f"{folder}: another process writes to it now")
    try:
        yield
    finally:
        lock.release()
