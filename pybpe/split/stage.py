"""One stage of a split: a pattern and the tables it compiled to."""

from __future__ import annotations

from array import array
from functools import lru_cache, partial

from pybpe._typing import TYPE_CHECKING
from pybpe.split.patterns import DIALECTS
from pybpe.split.tables import (
    DEAD,
    MATCH_BEFORE,
    MAX_CLASSES,
    MAX_STATES,
    NEXT_STATE,
    Tables,
)
from pybpe.unicode import N_CODEPOINTS, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from pybpe.normalizers import Step

BEHAVIORS = (
    "isolated",
    "removed",
    "merged_with_previous",
    "merged_with_next",
    "contiguous",
)
# (behavior, invert) -> BPE_SPLIT_* of the core. With matches and gaps in each other's
# places, joining a match to the gap before it is joining it to the one behind it.
CORE_BEHAVIORS = {
    ("isolated", False): 0,
    ("isolated", True): 0,
    ("removed", False): 1,
    ("removed", True): 2,
    ("merged_with_previous", False): 3,
    ("merged_with_previous", True): 4,
    ("merged_with_next", False): 4,
    ("merged_with_next", True): 3,
    ("contiguous", False): 5,
    ("contiguous", True): 5,
}

Spans = list[tuple[int, int]]


