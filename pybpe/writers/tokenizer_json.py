"""Hugging Face's `tokenizer.json`.

Its special tokens are always matched, where pybpe asks for leave: ids are those with
`allowed_special="all"`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pybpe import _binding, _glyphs
from pybpe._extras import optional
from pybpe.codepoint import CodepointModel
from pybpe.errors import ModelError
from pybpe.formats._source import shown
from pybpe.model import (
    ALIAS,
    CHARACTERS,
    LSTRIP,
    NORMALIZED,
    RANKS,
    RSTRIP,
    SINGLE_WORD,
    UNMATCHED,
    Model,
)
from pybpe.tokenizer import Tokenizer
from pybpe.writers import _hf_parts, _hf_pieces
from pybpe.writers._check import (
    compare_around,
    compare_decoding,
    compare_ids,
    compare_tables,
    compare_tokenizers,
)
from pybpe.writers._merges import merge_list, ordinary_tokens
from pybpe.writers._parts import Job, extra_tokens, text_of

_WHAT = "a tokenizer.json"
_FLAGS = {
    "single_word": SINGLE_WORD,
    "lstrip": LSTRIP,
    "rstrip": RSTRIP,
    "normalized": NORMALIZED,
}


def files(job: Job) -> list[bytes]:
    """Return the contents of the file.

    Raises:
        ModelError: The format cannot hold the tokenizer.
    """
    document = document_of(job)
    return [json.dumps(document, ensure_ascii=False, indent=2).encode()]


def document_of(job: Job) -> dict[str, Any]:
    """Return what the file holds, as JSON's objects."""
    tokenizer = job.tokenizer
    model = tokenizer._model
    if isinstance(model, CodepointModel):
        return _hf_pieces.document_of(model)
    names = _names(model)
    merges = merge_list(tokenizer)
    vocab = {name: number for number, name in names.items()}
    added = _Extra(model, vocab, names)
    all_names = {**{number: name for name, number in vocab.items()}, **added.names}
    is_bytes = model.symbols != CHARACTERS
    unknown = None if model.unknown is None else all_names[model.unknown]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added.entries,
        "normalizer": _hf_parts.normalizer(model.normalizers),
        "pre_tokenizer": _hf_parts.pre_tokenizer(model.split, is_bytes),
        "post_processor": _hf_parts.post_processor(
            model.text_prefix, model.text_suffix, all_names
        ),
        "decoder": _hf_parts.decoder(model.decoders, is_bytes),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": unknown,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": _suffix(model),
            "fuse_unk": model.fuse_unknown,
            "byte_fallback": _byte_fallback(model, vocab),
            # Ranks take pretokens whole, and may have tokens that no merge makes.
            "ignore_merges": model.whole_pretoken or model.semantics == RANKS,
            "vocab": dict(sorted(vocab.items(), key=lambda item: item[1])),
            "merges": [[names[left], names[right]] for left, right in merges.pairs],
        },
    }


def _names(model: Model) -> dict[int, str]:
    """Return how the file spells each ordinary token."""
    tokens = ordinary_tokens(model, _WHAT)
    if model.symbols == CHARACTERS:
        return {number: text_of(token, _WHAT) for token, number in tokens.items()}
    return {number: _glyphs.to_characters(token) for token, number in tokens.items()}


def _suffix(model: Model) -> str | None:
    if not model.word_suffix:
        return None
    if model.symbols == CHARACTERS:
        return text_of(model.word_suffix, _WHAT)
    return _glyphs.to_characters(model.word_suffix)


def _byte_fallback(model: Model, vocab: dict[str, int]) -> bool:
    """Tell whether unknown characters are spelt in bytes.

    Raises:
        ModelError: The bytes have other tokens than the format's.
    """
    if not model.fallback_ids:
        return False
    usual = [vocab.get(f"<0x{byte:02X}>", _binding.NO_ID) for byte in range(256)]
    if model.fallback_ids.tolist() != usual:
        raise ModelError(
            f"its bytes of unknown characters are other tokens than <0x00> to <0xFF>, "
            f"as which {_WHAT} knows them"
        )
    return True


