"""The split patterns of published tokenizers, by name, and the dialects there are.

The strings are the ones their publishers use; ids depend on every character of them.
"""

from __future__ import annotations

DIALECTS = ("rust", "oniguruma", "regex")

_SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS_BY_CASE = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
)

# The form OpenAI released with GPT-2. tiktoken has rewritten it since, for speed; both
# forms split every text in the same places.
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# The form that minbpe, rustbpe and older tiktoken releases call GPT-4's.
GPT4 = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
# The form of today's tiktoken. It splits white space that ends a text elsewhere than
# GPT4 does: "x\n  " is one pretoken less.
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K = (
    "|".join(word + _CONTRACTIONS + "?" for word in _WORDS_BY_CASE)
    + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*"
    + _SPACES
)
LLAMA3 = (
    _CONTRACTIONS
    + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    + _SPACES
)
QWEN2 = (
    _CONTRACTIONS
    + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    + _SPACES
)
TEKKEN = "|".join(_WORDS_BY_CASE) + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + _SPACES
DEEPSEEK_V3 = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
    "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
)
DIGITS = r"\p{N}"

# Name -> dialect and the patterns of its stages.
NAMED: dict[str, tuple[str, tuple[str, ...]]] = {
    "gpt2": ("rust", (GPT2,)),
    "gpt4": ("rust", (GPT4,)),
    "cl100k": ("rust", (CL100K,)),
    "o200k": ("rust", (O200K,)),
    "llama3": ("rust", (LLAMA3,)),
    "qwen2": ("rust", (QWEN2,)),
    "tekken": ("rust", (TEKKEN,)),
    "deepseek_v3": ("oniguruma", DEEPSEEK_V3),
    "digits": ("rust", (DIGITS,)),
}
# Published encodings that use one of them.
ALIASES = {
    "r50k_base": "gpt2",
    "p50k_base": "gpt2",
    "p50k_edit": "gpt2",
    "cl100k_base": "cl100k",
    "o200k_base": "o200k",
    "o200k_harmony": "o200k",
}


def shown(pattern: str) -> str:
    """Return a pattern as a message shows it, cut short when it is long."""
    return repr(pattern) if len(pattern) <= 80 else repr(pattern[:77]) + "..."


def literal(text: str) -> str:
    """Return a pattern, of any dialect, that matches exactly this text."""
    import re

    return re.sub(r"[!-/:-@\[-^`{-~]", r"\\\g<0>", text)
