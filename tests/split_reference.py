"""What tests of the split share: nasty text, other engines, all ways to run ours."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator

import pytest

from pybpe import unicode
from pybpe.split import Split, Stage

# How many random examples to try, in multiples of what is run by default.
SCALE = float(os.environ.get("PYBPE_TEST_EXAMPLES", "1"))

Cut = Callable[[str], list[str]]


def codepoints(ranges: unicode.Ranges) -> list[int]:
    """List a set, without surrogates."""
    return [
        cp
        for start, end in zip(ranges[::2], ranges[1::2], strict=True)
        for cp in range(start, end)
        if not 0xD800 <= cp < 0xE000
    ]


def every_codepoint() -> list[int]:
    return codepoints(unicode.EVERYTHING)


def assigned() -> list[int]:
    return codepoints(unicode.property_set("Assigned"))


def with_gaps(spans: Iterable[tuple[int, int]], text: str) -> list[str]:
    """Cut a text at matches; what lies between two of them is a piece as well."""
    pieces = []
    at = 0
    for start, end in spans:
        pieces += [text[at:start], text[start:end]]
        at = end
    return [piece for piece in [*pieces, text[at:]] if piece]


def by_regex(*patterns: str) -> Cut:
    """Cut with the `regex` package, stage after stage."""
    import regex

    compiled = [regex.compile(pattern) for pattern in patterns]

    def cut(text: str) -> list[str]:
        pieces = [text] if text else []
        for pattern in compiled:
            pieces = [
                part
                for piece in pieces
                for part in with_gaps(
                    (found.span() for found in pattern.finditer(piece)), piece
                )
            ]
        return pieces

    return cut


def by_oniguruma(*patterns: str) -> Cut:
    """Cut with Hugging Face's Split pre-tokenizers."""
    tokenizers = pytest.importorskip("tokenizers")
    stages = [
        tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
        for pattern in patterns
    ]
    sequence = tokenizers.pre_tokenizers.Sequence(stages)

    def cut(text: str) -> list[str]:
        return [piece for piece, _ in sequence.pre_tokenize_str(text)]

    return cut


def kept_by_rust(pattern: str, text: str) -> str:
    """Return the characters that tiktoken's engine matches; it drops all others."""
    tiktoken = pytest.importorskip("tiktoken")
    bytes_only = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding(
        "probe", pat_str=pattern, mergeable_ranks=bytes_only, special_tokens={}
    )
    kept: str = encoding.decode_bytes(encoding.encode_ordinary(text)).decode()
    return kept


def by_core(split: Split) -> Cut | None:
    """Cut with the C core; None if it has not been built."""
    try:
        from pybpe import _binding
    except ImportError:
        return None
    handle = _binding.new_split(split.stages)

    def cut(text: str) -> list[str]:
        data = text.encode()
        pieces = []
        at = 0
        for end in _binding.split_ends(handle, data):
            pieces.append(data[at:end].decode())
            at = end
        return pieces

    return cut


def without_tables(split: Split) -> Split:
    """Return the same split, all of its stages forced onto `regex`."""
    return Split(
        [Stage.compile(s.pattern, s.dialect, tables=False) for s in split.stages]
    )


def ways(split: Split) -> Iterator[tuple[str, Cut]]:
    """Yield every way to run a split, by name: all must cut alike."""
    yield "reference" if split.compiled else "regex", split.pretokens
    if split.compiled:
        yield "regex", without_tables(split).pretokens
        core = by_core(split)
        if core is not None:
            yield "core", core


def check(split: Split, expected: Cut, texts: Iterable[str]) -> int:
    """Compare every way to run a split with another engine; return the text count."""
    runs = list(ways(split))
    n_texts = 0
    for text in texts:
        want = expected(text)
        for name, cut in runs:
            assert cut(text) == want, (name, split, text)
        n_texts += 1
    return n_texts


