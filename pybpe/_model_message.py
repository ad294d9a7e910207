"""Turn a `Model` into the protobuf message of proto/pybpe.proto, and back.

What is checked here, in both directions: that every part is of a kind this version
knows, and that the sizes of arrays fit together and lie within limits. Whether tokens
and merges make sense is checked by the C core when a tokenizer is built from the model,
in time linear in their size.
"""

from __future__ import annotations

import operator
import sys
import warnings
from array import array
from types import SimpleNamespace
from typing import TYPE_CHECKING

from pybpe import _wire
from pybpe.errors import ModelError
from pybpe.model import MERGES, RANKS, Model

if TYPE_CHECKING:
    from types import ModuleType

    from pybpe._proto import pybpe_pb2
    from pybpe.split import Split, Stage

# Limits on what is loaded, and so on what is saved. The first is BPE_MAX_IDS of bpe.h,
# the next three are those of the split.
MAX_IDS = 16_777_216
MAX_STAGES = 16
MAX_STATES = 4096
MAX_COMPILED_CLASSES = 255
MAX_CLASSES = 65_535
MAX_PATTERN = 1 << 20  # bytes of UTF-8
MAX_EXTRA = 1 << 20  # special tokens; added tokens likewise
MAX_PROVENANCE = 1024  # entries

# Names in Python -> numbers of the enums in the schema.
_SEMANTICS = {RANKS: 1, MERGES: 2}
_DIALECTS = {"rust": 1, "oniguruma": 2, "regex": 3}
_BEHAVIORS = {"isolated": 1}
_BYTE_LEVEL = 1

_schema: ModuleType | None = None


def schema() -> ModuleType:
    """Import the generated protobuf module, which takes some 20 ms the first time."""
    # Not from sys.modules: there it may be half imported, by another thread.
    global _schema
    if _schema is not None:
        return _schema
    with warnings.catch_warnings():
        # Runtimes 6.30 and 6.31 warn that the generated code is of the major version
        # before theirs, a combination that protobuf supports.
        warnings.filterwarnings("ignore", "Protobuf gencode version", UserWarning)
        from pybpe._proto import pybpe_pb2
    _schema = pybpe_pb2
    return _schema


# ------------------------------------------------------------------ model -> message


def to_message(model: Model, *, provenance: bool = True) -> bytes:
    """Serialise a model; equal models give equal bytes.

    Args:
        model: What to write.
        provenance: Whether to write the provenance, which decides no ids.

    Raises:
        ModelError: The model has parts that cannot be written, or that `from_message`
            would refuse.
    """
    check(model)
    message: pybpe_pb2.Model = schema().Model(
        kind=_BYTE_LEVEL,
        semantics=_SEMANTICS[model.semantics],
        whole_pretoken=model.whole_pretoken,
        merges=_pack("I", model.merges),
    )
    _write_table(message.tokens, model.token_data, model.token_lengths, model.token_ids)
    if model.merge_ids != _implied_merge_ids(model.token_ids, len(model.merge_ids)):
        message.merge_ids = _pack("I", model.merge_ids)
    _write_extra(message.special_tokens, model.special_tokens)
    _write_extra(message.added_tokens, model.added_tokens)
    for stage in model.split.stages:
        message.split.stages.add(
            pattern=stage.pattern,
            dialect=_DIALECTS[stage.dialect],
            behavior=_BEHAVIORS[stage.behavior],
            unicode_version=stage.unicode_version,
            class_starts=_pack("I", stage.class_starts),
            class_ids=_pack("H", stage.class_ids),
            n_classes=stage.n_classes,
            n_states=stage.n_states,
            transitions=_pack("H", stage.transitions),
        )
    if provenance:
        _write_provenance(message.provenance, model)
    return bytes(message.SerializeToString(deterministic=True))


def _write_table(
    table: pybpe_pb2.TokenTable, data: bytes, lengths: array[int], ids: array[int]
) -> None:
    """Write tokens; a table without tokens is left unset."""
    if lengths:
        table.data = data
        table.lengths = _pack("I", lengths)
        if ids[0] != 0 or ids != array("I", range(len(ids))):
            table.ids = _pack("I", ids)


