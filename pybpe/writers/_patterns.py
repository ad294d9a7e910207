r"""Split patterns from one dialect to another, provably the same.

A candidate is taken only if it compiles to the very tables that the stage has: these
are minimal, so equal tables mean that every text is cut in the same places. Of a stage
without tables the parsed trees must be equal (`split.same`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from pybpe.errors import ModelError
from pybpe.split import Stage, charset
from pybpe.split.ast import Atomic, Chars, Choice, Edge, Look, Node, Repeat, Sequence
from pybpe.split.patterns import shown
from pybpe.split.same import same_matches
from pybpe.split.syntax import parse
from pybpe.unicode import Ranges, category

# Parts of a pattern that are looked at whole: escapes, classes, counts.
_PARTS = re.compile(
    r"\\.|\[(?:\\.|\[:\w+:\]|[^\]\\])*\]|\{[0-9,]+\}\+?|\$|.", re.DOTALL
)


def translated(stage: Stage, dialect: str) -> str:
    """Return a pattern of another dialect that matches as the stage does.

    Args:
        stage: A stage; its behavior plays no part.
        dialect: The dialect to write.

    Raises:
        ModelError: There is none that pybpe finds.
    """
    for candidate in _candidates(stage, dialect):
        if same_matches(stage, candidate, dialect):
            return candidate
    raise ModelError(
        f"the split pattern {shown(stage.pattern)} ({stage.dialect}, Unicode "
        f"{stage.unicode_version}) cannot be written so that {_ENGINES[dialect]} reads "
        "it the same way"
    )


def without_groups(stage: Stage, dialect: str) -> str:
    """Return a pattern that matches as the stage does and captures nothing.

    Raises:
        ModelError: There is none that pybpe finds.
    """
    pattern = _printed(parse(stage.pattern, stage.dialect), dialect)
    if same_matches(stage, pattern, dialect):
        return pattern
    raise ModelError(
        f"the split pattern {shown(stage.pattern)} cannot be written without groups"
    )


_ENGINES = {
    "rust": "Rust's regex engine",
    "oniguruma": "Oniguruma",
    "regex": "the regex package",
}


def _candidates(stage: Stage, dialect: str) -> Iterator[str]:
    """Yield patterns that might do, the most readable ones first."""
    pattern = stage.pattern
    yield pattern
    yield _rewritten(pattern, dialect)
    if not stage.over_bytes:
        yield _printed(parse(pattern, stage.dialect), dialect)


def _rewritten(pattern: str, dialect: str) -> str:
    """Write the end of the text and possessive counts as the dialect does."""
    end = r"\Z" if dialect == "regex" else r"\z"
    parts = []
    for part in _PARTS.findall(pattern):
        if part == "$":
            part = end
        elif part.startswith("{") and part.endswith("+") and dialect == "oniguruma":
            # There it would repeat the repeat. What follows a count of a class is
            # nearly always something else, so giving back makes no difference.
            part = part[:-1]
        parts.append(part)
    return "".join(parts)


# ------------------------------------------------------------------ from the tree


def _printed(node: Node, dialect: str) -> str:
    """Return the pattern that the tree stands for, in plain constructs only."""
    if isinstance(node, Chars):
        return _class(node.ranges, dialect)
    if isinstance(node, Sequence):
        return "".join(_grouped(part, dialect) for part in node.parts)
    if isinstance(node, Choice):
        return "|".join(_printed(branch, dialect) for branch in node.branches)
    if isinstance(node, Repeat):
        return _repeat(node, dialect)
    if isinstance(node, Atomic):
        return f"(?>{_printed(node.body, dialect)})"
    if isinstance(node, Look):
        sign = ("<" if node.behind else "") + ("!" if node.negative else "=")
        return f"(?{sign}{_printed(node.body, dialect)})"
    return _edge(node, dialect)


def _edge(node: Edge, dialect: str) -> str:
    if not node.end:
        return r"\A"
    return r"\Z" if dialect == "regex" else r"\z"


def _grouped(node: Node, dialect: str) -> str:
    text = _printed(node, dialect)
    return f"(?:{text})" if isinstance(node, Choice) else text


def _repeat(node: Repeat, dialect: str) -> str:
    body = _printed(node.body, dialect)
    if not isinstance(node.body, Chars):
        body = f"(?:{body})"
    counts = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    most = "" if node.most is None else node.most
    count = counts.get((node.least, node.most), f"{{{node.least},{most}}}")
    if node.kind == "possessive":
        return f"(?>{body}{count})"
    return body + count + ("?" if node.kind == "lazy" else "")


def _class(ranges: Ranges, dialect: str) -> str:
    if ranges in _names():
        return _names()[ranges]
    escape = "\\x{{{:X}}}" if dialect != "regex" else "\\U{:08X}"
    parts = []
    for start, end in zip(ranges[::2], ranges[1::2], strict=True):
        first, last = escape.format(start), escape.format(end - 1)
        parts.append(first if end - start == 1 else f"{first}-{last}")
    return f"[{''.join(parts)}]"


@cache
def _names() -> dict[Ranges, str]:
    """Return the sets that the other engines have the same names for."""
    names = {charset.white_space(): r"\s"}
    names[charset.complement(charset.white_space())] = r"\S"
    for name in ("L", "N", "M", "P", "S", "Lu", "Ll", "Nd"):
        names[category(name)] = rf"\p{{{name}}}"
        names[charset.complement(category(name))] = rf"\P{{{name}}}"
    # What each engine's \w is; the others spell it out.
    joined = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}"
    for members, spelt in (
        ((charset.word("rust"),), joined),
        ((charset.word("rust"), charset.white_space()), joined + r"\s"),
    ):
        union = charset.union(members)
        names[union] = f"[{spelt}]"
        names[charset.complement(union)] = f"[^{spelt}]"
    return names
