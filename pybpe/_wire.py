"""Look through the bytes of a protobuf message before the protobuf runtime does.

A runtime makes an object of every submessage, however short, and keeps or drops fields
that it does not know. Both are wrong for files from strangers: two bytes of file could
become a hundred of memory, and a field that changes the meaning of a model would go
unnoticed. `scan` walks over the wire format without building anything and refuses both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybpe.errors import ModelError

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

# More fields than any model has: 16 stages of 10, 1,024 entries of 3, and a few dozen.
MAX_FIELDS = 16_384
# Messages within messages: a split has a stage, which may have a normalizer, which may
# have a stage for its pattern.
MAX_DEPTH = 8

_VARINT, _LENGTH = 0, 2
# FieldDescriptor.TYPE_*, as numbers so that protobuf need not be imported for them.
# Message; bool, uint32, enum and sint64. Strings and bytes are the rest of the schema.
_MESSAGE = 11
_VARINTS = frozenset([8, 13, 14, 18])


def scan(data: memoryview, descriptor: Descriptor) -> None:
    """Refuse a message that the schema does not describe.

    Args:
        data: The serialised message.
        descriptor: Its type.

    Raises:
        ModelError: A field is unknown, of another type, cut short, or there twice
            though it is singular; or there are more than `MAX_FIELDS` fields.
    """
    if _scan(data, 0, len(data), descriptor, 0, 0) > MAX_FIELDS:
        raise ModelError(f"it holds more than {MAX_FIELDS:,} protobuf fields")


def _scan(
    data: memoryview, pos: int, end: int, message: Descriptor, n: int, depth: int
) -> int:
    """Scan data[pos, end) and return the number of fields, counting on from `n`."""
    if depth > MAX_DEPTH:
        raise ModelError(f"{message.full_name} is nested too deeply")
    seen: set[int] = set()
    while pos < end and n <= MAX_FIELDS:
        n += 1
        tag, pos = _varint(data, pos, end, message)
        field = message.fields_by_number.get(tag >> 3)
        if field is None:
            raise ModelError(
                f"it has a field that this version of pybpe does not know, number "
                f"{tag >> 3} of {message.full_name}: a newer version wrote it; "
                "upgrade pybpe"
            )
        expected = _VARINT if field.type in _VARINTS else _LENGTH
        if tag & 7 != expected:
            raise ModelError(f"field {field.full_name} has the wrong wire type")
        if field.number in seen and not _is_repeated(field):
            raise ModelError(f"field {field.full_name} is there twice")
        seen.add(field.number)
        size, pos = _varint(data, pos, end, message)
        if expected == _VARINT:
            continue
        if size > end - pos:
            raise ModelError(
                f"field {field.full_name} is cut short: {size:,} bytes announced, "
                f"{end - pos:,} left"
            )
        if field.type == _MESSAGE and field.message_type is not None:
            n = _scan(data, pos, pos + size, field.message_type, n, depth + 1)
        pos += size
    return n


def _varint(
    data: memoryview, pos: int, end: int, message: Descriptor
) -> tuple[int, int]:
    """Read the number at `pos`; return it and the position after it."""
    value = shift = 0
    while pos < end and shift < 70:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7
    raise ModelError(f"a number in {message.full_name} is cut short")


def _is_repeated(field: FieldDescriptor) -> bool:
    """Say whether a field may come more than once.

    Protobuf 5 has only `label`, later runtimes warn about it and have `is_repeated`.
    """
    repeated: bool | None = getattr(field, "is_repeated", None)
    if repeated is None:
        return bool(field.label == 3)  # type: ignore[attr-defined]
    return repeated
