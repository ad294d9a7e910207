"""Character maps: as tokenizers applies them, as sentencepiece does, and damaged ones.

The plain ways to do it are in `clusters_reference`.
"""

from __future__ import annotations

import base64
import importlib
import json
import pickle
import random
import struct
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import growth
import pytest
from clusters_reference import plain_clusters, plain_map, plain_rules
from map_models import trained
from split_reference import SCALE
from tokenizer_json_random import NASTY, character_map, text

import pybpe
from pybpe import ModelError, NoOffsetsError, Tokenizer, _alignment, _clusters
from pybpe._character_maps import Table, packed, unpacked
from pybpe.formats import tokenizer_json
from pybpe.formats._map_steps import Rules, compiled, read, steps_of, written
from pybpe.formats._source import Source
from pybpe.model import Model
from pybpe.normalizers import CharacterRules, Precompiled, keep_start

EXAMPLES = int(3000 * SCALE)


@cache
def pools() -> list[list[str]]:
    """Return characters by kind, short ones apart: of those are what is looked up."""
    rng = random.Random(0)
    found = [list("abe \n\r"), list(NASTY), ["\U0001f1e9", "\uac00", "\uac01", "\xe9"]]
    for members in _clusters.members().values():
        some = rng.sample(sorted(members), min(len(members), 200))
        found.append([chr(c) for c in some])
        if short := [chr(c) for c in sorted(members) if c < 0x800]:
            found.append(short[:50])
    return found


def hostile(rng: random.Random, own: list[str], n: int = 12) -> str:
    """Return a text of characters that join, some of them from a map."""
    groups = [*rng.choices(pools(), k=4), own or ["a"]]
    return "".join(rng.choice(rng.choice(groups)) for _ in range(rng.randrange(n)))


@cache
def tool() -> Any:
    tools = str(Path(__file__).parent.parent / "tools")
    sys.path.insert(0, tools)
    try:
        return importlib.import_module("make_cluster_data")
    finally:
        sys.path.remove(tools)


# ------------------------------------------------------------------ clusters


def test_clusters_are_those_of_the_rules() -> None:
    rng = random.Random(1)
    for _ in range(EXAMPLES):
        string = hostile(rng, [])
        assert _clusters.clusters(string) == plain_clusters(string), ascii(string)


@pytest.mark.oracle
def test_clusters_are_those_of_tokenizers() -> None:
    pytest.importorskip("tokenizers")
    rng = random.Random(2)
    change = tool().CHANGE
    for _ in range(10 * EXAMPLES):
        string = hostile(rng, [])
        found = _clusters.clusters(string)
        expected = sum(1 if len(c.encode()) < 6 else len(c) for c in found)
        assert len(change(string)) == expected, ascii(string)


@pytest.mark.oracle
def test_the_kind_of_every_codepoint() -> None:
    """Short of what the tool asks: before and behind a letter, and before marks."""
    pytest.importorskip("tokenizers")
    points = [c for c in tool().CODEPOINTS if chr(c) not in "\r\n"]
    kinds = _clusters.kinds()
    assert tool().whose("a", "", points, 1) == {
        c for c in points if kinds[c] in _clusters.MARKS
    }
    assert tool().whose("", "\u0301\u0301", points, 2) - {
        c for c in points if kinds[c] in _clusters.MARKS
    } == {c for c in points if kinds[c] == "C"}
    assert tool().whose("", "a", points, 1) == {c for c in points if kinds[c] == "P"}


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.long
def test_tables_are_what_the_tool_makes(project_root: Path) -> None:
    pytest.importorskip("tokenizers")
    script = project_root / "tools" / "make_cluster_data.py"
    made = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True
    )
    module = project_root / "pybpe" / "_cluster_data.py"
    assert module.read_text("utf-8") == made.stdout


# ------------------------------------------------------------------ Precompiled


