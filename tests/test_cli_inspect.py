"""`pybpe inspect`: what it shows, for people and for programs, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runs import fail, pybpe_cli, succeed

import pybpe
from pybpe import cli, inspection
from pybpe.cli import sections
from pybpe.cli.tables import table

TEXT = "The cat sat on the mat, 1234 times; é日本語.\n    x = 1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text(TEXT * 5, "utf-8")
    Path("other.txt").write_text("a cat\n", "utf-8")
    pybpe.train([TEXT], 300, special_tokens=["<s>"]).save("my.pybpe")
    pybpe.train([TEXT], 260).save("small.pybpe")
    return tmp_path


@pytest.fixture
def run(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what runs `pybpe inspect` in this process, and gives what it prints."""
    assert folder.is_dir()

    def inspect(*arguments: object, status: int = 0) -> str:
        capfd.readouterr()
        assert cli.main(["inspect", *map(str, arguments)]) == status
        out, err = capfd.readouterr()
        assert bool(err) == bool(status)
        return out or err

    return inspect


def test_a_text_in_tokens(run: Callable[..., str]) -> None:
    tok = pybpe.load("my.pybpe")
    out = run("my.pybpe", "-t", "the cat<s>")
    line = out.splitlines()[1]
    ids = tok.encode_ordinary("the cat<s>")
    assert line.split()[0] == str(len(ids))
    assert line.endswith("  " + " ".join(map(str, ids)))
    assert "'t' 'he' ' cat' '<'" in line


def test_files_in_json_are_what_the_api_says(run: Callable[..., str]) -> None:
    tok = pybpe.load("my.pybpe")
    data = json.loads(run("my.pybpe", "corpus.txt", "other.txt", "--json", "--top", 3))
    for entry, name in zip(data["files"], ["corpus.txt", "other.txt"], strict=True):
        used = inspection.usage_of_files(tok, name)
        for key in ("bytes", "characters", "words", "tokens", "split_characters"):
            assert entry[key] == getattr(used, key)
        assert entry["tokens_per_word"] == used.tokens_per_word
        assert len(entry["most_used"]) == 3
        assert entry["file"] == name


def test_documents(run: Callable[..., str], folder: Path) -> None:
    (folder / "corpus.jsonl").write_text('{"content": "the cat"}\n{"content": "sat"}\n')
    out = run("my.pybpe", "corpus.jsonl", "--field", "content", "--json")
    (entry,) = json.loads(out)["files"]
    assert (entry["bytes"], entry["words"]) == (10, 3)
    assert "choose with --field" in run("my.pybpe", "corpus.jsonl", status=1)
    out = run("my.pybpe", "--text", "x", "--split-on", ",", status=2)
    assert "--split-on goes with FILEs and --unused-in" in out


def test_files_in_a_table(run: Callable[..., str]) -> None:
    tok = pybpe.load("my.pybpe")
    out = run("my.pybpe", "corpus.txt", "--top", 2)
    sizes, counts, frequent = out.split("\n\n")
    size = len(TEXT.encode()) * 5
    assert (
        sizes.splitlines()[1].split() == f"corpus.txt {size} {len(TEXT) * 5} 60".split()
    )
    assert counts.splitlines()[1].split()[1] == str(tok.count(TEXT * 5))
    assert frequent.startswith("most used in corpus.txt: ")
    assert frequent.count(", ") == 1


def test_against_another_tokenizer(run: Callable[..., str]) -> None:
    mine, other = pybpe.load("my.pybpe"), pybpe.load("small.pybpe")
    out = run("my.pybpe", "corpus.txt", "-t", "cat", "--against", "small.pybpe")
    ours, theirs = mine.count(TEXT * 5), other.count(TEXT * 5)
    last = out.rstrip().splitlines()
    assert last[-1].startswith("small.pybpe")
    assert last[-1].endswith(f"{100 * theirs / ours:.1f} %")
    assert last[-2].endswith("100.0 %")
    assert last[-1].split()[2] == str(theirs)
    assert "most used" not in out
    assert out.startswith("== Texts\n\ntokenizer ")


def test_two_tokenizers_or_files_of_one_name_are_told_apart(
    run: Callable[..., str], folder: Path
) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir()
        Path(name, "my.pybpe").write_bytes(Path("my.pybpe").read_bytes())
        Path(name, "x.txt").write_text(name * 3)
    out = run("a/my.pybpe", "a/x.txt", "b/x.txt", "--against", "b/my.pybpe")
    for name in ("a/my.pybpe", "b/my.pybpe", "a/x.txt", "b/x.txt"):
        assert name in out


def test_unused(run: Callable[..., str]) -> None:
    tok = pybpe.load("my.pybpe")
    used = inspection.usage_of_files(tok, "other.txt")
    found = inspection.unused(tok, used)
    out = run("my.pybpe", "--unused-in", "other.txt", "--top", 4)
    lines = out.splitlines()
    assert lines[0].startswith(f"{len(found)} ordinary tokens are never used in other")
    assert [line.split()[0] for line in lines[2:6]] == [str(t.id) for t in found[:4]]
    assert lines[6] == f"... and {len(found) - 4} more; --top 0 lists all"
    everything = run("my.pybpe", "--unused-in", "other.txt", "--top", 0)
    assert len(everything.splitlines()) == 2 + len(found)
    data = json.loads(
        run("my.pybpe", "corpus.txt", "--unused-in", "other.txt", "--json")
    )
    wanted = inspection.unused(tok, used, inspection.usage_of_files(tok, "corpus.txt"))
    assert [entry["id"] for entry in data["unused"]["tokens"]] == [t.id for t in wanted]
    assert data["unused"]["tokens"][0]["count"] == wanted[0].count > 0


