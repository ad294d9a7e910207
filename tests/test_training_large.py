"""A hundred megabytes of real text to 32,768 tokens: the merges of the peers, and the
same ones from however many threads and in whatever order blocks are counted.

    python -m pytest -m long tests/test_training_large.py
"""

from __future__ import annotations

import lzma
import random
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import pytest
from training_peers import (
    huggingface_merges,
    huggingface_style,
    made_by,
    rustbpe_tokens,
)

import pybpe
from pybpe import _binding
from pybpe._binding_training import Counts

pytestmark = [pytest.mark.slow, pytest.mark.long]

SIZE = 100_000_000
VOCAB_SIZE = 32_768
BLOCK = 1 << 16


@pytest.fixture(params=["english", "multilingual"], scope="module")
def text(request: pytest.FixtureRequest, data_path: Callable[[str], Path]) -> str:
    with lzma.open(data_path(f"corpora/{request.param}_100mb.txt.xz")) as file:
        return file.read(SIZE).decode(errors="ignore")


@pytest.mark.oracle
def test_the_merges_of_rustbpe(text: str) -> None:
    texts = [text[i : i + BLOCK] for i in range(0, len(text), BLOCK)]
    tok = pybpe.train(texts, VOCAB_SIZE, pattern="gpt4")
    assert made_by(tok) == rustbpe_tokens(texts, VOCAB_SIZE)


@pytest.mark.oracle
def test_the_merges_of_hugging_face(text: str) -> None:
    texts = [text[i : i + BLOCK] for i in range(0, len(text), BLOCK)]
    tok = pybpe.train(texts, VOCAB_SIZE, pattern="gpt2", byte_order="gpt2")
    assert huggingface_style(tok) == huggingface_merges(texts, VOCAB_SIZE, 0)


@pytest.mark.parametrize("tie_break", ["lowest", "first"])
def test_threads_and_the_order_of_blocks_do_not_matter(
    tie_break: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text(text, encoding="utf-8", newline="")
    want = pybpe.train_from_files(
        [path], VOCAB_SIZE, pattern="gpt2", tie_break=tie_break, num_threads=1
    )
    for num_threads in (2, 4):
        tok = pybpe.train_from_files(
            [path],
            VOCAB_SIZE,
            pattern="gpt2",
            tie_break=tie_break,
            num_threads=num_threads,
        )
        assert tok.to_bytes() == want.to_bytes()

    # Blocks, each of which is told its place in the whole, in any order, counted into
    # tables which are merged in any order, too.
    data = text.encode()
    split = pybpe.Split.from_pattern("gpt2")
    core = _binding.new_split(split.stages)
    blocks = cut(data)
    places = [0, *accumulate(map(len, blocks))]
    order = list(range(len(blocks)))
    random_ = random.Random(1)
    random_.shuffle(order)
    tables = [Counts()]
    tables += [Counts(tables[0]) for _ in range(3)]
    for i in order:
        random_.choice(tables).add_batch(core, None, [blocks[i]], places[i])
    while len(tables) > 1:
        random_.shuffle(tables)
        tables[0].merge(tables.pop())
    counts = {pretoken: n for pretoken, n, _ in tables[0].items()}
    tok = pybpe.train_from_counts(
        counts, VOCAB_SIZE, pattern="gpt2", tie_break=tie_break
    )
    assert tok.merges == want.merges


def cut(data: bytes) -> list[bytes]:
    """Cut a text where GPT-2's pattern does in any case: between letter and space."""
    blocks = []
    start = 0
    while start < len(data):
        at = start + BLOCK
        while at < len(data) and not (
            data[at - 1 : at].isalpha() and data[at : at + 1] == b" "
        ):
            at += 1
        blocks.append(data[start:at])
        start = at
    return blocks
