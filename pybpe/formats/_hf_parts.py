"""The parts of a `tokenizer.json` around its model: from JSON to steps and stages.

Each part is an object with a "type"; "Sequence" holds several. What pybpe cannot do
exactly as Hugging Face tokenizers does is refused with the part's name and place.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from pybpe import _glyphs, _unicode_forms
from pybpe.errors import ModelError
from pybpe.formats._source import shown
from pybpe.model import NORMALIZED
from pybpe.split import Split, Stage
from pybpe.split.patterns import GPT2, literal

if TYPE_CHECKING:
    from pybpe.decoders import Decoder
    from pybpe.normalizers import CharacterRules, Precompiled, Replace, Step

MAX_DEPTH = 32
MAX_PARTS = 256

# Behaviors of the pre-tokenizer Split -> of `Stage`.
_BEHAVIORS = {
    "Isolated": "isolated",
    "Removed": "removed",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}
_ANYTHING = r"[\s\S]+"


class Part:
    """A part of the file, which knows its place for messages.

    Attributes:
        values: The object.
        kind: Its "type".
        place: Where it stands, such as "normalizer.normalizers[1]".
    """

    def __init__(self, values: dict[str, Any], place: str) -> None:
        """Keep an object of the file.

        Raises:
            ModelError: It is no object, or has no type.
        """
        if not isinstance(values, dict):
            raise ModelError(f"its {place} must be an object, and is {shown(values)}")
        self.values = values
        self.place = place
        self.kind = self.get("type", str)

    def error(self, why: str) -> ModelError:
        """Return the error about this part."""
        return ModelError(f"its {self.place} ({self.kind}) {why}")

    def unsupported(self) -> ModelError:
        """Return the error about a part of a kind that pybpe does not have."""
        return self.error(
            "is something that pybpe cannot do exactly as tokenizers does"
        )

    def get(self, name: str, kind: type, default: Any = None) -> Any:
        """Return a value of the part.

        Args:
            name: Its key.
            kind: What it must be.
            default: What stands for a missing one; None if it must be there.

        Raises:
            ModelError: It is missing or something else.
        """
        value = self.values.get(name, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ModelError(
                f"{name!r} of its {self.place} must be a {kind.__name__}, and is "
                f"{shown(value)}"
            )
        if isinstance(value, str):
            _check_text(value, f"{name!r} of its {self.place}")
        return value

    def raw(self, name: str) -> Any:
        """Return a value of any kind; None if it is missing."""
        return self.values.get(name)


def _check_text(text: str, what: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ModelError(f"{what} holds a lone surrogate: {shown(text)}") from None


def flattened(values: Any, place: str, members: str, depth: int = 0) -> Iterator[Part]:
    """Yield a part, or the parts of a sequence, or nothing for null.

    Args:
        values: An object of the file, or None.
        place: Where it stands.
        members: The key under which a sequence of such parts holds them.
        depth: How deep the sequence is nested.
    """
    if values is None:
        return
    part = Part(values, place)
    if part.kind != "Sequence":
        yield part
        return
    if depth >= MAX_DEPTH:
        raise part.error("is nested too deeply")
    inner = part.get(members, list)
    if len(inner) > MAX_PARTS:
        raise part.error(f"has {len(inner)} parts; the limit is {MAX_PARTS}")
    for i, value in enumerate(inner):
        yield from flattened(value, f"{place}.{members}[{i}]", members, depth + 1)


def _pattern(part: Part) -> tuple[str, bool]:
    """Return the "pattern" of a part, and whether it is a regular expression."""
    value = part.raw("pattern")
    if isinstance(value, dict) and len(value) == 1:
        kind, text = next(iter(value.items()))
        if kind in ("String", "Regex") and isinstance(text, str):
            _check_text(text, f"the pattern of its {part.place}")
            if not text:
                raise part.error("has an empty pattern, which would match everywhere")
            return text, kind == "Regex"
    raise part.error(
        f'has a pattern that is no {{"String": ...}} or {{"Regex": ...}}: '
        f"{shown(value)}"
    )


def _stage(
    part: Part,
    pattern: str,
    behavior: str = "isolated",
    invert: bool = False,
    dialect: str = "oniguruma",
) -> Stage:
    try:
        return Stage.compile(pattern, dialect, behavior=behavior, invert=invert)
    except ValueError as error:
        raise part.error(f"cannot be used: {error}") from None


def _replace(part: Part) -> Replace:
    from pybpe.normalizers import Replace

    pattern, is_regex = _pattern(part)
    content = part.get("content", str)
    stage = _stage(part, pattern) if is_regex else None
    return Replace(content, pattern, stage)


# ------------------------------------------------------------------ normalizers


def normalizers(values: Any) -> tuple[Step, ...]:
    """Return the steps of the normalizer."""
    from pybpe import normalizers as steps

    found: list[Step] = []
    parts = list(flattened(values, "normalizer", "normalizers"))
    skipped = 0
    for i, part in enumerate(parts):
        if skipped:
            skipped -= 1
            continue
        if part.kind == "Replace" and (rules := _character_rules(parts[i:])):
            step, n = rules
            found.append(step)
            skipped = n - 1
        elif part.kind in _unicode_forms.FORMS:
            found.append(steps.UnicodeForm(part.kind))
        elif part.kind == "Lowercase":
            found.append(steps.Characters("lowercase"))
        elif part.kind == "StripAccents":
            found.append(steps.Characters("accents"))
        elif part.kind == "Nmt":
            found.append(steps.Characters("nmt"))
        elif part.kind == "Replace":
            found.append(_replace(part))
        elif part.kind == "Prepend":
            found.append(steps.Prepend(part.get("prepend", str)))
        elif part.kind == "Strip":
            left, right = part.get("strip_left", bool), part.get("strip_right", bool)
            found.append(steps.Strip(left, right))
        elif part.kind == "Precompiled":
            found.append(_precompiled(part))
        else:
            raise part.unsupported()
    return tuple(found)


def _character_rules(parts: list[Part]) -> tuple[CharacterRules, int] | None:
    """Return what pybpe's steps for a character map do, and how many they are."""
    if not any(part.kind == "Precompiled" for part in parts):
        return None
    from pybpe.formats import _map_steps

    return _map_steps.read([part.values for part in parts])


