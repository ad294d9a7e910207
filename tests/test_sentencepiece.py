"""Codepoint models against the sentencepiece package: ids, pieces, offsets, text."""

from __future__ import annotations

import pickle
import random
import threading
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import growth
import pytest
import spm
from spm import CONTROL, MARK, NORMAL, UNKNOWN, UNUSED, USER_DEFINED

from pybpe import UnknownTokenError, _binding
from pybpe._binding import id_buffer
from pybpe._engine import ForbiddenText
from pybpe._engine_pieces import PieceEngine
from pybpe.formats import sentencepiece as reader

DataPath = Callable[[str], Path]
PUBLISHED = [
    "llama2_tokenizer.model",
    "mistral_tokenizer.model.v1",
    "mistral_mistral_instruct_tokenizer_240323.model.v3",
]
TEXTS = ["english", "code", "multilingual"]
WAYS = [(path, cache) for path in ("short", "long", "whole") for cache in (True, False)]


def published(data_path: DataPath, name: str) -> bytes:
    return data_path(f"vocab/sentencepiece/{name}").read_bytes()


def reference(data: bytes) -> Any:
    """Return the package's processor of a model."""
    package = pytest.importorskip("sentencepiece")
    package.set_min_log_level(5)
    processor = package.SentencePieceProcessor()
    processor.LoadFromSerializedProto(data)
    return processor


def charsmaps() -> list[bytes]:
    """Return the package's character maps, and three times none."""
    package = pytest.importorskip("sentencepiece")
    folder = Path(package.__file__).parent / "package_data"
    found = [path.read_bytes() for path in sorted(folder.glob("*.bin"))]
    assert len(found) == 4
    return [b"", b"", b"", *found]


def ids_of(engine: PieceEngine, text: str | bytes) -> list[int]:
    data = text.encode() if isinstance(text, str) else text
    return engine.encode(data, None, None)


def small(*pieces: str | tuple[str, float, int], **options: Any) -> PieceEngine:
    """Return an engine of <unk> (0), <s> (1), </s> (2) and these pieces, best first."""
    listed = [(b"<unk>", 0.0, UNKNOWN), (b"<s>", 0.0, CONTROL), (b"</s>", 0.0, CONTROL)]
    for i, piece in enumerate(pieces):
        text, score, kind = (
            (piece, -float(i), NORMAL) if isinstance(piece, str) else piece
        )
        listed.append((text.encode(), score, kind))
    options.setdefault("add_dummy_prefix", False)
    options.setdefault("remove_extra_whitespaces", False)
    return spm.engine(spm.write_model(listed, **options))


# ------------------------------------------------------------------ published models


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("text", TEXTS)
def test_published_models_on_a_megabyte(
    data_path: DataPath, name: str, text: str
) -> None:
    data = published(data_path, name)
    theirs, ours = reference(data), spm.engine(data)
    whole = data_path(f"corpora/{text}_1mb.txt").read_bytes()
    spm.compare(ours, theirs, whole)
    ids = ids_of(ours, whole)
    assert ours.decode_ids(ids) == theirs.decode(ids)
    lines = whole.splitlines(keepends=True)
    want = theirs.encode(lines)
    assert ours.encode_batch(lines, None, None) == want
    for line_ids in want:
        assert ours.decode_ids(line_ids) == theirs.decode(line_ids)
    for line in lines[::7]:
        spm.compare(ours, theirs, line)
    for way in WAYS:
        assert ids_of(ours.configured(*way), whole) == ids


