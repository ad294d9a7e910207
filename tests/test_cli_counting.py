"""`pybpe count`, `merge-counts` and `train --from-counts`: training in parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import fail, pybpe_cli, succeed

import pybpe

WORDS = "low lower lowest new newer newest wide wider widest "


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{i}.txt" for i in range(3)]
    for i, path in enumerate(paths):
        path.write_text((WORDS * (i + 1))[i:] + "<s>", encoding="utf-8")
    return paths


def test_parts_give_the_model_of_the_whole(parts: list[Path], tmp_path: Path) -> None:
    options = ["--special", "<s>", "--pattern", "gpt2", "--protected", "wide"]
    a, b, c, bc, whole = (
        tmp_path / f"{name}.counts" for name in ("a", "b", "c", "bc", "w")
    )
    done = pybpe_cli("count", parts[0], "-o", a, *options)
    assert done.status == 0, done.err
    size = parts[0].stat().st_size
    assert f"a.counts: 1 file, {size} bytes, 12 pretokens, 9 of them" in done.err
    succeed("count", parts[1], "-o", b, "-q", "--threads", 2, *options)
    out = succeed("count", "-o", "-", *options, stdin=parts[2].read_bytes())
    c.write_bytes(out)
    succeed("merge-counts", b, "-", "-o", bc, stdin=out)
    assert pybpe_cli("merge-counts", a, bc, "-q", "-o", whole).err == ""
    assert (
        whole.read_bytes()
        == pybpe.count_files(
            parts, pattern="gpt2", special_tokens=["<s>"], protected=["wide"]
        ).to_bytes()
    )
    assert whole.read_bytes() == succeed("merge-counts", a, b, c, "-o", "-")
    for tie in ("lowest", "first"):
        more = ["--vocab-size", 275, "--tie-break", tie, "--snapshot", 266, "-o"]
        succeed("train", "--from-counts", whole, *more, tmp_path / "x.pybpe")
        succeed("train", *parts, *options, *more, tmp_path / "y.pybpe")
        for name in ("{}.pybpe", "{}-266.pybpe"):
            x, y = ((tmp_path / name.format(one)).read_bytes() for one in "xy")
            assert x == y
    data = whole.read_bytes()
    succeed("train", "--from-counts", "-", *more, tmp_path / "z.pybpe", stdin=data)
    assert (tmp_path / "z.pybpe").read_bytes() == (tmp_path / "x.pybpe").read_bytes()


def test_going_on_from_a_model(parts: list[Path], tmp_path: Path) -> None:
    start, counts = tmp_path / "start.pybpe", tmp_path / "x.counts"
    pybpe.train([WORDS], 262, pattern="gpt2", special_tokens=["<s>"]).save(start)
    succeed("count", *parts, "--initial", start, "-o", counts)
    more = ["--num-merges", 9, "--initial", start, "-o"]
    succeed("train", "--from-counts", counts, *more, tmp_path / "a.pybpe")
    succeed("train", *parts, *more, tmp_path / "b.pybpe")
    assert (tmp_path / "a.pybpe").read_bytes() == (tmp_path / "b.pybpe").read_bytes()
    command = ("train", "--from-counts", counts, "--vocab-size", 300, "-o", start)
    said = fail(*command, status=2)
    assert "--initial: '<s>' was cut out of the texts" in said


def test_documents_are_texts(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"body": "low"}\n{"body": "lower low"}\n', encoding="utf-8")
    counts = tmp_path / "x.counts"
    succeed("count", rows, "--field", "body", "-o", counts)
    assert pybpe.Counts.load(counts) == pybpe.count_texts(["low", "lower low"])
    lines = rows.read_text(encoding="utf-8").splitlines()
    succeed("count", rows, "--format", "text", "--split-on", "\\n", "-o", counts)
    assert pybpe.Counts.load(counts) == pybpe.count_texts(lines)


def test_info_tells_what_was_counted(parts: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "x.counts"
    succeed("count", *parts, "--special", "<s>", "-o", path)
    table = succeed("info", path).decode()
    assert "documents            3\n" in table
    assert "split                cl100k\n" in table
    assert "cut out              '<s>'\n" in table
    about = json.loads(succeed("info", path, "--json"))
    counts = pybpe.Counts.load(path)
    assert about["kind"] == "counts"
    assert about["special_tokens"] == ["<s>"]
    assert (about["bytes"], about["distinct_pretokens"]) == (counts.bytes, len(counts))
    assert "goes with models" in fail("info", path, "--pattern", "gpt2", status=2)
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    assert "x.counts': it is truncated" in fail("info", path)
    path.write_bytes(data[:-40] + bytes([data[-40] ^ 1]) + data[-39:])
    assert "x.counts': it is damaged" in fail("info", path)
    path.write_bytes(data[:100])
    assert "x.counts': it is truncated: 100 of" in fail("info", path)
    assert "x.counts': it is truncated: 100 of" in fail(
        "merge-counts", path, "-o", tmp_path / "y"
    )


def test_what_makes_no_sense_is_refused(parts: list[Path], tmp_path: Path) -> None:
    counts, other, out = (tmp_path / f"{name}.counts" for name in "xyz")
    succeed("count", *parts, "-o", counts)
    succeed("count", *parts, "--pattern", "gpt2", "-o", other)
    train = ["train", "--from-counts", counts, "-o", out, "--vocab-size", 300]
    for arguments, said, status in [
        ([*train, parts[0]], "FILEs or --from-counts, not both", 2),
        ([*train, "--threads", 2], "--threads is about counting", 2),
        ([*train, "--max-pretokens", 2], "--max-pretokens is about counting", 2),
        ([*train, "--format", "text"], "--format is about counting", 2),
        ([*train, "--split-on", "x"], "--split-on is about counting", 2),
        ([*train, "--mode", "codepoint"], "--mode codepoint cannot train", 2),
        ([*train, "--pattern", "gpt2"], "--pattern: the counts were made with <Spl", 2),
        ([*train, "--special", "x"], "--special, --protected or --initial: 'x' was", 2),
        ([*train[:-4], "-o", counts, *train[-2:]], "is what is read, too", 2),
        (["count", parts[0], "-o", parts[0]], "is what is read, too", 2),
        (["count", *parts, "-o", out, "--special", ""], "empty token", 2),
        (["count", *parts, "-o", out, "--max-pretokens", 3], "--max-pretokens=3 di", 1),
        (["count", *parts, "-o", out, "--split-on", ""], "'--split-on'", 2),
        (["count", *parts, "-o", out, "--field", "\udcff"], "--field must be text", 2),
        (["count", *parts, "-o", out, "--threads", 0], "'--threads'", 2),
        (["count", "no.txt", "-o", out], "no.txt: No such file", 1),
        (["merge-counts", counts, "-o", out, "--max-pretokens", 0], "'--max-pret", 2),
        (["merge-counts", "-o", out], "Missing argument 'FILE...'", 2),
        (["merge-counts", counts, other, "-o", out], "not counted with the same", 1),
        (["merge-counts", parts[0], "-o", out], "0.txt': not a file of counts but", 1),
        (["merge-counts", counts, "-o", counts], "is what is read, too", 2),
        (
            ["merge-counts", counts, "-o", out, "--max-pretokens", 3],
            "more than --max-pretokens=3 distinct",
            1,
        ),
        (["encode", counts, "x"], "a file of counted pretokens", 1),
    ]:
        assert said in fail(*arguments, status=status), arguments
        assert not out.exists()
