"""What a tokenizer is made of, as plain data: the parts that are saved and compared.

A `Model` says nothing about how it is used. Training and the readers of files make
one, `Tokenizer` builds its C objects from one, and `model_file` writes and reads it.
"""

from __future__ import annotations

from array import array

from pybpe._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from pybpe.decoders import Decoder
    from pybpe.normalizers import Step
    from pybpe.split import Split

    Provenance = Mapping[str, str | int]

# The two merge semantics; see `Model.semantics`.
RANKS = "ranks"
MERGES = "merges"

# A model has at most so many special tokens, and as many added ones.
MAX_EXTRA = 1 << 20


# What a pretoken is taken apart into before merging; see `Model.symbols`.
BYTES = "bytes"
SOME_BYTES = "some_bytes"
CHARACTERS = "characters"
SYMBOLS = (BYTES, SOME_BYTES, CHARACTERS)

# What is out of the ordinary about a special or added token; see `Model.flags`.
LSTRIP = 1  # the match takes in the white space before it
RSTRIP = 2  # the match takes in the white space after it
SINGLE_WORD = 4  # matches only where no word character stands next to it
NORMALIZED = 8  # matched in the normalized text rather than in the text as given
UNMATCHED = 16  # never matched: the token is decoded only
ALIAS = 32  # its id is an ordinary token's, whose bytes are what the id decodes to
ALL_FLAGS = 63


class Model:
    """A BPE model: vocabulary, merge rules, special tokens and split.

    The constructor only stores: whether tokens and merges fit together is checked
    when a `Tokenizer` is built from the model. The arrays and the provenance belong
    to the model from then on and must not be changed. Models have no equality of
    their own; two of equal content have the same `model_file.fingerprint`.

    Attributes:
        semantics: "ranks" (any two neighbours whose concatenation is a token merge,
            lowest id first) or "merges" (only listed pairs merge, in list order).
        whole_pretoken: Whether a pretoken that is a token is taken whole, before any
            merge.
        token_data: The ordinary tokens' bytes, one after another by ascending id.
        token_lengths: `array("I")`, the length of each token in bytes.
        token_ids: `array("I")`, the id of each token, strictly ascending.
        merges: `array("I")`, flat: left id, right id, left id, right id, ... in rank
            order. Empty under "ranks", where the rank order is the id order.
        merge_ids: `array("I")`, the id that each merge makes.
        special_tokens: (bytes, id) pairs by ascending id: matched by permission only.
        added_tokens: (bytes, id) pairs by ascending id: always matched.
        split: How text is cut into pretokens.
        symbols: "bytes" (all 256 are tokens), "some_bytes" (bytes, of which some are no
            tokens) or "characters" (the tokens are UTF-8).
        unknown: The id of a symbol that is no token; None if such symbols vanish.
        fuse_unknown: Whether several unknown symbols in a row are one id.
        fallback_ids: `array("I")` of 256 ids: what the bytes of an unknown character
            become, unless one is `NO_ID` (0xFFFFFFFF). Empty if there are none.
        word_suffix: What the last symbol of a pretoken is looked up with.
        flags: Id of a special or added token -> sum of flags, where it is not 0.
        normalizers: Changes made to text between special and added tokens.
        text_prefix: Ids put before a text that is encoded with
            `add_special_tokens=True`.
        text_suffix: Ids put behind such a text.
        decoders: What makes text of tokens. None: their bytes are the text.
        provenance: What is known of the model's origin, for people to read. Not part
            of its content.

    Thread safety: immutable, so free to share.
    """

    __slots__ = (
        "added_tokens",
        "decoders",
        "fallback_ids",
        "flags",
        "fuse_unknown",
        "merge_ids",
        "merges",
        "normalizers",
        "provenance",
        "semantics",
        "special_tokens",
        "split",
        "symbols",
        "text_prefix",
        "text_suffix",
        "token_data",
        "token_ids",
        "token_lengths",
        "unknown",
        "whole_pretoken",
        "word_suffix",
    )

    semantics: str
    whole_pretoken: bool
    token_data: bytes
    token_lengths: array[int]
    token_ids: array[int]
    merges: array[int]
    merge_ids: array[int]
    special_tokens: tuple[tuple[bytes, int], ...]
    added_tokens: tuple[tuple[bytes, int], ...]
    split: Split
    symbols: str
    unknown: int | None
    fuse_unknown: bool
    fallback_ids: array[int]
    word_suffix: bytes
    flags: Mapping[int, int]
    normalizers: tuple[Step, ...]
    text_prefix: tuple[int, ...]
    text_suffix: tuple[int, ...]
    decoders: tuple[Decoder, ...]
    provenance: Provenance

    def __init__(
        self,
        *,
        semantics: str,
        whole_pretoken: bool,
        token_data: bytes,
        token_lengths: array[int],
        token_ids: array[int],
        merges: array[int],
        merge_ids: array[int],
        split: Split,
        special_tokens: tuple[tuple[bytes, int], ...] = (),
        added_tokens: tuple[tuple[bytes, int], ...] = (),
        symbols: str = BYTES,
        unknown: int | None = None,
        fuse_unknown: bool = False,
        fallback_ids: array[int] | None = None,
        word_suffix: bytes = b"",
        flags: Mapping[int, int] | None = None,
        normalizers: tuple[Step, ...] = (),
        text_prefix: tuple[int, ...] = (),
        text_suffix: tuple[int, ...] = (),
        decoders: tuple[Decoder, ...] = (),
        provenance: Provenance | None = None,
    ) -> None:
        """Store the parts; see the class for what each one is."""
        put = object.__setattr__
        put(self, "semantics", semantics)
        put(self, "whole_pretoken", whole_pretoken)
        put(self, "token_data", token_data)
        put(self, "token_lengths", token_lengths)
        put(self, "token_ids", token_ids)
        put(self, "merges", merges)
        put(self, "merge_ids", merge_ids)
        put(self, "special_tokens", special_tokens)
        put(self, "added_tokens", added_tokens)
        put(self, "split", split)
        put(self, "symbols", symbols)
        put(self, "unknown", unknown)
        put(self, "fuse_unknown", fuse_unknown)
        put(self, "fallback_ids", array("I") if fallback_ids is None else fallback_ids)
        put(self, "word_suffix", word_suffix)
        put(self, "flags", {} if flags is None else flags)
        put(self, "normalizers", normalizers)
        put(self, "text_prefix", text_prefix)
        put(self, "text_suffix", text_suffix)
        put(self, "decoders", decoders)
        put(self, "provenance", {} if provenance is None else provenance)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: a model is shared by everything built from it."""
        raise AttributeError(f"a Model is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse, as for setting."""
        raise AttributeError(f"a Model is immutable: cannot delete {name!r}")

    @property
    def vocab_size(self) -> int:
        """How many ids there are, special and added tokens included."""
        extra = {number for _, number in (*self.special_tokens, *self.added_tokens)}
        if extra:
            extra.difference_update(self.token_ids)
        return len(self.token_ids) + len(extra)

    def vocab(self) -> dict[bytes, int]:
        """Return the ordinary tokens and ids; of equal tokens the first is there."""
        table: dict[bytes, int] = {}
        start = 0
        for number, length in zip(self.token_ids, self.token_lengths, strict=True):
            table.setdefault(self.token_data[start : start + length], number)
            start += length
        return table

    def __repr__(self) -> str:
        """Say how large the model is."""
        return (
            f"<Model {self.semantics}: {len(self.token_ids)} tokens, "
            f"{len(self.merge_ids)} merges, {len(self.special_tokens)} special and "
            f"{len(self.added_tokens)} added tokens>"
        )
