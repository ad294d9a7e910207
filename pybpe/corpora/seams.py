"""Where a text can be parted so that its ids are those of both parts.

At a seam a pretoken ends, whatever stands before and behind, and no string that is
looked for reaches across.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pybpe import _binding, _engines, _pipeline
from pybpe._binding_training import Seams
from pybpe.model import Model

if TYPE_CHECKING:
    from pybpe.permissions import Allowed, Disallowed
    from pybpe.tokenizer import Tokenizer

# Returns the last seam strictly inside a portion of a text, or 0.
LastSeam = Callable[[bytes], int]


def seam_finder(
    tokenizer: Tokenizer, allowed: Allowed, disallowed: Disallowed
) -> LastSeam | None:
    """Return what finds the last seam in a portion of a text; None if nothing can.

    Args:
        tokenizer: What the text will be encoded with.
        allowed: The special tokens that are looked for in it.
        disallowed: Those that are refused in it.
    """
    model = tokenizer._model
    if not isinstance(model, Model) or _pipeline.changes_text(model):
        return None
    may, must_not = tokenizer._permissions._resolve(allowed, disallowed)
    added = {token for token, _ in _engines.added_tokens(model)}
    split = _binding.new_split(model.split.stages)
    seams = Seams(split, sorted(may | must_not | added))
    return seams.last if seams else None