def _precompiled(part: Part) -> Precompiled:
    import base64

    from pybpe.normalizers import Precompiled

    text = part.get("precompiled_charsmap", str)
    try:
        return Precompiled(base64.b64decode(text, validate=True))
    except ValueError as error:
        raise part.error(f"cannot be used: {error}") from None


# ------------------------------------------------------------------ pre-tokenizers


class PreTokenizer(NamedTuple):
    """What the pre-tokenizer does.

    Attributes:
        split: The stages.
        byte_level: Whether tokens are made of bytes, written as GPT-2 does.
    """

    split: Split
    byte_level: bool


class _Stages:
    """Collects stages, and the steps that go before the next one."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []
        self.steps: list[Step] = []
        self.byte_level = False

    def add(self, part: Part, stage: Stage) -> None:
        if self.byte_level:
            stage = _over_bytes(part, stage)
        if self.steps:
            stage = stage.with_steps(tuple(self.steps))
            self.steps = []
        self.stages.append(stage)

    def change(self, part: Part, *steps: Step) -> None:
        if self.byte_level:
            raise part.error(
                "comes after ByteLevel and changes text; pybpe has bytes there"
            )
        self.steps += steps

    def finish(self) -> PreTokenizer:
        if self.steps:
            last = Stage.compile(_ANYTHING, "oniguruma").with_steps(tuple(self.steps))
            self.stages.append(last)
        return PreTokenizer(Split(self.stages), self.byte_level)


def pre_tokenizer(values: Any) -> PreTokenizer:
    """Return what the pre-tokenizer does."""
    stages = _Stages()
    for part in flattened(values, "pre_tokenizer", "pretokenizers"):
        if part.kind == "ByteLevel":
            _byte_level(part, stages)
        elif part.kind == "Metaspace":
            _metaspace(part, stages)
        elif part.kind == "BertPreTokenizer":
            stages.add(part, _stage(part, r"\s", "removed", dialect="rust"))
            stages.add(part, _stage(part, _punctuation()))
        else:
            stages.add(part, _simple_stage(part))
    return stages.finish()


def _simple_stage(part: Part) -> Stage:
    """Return the stage of a pre-tokenizer that is no more than that."""
    if part.kind == "Split":
        pattern, is_regex = _pattern(part)
        if not is_regex:
            pattern = literal(pattern)
        invert = part.get("invert", bool, False)
        return _stage(part, pattern, _behavior(part, None), invert)
    if part.kind == "Digits":
        digits = _unicode_forms.bracket_class(_unicode_forms.char_set("digits"))
        one = part.get("individual_digits", bool)
        return _stage(part, digits if one else digits + "+")
    if part.kind == "Punctuation":
        return _stage(part, _punctuation(), _behavior(part, "Isolated"))
    if part.kind == "Whitespace":
        return _stage(part, r"\w+|[^\w\s]+", "removed", True, "rust")
    if part.kind == "WhitespaceSplit":
        return _stage(part, r"\s", "removed", dialect="rust")
    if part.kind == "CharDelimiterSplit":
        delimiter = part.get("delimiter", str)
        if len(delimiter) != 1:
            raise part.error(f"has the delimiter {shown(delimiter)}, not one character")
        return _stage(part, literal(delimiter), "removed")
    if part.kind == "FixedLength":
        length = part.get("length", int, 5)
        if not 0 < length <= 1000:
            raise part.error(f"has the length {length}; pybpe takes 1 to 1,000")
        return _stage(part, rf"[\s\S]{{1,{length}}}")
    raise part.unsupported()


def _behavior(part: Part, default: str | None) -> str:
    name = part.get("behavior", str, default)
    if name not in _BEHAVIORS:
        raise part.error(f"has the unknown behavior {shown(name)}")
    return _BEHAVIORS[name]


def _punctuation() -> str:
    return _unicode_forms.bracket_class(_unicode_forms.char_set("punctuation"))


def _byte_level(part: Part, stages: _Stages) -> None:
    if stages.byte_level:
        raise part.error("comes after another ByteLevel")
    if part.get("add_prefix_space", bool):
        from pybpe.normalizers import Prefix

        stages.change(part, Prefix(" "))
    if part.get("use_regex", bool, True):
        stages.add(part, _stage(part, GPT2))
    elif stages.steps:
        stages.add(part, _stage(part, _ANYTHING))
    stages.byte_level = True


def _metaspace(part: Part, stages: _Stages) -> None:
    from pybpe.normalizers import Prefix, Replace

    mark, scheme = metaspace(part)
    stages.change(part, Replace(mark, " "))
    if scheme != "never":
        stages.change(part, Prefix(mark, scheme == "first"))
    if part.get("split", bool, True):
        stages.add(part, _stage(part, literal(mark), "merged_with_next"))
    else:
        stages.add(part, _stage(part, _ANYTHING))


def metaspace(part: Part) -> tuple[str, str]:
    """Return the mark and the prepend scheme of a Metaspace part."""
    mark = part.get("replacement", str)
    if len(mark) != 1:
        raise part.error(f"has the replacement {shown(mark)}, not one character")
    prefix = part.raw("add_prefix_space")
    default = "never" if prefix is False else "always"
    scheme: str = part.get("prepend_scheme", str, default)
    if scheme not in ("always", "first", "never"):
        raise part.error(f"has the unknown prepend_scheme {shown(scheme)}")
    if prefix is False and scheme != "never":
        raise part.error(
            f"has add_prefix_space false, but the prepend_scheme {scheme!r}"
        )
    return mark, scheme


def check_first(split: Split, steps: tuple[Step, ...], flags: Iterable[int]) -> None:
    """Refuse what makes it unclear which pieces are the beginning of the text.

    Metaspace's prepend_scheme "first" is about pieces that begin where the given text
    does. `tokenizers` goes by offsets, so that several pieces may count as first when
    a normalizer makes several characters of one, or of none.

    Raises:
        ModelError: Naming the parts.
    """
    from pybpe import normalizers as known

    places = [
        i
        for i, stage in enumerate(split.stages)
        for step in stage.before
        if isinstance(step, known.Prefix) and step.first_only
    ]
    if not places:
        return
    later_cuts = places[-1] > 0 or any(flag & NORMALIZED for flag in flags)
    several = False  # whether several characters may begin where the given text does
    for step in steps:
        makes_several = (
            isinstance(step, (known.Prepend, known.Precompiled))
            or (isinstance(step, known.UnicodeForm) and step.form != "NFC")
            or (isinstance(step, known.Characters) and step.rule == "lowercase")
        )
        if isinstance(step, known.Replace):
            unclear = (
                later_cuts
                or several
                or step.stage is not None
                or step.pattern[1:] != ""
            )
        elif isinstance(step, known.CharacterRules):
            unclear = True
        elif makes_several:
            unclear = later_cuts
        else:
            unclear = several and not isinstance(step, known.UnicodeForm)
        several = several or makes_several
        if unclear:
            raise ModelError(
                'its pre_tokenizer has a Metaspace with the prepend_scheme "first", '
                f"and its normalizer a {type(step).__name__}; pybpe cannot combine the "
                "two here exactly as tokenizers does"
            )


def _over_bytes(part: Part, stage: Stage) -> Stage:
    """Return a stage that sees bytes as ByteLevel writes them: one character each."""
    if not stage.compiled:
        raise part.error(
            "comes after ByteLevel, with a pattern that has no tables: " + stage.reason
        )
    from bisect import bisect_right

    starts, classes = stage.class_starts, bytes(stage.class_ids)
    of_byte = [
        classes[bisect_right(starts, ord(char)) - 1] for char in _glyphs.CHARACTERS
    ]
    ascending = [i for i in range(256) if i == 0 or of_byte[i] != of_byte[i - 1]]
    return Stage(
        pattern=stage.pattern,
        dialect=stage.dialect,
        behavior=stage.behavior,
        unicode_version=stage.unicode_version,
        class_starts=array("I", ascending),
        class_ids=bytes(of_byte[i] for i in ascending),
        n_classes=stage.n_classes,
        n_states=stage.n_states,
        transitions=stage.transitions,
        invert=stage.invert,
        over_bytes=True,
    )


# ------------------------------------------------------------------ decoders


def decoders(values: Any, byte_level: bool) -> tuple[Decoder, ...]:
    """Return the decoders; none where tokens are bytes and are put together as such."""
    from pybpe import decoders as known

    found: list[Decoder] = []
    for part in flattened(values, "decoder", "decoders"):
        if byte_level:
            if part.kind not in ("ByteLevel", "Fuse"):
                raise part.error("decodes something other than a byte-level vocabulary")
            continue
        if part.kind == "ByteLevel":
            found.append(known.ByteLevel())
        elif part.kind == "ByteFallback":
            found.append(known.ByteFallback())
        elif part.kind == "Fuse":
            found.append(known.Fuse())
        elif part.kind == "Strip":
            found.append(_strip(part))
        elif part.kind == "Replace":
            found.append(known.ReplaceIn(_replace(part)))
        elif part.kind == "Metaspace":
            mark, scheme = metaspace(part)
            found.append(known.Marks(scheme != "never", mark))
        elif part.kind == "BPEDecoder":
            found.append(known.WordEnds(_suffix(part)))
        else:
            raise part.unsupported()
    if not byte_level and values is None:
        return (known.Join(" "),)
    return tuple(found)


def _suffix(part: Part) -> str:
    suffix: str = part.get("suffix", str)
    if not suffix:
        raise part.error("has an empty suffix")
    return suffix


def _strip(part: Part) -> Decoder:
    from pybpe.decoders import StripCharacter

    try:
        return StripCharacter(
            part.get("content", str), part.get("start", int), part.get("stop", int)
        )
    except ValueError as error:
        raise part.error(str(error)) from None


# ------------------------------------------------------------------ post-processors


class Around(NamedTuple):
    """The ids that go around a text.

    Attributes:
        before: Those before it.
        after: Those behind it.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]


