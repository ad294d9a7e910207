"""Changes made to text before it is split, as Hugging Face tokenizers defines them.

A `Step` is immutable data, equal and hashed by content, and a function from text to
text. Bytes that are no UTF-8 come as lone surrogates ("surrogateescape"); no step
touches them.
"""

from __future__ import annotations

from pybpe import _unicode_forms
from pybpe._typing import TYPE_CHECKING
from pybpe.split import charset

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar, NoReturn

    from pybpe import _character_maps
    from pybpe.split import Stage

WHITE_SPACE = "".join(
    chr(c)
    for low, high in zip(
        charset.white_space()[::2], charset.white_space()[1::2], strict=True
    )
    for c in range(low, high)
)


class Step:
    """One change to a text.

    Attributes:
        local: Whether a text that the step leaves as it is may be cut anywhere, and
            the step leaves the parts as they are, too.
    """

    __slots__ = ()
    local: ClassVar[bool] = False

    def parts(self) -> tuple[Any, ...]:
        """Return what the step is made of."""
        names: tuple[str, ...] = self.__slots__
        return tuple(getattr(self, name) for name in names)

    def apply(self, text: str, first: bool = True) -> str:
        """Return the changed text.

        Args:
            text: What to change.
            first: Whether it is the beginning of what the caller wants to encode.
        """
        raise NotImplementedError

    def keeps_start(self, text: str) -> bool:
        """Tell whether the first character of the result comes from the first one."""
        return True

    def leaves(self, data: bytes) -> bool:
        """Tell at a glance that a text in UTF-8 stays as it is; False if in doubt."""
        return False

    def __eq__(self, other: object) -> bool:
        """Compare by content."""
        if not isinstance(other, Step):
            return NotImplemented
        return type(self) is type(other) and self.parts() == other.parts()

    def __hash__(self) -> int:
        """Hash by content."""
        return hash((type(self), self.parts()))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: steps are shared."""
        raise AttributeError(f"a {type(self).__name__} is immutable: {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by content."""
        return type(self), self.parts()

    def __repr__(self) -> str:
        """Show the step as it is made."""
        return f"{type(self).__name__}{self.parts()!r}"

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


class UnicodeForm(Step):
    """One of the Unicode normal forms.

    Attributes:
        form: "NFC", "NFD", "NFKC" or "NFKD".
        version: Whose tables they are.
    """

    __slots__ = ("form", "version")
    local = True
    form: str
    version: str

    def __init__(self, form: str, version: str | None = None) -> None:
        """Make the step; the tables are always those of the package.

        Raises:
            ValueError: There is no such form, or its tables are not in the package.
        """
        if form not in _unicode_forms.FORMS:
            raise ValueError(
                f"{form!r} is none of the forms {', '.join(_unicode_forms.FORMS)}"
            )
        self._set(form=form, version=_known_version(version))

    def apply(self, text: str, first: bool = True) -> str:
        """Return the normal form."""
        return text if text.isascii() else _unicode_forms.form(self.form)(text)

    def leaves(self, data: bytes) -> bool:
        """ASCII is in all normal forms."""
        return data.isascii()


class Characters(Step):
    """A rule for single characters.

    Attributes:
        rule: "lowercase"; "accents", which takes combining marks out; or "nmt", which
            takes control characters out and makes other unusual ones spaces.
        version: Whose tables they are.
    """

    __slots__ = ("rule", "version")
    local = True
    RULES: ClassVar[tuple[str, ...]] = ("lowercase", "accents", "nmt")
    rule: str
    version: str

    def __init__(self, rule: str, version: str | None = None) -> None:
        """Make the step.

        Raises:
            ValueError: There is no such rule, or its tables are not in the package.
        """
        if rule not in self.RULES:
            raise ValueError(f"{rule!r} is none of the rules {', '.join(self.RULES)}")
        self._set(rule=rule, version=_known_version(version))

    def apply(self, text: str, first: bool = True) -> str:
        """Return the text with each character changed by the rule."""
        if text.isascii() and self.rule != "nmt":
            return text.lower() if self.rule == "lowercase" else text
        return text.translate(_unicode_forms.mapping(self.rule))

    def keeps_start(self, text: str) -> bool:
        """Tell whether the first character stays, in whatever form."""
        return bool(self.apply(text[:1]))

    def leaves(self, data: bytes) -> bool:
        """Know it of ASCII."""
        if self.rule == "accents":
            return data.isascii()
        return self.rule == "lowercase" and data.isascii() and data == data.lower()


