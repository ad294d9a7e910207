"""Files of documents: which files inputs stand for, what is read, what is refused."""

from __future__ import annotations

import gzip
import itertools
import json
import lzma
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packers import PACKERS, packer

import pybpe
from pybpe import CorpusError, read_documents
from pybpe._binding_json import BadLine, json_lines
from pybpe.corpora import documents, find_sources, jsonl, text
from pybpe.corpora.documents import Place
from pybpe.corpora.reading import Reading, chunks

TEXTS = ["low lower", "", 'déjà\n\tvu "x" \\', "\U0001f600 \x7f", "x" * 3000]


def lines_of(texts: list[str], **options: Any) -> bytes:
    return b"".join(
        json.dumps(
            {"id": i, "text": one, "more": [1.5, {"text": None}]}, **options
        ).encode()
        + b"\n"
        for i, one in enumerate(texts)
    )


def read(path: Path, **options: Any) -> list[str]:
    return [one.decode() for one in read_documents(path, **options)]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files be read in many chunks."""
    for module in (documents, jsonl, text):
        monkeypatch.setattr(module, "CHUNK", 64)


# ---------------------------------------------------------------- JSON lines


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("end", [b"", b"\n", b"\n \t\r\n\n"])
def test_json_lines(tmp_path: Path, ascii_only: bool, end: bytes) -> None:
    path = tmp_path / "a.jsonl"
    data = lines_of(TEXTS, ensure_ascii=ascii_only)
    path.write_bytes(data.removesuffix(b"\n") + end)
    assert read(path) == TEXTS
    path.write_bytes(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
    assert read(path) == TEXTS


def python_reads(line: bytes, field: str) -> bytes | None:
    """Return the text of a line as Python's json has it, None where it has none."""
    try:
        value = json.loads(line.decode())
    except ValueError:
        return None
    found = value.get(field) if isinstance(value, dict) else None
    if not isinstance(found, str):
        return None
    return (
        found.encode("utf-16-le", "surrogatepass")
        .decode("utf-16-le", "replace")
        .encode()
    )


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(
    st.lists(
        st.tuples(
            st.dictionaries(
                st.sampled_from(["text", "t\u00e9xt", "", "te"]) | st.text(), values
            ),
            st.text(st.characters()) | values,
            st.booleans(),
            st.sampled_from([None, (",", ":"), (" ,\t", "  : ")]),
        ),
        max_size=4,
    )
)
def test_json_is_read_as_python_reads_it(rows: Any) -> None:
    lines = [
        json.dumps({**row, "text": one}, ensure_ascii=ascii_only, separators=separators)
        for row, one, ascii_only, separators in rows
    ]
    encoded = [line.encode("utf-8", "surrogatepass") for line in lines]
    expected = [python_reads(line, "text") for line in encoded]
    if None in expected:
        with pytest.raises(BadLine) as error:
            json_lines(b"\n".join(encoded), b"text")
        assert error.value.start == sum(
            len(line) + 1 for line in encoded[: expected.index(None)]
        )
        return
    texts, offsets = json_lines(b"\n".join(encoded), b"text")
    found = [bytes(texts[a:b]) for a, b in itertools.pairwise(offsets)]
    assert found == expected


@given(st.data())
def test_damaged_json_is_refused_where_python_refuses_it(data: st.DataObject) -> None:
    row = {
        "a": [0, -1.5e-7, True, None],
        "text": 'é"\\\n\u2028',
        "z": {"k": {}, "": []},
    }
    line = bytearray(json.dumps(row, ensure_ascii=data.draw(st.booleans())).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(line) - 1))
        byte = data.draw(st.sampled_from(b'"\\{}[]:,0eE.+-tnuN \t\x00\x1f\x80\xe9xI'))
        if data.draw(st.booleans()):
            line[at] = byte
        else:
            line.insert(at, byte)
    damaged = bytes(line)
    expected = python_reads(damaged, "text")
    if damaged.strip(b" \t\r") == b"":
        return
    try:
        texts, _ = json_lines(damaged, b"text")
    except BadLine:
        assert expected is None
    else:
        assert bytes(texts) == expected


