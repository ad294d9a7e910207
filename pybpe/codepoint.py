"""What a codepoint model is made of, as plain data: the parts that are saved.

A codepoint model is sentencepiece's BPE: its tokens, called pieces there, are made of
characters rather than bytes, and text is normalised before it is encoded. Readers of
files make a `CodepointModel`, and `_engine_pieces` builds the C objects from one.
"""

from __future__ import annotations

from array import array

from pybpe._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from pybpe.split import Split

    Provenance = Mapping[str, str | int]

# Types of pieces: the numbers that files and the core have.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6

# What spaces become, and what the unknown piece decodes to, unless a model says else.
MARK = "\u2581".encode()
UNK_SURFACE = " \u2047 ".encode()


class Normalizer:
    """What is done to text before it is encoded, or after it was decoded.

    Immutable; equal and hashed by content.

    Attributes:
        name: Of the rules, for people to read: "nmt_nfkc", "identity", ...
        charsmap: The rules as sentencepiece compiles them; empty for none.
        add_dummy_prefix: Whether a mark is put before the text (behind it, in models
            that have the mark behind words).
        remove_extra_whitespaces: Whether runs of spaces become one and spaces at both
            ends go.
        escape_whitespaces: Whether spaces become marks.
    """

    __slots__ = (
        "add_dummy_prefix",
        "charsmap",
        "escape_whitespaces",
        "name",
        "remove_extra_whitespaces",
    )

    name: str
    charsmap: bytes
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool

    def __init__(
        self,
        name: str,
        charsmap: bytes,
        add_dummy_prefix: bool,
        remove_extra_whitespaces: bool,
        escape_whitespaces: bool,
    ) -> None:
        """Keep the parts."""
        put = object.__setattr__
        put(self, "name", name)
        put(self, "charsmap", charsmap)
        put(self, "add_dummy_prefix", add_dummy_prefix)
        put(self, "remove_extra_whitespaces", remove_extra_whitespaces)
        put(self, "escape_whitespaces", escape_whitespaces)

    def _parts(self) -> tuple[object, ...]:
        return (
            self.name,
            self.charsmap,
            self.add_dummy_prefix,
            self.remove_extra_whitespaces,
            self.escape_whitespaces,
        )

    def __eq__(self, other: object) -> bool:
        """Compare by content."""
        if not isinstance(other, Normalizer):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        """Hash by content."""
        return hash(self._parts())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse, as for models."""
        raise AttributeError(f"a Normalizer is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse, as for setting."""
        raise AttributeError(f"a Normalizer is immutable: cannot delete {name!r}")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by content."""
        return Normalizer, self._parts()

    def __repr__(self) -> str:
        """Show the parts, the character map by its size."""
        return (
            f"<Normalizer {self.name!r}: {len(self.charsmap)} bytes of rules, "
            f"{self._parts()[2:]}>"
        )


class CodepointModel:
    """A sentencepiece BPE model: pieces, scores, types and the normaliser.

    The constructor only stores: whether the parts fit together is checked when an
    engine is built from the model. The arrays and the provenance belong to the model
    from then on and must not be changed.

    Attributes:
        piece_data: The pieces' bytes, one after another by ascending id; a piece's id
            is its place.
        piece_lengths: `array("I")`, the length of each piece in bytes.
        scores: `array("f")`, the score of each piece: of the neighbours that could be
            joined, those are whose concatenation has the highest.
        piece_types: One byte for each piece: `NORMAL`, `UNKNOWN`, `CONTROL`,
            `USER_DEFINED`, `UNUSED` or `BYTE`.
        byte_fallback: Whether text that no piece covers is spelt in byte pieces.
        mark_behind: Whether the mark belongs behind words rather than before them.
        refuse_marks: Whether text that holds the mark itself, U+2581, is refused, since
            it would come back as a space.
        normalizer: For text that is encoded.
        denormalizer: For text that was decoded; None for none.
        unk_surface: What the unknown piece decodes to.
        unk_id: The id of the unknown piece; -1 where there is none. Likewise `bos_id`,
            `eos_id` and `pad_id` for the control pieces that begin, end and fill texts.
        text_prefix: Ids put before a text that is encoded with
            `add_special_tokens=True`.
        text_suffix: Ids put behind such a text.
        provenance: What is known of the model's origin, for people to read. Not part
            of its content.

    Thread safety: immutable, so free to share.
    """

    __slots__ = (
        "bos_id",
        "byte_fallback",
        "denormalizer",
        "eos_id",
        "mark_behind",
        "normalizer",
        "pad_id",
        "piece_data",
        "piece_lengths",
        "piece_types",
        "provenance",
        "refuse_marks",
        "scores",
        "text_prefix",
        "text_suffix",
        "unk_id",
        "unk_surface",
    )

    piece_data: bytes
    piece_lengths: array[int]
    scores: array[float]
    piece_types: bytes
    byte_fallback: bool
    mark_behind: bool
    refuse_marks: bool
    normalizer: Normalizer
    denormalizer: Normalizer | None
    unk_surface: bytes
    unk_id: int
    bos_id: int
    eos_id: int
    pad_id: int
    text_prefix: tuple[int, ...]
    text_suffix: tuple[int, ...]
    provenance: Provenance

    def __init__(
        self,
        *,
        piece_data: bytes,
        piece_lengths: array[int],
        scores: array[float],
        piece_types: bytes,
        byte_fallback: bool,
        normalizer: Normalizer,
        mark_behind: bool = False,
        refuse_marks: bool = False,
        denormalizer: Normalizer | None = None,
        unk_surface: bytes = UNK_SURFACE,
        unk_id: int = -1,
        bos_id: int = -1,
        eos_id: int = -1,
        pad_id: int = -1,
        text_prefix: tuple[int, ...] = (),
        text_suffix: tuple[int, ...] = (),
        provenance: Provenance | None = None,
    ) -> None:
        """Store the parts; see the class for what each one is."""
        put = object.__setattr__
        put(self, "piece_data", piece_data)
        put(self, "piece_lengths", piece_lengths)
        put(self, "scores", scores)
        put(self, "piece_types", piece_types)
        put(self, "byte_fallback", byte_fallback)
        put(self, "mark_behind", mark_behind)
        put(self, "refuse_marks", refuse_marks)
        put(self, "normalizer", normalizer)
        put(self, "denormalizer", denormalizer)
        put(self, "unk_surface", unk_surface)
        put(self, "unk_id", unk_id)
        put(self, "bos_id", bos_id)
        put(self, "eos_id", eos_id)
        put(self, "pad_id", pad_id)
        put(self, "text_prefix", text_prefix)
        put(self, "text_suffix", text_suffix)
        put(self, "provenance", {} if provenance is None else provenance)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: a model is shared by everything built from it."""
        raise AttributeError(f"a CodepointModel is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse, as for setting."""
        raise AttributeError(f"a CodepointModel is immutable: cannot delete {name!r}")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by content."""
        return _rebuild, ({name: getattr(self, name) for name in self.__slots__},)

    def __repr__(self) -> str:
        """Say how large the model is."""
        return (
            f"<CodepointModel: {len(self.piece_lengths)} pieces, "
            f"{self.piece_types.count(CONTROL)} of them control and "
            f"{self.piece_types.count(USER_DEFINED)} user-defined>"
        )

    def pieces(self) -> list[bytes]:
        """Return the bytes of every piece, by id."""
        out, start = [], 0
        for length in self.piece_lengths:
            out.append(self.piece_data[start : start + length])
            start += length
        return out

    @property
    def special_tokens(self) -> tuple[tuple[bytes, int], ...]:
        """The control pieces and their ids: matched in text by permission only."""
        return self._of_type(CONTROL)

    @property
    def added_tokens(self) -> tuple[tuple[bytes, int], ...]:
        """The user-defined pieces and their ids: always found in text."""
        return self._of_type(USER_DEFINED)

    @property
    def vocab_size(self) -> int:
        """How many pieces there are, of any type."""
        return len(self.piece_lengths)

    @property
    def split(self) -> Split:
        """An empty split: no pattern cuts the text."""
        from pybpe.split import Split

        return Split()

    def vocab(self) -> dict[bytes, int]:
        """Return pieces and ids of all but the control and user-defined pieces."""
        types = self.piece_types
        return {
            piece: number
            for number, piece in enumerate(self.pieces())
            if types[number] not in (CONTROL, USER_DEFINED)
        }

    def _of_type(self, wanted: int) -> tuple[tuple[bytes, int], ...]:
        found = []
        number, start, at = self.piece_types.find(wanted), 0, 0
        while number >= 0:
            start += sum(self.piece_lengths[at:number])
            at = number
            piece = self.piece_data[start : start + self.piece_lengths[number]]
            found.append((piece, number))
            number = self.piece_types.find(wanted, number + 1)
        return tuple(found)


def _rebuild(parts: dict[str, object]) -> CodepointModel:
    return CodepointModel(**parts)  # type: ignore[arg-type]
