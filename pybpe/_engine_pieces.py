"""The engine of sentencepiece models."""

from __future__ import annotations

from array import array

from pybpe._binding import fail, id_buffer, new_match, uncleared
from pybpe._core import ffi, lib
from pybpe._engine import (
    BaseEngine,
    ForbiddenText,
    Workspace,
    in_batch,
    text_offsets,
    to_list,
    to_lists,
)
from pybpe._typing import TYPE_CHECKING
from pybpe.codepoint import MARK, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pybpe._binding import CData
    from pybpe._encoded_pieces import EncodedPiece
    from pybpe.codepoint import CodepointModel, Normalizer

PATHS: dict[str, int] = {
    "auto": lib.BPE_PIECES_PATH_AUTO,
    "short": lib.BPE_PIECES_PATH_SHORT,
    "long": lib.BPE_PIECES_PATH_LONG,
    "whole": lib.BPE_PIECES_PATH_WHOLE,
}


# ------------------------------------------------------------------ model


def _message(position: int, model: CodepointModel) -> str:
    """Say what BPE_ERR_MODEL is about."""
    part, index = position >> 32, position & 0xFFFFFFFF
    if part == lib.BPE_PIECES_NO_UNKNOWN:
        return (
            "no piece is of the type UNKNOWN, and without byte fallback there must be "
            "one for text that no piece covers"
        )
    if part == lib.BPE_PIECES_BYTE_MISSING:
        return (
            f"the byte piece '<0x{index:02X}>' is missing, and with byte fallback all "
            "256 must be there"
        )
    if part == lib.BPE_PIECES_CHARSMAP:
        name = "denormalizer" if index else "normalizer"
        return f"the character map of its {name} is damaged"
    start = sum(model.piece_lengths[:index])
    piece = model.piece_data[start : start + model.piece_lengths[index]]
    shown = repr(piece.decode("utf-8", "backslashreplace")[:40])
    said = {
        lib.BPE_PIECES_EMPTY: "is empty",
        lib.BPE_PIECES_LONG: (
            f"has {len(piece):,} bytes; the limit is {lib.BPE_MAX_PIECE_BYTES - 1:,}"
        ),
        lib.BPE_PIECES_TWICE: f"is there already, as piece {_first(model, piece)}",
        lib.BPE_PIECES_TYPE: f"has the type {model.piece_types[index]}, which is none",
        lib.BPE_PIECES_SCORE: "has a score that is not a number",
        lib.BPE_PIECES_UNKNOWN: "is a second one of the type UNKNOWN",
        lib.BPE_PIECES_BYTE: "is a byte piece, but the model has no byte fallback",
        lib.BPE_PIECES_BYTE_TEXT: (
            "is of the type BYTE, but not spelt as one: <0x00> to <0xFF>"
        ),
    }
    return f"piece {index}, {shown}, {said.get(part, 'cannot be used')}"


def _first(model: CodepointModel, piece: bytes) -> int:
    return model.pieces().index(piece)


def _set_normalizer(
    spec: CData, normalizer: Normalizer | None, mark_behind: bool
) -> CData:
    """Fill a bpe_normalizer_spec; return what must stay alive."""
    if normalizer is None:
        return None
    blob = ffi.from_buffer("uint8_t[]", normalizer.charsmap)
    spec.flags = (
        lib.BPE_NORMALIZE_MARK * normalizer.add_dummy_prefix
        | lib.BPE_NORMALIZE_MARK_AFTER * mark_behind
        | lib.BPE_NORMALIZE_SQUEEZE * normalizer.remove_extra_whitespaces
        | lib.BPE_NORMALIZE_ESCAPE * normalizer.escape_whitespaces
    )
    spec.charsmap = blob
    spec.charsmap_size = len(normalizer.charsmap)
    return blob


