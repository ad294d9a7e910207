"""Stages, normalizers and decoders as protobuf messages, and the parts of those.

See `_model_message`, which this is a part of.
"""

from __future__ import annotations

import operator
import sys
from array import array
from types import SimpleNamespace

from pybpe._proto.pybpe_schema import ENUMS
from pybpe._typing import TYPE_CHECKING
from pybpe.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from pybpe._proto import pybpe_pb2
    from pybpe.decoders import Decoder
    from pybpe.normalizers import Replace, Step
    from pybpe.split import Stage

MAX_STATES = 4096
MAX_COMPILED_CLASSES = 255
MAX_CLASSES = 65_535
MAX_PATTERN = 1 << 20  # bytes of UTF-8
MAX_STEPS = 256  # normalizers, decoders; those of a stage likewise

# Names in Python -> numbers of the enums in the schema.
_DIALECTS = {"rust": 1, "oniguruma": 2, "regex": 3}
_BEHAVIORS = {
    "isolated": 1,
    "removed": 2,
    "merged_with_previous": 3,
    "merged_with_next": 4,
    "contiguous": 5,
}


# ------------------------------------------------------------------ writing


def write_stage(message: pybpe_pb2.Stage, stage: Stage) -> None:
    """Write a stage of a split."""
    message.pattern = stage.pattern
    message.dialect = _DIALECTS[stage.dialect]  # type: ignore[assignment]
    message.behavior = _BEHAVIORS[stage.behavior]  # type: ignore[assignment]
    message.invert = stage.invert
    message.unicode_version = stage.unicode_version
    message.class_starts = pack("I", stage.class_starts)
    message.class_ids = pack("H", stage.class_ids)
    message.n_classes = stage.n_classes
    message.n_states = stage.n_states
    message.transitions = pack("H", stage.transitions)
    message.over_bytes = stage.over_bytes
    for step in stage.before:
        write_step(message.before.add(), step)


def write_step(message: pybpe_pb2.Normalizer, step: Step) -> None:
    """Write a normalizer."""
    from pybpe import normalizers as known

    if isinstance(step, known.UnicodeForm):
        message.unicode_form.form = step.form
        message.unicode_form.unicode_version = step.version
    elif isinstance(step, known.Characters) and step.rule == "lowercase":
        message.lowercase.unicode_version = step.version
    elif isinstance(step, known.Characters):
        message.characters.rule = step.rule
        message.characters.unicode_version = step.version
    elif isinstance(step, known.Replace):
        _write_replace(message.replace, step)
    elif isinstance(step, known.Prepend):
        message.prepend.SetInParent()
        message.prepend.content = step.content
    elif isinstance(step, known.Prefix):
        message.prefix.SetInParent()
        message.prefix.content = step.content
        message.prefix.first_only = step.first_only
    elif isinstance(step, known.Strip):
        message.strip.SetInParent()
        message.strip.left = step.left
        message.strip.right = step.right
    elif isinstance(step, known.Precompiled):
        message.precompiled.table = step.table
        message.precompiled.unicode_version = step.version
    elif isinstance(step, known.CharacterRules):
        message.character_rules.SetInParent()
        message.character_rules.single = step.single
        message.character_rules.joined = step.joined
        message.character_rules.kept = step.kept
    else:
        raise ModelError(f"it has the normalizer {step!r}, which cannot be written")


def _write_replace(message: pybpe_pb2.Normalizer.Replace, step: Replace) -> None:
    message.content = step.content
    if step.stage is None:
        message.literal = step.pattern
    else:
        write_stage(message.matches, step.stage)