class _Extra:
    """Special and added tokens: the entries of the list, and what goes into vocab.

    The ids in the list count for nothing: an added token has the id that the vocabulary
    gives it, or else the next free one behind the vocabulary's size. Where that is
    another than it should be, the tokens are put into the vocabulary.

    Attributes:
        entries: The list.
        names: Their spelling, by id.
    """

    def __init__(
        self, model: Model, vocab: dict[str, int], ordinary: dict[int, str]
    ) -> None:
        self.entries: list[dict[str, Any]] = []
        self.names: dict[int, str] = {}
        self._model = model
        self._ordinary = ordinary
        listed: list[tuple[str, int]] = []
        for token, number, special in extra_tokens(model):
            content = text_of(token, _WHAT)
            flags = model.flags.get(number, 0)
            self._check(content, number, flags, vocab)
            self.names[number] = content
            if flags & UNMATCHED:
                vocab[content] = number
                continue
            listed.append((content, number))
            self.entries.append(
                {
                    "id": number,
                    "content": content,
                    **{name: bool(flags & flag) for name, flag in _FLAGS.items()},
                    "special": special,
                }
            )
        if not _numbered_right(listed, vocab):
            for content, number in listed:
                self._check_in_vocab(content, number)
                vocab[content] = number

    def _check(
        self, content: str, number: int, flags: int, vocab: dict[str, int]
    ) -> None:
        """Refuse a token that the file would give another id or other bytes."""
        there = vocab.get(content)
        if there not in (None, number):
            raise ModelError(
                f"the special or added token {shown(content)} (id {number}) is spelt "
                f"as the token {there}, and {_WHAT} has one id for both"
            )
        if number in self._ordinary and there is None:
            raise ModelError(
                f"the special or added token {shown(content)} shares the id {number} "
                f"with a token spelt {shown(self._ordinary[number])}, and {_WHAT} has "
                "one spelling for an id"
            )
        if self._model.symbols == CHARACTERS:
            return
        stands_for = _bytes_of(content)
        if flags & UNMATCHED:
            wrong = stands_for is not None
        else:
            wrong = stands_for not in (None, content.encode()) and not flags & ALIAS
        if wrong:
            raise ModelError(
                f"all characters of the token {shown(content)} (id {number}) stand for "
                f"bytes in {_WHAT}: it would decode to {shown(stands_for)}"
            )

    def _check_in_vocab(self, content: str, number: int) -> None:
        """Refuse a token that text could become once it is in the vocabulary.

        As it is matched first, no stretch between added tokens holds it; but it may be
        passed over, or what comes later may make it of other text.
        """
        model = self._model
        if content in self._ordinary.values():
            return
        takes_whole = model.whole_pretoken or model.semantics == RANKS
        may_appear = (
            model.flags.get(number, 0) & (SINGLE_WORD | NORMALIZED)
            or model.normalizers
            or model.split.changes
        )
        if may_appear and (takes_whole or len(content) == 1):
            raise ModelError(
                f"the ids have gaps, so {_WHAT} needs {shown(content)} (id {number}) "
                "in its vocabulary, where other text would become it, too"
            )


def _bytes_of(content: str) -> bytes | None:
    """Return the bytes that the characters of a token stand for, if all do."""
    try:
        return _glyphs.to_bytes(content)
    except UnicodeEncodeError:
        return None


def _numbered_right(tokens: list[tuple[str, int]], vocab: dict[str, int]) -> bool:
    """Tell whether added tokens get their ids without being in the vocabulary."""
    highest = -1
    for content, number in tokens:
        given = vocab.get(content, max(highest + 1, len(vocab)))
        if given != number:
            return False
        highest = max(highest, given)
    return True


def check(job: Job, folder: Path) -> None:
    """Read the file back with tokenizers if it is installed, else with pybpe."""
    tokenizer, path = job.tokenizer, folder / job.names[0]
    tokenizers = optional("tokenizers")
    if tokenizers is None:
        from pybpe.loading import load

        _compare_with_ours(tokenizer, load(path))
        return
    try:
        theirs = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:
        raise ModelError(f"tokenizers cannot read the file: {error}") from None
    compare_tables(_expected(tokenizer), theirs.get_vocab(), "tokenizers")
    added = theirs.get_added_tokens_decoder()
    found = {(number, token.content): token.special for number, token in added.items()}
    listed = _listed(tokenizer)
    # User-defined pieces may be cut out by the pre-tokenizer instead.
    may_lack = {key for key, special in listed.items() if not special} - found.keys()
    if isinstance(tokenizer._model, CodepointModel):
        listed = {key: listed[key] for key in listed if key not in may_lack}
    compare_tables(listed, found, "tokenizers")

    def encode(text: str) -> list[int] | None:
        try:
            ids: list[int] = theirs.encode(text, add_special_tokens=False).ids
        except BaseException as error:
            # It breaks down where added tokens take in the same white space.
            if type(error).__name__ != "PanicException":
                raise
            return None
        return ids

    compare_ids(tokenizer, encode, "tokenizers")
    # Of sentencepiece models, control pieces decode to nothing.
    skip = isinstance(tokenizer._model, CodepointModel)
    compare_decoding(
        tokenizer,
        lambda ids: str(theirs.decode(ids, skip_special_tokens=skip)),
        "tokenizers",
    )
    around = theirs.encode("x", add_special_tokens=True).ids
    compare_tables(
        {"ids around a text": tokenizer.encode("x", add_special_tokens=True)},
        {"ids around a text": around},
        "tokenizers",
    )


def _expected(tokenizer: Tokenizer) -> dict[object, object]:
    """Return spelling -> id of all tokens."""
    model = tokenizer._model
    if isinstance(model, CodepointModel):
        return {piece.decode(): number for number, piece in enumerate(model.pieces())}
    table: dict[object, object] = {
        name: number for number, name in _names(model).items()
    }
    table.update((token.decode(), number) for token, number, _ in extra_tokens(model))
    return table


def _listed(tokenizer: Tokenizer) -> dict[object, object]:
    """Return (id, content) -> whether special, of all added tokens."""
    model = tokenizer._model
    unmatched = (
        set()
        if isinstance(model, CodepointModel)
        else {number for number, flags in model.flags.items() if flags & UNMATCHED}
    )
    return {
        (number, token.decode()): special
        for token, number, special in extra_tokens(model)
        if number not in unmatched
    }


def _compare_with_ours(tokenizer: Tokenizer, read: Tokenizer) -> None:
    """Compare with what pybpe reads, in place of tokenizers.

    Raises:
        ModelError: They differ.
    """
    compare_around(tokenizer, read)
    if isinstance(tokenizer._model, Model):
        compare_tokenizers(tokenizer, read)
        return
    spelt = {**read.vocab, **{t: n for t, n, _ in extra_tokens(read._model)}}
    for number, piece in enumerate(tokenizer._model.pieces()):
        compare_tables({number: piece}, {spelt.get(piece): piece}, "pybpe")
    compare_ids(
        tokenizer, lambda text: read.encode(text, allowed_special="all"), "pybpe"
    )
