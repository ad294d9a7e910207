"""The options of training: checked, and put together to what training starts from."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, TypedDict

from pybpe import _binding_training as core
from pybpe._initial import check_initial, pairs_model
from pybpe._text import to_utf8
from pybpe.byte_order import NAMES, bytes_in_order
from pybpe.model import MAX_EXTRA, MERGES, UNMATCHED, Model

if TYPE_CHECKING:
    from pybpe.split import PatternLike, Split
    from pybpe.tokenizer import Tokenizer

Token = str | bytes
Extra = tuple[tuple[bytes, int], ...]


class Default(str):
    """The default of an option, which can be told from the same value given."""

    __slots__ = ()


PATTERN = Default("cl100k")
BYTE_ORDER = Default("identity")


class Given(TypedDict):
    """The options as the caller gave them; see `pybpe.train` for what each one is."""

    vocab_size: int | None
    num_merges: int | None
    pattern: PatternLike
    special_tokens: Iterable[Token]
    protected: Iterable[Token]
    tie_break: str
    byte_order: str
    min_frequency: int
    max_token_bytes: int | None
    initial: Tokenizer | None
    snapshots: Iterable[int]


class Options:
    """The options of training, checked.

    Attributes:
        start: What there is before the first merge: single bytes, or an initial model.
        special: The special tokens and ids that the initial model does not have.
        protected: The added ones.
        cut_out: What is cut out of texts before they are split.
        first_id: The id that the first merge makes.
        n_merges: How many merges to learn.
        vocab_size: How many ids there are with them.
        stop_reason: What to say when all were learnt.
        snapshots: Sizes between.
        asked: The options as provenance.
    """

    def __init__(self, given: Given) -> None:
        """Check the options, each by itself and then together.

        Raises:
            TypeError: One has the wrong type, or not exactly one of two was given.
            ValueError: One has a value that makes no sense.
        """
        tie_break: object = given["tie_break"]
        pattern = given["pattern"]
        if not isinstance(tie_break, str) or tie_break not in core.TIES:
            raise ValueError(
                f"tie_break must be one of {', '.join(core.TIES)}, got {tie_break!r}"
            )
        self.ties = core.TIES[tie_break]
        self.min_frequency = integer(
            given["min_frequency"], "min_frequency", 1, 2**64 - 1
        )
        self.max_token_bytes = 0
        if given["max_token_bytes"] is not None:
            self.max_token_bytes = integer(
                given["max_token_bytes"],
                "max_token_bytes",
                1,
                2**32 - 1,
                "None sets no limit",
            )
        initial = given["initial"]
        self.initial = None if initial is None else check_initial(initial)
        self._set_start(given["byte_order"])
        default = self.initial is not None and pattern is PATTERN
        self.split: Split = self.start.split if default else _split(pattern)
        self._set_extra(given)
        self._set_sizes(given)
        self.asked: dict[str, str | int] = {
            "tie_break": tie_break,
            "byte_order": self.byte_order,
            "min_frequency": self.min_frequency,
        }
        if self.max_token_bytes:
            self.asked["max_token_bytes"] = self.max_token_bytes
        if self.initial is not None:
            self.asked["initial"] = self.initial.fingerprint
            self.asked["initial_vocab_size"] = self.initial.vocab_size

    def _set_start(self, byte_order: str) -> None:
        if self.initial is None:
            # A `Default` would not be saved as a plain str.
            self.byte_order = str(byte_order)
            self.start = _bytes_model(byte_order)
            self.first_id = 256
            return
        self.start = pairs_model(self.initial)
        self.first_id = self.initial.n_vocab
        self.byte_order = next(filter(self._has_order, NAMES), "of initial")
        if byte_order is not BYTE_ORDER:
            bytes_in_order(byte_order)
            if byte_order != self.byte_order:
                raise ValueError(
                    f"byte_order={byte_order!r} is not that of initial, whose ids stay "
                    "as they are: leave it out"
                )

    def _has_order(self, name: str) -> bool:
        order, start = bytes_in_order(name), self.start
        return (
            start.token_data[:256] == order
            and start.token_ids[:256] == array("I", range(256))
            and start.token_lengths[:256] == array("I", [1]) * 256
        )

    def _set_extra(self, given: Given) -> None:
        """Tell the new special and protected tokens from those that are there."""
        start = self.start
        special = _strings(given["special_tokens"], "special_tokens")
        protected = _strings(given["protected"], "protected")
        for token in protected:
            if token in special:
                raise ValueError(
                    f"{_shown(token)} cannot be both protected and a special token"
                )
        old_special, old_added = dict(start.special_tokens), dict(start.added_tokens)
        for tokens, name, other, kind in (
            (special, "special_tokens", old_added, "an added"),
            (protected, "protected", old_special, "a special"),
        ):
            for token in tokens:
                if token in other:
                    raise ValueError(
                        f"{name}: {_shown(token)} is {kind} token of initial already"
                    )
        self.special = [token for token in special if token not in old_special]
        self.protected = [token for token in protected if token not in old_added]
        self.cut_out = [
            *self.special,
            *self.protected,
            *(
                token
                for token, number in (*start.special_tokens, *start.added_tokens)
                if not start.flags.get(number, 0) & UNMATCHED
            ),
        ]

    def _set_sizes(self, given: Given) -> None:
        vocab_size, num_merges = given["vocab_size"], given["num_merges"]
        if (vocab_size is None) == (num_merges is None):
            raise TypeError(
                "give vocab_size or num_merges"
                + ("" if vocab_size is None else ", not both")
            )
        base = self.start.vocab_size
        n_extra = len(self.special) + len(self.protected)
        self.least = base + n_extra
        # The highest id counts, and there may be gaps below it.
        most = core.MAX_VOCAB_SIZE - (self.first_id - base)
        if self.least > most:
            raise ValueError(f"{self.least} tokens before the first merge are too many")
        always = self._always_there()
        if num_merges is not None:
            number = integer(num_merges, "num_merges", 0, most - self.least)
            self.vocab_size = self.least + number
            self.stop_reason = "num_merges reached"
        else:
            self.vocab_size = integer(
                vocab_size, "vocab_size", self.least, most, always
            )
            self.stop_reason = "vocab_size reached"
        self.n_merges = self.vocab_size - self.least
        sizes = given["snapshots"]
        refuse_lone_text(sizes, "snapshots", "a list of sizes")
        self.snapshots = [
            integer(
                size,
                f"snapshots[{i}]",
                self.least,
                self.vocab_size,
                f"{always}, and no more than {self.vocab_size} are trained",
            )
            for i, size in enumerate(sizes)
        ]

    def _always_there(self) -> str:
        """Say which tokens no size is too small for."""
        parts = ["the 256 single bytes"]
        if self.initial is not None:
            parts = [f"the {self.start.vocab_size} tokens of initial"]
        for tokens, kind in ((self.protected, "protected"), (self.special, "special")):
            if tokens:
                plural = "s" if len(tokens) != 1 else ""
                parts.append(f"the {len(tokens)} {kind} token{plural}")
        return f"{' and '.join(parts)} are always there"


def _split(pattern: PatternLike) -> Split:
    from pybpe.split import Split

    # A `Default` is not to become part of a model.
    return Split.from_pattern(str(pattern) if pattern is PATTERN else pattern)


def _bytes_model(byte_order: str) -> Model:
    """Return the model that has nothing but the single bytes.

    Raises:
        ValueError: There is no such order.
    """
    from pybpe.split import Split

    return Model(
        semantics=MERGES,
        whole_pretoken=False,
        token_data=bytes_in_order(byte_order),
        token_lengths=array("I", [1]) * 256,
        token_ids=array("I", range(256)),
        merges=array("I"),
        merge_ids=array("I"),
        split=Split(),
    )


def integer(value: object, name: str, least: int, most: int, because: str = "") -> int:
    """Return an option that must be an int within bounds.

    Raises:
        TypeError: It is no int (nor one of numpy's), or a bool.
        ValueError: It is out of bounds.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int, got {value!r}")
    number: int = value.__index__()
    if not least <= number <= most:
        reason = f" ({because})" if because else ""
        raise ValueError(
            f"{name} must be between {least} and {most}{reason}, got {number}"
        )
    return number


def _strings(tokens: Iterable[Token], name: str) -> list[bytes]:
    """Return special or protected tokens as bytes.

    Raises:
        TypeError: Not an iterable of str or bytes.
        ValueError: One is empty, or occurs twice.
    """
    if isinstance(tokens, (Mapping, Set)):
        raise TypeError(
            f"{name} must be a list of tokens, got a "
            f"{type(tokens).__name__}: their order decides their ids"
        )
    refuse_lone_text(tokens, name, "a list of tokens")
    found: dict[bytes, None] = {}
    for i, token in enumerate(tokens):
        data = to_utf8(token, f"{name}[{i}]")
        if not data:
            raise ValueError(
                f"{name}[{i}] is empty: it would match everywhere; leave it out"
            )
        if data in found:
            raise ValueError(f"{name}[{i}], {token!r}, is there twice")
        if len(found) == MAX_EXTRA:
            raise ValueError(f"{name} holds more than {MAX_EXTRA} tokens")
        found[data] = None
    return list(found)


def _shown(token: bytes) -> str:
    return repr(token.decode("utf-8", "backslashreplace"))


def refuse_lone_text(values: object, name: str, wanted: str) -> None:
    """Refuse a str or bytes where many are wanted: they are iterable, too.

    Raises:
        TypeError: That, or nothing that can be iterated over.
    """
    if isinstance(values, (str, bytes, bytearray, memoryview, os.PathLike)):
        raise TypeError(
            f"{name} must be {wanted}, got one {type(values).__name__}: make it a list"
        )
    if not isinstance(values, Iterable):
        raise TypeError(f"{name} must be {wanted}, got {type(values).__name__}")
