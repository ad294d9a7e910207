"""Read protobuf messages without the protobuf runtime, by tables of their schema.

Three reasons. Importing the runtime takes longer than reading most models does. It
makes an object of every submessage, however short, so that two bytes of a file could
become a hundred of memory. And it keeps or drops fields that it does not know, while in
a model such a field may change the ids.

`read` is for files of our own: whatever the schema does not describe is refused. `skim`
is for files of others, who may have added fields, and passes over those. Both return
`Message`s, and take numbers and strings as the runtime does.
"""

from __future__ import annotations

import struct

from pybpe._typing import TYPE_CHECKING
from pybpe.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    # A generated module's MESSAGES.
    Schema = dict[str, dict[int, tuple[str, str, str, str, object]]]
    Enums = dict[str, dict[int, str]]  # its ENUMS

# More fields than any model has: 16 stages of 10, 1,024 entries of 3, and a few dozen.
MAX_FIELDS = 16_384
# As many for `skim`, which keeps few of them: a second's work.
MAX_SKIMMED = 1 << 20
# Messages within messages: a split has a stage, which may have a normalizer, which may
# have a stage for its pattern.
MAX_DEPTH = 8
# Groups within groups, in files of others: protobuf's own limit.
_MAX_GROUPS = 100

_VARINT, _FIXED64, _LENGTH, _START, _END, _FIXED32 = range(6)
_MAX_NUMBER = 10  # bytes of a varint
_MAX_TAG = 5  # bytes of one that says what follows, or how much


