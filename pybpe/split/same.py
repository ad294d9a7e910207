"""Whether two patterns match alike: by their tables, which are minimal and so equal."""

from __future__ import annotations

from pybpe.split.stage import Stage
from pybpe.split.syntax import parse


def same_matches(stage: Stage, pattern: str, dialect: str) -> bool:
    """Tell whether a pattern matches as the stage does; False if in doubt."""
    try:
        if stage.over_bytes or not stage.compiled:
            return parse(stage.pattern, stage.dialect) == parse(pattern, dialect)
        made = Stage.compile(pattern, dialect)
    except ValueError:
        return False
    return made.compiled and _tables(made) == _tables(stage)


def leaves_gaps(stage: Stage) -> bool:
    """Tell whether there may be text that the stage's pattern does not match.

    Another alternative that matches any character, tried last, changes nothing where
    there are no gaps: the minimal tables stay the same.
    """
    pattern = f"(?:{stage.pattern})|[\\s\\S]"
    return not stage.compiled or not same_matches(stage, pattern, stage.dialect)


def _tables(stage: Stage) -> tuple[object, ...]:
    return stage.class_starts, bytes(stage.class_ids), stage.transitions
