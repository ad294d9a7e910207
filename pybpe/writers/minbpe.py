"""minbpe's `.model`, and the `.vocab` beside it for people to read.

The format has a pattern of the `regex` package, special tokens, and merges, of which
the first makes id 256. Bytes are ids 0 to 255.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

import regex

from pybpe._derivation import token_bytes
from pybpe.errors import ModelError
from pybpe.formats._source import shown
from pybpe.model import Model
from pybpe.split.same import leaves_gaps
from pybpe.writers._check import compare_tokenizers
from pybpe.writers._merges import merge_list, unmade_tokens
from pybpe.writers._parts import (
    Job,
    byte_level,
    prefixes_of_others,
    refuse_added,
    refuse_around,
    text_of,
)
from pybpe.writers._patterns import translated, without_groups

_WHAT = "a minbpe model"


def files(job: Job) -> list[bytes]:
    """Return the contents of the `.model` and of the `.vocab`.

    Raises:
        ModelError: The format cannot hold the tokenizer.
    """
    tokenizer = job.tokenizer
    model = byte_level(tokenizer, _WHAT)
    refuse_added(model, _WHAT)
    refuse_around(tokenizer, _WHAT)
    pairs, made = merge_list(tokenizer)
    tokens = list(token_bytes(model))
    n = len(tokens)
    if model.token_ids.tolist() != list(range(n)) or tokens[:256] != [
        bytes([byte]) for byte in range(256)
    ]:
        raise ModelError(
            f"{_WHAT} has the bytes as ids 0 to 255 in their order, and no gaps behind "
            "them; this vocabulary has other ids"
        )
    if made != list(range(256, n)):
        raise ModelError(
            f"in {_WHAT} each merge makes the next id from 256 on; here not every "
            "token has one merge, or they are in another order"
        )
    if model.whole_pretoken:
        for number in unmade_tokens(tokenizer, merge_list(tokenizer))[:1]:
            raise ModelError(
                f"merging does not make the token {shown(tokens[number])} (id "
                f"{number}), which pretokens taken whole reach; {_WHAT} takes none so"
            )
    special = [(_special(token), number) for token, number in model.special_tokens]
    if prefixes_of_others(model):
        # The first one in the file that matches is taken there, not the longest.
        special.sort(key=lambda token: -len(token[0]))
    for token, number in special:
        if number < n:
            raise ModelError(f"{shown(token)} shares the id {number} with a token")
    lines = ["minbpe v1", _pattern(model), str(len(special))]
    lines += [f"{token} {number}" for token, number in special]
    lines += [f"{left} {right}" for left, right in pairs]
    return [("\n".join(lines) + "\n").encode(), _vocab(tokens, pairs, special)]


def _special(token: bytes) -> str:
    """Return a special token, which minbpe reads as the first word of a line."""
    text = text_of(token, _WHAT)
    if text.split() != [text]:
        raise ModelError(
            f"the special token {shown(text)} holds white space, at which minbpe cuts "
            "the line"
        )
    return text


def _pattern(model: Model) -> str:
    """Return the pattern line."""
    stages = model.split.stages
    if not stages:
        # Of special tokens only minbpe's regex tokenizer knows.
        return r"[\s\S]+" if model.special_tokens else ""
    stage = stages[0]
    if len(stages) > 1:
        raise ModelError(
            f"its split has {len(stages)} stages, and {_WHAT} has one pattern"
        )
    if stage.before or stage.over_bytes or stage.behavior != "isolated":
        raise ModelError(
            f"its split does more than to cut out matches ({stage.behavior}), and "
            f"{_WHAT} has a pattern only"
        )
    if leaves_gaps(stage):
        raise ModelError(
            f"its split pattern may leave text unmatched, and minbpe loses that text: "
            f"{shown(stage.pattern)}"
        )
    pattern = translated(stage, "regex")
    if regex.compile(pattern).groups:
        # minbpe would take what a group matched for the whole match.
        pattern = without_groups(stage, "regex")
    if pattern.strip() != pattern:
        pattern = f"(?:{pattern})"
    if "\n" in pattern or "\r" in pattern:
        raise ModelError(
            f"its split pattern holds a line end, and {_WHAT} has a line for it: "
            f"{shown(pattern)}"
        )
    return pattern


def _vocab(
    tokens: list[bytes], pairs: list[tuple[int, int]], special: list[tuple[str, int]]
) -> bytes:
    """Return the file for people: each token, and what it was merged from."""
    names = [_rendered(token.decode("utf-8", "replace")) for token in tokens]
    lines = [f"[{names[number]}] {number}\n" for number in range(256)]
    lines += [
        f"[{names[left]}][{names[right]}] -> [{names[number]}] {number}\n"
        for number, (left, right) in enumerate(pairs, 256)
    ]
    lines += [f"[{_rendered(token)}] {number}\n" for token, number in special]
    return "".join(lines).encode()


def _rendered(text: str) -> str:
    """Return a text in which control characters show."""
    return "".join(
        f"\\u{ord(char):04x}" if unicodedata.category(char)[0] == "C" else char
        for char in text
    )


def check(job: Job, folder: Path) -> None:
    """Read the file back with pybpe: minbpe is no package."""
    from pybpe.loading import load

    tokenizer = job.tokenizer
    read = load(folder / job.names[0])
    compare_tokenizers(tokenizer, read)
