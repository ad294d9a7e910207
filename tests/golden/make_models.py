"""Make the model files of format version 1 and the ids that they must give for ever.

    python tests/golden/make_models.py FOLDER

Run once, when the format was new; the committed files are not to be made again. What
they hold has to be readable, and give these ids, in every later version.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from array import array
from pathlib import Path

from pybpe import Split, Tokenizer
from pybpe.codepoint import BYTE, CodepointModel, Normalizer
from pybpe.model import Model
from pybpe.model_file import save_model

TEXTS = [
    "",
    "hello",
    "Hello, hello! \u4f60\u597d 12345\r\n\n  'RE it's",
    "a <|end of\ntext|> b <|pad|> low <gap>## lower ###\0",
    "caf\u00e9 \U0001f600 \ufffd\u2028 \t x  ",
]
# Merges with a token that two merges make, and one that is listed and never used.
MERGES = [
    (b"h", b"e"),
    (b"l", b"l"),
    (b"he", b"ll"),
    (b"l", b"o"),
    (b"hell", b"o"),
    (b" ", b"lo"),
    (b" lo", b"w"),
    (b" l", b"ow"),
    (b"\xe4\xbd", b"\xa0"),
    (b"\r", b"\n"),
    (b"\n", b"\n"),
]


def merges_model() -> Tokenizer:
    """Return a merge list with gaps in its ids, specials, added tokens, provenance."""
    ids = {bytes([i]): i for i in range(256)}
    made = [b"he", b"ll", b"hell", b"lo", b"hello", b" lo", b" low", b" l", b"ow"]
    made += [b"\xe4\xbd", b"\xe4\xbd\xa0", b"\r\n", b"\n\n"]
    ids |= {token: 260 + 2 * i for i, token in enumerate(made)}
    tok = Tokenizer.from_merges(
        MERGES,
        pattern="cl100k",
        vocab=ids,
        special_tokens={"<|end of\ntext|>": 300, b"\xff\xfe\0": 1000},
        added_tokens={"<gap>": 299, "##": 298},
    )
    old = tok._model
    parts = {name: getattr(old, name) for name in Model.__slots__}
    parts["provenance"] = {"corpus": "none: written by hand", "merges": len(MERGES)}
    return Tokenizer(Model(**parts))


def ranks_model() -> Tokenizer:
    """Return ranks that are not closed under merges, with a split of three stages."""
    tokens = [bytes([i]) for i in range(256)]
    tokens += [b"he", b"hel", b"hello", b" lower", b"45", b"\xbd\xa0", b"  "]
    return Tokenizer.from_ranks(
        {token: i for i, token in enumerate(tokens)},
        pattern=Split.from_pattern("deepseek_v3"),
        special_tokens={"<|pad|>": 16_000_000},
    )


def plain_model() -> Tokenizer:
    """Return the least there is: bytes, no merges, no split."""
    return Tokenizer.from_merges([], pattern=None)


# What sentencepiece made of two rules: a wide A becomes A, a wide B becomes BB.
CHARSMAP = zlib.decompress(
    base64.b64decode(
        b"eNod0lWQkAUUBtB/FmboTinpLgWklFi6uxsklU4JWZXuziWW7lRyKQUllUa6lMZFQokVPMvMPTP3"
        b"e7kv9wtiB0GwI1YQFR0SRIaHCEFYRMYgsIXFEZbECwITxCUB8UlEQpKQmGQkJQXJSUVK0pCaD0hL"
        b"etLhfJCBD8lEFjKTjazkIDu5yEkecpOPvBQgP4UoyEcUpggfU4yiFOcTSlKC0pTiMz6lLGUoTzkq"
        b"EEolKlKFylSjKjWoTi1qUofa1KMuDahPIxrShMY0oyktaE4rWtKG1rSjLR1oT0c+pzOd6EoXvqAb"
        b"3fmSnvSgN73oSx/604+BDOArBjGEwQxjKMP5mm9ins53fMtIRjCaUYxlDOMZx0QmMJlJTGUK05nG"
        b"TGYwm1nMZQ7zmccCwlnEQiJYzNKYvrGcZaxkBatZxVrWsJ51bGQDm9nEVrbwA9+znW3sjKk4u9nF"
        b"HiLZx14OsJ+f+JFDHOQXfuYIhznGUU5wnN/4lVOc5AynOcdZLnCei/zOZS5xlStc5xo3ucFtbvEn"
        b"f3CXO9znHg95wGMeEcVf/M0TnvGUFzznX/7hFS95w2v+I5p3vH3f/9DQ4H+GPoai"
    )
)
PIECES = [
    ("<unk>", 0.0, 2),
    ("<s>", 0.0, 3),
    ("</s>", 0.0, 3),
    ("<|end of\ntext|>", 0.0, 3),
    ("<gap>", 0.0, 4),
    *((f"<0x{b:02X}>", 0.0, BYTE) for b in range(256)),
    ("he", -1.0, 1),
    ("hel", -2.0, 5),
    ("hello", -3.0, 1),
    ("\u2581hello", -4.0, 1),
    ("lo", -5.0, 1),
    ("low", -6.0, 1),
    ("\u2581low", -7.0, 1),
    ("er", -7.0, 1),
    ("\u4f60\u597d", -8.5, 1),
    *((char, -10.0 - i, 1) for i, char in enumerate("\u2581helowr \u4f60\u597dAB'It")),
]


def pieces_model() -> Tokenizer:
    """Return a sentencepiece model with pieces of every type and two normalizers."""
    texts = [text.encode() for text, _, _ in PIECES]
    rules = Normalizer("two wide letters", CHARSMAP, True, False, True)
    return Tokenizer(
        CodepointModel(
            piece_data=b"".join(texts),
            piece_lengths=array("I", map(len, texts)),
            scores=array("f", (score for _, score, _ in PIECES)),
            piece_types=bytes(kind for _, _, kind in PIECES),
            byte_fallback=True,
            normalizer=rules,
            denormalizer=Normalizer("", CHARSMAP, False, False, False),
            unk_surface=b"\xff?",
            unk_id=0,
            bos_id=1,
            eos_id=2,
            text_prefix=(1,),
            provenance={"corpus": "none: written by hand"},
        )
    )


PIECES_TEXTS = [
    *TEXTS,
    "\uff21\uff22 hello<gap>  lower</s>\ufeff\0 hello",
    "<0x41><unk>",
]


def write_pieces(folder: Path) -> None:
    """Write the sentencepiece model and what is expected of it."""
    tok = pieces_model()
    name = "model_v1_pieces"
    tok.save(folder / f"{name}.pybpe")
    rows = [tok.encode(text, allowed_special="all") for text in PIECES_TEXTS]
    golden = {
        "command": "python tests/golden/make_models.py tests/golden",
        "fingerprint": tok.fingerprint,
        "texts": PIECES_TEXTS,
        "ids": rows,
        "decoded": [tok.decode(ids) for ids in rows],
    }
    text = json.dumps(golden, indent=1)
    (folder / f"{name}.json").write_text(text + "\n", "utf-8")


def main(folder: Path) -> None:
    """Write the files and what is expected of them."""
    models = {
        "model_v1_merges.pybpe": merges_model(),
        "model_v1_ranks.pybpe": ranks_model(),
        "model_v1_plain.pybpe": plain_model(),
    }
    expected = {}
    for name, tok in models.items():
        save_model(tok._model, folder / name)
        expected[name] = {
            "fingerprint": tok.fingerprint,
            "ids": [tok.encode(text, allowed_special="all") for text in TEXTS],
        }
    golden = {
        "command": "python tests/golden/make_models.py tests/golden",
        "texts": TEXTS,
        "models": expected,
    }
    text = json.dumps(golden, indent=1)
    (folder / "model_v1.json").write_text(text + "\n", "utf-8")
    write_pieces(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
