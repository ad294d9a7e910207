"""Small inputs on which released tokenizers have gone wrong, and the right values.

The comments name the kind of fault: E encoding, D decoding, S special tokens, M model
files, P time, X threads and processes, B bad input.
"""

from __future__ import annotations

import gc
import json
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import growth
import numpy as np
import pytest

import pybpe
from pybpe import SpecialTokenError, Tokenizer, UnknownTokenError, _glyphs

BYTES = {bytes([b]): b for b in range(256)}
NAMED = ["gpt2", "gpt4", "cl100k", "o200k", "llama3", "qwen2", "tekken", "deepseek_v3"]
DataPath = Callable[[str], Path]


def make(*tokens: bytes, **options: Any) -> Tokenizer:
    options = {"pattern": r"\s+|\S+"} | options
    ranks = BYTES | {token: 256 + i for i, token in enumerate(tokens)}
    return Tokenizer.from_ranks(ranks, **options)


def same(tok: Tokenizer, text: str, **options: Any) -> list[int]:
    """Return the ids of a text, which every way of encoding must agree on."""
    ids = tok.encode(text, **options)
    assert tok.encode(text.encode(), **options) == ids
    assert tok.encode_to_numpy(text, **options).tolist() == ids
    assert tok.encode_batch(["", text, ""], **options) == [[], ids, []]
    assert tok.count(text, **options) == len(ids)
    return ids


# ------------------------------------------------------------------ encoding


def test_lone_surrogates_are_replaced_wherever_text_goes_in() -> None:
    # E1, E2: one rule in every entry point, not in `encode` alone.
    tok = make("\ufffd".encode(), special_tokens={"\udc00!": 300})
    assert tok.token_id("\ud83d") == 256
    assert tok.special_tokens == {"\ufffd!": 300}
    assert tok.encode("\ud83d!", allowed_special={"\ud83d!"}) == [300]
    with pytest.raises(SpecialTokenError):
        tok.encode("x\ufffd", disallowed_special={"\ud83d"})
    pair = make(special_tokens={"\ud83d\udc4d": 300})
    assert pair.encode("\U0001f44d", allowed_special="all") == [300]


def test_lone_surrogates_are_replaced_in_training() -> None:
    # E1
    for given, meant in [("\ud83d", "\ufffd"), ("\ud83d\udc4d", "\U0001f44d")]:
        assert pybpe.train([given] * 3, 258) == pybpe.train([meant] * 3, 258)
        counts = pybpe.train_from_counts({given: 3}, 258)
        assert counts == pybpe.train_from_counts({meant: 3}, 258)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    "text", ["xababc", "ababcx", "ababcababc", "babcab", "abcbabc"]
)
def test_any_table_merges_in_the_order_of_ranks(text: str, order: int) -> None:
    # E5: these tables are not closed under merges.
    tokens = [b"ab", b"ba", b"bc", b"abc", b"babc", b"ababc"][::order]
    ranks = BYTES | {token: 256 + i for i, token in enumerate(tokens)}
    parts = [bytes([b]) for b in text.encode()]
    while True:
        pairs = [ranks.get(a + b, 1000) for a, b in pairwise(parts)]
        if not pairs or min(pairs) == 1000:
            break
        i = pairs.index(min(pairs))
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    assert same(make(*tokens), text) == [ranks[part] for part in parts]


def test_a_token_is_taken_whole_as_a_pretoken_only() -> None:
    # E6, also where the pretoken is one of several.
    tok = make(b"bcd")
    assert same(tok, "bcd abcd bcd") == [256, 32, *b"abcd", 32, 256]


@pytest.mark.parametrize(
    "pattern", [r"\w+", r"(\w)+| ", r"(a)|(b)", r"(?:(\w)(\d))+|\s", "[^\\s]"]
)
def test_no_pattern_drops_text(pattern: str) -> None:
    # E14, E15: neither gaps between matches nor groups lose anything.
    tok = Tokenizer.from_ranks(BYTES, pattern=pattern)
    for text in ["hi yo", "hi, yo!", "  a1b2 ", "\r\n", "\u4f60 \U0001f600", "ab"]:
        assert same(tok, text) == list(text.encode())


