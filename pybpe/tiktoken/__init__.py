r"""tiktoken's public names, run by pybpe: a program changes one import.

>>> import pybpe.tiktoken as tiktoken
>>> enc = tiktoken.Encoding(
...     "bytes",
...     pat_str=r"\S+|\s+",
...     mergeable_ranks={bytes([i]): i for i in range(256)} | {b"he": 256},
...     special_tokens={"<|endoftext|>": 257},
... )
>>> enc.encode("he<|endoftext|>", allowed_special="all")
[256, 257]

The submodules `core`, `registry`, `model` and `load` are where tiktoken's are. What
differs from tiktoken, and why, is in docs/tiktoken.md.
"""

from __future__ import annotations

from pybpe.tiktoken.core import Encoding
from pybpe.tiktoken.model import encoding_for_model, encoding_name_for_model
from pybpe.tiktoken.registry import get_encoding, list_encoding_names

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]

# The version of tiktoken whose names these are.
__version__ = "0.14.0"