class Replace(Step):
    """Every match of a pattern becomes another string.

    Attributes:
        pattern: A string that is not empty, or a regular expression.
        content: What takes its place, as it is.
        stage: The compiled expression; None if the pattern is a plain string.
    """

    __slots__ = ("content", "pattern", "stage")
    pattern: str
    content: str
    stage: Stage | None

    def __init__(self, content: str, pattern: str, stage: Stage | None = None) -> None:
        """Make the step; `stage` must be compiled from `pattern`.

        Raises:
            ValueError: The pattern is empty.
        """
        if not pattern:
            raise ValueError("an empty pattern would match everywhere")
        self._set(content=content, pattern=pattern, stage=stage)

    def apply(self, text: str, first: bool = True) -> str:
        """Return the text with all matches replaced, found from left to right."""
        if self.stage is None:
            return text.replace(self.pattern, self.content)
        pieces = []
        at = 0
        for start, end in match_spans(self.stage, text):
            pieces += [text[at:start], self.content]
            at = end
        pieces.append(text[at:])
        return "".join(pieces)

    def keeps_start(self, text: str) -> bool:
        """Tell whether the text begins with something that is not taken out.

        What takes the place of several characters counts as made from the last one.
        """
        if self.stage is None:
            end = len(self.pattern) if text.startswith(self.pattern) else 0
        else:
            spans = match_spans(self.stage, text)
            end = spans[0][1] if spans and spans[0][0] == 0 else 0
        return end == 0 or (end == 1 and bool(self.content))

    def leaves(self, data: bytes) -> bool:
        """Tell whether a plain string does not occur."""
        return self.stage is None and self.pattern.encode() not in data


class Prepend(Step):
    """A string put before a text that is not empty.

    Attributes:
        content: The string.
    """

    __slots__ = ("content",)
    content: str

    def __init__(self, content: str) -> None:
        """Make the step."""
        self._set(content=content)

    def apply(self, text: str, first: bool = True) -> str:
        """Return the longer text."""
        return self.content + text if text else text


class Prefix(Step):
    """A string put before a text that is not empty and does not begin with it.

    Attributes:
        content: The string.
        first_only: Whether it is put before the beginning of the whole text only.
    """

    __slots__ = ("content", "first_only")
    content: str
    first_only: bool

    def __init__(self, content: str, first_only: bool = False) -> None:
        """Make the step."""
        self._set(content=content, first_only=first_only)

    def apply(self, text: str, first: bool = True) -> str:
        """Return the text with the prefix."""
        if not text or text.startswith(self.content) or (self.first_only and not first):
            return text
        return self.content + text


class Strip(Step):
    """White space taken away from the ends.

    Attributes:
        left: Whether from the beginning.
        right: Whether from the end.
    """

    __slots__ = ("left", "right")
    left: bool
    right: bool

    def __init__(self, left: bool, right: bool) -> None:
        """Make the step."""
        self._set(left=left, right=right)

    def apply(self, text: str, first: bool = True) -> str:
        """Return the shorter text."""
        if self.left:
            text = text.lstrip(WHITE_SPACE)
        return text.rstrip(WHITE_SPACE) if self.right else text

    def keeps_start(self, text: str) -> bool:
        """Tell whether there is nothing to take away from the beginning."""
        return not (self.left and text[:1] and text[:1] in WHITE_SPACE)


class Precompiled(Step):
    """A character map, applied to what readers take for one character at a time.

    A cluster of up to 5 bytes becomes what the shortest rule makes of its beginning;
    the rest of it is lost. Where there is no such rule, and in longer clusters, it is
    each character by itself that is looked up.

    Attributes:
        table: The map as sentencepiece compiles it.
        version: Whose Unicode tables tell what a cluster is.
    """

    __slots__ = ("table", "version")
    table: bytes
    version: str

    def __init__(self, table: bytes, version: str | None = None) -> None:
        """Make the step.

        Raises:
            ValueError: The map is damaged, or the tables are not in the package.
        """
        from pybpe import _character_maps, _clusters

        _character_maps.read_table(table)
        self._set(table=table, version=_known_version(version, _clusters.source()))

    def apply(self, text: str, first: bool = True) -> str:
        """Return the text with every cluster looked up."""
        return self._map().apply(text)

    def pieces(self, text: str) -> Iterable[tuple[int, int, str]]:
        """Yield the parts of a text, from where to where, and what each becomes."""
        return self._map().pieces(text)

    def leaves(self, data: bytes) -> bool:
        """Know it of ASCII."""
        return data.isascii() and not data.translate(None, self._map().ascii_others)

    def __repr__(self) -> str:
        """Show how large the map is."""
        return f"Precompiled(<{len(self.table):,} bytes>, {self.version!r})"

    def _map(self) -> _character_maps.ClusterMap:
        from pybpe import _character_maps

        return _character_maps.cluster_map(self.table)


