"""Tokenizers from and to the objects of the package `tiktoken` itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybpe.errors import ModelError
from pybpe.model import BYTES, Model
from pybpe.split import Split, Stage
from pybpe.split.same import leaves_gaps, same_matches
from pybpe.tokenizer import Tokenizer
from pybpe.writers._merges import check_ranks

if TYPE_CHECKING:
    from typing import Any

# A pattern for one pretoken.
_NO_SPLIT = r"(?s:.+)"


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
    try:
        check_ranks(tokenizer)
    except ModelError as error:
        raise _refused(f"these merges: {error}") from None
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
    if not same_matches(stage, stage.pattern, "rust"):
        raise _refused(
            f"a pattern that means something else in Rust's syntax than in that of "
            f"{stage.dialect}: {stage.pattern!r}"
        )
    if not leaves_gaps(stage):
        return stage.pattern
    # tiktoken drops what no match covers, so that the gaps must match, too.
    return f"(?:{stage.pattern})|(?:(?!{stage.pattern})(?s:.))+"