@pytest.mark.oracle
@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize(
    "n", [700, pytest.param(20_000, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_published_models_on_random_texts(
    data_path: DataPath, name: str, n: int
) -> None:
    data = published(data_path, name)
    theirs, ours = reference(data), spm.engine(data)
    model = ours.model
    specials = [t for t, _ in (*model.special_tokens, *model.added_tokens)]
    rng = random.Random(n)
    for _ in range(n):
        spm.compare(ours, theirs, spm.random_text(rng))
        spm.compare(ours, theirs, spm.random_text(rng, specials))
        ids = rng.choices(range(ours.n_vocab), k=12)
        assert ours.decode_ids(ids) == theirs.decode(ids)


@pytest.mark.oracle
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models_have_the_same_special_ids(
    data_path: DataPath, name: str
) -> None:
    data = published(data_path, name)
    theirs, model = reference(data), reader.model_from_bytes(data)
    assert model.unk_id == theirs.unk_id() == 0
    assert (model.bos_id, model.eos_id) == (theirs.bos_id(), theirs.eos_id()) == (1, 2)
    assert model.pad_id == theirs.pad_id() == -1
    pieces = [theirs.id_to_piece(i) for i in range(theirs.get_piece_size())]
    assert [piece.decode() for piece in model.pieces()] == pieces
    assert model.scores.tolist() == [theirs.get_score(i) for i in range(len(pieces))]


def test_llama_cpp_vectors(data_path: DataPath) -> None:
    ours = spm.engine(published(data_path, "llama2_tokenizer.model"))
    folder = "vocab/llamacpp/ggml-vocab-llama-spm.gguf"
    cases = data_path(folder + ".inp").read_bytes().split(b"\n__ggml_vocab_test__\n")
    wanted = data_path(folder + ".out").read_text().split("\n")
    cases = cases[: len(wanted)] if not wanted[-1] else cases
    n = 0
    for case, line in zip(cases, wanted, strict=False):
        assert ids_of(ours, case) == [int(x) for x in line.split()], case
        n += 1
    assert n > 40


def test_published_models_load_fast(data_path: DataPath) -> None:
    # 32,000 pieces; a million lines of Python take a tenth of a second or less.
    data = published(data_path, PUBLISHED[0])
    spm.engine(data)  # imports what it takes
    assert growth.lines(lambda: spm.engine(data)) < 50 * 32_000


def test_time_to_load_grows_with_the_number_of_pieces() -> None:
    def model(n: int) -> bytes:
        special = [(b"<unk>", 0.0, UNKNOWN), (b"<s>", 0.0, CONTROL)]
        pieces = [(f"{MARK}{i}".encode(), -float(i), NORMAL) for i in range(n)]
        return spm.write_model(special + pieces)

    growth.check_linear(spm.engine, model, 100)


# ------------------------------------------------------------------ models by hand


@pytest.mark.oracle
@pytest.mark.parametrize(
    "n",
    [
        250,
        pytest.param(1_500, marks=pytest.mark.slow),
        pytest.param(5_000, marks=pytest.mark.long),
    ],
    ids=["some", "many", "all"],
)
def test_random_models(n: int) -> None:
    """Any piece types and options: unused, nested, malformed, equal scores, ..."""
    maps = charsmaps()
    rng = random.Random(n)
    for _ in range(n):
        data = spm.random_model(rng, maps)
        theirs, ours = reference(data), spm.engine(data)
        ways = [ours.configured(*way) for way in WAYS]
        for _ in range(12):
            unlike = rng.random() < 0.3
            text = spm.random_text(rng) if unlike else spm.letters_text(rng)
            spm.compare(ours, theirs, text)
            for way in ways:
                assert ids_of(way, text) == ids_of(ours, text)
            ids = rng.choices(range(ours.n_vocab), k=9)
            want = theirs.decode(ids, out_type=bytes)
            assert spm.decode_bytes(ours, ids, replace=True) == want


def test_best_score_first_and_leftmost_among_equals() -> None:
    tok = small(("ab", -2.0, NORMAL), ("bc", -1.0, NORMAL), "a", "b", "c")
    assert ids_of(tok, "abc") == [5, 4]  # not the longest or the first match
    tok = small(("ab", -1.0, NORMAL), ("bc", -1.0, NORMAL), "a", "b", "c")
    assert ids_of(tok, "abc") == [3, 7]
    tok = small(("ab", -0.0, NORMAL), ("bc", 0.0, NORMAL), "a", "b", "c")
    assert ids_of(tok, "abc") == [5, 4]  # -0.0 is less than 0.0


def test_scores_are_single_precision() -> None:
    # Equal as floats of 32 bits, different as doubles.
    tok = small(("ab", 0.1, NORMAL), ("bc", 0.1 + 1e-12, NORMAL), "a", "b", "c")
    assert ids_of(tok, "abc") == [3, 7]


def test_unused_pieces_are_passed_through_and_taken_apart() -> None:
    tok = small(("ab", -1.0, UNUSED), ("abc", -2.0, NORMAL), "a", "b", "c")
    assert ids_of(tok, "abc") == [4]
    assert ids_of(tok, "ab") == [5, 6]
    tok = small(("ab", 0.0, UNUSED), ("a", 0.0, UNUSED), "b")
    assert ids_of(tok, "ab") == [0, 5]


@pytest.mark.oracle
def test_unused_pieces_are_taken_apart_a_hundred_times_at_most() -> None:
    """Each of aa, aaa, aaaa, ... was made of the one before and one more letter."""
    chain = [(b"a" * n, 0.0, UNUSED) for n in range(2, 140)]
    data = spm.write_model(
        [(b"<unk>", 0.0, UNKNOWN), (b"a", 0.0, NORMAL), *chain], add_dummy_prefix=False
    )
    theirs, ours = reference(data), spm.engine(data)
    for n in (2, 99, 100, 101, 102, 103, 110, 139):
        spm.compare(ours, theirs, b"a" * n)
        ids = ids_of(ours, b"a" * n)
        assert ids == ([1] * n if n <= 102 else [n - 101, *[1] * 101])


def test_user_defined_pieces_are_found_first_and_do_not_join() -> None:
    tok = small(("ab", 0.0, USER_DEFINED), "abc", "a", "b", "c", "bc", "aa")
    assert ids_of(tok, "abc") == [3, 7]
    assert ids_of(tok, "aaab") == [9, 3]
    tok = small(("<x>", 0.0, USER_DEFINED), MARK, "a", add_dummy_prefix=True)
    assert ids_of(tok, "<x>a") == [4, 3, 5]  # a mark before it at the start of a text
    assert ids_of(tok, "a<x>") == [4, 5, 3]


def test_user_defined_pieces_keep_their_text_in_normalisation() -> None:
    nfkc = charsmaps()[5]
    tok = small(("\uff21", 0.0, USER_DEFINED), "A", charsmap=nfkc)
    assert ids_of(tok, "\uff21A") == [3, 4]
    assert tok.normalize("\uff21\uff22".encode()) == "\uff21B".encode()


def test_unknowns_run_together_over_words() -> None:
    tok = small("a")
    assert ids_of(tok, "xy z\u4e2da b") == [0, 3, 0]
    found = tok.encode_with_pieces(b"xy za")
    assert [(x.piece.decode(), x.begin, x.end) for x in found] == [
        (f"xy{MARK}z", 0, 4),
        ("a", 4, 5),
    ]
    assert tok.encode_with_pieces(b"xy", emit_unk_piece=True)[0].piece == b"<unk>"


def test_without_byte_fallback_unknowns_decode_to_the_surface() -> None:
    tok = small("a")
    assert tok.decode_ids(ids_of(tok, "axa")) == "a \u2047 a"
    assert small("a", unk_surface=b"").decode_ids([3, 0, 3]) == "aa"


def bytes_model(*more: str, **options: Any) -> PieceEngine:
    listed = [(b"<unk>", 0.0, UNKNOWN), *spm.byte_pieces()]
    listed += [(text.encode(), -float(i), NORMAL) for i, text in enumerate(more)]
    options.setdefault("add_dummy_prefix", False)
    options.setdefault("remove_extra_whitespaces", False)
    return spm.engine(spm.write_model(listed, byte_fallback=True, **options))


def test_a_typed_byte_piece_is_text() -> None:
    tok = bytes_model("A", MARK)
    ids = ids_of(tok, "<0x41>")
    assert ids == [1 + b for b in b"<0x"] + [1 + ord("4"), 1 + ord("1"), 1 + ord(">")]
    assert tok.decode_ids(ids) == "<0x41>"


def test_byte_pieces_decode_to_their_bytes() -> None:
    tok = bytes_model()
    lone = array("I", [1 + 0xF0])
    assert tok.decode(id_buffer(lone), 1) == b"\xf0"
    assert tok.decode_ids(lone) == "\ufffd"
    # One U+FFFD for each byte, where Python would have one for all three.
    assert tok.decode_ids([1 + b for b in b"\xf0\x9f\x98"]) == "\ufffd" * 3


@pytest.mark.parametrize("text", ["a\0b", "\0", "\0\0", " \0 "])
def test_nul_is_kept(text: str) -> None:
    tok = bytes_model("a", "b", MARK)
    assert tok.decode_ids(ids_of(tok, text)) == text


def test_defaults_change_spaces_and_the_lossless_options_do_not() -> None:
    default = bytes_model(
        "a", MARK, add_dummy_prefix=True, remove_extra_whitespaces=True
    )
    assert default.decode_ids(ids_of(default, "  a  a ")) == "a a"
    exact = bytes_model("a", MARK)
    for text in ["  a", "a  a", "a\na", "a ", "", " ", "\u0149", "\uff21"]:
        assert exact.decode_ids(ids_of(exact, text)) == text


def test_an_empty_text_has_no_ids() -> None:
    for tok in (small("a", add_dummy_prefix=True), bytes_model()):
        assert ids_of(tok, "") == []
        assert tok.encode_with_pieces(b"") == []
        assert tok.normalize_with_offsets(b"") == (b"", [])
        assert tok.count(b"", None, None) == 0
        assert tok.encode_batch([], None, None) == []
        assert tok.encode_batch([b"", b""], None, None) == [[], []]


def test_control_pieces_need_permission() -> None:
    tok = small(MARK, "a", "<", "/", "s", ">", add_dummy_prefix=True)
    match = _binding.new_match([b"<s>", b"</s>"], [1, 2])
    plain = ids_of(tok, "<s>a</s>")
    assert 1 not in plain
    assert 2 not in plain
    # What stands between two of them is a text of its own.
    assert tok.encode(b"<s>a</s>a", match, None) == [1, 3, 4, 2, 3, 4]
    assert tok.encode_batch([b"a", b"<s>"], match, None) == [[3, 4], [1]]
    with pytest.raises(ForbiddenText) as caught:
        tok.encode(b"a a</s>", None, match)
    assert caught.value.position == 3
    with pytest.raises(ForbiddenText) as caught:
        tok.encode_batch([b"a", b"a<s>"], None, match)
    assert (caught.value.index, caught.value.position) == (1, 1)


def test_beginning_and_end_of_text() -> None:
    tok = small("a", "b")
    ids = ids_of(tok, "ab")
    assert tok.finish(ids, add_bos=True, add_eos=True) == [1, 3, 4, 2]
    # Reversed before they are added.
    assert tok.finish(ids, add_bos=True, reverse=True) == [1, 4, 3]
    with pytest.raises(ValueError, match="no beginning-of-text"):
        bytes_model().finish([], add_bos=True)
    with pytest.raises(ValueError, match="no end-of-text"):
        bytes_model().finish([], add_eos=True)


def test_unknown_ids_are_refused_by_position() -> None:
    tok = small("a")
    for bad in (4, 256_000, 2**32 - 1):
        with pytest.raises(UnknownTokenError, match=rf"id {bad} \(at position 2\)"):
            tok.decode_ids([3, 3, bad])


@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize("prefix", [True, False])
def test_parts_decode_to_the_whole(remove: bool, prefix: bool) -> None:
    tok = bytes_model(
        *("a", MARK, MARK + "a", MARK + MARK, "\u00e9"),
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=remove,
    )
    rng = random.Random(4)
    for _ in range(300):
        ids = array("I", rng.choices([*range(257, tok.n_vocab), 0, 0xC4, 0xAA], k=7))
        whole = tok.decode(id_buffer(ids), len(ids))
        parts, at_start = b"", True
        while ids:
            part = ids[: rng.randrange(4)]
            made, at_start = tok.decode_part(id_buffer(part), len(part), at_start)
            parts += made
            ids = ids[len(part) :]
        assert parts == whole


# ------------------------------------------------------------------ dropout


def test_dropout_is_reproducible_and_keeps_the_text() -> None:
    tok = bytes_model("a", "b", "ab", "abab", MARK, MARK + "a")
    data = b"ababab abab ab " * 40
    kwargs = {"match": None, "forbidden": None}
    plain = ids_of(tok, data)
    seen = set()
    for seed in range(20):
        ids = tok.encode_with_dropout(data, alpha=0.3, seed=seed, **kwargs)
        assert ids == tok.encode_with_dropout(data, alpha=0.3, seed=seed, **kwargs)
        assert tok.decode_ids(ids) == data.decode()
        pieces = tok.encode_with_pieces(data, dropout=(0.3, seed))
        assert [x.id for x in pieces] == ids
        seen.add(tuple(ids))
    assert len(seen) == 20
    assert tok.encode_with_dropout(data, alpha=0, seed=1, **kwargs) == plain
    assert tok.encode_with_dropout(data, alpha=-1, seed=1, **kwargs) == plain
    only = tok.encode_with_dropout(data, alpha=1, seed=1, **kwargs)
    assert len(only) == len(data)
    assert tok.encode_with_dropout(data, alpha=7, seed=1, **kwargs) == only
    batch = tok.encode_batch([data, data], None, None, (0.3, 5))
    assert batch == [
        tok.encode_with_dropout(data, alpha=0.3, seed=seed, **kwargs) for seed in (5, 6)
    ]
    assert batch[0] != batch[1]
    for alpha in (float("inf"), float("nan")):
        with pytest.raises(ValueError, match="finite"):
            tok.encode_with_dropout(data, alpha=alpha, seed=1, **kwargs)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_dropout_leaves_joins_out_as_often_as_asked(alpha: float) -> None:
    """One join that may come about, in 20,000 texts: within five deviations."""
    tok = small("a", "b", "ab")
    n = 20_000
    texts = tok.encode_batch([b"ab"] * n, None, None, (alpha, 12345))
    dropped = sum(ids != [5] for ids in texts)
    deviation = (n * alpha * (1 - alpha)) ** 0.5
    assert abs(dropped - n * alpha) < 5 * deviation


@pytest.mark.oracle
def test_dropout_is_distributed_as_the_reference(data_path: DataPath) -> None:
    """The mean number of ids, over 4,000 samples each."""
    data = published(data_path, PUBLISHED[0])
    theirs, ours = reference(data), spm.engine(data)
    text = (
        "The quick brown fox jumps over the lazy dog and hides in unbelievable places."
    )
    n = 4_000
    mine = [
        len(ids) for ids in ours.encode_batch([text.encode()] * n, None, None, (0.2, 9))
    ]
    other = [
        len(theirs.encode(text, enable_sampling=True, alpha=0.2, nbest_size=-1))
        for _ in range(n)
    ]
    mean, want = sum(mine) / n, sum(other) / n
    deviation = (sum((x - want) ** 2 for x in other) / n) ** 0.5
    assert abs(mean - want) < 5 * deviation * (2 / n) ** 0.5


# ------------------------------------------------------------------ long texts, threads


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["words", "behind", "free", "unused", "dropout"])
@pytest.mark.parametrize("unit", ["a", "ab", "\u4e2d", "xa"])
def test_long_words_take_linear_time(kind: str, unit: str) -> None:
    pieces: list[Any] = [
        "a",
        "b",
        "ab",
        "aa",
        "aaaa",
        "a" * 8,
        "abab",
        MARK + "a",
        MARK,
    ]
    if kind == "behind":
        pieces.append("a" + MARK)
    if kind == "free":
        pieces += ["a" + MARK + "a", "b" + MARK]
    if kind == "unused":
        pieces.append(("ba", -0.5, UNUSED))
    tok = small(*pieces, suffix=kind == "behind")
    dropout = (0.1, 1) if kind == "dropout" else None

    growth.check_linear(
        lambda data: tok.encode_batch([data], None, None, dropout),
        lambda n: (unit * n)[:n].encode(),
        1 << 13,
    )


def test_one_long_text_is_no_slower_than_its_lines(data_path: DataPath) -> None:
    ours = spm.engine(published(data_path, PUBLISHED[0]))
    whole = data_path("corpora/english_1mb.txt").read_bytes()
    lines = whole.splitlines(keepends=True)

    growth.check_ratio(
        lambda: ours.encode_batch([whole], None, None),
        lambda: ours.encode_batch(lines, None, None),
        3,
    )


def test_threads_share_an_engine(data_path: DataPath) -> None:
    ours = spm.engine(published(data_path, PUBLISHED[2]))
    text = data_path("corpora/multilingual_1mb.txt").read_bytes()
    parts = [text[i : i + 20_000] for i in range(0, 400_000, 20_000)]
    want = [ids_of(ours, part) for part in parts]
    wrong: list[int] = []

    def work(first: int) -> None:
        for i in range(len(parts)):
            k = (first + i) % len(parts)
            if ids_of(ours, parts[k]) != want[k]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_models_pickle(data_path: DataPath) -> None:
    model = reader.model_from_bytes(published(data_path, PUBLISHED[0]))
    other = pickle.loads(pickle.dumps(model))
    assert other.pieces() == model.pieces()
    assert other.normalizer == model.normalizer
    text = "pickled \U0001f952".encode()
    assert ids_of(PieceEngine(other), text) == ids_of(PieceEngine(model), text)


def test_batch_count_and_numpy_agree(data_path: DataPath) -> None:
    numpy = pytest.importorskip("numpy")
    ours = spm.engine(published(data_path, PUBLISHED[1]))
    rng = random.Random(8)
    texts = [spm.random_text(rng) for _ in range(200)]
    batch = ours.encode_batch(texts, None, None)
    for text, ids in zip(texts, batch, strict=True):
        assert ids_of(ours, text) == ids
        assert ours.count(text, None, None) == len(ids)
        made = ours.encode_to_numpy(text, None, None)
        assert made.dtype == numpy.uint32
        assert made.tolist() == ids


def test_find_token_and_token_bytes() -> None:
    tok = small("a", MARK + "b")
    assert tok.find_token((MARK + "b").encode()) == 4
    assert tok.find_token(b"<unk>") == 0
    assert tok.find_token(b"nothing") is None
    assert tok.token_bytes(4) == (MARK + "b").encode()
    assert tok.token_bytes(5) is None
    assert tok.token_bytes(-1) is None


def test_pieces_that_are_no_utf8_have_bytes() -> None:
    listed = [(b"<unk>", 0.0, UNKNOWN), (b"\xff\xfe", 0.0, NORMAL)]
    tok = spm.engine(spm.write_model(listed))
    assert tok.token_bytes(1) == b"\xff\xfe"
    assert tok.decode_ids([1]) == "\ufffd\ufffd"
