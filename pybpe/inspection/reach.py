"""Which ids no text can ever get.

Every answer has a proof. That an id can be had is shown by a text, which is encoded.
That it cannot is shown by what holds of every text:

- A token that encoding gives was merged from its own bytes alone, for no merge crossed
  its ends, and what happens elsewhere does not change which of the pairs inside comes
  first. So merging its bytes by themselves gives it, or nothing does, unless a pretoken
  that is a token is taken whole.
- For the same reason two tokens that stand side by side are what merging the bytes of
  both gives. So where something has to stand beside a token, as the rest of a character
  has, one of the tokens that may be there must leave it alone, and likewise with the
  next one, until the character is whole.
- A token lies inside one pretoken, and the tables of the split say whether any can hold
  its bytes (`_automaton`).
- What lies between added tokens holds none of them; a normal form is one in every part.

Ids for which neither is found are named, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from pybpe.inspection import _completion
from pybpe.inspection._automaton import Cuts
from pybpe.inspection._neighbours import Neighbours
from pybpe.inspection._texts import (
    cut_character,
    in_batches,
    ordinary_ids,
    token_texts,
)
from pybpe.model import CHARACTERS, LSTRIP, RSTRIP, SINGLE_WORD, UNMATCHED, Model

if TYPE_CHECKING:
    from pybpe.normalizers import Step
    from pybpe.tokenizer import Tokenizer

# Why no text gets an id.
MERGES = "its bytes merge to something else, in every text"
NEIGHBOURS = "what has to stand beside it always merges with a part of it"
SPLIT = "the split cuts it, in every text"
ADDED = "an added token takes its place"
NORMALIZER = "the normal form of a text never holds it"
NEVER = "it is never matched in a text"
UNUSED = "the model marks it as unused"
NO_UTF8 = "UTF-8 never holds its bytes"
COVERED = "every character with this byte has a piece"
FALLBACK = "unknown characters are spelt in bytes"

# What is put before and behind a token that is not found by itself.
_BEFORE = ["", "\n", "a", " ", "1", ".", "\u4e2d", "_", "\t", "a ", "'", "A", "\u0301"]
_BEHIND = ["", "a", "\n", " ", "1", ".", "\u4e2d", "_", " a", "'", "A", "\u0301", "\r"]
# So many texts are tried for each token at a time.
_ROUND = 64
# So many characters are tried for each byte that stands for part of unknown ones.
_CHARACTERS = 64
# The bytes that UTF-8 does not have.
_NO_UTF8 = {0xC0, 0xC1, *range(0xF5, 0x100)}


@dataclass(frozen=True)
class Reachability:
    """Which ids texts can get.

    The parts have no id in common; together they are all ids.

    Attributes:
        by_itself: Ids of the tokens that their own text gets.
        in_context: Ids that other texts get, each with one of these.
        by_permission: Ids of special tokens, which a text gets only where it is allowed
            to.
        from_bytes_only: Ids that no text gets, though bytes do that are no UTF-8:
            each with those.
        unreachable: The other ids that no text gets, each with the reason.
        undecided: Ids for which no text was found, nor a proof that there is none.
        whole_pretokens: Of those that texts can get, the ids that merging cannot make:
            texts get them because a pretoken that is a token is taken whole.
    """

    by_itself: tuple[int, ...]
    in_context: Mapping[int, str]
    by_permission: tuple[int, ...]
    from_bytes_only: Mapping[int, bytes]
    unreachable: Mapping[int, str]
    undecided: tuple[int, ...]
    whole_pretokens: tuple[int, ...]


def reachability(tok: Tokenizer) -> Reachability:
    r"""Find out which ids texts can get, and which none ever gets.

    >>> from pybpe import Tokenizer
    >>> pairs = [(b" ", b" "), (b"a", b" "), (b"\n", b"a")]
    >>> tok = Tokenizer.from_merges(pairs, pattern="gpt2")
    >>> found = reachability(tok)
    >>> found.unreachable
    {257: 'the split cuts it, in every text', 258: 'the split cuts it, in every text'}
    >>> found.from_bytes_only[0xFF]
    b'\xff'

    Takes some seconds for the largest vocabularies.
    """
    search: Search
    if isinstance(tok._model, Model):
        characters = tok._model.symbols == CHARACTERS or tok._model.word_suffix
        search = OtherSearch(tok) if characters else Search(tok)
    else:
        from pybpe.inspection._pieces import PieceSearch

        search = PieceSearch(tok)
    search.run()
    return search.result()


class Search:
    """What has been found out so far about the ids of a byte-level model."""

    def __init__(self, tok: Tokenizer) -> None:
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
        return Reachability(
            by_itself=tuple(sorted(self.by_itself)),
            in_context=dict(sorted(self.in_context.items())),
            by_permission=tuple(sorted(self.by_permission)),
            from_bytes_only=dict(sorted(self.from_bytes_only.items())),
            unreachable=dict(sorted(self.unreachable.items())),
            undecided=tuple(sorted(self.undecided)),
            whole_pretokens=tuple(self.whole),
        )

    # -------------------------------------------------------------- the steps

    def run(self) -> None:
        self.extra()
        encoded = self.encode(self.texts[i] for i in self.ids)
        gets_itself = {i for i, ids in zip(self.ids, encoded, strict=True) if i in ids}
        unmerged = self.unmerged(gets_itself)
        rest = []
        for i in self.ids:
            if i in gets_itself and _is_text(self.texts[i]):
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
        special = dict(model.special_tokens)
        for tokens, found in (
            (special.items(), self.by_permission),
            (model.added_tokens, self.by_itself),
        ):
            known = [(i, token) for token, i in tokens]
            encoded = self.encode((token for _, token in known), allowed="all")
            for (i, _), ids in zip(known, encoded, strict=True):
                if i in ids:
                    found.append(i)
                elif isinstance(model, Model) and model.flags.get(i, 0) & UNMATCHED:
                    self.unreachable[i] = NEVER
                else:
                    self.undecided.append(i)

    def unmerged(self, _gets_itself: set[int]) -> set[int]:
        """Return the ids of tokens that merging their own bytes does not make."""
        self.merging = _merging_only(self.tok)
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
        text = self.texts[i]
        if unmerged:
            if not self.tok._model.whole_pretoken:  # type: ignore[union-attr]
                return MERGES
            if not self.cuts.can_be_whole(text):
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

    @property
    def cuts(self) -> Cuts:
        if not hasattr(self, "_cuts"):
            self._cuts = Cuts(self.tok._model.split)
        return self._cuts

    @property
    def forms(self) -> list[Step]:
        """The normal form that every text gets, if that is all that it gets."""
        from pybpe.normalizers import UnicodeForm

        steps = self.tok._model.normalizers
        alone = len(steps) == 1 and isinstance(steps[0], UnicodeForm)
        return list(steps) if alone else []

    @property
    def always_cut_out(self) -> list[bytes]:
        """The added tokens that are matched wherever they stand."""
        model = self.tok._model
        odd = UNMATCHED | SINGLE_WORD | LSTRIP | RSTRIP
        return [
            token for token, i in model.added_tokens if not model.flags.get(i, 0) & odd
        ]

    def candidates(self, i: int) -> Iterator[bytes]:
        """Yield texts that might get an id."""
        text = self.texts[i]
        if _is_text(text):
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
                if i in ids and i in wanted and _is_text(text):
                    self.in_context[i] = text.decode()
                    del wanted[i]
        return lost

    def settle_neighbours(self, rest: list[int], gets_itself: set[int]) -> None:
        """Settle tokens that cannot stand alone by all tokens that may stand there."""
        beside = Neighbours(self.merging, self.cuts, self.ids, self.texts)
        for i in rest:
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


class OtherSearch(Search):
    """The same for models whose symbols are characters, or that end words by a mark."""

    def run(self) -> None:
        self.extra()
        model = self.tok._model
        assert isinstance(model, Model)  # noqa: S101 - for the type checker
        fallback = {i: byte for byte, i in enumerate(model.fallback_ids)}
        tokens = set(self.tok.token_bytes_list())
        if _replaces_spaces(model):
            tokens.add(b" ")
        self.settle_bytes({i: fallback[i] for i in self.ids if i in fallback}, tokens)
        ids = [i for i in self.ids if i not in fallback]
        encoded = self.encode(self.texts[i] for i in ids)
        rest = []
        for i, got in zip(ids, encoded, strict=True):
            if i in got and _is_text(self.texts[i]):
                self.by_itself.append(i)
            else:
                rest.append(i)
        rest = self.try_texts({i: self.candidates(i) for i in rest})
        self.settle_unmerged(rest)

    def settle_bytes(self, wanted: dict[int, int], tokens: set[bytes]) -> None:
        """Settle ids that stand for bytes of characters that are no tokens.

        Args:
            wanted: Ids and bytes.
            tokens: All tokens.
        """
        chars: dict[int, list[bytes]] = {byte: [] for byte in range(256)}
        for number in (*range(0xD800), *range(0xE000, 0x110000)):
            char = chr(number).encode()
            if char not in tokens:
                for byte in char:
                    if len(chars[byte]) < _CHARACTERS:
                        chars[byte].append(char)
        texts = {i: iter(chars[byte]) for i, byte in wanted.items()}
        for i in self.try_texts(texts):
            byte = wanted[i]
            if byte in _NO_UTF8:
                (got,) = self.encode([bytes([byte])])
                if i in got:
                    self.from_bytes_only[i] = bytes([byte])
                else:
                    self.unreachable[i] = NO_UTF8
            elif not chars[byte]:
                self.unreachable[i] = COVERED
            else:
                self.undecided.append(i)

    def settle_unmerged(self, rest: list[int]) -> None:
        """Settle those of some ids that their own symbols do not merge to."""
        model = self.tok._model
        assert isinstance(model, Model)  # noqa: S101 - for the type checker
        if model.word_suffix or model.whole_pretoken:
            self.undecided += rest
            return
        tokens = self.tok.token_bytes_list()
        encoded = in_batches(_merging_only(self.tok), (tokens[i] for i in rest))
        for i, got in zip(rest, encoded, strict=True):
            if got == [i]:
                self.undecided.append(i)
            else:
                self.unreachable[i] = MERGES


def in_contexts(text: bytes) -> Iterator[bytes]:
    """Yield a text with other text around it."""
    for behind in _BEHIND:
        for before in _BEFORE:
            yield before.encode() + text + behind.encode()


def _replaces_spaces(model: Model) -> bool:
    """Tell whether no space is left when a text is normalized."""
    from pybpe.normalizers import Replace

    last = model.normalizers[-1] if model.normalizers else None
    return isinstance(last, Replace) and last.pattern == " " and " " not in last.content


def _is_text(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _merging_only(tok: Tokenizer) -> Tokenizer:
    """Return a tokenizer with the same merges for which a text is one pretoken."""
    from pybpe.split import Split
    from pybpe.tokenizer import Tokenizer

    model = tok._model
    assert isinstance(model, Model)  # noqa: S101 - for the type checker
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
