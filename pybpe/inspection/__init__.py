"""Looking into a tokenizer: what it makes of texts, and what is in its vocabulary.

- `usage`, `usage_of_files`: how many tokens a text takes, and which; `most_used`, and
  `unused`, the tokens it never uses.
- `reachability`: the ids that no text can ever get, with the reasons.
- `numbers`, `white_space`, `word_forms`, `scripts`, `longest_tokens`: kinds of tokens.
- `tokens_of`: a text in tokens.

All take any tokenizer, sentencepiece models included, and return plain dataclasses.
`pybpe inspect` shows the same as tables.
"""

from __future__ import annotations

from pybpe.inspection._kinds import (
    NumberLength,
    Numbers,
    WhiteSpace,
    longest_tokens,
    numbers,
    scripts,
    white_space,
    word_forms,
)
from pybpe.inspection._reach import Reachability, reachability
from pybpe.inspection._texts import Token, shown, tokens_of
from pybpe.inspection._usage import (
    TokenCount,
    Usage,
    most_used,
    unused,
    usage,
    usage_of_files,
)

__all__ = [
    "NumberLength",
    "Numbers",
    "Reachability",
    "Token",
    "TokenCount",
    "Usage",
    "WhiteSpace",
    "longest_tokens",
    "most_used",
    "numbers",
    "reachability",
    "scripts",
    "shown",
    "tokens_of",
    "unused",
    "usage",
    "usage_of_files",
    "white_space",
    "word_forms",
]
