"""The parts of a `tokenizer.json` around its model: from steps and stages to JSON.

The reverse of `pybpe.formats._hf_parts`, which says what each part means.
"""

from __future__ import annotations

import base64
from typing import Any

from pybpe import decoders as known_decoders
from pybpe import normalizers as known_steps
from pybpe.decoders import Decoder
from pybpe.errors import ModelError
from pybpe.formats._source import shown
from pybpe.normalizers import CharacterRules, Replace, Step
from pybpe.split import Split, Stage
from pybpe.split.patterns import GPT2, literal
from pybpe.split.same import same_matches
from pybpe.writers._patterns import translated

Json = dict[str, Any]

_BEHAVIORS = {
    "isolated": "Isolated",
    "removed": "Removed",
    "merged_with_previous": "MergedWithPrevious",
    "merged_with_next": "MergedWithNext",
    "contiguous": "Contiguous",
}
_RULES = {"lowercase": "Lowercase", "accents": "StripAccents", "nmt": "Nmt"}
_ANYTHING = r"[\s\S]+"
# The one part that uses Rust's regex engine, whose word characters are others.
_WHITESPACE = (r"\w+|[^\w\s]+", "rust", "removed", True)


def _sequence(parts: list[Json], members: str) -> Json | None:
    """Return parts as one: nothing, itself, or a sequence."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return {"type": "Sequence", members: parts}


def _byte_level(prefix: bool, regex: bool) -> Json:
    return {
        "type": "ByteLevel",
        "add_prefix_space": prefix,
        "trim_offsets": True,
        "use_regex": regex,
    }


# ------------------------------------------------------------------ normalizers


def normalizer(steps: tuple[Step, ...]) -> Json | None:
    """Return the normalizer.

    Raises:
        ModelError: Hugging Face has no such step.
    """
    parts: list[Json] = []
    for step in steps:
        if isinstance(step, known_steps.CharacterRules):
            parts += _character_rules(step)
        else:
            parts.append(_step(step))
    return _sequence(parts, "normalizers")


def _character_rules(step: CharacterRules) -> list[Json]:
    """Return the steps that do what rules for characters say.

    Raises:
        ModelError: There are none, or not only such.
    """
    from pybpe.formats import _map_steps

    parts = _map_steps.written(step)
    if parts is None:
        raise ModelError(f"a tokenizer.json has no steps that do what {step!r} does")
    return parts


def _step(step: Step) -> Json:
    if isinstance(step, known_steps.UnicodeForm):
        return {"type": step.form}
    if isinstance(step, known_steps.Characters):
        return {"type": _RULES[step.rule]}
    if isinstance(step, Replace):
        return _replace(step)
    if isinstance(step, known_steps.Precompiled):
        table = base64.b64encode(step.table).decode()
        return {"type": "Precompiled", "precompiled_charsmap": table}
    if isinstance(step, known_steps.Prepend):
        return {"type": "Prepend", "prepend": step.content}
    if isinstance(step, known_steps.Strip):
        return {"type": "Strip", "strip_left": step.left, "strip_right": step.right}
    raise ModelError(f"a tokenizer.json cannot hold the step {step!r} at this place")


def _replace(step: Replace) -> Json:
    pattern = {"String": step.pattern}
    if step.stage is not None:
        pattern = {"Regex": translated(step.stage, "oniguruma")}
    return {"type": "Replace", "pattern": pattern, "content": step.content}


# ------------------------------------------------------------------ pre-tokenizers


def pre_tokenizer(split: Split, byte_level: bool) -> Json | None:
    """Return the pre-tokenizer.

    Args:
        split: The split.
        byte_level: Whether tokens are made of bytes.

    Raises:
        ModelError: Hugging Face cannot split like this.
    """
    parts: list[Json] = []
    stages = split.stages
    # The last stage that sees text rather than bytes: ByteLevel comes with it.
    last = sum(not stage.over_bytes for stage in stages) - 1
    for i, stage in enumerate(stages):
        if stage.over_bytes == (i <= last) or (stage.over_bytes and not byte_level):
            raise ModelError(
                "its split has a stage over bytes before one over text, and a "
                "tokenizer.json turns text into bytes once"
            )
        if i == last and byte_level and (part := _as_byte_level(stage)) is not None:
            parts.append(part)
            continue
        parts += _parts_of(stage)
        if i == last and byte_level:
            parts.append(_byte_level(False, False))
    if last < 0 and byte_level:
        parts.insert(0, _byte_level(False, False))
    return _sequence(parts, "pretokenizers")


def _as_byte_level(stage: Stage) -> Json | None:
    """Return a stage as one that ByteLevel does itself, or None if it does not."""
    prefixes = ((), (known_steps.Prefix(" "),))
    if stage.behavior != "isolated" or stage.before not in prefixes:
        return None
    prefix = stage.before != ()
    if same_matches(stage, GPT2, "oniguruma"):
        return _byte_level(prefix, True)
    if prefix and same_matches(stage, _ANYTHING, "oniguruma"):
        return _byte_level(True, False)
    return None


def _parts_of(stage: Stage) -> list[Json]:
    """Return the pre-tokenizers that do what a stage does."""
    if not stage.before:
        rule = (stage.pattern, stage.dialect, stage.behavior, stage.invert)
        if rule == _WHITESPACE:
            return [{"type": "Whitespace"}]
        return [_split(stage)]
    part = _metaspace(stage)
    if part is None:
        raise ModelError(
            f"a tokenizer.json has nothing that changes text as the stage "
            f"{shown(stage.pattern)} of its split does: {stage.before!r}"
        )
    return [part]


def _split(stage: Stage) -> Json:
    return {
        "type": "Split",
        "pattern": {"Regex": translated(stage, "oniguruma")},
        "behavior": _BEHAVIORS[stage.behavior],
        "invert": stage.invert,
    }


def _metaspace(stage: Stage) -> Json | None:
    """Return a stage that marks spaces, as the part that does it."""
    replace, *more = stage.before
    if not (
        isinstance(replace, Replace)
        and replace.stage is None
        and replace.pattern == " "
        and len(replace.content) == 1
    ):
        return None
    mark, scheme = replace.content, "never"
    if more:
        prefix = more[0]
        if len(more) > 1 or not isinstance(prefix, known_steps.Prefix):
            return None
        if prefix.content != mark:
            return None
        scheme = "first" if prefix.first_only else "always"
    if stage.invert:
        return None
    if stage.behavior == "merged_with_next":
        cuts = True
        wanted = literal(mark)
    elif stage.behavior == "isolated":
        cuts = False
        wanted = _ANYTHING
    else:
        return None
    if not same_matches(stage, wanted, "oniguruma"):
        return None
    return {
        "type": "Metaspace",
        "replacement": mark,
        "prepend_scheme": scheme,
        "split": cuts,
    }


# ------------------------------------------------------------------ decoders


def decoder(decoders: tuple[Decoder, ...], byte_level: bool) -> Json | None:
    """Return the decoder.

    Raises:
        ModelError: Hugging Face has no such decoder.
    """
    if byte_level and not decoders:
        return _byte_level(False, True)
    if decoders == (known_decoders.Join(" "),):
        return None
    parts = [_decoder(part) for part in decoders]
    return _sequence(parts, "decoders") or {"type": "Sequence", "decoders": []}


def _decoder(part: Decoder) -> Json:
    if isinstance(part, known_decoders.ByteLevel):
        return _byte_level(False, True)
    if isinstance(part, known_decoders.ByteFallback):
        return {"type": "ByteFallback"}
    if isinstance(part, known_decoders.Fuse):
        return {"type": "Fuse"}
    if isinstance(part, known_decoders.StripCharacter):
        return {
            "type": "Strip",
            "content": part.content,
            "start": part.start,
            "stop": part.stop,
        }
    if isinstance(part, known_decoders.ReplaceIn):
        return _replace(part.rule)
    if isinstance(part, known_decoders.Marks):
        return {
            "type": "Metaspace",
            "replacement": part.mark,
            "prepend_scheme": "always" if part.drop_first else "never",
            "split": True,
        }
    if isinstance(part, known_decoders.WordEnds):
        return {"type": "BPEDecoder", "suffix": part.suffix}
    raise ModelError(f"a tokenizer.json cannot hold the decoder {part!r} at this place")


# ------------------------------------------------------------------ post-processors


def post_processor(
    before: tuple[int, ...], after: tuple[int, ...], names: dict[int, str]
) -> Json | None:
    """Return what puts ids around texts.

    Args:
        before: The ids before a text.
        after: Those behind it.
        names: What each of them is called.
    """
    if not before and not after:
        return None

    def around(text: str, type_id: int) -> list[Json]:
        def special(number: int) -> Json:
            return {"SpecialToken": {"id": names[number], "type_id": type_id}}

        return [
            *map(special, before),
            {"Sequence": {"id": text, "type_id": type_id}},
            *map(special, after),
        ]

    return {
        "type": "TemplateProcessing",
        "single": around("A", 0),
        "pair": around("A", 0) + around("B", 1),
        "special_tokens": {
            names[number]: {
                "id": names[number],
                "ids": [number],
                "tokens": [names[number]],
            }
            for number in sorted({*before, *after})
        },
    }