def post_processor(values: Any) -> Around:
    """Return the ids that the post-processor puts around a single text."""
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    for part in flattened(values, "post_processor", "processors"):
        if part.kind == "ByteLevel":
            continue  # It is about offsets.
        if part.kind == "TemplateProcessing":
            added = _template(part)
        elif part.kind in ("RobertaProcessing", "BertProcessing"):
            added = Around((_pair_id(part, "cls"),), (_pair_id(part, "sep"),))
        else:
            raise part.unsupported()
        before, after = added.before + before, after + added.after
    return Around(before, after)


def _template(part: Part) -> Around:
    """Return what a template for a single text adds."""
    sides: list[list[int]] = [[]]
    tokens = part.get("special_tokens", dict)
    for piece in part.get("single", list):
        kind, value = next(iter(piece.items())) if _is_pair(piece) else ("", {})
        name = value.get("id")
        if kind == "Sequence" and name == "A" and len(sides) == 1:
            sides.append([])
        elif kind == "SpecialToken" and name in tokens:
            sides[-1] += _token_ids(part, tokens[name])
        else:
            raise part.error(
                f"has a template that pybpe does not follow, at {shown(piece)}"
            )
    if len(sides) != 2:
        raise part.error("has a template without the text itself")
    return Around(tuple(sides[0]), tuple(sides[1]))


def _is_pair(piece: Any) -> bool:
    return (
        isinstance(piece, dict)
        and len(piece) == 1
        and isinstance(next(iter(piece.values())), dict)
        and isinstance(next(iter(piece.values())).get("id"), str)
    )


def _token_ids(part: Part, token: Any) -> list[int]:
    ids = token.get("ids") if isinstance(token, dict) else None
    if not isinstance(ids, list) or not all(type(number) is int for number in ids):
        raise part.error(f"has a special token without ids: {shown(token)}")
    return ids


def _pair_id(part: Part, name: str) -> int:
    value = part.raw(name)
    if not (isinstance(value, list) and len(value) == 2 and type(value[1]) is int):
        raise part.error(f"has no [token, id] under {name!r}: {shown(value)}")
    number: int = value[1]
    return number