@pytest.mark.parametrize("pattern", [*NAMED, "digits", None])
@pytest.mark.parametrize(
    "text",
    [
        *("  hello", "hello  world", "hello\nworld", "hello ", "\t", " \r\n \n"),  # E17
        *("\u0149", "\uff21", "e\u0301", "\ufb01", "\u212b", "\uac00"),  # E18
        *("<0x41>", "<unk>", "</s>", "\u2581", "\u2581a \u2581", " \u2047 "),  # E19
        *("\u0120\u010a", "\u0120x", "##a", "a</w>", "@@ "),  # E20
        *("x != y", "a , b .", "do n't", "a\0b", "\ufeffhi"),  # D15, B13
    ],
    ids=ascii,
)
def test_text_is_never_changed(text: str, pattern: str | None) -> None:
    tok = Tokenizer.from_merges([(32, 32), (226, 150), (257, 129)], pattern=pattern)
    ids = same(tok, text)
    assert tok.decode(ids) == text
    # D13: the parts decode to the whole.
    assert b"".join(tok.decode_bytes([i]) for i in ids) == text.encode()


def test_letters_are_not_taken_for_the_glyphs_of_bytes(tmp_path: Path) -> None:
    # E20: in such a vocabulary the token "\u00e9" is the byte 0xE9, not the letter.
    vocab = {glyph: i for i, glyph in enumerate([*_glyphs.CHARACTERS, "\u0120a"])}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    (tmp_path / "merges.txt").write_text("\u0120 a\n", encoding="utf-8")
    tok = pybpe.load(tmp_path, pattern="gpt2")
    assert [tok.token_bytes(i) for i in tok.encode("\u00e9")] == [b"\xc3", b"\xa9"]
    assert [tok.token_bytes(i) for i in tok.encode("\u0120a")] == [
        *(b"\xc4", b"\xa0", b"a"),
    ]
    assert tok.encode(" a") == [256]
    assert tok.encode(b"\xe9") == [vocab["\u00e9"]]


@pytest.mark.parametrize(
    ("text", "cl100k", "o200k"),
    [
        ("a  b", [64, 220, 293], None),  # E8
        ("it'\u017f", [275, 6, 129, 123], [278, 6, 70067]),  # E10
        ("a \U0001fae8", [64, 11410, 104, 101], None),  # E11
        ("x\r\n\r\ny", [87, 881, 88], [87, 1414, 88]),  # E13
        ("'RE", [95253], [6, 1099]),
        ("a \xa0 b", [64, 17529, 293], [64, 35753, 287]),
    ],
)
def test_published_ids_in_every_output(
    text: str, cl100k: list[int], o200k: list[int] | None, data_path: DataPath
) -> None:
    data_path("vocab")
    assert same(pybpe.get_encoding("cl100k_base"), text) == cl100k
    if o200k:
        assert same(pybpe.get_encoding("o200k_base"), text) == o200k


# ------------------------------------------------------------------ decoding


@pytest.mark.parametrize("gap", [100256, 100261, 100275, 100277, -1, 2**32, 2**64])
def test_ids_in_gaps_and_out_of_range_are_one_error(
    gap: int, data_path: DataPath
) -> None:
    # D1, D2, D8
    data_path("vocab")
    tok = pybpe.get_encoding("cl100k_base")
    for call in (tok.decode, tok.decode_bytes):
        with pytest.raises(UnknownTokenError, match=rf"id {gap} \(at position 1\)"):
            call([64, gap])
    with pytest.raises(UnknownTokenError, match=f"id {gap}"):
        tok.token_bytes(gap)
    with pytest.raises(UnknownTokenError, match=f"no token has id {gap}"):
        tok.decode_batch([[64], [gap]])


@pytest.mark.parametrize(
    "number",
    [
        9999,
        -1,
        2**32,
        2**64,
    ],
)
def test_unknown_ids_of_a_batch_are_told_with_their_row(number: int) -> None:
    # D2
    with pytest.raises(
        UnknownTokenError, match=rf"^batch\[1\]: no token has id {number}"
    ):
        make().decode_batch([[64], [number]])


