"""sentencepiece models through the public API: load, encode, decode, save."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spm
from peer_texts import CORPORA, DataPath
from spm import CONTROL, MARK, NORMAL, UNKNOWN, UNUSED, USER_DEFINED

import pybpe
from pybpe import (
    ModelError,
    SpecialTokenError,
    Tokenizer,
    UnknownTokenError,
)

PUBLISHED = [
    "llama2_tokenizer.model",
    "mistral_tokenizer.model.v1",
    "mistral_mistral_instruct_tokenizer_240323.model.v3",
]
LETTERS = [MARK, "a", "b", "c", "<", "/", "s", ">", "\u00e9"]
PIECES = [
    (b"<unk>", 0.0, UNKNOWN),
    (b"<s>", 0.0, CONTROL),
    (b"</s>", 0.0, CONTROL),
    (b"<gap>", 0.0, USER_DEFINED),
    *spm.byte_pieces(),
    (b"ab", -1.0, NORMAL),
    (b"abc", -2.0, UNUSED),
    *((text.encode(), -10.0 - i, NORMAL) for i, text in enumerate(LETTERS)),
]
A = 262 + LETTERS.index("a")
SPACE = 262

Load = Callable[..., Tokenizer]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that writes a `.model` file and loads that."""

    def write_and_load(
        pieces: list[tuple[bytes, float, int]] = PIECES, **options: Any
    ) -> Tokenizer:
        options.setdefault("byte_fallback", True)
        path = tmp_path / "small.model"
        path.write_bytes(spm.write_model(pieces, **options))
        return pybpe.load(path)

    return write_and_load


@pytest.fixture
def tok(load: Load) -> Tokenizer:
    return load()


# ------------------------------------------------------------------ against the package


def reference(path: Path) -> Any:
    package = pytest.importorskip("sentencepiece")
    package.set_min_log_level(5)
    processor = package.SentencePieceProcessor()
    processor.LoadFromSerializedProto(path.read_bytes())
    return processor


def assert_equal_ids(tok: Tokenizer, theirs: Any, texts: list[str]) -> None:
    """Compare every way in, and both ways out, with the package's."""
    want = theirs.encode(texts)
    assert tok.encode_batch(texts, disallowed_special=(), num_threads=2) == want
    assert tok.decode_batch(want, num_threads=2) == theirs.decode(want)
    for text, ids in zip(texts[:200], want[:200], strict=True):
        assert tok.encode_ordinary(text) == ids
        assert tok.encode_ordinary(text.encode()) == ids
        assert tok.encode_to_numpy(text, disallowed_special=()).tolist() == ids
        assert tok.count(text, disallowed_special=()) == len(ids)
        assert tok.decode(ids) == theirs.decode(ids)
        mapping = theirs.encode(text, out_type="offset_mapping")
        found = tok.encode_with_pieces(text)
        assert [x.id for x in found] == mapping["ids"]
        assert [x.piece.decode() for x in found] == mapping["pieces"]
        assert [(x.begin, x.end) for x in found] == mapping["offsets"]


@pytest.mark.oracle
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models(data_path: DataPath, name: str) -> None:
    path = data_path(f"vocab/sentencepiece/{name}")
    tok, theirs = pybpe.load(path), reference(path)
    assert tok.vocab_size == tok.n_vocab == theirs.get_piece_size()
    assert tok.text_prefix == (theirs.bos_id(),)
    assert tok.text_suffix == ()
    for corpus in CORPORA:
        text = data_path(f"corpora/{corpus}_1mb.txt").read_text("utf-8")[:100_000]
        lines = text.splitlines(keepends=True)
        assert_equal_ids(tok, theirs, [*lines, text])
    rng = random.Random(name)
    specials = [piece for piece, _ in tok._model.special_tokens]
    texts = [
        spm.random_text(rng, specials).decode("utf-8", "replace") for _ in range(300)
    ]
    assert_equal_ids(tok, theirs, texts)
    for number in range(tok.n_vocab):
        piece = theirs.id_to_piece(number)
        assert tok.token_bytes(number) == piece.encode()
        assert tok.token_id(piece) == number
    controls = {
        theirs.id_to_piece(i): i for i in range(tok.n_vocab) if theirs.is_control(i)
    }
    assert tok.special_tokens == controls
    assert Tokenizer.from_bytes(tok.to_bytes()) == tok