def write_decoder(message: pybpe_pb2.Decoder, step: Decoder) -> None:
    """Write a decoder."""
    from pybpe import decoders as known

    if isinstance(step, known.Join):
        message.join.SetInParent()
        message.join.separator = step.separator
    elif isinstance(step, known.ByteFallback):
        message.byte_fallback.SetInParent()
    elif isinstance(step, known.Fuse):
        message.fuse.SetInParent()
    elif isinstance(step, known.ByteLevel):
        message.byte_level.SetInParent()
    elif isinstance(step, known.StripCharacter):
        message.strip.content = step.content
        message.strip.start = step.start
        message.strip.stop = step.stop
    elif isinstance(step, known.ReplaceIn):
        _write_replace(message.replace, step.rule)
    elif isinstance(step, known.WordEnds):
        message.word_ends.suffix = step.suffix
    elif isinstance(step, known.Marks):
        message.marks.mark = step.mark
        message.marks.drop_first = step.drop_first
    else:
        raise ModelError(f"it has the decoder {step!r}, which cannot be written")


# ------------------------------------------------------------------ reading


def read_stage(where: str, message: pybpe_pb2.Stage) -> Stage:
    """Rebuild a stage from its tables: no pattern is compiled."""
    from pybpe.split import Stage

    dialect = name_of(_DIALECTS, message.dialect)
    if dialect is None:
        raise unsupported("pattern dialect", "Dialect", message.dialect)
    behavior = name_of(_BEHAVIORS, message.behavior)
    if behavior is None:
        raise unsupported("split behavior", "Behavior", message.behavior)
    parts = SimpleNamespace(
        pattern=message.pattern,
        dialect=dialect,
        behavior=behavior,
        unicode_version=message.unicode_version,
        class_starts=unpack("I", message.class_starts, "class starts"),
        class_ids=unpack("H", message.class_ids, "class ids"),
        n_classes=message.n_classes,
        n_states=message.n_states,
        transitions=unpack("H", message.transitions, "transitions"),
        invert=message.invert,
        over_bytes=message.over_bytes,
        before=read_steps(message.before),
    )
    check_stage(where, parts)
    if parts.n_states:
        parts.class_ids = bytes(parts.class_ids.tolist())
    try:
        return Stage(**vars(parts))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{where} is refused: {error}") from None


def read_steps(messages: Sequence[pybpe_pb2.Normalizer]) -> tuple[Step, ...]:
    """Rebuild normalizers."""
    check_number("normalizers", messages)
    try:
        return tuple(_read_step(message) for message in messages)
    except ValueError as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"a normalizer of it cannot be used: {error}") from None


def _read_step(message: pybpe_pb2.Normalizer) -> Step:
    from pybpe import normalizers as known

    which = message.WhichOneof("step")
    if which == "unicode_form":
        form = message.unicode_form
        return known.UnicodeForm(form.form, form.unicode_version)
    if which == "lowercase":
        return known.Characters("lowercase", message.lowercase.unicode_version)
    if which == "characters":
        rule = message.characters
        if rule.rule == "lowercase":
            raise ModelError("it has the rule for lower case in the wrong place")
        return known.Characters(rule.rule, rule.unicode_version)
    if which == "replace":
        return _read_replace(message.replace)
    if which == "prepend":
        return known.Prepend(message.prepend.content)
    if which == "prefix":
        return known.Prefix(message.prefix.content, message.prefix.first_only)
    if which == "strip":
        return known.Strip(message.strip.left, message.strip.right)
    if which == "precompiled":
        clusters = message.precompiled
        return known.Precompiled(clusters.table, clusters.unicode_version)
    if which == "character_rules":
        rules = message.character_rules
        return known.CharacterRules(rules.joined, rules.kept, rules.single)
    raise ModelError(
        f"it needs a normalizer ({which or 'empty'}), which this version of pybpe "
        "does not have; upgrade pybpe"
    )


def _read_replace(message: pybpe_pb2.Normalizer.Replace) -> Replace:
    from pybpe.normalizers import Replace

    if message.WhichOneof("what") != "matches":
        return Replace(message.content, message.literal)
    stage = read_stage("the pattern of a normalizer or decoder", message.matches)
    if stage.before or stage.over_bytes or stage.core_behavior:
        raise ModelError("it has a pattern to replace that does more than match")
    return Replace(message.content, stage.pattern, stage)


