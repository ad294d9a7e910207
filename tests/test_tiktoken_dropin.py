"""`pybpe.tiktoken` has what tiktoken has, and does what it does."""

from __future__ import annotations

import copy
import doctest
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import peer_texts
import pytest
from tiktoken_parts import END, small_parts

import pybpe
import pybpe.tiktoken as ours
from pybpe.tiktoken import load, registry

theirs = pytest.importorskip("tiktoken")
pytestmark = pytest.mark.oracle

NAMES = ["gpt2", "r50k_base", "p50k_base", "cl100k_base", "o200k_base", "o200k_harmony"]


@pytest.fixture(scope="module")
def pair(data_path: Callable[[str], Path]) -> Callable[[str], tuple[Any, Any]]:
    data_path("vocab/openai")
    return lambda name: (theirs.get_encoding(name), ours.get_encoding(name))


@pytest.fixture(scope="module", params=["gpt2", "cl100k_base", "o200k_harmony"])
def encs(pair: Any, request: pytest.FixtureRequest) -> tuple[Any, Any]:
    found: tuple[Any, Any] = pair(request.param)
    return found


def small(**changes: Any) -> Any:
    """Return one of our encodings that needs no data."""
    return ours.Encoding(**small_parts(**changes))


# ------------------------------------------------------------------ the same surface


def public(thing: Any) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def attributes(enc: Any) -> set[str]:
    return public(enc)


def test_every_public_name_is_there() -> None:
    modules = {
        name for name in public(theirs) if inspect.ismodule(getattr(theirs, name))
    }
    assert public(theirs) - modules <= public(ours)
    assert ours.__version__.split(".")[:2] == theirs.__version__.split(".")[:2]
    assert attributes(theirs.Encoding(**small_parts())) <= attributes(small())


def test_private_names_that_programs_use_are_there() -> None:
    enc, other = small(), theirs.Encoding(**small_parts())
    names = {
        name
        for name in dir(other)
        if name.startswith("_") and not name.startswith("__")
    }
    assert names - {"_core_bpe"} <= set(dir(enc))
    assert enc._pat_str == other._pat_str
    assert enc._mergeable_ranks == other._mergeable_ranks
    assert enc._special_tokens == other._special_tokens


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [
        (parameter.name, parameter.kind, parameter.default)
        for parameter in inspect.signature(function).parameters.values()
    ]


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name, member in inspect.getmembers(theirs.Encoding)
        if inspect.isfunction(member)
        and (not name.startswith("__") or name == "__init__")
    ),
)
def test_signatures_of_methods(name: str) -> None:
    assert parameters(getattr(ours.Encoding, name)) == parameters(
        getattr(theirs.Encoding, name)
    )


@pytest.mark.parametrize(
    "name", sorted(name for name in public(theirs) if callable(getattr(theirs, name)))
)
def test_signatures_of_functions(name: str) -> None:
    assert parameters(getattr(ours, name)) == parameters(getattr(theirs, name))


# ------------------------------------------------------------------ the registry


def test_names_and_models() -> None:
    assert set(theirs.list_encoding_names()) <= set(ours.list_encoding_names())
    for model in theirs.model.MODEL_TO_ENCODING:
        for name in (model, model + "-2024-01-01", "ft:" + model):
            try:
                expected = theirs.encoding_name_for_model(name)
            except KeyError:
                with pytest.raises(KeyError):
                    ours.encoding_name_for_model(name)
            else:
                assert ours.encoding_name_for_model(name) == expected
    for prefix, name in theirs.model.MODEL_PREFIX_TO_ENCODING.items():
        assert ours.encoding_name_for_model(prefix + "x") == name


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match="unknown encoding"):
        ours.get_encoding("nope")
    with pytest.raises(ValueError, match="int"):
        ours.get_encoding(5)  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        ours.encoding_for_model("nope")


def test_the_same_object_each_time(pair: Any) -> None:
    enc = pair("gpt2")[1]
    assert ours.get_encoding("gpt2") is enc
    assert ours.encoding_for_model("gpt2") is enc