class Stage:
    """A pattern that cuts spans of text into matches and what lies between them.

    Immutable; equal and hashed by content. A stage is made of a pattern by
    ``Stage.compile``; the constructor takes stored tables.

    Attributes:
        pattern: The pattern as it was written.
        dialect: ``"rust"``, ``"oniguruma"`` or ``"regex"``.
        behavior: What becomes of a match: ``"isolated"``, a pretoken of its own;
            ``"removed"``, dropped from the text; ``"merged_with_previous"`` or
            ``"merged_with_next"``, part of the gap before or behind it;
            ``"contiguous"``, one pretoken with the matches that touch it.
        invert: Whether matches and gaps change places before that.
        over_bytes: Whether the text's bytes are its characters: the codepoint that
            the tables know a byte by is its value.
        before: Changes made to each span before it is cut.
        unicode_version: The Unicode version of the tables.
        class_starts: First codepoint of each run of one class: ascending, from 0.
        class_ids: Class of each run, ``len(class_starts)`` of them.
        n_classes: Number of classes.
        n_states: Number of states, 0 if the stage is not compiled.
        transitions: ``n_states`` rows of ``n_classes + 1`` columns, the last for the
            end of the text. A value is the next state, plus 0x8000 if a match ends
            before the character of the column. State 0 is dead, state 1 the start.
            Empty if the stage is not compiled.
        reason: Why the stage is not compiled, "" if it is.

    Threads: an instance may be shared by any number of threads.
    """

    __slots__ = (
        "_class_starts",
        "_matcher",
        "_transitions",
        "before",
        "behavior",
        "class_ids",
        "dialect",
        "invert",
        "n_classes",
        "n_states",
        "over_bytes",
        "pattern",
        "reason",
        "unicode_version",
    )

    pattern: str
    dialect: str
    behavior: str
    unicode_version: str
    class_ids: bytes | array[int]
    n_classes: int
    n_states: int
    reason: str
    invert: bool
    over_bytes: bool
    before: tuple[Step, ...]
    _matcher: Callable[[str], Spans] | None
    # Stages are shared, so what they give out of these is a copy.
    _class_starts: bytes
    _transitions: bytes

    def __init__(
        self,
        *,
        pattern: str,
        dialect: str,
        behavior: str,
        unicode_version: str,
        class_starts: array[int],
        class_ids: bytes | array[int],
        n_classes: int,
        n_states: int,
        transitions: array[int],
        invert: bool = False,
        over_bytes: bool = False,
        before: tuple[Step, ...] = (),
    ) -> None:
        """Make a stage of stored tables, without compiling its pattern.

        The arguments are the attributes of the same names. They are checked as far as
        is needed to run the tables safely, not whether they are what the pattern
        compiles to.

        Raises:
            ValueError: The tables are inconsistent, or a stage without tables was made
                with another Unicode version.
        """
        if dialect not in DIALECTS:
            raise ValueError(
                f"unknown dialect {dialect!r}; known are {', '.join(DIALECTS)}"
            )
        _check_behavior(behavior)
        reason = ""
        matcher: Callable[[str], Spans] | None = None  # made when first needed
        if n_states:
            class_ids = _narrow(class_ids)
            _check_tables(class_starts, class_ids, n_classes, n_states, transitions)
        elif over_bytes:
            raise ValueError(
                f"the split stage {pattern!r} works on bytes and has no tables"
            )
        else:
            made = _compile(pattern, dialect, behavior, False, False)
            same = (
                unicode_version == made.unicode_version
                and class_starts == made.class_starts
                and list(class_ids) == list(made.class_ids)
                and n_classes == made.n_classes
                and not transitions
            )
            if not same:
                _refuse_classes(pattern, unicode_version)
            class_ids = made.class_ids
            matcher = made._matcher
            reason = "its pattern was stored without"
        self._set(
            pattern=pattern,
            dialect=dialect,
            behavior=behavior,
            unicode_version=unicode_version,
            class_starts=class_starts,
            class_ids=class_ids,
            n_classes=n_classes,
            n_states=n_states,
            transitions=transitions,
            reason=reason,
            invert=invert,
            over_bytes=over_bytes,
            before=before,
            _matcher=matcher,
        )

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            if name in ("class_starts", "transitions"):
                kept = bytes(memoryview(value))  # type: ignore[arg-type]
                object.__setattr__(self, f"_{name}", kept)
            else:
                object.__setattr__(self, name, value)

    @classmethod
    def _make(cls, **values: object) -> Stage:
        """Make a stage of what is known to be right."""
        stage = object.__new__(cls)
        stage._set(**values)
        return stage

    @classmethod
    def compile(
        cls,
        pattern: str,
        dialect: str = "rust",
        *,
        behavior: str = "isolated",
        invert: bool = False,
        tables: bool = True,
    ) -> Stage:
        r"""Make a stage of a pattern.

        Args:
            pattern: The pattern, such as ``r"\p{L}+|\s"``.
            dialect: Whose rules it is written by.
            behavior: What becomes of matches, one of ``BEHAVIORS``.
            invert: Whether matches and gaps change places before that.
            tables: Whether to compile it to tables if that is possible. Without them
                it splits the same, slowly.

        Returns:
            The stage; ``n_states`` is 0 if it has no tables.

        Raises:
            ValueError: The pattern is malformed or not supported; the message names
                construct, position and the way out.
            TypeError: The pattern is no string.
        """
        if not isinstance(pattern, str):
            raise TypeError(
                f"a split pattern is a str, not {type(pattern).__name__}: {pattern!r}"
            )
        _check_behavior(behavior)
        for position, character in enumerate(pattern):
            if "\ud800" <= character <= "\udfff":
                raise ValueError(
                    f"split pattern {pattern!r}, position {position}: a surrogate is "
                    "no character of any text; leave it out"
                )
        return _compile(pattern, dialect, behavior, invert, tables)

    def with_behavior(self, behavior: str, invert: bool = False) -> Stage:
        """Return the stage with another behavior."""
        _check_behavior(behavior)
        return self._but(behavior=behavior, invert=invert)

    def with_steps(self, before: tuple[Step, ...]) -> Stage:
        """Return the stage with other changes made to the spans that it cuts."""
        return self._but(before=before)

    def _but(self, **values: object) -> Stage:
        made = Stage._make(**{name: getattr(self, name) for name in self.__slots__})
        made._set(**values)
        return made

    @property
    def class_starts(self) -> array[int]:
        """The first codepoint of each run of one class: a new ``array("I")``."""
        return array("I", self._class_starts)

    @property
    def transitions(self) -> array[int]:
        """The rows of the states' table, one after another: a new ``array("H")``."""
        return array("H", self._transitions)

    @property
    def core_behavior(self) -> int:
        """The core's number for behavior and invert together."""
        return CORE_BEHAVIORS[self.behavior, self.invert]

    @property
    def compiled(self) -> bool:
        """Whether the stage has tables; if not, it runs on ``regex``."""
        return self.n_states > 0

    @property
    def tables(self) -> Tables:
        """The tables of a compiled stage."""
        if not self.compiled:
            raise ValueError(
                f"the split pattern {self.pattern!r} has no tables: {self.reason}"
            )
        return Tables(
            self.class_starts,
            bytes(self.class_ids),
            self.n_classes,
            self.n_states,
            self.transitions,
        )

    def match_spans(self, text: str) -> Spans:
        """Return start and end of each match in a text, in characters.

        This is the slow path: for compiled stages plain Python, else ``regex``.

        Args:
            text: A span of the stage before; its edges count as the text's.

        Returns:
            The matches in order. They do not overlap and are not empty; what lies
            between them are gaps.
        """
        matcher = self._matcher
        if matcher is None:  # compiled, and not run on this path before
            from pybpe.split import reference

            matcher = partial(reference.match_spans, self.tables)
            object.__setattr__(self, "_matcher", matcher)
        return matcher(text)

    def _content(self) -> tuple[object, ...]:
        return (
            self.pattern,
            self.dialect,
            self.behavior,
            self.unicode_version,
            self._class_starts,
            bytes(self.class_ids),
            self.n_classes,
            self.n_states,
            self._transitions,
            self.invert,
            self.over_bytes,
            self.before,
        )

    def __eq__(self, other: object) -> bool:
        """Compare by content."""
        if not isinstance(other, Stage):
            return NotImplemented
        return self is other or self._content() == other._content()

    def __hash__(self) -> int:
        """Hash by content."""
        return hash(self._content())

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: stages are immutable."""
        raise AttributeError(f"{name}: a split stage cannot be changed")

    def __delattr__(self, name: str) -> None:
        """Refuse, as for setting."""
        raise AttributeError(f"{name}: a split stage cannot be changed")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by content."""
        return _restore, (
            self.pattern,
            self.dialect,
            self.behavior,
            self.unicode_version,
            self.class_starts,
            self.class_ids,
            self.n_classes,
            self.n_states,
            self.transitions,
            self.invert,
            self.over_bytes,
            self.before,
        )

    def __repr__(self) -> str:
        """Show pattern, dialect and whether it is compiled."""
        how = f"{self.n_states} states" if self.compiled else f"on regex: {self.reason}"
        return f"<Stage {self.pattern!r} {self.dialect} ({how})>"


