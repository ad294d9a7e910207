"""What `pybpe inspect` can show: each section for people, and for programs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pybpe
from pybpe import inspection
from pybpe.cli.files import as_files
from pybpe.cli.tables import Cell, percent, table

# Lists have all lines if so many are asked for.
ALL = 0
# Longer tokens are cut short in lists.
_BRIEF = 60
# So many tokens of mixed white space are shown.
_FEW = 5
# The depths of indentation that are shown.
_INDENTS = (0, 1, 2, 3, 4, 8, 12, 16)


class Section(NamedTuple):
    """One part of the output.

    Attributes:
        name: Its key in JSON, and with spaces its title.
        data: What programs get.
        lines: What people get.
    """

    name: str
    data: Any
    lines: Iterator[str]


class Named(NamedTuple):
    """A tokenizer under the name that the user gave."""

    name: str
    tok: pybpe.Tokenizer


def token_data(token: inspection.Token) -> dict[str, Any]:
    """Return a token for JSON: its text, or its bytes in hex if it is not UTF-8."""
    data: dict[str, Any] = {"id": token.id}
    try:
        data["text"] = token.text.decode()
    except UnicodeDecodeError:
        data["hex"] = token.text.hex()
    if isinstance(token, inspection.TokenCount):
        data["count"] = token.count
    return data


def cut(tokens: Sequence[inspection.Token]) -> str:
    """Return the tokens of a text side by side."""
    return " ".join(inspection.shown(token.text) for token in tokens)


def ids_of(tokens: Sequence[inspection.Token]) -> str:
    """Return the ids of a text side by side."""
    return " ".join(str(token.id) for token in tokens)


def brief(text: bytes) -> str:
    """Return a token as it is shown in lists, a long one without its middle."""
    shown = inspection.shown(text)
    return shown if len(shown) <= _BRIEF else f"{shown[:30]} ... {shown[-10:]}"


def first(items: Sequence[Any], top: int) -> Sequence[Any]:
    """Return as many items as lists have lines."""
    return items if top == ALL else items[:top]


def more(n: int, top: int) -> Iterator[str]:
    """Yield a line that says how many items a list leaves out, if any."""
    if top != ALL and n > top:
        yield f"... and {n - top:,} more; --top 0 lists all"


# ------------------------------------------------------------------ texts


def texts(toks: Sequence[Named], given: Sequence[bytes]) -> Section:
    """How texts are cut."""
    found = [
        (named.name, inspection.tokens_of(named.tok, text))
        for text in given
        for named in toks
    ]
    data = [
        {"tokenizer": name, "tokens": [token_data(token) for token in tokens]}
        for name, tokens in found
    ]
    rows: list[list[Cell]] = [
        [name, len(tokens), cut(tokens), ids_of(tokens)] for name, tokens in found
    ]
    headers = ["tokenizer", "tokens", "cut", "ids"]
    return Section("texts", data, one_or_both(toks, headers, rows))


def words(toks: Sequence[Named], given: Sequence[str]) -> Section:
    """How the forms of words are cut."""
    found = [
        (named.name, form, tokens)
        for word in given
        for named in toks
        for form, tokens in inspection.word_forms(named.tok, word).items()
    ]
    data = [
        {"tokenizer": name, "form": form, "tokens": [token_data(t) for t in tokens]}
        for name, form, tokens in found
    ]
    rows: list[list[Cell]] = [
        [name, repr(form), len(tokens), cut(tokens), ids_of(tokens)]
        for name, form, tokens in found
    ]
    headers = ["tokenizer", "form", "tokens", "cut", "ids"]
    return Section("words", data, one_or_both(toks, headers, rows))


def one_or_both(
    toks: Sequence[Named], headers: list[str], rows: list[list[Cell]]
) -> Iterator[str]:
    """Yield a table whose first column says which tokenizer, if there are two."""
    if len(toks) > 1:
        return table(headers, rows)
    return table(headers[1:], [row[1:] for row in rows])


# ------------------------------------------------------------------ files


class Used(NamedTuple):
    """What one tokenizer made of one file."""

    named: Named
    file: str
    usage: inspection.Usage


def files(toks: Sequence[Named], used: Sequence[Used], top: int) -> Section:
    """How many tokens files take, and which ones most often."""
    data = []
    for named, file, usage in used:
        frequent = inspection.most_used(named.tok, usage, None if top == ALL else top)
        data.append(
            {
                "tokenizer": named.name,
                "file": file,
                "bytes": usage.bytes,
                "characters": usage.characters,
                "words": usage.words,
                "tokens": usage.tokens,
                "distinct_tokens": len(usage.counts),
                "tokens_per_word": usage.tokens_per_word,
                "tokens_per_character": usage.tokens_per_character,
                "bytes_per_token": usage.bytes_per_token,
                "single_byte_tokens": usage.single_byte_tokens,
                "split_characters": usage.split_characters,
                "most_used": [token_data(token) for token in frequent],
            }
        )
    return Section("files", data, _file_lines(toks, used, top))


def _file_lines(toks: Sequence[Named], used: Sequence[Used], top: int) -> Iterator[str]:
    sizes = {u.file: u.usage for u in used}
    yield from table(
        ["file", "bytes", "characters", "words"],
        [[f, u.bytes, u.characters, u.words] for f, u in sizes.items()],
    )
    yield ""
    rows: list[list[Cell]] = [
        [
            named.name,
            file,
            usage.tokens,
            usage.tokens_per_word,
            usage.tokens_per_character,
            usage.bytes_per_token,
            percent(usage.single_byte_share),
            percent(usage.split_share),
        ]
        for named, file, usage in used
    ]
    headers = ["tokenizer", "file", "tokens", "per word", "per character"]
    headers += ["bytes each", "single bytes", "characters split"]
    if len(toks) > 1:
        # Both tokenizers of a file stand one below the other.
        first_of = {u.file: u.usage.tokens for u in reversed(used)}
        for row, one in zip(rows, used, strict=True):
            row.append(percent(one.usage.tokens / max(1, first_of[one.file])))
        headers.append(f"of {toks[0].name}")
    yield from one_or_both(toks, headers, rows)
    if len(toks) > 1:
        return
    yield ""
    for named, file, usage in used:
        frequent = inspection.most_used(named.tok, usage, None if top == ALL else top)
        yield f"most used in {file}: " + ", ".join(
            f"{brief(token.text)} {token.count:,}" for token in frequent
        )


def unused(
    named: Named,
    corpus: str,
    used: inspection.Usage,
    trained_on: inspection.Usage | None,
    top: int,
) -> Section:
    """Which tokens a text never uses."""
    found = inspection.unused(named.tok, used, trained_on)
    data = {
        "tokenizer": named.name,
        "in": corpus,
        "tokens": [token_data(token) for token in found],
    }
    return Section("unused", data, _unused_lines(found, corpus, trained_on, top))


def _unused_lines(
    found: Sequence[inspection.TokenCount],
    corpus: str,
    trained_on: inspection.Usage | None,
    top: int,
) -> Iterator[str]:
    tokens = "ordinary tokens" if trained_on is None else "tokens that the files use"
    yield f"{len(found):,} {tokens} are never used in {corpus}, the longest first:"
    rows: list[list[Cell]] = [
        [f" {t.id}", len(t.text), t.count, brief(t.text)] for t in first(found, top)
    ]
    if trained_on is None:
        yield from table(
            ["id", "bytes", "token"], [[row[0], row[1], row[3]] for row in rows]
        )
    else:
        yield from table(["id", "bytes", "in the files", "token"], rows)
    yield from more(len(found), top)


# ------------------------------------------------------------------ the vocabulary


def unreachable(named: Named, top: int) -> Section:
    """Which ids no text gets."""
    found = inspection.reachability(named.tok)
    data = {
        "tokenizer": named.name,
        "by_itself": len(found.by_itself),
        "in_context": len(found.in_context),
        "by_permission": len(found.by_permission),
        "from_bytes_only": list(found.from_bytes_only),
        "unreachable": {str(i): why for i, why in found.unreachable.items()},
        "undecided": list(found.undecided),
        "whole_pretokens": list(found.whole_pretokens),
    }
    return Section("reachability", data, _unreachable_lines(named.tok, found, top))


def _unreachable_lines(
    tok: pybpe.Tokenizer, found: inspection.Reachability, top: int
) -> Iterator[str]:
    rows: list[list[Cell]] = [
        [len(found.by_itself), "ids that the token's own text gets"],
        [len(found.in_context), "ids that other texts get"],
        [len(found.by_permission), "ids of special tokens, got only where allowed"],
        [len(found.from_bytes_only), "ids that only bytes get that are no UTF-8"],
        [len(found.unreachable), "ids that no text ever gets"],
        [len(found.undecided), "ids for which this is not known"],
    ]
    yield from table([""] * 2, rows)
    if found.whole_pretokens:
        yield (
            f"{len(found.whole_pretokens):,} are got only because a pretoken that is a "
            "token is taken whole"
        )
    reasons = Counter(found.unreachable.values())
    if reasons:
        yield ""
        rows = [[n, reason] for reason, n in reasons.most_common()]
        yield from table([""] * 2, rows)
    listed = {**found.unreachable, **dict.fromkeys(found.undecided, "not known")}
    if listed:
        yield ""
        rows = [
            [f" {i}", brief(tok.token_bytes(i)), why]
            for i, why in first(list(listed.items()), top)
        ]
        yield from table(["id", "token", "why"], rows)
        yield from more(len(listed), top)


def numbers(named: Named, top: int) -> Section:
    """How numbers are cut."""
    found = inspection.numbers(named.tok)
    data = {
        "tokenizer": named.name,
        "lengths": [
            {
                "digits": length.digits,
                "numbers": length.numbers,
                "whole": length.whole,
                "tokens": length.tokens,
                "shapes": {_shape(s): n for s, n in length.shapes.items()},
            }
            for length in found.lengths
        ],
        "missing": list(found.missing),
    }
    return Section("numbers", data, _number_lines(found, top))


def _shape(shape: tuple[int, ...]) -> str:
    return "+".join(map(str, shape))


def _number_lines(found: inspection.Numbers, top: int) -> Iterator[str]:
    rows: list[list[Cell]] = []
    for length in found.lengths:
        shapes = list(length.shapes.items())
        ways = ", ".join(
            f"{_shape(shape)} {percent(n / length.numbers).strip()}"
            for shape, n in shapes[:3]
        )
        ways += f", {len(shapes) - 3} more" if len(shapes) > 3 else ""
        whole = percent(length.whole / length.numbers)
        rows.append([length.digits, whole, length.tokens, ways])
    yield from table(["digits", "one token", "tokens", "cut into digits"], rows)
    yield ""
    missing = Counter(number[0] for number in found.missing)
    yield "of the numbers 000 to 999, tokens by hundreds:"
    rows = [[f"{h}00-{h}99", 100 - missing[h]] for h in "0123456789"]
    yield from table(["numbers", "tokens"], rows)
    if 0 < len(found.missing) < 1000:
        some = first(found.missing, top)
        end = ", ..." if len(some) < len(found.missing) else ""
        yield f"no token, from the first on: {', '.join(some)}{end}"


def white_space(named: Named, top: int) -> Section:
    """Which tokens are white space, and how indentation is cut."""
    found = inspection.white_space(named.tok)
    data = {
        "tokenizer": named.name,
        "spaces": list(found.spaces),
        "tabs": list(found.tabs),
        "newlines": list(found.newlines),
        "mixed": [token_data(token) for token in found.mixed],
        "indents": {
            str(n): [token_data(token) for token in tokens]
            for n, tokens in found.indents.items()
        },
    }
    return Section("white_space", data, _white_space_lines(found, top))


def _white_space_lines(found: inspection.WhiteSpace, top: int) -> Iterator[str]:
    rows: list[list[Cell]] = [
        [name, len(lengths), runs(lengths)]
        for name, lengths in (
            ("spaces", found.spaces),
            ("tabs", found.tabs),
            ("newlines", found.newlines),
        )
    ]
    some = found.mixed[: top if 0 < top < _FEW else _FEW]
    mixed = ", ".join(brief(token.text) for token in some)
    mixed += ", ..." if len(found.mixed) > len(some) else ""
    rows.append(["other", len(found.mixed), mixed])
    yield from table(["runs of", "tokens", "lengths"], rows)
    yield ""
    yield from table(
        ["indent", "tokens", "a line break, so many spaces, and a word"],
        [[n, len(t), cut(t)] for n, t in found.indents.items() if n in _INDENTS],
    )


def runs(numbers: Sequence[int]) -> str:
    """Return numbers in short: 1-4, 6."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def scripts(named: Named, top: int) -> Section:
    """How many tokens are of which script."""
    found = inspection.scripts(named.tok)
    total = sum(found.values())
    rows: list[list[Cell]] = [
        [name, n, percent(n / total)] for name, n in first(list(found.items()), top)
    ]

    def lines() -> Iterator[str]:
        yield from table(["tokens of", "", "share"], rows)
        yield from more(len(found), top)

    return Section("scripts", {"tokenizer": named.name, "tokens": found}, lines())