EXAMPLES_OF_CLUSTERS = [
    ({"a": "x"}, "a\u0301b", "xb"),  # the mark is lost
    ({"a": "x"}, "a\u0301\u0302\u0303", "x\u0301\u0302\u0303"),  # 7 bytes
    ({"a\u0301": "x", "a": "y"}, "a\u0301", "y"),  # the shortest
    ({"a\u0301": "x"}, "a\u0301\u0302a\u0301", "xx"),
    ({"ab": "x"}, "ab", "ab"),  # no cluster
    ({"\r": " "}, "\r\n\n\r", " \n "),
    ({"\u0600": ""}, "\u0600ab", "b"),
    ({"\u0301": "x"}, "a\u0301 \u0301", "ax x"),
    ({"\u0301": "x"}, "a\u0301\u0302\u0302", "ax\u0302\u0302"),
    ({"\u0301": "x"}, "\u0301\u0302", "x"),
    ({"\u1161": "x"}, "\u1100\u1161\uac00\u1161", "\u1100x\uac00x"),
    ({"\xa9": "c"}, "\xa9\u200d\xa9\u0301", "c\u200dc\u0301"),
    ({"\u0915": "k"}, "\u0915\u0301 \u0915\u094d\u0915\u0301", "k k\u094dk\u0301"),
    ({"\U0001f1e9": "D"}, "\U0001f1e9\U0001f1ea", "D\U0001f1ea"),
    ({"a": ""}, "aba\0a", "b\0"),
    ({"\ufb01": "fi"}, "\ufb01\u0301n", "fin"),
    ({"\ufb01": "fi"}, "\ufb01\u0301\u0301", "fi\u0301\u0301"),
]


@pytest.mark.parametrize(("rules", "string", "wanted"), EXAMPLES_OF_CLUSTERS)
def test_examples(rules: dict[str, str], string: str, wanted: str) -> None:
    assert Precompiled(compiled(rules)).apply(string) == wanted
    assert plain_map(rules, string) == wanted


def check_pieces(step: Precompiled | CharacterRules, string: str, made: str) -> None:
    """Check that pieces are all of a text, in order, and make what it becomes."""
    pieces = list(step.pieces(string))
    assert "".join(piece for _, _, piece in pieces) == made
    ends = [0, *(end for _, end, _ in pieces)]
    assert [begin for begin, _, _ in pieces] == ends[:-1]
    assert ends[-1] == len(string)
    aligned = _alignment.through(step, _alignment.unchanged(string, 0), True)
    assert aligned is not None
    assert aligned.text == made
    places = list(zip(aligned.begins, aligned.ends, strict=True))
    assert all(a <= c and b <= d for (a, b), (c, d) in pairwise(places))