def test_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import tiktoken_ext

    folder = tmp_path / "tiktoken_ext"
    folder.mkdir()
    text = (
        "def mine():\n"
        "    ranks = {bytes([i]): i for i in range(256)}\n"
        "    return dict(name='mine', pat_str='.', mergeable_ranks=ranks,\n"
        "                special_tokens={})\n"
        "ENCODING_CONSTRUCTORS = {'mine': mine}\n"
    )
    (folder / "test_plugin.py").write_text(text)
    monkeypatch.setattr(tiktoken_ext, "__path__", [*tiktoken_ext.__path__, str(folder)])
    try:
        assert "mine" in ours.list_encoding_names()
        assert ours.get_encoding("mine").encode("hi") == [104, 105]
        assert ours.get_encoding("mine") is ours.get_encoding("mine")
    finally:
        registry.ENCODINGS.pop("mine", None)


@pytest.mark.parametrize("name", NAMES)
def test_vocabularies(pair: Any, name: str) -> None:
    a, b = pair(name)
    assert a._mergeable_ranks == b._mergeable_ranks
    assert a._special_tokens == b._special_tokens
    assert a.special_tokens_set == b.special_tokens_set
    assert a.token_byte_values() == b.token_byte_values()
    assert (a.name, a.n_vocab, a.max_token_value, a.eot_token, repr(a)) == (
        b.name,
        b.n_vocab,
        b.max_token_value,
        b.eot_token,
        repr(b),
    )
    for number in range(0, a.n_vocab + 2, 7):
        assert a.is_special_token(number) == b.is_special_token(number)
    for number in a._special_tokens.values():
        assert b.is_special_token(number)
        assert a.decode_single_token_bytes(number) == b.decode_single_token_bytes(
            number
        )
    for token in a.special_tokens_set:
        assert a.encode_single_token(token) == b.encode_single_token(token)


# ------------------------------------------------------------------ encoding


def test_ids(encs: tuple[Any, Any]) -> None:
    a, b = encs
    texts = list(peer_texts.unicode_texts(11, 300, [END, "<|endofprompt|>"]))
    for text in texts:
        ids = a.encode(text, allowed_special="all")
        assert b.encode(text, allowed_special="all") == ids
        assert b.encode_to_numpy(text, allowed_special="all").tolist() == ids
        assert b.encode_ordinary(text) == a.encode_ordinary(text)
        assert b._encode_only_native_bpe(text) == a.encode_ordinary(text)
        assert b.decode(ids) == a.decode(ids) == text
        assert b.decode_tokens_bytes(ids) == a.decode_tokens_bytes(ids)
        assert b.decode_with_offsets(ids) == a.decode_with_offsets(ids)
    rows = a.encode_batch(texts, disallowed_special=())
    assert b.encode_batch(texts, disallowed_special=()) == rows
    assert b.encode_ordinary_batch(texts, num_threads=2) == rows
    assert b.decode_batch(rows) == a.decode_batch(rows)
    assert b.decode_bytes_batch(rows, num_threads=3) == a.decode_bytes_batch(rows)


def test_numpy() -> None:
    found = small().encode_to_numpy("abc abc")
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.uint32
    assert found.tolist() == small().encode("abc abc")
    assert small().decode(found) == "abc abc"


def test_permissions(encs: tuple[Any, Any]) -> None:
    a, b = encs
    text = f"hello {END} there"
    options: list[dict[str, Any]] = [
        {"allowed_special": "all"},
        {"allowed_special": {END}},
        {"allowed_special": {END}, "disallowed_special": ()},
        {"disallowed_special": ()},
        {"disallowed_special": {"there!"}},
        {"allowed_special": {"hello"}, "disallowed_special": set()},
    ]
    for option in options:
        ids = a.encode(text, **option)
        assert b.encode(text, **option) == ids
        assert b.encode_batch([text] * 3, **option) == [ids] * 3
        assert b.encode_to_numpy(text, **option).tolist() == ids
    refused: list[dict[str, Any]] = [
        {},
        {"disallowed_special": "all"},
        {"disallowed_special": {END}},
        {"disallowed_special": {"there"}},
        {"allowed_special": "all", "disallowed_special": [END]},
    ]
    for option in refused:
        for method in ("encode", "encode_to_numpy", "encode_with_unstable"):
            for enc in encs:
                with pytest.raises(ValueError, match=r"special token"):
                    getattr(enc, method)(text, **option)
        with pytest.raises(ValueError, match=r"special token"):
            b.encode_batch(["fine", text], **option)


