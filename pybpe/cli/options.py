"""Checks of option values: a bad one is wrong usage, said in the words of the options.

The Python API checks them again; its messages are for those who program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click
from click.core import ParameterSource

import pybpe
from pybpe._threads import MAX_THREADS
from pybpe.corpora.inputs import FORMATS
from pybpe.split import Split
from pybpe.split.patterns import NAMED

_Command = TypeVar("_Command", bound=Callable[..., Any])

# What the Python API calls an option.
_OPTIONS = {
    "special_tokens, protected or initial": "--special, --protected or --initial",
    "vocab_size": "--vocab-size",
    "num_merges": "--num-merges",
    "min_frequency": "--min-frequency",
    "max_token_bytes": "--max-token-bytes",
    "max_pretokens": "--max-pretokens",
    "byte_order=": "--byte-order",
    "initial": "--initial",
    r"snapshots\[\d+\]": "--snapshot",
    r"protected\[\d+\]": "--protected",
    "protected:": "--protected:",
    "num_threads": "--threads",
    "roles names": "--role names",
    "pattern cannot be given": "--pattern cannot be given",
    "normalizer_from": "--normalizer-from",
    "overwrite=True": "--overwrite",
    "val_fraction": "--val-fraction",
    "shard_size": "--shard-size",
    "separator_at": "--separator-at",
    "split_on": "--split-on",
    "allowed_special": "--allow-special",
    "disallowed_special": "--plain",
    "layout=": "--layout",
    "format=": "--format",
    "field=": "--field",
    "dtype must": "--dtype must",
    "dtype=": "--dtype",
    "separator=null": "--no-separator",
    "separator=": "--separator",
    "separator:": "--separator:",
    "None puts nothing between documents": "--no-separator puts nothing between",
    r"special_tokens=\{\.\.\.\}": "--special TOKEN=ID",
    "special_tokens=": "--special",
    "special_tokens": "--special",
    "pattern=": "--pattern",
    "pattern:": "--pattern:",
    "field must": "--field must",
}


def _as_separator(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> bytes | None:
    """Return the very bytes that the shell passed, valid UTF-8 or not."""
    if value == "":
        raise click.BadParameter("nothing stands everywhere: leave it out")
    return None if value is None else os.fsencode(unescaped(value))


def input_options(command: _Command) -> _Command:
    """Add --format, --field and --split-on, for files that hold documents."""
    form = click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        help="What the files hold, whatever their names.",
    )
    field = click.option(
        "--field",
        default="text",
        show_default=True,
        metavar="NAME",
        help="The field of .jsonl, or the column of .parquet, with the text.",
    )
    split_on = click.option(
        "--split-on",
        metavar="STRING",
        callback=_as_separator,
        help=r"What stands between the documents of a text file ('\n': each line is "
        "one). Default: a file is one text.",
    )
    return form(field(split_on(command)))


threads_option = click.option(
    "--threads",
    type=click.IntRange(1, MAX_THREADS),
    metavar="INTEGER",
    help="Default: all processors.",
)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="No progress bars, no summary."
)
max_pretokens_option = click.option(
    "--max-pretokens",
    type=click.IntRange(1, 2**63 - 1),
    metavar="INTEGER",
    help="Give up when there are more distinct pretokens, before they fill the memory.",
)


def unescaped(text: str) -> str:
    r"""Return what an option spells with \n, \r, \t and \\."""
    meanings = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}
    parts = iter(text)
    found = []
    for character in parts:
        if character == "\\":
            follows = next(parts, "")
            found.append(meanings.get(follows, character + follows))
        else:
            found.append(character)
    return "".join(found)


def as_split(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> Split | None:
    """Return the split of --pattern: a name, a regular expression, or "none"."""
    if value is None:
        return None
    try:
        return Split.from_pattern(None if value == "none" else value)
    except ValueError as error:
        message = re.sub(r"\bNone\b", "'none'", str(error))
        raise click.BadParameter(message) from None


# How training cuts text. Models that are there have --pattern of `cli.models`.
cut_option = click.option(
    "--pattern",
    "split",
    callback=as_split,
    default="cl100k",
    show_default=True,
    help=f"How text is cut before merging: a name ({', '.join(NAMED)}), a regular "
    "expression, or 'none' for no cuts.",
)


def was_given(name: str) -> bool:
    """Tell whether an option of the running command was given, default or not."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not ParameterSource.DEFAULT


def check_vocab_size(
    vocab_size: int, specials: Sequence[str], protected: Sequence[str] = ()
) -> None:
    """Refuse a size that has no room for what is always there, or is too large."""
    from pybpe._binding_training import MAX_VOCAB_SIZE

    least = 256 + len(specials) + len(protected)
    if least <= vocab_size <= MAX_VOCAB_SIZE:
        return
    always = "the 256 single bytes"
    for tokens, kind in ((protected, "protected"), (specials, "special")):
        if tokens:
            plural = "" if len(tokens) == 1 else "s"
            always += f" and {len(tokens):,} {kind} token{plural}"
    raise click.BadParameter(
        f"{vocab_size} is not between {least:,} ({always}) and {MAX_VOCAB_SIZE:,}",
        param_hint="'--vocab-size'",
    )


def check_tokens(tokens: Sequence[str], option: str) -> None:
    """Refuse special or protected tokens that are empty or the same."""
    for position, token in enumerate(tokens):
        if not token:
            why = "an empty token would be everywhere"
        elif token in tokens[:position]:
            why = f"{token!r} is given twice"
        else:
            continue
        raise click.BadParameter(why, param_hint=f"'{option}'")


def in_our_words(message: str) -> str:
    """Return a message of the Python API with the names that the options have."""
    # What a tokenizer shows of itself is no option.
    parts = re.split(r"(<pybpe\.[^>]*>)", message)
    for theirs, ours in _OPTIONS.items():
        if theirs.endswith("="):
            # With a value behind it, or none: "choose with field=".
            name = re.compile(rf"(?<![\w-]){theirs}(?=([^\s.,;:)]?))")
        else:
            name = re.compile(rf"(?<![\w-]){theirs}(?!\w)()")
        parts[::2] = [
            name.sub(lambda found, ours=ours: f"{ours} " if found[1] else ours, part)
            for part in parts[::2]
        ]
    return "".join(parts)


@contextmanager
def api_errors() -> Iterator[None]:
    """Tell errors of the Python API: wrong usage of an option, or work that failed.

    Raises:
        click.UsageError: An option has a value that makes no sense.
        click.ClickException: The work failed.
    """
    try:
        yield
    except pybpe.BpeError as error:
        raise click.ClickException(in_our_words(str(error))) from None
    except ValueError as error:
        raise click.UsageError(in_our_words(str(error))) from None
