"""Encoding with the help of others' processes gives what one process gives.

`datasets.map` in two processes, and a torch `DataLoader` with two workers over shards,
by the example in docs/scaling.md.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_runs import environment
from test_scaling_page import PAGE, block
from test_training_counts import random_data

import pybpe
from pybpe import _shipped
from pybpe.editing import _changed

np = pytest.importorskip("numpy")

SPECIAL = ["<|end|>", "<|begin|>"]


def texts() -> list[str]:
    random_ = random.Random(1)
    made = [
        random_data(random_, random_.choice([0, 1, 9, 60])).decode("utf-8", "replace")
        for _ in range(200)
    ]
    return [*made, "", "<|end|>", "low lower lowest"]


@pytest.fixture(scope="module")
def tok() -> pybpe.Tokenizer:
    return pybpe.train(texts(), 400, special_tokens=SPECIAL)


def lists(rows: Any) -> list[list[int]]:
    return [list(map(int, row)) for row in rows]


# ---------------------------------------------------------------- the function


def test_batches_and_rows(tok: pybpe.Tokenizer) -> None:
    some = texts()
    function = pybpe.MapFunction(tok, allowed_special="all")
    want = tok.encode_batch(some, allowed_special="all")
    (name,) = found = function({"text": some, "more": some})
    assert name == "input_ids"
    assert all(ids.dtype == np.uint32 for ids in found[name])
    assert lists(found[name]) == want
    assert [function({"text": text})[name].tolist() for text in some] == want
    assert function({"text": []}) == {"input_ids": []}
    other = pybpe.MapFunction(
        tok, "content", output_column="ids", disallowed_special=(), num_threads=2
    )
    assert lists(other({"content": some})["ids"]) == list(
        map(tok.encode_ordinary, some)
    )


def test_what_is_put_around_texts() -> None:
    tok = pybpe.train(["low"], 258, special_tokens=["<s>"])
    tok = _changed(tok._model, "", text_prefix=(257,))
    function = pybpe.MapFunction(tok, add_special_tokens=True)
    assert function({"text": "x"})["input_ids"].tolist() == [257, 120]
    again = pickle.loads(pickle.dumps(function))
    assert again({"text": "x"})["input_ids"].tolist() == [257, 120]


def test_wrong_arguments_and_rows(tok: pybpe.Tokenizer) -> None:
    some: Any
    for arguments, error, message in [
        (("x",), TypeError, "tokenizer must be a Tokenizer, got str"),
        ((tok, 1), TypeError, "column must be a str, got int"),
    ]:
        with pytest.raises(error, match=message):
            pybpe.MapFunction(*arguments)
    for options, error, message in [
        ({"output_column": None}, TypeError, "output_column must be a str, got NoneT"),
        ({"num_threads": 0}, ValueError, "num_threads must be 1 or more"),
        ({"disallowed_special": [""]}, ValueError, "empty"),
    ]:
        some = options
        with pytest.raises(error, match=message):
            pybpe.MapFunction(tok, **some)
    function = pybpe.MapFunction(tok)
    for batch, error, message in [
        ({"a": ["x"], "b": []}, KeyError, "no column 'text' but 'a', 'b'"),
        ({"text": ["x"], "input_ids": []}, ValueError, "'input_ids' already"),
        ({"text": ["x", None]}, TypeError, r"texts\[1\] must be str or bytes, got No"),
        ({"text": ["<|end|>"]}, pybpe.SpecialTokenError, "spells the special token"),
    ]:
        some = batch
        with pytest.raises(error, match=message):
            function(some)


def test_a_process_makes_a_tokenizer_once(tok: pybpe.Tokenizer) -> None:
    a, b = (pickle.loads(pickle.dumps(pybpe.MapFunction(tok, c))) for c in "xy")
    assert a._shipped.tokenizer is b._shipped.tokenizer
    assert a._shipped.tokenizer == tok
    for i in range(2 * _shipped._MOST):
        one = pybpe.MapFunction(pybpe.train([f"a{i}"], 256 + i % 2))
        assert pickle.loads(pickle.dumps(one))._shipped.tokenizer
    assert len(_shipped._arrived) <= _shipped._MOST


HASH = """
import pickle, sys, pybpe
tok = pybpe.load(sys.argv[1])
function = pybpe.MapFunction(
    tok, allowed_special={"<|end|>", "<|begin|>"}, disallowed_special={"a", "b", "c"}
)
try:
    from datasets.fingerprint import Hasher
except ImportError:
    Hasher = None
