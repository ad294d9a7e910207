"""Mistral's tekken.json."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from peer_texts import (
    CORPORA,
    DataPath,
    check_corpus,
    check_texts,
    corpus,
    unicode_texts,
)

import pybpe
from pybpe import ModelError, Tokenizer

PATTERN = r"\s+|\S+"
TOKENS = [bytes([b]) for b in range(256)] + [b"he", b"ll", b"hell", b"zz", b"qq"]
N_SPECIAL = 25


def document(**changes: Any) -> dict[str, Any]:
    """Return a small tekken file of which two tokens do not count."""
    config = {
        "pattern": PATTERN,
        "num_vocab_tokens": len(TOKENS),
        "default_vocab_size": N_SPECIAL + len(TOKENS) - 2,
        "default_num_special_tokens": N_SPECIAL,
        "version": "v3",
    }
    vocab = [
        {"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None}
        for i, t in enumerate(TOKENS)
    ]
    made: dict[str, Any] = {"config": config, "vocab": vocab}
    for name, value in changes.items():
        if name in config:
            config[name] = value
        else:
            made[name] = value
    return made


Load = Callable[..., Tokenizer]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load_document(data: dict[str, Any], **options: Any) -> Tokenizer:
        path = tmp_path / "tekken.json"
        path.write_text(json.dumps(data), encoding="utf-8")
        return pybpe.load(path, **options)

    return load_document


def test_ids(load: Load) -> None:
    tok = load(document())
    assert tok.encode("hello") == [N_SPECIAL + 258, N_SPECIAL + 111]
    assert tok.encode("zzqq") == [N_SPECIAL + c for c in b"zzqq"]
    assert tok.n_vocab == tok.vocab_size == N_SPECIAL + len(TOKENS) - 2
    assert tok.pattern == PATTERN


def test_special_tokens_of_old_files(load: Load) -> None:
    special = load(document()).special_tokens
    assert list(special.items())[:4] == [
        ("<unk>", 0),
        ("<s>", 1),
        ("</s>", 2),
        ("[INST]", 3),
    ]
    assert special["[TOOL_CONTENT]"] == 19
    assert special["<SPECIAL_20>"] == 20
    assert special["<SPECIAL_24>"] == 24
    assert len(special) == N_SPECIAL


def test_listed_special_tokens(load: Load) -> None:
    listed = [
        {"rank": 1, "token_str": "<b>", "is_control": True},
        {"rank": 0, "token_str": "<a>", "is_control": True},
    ]
    special = load(document(special_tokens=listed, version="v13")).special_tokens
    assert special == {
        "<a>": 0,
        "<b>": 1,
        **{f"<SPECIAL_{i}>": i for i in range(2, N_SPECIAL)},
    }


def test_special_tokens_of_the_caller(load: Load) -> None:
    tok = load(document(version="v99"), special_tokens={"<s>": 1}, pattern="gpt2")
    assert tok.special_tokens == {"<s>": 1}
    assert tok.split.name == "gpt2"


def entry(rank: object, text: object) -> dict[str, Any]:
    return {"rank": rank, "token_bytes": text, "token_str": None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": None}, "its config is missing"),
        ({"default_vocab_size": "9"}, "default_vocab_size must be a whole number"),
        ({"default_vocab_size": 1e9}, "default_vocab_size must be a whole number"),
        ({"default_vocab_size": 10}, "leaves no room"),
        (
            {"default_vocab_size": 10_000},
            "has 261 entries, and the config asks for 9,9",
        ),
        ({"default_num_special_tokens": -1}, "default_num_special_tokens is -1"),
        ({"pattern": None}, "pattern must be a string"),
        ({"pattern": "("}, "pattern cannot be used"),
        ({"version": "v8"}, "version 'v8' and does not list its special tokens"),
        ({"version": None}, "does not list its special tokens"),
        ({"vocab": {}}, "vocab must be a list"),
        ({"vocab": [entry(0, "AA=="), entry(2, "AQ==")] * 200}, "entry 1 .* rank 2"),
        ({"vocab": [entry(0, "AA=")] * 300}, "entry 0 .* not valid base64"),
        ({"vocab": [entry(0, "A\u4f60==")] * 300}, "entry 0 .* not valid base64"),
        ({"vocab": [entry(0, 5)] * 300}, "entry 0 of its vocab must have"),
        ({"vocab": [5] * 300}, "entry 0 of its vocab must have"),
        ({"vocab": [entry(i, "AA==") for i in range(300)]}, "has two ids, 25 and 26"),
        ({"vocab": [entry(i, "") for i in range(300)]}, "with id 25 is empty"),
        ({"special_tokens": 5}, "special_tokens must be a list"),
        ({"special_tokens": [5]}, "entry 0 of its special_tokens"),
        (
            {"special_tokens": [{"token_str": "x", "rank": 25}]},
            "rank 25, and .* only 25",
        ),
        ({"special_tokens": [{"token_str": "x", "rank": 0}] * 2}, "list 'x' twice"),
        (
            {"special_tokens": [{"token_str": c, "rank": 0} for c in "xy"]},
            "share the id 0",
        ),
        ({"special_tokens": [{"token_str": "", "rank": 0}]}, "empty token"),
        (
            {"special_tokens": [{"token_str": "<SPECIAL_3>", "rank": 0}]},
            "<SPECIAL_3> another rank",
        ),
    ],
    ids=range(25),
)
def test_bad_files(load: Load, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load(document(**changes))


def test_recognised_with_keys_in_any_order(load: Load) -> None:
    filler = [
        {"rank": i, "token_str": f"<filler {i}>" + "-" * 300, "is_control": True}
        for i in range(N_SPECIAL)
    ]
    data = document()
    tok = load({"special_tokens": filler, "audio": {"a": 1}, **data})
    assert tok.encode("hello") == [N_SPECIAL + 258, N_SPECIAL + 111]


def test_every_cut(tmp_path: Path) -> None:
    text = json.dumps(document())
    for end in range(300, len(text), 97):
        (tmp_path / "cut.json").write_text(text[:end])
        with pytest.raises(ModelError):
            pybpe.load(tmp_path / "cut.json")


# ---------------------------------------------------------------- the real one


@pytest.fixture
def path(data_path: DataPath) -> Path:
    return data_path("vocab/tekken/tekken_240718.json")


def test_real_file(path: Path) -> None:
    tok = pybpe.load(path)
    assert (tok.vocab_size, tok.n_vocab) == (131072, 131072)
    assert tok.split.name == "tekken"
    assert tok.split.compiled
    assert len(tok.special_tokens) == 1000
    assert tok.special_tokens["[INST]"] == 3
    assert tok.token_bytes(1000) == b"\0"


@pytest.mark.oracle
@pytest.mark.slow
def test_like_tiktoken(path: Path, data_path: DataPath) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    data = json.loads(path.read_text(encoding="utf-8"))
    ranks = {
        base64.b64decode(token["token_bytes"]): token["rank"]
        for token in data["vocab"][: 131072 - 1000]
    }
    theirs = tiktoken.Encoding(
        "tekken",
        pat_str=data["config"]["pattern"],
        mergeable_ranks=ranks,
        special_tokens={},
    )
    tok = pybpe.load(path)

    def peer(text: str) -> list[int]:
        return [number + 1000 for number in theirs.encode_ordinary(text)]

    check_texts(tok, peer, unicode_texts(8, 1000))
    for name in CORPORA:
        check_corpus(tok, peer, corpus(data_path, name))

    # Special tokens: cut out by hand.
    def around(text: str) -> list[int]:
        ids: list[int] = []
        for i, part in enumerate(text.split("[INST]")):
            ids += ([3] if i else []) + peer(part)
        return ids

    check_texts(
        tok,
        around,
        unicode_texts(9, 1000, ["[INST]"]),
        lambda text: tok.encode(
            text, allowed_special={"[INST]"}, disallowed_special=()
        ),
    )
