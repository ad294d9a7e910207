"""Runs that are broken off: the next one goes on, and gives the same bytes."""

from __future__ import annotations

import errno
import gzip
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from killing import digests, kill_again_and_again
from test_corpora_layouts import OPTIONS, TOK, expected, write_jsonl

import pybpe
from pybpe import CorpusError, open_shards
from pybpe.corpora import documents, jsonl, layouts, output, prepare, run, text

TEXTS = [f"low {i} hello\n" * (i % 7) for i in range(300)]


@pytest.fixture
def many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files be read in small chunks, and each be followed by a state."""
    for module in (documents, jsonl, text, prepare):
        monkeypatch.setattr(module, "CHUNK", 512)
    monkeypatch.setattr(run, "_INTERVAL", 0)
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with documents in files of several kinds."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_jsonl(folder / "a.jsonl", TEXTS[:100])
    write_jsonl(folder / "b.jsonl", TEXTS[100:200])
    packed = gzip.compress((folder / "b.jsonl").read_bytes())
    (folder / "b.jsonl").unlink()
    (folder / "b.jsonl.gz").write_bytes(packed)
    for i, one in enumerate(TEXTS[200:250]):
        (folder / f"c{i:02}.txt").write_text(one)
    (folder / "d.txt").write_text("low hello the " * 500)
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        write_jsonl(folder / "e.jsonl", TEXTS[250:])
    else:
        table = pyarrow.table({"text": TEXTS[250:]})
        pyarrow.parquet.write_table(table, folder / "e.parquet", row_group_size=9)
    return folder


class Stop(Exception):
    """What breaks a run off."""


@pytest.mark.usefixtures("many_states")
@pytest.mark.parametrize("layout", ["shards", "nanogpt", "llm.c", "megatron"])
def test_a_run_that_is_broken_off_is_gone_on_with(
    tmp_path: Path, corpus: Path, layout: Any
) -> None:
    options = {**OPTIONS, "layout": layout, "val_fraction": 0.2}
    if layout in ("shards", "llm.c"):
        options["shard_size"] = 700
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    TOK.encode_files(corpus, whole, **options)
    seen: list[int] = []
    resumed = []
    for _ in range(500):
        calls = 0

        def stop(progress: pybpe.corpora.EncodingProgress) -> None:
            nonlocal calls
            calls += 1
            seen.append(progress.documents)
            if calls == 2:
                raise Stop

        try:
            # Of the time between two calls nothing depends on the clock.
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(prepare, "_INTERVAL", 0)
                report = TOK.encode_files(
                    corpus,
                    broken,
                    progress=stop,
                    num_threads=1 + len(seen) % 2,
                    **options,
                )
        except Stop:
            continue
        resumed.append(report.resumed)
        break
    assert len(seen) > 20
    assert seen == sorted(seen)
    assert resumed[0] > 200
    assert digests(whole) == digests(broken)
    again = TOK.encode_files(corpus, broken, **options)
    assert again.resumed == again.documents == report.documents
    assert digests(whole) == digests(broken)


@pytest.mark.usefixtures("many_states")
def test_every_state_that_a_kill_may_leave(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copy the folder before and after each step that changes what is in it."""
    import shutil

    options = {**OPTIONS, "shard_size": 2000, "num_threads": 1}
    broken, left = tmp_path / "broken", tmp_path / "left"
    left.mkdir()
    steps = iter(range(10_000))
    lock = threading.RLock()  # states are written by a thread of their own

    def keep() -> None:
        number = next(steps)
        if number % 7 == 0 or (broken / "index.json").exists():
            shutil.copytree(broken, left / str(number))

    replace, unlink = Path.replace, Path.unlink
    write = output.write

    def replacing(self: Path, target: Path) -> Path:
        with lock:
            keep()
            return replace(self, target)

    def unlinking(self: Path, missing_ok: bool = False) -> None:
        with lock:
            keep()
            unlink(self, missing_ok)

    def writing(file: Any, data: Any) -> None:
        with lock:
            keep()
            write(file, data[: len(data) // 2])
            keep()
            write(file, data[len(data) // 2 :])

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replacing)
        patch.setattr(Path, "unlink", unlinking)
        patch.setattr(output, "write", writing)
        TOK.encode_files(corpus, broken, **options)
    whole = digests(broken)
    states = sorted(left.iterdir())
    assert len(states) > 30
    assert any((state / "index.json").exists() for state in states)
    assert any((state / "shard-00000.tokens.part").exists() for state in states)
    for state in states:
        TOK.encode_files(corpus, state, **options)
        assert digests(state) == whole, state.name


def test_killed_again_and_again(tmp_path: Path) -> None:
    """The short form; `python tests/killing.py` has the long one."""
    source = write_jsonl(tmp_path / "a.jsonl", TEXTS * 200)
    model = tmp_path / "a.pybpe"
    TOK.save(model)
    options = {"separator": "<|end|>", "shard_size": 300_000, "num_threads": 2}
    left = kill_again_and_again(
        model, source, tmp_path, options, kills=4, seed=1, interval=0.0, chunk=20_000
    )
    assert len(left) == 4


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("layout", ["shards", "nanogpt", "megatron"])
def test_a_gigabyte_killed_ten_times(
    tmp_path: Path, data_path: Any, layout: str
) -> None:
    import subprocess
    import sys

    root = Path(__file__).parent.parent
    names = [
        f"corpora/{kind}_100mb.txt.xz" for kind in ("english", "code", "multilingual")
    ]
    source = tmp_path / "large.jsonl"
    make = [sys.executable, root / "bench" / "make_documents.py"]
    subprocess.run([*make, *map(data_path, names), "-o", source], check=True)
    model = data_path("vocab/openai/cl100k_base.tiktoken")
    options = {"separator": "<|endoftext|>", "disallowed_special": [], "layout": layout}
    left = kill_again_and_again(model, source, tmp_path, options, kills=10, seed=2)
    assert len(left) == 10


# ---------------------------------------------------------------- what is refused


def broken_off(corpus: Path, folder: Path, **options: Any) -> None:
    def stop(progress: pybpe.corpora.EncodingProgress) -> None:
        if progress.documents:
            raise Stop

    with pytest.raises(Stop):
        TOK.encode_files(corpus, folder, progress=stop, **{**OPTIONS, **options})


@pytest.mark.usefixtures("many_states")
@pytest.mark.parametrize("finished", [False, True])
def test_another_run_is_refused_by_name(
    tmp_path: Path, corpus: Path, finished: bool
) -> None:
    folder = tmp_path / "out"
    if finished:
        TOK.encode_files(corpus, folder, **OPTIONS)
    else:
        broken_off(corpus, folder)
    before = digests(folder)
    other = TOK.add_special_tokens(["<|more|>"])
    changes: list[tuple[Any, dict[str, Any], str]] = [
        (
            other,
            {},
            f"begun with another tokenizer: its fingerprint begins with "
            f"{TOK.fingerprint[:12]}, and this one's with {other.fingerprint[:12]};",
        ),
        (TOK, {"separator": 0}, "begun with separator=259, and this is separator=0"),
        (TOK, {"layout": "nanogpt"}, 'layout="shards", and this is layout="nanogpt"'),
        (TOK, {"shard_size": 99}, "shard_size=100000000, and this is shard_size=99"),
        (TOK, {"allowed_special": {"<|pad|>"}}, r'allowed_special=\["<|pad|>"\]'),
        (TOK, {"split_on": "\n"}, r'split_on=null, and this is split_on="\\n"'),
        (TOK, {"val_fraction": 0.5}, "val_fraction=0.0, and this is val_fraction=0.5"),
    ]
    for tok, options, complaint in changes:
        with pytest.raises(CorpusError, match=complaint):
            tok.encode_files(corpus, folder, **{**OPTIONS, **options})
    with pytest.raises(
        CorpusError, match=r"begun with the input .*a.jsonl, and now there"
    ):
        TOK.encode_files(corpus / "e*", folder, **OPTIONS)
    (corpus / "z.txt").write_text("more")
    with pytest.raises(CorpusError, match="begun with 54 files, and now there are 55"):
        TOK.encode_files(corpus, folder, **OPTIONS)
    (corpus / "z.txt").unlink()
    assert digests(folder) == before
    first = corpus / "a.jsonl"
    data, status = first.read_bytes(), first.stat()
    first.write_bytes(data.replace(b"low", b"lox"))  # as long as before
    os.utime(first, ns=(status.st_atime_ns, status.st_mtime_ns + 10**12))
    with pytest.raises(CorpusError, match=r"a\.jsonl:? (was )?changed (since|after) "):
        TOK.encode_files(corpus, folder, **OPTIONS)
    assert digests(folder) == before
    report = TOK.encode_files(corpus, folder, overwrite=True, **OPTIONS)
    assert report.resumed == 0
    fresh = tmp_path / "fresh"
    TOK.encode_files(corpus, fresh, **OPTIONS)
    assert digests(fresh) == digests(folder)


def test_a_folder_with_other_files_is_refused(tmp_path: Path, corpus: Path) -> None:
    with pytest.raises(
        CorpusError, match=r"the folder holds other files, such as 'a.json"
    ):
        TOK.encode_files(corpus, corpus, **OPTIONS)
    with pytest.raises(CorpusError, match="the folder holds other files"):
        TOK.encode_files(corpus, corpus, overwrite=True, **OPTIONS)
    assert len(list(corpus.iterdir())) == 54


@pytest.mark.usefixtures("many_states")
def test_files_of_an_unfinished_run_that_are_gone(tmp_path: Path, corpus: Path) -> None:
    for name, complaint in (
        (
            "shard-00000.tokens",
            "was complete, and is not there any more or has changed",
        ),
        ("progress.json", "the folder holds other files"),
        ("run.json", "missing or damaged, so the run cannot be gone on with"),
    ):
        folder = tmp_path / name
        broken_off(corpus, folder, shard_size=5)
        (folder / name).unlink()
        with pytest.raises(CorpusError, match=complaint):
            TOK.encode_files(corpus, folder, shard_size=5, **OPTIONS)
    broken_off(corpus, tmp_path / "one")
    (part,) = (tmp_path / "one").glob("*.tokens.part")
    part.write_bytes(part.read_bytes()[:200])
    with pytest.raises(
        CorpusError, match=r"part: there should be .* bytes of an unfinis"
    ):
        TOK.encode_files(corpus, tmp_path / "one", **OPTIONS)


@pytest.mark.usefixtures("many_states")
@pytest.mark.parametrize("layout", ["shards", "megatron"])
def test_overwriting_takes_any_unfinished_run(
    tmp_path: Path, corpus: Path, layout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all files named but no index yet, and with a state that is damaged."""
    options = {**OPTIONS, "layout": layout}
    folder = tmp_path / "out"
    with monkeypatch.context() as patch:

        def fail(*_: object) -> None:
            raise Stop

        patch.setattr(run, "write_index", fail)
        with pytest.raises(Stop):
            TOK.encode_files(corpus, folder, **options)
    names = {path.name for path in folder.iterdir()}
    assert names > {"run.json", "progress.json"}
    assert not any(name.endswith(".part") for name in names)
    TOK.encode_files(corpus, folder, overwrite=True, **options)
    whole = digests(folder)
    broken_off(corpus, tmp_path / "other", **options)
    for damage in (b"{}", b"{", b"[]", b'{"splits": {"train": {"finished": [{}]}}}'):
        (tmp_path / "other" / "progress.json").write_bytes(damage)
        with pytest.raises(CorpusError):
            TOK.encode_files(corpus, tmp_path / "other", **options)
    TOK.encode_files(corpus, tmp_path / "other", overwrite=True, **options)
    assert digests(tmp_path / "other") == whole


@pytest.mark.usefixtures("many_states")
def test_two_at_once_are_refused(tmp_path: Path, corpus: Path) -> None:
    pytest.importorskip("fcntl")
    folder = tmp_path / "out"

    def second(_progress: object) -> None:
        with pytest.raises(CorpusError, match="another process writes to it now"):
            TOK.encode_files(corpus, folder, **OPTIONS)

    TOK.encode_files(corpus, folder, progress=second, **OPTIONS)
    assert not (folder / ".lock").exists()


@pytest.mark.usefixtures("many_states")
@pytest.mark.parametrize("threads", [1, 3])
def test_a_full_disk(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    folder = tmp_path / "out"
    write = output.write
    room = 3000

    def full(file: Any, data: Any) -> None:
        nonlocal room
        room -= len(data)
        if room < 0:
            write(file, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(file, data)

    options = {**OPTIONS, "num_threads": threads}
    with monkeypatch.context() as patch:
        patch.setattr(output, "write", full)
        with pytest.raises(
            OSError, match=r"No space left.*shard-00000.tokens"
        ) as error:
            TOK.encode_files(corpus, folder, **options)
    assert error.value.errno == errno.ENOSPC
    report = TOK.encode_files(corpus, folder, **options)
    assert report.resumed > 10
    TOK.encode_files(corpus, tmp_path / "whole", **options)
    assert digests(folder) == digests(tmp_path / "whole")
    assert not [t for t in threading.enumerate() if t.name.startswith("pybpe-")]


@pytest.mark.usefixtures("many_states")
@pytest.mark.parametrize("layout", ["shards", "megatron"])
def test_every_write_that_may_fail(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    options = {**OPTIONS, "layout": layout, "val_fraction": 0.3, "num_threads": 1}
    if layout == "shards":
        options["shard_size"] = 900
    TOK.encode_files(corpus, tmp_path / "whole", **options)
    whole = digests(tmp_path / "whole")
    write = output.write
    left = 0

    def failing(file: Any, data: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            write(file, data[: len(data) // 2])
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        write(file, data)

    n = 1
    while True:
        folder = tmp_path / str(n)
        with monkeypatch.context() as patch:
            for module in (output, layouts):
                patch.setattr(module, "write", failing)
            left = n
            try:
                TOK.encode_files(corpus, folder, **options)
            except OSError as found:
                error = found
            else:
                break
        assert error.errno == errno.EIO
        TOK.encode_files(corpus, folder, **options)
        assert digests(folder) == whole, n
        n += 13
    assert n > 50


@pytest.mark.usefixtures("many_states")
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, corpus: Path) -> None:
    done = []

    def touch(_progress: object) -> None:
        if not done:
            with (corpus / "e.extra").open("w"):
                pass
            (corpus / "e.extra").unlink()
            with (corpus / "d.txt").open("a") as file:
                file.write("more")
            done.append(True)

    with pytest.raises(CorpusError, match=r"d\.txt: changed while it was read"):
        TOK.encode_files(
            corpus, tmp_path / "out", progress=touch, num_threads=1, **OPTIONS
        )


@pytest.mark.usefixtures("many_states")
@pytest.mark.parametrize("threads", [1, 3])
def test_a_bad_line_ends_the_run_and_is_gone_on_from(
    tmp_path: Path, threads: int
) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", TEXTS)
    good = source.read_bytes()
    lines = good.split(b"\n")
    lines[250] = b"{"
    source.write_bytes(b"\n".join(lines))
    options = {**OPTIONS, "num_threads": threads}
    with pytest.raises(CorpusError, match=r"a\.jsonl, line 251: not valid JSON"):
        TOK.encode_files(source, tmp_path / "out", **options)
    totals = json.loads((tmp_path / "out" / "progress.json").read_bytes())["totals"]
    assert 200 < totals[0] <= 250
    source.write_bytes(good)
    with pytest.raises(CorpusError, match=r"a\.jsonl: changed since"):
        TOK.encode_files(source, tmp_path / "out", **options)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.usefixtures("many_states")
def test_a_pipe_is_read_but_not_gone_on_with(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "a.jsonl", TEXTS).read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def feed(contents: bytes) -> threading.Thread:
        thread = threading.Thread(target=pipe.write_bytes, args=(contents,))
        thread.start()
        return thread

    thread = feed(data)
    TOK.encode_files(pipe, tmp_path / "out", format="jsonl", **OPTIONS)
    thread.join()
    rows = [row.tolist() for row in open_shards(tmp_path / "out")]
    assert rows == expected(TEXTS)
    thread = feed(data + b"{\n")
    with pytest.raises(CorpusError, match=r"pipe, byte \d[\d,]*: not valid JSON"):
        TOK.encode_files(pipe, tmp_path / "bad", format="jsonl", **OPTIONS)
    thread.join()
    with pytest.raises(CorpusError, match="a pipe cannot be read again, so the run"):
        TOK.encode_files(pipe, tmp_path / "bad", format="jsonl", **OPTIONS)


def test_nothing_to_encode(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\n")
    with pytest.raises(CorpusError, match="there are no documents in the files"):
        TOK.encode_files(tmp_path / "a.jsonl", tmp_path / "out", **OPTIONS)
    with pytest.raises(CorpusError, match="paths is empty"):
        TOK.encode_files([], tmp_path / "out", **OPTIONS)


def test_progress_tells_the_truth(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", TEXTS)
    calls: list[pybpe.corpora.EncodingProgress] = []
    report = TOK.encode_files(
        source, tmp_path / "out", progress=calls.append, **OPTIONS
    )
    size = source.stat().st_size
    assert calls[-1] == (size, size, len(TEXTS), report.tokens)
    assert report.bytes == sum(map(len, TEXTS))
    assert report.tokens_per_byte == report.tokens / report.bytes
    assert report.bytes_per_second > 0
    assert [row.tolist() for row in open_shards(tmp_path / "out")] == expected(TEXTS)
    with pytest.raises(TypeError, match="progress must be a function"):
        TOK.encode_files(source, tmp_path / "x", progress=3, **OPTIONS)  # type: ignore[arg-type]