@pytest.mark.slow
def test_llamacpp_vectors(data_path: DataPath) -> None:
    pytest.importorskip("gguf")
    path = data_path("vocab/llamacpp/ggml-vocab-llama-spm.gguf")
    tok = pybpe.load(path)
    given = path.with_name(path.name + ".inp").read_bytes().decode()
    wanted = path.with_name(path.name + ".out").read_text("utf-8")
    texts = given.split("\n__ggml_vocab_test__\n")
    rows = [list(map(int, line.split())) for line in wanted.split("\n")]
    assert len(texts) == len(rows) > 40
    for text, ids in zip(texts, rows, strict=True):
        assert tok.encode(text) == ids, text
    assert tok.text_prefix == (1,)
    assert tok == pybpe.load(data_path(f"vocab/sentencepiece/{PUBLISHED[0]}"))


# ------------------------------------------------------------------ GGUF, by hand


@pytest.fixture
def load_gguf(tmp_path: Path) -> Load:
    """Return a function that writes a "llama" vocabulary to a file and loads that."""
    gguf = pytest.importorskip("gguf")

    def write_and_load(
        pieces: list[tuple[bytes, float, int]] = PIECES,
        types: list[int] | None = None,
        changes: dict[str, Any] | None = None,
        **options: Any,
    ) -> Tokenizer:
        path = tmp_path / "small.gguf"
        writer = gguf.GGUFWriter(path, "llama")
        writer.add_tokenizer_model("llama")
        writer.add_token_list([text for text, _, _ in pieces])
        writer.add_token_scores([score for _, score, _ in pieces])
        writer.add_token_types(types or [kind for _, _, kind in pieces])
        values = {"bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 0}
        for key, value in (values | (changes or {})).items():
            add = writer.add_bool if isinstance(value, bool) else writer.add_uint32
            add(f"tokenizer.ggml.{key}", value)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
        return pybpe.load(path, **options)

    return write_and_load


def test_gguf_holds_the_same_model(load: Load, load_gguf: Load) -> None:
    same = load(remove_extra_whitespaces=False)
    assert load_gguf() == same
    assert load_gguf(changes={"add_space_prefix": False}) == load(
        remove_extra_whitespaces=False, add_dummy_prefix=False
    )
    bare = load_gguf(changes={"add_bos_token": False, "add_eos_token": True})
    assert (bare.text_prefix, bare.text_suffix) == ((), (2,))
    assert bare != same


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"types": [NORMAL] * 3}, "271 tokens, but types for 3"),
        ({"types": [NORMAL] * 270 + [7]}, "token 270 is of type 7"),
        ({"changes": {"bos_token_id": 271}}, "bos_token_id is 271, which is no token"),
        ({"changes": {"add_bos_token": 1}}, "add_bos_token must be a bool"),
        ({"pieces": [*PIECES, PIECES[5]]}, "piece 271, '<0x01>', is there already"),
    ],
    ids=range(5),
)
def test_bad_gguf(change: dict[str, Any], message: str, load_gguf: Load) -> None:
    with pytest.raises(ModelError, match=rf"small\.gguf.*{message}"):
        load_gguf(**change)


def test_models_hold_their_own_pieces(
    load: Load, load_gguf: Load, tmp_path: Path
) -> None:
    load()
    for option in ({"pattern": "gpt2"}, {"special_tokens": {"<s>": 1}}):
        with pytest.raises(ValueError, match=f"{next(iter(option))} cannot be given"):
            pybpe.load(tmp_path / "small.model", **option)
        with pytest.raises(ValueError, match=f"{next(iter(option))} cannot be given"):
            load_gguf(**option)


# ------------------------------------------------------------------ what it is


def test_properties(tok: Tokenizer) -> None:
    assert tok.vocab_size == tok.n_vocab == len(PIECES)
    assert tok.special_tokens == {"<s>": 1, "</s>": 2}
    assert tok.added_tokens == {"<gap>": 3}
    others = {text: i for i, (text, _, _) in enumerate(PIECES) if i not in (1, 2, 3)}
    assert tok.vocab == others
    assert tok.token_bytes(4 + 0x0A) == b"<0x0A>"
    assert tok.token_id("<s>") == 1
    assert tok.token_id("abc") == 261
    assert tok.pattern is None
    assert not tok.split.stages
    assert tok.training_report is None
    assert repr(tok) == "<pybpe.Tokenizer vocab_size=271 sentencepiece>"
    for number in (-1, 271):
        with pytest.raises(UnknownTokenError, match=f"no token has id {number}"):
            tok.token_bytes(number)
    with pytest.raises(UnknownTokenError, match="'xyz' is not in the vocabulary"):
        tok.token_id("xyz")
    with pytest.raises(ValueError, match="no list of merges"):
        _ = tok.merges
    with pytest.raises(AttributeError, match="immutable"):
        tok.vocab = {}  # type: ignore[misc]


def test_only_models_make_tokenizers() -> None:
    with pytest.raises(TypeError, match="a Model or a CodepointModel, got dict"):
        Tokenizer({})  # type: ignore[arg-type]


