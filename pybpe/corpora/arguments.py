"""What callers give to those who write and read folders: refused by name if wrong."""

from __future__ import annotations

import os
from pathlib import Path


def check_tokenizer(tokenizer: object) -> None:
    """Refuse what is no tokenizer; raises `TypeError`."""
    from pybpe.tokenizer import Tokenizer

    if not isinstance(tokenizer, Tokenizer):
        raise _wrong("tokenizer", "a Tokenizer", tokenizer)


def check_path(name: str, value: object) -> Path:
    """Return a path that a caller gave; raises `TypeError`."""
    if not isinstance(value, (str, os.PathLike)) or isinstance(os.fspath(value), bytes):
        raise _wrong(name, "a str or a path", value)
    return Path(value)


def check_text(name: str, value: object) -> str:
    """Return a str that a caller gave; raises `TypeError`."""
    if not isinstance(value, str):
        raise _wrong(name, "a str", value)
    return value


def check_flag(name: str, value: object) -> bool:
    """Return a bool that a caller gave; raises `TypeError`.

    Other values that are true may be meant otherwise, as "no" is.
    """
    if not isinstance(value, bool):
        raise _wrong(name, "True or False", value)
    return value


def _wrong(name: str, wanted: str, value: object) -> TypeError:
    return TypeError(f"{name} must be {wanted}, got {type(value).__name__}")