def test_the_last_of_two_equal_keys_counts() -> None:
    line = b'{"text": "first", "te\\u0078t": "last", "b": "text"}'
    texts, _ = json_lines(line, b"text")
    assert bytes(texts) == b"last" == python_reads(line, "text")


def test_deep_nesting_takes_no_stack(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": ' + "[" * 4000 + "]" * 4000 + ', "text": "x"}')
    assert read(path) == ["x"]
    path.write_text('{"a": ' + "[" * 100_000 + "]" * 100_000 + ', "text": "x"}')
    with pytest.raises(CorpusError, match="line 1: nested too deeply"):
        read(path)


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (b'{"text": "a"', "not valid JSON: Expecting ',' delimiter at character 13"),
        (
            b"plain text",
            r"not valid JSON: .*'plain text'; a file of plain text is read",
        ),
        (b'{"text": "a\tb"}', "not valid JSON: Invalid control character"),
        (b'{"text": "\xff"}', "not UTF-8 at byte 10 of the line"),
        (b'["text"]', "not an object but an array"),
        (b'"text"', "not an object but a string"),
        (b'{"txt": "a", "id": 1}', "has no field 'text'; its fields are 'txt', 'id'"),
        (b"{}", "has no field 'text'; its fields are none"),
        (b'{"text": null}', "the field 'text' is not text but null"),
        (b'{"text": 12}', "the field 'text' is not text but a number"),
        (b'{"text": true}', "the field 'text' is not text but true"),
        (b'{"text": ["a"]}', "the field 'text' is not text but an array"),
        (b'{"text": "a"} x', "not valid JSON: Extra data at character 15"),
        (b'{"text": "a", "x": 01}', "not valid JSON"),
    ],
)
@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_bad_lines_are_named(
    tmp_path: Path, bad: bytes, complaint: str, ending: str
) -> None:
    path = tmp_path / f"a{ending}"
    data = lines_of(["x"] * 20) + b"\n" + bad + b"\n" + lines_of(["y"])
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    with pytest.raises(CorpusError) as error:
        read(path)
    message = str(error.value)
    assert message.startswith(f"{path}, line 22: ")
    assert re.search(complaint, message), message


