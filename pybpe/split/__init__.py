r"""Splits: where a text is cut into pretokens before any merging.

A ``Split`` is a list of stages. Each stage has a pattern, compiled to small tables that
the core scans text with; a pattern that has no tables runs on the ``regex`` package
instead and gives the same results, slowly. Membership in ``\p{L}`` and the like is
decided by the package's own Unicode tables and is part of the compiled split, so that
no upgrade of anything changes where a model's text is cut.
"""

from __future__ import annotations

from array import array

from pybpe._typing import TYPE_CHECKING
from pybpe.split.patterns import ALIASES, NAMED, shown
from pybpe.split.stage import Stage

__all__ = ["PatternLike", "Split", "Stage", "pattern_names"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

PatternLike: TypeAlias = (
    "str | Split | list[str | Stage] | tuple[str | Stage, ...] | None"
)


def pattern_names() -> list[str]:
    """Return the names that ``Split.from_pattern`` knows."""
    return [*NAMED, *ALIASES]


class Split:
    r"""The compiled splitter: no stage, one, or several in a row.

    Each stage cuts every span that the stage before has made, matches and gaps alike.
    Characters that no match covers are never dropped: each maximal run of them is a
    pretoken. With no stages the whole text is one pretoken.

    Immutable; equal and hashed by content; can be pickled.

    Attributes:
        stages: The stages in order.
        compiled: Whether all stages have tables; if not, one runs on ``regex``.
        changes: Whether a stage changes the spans that it cuts.
        drops: Whether text may vanish: a stage's behavior is ``"removed"``.
        name: The name of the published pattern this is, or None.

    Threads: an instance may be shared by any number of threads.

    >>> Split.from_pattern("gpt2").pretokens("Hello world's  end")
    ['Hello', ' world', "'s", ' ', ' end']
    """

    __slots__ = ("changes", "compiled", "drops", "name", "stages")

    stages: tuple[Stage, ...]
    compiled: bool
    changes: bool
    drops: bool
    name: str | None

    def __init__(self, stages: Iterable[Stage] = ()) -> None:
        """Make a split of stages; see also ``from_pattern``."""
        known = tuple(stages)
        for stage in known:
            if not isinstance(stage, Stage):
                raise TypeError(f"a split is made of Stage objects, not {stage!r}")
        set_value = object.__setattr__
        set_value(self, "stages", known)
        set_value(self, "compiled", all(stage.compiled for stage in known))
        set_value(self, "changes", any(stage.before for stage in known))
        set_value(self, "drops", any(stage.behavior == "removed" for stage in known))
        set_value(self, "name", _name_of(known))

    @classmethod
    def from_pattern(cls, pattern: PatternLike, dialect: str | None = None) -> Split:
        r"""Make a split of what users write.

        Args:
            pattern: A name (see ``pattern_names``), a pattern such as
                ``r"\p{L}+|\s+|."``, a list or tuple of stages and patterns, a
                ``Split``, or None for no split.
            dialect: Whose rules patterns are written by: ``"rust"`` (the default),
                ``"oniguruma"`` or ``"regex"``. Names bring their own.

        Returns:
            The split.

        Raises:
            ValueError: An unknown name, or a pattern that is malformed or not
                supported.
            TypeError: ``pattern`` is nothing of the above.
        """
        if isinstance(pattern, Split):
            return pattern
        if pattern is None:
            return cls()
        if isinstance(pattern, str):
            return cls(_stages_of(pattern, dialect))
        if not isinstance(pattern, (list, tuple)):
            raise TypeError(
                "a split pattern is a str, a Split, a list or tuple of stages, or "
                f"None, not {type(pattern).__name__}"
            )
        stages: list[Stage] = []
        for item in pattern:
            if isinstance(item, Stage):
                stages.append(item)
            elif isinstance(item, str):
                stages.extend(_stages_of(item, dialect))
            else:
                raise TypeError(
                    f"a stage of a split is a Stage or a pattern, not {item!r}"
                )
        return cls(stages)

    def ends(
        self,
        data: bytes,
        run_compiled: Callable[[Stage, bytes], Iterable[int]] | None = None,
    ) -> array[int]:
        """Return where pretokens end: the slow path for splits without tables.

        Args:
            data: One span of text in UTF-8. A byte that is not part of valid UTF-8
                counts as one character, of the class of U+FFFD.
            run_compiled: Runs a compiled stage over a span and returns the ends of
                its pieces in bytes; a plain Python scan is used if None.

        Returns:
            Ascending byte offsets (unsigned 64 bits), the last one ``len(data)``;
            none for empty data.

        Raises:
            ValueError: The split drops or changes text, so its pretokens are not those
                of the data side by side; ``pieces`` gives them.
        """
        if self.drops or self.changes:
            raise ValueError(
                "the split drops or changes text: its pretokens have no ends in it"
            )
        if run_compiled is not None:
            return self._byte_ends(data, run_compiled)
        ends = array("Q")
        at = 0
        for piece in self._pieces(data.decode("utf-8", "surrogateescape")):
            at += len(piece.encode("utf-8", "surrogateescape"))
            ends.append(at)
        return ends

    def pretokens(self, text: str) -> list[str]:
        """Return the pretokens of a text, on the slow path: to look at, not to use."""
        return self._pieces(text)

    def _pieces(self, text: str, first: bool = True) -> list[str]:
        """Return the pretokens; lone surrogates stand for invalid bytes.

        Args:
            text: What to cut.
            first: Whether it is the beginning of what is encoded.
        """
        pieces = [(text, first)] if text else []
        for stage in self.stages:
            cut: list[tuple[str, bool]] = []
            for piece, is_first in pieces:
                changed = piece
                for step in stage.before:
                    is_first = is_first and step.keeps_start(changed)
                    changed = step.apply(changed, is_first)
                if changed:
                    cut += _cut(stage, changed, is_first)
            pieces = cut
        return [piece for piece, _ in pieces]

    def _byte_ends(
        self, data: bytes, run_compiled: Callable[[Stage, bytes], Iterable[int]]
    ) -> array[int]:
        ends = array("Q", [len(data)] if data else [])
        for stage in self.stages:
            cut = array("Q")
            begin = 0
            for end in ends:
                span = data[begin:end]
                if stage.compiled:
                    cut.extend(begin + at for at in run_compiled(stage, span))
                else:
                    at = begin
                    text = span.decode("utf-8", "surrogateescape")
                    for piece, _ in _cut(stage, text, True):
                        at += len(piece.encode("utf-8", "surrogateescape"))
                        cut.append(at)
                begin = end
            ends = cut
        return ends

    def __eq__(self, other: object) -> bool:
        """Compare the stages."""
        if not isinstance(other, Split):
            return NotImplemented
        return self.stages == other.stages

    def __hash__(self) -> int:
        """Hash the stages."""
        return hash(self.stages)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: splits are immutable."""
        raise AttributeError(f"{name}: a split cannot be changed")

    def __delattr__(self, name: str) -> None:
        """Refuse, as for setting."""
        raise AttributeError(f"{name}: a split cannot be changed")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by content."""
        return Split, (self.stages,)

    def __repr__(self) -> str:
        """Show the name or the patterns."""
        if self.name is not None:
            return f"<Split {self.name}>"
        return f"<Split {[stage.pattern for stage in self.stages]}>"


def _cut(stage: Stage, text: str, first: bool) -> list[tuple[str, bool]]:
    """Return the pieces of a span, and whether each is the beginning of the text.

    Lone surrogates stand for invalid bytes.
    """
    if not stage.over_bytes:
        spans = stage.match_spans(_without_surrogates(text))
        return [
            (text[start:end], first and start == 0)
            for start, end in _spans(stage, spans, len(text))
        ]
    data = text.encode("utf-8", "surrogateescape")
    spans = stage.match_spans(data.decode("latin-1"))
    return [
        (data[start:end].decode("utf-8", "surrogateescape"), first and start == 0)
        for start, end in _spans(stage, spans, len(data))
    ]


def _spans(
    stage: Stage, matches: list[tuple[int, int]], size: int
) -> list[tuple[int, int]]:
    """Return what a stage makes of the matches in a span of a given size."""
    pieces: list[tuple[int, int, bool]] = []  # start, end, whether it is a match
    at = 0
    for start, end in matches:
        if start > at:
            pieces.append((at, start, False))
        pieces.append((start, end, True))
        at = end
    if at < size:
        pieces.append((at, size, False))
    if stage.behavior == "removed":
        return [(a, b) for a, b, match in pieces if match == stage.invert]
    joined: list[tuple[int, int]] = []
    last: bool | None = None
    for a, b, match in pieces:
        if last is not None and _joins(stage, last, match):
            joined[-1] = (joined[-1][0], b)
        else:
            joined.append((a, b))
        last = match
    return joined


def _joins(stage: Stage, left: bool, right: bool) -> bool:
    """Tell whether neighbours, each a match or a gap, are one piece."""
    if stage.behavior == "contiguous":
        return left == right
    if stage.behavior == "isolated":
        return False
    backwards = stage.behavior == "merged_with_next"
    first, second = (left, right) if backwards else (right, left)
    # A match joins a gap: `first` is the match's side.
    return first != stage.invert and second == stage.invert


def _without_surrogates(text: str) -> str:
    """Return the text with U+FFFD for each lone surrogate."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _stages_of(pattern: str, dialect: str | None) -> list[Stage]:
    """Return the stages of a name or of one pattern."""
    name = ALIASES.get(pattern, pattern)
    if name in NAMED:
        own_dialect, patterns = NAMED[name]
        if dialect not in (None, own_dialect):
            raise ValueError(
                f"the named split pattern {pattern!r} is of the {own_dialect} dialect, "
                f"not {dialect!r}; leave the dialect out, or pass the pattern itself"
            )
        return [Stage.compile(part, own_dialect) for part in patterns]
    if pattern and all(char.isalnum() or char in "_-" for char in pattern):
        raise ValueError(
            f"unknown split pattern {shown(pattern)}; the named ones are "
            f"{', '.join(pattern_names())}; a regular expression for this very word "
            "is written as a group, '(?:...)', and None means no split"
        )
    return [Stage.compile(pattern, "rust" if dialect is None else dialect)]


def _name_of(stages: tuple[Stage, ...]) -> str | None:
    """Return the name of the published pattern with these stages, if there is one."""
    patterns = tuple(stage.pattern for stage in stages)
    if any(
        stage.behavior != "isolated" or stage.over_bytes or stage.before
        for stage in stages
    ):
        return None
    for name, (dialect, named) in NAMED.items():
        if named == patterns and all(stage.dialect == dialect for stage in stages):
            return name
    return None
