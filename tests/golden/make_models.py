"""Make the model files of format version 1 and the ids that they must give for ever.

    python tests/golden/make_models.py FOLDER

Run once, when the format was new; the committed files are not to be made again. What
they hold has to be readable, and give these ids, in every later version.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pybpe import Split, Tokenizer
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


if __name__ == "__main__":
    main(Path(sys.argv[1]))