def _write_extra(
    table: pybpe_pb2.TokenTable, tokens: tuple[tuple[bytes, int], ...]
) -> None:
    """Write special or added tokens."""
    _write_table(
        table,
        b"".join(token for token, _ in tokens),
        array("I", (len(token) for token, _ in tokens)),
        array("I", (token_id for _, token_id in tokens)),
    )


def _write_provenance(message: pybpe_pb2.Provenance, model: Model) -> None:
    """Write what is known of the model's origin."""
    for key in sorted(model.provenance):
        value = model.provenance[key]
        entry = message.entries.add(key=key)
        if isinstance(value, str):
            entry.text = value
        else:
            entry.number = value


# ------------------------------------------------------------------ message -> model


def from_message(data: bytes) -> Model:
    """Read what `to_message` wrote.

    Memory stays within a small multiple of the size of `data`, whatever it holds.

    Raises:
        ModelError: `data` is no such message, or one that needs a newer version.
    """
    pb = schema()
    message: pybpe_pb2.Model = pb.Model()
    _wire.scan(memoryview(data), pb.Model.DESCRIPTOR)
    try:
        message.ParseFromString(data)
    except MemoryError:
        raise
    except Exception as error:  # a DecodeError; the pure Python runtime raises others
        raise ModelError(f"its message does not parse: {error}") from None
    if message.kind != _BYTE_LEVEL:
        raise _unsupported("model kind", pb.Kind, message.kind)
    semantics = _name(_SEMANTICS, message.semantics)
    if semantics is None:
        raise _unsupported("merge semantics", pb.MergeSemantics, message.semantics)
    if message.normalizers:
        step = message.normalizers[0].WhichOneof("step")
        raise ModelError(
            f"it needs a normalizer ({step or 'empty'}), which this version of pybpe "
            "does not have; upgrade pybpe"
        )
    token_data, token_lengths, token_ids = _read_table("tokens", message.tokens)
    merges = _unpack("I", message.merges, "merges")
    merge_ids = _implied_merge_ids(token_ids, len(merges) // 2)
    if message.merge_ids:
        merge_ids = _unpack("I", message.merge_ids, "merge ids")
    model = Model(
        semantics=semantics,
        whole_pretoken=message.whole_pretoken,
        token_data=token_data,
        token_lengths=token_lengths,
        token_ids=token_ids,
        merges=merges,
        merge_ids=merge_ids,
        special_tokens=_read_extra("special tokens", message.special_tokens),
        added_tokens=_read_extra("added tokens", message.added_tokens),
        split=_read_split(pb, message.split),
        provenance=_read_provenance(message.provenance),
    )
    check(model)
    return model


def _read_table(
    what: str, table: pybpe_pb2.TokenTable
) -> tuple[bytes, array[int], array[int]]:
    """Read (data, lengths, ids): as many ids as lengths."""
    for part in ("scores", "types", "flags"):
        if getattr(table, part):
            raise ModelError(
                f"its {what} have {part}, which this version of pybpe does not "
                "support; upgrade pybpe"
            )
    data = table.data
    lengths = _unpack("I", table.lengths, f"lengths of the {what}")
    if len(lengths) > MAX_IDS:
        raise ModelError(f"it has {len(lengths):,} {what}; the limit is {MAX_IDS:,}")
    if not table.ids:
        return data, lengths, array("I", range(len(lengths)))
    ids = _unpack("I", table.ids, f"ids of the {what}")
    if len(ids) != len(lengths):
        raise ModelError(f"it has {len(lengths):,} {what} but {len(ids):,} ids of them")
    return data, lengths, ids


def _read_extra(
    what: str, table: pybpe_pb2.TokenTable
) -> tuple[tuple[bytes, int], ...]:
    """Read special or added tokens."""
    n = len(table.lengths) // 4
    if n > MAX_EXTRA:
        raise ModelError(f"it has {n:,} {what}; the limit is {MAX_EXTRA:,}")
    data, lengths, ids = _read_table(what, table)
    _check_lengths(what, lengths, data)
    tokens = []
    start = 0
    for length, token_id in zip(lengths, ids, strict=True):
        tokens.append((data[start : start + length], token_id))
        start += length
    return tuple(tokens)


def _read_split(pb: ModuleType, message: pybpe_pb2.Split) -> Split:
    """Rebuild the split from its tables: no pattern is compiled."""
    from pybpe.split import Split

    if len(message.stages) > MAX_STAGES:
        raise ModelError(
            f"its split has {len(message.stages)} stages; the limit is {MAX_STAGES}"
        )
    return Split([_read_stage(pb, i, stage) for i, stage in enumerate(message.stages)])


def _read_stage(pb: ModuleType, number: int, message: pybpe_pb2.Stage) -> Stage:
    """Rebuild one stage."""
    from pybpe.split import Stage

    dialect = _name(_DIALECTS, message.dialect)
    if dialect is None:
        raise _unsupported("pattern dialect", pb.Dialect, message.dialect)
    behavior = _name(_BEHAVIORS, message.behavior)
    if behavior is None or message.invert:
        raise _unsupported(
            "inverted split behavior" if message.invert else "split behavior",
            pb.Behavior,
            message.behavior,
        )
    parts = SimpleNamespace(
        pattern=message.pattern,
        dialect=dialect,
        behavior=behavior,
        unicode_version=message.unicode_version,
        class_starts=_unpack("I", message.class_starts, "class starts"),
        class_ids=_unpack("H", message.class_ids, "class ids"),
        n_classes=message.n_classes,
        n_states=message.n_states,
        transitions=_unpack("H", message.transitions, "transitions"),
    )
    _check_stage(number, parts)
    if parts.n_states:
        parts.class_ids = bytes(parts.class_ids.tolist())
    try:
        return Stage(**vars(parts))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"stage {number} of its split is refused: {error}") from None


