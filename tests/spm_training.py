"""The files that pybpe and sentencepiece make of the same lines and options."""

from __future__ import annotations

import io
import warnings
from typing import Any

import pytest

import pybpe
from pybpe.errors import TrainingError


def theirs(lines: list[Any], vocab_size: int, **options: Any) -> bytes:
    """Return the file that sentencepiece makes."""
    package = pytest.importorskip("sentencepiece")
    out = io.BytesIO()
    package.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=out,
        model_type="bpe",
        vocab_size=vocab_size,
        minloglevel=4,
        **options,
    )
    return out.getvalue()


def ours(lines: list[Any], vocab_size: int, **options: Any) -> bytes:
    """Return the file that pybpe makes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = pybpe.train_sentencepiece(lines, vocab_size, **options)
    return tok.to_sentencepiece()


def same(lines: list[Any], vocab_size: int, **options: Any) -> None:
    """Check that both make the same file, and that what they refuse is the same."""
    want = found = None
    with_error = {}
    try:
        want = theirs(lines, vocab_size, **options)
    except (RuntimeError, ValueError, OSError) as error:
        with_error["sentencepiece"] = error
    try:
        found = ours(lines, vocab_size, **options)
    except (ValueError, TrainingError) as error:
        with_error["pybpe"] = error
    assert (want is None) == (found is None), (with_error, options, vocab_size, lines)
    if want != found:
        assert pieces_of(found) == pieces_of(want), (options, vocab_size, lines)
        assert found == want, (options, vocab_size, lines)


def pieces_of(data: bytes | None) -> list[tuple[bytes, float, int]]:
    from pybpe._proto import sentencepiece_pb2 as pb

    assert data is not None
    return [(p.text, p.score, p.type) for p in pb.Model.FromString(data).pieces]
