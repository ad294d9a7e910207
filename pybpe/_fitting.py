"""Texts under a limit of ids: the part of the tokenizer that measures and cuts."""

from __future__ import annotations

from pybpe._text import to_utf8
from pybpe._typing import TYPE_CHECKING
from pybpe.permissions import NONE

if TYPE_CHECKING:
    from typing import Literal, TypeVar

    from pybpe.permissions import Allowed, Disallowed, Token

    _TextT = TypeVar("_TextT", str, bytes)


class Fitting:
    """What `Tokenizer` does with texts and limits.

    `add_special_tokens` plays no part here: subtract the ids it adds from the limit.
    """

    __slots__ = ()

    def fits(
        self,
        text: Token,
        n: int,
        *,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> bool:
        """Tell whether `encode` would give at most `n` ids.

        A byte-level model that changes no text does not look at texts that have more
        bytes than `n` of its longest token, so this takes no longer than `n` needs.

        Args:
            text: As for `encode`.
            n: The limit.
            allowed_special: As for `encode`.
            disallowed_special: As for `encode`.

        Raises:
            SpecialTokenError: As for `encode`, unless the text is too long anyhow.
            TypeError: `text` is neither str nor bytes, or `n` is not an int.
            ValueError: `n` is negative.
        """
        from pybpe import _limits

        return _limits.fits(self, text, n, allowed_special, disallowed_special)

    def truncate_text(
        self,
        text: _TextT,
        n: int,
        *,
        side: Literal["right", "left"] = "right",
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> _TextT:
        """Return the beginning of a text that encodes to at most `n` ids, or its end.

        >>> import pybpe
        >>> tok = pybpe.Tokenizer.from_merges([(104, 101)], pattern=None)
        >>> tok.truncate_text("hehehey", 3)
        'hehehe'
        >>> tok.truncate_text("hehehey", 3, side="left")
        'hehey'

        A text that fits comes back whole. Of another one stays what the first `n` ids
        stand for, cut at a character's boundary; and where that by itself has more
        ids, which is rare, some less. (`truncate` is about the vocabulary.)

        Takes time in proportion to what is kept, whatever the length of the text; but
        for `side="left"` and models that change text, see `fits`.

        Args:
            text: As for `encode`. Lone surrogates come back as U+FFFD.
            n: The limit.
            side: Where text is taken away.
            allowed_special: As for `encode`.
            disallowed_special: As for `encode`; looked for in what is kept.

        Raises:
            SpecialTokenError: What is kept spells a disallowed special token.
            TypeError: `text` is neither str nor bytes, or `n` is not an int.
            ValueError: `n` is negative, or `side` is something else.
        """
        from pybpe import _limits

        if side not in ("right", "left"):
            raise ValueError(f"side must be 'right' or 'left', got {side!r}")
        limit = _limits.checked(n, "n")
        data = to_utf8(_limits.relevant(self, text, limit, side))
        cutter = _limits.Cutter(self, allowed_special, disallowed_special)
        if side == "right":
            begin, end = 0, cutter.fitting_end(data, 0, limit)
        else:
            begin, end = cutter.fitting_start(data, 0, len(data), limit), len(data)
        cutter.refuse_forbidden(data, begin, end)
        return _as_given(text, data[begin:end])

    def split_text(
        self,
        text: _TextT,
        max_tokens: int,
        overlap: int = 0,
        *,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[_TextT]:
        """Return a text cut into pieces that encode to at most `max_tokens` ids each.

        >>> import pybpe
        >>> tok = pybpe.Tokenizer.from_merges([(104, 101)], pattern=None)
        >>> tok.split_text("hehehey", 2)
        ['hehe', 'hey']
        >>> tok.split_text("hehehey", 2, overlap=1)
        ['hehe', 'hehe', 'hey']

        Pieces are cut at characters' boundaries, and each is as long as
        `truncate_text` makes it. Without an overlap, the pieces put together are the
        text. With it, a piece begins with the end of the one before, as much of it as
        has at most `overlap` ids.

        Args:
            text: As for `encode`. Lone surrogates come back as U+FFFD.
            max_tokens: The limit, 1 or more.
            overlap: Less than the limit.
            allowed_special: As for `encode`.
            disallowed_special: As for `encode`.

        Raises:
            SpecialTokenError: The text spells a disallowed special token.
            TypeError: `text` is neither str nor bytes, or a number is not an int.
            ValueError: A number is out of range, or a character alone has more than
                `max_tokens` ids.
        """
        from pybpe import _limits

        limit = _limits.checked(max_tokens, "max_tokens", 1)
        shared = _limits.checked(overlap, "overlap")
        if shared >= limit:
            raise ValueError(
                f"overlap must be less than max_tokens ({limit}), got {shared}"
            )
        data = to_utf8(text)
        cutter = _limits.Cutter(self, allowed_special, disallowed_special)
        cutter.refuse_forbidden(data, 0, len(data))
        ranges = _limits.ranges(cutter, data, limit, shared)
        return [_as_given(text, data[begin:end]) for begin, end in ranges]


def _as_given(text: _TextT, data: bytes) -> _TextT:
    """Return a part of a text as what the text was given as."""
    if isinstance(text, str):
        return data.decode()
    return data