def _read_provenance(message: pybpe_pb2.Provenance) -> dict[str, str | int]:
    """Read what is known of the model's origin."""
    provenance: dict[str, str | int] = {}
    for entry in message.entries:
        which = entry.WhichOneof("value")
        if which is None or entry.key in provenance:
            raise ModelError(
                f"its provenance has {entry.key!r} "
                f"{'without a value' if which is None else 'twice'}"
            )
        provenance[entry.key] = entry.text if which == "text" else entry.number
    return provenance


# ------------------------------------------------------------------ both directions


def check(model: Model) -> None:
    """Refuse a model whose parts do not fit together, before anything is built of it.

    Raises:
        ModelError: See the module's documentation for what is checked.
    """
    if model.semantics not in _SEMANTICS:
        raise ModelError(f"unknown merge semantics {model.semantics!r}")
    n_tokens = len(model.token_lengths)
    if n_tokens > MAX_IDS:
        raise ModelError(f"it has {n_tokens:,} tokens; the limit is {MAX_IDS:,}")
    if len(model.token_ids) != n_tokens:
        raise ModelError(f"it has {n_tokens:,} tokens but {len(model.token_ids):,} ids")
    _check_lengths("tokens", model.token_lengths, model.token_data)
    if len(model.merges) != 2 * len(model.merge_ids):
        raise ModelError(
            f"it has {len(model.merges):,} sides of merges, which must be twice the "
            f"number of tokens they make, {len(model.merge_ids):,}"
        )
    if model.merges and model.semantics == RANKS:
        raise ModelError("it lists merges, but its semantics are ranks")
    _check_extra("special", model.special_tokens)
    _check_extra("added", model.added_tokens)
    if len(model.split.stages) > MAX_STAGES:
        raise ModelError(
            f"its split has {len(model.split.stages)} stages; the limit is {MAX_STAGES}"
        )
    for number, stage in enumerate(model.split.stages):
        _check_stage(number, stage)
    _check_provenance(model)


def _check_lengths(what: str, lengths: array[int], data: bytes) -> None:
    """Check that tokens fill their data exactly."""
    if (total := sum(lengths)) != len(data):
        raise ModelError(
            f"the lengths of its {what} add up to {total:,} bytes, but there are "
            f"{len(data):,}"
        )


def _check_extra(what: str, tokens: tuple[tuple[bytes, int], ...]) -> None:
    """Check the special or the added tokens."""
    if len(tokens) > MAX_EXTRA:
        raise ModelError(
            f"it has {len(tokens):,} {what} tokens; the limit is {MAX_EXTRA:,}"
        )
    if len({token for token, _ in tokens}) < len(tokens):
        raise ModelError(f"two of its {what} tokens have the same bytes")
    last = -1
    for token, token_id in tokens:
        if not last < token_id < MAX_IDS:
            raise ModelError(
                f"its {what} token {token[:80]!r} has the id {token_id}; the ids must "
                f"ascend from 0 to at most {MAX_IDS - 1:,}"
            )
        if not token:
            raise ModelError(f"its {what} token with the id {token_id} is empty")
        last = token_id


