"""Hugging Face's `tokenizer.json`, where its model is BPE.

Ids are those that the `tokenizers` package gives for the file. Its special tokens
become pybpe's, which are matched by permission (`allowed_special="all"` is what
`tokenizers` does); its other added tokens are always matched.

Truncation and padding, which belong to a call there and not to the vocabulary, are not
taken over.
"""

from __future__ import annotations

import operator
import re
from array import array
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from pybpe import _binding, _glyphs
from pybpe.errors import ModelError
from pybpe.formats import _hf_parts
from pybpe.formats._source import (
    MAX_TOKEN,
    Source,
    json_document,
    shown,
    special_or_refuse,
    whole_number,
)
from pybpe.model import (
    ALIAS,
    BYTES,
    CHARACTERS,
    LSTRIP,
    MERGES,
    NORMALIZED,
    RSTRIP,
    SINGLE_WORD,
    SOME_BYTES,
    UNMATCHED,
    Model,
)

if TYPE_CHECKING:
    from pybpe.normalizers import Step
    from pybpe.split import Split

_NOT_GLYPHS = re.compile(f"[^{re.escape(_glyphs.CHARACTERS)}]")
_FLAGS = {
    "lstrip": LSTRIP,
    "rstrip": RSTRIP,
    "single_word": SINGLE_WORD,
    "normalized": NORMALIZED,
}
MAX_SUFFIX = 64  # bytes: BPE_MAX_SUFFIX of bpe.h
MAX_STAGES = 16  # BPE_MAX_STAGES
# Sentencepiece's mark for a space.
_MARK = "\u2581"


def read(source: Source) -> Model:
    """Return the model of a `tokenizer.json`.

    Raises:
        ModelError: It is malformed, or holds something that pybpe does not do exactly
            as `tokenizers` does; the message names it.
    """
    document = json_document(source.data)
    if not isinstance(document, dict):
        raise ModelError("it is JSON, but no object")
    bpe = _bpe(document.get("model"))
    pre = _hf_parts.pre_tokenizer(document.get("pre_tokenizer"))
    steps = _hf_parts.normalizers(document.get("normalizer"))
    around = _hf_parts.post_processor(document.get("post_processor"))
    vocabulary = _vocabulary(bpe.vocab)
    symbols = _Symbols(bpe, vocabulary, pre.byte_level)
    merges, made = _merges(bpe, vocabulary, symbols)
    extra = _Extra(symbols, vocabulary, source)
    extra.read(document.get("added_tokens"))
    extra.add_undecodable()
    extra.simplify_flags(steps)
    if source.split is None:
        _hf_parts.check_first(pre.split, steps, extra.flags.values())
    split = source.split if source.split is not None else pre.split
    if symbols.kind == CHARACTERS and _no_merge_crosses(bpe, merges, vocabulary):
        split = _before_marks(split)
    special, added = extra.special_tokens(), extra.added_tokens()
    for number in (*around.before, *around.after):
        whole_number(number, "an id of its post_processor")
    provenance: dict[str, str | int] = {"format": "tokenizer_json"}
    ignored = [name for name in ("truncation", "padding") if document.get(name)]
    if ignored:
        provenance["ignored"] = ", ".join(ignored)
    return Model(
        semantics=MERGES,
        whole_pretoken=bpe.ignore_merges,
        token_data=symbols.data,
        token_lengths=symbols.lengths,
        token_ids=symbols.ids,
        merges=merges,
        merge_ids=made,
        special_tokens=special,
        added_tokens=added,
        split=split,
        symbols=symbols.kind,
        unknown=symbols.unknown,
        fuse_unknown=symbols.unknown is not None and bpe.fuse_unk,
        fallback_ids=symbols.fallback_ids,
        word_suffix=symbols.word_suffix,
        flags={
            number: extra.flags[number]
            for _, number in (*special, *added)
            if number in extra.flags
        },
        normalizers=steps,
        text_prefix=around.before,
        text_suffix=around.after,
        decoders=_hf_parts.decoders(document.get("decoder"), pre.byte_level),
        provenance=provenance,
    )


# ------------------------------------------------------------------ the BPE model


class _Bpe(NamedTuple):
    """The values of a BPE model in the file."""

    vocab: dict[str, int]
    merges: list[Any]
    unk_token: str | None
    end_of_word_suffix: str
    fuse_unk: bool
    byte_fallback: bool
    ignore_merges: bool