def test_sections_of_the_vocabulary(run: Callable[..., str]) -> None:
    tok = pybpe.load("my.pybpe")
    flags = ["--numbers", "--whitespace", "--scripts", "--longest", "--unreachable"]
    data: dict[str, Any] = json.loads(run("my.pybpe", *flags, "--json"))
    assert data == json.loads(run("my.pybpe", "--json"))  # all, if none is asked for
    assert set(data) == {
        *("numbers", "white_space", "scripts", "longest", "reachability")
    }
    assert data["scripts"]["tokens"] == inspection.scripts(tok)
    assert data["numbers"]["missing"] == list(inspection.numbers(tok).missing)
    reached = inspection.reachability(tok)
    assert data["reachability"]["from_bytes_only"] == list(reached.from_bytes_only)
    assert data["white_space"]["spaces"] == list(inspection.white_space(tok).spaces)
    for flag in flags:
        assert run("my.pybpe", flag).strip()
    out = run("my.pybpe", "--word", "Cat", "--unreachable")
    assert "== Words" in out
    assert "ids that only bytes get that are no UTF-8" in out


def test_unreachable_ids_are_listed_with_the_reason(run: Callable[..., str]) -> None:
    pairs = [(b"x", b" "), (b"y", b" "), (b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]
    pybpe.Tokenizer.from_merges(pairs, pattern="gpt2").save("odd.pybpe")
    out = run("odd.pybpe", "--unreachable", "--top", 2)
    assert "3  ids that no text ever gets" in out
    assert "2  the split cuts it, in every text" in out
    assert "256  'x '   the split cuts it, in every text" in out
    assert out.endswith("... and 1 more; --top 0 lists all\n")


def test_sentencepiece_models(run: Callable[..., str]) -> None:
    pybpe.train_sentencepiece(
        ["the cat sat"], 300, preset="lossless", hard_vocab_limit=False
    ).save("pieces.pybpe")
    assert "<unk>" in run("pieces.pybpe", "--unreachable")
    assert "'the' ' ' 'z'" in run("pieces.pybpe", "-t", "the z")
    assert run("pieces.pybpe", "corpus.txt").count("corpus.txt") == 3


def test_stdin_and_empty_files(folder: Path) -> None:
    out = succeed("inspect", "my.pybpe", "-", stdin=b"the cat \xff\n").decode()
    assert "stdin" in out
    (folder / "empty").write_bytes(b"")
    out = succeed("inspect", "my.pybpe", "empty").decode()
    assert "empty      0" in out


def test_an_encoding_goes_by_its_name(
    data_path: Callable[[str], Path], run: Callable[..., str], folder: Path
) -> None:
    data_path("vocab/openai/r50k_base.tiktoken")
    assert "43453" in run("r50k_base", "-t", " SolidGoldMagikarp")
    message = run("r50k_base", "-t", "x", "--pattern", "gpt2", status=2)
    assert "a split and special tokens of its own" in message
    # A file of that name comes first.
    (folder / "r50k_base").write_bytes(Path("my.pybpe").read_bytes())
    assert "43453" not in run("r50k_base", "-t", " SolidGoldMagikarp")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--against", "small.pybpe"], "--against goes with FILEs"),
        (["x", "--against", "small.pybpe", "--numbers"], "--text and --word only"),
        (["-t", "x", "--against", "small.pybpe", "--unused-in", "y"], "only"),
        (["-", "--unused-in", "-"], "stdin ('-') can be read only once"),
        (["--top", "-1"], "--top"),
    ],
)
def test_wrong_usage(run: Callable[..., str], arguments: list[str], part: str) -> None:
    assert part in run("my.pybpe", *arguments, status=2)


def test_what_is_not_there(folder: Path) -> None:
    assert "missing.txt" in fail("inspect", "my.pybpe", "missing.txt")
    assert "nothing.pybpe" in fail("inspect", "nothing.pybpe", "corpus.txt")
    assert fail("inspect", "corpus.txt", "--numbers")
    assert "my.pybpe" in {path.name for path in folder.iterdir()}


def test_help_has_examples() -> None:
    out = pybpe_cli("inspect", "--help").out.decode()
    assert "--unused-in FILE" in out
    assert "pybpe inspect cl100k_base --text" in out


# ------------------------------------------------------------------ tables


def test_tables_line_up() -> None:
    rows = [["日本", 1, 2.5, " 10 %"], ["e\u0301", 1234, 0.125, " 5 %"]]
    assert list(table(["name", "n", "x", "share"], rows)) == [
        "name      n     x  share",
        "日本      1  2.50   10 %",
        "e\u0301     1,234  0.12    5 %",
    ]
    assert list(table(["", ""], [[1, "a"], [10, ""]])) == [" 1  a", "10"]
    assert list(table(["a"], [])) == []


def test_runs() -> None:
    assert sections.runs([]) == ""
    assert sections.runs([1, 2, 3, 5, 8, 9]) == "1-3, 5, 8-9"


def test_brief() -> None:
    assert sections.brief(b"ab") == "'ab'"
    long = sections.brief(b"-" * 100)
    assert len(long) == 45
    assert " ... " in long
