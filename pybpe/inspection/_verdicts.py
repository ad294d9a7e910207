"""What can be said of the ids of a vocabulary: how texts get them, or why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
