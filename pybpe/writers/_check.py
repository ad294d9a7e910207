"""Reading back what was written: the texts to try, and the comparison.

A writer reasons about what a format means; this is the test of its reasoning, on every
file, with the program that others will read it with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from pybpe.codepoint import MARK, CodepointModel
from pybpe.errors import ModelError
from pybpe.formats._source import shown
from pybpe.model import Model
from pybpe.tokenizer import Tokenizer

# None where the program that reads the file breaks down.
Encode = Callable[[str], list[int] | None]

# White space, cases, digits, scripts, marks, controls: what programs disagree about.
_TEXTS = (
    "",
    " ",
    "Hello, world! It's what they'LL say; we've 12345678 reasons (0.5%), don't we?",
    "  leading\n\n  two\r\n\r\n\tthree \t \n end  ",
    "def f(x):\n    return [x**2 for _ in range(10)]  # comment\n\n\n\n",
    "HTTPServerError fooBar SNAKE_CASE http://example.com/a/b?c=d&e=%20",
    "na\u00efve caf\u00e9 e\u0301 \u017fo \u212aelvin \u0130\u0131 stra\u00dfe \u1e9e",
    "\u041f\u0440\u0438\u0432\u0435\u0442 \u4f60\u597d\uff0c\u4e16\u754c\u3002 "
    "\u3053\u3093\u306b\u3061\u306f \ud55c\uad6d\uc5b4 \u0627\u0644\u0639\u0631\u0628"
    "\u064a\u0629 \u0939\u093f\u0928\u094d\u0926\u0940 \u0e20\u0e32\u0e29\u0e32",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \u2764\ufe0f "
    "\u00bd\u00b2\u0661\u2160 \u2026\u2014\u201cquoted\u201d \u2581\u2581mark",
    "\x00\x01\x1c\x1f\x7f\x85\xa0\u1680\u2003\u2028\u202f\u3000\u200b\ufeff\ufffd",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "x  \n\n\n  y   \n   ",
)
_N_TOKENS = 2000  # of the vocabulary, to put into texts
_PER_TEXT = 100


def probing_texts(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the texts on which ids are compared.

    They hold every special and added token, a sample of the vocabulary, and the
    characters on both sides of each place where the split's classes change: there a
    program with other Unicode tables would cut elsewhere.
    """
    yield from _TEXTS
    extra = [
        token
        for token in (*tokenizer.special_tokens, *tokenizer.added_tokens)
        if isinstance(token, str)
    ]
    for group in _groups(extra):
        yield "".join(group)
        yield "".join(f"a {token} b{token}\n" for token in group)
    for group in _groups(_some_tokens(tokenizer)):
        yield "".join(group)
        yield " ".join(group)
    for group in _groups(_class_edges(tokenizer)):
        yield "".join(f"a{char}{char} {char}1{char}\n{char}" for char in group)


def _groups(items: Iterable[str]) -> Iterator[list[str]]:
    """Yield short lists of items."""
    left = iter(items)
    while group := list(islice(left, _PER_TEXT)):
        yield group


def _some_tokens(tokenizer: Tokenizer) -> Iterator[str]:
    tokens = list(tokenizer.vocab)
    for token in tokens[:: len(tokens) // _N_TOKENS + 1]:
        try:
            yield token.decode()
        except UnicodeDecodeError:
            continue


def _class_edges(tokenizer: Tokenizer) -> Iterator[str]:
    model = tokenizer._model
    if isinstance(model, CodepointModel):
        return
    edges = {start for s in model.split.stages for start in s.class_starts}
    for codepoint in sorted(edges | {start - 1 for start in edges if start}):
        if not 0xD800 <= codepoint < 0xE000:
            yield chr(codepoint)


def compare_ids(
    tokenizer: Tokenizer, encode: Encode, reader: str, texts: Iterable[str] = ()
) -> None:
    """Compare the ids of the probing texts.

    Args:
        tokenizer: What was written.
        encode: Gives the ids of a text as the reader of the file does, with special
            tokens matched.
        reader: Its name.
        texts: Other texts to compare on.

    Raises:
        ModelError: They differ; the message shows where.
    """
    for text in texts or probing_texts(tokenizer):
        ours = tokenizer.encode(text, allowed_special="all")
        theirs = encode(text)
        if theirs is not None and ours != theirs:
            at = next(
                (i for i, pair in enumerate(zip(ours, theirs, strict=False))
                 if pair[0] != pair[1]),
                min(len(ours), len(theirs)),
            )  # fmt: skip
            before = tokenizer.decode(ours[max(0, at - 3) : at])
            raise ModelError(
                f"{reader} reads the file otherwise: after {shown(before)} it gives "
                f"{theirs[at : at + 4]}, not {ours[at : at + 4]}"
            )


def compare_decoding(
    tokenizer: Tokenizer, decode: Callable[[list[int]], str], reader: str
) -> None:
    """Compare what the ids of the probing texts decode to.

    Raises:
        ModelError: They differ; the message shows a text.
    """
    has_pieces = isinstance(tokenizer._model, CodepointModel)
    for text in probing_texts(tokenizer):
        if has_pieces:
            # A mark in a text comes back as a space, or in front of it not at all.
            text = text.replace(MARK.decode(), " ")
        ids = tokenizer.encode(text, allowed_special="all")
        if decode(ids) != tokenizer.decode(ids):
            raise ModelError(
                f"{reader} decodes otherwise the ids of {shown(text)}: to "
                f"{shown(decode(ids))}"
            )


def compare_tables(ours: Mapping[object, object], theirs: object, reader: str) -> None:
    """Compare whole vocabularies.

    Raises:
        ModelError: They differ; the message names an entry.
    """
    if ours == theirs:
        return
    table = dict(theirs) if isinstance(theirs, Mapping) else {}
    for key in (*ours, *table):
        if ours.get(key) != table.get(key):
            raise ModelError(
                f"{reader} reads the file otherwise: of {shown(key)} it has "
                f"{shown(table.get(key))}, not {shown(ours.get(key))}"
            )


def compare_tokenizers(ours: Tokenizer, theirs: Tokenizer) -> None:
    """Compare with what pybpe itself reads: vocabulary, special tokens and ids.

    Raises:
        ModelError: They differ.
    """
    compare_tables(all_tokens(ours), all_tokens(theirs), "pybpe")
    compare_ids(ours, lambda text: theirs.encode(text, allowed_special="all"), "pybpe")


def compare_around(ours: Tokenizer, theirs: Tokenizer) -> None:
    """Compare the ids that go around texts.

    Raises:
        ModelError: They differ.
    """
    for name in ("text_prefix", "text_suffix"):
        compare_tables(
            {name: getattr(ours, name)}, {name: getattr(theirs, name)}, "pybpe"
        )


def all_tokens(tokenizer: Tokenizer) -> dict[object, object]:
    """Return id -> bytes of every token; special and added ones beside."""
    model = tokenizer._model
    table: dict[object, object] = {n: t for t, n in tokenizer.vocab.items()}
    extra = model.special_tokens + model.added_tokens
    if isinstance(model, Model):
        # A reader may take a token that is special for an ordinary one as well.
        table.update((number, token) for token, number in extra)
    table["special"] = model.special_tokens
    return table
