"""Models and texts for the comparisons with the sentencepiece package."""

from __future__ import annotations

import random
from collections.abc import Sequence

from pybpe._engine_pieces import PieceEngine
from pybpe._proto import sentencepiece_pb2 as pb
from pybpe.formats import sentencepiece as reader

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
MARK = "\u2581"

# Every character of White_Space, and others that some programs take for space.
SPACES = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\x1c\x1d\x1e\x1f\u200b\u2060\ufeff"
)
# What has tripped tokenizers up: normalisation, case, controls, marks, joined emoji.
AWKWARD = [
    *("\0", "\x01", "\x7f", "\x8f", "\x9f", "\xad", "\ufffd", "\ufffe", "\U0010ffff"),
    *("\u2581", "\u2581\u2581", " \u2581", "\u2581 ", "\u2585", "\u2047", "\u017f"),
    *("\u212a", "\u0130", "\u0131", "\xdf", "\u1e9e", "\ufb01", "\ufdfa", "\u0149"),
    *(
        "\uff21",
        "\uff5e",
        "\u00e9",
        "e\u0301",
        "e\u0301\u0327",
        "\u0344",
        "\u1100\u1161",
    ),
    *("\uac00", "\uac01", "\u0958", "\u0f43", "\u2126", "\u00bd", "\u3392", "\u30ac"),
    *("\u30ab\u3099", "\uff76\uff9e", "\U0001f468\u200d\U0001f469\u200d\U0001f467"),
    *(
        "\U0001f1e9\U0001f1ea",
        "\U0001f44d\U0001f3fd",
        "\u2764\ufe0f",
        "\u0e33",
        "\ua7f1",
    ),
    *("<0x41>", "<unk>", "<s>", "</s>", "<pad>", "[INST]", "  ", "   ", "hello", "123"),
]
MALFORMED = [
    *(
        b"\x80",
        b"\xbf",
        b"\xc0\x80",
        b"\xc1",
        b"\xc2",
        b"\xe2",
        b"\xe2\x96",
        b"\xf0\x9f",
    ),
    *(b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80"),
    *(b"\xff", b"\xfe", b"\xf0\xe2\x96\x81", b"\xe2\x96\xe2\x96\x81"),
]


def random_character(rng: random.Random) -> str:
    """Return any character but a surrogate; half of them from the planes in use."""
    while True:
        limit = rng.choice([0x80, 0x250, 0x3000, 0x10000, 0x20000, 0x110000])
        character = chr(rng.randrange(limit))
        if not "\ud800" <= character <= "\udfff":
            return character


def random_text(rng: random.Random, specials: Sequence[bytes] = ()) -> bytes:
    """Return a short text of all that Unicode has, and of `specials`."""
    parts: list[bytes] = []
    for _ in range(rng.randrange(1, 14)):
        kind = rng.randrange(9 if specials else 8)
        if kind <= 2:
            parts.append(random_character(rng).encode())
        elif kind == 3:
            parts.append(rng.choice(SPACES).encode())
        elif kind == 4:
            parts.append(rng.choice(AWKWARD).encode())
        elif kind == 5:
            letters = rng.choice(
                ["abc", "the ", "xyz. ", "\u0430\u0431 ", "\u4e2d\u6587"]
            )
            parts.append("".join(rng.choices(letters, k=rng.randrange(1, 9))).encode())
        elif kind == 6 and rng.random() < 0.3:
            parts.append(rng.choice(MALFORMED))
        elif kind == 8:
            special = rng.choice(specials)
            parts.append(
                special if rng.random() < 0.8 else special[: len(special) // 2]
            )
        else:
            parts.append(b" " * rng.randrange(1, 3))
    return b"".join(parts)


def engine(data: bytes) -> PieceEngine:
    """Return the engine of a `.model` file's contents."""
    return PieceEngine(reader.model_from_bytes(data))


def compare(ours: PieceEngine, theirs: object, text: bytes) -> None:
    """Check that both say the same of a text: ids, pieces, offsets, decoded text."""
    want = theirs.encode(text)  # type: ignore[attr-defined]
    ids = ours.encode(text, None, None)
    assert ids == want, text
    mapping = theirs.encode(text, out_type="offset_mapping")  # type: ignore[attr-defined]
    found = ours.encode_with_pieces(text)
    assert [x.id for x in found] == mapping["ids"], text
    assert [x.piece for x in found] == mapping["pieces"], text
    assert [(x.begin, x.end) for x in found] == mapping["offsets"], text
    decoded = theirs.decode(want, out_type=bytes) if want else b""  # type: ignore[attr-defined]
    assert decode_bytes(ours, ids, replace=True) == decoded, text
    normal = theirs.normalize(text)  # type: ignore[attr-defined]
    assert ours.normalize(text) == normal, text


def decode_bytes(ours: PieceEngine, ids: Sequence[int], *, replace: bool) -> bytes:
    """Return decoded ids before they become a str."""
    from array import array

    from pybpe._binding import id_buffer

    numbers = array("I", ids)
    return ours._decode(id_buffer(numbers), len(numbers), int(replace), True)[0]


# ------------------------------------------------------------------ models by hand


def write_model(
    pieces: Sequence[tuple[bytes, float, int]],
    *,
    algorithm: int = 2,
    byte_fallback: bool = False,
    suffix: bool = False,
    charsmap: bytes = b"",
    add_dummy_prefix: bool = True,
    remove_extra_whitespaces: bool = True,
    escape_whitespaces: bool = True,
    unk_surface: bytes | None = None,
    denormalizer: bytes = b"",
) -> bytes:
    """Return a `.model` file with these pieces: text, score, type."""
    model = pb.Model()
    for text, score, kind in pieces:
        piece = model.pieces.add(text=text, score=score)
        if kind != NORMAL:
            piece.type = kind  # type: ignore[assignment]
    model.training.algorithm = algorithm  # type: ignore[assignment]
    model.training.byte_fallback = byte_fallback
    model.training.treat_whitespace_as_suffix = suffix
    if unk_surface is not None:
        model.training.unk_surface = unk_surface
    normalizer = model.normalizer
    normalizer.charsmap = charsmap
    normalizer.add_dummy_prefix = add_dummy_prefix
    normalizer.remove_extra_whitespaces = remove_extra_whitespaces
    normalizer.escape_whitespaces = escape_whitespaces
    if denormalizer:
        model.denormalizer.charsmap = denormalizer
        model.denormalizer.add_dummy_prefix = False
        model.denormalizer.remove_extra_whitespaces = False
        model.denormalizer.escape_whitespaces = False
    return model.SerializeToString(deterministic=True)


def byte_pieces() -> list[tuple[bytes, float, int]]:
    """Return the 256 byte pieces."""
    return [(b"<0x%02X>" % b, 0.0, BYTE) for b in range(256)]


# Scores that are equal, and equal but for a sign, come up often.
SCORES = [0.0, -0.0, 1.0, -1.0, -2.0, -2.0, -3.5, 2.5, float("-inf"), float("inf")]
LETTERS = ["a", "b", "c", MARK, "\u00e9", "\u4e2d", "\U0001f600", "1", "."]


def random_model(rng: random.Random, charsmaps: Sequence[bytes]) -> bytes:
    """Return a small model of every kind of piece and any options."""
    byte_fallback = rng.random() < 0.4
    texts: list[str] = []
    letters = rng.sample(LETTERS, k=rng.randrange(2, len(LETTERS)))
    escape = rng.random() < 0.85
    if not escape:
        letters = [*letters, " "]
    for _ in range(rng.randrange(2, 60)):
        base = rng.choice([*letters, *texts[-8:], *letters])
        texts.append((base + rng.choice([*letters, *texts[-20:], "", ""]))[:12])
    kinds = [NORMAL] * 8
    if rng.random() < 0.3:
        kinds += [UNUSED] * rng.randrange(1, 5)
    if rng.random() < 0.4:
        kinds += [USER_DEFINED] * rng.randrange(1, 4)
    if rng.random() < 0.3:
        kinds += [CONTROL]
    pieces: list[tuple[bytes, float, int]] = [(b"<s>", 0.0, CONTROL)]
    if not byte_fallback or rng.random() < 0.7:
        pieces.append((b"<unk>", 0.0, UNKNOWN))
    if byte_fallback:
        pieces += byte_pieces()
    known = dict.fromkeys(text.encode() for text in texts)
    if rng.random() < 0.1:  # pieces that are no UTF-8, or have a space in them
        odd = [*MALFORMED, b"a\x80", b"\xe2\x96", b"\x81a", b"a b", b" ", b"\xf0ab"]
        known |= dict.fromkeys(rng.sample(odd, k=rng.randrange(1, 8)))
    if rng.random() < 0.03:  # more that begin one another than are looked at
        nested = {b"a" * n: None for n in range(1, 70)}
        known = dict.fromkeys(text for text in known if text not in nested)
        pieces += [(text, 0.0, USER_DEFINED) for text in nested]
        pieces += [(b"a" * n, 0.0, NORMAL) for n in range(70, 75)]
        pieces.append((b"b" * 2, 0.0, USER_DEFINED))
        known.pop(b"bb", None)
    for text in known:
        score = rng.choice(SCORES) if rng.random() < 0.4 else -float(rng.randrange(50))
        pieces.append((text, score, rng.choice(kinds)))
    return write_model(
        pieces,
        byte_fallback=byte_fallback,
        suffix=rng.random() < 0.3,
        charsmap=rng.choice(charsmaps),
        add_dummy_prefix=rng.random() < 0.6,
        remove_extra_whitespaces=rng.random() < 0.5,
        escape_whitespaces=escape,
        unk_surface=rng.choice([None, b"", b"?", b" \xe2\x96\x81 "]),
        denormalizer=rng.choice(charsmaps) if rng.random() < 0.2 else b"",
    )


def letters_text(rng: random.Random) -> bytes:
    """Return a text that the pieces of a `random_model` occur in."""
    letters = [*LETTERS, " ", " ", "<0x41>", "<s>", "<unk>", "\uff21", "e\u0301", "\n"]
    parts = [rng.choice(letters).encode() for _ in range(rng.randrange(30))]
    if rng.random() < 0.2:
        parts.insert(rng.randrange(len(parts) + 1), rng.choice(MALFORMED))
    if rng.random() < 0.05:
        parts.insert(0, b"a" * rng.randrange(60, 200))
    return b"".join(parts)