def _restore(*values: object) -> Stage:
    names = (
        "pattern",
        "dialect",
        "behavior",
        "unicode_version",
        "class_starts",
        "class_ids",
        "n_classes",
        "n_states",
        "transitions",
        "invert",
        "over_bytes",
        "before",
    )
    return Stage(**dict(zip(names, values, strict=True)))  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def _compile(
    pattern: str, dialect: str, behavior: str, invert: bool, tables: bool
) -> Stage:
    # Imported here: a model is loaded without any of this.
    from pybpe.split import fallback
    from pybpe.split.dfa import compile_tables
    from pybpe.split.nfa import NotCompilable, build
    from pybpe.split.syntax import parse

    tree = parse(pattern, dialect)
    reason = "it was asked for without"
    if tables:
        try:
            made = compile_tables(build(tree))
        except NotCompilable as error:
            reason = str(error)
        else:
            return Stage._make(
                pattern=pattern,
                dialect=dialect,
                behavior=behavior,
                unicode_version=VERSION,
                reason="",
                invert=invert,
                over_bytes=False,
                before=(),
                _matcher=None,
                class_starts=made.class_starts,
                class_ids=made.class_ids,
                n_classes=made.n_classes,
                n_states=made.n_states,
                transitions=made.transitions,
            )
    classes, _ = fallback.classes_of(tree)
    wide = classes.n_classes > 256
    return Stage._make(
        pattern=pattern,
        dialect=dialect,
        behavior=behavior,
        unicode_version=VERSION,
        class_starts=array("I", classes.starts),
        class_ids=array("H", classes.ids) if wide else bytes(classes.ids),
        n_classes=classes.n_classes,
        n_states=0,
        transitions=array("H"),
        reason=reason,
        invert=invert,
        over_bytes=False,
        before=(),
        _matcher=fallback.matcher(tree),
    )


def _refuse_classes(pattern: str, unicode_version: str) -> NoReturn:
    raise ValueError(
        f"the split stage {pattern!r} has no tables and was made with other character "
        f"classes (Unicode {unicode_version}) than this version of pybpe makes "
        f"(Unicode {VERSION})"
    )


def _check_behavior(behavior: str) -> None:
    if behavior not in BEHAVIORS:
        raise ValueError(
            f"split behavior {behavior!r} is not supported; known: "
            f"{', '.join(BEHAVIORS)}"
        )


def _narrow(class_ids: bytes | array[int]) -> bytes:
    """Return class ids in one byte each."""
    if isinstance(class_ids, bytes):
        return class_ids
    if max(class_ids, default=0) >= MAX_CLASSES:
        raise ValueError(f"bad split tables: class id {max(class_ids)}")
    return bytes(list(class_ids))  # of an array, bytes() would take the raw memory


def _check_tables(
    starts: array[int],
    ids: bytes,
    n_classes: int,
    n_states: int,
    transitions: array[int],
) -> None:
    """Refuse tables that a scan could not run on safely.

    Raises:
        ValueError: A size or a value is out of range.
    """
    width = n_classes + 1

    def require(holds: bool, what: str) -> None:
        if not holds:
            raise ValueError(f"bad split tables: {what}")

    require(1 <= n_classes <= MAX_CLASSES, f"{n_classes} classes")
    require(2 <= n_states <= MAX_STATES, f"{n_states} states")
    require(len(starts) == len(ids), f"{len(starts)} starts, {len(ids)} class ids")
    require(len(starts) > 0 and starts[0] == 0, "the first class does not start at 0")
    require(
        all(map(int.__lt__, starts, starts[1:])) and starts[-1] < N_CODEPOINTS,
        "class starts are not ascending codepoints",
    )
    require(max(ids) < n_classes, f"class id {max(ids)} of {n_classes} classes")
    require(
        len(transitions) == n_states * width,
        f"{len(transitions)} transitions for {n_states} states of {width} columns",
    )
    require(
        max(value & NEXT_STATE for value in transitions) < n_states,
        "a transition to a state that does not exist",
    )
    require(not any(transitions[:width]), "the dead state has transitions")
    require(
        all(value in (DEAD, MATCH_BEFORE) for value in transitions[width - 1 :: width]),
        "the end of the text does not end the scan",
    )
    require(
        not any(value & MATCH_BEFORE for value in transitions[width : 2 * width]),
        "a match can be empty",
    )