def longest(named: Named, top: int) -> Section:
    """The longest tokens."""
    n = named.tok.n_vocab if top == ALL else top
    found = inspection.longest_tokens(named.tok, n)
    data = {"tokenizer": named.name, "tokens": [token_data(token) for token in found]}
    rows: list[list[Cell]] = [[f" {t.id}", len(t.text), brief(t.text)] for t in found]
    return Section("longest", data, table(["id", "bytes", "token"], rows))


# By the name of the option.
_OF_VOCABULARY: dict[str, Callable[[Named, int], Section]] = {
    "scripts": scripts,
    "longest": longest,
    "numbers": numbers,
    "whitespace": white_space,
    "unreachable": unreachable,
}


# ------------------------------------------------------------------ what was asked for


def chosen(
    toks: Sequence[Named],
    given_files: Sequence[str],
    given_texts: Sequence[str],
    given_words: Sequence[str],
    corpora: Sequence[str],
    reading: Mapping[str, Any],
    top: int,
    of_vocabulary: Sequence[str],
) -> Iterator[Section]:
    """Yield what was asked for; `reading` says how files are read."""
    if given_texts:
        yield texts(toks, [os.fsencode(text) for text in given_texts])
    if given_words:
        yield words(toks, given_words)
    with as_files([*given_files, *corpora]) as paths:
        n = len(given_files)
        if given_files:
            used = [
                Used(named, name, inspection.usage_of_files(named.tok, path, **reading))
                for name, path in zip(_shown_names(given_files), paths, strict=False)
                for named in toks
            ]
            yield files(toks, used, top)
        if corpora:
            yield _unused_in(toks[0], paths[:n], corpora, paths[n:], reading, top)
    for name, section in _OF_VOCABULARY.items():
        if name in of_vocabulary:
            yield section(toks[0], top)


def _unused_in(
    named: Named,
    trained_on: Sequence[str],
    corpora: Sequence[str],
    paths: Sequence[str],
    reading: Mapping[str, Any],
    top: int,
) -> Section:
    before: Any = None
    if trained_on:
        before = inspection.usage_of_files(named.tok, trained_on, **reading)
    used = inspection.usage_of_files(named.tok, paths, **reading)
    names = " or ".join(_shown_names(corpora))
    return unused(named, names, used, before, top)


def _shown_names(paths: Sequence[str]) -> list[str]:
    """Return what files go by in tables: their names, if these tell them apart."""
    names = ["stdin" if path == "-" else Path(path).name for path in paths]
    return names if len({*names}) == len(names) else list(paths)
