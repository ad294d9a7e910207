"""A tokenizer on its way to other processes: made there once, however often it comes.

Schedulers pickle a function with everything it holds for every task. What goes here
is the content of a tokenizer without its provenance, so that equal tokenizers are equal
bytes: what hashes a pickle, as the cache of `datasets` does, hashes what decides the
ids and nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybpe.tokenizer import Tokenizer

# How many tokenizers a process keeps that have arrived; those used last.
_MOST = 8

_arrived: OrderedDict[str, Tokenizer] = OrderedDict()
_lock = Lock()


class Shipped:
    """Holds a tokenizer, and pickles so that a process makes it once."""

    __slots__ = ("tokenizer",)

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Hold a tokenizer.

        Raises:
            TypeError: It is none.
        """
        from pybpe.tokenizer import Tokenizer

        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(
                f"tokenizer must be a Tokenizer, got {type(tokenizer).__name__}"
            )
        self.tokenizer = tokenizer

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by content."""
        from pybpe._model_message import to_message

        tokenizer = self.tokenizer
        content = to_message(tokenizer._model, provenance=False)
        return _arrive, (tokenizer.fingerprint, content)


def _arrive(fingerprint: str, content: bytes) -> Shipped:
    """Return what was pickled, with the tokenizer that is there already if it is."""
    from pybpe._model_message import from_message
    from pybpe.tokenizer import Tokenizer

    with _lock:
        tokenizer = _arrived.pop(fingerprint, None)
        if tokenizer is None:
            tokenizer = Tokenizer(from_message(content))
        _arrived[fingerprint] = tokenizer
        while len(_arrived) > _MOST:
            _arrived.popitem(last=False)
    return Shipped(tokenizer)