def _bpe(values: Any) -> _Bpe:
    """Read the model but for its vocabulary and merges.

    Raises:
        ModelError: It is not BPE, malformed, or has options that pybpe does not have.
    """
    if not isinstance(values, dict):
        raise ModelError(f"its model must be an object, and is {shown(values)}")
    kind = values.get("type", "BPE" if "merges" in values else None)
    if kind != "BPE":
        raise ModelError(
            f"its model is of the type {shown(kind)}; pybpe reads BPE models only"
        )
    prefix = values.get("continuing_subword_prefix")
    if prefix:
        raise ModelError(
            f"its model has the continuing_subword_prefix {shown(prefix)}, which pybpe "
            "does not support"
        )
    suffix = values.get("end_of_word_suffix") or ""
    if not isinstance(suffix, str) or len(_encode(suffix)) > MAX_SUFFIX:
        raise ModelError(
            f"its end_of_word_suffix must be a string of up to {MAX_SUFFIX} bytes, and "
            f"is {shown(suffix)}"
        )
    if values.get("dropout"):
        raise ModelError(
            f"its model has a dropout of {shown(values['dropout'])}, which makes ids "
            "random; set it to null in the file"
        )
    vocab, merges = values.get("vocab"), values.get("merges")
    if not isinstance(vocab, dict) or not isinstance(merges, list):
        raise ModelError("its model has no object `vocab` and list `merges`")
    unk = values.get("unk_token")
    if unk is not None and not isinstance(unk, str):
        raise ModelError(f"its unk_token must be a string, and is {shown(unk)}")
    names = _Bpe._fields[4:]
    switches = [values.get(name) or False for name in names]
    for name, value in zip(names, switches, strict=True):
        if not isinstance(value, bool):
            raise ModelError(f"its {name} must be true or false, and is {shown(value)}")
    return _Bpe(vocab, merges, unk, suffix, *switches)


class _Vocabulary(NamedTuple):
    """Tokens as the file writes them, by ascending id."""

    names: list[str]
    ids: list[int]
    by_name: dict[str, int]


def _vocabulary(vocab: dict[str, int]) -> _Vocabulary:
    """Check and sort the vocabulary.

    Raises:
        ModelError: It is empty or too large, an id is none or comes twice, or a token
            is empty, too long or no text.
    """
    if not vocab:
        raise ModelError("its vocab is empty")
    numbers = list(vocab.values())
    if (
        set(map(type, numbers)) != {int}
        or min(numbers) < 0
        or max(numbers) >= _binding.MAX_IDS
    ):
        for token, number in vocab.items():
            whole_number(number, f"the id of the token {shown(token)}")
    if numbers != sorted(numbers):
        order = sorted(vocab.items(), key=lambda item: item[1])
        names = [token for token, _ in order]
        numbers = [number for _, number in order]
    else:
        names = list(vocab)
    if len(set(numbers)) < len(numbers):
        for i in range(1, len(numbers)):
            if numbers[i] == numbers[i - 1]:
                raise ModelError(
                    f"the tokens {shown(names[i - 1])} and {shown(names[i])} have the "
                    f"same id, {numbers[i]}"
                )
    if "" in vocab:
        raise ModelError(f"the token with id {vocab['']} is empty")
    longest = max(names, key=len)
    if len(longest.encode("utf-8", "surrogatepass")) > MAX_TOKEN:
        raise ModelError(
            f"the token with id {vocab[longest]} is too long; the limit is "
            f"{MAX_TOKEN:,} bytes"
        )
    return _Vocabulary(names, numbers, vocab)


