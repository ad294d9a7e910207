"""Rank files: a line for each token, in base64, and its rank, which is its id.

They hold the ordinary tokens and nothing else. The split and the special tokens have to
be given to whoever reads one.
"""

from __future__ import annotations

from binascii import b2a_base64
from pathlib import Path

from pybpe._extras import optional
from pybpe.errors import ModelError
from pybpe.formats.tiktoken import (
    first_gap,
    ids_behind_known,
    is_published,
    normalized,
    parse,
)
from pybpe.model import Model
from pybpe.split.same import leaves_gaps
from pybpe.writers._check import compare_ids, compare_tokenizers
from pybpe.writers._merges import check_ranks, ordinary_tokens
from pybpe.writers._parts import Job, byte_level, prefixes_of_others, refuse_added
from pybpe.writers._patterns import translated

_WHAT = "a rank file"


def files(job: Job) -> list[bytes]:
    """Return the contents of the file.

    Raises:
        ModelError: The format cannot hold the tokenizer.
    """
    model = byte_level(job.tokenizer, _WHAT)
    refuse_added(model, _WHAT)
    ranks = ordinary_tokens(model, _WHAT)
    check_ranks(job.tokenizer)
    data = b"".join(
        b"%s %d\n" % (b2a_base64(token, newline=False), number)
        for token, number in ranks.items()
    )
    if not is_published(data):
        special = {number for _, number in model.special_tokens}
        _refuse_gaps(list(ranks.values()), special | ids_behind_known(data))
    return [data]


def _refuse_gaps(ids: list[int], declared: set[int]) -> None:
    """Refuse ids that a rank file could only have if lines of it were missing.

    Raises:
        ModelError: Naming the first one that no token has.
    """
    gap = first_gap(ids, declared)
    if gap is not None:
        raise ModelError(
            f"no token has id {gap}, though ids go up to {ids[-1]}: a rank file with a "
            "gap reads as one whose lines are missing. Formats that hold gaps are "
            "pybpe, tokenizer.json and gguf, and Tokenizer.to_tiktoken needs no file; "
            "Tokenizer.prune makes ids dense, but changes them"
        )


def check(job: Job, folder: Path) -> None:
    """Read the file back with pybpe, and with tiktoken if that is installed."""
    from pybpe.tokenizer import Tokenizer

    tokenizer = job.tokenizer
    model = tokenizer._model
    assert isinstance(model, Model)  # noqa: S101
    special: dict[str | bytes, int] = dict(model.special_tokens)
    # Not by `load`, which takes a known vocabulary cut short for a damaged one.
    data = normalized((folder / job.names[0]).read_bytes())
    ranks = parse(data, published=is_published(data))
    read = Tokenizer.from_ranks(
        dict(zip(*ranks, strict=True)), pattern=model.split, special_tokens=special
    )
    compare_tokenizers(tokenizer, read)
    pattern = _pattern(model)
    tiktoken = optional("tiktoken")
    if tiktoken is None:
        return
    if (
        pattern is None
        or any(isinstance(token, bytes) for token in tokenizer.special_tokens)
        or prefixes_of_others(model)  # Which of two it finds is left to chance.
    ):
        return  # It cannot take these; the ranks are as they should be.
    encoding = tiktoken.Encoding(
        "written",
        pat_str=pattern,
        mergeable_ranks=read.vocab,
        special_tokens={str(t): n for t, n in tokenizer.special_tokens.items()},
    )

    def encode(text: str) -> list[int]:
        ids: list[int] = encoding.encode(text, allowed_special="all")
        return ids

    compare_ids(tokenizer, encode, "tiktoken")


def _pattern(model: Model) -> str | None:
    """Return the split as tiktoken takes it; None if it cannot."""
    stages = model.split.stages
    if not stages:
        return r"[\s\S]+"
    stage = stages[0]
    if (
        len(stages) > 1
        or stage.before
        or stage.over_bytes
        or stage.behavior != "isolated"
        or leaves_gaps(stage)
    ):
        return None
    try:
        return translated(stage, "rust")
    except ModelError:
        return None
