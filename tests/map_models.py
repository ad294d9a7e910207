"""sentencepiece models with character maps, for the tests of these maps."""

from __future__ import annotations

from functools import cache
from typing import Any

import pybpe
from pybpe import Tokenizer

LINE = "hello world, caf\u00e9 na\u00efve \u4f60\u597d \uff21\uff22 \u30ab\u30ac 12 x"


@cache
def trained(*, symbols: str = "", **options: Any) -> Tokenizer:
    """Return a small model; its map is `nmt_nfkc`'s if the options name no other.

    Args:
        symbols: User-defined pieces, with spaces between them.
        options: Those of `pybpe.train_sentencepiece`.
    """
    return pybpe.train_sentencepiece(
        [LINE] * 5,
        400,
        hard_vocab_limit=False,
        user_defined_symbols=symbols.split(),
        control_symbols=["<c>"],
        **options,
    )
