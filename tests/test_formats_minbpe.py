"""minbpe's `.model` files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pybpe
from pybpe import ModelError, Tokenizer
from pybpe.split.patterns import GPT4

MERGES = [(104, 101), (108, 108), (256, 257)]


def model_file(
    pattern: str = "",
    special: dict[str, int] | None = None,
    merges: list[tuple[int, int]] = MERGES,
) -> str:
    """Return what minbpe writes."""
    lines = ["minbpe v1", pattern, str(len(special or {}))]
    lines += [f"{token} {number}" for token, number in (special or {}).items()]
    lines += [f"{left} {right}" for left, right in merges]
    return "".join(line + "\n" for line in lines)


Load = Callable[..., Tokenizer]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load_text(text: str | bytes, **options: Any) -> Tokenizer:
        path = tmp_path / "mine.model"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return pybpe.load(path, **options)

    return load_text


def test_basic(load: Load) -> None:
    tok = load(model_file())
    assert tok == Tokenizer.from_merges(MERGES, pattern=None)
    assert tok.encode("hello") == [258, 111]


def test_regex(load: Load) -> None:
    tok = load(model_file(GPT4))
    assert tok == Tokenizer.from_merges(MERGES, pattern="gpt4")
    assert tok.split.name == "gpt4"


def test_other_patterns_are_of_the_regex_package(load: Load) -> None:
    tok = load(model_file(r" ?\w+|\W"))
    assert [(s.pattern, s.dialect) for s in tok.split.stages] == [
        (r" ?\w+|\W", "regex")
    ]


def test_a_word_is_no_patterns_name(load: Load) -> None:
    assert load(model_file("gpt2")).pattern == "gpt2"
    assert load(model_file("gpt2")).split.name is None


def test_groups_do_not_lose_text(load: Load) -> None:
    tok = load(model_file(r"(\w+)| "))
    assert tok.decode(tok.encode("hi yo")) == "hi yo"


def test_spaces_at_the_end_of_a_pattern(load: Load) -> None:
    """minbpe strips them when it loads; the file has what was trained with."""
    assert load(model_file(r"\w+| ")).pattern == r"\w+| "


def test_special_tokens(load: Load) -> None:
    special = {"<|endoftext|>": 100257, "a b": 100258, " c": 100259, "\u4f60": 100260}
    tok = load(model_file(GPT4, special))
    assert tok == Tokenizer.from_merges(MERGES, pattern="gpt4", special_tokens=special)
    ids = tok.encode("hell<|endoftext|>a b", allowed_special="all")
    assert ids == [258, 100257, 100258]


def test_options(load: Load) -> None:
    tok = load(
        model_file(GPT4, {"<s>": 300}), pattern="gpt2", special_tokens={"<t>": 9999}
    )
    assert tok == Tokenizer.from_merges(
        MERGES, pattern="gpt2", special_tokens={"<t>": 9999}
    )


def test_windows(load: Load) -> None:
    data = model_file(GPT4, {"\u4f60": 300}).replace("\n", "\r\n")
    assert load(data) == load(model_file(GPT4, {"\u4f60": 300}))


def test_no_merges_and_no_newline_at_the_end(load: Load) -> None:
    assert load(model_file(merges=[])) == Tokenizer.from_merges([], pattern=None)
    assert load(model_file()[:-1]) == load(model_file())


def test_tokens_that_two_merges_make(load: Load) -> None:
    merges = [(97, 97), (256, 97), (97, 256)]
    tok = load(model_file(merges=merges))
    assert tok == Tokenizer.from_merges(merges, pattern=None)
    assert tok.encode("aaa") == [257]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("minbpe v2\n\n0\n", "first line is 'minbpe v2'"),
        ("minbpe v1\n", "ends before its third line"),
        ("minbpe v1\n\n", "line 3 must be the number|ends before its third"),
        ("minbpe v1\n\nx\n", "line 3 must be the number of special tokens"),
        ("minbpe v1\na\nb\n0\n", "pattern with a line end"),
        ("minbpe v1\n\n-1\n", "line 3 must be"),
        ("minbpe v1\n\n2\n<s> 256\n", "announces 2 special tokens and ends at line 4"),
        ("minbpe v1\n\n1\n<s>\n", "line 4 must be a special token"),
        ("minbpe v1\n\n1\n<s> x\n", "line 4 must be a special token"),
        ("minbpe v1\n\n1\n 256\n", "line 4 must be a special token"),
        ("minbpe v1\n\n1\n<s> 99999999\n", "line 4 must be a special token"),
        ("minbpe v1\n\n2\n<s> 256\n<s> 257\n", "a special token is there twice"),
        ("minbpe v1\n\n2\n<s> 256\n<t> 256\n", "share the id 256"),
        ("minbpe v1\n\n1\n<s> 256\n97 98\n", "id 256 of b'<s>' already stands"),
        ("minbpe v1\n\n0\n97\n", "line 4 must be two ids, and is '97'"),
        ("minbpe v1\n\n0\n97 98 99\n", "line 4 must be two ids"),
        ("minbpe v1\n\n0\n97  98\n", "line 4 must be two ids"),
        ("minbpe v1\n\n0\n\n97 98\n", "line 4 must be two ids"),
        ("minbpe v1\n\n0\n97 256\n", "line 4 merges 97 and 256, but only .* below 256"),
        ("minbpe v1\n(\n0\n97 98\n", "its pattern cannot be used"),
        (b"minbpe v1\n\xff\n0\n97 98\n", "line 2 is not UTF-8"),
        (
            "minbpe v1\n\n0\n" + "".join(f"{i} {i}\n" for i in (97, *range(256, 280))),
            "line 24 makes a token of 2,097,152 bytes",
        ),
    ],
    ids=range(22),
)
def test_bad_files(load: Load, text: str | bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        load(text)
    assert "mine.model" in str(caught.value)


def test_every_cut(load: Load) -> None:
    text = model_file(GPT4, {"<s>": 300}, [(104, 101), (256, 108)])
    n_loaded = 0
    for end in range(len(text)):
        try:
            load(text[:end])
        except ModelError:
            continue
        n_loaded += 1
    # Merges are not counted in the file: "256 10" is a merge too, and so is none.
    assert n_loaded <= 12


def test_the_file_for_people(tmp_path: Path) -> None:
    (tmp_path / "mine.vocab").write_text("[\\u0000] 0\n[\\u0001] 1\n")
    with pytest.raises(ModelError, match=r"minbpe \.vocab file.*give the \.model file"):
        pybpe.load(tmp_path / "mine.vocab")


def test_trained_here(load: Load, data_path: Callable[[str], Path]) -> None:
    """What minbpe would write of a vocabulary reads back as that vocabulary."""
    text = data_path("corpora/taylorswift.txt").read_text(encoding="utf-8")
    trained = pybpe.train([text], 512, pattern="gpt4")
    special = {"<|endoftext|>": 100257}
    tok = load(model_file(GPT4, special, trained.merges))
    assert tok.merges == trained.merges
    assert tok.encode(text) == trained.encode(text)
    assert tok.special_tokens == special


def test_a_merge_that_is_there_twice(load: Load) -> None:
    with pytest.raises(ModelError, match="line 7 merges 104 and 101 again"):
        load(model_file(merges=[*MERGES, (104, 101)]))
