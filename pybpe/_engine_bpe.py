"""The engine of byte-level models, and of what Hugging Face calls BPE."""

from __future__ import annotations

from pybpe import _binding
from pybpe._binding import fail, uncleared
from pybpe._core import ffi, lib
from pybpe._engine import (
    BaseEngine,
    ForbiddenText,
    Workspace,
    in_joined,
    starts_to_numpy,
    text_offsets,
    to_list,
)
from pybpe._extras import need_numpy
from pybpe._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    import numpy as np
    from numpy.typing import NDArray

    from pybpe._binding import CData
    from pybpe.model import Model

    _Result = TypeVar("_Result")

PATHS: dict[str, int] = {
    "auto": lib.BPE_PATH_AUTO,
    "short": lib.BPE_PATH_SHORT,
    "long": lib.BPE_PATH_LONG,
}

# Output buffers of up to this many ids (4 MB) stay with their workspace.
_KEEP_IDS = 1 << 20


_NULL = ffi.NULL


class BpeWorkspace(Workspace):
    """A workspace with a buffer of `cap` ids."""

    __slots__ = ("cap",)

    def __init__(self, model: CData) -> None:
        """Allocate for calls with `model`."""
        out = ffi.new("bpe_workspace **")
        status = lib.bpe_workspace_new(model, out)
        if status != lib.BPE_OK:
            fail(status)
        super().__init__(ffi.gc(out[0], lib.bpe_workspace_free))
        self.cap = 0

    def make_room(self, n: int) -> None:
        """Let `out` have room for `n` ids."""
        if n > self.cap:
            self.cap = max(n, 1024)
            self.out = uncleared("uint32_t[]", self.cap)


