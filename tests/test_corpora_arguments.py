"""What writers and readers of corpora refuse before they begin: arguments, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_corpora_layouts import OPTIONS, TOK, write_jsonl

from pybpe import CorpusError, ShardWriter, join_shards, open_shards

TEXTS = ["low lower", "hello", "", "the low"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "a.jsonl", TEXTS)


# ------------------------------------------------------------ outputs among inputs


@pytest.mark.parametrize(
    ("inputs", "folder"),
    [
        ("data", "data/out"),
        ("data", "data/a/b/out"),
        (".", "out"),
        ("data/*", "data/out"),
        ("data/*", "data/a/b"),
        ("data/**", "data/a/b"),
        ("data/**/*", "data/out"),
        ("**/*.bin", "data/out"),
        ("data/*/*.json", "data/out"),
        ("dat?", "data/out"),
        ("link", "data/out"),
        ("data", "link/out"),
        ("link/*", "data/out"),
    ],
)
@pytest.mark.parametrize("there", [False, True])
def test_an_output_inside_of_an_input(
    inputs: str,
    folder: str,
    there: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("link").symlink_to("data")
    write_jsonl(Path("data", "a.jsonl"), TEXTS)
    if there:
        Path(folder).mkdir(parents=True)
    options = {"layout": "nanogpt", **OPTIONS}
    with pytest.raises(CorpusError, match="write to a folder outside of the inputs"):
        TOK.encode_files(["data/a.jsonl", inputs], folder, **options)
    assert Path(folder).exists() == there


@pytest.mark.parametrize(
    ("inputs", "folder"),
    [
        ("data", "out"),
        ("data", "data/_out"),
        ("data", "data/.out"),
        ("data/*.jsonl", "data"),
        ("data/*.jsonl", "data/out"),
        ("data/**/*.jsonl", "data/a/out"),
        ("data/*/*.jsonl", "data/out"),
        ("data/*", "data/.out"),
        ("data/b", "data/out"),
    ],
)
def test_an_output_beside_the_inputs(
    inputs: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data/b").mkdir(parents=True)
    write_jsonl(Path("data", "a.jsonl"), TEXTS)
    write_jsonl(Path("data", "b", "b.jsonl"), ["low"])
    if folder == "data":
        with pytest.raises(CorpusError, match="the folder holds other files"):
            TOK.encode_files(inputs, folder, **OPTIONS)
        return
    report = TOK.encode_files(inputs, folder, **OPTIONS)
    again = TOK.encode_files(inputs, folder, **OPTIONS)
    assert again.documents == again.resumed == report.documents


# ------------------------------------------------------------ arguments


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"tokenizer": "my.pybpe"}, "tokenizer must be a Tokenizer, got str"),
        ({"folder": None}, "folder must be a str or a path, got NoneType"),
        ({"folder": b"x"}, "folder must be a str or a path, got bytes"),
        ({"separator": 1.5}, "separator"),
        ({"separator_at": []}, "separator_at must be a str, got list"),
        ({"name": 3}, "name must be a str, got int"),
        ({"dtype": int}, "dtype must be a str, got type"),
        ({"shard_size": "9"}, "shard_size must be an int, got str"),
        ({"allowed_special": 3}, "allowed_special"),
        ({"disallowed_special": 3}, "disallowed_special"),
        ({"num_threads": "2"}, "num_threads must be an int, got str"),
        ({"overwrite": "no"}, "overwrite must be True or False, got str"),
    ],
)
def test_wrong_types_of_a_writer(
    options: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    given = {"tokenizer": TOK, "folder": tmp_path / "s", "separator": None, **options}
    with pytest.raises(TypeError, match=complaint):
        ShardWriter(given.pop("tokenizer"), given.pop("folder"), **given)
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"paths": 3}, "paths must be str or os.PathLike, got 3"),
        ({"paths": b"a"}, "paths must be str or os.PathLike, got b'a'"),
        ({"paths": ["a", 3]}, r"paths\[1\] must be str or os.PathLike, got 3"),
        ({"folder": None}, "folder must be a str or a path, got NoneType"),
        ({"layout": ["shards"]}, "layout must be a str, got list"),
        ({"dtype": 2}, "dtype must be a str, got int"),
        ({"separator": [1]}, "separator must be a token, an id or None, got list"),
        ({"separator_at": None}, "separator_at must be a str, got NoneType"),
        ({"val_fraction": "0.1"}, "val_fraction must be a number, got str"),
        ({"format": 3}, "format must be a str, got int"),
        ({"field": 3}, "field must be a str, got int"),
        ({"split_on": 3}, "split_on must be a str or bytes, got int"),
        ({"overwrite": 1}, "overwrite must be True or False, got int"),
    ],
)
def test_wrong_types_of_encode_files(
    options: dict[str, Any], complaint: str, tmp_path: Path, source: Path
) -> None:
    given = {"paths": source, "folder": tmp_path / "s", **OPTIONS, **options}
    with pytest.raises(TypeError, match=complaint):
        TOK.encode_files(given.pop("paths"), given.pop("folder"), **given)
    assert not (tmp_path / "s").exists()


def test_wrong_types_of_opening(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="path must be a str or a path, got int"):
        open_shards(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="split must be a str, got int"):
        open_shards(tmp_path, 3)  # type: ignore[arg-type]


def test_wrong_types_of_joining(tmp_path: Path) -> None:
    wrong: list[tuple[Any, Any, str]] = [
        (3, None, "folder must be a str or a path, got int"),
        (tmp_path, "ab", "names must be a list of str, got str"),
        (tmp_path, 3, "names must be a list of str, got int"),
        (tmp_path, ["a", 3], r"names\[1\] must be a str, got int"),
    ]
    for folder, names, complaint in wrong:
        with pytest.raises(TypeError, match=complaint):
            join_shards(folder, names)
