"""What engines share: workspaces in a pool, and the shapes of results."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise

from pybpe._binding import sizes
from pybpe._core import ffi
from pybpe._extras import need_numpy
from pybpe._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence
    from typing import Any, Self, TypeVar

    import numpy as np
    from numpy.typing import NDArray

    from pybpe._binding import CData

    _Result = TypeVar("_Result")


_numpy: Any = None


class ForbiddenText(Exception):
    """Text spells a forbidden string.

    Attributes:
        position: Where it begins, in bytes from the start of the text.
        index: Which text of a batch it is; None for a single text.
    """

    def __init__(self, position: int, index: int | None = None) -> None:
        """Keep both."""
        super().__init__(position, index)
        self.position = position
        self.index = index


def in_batch(position: int, texts: Sequence[bytes]) -> ForbiddenText:
    """Return where an offset in the texts' concatenation lies."""
    for i, text in enumerate(texts):
        if position < len(text):
            return ForbiddenText(position, i)
        position -= len(text)
    raise AssertionError(position)


def in_joined(position: int, bounds: Sequence[int]) -> ForbiddenText:
    """Return which text an offset in data lies in, given where texts begin and end."""
    i = bisect_right(bounds, position) - 1
    return ForbiddenText(position - bounds[i], i)


def text_offsets(texts: Sequence[bytes]) -> tuple[CData, array[int]]:
    """Return where each text begins in their concatenation, and what holds the memory.

    By one call for all offsets: item by item, they take longer than short texts.
    """
    return sizes(accumulate(map(len, texts), initial=0))


def to_list(ids: CData, n: int) -> list[int]:
    """Return the first `n` ids of a buffer; the two ways are equal but for speed."""
    if n < 64:
        return ffi.unpack(ids, n) if n else []
    return memoryview(ffi.buffer(ids, 4 * n)).cast("I").tolist()


def to_lists(ids: CData, starts: CData, n_texts: int) -> list[list[int]]:
    """Return the ids of each text, given where they begin and where the last end."""
    bounds = ffi.unpack(starts, n_texts + 1)
    flat = to_list(ids, bounds[-1])
    return [flat[a:b] for a, b in pairwise(bounds)]


def to_numpy(ids: CData, n: int) -> NDArray[np.uint32]:
    """Return the first `n` ids of a buffer as an array that owns its memory."""
    global _numpy
    if _numpy is None:  # An import statement takes as long as the rest of this.
        _numpy = need_numpy()
    out: NDArray[np.uint32] = _numpy.empty(n, _numpy.uint32)
    if n:
        ffi.memmove(out, ids, 4 * n)
    return out


