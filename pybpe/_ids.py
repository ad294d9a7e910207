"""What counts as ids, and how they become a buffer of the core."""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Mapping, Set

from pybpe import _binding
from pybpe._typing import TYPE_CHECKING
from pybpe.errors import UnknownTokenError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn


def index(number: object, what: str = "an id") -> int:
    """Return an id, or something else, given as any kind of integer.

    Raises:
        TypeError: It is none.
    """
    try:
        return number.__index__()  # type: ignore[attr-defined,no-any-return]
    except AttributeError:
        raise TypeError(f"{what} must be an int, got {type(number).__name__}") from None


def check_errors(errors: str) -> None:
    """Refuse a name that `bytes.decode` would only refuse when it needs it.

    Raises:
        ValueError: Naming some that there are.
    """
    try:
        codecs.lookup_error(errors)
    except LookupError:
        raise ValueError(
            f"errors must be 'replace', 'strict', 'ignore' or another name that "
            f"bytes.decode knows, got {errors!r}"
        ) from None


def id_buffer(ids: Any, what: str = "ids") -> tuple[Any, int]:
    """Return ids as a uint32 buffer of the core, and their number.

    Args:
        ids: A sequence or an iterator of integers, or a one-dimensional array.
        what: What to call the argument in an error.

    Raises:
        TypeError: `ids` is something else.
        UnknownTokenError: An id cannot be an id: negative, or above 2^32 - 1.
    """
    if not isinstance(ids, (list, tuple)):
        _check_kind(ids, what)
    try:
        view = memoryview(ids)
    except TypeError:
        pass
    else:
        if view.ndim != 1:
            raise TypeError(f"{what} must have one dimension, got {view.ndim}")
        if view.format == "?" or (isinstance(ids, memoryview) and view.itemsize == 1):
            raise TypeError(f"{what} must be integers, got a buffer of {view.format!r}")
        if view.format == "I":
            # A copy: the caller's other threads may change theirs, and it may lie at
            # an address that is no multiple of four.
            numbers = array("I", view.tobytes())
            return _binding.id_buffer(numbers), len(numbers)
    if not isinstance(ids, (list, tuple)):
        # Arrays and tensors give plain ints this way, at once.
        ids = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    try:
        numbers = array("I", ids)
    except (TypeError, OverflowError):
        _explain_ids(ids, what)
    return _binding.id_buffer(numbers), len(numbers)


def _check_kind(ids: object, what: str) -> None:
    """Refuse what holds no ids, or not in an order of the caller's.

    Raises:
        TypeError: It is such a thing.
    """
    if isinstance(ids, (str, bytes, bytearray, Set, Mapping)):
        raise TypeError(f"{what} must be a sequence of ints, got {type(ids).__name__}")
    if isinstance(ids, (int, float)) or not hasattr(ids, "__iter__"):
        raise TypeError(
            f"{what} must be a sequence of ints, got {type(ids).__name__}; "
            "for one id, put it into a list"
        )


def _explain_ids(ids: Sequence[Any], what: str) -> NoReturn:
    """Raise for the first item that cannot be an id."""
    for position, number in enumerate(ids):
        try:
            value = number.__index__()
        except AttributeError:
            raise TypeError(
                f"{what} must be ints, got {type(number).__name__} at position "
                f"{position}"
            ) from None
        if not 0 <= value <= 0xFFFFFFFF:
            # Python refuses to write out integers of very many digits.
            shown = value if abs(value) < 1 << 128 else hex(value)[:20] + "..."
            row = "" if what == "ids" else f"{what}: "
            raise UnknownTokenError(
                f"{row}no token has id {shown} (at position {position})"
            )
    raise TypeError(f"{what} must be a sequence of ints")