class _Symbols:
    """What the tokens are made of.

    Attributes:
        kind: `BYTES`, `SOME_BYTES` or `CHARACTERS`.
        data: The ordinary tokens' bytes, one after another.
        lengths: Their lengths.
        ids: Their ids.
        undecodable: Ids of tokens in a byte-level vocabulary with characters that stand
            for no byte: no text gives them, and they decode to themselves.
        unknown: The id of what is no token, or None.
        fallback_ids: The ids of bytes, or none.
        word_suffix: What the last symbol of a pretoken ends in.
    """

    def __init__(self, bpe: _Bpe, vocabulary: _Vocabulary, byte_level: bool) -> None:
        self.undecodable: set[int] = set()
        self.unknown: int | None = None
        self.fallback_ids = array("I")
        self.word_suffix = b""
        if byte_level:
            self._bytes(vocabulary)
            if bpe.end_of_word_suffix:
                self._suffix_of_bytes(bpe)
            falls_back = bpe.byte_fallback and _fallback_ids(vocabulary)
            if self.kind == SOME_BYTES and falls_back:
                raise ModelError(
                    "its vocab is byte-level, lacks some of the bytes, and has "
                    "byte_fallback, which pybpe does not support together"
                )
        else:
            self._characters(vocabulary)
            self.word_suffix = _encode(bpe.end_of_word_suffix)
            if self.word_suffix and bpe.byte_fallback and _fallback_ids(vocabulary):
                raise ModelError(
                    "its model has an end_of_word_suffix and byte_fallback, which "
                    "pybpe does not support together"
                )
        if self.kind == BYTES:
            return
        if bpe.byte_fallback:
            self.fallback_ids = _fallback_ids(vocabulary)
        if bpe.unk_token is not None:
            if bpe.unk_token not in vocabulary.by_name:
                raise ModelError(
                    f"its unk_token {shown(bpe.unk_token)} is not in its vocab"
                )
            self.unknown = vocabulary.by_name[bpe.unk_token]

    def _bytes(self, vocabulary: _Vocabulary) -> None:
        names, ids = vocabulary.names, vocabulary.ids
        try:
            self.data = _glyphs.to_bytes("".join(names))
        except UnicodeEncodeError:
            kept = [not _NOT_GLYPHS.search(name) for name in names]
            pairs = list(zip(names, ids, kept, strict=True))
            self.undecodable = {number for _, number, keep in pairs if not keep}
            for name, _, keep in pairs:
                if not keep:
                    _encode(name)
            names = [name for name, _, keep in pairs if keep]
            ids = [number for _, number, keep in pairs if keep]
            self.data = _glyphs.to_bytes("".join(names))
        self.lengths = array("I", map(len, names))
        self.ids = array("I", ids)
        complete = all(char in vocabulary.by_name for char in _glyphs.CHARACTERS)
        self.kind = BYTES if complete else SOME_BYTES

    def _suffix_of_bytes(self, bpe: _Bpe) -> None:
        """Keep the suffix; which bytes are tokens depends on where they stand now."""
        try:
            self.word_suffix = _glyphs.to_bytes(bpe.end_of_word_suffix)
        except UnicodeEncodeError:
            raise ModelError(
                f"its end_of_word_suffix {shown(bpe.end_of_word_suffix)} is not "
                "made of the characters that stand for bytes, as its vocab is"
            ) from None
        self.kind = SOME_BYTES

    def _characters(self, vocabulary: _Vocabulary) -> None:
        tokens = [_encode(name) for name in vocabulary.names]
        self.data = b"".join(tokens)
        self.lengths = array("I", map(len, tokens))
        self.ids = array("I", vocabulary.ids)
        self.kind = CHARACTERS


def _fallback_ids(vocabulary: _Vocabulary) -> array[int]:
    """Return the ids of <0x00> to <0xFF>; none if all are missing."""
    ids = [
        vocabulary.by_name.get(f"<0x{byte:02X}>", _binding.NO_ID) for byte in range(256)
    ]
    return array("I", ids if set(ids) != {_binding.NO_ID} else [])


def _encode(name: str) -> bytes:
    try:
        return name.encode()
    except UnicodeEncodeError:
        raise ModelError(f"the token {shown(name)} holds a lone surrogate") from None


# ------------------------------------------------------------------ merges


def _merges(
    bpe: _Bpe, vocabulary: _Vocabulary, symbols: _Symbols
) -> tuple[array[int], array[int]]:
    """Return the merges as ids: the pairs, flat, and what each makes.

    Raises:
        ModelError: One is no pair of tokens, or makes none.
    """
    lefts, rights = _halves(bpe.merges)
    id_of = vocabulary.by_name.__getitem__
    try:
        left = list(map(id_of, lefts))
        right = list(map(id_of, rights))
        made = list(map(id_of, map(operator.add, lefts, rights)))
    except (KeyError, TypeError):
        _refuse_merge(lefts, rights, vocabulary.by_name)
    if symbols.undecodable:
        # Parts that no text gives merge in no text.
        bad = symbols.undecodable
        kept = [
            i for i in range(len(left)) if left[i] not in bad and right[i] not in bad
        ]
        left, right, made = ([ids[i] for i in kept] for ids in (left, right, made))
    keys = [a << 32 | b for a, b in zip(left, right, strict=True)]
    if len(set(keys)) < len(keys):
        # Of a pair that is listed twice, the last place counts.
        order = sorted({key: i for i, key in enumerate(keys)}.values())
        left, right, made = ([ids[i] for i in order] for ids in (left, right, made))
    flat = array("I", bytes(8 * len(left)))
    flat[::2], flat[1::2] = array("I", left), array("I", right)
    return flat, array("I", made)