class Engine(BaseEngine):
    """A model and a split, ready to encode and decode; shared by any threads."""

    __slots__ = ("_settings", "model", "split")

    new_match = staticmethod(_binding.new_match)
    # Whether added tokens are found without being in `match`.
    finds_added = False

    def __init__(self, model: CData, split: CData) -> None:
        """Keep both; `split` is None when it does not compile."""
        super().__init__()
        self.model = model
        self.split = split
        self._settings: tuple[int, int] | None = None

    def configured(self, path: str, use_cache: bool) -> Engine:
        """Return an engine of the same model that merges in the given way (tests)."""
        other = Engine(self.model, self.split)
        other._settings = (PATHS[path], int(use_cache))
        return other

    @property
    def n_vocab(self) -> int:
        """The highest id + 1."""
        return _binding.n_vocab(self.model)

    def token_bytes(self, number: int) -> bytes | None:
        """Return the bytes of a token, or None where no token has this id."""
        return _binding.token_bytes(self.model, number)

    def find_token(self, token: bytes) -> int | None:
        """Return the id of the ordinary token with these bytes, or None."""
        return _binding.find_token(self.model, token)

    # -------------------------------------------------------------- encode

    def _new_workspace(self) -> BpeWorkspace:
        workspace = BpeWorkspace(self.model)
        if self._cache_size is not None:
            status = lib.bpe_workspace_resize(workspace.core, self._cache_size)
            if status != lib.BPE_OK:
                fail(status)
        if self._settings:
            status = lib.bpe_workspace_configure(workspace.core, *self._settings)
            if status != lib.BPE_OK:
                fail(status)
        return workspace

    def _put_back(self, workspace: BpeWorkspace) -> None:
        if workspace.cap > _KEEP_IDS:
            workspace.out, workspace.cap = ffi.NULL, 0
        self._pool.append(workspace)

    def _check(self, status: int, err: CData) -> None:
        if status == lib.BPE_OK:
            return
        if status == lib.BPE_ERR_FORBIDDEN:
            raise ForbiddenText(err.pos)
        if status == lib.BPE_ERR_LIMIT:
            fail(
                status,
                f"the pretoken at byte {err.pos} has 1 GiB or more: cut the text, or "
                "use a split that cuts it",
            )
        fail(status)

    def _run(
        self,
        workspace: BpeWorkspace,
        data: bytes,
        match: CData | None,
        forbidden: CData | None,
        ids: CData | None = None,
    ) -> int:
        """Encode into `ids`, which has room for an id for each byte, or into `out`.

        NULL for `ids` only counts.
        """
        n, count = len(data), workspace.n
        if ids is None:
            if n > workspace.cap:
                workspace.make_room(n)
            ids = workspace.out
        status = lib.bpe_encode(
            self.model,
            self.split,
            match or _NULL,
            forbidden or _NULL,
            workspace.core,
            data,
            n,
            ids,
            n,
            count,
            workspace.err,
        )
        if status:
            self._check(status, workspace.err)
        return count[0]  # type: ignore[no-any-return]

    def count(self, data: bytes, match: CData | None, forbidden: CData | None) -> int:
        """Return how many ids `data` has."""
        workspace = self._take()
        try:
            return self._run(workspace, data, match, forbidden, ffi.NULL)
        finally:
            self._put_back(workspace)

    def _run_batch(
        self,
        workspace: BpeWorkspace,
        texts: Sequence[bytes],
        match: CData | None,
        forbidden: CData | None,
    ) -> CData:
        data = b"".join(texts)
        offsets, held = text_offsets(texts)
        return self._run_joined(workspace, data, offsets, held, match, forbidden)

    def _run_joined(
        self,
        workspace: BpeWorkspace,
        data: bytes | CData,
        offsets: CData,
        bounds: Sequence[int],
        match: CData | None,
        forbidden: CData | None,
    ) -> CData:
        """Encode texts that lie end to end; `bounds` are the offsets once more."""
        n, size = len(bounds) - 1, bounds[-1] - bounds[0]
        starts = uncleared("size_t[]", n + 1)
        workspace.make_room(size)
        status = lib.bpe_encode_batch(
            self.model,
            self.split,
            match or ffi.NULL,
            forbidden or ffi.NULL,
            workspace.core,
            data,
            offsets,
            n,
            workspace.out,
            size,
            starts,
            workspace.err,
        )
        if status == lib.BPE_ERR_FORBIDDEN:
            raise in_joined(workspace.err.pos, bounds)
        if status != lib.BPE_OK:
            self._check(status, workspace.err)
        return starts

    def encode_joined(
        self,
        data: bytes | memoryview,
        offsets: memoryview,
        match: CData | None,
        forbidden: CData | None,
        use: Callable[[NDArray[np.uint32], NDArray[np.int64]], _Result],
    ) -> _Result:
        """Encode texts that lie end to end, without a copy of them or of the ids."""
        import numpy as np

        workspace = self._take()
        try:
            # An error keeps this frame, but not the buffers: Python 3.11 crashes when
            # it clears a memoryview among its garbage that still lends its buffer.
            with (
                ffi.from_buffer("uint8_t[]", data) as text,
                ffi.from_buffer("size_t[]", offsets) as places,
            ):
                starts = self._run_joined(
                    workspace, text, places, offsets, match, forbidden
                )
            n = starts[len(offsets) - 1]
            ids = np.empty(0, np.uint32)
            if n:
                ids = np.frombuffer(ffi.buffer(workspace.out, 4 * n), np.uint32)
            return use(ids, starts_to_numpy(starts, len(offsets)))
        finally:
            self._put_back(workspace)

    def encode_to_numpy(
        self, data: bytes, match: CData | None, forbidden: CData | None
    ) -> NDArray[np.uint32]:
        """Return the ids of `data` as an array of shape (n_ids,)."""
        if len(data) <= _KEEP_IDS:
            return super().encode_to_numpy(data, match, forbidden)
        # The core writes into the array itself, which is then cut short in place: what
        # was not written to was never real memory.
        need_numpy()
        import numpy as np

        out = np.empty(len(data), np.uint32)
        workspace = self._take()
        try:
            ids = ffi.from_buffer("uint32_t[]", out)
            n = self._run(workspace, data, match, forbidden, ids)
        finally:
            self._put_back(workspace)
        ffi.release(ids)
        out.resize(n, refcheck=False)
        return out

    def encode_pretokens(self, data: bytes, ends: Iterable[int]) -> list[int]:
        """Return the ids of `data` cut into pretokens at `ends` (byte offsets)."""
        bounds, held = _binding.sizes(ends)
        workspace = self._take()
        try:
            workspace.make_room(len(data))
            status = lib.bpe_encode_pretokens(
                self.model,
                workspace.core,
                data,
                len(data),
                bounds,
                len(held),
                workspace.out,
                len(data),
                workspace.n,
                workspace.err,
            )
            if status != lib.BPE_OK:
                self._check(status, workspace.err)
            return to_list(workspace.out, workspace.n[0])
        finally:
            self._put_back(workspace)

    # -------------------------------------------------------------- decode

    def decode(self, ids: CData, n: int) -> bytes:
        """Return the concatenated bytes of `n` ids.

        Raises:
            UnknownTokenError: Naming the id and its position.
        """
        size, err = ffi.new("size_t *"), ffi.new("bpe_error *")
        status = lib.bpe_decoded_size(self.model, ids, n, size, err)
        if status == lib.BPE_ERR_ID:
            fail(status, f"no token has id {ids[err.pos]} (at position {err.pos})")
        if status != lib.BPE_OK:
            fail(status)
        out = uncleared("uint8_t[]", max(1, size[0]))
        status = lib.bpe_decode(self.model, ids, n, out, size[0], size, err)
        if status != lib.BPE_OK:
            fail(status)
        return bytes(ffi.buffer(out, size[0]))

    def decode_text(self, ids: CData, n: int, errors: str) -> str:
        """Return the text of `n` ids; `errors` as for `bytes.decode`."""
        return self.decode(ids, n).decode("utf-8", errors)


def new_engine(model: Model) -> Engine:
    """Return the engine of a model whose split compiles."""
    return Engine(_binding.new_model(model), _binding.new_split(model.split.stages))