def test_none_disallows_nothing_but_in_batches(encs: tuple[Any, Any]) -> None:
    text = f"hello {END}"
    a, b = encs
    for method in ("encode", "encode_to_numpy", "encode_with_unstable"):
        nothing, none = (
            getattr(b, method)(text, disallowed_special=value) for value in ((), None)
        )
        expected = getattr(a, method)(text, disallowed_special=None)
        if method == "encode_with_unstable":
            nothing, none, expected = (
                (stable, sorted(rest)) for stable, rest in (nothing, none, expected)
            )
        assert list(none) == list(nothing) == list(expected)
    for enc in encs:
        with pytest.raises(TypeError):
            enc.encode_batch([text], disallowed_special=None)
        for method in ("encode", "encode_batch"):
            with pytest.raises(TypeError):
                getattr(enc, method)([text], allowed_special=END)


def test_a_str_in_place_of_a_set_of_disallowed_ones(encs: tuple[Any, Any]) -> None:
    """tiktoken takes its characters, which nobody can have meant."""
    a, b = encs
    with pytest.raises(ValueError, match="disallowed special token 't'"):
        a.encode("a text", disallowed_special="text")
    with pytest.raises(TypeError, match="put it into a set"):
        b.encode("a text", disallowed_special="text")


def test_surrogates(encs: tuple[Any, Any]) -> None:
    a, b = encs
    for text in ("\ud83d\udc4d", "x\ud83d", "\udc4d\ud83dx", "\ud83d\U0001f44d"):
        assert b.encode(text) == a.encode(text)
        assert b.encode_ordinary(text) == a.encode_ordinary(text)
        assert b.encode_batch([text]) == a.encode_batch([text])


def test_long_repetitions(encs: tuple[Any, Any]) -> None:
    a, b = encs
    for char in ("^", "0", "a", "'s", " ", "\n"):
        text = char * 3000
        for around in (text, " " + text, text + "\n"):
            ids = b.encode(around)
            assert ids == a.encode(around)
            assert b.decode(ids) == around


def test_single_tokens(encs: tuple[Any, Any]) -> None:
    a, b = encs
    for number in range(0, a.n_vocab, 501):
        try:
            token = a.decode_single_token_bytes(number)
        except KeyError:
            with pytest.raises(KeyError):
                b.decode_single_token_bytes(number)
            continue
        assert b.decode_single_token_bytes(number) == token
        assert b.encode_single_token(token) == number == a.encode_single_token(token)
        assert b._encode_single_piece(token) == a._encode_single_piece(token)
    for enc in encs:
        for wrong in ("no such token", b"\xff\xff\xff", b"", ""):
            with pytest.raises(KeyError):
                enc.encode_single_token(wrong)
    assert b._encode_single_piece("helloqqqq zzz") == a._encode_single_piece(
        "helloqqqq zzz"
    )


@hypothesis.given(data=st.binary(max_size=40))
def test_encode_bytes(pair: Any, data: bytes) -> None:
    for name in ("gpt2", "cl100k_base"):
        a, b = pair(name)
        ids = a._encode_bytes(data)
        assert b._encode_bytes(data) == ids
        assert b.decode_bytes(ids) == data


def test_encode_bytes_of_cut_text(pair: Any) -> None:
    a, b = pair("cl100k_base")
    data = " \uc2e4 \n\n  \U0001f44d caf\u00e9  ".encode()
    for i in range(len(data)):
        for j in range(i, len(data) + 1):
            assert b._encode_bytes(data[i:j]) == a._encode_bytes(data[i:j])


# ------------------------------------------------------------------ decoding


def test_offsets_of_text(pair: Any) -> None:
    a, b = pair("cl100k_base")
    for text in (
        "",
        "hello world",
        "\u8bf7\u8003\u8bd5\u6211",
        "\U0001f468\u200d",
        "e\u0301",
    ):
        ids = a.encode(text)
        assert b.decode_with_offsets(ids) == a.decode_with_offsets(ids)
    for enc in (a, b):
        with pytest.raises(UnicodeDecodeError):
            enc.decode_with_offsets([enc.encode("\U0001f44d")[0]])


