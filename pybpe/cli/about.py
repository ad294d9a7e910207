"""`pybpe info`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pybpe
from pybpe.cli.models import load, pattern_option

if TYPE_CHECKING:
    from pybpe.codepoint import CodepointModel
    from pybpe.model import Model
    from pybpe.split import Split


def named(tokens: tuple[tuple[bytes, int], ...]) -> dict[str, int]:
    """Return {token: id} with tokens that any terminal and JSON can show."""
    return {
        token.decode("utf-8", "backslashreplace"): number for token, number in tokens
    }


def facts(tok: pybpe.Tokenizer) -> dict[str, Any]:
    """Return what `pybpe info` tells of a tokenizer, ready for JSON."""
    from pybpe.model import Model

    model = tok._model
    return {
        "fingerprint": tok.fingerprint,
        "vocab_size": tok.vocab_size,
        "n_vocab": tok.n_vocab,
        "special_tokens": named(model.special_tokens),
        "added_tokens": named(model.added_tokens),
        "text_prefix": list(tok.text_prefix),
        "text_suffix": list(tok.text_suffix),
        **(ours(model) if isinstance(model, Model) else sentencepiece(model)),
        "provenance": dict(model.provenance),
    }


def ours(model: Model) -> dict[str, Any]:
    """Return what only models with a list of merges, or with ranks, have."""
    return {
        "kind": "bpe",
        "semantics": model.semantics,
        "whole_pretoken": model.whole_pretoken,
        "n_merges": len(model.merge_ids),
        "longest_token_bytes": max(model.token_lengths, default=0),
        "normalizers": [repr(step) for step in model.normalizers],
        "decoders": [repr(step) for step in model.decoders],
        "split": split_facts(model.split),
    }


def split_facts(split: Split) -> dict[str, Any]:
    """Return what a split consists of."""
    return {
        "name": split.name,
        "compiled": split.compiled,
        "stages": [
            {
                "pattern": stage.pattern,
                "dialect": stage.dialect,
                "behavior": stage.behavior,
                "unicode_version": stage.unicode_version,
                "n_classes": stage.n_classes,
                "n_states": stage.n_states,
            }
            for stage in split.stages
        ],
    }


def sentencepiece(model: CodepointModel) -> dict[str, Any]:
    """Return what only sentencepiece models have."""
    normalizer = model.normalizer
    return {
        "kind": "sentencepiece",
        "byte_fallback": model.byte_fallback,
        "longest_token_bytes": max(model.piece_lengths, default=0),
        "normalizer": {
            "name": normalizer.name,
            "add_dummy_prefix": normalizer.add_dummy_prefix,
            "remove_extra_whitespaces": normalizer.remove_extra_whitespaces,
            "escape_whitespaces": normalizer.escape_whitespaces,
        },
    }


def table(about: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table for people."""
    rows = [("tokens", f"{about['vocab_size']:,} (ids below {about['n_vocab']:,})")]
    rows += our_rows(about) if about["kind"] == "bpe" else sentencepiece_rows(about)
    rows.append(("longest token", f"{about['longest_token_bytes']:,} bytes"))
    for kind in ("special", "added"):
        for name, number in about[f"{kind}_tokens"].items():
            rows.append((kind, f"{number:>8,}  {name!r}"))
    for place, key in (("before", "text_prefix"), ("behind", "text_suffix")):
        if about[key]:
            ids = " ".join(map(str, about[key]))
            rows.append(("if asked for", f"{ids} {place} a text"))
    rows.append(("fingerprint", about["fingerprint"]))
    if about["provenance"]:
        rows += [("", ""), ("where it comes from:", "")]
    rows += [(key.replace("_", " "), str(v)) for key, v in about["provenance"].items()]
    for key, value in rows:
        yield f"{key:20} {value}".rstrip()


def our_rows(about: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the rows of how a text becomes tokens."""
    for kind in ("normalizers", "decoders"):
        for step in about[kind]:
            yield kind, step
    yield from split_rows(about["split"])
    rank = {"merges": "listed pairs merge", "ranks": "any two parts that make a token"}
    if about["semantics"] == "merges":
        yield "merges", f"{about['n_merges']:,}"
    yield "merge rule", rank.get(about["semantics"], about["semantics"])
    if about["whole_pretoken"]:
        yield "", "a pretoken that is a token is taken whole"


def split_rows(split: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the rows about a split."""
    title = split["name"] or ("no name" if split["stages"] else "none: no cuts")
    how = "" if split["compiled"] else ", runs on the regex package"
    yield "split", title + how
    for stage in split["stages"]:
        yield "", stage["pattern"]
        yield "", f"({stage['dialect']}, Unicode {stage['unicode_version']})"


def sentencepiece_rows(about: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the same of a sentencepiece model."""
    yield "merge rule", "any two parts that make a token, the best score first"
    normalizer = dict(about["normalizer"])
    yield "normalizer", normalizer.pop("name") or "no name"
    for name, value in normalizer.items():
        yield "", f"{name.replace('_', ' ')}: {'yes' if value else 'no'}"
    yield "byte fallback", "yes" if about["byte_fallback"] else "no"


INFO_EXAMPLES = """\b
Examples:
  pybpe info my.pybpe
  pybpe info my.pybpe --json | jq .vocab_size
  pybpe info all.counts
"""


@click.command(epilog=INFO_EXAMPLES)
@click.argument("model")
@pattern_option
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def info(model: str, split: Split | None, as_json: bool) -> None:
    """Tell what is in a MODEL file, or in a file of `pybpe count`.

    Two models with the same fingerprint encode every text alike.
    """
    about = counts_facts(model)
    if about is not None and split is not None:
        raise click.UsageError("--pattern goes with models, not with files of counts")
    if about is None:
        about = facts(load(model, split))
    if as_json:
        click.echo(json.dumps(about, indent=2))
        return
    for line in counts_table(about) if about["kind"] == "counts" else table(about):
        click.echo(line)


def counts_facts(name: str) -> dict[str, Any] | None:
    """Return what a file of counts says of itself; None for any other file."""
    path = Path(name)
    if not path.is_file():
        return None
    from pybpe._counts_file import MAGIC, Reader

    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return None
        file.seek(0)
        try:
            reader = Reader(file)
            reader.verify()
        except pybpe.TrainingError as error:
            raise click.ClickException(f"cannot load {name!r}: {error}") from None
    head = reader.head
    cut_out = {
        field: [
            token.decode("utf-8", "backslashreplace") for token in getattr(head, field)
        ]
        for field in ("special_tokens", "protected", "initial_tokens")
    }
    return {
        "kind": "counts",
        "documents": head.documents,
        "bytes": head.size,
        "pretokens": reader.sizes.pretokens,
        "distinct_pretokens": reader.sizes.distinct,
        **cut_out,
        "split": split_facts(head.split),
    }


def counts_table(about: dict[str, Any]) -> Iterator[str]:
    """Yield the lines about a file of counts, for people."""
    rows = [
        (key.replace("_", " "), f"{about[key]:,}")
        for key in ("documents", "bytes", "pretokens", "distinct_pretokens")
    ]
    rows += split_rows(about["split"])
    for field in ("special_tokens", "protected", "initial_tokens"):
        rows += [("cut out", repr(token)) for token in about[field]]
    for key, value in rows:
        yield f"{key:20} {value}".rstrip()
