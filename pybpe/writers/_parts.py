"""What the writers have in common: what they are told, and what they refuse."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pybpe._format_names import ROLES
from pybpe.codepoint import CodepointModel
from pybpe.errors import ModelError
from pybpe.formats._source import shown
from pybpe.model import BYTES, Model
from pybpe.tokenizer import Tokenizer

if TYPE_CHECKING:
    from pybpe._engines import AnyModel


class Job(NamedTuple):
    """One file, or several that belong together, to write.

    Attributes:
        tokenizer: What to write.
        names: The names of the files, without their folder.
        roles: "bos", "eos", ... -> the token that has the role.
        chat_template: A Jinja template for conversations, or None.
    """

    tokenizer: Tokenizer
    names: tuple[str, ...]
    roles: Mapping[str, str]
    chat_template: str | None

    def role_ids(self) -> dict[str, int]:
        """Return the roles that are given or known, and their tokens' ids.

        Known are those of sentencepiece models; a single id that is put before or
        behind texts; and `<|endoftext|>`, which ends them.

        Raises:
            ValueError: There is no such token.
        """
        model = self.tokenizer._model
        ids: dict[str, int] = {}
        if isinstance(model, CodepointModel):
            known = {name: getattr(model, f"{name}_id") for name in ROLES[:4]}
            ids = {name: number for name, number in known.items() if number >= 0}
        elif (end := dict(model.special_tokens).get(b"<|endoftext|>")) is not None:
            ids["eos"] = end
        for name, around in (("bos", model.text_prefix), ("eos", model.text_suffix)):
            if len(around) == 1:
                ids[name] = around[0]
        extra = {**self.tokenizer.added_tokens, **self.tokenizer.special_tokens}
        for name, token in self.roles.items():
            try:
                number = extra.get(token)
                ids[name] = self.tokenizer.token_id(token) if number is None else number
            except KeyError:
                raise ValueError(
                    f"roles names {token!r} as {name!r}, and there is no such token"
                ) from None
        return ids


def extra_tokens(model: AnyModel) -> list[tuple[bytes, int, bool]]:
    """Return special and added tokens, their ids and whether special, by id."""
    tokens = [(token, number, True) for token, number in model.special_tokens]
    tokens += [(token, number, False) for token, number in model.added_tokens]
    return sorted(tokens, key=lambda token: token[1])


def text_of(token: bytes, what: str) -> str:
    """Return a token as text.

    Raises:
        ModelError: It is none, and `what` can only hold text.
    """
    try:
        return token.decode()
    except UnicodeDecodeError:
        raise ModelError(
            f"the token {shown(token)} is not UTF-8, and {what} holds text only"
        ) from None


def prefixes_of_others(model: Model) -> bool:
    """Tell whether a special token is the beginning of another one."""
    tokens = sorted(token for token, _ in model.special_tokens)
    return any(b.startswith(a) for a, b in pairwise(tokens))


def byte_level(tokenizer: Tokenizer, what: str) -> Model:
    """Return the model of a tokenizer that is nothing but byte-level BPE.

    Raises:
        ModelError: It has more to it than `what` can hold.
    """
    model = tokenizer._model
    if not isinstance(model, Model):
        raise ModelError(
            f"it is a sentencepiece model, and {what} holds byte-level vocabularies"
        )
    if model.symbols != BYTES:
        raise ModelError(
            f"its tokens are not made of all 256 bytes ({model.symbols}), and {what} "
            "needs them"
        )
    for part, there in (
        ("normalizers", model.normalizers),
        ("decoders of its own", model.decoders),
        ("a word suffix", model.word_suffix),
    ):
        if there:
            raise ModelError(f"it has {part}, which {what} cannot hold")
    return model


def refuse_added(model: Model, what: str) -> None:
    """Refuse added tokens, and special ones that are matched in a way of their own.

    Raises:
        ModelError: Naming the first one.
    """
    for token, number in model.added_tokens:
        raise ModelError(
            f"{shown(token)} (id {number}) is an added token, matched without leave, "
            f"and {what} holds none"
        )
    refuse_flags(model, what)


def refuse_flags(model: Model, what: str, allowed: int = 0) -> None:
    """Refuse special and added tokens with flags other than the allowed ones.

    Raises:
        ModelError: Naming the first one.
    """
    for token, number, _ in extra_tokens(model):
        if model.flags.get(number, 0) & ~allowed:
            raise ModelError(
                f"the token {shown(token)} (id {number}) is matched in a way of its "
                f"own, such as with the white space around it; {what} cannot say so"
            )


def refuse_around(tokenizer: Tokenizer, what: str) -> None:
    """Refuse ids that go around texts.

    Raises:
        ModelError: There are some.
    """
    if tokenizer.text_prefix or tokenizer.text_suffix:
        raise ModelError(
            f"it puts {list(tokenizer.text_prefix)} before and "
            f"{list(tokenizer.text_suffix)} behind texts, which {what} cannot say"
        )