def test_wrong_ids(encs: tuple[Any, Any]) -> None:
    for enc in encs:
        for method in ("decode", "decode_bytes", "decode_tokens_bytes"):
            with pytest.raises(KeyError):
                getattr(enc, method)([0, 5_000_000])
            for number in (-1, 1 << 32, 10**30):
                with pytest.raises(OverflowError):
                    getattr(enc, method)([0, number])
            with pytest.raises(TypeError):
                getattr(enc, method)([1.5])
        for number in (-1, 10**30):
            with pytest.raises(OverflowError):
                enc.decode_single_token_bytes(number)
        with pytest.raises(AssertionError):
            enc.is_special_token("x")


def test_errors_of_decode() -> None:
    enc = small()
    assert enc.decode([0xC3, 97]) == "\ufffda"
    assert enc.decode([0xC3, 97], errors="ignore") == "a"
    assert enc.decode([0xC3, 97], "ignore") == "a"
    with pytest.raises(UnicodeDecodeError):
        enc.decode([0xC3, 97], errors="strict")
    assert enc.decode_batch([[97], [0xC3]], errors="ignore") == ["a", ""]


def test_wrong_texts(encs: tuple[Any, Any]) -> None:
    for enc in encs:
        for wrong in (b"bytes", 5, None):
            for method in ("encode", "encode_ordinary", "encode_with_unstable"):
                with pytest.raises(TypeError):
                    getattr(enc, method)(wrong)
        with pytest.raises(TypeError):
            enc._encode_bytes("x")


# ------------------------------------------------------------------ construction


def test_construction_and_extension(pair: Any) -> None:
    for made in pair("cl100k_base"):
        chat = {"<|im_start|>": 100264, "<|im_end|>": 100265}
        enc = ours.Encoding(
            name="cl100k_im",
            pat_str=made._pat_str,
            mergeable_ranks=made._mergeable_ranks,
            special_tokens={**made._special_tokens, **chat},
        )
        ids = enc.encode("<|im_start|>hi<|im_end|>", allowed_special="all")
        assert ids == [100264, *made.encode("hi"), 100265]
        assert enc.max_token_value == 100276
        assert repr(enc) == "<Encoding 'cl100k_im'>"


def test_explicit_n_vocab() -> None:
    assert small(explicit_n_vocab=261).n_vocab == 261
    for wrong in (260, 262):
        for make in (ours.Encoding, theirs.Encoding):
            with pytest.raises(AssertionError):
                make(**small_parts(explicit_n_vocab=wrong))
    gap = {END: 300, "<|x|>": 260}
    with pytest.raises(AssertionError):
        small(special_tokens=gap, explicit_n_vocab=261)


def test_no_special_tokens() -> None:
    enc = small(special_tokens={})
    assert enc.encode(END, allowed_special="all") == enc.encode_ordinary(END)
    assert enc.special_tokens_set == set()
    assert enc.max_token_value == 258
    with pytest.raises(KeyError):
        _ = enc.eot_token


def test_a_missing_byte_is_named() -> None:
    ranks = small_parts()["mergeable_ranks"]
    del ranks[b"\x80"]
    with pytest.raises(ValueError, match="80"):
        small(mergeable_ranks=ranks)


def test_pickles_and_copies(pair: Any) -> None:
    published = pair("o200k_harmony")[1]
    state = pickle.dumps(published)
    assert len(state) < 200
    assert pickle.loads(state).encode("hello") == published.encode("hello")
    enc = small()
    for other in (pickle.loads(pickle.dumps(enc)), copy.copy(enc), copy.deepcopy(enc)):
        assert other.name == enc.name
        assert other._special_tokens == enc._special_tokens
        text = f"abc ab {END}"
        assert other.encode(text, allowed_special="all") == enc.encode(
            text, allowed_special="all"
        )


# ------------------------------------------------------------------ rank files


