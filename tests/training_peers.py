"""What other libraries learn from texts, in a form to compare with ours."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

import pybpe
from pybpe.byte_order import bytes_in_order
from pybpe.split.patterns import GPT4


def made_by(tok: pybpe.Tokenizer) -> list[bytes]:
    return [tok.token_bytes(i) for i in range(256, tok.vocab_size)]


def rustbpe_tokens(texts: Sequence[str], vocab_size: int) -> list[bytes]:
    rustbpe = pytest.importorskip("rustbpe")
    tok = rustbpe.Tokenizer()
    tok.train_from_iterator(iter(texts), vocab_size, pattern=GPT4)
    return [bytes(token) for token, _ in tok.get_mergeable_ranks()][256:]


def huggingface_merges(
    texts: Sequence[str],
    vocab_size: int,
    min_frequency: int,
    max_token_length: int | None = None,
) -> list[tuple[str, str]]:
    """Merges of Hugging Face's trainer, as it spells them."""
    tokenizers = pytest.importorskip("tokenizers")
    byte_level = tokenizers.pre_tokenizers.ByteLevel
    tok = tokenizers.Tokenizer(tokenizers.models.BPE())
    tok.pre_tokenizer = byte_level(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        initial_alphabet=byte_level.alphabet(),
        show_progress=False,
    )
    tok.train_from_iterator(iter(texts), trainer)
    return [tuple(pair) for pair in json.loads(tok.to_str())["model"]["merges"]]


def huggingface_style(tok: pybpe.Tokenizer) -> list[tuple[str, str]]:
    # Its letters for bytes: printable ones stand for themselves, the others are
    # numbered from U+0100 on.
    order = bytes_in_order("gpt2")
    letters = {b: chr(b) if i < 188 else chr(68 + i) for i, b in enumerate(order)}
    spelt = {
        i: "".join(letters[b] for b in tok.token_bytes(i))
        for i in range(tok.vocab_size)
    }
    return [(spelt[left], spelt[right]) for left, right in tok.merges]
