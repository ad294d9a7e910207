"""What test_ray.py runs in a process of its own: Ray on two nodes against one process.

    python tests/ray_cluster.py FOLDER

Starts a cluster of a head without processors and two nodes with one each, on this
machine and without a network, and compares what `pybpe.ray` makes there with what
`pybpe` makes here of the same rows. Prints a line for each comparison; stops with an
error at the first that fails.
"""

from __future__ import annotations

import logging
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
# Workers find the pybpe under test and this file where this process does.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import ray
import ray.data
from ray.cluster_utils import Cluster
from ray.exceptions import RayTaskError
from test_scaling_page import block
from test_training_counts import random_data

import pybpe
import pybpe.ray

BLOCKS = 19  # so that merging has two levels, and some left over at each
MEMORY = 80_000_000  # bytes of object store for each node, the least there may be
SPECIAL = ["<|end|>"]
STARTED = time.monotonic()


@contextmanager
def cluster(folder: Path) -> Iterator[None]:
    """Run a cluster of two nodes that can work, with its files in a folder."""
    # Ray writes the address there, and expects the folder to be there already.
    os.environ["RAY_TMPDIR"] = str(folder)
    (folder / "ray").mkdir()
    nodes = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "temp_dir": str(folder),
            "include_dashboard": False,
            "object_store_memory": MEMORY,
        },
    )
    try:
        for _ in range(2):
            nodes.add_node(num_cpus=1, object_store_memory=MEMORY)
        ray.init(
            address=nodes.address, log_to_driver=False, logging_level=logging.ERROR
        )
        # Ray Data has a logger of its own.
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        yield
    finally:
        ray.shutdown()
        nodes.shutdown()


def rows() -> list[str]:
    random_ = random.Random(1)
    made = [
        random_data(random_, random_.choice([0, 1, 9, 60])).decode("utf-8", "replace")
        for _ in range(60 * BLOCKS)
    ]
    made[7] = ""
    return made


def dawdle(block: Any) -> Any:
    """Let blocks be ready in another order than theirs."""
    time.sleep(random.Random(len(str(block))).random() / 20)
    return block


def dataset(texts: list[str], slow: bool = True) -> Any:
    ds = ray.data.from_items([{"text": t} for t in texts], override_num_blocks=BLOCKS)
    return ds.map_batches(dawdle, batch_size=None) if slow else ds


def say(result: str, what: str) -> None:
    sys.stdout.write(f"{time.monotonic() - STARTED:5.1f} s  {result}: {what}\n")
    sys.stdout.flush()


def same(what: str, got: object, want: object) -> None:
    if got != want:
        raise AssertionError(f"{what}: {got!r:.500} is not {want!r:.500}")
    say("same", what)


def refused(
    what: str, error: type[Exception], message: str, act: Callable[[], object]
) -> None:
    try:
        act()
    except error as found:
        if message not in str(found):
            raise
        say("refused", what)
        return
    raise AssertionError(f"{what} is not refused")


def check_counting(ds: Any, texts: list[str]) -> None:
    counts = pybpe.ray.count(ds, special_tokens=SPECIAL, protected=["Hello"])
    want = pybpe.count_texts(texts, special_tokens=SPECIAL, protected=["Hello"])
    same("counts, to the byte", counts.to_bytes(), want.to_bytes())
    loose = pybpe.ray.count(ds, pattern=None, preserve_order=False)
    alone = pybpe.count_texts(texts, pattern=None)
    same("counts in any order", dict(loose.items()), dict(alone.items()))
    bytes_ = ds.map_batches(
        lambda block: block.set_column(0, "raw", block["text"].cast(pa.binary())),
        batch_format="pyarrow",
    )
    same("counts of bytes", pybpe.ray.count(bytes_, "raw"), pybpe.count_texts(texts))
    none = ds.map_batches(lambda block: block.slice(0, 0), batch_format="pyarrow")
    same("counts of no rows", pybpe.ray.count(none), pybpe.count_texts([]))
    same("the caller's option", ds.context.execution_options.preserve_order, False)


def check_training(ds: Any, texts: list[str]) -> None:
    for tie_break in ("lowest", "first"):
        options = {"tie_break": tie_break, "pattern": "gpt2", "snapshots": [300]}
        tok = pybpe.ray.train(ds, 400, special_tokens=SPECIAL, **options)
        want = pybpe.train(texts, 400, special_tokens=SPECIAL, **options)
        same(f"fingerprint, {tie_break}", tok.fingerprint, want.fingerprint)
        same(f"file, {tie_break}", tok.to_bytes(), want.to_bytes())
        same(f"report, {tie_break}", tok.training_report, want.training_report)
    more = pybpe.ray.train(ds, num_merges=30, initial=want, num_cpus=0.5)
    same("going on", more, pybpe.train(texts, num_merges=30, initial=want))