def _check_stage(number: int, stage: Stage | SimpleNamespace) -> None:
    """Check what the C core is not asked to check, or not for every kind of stage."""
    where = f"stage {number} of its split"
    if stage.dialect not in _DIALECTS:
        raise ModelError(f"{where} has the unknown dialect {stage.dialect!r}")
    if stage.behavior not in _BEHAVIORS:
        raise ModelError(f"{where} has the unknown behavior {stage.behavior!r}")
    _check_text(f"the Unicode version of {where}", stage.unicode_version)
    if _check_text(f"the pattern of {where}", stage.pattern) > MAX_PATTERN:
        raise ModelError(f"{where} has a pattern of more than {MAX_PATTERN:,} bytes")
    starts, classes = stage.class_starts, stage.class_ids
    if not starts or starts[0] != 0 or starts[-1] > 0x10FFFF:
        raise ModelError(f"{where} has classes that do not cover the codepoints")
    if not all(map(operator.lt, starts, starts[1:])):
        raise ModelError(f"{where} has classes out of order")
    compiled = stage.n_states > 0
    most = MAX_COMPILED_CLASSES if compiled else MAX_CLASSES
    if not 1 <= stage.n_classes <= most:
        raise ModelError(f"{where} has {stage.n_classes} classes; the limit is {most}")
    if len(classes) != len(starts) or max(classes) >= stage.n_classes:
        raise ModelError(f"{where} has class numbers that do not fit its classes")
    if stage.n_states > MAX_STATES or stage.n_states == 1:
        raise ModelError(
            f"{where} has {stage.n_states} states, not 0 or 2 to {MAX_STATES}"
        )
    if len(stage.transitions) != stage.n_states * (stage.n_classes + 1):
        raise ModelError(
            f"{where} has {len(stage.transitions):,} transitions, which do not fit "
            f"{stage.n_states} states and {stage.n_classes} classes"
        )


def _check_provenance(model: Model) -> None:
    """Check the provenance, which is a caller's own when a model is saved."""
    if len(model.provenance) > MAX_PROVENANCE:
        raise ModelError(
            f"its provenance has {len(model.provenance):,} entries; the limit is "
            f"{MAX_PROVENANCE:,}"
        )
    for key, value in model.provenance.items():
        if type(key) is not str or type(value) not in (str, int):
            raise ModelError(
                f"its provenance must map str to str or int, not {key!r} to {value!r}"
            )
        _check_text("a key of its provenance", key)
        if isinstance(value, str):
            _check_text(f"its provenance {key!r}", value)
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise ModelError(f"its provenance {key!r} is {value}, more than 64 bits")


def _check_text(what: str, text: str) -> int:
    """Refuse a string that has no UTF-8; return the size of its UTF-8 in bytes."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise ModelError(
            f"{what} has a lone surrogate, {text[error.start]!r} at {error.start}, "
            "which cannot be stored"
        ) from None


def _implied_merge_ids(token_ids: array[int], n_merges: int) -> array[int]:
    """Return the ids that `n_merges` merges make when nothing else is said."""
    return token_ids[max(0, len(token_ids) - n_merges) :]


def _pack(code: str, values: array[int] | bytes) -> bytes:
    """Return numbers as little-endian bytes; `code` is "I" or "H"."""
    packed = array(code, list(values) if isinstance(values, bytes) else values)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _unpack(code: str, data: bytes, what: str) -> array[int]:
    """Undo `_pack`."""
    values = array(code)
    if len(data) % values.itemsize:
        raise ModelError(
            f"its {what} take {len(data):,} bytes, not a multiple of {values.itemsize}"
        )
    values.frombytes(data)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _name(numbers: dict[str, int], number: int) -> str | None:
    """Return the Python name of an enum's number, if this version supports it."""
    return next((name for name, n in numbers.items() if n == number), None)


def _unsupported(what: str, enum: object, number: int) -> ModelError:
    """Describe an enum value that this version cannot obey."""
    known: dict[int, str] = {n: name for name, n in enum.items()}  # type: ignore[attr-defined]
    name = known.get(number, "unknown")
    return ModelError(
        f"it has the {what} {number} ({name}), which this version of pybpe does not "
        "support; upgrade pybpe"
    )
