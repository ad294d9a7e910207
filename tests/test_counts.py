"""Counts that are saved, merged and trained on: always what one run gives, to the byte.

Whatever is done in parts is compared with `train` and `train_from_files`.
"""

from __future__ import annotations

import hashlib
import pickle
import random
import struct
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_training_counts import UNCOMPILED, random_data

import pybpe
from pybpe import _counting, _counts_file, _wire
from pybpe._proto import pybpe_pb2, pybpe_schema
from pybpe.counts import Counts, count_files, count_texts, merge_counts

PATTERNS: list[str | None] = ["cl100k", "gpt2", None, UNCOMPILED]
TIES = ["lowest", "first"]
SPECIAL = ["<|end|>"]
PROTECTED = ["Hello"]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return files of every size, an empty one among them."""
    random_ = random.Random(1)
    paths = []
    for i, n in enumerate([300, 0, 1, 40, 500, 7, 90]):
        paths.append(tmp_path / f"{i}.txt")
        paths[-1].write_bytes(random_data(random_, n))
    return paths


def saved(counts: Counts, path: Path) -> Path:
    counts.save(path)
    return path


def grouped(parts: Sequence[Counts], random_: random.Random) -> Counts:
    """Merge parts in a random tree; their order stays."""
    left = list(parts)
    while len(left) > 1:
        at = random_.randrange(len(left) - 1)
        to = random_.randint(at + 2, len(left))
        left[at:to] = [merge_counts(left[at:to])]
    return left[0]


# ---------------------------------------------------------------- what comes out


@pytest.mark.parametrize("tie_break", TIES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_parts_train_to_what_all_files_do(
    files: list[Path], pattern: str | None, tie_break: str, tmp_path: Path
) -> None:
    want = pybpe.train_from_files(
        files,
        400,
        pattern=pattern,
        tie_break=tie_break,
        special_tokens=SPECIAL,
        protected=PROTECTED,
    )
    one = count_files(
        files, pattern=pattern, special_tokens=SPECIAL, protected=PROTECTED
    )
    parts = [
        count_files(
            files[a:b], pattern=pattern, special_tokens=SPECIAL, protected=PROTECTED
        )
        for a, b in [(0, 2), (2, 3), (3, 3), (3, 6), (6, 7)]
    ]
    random_ = random.Random(2)
    for _ in range(4):
        assert grouped(parts, random_).to_bytes() == one.to_bytes()
    paths = [saved(part, tmp_path / f"{i}.counts") for i, part in enumerate(parts)]
    merged = merge_counts(paths)
    assert merged == one == merge_counts(part.to_bytes() for part in parts)
    path = saved(merged, tmp_path / "all.counts")
    for counts in (merged, path, str(path), one):
        tok = pybpe.train_from_counts(counts, 400, tie_break=tie_break)
        # The provenance, too: what was counted is all there.
        assert tok.to_bytes() == want.to_bytes()
        assert tok.training_report == want.training_report
    # They are still there for another size.
    again = pybpe.train_from_counts(merged, 300, tie_break=tie_break)
    assert again.merges == want.merges[: len(again.merges)]


def test_the_order_of_parts_is_nothing_to_the_lowest_ids(files: list[Path]) -> None:
    parts = [count_files([path]) for path in files]
    random_ = random.Random(3)
    want = {tie: pybpe.train_from_files(files, 380, tie_break=tie) for tie in TIES}
    seen = set()
    for _ in range(8):
        random_.shuffle(parts)
        counts = merge_counts(parts)
        assert pybpe.train_from_counts(counts, 380) == want["lowest"]
        seen.add(pybpe.train_from_counts(counts, 380, tie_break="first").fingerprint)
    assert len(seen) > 1  # the texts do have ties


def test_texts_are_counted_as_train_counts_them() -> None:
    texts = ["low lower lowest", b"new \xff newer", "", "low"]
    counts = count_texts(texts, pattern="gpt2")
    assert dict(counts.items()) == {
        **dict.fromkeys([b" lower", b" lowest", b"new", b" \xff", b" newer"], 1),
        b"low": 2,
    }
    assert next(iter(counts.items())) == (b"low", 2)
    report = pybpe.train(texts, 260, pattern="gpt2").training_report
    assert report is not None
    assert (counts.documents, counts.bytes) == (report.documents, report.bytes)
    assert (counts.pretokens, len(counts)) == (
        report.pretokens,
        report.distinct_pretokens,
    )
    assert repr(counts) == (
        "<pybpe.Counts of 4 texts, 30 bytes: 7 pretokens, 6 of them distinct>"
    )


def test_no_text_at_all(tmp_path: Path) -> None:
    none = count_texts([])
    assert (len(none), none.pretokens, list(none.items())) == (0, 0, [])
    path = saved(none, tmp_path / "none.counts")
    assert merge_counts([path, none, path]) == none
    assert pybpe.train_from_counts(path, 300).vocab_size == 256
    with pytest.raises(ValueError, match="parts is empty"):
        merge_counts([])


def test_going_on_from_a_tokenizer(files: list[Path]) -> None:
    start = pybpe.train(
        ["Hello hello"], 262, pattern="gpt2", special_tokens=["<|", "<|end|>"]
    )
    want = pybpe.train_from_files(
        files, num_merges=60, initial=start, special_tokens=["<|", "x"]
    )
    parts = [
        count_files(some, initial=start, special_tokens=["<|", "x"])
        for some in (files[:3], files[3:])
    ]
    counts = merge_counts(parts)
    assert counts.split == start.split
    assert (counts.special_tokens, counts.initial_tokens) == (
        (b"x",),
        (b"<|", b"<|end|>"),
    )
    tok = pybpe.train_from_counts(counts, num_merges=60, initial=start)
    assert tok.to_bytes() == want.to_bytes()
    with pytest.raises(ValueError, match=r"'<\|', '<\|end\|>' was cut out"):
        pybpe.train_from_counts(counts, 300)
    plain = count_files(files)
    with pytest.raises(ValueError, match=r"initial splits by <Split gpt2> .*give that"):
        pybpe.train_from_counts(plain, 300, initial=start)
    with pytest.raises(ValueError, match=r"'<\|', '<\|end\|>' was not cut out"):
        pybpe.train_from_counts(plain, 300, initial=start, pattern=plain.split)


def test_roles_and_order_of_what_is_cut_out_are_free() -> None:
    texts = ["a<s>b c</s> dd"] * 3
    counts = count_texts(texts, special_tokens=["<s>", "</s>"])
    tok = pybpe.train_from_counts(
        counts, 262, special_tokens=["</s>"], protected=["<s>"]
    )
    want = pybpe.train(texts, 262, special_tokens=["</s>"], protected=["<s>"])
    assert tok.to_bytes() == want.to_bytes()


def test_options_that_do_not_go_with_the_counts_are_refused() -> None:
    counts = count_texts(["a b"], special_tokens=["<s>"])
    for options, message in [
        ({"pattern": "gpt2"}, "made with <Split cl100k> .* not <Split gpt2>"),
        ({"special_tokens": []}, "'<s>' was cut out of the texts"),
        ({"special_tokens": ["<s>", "x"]}, "'x' was not cut out of the texts"),
        ({"protected": ["<s>"]}, "'<s>' cannot be both protected and a special"),
    ]:
        with pytest.raises(ValueError, match=message):
            pybpe.train_from_counts(counts, 300, **options)  # type: ignore[arg-type]
    assert pybpe.train_from_counts(counts, 300, pattern="cl100k").vocab_size == 258


def test_frequencies_of_64_bits_come_back() -> None:
    counts = count_texts(["ab"])
    for _ in range(40):
        counts = merge_counts([counts, counts])
    assert (counts.pretokens, counts.bytes) == (2**40, 2**41)
    assert dict(Counts.from_bytes(counts.to_bytes()).items()) == {b"ab": 2**40}
    for _ in range(22):
        counts = merge_counts([counts, counts])
    with pytest.raises(pybpe.TrainingError, match=r"2\*\*64 bytes or more together"):
        merge_counts([counts, counts])


def test_a_long_pretoken_crosses_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_counts_file, "BLOCK", 16)
    random_ = random.Random(4)
    texts = [random_.randbytes(random_.choice([1, 20, 5000])) for _ in range(20)]
    counts = count_texts(texts, pattern=None)
    back = Counts.from_bytes(counts.to_bytes())
    assert Counter(texts) == dict(back.items())
    assert merge_counts([counts, back]).pretokens == 40


def test_threads_and_blocks_change_nothing(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    want = count_files(files, num_threads=1).to_bytes()
    monkeypatch.setattr(_counting, "BLOCK", 64)
    monkeypatch.setattr(_counting, "LEAST_PART", 100)
    monkeypatch.setattr(_counting, "MOST_PART", 100)
    assert count_files(files, num_threads=3).to_bytes() == want


def test_progress_and_limits(files: list[Path], tmp_path: Path) -> None:
    told: list[Any] = []
    counts = count_files(files, progress=told.append)
    assert {phase for phase, *_ in told} == {"count"}
    assert told[-1].done == told[-1].total == counts.bytes
    path = saved(counts, tmp_path / "x.counts")
    most = len(counts)
    assert count_files(files, max_pretokens=most) == counts
    assert merge_counts([path, counts], max_pretokens=most).bytes == 2 * counts.bytes
    for act in (
        lambda: count_files(files, max_pretokens=most - 1),
        lambda: Counts.load(path, max_pretokens=most - 1),
        lambda: merge_counts([counts, path], max_pretokens=most - 1),
    ):
        with pytest.raises(pybpe.TrainingError, match=f"max_pretokens={most - 1} "):
            act()


# ---------------------------------------------------------------- as objects


def test_equality_hash_and_pickle(files: list[Path]) -> None:
    a, b = count_files(files), count_files(files)
    assert (a == b, hash(a) == hash(b), a == count_files(files[1:])) == (
        True,
        True,
        False,
    )
    assert a != count_files(files, pattern="gpt2")
    assert a != a.to_bytes()
    assert pickle.loads(pickle.dumps(a)) == a


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="texts must be a list of texts, got one str"):
        count_texts("abc")
    with pytest.raises(TypeError, match=r"paths must be str or os\.PathLike"):
        count_files(b"abc")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"parts must be a list .* got one"):
        merge_counts(tmp_path)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"parts\[0\] must be Counts, a path or bytes"):
        merge_counts([7])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="data must be bytes, got str"):
        Counts.from_bytes("x")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        Counts.load(tmp_path / "none")


def test_only_what_is_counted_alike_is_merged(tmp_path: Path) -> None:
    plain = count_texts(["a"])
    path = saved(count_texts(["a"], pattern="gpt2"), tmp_path / "gpt2.counts")
    with pytest.raises(ValueError, match=r"gpt2.counts' was not counted with the same "
                       r"split as parts\[0\]: <Split gpt2> with Unicode .*, not "
                       "<Split cl100k>"):  # fmt: skip
        merge_counts([plain, path])
    for options, what in [
        ({"special_tokens": ["x"]}, "special tokens as .*: .*b'x'.*, not .*"),
        ({"protected": ["x"]}, "protected as"),
    ]:
        with pytest.raises(ValueError, match=rf"parts\[1\] was not .* same {what}"):
            merge_counts([plain, count_texts(["a"], **options)])  # type: ignore[arg-type]


def test_other_unicode_tables_are_another_split() -> None:
    plain = count_texts(["a"])
    message = head_of(plain)
    message.split.stages[0].unicode_version = "17.0"
    other = Counts.from_bytes(file_of(message, plain))
    with pytest.raises(ValueError, match=r"with Unicode 17\.0, not .*Unicode 16\.0"):
        merge_counts([plain, other])


# ---------------------------------------------------------------- files


def head_of(counts: Counts) -> Any:
    data = counts.to_bytes()
    (size,) = struct.unpack_from("<I", data, 12)
    return pybpe_pb2.Counts.FromString(data[16 : 16 + size])


def records_of(counts: Counts) -> bytes:
    data = counts.to_bytes()
    (size,) = struct.unpack_from("<I", data, 12)
    return data[16 + size : -32]


def file_of(message: Any, counts: Counts, records: bytes | None = None) -> bytes:
    """Return the file of counts with another message, or other records."""
    head = message.SerializeToString(deterministic=True)
    data = struct.pack("<8sII", _counts_file.MAGIC, 1, len(head)) + head
    data += records_of(counts) if records is None else records
    return data + hashlib.sha256(data).digest()


def test_the_file_is_what_is_documented() -> None:
    counts = count_texts(["low lower low", "z"], special_tokens=["w l"], pattern="gpt2")
    data = counts.to_bytes()
    assert data[:16] == b"\x89pybpc\r\n\1\0\0\0" + struct.pack(
        "<I", len(data) - 48 - len(records_of(counts))
    )
    assert data[-32:] == hashlib.sha256(data[:-32]).digest()
    assert records_of(counts) == b"\2\1\0lo\4\1\3ower\4\1\0 low\1\1\0z"
    message = head_of(counts)
    assert (message.documents, message.bytes) == (2, 14)
    assert message.special_tokens.data == b"w l"
    assert message.records_size == len(records_of(counts))
    assert counts.to_bytes() == file_of(message, counts)
    ours = _wire.read(
        message.SerializeToString(), pybpe_schema.MESSAGES, "pybpe.v1.Counts"
    )
    assert _wire.fields_set(ours) == {field.name for field, _ in message.ListFields()}


def test_every_damage_is_refused(tmp_path: Path) -> None:
    data = count_texts(["low lower lowest"] * 3, pattern=None).to_bytes()
    path = tmp_path / "bad.counts"
    for n in range(len(data)):
        with pytest.raises(pybpe.TrainingError) as caught:
            Counts.from_bytes(data[:n])
        assert "truncated" in str(caught.value) or n == 0
        for flip in (1, 0x80):
            path.write_bytes(data[:n] + bytes([data[n] ^ flip]) + data[n + 1 :])
            with pytest.raises(pybpe.TrainingError, match=r"cannot load '.*bad\.count"):
                Counts.load(path)
    with pytest.raises(pybpe.TrainingError, match="more data follow after its"):
        Counts.from_bytes(data + b"\0")


def test_what_sums_hide_is_refused() -> None:
    # The checksum is right, and yet the file makes no sense.
    counts = count_texts(["aa bb"], pattern="gpt2", special_tokens=["<s>"])
    records = records_of(counts)

    def refuse(match: str, records: bytes | None = None, **fields: Any) -> None:
        message = head_of(counts)
        for name, value in fields.items():
            setattr(message, name, value)
        with pytest.raises(pybpe.TrainingError, match=match):
            Counts.from_bytes(file_of(message, counts, records))

    announced = "its records are not those that it announces"
    refuse(announced, pretokens=3)
    refuse(announced, distinct_pretokens=1)
    refuse("a record of it makes no sense", bytes=4)
    refuse(announced, records_size=len(records) - 1)
    refuse("it is truncated", records_size=2**63)
    refuse("more distinct pretokens than pretokens", distinct_pretokens=3)
    twice = b"\2\1\0aa\2\1\0aa"
    refuse(announced, twice, records_size=len(twice))
    for change, match in [
        (lambda m: m.special_tokens.MergeFromString(b"\x1a\4\1\0\0\0"), "have ids"),
        (lambda m: m.protected.CopyFrom(m.special_tokens), "is there twice"),
        (lambda m: m.split.stages[0].ClearField("class_starts"), "do not cover"),
        (lambda m: m.MergeFromString(b"\x78\1"), "does not know, number 15"),
    ]:
        message = head_of(counts)
        change(message)
        with pytest.raises(pybpe.TrainingError, match=match):
            Counts.from_bytes(file_of(message, counts))


def test_changed_files_read_or_are_refused() -> None:
    # With the checksum made right again. What is read is sound: it is written, read
    # and trained on.
    random_ = random.Random(5)
    whole = count_texts(
        [random_data(random_, 60) for _ in range(4)], special_tokens=SPECIAL
    ).to_bytes()[:-32]
    records = len(whole) - 300  # the more interesting part, for half of the changes
    n_read = 0
    for _ in range(2000):
        data = bytearray(whole)
        for _ in range(random_.choice([1, 1, 2, 5])):
            at = random_.randrange(random_.choice([16, records]), len(data))
            kind = random_.randrange(3)
            if kind == 0:
                data[at] = random_.choice(
                    [0, 1, 0x7F, 0x80, 0xFF, random_.randrange(256)]
                )
            elif kind == 1:
                del data[at : at + random_.randint(1, 3)]
            else:
                data[at:at] = random_.randbytes(random_.randint(1, 3))
        try:
            counts = Counts.from_bytes(bytes(data) + hashlib.sha256(data).digest())
        except pybpe.TrainingError:
            continue
        n_read += 1
        assert Counts.from_bytes(counts.to_bytes()) == counts
        assert sum(n for _, n in counts.items()) == counts.pretokens
        pybpe.train_from_counts(counts, num_merges=3)
    assert n_read > 30


def test_other_files_are_named(tmp_path: Path) -> None:
    model = tmp_path / "x.pybpe"
    pybpe.train(["a"], 256).save(model)
    with pytest.raises(pybpe.TrainingError, match="not a file of counts but a pybpe m"):
        Counts.load(model)
    text = tmp_path / "x.txt"
    text.write_text("hello")
    with pytest.raises(pybpe.TrainingError, match="not a file of counts but"):
        pybpe.train_from_counts(text, 300)
    counts = saved(count_texts(["a"]), tmp_path / "x.counts")
    with pytest.raises(pybpe.ModelError, match="a file of counted pretokens; train on"):
        pybpe.load(counts)
    data = counts.read_bytes()
    with pytest.raises(
        pybpe.TrainingError, match=r"of format version 2.*upgrade pybpe"
    ):
        Counts.from_bytes(data[:8] + b"\2" + data[9:])


def test_a_failed_save_leaves_what_was_there(tmp_path: Path) -> None:
    path = saved(count_texts(["a"]), tmp_path / "x.counts")
    before = path.read_bytes()
    tmp_path.chmod(0o755)
    with pytest.raises(OSError, match="no-such"):
        count_texts(["b"]).save(tmp_path / "no-such" / "x.counts")
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.counts"]


def test_documents_in_files_are_texts(tmp_path: Path) -> None:
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"text": "low lower"}\n{"text": "newer"}\n', encoding="utf-8")
    (tmp_path / "b.txt").write_text("x--new", encoding="utf-8")
    counts = count_files([tmp_path], split_on="--")
    assert counts == count_texts(["low lower", "newer", "x", "new"])
    assert count_files([lines], format="text") == count_texts([lines.read_bytes()])
    tok = pybpe.train_from_files([tmp_path], 262, split_on="--")
    assert pybpe.train_from_counts(counts, 262).to_bytes() == tok.to_bytes()
    with pytest.raises(pybpe.CorpusError, match="'body'"):
        count_files([lines], field="body")
