"""What counts as ids, and how they become a buffer of the core."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NoReturn

from pybpe import _binding
from pybpe.errors import UnknownTokenError


def index(number: object) -> int:
    """Return an id given as any kind of integer.

    Raises:
        TypeError: It is none.
    """
    try:
        return number.__index__()  # type: ignore[attr-defined,no-any-return]
    except AttributeError:
        raise TypeError(f"an id must be an int, got {type(number).__name__}") from None


def id_buffer(ids: Any) -> tuple[Any, int]:
    """Return ids as a uint32 buffer of the core, and their number.

    Raises:
        TypeError: `ids` is not a sequence of integers.
        UnknownTokenError: An id cannot be an id: negative, or above 2^32 - 1.
    """
    if isinstance(ids, (str, bytes, bytearray)):
        raise TypeError(f"ids must be a sequence of ints, got {type(ids).__name__}")
    if isinstance(ids, (int, float)) or not hasattr(ids, "__iter__"):
        raise TypeError(
            f"ids must be a sequence of ints, got {type(ids).__name__}; "
            "for one id, put it into a list"
        )
    try:
        view = memoryview(ids)
    except TypeError:
        pass
    else:
        if view.ndim != 1:
            raise TypeError(f"ids must have one dimension, got {view.ndim}")
        if view.format == "I" and view.contiguous:
            return _binding.id_buffer(view), len(view)
        ids = view.tolist()
    if not isinstance(ids, (list, tuple)):
        # Tensors give plain ints this way, at once.
        ids = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    try:
        numbers = array("I", ids)
    except (TypeError, OverflowError):
        _explain_ids(ids)
    return _binding.id_buffer(numbers), len(numbers)


def _explain_ids(ids: Sequence[Any]) -> NoReturn:
    """Raise for the first item that cannot be an id."""
    for position, number in enumerate(ids):
        try:
            value = number.__index__()
        except AttributeError:
            raise TypeError(
                f"ids must be ints, got {type(number).__name__} at position {position}"
            ) from None
        if not 0 <= value <= 0xFFFFFFFF:
            raise UnknownTokenError(f"no token has id {value} (at position {position})")
    raise TypeError("ids must be a sequence of ints")
