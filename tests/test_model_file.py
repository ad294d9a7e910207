"""Model files: round trips, fingerprints, atomic writing, determinism."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_messages import (
    EXPECTED,
    GOLDEN,
    assert_same,
    make_model,
    make_stage,
    message_of,
    schema,
    small_model,
)

from pybpe import Tokenizer, _model_message, _step_message, model_file
from pybpe.model import Model
from pybpe.split import Split, Stage

# ------------------------------------------------------------------ round trips


@st.composite
def ascending_ids(draw: st.DrawFn, n: int) -> array[int]:
    """Draw n ids, with gaps or without."""
    some_gaps = st.lists(st.integers(0, 500_000), min_size=n, max_size=n)
    ids = array("I")
    for gap in draw(st.one_of(st.just([0] * n), some_gaps)):
        ids.append((ids[-1] + 1 if ids else 0) + gap)
    return ids


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Draw models that fit together in size but need make no sense otherwise."""
    tokens = draw(st.lists(st.binary(max_size=9), max_size=30))
    ids = draw(ascending_ids(len(tokens)))
    ranks = draw(st.booleans())
    merge_ids = draw(
        st.one_of(
            st.just([]),
            st.just(list(ids[len(ids) // 2 :])),
            st.lists(st.integers(0, 2**32 - 1), max_size=20),
        )
    )
    merges = [draw(st.integers(0, 2**32 - 1)) for _ in range(2 * len(merge_ids))]
    extra = st.dictionaries(
        st.integers(0, (1 << 24) - 1), st.binary(min_size=1, max_size=9), max_size=9
    ).map(
        lambda d: tuple(
            (d[i], i) for i in sorted(d) if list(d.values()).count(d[i]) == 1
        )
    )
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
    split = draw(
        st.sampled_from(
            [
                Split(()),
                Split((make_stage(),)),
                Split(
                    (
                        make_stage(dialect="oniguruma", pattern="\0\n $ "),
                        # Without tables, as patterns are that do not compile.
                        Stage.compile(r"\bx", "regex"),
                        make_stage(),
                    )
                ),
            ]
        )
    )
    return Model(
        semantics="ranks" if ranks else "merges",
        whole_pretoken=draw(st.booleans()),
        token_data=b"".join(tokens),
        token_lengths=array("I", map(len, tokens)),
        token_ids=ids,
        merges=array("I", [] if ranks else merges),
        merge_ids=array("I", [] if ranks else merge_ids),
        special_tokens=draw(extra),
        added_tokens=draw(extra),
        split=split,
        provenance=draw(
            st.dictionaries(
                text, st.one_of(text, st.integers(-(2**63), 2**63 - 1)), max_size=5
            )
        ),
    )


@given(models())
def test_round_trip(model: Model) -> None:
    data = model_file.model_to_bytes(model)
    again = model_file.model_from_bytes(data)
    assert_same(again, model)
    assert model_file.model_to_bytes(again) == data
    assert model_file.fingerprint(again) == model_file.fingerprint(model)


def test_round_trip_through_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a model \u00e9"
    for model in [make_model(), make_model(split=Split(()), provenance={})]:
        model_file.save_model(model, path)
        assert_same(model_file.load_model(str(path)), model)
        assert path.read_bytes() == model_file.model_to_bytes(model)
        assert model_file.is_model_file(path.read_bytes()[:8])


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_are_read(kind: Any) -> None:
    data = kind(model_file.model_to_bytes(make_model()))
    assert_same(model_file.model_from_bytes(data), make_model())


def test_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match="must be bytes, got str"):
        model_file.model_from_bytes("no")  # type: ignore[arg-type]


def test_implied_numbers_are_not_written() -> None:
    ids = array("I", range(259))
    plain = make_model(token_ids=ids, merge_ids=array("I", [256, 257, 258]))
    message = message_of(plain)
    assert message.tokens.ids == b""
    assert message.merge_ids == b""
    for part, value in [
        ("token_ids", array("I", [*range(1, 258), 259, 260])),
        ("merge_ids", array("I", [256, 258, 257])),
    ]:
        model = make_model(**({"token_ids": ids} | {part: value}))
        message = message_of(model)
        assert message.tokens.ids or message.merge_ids
        data = model_file.model_to_bytes(model)
        assert getattr(model_file.model_from_bytes(data), part) == value


# ------------------------------------------------------------------ fingerprint


def test_fingerprint_leaves_provenance_out() -> None:
    model = make_model()
    same = make_model(provenance={})
    assert model_file.fingerprint(same) == model_file.fingerprint(model)
    assert len(model_file.fingerprint(model)) == 64


@pytest.mark.parametrize(
    "changes",
    [
        {"whole_pretoken": False},
        {"token_data": make_model().token_data[:-1] + b"x"},
        {"token_ids": array("I", [*range(258), 299])},
        {"token_lengths": array("I", [1] * 255 + [2, 1, 3, 3])},
        {"merges": array("I", [97, 98, 256, 32, 257, 1])},
        {"merge_ids": array("I", [256, 257, 300])},
        {"special_tokens": ((b"<|a b\n\0|>", 301),)},
        {"special_tokens": ((b"<|a b\n\0|>", 302), (b"\xff\xfe", 400))},
        {"added_tokens": ()},
        {"split": Split(())},
        {"split": Split((make_stage(), make_stage()))},
        {"split": Split((make_stage(pattern="a"),))},
        {"split": Split((make_stage(dialect="regex"),))},
        {"split": Split((make_stage(unicode_version="15.0"),))},
        {"split": Split((make_stage(class_starts=array("I", [0, 97, 99])),))},
        {"split": Split((make_stage(class_ids=b"\0\1\1"),))},
        {
            "split": Split(
                (
                    make_stage(
                        transitions=array("H", [0, 0, 0, 0, 2, 0, 32768, 1, 32768])
                    ),
                )
            )
        },
    ],
)
def test_fingerprint_covers_content(changes: dict[str, Any]) -> None:
    changed = model_file.fingerprint(make_model(**changes))
    assert changed != model_file.fingerprint(make_model())


# ------------------------------------------------------------------ writing


@pytest.fixture
def umask() -> Iterator[int]:
    old = os.umask(0o027)
    yield 0o027
    os.umask(old)


@pytest.mark.skipif(os.name != "posix", reason="permission bits of POSIX")
def test_permissions_are_those_of_open(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "m"
    model_file.save_model(make_model(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o604)
    model_file.save_model(small_model(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert_same(model_file.load_model(path), small_model())


def test_protected_file_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"old")
    # What the system says to anybody but root of a file with mode 0444.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="m"):
        model_file.save_model(make_model(), path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_symlinks_are_followed(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    link, loose = tmp_path / "link", tmp_path / "loose"
    try:
        link.symlink_to(Path("real", "m"))
        loose.symlink_to(Path("real", "new"))
    except OSError:
        pytest.skip("no symbolic links here")
    (folder / "m").write_bytes(b"old")
    model_file.save_model(make_model(), link)
    model_file.save_model(make_model(), loose)
    assert link.is_symlink()
    assert loose.is_symlink()
    assert sorted(p.name for p in folder.iterdir()) == ["m", "new"]
    assert_same(model_file.load_model(folder / "m"), make_model())
    assert_same(model_file.load_model(link), make_model())


@pytest.mark.parametrize("error", [OSError(28, "disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, where: str
) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(
        *((os, "fsync") if where == "fsync" else (Path, "replace")), fail
    )
    with pytest.raises(type(error)):
        model_file.save_model(make_model(), path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_longest_name_is_fine(tmp_path: Path) -> None:
    path = tmp_path / ("m" * 255)
    try:
        path.touch()
    except OSError:
        pytest.skip("shorter names only here")
    model_file.save_model(make_model(), path)
    assert_same(model_file.load_model(path), make_model())


def test_current_folder_and_missing_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model_file.save_model(make_model(), "m")
    assert_same(model_file.load_model("m"), make_model())
    with pytest.raises(FileNotFoundError):
        model_file.save_model(make_model(), "no/m")
    with pytest.raises(OSError, match=r"irectory|denied"):
        model_file.save_model(make_model(), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("error", [PermissionError(13, "denied"), OSError(28, "full")])
@pytest.mark.parametrize("where", ["open", "fsync", "replace"])
def test_errors_name_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, where: str
) -> None:
    """Not the temporary file, which the caller knows nothing of."""
    missing = str(tmp_path / "no" / "m")
    with pytest.raises(FileNotFoundError) as nowhere:
        model_file.save_model(make_model(), missing)
    assert (nowhere.value.filename, nowhere.value.filename2) == (missing, None)

    def fail(path: object, *_: object) -> None:
        raise OSError(error.errno, error.strerror, path)

    monkeypatch.setattr(*((Path if where == "replace" else os), where), fail)
    path = str(tmp_path / "m")
    with pytest.raises(type(error)) as caught:
        model_file.save_model(make_model(), path)
    assert (caught.value.filename, caught.value.filename2) == (path, None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_named() -> None:
    with pytest.raises(OSError, match="/dev/full"):
        model_file.save_model(make_model(), "/dev/full")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_are_written_to_and_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = (
        "import sys; from pybpe import model_file as f; "
        "sys.stdout.buffer.write(f.model_to_bytes(f.load_model(sys.argv[1])))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(pipe)], stdout=subprocess.PIPE
    ) as reader:
        model_file.save_model(make_model(), pipe)
        out, _ = reader.communicate(timeout=600)
    assert reader.returncode == 0
    assert out == model_file.model_to_bytes(make_model())
    assert stat.S_ISFIFO(pipe.stat().st_mode)


# ------------------------------------------------------------------ processes, protobuf


def run(code: str, *args: str, **environment: str) -> str:
    """Run Python code in a fresh process, warnings being errors; return its output."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *args],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


REWRITE = """
import sys
from pybpe import model_file as f
model = f.load_model(sys.argv[1])
print(f.model_to_bytes(model).hex(), f.fingerprint(model))
"""


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "12345"},
        {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"},
    ],
)
def test_bytes_are_the_same_in_every_process(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    path = tmp_path / "m"
    model_file.save_model(make_model(), path)
    data = path.read_bytes()
    written = run(REWRITE, str(path), **environment)
    assert written == f"{data.hex()} {model_file.fingerprint(make_model())}"


def test_order_of_provenance_does_not_matter() -> None:
    pairs = list(make_model().provenance.items())
    turned = make_model(provenance=dict(reversed(pairs)))
    assert model_file.model_to_bytes(turned) == model_file.model_to_bytes(make_model())


@pytest.mark.parametrize("name", sorted(p.name for p in GOLDEN.glob("*.pybpe")))
def test_protobuf_is_imported_for_writing_only(name: str) -> None:
    code = (
        "import sys, pybpe; tok = pybpe.load(sys.argv[1]); tok.encode('a')\n"
        "print([m for m in sys.modules if m.startswith('google')], end=' ')\n"
        "tok.to_bytes(); print('google.protobuf' in sys.modules)"
    )
    assert run(code, str(GOLDEN / name)) == "[] True"


@pytest.mark.parametrize("name", sorted(p.name for p in GOLDEN.glob("*.pybpe")))
def test_loading_imports_nothing_slow(name: str) -> None:
    """Each of these takes longer to import than a small model takes to load."""
    # Without site-packages' .pth files, which may import anything.
    code = (
        "import sys; sys.path[:] = sys.argv[2:]; there = set(sys.modules)\n"
        "import pybpe; pybpe.load(sys.argv[1]).encode('a')\n"
        "slow = {'typing', 're', 'enum', 'contextlib', 'pathlib', 'dataclasses'}\n"
        "print(*slow & (set(sys.modules) - there))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, str(GOLDEN / name), *sys.path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 65_535, 65_536, 65_537, 200_000])
def test_counted_is_a_range(n: int) -> None:
    assert _step_message.counted(n) == array("I", range(n))


def test_schema_registers_under_names_of_its_own() -> None:
    file = schema().DESCRIPTOR
    assert file.name == "pybpe/_proto/pybpe.proto"
    assert file.package == "pybpe.v1"


def test_generated_code_is_up_to_date(project_root: Path) -> None:
    """See tools/make_proto.py, whose --check compares in full."""
    text = (project_root / "proto" / "pybpe.proto").read_text("utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()
    for name in ["pybpe_pb2.py", "pybpe_pb2.pyi", "pybpe_schema.py"]:
        generated = (project_root / "pybpe" / "_proto" / name).read_text("utf-8")
        assert digest in generated.splitlines()[0]


def test_names_match_the_schema() -> None:
    """The numbers written in _model_message are those of the schema."""
    pb = schema()
    for table, enum in [
        (_model_message._SEMANTICS, pb.MergeSemantics),
        (_step_message._DIALECTS, pb.Dialect),
        (_step_message._BEHAVIORS, pb.Behavior),
    ]:
        for name, number in table.items():
            assert enum.Name(number).endswith("_" + name.upper())
    assert pb.Kind.Name(_model_message._BYTE_LEVEL) == "KIND_BYTE_LEVEL_BPE"


# ------------------------------------------------------------------ golden files


@pytest.mark.parametrize("name", sorted(EXPECTED["models"]))
def test_format_version_1_loads_for_ever(name: str) -> None:
    expected = EXPECTED["models"][name]
    tok = Tokenizer.from_bytes((GOLDEN / name).read_bytes())
    for text, ids in zip(EXPECTED["texts"], expected["ids"], strict=True):
        assert tok.encode(text, allowed_special="all") == ids
        assert tok.decode(ids) == text
    # And nothing that an upgrade changes shows in what is written.
    assert tok.fingerprint == expected["fingerprint"]
    assert tok.to_bytes() == (GOLDEN / name).read_bytes()


def test_golden_files_hold_something_of_everything() -> None:
    models = [model_file.load_model(GOLDEN / name) for name in EXPECTED["models"]]
    assert {m.semantics for m in models} == {"ranks", "merges"}
    assert {len(m.split.stages) for m in models} == {0, 1, 3}
    for part in ["merges", "special_tokens", "added_tokens", "provenance"]:
        assert any(getattr(m, part) for m in models), part
    assert any(list(m.token_ids) != list(range(len(m.token_ids))) for m in models)