class CharacterRules(Step):
    """Rules for characters, found from left to right, the longest first.

    This is what sentencepiece does by a character map. First each character becomes
    something. Then those that became one character are put together with what stands
    beside them, if there is a rule for that.

    Attributes:
        single: Characters and what each becomes, sorted, with NUL behind every string.
        joined: Likewise strings of several characters, of those that are made by then.
        kept: Strings with which nothing that stands behind them is put together, also
            with NUL behind each.
    """

    __slots__ = ("joined", "kept", "single")
    single: str
    joined: str
    kept: str

    def __init__(self, joined: str, kept: str, single: str) -> None:
        """Make the step.

        Raises:
            ValueError: The rules are not of this kind.
        """
        self._set(single=single, joined=joined, kept=kept)
        self._map()

    def apply(self, text: str, first: bool = True) -> str:
        """Return the text as the rules change it."""
        return self._map().apply(text)

    def pieces(self, text: str) -> Iterable[tuple[int, int, str]]:
        """Yield the parts of a text, from where to where, and what each becomes."""
        return self._map().pieces(text)

    def keeps_start(self, text: str) -> bool:
        """Tell whether anything is left of the first characters."""
        return all(piece for begin, _, piece in self.pieces(text[:64]) if not begin)

    def leaves(self, data: bytes) -> bool:
        """Know it of ASCII."""
        return data.isascii() and not data.translate(None, self._map().ascii_others)

    def __repr__(self) -> str:
        """Show how many rules there are."""
        n_single, n_joined = self.single.count("\0") // 2, self.joined.count("\0") // 2
        kept = f", {self.kept!r}" if self.kept else ""
        return f"CharacterRules(<{n_single:,} and {n_joined:,} rules>{kept})"

    def _map(self) -> _character_maps.RuleMap:
        from pybpe import _character_maps

        return _character_maps.rule_map(self.single, self.joined, self.kept)


def _known_version(version: str | None, ours: str | None = None) -> str:
    """Return the version of the package's tables, those of normal forms if not others.

    Raises:
        ValueError: Another one is asked for.
    """
    ours = ours or _unicode_forms.source()
    if version not in (None, ours):
        raise ValueError(
            f"it needs the Unicode tables of {version!r}; this version of pybpe has "
            f"those of {ours!r}"
        )
    return ours


def match_spans(stage: Stage, text: str) -> list[tuple[int, int]]:
    """Return where a pattern matches, in characters."""
    if not text.isascii():
        plain = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    else:
        plain = text
    if not stage.compiled or len(plain) < 64:
        return stage.match_spans(plain)
    from pybpe import _binding

    data = plain.encode()
    only_matches = stage.with_behavior("removed", invert=True)
    starts, ends = _binding.split_spans(_binding.new_split([only_matches]), data)
    if len(data) == len(plain):
        return list(zip(starts, ends, strict=True))
    spans = []
    at = index = 0
    for start, end in zip(starts, ends, strict=True):
        index += len(data[at:start].decode())
        begin = index
        index += len(data[start:end].decode())
        spans.append((begin, index))
        at = end
    return spans


# NFKC makes at most 18 characters of one; several steps of a kind that is meant well do
# not come near this.
_MOST_GROWTH = 1000


def _limit(text: str) -> int:
    return _MOST_GROWTH * (len(text) + 1000)


def _check_growth(text: str, most: int) -> None:
    """Refuse a text that has grown beyond reason.

    Raises:
        ValueError: Steps that are made with malice can do that: twenty that double make
            a million letters of one.
    """
    if len(text) > most:
        raise ValueError(
            f"the normalizers make more than {most} characters of a text (or a "
            "part of one): they multiply it"
        )


def apply_all(steps: tuple[Step, ...], text: str, first: bool = True) -> str:
    """Return a text after all the steps.

    Raises:
        ValueError: They multiply it beyond reason.
    """
    most = _limit(text)
    for step in steps:
        if not text:
            break
        text = step.apply(text, first)
        _check_growth(text, most)
    return text


def keep_start(steps: tuple[Step, ...], text: str) -> bool:
    """Tell whether the beginning of a text is still there after all the steps.

    Raises:
        ValueError: They multiply it beyond reason.
    """
    most = _limit(text)
    for step in steps:
        if not step.keeps_start(text):
            return False
        text = step.apply(text)
        _check_growth(text, most)
    return True
