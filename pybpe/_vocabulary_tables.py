"""Tables with an entry for every id of a model."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from pybpe import _binding
from pybpe._extras import need_numpy
from pybpe.model import Model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pybpe._engines import AnyModel


def token_bytes_list(model: AnyModel, n_vocab: int) -> list[bytes]:
    """Return the bytes that each id stands for, b"" where it stands for nothing."""
    if not isinstance(model, Model):
        return model.pieces()
    table = [b""] * n_vocab
    for token, number in _binding._decoded_extra(model):
        table[number] = token
    start = 0
    for number, length in zip(model.token_ids, model.token_lengths, strict=True):
        table[number] = model.token_data[start : start + length]
        start += length
    return table


def token_byte_lengths(model: AnyModel, n_vocab: int) -> NDArray[np.uint32]:
    """Return how many bytes each id stands for, 0 where it stands for nothing."""
    need_numpy()
    import numpy as np

    if not isinstance(model, Model):
        return np.array(model.piece_lengths, np.uint32)
    table = np.zeros(n_vocab, np.uint32)
    for token, number in _binding._decoded_extra(model):
        table[number] = len(token)
    table[np.array(model.token_ids, np.int64)] = model.token_lengths
    return table


def lengths(model: AnyModel, n_vocab: int) -> array[int]:
    """Return `token_byte_lengths` without numpy: for the package's own use."""
    return array("I", map(len, token_bytes_list(model, n_vocab)))