def test_unigram_is_refused_by_name(load: Load, data_path: DataPath) -> None:
    with pytest.raises(ModelError, match=r"small\.model.*type unigram; .* BPE only"):
        load(algorithm=1)
    with pytest.raises(ModelError, match="type word"):
        load(algorithm=3)
    with pytest.raises(ModelError, match=r"sp_test_model\.model.*unigram"):
        pybpe.load(data_path("vocab/sentencepiece/sp_test_model.model"))


# ------------------------------------------------------------------ special tokens


def test_special_tokens_need_permission(tok: Tokenizer) -> None:
    text = "a</s>b"
    with pytest.raises(
        SpecialTokenError, match=r"'</s>' at character 1 .*allowed_spec"
    ):
        tok.encode(text)
    with pytest.raises(SpecialTokenError, match=r"texts\[1\] spells .*character 1 "):
        tok.encode_batch(["a", text])
    with pytest.raises(SpecialTokenError):
        tok.encode_with_dropout(text, 0.0, 1)
    plain = tok.encode(text, disallowed_special=())
    assert plain == tok.encode_ordinary(text) == [SPACE, A, *range(266, 270), A + 1]
    # What stands between two of them is a text of its own, with its own mark.
    allowed = [SPACE, A, 2, SPACE, A + 1]
    assert tok.encode(text, allowed_special={"</s>"}) == allowed
    assert tok.encode(text, allowed_special="all") == allowed
    assert tok.count(text, allowed_special="all") == 5
    assert tok.encode_batch([text], allowed_special="all") == [allowed]
    assert tok.encode_to_numpy(text, allowed_special="all").tolist() == allowed
    with pytest.raises(SpecialTokenError):
        tok.encode(text + "<s>", allowed_special={"</s>"})


def test_pieces_of_other_types_in_text_are_text(tok: Tokenizer) -> None:
    """Neither the unknown piece nor byte pieces get in by being spelt."""
    for text in ("<unk>", "<0x41>"):
        ids = tok.encode(text)
        assert not {0, 4 + 0x41}.intersection(ids)
        assert tok.decode(ids) == text


def test_added_tokens_are_always_found(tok: Tokenizer) -> None:
    for ids in (tok.encode("a<gap>b"), tok.encode_ordinary("a<gap>b")):
        assert ids == [SPACE, A, 3, A + 1]
    assert tok.encode("a<gap></s>", allowed_special="all") == [SPACE, A, 3, 2]


def test_around_a_text(load: Load, tok: Tokenizer) -> None:
    plain = tok.encode("ab")
    assert tok.text_prefix == (1,)
    assert tok.text_suffix == ()
    assert tok.encode("ab", add_special_tokens=True) == [1, *plain]
    assert tok.count("ab", add_special_tokens=True) == 1 + len(plain)
    assert tok.encode_batch(["ab"], add_special_tokens=True) == [[1, *plain]]
    assert tok.encode_to_numpy("ab", add_special_tokens=True).tolist() == [1, *plain]
    assert tok.decode([1, *plain, 2]) == "ab"
    none = load([piece for piece in PIECES if piece[0] != b"<s>"])
    assert none.encode("ab", add_special_tokens=True) == none.encode("ab")


# ------------------------------------------------------------------ text in and out


def test_decoding(tok: Tokenizer) -> None:
    assert tok.decode(tok.encode("a  b \u4f60 caf\u00e9")) == "a b \u4f60 caf\u00e9"
    # Byte pieces are exactly their bytes, alone too.
    assert tok.decode_bytes([4 + 0xF0]) == b"\xf0"
    assert tok.decode([4 + 0xF0, 4 + 0x9F]) == "\ufffd\ufffd"
    with pytest.raises(UnicodeDecodeError):
        tok.decode([4 + 0xF0], errors="strict")
    assert tok.decode([4 + 0xF0, A], errors="ignore") == "a"
    assert tok.decode_batch([[A], [], [4 + 0xF0]]) == ["a", "", "\ufffd"]
    assert tok.decode([0]) == " \u2047 "
    with pytest.raises(UnknownTokenError, match=r"id 271 \(at position 1\)"):
        tok.decode([A, 271])
    with pytest.raises(UnknownTokenError, match=r"batch\[1\]: .*id 999"):
        tok.decode_batch([[A], [999]])


@pytest.mark.parametrize("ids", [None, "he", b"h", 5, 1.5, {1: 2}, ["a"], [1.0]])
def test_what_is_no_ids(ids: Any, tok: Tokenizer) -> None:
    for decode in (tok.decode, tok.decode_bytes):
        with pytest.raises(TypeError, match="ids must be"):
            decode(ids)


