"""What a tokenizer is made of, as plain data: the parts that are saved and compared.

A `Model` says nothing about how it is used. Training and the readers of files make
one, `Tokenizer` builds its C objects from one, and `model_file` writes and reads it.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from pybpe.split import Split

Provenance = Mapping[str, str | int]

# The two merge semantics; see `Model.semantics`.
RANKS = "ranks"
MERGES = "merges"


class Model:
    """A byte-level BPE model: vocabulary, merge rules, special tokens and split.

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
        provenance: What is known of the model's origin, for people to read. Not part
            of its content.

    Thread safety: immutable, so free to share.
    """

    __slots__ = (
        "added_tokens",
        "merge_ids",
        "merges",
        "provenance",
        "semantics",
        "special_tokens",
        "split",
        "token_data",
        "token_ids",
        "token_lengths",
        "whole_pretoken",
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
        put(self, "provenance", {} if provenance is None else provenance)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: a model is shared by everything built from it."""
        raise AttributeError(f"a Model is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse, as for setting."""
        raise AttributeError(f"a Model is immutable: cannot delete {name!r}")

    def __repr__(self) -> str:
        """Say how large the model is."""
        return (
            f"<Model {self.semantics}: {len(self.token_ids)} tokens, "
            f"{len(self.merge_ids)} merges, {len(self.special_tokens)} special and "
            f"{len(self.added_tokens)} added tokens>"
        )
