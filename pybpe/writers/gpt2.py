"""GPT-2's two files: tokens and ids in JSON, and the merges, a line for each.

They hold no split: whoever reads them has to know it. A special token is a token of
the first file that no merge makes.
"""

from __future__ import annotations

import json
from pathlib import Path

from pybpe import _glyphs
from pybpe._extras import optional
from pybpe.errors import ModelError
from pybpe.formats._source import shown
from pybpe.model import Model
from pybpe.writers._check import compare_tables, compare_tokenizers
from pybpe.writers._merges import merge_list, ordinary_tokens, unmade_tokens
from pybpe.writers._parts import Job, byte_level, refuse_added, refuse_around, text_of

_WHAT = "a pair of a vocabulary and a merges file"
_N_TRIED = 10_000  # tokens


def files(job: Job) -> list[bytes]:
    """Return the contents of the vocabulary file and of the merges file.

    Raises:
        ModelError: The format cannot hold the tokenizer.
    """
    tokenizer = job.tokenizer
    model = byte_level(tokenizer, _WHAT)
    refuse_added(model, _WHAT)
    refuse_around(tokenizer, _WHAT)
    tokens = ordinary_tokens(model, _WHAT)
    merges = merge_list(tokenizer)
    for number in unmade_tokens(tokenizer, merges)[:1]:
        raise ModelError(
            f"merging does not make the token {shown(tokenizer.token_bytes(number))} "
            f"(id {number}), and {_WHAT} knows no other way to it"
        )
    names = {number: _glyphs.to_characters(token) for token, number in tokens.items()}
    lines = ["#version: 0.2"]
    lines += [f"{names[left]} {names[right]}" for left, right in merges.pairs]
    table = {name: number for number, name in names.items()}
    for token, number in model.special_tokens:
        name = text_of(token, _WHAT)
        if name in table or number in names or not _stands_for_itself(name):
            raise ModelError(
                f"the special token {shown(name)} (id {number}) cannot stand beside "
                "the tokens, whose characters stand for bytes: it has the id or the "
                "spelling of another, or characters that are no printable ASCII"
            )
        table[name] = number
    vocabulary = json.dumps(dict(sorted(table.items(), key=lambda item: item[1])))
    return [vocabulary.encode(), ("\n".join(lines) + "\n").encode()]


def _stands_for_itself(name: str) -> bool:
    return all("!" <= char <= "~" for char in name)


def check(job: Job, folder: Path) -> None:
    """Read the files back with pybpe, and with tokenizers if that is installed."""
    from pybpe.loading import load

    tokenizer = job.tokenizer
    vocabulary, merges = (folder / name for name in job.names)
    model = tokenizer._model
    assert isinstance(model, Model)  # noqa: S101
    special: dict[str | bytes, int] = dict(model.special_tokens)
    read = load((vocabulary, merges), pattern=model.split, special_tokens=special)
    compare_tokenizers(tokenizer, read)
    tokenizers = optional("tokenizers")
    if tokenizers is None:
        return
    models = tokenizers.models
    table, pairs = models.BPE.read_file(str(vocabulary), str(merges))
    theirs = models.BPE(table, pairs)
    compare_tables(json.loads(vocabulary.read_bytes()), table, "tokenizers")
    tokens = list(tokenizer.vocab.items())
    for token, number in tokens[:: len(tokens) // _N_TRIED + 1]:
        found = [part.id for part in theirs.tokenize(_glyphs.to_characters(token))]
        if found != [number]:
            raise ModelError(
                f"tokenizers reads the files otherwise: of {shown(token)} it makes "
                f"{found}, not {[number]}"
            )