def new_pieces(model: CodepointModel) -> CData:
    """Return the core's model; everything is checked there.

    Raises:
        ModelError: The parts contradict each other.
        ValueError: More pieces, or pairs of pieces that join, than the core's limits.
    """
    n = len(model.piece_lengths)
    if len(model.scores) != n or len(model.piece_types) != n:
        fail(lib.BPE_ERR_MODEL, "pieces, scores and types differ in number")
    spec = ffi.new("bpe_pieces_spec *")
    keep = {
        "piece_data": ffi.from_buffer("uint8_t[]", model.piece_data),
        "piece_lengths": ffi.from_buffer("uint32_t[]", model.piece_lengths),
        "scores": ffi.from_buffer("float[]", model.scores),
        "types": ffi.from_buffer("uint8_t[]", model.piece_types),
        "unk_surface": ffi.from_buffer("uint8_t[]", model.unk_surface),
    }
    for name, view in keep.items():
        setattr(spec, name, view)
    spec.piece_data_size = len(model.piece_data)
    spec.n_pieces = n
    spec.byte_fallback = model.byte_fallback
    spec.unk_surface_size = len(model.unk_surface)
    maps = (
        _set_normalizer(spec.normalizer, model.normalizer, model.mark_behind),
        _set_normalizer(spec.denormalizer, model.denormalizer, False),
    )
    out, err = ffi.new("bpe_pieces **"), ffi.new("bpe_error *")
    status = lib.bpe_pieces_new(spec, out, err)
    del maps
    if status == lib.BPE_ERR_MODEL:
        fail(status, _message(err.pos, model))
    if status == lib.BPE_ERR_LIMIT:
        fail(
            status,
            "the vocabulary is too large: fewer than 16,777,216 pieces, and 8,388,608 "
            "pairs of pieces that join at most",
        )
    if status != lib.BPE_OK:
        fail(status)
    return ffi.gc(out[0], lib.bpe_pieces_free)


# ------------------------------------------------------------------ encode and decode


class PieceWorkspace(Workspace):
    """A workspace whose ids the core holds."""

    __slots__ = ("ids",)

    def __init__(self, pieces: CData) -> None:
        """Allocate for calls with a model."""
        out = ffi.new("bpe_pieces_workspace **")
        status = lib.bpe_pieces_workspace_new(pieces, out)
        if status != lib.BPE_OK:
            fail(status)
        super().__init__(ffi.gc(out[0], lib.bpe_pieces_workspace_free))
        self.ids = ffi.new("uint32_t **")


