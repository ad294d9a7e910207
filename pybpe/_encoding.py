"""From text to ids: the part of the tokenizer that encodes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from pybpe import _engines
from pybpe._engine import ForbiddenText
from pybpe._extras import need_numpy
from pybpe._ids import index
from pybpe._text import all_to_utf8, to_utf8
from pybpe._threads import Portion, in_threads
from pybpe._typing import TYPE_CHECKING
from pybpe.permissions import NONE

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Any, Literal, TypeVar

    import numpy as np
    from numpy.typing import NDArray

    from pybpe._encoded_pieces import EncodedPiece
    from pybpe._engines import AnyEngine, AnyModel
    from pybpe.corpora import EncodingProgress, EncodingReport
    from pybpe.corpora.inputs import Format, Paths
    from pybpe.permissions import Allowed, Disallowed, Permissions, Token

    _T = TypeVar("_T")


class Encoding:
    """What `Tokenizer` does with texts."""

    __slots__ = ()

    # The tokenizer's parts.
    _model: AnyModel
    _engine: AnyEngine
    _permissions: Permissions

    # -------------------------------------------------------------- one text

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
            alpha: 0 (or less) for no dropout, 1 (or more) for characters only.
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

    def encode_with_offsets(
        self,
        text: Token,
        *,
        unit: Literal["bytes", "characters"] | None = None,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the ids of a text, and from where to where in it each one comes.

        Places in bytes are the truth: the bytes from one to the other are the token's
        own, unless it took in white space or a normaliser was at work. Then they are
        those that became the token: all of a character and its marks that were
        composed, none for what was put in. A place in characters is that of the
        character that has the byte: tokens that are parts of one character all have
        the whole of it.

        In a sentencepiece model, of the byte pieces that spell a character all but the
        last stand for no text (as in sentencepiece).

        Args:
            text: As for `encode`.
            unit: What places count: "bytes" of the UTF-8, or "characters" (of bytes
                that are not UTF-8, each that is part of no character is one). None
                for characters of a str, bytes of bytes: so `text[begin:end]` is it.
            allowed_special: As for `encode`.
            disallowed_special: As for `encode`.

        Returns:
            The ids, and as many (begin, end) pairs.

        Raises:
            SpecialTokenError: The text spells a disallowed special token.
            NoOffsetsError: The tokenizer changes this text in a way in which no part
                of it is known to belong to an id; the message says what does. (A
                `ValueError`.)
            TypeError: `text` is neither str nor bytes.
            ValueError: `unit` is something else.
        """
        from pybpe import _spans

        if unit not in (None, "bytes", "characters"):
            raise ValueError(f"unit must be 'bytes' or 'characters', got {unit!r}")
        ids, spans = self._run(
            _spans.encoder(self), text, allowed_special, disallowed_special
        )
        if unit == "bytes" or (unit is None and not isinstance(text, str)):
            return ids, spans
        return ids, _spans.in_characters(spans, text)

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
        need_numpy()
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
            ids = _joined([ids for ids, _ in results], num_threads)
            lengths = [np.diff(starts) for _, starts in results]
            offsets = np.concatenate([np.zeros(1, np.int64), *lengths]).cumsum()
        if add_special_tokens:
            return self._put_around(ids, offsets)
        return ids, offsets

    # -------------------------------------------------------------- files

    def encode_files(
        self,
        paths: Paths,
        folder: str | os.PathLike[str],
        *,
        separator: Token | int | None,
        separator_at: Literal["start", "end"] = "end",
        layout: Literal["shards", "nanogpt", "llm.c", "megatron"] = "shards",
        dtype: str = "auto",
        shard_size: int | None = None,
        val_fraction: float = 0.0,
        format: Format | None = None,
        field: str = "text",
        split_on: Token | None = None,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
        num_threads: int | None = None,
        overwrite: bool = False,
        progress: Callable[[EncodingProgress], object] | None = None,
    ) -> EncodingReport:
        r"""Encode the documents of files into files of ids, for training on.

        The same call again goes on where an earlier one was broken off, by whatever:
        the files are those of one undisturbed run, byte for byte. On a folder that is
        finished it does nothing. Memory does not depend on how large the files are.
        docs/corpora.md has the whole story; numpy must be installed.

        Args:
            paths: Files, folders (all files in them) or patterns such as
                "data/*.jsonl.zst": `.txt`, `.jsonl` or `.ndjson`, `.parquet`, also
                compressed (`.gz`, `.zst`, `.xz`, `.bz2`).
            folder: Where to write: a new or empty folder, or one of the same run.
            separator: The token between documents, by name or id, such as
                "<|endoftext|>"; None for none.
            separator_at: Where in each document it stands.
            layout: "shards" (pybpe's own, see `pybpe.open_shards`), "nanogpt"
                (train.bin), "llm.c" (with its header; also modded-nanogpt's) or
                "megatron" (train.bin and train.idx).
            dtype: What ids are stored as: "uint16", "uint32" ("int32" with "megatron"),
                or "auto" for the smaller that holds all ids.
            shard_size: How many tokens a file has, for "shards" and "llm.c": by default
                a hundred million. A shard ends with the document that reaches it; for
                "llm.c" it has just so many.
            val_fraction: The share of documents that go to files of their own, "val"
                instead of "train". Which ones depends on their numbers alone.
            format: What the files hold, whatever their names.
            field: The field of .jsonl, or the column of .parquet, that holds the text.
            split_on: What stands between two documents of a text file, such as "\n";
                by default each file is a document.
            allowed_special: As for `encode`.
            disallowed_special: As for `encode`: by default documents that spell a
                special token end the run; (), and they are plain text.
            num_threads: How many threads encode; None for all processors. Nothing
                depends on it but speed; one more reads.
            overwrite: Remove what an earlier run has written to the folder, and begin
                anew.
            progress: Called with a `EncodingProgress` at most ten times a second. What
                it raises breaks the run off.

        Returns:
            What there is now, and how quickly it was made.

        Raises:
            CorpusError: An input cannot be read as asked, or the folder holds something
                else; the message has the file, the place and the way out. (A
                `ValueError`.)
            SpecialTokenError: A document spells a special token.
            TypeError: An argument has the wrong type.
            ValueError: It has a value that makes no sense, or ids do not fit `dtype`.
            UnknownTokenError: There is no such separator.
            ImportError: numpy, or what reads such files, is not installed.
            OSError: The system cannot read or write.

        Warns:
            UserWarning: nanoGPT's files got uint32, which its own loader reads wrongly.
        """
        from pybpe.corpora import encode_files

        return encode_files(
            self,  # type: ignore[arg-type]  # which is the public class
            paths,
            folder,
            separator=separator,
            separator_at=separator_at,
            layout=layout,
            dtype=dtype,
            shard_size=shard_size,
            val_fraction=val_fraction,
            format=format,
            field=field,
            split_on=split_on,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            num_threads=num_threads,
            overwrite=overwrite,
            progress=progress,
        )

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

        return in_threads(run, map(_length, items), num_threads)


def _joined(
    parts: list[NDArray[np.uint32]], num_threads: int | None
) -> NDArray[np.uint32]:
    """Return one array of several; threads share in that, too."""
    import numpy as np

    ends = [0, *accumulate(map(len, parts))]
    out = np.empty(ends[-1], np.uint32)

    def copy(portion: Portion) -> None:
        for i in range(*portion):
            out[ends[i] : ends[i + 1]] = parts[i]

    in_threads(copy, map(len, parts), num_threads)
    return out


def _length(text: object) -> int:
    """Return about how long a text is; what is none is refused later."""
    return len(text) if isinstance(text, (str, bytes, bytearray)) else 1