def _halves(merges: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the left and the right parts of all merges, from either notation.

    Raises:
        ModelError: They are neither all strings nor all lists, or one is not two
            tokens.
    """
    kinds = set(map(type, merges))
    if kinds == {str}:
        # As the files of merges, which had such a line on top.
        merges = [merge for merge in merges if not merge.startswith("#version")]
        spaces = list(map(str.count, merges, repeat(" ")))
        if spaces and spaces != [1] * len(spaces):
            i = next(i for i, n in enumerate(spaces) if n != 1)
            raise ModelError(
                f"merge {i + 1}, {shown(merges[i])}, is not two tokens with one space "
                "between them"
            )
        # In one go: as many small lists would take longer than all the rest.
        flat: list[Any] = " ".join(merges).split(" ") if merges else []
    elif kinds <= {list}:
        for i, pair in enumerate(merges) if set(map(len, merges)) - {2} else ():
            if len(pair) != 2:
                raise ModelError(f"merge {i + 1} is no pair of tokens: {shown(pair)}")
        flat = list(chain.from_iterable(merges))
    else:
        raise ModelError("its merges are neither all strings nor all pairs")
    return flat[::2], flat[1::2]


def _refuse_merge(
    lefts: list[Any], rights: list[Any], by_name: dict[str, int]
) -> NoReturn:
    """Find the merge that is wrong."""
    for i, pair in enumerate(zip(lefts, rights, strict=True)):
        left, right = pair
        if not isinstance(left, str) or not isinstance(right, str):
            raise ModelError(f"merge {i + 1} is no pair of tokens: {shown(pair)}")
        for name in (left, right, left + right):
            if name not in by_name:
                raise ModelError(
                    f"merge {i + 1}, of {shown(left)} and {shown(right)}, needs the "
                    f"token {shown(name)}, which its vocab does not have"
                )
    raise AssertionError("all merges are right")


def _no_merge_crosses(bpe: _Bpe, merges: array[int], vocabulary: _Vocabulary) -> bool:
    """Tell whether nothing ever joins a mark to another character before it."""
    if bpe.ignore_merges or bpe.end_of_word_suffix or _MARK not in vocabulary.by_name:
        return False
    starting, ending = set(), set()
    for name, number in zip(vocabulary.names, vocabulary.ids, strict=True):
        if name.startswith(_MARK):
            starting.add(number)
        if name.endswith(_MARK):
            ending.add(number)
    # The unknown token stands for other characters than its name has.
    unknown = vocabulary.by_name.get(bpe.unk_token or "")
    ending.discard(unknown)
    return unknown not in starting and not any(
        right in starting and left not in ending
        for left, right in zip(merges[::2], merges[1::2], strict=True)
    )


def _before_marks(split: Split) -> Split:
    """Return a split that cuts before marks as well.

    Where nothing joins what it parts, it changes no ids; but words are found in the
    cache, as whole texts never are.
    """
    from pybpe.split import Split, Stage

    stages = split.stages
    if len(stages) >= MAX_STAGES or any(
        _MARK in stage.pattern or not stage.compiled for stage in stages
    ):
        return split
    cut = Stage.compile(rf"{_MARK}+[^{_MARK}]*|[^{_MARK}]+", "oniguruma")
    return Split((*stages, cut))


# ------------------------------------------------------------------ added tokens


class _Extra:
    """Collects special and added tokens with their flags."""

    def __init__(
        self, symbols: _Symbols, vocabulary: _Vocabulary, source: Source
    ) -> None:
        self._symbols = symbols
        self._vocabulary = vocabulary
        self._source = source
        self._special: dict[str, int] = {}
        self._added: dict[str, int] = {}
        self.flags: dict[int, int] = {}

    def read(self, values: Any) -> None:
        """Read the list of added tokens.

        Raises:
            ModelError: It is malformed, or two tokens get the same id.
        """
        if values is None:
            values = []
        if not isinstance(values, list):
            raise ModelError(f"its added_tokens must be a list, not {shown(values)}")
        seen: dict[str, tuple[bool, int]] = {}
        by_name = self._vocabulary.by_name
        taken = set(self._vocabulary.ids)
        highest = -1  # id of an added token so far
        for i, value in enumerate(values):
            content, special, flags = _added_token(value, i)
            if content in seen:
                if seen[content] != (special, flags):
                    raise ModelError(
                        f"its added_tokens hold {shown(content)} twice, with different "
                        "flags"
                    )
                continue
            seen[content] = special, flags
            if not content:
                continue  # It could match nowhere, and is passed over.
            number = self._number(content, highest)
            highest = max(highest, number)
            if number in taken and content not in by_name:
                raise ModelError(
                    f"the added token {shown(content)} gets the id {number}, as "
                    "tokenizers numbers them, which a token of its vocab has"
                )
            whole_number(number, f"the id of the added token {shown(content)}")
            self._add(content, number, special, flags)

    def _number(self, content: str, highest: int) -> int:
        """Return the id of an added token: what the file says counts for nothing."""
        number = self._vocabulary.by_name.get(content)
        return max(highest + 1, len(self._vocabulary.ids)) if number is None else number

    def _add(self, content: str, number: int, special: bool, flags: int) -> None:
        table = self._special if special else self._added
        table[content] = number
        if (
            self._symbols.kind != CHARACTERS
            and number not in self._symbols.undecodable
            and content in self._vocabulary.by_name
            and _glyphs.to_bytes(content) != content.encode()
        ):
            # The text of the added token and the bytes of the ordinary one differ.
            flags |= ALIAS
        if flags:
            self.flags[number] = flags

    def add_undecodable(self) -> None:
        """Add the tokens of a byte-level vocabulary that are not made of bytes."""
        if not self._symbols.undecodable:
            return
        known = {*self._special.values(), *self._added.values()}
        for name, number in self._vocabulary.by_name.items():
            if number in self._symbols.undecodable and number not in known:
                self._added[name] = number
                self.flags[number] = UNMATCHED

    def simplify_flags(self, steps: tuple[Step, ...]) -> None:
        """Forget which tokens are matched in normalized text, if it is all the same."""
        from pybpe._pipeline import may_collide
        from pybpe.normalizers import apply_all

        for name, number in (*self._special.items(), *self._added.items()):
            if self.flags.get(number, 0) & NORMALIZED and not apply_all(steps, name):
                raise ModelError(
                    f"nothing is left of the added token {shown(name)} when it is "
                    "normalized, so it would match everywhere"
                )
        tables = [
            {
                name.encode(): number
                for name, number in (*self._special.items(), *self._added.items())
                if not self.flags.get(number, 0) & UNMATCHED
                and (self.flags.get(number, 0) & NORMALIZED) == wanted
            }
            for wanted in (0, NORMALIZED)
        ]
        takes_in = LSTRIP | RSTRIP | SINGLE_WORD
        if any(flags & takes_in for flags in self.flags.values()):
            return
        if steps or may_collide(*tables):
            return
        for number in tables[1].values():
            self.flags[number] -= NORMALIZED
            if not self.flags[number]:
                del self.flags[number]

    def special_tokens(self) -> tuple[tuple[bytes, int], ...]:
        """Return the special tokens by ascending id."""
        if self._source.special_tokens is not None:
            return special_or_refuse(self._source.special_tokens, "special_tokens")
        return _sorted(self._special)

    def added_tokens(self) -> tuple[tuple[bytes, int], ...]:
        """Return the added tokens by ascending id."""
        return _sorted(self._added)


def _sorted(table: dict[str, int]) -> tuple[tuple[bytes, int], ...]:
    order = sorted(table.items(), key=lambda item: item[1])
    return tuple((name.encode(), number) for name, number in order)


def _added_token(value: Any, i: int) -> tuple[str, bool, int]:
    """Return an added token's content, whether it is special, and its flags."""
    what = f"entry {i} of its added_tokens"
    if not isinstance(value, dict) or not isinstance(value.get("content"), str):
        raise ModelError(f"{what} has no content: {shown(value)}")
    content = value["content"]
    _encode(content)
    flags = 0
    for name, flag in (*_FLAGS.items(), ("special", 0)):
        switch = value.get(name, False)
        if not isinstance(switch, bool):
            raise ModelError(f"{name} of {what} must be true or false: {shown(switch)}")
        flags |= flag if switch else 0
    return content, value.get("special", False), flags
