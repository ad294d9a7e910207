"""`encode_with_offsets`: places are those that the bytes of tokens have."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import text_models
from text_models import END, PUBLISHED, SMALL

import pybpe
from pybpe import NoOffsetsError, Tokenizer, _alignment, normalizers


@pytest.fixture(scope="module", params=[*SMALL[:3], *PUBLISHED])
def tok(request: pytest.FixtureRequest, data_path: Callable[[str], Path]) -> Tokenizer:
    return text_models.model(request.param, data_path)


def is_pieces(tok: Tokenizer) -> bool:
    return "sentencepiece" in repr(tok)


OPTIONS: list[dict[str, Any]] = [
    {"disallowed_special": ()},
    {"allowed_special": "all"},
]


def check_bytes(tok: Tokenizer, text: str | bytes, options: dict[str, Any]) -> bool:
    """Check places in bytes; return whether there are any."""
    data = text.encode() if isinstance(text, str) else text
    expected = tok.encode(text, **options)
    try:
        ids, spans = tok.encode_with_offsets(text, unit="bytes", **options)
    except NoOffsetsError:
        return False
    assert ids == expected
    assert len(spans) == len(ids)
    assert all(0 <= begin <= end <= len(data) for begin, end in spans)
    if is_pieces(tok):
        return True
    if b"".join(map(tok.token_bytes, ids)) != data:
        assert all(a <= c and b <= d for (a, b), (c, d) in pairwise(spans))
        return True
    for number, (begin, end) in zip(ids, spans, strict=True):
        assert data[begin:end] == tok.token_bytes(number)
    ends = [0, *(end for _, end in spans)]
    assert [begin for begin, _ in spans] == ends[:-1]
    assert ends[-1] == len(data)
    return True


def test_places_in_bytes(tok: Tokenizer) -> None:
    done = 0
    for text in text_models.texts(1, 60):
        for options in OPTIONS:
            done += check_bytes(tok, text, options)
    assert done > 60


def test_places_in_bytes_that_are_not_utf8(tok: Tokenizer) -> None:
    done = 0
    for data in text_models.broken(2, 50):
        for options in OPTIONS:
            done += check_bytes(tok, data, options)
    assert done > 50


def character_of_byte(text: str, errors: str = "strict") -> list[int]:
    """Return the number of the character that each byte belongs to, slowly."""
    found = []
    for i, char in enumerate(text):
        found += [i] * len(char.encode("utf-8", errors))
    return found


def check_characters(
    spans: list[tuple[int, int]], places: list[tuple[int, int]], owner: list[int]
) -> None:
    n = owner[-1] + 1 if owner else 0
    for (begin, end), place in zip(spans, places, strict=True):
        first = owner[begin] if begin < len(owner) else n
        last = owner[end - 1] + 1 if end else 0
        assert place == (first, last)


def test_places_in_characters(tok: Tokenizer) -> None:
    for text in text_models.texts(3, 50):
        try:
            ids, spans = tok.encode_with_offsets(
                text, unit="bytes", allowed_special="all"
            )
        except NoOffsetsError:
            continue
        same, places = tok.encode_with_offsets(text, allowed_special="all")
        assert same == ids
        check_characters(spans, places, character_of_byte(text))
        assert (ids, places) == tok.encode_with_offsets(
            text.encode(), unit="characters", allowed_special="all"
        )


def test_characters_of_broken_bytes() -> None:
    tok = text_models.small("tables")
    for data in text_models.broken(4, 200):
        _, spans = tok.encode_with_offsets(data, disallowed_special=())
        _, places = tok.encode_with_offsets(
            data, unit="characters", disallowed_special=()
        )
        text = data.decode("utf-8", "surrogateescape")
        check_characters(spans, places, character_of_byte(text, "surrogateescape"))


def test_surrogates_count_as_in_the_text() -> None:
    tok = Tokenizer.from_merges([], pattern=None)
    _, places = tok.encode_with_offsets("\ud83d\udc4dx\ud83dy")
    assert places == [*[(0, 2)] * 4, (2, 3), *[(3, 4)] * 3, (4, 5)]


def test_slices_of_the_text_are_the_tokens(data_path: Callable[[str], Path]) -> None:
    tok = text_models.model("openai/cl100k_base.tiktoken", data_path)
    text = "Hello, w\u00f6rld! 12345" + END
    ids, places = tok.encode_with_offsets(text, allowed_special={END})
    assert "".join(text[begin:end] for begin, end in places) == text
    assert text[slice(*places[-1])] == END
    assert tok.decode(ids) == text


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name", ["qwen3", "gpt_neox_20b", "llama3_1", "deepseek_v3", "mistral_v1"]
)
def test_as_hugging_face(data_path: Callable[[str], Path], name: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = data_path(f"vocab/hf/{name}_tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(path))
    tok = pybpe.load(path)
    done = equal = 0
    for text in text_models.texts(5, 150):
        try:
            ids, places = tok.encode_with_offsets(text, allowed_special="all")
        except NoOffsetsError:
            continue
        found = theirs.encode(text, add_special_tokens=False)
        assert found.ids == ids
        for other, place in zip(found.offsets, places, strict=True):
            # Theirs leave out marks that were composed and, in post-processors, white
            # space; what was put in has the place of what is behind it there.
            put_in = place[0] == place[1] == other[0]
            assert put_in or place[0] <= other[0] <= other[1] <= place[1]
            equal += other == place
            done += 1
    assert done > 1000
    assert equal > 0.8 * done


def test_what_has_no_places_is_refused_by_name(
    data_path: Callable[[str], Path],
) -> None:
    qwen = text_models.model("hf/qwen3_tokenizer.json", data_path)
    assert qwen.encode_with_offsets("\uac00")[1] == [(0, 1)]
    with pytest.raises(NoOffsetsError, match="UnicodeForm"):
        qwen.encode_with_offsets("\u1100\u1161")
    drops = text_models.model("drops", data_path)
    assert drops.encode_with_offsets("he")[1] == [(0, 2)]
    with pytest.raises(NoOffsetsError, match="drops text"):
        drops.encode_with_offsets("he he")


def test_places_of_normalized_text(data_path: Callable[[str], Path]) -> None:
    qwen = text_models.model("hf/qwen3_tokenizer.json", data_path)
    ids, places = qwen.encode_with_offsets("ae\u0301 b")
    assert [qwen.token_bytes(number) for number in ids] == [b"a", b"\xc3\xa9", b" b"]
    assert places == [(0, 1), (1, 3), (3, 5)]
    mistral = text_models.model("hf/mistral_v1_tokenizer.json", data_path)
    text = "hello  w\u00f6rld \U0001f44d\U00016fe4"
    ids, places = mistral.encode_with_offsets(text)
    assert places[:3] == [(0, 4), (4, 5), (5, 6)]
    assert places[-4:] == [(14, 15)] * 4
    assert mistral.encode_with_offsets(" \U00016fe4", unit="bytes")[1] == [
        (0, 1),
        *((i, i + 1) for i in range(1, 5)),
    ]


STEPS = [
    normalizers.Prepend("\u2581"),
    normalizers.Prefix(" "),
    normalizers.Strip(True, True),
    normalizers.Replace("\u2581", " "),
    normalizers.Replace("", "aa"),
    normalizers.Replace("xy", r"[ab]+", pybpe.Stage.compile(r"[ab]+")),
    *map(normalizers.UnicodeForm, ("NFC", "NFD", "NFKC", "NFKD")),
    normalizers.Characters("lowercase"),
]


def test_alignment_of_random_steps() -> None:
    """The text is the step's, and what is as it was stands where it stood."""
    rng = random.Random(8)
    done = 0
    for text in text_models.texts(8, 400):
        source = text.encode()
        aligned: _alignment.Aligned | None = _alignment.unchanged(text, 0)
        expected = text
        for step in rng.choices(STEPS, k=rng.randrange(1, 4)):
            expected = step.apply(expected)
            assert aligned is not None
            aligned = _alignment.through(step, aligned, True)
            if aligned is None:
                break
            assert aligned.text == expected
            places = list(zip(aligned.begins, aligned.ends, strict=True))
            assert len(places) == len(expected)
            assert all(0 <= a <= b <= len(source) for a, b in places)
            assert all(a <= c and b <= d for (a, b), (c, d) in pairwise(places))
            source_chars = [source[a:b].decode() for a, b in places]  # whole characters
            kept = sum(map(str.__eq__, source_chars, expected))
            done += kept > len(expected) / 2
    assert done > 300


def test_permissions_and_arguments() -> None:
    tok = text_models.small("tables")
    with pytest.raises(pybpe.SpecialTokenError, match="character 3"):
        tok.encode_with_offsets("ab " + END)
    with pytest.raises(ValueError, match="unit"):
        tok.encode_with_offsets("a", unit="words")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tok.encode_with_offsets(5)  # type: ignore[arg-type]


# ------------------------------------------------------------------ tables by id


def test_tables_of_the_vocabulary(tok: Tokenizer) -> None:
    table = tok.token_bytes_list()
    assert len(table) == tok.n_vocab
    lengths = tok.token_byte_lengths()
    assert lengths.dtype == np.uint32
    assert lengths.tolist() == list(map(len, table))
    special = set(tok.special_tokens.values())
    for number, token in enumerate(table):
        try:
            assert tok.token_bytes(number) == token
        except pybpe.UnknownTokenError:
            assert token == b""
        assert tok.is_special(number) == (number in special)
    assert not tok.is_special(-1)
    assert not tok.is_special(1 << 40)
    with pytest.raises(TypeError):
        tok.is_special("x")  # type: ignore[arg-type]
