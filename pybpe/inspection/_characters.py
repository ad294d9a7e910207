"""The same search for models whose symbols are characters, or that mark words' ends."""

from __future__ import annotations

from pybpe.inspection._search import Search, is_text
from pybpe.inspection._texts import cut_character, in_batches
from pybpe.inspection._verdicts import COVERED, MERGES, NO_UTF8
from pybpe.model import Model
from pybpe.normalizers import Replace

# So many characters are tried for each byte that stands for part of unknown ones.
_CHARACTERS = 64
# Of the characters that begin with the same byte so many are looked at first.
_SOME = 256
# The bytes that UTF-8 does not have.
_NO_UTF8 = {0xC0, 0xC1, *range(0xF5, 0x100)}


class CharacterSearch(Search):
    """What has been found out so far about the ids of such a model."""

    def run(self) -> None:
        """Settle every id."""
        self.extra()
        model = self.model
        fallback = {i: byte for byte, i in enumerate(model.fallback_ids)}
        tokens = set(self.tok.token_bytes_list())
        if _replaces_spaces(model):
            tokens.add(b" ")
        self.settle_bytes({i: fallback[i] for i in self.ids if i in fallback}, tokens)
        ids = [i for i in self.ids if i not in fallback]
        encoded = self.encode(self.texts[i] for i in ids)
        rest = []
        for i, got in zip(ids, encoded, strict=True):
            if i in got and is_text(self.texts[i]):
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
        chars = _without_token(tokens, _SOME)
        needed = {byte for byte in wanted.values() if byte >= 0x80} - _NO_UTF8
        if not all(chars[byte] for byte in needed):
            chars = _without_token(tokens, 0x110000)
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
        model = self.model
        if model.word_suffix or model.whole_pretoken:
            self.undecided += rest
            return
        tokens = self.tok.token_bytes_list()
        encoded = in_batches(self.merging, (tokens[i] for i in rest))
        for i, got in zip(rest, encoded, strict=True):
            if got == [i]:
                self.undecided.append(i)
            else:
                self.unreachable[i] = MERGES


def _replaces_spaces(model: Model) -> bool:
    """Tell whether no space is left when a text is normalized."""
    last = model.normalizers[-1] if model.normalizers else None
    return isinstance(last, Replace) and last.pattern == " " and " " not in last.content


def _without_token(tokens: set[bytes], most: int) -> dict[int, list[bytes]]:
    """Return some characters that are no tokens, for each of the bytes they have.

    Args:
        tokens: All tokens.
        most: How many characters to look at, of those that begin with the same byte.
    """
    found: dict[int, list[bytes]] = {byte: [] for byte in range(256)}
    chars = list(range(0x80))
    for lead in range(0xC2, 0xF5):
        _, same_lead = cut_character(bytes([lead]))
        chars += (same_lead or range(0))[:most]
    for number in chars:
        if 0xD800 <= number < 0xE000:
            continue
        char = chr(number).encode()
        if char not in tokens:
            for byte in char:
                if len(found[byte]) < _CHARACTERS:
                    found[byte].append(char)
    return found
