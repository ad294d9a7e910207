"""A sentencepiece model's character map as steps of a `tokenizer.json`, exactly.

`formats/_map_steps` has the steps. That a map can be said by them is checked here, rule
by rule, before it is written.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pybpe._character_maps import read_table
from pybpe.errors import ModelError
from pybpe.formats._map_steps import APART, BAR, Json, Rules, alone, steps_of

if TYPE_CHECKING:
    from pybpe.codepoint import Normalizer

_NOT_EXACT = (
    "it has a character map that a tokenizer.json cannot hold exactly: {}. Models "
    "trained with normalization_rule_name='identity' have none"
)
# Strings that NFC does not compose as the rules do: more are not Unicode's.
_MAX_ALONE = 256


def rules_of(charsmap: bytes) -> dict[str, str]:
    """Return the rules of a character map.

    Raises:
        ModelError: They are no text, or there is no end of them.
    """
    try:
        return read_table(charsmap).rules()
    except ValueError as error:
        raise ModelError(_NOT_EXACT.format(error)) from None


def _taken_apart(rules: dict[str, str]) -> Rules:
    """Return the rules in two parts, of which the second works on what the first makes.

    Raises:
        ModelError: They do not come apart like this.
    """
    single = {key: value for key, value in rules.items() if len(key) == 1}
    several = {key: value for key, value in rules.items() if len(key) > 1}
    if single.get(APART) != "" or single.get(BAR) != "":
        raise ModelError(_NOT_EXACT.format("it does not take out U+0001 and U+0002"))
    # What stands for itself in the rules of several characters, and what for others.
    composed = {
        key: value
        for key, value in several.items()
        if all(single.get(char, char) == char for char in key)
    }
    sources: dict[str, int] = {}
    for char in {char for key in several for char in key}:
        made = single.get(char, char)
        sources[made] = sources.get(made, 0) + 1
    n_expected = 0
    for key in composed:
        n_keys = 1
        for char in key:
            n_keys *= sources[char]
        n_expected += n_keys
    for key, value in several.items():
        made = "".join(single.get(char, char) for char in key)
        if composed.get(made) != value:
            raise ModelError(_NOT_EXACT.format(f"{key!r} becomes {value!r}"))
    # Of each spelling of a character there must be rules, or of none.
    spellings = Counter(single.values())
    partly = any(n != spellings[made] + 1 for made, n in sources.items())
    if n_expected != len(several) or partly:
        raise ModelError(_NOT_EXACT.format("some of its rules are for a few spellings"))
    return Rules(single, composed)


def steps(normalizer: Normalizer, symbols: list[str]) -> list[Json]:
    """Return the steps that do what a character map does.

    Args:
        normalizer: What has the map.
        symbols: User-defined pieces, which stay as they are.

    Raises:
        ModelError: There are none.
    """
    rules = _taken_apart(rules_of(normalizer.charsmap))
    _check_spaces(rules, normalizer)
    _check_symbols(rules, symbols)
    by_themselves = alone(rules.composed)
    if len(by_themselves) > _MAX_ALONE:
        raise ModelError(_NOT_EXACT.format(f"{by_themselves[0]!r} becomes a character"))
    return steps_of(rules, symbols)


def _check_spaces(rules: Rules, normalizer: Normalizer) -> None:
    """Refuse rules that do with spaces what the steps for spaces do not.

    Raises:
        ModelError: Naming one.
    """
    for key, value in (*rules.single.items(), *rules.composed.items()):
        doubled = "  " in value and normalizer.remove_extra_whitespaces
        if doubled or (key[0] == " "):
            raise ModelError(_NOT_EXACT.format(f"{key!r} becomes {value!r}"))


def _check_symbols(rules: Rules, symbols: list[str]) -> None:
    """Refuse user-defined pieces that the rules would change.

    Raises:
        ModelError: Naming one.
    """
    changed = rules.single.keys() | {c for key in rules.composed for c in key[1:]}
    for symbol in symbols:
        if not changed.isdisjoint(symbol):
            raise ModelError(
                _NOT_EXACT.format(f"it would change the user-defined piece {symbol!r}")
            )
