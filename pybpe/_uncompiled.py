"""Encoding with a split that does not compile: `regex` cuts, the core merges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pybpe import _binding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pybpe.model import Model


class UncompiledEngine(_binding.Engine):
    """An engine with the same methods and results as the core's own, only slower."""

    __slots__ = ("_cut",)

    def __init__(self, model: Model) -> None:
        """Build the core's model; the split stays in Python."""
        super().__init__(_binding.new_model(model), None)
        self._cut = model.split.ends

    def encode(
        self, data: bytes, match: _binding.CData, forbidden: _binding.CData
    ) -> list[int]:
        """Return the ids of `data`."""
        refused = _binding.find_all(forbidden, data)
        if refused:
            raise _binding.ForbiddenText(refused[0][0])
        ids: list[int] = []
        start = 0
        end_of_text = (len(data), len(data), None)
        for hit, end, number in (*_binding.find_all(match, data), end_of_text):
            if hit > start:
                stretch = data[start:hit]
                ids += self.encode_pretokens(stretch, self._cut(stretch))
            if number is not None:
                ids.append(number)
            start = end
        return ids

    def encode_to_numpy(
        self, data: bytes, match: _binding.CData, forbidden: _binding.CData
    ) -> NDArray[np.uint32]:
        """Return the ids of `data` as an array of shape (n_ids,)."""
        import numpy as np

        return np.array(self.encode(data, match, forbidden), dtype=np.uint32)

    def count(
        self, data: bytes, match: _binding.CData, forbidden: _binding.CData
    ) -> int:
        """Return how many ids `data` has."""
        return len(self.encode(data, match, forbidden))

    def encode_batch(
        self,
        texts: Sequence[bytes],
        match: _binding.CData,
        forbidden: _binding.CData,
    ) -> list[list[int]]:
        """Return the ids of each text."""
        out = []
        for i, text in enumerate(texts):
            try:
                out.append(self.encode(text, match, forbidden))
            except _binding.ForbiddenText as found:
                raise _binding.ForbiddenText(found.position, i) from None
        return out
