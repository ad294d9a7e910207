"""The tokenizer: text to ids and back."""

from __future__ import annotations

from pybpe import _engines
from pybpe._decoding import Decoding
from pybpe._encoding import Encoding
from pybpe._fitting import Fitting
from pybpe._ids import index
from pybpe._lookup import Lookup
from pybpe._typing import TYPE_CHECKING
from pybpe.model import Model
from pybpe.permissions import Permissions

if TYPE_CHECKING:
    import os
    from array import array
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import NoReturn

    import tiktoken

    from pybpe._engines import AnyEngine, AnyModel
    from pybpe.codepoint import CodepointModel
    from pybpe.permissions import Token
    from pybpe.split import Split
    from pybpe.training import TrainingReport


class Tokenizer(Encoding, Decoding, Fitting, Lookup):
    """A BPE tokenizer: any text or bytes to ids, and back.

    Make one with `pybpe.train`, `pybpe.load`, `Tokenizer.from_ranks` or
    `Tokenizer.from_merges`.

    >>> tok = Tokenizer.from_merges([(104, 101), (108, 108), (256, 257)], pattern=None)
    >>> tok.encode("hello")
    [258, 111]
    >>> tok.decode([258, 111])
    'hello'

    Its model is byte-level, or one of sentencepiece's of the type BPE, which has the
    same methods and a few more. The differences: such a model works on characters and
    normalises the text, so `decode(encode(text))` is the normalised text; its special
    tokens are the control pieces, its added tokens the user-defined ones; tokens and
    their bytes are the pieces as the file spells them, marks for spaces and `<0x0A>`
    for a byte included.

    Two tokenizers are equal, and hash alike, when their content is (vocabulary, merges,
    special and added tokens, split): see `fingerprint`. They pickle by content.

    Thread and fork safety: a tokenizer never changes, so any number of threads may use
    it at once; the GIL is released while the core works. It may be used before and
    after a fork, in parent and child.
    """

    __slots__ = (
        "__weakref__",
        "_engine",
        "_fingerprint",
        "_lengths",
        "_merges",
        "_model",
        "_permissions",
        "_report",
        "_special_ids",
    )

    def __init__(self, model: AnyModel) -> None:
        """Build from a model's parts; the classmethods are the usual way.

        Raises:
            ModelError: The parts contradict each other.
        """
        put = object.__setattr__
        put(self, "_engine", _engines.new_engine(model))
        put(self, "_model", model)
        added = {} if self._engine.finds_added else dict(_engines.added_tokens(model))
        special = dict(model.special_tokens)
        new_match = self._engine.new_match
        put(self, "_permissions", Permissions(special, added, new_match))
        put(self, "_merges", None)
        put(self, "_fingerprint", None)
        put(self, "_report", None)
        put(self, "_special_ids", None)
        put(self, "_lengths", None)

    # What __init__ puts in place, for type checkers.
    _model: AnyModel
    _engine: AnyEngine
    _permissions: Permissions
    _merges: list[tuple[int, int]] | None
    _fingerprint: str | None
    _report: TrainingReport | None
    _special_ids: frozenset[int] | None
    _lengths: array[int] | None

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: tokenizers are shared between threads."""
        raise AttributeError(f"a Tokenizer is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse, as for setting."""
        raise AttributeError(f"a Tokenizer is immutable: cannot delete {name!r}")

    # -------------------------------------------------------------- making

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        *,
        pattern: str | Split | None,
        special_tokens: Mapping[Token, int] | None = None,
        added_tokens: Mapping[Token, int] | None = None,
    ) -> Tokenizer:
        """Make a tokenizer from tiktoken-style ranks.

        Any two neighbouring parts whose concatenation is a token merge, lowest rank
        first, and a pretoken that is a token is taken whole: tiktoken's rules.

        Args:
            ranks: Each token's bytes and its rank, which is its id. All 256 single
                bytes must be there; ranks may have gaps.
            pattern: A named pattern, a regex, a `Split`, or None for no split.
            special_tokens: Strings and ids of special tokens.
            added_tokens: Strings and ids of tokens that are matched before splitting,
                always and without permission.

        Raises:
            TypeError: A token is not bytes, or a rank is not an int.
            ValueError: The pattern cannot be used, or a limit is passed.
            ModelError: Two tokens share an id, or single bytes are missing.
        """
        from pybpe import vocabulary

        return cls(
            vocabulary.model_from_ranks(
                ranks,
                split=_split(pattern),
                special_tokens=special_tokens,
                added_tokens=added_tokens,
            )
        )

    @classmethod
    def from_merges(
        cls,
        merges: Iterable[tuple[int, int] | tuple[bytes, bytes]],
        *,
        pattern: str | Split | None,
        special_tokens: Mapping[Token, int] | Sequence[Token] | None = None,
        added_tokens: Mapping[Token, int] | None = None,
        byte_order: str = "identity",
        vocab: Mapping[bytes, int] | None = None,
        whole_pretoken: bool = False,
    ) -> Tokenizer:
        """Make a tokenizer from a list of merges in rank order.

        Only the listed pairs merge, lowest rank first, leftmost first.

        Args:
            merges: Pairs of ids, or of token bytes. Without `vocab`, ids 0-255 are the
                bytes and merge i makes id 256 + i.
            pattern: A named pattern, a regex, a `Split`, or None for no split.
            special_tokens: Strings and ids of special tokens; of a sequence of strings,
                the ids are those after the last token's, in the order given.
            added_tokens: Strings and ids of tokens that are matched before splitting,
                always and without permission.
            byte_order: "identity" (byte b has id b) or "gpt2" (the order in which GPT-2
                numbers the bytes). Goes without `vocab` only.
            vocab: The id of every token, where they do not follow from the merges.
            whole_pretoken: Take a pretoken that is a token whole, before any merge
                (Hugging Face's `ignore_merges`).

        Raises:
            TypeError: A merge is not a pair of ints or of bytes.
            ValueError: The pattern or `byte_order` cannot be used.
            ModelError: A merge names a token that does not exist before it.
        """
        from pybpe import vocabulary

        return cls(
            vocabulary.model_from_merges(
                merges,
                split=_split(pattern),
                special_tokens=special_tokens,
                added_tokens=added_tokens,
                byte_order=byte_order,
                vocab=vocab,
                whole_pretoken=whole_pretoken,
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Tokenizer:
        """Make a tokenizer from the contents of a pybpe model file.

        Raises:
            ModelError: The bytes are not a model file, or not an intact one.
        """
        from pybpe import model_file

        return cls(model_file.model_from_bytes(data))

    # -------------------------------------------------------------- saving

    def to_bytes(self) -> bytes:
        """Return the contents of a pybpe model file.

        Equal content with equal provenance gives equal bytes.
        """
        from pybpe import model_file

        return model_file.model_to_bytes(self._model)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a pybpe model file, replacing `path` in one step or not at all.

        Raises:
            OSError: The file cannot be written; what was there is still there.
        """
        from pybpe import model_file

        model_file.save_model(self._model, path)

    def to_tiktoken(self, name: str = "pybpe") -> tiktoken.Encoding:
        """Return an encoding of the package tiktoken with the same ids.

        The package must be installed. What it cannot hold is refused, rather than
        left out: sentencepiece models, added tokens, splits in several stages, changes
        of text, merge lists that mean something else than their ranks. Two differences
        remain: tiktoken knows characters by its own version of Unicode, and it finds
        special tokens that begin alike in no fixed order.

        Args:
            name: What the encoding is to be called.

        Raises:
            ValueError: tiktoken cannot hold the tokenizer; the message says why.
            ImportError: The package is not installed.
        """
        from pybpe.tiktoken import convert

        made: tiktoken.Encoding = convert.to_tiktoken(self, name)
        return made

    def save_as(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        roles: Mapping[str, str] | None = None,
        chat_template: str | None = None,
    ) -> list[str]:
        """Write the tokenizer in another program's format.

        What is written is read back, with that format's own library where it is
        installed, and compared in vocabulary and ids; then the files appear, whole or
        not at all. What a format cannot hold is refused.

        Args:
            path: The file, one of the two of a pair, or the folder (for "hf").
            format: "tiktoken" (a rank file, without split and special tokens),
                "tokenizer.json", "hf" (a folder for `transformers.AutoTokenizer`),
                "minbpe" (`.model` and `.vocab`), "gpt2" (`vocab.json` and `merges.txt`,
                or `encoder.json` and `vocab.bpe`; without split), "sentencepiece",
                "gguf" (the vocabulary alone) or "pybpe". None: what the name says.
            roles: For "hf" and "gguf": which token is "bos", "eos", "unk", "pad",
                "sep", "cls" or "mask". For "hf" it must be a special or an added one.
            chat_template: For "hf": how conversations are written, in Jinja.

        Returns:
            The paths of the files written.

        Raises:
            ModelError: The format cannot hold the tokenizer; the message says why.
            TypeError: An argument is of another type.
            ValueError: The format is unknown or left open, or an option goes with
                another one.
            OSError: A file cannot be written.
        """
        from pybpe import writers

        return writers.write(
            self, path, format, roles=roles, chat_template=chat_template
        )

    def to_sentencepiece(self) -> bytes:
        """Return the contents of sentencepiece's `.model` file.

        Those of a model trained here, `train_sentencepiece`, are the very bytes that
        sentencepiece would have written for the same text and options, but for paths:
        it records `input` and `model_prefix`, and this does not.

        Raises:
            ValueError: This is a byte-level model, which sentencepiece cannot run.
        """
        from pybpe.writers import sentencepiece

        return sentencepiece.model_to_bytes(self._codepoint_model())

    def save_sentencepiece(
        self,
        path: str | os.PathLike[str],
        *,
        vocab_path: str | os.PathLike[str] | None = None,
    ) -> None:
        """Write sentencepiece's `.model` file, in one step or not at all.

        Args:
            path: The file.
            vocab_path: Where to write the `.vocab` file as well, pieces and scores as
                text for people to read.

        Raises:
            OSError: A file cannot be written; what was there is still there.
            ValueError: See `to_sentencepiece`.
        """
        from pybpe._whole_file import whole_file
        from pybpe.formats import sentencepiece_writer

        model = self._codepoint_model()
        files = [(path, self.to_sentencepiece())]
        if vocab_path is not None:
            scores = sentencepiece_writer.has_scores(model)
            text = sentencepiece_writer.vocab_to_bytes(model, scores=scores)
            files.append((vocab_path, text))
        for name, data in files:
            with whole_file(name) as file:
                file.write(data)

    def _codepoint_model(self) -> CodepointModel:
        from pybpe.codepoint import CodepointModel

        if not isinstance(self._model, CodepointModel):
            raise ValueError(
                "a byte-level model cannot be saved for sentencepiece, which joins "
                "characters by scores and knows no split: train_sentencepiece makes "
                "models that can"
            )
        return self._model

    @property
    def fingerprint(self) -> str:
        """The sha256, in hex, of the tokenizer's content; provenance plays no part."""
        if self._fingerprint is None:
            from pybpe import model_file

            object.__setattr__(
                self, "_fingerprint", model_file.fingerprint(self._model)
            )
        assert self._fingerprint is not None  # noqa: S101 - for the type checker
        return self._fingerprint

    @property
    def training_report(self) -> TrainingReport | None:
        """What training did, for a tokenizer that this process trained; else None."""
        return self._report

    def __reduce__(self) -> tuple[Callable[[bytes], Tokenizer], tuple[bytes]]:
        """Pickle by content."""
        return Tokenizer.from_bytes, (self.to_bytes(),)

    def __copy__(self) -> Tokenizer:
        """Return the tokenizer itself: it never changes."""
        return self

    def __deepcopy__(self, memo: object) -> Tokenizer:
        """Return the tokenizer itself: it never changes."""
        return self

    def __eq__(self, other: object) -> bool:
        """Compare content."""
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        """Hash content."""
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        """Say how large the vocabulary is and how text is split."""
        if not isinstance(self._model, Model):
            return f"<pybpe.Tokenizer vocab_size={self.vocab_size} sentencepiece>"
        name = self._model.split.name
        split = repr(name if name is not None else self.pattern)
        split = split if len(split) < 60 else split[:56] + "...'"
        return f"<pybpe.Tokenizer vocab_size={self.vocab_size} pattern={split}>"

    # -------------------------------------------------------------- editing

    def truncate(self, vocab_size: int) -> Tokenizer:
        """Return the tokenizer that training to a smaller size would have given.

        >>> pairs = [(104, 101), (108, 108), (256, 257)]
        >>> tok = Tokenizer.from_merges(pairs, pattern=None, special_tokens=["<s>"])
        >>> tok.truncate(258).encode("hello<s>", allowed_special="all")
        [256, 108, 108, 111, 257]

        Tokens that no merge makes stay (the single bytes above all), and so do special
        and added tokens; of the others those stay that come first: by rank, or in the
        order in which the list of merges makes them. Ids keep their order and become
        dense, so special tokens that had the ids after the last merge still have them:
        `train(texts, 4000, ...).truncate(1000)` equals `train(texts, 1000, ...)`.

        Args:
            vocab_size: How many ids there shall be, with special and added tokens, as
                for `train`.

        Returns:
            The new tokenizer; `row_map(tok, new)` says which rows of matrices it has.

        Raises:
            TypeError: `vocab_size` is not an int.
            ValueError: It is more than there are, or less than what must stay; or the
                model is sentencepiece's.
        """
        from pybpe import editing

        return editing.truncate(self, vocab_size)

    def prune(self, keep: Iterable[int], *, keep_special: bool = True) -> Tokenizer:
        """Return the tokenizer of some tokens only, and of what these are made from.

        >>> tok = Tokenizer.from_merges(
        ...     [(104, 101), (108, 108), (256, 257), (119, 101)], pattern=None
        ... )
        >>> tok.prune([258]).encode("hello we")  # the first three merges, not the last
        [258, 111, 32, 119, 101]

        Beside the tokens asked for there stay the single bytes, what the model names
        (an unknown token, ids for bytes, ids put around texts), and all that a token
        that stays is merged from, so that whatever text became that token by itself
        still does. Other text becomes what the remaining merges make of it. A token
        that merges did not make before is kept for decoding, and as a pretoken where
        these are taken whole. Ids keep their order and become dense.

        Args:
            keep: The ids to keep: any iterable of ints, or an integer array.
            keep_special: Whether all special and added tokens stay, too; if not, those
                that `keep` holds, and those the model names.

        Returns:
            The new tokenizer; `row_map(tok, new)` says which rows of matrices it has,
            and so what stays beside `keep`.

        Raises:
            TypeError: `keep` is not an iterable of ints.
            UnknownTokenError: No token has an id of `keep`.
            ValueError: The model is sentencepiece's.
        """
        from pybpe import editing

        return editing.prune(self, keep, keep_special=keep_special)

    def add_special_tokens(
        self, tokens: Mapping[Token, int] | Iterable[Token]
    ) -> Tokenizer:
        """Return a tokenizer with further special tokens; no other id changes.

        >>> tok = Tokenizer.from_merges([(104, 101)], pattern=None)
        >>> tok.add_special_tokens(["<s>", "</s>"]).special_tokens
        {'<s>': 257, '</s>': 258}
        >>> tok.add_special_tokens({"<s>": 300}).n_vocab
        301

        Pass all at once: each call builds everything anew. An ordinary token becomes a
        special one, too, if a mapping gives its own id to it. In a sentencepiece model
        the tokens are control pieces, whose ids follow the last piece's without gaps.

        Args:
            tokens: A list of strings, which get ids from `n_vocab` on in the order
                given, or a mapping from strings to ids. At most 1,048,576 with those
                that are there.

        Raises:
            TypeError: Not a list or mapping of str or bytes (to ints).
            ValueError: A token is empty, comes twice or is there already, or an id is
                taken; the message names it.
        """
        from pybpe import editing

        return editing.add_special_tokens(self, tokens)

    # -------------------------------------------------------------- memory

    def with_cache_size(self, size: int) -> Tokenizer:
        """Return an equal tokenizer whose caches take up to `size` bytes each.

        A tokenizer remembers the ids of pretokens that it has met, in one cache for
        each call that runs at the same time; they stay until the tokenizer goes. The
        usual size is 20 MB; `docs/performance.md` has what other sizes do to speed.

        Args:
            size: In bytes, at least 0. Sizes are rounded down to a power of two times
                80 KB, the least there is.

        Raises:
            TypeError: `size` is not an int.
            ValueError: It is negative, or above 4 GB.
        """
        number = index(size, "size")
        if not 0 <= number <= 1 << 32:
            raise ValueError(f"size must be between 0 and 2^32 bytes, got {number}")
        return self._with("_engine", self._engine.with_cache_size(number))

    def _with(self, part: str, value: object) -> Tokenizer:
        """Return a copy in which one of the slots holds something else."""
        other = object.__new__(Tokenizer)
        for name in Tokenizer.__slots__:
            if name != "__weakref__":
                object.__setattr__(other, name, getattr(self, name))
        object.__setattr__(other, part, value)
        return other


def _split(pattern: str | Split | None) -> Split:
    from pybpe.split import Split

    return Split.from_pattern(pattern)
