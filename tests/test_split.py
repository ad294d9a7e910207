"""The Split and Stage objects: making, comparing, storing, and running on bytes."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from array import array
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from split_reference import by_core, ways

from pybpe.split import Split, Stage, pattern_names
from pybpe.split.patterns import NAMED

MIXED = [r"\p{N}{1,3}", r"\b\w+\b|\s+", r"[ab]+"]  # the second has no tables


def test_no_split_is_one_pretoken() -> None:
    split = Split.from_pattern(None)
    assert split == Split()
    assert split.stages == ()
    assert split.compiled
    assert split.pretokens("a b") == ["a b"]
    assert split.pretokens("") == []
    assert list(split.ends(b"a b")) == [3]
    assert list(split.ends(b"")) == []


def test_from_pattern_takes_what_users_write() -> None:
    split = Split.from_pattern("gpt2")
    assert Split.from_pattern(split) is split
    assert Split.from_pattern(split.stages) == split
    assert Split.from_pattern(list(split.stages)) == split
    assert Split.from_pattern(NAMED["gpt2"][1][0]) == split
    assert Split.from_pattern(["digits", "gpt2"]).stages == (
        *Split.from_pattern("digits").stages,
        *split.stages,
    )


@pytest.mark.parametrize("name", ["gpt3", "cl100", "wordpiece", "O200K", "gpt-4", "12"])
def test_unknown_name_lists_the_known(name: str) -> None:
    with pytest.raises(ValueError, match="unknown split pattern") as caught:
        Split.from_pattern(name)
    message = str(caught.value)
    assert repr(name) in message
    assert all(known in message for known in pattern_names())


@pytest.mark.parametrize("pattern", [b"a+", 7, {"a+"}, object(), [b"a+"], [None]])
def test_other_types_are_refused(pattern: object) -> None:
    with pytest.raises(TypeError):
        Split.from_pattern(pattern)  # type: ignore[arg-type]


def test_name_with_another_dialect_is_refused() -> None:
    assert Split.from_pattern("gpt2", "rust").name == "gpt2"
    with pytest.raises(ValueError, match="is of the rust dialect, not 'oniguruma'"):
        Split.from_pattern("gpt2", "oniguruma")


def test_names_follow_the_content() -> None:
    for name, (dialect, patterns) in NAMED.items():
        assert Split.from_pattern(list(patterns), dialect).name == name
    assert Split.from_pattern("a+|b").name is None


def test_equality_and_hash_are_by_content() -> None:
    stage = Stage.compile("a+|b")
    other = Stage.compile("b|a+")
    assert stage == Stage.compile("a+|b")
    assert len({stage, Stage.compile("a+|b"), other}) == 2
    assert stage != Stage.compile("a+|b", "regex")
    assert stage != Stage.compile("a+|b", tables=False)
    assert stage != "a+|b"
    assert Split([stage]) == Split([stage])
    assert Split([stage]) != Split([stage, stage])
    assert Split([stage]) != [stage]
    assert len({Split([stage]), Split([stage]), Split()}) == 2


@pytest.mark.parametrize("pattern", [*NAMED, None, MIXED, r"\bx+"])
def test_pickles_by_content(pattern: str | list[str | Stage] | None) -> None:
    split = Split.from_pattern(pattern)
    again = pickle.loads(pickle.dumps(split))
    assert again == split
    assert hash(again) == hash(split)
    assert again.name == split.name
    assert again.compiled == split.compiled
    text = "Hello  world's 1234 \u00e9\n"
    assert again.pretokens(text) == split.pretokens(text)


def test_objects_cannot_be_changed() -> None:
    split = Split.from_pattern("gpt2")
    with pytest.raises(AttributeError, match="cannot be changed"):
        split.name = "x"
    with pytest.raises(AttributeError, match="cannot be changed"):
        split.stages[0].pattern = "x"


def test_repr_tells_how_it_runs() -> None:
    assert repr(Split.from_pattern("gpt2")) == "<Split gpt2>"
    assert repr(Split.from_pattern("a+")) == "<Split ['a+']>"
    assert "3 states" in repr(Stage.compile("a+"))
    assert "before the match" in repr(Stage.compile(r"\ba"))


def parts(stage: Stage) -> dict[str, object]:
    made_of = set(inspect.signature(Stage).parameters)
    return {name: getattr(stage, name) for name in sorted(made_of)}


def test_stage_from_stored_tables_compiles_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Split.from_pattern("cl100k").stages[0]
    monkeypatch.setattr("pybpe.split.stage._compile", None)
    again = Stage(**parts(stage))  # type: ignore[arg-type]
    assert again == stage
    wide = Stage(**(parts(stage) | {"class_ids": array("H", list(stage.class_ids))}))  # type: ignore[arg-type]
    assert wide == stage
    assert again.match_spans("a b") == [(0, 1), (1, 3)]


def test_stored_tables_are_not_compared_with_the_pattern() -> None:
    stage = Split.from_pattern("cl100k").stages[0]
    future = parts(stage) | {"pattern": r"(?<new>syntax)\Q", "unicode_version": "99.0"}
    assert Stage(**future).match_spans("a b") == [(0, 1), (1, 3)]  # type: ignore[arg-type]


def starting(stage: Stage, first: int) -> array[int]:
    return array("I", [first, *stage.class_starts[1:]])


Change = Callable[[Stage], dict[str, object]]
BAD_TABLES: list[tuple[str, Change]] = [
    ("unknown dialect", lambda s: {"dialect": "perl"}),
    ("behavior", lambda s: {"behavior": "sideways"}),
    ("0 classes", lambda s: {"n_classes": 0}),
    ("256 classes", lambda s: {"n_classes": 256}),
    ("1 states", lambda s: {"n_states": 1}),
    ("5000 states", lambda s: {"n_states": 5000}),
    ("for 16 states", lambda s: {"n_states": s.n_states - 1}),
    ("203 transitions", lambda s: {"transitions": s.transitions[:-1]}),
    ("1638 class ids", lambda s: {"class_ids": s.class_ids[:-1]}),
    ("start at 0", lambda s: {"class_starts": array("I"), "class_ids": b""}),
    ("not start at 0", lambda s: {"class_starts": starting(s, 1)}),
    ("not ascending", lambda s: {"class_starts": starting(s, 0)[:1] * 1639}),
    ("not ascending codepoints", lambda s: {"class_starts": last_start(s, 0x110000)}),
    ("class id 11 of", lambda s: {"class_ids": b"\x0b" + bytes(s.class_ids[1:])}),
    ("class id 300", lambda s: {"class_ids": array("H", [300, *s.class_ids[1:]])}),
    ("does not exist", lambda s: {"transitions": changed(s, -2, s.n_states)}),
    ("dead state has", lambda s: {"transitions": changed(s, 0, 1)}),
    ("does not end the scan", lambda s: {"transitions": changed(s, -1, 2)}),
    ("can be empty", lambda s: {"transitions": changed(s, s.n_classes + 1, 0x8002)}),
    ("other character classes", lambda s: {"n_states": 0}),
]


def last_start(stage: Stage, last: int) -> array[int]:
    return array("I", [*stage.class_starts[:-1], last])


def changed(stage: Stage, index: int, value: int) -> array[int]:
    copy = stage.transitions[:]
    copy[index] = value
    return copy


@pytest.mark.parametrize(
    ("message", "change"), BAD_TABLES, ids=[message for message, _ in BAD_TABLES]
)
def test_bad_tables_are_refused(message: str, change: Change) -> None:
    stage = Split.from_pattern("cl100k").stages[0]
    with pytest.raises(ValueError, match=message):
        Stage(**(parts(stage) | change(stage)))  # type: ignore[arg-type]


def test_stage_without_tables_needs_the_same_unicode() -> None:
    stage = Stage.compile(r"\b\w+")
    assert Stage(**parts(stage)) == stage  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"Unicode 15\.1"):
        Stage(**(parts(stage) | {"unicode_version": "15.1"}))  # type: ignore[arg-type]
    starts = stage.class_starts[:-1]
    with pytest.raises(ValueError, match="other character classes"):
        Stage(**(parts(stage) | {"class_starts": starts}))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has no tables: it looks at the text before"):
        _ = stage.tables


def test_stages_cut_matches_and_gaps_alike() -> None:
    split = Split.from_pattern(["a+", "[b]"])
    for name, cut in ways(split):
        assert cut("aabxb") == ["aa", "b", "x", "b"], name
    # The edges of a span are the ends of the text for the next stage.
    split = Split.from_pattern([r"\d", r"x+(?!\S)|."])
    for name, cut in ways(split):
        assert cut("xx1xxy") == ["xx", "1", "x", "x", "y"], name


def test_gaps_are_maximal_runs() -> None:
    for name, cut in ways(Split.from_pattern("a+b")):
        assert cut("xxabyyaab") == ["xx", "ab", "yy", "aab"], name
        assert cut("aaa") == ["aaa"], name


PATTERNS = ["gpt2", "cl100k", "o200k", "deepseek_v3", MIXED, r"[\x{fffd}]+|[^\x{fffd}]"]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(data=st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
def test_any_bytes_are_cut_without_loss(
    pattern: str | list[str | Stage], data: bytes
) -> None:
    split = Split.from_pattern(pattern)
    ends = split.ends(data)
    assert list(ends) == sorted(set(ends))
    assert (ends[-1] if ends else 0) == len(data)
    assert 0 not in ends
    # An invalid byte is cut as U+FFFD would be.
    text = data.decode("utf-8", "surrogateescape")
    replaced = "".join(
        "\ufffd" if 0xDC80 <= ord(char) < 0xDD00 else char for char in text
    )
    lengths = [len(char.encode("utf-8", "surrogateescape")) for char in text]
    at, expected = 0, []
    for piece in split.pretokens(replaced):
        at += len(piece)
        expected.append(sum(lengths[:at]))
    assert list(ends) == expected


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "deepseek_v3"])
@given(data=st.binary(max_size=60))
def test_core_cuts_any_bytes_like_the_reference(name: str, data: bytes) -> None:
    split = Split.from_pattern(name)
    if by_core(split) is None:
        pytest.skip("the core has not been built")
    from pybpe import _binding

    handle = _binding.new_split(split.stages)
    assert list(_binding.split_ends(handle, data)) == list(split.ends(data))


def test_compiled_stages_of_a_mixed_split_can_run_elsewhere() -> None:
    split = Split.from_pattern(MIXED)
    assert not split.compiled
    assert [stage.compiled for stage in split.stages] == [True, False, True]
    ran = []

    def run(stage: Stage, span: bytes) -> array[int]:
        ran.append(stage)
        return Split([stage]).ends(span)

    data = "ab 12345 ab\u00e9\u4f60-x".encode() + b"\xff\xe4\xbda\xff"
    assert split.ends(data, run) == split.ends(data)
    assert set(ran) == {split.stages[0], split.stages[2]}
    assert list(split.ends(b"", run)) == []


def test_lone_surrogates_count_as_replacement_characters() -> None:
    split = Split.from_pattern(r"\p{So}|a")
    assert split.pretokens("a\ud800a") == ["a", "\ud800", "a"]


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, pybpe.split\n"
        "heavy = {'regex', 'numpy', 'unicodedata', 'pybpe._unicode_data',"
        " 'pybpe.split.dfa', 'pybpe.split.syntax'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_shared_cannot_be_changed() -> None:
    stage = Split.from_pattern("gpt2").stages[0]
    same = Split.from_pattern("gpt2").stages[0]
    for i in range(len(stage.transitions)):
        stage.transitions[i] = 0
    del stage.class_starts[4:]
    for thing in (stage, Split.from_pattern("gpt2")):
        for name in ("stages", "transitions", "pattern"):
            with pytest.raises(AttributeError):
                delattr(thing, name)
            with pytest.raises(AttributeError):
                setattr(thing, name, None)
    assert stage == same
    assert Split.from_pattern("gpt2").pretokens("a bc") == ["a", " bc"]


def test_a_surrogate_in_a_pattern_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="position 2: a surrogate"):
        Split.from_pattern("a|\ud800")
