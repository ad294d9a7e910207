"""Turn a model into the protobuf message of proto/pybpe.proto, and back.

What is checked here, in both directions: that every part is of a kind this version
knows, and that the sizes of arrays fit together and lie within limits. Whether tokens
and merges make sense is checked by the C core when a tokenizer is built from the model,
in time linear in their size.
"""

from __future__ import annotations

from array import array

from pybpe import _step_message, _wire
from pybpe._proto.pybpe_schema import MESSAGES
from pybpe._step_message import check_text as _check_text
from pybpe._step_message import counted
from pybpe._step_message import name_of as _name
from pybpe._step_message import pack as _pack
from pybpe._step_message import unpack as _unpack
from pybpe._step_message import unsupported as _unsupported
from pybpe._typing import TYPE_CHECKING
from pybpe.errors import ModelError
from pybpe.model import (
    ALL_FLAGS,
    BYTES,
    CHARACTERS,
    MAX_EXTRA,
    MERGES,
    RANKS,
    SOME_BYTES,
    SYMBOLS,
    Model,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from pybpe._engines import AnyModel
    from pybpe._proto import pybpe_pb2
    from pybpe.split import Split

# Limits on what is loaded, and so on what is saved. The first is BPE_MAX_IDS of bpe.h,
# the next is the split's.
MAX_IDS = 16_777_216
MAX_STAGES = 16
MAX_PROVENANCE = 1024  # entries
MAX_SUFFIX = 64  # bytes: BPE_MAX_SUFFIX of bpe.h

# Names in Python -> numbers of the enums in the schema.
_SEMANTICS = {RANKS: 1, MERGES: 2}
_BYTE_LEVEL = 1
_CODEPOINTS = 2
_SCORES = 3  # the semantics of sentencepiece models: see _pieces_message

# Parts of a table that only sentencepiece models have.
_UNUSED = ("scores", "types")

_schema: ModuleType | None = None


def schema() -> ModuleType:
    """Import the generated protobuf module, for writing; it takes some 20 ms."""
    # Not from sys.modules: there it may be half imported, by another thread.
    global _schema
    if _schema is not None:
        return _schema
    import warnings

    with warnings.catch_warnings():
        # Runtimes 6.30 and 6.31 warn that the generated code is of the major version
        # before theirs, a combination that protobuf supports.
        warnings.filterwarnings("ignore", "Protobuf gencode version", UserWarning)
        from pybpe._proto import pybpe_pb2
    _schema = pybpe_pb2
    return _schema


# ------------------------------------------------------------------ model -> message


def to_message(model: AnyModel, *, provenance: bool = True) -> bytes:
    """Serialise a model; equal content and provenance give equal bytes.

    Args:
        model: What to write.
        provenance: Whether to write the provenance, which decides no ids.

    Raises:
        ModelError: The model has parts that cannot be written, or that `from_message`
            would refuse.
    """
    _check_provenance(model)
    message: pybpe_pb2.Model
    if isinstance(model, Model):
        message = _write(model)
    else:
        from pybpe import _pieces_message

        message = schema().Model()
        _pieces_message.write(message, model, names=provenance)
    if provenance:
        _write_provenance(message.provenance, model)
    return bytes(message.SerializeToString(deterministic=True))


def _write(model: Model) -> pybpe_pb2.Model:
    """Write all of a model but its provenance."""
    check(model)
    message: pybpe_pb2.Model = schema().Model(
        kind=_CODEPOINTS if model.symbols == CHARACTERS else _BYTE_LEVEL,
        semantics=_SEMANTICS[model.semantics],
        whole_pretoken=model.whole_pretoken,
        merges=_pack("I", model.merges),
    )
    _write_table(message.tokens, model.token_data, model.token_lengths, model.token_ids)
    if model.merge_ids != _implied_merge_ids(model.token_ids, len(model.merge_ids)):
        message.merge_ids = _pack("I", model.merge_ids)
    write_extra(message.special_tokens, model.special_tokens, model.flags)
    write_extra(message.added_tokens, model.added_tokens, model.flags)
    for stage in model.split.stages:
        _step_message.write_stage(message.split.stages.add(), stage)
    _write_symbols(message, model)
    for step in model.normalizers:
        _step_message.write_step(message.normalizers.add(), step)
    for decoder in model.decoders:
        _step_message.write_decoder(message.decoders.add(), decoder)
    message.text_prefix = _pack("I", array("I", model.text_prefix))
    message.text_suffix = _pack("I", array("I", model.text_suffix))
    return message


def _write_table(
    table: pybpe_pb2.TokenTable, data: bytes, lengths: array[int], ids: array[int]
) -> None:
    """Write tokens; a table without tokens is left unset."""
    if lengths:
        table.data = data
        table.lengths = _pack("I", lengths)
        if ids[0] != 0 or ids != counted(len(ids)):
            table.ids = _pack("I", ids)


def _write_symbols(message: pybpe_pb2.Model, model: Model) -> None:
    """Write what pretokens are made of, and what becomes of unknown symbols."""
    message.some_bytes = model.symbols == SOME_BYTES
    if model.unknown is not None:
        message.unknown.SetInParent()
        message.unknown.id = model.unknown
        message.unknown.fuse = model.fuse_unknown
    message.fallback_ids = _pack("I", model.fallback_ids)
    message.word_suffix = model.word_suffix


def write_extra(
    table: pybpe_pb2.TokenTable,
    tokens: tuple[tuple[bytes, int], ...],
    flags: Mapping[int, int],
) -> None:
    """Write special or added tokens."""
    if any(token_id in flags for _, token_id in tokens):
        table.flags = bytes(flags.get(token_id, 0) for _, token_id in tokens)
    _write_table(
        table,
        b"".join(token for token, _ in tokens),
        array("I", (len(token) for token, _ in tokens)),
        array("I", (token_id for _, token_id in tokens)),
    )


def _write_provenance(message: pybpe_pb2.Provenance, model: AnyModel) -> None:
    """Write what is known of the model's origin."""
    for key in sorted(model.provenance):
        value = model.provenance[key]
        entry = message.entries.add(key=key)
        if isinstance(value, str):
            entry.text = value
        else:
            entry.number = value


# ------------------------------------------------------------------ message -> model


def from_message(data: bytes) -> AnyModel:
    """Read what `to_message` wrote.

    Memory stays within a small multiple of the size of `data`, whatever it holds.

    Raises:
        ModelError: `data` is no such message, or one that needs a newer version.
    """
    message: pybpe_pb2.Model = _wire.read(data, MESSAGES, "pybpe.v1.Model")
    if message.kind not in (_BYTE_LEVEL, _CODEPOINTS):
        raise _unsupported("model kind", "Kind", message.kind)
    if message.semantics == _SCORES:
        from pybpe import _pieces_message

        about = _read_provenance(message.provenance)
        _check_provenance(pieces := _pieces_message.read(message, about))
        return pieces
    if message.HasField("pieces"):
        raise ModelError("it has pieces, which only a sentencepiece model can have")
    semantics = _name(_SEMANTICS, message.semantics)
    if semantics is None:
        raise _unsupported("merge semantics", "MergeSemantics", message.semantics)
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
        special_tokens=read_extra("special tokens", message.special_tokens),
        added_tokens=read_extra("added tokens", message.added_tokens),
        split=read_split(message.split),
        symbols=_read_symbols(message),
        unknown=message.unknown.id if message.HasField("unknown") else None,
        fuse_unknown=message.unknown.fuse,
        fallback_ids=_unpack("I", message.fallback_ids, "fallback ids"),
        word_suffix=message.word_suffix,
        flags=_read_flags(message),
        normalizers=_step_message.read_steps(message.normalizers),
        text_prefix=tuple(_unpack("I", message.text_prefix, "prefix's ids")),
        text_suffix=tuple(_unpack("I", message.text_suffix, "suffix's ids")),
        decoders=_step_message.read_decoders(message.decoders),
        provenance=_read_provenance(message.provenance),
    )
    check(model)
    _check_provenance(model)
    return model