def read_decoders(messages: Sequence[pybpe_pb2.Decoder]) -> tuple[Decoder, ...]:
    """Rebuild decoders."""
    check_number("decoders", messages)
    try:
        return tuple(_read_decoder(message) for message in messages)
    except ValueError as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"a decoder of it cannot be used: {error}") from None


def _read_decoder(message: pybpe_pb2.Decoder) -> Decoder:
    from pybpe import decoders as known

    which = message.WhichOneof("step")
    if which == "join":
        return known.Join(message.join.separator)
    if which == "byte_fallback":
        return known.ByteFallback()
    if which == "fuse":
        return known.Fuse()
    if which == "byte_level":
        return known.ByteLevel()
    if which == "strip":
        strip = message.strip
        return known.StripCharacter(strip.content, strip.start, strip.stop)
    if which == "replace":
        return known.ReplaceIn(_read_replace(message.replace))
    if which == "word_ends" and message.word_ends.suffix:
        return known.WordEnds(message.word_ends.suffix)
    if which == "marks" and message.marks.mark:
        return known.Marks(message.marks.drop_first, message.marks.mark)
    raise ModelError(
        f"it needs a decoder ({which or 'empty'}), which this version of pybpe does "
        "not have; upgrade pybpe"
    )


# ------------------------------------------------------------------ checks and helpers


def check_number(what: str, steps: Sequence[Any]) -> None:
    """Refuse endless lists of steps."""
    if len(steps) > MAX_STEPS:
        raise ModelError(f"it has {len(steps):,} {what}; the limit is {MAX_STEPS}")


def check_stage(where: str, stage: Stage | SimpleNamespace) -> None:
    """Check what the C core is not asked to check, or not for every kind of stage."""
    check_number(f"steps before {where}", stage.before)
    if stage.dialect not in _DIALECTS:
        raise ModelError(f"{where} has the unknown dialect {stage.dialect!r}")
    if stage.behavior not in _BEHAVIORS:
        raise ModelError(f"{where} has the unknown behavior {stage.behavior!r}")
    check_text(f"the Unicode version of {where}", stage.unicode_version)
    if check_text(f"the pattern of {where}", stage.pattern) > MAX_PATTERN:
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


def check_text(what: str, text: str) -> int:
    """Refuse a string that has no UTF-8; return the size of its UTF-8 in bytes."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise ModelError(
            f"{what} has a lone surrogate, {text[error.start]!r} at {error.start}, "
            "which cannot be stored"
        ) from None


def pack(code: str, values: array[int] | bytes) -> bytes:
    """Return numbers as little-endian bytes; `code` is "I" or "H"."""
    packed = array(code, list(values) if isinstance(values, bytes) else values)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack(code: str, data: bytes, what: str) -> array[int]:
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


def counted(n: int) -> array[int]:
    """Return the numbers below `n`; for many, far faster than from a `range`."""
    data = bytearray(4 * n)
    run = 1  # how many numbers in a row have the same byte in this place
    for place in range(4):
        values = range(min(256, -(-n // run)))
        period = b"".join([bytes([value]) * run for value in values])
        run *= 256
        data[place::4] = (period * -(-n // run))[:n]
        if n <= run:
            break  # the bytes above are 0
    return unpack("I", bytes(data), "numbers")


def name_of(numbers: dict[str, int], number: int) -> str | None:
    """Return the Python name of an enum's number, if this version supports it."""
    return next((name for name, n in numbers.items() if n == number), None)


def unsupported(what: str, enum: str, number: int) -> ModelError:
    """Describe the value of an enum of the schema that this version cannot obey."""
    name = ENUMS[f"pybpe.v1.{enum}"].get(number, "unknown")
    return ModelError(
        f"it has the {what} {number} ({name}), which this version of pybpe does not "
        "support; upgrade pybpe"
    )
