"""`encode_with_unstable` gives tiktoken's stable ids and all its completions."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peer_texts
import pytest
from tiktoken_parts import END, small_parts

import pybpe.tiktoken as ours

theirs = pytest.importorskip("tiktoken")
pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def pair(data_path: Callable[[str], Path]) -> Callable[[str], tuple[Any, Any]]:
    data_path("vocab/openai")
    return lambda name: (theirs.get_encoding(name), ours.get_encoding(name))


_ENDS = ["", " ", "  ", "\n", " \n", "\n\n ", "\t ", "\u3000", "\xa0", "h", " fan", "1"]


def unstable_texts(n: int) -> list[str]:
    rng = random.Random(3)
    texts = peer_texts.unicode_texts(7, n, [END, " fant", "hello", "    ", "\n"])
    return [text[-12:] + rng.choice(_ENDS) for text in texts]


UNSTABLE: list[dict[str, Any]] = [
    {"allowed_special": "all"},
    {"disallowed_special": ()},
]


def check_unstable(
    a: Any, b: Any, text: str, options: list[dict[str, Any]] = UNSTABLE
) -> None:
    for option in options:
        stable, completions = b.encode_with_unstable(text, **option)
        expected = a.encode_with_unstable(text, **option)
        assert stable == expected[0], text
        assert sorted(completions) == sorted(expected[1]), text
        assert text.encode().startswith(b.decode_bytes(stable))


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_unstable(pair: Any, name: str) -> None:
    a, b = pair(name)
    for text in ["", END, "a", f"a{END} ", "hello fanta", *unstable_texts(8)]:
        check_unstable(a, b, text)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_unstable_on_many_texts(pair: Any, name: str) -> None:
    a, b = pair(name)
    for i, text in enumerate(unstable_texts(2000)):
        check_unstable(a, b, text, [UNSTABLE[i % 2]])


def test_unstable_of_a_pattern_without_tables() -> None:
    parts = small_parts(pat_str=r"(?<=a)b| ?[a-z]+?|\s+(?!\S)|\s+|[^a-z\s]+")
    a, b = theirs.Encoding(**parts), ours.Encoding(**parts)
    for text in ("abab", "  ", "ab  ", f"b{END}ab", "\u00e9\u00e9", "a \n \n"):
        check_unstable(a, b, text)


def test_unstable_where_a_token_is_found_whole_only() -> None:
    """Merges alone do not make the last one, and tiktoken looks for no other here."""
    ranks = {bytes([i]): i for i in range(256)} | {
        b"\xa9\xc3\xff": 256,
        b"\xc3\xa9": 257,
    }
    parts = small_parts(mergeable_ranks=ranks | {b"\xc3\xa9\xc3\xff": 258})
    a, b = theirs.Encoding(**parts), ours.Encoding(**parts)
    for text in ("\u00e9", "\u00e9\u00e9", "a\u00e9"):
        check_unstable(a, b, text)
