"""Files of ids: each layout read by a reader written from its description."""

from __future__ import annotations

import doctest
import itertools
import json
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pybpe
from pybpe import CorpusError, ShardWriter, Tokenizer, join_shards, open_shards
from pybpe.corpora import documents, jsonl, prepare, text

SMALL = Tokenizer.from_merges([(108, 111), (256, 119), (104, 101)], pattern="cl100k")
TOK = SMALL.add_special_tokens(["<|end|>", "<|pad|>"])
END = TOK.token_id("<|end|>")
WIDE = SMALL.add_special_tokens({"<|end|>": 70_000})

OPTIONS: dict[str, Any] = {"separator": "<|end|>", "disallowed_special": ()}


def write_jsonl(path: Path, texts: list[str]) -> Path:
    path.write_bytes(b"".join(json.dumps({"text": t}).encode() + b"\n" for t in texts))
    return path


def expected(
    texts: list[str], at: str = "end", tok: Tokenizer = TOK
) -> list[list[int]]:
    end = [tok.token_id("<|end|>")]
    rows = [tok.encode_ordinary(one) for one in texts]
    return [end + ids if at == "start" else ids + end for ids in rows]


def flat(rows: list[list[int]]) -> list[int]:
    return [number for row in rows for number in row]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: no power cut is tested here."""
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


# ------------------------------------------------ readers, from the descriptions alone


def read_shard(path: Path) -> list[list[int]]:
    """docs/corpora.md, byte by byte."""
    data = path.read_bytes()
    assert data[:8] == b"pybpeTOK"
    version, width, n, docs, at, separator, n_vocab, crc, zero = struct.unpack_from(
        "<IIQQQqQII", data, 8
    )
    assert (version, zero) == (1, 0)
    assert data[64:96].hex() in (TOK.fingerprint, WIDE.fingerprint)
    assert not any(data[96:256])
    assert separator in (END, 70_000, -1)
    assert n_vocab in (TOK.n_vocab, WIDE.n_vocab)
    assert zlib.crc32(data[256:]) == crc
    tokens = np.frombuffer(data, {2: "<u2", 4: "<u4"}[width], n, 256)
    assert at % 8 == 0
    assert not any(data[256 + n * width : at])
    offsets = np.frombuffer(data, "<i8", docs + 1, at).tolist()
    assert at + 8 * (docs + 1) == len(data)
    assert offsets[0] == 0
    assert offsets[-1] == n
    return [tokens[a:b].tolist() for a, b in itertools.pairwise(offsets)]


def read_megatron(prefix: Path) -> list[list[int]]:
    """IndexedDataset of Megatron-LM: header, lengths, pointers, documents."""
    index = prefix.with_suffix(".idx").read_bytes()
    magic, version, code, n, n_documents = struct.unpack_from("<9sQBQQ", index)
    assert (magic, version) == (b"MMIDIDX\0\0", 1)
    dtype = np.dtype({8: "<u2", 4: "<i4"}[code])
    lengths = np.frombuffer(index, "<i4", n, 34)
    pointers = np.frombuffer(index, "<i8", n, 34 + 4 * n)
    starts = np.frombuffer(index, "<i8", n_documents, 34 + 12 * n)
    assert len(index) == 34 + 12 * n + 8 * n_documents
    assert starts.tolist() == list(range(n + 1))
    data = prefix.with_suffix(".bin").read_bytes()
    assert len(data) == int(lengths.sum()) * dtype.itemsize
    return [
        np.frombuffer(data, dtype, length, pointer).tolist()
        for length, pointer in zip(lengths.tolist(), pointers.tolist(), strict=True)
    ]


def read_llm_c(path: Path) -> list[int]:
    """llm.c: 256 int32, of which three mean something."""
    data = path.read_bytes()
    header = np.frombuffer(data, "<i4", 256).tolist()
    width = {(20240520, 1): 2, (20240801, 7): 4}[header[0], header[1]]
    assert not any(header[3:])
    assert len(data) == 1024 + header[2] * width
    return np.frombuffer(data, f"<u{width}", header[2], 1024).tolist()  # type: ignore[no-any-return]


# ---------------------------------------------------------------- round trips


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.text(st.sampled_from("lowhe \n\u00e9<|end>"), max_size=40), min_size=1
    ),
    at=st.sampled_from(["start", "end"]),
    shard_size=st.integers(1, 60),
    threads=st.sampled_from([1, 2]),
    chunk=st.sampled_from([16, 4 << 20]),
)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    texts: list[str],
    at: Any,
    shard_size: int,
    threads: int,
    chunk: int,
) -> None:
    for module in (documents, jsonl, text, prepare):
        monkeypatch.setattr(module, "CHUNK", chunk)
    tmp = tmp_path_factory.mktemp("round")
    source = write_jsonl(tmp / "a.jsonl", texts)
    rows = expected(texts, at)
    options = {**OPTIONS, "separator_at": at, "num_threads": threads}

    report = TOK.encode_files(source, tmp / "shards", shard_size=shard_size, **options)
    found = open_shards(tmp / "shards")
    assert [row.tolist() for row in found] == rows
    assert flat([read_shard(Path(file)) for file in report.files]) == rows  # type: ignore[arg-type]
    sizes = [len(shard.tokens) for shard in found.shards]
    # A shard ends with the document that reaches the size.
    assert all(size >= shard_size for size in sizes[:-1])
    assert all(
        size - int(np.diff(shard.offsets)[-1]) < shard_size
        for size, shard in zip(sizes, found.shards, strict=True)
    )
    n = found.n_tokens
    assert report.tokens == n == len(flat(rows))
    for begin, end in ((0, n), (n // 3, n - n // 4), (n, n)):
        assert found.tokens(begin, end).tolist() == flat(rows)[begin:end]
    assert (
        found[len(texts) // 2].tolist() == found[len(texts) // 2 - len(texts)].tolist()
    )
    found.verify()

    TOK.encode_files(source, tmp / "nano", layout="nanogpt", **options)
    nano = np.memmap(tmp / "nano" / "train.bin", "<u2", "r")
    assert nano.tolist() == flat(rows)

    TOK.encode_files(source, tmp / "mega", layout="megatron", **options)
    assert read_megatron(tmp / "mega" / "train") == rows

    report = TOK.encode_files(
        source, tmp / "llm", layout="llm.c", shard_size=shard_size, **options
    )
    parts = [read_llm_c(Path(file)) for file in report.files]
    assert flat(parts) == flat(rows)
    assert {len(part) for part in parts[:-1]} <= {shard_size}
    assert report.empty == texts.count("")


def test_wide_ids(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", texts := ["low", "", "hello"])
    rows = expected(texts, tok=WIDE)
    report = WIDE.encode_files(source, tmp_path / "s", **OPTIONS)
    assert report.dtype == "uint32"
    assert read_shard(Path(report.files[0])) == rows
    report = WIDE.encode_files(source, tmp_path / "m", layout="megatron", **OPTIONS)
    assert report.dtype == "int32"
    assert read_megatron(tmp_path / "m" / "train") == rows
    report = WIDE.encode_files(source, tmp_path / "l", layout="llm.c", **OPTIONS)
    assert read_llm_c(Path(report.files[0])) == flat(rows)
    report = TOK.encode_files(source, tmp_path / "u", dtype="uint32", **OPTIONS)
    assert read_shard(Path(report.files[0])) == expected(texts)
    with pytest.raises(
        ValueError, match="dtype='uint16' holds ids below 65,536, and th"
    ):
        WIDE.encode_files(source, tmp_path / "x", dtype="uint16", **OPTIONS)
    with pytest.raises(
        ValueError, match="dtype must be 'auto' or one of uint16, int32"
    ):
        WIDE.encode_files(
            source, tmp_path / "x", layout="megatron", dtype="uint32", **OPTIONS
        )
    with pytest.raises(
        ValueError, match="dtype must be 'auto' or one of uint16, uint32"
    ):
        WIDE.encode_files(source, tmp_path / "x", dtype="int32", **OPTIONS)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("layout", ["shards", "nanogpt", "megatron", "llm.c"])
def test_a_share_for_validation(tmp_path: Path, layout: Any) -> None:
    texts = [f"low {i}" for i in range(400)]
    source = write_jsonl(tmp_path / "a.jsonl", texts)
    rows = expected(texts)
    found = []
    for threads in (1, 3):
        folder = tmp_path / f"{threads}"
        options = {**OPTIONS, "layout": layout, "num_threads": threads}
        report = TOK.encode_files(source, folder, val_fraction=0.1, **options)
        names = [Path(file).name for file in report.files]
        found.append({name: (folder / name).read_bytes() for name in names})
    assert found[0] == found[1]
    assert [name[:3] for name in names] == ["tra", "val"]
    if layout == "shards":
        train, val = (open_shards(folder, split) for split in ("train", "val"))
        assert 20 <= len(val) <= 60
        assert sorted(row.tolist() for row in [*train, *val]) == sorted(rows)
        with pytest.raises(CorpusError, match=r"the splits 'train', 'val': give one"):
            open_shards(folder)
    with pytest.raises(CorpusError, match="of 400 documents none went to 'val'"):
        TOK.encode_files(source, tmp_path / "x", val_fraction=1e-9, **OPTIONS)


def test_large_texts_are_parted_where_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (documents, jsonl, text, prepare):
        monkeypatch.setattr(module, "CHUNK", 100)
    whole = ("low hello <|end|> the low\n\n  lower <|pa" * 90) + "x" * 500 + " low" * 99
    (tmp_path / "a.txt").write_text(whole)
    (tmp_path / "b.txt").write_text("")
    (tmp_path / "c.txt").write_text("hello")
    for special in ({"allowed_special": "all"}, {"disallowed_special": ()}):
        for at in ("start", "end"):
            for fraction in (0, 0.5):
                options = {"separator": "<|end|>", "separator_at": at, **special}
                folder = (
                    tmp_path / f"{at}{fraction}{len(special)}{next(iter(special))[0]}"
                )
                report = TOK.encode_files(
                    tmp_path / "?.txt", folder, val_fraction=fraction, **options
                )
                assert (report.documents, report.empty) == (3, 1)
                splits = ("train", "val") if fraction else (None,)
                rows = [r.tolist() for s in splits for r in open_shards(folder, s)]
                ids = [TOK.encode(t, **special) for t in (whole, "", "hello")]
                marked = [[END, *r] if at == "start" else [*r, END] for r in ids]
                assert sorted(rows) == sorted(marked)


def test_documents_without_separators(tmp_path: Path) -> None:
    texts = ["low", "", "", "hello"]
    source = write_jsonl(tmp_path / "a.jsonl", texts)
    report = TOK.encode_files(source, tmp_path / "s", separator=None)
    rows = [TOK.encode(one) for one in texts]
    assert read_shard(Path(report.files[0])) == rows
    assert open_shards(tmp_path / "s").separator is None
    TOK.encode_files(source, tmp_path / "m", separator=None, layout="megatron")
    assert read_megatron(tmp_path / "m" / "train") == rows


def test_codepoint_models(tmp_path: Path) -> None:
    lines = ["low lower lowest", "the newest  wider"] * 20
    tok = pybpe.train_sentencepiece(lines, 40)
    source = write_jsonl(tmp_path / "a.jsonl", lines)
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        tok.encode_files(source, folder, separator="</s>", num_threads=threads)
        ends = [[*tok.encode(one), tok.token_id("</s>")] for one in lines]
        assert [row.tolist() for row in open_shards(folder)] == ends


def test_separators_that_are_refused(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", ["low"])
    hint = r"the special tokens are '<\|end\|>' \(259\), '<\|pad\|>' \(260\); None puts"
    with pytest.raises(pybpe.UnknownTokenError, match=hint):
        TOK.encode_files(source, tmp_path / "x", separator="<|eot|>")
    with pytest.raises(pybpe.UnknownTokenError, match="no token has id 999"):
        TOK.encode_files(source, tmp_path / "x", separator=999)
    with pytest.raises(pybpe.UnknownTokenError, match="has no special tokens"):
        SMALL.encode_files(source, tmp_path / "x", separator="<|end|>")
    with pytest.raises(TypeError):
        TOK.encode_files(source, tmp_path / "x")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        TOK.encode_files(source, tmp_path / "x", separator=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"layout": "bin"}, "layout must be one of shards, nanogpt, llm.c, megatron"),
        ({"separator_at": "both"}, "separator_at must be 'start' or 'end'"),
        ({"shard_size": 0}, "shard_size must be between 1 and"),
        ({"shard_size": 9, "layout": "nanogpt"}, "layout='nanogpt' is one file"),
        ({"shard_size": 2**31, "layout": "llm.c"}, "between 1 and 2,147,483,647"),
        ({"val_fraction": 1.0}, "val_fraction must be at least 0 and below 1"),
        ({"num_threads": 0}, "num_threads must be 1 or more"),
        ({"format": "csv"}, "format must be one of text, jsonl, parquet"),
    ],
)
def test_options_that_make_no_sense(
    tmp_path: Path, options: dict[str, Any], complaint: str
) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", ["low"])
    with pytest.raises(ValueError, match=complaint):
        TOK.encode_files(source, tmp_path / "x", **{**OPTIONS, **options})
    assert not (tmp_path / "x").exists()


def test_special_tokens_in_documents(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", ["low", "é<|end|>"])
    where = (
        r"a.jsonl, line 2: the text spells the special token '<\|end\|>' at character 1"
    )
    for threads in (1, 2):
        with pytest.raises(pybpe.SpecialTokenError, match=where):
            TOK.encode_files(
                source, tmp_path / "x", separator="<|end|>", num_threads=threads
            )
    # What was refused may be allowed when going on: nothing written depends on it.
    report = TOK.encode_files(
        source, tmp_path / "x", separator="<|end|>", allowed_special="all"
    )
    assert read_shard(Path(report.files[0]))[1] == [*TOK.encode("é"), END, END]


# ---------------------------------------------------------------- writers


def test_writers_side_by_side(tmp_path: Path) -> None:
    texts = [f"low {i} hello" for i in range(50)]
    with ShardWriter(TOK, tmp_path, separator="<|end|>", name="b") as two:
        two.add(texts[20:30])
        two.add_ids(*TOK.encode_batch_to_numpy(texts[30:]))
    with ShardWriter(
        TOK, tmp_path, separator="<|end|>", name="a", shard_size=30, num_threads=2
    ) as one:
        one.add(iter(texts[:20]))
    assert two.report is not None
    assert two.report.documents == 30
    assert one.report is not None
    assert len(one.report.files) > 1
    assert one.report.bytes == sum(map(len, texts[:20]))
    with pytest.raises(CorpusError, match="not joined"):
        open_shards(tmp_path)
    assert join_shards(tmp_path) == tmp_path / "index.json"
    assert [row.tolist() for row in open_shards(tmp_path)] == expected(texts)
    join_shards(tmp_path, ["b", "a"])
    assert open_shards(tmp_path)[0].tolist() == expected(texts)[20]
    with pytest.raises(ValueError, match="the writer has finished"):
        one.add(["x"])
    with pytest.raises(CorpusError, match="a writer of this name has finished"):
        ShardWriter(TOK, tmp_path, separator="<|end|>", name="a")
    with ShardWriter(TOK, tmp_path, separator=None, name="a", overwrite=True) as again:
        again.add(texts)
    assert len(list(tmp_path.glob("a-*.tokens"))) == 1
    with pytest.raises(CorpusError, match=f"b has separator={END}, and a has None"):
        join_shards(tmp_path)


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):  # noqa: SIM117, PT012
        with ShardWriter(TOK, tmp_path, separator=None, shard_size=1) as writer:
            writer.add(["low", "hello"])
            raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    writer = ShardWriter(TOK, tmp_path, separator=None)
    writer.add(["low"])
    with pytest.raises(CorpusError, match=r"tokens.*part: its writer has not finished"):
        join_shards(tmp_path)
    with pytest.raises(CorpusError, match="another writer named 'shard' is at work"):
        ShardWriter(TOK, tmp_path, separator=None)
    writer._output.close()  # as a kill does
    writer._lock._file.close()
    with ShardWriter(TOK, tmp_path, separator=None) as other:  # what a retry does
        other.add(["hello"])
    join_shards(tmp_path)
    assert open_shards(tmp_path)[0].tolist() == TOK.encode("hello")


def test_what_writers_refuse(tmp_path: Path) -> None:
    with ShardWriter(TOK, tmp_path, separator=None) as writer:
        with pytest.raises(TypeError, match="got one str: put it into a list"):
            writer.add("low")
        with pytest.raises(TypeError, match=r"texts\[1\] must be str or bytes"):
            writer.add(["low", 3])  # type: ignore[list-item]
        with pytest.raises(
            pybpe.SpecialTokenError, match=r"^texts\[1\]: the text spells"
        ):
            writer.add(["low", "<|end|>"])
        bad: list[tuple[Any, Any, str]] = [
            ([1, 2], [0, 1], "offsets must ascend from 0 to the number of ids, 2"),
            ([1, 2], [0, 2, 1, 2], "offsets must ascend"),
            ([1, 999], [0, 2], "ids must be below 261"),
            ([1, -1], [0, 2], "ids must be below 261"),
        ]
        for ids, offsets, complaint in bad:
            with pytest.raises(ValueError, match=complaint):
                writer.add_ids(np.array(ids), np.array(offsets))
        with pytest.raises(TypeError, match="ids must be a row of integers"):
            writer.add_ids(np.array([0.5]), np.array([0, 1]))
    for name in ("", "a/b", ".x"):
        with pytest.raises(ValueError, match="name must be the beginning of a file's"):
            ShardWriter(TOK, tmp_path, separator=None, name=name)


# ---------------------------------------------------------------- damaged shards


def test_damage_is_found(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", ["low", "hello"])
    (name,) = TOK.encode_files(source, tmp_path / "s", **OPTIONS).files
    shard, whole = Path(name), Path(name).read_bytes()
    shards = open_shards(tmp_path / "s")
    assert repr(shards).startswith("<pybpe.Shards: 2 documents, ")
    assert "2 documents, " in repr(shards.shards[0])
    for wrong in (1.0, [0, 1], "0"):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            shards[wrong]
    with pytest.raises(IndexError, match="document 2 of 2"):
        open_shards(tmp_path / "s")[2]
    with pytest.raises(IndexError, match="tokens 0 to 99 of"):
        open_shards(tmp_path / "s").tokens(0, 99)
    assert len(open_shards(shard)) == 2
    shard.write_bytes(whole[:-1])
    with pytest.raises(CorpusError, match=r"damaged: it has .* and its header says"):
        open_shards(tmp_path / "s")
    shard.write_bytes(whole[:260] + b"\x01" + whole[261:])
    with pytest.raises(CorpusError, match="do not have the checksum"):
        open_shards(tmp_path / "s").verify()
    shard.write_bytes(b"x" * 300)
    with pytest.raises(CorpusError, match="not a shard of pybpe"):
        open_shards(shard)
    shard.write_bytes(whole[:8] + b"\x02" + whole[9:])
    with pytest.raises(CorpusError, match="a shard of format version 2"):
        open_shards(shard)
    shard.unlink()
    with pytest.raises(CorpusError, match=r"named in .*index.json, but not there"):
        open_shards(tmp_path / "s")
    with pytest.raises(CorpusError, match=r"tokens: it was complete, and is not there"):
        TOK.encode_files(source, tmp_path / "s", **OPTIONS)


def test_indexes_that_are_not_ours(tmp_path: Path) -> None:
    """No file outside of the folder is read or removed, whatever an index says."""
    source = write_jsonl(tmp_path / "a.jsonl", ["low", "hello"])
    folder = tmp_path / "s"
    TOK.encode_files(source, folder, **OPTIONS)
    path = folder / "index.json"
    index = json.loads(path.read_bytes())
    (entry,) = index["files"]
    foreign: list[object] = [[], {}, "pybpe corpus", {**index, "format": "else"}]
    damaged: list[object] = [
        {"format": "pybpe corpus", "version": 1},
        {**index, "files": {}},
        {**index, "files": [{**entry, "file": "../a.jsonl"}]},
        {**index, "files": [{**entry, "file": str(source)}]},
        {**index, "files": [{**entry, "file": ".."}]},
        {**index, "files": [{**entry, "split": None}]},
        {**index, "fingerprint": None},
        {**index, "tokens": index["tokens"] + 1},
    ]
    cases = [(json.dumps(bad), "not an index of pybpe") for bad in foreign]
    cases += [(json.dumps(bad), "damaged: it does not say what") for bad in damaged]
    # What is no JSON at all is ours if it begins as ours does.
    whole = path.read_text()
    cases += [(whole[:5], "not an index of pybpe"), (whole[:-9], "damaged: it begins")]
    for bad, complaint in cases:
        path.write_text(bad)
        with pytest.raises(CorpusError, match=rf"index\.json: {complaint}"):
            open_shards(folder)
        with pytest.raises(CorpusError, match=rf"index\.json: {complaint}"):
            TOK.encode_files(source, folder, overwrite=True, **OPTIONS)
    path.write_text(json.dumps({**index, "version": 2}))
    with pytest.raises(CorpusError, match=r"format version 2, .* upgrade pybpe"):
        open_shards(folder)
    assert source.exists()


# ---------------------------------------------------------------- the page


def test_the_examples_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).resolve().parent.parent / "docs" / "corpora.md"
    if not page.exists():
        pytest.skip("the pages are in the source tree")
    monkeypatch.chdir(tmp_path)
    text_of_page = page.read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(text_of_page, {}, "p", None, 0)
    assert len(examples.examples) > 10
    report: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(examples, out=report.append)
    assert failed.failed == 0, "".join(report)
