"""Which encoding a model of OpenAI's uses: the names of `tiktoken.model`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybpe.encodings import _MODELS as MODEL_TO_ENCODING
from pybpe.encodings import _PREFIXES as MODEL_PREFIX_TO_ENCODING
from pybpe.encodings import encoding_name_for_model
from pybpe.tiktoken.registry import get_encoding

if TYPE_CHECKING:
    from pybpe.tiktoken.core import Encoding

__all__ = [
    "MODEL_PREFIX_TO_ENCODING",
    "MODEL_TO_ENCODING",
    "encoding_for_model",
    "encoding_name_for_model",
]


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding that a model uses.

    Raises:
        KeyError: No encoding is known for it.
    """
    return get_encoding(encoding_name_for_model(model_name))
