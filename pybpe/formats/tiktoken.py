"""Rank files: tiktoken's format, which Llama 3 and 4, Qwen, Whisper and others use.

Each line is a token in base64, a space, and its rank, which is its id. Nothing says
that a file is whole, nor how text is split. So a file is either one whose SHA-256 is
known (`_published`), or its ranks must be 0 to n - 1 without a gap, and the caller
names the split. Ids that special tokens take up may be missing from the ranks, and so
may those between a whole known file and what was trained on top of it.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from pybpe import _binding
from pybpe.errors import ModelError
from pybpe.formats._published import RANK_FILES, RankFile
from pybpe.formats._source import (
    Source,
    check_tokens,
    shown,
    special_or_refuse,
)
from pybpe.vocabulary import ranks_model

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from pybpe.model import Model

# A line; whether its base64 is right is decided when it is decoded.
_LINE = re.compile(rb"([A-Za-z0-9+/]+={0,2}) (0|[1-9][0-9]{0,9})")
_LINES = re.compile(rb"(?:[A-Za-z0-9+/]++={0,2} (?:0|[1-9][0-9]{0,9}+)\n)++")
_BOM = b"\xef\xbb\xbf"


class Ranks(NamedTuple):
    """The contents of a rank file, by ascending rank.

    Attributes:
        tokens: The tokens.
        ids: Their ranks.
    """

    tokens: list[bytes]
    ids: array[int]


def read(source: Source) -> Model:
    """Return the model of a rank file.

    Raises:
        ModelError: The file is malformed or has gaps, or its split is neither known
            nor given.
    """
    data = normalized(source.data)
    digest = hashlib.sha256(data).hexdigest()
    known = RANK_FILES.get(digest)
    ranks = parse(data, published=known is not None)
    if source.special_tokens is not None:
        special = special_or_refuse(source.special_tokens, "special_tokens")
    else:
        table = known.special_tokens() if known is not None else {}
        special = special_or_refuse(table, "special_tokens")
    if known is None:
        lines = data.splitlines(keepends=True)
        begun = _known_beginning(lines)
        _refuse_shortened(lines, begun)
        declared = {number for _, number in special}
        _refuse_gaps(ranks.ids, declared | _ids_behind(begun, lines))
    split = source.split
    if split is None:
        if known is None:
            _refuse_split(ranks, digest)
        from pybpe.split import Split

        split = Split.from_pattern(known.pattern)
    about: dict[str, str | int] = {"format": "tiktoken", "sha256": digest}
    if known is not None:
        about["vocabulary"] = known.name
    return ranks_model(
        ranks.tokens, ranks.ids, split=split, special=special, provenance=about
    )


def is_published(data: bytes) -> bool:
    """Tell whether the contents of a rank file, `normalized`, are a published one's."""
    return hashlib.sha256(data).hexdigest() in RANK_FILES


def normalized(data: bytes) -> bytes:
    """Return a rank file as it is published: lines that end in one newline each.

    Copies differ in line ends, in blank lines and in the newline at the end; all have
    the same ranks, and should be recognised by the same hash.
    """
    if data.startswith(_BOM):
        data = data[len(_BOM) :]
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    if b"\n\n" in data or data.startswith(b"\n"):
        data = b"\n".join(filter(None, data.split(b"\n")))
    return data if data.endswith(b"\n") or not data else data + b"\n"


def parse(data: bytes, *, published: bool) -> Ranks:
    """Return the tokens and ranks of a `normalized` rank file.

    Args:
        data: The file's contents.
        published: Whether they are known to be right, by their hash.

    Raises:
        ModelError: A line is malformed (the message says which), or a token or a rank
            comes twice.
    """
    if not published and _LINES.fullmatch(data) is None:
        _explain_lines(data)
    fields = data.split()
    try:
        # One call for all lines, in C. A rank above what 32 bits hold is refused.
        tokens = list(map(a2b_base64, fields[::2]))
        if published and int(fields[-1]) == len(tokens) - 1:
            # They are in order; only p50k_base has a gap.
            ids = array("I", range(len(tokens)))
        else:
            ids = array("I", map(int, fields[1::2]))
        if not published and list(map(_base64, tokens)) != fields[::2]:
            _explain_lines(data)
    except (Base64Error, OverflowError):
        _explain_lines(data)
    if published and not tokens[-1]:
        # Whisper's vocabulary ends in an empty token, which no text can spell.
        del tokens[-1], ids[-1]
    if not published:
        if any(map(int.__ge__, ids, ids[1:])):
            tokens, ids = _sorted(tokens, ids)
        if len(ids) and ids[-1] >= _binding.MAX_IDS:
            raise ModelError(
                f"rank {ids[-1]} is too high: ids lie below {_binding.MAX_IDS}"
            )
        check_tokens(tokens, ids)
    return Ranks(tokens, ids)


def _base64(token: bytes) -> bytes:
    return b2a_base64(token, newline=False)