def test_special_tokens_always_decode(data_path: DataPath) -> None:
    # D18
    data_path("vocab")
    for name in ("gpt2", "p50k_base", "cl100k_base", "o200k_base"):
        tok = pybpe.get_encoding(name)
        for text, number in tok.special_tokens.items():
            assert tok.decode([number]) == text
            assert tok.token_id(text) == number


def test_nested_ids_are_refused() -> None:
    # D4
    with pytest.raises(TypeError, match="ids must be ints, got list at position 0"):
        make().decode([[2, 4], [1, 256_000]])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "name", ["\u010d", "il\u00f6veyou", "\u0120x", "\u0120", "a b"]
)
def test_added_tokens_decode_to_themselves(name: str) -> None:
    # D7
    for kind in ("added_tokens", "special_tokens"):
        tok = make(**{kind: {name: 300}})
        assert same(tok, name, allowed_special="all") == [300]
        assert tok.decode([300]) == name


def test_a_character_in_several_tokens_keeps_its_bytes() -> None:
    # D9: its parts are no characters, but they are bytes.
    tok = make(b"\x9f\x98")
    ids = tok.encode("\U0001f600")
    assert [tok.decode_bytes([i]) for i in ids] == [b"\xf0", b"\x9f\x98", b"\x80"]
    assert tok.decode([0x80, *b"aaaaaa"]) == "\ufffdaaaaaa"  # D10
    assert tok.decode([0xF0], errors="ignore") == ""


# ------------------------------------------------------------------ special tokens


@pytest.mark.parametrize("order", [1, -1])
def test_the_longest_special_token_wins_in_any_order(order: int) -> None:
    # S1, S2: the order in which they were given does not matter.
    special = {"<i>": 300, "<i>x": 301, "<i>xyz": 302, "x": 303}
    tok = make(special_tokens=dict(list(special.items())[::order]))
    for text, ids in {
        "<i>x": [301],
        "<i>xy": [301, ord("y")],
        "<i>xyz": [302],
        "<<i>xx": [ord("<"), 301, 303],
    }.items():
        assert same(tok, text, allowed_special="all") == ids


@pytest.mark.parametrize("empty", ["", b""], ids=["str", "bytes"])
def test_an_empty_special_token_is_refused_at_once(empty: Any) -> None:
    # S4: elsewhere it loops for ever.
    for name in ("special_tokens", "added_tokens"):
        with pytest.raises(ValueError, match="empty"):
            make(**{name: {empty: 300}})
    with pytest.raises(ValueError, match="empty"):
        Tokenizer.from_merges([], pattern=None, special_tokens=[empty])
    with pytest.raises(ValueError, match="empty"):
        pybpe.train(["ab"], 300, special_tokens=[empty])


def test_untrusted_text_gives_no_special_ids_unasked() -> None:
    # S8, S9, S16: one switch, the same for all.
    special = {"</s>": 300, "<start_of_turn>": 301, "<|im_start|>": 302}
    tok = make(b"</s>", special_tokens=special)
    for name in special:
        text = f"a {name}b"
        with pytest.raises(SpecialTokenError, match="at character 2"):
            tok.encode(text)
        plain = same(tok, text, disallowed_special=())
        assert plain == tok.encode_ordinary(text)
        assert not set(plain) & set(special.values())
        assert tok.decode(plain) == text
        assert special[name] in same(tok, text, allowed_special="all")


def test_a_special_token_that_ordinary_tokens_spell_too() -> None:
    # S18: both keep their ids and bytes, in a saved model as well.
    made = make(b"<s>", special_tokens={"<s>": 300})
    for tok in (made, Tokenizer.from_bytes(made.to_bytes())):
        assert tok.vocab_size == 258
        assert same(tok, "<s>", disallowed_special=()) == [256]
        assert same(tok, "<s>", allowed_special="all") == [300]
        assert tok.token_bytes(256) == tok.token_bytes(300) == b"<s>"
        assert 256 not in tok.special_tokens.values()