def check_a_worker_that_dies(ds: Any, texts: list[str], folder: Path) -> None:
    mark = folder / "died"

    def die_once(block: Any) -> Any:
        if not mark.exists():
            mark.touch()
            os._exit(1)
        return block

    tok = pybpe.ray.train(
        ds.map_batches(die_once, batch_size=None), 300, tie_break="first"
    )
    same("a worker died", mark.exists(), True)
    same("training after that", tok, pybpe.train(texts, 300, tie_break="first"))


def check_encoding(ds: Any, texts: list[str]) -> None:
    tok = pybpe.train(texts, 400, special_tokens=SPECIAL)
    ids = pybpe.ray.encode(ds, tok, allowed_special="all").take_all()
    found = {row["text"]: list(map(int, row["input_ids"])) for row in ids}
    want = tok.encode_batch(texts, allowed_special="all")
    same("number of rows", len(ids), len(texts))
    same("ids", [found[text] for text in texts], want)
    plain = pybpe.ray.encode(
        ds, tok, output_column="x", disallowed_special=(), num_cpus=0.5
    )
    want = tok.encode_batch(texts, disallowed_special=())
    same("columns", sorted(plain.schema().names), ["text", "x"])
    found = {row["text"]: list(map(int, row["x"])) for row in plain.take_all()}
    same("ids of text", [found[t] for t in texts], want)
    refused(
        "special tokens in a text",
        RayTaskError,
        "spells the special token '<|end|>'",
        pybpe.ray.encode(ds, tok).materialize,
    )
    refused(
        "a column twice",
        ValueError,
        "column 'x' already",
        lambda: pybpe.ray.encode(plain, tok, output_column="x").materialize(),
    )
    known = ray.data.from_items([{"text": "low", "n": 1}])
    missing = "there is no column 'txt' but 'text', 'n'"
    refused(
        "a column that is known to be missing, before any work",
        ValueError,
        missing,
        lambda: pybpe.ray.encode(known, tok, "txt"),
    )
    refused(
        "a column known to be there",
        ValueError,
        "column 'n' already",
        lambda: pybpe.ray.encode(known, tok, output_column="n"),
    )
    late = known.map_batches(lambda block: block, batch_format="pyarrow")
    refused(
        "a column that is missing",
        RayTaskError,
        missing,
        lambda: pybpe.ray.encode(late, tok, "txt").materialize(),
    )


def check_shards(ds: Any, texts: list[str], folder: Path) -> None:
    tok = pybpe.train(texts, 400, special_tokens=SPECIAL)
    options: dict[str, Any] = {
        "separator": "<|end|>",
        "disallowed_special": (),
        "shard_size": 2000,
    }
    index = pybpe.ray.write_shards(ds, tok, folder / "many", **options)
    same("the index", index, folder / "many" / "index.json")
    with pybpe.ShardWriter(tok, folder / "one", **options) as writer:
        writer.add(texts)
    pybpe.join_shards(folder / "one")
    many, one = (pybpe.open_shards(folder / name) for name in ("many", "one"))
    same("number of documents", len(many), len(one))
    same(
        "documents of shards",
        [many[i].tolist() for i in range(len(many))],
        [one[i].tolist() for i in range(len(one))],
    )
    same("tokens", *(s.tokens(0, s.n_tokens).tobytes() for s in (many, one)))
    same("fingerprint of shards", many.fingerprint, tok.fingerprint)
    refused(
        "a folder with shards",
        pybpe.CorpusError,
        "there are shards in this folder",
        lambda: pybpe.ray.write_shards(ds, tok, folder / "many", **options),
    )
    fewer = ds.map_batches(
        lambda block: block.filter(pc.equal(block["text"], "")), batch_format="pyarrow"
    )
    pybpe.ray.write_shards(fewer, tok, folder / "many", overwrite=True, **options)
    many = pybpe.open_shards(folder / "many")
    same("documents after that", len(many), texts.count(""))
    refused(
        "a missing column, before any work",
        ValueError,
        "there is no column 'txt' but 'text'",
        lambda: pybpe.ray.write_shards(
            ray.data.from_items([{"text": "low"}]),
            tok,
            folder / "many",
            "txt",
            overwrite=True,
            **options,
        ),
    )
    same("the set that stays", (folder / "many" / "index.json").exists(), True)
    # A run that fails leaves no index that speaks of what it has replaced.
    spelled = {**options, "disallowed_special": "all"}
    refused(
        "a text that spells a special token",
        RayTaskError,
        "spells the special token",
        lambda: pybpe.ray.write_shards(
            ds, tok, folder / "many", overwrite=True, **spelled
        ),
    )
    same("the index after that", (folder / "many" / "index.json").exists(), False)
    (folder / "a.txt").write_text("low")
    tok.encode_files(folder / "a.txt", folder / "files", separator=None)
    refused(
        "a folder of encode_files",
        pybpe.CorpusError,
        "encode_files",
        lambda: pybpe.ray.write_shards(
            ds, tok, folder / "files", overwrite=True, **options
        ),
    )
    same("its shards", len(pybpe.open_shards(folder / "files")), 1)
    refused(
        "no such separator, before any work",
        pybpe.UnknownTokenError,
        "<s>",
        lambda: pybpe.ray.write_shards(None, tok, folder / "no", separator="<s>"),
    )