print(pickle.dumps(function).hex(), Hasher and Hasher.hash(function))
"""


def test_equal_functions_are_equal_bytes(tok: pybpe.Tokenizer, tmp_path: Path) -> None:
    # In processes that order sets in different ways, and whatever the provenance.
    tok.save(tmp_path / "a.pybpe")
    counted = pybpe.count_texts(texts(), special_tokens=SPECIAL)
    other = pybpe.train_from_counts(dict(counted.items()), 400, special_tokens=SPECIAL)
    assert other == tok
    assert other.to_bytes() != tok.to_bytes()
    other.save(tmp_path / "b.pybpe")
    told = set()
    for seed, name in enumerate(["a", "b"]):
        done = subprocess.run(
            [sys.executable, "-c", HASH, tmp_path / f"{name}.pybpe"],
            capture_output=True,
            text=True,
            env={**environment(), "PYTHONHASHSEED": str(seed)},
        )
        assert done.returncode == 0, done.stderr
        told.add(done.stdout)
    assert len(told) == 1
    # And others are others.
    mine = pickle.dumps(pybpe.MapFunction(tok))
    for function in (
        pybpe.MapFunction(tok, "x"),
        pybpe.MapFunction(tok, output_column="x"),
        pybpe.MapFunction(tok, allowed_special="all"),
        pybpe.MapFunction(tok, disallowed_special=()),
        pybpe.MapFunction(tok, add_special_tokens=True),
        pybpe.MapFunction(tok.truncate(350)),
    ):
        assert pickle.dumps(function) != mine


# ---------------------------------------------------------------- datasets


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what datasets does is not ours to judge
def test_datasets_map(tok: pybpe.Tokenizer, tmp_path: Path) -> None:
    """In two processes, and what is in the cache is found there; then the example."""
    pytest.importorskip("datasets")
    tok.save(tmp_path / "my.pybpe")
    (tmp_path / "texts").write_bytes(pickle.dumps(texts()))
    lines = [json.dumps({"text": text}) for text in texts() if "<|" not in text]
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    example = block("python", "load_dataset")
    done = subprocess.run(
        [sys.executable, "-c", MAP + example + PRINT],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={
            **environment(),
            "HF_HOME": str(tmp_path / "home"),
            "HF_HUB_OFFLINE": "1",
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"),  # noqa: S108 - as it is here
        },
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = pickle.loads((tmp_path / "ids").read_bytes())
    assert found == tok.encode_batch(texts(), allowed_special="all")
    other, same, n_equal = done.stdout.split()
    assert (other, same, n_equal) == ("False", "True", str(len(lines)))


MAP = """
import pickle
from pathlib import Path
import datasets, pybpe

datasets.disable_progress_bars()
folder = Path()
texts = pickle.loads((folder / "texts").read_bytes())
datasets.Dataset.from_dict({"text": texts}).save_to_disk(folder / "rows")


def ids(tok):
    ds = datasets.load_from_disk(folder / "rows")
    function = pybpe.MapFunction(tok, allowed_special="all")
    return ds.map(function, batched=True, batch_size=7, num_proc=2)


tok = pybpe.load("my.pybpe")
first = ids(tok)
assert first.column_names == ["text", "input_ids"], first
(folder / "ids").write_bytes(pickle.dumps(first["input_ids"][:]))
plain = datasets.load_from_disk(folder / "rows").map(pybpe.MapFunction(
    tok, allowed_special="all"))
assert plain["input_ids"][:] == first["input_ids"][:]
# An equal tokenizer: nothing is encoded again. Another one: it is.
again = ids(pybpe.Tokenizer.from_bytes(tok.to_bytes()))
names = [[file["filename"] for file in ds.cache_files] for ds in (first, again)]
other = [file["filename"] for file in ids(tok.truncate(350)).cache_files]
print(other == names[0], names[0] == names[1])

"""
# Behind the example, in its names.
PRINT = """
print(sum(tok.encode(row["text"]) == row["input_ids"] for row in ds))
"""


# ---------------------------------------------------------------- torch


@pytest.mark.slow
def test_data_loader(tok: pybpe.Tokenizer, tmp_path: Path) -> None:
    """The example in the docs: with two workers and with none, the same ids."""
    pytest.importorskip("torch")
    documents = PAGE.split("\n\n")
    for part in range(3):
        name = f"part-{part}"
        with pybpe.ShardWriter(
            tok,
            tmp_path / "shards",
            name=name,
            separator="<|end|>",
            disallowed_special=(),
            shard_size=500,
        ) as writer:
            writer.add(documents[part::3])
    pybpe.join_shards(tmp_path / "shards")
    tokens = pybpe.open_shards(tmp_path / "shards")
    script = tmp_path / "loader.py"
    script.write_text(block("python", "DataLoader") + LOADER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment(),
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    alone, loaded, shuffled = pickle.loads((tmp_path / "found").read_bytes())
    assert loaded == alone
    assert sorted(shuffled) == sorted(alone)
    assert shuffled != alone
    assert len(alone) == (tokens.n_tokens - 1) // 32
    flat = tokens.tokens(0, tokens.n_tokens).tolist()
    for i, (x, y) in enumerate(alone):
        assert x == flat[32 * i : 32 * i + 32]
        assert y == flat[32 * i + 1 : 32 * i + 33]


LOADER = """

def rows(loader):
    return [
        (x.tolist(), y.tolist()) for xs, ys in loader for x, y in zip(xs, ys)
    ]


if __name__ == "__main__":
    import pickle

    blocks = Blocks("shards", 32)
    torch.manual_seed(1)
    found = [
        rows(DataLoader(blocks, batch_size=4)),
        rows(DataLoader(blocks, batch_size=4, num_workers=2)),
        rows(DataLoader(blocks, batch_size=4, num_workers=2, shuffle=True)),
    ]
    with open("found", "wb") as file:
        pickle.dump(found, file)
"""