def test_an_added_token_inside_words_leaves_the_rest_alone() -> None:
    # S12: what stands before and behind it is encoded as a text of its own.
    tok = make(b"in", b"th", b"the", added_tokens={"the": 300})
    assert same(tok, "in them") == [256, 32, 300, ord("m")]
    assert same(tok, "bathe the") == [*b"ba", 300, 32, 300]


@pytest.mark.parametrize(
    "name", ["a b", "a\nb", " ", "\n", "\r\n", "\t300", "\u00e9", "1", '"', "\0", "#v"]
)
def test_special_tokens_of_any_text_survive_saving(name: str, tmp_path: Path) -> None:
    # S15, M7, M10
    tok = make(special_tokens={name: 300})
    tok.save(tmp_path / "x.pybpe")
    again = pybpe.load(tmp_path / "x.pybpe")
    assert again == tok
    assert again.special_tokens == {name: 300}
    assert again.encode(f"a{name}", allowed_special="all") == [97, 300]


# ------------------------------------------------------------------ model files


@pytest.mark.parametrize(
    "pattern", ["\\S+| ", " ?\\w+|\n", "\n|.", " |\t|\u3000", " +"]
)
def test_patterns_with_white_space_survive_saving(pattern: str, tmp_path: Path) -> None:
    # M9: nothing is stripped.
    tok = pybpe.train(["a b  a b\n a\tb"] * 3, 262, pattern=pattern)
    tok.save(tmp_path / "x.pybpe")
    again = pybpe.load(tmp_path / "x.pybpe")
    assert again == tok
    assert again.pattern == pattern
    assert again.encode(" a b\n\ta ") == tok.encode(" a b\n\ta ")


def test_merges_of_spaces_and_newlines_survive_saving() -> None:
    # M1, M2, M3
    pairs = [(b" ", b" "), (b"\n", b"\n"), (b"a", b" "), (b"\r", b"\x85"), (b"#", b"v")]
    tok = Tokenizer.from_merges(pairs, pattern=None)
    again = Tokenizer.from_bytes(tok.to_bytes())
    assert again.merges == tok.merges
    assert again.encode(b"  \n\na \r\x85#v") == [256, 257, 258, 259, 260]


def test_gaps_between_ids_survive_saving() -> None:
    # M27
    tok = Tokenizer.from_ranks(BYTES | {b"ab": 1000, b"abc": 5000}, pattern=None)
    again = pickle.loads(pickle.dumps(tok))
    assert again.encode("abcab") == tok.encode("abcab") == [5000, 1000]
    assert (again.vocab_size, again.n_vocab) == (258, 5001)


# ------------------------------------------------------------------ time

