"""The tokenizer: text to ids and back."""

from __future__ import annotations

from collections.abc import Iterable

from pybpe import _engines
from pybpe._engine import ForbiddenText
from pybpe._ids import check_errors, id_buffer, index
from pybpe._text import all_to_utf8, to_utf8
from pybpe._threads import Portion, in_threads, portions
from pybpe._typing import TYPE_CHECKING
from pybpe.errors import UnknownTokenError
from pybpe.model import Model
from pybpe.permissions import NONE, Permissions, as_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn, TypeVar

    import numpy as np
    from numpy.typing import NDArray

    from pybpe._encoded_pieces import EncodedPiece
    from pybpe._engines import AnyEngine, AnyModel
    from pybpe.permissions import Allowed, Disallowed, Token
    from pybpe.split import Split
    from pybpe.training import TrainingReport

    _T = TypeVar("_T")


class Tokenizer:
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
        "_merges",
        "_model",
        "_permissions",
        "_report",
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

    # What __init__ puts in place, for type checkers.
    _model: AnyModel
    _engine: AnyEngine
    _permissions: Permissions
    _merges: list[tuple[int, int]] | None
    _fingerprint: str | None
    _report: TrainingReport | None

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

    # -------------------------------------------------------------- vocabulary

    @property
    def vocab_size(self) -> int:
        """How many ids there are, special and added tokens included."""
        return self._model.vocab_size

    @property
    def n_vocab(self) -> int:
        """The highest id + 1: more than `vocab_size` where ids have gaps."""
        return self._engine.n_vocab

    @property
    def vocab(self) -> dict[bytes, int]:
        """The ordinary tokens' bytes and ids, by ascending id, as a new dict.

        This is what tiktoken calls mergeable ranks. Of tokens with equal bytes, which
        only a merge list can have, the first is there.
        """
        return self._model.vocab()

    @property
    def special_tokens(self) -> dict[Token, int]:
        """Special tokens and ids, by ascending id; bytes stand for non-UTF-8 ones."""
        return {as_text(token): number for token, number in self._model.special_tokens}

    @property
    def added_tokens(self) -> dict[Token, int]:
        """Added tokens and ids, by ascending id; bytes stand for non-UTF-8 ones."""
        tokens = _engines.added_tokens(self._model)
        return {as_text(token): number for token, number in tokens}

    @property
    def split(self) -> Split:
        """The split; `split.compiled` says whether it runs in the core."""
        return self._model.split

    @property
    def pattern(self) -> str | tuple[str, ...] | None:
        """The split's regex; several for a split in stages, None for no split."""
        patterns = tuple(stage.pattern for stage in self._model.split.stages)
        if len(patterns) < 2:
            return patterns[0] if patterns else None
        return patterns

    @property
    def merges(self) -> list[tuple[int, int]]:
        """The (left id, right id) pairs in rank order.

        A tokenizer made from ranks has none of its own. For it, each token is merged
        with the ranks below its own, and the two parts that are left are its pair;
        tokens that no merge makes have no pair.

        Raises:
            ValueError: The model is sentencepiece's: scores of pieces decide there.
        """
        if self._merges is None:
            found = _engines.find_merges(self._model, self._engine)
            object.__setattr__(self, "_merges", found)
        assert self._merges is not None  # noqa: S101 - for the type checker
        return list(self._merges)

    def token_bytes(self, number: int) -> bytes:
        """Return the bytes of one token.

        Raises:
            UnknownTokenError: No token has this id.
        """
        token = self._engine.token_bytes(index(number))
        if token is None:
            raise UnknownTokenError(f"no token has id {number}")
        return token

    def token_id(self, token: Token) -> int:
        """Return the id of an ordinary, added or special token.

        Raises:
            UnknownTokenError: The vocabulary does not have it.
        """
        data = to_utf8(token, "token")
        number = self._engine.find_token(data) if data else None
        if number is None:
            extra = (*self._model.special_tokens, *self._model.added_tokens)
            number = dict(extra).get(data)
        if number is None:
            raise UnknownTokenError(f"{token!r} is not in the vocabulary")
        return number

    @property
    def training_report(self) -> TrainingReport | None:
        """What training did, for a tokenizer that this process trained; else None."""
        return self._report

    # -------------------------------------------------------------- encoding

    def encode(
        self,
        text: Token,
        *,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
        add_special_tokens: bool = False,
    ) -> list[int]:
        """Return the ids of a text.

        Special tokens become their ids only where `allowed_special` names them. Text
        that spells one of `disallowed_special` raises, so that a special token never
        gets in by accident. Added tokens are always matched.

        Args:
            text: Text, or bytes of any kind; bytes that are not UTF-8 keep their value.
                Lone surrogates in a str count as U+FFFD.
            allowed_special: The special tokens to match, or "all".
            disallowed_special: The strings to refuse; "all" means every special token
                not allowed, () nothing: then special tokens are encoded as plain text.
            add_special_tokens: Whether to put the ids before and behind the text that
                the model was given for it (`text_prefix`, `text_suffix`); often the
                first is that of a begin-of-text token. Most models have none. A
                sentencepiece file does not say: with it, the `<s>` is put in front
                if there is one, and nothing behind (as Llama and Mistral do).

        Raises:
            SpecialTokenError: The text spells a disallowed special token.
            TypeError: `text` is neither str nor bytes.
        """
        ids = self._run(self._engine.encode, text, allowed_special, disallowed_special)
        if not add_special_tokens:
            return ids
        return [*self._model.text_prefix, *ids, *self._model.text_suffix]

    def encode_ordinary(self, text: Token) -> list[int]:
        """Return the ids of a text in which special tokens are nothing special."""
        return self.encode(text, disallowed_special=())

    def encode_to_numpy(
        self,
        text: Token,
        *,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
        add_special_tokens: bool = False,
    ) -> NDArray[np.uint32]:
        """Return the ids of a text as a `uint32` array of shape (n_ids,).

        Otherwise the same as `encode`; numpy must be installed.
        """
        ids = self._run(
            self._engine.encode_to_numpy, text, allowed_special, disallowed_special
        )
        if not add_special_tokens:
            return ids
        import numpy as np

        prefix, suffix = self._model.text_prefix, self._model.text_suffix
        return np.concatenate([prefix, ids, suffix], dtype=np.uint32, casting="unsafe")

    def count(
        self,
        text: Token,
        *,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
        add_special_tokens: bool = False,
    ) -> int:
        """Return how many ids `encode` would give, without making a list of them."""
        n = self._run(self._engine.count, text, allowed_special, disallowed_special)
        if not add_special_tokens:
            return n
        return n + len(self._model.text_prefix) + len(self._model.text_suffix)

    def _run(
        self,
        method: Callable[[bytes, Any, Any], _T],
        text: Token,
        allowed: Allowed,
        disallowed: Disallowed,
    ) -> _T:
        """Call a method of the engine with the matchers that the permissions need."""
        data = to_utf8(text)
        match, forbidden = self._permissions.matchers(allowed, disallowed)
        try:
            return method(data, match, forbidden)
        except ForbiddenText as found:
            raise self._permissions.refusal(data, found, allowed, disallowed) from None

    def encode_with_dropout(
        self,
        text: Token,
        alpha: float,
        seed: int,
        *,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[int]:
        """Return the ids of a text under BPE-dropout: for sentencepiece models only.

        Each join that is due is left out with probability `alpha`. The same seed gives
        the same ids; they are not those that sentencepiece draws at random.

        Args:
            text: As for `encode`.
            alpha: 0 for no dropout, 1 for characters only.
            seed: Any int; its low 64 bits count.
            allowed_special: As for `encode`.
            disallowed_special: As for `encode`.

        Raises:
            ValueError: The model is byte-level, or `alpha` is not a finite number.
            SpecialTokenError: The text spells a disallowed special token.
        """
        engine = _engines.piece_engine(self._engine, "encode_with_dropout")
        alpha, seed = float(alpha), index(seed, "a seed")

        def method(data: bytes, match: Any, forbidden: Any) -> list[int]:
            return engine.encode_with_dropout(
                data, match, forbidden, alpha=alpha, seed=seed
            )

        return self._run(method, text, allowed_special, disallowed_special)

    def encode_with_pieces(self, text: Token) -> list[EncodedPiece]:
        """Return ids, pieces and places of a text: for sentencepiece models only.

        Special tokens are nothing special, as for `encode_ordinary`. Places count
        characters of a str, bytes of bytes, before normalisation.

        Raises:
            ValueError: The model is byte-level.
            TypeError: `text` is neither str nor bytes.
        """
        engine = _engines.piece_engine(self._engine, "encode_with_pieces")
        found = engine.encode_with_pieces(data := to_utf8(text))
        if not isinstance(text, str):
            return found
        from pybpe._encoded_pieces import in_characters

        return in_characters(found, text, data)

    def encode_batch(
        self,
        texts: Iterable[Token],
        *,
        num_threads: int | None = None,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
        add_special_tokens: bool = False,
    ) -> list[list[int]]:
        """Return the ids of each text, as `encode` gives them.

        Args:
            texts: Any iterable of texts; a bare str or bytes is refused.
            num_threads: How many threads to use; None for the machine's cores when the
                batch is large enough to gain from them.
            allowed_special: As for `encode`.
            disallowed_special: As for `encode`.
            add_special_tokens: As for `encode`.

        Raises:
            SpecialTokenError: A text spells a disallowed special token; the message
                says which text.
            TypeError: An item is neither str nor bytes; the message says which.
        """
        results = self._run_batch(
            self._engine.encode_batch,
            texts,
            num_threads,
            allowed_special,
            disallowed_special,
        )
        rows = [ids for result in results for ids in result]
        prefix, suffix = self._model.text_prefix, self._model.text_suffix
        if not add_special_tokens or not (prefix or suffix):
            return rows
        return [[*prefix, *ids, *suffix] for ids in rows]

    def encode_batch_to_numpy(
        self,
        texts: Iterable[Token],
        *,
        num_threads: int | None = None,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
        add_special_tokens: bool = False,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the ids of all texts in one array, and where each text's begin.

        Takes the arguments of `encode_batch` and raises what it raises; numpy must be
        installed. It is the quickest way to encode many texts: no list is made.

        Returns:
            ids: `uint32`, shape (n_ids,): the ids of the first text, then those of the
                second, and so on.
            offsets: `int64`, shape (n_texts + 1,): text i has
                `ids[offsets[i]:offsets[i + 1]]`.
        """
        import numpy as np

        results = self._run_batch(
            self._engine.encode_batch_to_numpy,
            texts,
            num_threads,
            allowed_special,
            disallowed_special,
        )
        if len(results) == 1:
            ids, offsets = results[0]
        else:
            ids = np.concatenate([np.empty(0, np.uint32), *(ids for ids, _ in results)])
            lengths = [np.diff(starts) for _, starts in results]
            offsets = np.concatenate([np.zeros(1, np.int64), *lengths]).cumsum()
        if add_special_tokens:
            return self._put_around(ids, offsets)
        return ids, offsets

    def _put_around(
        self, ids: NDArray[np.uint32], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Put what `add_special_tokens` asks for before and behind each text's ids."""
        import numpy as np

        prefix = np.array(self._model.text_prefix, np.uint32)
        suffix = np.array(self._model.text_suffix, np.uint32)
        n_more = len(prefix) + len(suffix)
        if not n_more or len(offsets) == 1:
            return ids, offsets
        moved = offsets + n_more * np.arange(len(offsets), dtype=np.int64)
        out = np.empty(moved[-1], np.uint32)
        own = np.ones(len(out), np.bool_)
        for i, token_id in enumerate(prefix):
            out[moved[:-1] + i] = token_id
            own[moved[:-1] + i] = False
        for i, token_id in enumerate(suffix):
            out[moved[1:] - len(suffix) + i] = token_id
            own[moved[1:] - len(suffix) + i] = False
        out[own] = ids
        return out, moved

    def _run_batch(
        self,
        method: Callable[[list[bytes], Any, Any], _T],
        texts: Iterable[Token],
        num_threads: int | None,
        allowed: Allowed,
        disallowed: Disallowed,
    ) -> list[_T]:
        """Call a method of the engine on contiguous portions of the texts, in order."""
        if not isinstance(texts, Iterable):
            raise TypeError(
                f"texts must be an iterable of texts, got {type(texts).__name__}"
            )
        if isinstance(texts, (str, bytes, bytearray, memoryview)):
            raise TypeError(
                f"texts must be an iterable of texts, got one {type(texts).__name__}: "
                "use encode, or put it into a list"
            )
        items = list(texts)
        permissions = self._permissions
        match, forbidden = permissions.matchers(allowed, disallowed)

        def run(portion: Portion) -> _T:
            # Texts become UTF-8 here, so that threads share in that, too.
            data = all_to_utf8(items, *portion)
            try:
                return method(data, match, forbidden)
            except ForbiddenText as found:
                at = found.index or 0
                found.index = at + portion[0]
                raise permissions.refusal(
                    data[at], found, allowed, disallowed
                ) from None

        return in_threads(run, portions(map(_length, items)), num_threads)

    @property
    def text_prefix(self) -> tuple[int, ...]:
        """The ids that `add_special_tokens=True` puts before a text."""
        return self._model.text_prefix

    @property
    def text_suffix(self) -> tuple[int, ...]:
        """The ids that `add_special_tokens=True` puts behind a text."""
        return self._model.text_suffix

    # -------------------------------------------------------------- decoding

    def decode_bytes(self, ids: Sequence[int] | NDArray[np.integer[Any]]) -> bytes:
        """Return the bytes of a sequence of ids: exact, for any ids.

        Args:
            ids: A sequence of ints, or a one-dimensional array of any integer type.

        Raises:
            UnknownTokenError: An id is not in the vocabulary; the message names it and
                its position.
            TypeError: `ids` is not a sequence of integers.
        """
        buffer, n = id_buffer(ids)
        return self._engine.decode(buffer, n)

    def decode(
        self, ids: Sequence[int] | NDArray[np.integer[Any]], errors: str = "replace"
    ) -> str:
        """Return the text of a sequence of ids.

        A sequence that ends or begins inside a character has no exact text: with
        errors="replace" U+FFFD stands for the broken part. `decode_bytes` is exact.

        Args:
            ids: As for `decode_bytes`.
            errors: What to do with bytes that are not UTF-8, as for `bytes.decode`.
        """
        check_errors(errors)
        buffer, n = id_buffer(ids)
        return self._engine.decode_text(buffer, n, errors)

    def decode_batch(
        self,
        batch: Iterable[Sequence[int] | NDArray[np.integer[Any]]],
        *,
        errors: str = "replace",
        num_threads: int | None = None,
    ) -> list[str]:
        """Return the text of each sequence of ids, as `decode` gives it.

        Raises:
            UnknownTokenError: As for `decode`; the message says in which sequence.
            TypeError: An item is not a sequence of integers; the message says which.
        """
        check_errors(errors)
        given: object = batch
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise TypeError(
                "batch must be an iterable of sequences of ids, got "
                f"{type(batch).__name__}"
            )
        rows = [id_buffer(ids, f"batch[{i}]") for i, ids in enumerate(batch)]

        def decode_portion(portion: Portion) -> list[str]:
            first, last = portion
            return [self._decode_row(i, *rows[i], errors) for i in range(first, last)]

        shares = portions([n for _, n in rows])
        results = in_threads(decode_portion, shares, num_threads)
        return [text for result in results for text in result]

    def _decode_row(self, i: int, buffer: Any, n: int, errors: str) -> str:
        try:
            return self._engine.decode_text(buffer, n, errors)
        except UnknownTokenError as error:
            raise UnknownTokenError(f"batch[{i}]: {error}") from None


def _length(text: object) -> int:
    """Return about how long a text is; what is none is refused later."""
    return len(text) if isinstance(text, (str, bytes, bytearray)) else 1


def _split(pattern: str | Split | None) -> Split:
    from pybpe.split import Split

    return Split.from_pattern(pattern)