class PieceEngine(BaseEngine):
    """A codepoint model, ready to encode and decode; shared by any threads.

    It has the methods of the byte-level `Engine`, and some more.

    `match` is what `_binding.new_match` makes of the control pieces that the caller
    permits; they are found before normalisation, and the text between two of them is
    a text of its own. The user-defined pieces (added tokens) must not be in it: they
    are always found, and keep their text in normalisation.
    """

    __slots__ = ("_pieces", "_settings", "core", "model")

    new_match = staticmethod(new_match)
    # Whether added tokens are found without being in `match`.
    finds_added = True

    def __init__(self, model: CodepointModel) -> None:
        """Build the C objects.

        Raises:
            ModelError: The model's parts contradict each other.
            ValueError: It is larger than the core's limits.
        """
        super().__init__()
        self.model = model
        self.core = new_pieces(model)
        self._pieces: list[bytes] | None = None
        self._settings: tuple[int, int] | None = None

    def configured(self, path: str, use_cache: bool) -> PieceEngine:
        """Return an engine of the same model that encodes in the given way (tests)."""
        other = PieceEngine.__new__(PieceEngine)
        BaseEngine.__init__(other)
        other.model, other.core, other._pieces = self.model, self.core, self._pieces
        other._settings = (PATHS[path], int(use_cache))
        return other

    # -------------------------------------------------------------- vocabulary

    @property
    def n_vocab(self) -> int:
        """How many pieces there are."""
        return len(self.model.piece_lengths)

    @property
    def pieces(self) -> list[bytes]:
        """The bytes of every piece, by id; not to be changed."""
        if self._pieces is None:
            self._pieces = self.model.pieces()
        return self._pieces

    def token_bytes(self, number: int) -> bytes | None:
        """Return the bytes of a piece, or None where no piece has this id."""
        return self.pieces[number] if 0 <= number < self.n_vocab else None

    def find_token(self, piece: bytes) -> int | None:
        """Return the id of the piece with exactly these bytes, or None."""
        number = lib.bpe_pieces_find(self.core, piece, len(piece))
        return None if number == lib.BPE_NO_ID else number

    # -------------------------------------------------------------- encode

    def _new_workspace(self) -> PieceWorkspace:
        workspace = PieceWorkspace(self.core)
        if self._cache_size is not None:
            size = self._cache_size
            status = lib.bpe_pieces_workspace_resize(workspace.core, size)
            if status != lib.BPE_OK:
                fail(status)
        if self._settings:
            status = lib.bpe_pieces_workspace_configure(workspace.core, *self._settings)
            if status != lib.BPE_OK:
                fail(status)
        return workspace

    def _put_back(self, workspace: PieceWorkspace) -> None:
        lib.bpe_pieces_workspace_trim(workspace.core)
        self._pool.append(workspace)

    def _check(self, status: int, err: CData) -> None:
        if status == lib.BPE_OK:
            return
        if status == lib.BPE_ERR_FORBIDDEN:
            raise ForbiddenText(err.pos)
        if status == lib.BPE_ERR_LIMIT:
            fail(
                status,
                f"the text at byte {err.pos} has a word of a thousand million "
                "characters or more: cut it",
            )
        fail(status)

    def _refuse_marks(self, data: bytes) -> None:
        """Refuse text with marks, if the model would rather not lose them.

        Raises:
            ValueError: There is one.
        """
        if self.model.refuse_marks and (at := data.find(MARK)) >= 0:
            raise ValueError(
                f"the text holds U+2581 at byte {at}, which would come back as a "
                "space: sentencepiece models write spaces so, and this one was trained "
                "to lose nothing; replace that character before encoding"
            )

    def _run(
        self,
        workspace: PieceWorkspace,
        data: bytes,
        match: CData | None,
        forbidden: CData | None,
        dropout: CData = ffi.NULL,
    ) -> int:
        self._refuse_marks(data)
        status = lib.bpe_pieces_encode(
            self.core,
            match or ffi.NULL,
            forbidden or ffi.NULL,
            dropout,
            workspace.core,
            data,
            len(data),
            workspace.ids,
            workspace.n,
            workspace.err,
        )
        if status != lib.BPE_OK:
            self._check(status, workspace.err)
        workspace.out = workspace.ids[0]
        return int(workspace.n[0])

    def _run_batch(
        self,
        workspace: PieceWorkspace,
        texts: Sequence[bytes],
        match: CData | None,
        forbidden: CData | None,
        dropout: CData = ffi.NULL,
    ) -> CData:
        data = b"".join(texts)
        self._refuse_marks(data)
        offsets, _held = text_offsets(texts)
        starts = uncleared("size_t[]", len(texts) + 1)
        status = lib.bpe_pieces_encode_batch(
            self.core,
            match or ffi.NULL,
            forbidden or ffi.NULL,
            dropout,
            workspace.core,
            data,
            offsets,
            len(texts),
            workspace.ids,
            starts,
            workspace.err,
        )
        if status == lib.BPE_ERR_FORBIDDEN:
            raise in_batch(workspace.err.pos, texts)
        if status != lib.BPE_OK:
            self._check(status, workspace.err)
        workspace.out = workspace.ids[0]
        return starts

    def encode_batch(
        self,
        texts: Sequence[bytes],
        match: CData | None,
        forbidden: CData | None,
        dropout: tuple[float, int] | None = None,
    ) -> list[list[int]]:
        """Return the ids of each text, by one call of the core.

        Args:
            texts: The texts.
            match: The permitted control pieces.
            forbidden: Strings that texts must not hold.
            dropout: (alpha, seed) as for `encode_with_dropout`, or None. Text i is
                encoded with the seed `seed + i`.

        Raises:
            ForbiddenText: With the text's number and the position in it.
        """
        options = _dropout(dropout)
        workspace = self._take()
        try:
            starts = self._run_batch(workspace, texts, match, forbidden, options)
            return to_lists(workspace.out, starts, len(texts))
        finally:
            self._put_back(workspace)

    def encode_with_dropout(
        self,
        data: bytes,
        match: CData | None,
        forbidden: CData | None,
        *,
        alpha: float,
        seed: int,
    ) -> list[int]:
        """Return the ids of `data` under BPE-dropout.

        A join that is due is left out with probability `alpha`, so the same text gets
        other ids under another seed, and the same ones under the same seed. The random
        numbers are pybpe's own (see `bpe_dropout` in csrc/bpe.h): sentencepiece's
        cannot be reproduced.

        Args:
            data: The text.
            match: The permitted control pieces.
            forbidden: Strings that the text must not hold.
            alpha: 0 or less for no dropout, 1 or more for characters only.
            seed: Any int; its low 64 bits count.

        Raises:
            ValueError: `alpha` is infinite or not a number.
        """
        workspace = self._take()
        try:
            options = _dropout((alpha, seed))
            n = self._run(workspace, data, match, forbidden, options)
            return to_list(workspace.out, n)
        finally:
            self._put_back(workspace)

    def encode_with_pieces(
        self,
        data: bytes,
        *,
        dropout: tuple[float, int] | None = None,
        emit_unk_piece: bool = False,
    ) -> list[EncodedPiece]:
        """Return ids, pieces and offsets of `data`; control pieces are plain text.

        Args:
            data: The text.
            dropout: (alpha, seed) as for `encode_with_dropout`, or None.
            emit_unk_piece: Give the unknown piece's own text rather than the text that
                it stands for.

        Raises:
            ValueError: The alpha of `dropout` is infinite or not a number.
        """
        from pybpe._encoded_pieces import EncodedPiece

        workspace = self._take()
        spans, text = ffi.new("bpe_span **"), ffi.new("uint8_t **")
        n_text, compact = ffi.new("size_t *"), ffi.new("uint32_t *")
        try:
            self._refuse_marks(data)
            status = lib.bpe_pieces_encode_spans(
                self.core,
                _dropout(dropout),
                workspace.core,
                data,
                len(data),
                workspace.ids,
                spans,
                workspace.n,
                text,
                n_text,
                compact,
                workspace.err,
            )
            if status != lib.BPE_OK:
                self._check(status, workspace.err)
            n = workspace.n[0]
            if n == 0:
                return []
            ids = to_list(workspace.ids[0], n)
            flat = memoryview(ffi.buffer(spans[0], ffi.sizeof("bpe_span") * n))
            fields = flat.cast("Q").tolist()
            normal = bytes(ffi.buffer(text[0], n_text[0]))
        finally:
            self._put_back(workspace)
        marks = compact[0] and self.model.normalizer.escape_whitespaces
        own = -1 if emit_unk_piece else self._unknown()
        pieces = self.pieces
        out = []
        for i, number in enumerate(ids):
            begin, end, a, b = fields[4 * i : 4 * i + 4]
            piece = pieces[number]
            if number == own:
                piece = normal[a:b]
                if marks:
                    piece = piece.replace(b" ", MARK)
            out.append(EncodedPiece(number, piece, begin, end))
        return out

    def _unknown(self) -> int:
        """The id of the piece of the type UNKNOWN, whatever its text, or -1."""
        return self.model.piece_types.find(UNKNOWN)

    def finish(
        self,
        ids: list[int],
        *,
        add_bos: bool = False,
        add_eos: bool = False,
        reverse: bool = False,
    ) -> list[int]:
        """Return the ids reversed, then with the beginning and end of text added.

        Raises:
            ValueError: The model has no such control piece.
        """
        model = self.model
        for wanted, number, name in (
            (add_bos, model.bos_id, "beginning-of-text (bos)"),
            (add_eos, model.eos_id, "end-of-text (eos)"),
        ):
            if wanted and number < 0:
                raise ValueError(f"the model has no {name} piece to add")
        out = ids[::-1] if reverse else ids
        return [model.bos_id] * add_bos + out + [model.eos_id] * add_eos

    # -------------------------------------------------------------- normalise

    def normalize(self, data: bytes) -> bytes:
        """Return what the normaliser makes of `data`, marks and all."""
        return self.normalize_with_offsets(data)[0]

    def normalize_with_offsets(self, data: bytes) -> tuple[bytes, list[int]]:
        """Return normalised text, and where in `data` each of its bytes comes from.

        The list has one entry more than the text has bytes: where what counts of
        `data` ends. For empty text it is empty.
        """
        workspace = self._take()
        text, offsets = ffi.new("uint8_t **"), ffi.new("size_t **")
        try:
            status = lib.bpe_pieces_normalize(
                self.core, workspace.core, data, len(data), text, workspace.n, offsets
            )
            if status != lib.BPE_OK:
                fail(status)
            n = workspace.n[0]
            normal = bytes(ffi.buffer(text[0], n))
            return normal, ffi.unpack(offsets[0], n + 1) if n else []
        finally:
            self._put_back(workspace)

    # -------------------------------------------------------------- decode

    def decode(self, ids: CData, n: int) -> bytes:
        """Return the text of `n` ids as bytes; byte pieces give exactly their bytes.

        Raises:
            UnknownTokenError: Naming the id and its position.
        """
        return self._decode(ids, n, 0, True)[0]

    def decode_text(self, ids: CData, n: int, errors: str = "replace") -> str:
        """Return the text of `n` ids as sentencepiece decodes them.

        With errors="replace", bytes of byte pieces that are no UTF-8 become U+FFFD, one
        by one. (So do those of pieces, in case any are not UTF-8, by Python's rule.)
        With another value, `bytes.decode` decides over the exact bytes.

        Raises:
            UnknownTokenError: Naming the id and its position.
        """
        if errors != "replace":
            return self.decode(ids, n).decode("utf-8", errors)
        return self._decode(ids, n, 1, True)[0].decode("utf-8", "replace")

    def decode_part(self, ids: CData, n: int, at_start: bool) -> tuple[bytes, bool]:
        """Return the bytes of `n` ids of a text that is decoded bit by bit.

        Args:
            ids: The ids.
            n: How many.
            at_start: True for the first part of a text, then what the call before
                returned.

        Returns:
            The bytes, and `at_start` for the next part. With a denormaliser, parts are
            denormalised one by one.
        """
        return self._decode(ids, n, 0, at_start)

    def _decode(
        self, ids: CData, n: int, replace: int, at_start: bool
    ) -> tuple[bytes, bool]:
        start, err = ffi.new("uint32_t *", int(at_start)), ffi.new("bpe_error *")
        out, size = ffi.new("uint8_t **"), ffi.new("size_t *")
        status = lib.bpe_pieces_decode(
            self.core, ids, n, replace, start, out, size, err
        )
        if status == lib.BPE_ERR_ID:
            fail(status, f"no token has id {ids[err.pos]} (at position {err.pos})")
        if status != lib.BPE_OK:
            fail(status)
        try:
            return bytes(ffi.buffer(out[0], size[0])), bool(start[0])
        finally:
            lib.bpe_pieces_free_text(out[0])

    def decode_ids(self, ids: Sequence[int]) -> str:
        """Return `decode_text` of a sequence of ids.

        Raises:
            UnknownTokenError: Naming the id and its position.
            OverflowError: An id is negative or above 2^32.
        """
        numbers = array("I", ids)
        return self.decode_text(id_buffer(numbers), len(numbers))


def _dropout(options: tuple[float, int] | None) -> CData:
    """Return a bpe_dropout, or NULL.

    Raises:
        ValueError: Alpha is infinite or not a number.
    """
    if options is None:
        return ffi.NULL
    alpha, seed = options
    if not -1e300 < alpha < 1e300:
        raise ValueError(f"alpha must be a finite number, got {alpha}")
    made = ffi.new("bpe_dropout *")
    made.alpha = alpha
    made.seed = seed & 0xFFFFFFFFFFFFFFFF
    return made


def new_engine(model: CodepointModel) -> PieceEngine:
    """Return the engine of a model."""
    return PieceEngine(model)