def check_the_page(texts: list[str], folder: Path) -> None:
    """Run the example of docs/scaling.md, with folders here."""
    plain = [text.replace("|", "") for text in texts]
    (folder / "corpus").mkdir()
    pq.write_table(pa.table({"text": plain}), folder / "corpus" / "0.parquet")
    code = block("python", "import pybpe.ray")
    for theirs in ("s3://", "/shared/"):
        code = code.replace(theirs, f"{folder}/")
    exec(code, names := {})  # noqa: S102 - our own page
    tok = names["tok"]
    same(
        "the page's tokenizer", tok, pybpe.train(plain, 65_536, special_tokens=SPECIAL)
    )
    shards = pybpe.open_shards(folder / "shards")
    want = [[*ids, tok.special_tokens["<|end|>"]] for ids in tok.encode_batch(plain)]
    same("the page's shards", [shards[i].tolist() for i in range(len(shards))], want)
    encoded = pq.read_table(folder / "encoded")
    same("the page's columns", encoded.column_names, ["input_ids"])
    same("the page's rows", encoded.num_rows, len(plain))


def check_refusals(ds: Any, texts: list[str]) -> None:
    refused(
        "a column that is not there",
        ValueError,
        "no column 'txt' but 'text'",
        lambda: pybpe.ray.count(ds, "txt"),
    )
    numbers = ray.data.from_items([{"text": 1}])
    refused(
        "a column of numbers",
        TypeError,
        "column 'text' must hold text or bytes, not int64",
        lambda: pybpe.ray.count(numbers),
    )
    holes = ray.data.from_items([{"text": "a"}, {"text": None}], override_num_blocks=1)
    refused(
        "a row without a text",
        ValueError,
        "rows without a text",
        lambda: pybpe.ray.count(holes),
    )
    most = len(pybpe.count_texts(texts))
    refused(
        "too many pretokens",
        pybpe.TrainingError,
        f"max_pretokens={most - 1} ",
        lambda: pybpe.ray.count(ds, max_pretokens=most - 1),
    )
    same("just enough", len(pybpe.ray.count(ds, max_pretokens=most)), most)
    refused(
        "a size too small, before any work",
        ValueError,
        "vocab_size must be between 257",
        lambda: pybpe.ray.train(None, 256, special_tokens=SPECIAL),
    )
    refused(
        "no processors",
        ValueError,
        "num_cpus must be above 0",
        lambda: pybpe.ray.count(ds, num_cpus=0),
    )


def check_both_nodes_work(ds: Any) -> None:
    def where(block: Any) -> Any:
        time.sleep(0.2)
        return {"node": [ray.get_runtime_context().get_node_id()]}

    nodes = ds.map_batches(where, batch_size=None).take_all()
    same("nodes that work", len({row["node"] for row in nodes}), 2)


def main(folder: Path) -> None:
    texts = rows()
    with cluster(folder):
        ds = dataset(texts)
        check_both_nodes_work(dataset(texts, slow=False))
        check_counting(ds, texts)
        check_training(ds, texts)
        check_encoding(ds, texts)
        check_shards(ds, texts, folder)
        check_the_page(texts, folder)
        check_a_worker_that_dies(ds, texts, folder)
        check_refusals(ds, texts)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