@pytest.mark.parametrize("text", [None, 5, ["a"]])
def test_what_is_no_text(text: Any, tok: Tokenizer) -> None:
    for encode in (tok.encode, tok.count, tok.encode_with_pieces):
        with pytest.raises(TypeError, match="text must be str or bytes"):
            encode(text)


def test_lone_surrogates(tok: Tokenizer) -> None:
    assert tok.encode("a\ud800b") == tok.encode("a\ufffdb")
    assert tok.encode("\ud83d\ude00") == tok.encode("\U0001f600")


def test_pieces_and_places(tok: Tokenizer) -> None:
    text = "\u00e9 \U0001f600ab\ud83d\ude00\ud800a"
    found = tok.encode_with_pieces(text)
    assert [x.id for x in found] == tok.encode_ordinary(text)
    assert all(x.piece == tok.token_bytes(x.id) for x in found)
    whole = [(x.begin, x.end) for x in found if x.begin < x.end]
    # The mark stands for the space; pairs of surrogates are two characters.
    assert whole == [(0, 1), (1, 2), (2, 3), (3, 5), (5, 7), (7, 8), (8, 9)]
    data = "\u00e9ab".encode()
    assert [(x.begin, x.end) for x in tok.encode_with_pieces(data)[1:]] == [
        (0, 2),
        (2, 4),
    ]
    # Like `encode_ordinary`: special tokens are text.
    assert 2 not in [x.id for x in tok.encode_with_pieces("a</s>")]


def test_dropout(tok: Tokenizer) -> None:
    text = "ab " * 50
    plain = tok.encode(text)
    assert tok.encode_with_dropout(text, 0.0, 1) == plain
    drawn = [tok.encode_with_dropout(text, 0.5, seed) for seed in range(8)]
    assert len(set(map(tuple, drawn))) == 8
    assert tok.encode_with_dropout(text, 0.5, 3) == drawn[3]
    assert all(tok.decode(ids) == tok.decode(plain) for ids in drawn)
    assert 260 not in tok.encode_with_dropout(text, 1.0, 1)
    ids = tok.encode_with_dropout("a</s>", 1, 1, allowed_special="all")
    assert ids == [SPACE, A, 2]
    with pytest.raises(ValueError, match="finite"):
        tok.encode_with_dropout(text, float("nan"), 1)
    with pytest.raises(TypeError, match="a seed must be an int, got str"):
        tok.encode_with_dropout(text, 0.5, "1")  # type: ignore[arg-type]


def test_byte_level_models_have_no_pieces() -> None:
    tok = Tokenizer.from_merges([], pattern=None)
    with pytest.raises(ValueError, match="encode_with_dropout is for sentencepiece"):
        tok.encode_with_dropout("a", 0.5, 1)
    with pytest.raises(ValueError, match="encode_with_pieces is for sentencepiece"):
        tok.encode_with_pieces("a")


def test_threads(tok: Tokenizer) -> None:
    texts = [f"ab{'c' * n}\u4f60</s>" for n in range(40)]
    want = tok.encode_batch(texts, allowed_special="all", num_threads=1)
    wrong: list[int] = []

    def work() -> None:
        for _ in range(20):
            for i, text in enumerate(texts):
                ids = tok.encode(text, allowed_special="all")
                if ids != want[i] or tok.decode(ids) != tok.decode(want[i]):
                    wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    large = ["abc " * 100_000] * 30
    assert tok.encode_batch(large, num_threads=3) == [tok.encode(large[0])] * 30


# ------------------------------------------------------------------ saving


def test_same_content_is_equal(tok: Tokenizer, load: Load, tmp_path: Path) -> None:
    again = load()
    assert again == tok
    assert hash(again) == hash(tok)
    other = load(add_dummy_prefix=False)
    assert other != tok
    assert tok != Tokenizer.from_merges([], pattern=None)
    assert pickle.loads(pickle.dumps(tok)) == tok
    assert copy.deepcopy(tok) is tok
    tok.save(tmp_path / "saved.pybpe")
    saved = pybpe.load(tmp_path / "saved.pybpe")
    assert saved == tok
    assert saved.to_bytes() == tok.to_bytes()
    text = "ab abc\u4f60 </s>"
    ids = tok.encode(text, allowed_special="all")
    assert saved.encode(text, allowed_special="all") == ids
    assert saved._model.provenance == {"format": "sentencepiece"}


def test_cache_size_changes_no_ids(tok: Tokenizer) -> None:
    texts = [f"ab{'c' * (n % 70)} \u4f60 {n}" for n in range(3_000)]
    want = tok.encode_batch(texts)
    for size in (0, 1 << 20):
        other = tok.with_cache_size(size)
        assert other == tok
        assert other.encode_batch(texts) == want
        assert other.encode_batch(texts) == want
