"""Texts to train on, and what to look at then."""

from __future__ import annotations

import random
from typing import Any

import pytest

import pybpe

TEXTS = ["low lower lowest", "new newer newest", "\u6f22\u5b57 \u6f22\u5b57", "1234 12"]
TIES = ["lowest", "first"]


def learnt(tok: pybpe.Tokenizer) -> list[bytes]:
    """The ordinary tokens of more than one byte."""
    return [token for token in tok.vocab if len(token) > 1]


def report_of(tok: pybpe.Tokenizer) -> pybpe.TrainingReport:
    assert tok.training_report is not None
    return tok.training_report


def refuse(message: str, error: type[Exception] = ValueError, **options: Any) -> None:
    with pytest.raises(error, match=message):
        pybpe.train(**{"texts": TEXTS, "vocab_size": 300, **options})


def random_texts(random_: random.Random) -> list[str]:
    letters = random_.choice(["ab", "abc ", "aab \n", "a\xe9 1", "\u6f22\u5b57a "])
    return [
        "".join(random_.choices(letters, k=random_.choice([2, 20, 200, 400])))
        for _ in range(random_.randint(1, 6))
    ]


def words_of(texts: list[str], split: pybpe.Split) -> list[tuple[bytes, int]]:
    return [(w.encode(), 1) for text in texts for w in split.pretokens(text)]