@pytest.mark.parametrize("seed", range(40))
def test_random_maps(seed: int) -> None:
    rng = random.Random(seed)
    rules = character_map(rng)
    step = Precompiled(compiled(rules))
    own = [*rules, *"".join(rules)]
    for _ in range(EXAMPLES // 30):
        string = hostile(rng, own) if rng.random() < 0.5 else text(rng, own)
        made = step.apply(string)
        assert made == plain_map(rules, string), ascii((rules, string))
        check_pieces(step, string, made)
        if step.leaves(string.encode()):
            assert made == string


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(40))
def test_random_maps_of_tokenizers(seed: int) -> None:
    theirs = pytest.importorskip("tokenizers").normalizers.Precompiled
    rng = random.Random(1000 + seed)
    rules = character_map(rng)
    table = compiled(rules)
    ours, change = Precompiled(table), theirs(table).normalize_str
    own = [*rules, *"".join(rules)]
    for _ in range(EXAMPLES // 10):
        string = hostile(rng, own) if rng.random() < 0.7 else text(rng, own)
        assert ours.apply(string) == change(string), ascii((rules, string))


@pytest.mark.oracle
def test_the_map_of_sentencepiece() -> None:
    theirs = pytest.importorskip("tokenizers").normalizers.Precompiled
    pytest.importorskip("sentencepiece")
    model: Any = trained()._model
    table = model.normalizer.charsmap
    ours, change = Precompiled(table), theirs(table).normalize_str
    rng = random.Random(3)
    rules = Table(table).rules()
    own = [*rng.sample(sorted(rules), 500), *"".join(rng.sample(sorted(rules), 500))]
    for _ in range(5 * EXAMPLES):
        string = hostile(rng, own) if rng.random() < 0.7 else text(rng, own)
        made = ours.apply(string)
        assert made == change(string), ascii(string)
        check_pieces(ours, string, made)
    characters = "".join(map(chr, tool().CODEPOINTS))
    assert ours.apply(characters) == change(characters)


def test_bytes_that_are_no_text_stay_and_stand_alone() -> None:
    step = Precompiled(compiled({"a": "x", "\u0600": "", "\u0301": "y", "\xe9": "z"}))
    for data, wanted in [
        (b"\xffa\xc3", b"\xffx\xc3"),
        (b"\xd8\x80\xff\xd8\x80a", b"\xff"),
        (b"\xff\xcc\x81", b"\xffy"),
        (b"\xc3", b"\xc3"),
    ]:
        string = data.decode("utf-8", "surrogateescape")
        assert step.apply(string).encode("utf-8", "surrogateescape") == wanted


def test_steps_are_values() -> None:
    table = compiled({"a": "b"})
    step = Precompiled(table)
    assert step == Precompiled(compiled({"a": "b"}))
    assert pickle.loads(pickle.dumps(step)) == step
    assert len(repr(step)) < 80
    rules = CharacterRules("ab\0c\0", "x\0", "a\0b\0")
    assert pickle.loads(pickle.dumps(rules)) == rules
    assert rules != CharacterRules("", "x\0", "a\0b\0")
    assert "<1 and 1 rules>" in repr(rules)
    with pytest.raises(ValueError, match=r"tables of 'tokenizers 0\.1'"):
        Precompiled(table, "tokenizers 0.1")


@pytest.mark.parametrize("unit", ["\u0301", "\u094d\u0915", "\u200d\xa9", "a\u0301"])
@pytest.mark.parametrize("lead", ["a", "\u0915", "\u0600", "\u1100"])
def test_time_is_linear(lead: str, unit: str) -> None:
    step = Precompiled(compiled({"a": "x", "a\u0301": "y", "\u0915\u094d": "z"}))
    rules = CharacterRules("a\u0301\0b\0", "", "x\0y\0")
    for each in (step, rules):
        growth.check_linear(each.apply, lambda n: lead + unit * n, 100)


# ------------------------------------------------------------------ damage


def test_a_map_may_be_damaged_anywhere() -> None:
    """It is refused, or leads nowhere: no look-up fails."""
    rng = random.Random(4)
    good = compiled({"a": "x", "a\u0301": "yy", "\u0600": "\xe9", "\uff21": "A"})
    refused = 0
    strings = ["a\u0301", "\u0600\uff21", "\xff\U0001f600\u0915\u0301", "\0\x7f\n"]
    for _ in range(EXAMPLES // 10):
        bad = bytearray(good)
        for _ in range(rng.choice([1, 5])):
            at = rng.randrange(rng.choice([len(bad), 2000])) % len(bad)
            bad[at] = rng.choice([0, 1, 0x61, 0x80, 0xFF, rng.randrange(256)])
        if rng.random() < 0.1:
            del bad[rng.randrange(len(bad)) :]
        try:
            step = Precompiled(bytes(bad))
        except ValueError:
            refused += 1
            continue
        for string in strings:
            check_pieces(step, string, step.apply(string))
    assert 0 < refused < EXAMPLES // 10


def endless(most: int) -> bytes:
    """Return a map of which the only node is its own child, by all bytes up to one."""
    cells = [1 << 31] * 512
    cells[0] = 256 << 10
    for label in range(1, most + 1):
        cells[256 ^ label] = label | label << 10 | 0x100
    return struct.pack("<I512I", 2048, *cells) + b"Q\0"


def test_maps_without_end() -> None:
    step = Precompiled(endless(255))
    assert step.apply("a\u0301\U0001f600") == "QQ"
    for most, said in [(1, "too long"), (127, "too many"), (255, "can't decode")]:
        with pytest.raises(ValueError, match=said):
            Table(endless(most)).rules()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "must be a str"),
        ("", "0 bytes, of which 0"),
        ("!!!", "cannot be used"),
        ("\xe9", "cannot be used"),
        (base64.b64encode(compiled({"a": "b"})[:-1]).decode(), "has no end"),
        (base64.b64encode(compiled({"a": "b"})[:-2] + b"\xff\0").decode(), "no UTF-8"),
        (base64.b64encode(b"\0\4\0\0" + b"\x7f" * 1024 + b"\0").decode(), "cell 0"),
    ],
)
def test_damage_is_refused_by_name(value: object, said: str) -> None:
    part = {"type": "Precompiled", "precompiled_charsmap": value}
    with pytest.raises(ModelError, match=said) as caught:
        load(normalizer=part)
    assert "normalizer" in str(caught.value)


@pytest.mark.parametrize(
    ("joined", "kept", "single"),
    [
        ("", "", "a"),
        ("", "", "a\0"),
        ("", "", "ab\0c\0"),
        ("", "", "b\0c\0a\0c\0"),
        ("", "", "a\0c\0a\0d\0"),
        ("a\0b\0", "", ""),
        ("a" * 17 + "\0b\0", "", ""),
        ("", "x", ""),
        ("", "\0", ""),
    ],
)
def test_damaged_rules_are_refused(joined: str, kept: str, single: str) -> None:
    with pytest.raises(ValueError, match="its rules"):
        CharacterRules(joined, kept, single)


