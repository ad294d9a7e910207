"""Unicode sets, pinned to one version of the standard.

Everything here is a set of codepoints written as an *inversion list*: an ascending
tuple of codepoints at which membership flips, starting outside. ``(48, 58)`` is the
ten digits, ``(65,)`` everything from ``A`` on, ``()`` the empty set. The tables
themselves live in ``_unicode_data`` and are read on first use only.

The version never follows Python's or another package's: a model that was trained
today splits text in the same places for ever.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate

Ranges = tuple[int, ...]

VERSION = "16.0"
N_CODEPOINTS = 0x110000
EVERYTHING: Ranges = (0, N_CODEPOINTS)

CATEGORY_NAMES = {
    "cased_letter": "LC",
    "close_punctuation": "Pe",
    "combining_mark": "M",
    "connector_punctuation": "Pc",
    "control": "Cc",
    "currency_symbol": "Sc",
    "dash_punctuation": "Pd",
    "decimal_number": "Nd",
    "digit": "Nd",
    "enclosing_mark": "Me",
    "final_punctuation": "Pf",
    "format": "Cf",
    "initial_punctuation": "Pi",
    "letter": "L",
    "letter_number": "Nl",
    "line_separator": "Zl",
    "lowercase_letter": "Ll",
    "mark": "M",
    "math_symbol": "Sm",
    "modifier_letter": "Lm",
    "modifier_symbol": "Sk",
    "nonspacing_mark": "Mn",
    "number": "N",
    "open_punctuation": "Ps",
    "other": "C",
    "other_letter": "Lo",
    "other_number": "No",
    "other_punctuation": "Po",
    "other_symbol": "So",
    "paragraph_separator": "Zp",
    "private_use": "Co",
    "punctuation": "P",
    "punct": "P",
    "separator": "Z",
    "space_separator": "Zs",
    "spacing_mark": "Mc",
    "surrogate": "Cs",
    "symbol": "S",
    "titlecase_letter": "Lt",
    "unassigned": "Cn",
    "uppercase_letter": "Lu",
}
BINARY_NAMES = {
    "alpha": "alphabetic",
    "alphabetic": "alphabetic",
    "lower": "lowercase",
    "lowercase": "lowercase",
    "space": "white_space",
    "upper": "uppercase",
    "uppercase": "uppercase",
    "white_space": "white_space",
    "wspace": "white_space",
}
CATEGORIES = tuple(
    f"{major}{minor}"
    for major, minors in {
        "C": "cfnos",
        "L": "lmotu",
        "M": "cen",
        "N": "dlo",
        "P": "cdefios",
        "S": "ckmo",
        "Z": "lps",
    }.items()
    for minor in minors
)


def _plain(name: str) -> str:
    """Return a property name without what Unicode's loose matching ignores."""
    return "".join(char for char in name.lower() if char not in " _-")


@cache
def _category_runs() -> tuple[list[str], list[int]]:
    """Return the categories of all runs and the edges around them (one more)."""
    from pybpe import _unicode_data

    runs = _unicode_data.CATEGORIES.split()
    lengths = (int(run[2:]) for run in runs)
    return [run[:2] for run in runs], list(accumulate(lengths, initial=0))


@cache
def category(*names: str) -> Ranges:
    """Return the codepoints whose general category is one of ``names``.

    Args:
        names: Two letters (``"Lu"``), one letter for all that start with it
            (``"L"``), or ``"LC"`` for the cased letters.

    Returns:
        The set as an inversion list.
    """
    wanted = set()
    for name in names:
        if name == "LC":
            wanted |= {"Lu", "Ll", "Lt"}
        else:
            wanted |= {known for known in CATEGORIES if known.startswith(name)}
    flips = []
    inside = False
    categories, edges = _category_runs()
    for run, start in zip(categories, edges, strict=False):
        if (run in wanted) is not inside:
            flips.append(start)
            inside = not inside
    if inside:
        flips.append(N_CODEPOINTS)
    return tuple(flips)


def _from_lengths(lengths: str) -> Ranges:
    """Decode alternate run lengths, outside first."""
    return tuple(accumulate(map(int, lengths.split())))


