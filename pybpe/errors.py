"""The exceptions of pybpe. Wrong types and values of arguments are the built-in ones.

Every exception here derives from `BpeError` and from the built-in exception that fits,
so `except ValueError` works too. Running out of memory is `MemoryError`.
"""

from __future__ import annotations


class BpeError(Exception):
    """Base of all exceptions of pybpe; never raised itself."""


class ModelError(BpeError, ValueError):
    """A model file or a vocabulary cannot be used; the message says what is wrong."""


class TrainingError(BpeError, ValueError):
    """A corpus cannot be trained on as asked."""


class SpecialTokenError(BpeError, ValueError):
    """Text spells a special token that the call does not allow."""


class UnknownTokenError(BpeError, KeyError, ValueError):
    """An id, or a string of bytes, that the vocabulary does not have."""

    def __str__(self) -> str:
        """Return the message itself; `KeyError` would show its repr."""
        return str(self.args[0]) if self.args else ""


class NoOffsetsError(BpeError, ValueError):
    """A text was changed before it was encoded: its ids have no places in it."""


class CorpusError(BpeError, ValueError):
    """Documents cannot be read, or shards not written or read, as asked.

    The message names the file, the place in it and the way out.
    """


def became_shorter(path: str, size: int, found: int) -> CorpusError:
    """Return the error about a file that ends before it did; sizes are in bytes."""
    return CorpusError(
        f"{path}: became shorter while it was read: it had {size:,} bytes at the "
        f"beginning, and has {found:,} now; begin again when nothing writes to it"
    )