def _read_table(
    what: str, table: pybpe_pb2.TokenTable
) -> tuple[bytes, array[int], array[int]]:
    """Read (data, lengths, ids): as many ids as lengths."""
    for part in (*_UNUSED, "flags") if what == "tokens" else _UNUSED:
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
        return data, lengths, counted(len(lengths))
    ids = _unpack("I", table.ids, f"ids of the {what}")
    if len(ids) != len(lengths):
        raise ModelError(f"it has {len(lengths):,} {what} but {len(ids):,} ids of them")
    return data, lengths, ids


def _read_symbols(message: pybpe_pb2.Model) -> str:
    """Read what pretokens are made of."""
    if message.kind == _CODEPOINTS:
        return CHARACTERS
    return SOME_BYTES if message.some_bytes else BYTES


def _read_flags(message: pybpe_pb2.Model) -> dict[int, int]:
    """Read the flags of special and added tokens."""
    flags: dict[int, int] = {}
    for what, table in (
        ("special tokens", message.special_tokens),
        ("added tokens", message.added_tokens),
    ):
        if not table.flags:
            continue
        if len(table.flags) != len(table.lengths) // 4:
            raise ModelError(
                f"its {what} have {len(table.flags):,} flags for "
                f"{len(table.lengths) // 4:,} tokens"
            )
        ids = _read_table(what, table)[2]
        flags.update((i, f) for i, f in zip(ids, table.flags, strict=True) if f)
    return flags


