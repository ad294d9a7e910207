"""Tokenizers from and to the objects of the package `tiktoken` itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybpe.model import BYTES, RANKS, Model
from pybpe.split import Split, Stage
from pybpe.tokenizer import Tokenizer

if TYPE_CHECKING:
    from typing import Any

# A pattern for one pretoken.
_NO_SPLIT = r"(?s:.+)"

# What a transition of a stage is at least if a match ends before its character.
_MATCH_ENDS = 0x8000


def from_tiktoken(encoding: Any) -> Tokenizer:
    """Return a tokenizer with the ids of an encoding of tiktoken's.

    Of special tokens that share an id, it has the one that decodes.

    Args:
        encoding: A `tiktoken.Encoding`, or a `pybpe.tiktoken.Encoding`.

    Raises:
        TypeError: It is neither.
        ValueError: Its pattern or its tokens cannot be used; see
            `Tokenizer.from_ranks`.
    """
    try:
        pattern: str = encoding._pat_str
        ranks: dict[bytes, int] = encoding._mergeable_ranks
        special: dict[str, int] = encoding._special_tokens
    except AttributeError:
        raise TypeError(
            f"encoding must be a tiktoken.Encoding, got {type(encoding).__name__}"
        ) from None
    decoded = {
        number: encoding.decode_single_token_bytes(number).decode()
        for number in special.values()
    }
    return Tokenizer.from_ranks(
        ranks,
        pattern=Split([Stage.compile(pattern, "rust")]),
        special_tokens={token: number for number, token in decoded.items()},
    )


def to_tiktoken(tokenizer: Tokenizer, name: str) -> Any:
    """Return a `tiktoken.Encoding`: see `Tokenizer.to_tiktoken`."""
    import tiktoken

    model = tokenizer._model
    if not isinstance(model, Model):
        raise _refused("a sentencepiece model, which joins characters by their scores")
    _check_parts(model)
    special = tokenizer.special_tokens
    named = {token: n for token, n in special.items() if isinstance(token, str)}
    if len(named) != len(special):
        raise _refused("a special token that is not UTF-8")
    pattern = _pattern(model.split)
    _check_ranks(tokenizer, model)
    return tiktoken.Encoding(
        name,
        pat_str=pattern,
        mergeable_ranks=tokenizer.vocab,
        special_tokens=named,
    )


def _refused(what: str) -> ValueError:
    return ValueError(f"tiktoken cannot hold {what}")


def _check_parts(model: Model) -> None:
    """Refuse what an encoding has no place for.

    Raises:
        ValueError: Naming the part.
    """
    for part, what in (
        (model.added_tokens, "added tokens, which are matched without permission"),
        (model.normalizers or model.split.changes, "changes of the text (normalizers)"),
        (model.decoders, "changes of the decoded text (decoders)"),
        (model.flags, "special tokens with conditions"),
        (model.symbols != BYTES, "a vocabulary without all 256 single bytes"),
        (model.word_suffix, "marks at the ends of words"),
    ):
        if part:
            raise _refused(what)


def _pattern(split: Split) -> str:
    """Return the pattern by which tiktoken splits in the same way.

    Raises:
        ValueError: There is none.
    """
    if not split.stages:
        return _NO_SPLIT
    if len(split.stages) > 1:
        raise _refused(f"a split in {len(split.stages)} stages")
    (stage,) = split.stages
    if stage.behavior != "isolated" or stage.over_bytes:
        raise _refused(f"a split that does not isolate matches ({stage.behavior})")
    if stage.dialect != "rust" and not _is_the_same(stage):
        raise _refused(
            f"a pattern that means something else in Rust's syntax than in that of "
            f"{stage.dialect}: {stage.pattern!r}"
        )
    if not _may_leave_gaps(stage):
        return stage.pattern
    # tiktoken drops what no match covers, so that the gaps must match, too.
    return f"(?:{stage.pattern})|(?:(?!{stage.pattern})(?s:.))+"


def _is_the_same(stage: Stage) -> bool:
    """Tell whether a pattern cuts as before when it is read as one of Rust's."""
    try:
        other = Stage.compile(stage.pattern, "rust")
    except ValueError:
        return False
    return stage.compiled and (
        other.transitions == stage.transitions
        and other.class_starts == stage.class_starts
        and other.class_ids == stage.class_ids
    )


def _may_leave_gaps(stage: Stage) -> bool:
    """Tell whether there are texts of which a pattern does not match the beginning.

    Those are the texts that lead from the start (1) to where nothing matches any more
    (0), with no match ended on the way.
    """
    if not stage.compiled:
        return True
    columns = stage.n_classes + 1
    table = stage.transitions
    seen, todo = {1}, [1]
    while todo:
        state = todo.pop()
        row = table[state * columns : (state + 1) * columns]
        # The start at the end of the text: that text is empty.
        for target in row[:-1] if state == 1 else row:
            if target == 0:
                return True
            if target < _MATCH_ENDS and target not in seen:
                seen.add(target)
                todo.append(target)
    return False


def _check_ranks(tokenizer: Tokenizer, model: Model) -> None:
    """Refuse merge lists that give other ids when they are read as ranks.

    Reading tokens as ranks, any two neighbours merge whose concatenation is a token. It
    comes to the same if each token, merged with the ranks below its own, ends in just
    the two parts of its pair, in the order of the list: then, wherever the token's
    bytes lie between two boundaries that no merge has crossed, the one way to it is
    its own.

    Raises:
        ValueError: It does not.
    """
    if model.semantics == RANKS:
        return
    vocab = tokenizer.vocab
    if len(vocab) != len(model.token_ids):
        raise _refused("two tokens with the same bytes")
    ranked = Tokenizer.from_ranks(vocab, pattern=None)
    found = ranked.merges
    if len(found) + 256 != len(vocab) or found != tokenizer.merges:
        known = set(found)
        pair = next((pair for pair in tokenizer.merges if pair not in known), None)
        about = f" (the first is {pair})" if pair is not None else ""
        raise _refused(
            "these merges: its ranks would join tokens in other ways than the list"
            + about
        )