def test_rank_files(tmp_path: Path) -> None:
    import hashlib

    from tiktoken.load import load_tiktoken_bpe

    ranks = small()._mergeable_ranks
    path = tmp_path / "small.tiktoken"
    load.dump_tiktoken_bpe(ranks, str(path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert load.load_tiktoken_bpe(str(path)) == ranks
    assert load.load_tiktoken_bpe(str(path), digest) == ranks
    assert load_tiktoken_bpe(str(path), digest) == ranks
    with pytest.raises(ValueError, match="SHA-256"):
        load.load_tiktoken_bpe(str(path), "0" * 64)
    with pytest.raises(ValueError, match="expected_hash"):
        load.load_tiktoken_bpe("https://example.com/x.tiktoken")


# ------------------------------------------------------------------ conversion


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base", "o200k_harmony"])
def test_from_tiktoken(pair: Any, name: str) -> None:
    expected = pybpe.get_encoding(name)
    for enc in pair(name):
        tok = pybpe.from_tiktoken(enc)
        assert tok.vocab == expected.vocab
        assert tok.special_tokens == expected.special_tokens
        for text in peer_texts.unicode_texts(2, 30, [END]):
            assert tok.encode(text, allowed_special="all") == expected.encode(
                text, allowed_special="all"
            )
    with pytest.raises(TypeError, match=r"tiktoken\.Encoding"):
        pybpe.from_tiktoken("gpt2")


def test_to_tiktoken(pair: Any) -> None:
    enc = pybpe.get_encoding("cl100k_base").to_tiktoken("mine")
    assert isinstance(enc, theirs.Encoding)
    assert enc.name == "mine"
    assert enc._special_tokens == pair("cl100k_base")[0]._special_tokens
    assert enc.encode("hello  world") == pair("cl100k_base")[0].encode("hello  world")


@pytest.mark.parametrize(
    "pattern", ["gpt2", "gpt4", "cl100k", "o200k", "digits", r"\p{L}+", r"a+b", None]
)
@pytest.mark.parametrize("tie_break", ["lowest", "first"])
def test_what_was_trained_goes_to_tiktoken(
    data_path: Callable[[str], Path], pattern: str | None, tie_break: Any
) -> None:
    text = peer_texts.corpus(data_path, "english")[:30_000]
    tok = pybpe.train(
        text.splitlines(keepends=True) if pattern is None else [text],
        1000,
        pattern=pattern,
        tie_break=tie_break,
        special_tokens=[END],
    )
    enc = tok.to_tiktoken()
    assert enc.encode(text) == tok.encode(text)
    for other in peer_texts.unicode_texts(4, 100, [END]):
        assert enc.encode(other, allowed_special="all") == tok.encode(
            other, allowed_special="all"
        )
    back = pybpe.from_tiktoken(enc)
    assert back.encode(text) == tok.encode(text)
    assert back.special_tokens == tok.special_tokens


def test_what_tiktoken_cannot_hold_is_refused() -> None:
    make = pybpe.Tokenizer.from_merges
    # The list never joins "ab" and "c"; ranks would.
    twisted = [(97, 98), (98, 99), (97, 257)]
    refused = {
        "added tokens": make([], pattern=None, added_tokens={"<a>": 256}),
        "not UTF-8": make([], pattern=None, special_tokens={b"\xff\xff": 256}),
        "3 stages": make([], pattern="deepseek_v3"),
        "ranks would merge": make(twisted, pattern=None),
        "twice": make([(97, 98), (97, 98)], pattern=None),
    }
    for what, tok in refused.items():
        with pytest.raises(ValueError, match=what):
            tok.to_tiktoken()


def test_the_examples_of_the_page() -> None:
    page = (Path(__file__).parent.parent / "docs" / "tiktoken.md").read_text("utf-8")
    examples = doctest.DocTestParser().get_doctest(page, {}, "tiktoken.md", None, 0)
    assert len(examples.examples) > 4
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    failed = runner.run(examples, out=report.append).failed
    assert failed == 0, "".join(report)


class _Lying(bytes):
    """Bytes that say they are longer than they are."""

    def __len__(self) -> int:
        return 10_000_000


def test_single_tokens_are_text_or_bytes() -> None:
    encoding = small()
    for wrong in ([1], [True], None, {}, 5, bytearray(b"a"), np.array([5])):
        with pytest.raises(TypeError):
            encoding.encode_single_token(wrong)  # type: ignore[arg-type]
    assert encoding.encode_single_token(_Lying(b" a")) == 258
    with pytest.raises(KeyError):
        encoding.encode_single_token("")