def test_another_field(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(lines_of(TEXTS).replace(b'"text": "', b'"inh\\u00e4lt": "'))
    assert read(path, field="inhält") == TEXTS


# ---------------------------------------------------------------- compression


@pytest.mark.parametrize("ending", [*PACKERS, ".zst"])
def test_compressed_files(tmp_path: Path, ending: str) -> None:
    pack = packer(ending)
    path = tmp_path / f"a.jsonl{ending}"
    data = lines_of(TEXTS * 50)
    half = data.index(b"\n", len(data) // 2)
    # Files that were put end to end are one file.
    path.write_bytes(pack(data[:half]) + pack(data[half:]))
    assert read(path) == TEXTS * 50
    whole = path.read_bytes()
    for size in (len(whole) - 3, len(whole) // 3):
        path.write_bytes(whole[:size])
        with pytest.raises(
            CorpusError, match=re.escape(str(path)) + ": the compressed"
        ):
            read(path)
    path.write_bytes(whole[:30] + b"\0\xff\0\xff" + whole[34:])
    with pytest.raises(CorpusError, match=re.escape(str(path))):
        read(path)
    path.write_bytes(data)
    with pytest.raises(CorpusError, match="the compressed file is damaged"):
        read(path)
    plain = tmp_path / f"a.txt{ending}"
    plain.write_bytes(pack(data))
    assert list(read_documents(plain)) == [data]


# ---------------------------------------------------------------- parquet


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    texts = TEXTS * 40
    kinds = [
        arrow.string(),
        arrow.large_string(),
        arrow.binary(),
        arrow.dictionary(arrow.int32(), arrow.string()),
    ]
    for kind in kinds:
        if kind == arrow.binary():
            column = arrow.array([one.encode() for one in texts], kind)
        else:
            column = arrow.array(texts, kind)
        table = arrow.table({"n": range(len(texts)), "body": column})
        parquet.write_table(table, path, row_group_size=33)
        assert read(path, field="body") == texts
        (source,) = find_sources(path)
        for start in (0, 1, 32, 33, 34, 199, 200):
            rest = chunks(source, Place(start, start), Reading("body"))
            found = [one.decode() for chunk in rest for one in chunk.documents()]
            assert found == texts[start:], start
    with pytest.raises(
        CorpusError, match="has no column 'text'; its columns are 'n', 'b"
    ):
        read(path)
    with pytest.raises(CorpusError, match="the column 'n' is not text but int64"):
        read(path, field="n")
    table = arrow.table({"text": ["a", "b", None, "c"]})
    parquet.write_table(table, path)
    with pytest.raises(
        CorpusError, match=r"a.parquet, row 3: the column 'text' is null"
    ):
        read(path)
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(CorpusError, match=r"a.parquet: not a sound parquet file"):
        read(path)
    path.write_bytes(b"")
    with pytest.raises(CorpusError, match=r"a.parquet: not a sound parquet file"):
        read(path)


# ---------------------------------------------------------------- text


@pytest.mark.usefixtures("small_chunks")
@given(
    st.lists(st.text(st.sampled_from("ab|\n"), max_size=200), max_size=8),
    st.sampled_from(["\n", "||", "<|end|>"]),
    st.booleans(),
)
def test_separated_text(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], on: str, ended: bool
) -> None:
    path = tmp_path_factory.mktemp("text") / "a.txt"
    data = on.join(parts) + (on if ended else "")
    path.write_text(data, "utf-8", newline="")
    expected = data.split(on)
    if not expected[-1]:
        expected.pop()
    assert read(path, split_on=on) == expected
    (source,) = find_sources(path)
    reading = Reading(split_on=on.encode())
    places = [Place(), *(chunk.after for chunk in chunks(source, Place(), reading))]
    for place in places:
        found = [d for c in chunks(source, place, reading) for d in c.documents()]
        assert found == [one.encode() for one in expected[place.number :]]


def test_a_text_file_is_a_document_whatever_it_holds(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf\xff\r\n\0")
    (tmp_path / "b.txt").write_bytes(b"")
    assert list(read_documents(tmp_path)) == [b"\xef\xbb\xbf\xff\r\n\0", b""]


# ---------------------------------------------------------------- which files


def test_which_files_inputs_stand_for(tmp_path: Path) -> None:
    names = ["b/z.txt", "b/a.jsonl", "a.jsonl", "c.JSONL.GZ", ".hidden.txt", "_SUCCESS"]
    names += [".git/config", "_temporary/x.txt"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")

    def found(*inputs: object) -> list[str]:
        sources = find_sources([str(tmp_path / str(i)) for i in inputs])
        return [str(Path(s.path).relative_to(tmp_path)) for s in sources]

    assert found("") == ["a.jsonl", "b/a.jsonl", "b/z.txt", "c.JSONL.GZ"]
    assert found("b", "a.jsonl") == ["b/a.jsonl", "b/z.txt", "a.jsonl"]
    assert found("*.jsonl") == ["a.jsonl"]
    assert found("**/*.jsonl") == ["a.jsonl", "b/a.jsonl"]
    assert found(".hidden.txt") == [".hidden.txt"]
    kinds = [(s.format, s.compression) for s in find_sources(tmp_path)]
    assert kinds == [
        ("jsonl", None),
        ("jsonl", None),
        ("text", None),
        ("jsonl", "gzip"),
    ]
    (tmp_path / "c").symlink_to(tmp_path / "b", target_is_directory=True)
    with pytest.raises(CorpusError, match=r"c: a link to .*b: its documents"):
        found("")
    (tmp_path / "c").unlink()
    (tmp_path / "c").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(CorpusError, match=r"c: a link to .*: its documents"):
        found("")
    (tmp_path / "c").unlink()
    (tmp_path / "b[1].txt").write_bytes(b"")
    assert found("b[1].txt") == ["b[1].txt"]


def test_inputs_that_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x")
    (tmp_path / "sub").mkdir()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        find_sources(tmp_path / "nowhere")
    with pytest.raises(CorpusError, match="no file matches this pattern"):
        find_sources(tmp_path / "*.jsonl")
    with pytest.raises(CorpusError, match="sub: the folder holds no files"):
        find_sources(tmp_path / "sub")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    with pytest.raises(
        CorpusError, match=r"link.txt: given twice \(as .*a.txt before\)"
    ):
        find_sources(tmp_path)
    (tmp_path / "link.txt").unlink()
    (tmp_path / "rows.csv").write_bytes(b"x")
    with pytest.raises(
        CorpusError, match=r"rows.csv: what such a file holds is not known"
    ):
        find_sources(tmp_path)
    with pytest.raises(
        CorpusError, match=r"rows.csv: .csv files are not read: write its"
    ):
        find_sources(tmp_path / "rows.csv")
    assert len(find_sources(tmp_path, "text")) == 2
    (tmp_path / "a.parquet.gz").write_bytes(b"x")
    with pytest.raises(CorpusError, match="parquet files are compressed inside"):
        find_sources(tmp_path / "a.parquet.gz")
    with pytest.raises(ValueError, match="format must be one of text, jsonl, parquet"):
        find_sources(tmp_path, "csv")
    with pytest.raises(TypeError, match=r"paths\[1\] must be str or os.Path"):
        find_sources([tmp_path, 3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="split_on is empty"):
        read(tmp_path / "a.txt", split_on="")
    with pytest.raises(TypeError, match="field must be a str"):
        read(tmp_path / "a.txt", field=None)


# ---------------------------------------------------------------- training


def test_training_reads_what_encoding_reads(tmp_path: Path) -> None:
    texts = ["low lower lowest newer wider", "the new lower\nthe newest <|x|>"] * 30
    expected = pybpe.train(texts, 300, special_tokens=["<|x|>"])
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines_of(texts[:7])))
    (tmp_path / "b.txt").write_text("\0".join(texts[7:]))
    for threads in (1, 2):
        tok = pybpe.train_from_files(
            [tmp_path],
            300,
            special_tokens=["<|x|>"],
            split_on="\0",
            num_threads=threads,
        )
        assert tok == expected
        report = tok.training_report
        assert report is not None
        assert report.documents == len(texts)
    whole = "".join(texts)
    (tmp_path / "c.txt.xz").write_bytes(lzma.compress(whole.encode()))
    one = pybpe.train_from_files([tmp_path / "c.txt.xz"], 300)
    assert one == pybpe.train([whole], 300)
    as_text = pybpe.train_from_files([tmp_path / "a.jsonl.gz"], 300, format="text")
    assert as_text == pybpe.train([lines_of(texts[:7])], 300)
    with pytest.raises(CorpusError, match="has no field 'body'"):
        pybpe.train_from_files([tmp_path / "a.jsonl.gz"], 300, field="body")


@pytest.mark.parametrize("options", [{}, {"input_sentence_size": 10_000}])
def test_sentencepiece_training_takes_each_line(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    texts = ["low lower lowest newer\nwider the new", "the newest\n\nof all\r\n"] * 30
    plain = tmp_path / "a.txt"
    plain.write_text("".join(f"{t.removesuffix(chr(10))}\n" for t in texts), newline="")
    expected = pybpe.train_sentencepiece_from_files([plain], 60, **options)
    (tmp_path / "a.jsonl").write_bytes(lines_of(texts))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(plain.read_bytes()))
    for name in ("a.jsonl", "b.txt.gz"):
        found = pybpe.train_sentencepiece_from_files([tmp_path / name], 60, **options)
        assert found == expected, name
