"""Loading: find out what a file is, and make a tokenizer of it."""

from __future__ import annotations

import os

from pybpe.errors import ModelError
from pybpe.tokenizer import Tokenizer


def load(path: str | os.PathLike[str]) -> Tokenizer:
    """Return the tokenizer that a file holds.

    Args:
        path: A pybpe model file, as `Tokenizer.save` writes it.

    Raises:
        OSError: The file cannot be read.
        ModelError: It is something else (the message says what it looks like), or it
            is damaged.
    """
    from pybpe import model_file

    model = model_file.load_model(path)
    try:
        return Tokenizer(model)
    except ModelError as error:
        # What only the core can see; the reader's own errors name the file already.
        raise ModelError(f"{os.fspath(path)}: {error}") from error