@cache
def binary(name: str) -> Ranges:
    """Return a binary property: one of the values of ``BINARY_NAMES``."""
    from pybpe import _unicode_data

    return _from_lengths(_unicode_data.BINARY[name])


@cache
def _script_codes() -> dict[str, str]:
    from pybpe import _unicode_data

    pairs = (entry.partition("=") for entry in _unicode_data.SCRIPT_CODES.split())
    return {name: code for name, _, code in pairs}


@cache
def script(name: str) -> Ranges:
    """Return the codepoints of a script, by long name or four-letter code.

    Raises:
        LookupError: The name is no script of this Unicode version.
    """
    from pybpe import _unicode_data

    code = _script_codes().get(_plain(name))
    if code is None:
        raise LookupError(f"{name!r} is no script of Unicode {VERSION}")
    return _from_lengths(_unicode_data.SCRIPTS[code])


def script_names() -> list[str]:
    """Return the names that `script` knows, one for each script: the long ones."""
    names: dict[str, str] = {}
    for name, code in _script_codes().items():
        if name != code.lower() or code not in names:
            names[code] = name
    return sorted(names.values())


@cache
def _category_codes() -> dict[str, str]:
    codes = {_plain(long): short for long, short in CATEGORY_NAMES.items()}
    for short in CATEGORIES:
        codes[short.lower()] = short
        codes[short[0].lower()] = short[0]
    codes["lc"] = "LC"
    return codes


def property_set(name: str, value: str | None = None) -> Ranges:
    r"""Return the set that ``\p{name}`` or ``\p{name=value}`` stands for.

    Args:
        name: A general category, ``Any``, ``ASCII``, ``Assigned``, a binary property
            (Alphabetic, Lowercase, Uppercase, White_Space) or a script. Upper and
            lower case, spaces, ``-`` and ``_`` make no difference. With ``value``:
            ``General_Category``, ``gc``, ``Script`` or ``sc``.
        value: The category or script.

    Returns:
        The set as an inversion list.

    Raises:
        LookupError: There is no such property here; the message says what there is.
    """
    if value is not None:
        key = _plain(name)
        if key in ("generalcategory", "gc"):
            code = _category_codes().get(_plain(value))
            if code is None:
                raise LookupError(f"{value!r} is no general category")
            return category(code)
        if key in ("script", "sc"):
            return script(value)
        raise LookupError(
            f"unknown property {name!r}: before '=' only General_Category (gc) and "
            "Script (sc) are known"
        )
    plain = _plain(name)
    code = _category_codes().get(plain)
    if code is not None:
        return category(code)
    for long, known in BINARY_NAMES.items():
        if _plain(long) == plain:
            return binary(known)
    if plain == "any":
        return EVERYTHING
    if plain == "ascii":
        return (0, 128)
    if plain == "assigned":
        return category(*(known for known in CATEGORIES if known != "Cn"))
    if plain in _script_codes():
        return script(name)
    raise LookupError(
        f"unknown property {name!r}: known are the general categories (L, Lu, Letter, "
        "...), Any, ASCII, Assigned, Alphabetic, Lowercase, Uppercase, White_Space and "
        f"the scripts of Unicode {VERSION} (Han, Greek, ...)"
    )


@cache
def fold_orbits() -> dict[int, tuple[int, ...]]:
    """Return for each cased codepoint all that simple case folding equals to it."""
    from pybpe import _unicode_data

    table = {}
    for entry in _unicode_data.FOLD_ORBITS.split():
        orbit = tuple(int(cp, 16) for cp in entry.split(","))
        for cp in orbit:
            table[cp] = orbit
    return table


@cache
def multi_folds() -> dict[int, tuple[int, ...]]:
    """Return the codepoints whose full case folding is several codepoints."""
    from pybpe import _unicode_data

    table = {}
    for entry in _unicode_data.MULTI_FOLDS.split():
        cp, _, folded = entry.partition(":")
        table[int(cp, 16)] = tuple(int(part, 16) for part in folded.split(","))
    return table
