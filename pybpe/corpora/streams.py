"""Files as streams of bytes, unpacked on the way; their errors name the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pybpe.corpora.unpacking import Damage, Unpacked
from pybpe.errors import CorpusError, became_shorter

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from pybpe.corpora.inputs import Source

_BLOCK = 1 << 20


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
        self._source = source
        self._raw = Path(source.path).open("rb", buffering=0)  # noqa: SIM115 - closed below
        self._unpacked: Unpacked | None = None
        self.position = position
        try:
            if source.compression is not None:
                self._unpacked = Unpacked(self._raw, source.compression)
                self._pass_over(position)
            elif position:
                self._raw.seek(position)
        except BaseException:
            self.close()
            raise

    @property
    def raw_position(self) -> int:
        """How many bytes of the file itself have been taken."""
        return self.position if self._unpacked is None else self._unpacked.taken

    def read(self, n: int) -> bytes:
        """Return `n` bytes, fewer at the end of the file only.

        Raises:
            CorpusError: The file is damaged, or shorter than it was.
            OSError: The system cannot read it.
        """
        parts = []
        while n > 0 and (part := self._some(n)):
            parts.append(part)
            n -= len(part)
            self.position += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill a buffer, or some of it; return how many bytes, 0 at the end.

        Raises:
            CorpusError: See `read`.
            OSError: See `read`.
        """
        part = self._some(len(buffer)) if buffer else b""
        buffer[: len(part)] = part
        self.position += len(part)
        return len(part)

    def _some(self, n: int) -> bytes:
        """Return at most `n` bytes, none at the end only."""
        try:
            part = (self._unpacked or self._raw).read(n)
        except Damage as damage:
            self._refuse_shorter(ended=False)
            raise CorpusError(
                f"{self._source.path}: the compressed file {damage}"
            ) from None
        except OSError as error:
            error.filename = error.filename or self._source.path
            raise
        if not part:
            self._refuse_shorter(ended=True)
        return part

    def _refuse_shorter(self, *, ended: bool) -> None:
        """Refuse an end before the one that the file had when it was found."""
        size = self._source.size
        if size is None:
            return
        found = os.fstat(self._raw.fileno()).st_size
        if found < size or (ended and self.raw_position < size):
            raise became_shorter(self._source.path, size, min(found, size))

    def _pass_over(self, n: int) -> None:
        while n > 0:
            part = self._some(min(n, _BLOCK))
            if not part:
                raise CorpusError(
                    f"{self._source.path}: ends {n:,} bytes before the place to go on "
                    "from"
                )
            n -= len(part)

    def close(self) -> None:
        """Close the file."""
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
