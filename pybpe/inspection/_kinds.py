"""What kinds of tokens a vocabulary has, and how numbers and white space are cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pybpe.inspection._texts import Token, ordinary_ids, token_texts

if TYPE_CHECKING:
    from pybpe.tokenizer import Tokenizer

# So many numbers of each length are looked at: all up to four digits.
_SAMPLE = 9000
_DIGITS = b"0123456789"

# What tokens without letters, or without whole characters, go by.
DIGITS, WHITE_SPACE, SYMBOLS = "digits", "white space", "punctuation and symbols"
PARTS, SEVERAL = "parts of characters", "several scripts"


@dataclass(frozen=True)
class NumberLength:
    """How numbers of one length are cut.

    Attributes:
        digits: The length.
        numbers: How many numbers were looked at: all up to four digits, of longer ones
            9,000 spread evenly. None begins with 0.
        whole: How many of them are one token.
        shapes: How many are cut in which way: (3, 1) is three digits, then one.
    """

    digits: int
    numbers: int
    whole: int
    shapes: Mapping[tuple[int, ...], int]

    @property
    def tokens(self) -> float:
        """How many tokens a number of this length has, on average."""
        total = sum(len(shape) * count for shape, count in self.shapes.items())
        return total / self.numbers


@dataclass(frozen=True)
class Numbers:
    """How numbers are cut.

    Attributes:
        lengths: For each length, from one digit on.
        missing: Which of the numbers from 000 to 999 are no token.
    """

    lengths: tuple[NumberLength, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class WhiteSpace:
    """The tokens that are white space, and how indentation is cut.

    Attributes:
        spaces: Lengths of the tokens that are spaces only; tabs and newlines likewise.
        tabs: See `spaces`.
        newlines: See `spaces`.
        mixed: The other tokens that are white space only.
        indents: How lines of code that begin with so many spaces are cut: the tokens
            of the line break, the spaces and a word.
    """

    spaces: tuple[int, ...]
    tabs: tuple[int, ...]
    newlines: tuple[int, ...]
    mixed: tuple[Token, ...]
    indents: Mapping[int, tuple[Token, ...]]


def numbers(tok: Tokenizer, digits: int = 8, *, before: str = "") -> Numbers:
    """Find out how numbers in decimal digits are cut.

    >>> from pybpe import Tokenizer
    >>> tok = Tokenizer.from_merges([(b"9", b"9")], pattern="gpt2")
    >>> three = numbers(tok, 3).lengths[2]
    >>> three.shapes[1, 1, 1], three.shapes[1, 2], three.shapes[2, 1]
    (882, 8, 10)

    Args:
        tok: The tokenizer.
        digits: The longest numbers to look at, in digits.
        before: What stands before each number, such as a space.
    """
    if not 1 <= digits <= 100:
        raise ValueError(f"digits must be between 1 and 100, got {digits}")
    texts = token_texts(tok)
    n_digits = [sum(byte in _DIGITS for byte in text) for text in texts]

    def shapes(given: list[str]) -> list[tuple[int, ...]]:
        encoded = tok.encode_batch(
            [before + number for number in given], disallowed_special=()
        )
        return [tuple(n for i in ids if (n := n_digits[i])) for ids in encoded]

    lengths = []
    for length in range(1, digits + 1):
        given = _numbers_of(length)
        found = Counter(shapes(given))
        lengths.append(
            NumberLength(
                digits=length,
                numbers=len(given),
                whole=found[(length,)],
                shapes=dict(sorted(found.items(), key=lambda item: -item[1])),
            )
        )
    hundreds = [f"{number:03}" for number in range(1000)]
    missing = [
        number
        for number, shape in zip(hundreds, shapes(hundreds), strict=True)
        if shape != (3,)
    ]
    return Numbers(lengths=tuple(lengths), missing=tuple(missing))


def _numbers_of(length: int) -> list[str]:
    least = 10 ** (length - 1) if length > 1 else 0
    count = 10**length - least
    if count <= _SAMPLE:
        return [str(least + i) for i in range(count)]
    # A step without a common divisor with the count, near the golden section of it.
    step = count * 618 // 1000 | 1
    while step % 5 == 0 or step % 3 == 0:
        step += 2
    return [str(least + i * step % count) for i in range(_SAMPLE)]


def white_space(tok: Tokenizer, indents: int = 16) -> WhiteSpace:
    """List the tokens that are white space, and cut lines of code.

    Args:
        tok: The tokenizer.
        indents: The deepest indentation to look at, in spaces.
    """
    texts = token_texts(tok)
    lengths: dict[str, set[int]] = {" ": set(), "\t": set(), "\n": set()}
    mixed = []
    for i in ordinary_ids(tok) + sorted(tok.added_tokens.values()):
        text = texts[i].decode("utf-8", "replace")
        if not text.isspace():
            continue
        kinds = set(text)
        if len(kinds) == 1 and text[0] in lengths:
            lengths[text[0]].add(len(text))
        else:
            mixed.append(Token(i, texts[i]))
    lines = [("\n" + " " * n + "return") for n in range(indents + 1)]
    encoded = tok.encode_batch(lines, disallowed_special=())
    return WhiteSpace(
        spaces=tuple(sorted(lengths[" "])),
        tabs=tuple(sorted(lengths["\t"])),
        newlines=tuple(sorted(lengths["\n"])),
        mixed=tuple(mixed),
        indents={
            n: tuple(Token(i, texts[i]) for i in ids) for n, ids in enumerate(encoded)
        },
    )


def word_forms(tok: Tokenizer, word: str) -> dict[str, tuple[Token, ...]]:
    """Return the tokens of a word in small and capital letters, and after a space.

    To a tokenizer these have nothing in common: each form is another string.

    >>> import pybpe
    >>> tok = pybpe.train(["low lower lowest"], 259, pattern="gpt2")
    >>> {form: len(tokens) for form, tokens in word_forms(tok, "low").items()}
    {'low': 1, 'Low': 3, 'LOW': 3, ' low': 1, ' Low': 4, ' LOW': 4}
    """
    texts = token_texts(tok)
    forms = dict.fromkeys(
        space + form
        for space in ("", " ")
        for form in (word, word.lower(), word.capitalize(), word.upper())
    )
    encoded = tok.encode_batch(forms, disallowed_special=())
    return {
        form: tuple(Token(i, texts[i]) for i in ids)
        for form, ids in zip(forms, encoded, strict=True)
    }


def longest_tokens(tok: Tokenizer, n: int = 20) -> list[Token]:
    """Return the ordinary tokens of most bytes, the longest first."""
    texts = token_texts(tok)
    ids = sorted(ordinary_ids(tok), key=lambda i: (-len(texts[i]), i))
    return [Token(i, texts[i]) for i in ids[:n]]


def scripts(tok: Tokenizer) -> dict[str, int]:
    """Return how many ordinary tokens are of which script, the most frequent first.

    A token is of the script of its letters. Without letters it counts as digits, white
    space, or punctuation and symbols; if it is not whole characters, as that.
    """
    texts = token_texts(tok)
    found = Counter(_script_of(texts[i]) for i in ordinary_ids(tok))
    return dict(found.most_common())


def _script_of(text: bytes) -> str:
    try:
        chars = text.decode()
    except UnicodeDecodeError:
        return PARTS
    names, table = _script_table()
    found = {table[ord(char)] for char in chars} - {0}
    if len(found) == 1:
        return names[found.pop()]
    if found:
        return SEVERAL
    if chars.isspace():
        return WHITE_SPACE
    return DIGITS if any(char.isnumeric() for char in chars) else SYMBOLS


@cache
def _script_table() -> tuple[list[str], bytes]:
    """Return the names of the scripts, and the number of the script of every character.

    Number 0 is for characters that several scripts share.
    """
    from pybpe import unicode

    names = [""]
    table = bytearray(unicode.N_CODEPOINTS)
    for name in unicode.script_names():
        if name in ("common", "inherited", "unknown"):
            continue
        edges = unicode.script(name)
        for first, end in zip(edges[::2], edges[1::2], strict=True):
            table[first:end] = bytes([len(names)]) * (end - first)
        names.append(name.capitalize())
    return names, bytes(table)
