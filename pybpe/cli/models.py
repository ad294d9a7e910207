"""The MODEL of a command: any file that `pybpe.load` reads, or an encoding's name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

import pybpe
from pybpe.cli.options import as_split, in_our_words
from pybpe.split import Split

# Ids are below 2^24, which has so many digits; zeros in front count.
MAX_IDS = 1 << 24
_MAX_DIGITS = 20

_Command = TypeVar("_Command", bound=Callable[..., Any])

# Where in click's context --special leaves its tokens for `load`.
_SPECIAL = "pybpe.special_tokens"


def _keep_special(
    context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> None:
    """Keep the tokens and ids of --special.

    Raises:
        click.BadParameter: One is not TOKEN=ID, or a token or an id comes twice.
    """
    tokens: dict[str | bytes, int] = {}
    for value in values:
        token, equals, number = value.rpartition("=")
        if not equals or not token or not number.isascii() or not number.isdigit():
            raise click.BadParameter(
                f"{value!r} is not TOKEN=ID, such as '<|endoftext|>=50256'"
            )
        if token in tokens:
            raise click.BadParameter(f"{token!r} is there twice")
        if len(number) > _MAX_DIGITS or int(number) >= MAX_IDS:
            raise click.BadParameter(
                f"{number[:20]} is no id for {token!r}: ids are below {MAX_IDS:,}"
            )
        if int(number) in tokens.values():
            raise click.BadParameter(f"the id {int(number)} is there twice")
        tokens[token] = int(number)
    context.meta[_SPECIAL] = tokens or None


def pattern_option(command: _Command) -> _Command:
    """Add --pattern and --special, for the files that do not say these things."""
    special = click.option(
        "--special",
        multiple=True,
        metavar="TOKEN=ID",
        expose_value=False,
        callback=_keep_special,
        help="A special token and its id, if the model's file does not say; repeat for "
        "more.",
    )
    pattern = click.option(
        "--pattern",
        "split",
        callback=as_split,
        help="How the model cuts text, if its file does not say (see `pybpe train`).",
    )
    return pattern(special(command))


def load(model: str, split: Split | None) -> pybpe.Tokenizer:
    """Load a model; its errors speak of the options.

    A published encoding goes by its name, if there is no such file.
    """
    special = click.get_current_context().meta.get(_SPECIAL)
    names = pybpe.list_encoding_names()
    path = Path(model)
    is_there = path.exists()
    if not is_there and path.name == model and not path.suffix and model not in names:
        raise click.ClickException(
            f"{model}: no such file, and no encoding of this name; there are "
            + ", ".join(names)
        )
    try:
        if model in names and not is_there:
            if split is not None or special is not None:
                raise click.UsageError(
                    f"{model} is a published encoding: it has a split and special "
                    "tokens of its own"
                )
            return pybpe.get_encoding(model)
        return pybpe.load(model, pattern=split, special_tokens=special)
    except (pybpe.ModelError, ValueError) as error:
        raise click.ClickException(in_our_words(str(error))) from None
