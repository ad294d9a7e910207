"""The pinned Unicode tables, against three engines that know the same version."""

from __future__ import annotations

import pytest
from split_reference import assigned, codepoints, every_codepoint, kept_by_rust

from pybpe import _unicode_data, unicode
from pybpe.split import charset


def members(ranges: unicode.Ranges) -> set[int]:
    return set(codepoints(ranges))


def kept(pattern: str, listed: list[int]) -> set[int]:
    return {ord(char) for char in kept_by_rust(pattern, "".join(map(chr, listed)))}


def test_version_is_the_tables() -> None:
    assert unicode.VERSION == _unicode_data.VERSION == "16.0"


def test_every_table_is_an_inversion_list() -> None:
    sets = [unicode.category(name) for name in unicode.CATEGORIES]
    assert sum(map(charset.size, sets)) == unicode.N_CODEPOINTS
    sets += [unicode.script(code) for code in _unicode_data.SCRIPTS]
    sets += [unicode.binary(name) for name in _unicode_data.BINARY]
    for ranges in sets:
        assert len(ranges) % 2 == 0
        assert list(ranges) == sorted(set(ranges))
        assert 0 <= ranges[0] < ranges[-1] <= unicode.N_CODEPOINTS


def test_categories_like_unicodedata2() -> None:
    unicodedata2 = pytest.importorskip("unicodedata2")
    if not unicodedata2.unidata_version.startswith(unicode.VERSION):
        pytest.skip(f"unicodedata2 is at {unicodedata2.unidata_version}")
    wanted: dict[str, list[int]] = {}
    for cp in range(unicode.N_CODEPOINTS):
        wanted.setdefault(unicodedata2.category(chr(cp)), []).append(cp)
    assert set(wanted) == set(unicode.CATEGORIES)
    for name, listed in wanted.items():
        assert charset.from_codepoints(listed) == unicode.category(name), name


@pytest.mark.oracle
@pytest.mark.parametrize(
    "pattern",
    [
        *(rf"\p{{{name}}}" for name in ("L", "N", "M", "P", "S", "Z", "C", "Lu", "Lo")),
        *(rf"\p{{{name}}}" for name in ("LC", "Alphabetic", "Lowercase", "Uppercase")),
        *(rf"\p{{{name}}}" for name in ("White_Space", "Assigned", "Han")),
        *(r"\s", r"\w", r"\d", r"\h"),
    ],
)
def test_sets_like_rust_on_every_codepoint(pattern: str) -> None:
    letter = pattern[1]
    ours = (
        unicode.property_set(pattern[3:-1])
        if letter == "p"
        else charset.perl_class(letter, "rust")
    )
    assert ours is not None
    assert kept(pattern, every_codepoint()) == members(ours)


@pytest.mark.oracle
def test_every_script_like_rust() -> None:
    listed = assigned()
    names = dict(entry.split("=") for entry in _unicode_data.SCRIPT_CODES.split())
    long_names = {code: name for name, code in names.items() if len(name) > 4}
    found = 0
    for code in _unicode_data.SCRIPTS:
        ours = members(unicode.script(long_names.get(code, code)))
        assert kept(rf"\p{{Script={code}}}", listed) == ours, code
        found += len(ours)
    assert found == len(set(listed) - members(unicode.category("Co")))


@pytest.mark.oracle
def test_every_case_orbit_like_rust() -> None:
    orbits = unicode.fold_orbits()
    # Codepoints with other cases in rust are those with an orbit here ...
    assert kept(r"(?i)[\p{Lu}\p{Ll}\p{Lt}\p{M}\p{Nl}\p{So}]", every_codepoint()) == (
        members(charset.fold(unicode.category("Lu", "Ll", "Lt", "M", "Nl", "So")))
    )
    # ... and each has the same ones.
    cased = sorted(orbits)
    for cp in cased:
        if cp == min(orbits[cp]):
            assert kept(rf"(?i)\x{{{cp:x}}}", cased) == set(orbits[cp]), hex(cp)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "pattern",
    [
        *(r"\w", r"[\w]", r"\d", r"\s", r"\h", r"\W"),
        *(f"[[:{name}:]]" for name in charset.POSIX_NAMES),
    ],
)
def test_sets_like_oniguruma(pattern: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    from pybpe.split import Stage

    split = tokenizers.pre_tokenizers.Split(
        tokenizers.Regex(f"(?:{pattern})+"), "removed", invert=True
    )
    text = "".join(map(chr, assigned()))
    theirs = {ord(char) for piece, _ in split.pre_tokenize_str(text) for char in piece}
    stage = Stage.compile(pattern, "oniguruma")
    assert {ord(text[start]) for start, _ in stage.match_spans(text)} == theirs


def test_white_space() -> None:
    spaces = members(unicode.binary("white_space"))
    assert len(spaces) == 25
    assert not spaces & set(range(0x1C, 0x20))
    assert {0x85, 0xA0, 0x2028, 0x3000} <= spaces
    assert 0x200B not in spaces


def test_case_folding() -> None:
    assert members(charset.fold(charset.single(ord("s")))) == {0x53, 0x73, 0x17F}
    assert members(charset.fold(charset.single(ord("K")))) == {0x4B, 0x6B, 0x212A}
    assert members(charset.fold(charset.single(ord("i")))) == {0x49, 0x69}
    assert members(charset.fold(charset.single(0x130))) == {0x130}
    assert members(charset.fold((0x61, 0x7B))) == {
        *range(0x41, 0x5B), *range(0x61, 0x7B), 0x17F, 0x212A,
    }  # fmt: skip
    assert unicode.multi_folds()[0xDF] == (0x73, 0x73)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("Letter", "L"),
        ("letter", "L"),
        ("Uppercase_Letter", "Lu"),
        ("uppercase letter", "Lu"),
        ("LU", "Lu"),
        ("Decimal-Number", "Nd"),
        ("Cased_Letter", "LC"),
        ("Alpha", "Alphabetic"),
        ("WSpace", "White_Space"),
        ("Han", "Hani"),
        ("old italic", "Ital"),
    ],
)
def test_property_names_match_loosely(name: str, same: str) -> None:
    assert unicode.property_set(name) == unicode.property_set(same)


def test_property_values() -> None:
    assert unicode.property_set("Script", "Greek") == unicode.script("Grek")
    assert unicode.property_set("sc", "Greek") == unicode.script("Grek")
    assert unicode.property_set("gc", "Lu") == unicode.category("Lu")
    assert unicode.property_set("Any") == unicode.EVERYTHING
    assert unicode.property_set("ASCII") == (0, 128)
    for name, value in (
        ("Foo", None),
        ("", None),
        ("sc", "Foo"),
        ("gc", "Q"),
        ("x", "L"),
    ):
        with pytest.raises(LookupError):
            unicode.property_set(name, value)


def test_set_algebra() -> None:
    left, right = (10, 20, 30, 40), (15, 35)
    assert charset.union([left, right]) == (10, 40)
    assert charset.intersection(left, right) == (15, 20, 30, 35)
    assert charset.difference(left, right) == (10, 15, 35, 40)
    assert charset.symmetric_difference(left, right) == (10, 15, 20, 30, 35, 40)
    assert charset.complement(left) == (0, 10, 20, 30, 40, unicode.N_CODEPOINTS)
    assert charset.complement(()) == unicode.EVERYTHING
    assert charset.complement(unicode.EVERYTHING) == ()
    assert charset.contains(left, 10)
    assert not charset.contains(left, 20)
    assert charset.from_codepoints([3, 1, 2, 2, 7]) == (1, 4, 7, 8)
