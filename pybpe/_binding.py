"""The only door to the compiled core: Python values in, C calls, Python values out.

What the C functions promise stands in `csrc/bpe.h`. The functions here check nothing
that the core checks itself; `fail` turns a status into an exception in one place.
"""

from __future__ import annotations

import os
from array import array

try:
    from pybpe._core import ffi, lib
except ModuleNotFoundError as error:
    if error.name != "pybpe._core":
        raise
    raise ImportError(
        "the compiled core of pybpe is missing: this is an unbuilt source tree. Run "
        "`pip install .` in it (or `pip install -e .` to work on it)."
    ) from None
from pybpe._typing import TYPE_CHECKING
from pybpe.errors import BpeError, ModelError, SpecialTokenError, UnknownTokenError
from pybpe.model import ALIAS, MERGES, RANKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, NoReturn

    from pybpe.model import Model
    from pybpe.split import Stage

    CData = Any  # what cffi hands out has no types that mypy could check

MAX_IDS: int = lib.BPE_MAX_IDS
NO_ID: int = lib.BPE_NO_ID

_EXCEPTIONS: dict[int, type[Exception]] = {
    lib.BPE_ERR_NOMEM: MemoryError,
    lib.BPE_ERR_ID: UnknownTokenError,
    lib.BPE_ERR_LIMIT: ValueError,
    lib.BPE_ERR_MODEL: ModelError,
    lib.BPE_ERR_SPLIT: ModelError,
    lib.BPE_ERR_FORBIDDEN: SpecialTokenError,
}

# Memory that is not cleared first: an output buffer is written before it is read.
uncleared = ffi.new_allocator(should_clear_after_alloc=False)


def fail(status: int, message: str = "") -> NoReturn:
    """Raise the exception that stands for a status other than BPE_OK."""
    said = bytes(ffi.string(lib.bpe_status_message(status))).decode()
    kind = _EXCEPTIONS.get(status)
    if kind is None:
        raise BpeError(f"{message or said} (status {status}: a bug in pybpe)")
    raise kind(message or said)


def sizes(numbers: Iterable[int]) -> tuple[CData, array[int]]:
    """Return numbers as a size_t[] of the core, and what holds its memory."""
    held = array("Q", numbers)
    return size_buffer(held), held


def size_buffer(numbers: array[int]) -> CData:
    """Return an `array("Q")`, which must outlive its use, as a size_t[] of the core."""
    return ffi.from_buffer("size_t[]", numbers)


def _bytes_of(values: array[int]) -> CData:
    """Return a uint32 view of an `array("I")`; the array must outlive its use."""
    return ffi.from_buffer("uint32_t[]", values)


# ------------------------------------------------------------------ split


# The ways to find pretokens, by their numbers in the core.
SIMD = ("scalar", "portable", "avx2", "avx512", "neon")


# The way that the environment asks for; None lets the core choose.
_ASKED_SIMD = os.environ.get("PYBPE_SIMD") or None


def use_simd(split: CData, name: str) -> None:
    """Make a splitter that nobody uses yet find pretokens in another way.

    Raises:
        ValueError: There is no such way, or this machine lacks the instructions.
    """
    if name not in SIMD:
        known = ", ".join(SIMD)
        raise ValueError(f"PYBPE_SIMD must be one of {known}, not {name!r}")
    if lib.bpe_split_use_simd(split, SIMD.index(name)) != lib.BPE_OK:
        raise ValueError(
            f"this machine, or this build of pybpe, has no {name} instructions; "
            "unset PYBPE_SIMD to let pybpe choose"
        )


def split_simd(split: CData) -> str:
    """Return the way in use: "scalar" when the last stage has no other."""
    return SIMD[lib.bpe_split_simd(split)]


def new_split(stages: Sequence[Stage]) -> CData:
    """Return the core's splitter for compiled stages.

    Raises:
        ModelError: The tables of a stage contradict each other.
        ValueError: More stages, classes or states than the core's limits; or the
            environment variable PYBPE_SIMD asks for what there is not.
    """
    specs = ffi.new("bpe_split_stage[]", max(1, len(stages)))
    keep = []
    for spec, stage in zip(specs, stages, strict=False):
        starts = _bytes_of(stage.class_starts)
        classes = ffi.from_buffer("uint8_t[]", bytes(stage.class_ids))
        steps = ffi.from_buffer("uint16_t[]", stage.transitions)
        keep.append((starts, classes, steps))
        spec.class_starts = starts
        spec.class_ids = classes
        spec.n_runs = len(stage.class_starts)
        spec.n_classes = stage.n_classes
        spec.n_states = stage.n_states
        spec.transitions = steps
        spec.behavior = stage.core_behavior
        spec.over_bytes = stage.over_bytes
    out, err = ffi.new("bpe_split **"), ffi.new("bpe_error *")
    status = lib.bpe_split_new(specs, len(stages), out, err)
    if status == lib.BPE_ERR_SPLIT:
        fail(status, f"the split's tables contradict each other at entry {err.pos}")
    if status == lib.BPE_ERR_LIMIT:
        fail(
            status,
            f"the split is too large: at most {lib.BPE_MAX_STAGES} stages of 255 "
            f"classes and {lib.BPE_MAX_STATES} states each",
        )
    if status != lib.BPE_OK:
        fail(status)
    split = ffi.gc(out[0], lib.bpe_split_free)
    if _ASKED_SIMD is not None:
        use_simd(split, _ASKED_SIMD)
    return split