def batch_to_numpy(
    ids: CData, starts: CData, n: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the ids of a batch as an array, and the `n` places where texts begin."""
    return to_numpy(ids, starts[n - 1]), starts_to_numpy(starts, n)


def starts_to_numpy(starts: CData, n: int) -> NDArray[np.int64]:
    """Return a size_t[] of the core as an array."""
    import numpy as np

    return np.frombuffer(ffi.buffer(starts, 8 * n), np.uint64).astype(np.int64)


class Workspace:
    """What one running call needs: the core's workspace and reusable out-parameters.

    Attributes:
        core: The core's workspace.
        out: Where the ids of the last call are.
        n: A size_t for how many there are.
        err: A bpe_error.
    """

    __slots__ = ("core", "err", "n", "out")

    def __init__(self, core: CData) -> None:
        """Take over the core's workspace."""
        self.core = core
        self.out: CData = ffi.NULL
        self.n = ffi.new("size_t *")
        self.err = ffi.new("bpe_error *")


class BaseEngine:
    """Encodes with workspaces from a pool; any threads may share it.

    Each running call takes a workspace from the pool and puts it back when it ends.
    `list.pop` and `list.append` are atomic, so the pool needs no lock that a fork could
    catch in the locked state.
    """

    __slots__ = ("_cache_size", "_pool")

    def __init__(self) -> None:
        """Begin with an empty pool."""
        self._pool: list[Any] = []
        self._cache_size: int | None = None  # bytes; None: as the core has it

    def with_cache_size(self, size: int) -> Self:
        """Return an engine of the same model whose workspaces have other caches."""
        from copy import copy

        other = copy(self)
        other._pool = []
        other._cache_size = size
        return other

    # ------------------------------------------------------ what a kind of model does

    def _new_workspace(self) -> Any:
        """Return one more workspace."""
        raise NotImplementedError

    def _put_back(self, workspace: Any) -> None:
        """End a call."""
        self._pool.append(workspace)

    def _run(
        self,
        workspace: Any,
        data: bytes,
        match: CData | None,
        forbidden: CData | None,
    ) -> int:
        """Encode a text; return how many ids there are, and leave them in `out`.

        Raises:
            ForbiddenText: With the position in the text.
        """
        raise NotImplementedError

    def _run_batch(
        self,
        workspace: Any,
        texts: Sequence[bytes],
        match: CData | None,
        forbidden: CData | None,
    ) -> CData:
        """Encode texts; leave all ids in `out`, return where each text's begin.

        The size_t[] has an entry more than there are texts: how many ids there are.

        Raises:
            ForbiddenText: With the text's number and the position in it.
        """
        raise NotImplementedError

    # ------------------------------------------------------ the shapes of results

    def _take(self) -> Any:
        try:
            return self._pool.pop()
        except IndexError:
            return self._new_workspace()

    def encode(
        self, data: bytes, match: CData | None, forbidden: CData | None
    ) -> list[int]:
        """Return the ids of `data`."""
        workspace = self._take()
        try:
            n = self._run(workspace, data, match, forbidden)
            return to_list(workspace.out, n)
        finally:
            self._put_back(workspace)

    def encode_to_numpy(
        self, data: bytes, match: CData | None, forbidden: CData | None
    ) -> NDArray[np.uint32]:
        """Return the ids of `data` as an array of shape (n_ids,)."""
        workspace = self._take()
        try:
            n = self._run(workspace, data, match, forbidden)
            return to_numpy(workspace.out, n)
        finally:
            self._put_back(workspace)

    def count(self, data: bytes, match: CData | None, forbidden: CData | None) -> int:
        """Return how many ids `data` has."""
        workspace = self._take()
        try:
            return self._run(workspace, data, match, forbidden)
        finally:
            self._put_back(workspace)

    def encode_batch(
        self, texts: Sequence[bytes], match: CData | None, forbidden: CData | None
    ) -> list[list[int]]:
        """Return the ids of each text, by one call of the core."""
        workspace = self._take()
        try:
            starts = self._run_batch(workspace, texts, match, forbidden)
            return to_lists(workspace.out, starts, len(texts))
        finally:
            self._put_back(workspace)

    def encode_batch_to_numpy(
        self, texts: Sequence[bytes], match: CData | None, forbidden: CData | None
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return all ids, and where each text's begin: `encode_batch` as two arrays."""
        workspace = self._take()
        try:
            starts = self._run_batch(workspace, texts, match, forbidden)
            return batch_to_numpy(workspace.out, starts, len(texts) + 1)
        finally:
            self._put_back(workspace)

    def encode_joined(
        self,
        data: bytes | memoryview,
        offsets: memoryview,
        match: CData | None,
        forbidden: CData | None,
        use: Callable[[NDArray[np.uint32], NDArray[np.int64]], _Result],
    ) -> _Result:
        """Encode texts that lie end to end: text i is data[offsets[i]:offsets[i + 1]].

        Args:
            data: The texts.
            offsets: 64-bit numbers.
            match: As for the other methods.
            forbidden: As for the other methods.
            use: Called with what `encode_batch_to_numpy` would return, but that the ids
                are gone when it returns.

        Returns:
            What `use` returns.
        """
        view, bounds = memoryview(data), offsets.tolist()
        texts = [view[a:b].tobytes() for a, b in pairwise(bounds)]
        return use(*self.encode_batch_to_numpy(texts, match, forbidden))