_SNIPPETS = """
    a b ab s S t T d m ll LL ve re 's 'S 'T 'll 'Re 'VE 'x '' \u2019s hello Hello HELLO
    fooBar 1 12 123 1234 12345 \u0661 \u0968 \u00bd \u2167 \u00b2 . , ! ?! ... --- / //
    /a $ + < => \u20ac \u2019 \u201c \u3002 \uff01 _ a_b \u00e9 e\u0301 \u0301 \u0345
    \u01c5 \u02b0 \u05d0 \u0e01 \u0e34 \u4f60 \u4f60\u597d \u30ab\u30ca \u3042 \uac00
    \U00020000 \U0001f600 \U0001f468\u200d\U0001f469 \u200d \u200b \ufeff \u017f \u212a
    '\u017f '\u017fx \u00df \u1e9e \u0130 \u0131 \ufffd \ue000 \x00 \x7f
""".split()  # noqa: SIM905
_SPACES = [
    *("  ", "   ", "\n\n", "\r\n", "\x1c", "\x1f"),  # the last two are no white space
    *" \n\r\t\v\f\x85\u00a0\u1680\u2002\u2028\u2029\u202f\u205f\u3000",
]


def nasty_texts(seed: int, count: int) -> Iterator[str]:
    """Yield random texts of what splitters trip over, all assigned in 16.0."""
    rng = random.Random(seed)
    by_category = [codepoints(unicode.category(c)) for c in unicode.CATEGORIES]
    pools = [pool for pool in by_category if pool]
    unassigned = codepoints(unicode.category("Cn"))
    pools.remove(unassigned)
    for _ in range(int(count * SCALE)):
        parts = []
        for _ in range(rng.randint(0, 12)):
            kind = rng.random()
            if kind < 0.55:
                parts.append(rng.choice(_SNIPPETS))
            elif kind < 0.85:
                parts.append(rng.choice(_SPACES))
            else:
                parts.append(chr(rng.choice(rng.choice(pools))))
        yield "".join(parts)


# Random patterns and the letters of the texts they are tried on.
ALPHABET = "ab 1\n"
_ATOMS = [
    "a", "b", " ", "1", r"\n", "[ab]", "[^a]", r"\s", r"\S", r"\d", r"\w", "[a1]", ".",
    "(?i:a)", r"\p{L}", r"[^\s\p{L}]", "[b-c]",
]  # fmt: skip
_LOOKS = [
    r"(?!\S)", "(?=a)", "(?!a)", r"(?=\s)", r"\z", r"(?=a|\z)", "(?![^b])", r"(?=\d+)",
    r"(?!\z)", "(?:(?=a)|(?=b))",
]  # fmt: skip
_QUANTIFIERS = [
    "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{1,3}", "{0,2}", "{2,}",
    "{1,2}?", "{2,}?", "{,2}", "++", "*+", "?+", "{1,2}+",
]  # fmt: skip
# Not in the compiled subset.
_OTHERS = [r"\b", r"\B", "^", r"\A", "(?<=a)", r"(?<!\s)", "(?=ab)", "(?!a1)"]


def random_pattern(rng: random.Random, others: bool) -> str:
    """Return a random pattern; with ``others`` it may hold what does not compile."""
    branches = [
        _random_part(rng, rng.choice([1, 2, 3]), others)
        for _ in range(rng.choice([1, 1, 2, 3]))
    ]
    return "|".join(branches)


def _random_part(rng: random.Random, depth: int, others: bool) -> str:
    def part() -> str:
        return _random_part(rng, depth - 1, others)

    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return rng.choice(_ATOMS)
    if kind < 0.5:
        return part() + part()
    if kind < 0.72:
        branches = [part() for _ in range(rng.choice([2, 2, 3]))]
        return f"(?:{'|'.join(branches)})"
    if kind < 0.92:
        if rng.random() < 0.3:
            return rng.choice(_ATOMS) + rng.choice(_QUANTIFIERS)
        return f"(?:{part()}){rng.choice(_QUANTIFIERS)}"
    if kind < 0.98:
        look = rng.choice(_OTHERS if others else _LOOKS)
        return part() + look if rng.random() < 0.7 else look + part()
    return f"(?>{part()})"