def _sorted(tokens: list[bytes], ids: array[int]) -> tuple[list[bytes], array[int]]:
    """Return tokens and ranks by ascending rank.

    Raises:
        ModelError: Two tokens have the same rank.
    """
    order = sorted(range(len(ids)), key=ids.__getitem__)
    for a, b in pairwise(order):
        if ids[a] == ids[b]:
            raise ModelError(
                f"the tokens {shown(tokens[a])} and {shown(tokens[b])} have the same "
                f"rank, {ids[a]}; the file may be cut off or put together from two"
            )
    return [tokens[i] for i in order], array("I", [ids[i] for i in order])


def first_gap(ids: Sequence[int], declared: Set[int]) -> int | None:
    """Return the first number that ascending ranks leave out, or None.

    Args:
        ids: The ranks, ascending.
        declared: Ids of special tokens, which may be missing among the ranks.
    """
    if not ids or ids[-1] == len(ids) - 1:
        return None
    at = 0
    for number in ids:
        while at < number and at in declared:
            at += 1
        if at < number:
            return at
        at = number + 1
    return None


def _refuse_gaps(ids: array[int], declared: set[int]) -> None:
    """Refuse ranks that are not 0 to n - 1, apart from declared ids.

    Raises:
        ModelError: Naming the first gap.
    """
    gap = first_gap(ids, declared)
    if gap is not None:
        raise ModelError(
            f"no token has rank {gap}, though ranks go up to {ids[-1]}: lines are "
            "missing. If special tokens have the missing ids, name them with "
            "special_tokens={...}; if the gap is meant, build the tokenizer with "
            "pybpe.Tokenizer.from_ranks"
        )


def _refuse_shortened(lines: list[bytes], begun: RankFile | None) -> None:
    """Refuse copies of known files that end too early, at the end of a line.

    Such a copy is a rank file like any other, and gives other ids than the whole one.
    It is recognised by the hashes of a known file's tenths. A file may also hold all
    of a known one and then go on otherwise; that is no shortened copy of a third.

    Raises:
        ModelError: Naming the whole file.
    """
    held = begun.n_lines if begun is not None else 0
    for known in RANK_FILES.values():
        step = known.n_lines // 10
        n = min(len(lines) // step, 9)
        if len(lines) >= known.n_lines or n == 0 or n * step <= held:
            continue
        if _sha256(lines[: n * step])[:8] == known.tenths.split()[n - 1]:
            raise ModelError(
                f"it begins as the vocabulary of {known.name} does and ends after "
                f"{len(lines):,} of its {known.n_lines:,} lines: it is cut off. For a "
                "vocabulary shortened on purpose give pybpe.Tokenizer.from_ranks what "
                "pybpe.tiktoken.load.load_tiktoken_bpe reads"
            )


def ids_behind_known(data: bytes) -> set[int]:
    """Return the ids that stay free behind a known file that another begins with.

    They are those up to its last special token. Empty if it begins with none.

    Args:
        data: The contents of a rank file, `normalized`.
    """
    lines = data.splitlines(keepends=True)
    return _ids_behind(_known_beginning(lines), lines)


def _ids_behind(known: RankFile | None, lines: list[bytes]) -> set[int]:
    if known is None:
        return set()
    last = int(lines[known.n_lines - 1].split()[1])
    return set(range(last + 1, max(known.special_tokens().values(), default=last) + 1))


def _known_beginning(lines: list[bytes]) -> RankFile | None:
    """Return the longest known file that a file's lines begin with, or are."""
    found = [
        known
        for digest, known in RANK_FILES.items()
        if len(lines) >= known.n_lines and _sha256(lines[: known.n_lines]) == digest
    ]
    return max(found, key=lambda known: known.n_lines, default=None)


def _sha256(lines: list[bytes]) -> str:
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _explain_lines(data: bytes) -> NoReturn:
    """Raise for the first line that cannot be read."""
    lines = data.split(b"\n")[:-1]
    for number, line in enumerate(lines, 1):
        last = " (the last line: is the file cut off?)" if number == len(lines) else ""
        found = _LINE.fullmatch(line)
        if found is None:
            raise ModelError(
                f"line {number} is not a token in base64, a space and a rank: "
                f"{shown(line)}{last}"
            )
        token, rank = found.groups()
        try:
            if _base64(a2b_base64(token)) != token:
                raise Base64Error("not what its bytes are written as")
        except Base64Error as error:
            raise ModelError(
                f"line {number}: {shown(token)} is not valid base64 ({error}){last}"
            ) from None
        if int(rank) >= _binding.MAX_IDS:
            raise ModelError(
                f"line {number}: rank {int(rank)} is too high, ids lie below "
                f"{_binding.MAX_IDS}"
            )
    raise ModelError("it holds no ranks")


def _refuse_split(ranks: Ranks, digest: str) -> NoReturn:
    """Raise for a vocabulary whose split nobody has told."""
    names = ", ".join(dict.fromkeys(known.name for known in RANK_FILES.values()))
    raise ModelError(
        f"it is a rank file of {len(ranks.tokens):,} tokens (SHA-256 {digest[:16]}...) "
        "that does not say how text is split, and not one of those whose split is "
        f"known ({names}): a damaged copy of one of these is not either. "
        "If the file is right, pass pattern= with the split's name or regular "
        "expression, and special_tokens= if there are any"
    )
