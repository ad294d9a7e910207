"""All ways of the core to find pretokens agree (in C: tests/c/test_stream.c)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from split_reference import SCALE, nasty_texts

from pybpe import _binding
from pybpe.split import Split
from pybpe.split.patterns import NAMED

CORPORA = ["english_1mb.txt", "code_1mb.txt", "multilingual_1mb.txt"]

# What the named patterns do not have: gaps, and matches found late.
ODD = [r"\w+", r"\d{3}|[a-z]+", r"a(?:bc)*d|[b-d]|\s+(?=\S)", r"<[a-z]*>|[^<]+|<"]


def handle_of(split: Split, simd: str) -> _binding.CData:
    """Return a splitter that works in one way; skip where the machine does not."""
    handle = _binding.new_split(split.stages)
    try:
        _binding.use_simd(handle, simd)
    except ValueError:
        pytest.skip(f"no {simd} here")
    return handle


def ends_by_reference(split: Split, text: str) -> list[int]:
    """Return where pretokens end in UTF-8 by the slow loop in Python."""
    ends = []
    at = 0
    for piece in split.pretokens(text):
        at += len(piece.encode())
        ends.append(at)
    return ends


def long_texts(seed: int, count: int) -> list[str]:
    """Return random texts that are long enough for whole blocks."""
    rng = random.Random(seed)
    parts = nasty_texts(seed, 10**9)
    texts = []
    for _ in range(max(1, int(count * SCALE))):
        text = "".join(islice(parts, rng.choice([40, 150, 500])))
        if rng.random() < 0.3:  # a pretoken, or a run of them, longer than a block
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(" a1\n!\u4f60") * 6000 + text[at:]
        texts.append(text)
    return texts


@pytest.mark.parametrize("pattern", [*NAMED, *ODD])
def test_like_the_reference(pattern: str) -> None:
    """The default way; the others are held against the plain loop below."""
    split = Split.from_pattern(pattern)
    handles = [_binding.new_split(split.stages), handle_of(split, "scalar")]
    for text in long_texts(1, 4):
        want = ends_by_reference(split, text)
        for handle in handles:
            assert _binding.split_ends(handle, text.encode()).tolist() == want


@pytest.mark.parametrize("name", NAMED)
def test_named_patterns_have_a_streaming_automaton(name: str) -> None:
    handle = handle_of(Split.from_pattern(name), "portable")
    assert _binding.split_simd(handle) == "portable"


@pytest.mark.parametrize("simd", _binding.SIMD[1:])
@pytest.mark.parametrize("pattern", [*NAMED, *ODD])
def test_like_the_plain_loop_on_bytes(pattern: str, simd: str) -> None:
    """Bytes that are not UTF-8, too: text with bytes changed, lost and doubled."""
    split = Split.from_pattern(pattern)
    plain, handle = handle_of(split, "scalar"), handle_of(split, simd)
    rng = random.Random(2)
    for text in long_texts(3, 10):
        data = bytearray(text.encode())
        for _ in range(len(data) // 50):
            at = rng.randrange(len(data))
            data[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
        noisy = bytes(data)
        want = _binding.split_ends(plain, noisy)
        assert _binding.split_ends(handle, noisy) == want


@pytest.mark.parametrize("simd", _binding.SIMD[1:])
@pytest.mark.parametrize("pattern", [*NAMED, *ODD])
def test_like_the_plain_loop_on_corpora(
    pattern: str, simd: str, data_path: Callable[[str], Path]
) -> None:
    split = Split.from_pattern(pattern)
    plain, handle = handle_of(split, "scalar"), handle_of(split, simd)
    for name in CORPORA:
        data = data_path(f"corpora/{name}").read_bytes()
        assert _binding.split_ends(handle, data) == _binding.split_ends(plain, data)


def run(simd: str) -> subprocess.CompletedProcess[str]:
    program = (
        "from pybpe import _binding; from pybpe.split import Split\n"
        "stages = Split.from_pattern('cl100k').stages\n"
        "print(_binding.split_simd(_binding.new_split(stages)))"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYBPE_SIMD": simd},
        check=False,
    )


@pytest.mark.parametrize("simd", ["scalar", "portable"])
def test_the_environment_chooses(simd: str) -> None:
    assert run(simd).stdout.strip() == simd


def test_the_environment_may_not_ask_for_what_there_is_not() -> None:
    done = run("sse9")
    assert done.returncode != 0
    assert "PYBPE_SIMD must be one of scalar, portable," in done.stderr
    assert "'sse9'" in done.stderr


def test_empty_means_unset() -> None:
    assert run("").stdout.strip() in _binding.SIMD[1:]