class Message:
    """A message that was read: its fields are attributes.

    A field that is absent has its default: an empty list for a repeated field, an empty
    message for a message. The two methods are those of protobuf's messages.
    """

    __slots__ = ("_name", "_schema", "_values")

    def __init__(self, schema: Schema, name: str, values: dict[str, Any]) -> None:
        """Keep the values of the fields that are there."""
        self._schema = schema
        self._name = name
        self._values = values

    def __getattr__(self, name: str) -> Any:
        """Return the value of a field."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._values:
            return self._values[name]
        for field, kind, of, label, default in self._schema[self._name].values():
            if field == name:
                if label == "repeated":
                    return []
                return Message(self._schema, of, {}) if kind == "message" else default
        raise AttributeError(f"{self._name} has no field {name!r}")

    def HasField(self, name: str) -> bool:
        """Say whether a field is there; for fields that may be absent only."""
        return name in self._values

    def WhichOneof(self, name: str) -> str | None:
        """Return the name of the field of a oneof that is there."""
        for field, _, _, label, _ in self._schema[self._name].values():
            if label == f"={name}" and field in self._values:
                return field
        return None


def fields_set(message: Any) -> set[str]:
    """Return the names of the fields of a `Message` that say anything."""
    absent = Message(message._schema, message._name, {})
    return {
        name
        for name, kind, _, label, _ in message._schema[message._name].values()
        if message.HasField(name)
        # A plain field says nothing when it has its default.
        and (
            label
            or kind == "message"
            or getattr(message, name) != getattr(absent, name)
        )
    }


# ------------------------------------------------------------------ our own files


def read(data: bytes, schema: Schema, name: str) -> Any:
    """Read a message that must be what the schema describes.

    Args:
        data: The serialised message.
        schema: The tables of its file.
        name: The full name of its type.

    Returns:
        A `Message`; declared as anything, so that callers can give it the type of the
        generated class that it stands for.

    Raises:
        ModelError: A field is unknown, of another type, cut short, no UTF-8, or there
            twice though it is singular; two fields of a oneof are there; or there are
            more than `MAX_FIELDS` fields.
    """
    return _Reader(data, schema).message(name, 0, len(data), 0)


class _Reader:
    """What all messages within one have in common."""

    def __init__(self, data: bytes, schema: Schema) -> None:
        self._data = data
        self._schema = schema
        self._n_fields = 0

    def message(self, name: str, pos: int, end: int, depth: int) -> Message:
        """Read data[pos, end)."""
        if depth > MAX_DEPTH:
            raise ModelError(f"{name} is nested too deeply")
        data = self._data
        fields = self._schema[name]
        values: dict[str, Any] = {}
        oneofs: dict[str, str] = {}
        while pos < end:
            self._n_fields += 1
            if self._n_fields > MAX_FIELDS:
                raise ModelError(f"it holds more than {MAX_FIELDS:,} protobuf fields")
            tag, pos = _varint(data, pos, end, name, _MAX_TAG)
            if tag >> 3 not in fields:
                raise ModelError(
                    "it has a field that this version of pybpe does not know, number "
                    f"{tag >> 3} of {name}: a newer version wrote it; upgrade pybpe"
                )
            field, kind, of, label, _ = fields[tag >> 3]
            if tag & 7 != (_VARINT if kind in _NUMBERS else _LENGTH):
                raise ModelError(f"field {name}.{field} has the wrong wire type")
            if field in values and label != "repeated":
                raise ModelError(f"field {name}.{field} is there twice")
            if label[:1] == "=" and oneofs.setdefault(label, field) != field:
                raise ModelError(
                    f"fields {name}.{oneofs[label]} and {name}.{field} are there, of "
                    "which only one can be"
                )
            if kind in _NUMBERS:
                number, pos = _varint(data, pos, end, name, _MAX_NUMBER)
                values[field] = _NUMBERS[kind](number)
                continue
            size, pos = _size(data, pos, end, f"{name}.{field}", name)
            value = self._value(kind, of, f"{name}.{field}", pos, pos + size, depth)
            pos += size
            if label == "repeated":
                values.setdefault(field, []).append(value)
            else:
                values[field] = value
        return Message(self._schema, name, values)

    def _value(
        self, kind: str, of: str, field: str, pos: int, end: int, depth: int
    ) -> Message | bytes | str:
        """Read what has a length, data[pos, end)."""
        if kind == "message":
            return self.message(of, pos, end, depth + 1)
        value = self._data[pos:end]
        if kind == "bytes":
            return value
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise ModelError(f"field {field} is not UTF-8: {error}") from None


# ------------------------------------------------------------------ files of others


def skim(data: bytes, schema: Schema, enums: Enums, name: str) -> Any:
    """Read the numbers, bytes and strings of a message; pass over all else.

    Passed over are unknown fields, those of another wire type, repeated ones, and enums
    of an unknown number. Of several values for one field the last counts. A string that
    is no UTF-8 is empty. This is what the runtime makes of a proto2 message; only that
    such a string is an error there, when it is looked at.

    Args:
        data: The serialised message.
        schema: The tables of its file.
        enums: Those of its enums.
        name: The full name of its type.

    Returns:
        A `Message`, declared as for `read`.

    Raises:
        ModelError: The data are no message, or have more than `MAX_SKIMMED` fields.
    """
    fields = schema[name]
    values: dict[str, Any] = {}
    pos, end, n = 0, len(data), 0
    groups: list[int] = []
    while pos < end:
        n += 1
        if n > MAX_SKIMMED:
            raise ModelError(f"{name} has more than {MAX_SKIMMED:,} fields")
        tag, pos = _varint(data, pos, end, name, _MAX_TAG)
        number, wire = tag >> 3, tag & 7
        if number == 0 or tag > 0xFFFFFFFF:
            raise ModelError(f"{name} has a field of the number {number}")
        start = pos
        if wire == _VARINT:
            value, pos = _varint(data, pos, end, name, _MAX_NUMBER)
        elif wire == _LENGTH:
            value, pos = _size(data, pos, end, f"{number} of {name}", name)
            start, pos = pos, pos + value
        elif wire in (_FIXED32, _FIXED64):
            pos += 4 if wire == _FIXED32 else 8
            if pos > end:
                raise ModelError(f"field {number} of {name} is cut short")
        elif wire == _START and len(groups) < _MAX_GROUPS:
            groups.append(number)
        elif wire != _END or not groups or groups.pop() != number:
            raise ModelError(f"{name} has groups that do not match")
        if groups or number not in fields:
            continue
        field, kind, of, label, _ = fields[number]
        if label == "repeated" or _WIRE.get(kind, _VARINT) != wire:
            continue
        if wire == _VARINT:
            value = _NUMBERS[kind](value)
            if kind != "enum" or value in enums[of]:
                values[field] = value
        elif kind == "float":
            (values[field],) = struct.unpack_from("<f", data, start)
        elif kind == "string":
            values[field] = _text(data[start:pos])
        elif kind == "bytes":
            values[field] = data[start:pos]
    if groups:
        raise ModelError(f"{name} has groups that do not match")
    return Message(schema, name, values)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


# ------------------------------------------------------------------ the wire format


def _varint(
    data: bytes, pos: int, end: int, message: str, longest: int
) -> tuple[int, int]:
    """Read the number at `pos`; return it and the position after it.

    A number of more than 64 bits loses those above, as everywhere.
    """
    value = shift = 0
    stop = min(end, pos + longest)
    while pos < stop:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, pos
        shift += 7
    raise ModelError(
        f"a number in {message} {'is cut short' if pos == end else 'is too long'}"
    )


def _size(data: bytes, pos: int, end: int, field: str, message: str) -> tuple[int, int]:
    """Read the size of what follows; return it and the position after it."""
    size, pos = _varint(data, pos, end, message, _MAX_TAG)
    if size > end - pos:
        raise ModelError(
            f"field {field} is cut short: {size:,} bytes announced, {end - pos:,} left"
        )
    return size, pos


def _int32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (value >> 31 << 32)


# What the number on the wire becomes, for each type that is one.
_NUMBERS: dict[str, Callable[[int], int]] = {
    "bool": bool,
    "enum": _int32,
    "int32": _int32,
    "sint64": lambda value: value >> 1 ^ -(value & 1),
    "uint32": lambda value: value & 0xFFFFFFFF,
    "uint64": int,
}
# The wire types of the others.
_WIRE = {"bytes": _LENGTH, "float": _FIXED32, "message": _LENGTH, "string": _LENGTH}