def split_ends(split: CData, data: bytes) -> array[int]:
    """Return the end offset of every pretoken of `data`, in bytes."""
    ends, n = uncleared("size_t[]", max(1, len(data))), ffi.new("size_t *")
    status = lib.bpe_split_ends(split, data, len(data), ends, len(data), n)
    if status != lib.BPE_OK:
        fail(status)
    out = array("Q")
    out.frombytes(ffi.buffer(ends, out.itemsize * n[0]))
    return out


def split_spans(split: CData, data: bytes) -> tuple[array[int], array[int]]:
    """Return the start and the end of every pretoken of `data`, in bytes."""
    size = max(1, len(data))
    starts, ends = uncleared("size_t[]", size), uncleared("size_t[]", size)
    n = ffi.new("size_t *")
    status = lib.bpe_split_spans(split, data, len(data), starts, ends, len(data), n)
    if status != lib.BPE_OK:
        fail(status)
    return array("Q", ffi.unpack(starts, n[0])), array("Q", ffi.unpack(ends, n[0]))


# ------------------------------------------------------------------ match


def new_match(strings: Sequence[bytes], ids: Sequence[int]) -> CData | None:
    """Return a matcher of non-empty strings that reports `ids`; None for no strings."""
    if not strings:
        return None
    lengths, numbers = array("I", map(len, strings)), array("I", ids)
    out, err = ffi.new("bpe_match **"), ffi.new("bpe_error *")
    status = lib.bpe_match_new(
        b"".join(strings),
        _bytes_of(lengths),
        _bytes_of(numbers),
        len(strings),
        out,
        err,
    )
    if status != lib.BPE_OK:
        fail(
            status, "" if status == lib.BPE_ERR_NOMEM else f"string {err.pos} is empty"
        )
    return ffi.gc(out[0], lib.bpe_match_free)


def find_all(match: CData | None, data: bytes) -> list[tuple[int, int, int]]:
    """Return (start, end, id) of every match in `data`, leftmost-longest, in order."""
    if match is None:
        return []
    cap, n = 16, ffi.new("size_t *")
    while True:
        starts, ends = ffi.new("size_t[]", cap), ffi.new("size_t[]", cap)
        ids = ffi.new("uint32_t[]", cap)
        status = lib.bpe_match_find(match, data, len(data), starts, ends, ids, cap, n)
        if status != lib.BPE_OK:
            fail(status)
        if n[0] <= cap:
            return [(starts[i], ends[i], ids[i]) for i in range(n[0])]
        cap = n[0]


# ------------------------------------------------------------------ model


def _model_message(position: int, model: Model) -> str:
    """Say what BPE_ERR_MODEL is about."""
    part, index = position >> 32, position & 0xFFFFFFFF
    if part == lib.BPE_PART_BYTE:
        missing = sorted(set(range(256)) - _single_bytes(model))
        shown = ", ".join(f"0x{b:02x}" for b in missing[:8])
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        return (
            f"{len(missing)} of the 256 single bytes are not in the vocabulary "
            f"({shown}{more}): add them, or texts that hold them cannot be encoded"
        )
    if part == lib.BPE_PART_DUPLICATE:
        start = sum(model.token_lengths[:index])
        token = model.token_data[start : start + model.token_lengths[index]]
        return f"token {token!r} is in the vocabulary twice (at number {index} again)"
    if part == lib.BPE_PART_MERGE:
        left, right = model.merges[2 * index], model.merges[2 * index + 1]
        return (
            f"merge {index}, ({left}, {right}) -> {model.merge_ids[index]}, names an "
            "id without a token, or one whose bytes are not the two parts' together"
        )
    if part in (lib.BPE_PART_EXTRA, lib.BPE_PART_EXTRA_ID):
        token, number = _decoded_extra(model)[index]
        if part == lib.BPE_PART_EXTRA_ID:
            return f"id {number} of {token!r} already stands for another token"
        return f"{token!r} with id {number} is empty, or its id is not below {MAX_IDS}"
    if part == lib.BPE_PART_UNKNOWN:
        return f"the unknown token's id, {model.unknown}, is no token's"
    if part == lib.BPE_PART_FALLBACK:
        return f"the id for byte {index}, {model.fallback_ids[index]}, is no token's"
    return (
        f"token number {index} is empty, or its id is out of order or not below "
        f"{MAX_IDS}, or the lengths do not add up to the data"
    )


def _single_bytes(model: Model) -> set[int]:
    found, start = set(), 0
    for length in model.token_lengths:
        if length == 1:
            found.add(model.token_data[start])
        start += length
    return found


def _decoded_extra(model: Model) -> list[tuple[bytes, int]]:
    """Return the special and added tokens that decode to themselves."""
    extra = (*model.special_tokens, *model.added_tokens)
    if not model.flags:
        return list(extra)
    return [item for item in extra if not model.flags.get(item[1], 0) & ALIAS]


