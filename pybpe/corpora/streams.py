"""Files as streams of bytes, unpacked on the way; their errors name the file."""

from __future__ import annotations

import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from pybpe.errors import CorpusError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from pybpe.corpora.inputs import Source

_BLOCK = 1 << 20
# What a compressed file's reader takes from the disk at once.
_RAW_BLOCK = 1 << 18


class Stream:
    """A file from some place on; unpacked if it is packed.

    Attributes:
        position: How many unpacked bytes have been read or passed over.
    """

    def __init__(self, source: Source, position: int = 0) -> None:
        """Open a file; a packed one is unpacked up to `position` first.

        Raises:
            CorpusError: The file is damaged or ends before that.
            ImportError: What unpacks it is not installed.
        """
        self._path = source.path
        self._raw = Path(source.path).open("rb", buffering=0)  # noqa: SIM115 - closed below
        self._file: BinaryIO = self._raw
        self.position = position
        try:
            if source.compression is None:
                if position:
                    self._raw.seek(position)
            else:
                # Held here, for some of those who read from it drop it open.
                self._buffer = io.BufferedReader(self._raw, _RAW_BLOCK)
                self._file = _unpacking(self._buffer, source.compression)
                self._pass_over(position)
        except BaseException:
            self.close()
            raise

    @property
    def raw_position(self) -> int:
        """How many bytes of the file itself have been taken."""
        return self.position if self._file is self._raw else self._raw.tell()

    def read(self, n: int) -> bytes:
        """Return `n` bytes, fewer at the end of the file only."""
        parts = []
        with damage(self._path):
            while n > 0 and (part := self._file.read(n)):
                parts.append(part)
                n -= len(part)
                self.position += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _pass_over(self, n: int) -> None:
        with damage(self._path):
            while n > 0:
                part = self._file.read(min(n, _BLOCK))
                if not part:
                    raise CorpusError(
                        f"{self._path}: ends {n:,} bytes before the place to go on from"
                    )
                n -= len(part)

    def close(self) -> None:
        """Close the file."""
        if self._file is not self._raw:
            self._file.close()
            self._buffer.close()
        self._raw.close()

    def __enter__(self) -> Self:
        """Return the stream itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()


@contextmanager
def damage(path: str) -> Iterator[None]:
    """Say of which file it is that it cannot be unpacked."""
    try:
        yield
    except EOFError:
        raise CorpusError(
            f"{path}: the compressed file ends too early: it is not whole"
        ) from None
    except _errors() as error:
        raise CorpusError(f"{path}: the compressed file is damaged: {error}") from None
    except OSError as error:
        if error.errno is not None:
            error.filename = error.filename or path
            raise
        # gzip and bz2 say so of what is not theirs.
        raise CorpusError(f"{path}: the compressed file is damaged: {error}") from None


def _unpacking(buffered: Any, compression: str) -> BinaryIO:
    if compression == "gzip":
        import gzip

        return cast("BinaryIO", gzip.GzipFile(fileobj=buffered, mode="rb"))
    if compression == "xz":
        return cast("BinaryIO", lzma.LZMAFile(buffered))
    if compression == "bzip2":
        import bz2

        return cast("BinaryIO", bz2.BZ2File(buffered))
    return cast("BinaryIO", zstd().ZstdFile(buffered))


def zstd() -> Any:
    """Return the module that unpacks zstd: Python's own from 3.14 on.

    Raises:
        ImportError: There is none; the message says what to install.
    """
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            return import_module(name)
    raise ImportError(
        "reading .zst files needs backports.zstd: pip install 'pybpe[zstd]'"
    )


def _errors() -> tuple[type[BaseException], ...]:
    """Return what those who unpack raise of what is damaged."""
    found: list[type[BaseException]] = [zlib.error, lzma.LZMAError]
    with suppress(ImportError):  # then there is no such file open
        found.append(zstd().ZstdError)
    return tuple(found)
