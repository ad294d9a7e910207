"""The MODEL of a command: any file that `pybpe.load` reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

import pybpe
from pybpe.cli.options import as_split, in_our_words
from pybpe.split import Split

_Command = TypeVar("_Command", bound=Callable[..., Any])


def pattern_option(command: _Command) -> _Command:
    """Add --pattern, for the files that do not say how text is cut."""
    return click.option(
        "--pattern",
        "split",
        callback=as_split,
        help="How the model cuts text, if its file does not say (see `pybpe train`).",
    )(command)


def load(model: str, split: Split | None) -> pybpe.Tokenizer:
    """Load a model; its errors speak of the options."""
    try:
        return pybpe.load(model, pattern=split)
    except (pybpe.ModelError, ValueError) as error:
        raise click.ClickException(in_our_words(str(error))) from None
