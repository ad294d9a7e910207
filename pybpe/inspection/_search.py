"""The search for texts that get the ids of a byte-level model, and for proofs.

`reach` says why the proofs hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice

from pybpe.inspection import _completion
from pybpe.inspection._automaton import Cuts
from pybpe.inspection._neighbours import Neighbours
from pybpe.inspection._texts import (
    cut_character,
    in_batches,
    ordinary_ids,
    token_texts,
)
from pybpe.inspection._verdicts import (
    ADDED,
    MERGES,
    NEIGHBOURS,
    NEVER,
    NO_UTF8,
    NORMALIZER,
    SPLIT,
    Reachability,
)
from pybpe.model import LSTRIP, NORMALIZED, RSTRIP, SINGLE_WORD, UNMATCHED, Model
from pybpe.normalizers import Step, UnicodeForm
from pybpe.split import Split
from pybpe.tokenizer import Tokenizer

# What is put before and behind a token that is not found by itself.
_BEFORE = ["", "\n", "a", " ", "1", ".", "\u4e2d", "_", "\t", "a ", "'", "A", "\u0301"]
_BEHIND = ["", "a", "\n", " ", "1", ".", "\u4e2d", "_", " a", "'", "A", "\u0301", "\r"]
# So many texts are tried for each token at a time.
_ROUND = 64
# Of tokens without parts of characters so many are tried beside all others, which takes
# long; they are few in any vocabulary that was learnt.
_WHOLE = 64


class Search:
    """What has been found out so far about the ids of a byte-level model."""

    def __init__(self, tok: Tokenizer) -> None:
        """Begin with a tokenizer."""
        self.tok = tok
        self.texts = token_texts(tok)
        self.ids = ordinary_ids(tok)
        self.by_itself: list[int] = []
        self.in_context: dict[int, str] = {}
        self.by_permission: list[int] = []
        self.from_bytes_only: dict[int, bytes] = {}
        self.unreachable: dict[int, str] = {}
        self.undecided: list[int] = []
        self.whole: list[int] = []
        # Whether some character of a range is its own normal form.
        self.normal: dict[range, bool] = {}

    def result(self) -> Reachability:
        """Return what was found."""
        return Reachability(
            by_itself=tuple(sorted(self.by_itself)),
            in_context=dict(sorted(self.in_context.items())),
            by_permission=tuple(sorted(self.by_permission)),
            from_bytes_only=dict(sorted(self.from_bytes_only.items())),
            unreachable=dict(sorted(self.unreachable.items())),
            undecided=tuple(sorted(self.undecided)),
            whole_pretokens=tuple(self.whole),
        )

    @property
    def model(self) -> Model:
        """The model, which is byte-level."""
        model = self.tok._model
        assert isinstance(model, Model)  # noqa: S101 - for the type checker
        return model

    # -------------------------------------------------------------- the steps

    def run(self) -> None:
        """Settle every id."""
        self.extra()
        encoded = self.encode(self.texts[i] for i in self.ids)
        gets_itself = {i for i, ids in zip(self.ids, encoded, strict=True) if i in ids}
        unmerged = self.unmerged()
        rest = []
        for i in self.ids:
            if i in gets_itself and is_text(self.texts[i]):
                self.by_itself.append(i)
            else:
                rest.append(i)
        rest = [i for i in rest if not self.is_settled(i, unmerged, gets_itself)]
        rest = self.try_texts({i: self.candidates(i) for i in rest})
        self.settle_neighbours(rest, gets_itself)
        got = {*self.by_itself, *self.in_context, *self.from_bytes_only}
        self.whole = [i for i in self.ids if i in unmerged and i in got]

    def extra(self) -> None:
        """Settle special and added tokens, by trying them."""
        model = self.tok._model
        ordinary = {*self.ids}
        for tokens, found in (
            (model.special_tokens, self.by_permission),
            (model.added_tokens, self.by_itself),
        ):
            # Where one is another name of an ordinary token, that is what counts.
            known = [(i, token) for token, i in tokens if i not in ordinary]
            encoded = self.encode((token for _, token in known), allowed="all")
            for (i, _), ids in zip(known, encoded, strict=True):
                if i in ids:
                    found.append(i)
                elif isinstance(model, Model) and model.flags.get(i, 0) & UNMATCHED:
                    self.unreachable[i] = NEVER
                else:
                    self.undecided.append(i)

    @cached_property
    def merging(self) -> Tokenizer:
        """A tokenizer with the same merges for which every text is one pretoken."""
        return merging_only(self.model)

    def unmerged(self) -> set[int]:
        """Return the ids of tokens that merging their own bytes does not make."""
        encoded = in_batches(self.merging, (self.texts[i] for i in self.ids))
        return {i for i, ids in zip(self.ids, encoded, strict=True) if ids != [i]}

    def is_settled(self, i: int, unmerged: set[int], gets_itself: set[int]) -> bool:
        """Settle an id for which there is a proof that no text gets it."""
        text = self.texts[i]
        reason = self.reason(i, i in unmerged)
        if reason is None:
            return False
        if i in gets_itself:
            self.from_bytes_only[i] = text
        else:
            self.unreachable[i] = reason
        return True

    def reason(self, i: int, unmerged: bool) -> str | None:
        """Return why no text gets an id, if there is a proof."""
        text = self.texts[i]
        if unmerged and not (
            self.model.whole_pretoken and self.cuts.can_be_whole(text)
        ):
            return MERGES
        if not _completion.fits_utf8(text):
            return NO_UTF8
        if any(token in text for token in self.always_cut_out):
            return ADDED
        if not self.cuts.can_be_inside(text):
            return SPLIT
        if self.forms and not self.is_normal(text):
            return NORMALIZER
        return None

    def is_normal(self, text: bytes) -> bool:
        """Tell whether a normal form may hold a token; False is certain."""
        middle, last = cut_character(text)
        (form,) = self.forms
        if form.apply(middle) != middle:
            return False
        if last is not None and last not in self.normal:
            chars = [chr(c) for c in last if not 0xD800 <= c < 0xE000]
            self.normal[last] = any(form.apply(char) == char for char in chars)
        return last is None or self.normal[last]

    @cached_property
    def cuts(self) -> Cuts:
        """What the split can do."""
        return Cuts(self.model.split)

    @cached_property
    def forms(self) -> list[Step]:
        """The normal form that every text gets, if that is all that it gets."""
        steps = self.model.normalizers
        alone = len(steps) == 1 and isinstance(steps[0], UnicodeForm)
        return list(steps) if alone else []

    @cached_property
    def always_cut_out(self) -> list[bytes]:
        """The added tokens that are matched wherever they stand."""
        model = self.model
        if model.split.changes:
            return []
        # What is matched in the text as given, normalizers may yet make.
        needed = NORMALIZED if model.normalizers else 0
        odd = UNMATCHED | SINGLE_WORD | LSTRIP | RSTRIP
        return [
            token
            for token, i in model.added_tokens
            if model.flags.get(i, 0) & (odd | needed) == needed
        ]

    def candidates(self, i: int) -> Iterator[bytes]:
        """Yield texts that might get an id."""
        text = self.texts[i]
        if is_text(text):
            yield from in_contexts(text)
        else:
            yield from _completion.around(text)

    def try_texts(self, wanted: dict[int, Iterator[bytes]]) -> list[int]:
        """Encode texts until each id is had or has no more; return those not had."""
        lost, size = [], 4
        while wanted:
            batch = [
                (i, text) for i, texts in wanted.items() for text in islice(texts, size)
            ]
            size = min(2 * size, _ROUND)
            tried = {i for i, _ in batch}
            lost += [i for i in wanted if i not in tried]
            wanted = {i: texts for i, texts in wanted.items() if i in tried}
            encoded = self.encode(text for _, text in batch)
            for (i, text), ids in zip(batch, encoded, strict=True):
                if i in ids and i in wanted and is_text(text):
                    self.in_context[i] = text.decode()
                    del wanted[i]
        return lost

    def settle_neighbours(self, rest: list[int], gets_itself: set[int]) -> None:
        """Settle tokens that cannot stand alone by all tokens that may stand there."""
        beside = Neighbours(self.merging, self.cuts, self.ids, self.texts)
        whole = [i for i in rest if is_text(self.texts[i])]
        self.undecided += whole[_WHOLE:]
        for i in sorted({*rest} - {*whole[_WHOLE:]}):
            parts = beside.around(i)
            if parts is None:
                if i in gets_itself:
                    self.from_bytes_only[i] = self.texts[i]
                else:
                    self.unreachable[i] = NEIGHBOURS
            elif self.try_texts({i: islice(parts, 4096)}):
                self.undecided.append(i)

    def encode(self, texts: Iterable[bytes], allowed: str = "") -> Iterator[list[int]]:
        """Encode texts, special tokens as plain text unless "all" are allowed."""
        if allowed:
            return in_batches(self.tok, texts, allowed_special="all")
        return in_batches(self.tok, texts, disallowed_special=())


def in_contexts(text: bytes) -> Iterator[bytes]:
    """Yield a text with other text around it."""
    for behind in _BEHIND:
        for before in _BEFORE:
            yield before.encode() + text + behind.encode()


def is_text(text: bytes) -> bool:
    """Tell whether bytes are UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def merging_only(model: Model) -> Tokenizer:
    """Return a tokenizer with a model's merges for which every text is one pretoken."""
    return Tokenizer(
        Model(
            semantics=model.semantics,
            whole_pretoken=False,
            token_data=model.token_data,
            token_lengths=model.token_lengths,
            token_ids=model.token_ids,
            merges=model.merges,
            merge_ids=model.merge_ids,
            symbols=model.symbols,
            unknown=model.unknown,
            fuse_unknown=model.fuse_unknown,
            fallback_ids=model.fallback_ids,
            split=Split(),
            provenance={},
        )
    )
