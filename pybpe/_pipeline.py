"""Encoding where more happens to a text than splitting and merging.

Hugging Face tokenizers takes a text apart in this order: added tokens that are matched
in the text as it is given, normalizers on what lies between them, added tokens that are
matched in normalized text, and then the split. Texts that none of this concerns, which
are most, go to the core in one piece.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate, chain, compress, groupby

from pybpe import _binding
from pybpe._engine import BaseEngine, ForbiddenText, to_list
from pybpe._engine_bpe import Engine
from pybpe._extras import need_numpy
from pybpe._typing import TYPE_CHECKING
from pybpe.errors import UnknownTokenError
from pybpe.model import LSTRIP, NORMALIZED, RSTRIP, SINGLE_WORD, Model
from pybpe.normalizers import WHITE_SPACE, apply_all, keep_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

_SPACES = frozenset(WHITE_SPACE)

# Part of a text: start, end, and the id of the added token that it is, if any.
Part = tuple[int, int, int | None]


def is_needed(model: Model) -> bool:
    """Tell whether a model needs more than the core."""
    return bool(model.decoders) or changes_text(model)


def changes_text(model: Model) -> bool:
    """Tell whether encoding with a model needs more than the core."""
    split = model.split
    return bool(
        model.normalizers
        or not split.compiled
        or split.changes
        or any(
            flags & (LSTRIP | RSTRIP | SINGLE_WORD | NORMALIZED)
            for flags in model.flags.values()
        )
    )


class Matchers:
    """What finds one set of special and added tokens.

    Attributes:
        given: Finds those that are matched in the text as given; None if none are.
        normalized: Finds those that are matched in normalized text.
        flagged: Finds those that take in white space or stand alone.
        together: Finds all of them at once, leftmost and longest.
        apart: Whether finding all at once could give other matches than finding one
            kind first.
    """

    __slots__ = ("apart", "flagged", "given", "normalized", "together")

    def __init__(
        self, given: Any, normalized: Any, flagged: Any, together: Any, apart: bool
    ) -> None:
        """Keep them."""
        self.given = given
        self.normalized = normalized
        self.flagged = flagged
        self.together = together
        self.apart = apart


class PipelineEngine(Engine):
    """An engine with the same methods as the core's own, for any model."""

    __slots__ = ("_cut", "_decoders", "_first", "_flags", "_steps", "_texts")

    def __init__(self, model: Model) -> None:
        """Build the core's model, and its split where that has tables throughout."""
        stages = model.split.stages
        first = stages[0].before if stages else ()
        self._cut: Callable[[str, bool], list[str]] | None = None
        split = None
        if all(stage.compiled for stage in stages) and not any(
            stage.before for stage in stages[1:]
        ):
            # What the first stage does to its spans, which are whole stretches, is
            # done here; so the core can do the rest.
            split = _binding.new_split(stages)
        else:
            self._cut = model.split._pieces
            first = ()
        super().__init__(_binding.new_model(model), split)
        self._flags = model.flags
        self._steps = model.normalizers
        self._first = first
        self._decoders = model.decoders
        self._texts: dict[int, str] = {}

    # -------------------------------------------------------------- matching

    def new_match(self, strings: Sequence[bytes], ids: Sequence[int]) -> Matchers:
        """Return matchers for special and added tokens."""
        given: dict[bytes, int] = {}
        normalized: dict[bytes, int] = {}
        flagged: list[bytes] = []
        for string, number in zip(strings, ids, strict=True):
            flags = self._flags.get(number, 0)
            content, table = string, given
            if flags & NORMALIZED:
                text = string.decode("utf-8", "surrogateescape")
                text = apply_all(self._steps, text)
                content, table = text.encode("utf-8", "surrogateescape"), normalized
            if not content:
                continue  # Nothing is left of it that could be found.
            table.setdefault(content, number)
            if flags & (LSTRIP | RSTRIP | SINGLE_WORD):
                flagged.append(content)
        apart = not normalized.keys().isdisjoint(given) or may_collide(
            given, normalized
        )
        together = {**normalized, **given}
        return Matchers(
            _binding.new_match(list(given), list(given.values())),
            _binding.new_match(list(normalized), list(normalized.values())),
            _binding.new_match(flagged, [0] * len(flagged)),
            _binding.new_match(list(together), list(together.values())),
            apart or not all(_stable(self._steps, string) for string in given),
        )

    def _parts(self, data: bytes, match: Any) -> Iterator[Part]:
        """Yield the tokens that are in a text and the stretches between them.

        Where a match takes in white space that others also matched in, parts overlap:
        the rule is Hugging Face's, number by number.
        """
        start = 0
        spaces = (0, 0)  # the stretch of white space that was looked through last
        for hit_start, hit_end, number in _binding.find_all(match, data):
            begin, end = hit_start, hit_end
            flags = self._flags.get(number, 0)
            if flags & SINGLE_WORD and (
                _is_word(_character_before(data, begin))
                or _is_word(_character_after(data, end))
            ):
                continue
            if flags & LSTRIP:
                while begin > start and (char := _character_before(data, begin)):
                    if char not in _SPACES:
                        break
                    begin -= len(char.encode())
                begin = max(begin, start)
            if flags & RSTRIP:
                if not spaces[0] <= end <= spaces[1]:
                    spaces = end, _end_of_spaces(data, end)
                end = spaces[1]
            if start < begin:
                yield start, begin, None
            if begin < end:  # Not if others have taken in all of it.
                yield begin, end, number
            start = end
        if start != len(data):
            yield start, len(data), None

    def _is_plain(self, data: bytes, match: Matchers) -> bool:
        """Tell whether the core can do a text in one go."""
        if self._cut or self._first or match.apart:
            return False
        if match.flagged is not None and _binding.find_all(match.flagged, data):
            return False
        if all(step.leaves(data) for step in self._steps):
            return True
        if not all(step.local for step in self._steps):
            return False
        text = data.decode("utf-8", "surrogateescape")
        return apply_all(self._steps, text) == text

    # -------------------------------------------------------------- encoding

    def encode(self, data: bytes, match: Any, forbidden: Any) -> list[int]:
        """Return the ids of `data`."""
        if self._is_plain(data, match):
            return super().encode(data, match.together, forbidden)
        _refuse_forbidden(data, forbidden)
        parts = self._prepare(data, match)
        if len(parts) == 1 and isinstance(parts[0], bytes) and self._cut is None:
            return super().encode(parts[0], None, None)
        return next(self._put_together([parts]))

    def _prepare(self, data: bytes, match: Matchers) -> list[bytes | int | str]:
        """Return what a text is made of: ids of added tokens, and what is encoded.

        That is bytes that the core can split, or, where it cannot, str that is split
        already: a pretoken each.
        """
        parts: list[bytes | int | str] = []
        for start, end, number in self._parts(data, match.given):
            if number is not None:
                parts.append(number)
                continue
            text = data[start:end].decode("utf-8", "surrogateescape")
            first = start == 0 and keep_start(self._steps, text)
            stretch = apply_all(self._steps, text, first)
            if match.normalized is None:
                parts += self._stretch(stretch, first)
                continue
            changed = stretch.encode("utf-8", "surrogateescape")
            for at, until, found in self._parts(changed, match.normalized):
                if found is not None:
                    parts.append(found)
                    continue
                inner = changed[at:until].decode("utf-8", "surrogateescape")
                parts += self._stretch(inner, first and at == 0)
        return parts

    def _stretch(self, text: str, first: bool) -> Sequence[bytes | str]:
        """Return normalized text without added tokens, ready for the core."""
        if self._cut is not None:
            return self._cut(text, first)
        for step in self._first:
            first = first and step.keeps_start(text)
            text = step.apply(text, first)
        return [text.encode("utf-8", "surrogateescape")]

    def _put_together(
        self, texts: Sequence[list[bytes | int | str]]
    ) -> Iterator[list[int]]:
        """Yield the ids of each prepared text, after one call of the core for all."""
        if self._cut is None:
            stretches = [p for parts in texts for p in parts if isinstance(p, bytes)]
            rows = iter(super().encode_batch(stretches, None, None))
            for parts in texts:
                ids: list[int] = []
                for part in parts:
                    if isinstance(part, int):
                        ids.append(part)
                    else:
                        ids += next(rows)
                yield ids
            return
        for parts in texts:
            ids = []
            for is_id, group in groupby(parts, lambda part: isinstance(part, int)):
                if is_id:
                    ids += group  # type: ignore[arg-type]
                    continue
                pretokens = [
                    str(piece).encode("utf-8", "surrogateescape") for piece in group
                ]
                ends = accumulate(map(len, pretokens))
                ids += self.encode_pretokens(b"".join(pretokens), ends)
            yield ids

    def encode_to_numpy(
        self, data: bytes, match: Any, forbidden: Any
    ) -> NDArray[np.uint32]:
        """Return the ids of `data` as an array of shape (n_ids,)."""
        if self._is_plain(data, match):
            return super().encode_to_numpy(data, match.together, forbidden)
        need_numpy()
        import numpy as np

        return np.array(self.encode(data, match, forbidden), dtype=np.uint32)

    def count(self, data: bytes, match: Any, forbidden: Any) -> int:
        """Return how many ids `data` has."""
        if self._is_plain(data, match):
            return super().count(data, match.together, forbidden)
        return len(self.encode(data, match, forbidden))

    def encode_batch(
        self, texts: Sequence[bytes], match: Any, forbidden: Any
    ) -> list[list[int]]:
        """Return the ids of each text."""
        plain = [self._is_plain(text, match) for text in texts]
        if all(plain):
            return super().encode_batch(texts, match.together, forbidden)
        for i, text in enumerate(texts):
            _refuse_forbidden(text, forbidden, i)
        easy: Iterator[list[int]] = iter(())
        if any(plain):
            some = list(compress(texts, plain))
            easy = iter(super().encode_batch(some, match.together, None))
        others = self._put_together(
            [
                self._prepare(text, match)
                for text, is_plain in zip(texts, plain, strict=True)
                if not is_plain
            ]
        )
        return [next(easy if is_plain else others) for is_plain in plain]

    def encode_batch_to_numpy(
        self, texts: Sequence[bytes], match: Any, forbidden: Any
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return all ids, and where each text's begin."""
        if all(self._is_plain(text, match) for text in texts):
            return super().encode_batch_to_numpy(texts, match.together, forbidden)
        import numpy as np

        rows = self.encode_batch(texts, match, forbidden)
        offsets = np.array([0, *accumulate(map(len, rows))], np.int64)
        return np.fromiter(chain.from_iterable(rows), np.uint32, offsets[-1]), offsets

    # By way of single texts: each is looked at by itself.
    encode_joined = BaseEngine.encode_joined

    # -------------------------------------------------------------- decoding

    def decode(self, ids: Any, n: int) -> bytes:
        """Return the bytes of `n` ids.

        Raises:
            UnknownTokenError: Naming the id and its position.
        """
        if not self._decoders:
            return super().decode(ids, n)
        return self._text(ids, n, exact=True).encode("utf-8", "surrogateescape")

    def decode_text(self, ids: Any, n: int, errors: str) -> str:
        """Return the text of `n` ids."""
        if not self._decoders or errors != "replace":
            return super().decode_text(ids, n, errors)
        return self._text(ids, n, exact=False)

    def _text(self, ids: Any, n: int, exact: bool) -> str:
        from pybpe.decoders import text_of

        known = self._texts
        tokens = []
        for i, number in enumerate(to_list(ids, n)):
            token = known.get(number)
            if token is None:
                data = _binding.token_bytes(self.model, number)
                if data is None:
                    raise UnknownTokenError(
                        f"no token has id {number} (at position {i})"
                    )
                token = known[number] = data.decode("utf-8", "surrogateescape")
            tokens.append(token)
        return text_of(self._decoders, tokens, exact)


def _refuse_forbidden(data: bytes, forbidden: Any, index: int | None = None) -> None:
    """Raise ForbiddenText if a text, of a batch maybe, spells a forbidden string."""
    if forbidden is not None and (refused := _binding.find_all(forbidden, data)):
        raise ForbiddenText(refused[0][0], index)


def _stable(steps: Sequence[Any], string: bytes) -> bool:
    """Tell whether the normalizers leave an added token's string as it is."""
    text = string.decode("utf-8", "surrogateescape")
    return all(step.leaves(string) or step.apply(text) == text for step in steps)


def may_collide(first: dict[bytes, int], second: dict[bytes, int]) -> bool:
    """Tell whether strings of `second` could keep some of `first` from being found.

    `first` are found first. Looking for all at once would find the same, unless one of
    `second` could begin earlier and reach into one of `first`, or hold it.
    """
    if not first or not second:
        return False
    beginnings = {string[:i] for string in first for i in range(1, len(string) + 1)}
    sizes = sorted({len(string) for string in first})
    for string in second:
        n = len(string)
        for i in range(n):
            if i > 0 and string[i:] in beginnings:
                return True
            for size in sizes:
                if size > n - i:
                    break
                if string[i : i + size] in first:
                    return True
    return False


def _character_after(data: bytes, at: int) -> str:
    """Return the character that begins at a place, "" at the end or if it is none."""
    return data[at : at + 4].decode("utf-8", "ignore")[:1]


def _character_before(data: bytes, at: int) -> str:
    """Return the character that ends at a place, "" at the start or if it is none."""
    return data[max(0, at - 4) : at].decode("utf-8", "ignore")[-1:]


def _end_of_spaces(data: bytes, at: int) -> int:
    while (char := _character_after(data, at)) and char in _SPACES:
        at += len(char.encode())
    return at


def _is_word(char: str) -> bool:
    return bool(char) and _is_word_character(char)


@cache
def _word() -> tuple[int, ...]:
    from pybpe.split import charset

    return charset.word("rust")


def _is_word_character(char: str) -> bool:
    from pybpe.split import charset

    if char.isascii():
        return char.isalnum() or char == "_"
    return charset.contains(_word(), ord(char))