def read_extra(what: str, table: pybpe_pb2.TokenTable) -> tuple[tuple[bytes, int], ...]:
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


def read_split(message: pybpe_pb2.Split) -> Split:
    """Rebuild the split from its tables: no pattern is compiled."""
    from pybpe.split import Split

    if len(message.stages) > MAX_STAGES:
        raise ModelError(
            f"its split has {len(message.stages)} stages; the limit is {MAX_STAGES}"
        )
    return Split(
        [
            _step_message.read_stage(f"stage {i} of its split", stage)
            for i, stage in enumerate(message.stages)
        ]
    )


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
    check_extra("special", model.special_tokens)
    check_extra("added", model.added_tokens)
    if len(model.split.stages) > MAX_STAGES:
        raise ModelError(
            f"its split has {len(model.split.stages)} stages; the limit is {MAX_STAGES}"
        )
    for number, stage in enumerate(model.split.stages):
        _step_message.check_stage(f"stage {number} of its split", stage)
    _check_symbols(model)


def _check_symbols(model: Model) -> None:
    """Check what goes beyond tokens that are made of any bytes."""
    if model.symbols not in SYMBOLS:
        raise ModelError(f"unknown symbols {model.symbols!r}")
    if model.symbols == BYTES and (model.unknown is not None or model.fallback_ids):
        raise ModelError("it has all bytes among its tokens, so nothing is unknown")
    if model.semantics == RANKS and model.symbols != BYTES:
        raise ModelError("its semantics are ranks, but not all bytes are tokens")
    if model.fuse_unknown and model.unknown is None:
        raise ModelError("it has no unknown token that could be fused")
    if len(model.fallback_ids) not in (0, 256):
        raise ModelError(f"it has {len(model.fallback_ids)} fallback ids, not 256")
    if len(model.word_suffix) > MAX_SUFFIX or (
        model.word_suffix and (model.symbols == BYTES or model.fallback_ids)
    ):
        raise ModelError(f"it cannot have the word suffix {model.word_suffix[:80]!r}")
    extra = {number for _, number in (*model.special_tokens, *model.added_tokens)}
    for number, flags in model.flags.items():
        if not 0 < flags <= ALL_FLAGS or number not in extra:
            raise ModelError(
                f"it has the flags {flags} for the id {number}; known are sums of "
                "1, 2, 4, 8, 16 and 32, for special and added tokens"
            )
    for number in (*model.text_prefix, *model.text_suffix):
        if not 0 <= number < MAX_IDS:
            raise ModelError(f"it puts the id {number} around a text, which cannot be")
    for what, steps in (
        ("normalizers", model.normalizers),
        ("decoders", model.decoders),
    ):
        _step_message.check_number(what, steps)


def _check_lengths(what: str, lengths: array[int], data: bytes) -> None:
    """Check that tokens fill their data exactly."""
    if (total := sum(lengths)) != len(data):
        raise ModelError(
            f"the lengths of its {what} add up to {total:,} bytes, but there are "
            f"{len(data):,}"
        )


def check_extra(what: str, tokens: tuple[tuple[bytes, int], ...]) -> None:
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


def _check_provenance(model: AnyModel) -> None:
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


def _implied_merge_ids(token_ids: array[int], n_merges: int) -> array[int]:
    """Return the ids that `n_merges` merges make when nothing else is said."""
    return token_ids[max(0, len(token_ids) - n_merges) :]