# ------------------------------------------------------------------ rules


@pytest.mark.parametrize("seed", range(30))
def test_random_rules(seed: int) -> None:
    rng = random.Random(seed)
    letters = [*"abe\u0301\u0302\U0001f600\uff21\xe9\x01"]
    single = {c: rng.choice(["", "x", "fi", "a", "b"]) for c in rng.sample(letters, 3)}
    stay = [c for c in letters if c not in single]
    joins = {
        "".join(rng.choices(stay, k=rng.choice([2, 2, 3]))): rng.choice(["J", "", "ab"])
        for _ in range(rng.choice([1, 4, 9]))
    }
    # A symbol is of letters that no rule changes, but for the first of several.
    free = [c for c in stay if not any(c in key[1:] for key in joins)]
    kept = ["".join(rng.choices(free, k=2)) for _ in range(2)] if free else []
    spelt = dict(single)
    for key, value in joins.items():
        forms = [""]
        for char in key:
            like = [c for c, made in single.items() if made == char]
            forms = [form + c for form in forms for c in (char, *like)]
        spelt.update(dict.fromkeys(forms, value))
    step = CharacterRules(
        packed(joins), "".join(f"{s}\0" for s in dict.fromkeys(kept)), packed(single)
    )
    own = [*letters, *kept]
    for _ in range(EXAMPLES // 30):
        string = "".join(rng.choice(own) for _ in range(rng.randrange(12)))
        made = step.apply(string)
        assert made == plain_rules(spelt, string, kept), ascii((spelt, kept, string))
        check_pieces(step, string, made)


def test_rules_come_back_from_their_steps() -> None:
    rng = random.Random(5)
    single = {"\x01": "", "\x02": "", "\uff21": "A", "\ufb01": "fi", "\t": " "}
    marks = ["\u0300", "\u0301", "\u0308"]
    nfc = pybpe.normalizers.UnicodeForm("NFC").apply
    composed = {c + m: nfc(c + m) for c in "aeiou" for m in marks}
    composed |= {"\xfc\u0301": "\u01d8", "a\u0308\u0301": "q"}
    for kept in ([], ["<x>", "ab|", "a\\b"]):
        parts = steps_of(Rules(single, composed), kept)
        found = read([*parts, {"type": "NFD"}])
        assert found is not None
        step, n = found
        assert n == len(parts)
        assert unpacked(step.single) == single
        assert unpacked(step.joined) == composed
        assert sorted(step.kept.split("\0")) == sorted(["", *kept])
        # Other steps are not what we write, or what we write for other rules.
        n_refused = 0
        for _ in range(50):
            other = json.loads(json.dumps(parts))
            i = rng.randrange(len(other))
            if rng.random() < 0.3:
                del other[i]
            elif other[i]["type"] == "Replace":
                other[i]["content"] += "x"
            elif other[i]["type"] == "Precompiled":
                table = compiled({**single, "q": "r"})
                other[i]["precompiled_charsmap"] = base64.b64encode(table).decode()
            else:
                other[i]["type"] = "NFKC"
            changed = read(other)
            n_refused += changed is None
            if changed is not None:
                assert written(changed[0]) == other[: changed[1]]
                assert changed[0] != step
        assert n_refused > 20


# ------------------------------------------------------------------ models


def load(**parts: Any) -> Tokenizer:
    """Read a tokenizer.json of letters with some parts around it."""
    return loaded(document(**parts))


def loaded(built: dict[str, Any]) -> Tokenizer:
    source = Source("x", data=json.dumps(built).encode())
    return Tokenizer(tokenizer_json.read(source))


def document(**parts: Any) -> dict[str, Any]:
    letters = sorted({*NASTY, *"abcdefghijklmnopqrstuvwxyz \u2581_"})
    model = {
        "type": "BPE",
        "vocab": {c: i for i, c in enumerate(["<u>", *letters])},
        "merges": [],
        "unk_token": "<u>",
    }
    return {"version": "1.0", "model": model, **parts}


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(30))
def test_ids_with_maps_and_marks_before_the_first(seed: int) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    rng = random.Random(seed)
    rules = character_map(rng)
    table = base64.b64encode(compiled(rules)).decode()
    parts: list[dict[str, Any]] = [
        {"type": "Precompiled", "precompiled_charsmap": table}
    ]
    if rng.random() < 0.5:
        parts.insert(rng.choice([0, 1]), {"type": rng.choice(["NFKC", "Lowercase"])})
    scheme = rng.choice(["first", "first", "always", "never"])
    built = document(
        normalizer={"type": "Sequence", "normalizers": parts},
        pre_tokenizer={
            "type": "Metaspace",
            "replacement": "\u2581",
            "prepend_scheme": scheme,
            "split": rng.random() < 0.5,
        },
        added_tokens=[
            {
                "id": 1000,
                "content": "<s>",
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
        ],
    )
    ours = loaded(built)
    again = Tokenizer.from_bytes(ours.to_bytes())
    assert again == ours
    assert again.to_bytes() == ours.to_bytes()
    theirs = tokenizers.Tokenizer.from_str(json.dumps(built))
    own = [*rules, "<s>", *"".join(rules)]
    for _ in range(EXAMPLES // 30):
        string = hostile(rng, own) if rng.random() < 0.6 else text(rng, own)
        ids = ours.encode(string, allowed_special="all")
        expected = theirs.encode(string, add_special_tokens=False).ids
        assert ids == expected, ascii((rules, string))
        try:
            assert ours.encode_with_offsets(string, allowed_special="all")[0] == ids
        except NoOffsetsError as error:
            refused = str(error)
        else:
            refused = ""
        assert "Precompiled" not in refused


def test_places_of_clusters() -> None:
    table = base64.b64encode(compiled({"e": "x", "\ufb01": "fi"})).decode()
    tok = load(normalizer={"type": "Precompiled", "precompiled_charsmap": table})
    _, places = tok.encode_with_offsets("ae\u0301\ufb01b")
    assert places == [(0, 1), (1, 3), (3, 4), (3, 4), (4, 5)]


def test_whether_the_start_is_kept() -> None:
    step = Precompiled(compiled({"a": ""}))
    assert keep_start((step,), "ab")  # That is how tokenizers counts.
    rules = CharacterRules("ab\0\0", "", "x\0\0")
    assert not keep_start((rules,), "abc")
    assert not keep_start((rules,), "xbc")
    assert keep_start((rules,), "acx")


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("symbols", "add_dummy_prefix", "remove_extra_whitespaces", "byte_fallback"),
    [
        ("", True, True, False),
        ("<x> <tool> ab", True, True, True),
        ("<x> <tool> ab", False, False, True),
        ("", True, False, True),
        ("<x> ab a|b\\", False, True, False),
    ],
)
def test_models_come_back(
    symbols: str,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    byte_fallback: bool,
    tmp_path: Path,
) -> None:
    """From sentencepiece's rules to a tokenizer.json, to our own file, and back."""
    pytest.importorskip("tokenizers")
    pytest.importorskip("sentencepiece")
    tok = trained(
        symbols=symbols,
        add_dummy_prefix=add_dummy_prefix,
        remove_extra_whitespaces=remove_extra_whitespaces,
        byte_fallback=byte_fallback,
    )
    path = tmp_path / "tokenizer.json"
    tok.save_as(path)
    back = pybpe.load(path)
    kinds = [type(step) for step in back._model.normalizers]
    assert kinds.count(CharacterRules) == 1
    saved = back.to_bytes()
    again = Tokenizer.from_bytes(saved)
    assert again == back
    assert again.to_bytes() == saved
    (tmp_path / "again").mkdir()
    again.save_as(tmp_path / "again" / "tokenizer.json")
    assert pybpe.load(tmp_path / "again" / "tokenizer.json") == back
    rng = random.Random(6)
    model: Any = tok._model
    rules = Table(model.normalizer.charsmap).rules()
    own = [*rng.sample(sorted(rules), 300), *symbols.split(), "<c>", "  ", "\x01\x02"]
    own += ["e\u0301", "ab\u0301", "\x02\u0301", "\u30ab\u3099"]
    for _ in range(EXAMPLES // 3):
        string = hostile(rng, own) if rng.random() < 0.7 else text(rng, own)
        ids = tok.encode(string, allowed_special="all")
        assert back.encode(string, allowed_special="all") == ids, ascii(string)
        assert again.encode(string, allowed_special="all") == ids
        if "<c>" not in string:  # which sentencepiece leaves out
            assert back.decode(ids) == tok.decode(ids)


def test_rules_that_no_file_can_hold(tmp_path: Path) -> None:
    model: Any = load()._model
    parts = {name: getattr(model, name) for name in model.__slots__}
    parts["normalizers"] = (CharacterRules("", "", "a\0b\0"),)
    made = Tokenizer(Model(**parts))
    with pytest.raises(ModelError, match="no steps that do what"):
        made.save_as(tmp_path / "tokenizer.json")