_SYMBOLS = {
    "bytes": lib.BPE_SYMBOLS_BYTES,
    "some_bytes": lib.BPE_SYMBOLS_SOME_BYTES,
    "characters": lib.BPE_SYMBOLS_CHARACTERS,
}


def new_model(model: Model) -> CData:
    """Return the core's model; everything is checked there.

    Raises:
        ModelError: The parts contradict each other.
        ValueError: More tokens, bytes or mergeable pairs than the core's limits.
    """
    extra = _decoded_extra(model)
    strings = [token for token, _ in extra]
    extra_data = b"".join(strings)
    extra_lengths = array("I", map(len, strings))
    extra_ids = array("I", [number for _, number in extra])
    for lengths, name, n in (
        (model.token_lengths, "token_lengths", len(model.token_ids)),
        (model.merges, "merges", 2 * len(model.merge_ids)),
        (model.fallback_ids, "fallback_ids", 256 if model.fallback_ids else 0),
    ):
        if len(lengths) != n:
            raise ModelError(f"{name} has {len(lengths)} entries instead of {n}")
    if model.semantics not in (RANKS, MERGES):
        raise ModelError(f"semantics must be ranks or merges, got {model.semantics!r}")
    spec = ffi.new("bpe_model_spec *")
    ranks = model.semantics == RANKS
    spec.semantics = lib.BPE_SEMANTICS_RANKS if ranks else lib.BPE_SEMANTICS_MERGES
    spec.whole_pretoken = model.whole_pretoken
    spec.symbols = _SYMBOLS[model.symbols]
    spec.unknown = NO_ID if model.unknown is None else model.unknown
    spec.fuse_unknown = model.fuse_unknown
    keep = {
        "token_data": ffi.from_buffer("uint8_t[]", model.token_data),
        "token_lengths": _bytes_of(model.token_lengths),
        "token_ids": _bytes_of(model.token_ids),
        "merges": _bytes_of(model.merges),
        "merge_ids": _bytes_of(model.merge_ids),
        "extra_data": ffi.from_buffer("uint8_t[]", extra_data),
        "extra_lengths": _bytes_of(extra_lengths),
        "extra_ids": _bytes_of(extra_ids),
        "word_suffix": ffi.from_buffer("uint8_t[]", model.word_suffix),
    }
    spec.word_suffix_size = len(model.word_suffix)
    if model.fallback_ids:
        keep["fallback_ids"] = _bytes_of(model.fallback_ids)
    for name, view in keep.items():
        setattr(spec, name, view)
    spec.token_data_size = len(model.token_data)
    spec.n_tokens = len(model.token_ids)
    spec.n_merges = len(model.merge_ids)
    spec.extra_data_size = len(extra_data)
    spec.n_extra = len(extra)
    out, err = ffi.new("bpe_model **"), ffi.new("bpe_error *")
    status = lib.bpe_model_new(spec, out, err)
    if status == lib.BPE_ERR_MODEL:
        fail(status, _model_message(err.pos, model))
    if status == lib.BPE_ERR_LIMIT:
        fail(
            status,
            "the vocabulary is too large: at most 1 GiB of tokens, and 16,777,216 "
            "pairs of tokens that merge",
        )
    if status != lib.BPE_OK:
        fail(status)
    return ffi.gc(out[0], lib.bpe_model_free)


def n_vocab(model: CData) -> int:
    """Return the highest id + 1."""
    return int(lib.bpe_model_n_vocab(model))


def token_bytes(model: CData, number: int) -> bytes | None:
    """Return the bytes of a token, or None where no token has this id."""
    if not 0 <= number < MAX_IDS:
        return None
    n = ffi.new("size_t *")
    p = lib.bpe_model_token(model, number, n)
    return None if p == ffi.NULL else bytes(ffi.buffer(p, n[0]))


def find_token(model: CData, token: bytes) -> int | None:
    """Return the id of the ordinary token with these bytes, or None."""
    number = lib.bpe_model_find(model, token, len(token))
    return None if number == NO_ID else number


def recover_merges(
    model: CData, token_ids: Sequence[int]
) -> dict[int, tuple[int, int]]:
    """Return, by ascending id, the two ids that each token of a "ranks" model is of.

    Left out are single bytes, and tokens that the ranks below their own do not make.

    Args:
        model: The model.
        token_ids: The ids of all its ordinary tokens, ascending.
    """
    n_tokens = len(token_ids)
    left, right = array("I", bytes(4 * n_tokens)), array("I", bytes(4 * n_tokens))
    status = lib.bpe_model_recover_merges(
        model, _bytes_of(left), _bytes_of(right), n_tokens
    )
    if status != lib.BPE_OK:
        fail(status)
    found = zip(token_ids, left, right, strict=True)
    return {number: (a, b) for number, a, b in found if a != NO_ID}


def id_buffer(ids: array[int] | memoryview) -> CData:
    """Return a uint32 view of ids held by an `array("I")` or a uint32 memoryview."""
    return ffi.from_buffer("uint32_t[]", ids)