LETTERS = "abcdefghijklmnopqrstuvwxyz"
HAN = [chr(c) for c in range(0x4E00, 0x9FA5)]
SHAPES: dict[str, Callable[[int], str]] = {
    **{f"{c!a}": lambda n, c=c: c * (n // len(c)) for c in "^0x'\u0301\u3000"},  # P1
    **{
        f"{c!a}": lambda n, c=c: c * (n // len(c))
        for c in ["a'", "\r\n", " \n", "Aa", "ab", "'s", "a ", "\U0001f600\u200d"]
    },  # P3, P4, P19
    "letters": lambda n: "".join(random.Random(1).choices(LETTERS, k=n)),  # P10
    "cjk": lambda n: "".join(random.Random(2).choices(HAN, k=n // 3)),  # P11
    "special-like": lambda n: "<|endoftext|" * (n // 12),
}


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    """Return a tokenizer with long tokens for the shapes, and no split."""
    texts = [make(3000) for make in SHAPES.values()]
    return pybpe.train(texts, 600, pattern=None, special_tokens=["<|endoftext|>"])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pattern", ["cl100k", "o200k", "gpt2", None])
def test_time_grows_with_the_text(
    shape: str, pattern: str | None, trained: Tokenizer
) -> None:
    tok = Tokenizer.from_merges(
        trained.merges, pattern=pattern, special_tokens=["<|endoftext|>"]
    )
    growth.check_linear(tok.count, SHAPES[shape], 5_000)


def test_one_long_text_costs_no_more_than_its_lines() -> None:
    # P13
    rng = random.Random(3)
    words = ["".join(rng.choices(LETTERS, k=rng.randint(1, 9))) for _ in range(3000)]
    lines = [" ".join(rng.choices(words, k=12)) + "\n" for _ in range(10_000)]
    tok = pybpe.train(lines[:1000], 1000)
    whole = "".join(lines)

    def at_once() -> int:
        return tok.count(whole)

    def line_by_line() -> int:
        return sum(map(tok.count, lines))

    assert at_once() == line_by_line()
    growth.check_ratio(at_once, line_by_line, 3)


def test_many_added_tokens_take_time_in_proportion() -> None:
    # P7
    def build(n: int) -> Tokenizer:
        return make(added_tokens={f"<extra {i}>": 300 + i for i in range(n)})

    growth.check_linear(build, int, 500)


# ------------------------------------------------------------------ threads, processes


def test_a_result_outlives_its_tokenizer() -> None:
    # X13: arrays own their numbers, whatever becomes of what made them.
    tok = make(b"ab")
    ids = tok.encode_to_numpy("ab" * 1000)
    split, table = tok.split, tok.vocab
    del tok
    gc.collect()
    make(b"xy").encode_to_numpy("xy" * 1000)
    assert ids.tolist() == [256] * 1000
    assert table[b"ab"] == 256
    assert split == make().split


def test_tokenizers_die_in_other_threads() -> None:
    # X13
    toks = [make(b"ab", special_tokens={f"<{i}>": 300}) for i in range(50)]

    def use() -> None:
        while toks:
            try:
                tok = toks.pop()
            except IndexError:
                return
            assert tok.encode("abab") == [256, 256]
            del tok
            gc.collect()

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not toks


def test_use_while_the_interpreter_shuts_down() -> None:
    # X13
    script = """
import atexit, threading, pybpe
tok = pybpe.train(["ab ab ab"], 258)
class Last:
    def __del__(self):
        assert tok.encode("ab") == [256]
        print("deleted")
keep = Last()
atexit.register(lambda: print(tok.decode(tok.encode_batch(["ab"] * 9)[8])))
threading.Thread(target=lambda: [tok.encode("ab " * 999) for _ in range(99)]).start()
"""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["ab", "deleted"]


# ------------------------------------------------------------------ bad input


def test_an_encoding_is_no_encodings_name() -> None:
    # B3
    with pytest.raises(TypeError, match="name must be a str, got Tokenizer"):
        pybpe.get_encoding(make())  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.uint64, np.intp])
def test_numbers_of_every_width_are_ids(kind: Any) -> None:
    # B4
    tok = make()
    assert tok.decode(np.array([104, 105], kind)) == "hi"
    assert tok.decode([kind(104), kind(105)]) == "hi"
    assert tok.decode_batch(np.array([[104], [105]], kind)) == ["h", "i"]  # type: ignore[arg-type]
    assert tok.token_bytes(kind(104)) == b"h"


@pytest.mark.parametrize("ids", [np.array(5), np.int32(5), np.array([1.0]), [1.0]])
def test_what_is_no_sequence_of_integers(ids: Any) -> None:
    # B4, B5
    with pytest.raises(TypeError, match="ids must"):
        make().decode(ids)


@pytest.mark.parametrize(
    ("pattern", "error", "said"),
    [
        ("(", ValueError, r"position 0: '\(' without its '\)'"),
        (r"a|\p{Foo}", ValueError, "position 2: property 'Foo'"),
        ("[a", ValueError, "without its closing"),
        ("*a", ValueError, "nothing to repeat"),
        ("a|", ValueError, "can match the empty string"),
        ("", ValueError, "can match the empty string"),
        ("hello", ValueError, "unknown split pattern 'hello'; the named ones are gpt2"),
        (5, TypeError, "not int"),
        (b"a+", TypeError, "not bytes"),
    ],
)
def test_bad_patterns_say_what_and_where(
    pattern: Any, error: type[Exception], said: str
) -> None:
    # B10
    with pytest.raises(error, match=said):
        make(pattern=pattern)
    with pytest.raises(error, match=said):
        pybpe.train(["a"], 300, pattern=pattern)
