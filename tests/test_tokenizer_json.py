"""Reading `tokenizer.json`: what each part means, and what is refused."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizer_json_make import (
    BYTE_LEVEL,
    CHARACTERS,
    MARKS,
    added,
    characters,
    glyph_vocab,
    load,
    make,
    template,
    tokens,
)

import pybpe
from pybpe import ModelError, SpecialTokenError, Tokenizer, UnknownTokenError, _glyphs
from pybpe.split import Split

# ------------------------------------------------------------------ the model


@pytest.mark.parametrize(
    "merges",
    [
        ["a b", "\u0120 ab", "ab c"],
        [["a", "b"], ["\u0120", "ab"], ["ab", "c"]],
        ["#version: 0.2", "a b", "\u0120 ab", "ab c"],
    ],
)
def test_both_notations_of_merges(merges: Any) -> None:
    tok = load(make(merges=merges))
    assert tokens(tok, "ab abc") == [b"ab", b" ab", b"c"]
    assert tok.merges == [(97, 98), (32, 256), (256, 99)]
    assert type(tok._engine).__name__ == "Engine"


def test_a_pair_listed_twice_counts_where_it_is_last() -> None:
    vocab = glyph_vocab("ab", "bc")
    tok = load(make(vocab=vocab, merges=["a b", "b c", "a b"]))
    assert tokens(tok, "abc") == [b"a", b"bc"]


def test_two_merges_may_make_one_token() -> None:
    vocab = glyph_vocab("ab", "bc", "abc")
    tok = load(make(vocab=vocab, merges=["a b", "b c", "ab c", "a bc"]))
    assert tokens(tok, "abc") == [b"abc"]
    assert tok.vocab_size == 259


def test_ignore_merges_takes_pretokens_whole() -> None:
    vocab = glyph_vocab("ab", "xyz")
    document = make(vocab=vocab, merges=["a b"], ignore_merges=True)
    tok = load(document)
    assert tokens(tok, "xyz") == [b"xyz"]
    assert tokens(tok, "xyzz") == [b"x", b"y", b"z", b"z"]
    document["model"]["ignore_merges"] = False
    assert tokens(load(document), "xyz") == [b"x", b"y", b"z"]


def test_older_files_leave_things_out() -> None:
    document = make()
    for name in ("byte_fallback", "ignore_merges", "dropout", "type"):
        del document["model"][name]
    for name in ("truncation", "padding", "normalizer", "post_processor", "version"):
        del document[name]
    assert load(document) == load(make())


def test_ids_may_have_gaps() -> None:
    vocab = {token: 2 * i + 5 for token, i in glyph_vocab("ab").items()}
    tok = load(make(vocab=vocab, merges=["a b"]))
    assert tok.encode("ab") == [2 * 256 + 5]
    with pytest.raises(UnknownTokenError, match="no token has id 6"):
        tok.decode([6])


def test_bytes_that_are_no_tokens() -> None:
    vocab = {c: i for i, c in enumerate(_glyphs.CHARACTERS) if c != "z"}
    tok = load(make(vocab=vocab, merges=[]))
    assert tokens(tok, "xzy") == [b"x", b"y"]
    assert tokens(tok, "z") == []
    vocab["<unk>"] = 300
    tok = load(make(vocab=vocab, merges=[], unk_token="<unk>"))  # noqa: S106
    assert tokens(tok, "zzy") == [b"<unk>", b"<unk>", b"y"]
    tok = load(make(vocab=vocab, merges=[], unk_token="<unk>", fuse_unk=True))  # noqa: S106
    assert tokens(tok, "zzy") == [b"<unk>", b"y"]
    assert Tokenizer.from_bytes(tok.to_bytes()) == tok


def test_tokens_of_a_byte_level_vocabulary_that_are_no_bytes() -> None:
    """They are decoded, to themselves, and no text gives them."""
    tok = load(make(vocab=glyph_vocab("\u2581x", "a\u2581", "\n"), merges=[]))
    assert tok.decode([256, 257, 258]) == "\u2581xa\u2581\n"
    assert tokens(tok, "\u2581x\n") == [b"\xe2", b"\x96", b"\x81", b"x", b"\n"]
    assert tok.encode("\n") == [10]
    assert tok.added_tokens == {}


def test_suffix_at_the_end_of_words() -> None:
    vocab = glyph_vocab("a</w>", "b</w>", "ab</w>")
    document = make(vocab=vocab, merges=["a b</w>"], end_of_word_suffix="</w>")
    tok = load(document)
    assert tokens(tok, "ab") == [b"ab</w>"]
    assert tokens(tok, "aab") == [b"a", b"ab</w>"]
    assert tokens(tok, "ba") == [b"b", b"a</w>"]
    assert tokens(tok, "bac") == [b"b", b"a"]  # "c</w>" is no token and vanishes.
    assert Tokenizer.from_bytes(tok.to_bytes()) == tok
    vocab = {"a": 0, "b</w>": 1, "\u4e2d</w>": 2, "ab</w>": 3}
    tok = load(
        characters(
            vocab=vocab,
            merges=["a b</w>"],
            end_of_word_suffix="</w>",
            pre_tokenizer={"type": "WhitespaceSplit"},
            decoder={"type": "BPEDecoder", "suffix": "</w>"},
        )
    )
    ids = tok.encode("ab a\u4e2d b")
    assert ids == [3, 0, 2, 1]
    assert tok.decode(ids) == "ab a\u4e2d b"
    again = Tokenizer.from_bytes(tok.to_bytes())
    assert again.encode("ab") == [3]
    assert again.decode(ids) == "ab a\u4e2d b"


# ------------------------------------------------------------------ added tokens


def test_special_and_added_tokens() -> None:
    tok = load(make(added_tokens=[added("<s>", special=True), added("<x>")]))
    assert tok.special_tokens == {"<s>": 259}
    assert tok.added_tokens == {"<x>": 260}
    assert tok.encode("ab<x>") == [256, 260]
    assert tok.encode("<s>ab", allowed_special="all") == [259, 256]
    with pytest.raises(SpecialTokenError, match="<s>"):
        tok.encode("<s>")
    assert len(tok.encode_ordinary("<s><x>")) == 4
    assert tok.decode([259, 260]) == "<s><x>"


def test_ids_in_the_file_count_for_nothing() -> None:
    """`tokenizers` numbers added tokens itself, and so must we to get its ids."""
    tok = load(make(added_tokens=[added("<s>", id=1000), added("ab", id=7)]))
    assert tok.added_tokens == {"<s>": 259, "ab": 256}


def test_added_tokens_decode_to_themselves() -> None:
    names = ["\u010d", "il\xf6veyou", "\u0120x", "\u0120ab"]
    tok = load(make(added_tokens=[added(name) for name in names]))
    for name in names[1:3]:
        ids = tok.encode(name)
        assert len(ids) == 1
        assert tok.decode(ids) == name
    # These have the id of an ordinary token, which stands for other bytes.
    assert tok.encode("\u0120ab") == tok.encode(" ab") == [257]
    assert tok.decode([257]) == " ab"
    assert tok.decode(tok.encode("\u010d")) == "\r"
    assert Tokenizer.from_bytes(tok.to_bytes()).encode("\u0120ab") == [257]


@pytest.mark.parametrize(
    ("flags", "text", "pieces"),
    [
        ({"lstrip": True}, "a  <t> b", "a|  <t>| |b"),
        ({"rstrip": True}, "a <t>\n\u3000b", "a| |<t>\n\u3000|b"),
        ({"lstrip": True, "rstrip": True}, " <t> <t> ", " <t> |<t> "),
        ({"lstrip": True}, "\x1c<t>", "\x1c|<t>"),
        ({"single_word": True}, "<t> a<t> <t>a <t>", "<t>| |a|<|t|>| |<|t|>|a| |<t>"),
        ({"single_word": True}, "\xe9<t>.<t>_", "\xc3|\xa9|<|t|>|.|<|t|>|_"),
        ({"single_word": True}, "\u0301<t>", "\xcc|\x81|<|t|>"),
        ({"single_word": True}, "<t><t>", "<t>|<t>"),
    ],
)
def test_flags(flags: dict[str, bool], text: str, pieces: str) -> None:
    for special in (True, False):
        tok = load(
            make(
                added_tokens=[added("<t>", special=special, **flags)],
                pre_tokenizer=BYTE_LEVEL | {"use_regex": False},
            )
        )
        expected = ["<t>" if "<t>" in p else p for p in pieces.split("|")]
        found = [piece.decode("latin-1") for piece in tokens(tok, text)]
        assert found == expected
        assert Tokenizer.from_bytes(tok.to_bytes()) == tok


@pytest.mark.parametrize("content", [" ", "<t>"])
@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word"])
def test_flags_take_linear_time(content: str, flag: str) -> None:
    """A hundred thousand tokens and spaces; quadratic would take minutes."""
    tok = load(make(added_tokens=[added(content, **{flag: True})]))
    for text in (" " * 100_000, " <t>" * 25_000, "<t> " * 25_000):
        assert tok.decode(tok.encode(text)).replace(" ", "") == text.replace(" ", "")


def test_many_threads_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    tok = load(
        make(
            normalizer={"type": "NFC"},
            added_tokens=[added("<t>", rstrip=True), added("A", normalized=True)],
        )
    )
    texts = [f"e\u0301{i} <t>  A ab\u0301" * (i % 7) for i in range(400)]
    expected = [tok.encode(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tok.encode, texts)) == expected
    assert tok.encode_batch(texts, num_threads=4) == expected
    mixed = ["plain", *texts[:9], "ab"]
    assert tok.encode_batch(mixed) == [tok.encode(text) for text in mixed]


def test_refused_text_is_named_whatever_the_way() -> None:
    extra = [added("<s>", special=True), added("<t>", lstrip=True)]
    tok = load(make(added_tokens=extra, normalizer={"type": "Lowercase"}))
    for text in ("a<s>", "A <t><s>"):
        with pytest.raises(SpecialTokenError, match=r"texts\[1\] spells.*'<s>'"):
            tok.encode_batch(["AB", text, "<s>"])
        with pytest.raises(SpecialTokenError, match="the text spells"):
            tok.encode(text)
        with pytest.raises(SpecialTokenError, match="the text spells"):
            tok.count(text)


def test_matching_before_and_after_normalization() -> None:
    lower = {"type": "Lowercase"}
    tok = load(
        make(
            normalizer=lower,
            added_tokens=[added("<A>"), added("<B>", normalized=True)],
        )
    )
    assert tokens(tok, "<A>") == [b"<A>"]
    assert tokens(tok, "<a>") == [b"<", b"a", b">"]
    assert tokens(tok, "<b><B>") == [b"<B>", b"<B>"]
    assert tokens(tok, "AB") == [b"ab"]


def test_tokens_matched_in_the_given_text_come_first() -> None:
    both = [added("b"), added("ab", normalized=True)]
    assert tokens(load(make(added_tokens=both)), "abab") == [b"a", b"b", b"a", b"b"]
    both = [added("ab"), added("b", normalized=True)]
    tok = load(make(added_tokens=both))
    assert tokens(tok, "abb") == [b"ab", b"b"]
    assert type(tok._engine).__name__ == "Engine"  # one matcher finds the same


# ------------------------------------------------------------------ characters


def test_characters_and_what_is_unknown() -> None:
    tok = load(characters(vocab=CHARACTERS | {"ab": 50}, merges=["a b"]))
    assert tokens(tok, "ab\xe9") == [b"ab", "\xe9".encode()]
    assert tokens(tok, "a\u4e2db") == [b"ab"]  # It vanishes before the merge.
    vocab = CHARACTERS | {"<unk>": 60}
    for fuse, n in ((True, 1), (False, 2)):
        tok = load(characters(vocab=vocab, unk_token="<unk>", fuse_unk=fuse))  # noqa: S106
        assert tokens(tok, "a\u4e2d\u6587b") == [b"a", *[b"<unk>"] * n, b"b"]


def test_byte_fallback() -> None:
    vocab = CHARACTERS | {f"<0x{b:02X}>": 100 + b for b in range(256)}
    document = characters(
        vocab=vocab, byte_fallback=True, decoder={"type": "ByteFallback"}
    )
    tok = load(document)
    assert tok.encode("\xff") == [100 + 0xC3, 100 + 0xBF]
    assert tok.decode(tok.encode("a\xff\u4e2d")) == "a\xff\u4e2d"
    # The name of a byte, typed, is not that byte.
    typed = tok.encode("<0x41>")
    assert [tok.token_bytes(i).decode() for i in typed] == list("<0x41>")
    assert tok.decode(typed) == "<0x41>"
    # Bytes that are no UTF-8: decode as tokenizers does, decode_bytes exactly.
    assert tok.decode([100 + 0xE4, 100 + 0xB8]) == "\ufffd\ufffd"
    assert tok.decode_bytes([100 + 0xF0]) == b"\xf0"
    with pytest.raises(UnicodeDecodeError):
        tok.decode([100 + 0xF0], errors="strict")
    with pytest.raises(UnknownTokenError, match=r"id 99999 \(at position 1\)"):
        tok.decode([0, 99999])
    assert tok.encode(b"\xff") == [100 + 0xFF]
    del vocab["<0xBF>"]
    assert load(characters(vocab=vocab, byte_fallback=True)).encode("\xff") == []


def test_words_are_pretokens_where_no_merge_crosses_a_mark() -> None:
    vocab = CHARACTERS | {"\u2581a": 70, "a\u2581": 71, "\u2581\u2581": 72}
    tok = load(
        characters(
            vocab=vocab,
            merges=["\u2581 a", "\u2581 \u2581"],
            normalizer=MARKS,
            decoder={
                "type": "Replace",
                "pattern": {"String": "\u2581"},
                "content": " ",
            },
        )
    )
    assert tok.split != Split()
    assert tok.encode("a a") == [0, 70]
    assert tok.decode(tok.encode("a  a")) == "a  a"
    gemma = {
        "type": "Split",
        "pattern": {"String": " "},
        "behavior": "MergedWithPrevious",
    }
    tok = load(
        characters(
            vocab=vocab,
            merges=["\u2581 a"],
            normalizer=MARKS,
            pre_tokenizer=gemma | {"invert": False},
        )
    )
    assert len(tok.split.stages) == 2
    assert tok.encode("a a") == [0, 70]
    tok = load(characters(vocab=vocab, merges=["a \u2581"], normalizer=MARKS))
    assert tok.split == Split()
    assert tok.encode("a a") == [71, 0]


def test_a_text_without_a_space_takes_no_quadratic_time() -> None:
    vocab = CHARACTERS | {"ab": 70, "abab": 71}
    document = characters(
        vocab=vocab, merges=["a b", "ab ab"], normalizer=MARKS, byte_fallback=True
    )
    tok = load(document)
    assert tok.encode("ab" * 500_000) == [71] * 250_000


@pytest.mark.parametrize(
    ("decoder", "names", "text"),
    [
        (None, ["a", "b"], "a b"),
        ({"type": "Fuse"}, ["a", "b"], "ab"),
        (
            {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"},
            ["\u2581", "a", "\u2581"],
            "a ",
        ),
        (
            {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never"},
            ["\u2581", "a", "\u2581"],
            " a ",
        ),
        (
            {
                "type": "Sequence",
                "decoders": [
                    {
                        "type": "Replace",
                        "pattern": {"String": "\u2581"},
                        "content": " ",
                    },
                    {"type": "ByteFallback"},
                    {"type": "Fuse"},
                    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
                ],
            },
            ["\u2581", "\u2581", "a"],
            " a",
        ),
        ({"type": "Strip", "content": "a", "start": 1, "stop": 1}, ["a", "b"], "b"),
        (
            {"type": "Replace", "pattern": {"Regex": "[ab]"}, "content": "-"},
            ["a", "c"],
            "-c",
        ),
    ],
)
def test_decoders(decoder: Any, names: list[str], text: str) -> None:
    tok = load(characters(decoder=decoder))
    ids = [CHARACTERS[name] for name in names]
    assert tok.decode(ids) == text
    assert Tokenizer.from_bytes(tok.to_bytes()).decode(ids) == text


# ------------------------------------------------------------------ around the text


@pytest.mark.parametrize(
    ("processor", "ids"),
    [
        (None, [256]),
        ({"type": "ByteLevel"}, [256]),
        (template("<s>", "A"), [259, 256]),
        (template("A", "</s>", "<s>"), [256, 260, 97, 259]),
        ({"type": "BertProcessing", "sep": ["x", 1], "cls": ["y", 2]}, [2, 256, 1]),
        ({"type": "RobertaProcessing", "sep": ["x", 1], "cls": ["y", 2]}, [2, 256, 1]),
        (
            {
                "type": "Sequence",
                "processors": [
                    {"type": "ByteLevel"},
                    template("<s>", "A"),
                    template("</s>", "A", "<s>"),
                ],
            },
            [260, 97, 259, 256, 259],
        ),
    ],
)
def test_add_special_tokens(processor: Any, ids: list[int]) -> None:
    extra = [added("<s>", special=True), added("</s>", special=True)]
    tok = load(make(post_processor=processor, added_tokens=extra))
    assert tok.encode("ab") == [256]
    assert tok.encode("ab", add_special_tokens=True) == ids
    assert tok.encode_to_numpy("ab", add_special_tokens=True).tolist() == ids
    texts = ["ab", "", "abab", "ab"]
    rows = tok.encode_batch(texts, add_special_tokens=True)
    flat, offsets = tok.encode_batch_to_numpy(texts, add_special_tokens=True)
    assert flat.tolist() == [token_id for row in rows for token_id in row]
    assert np.diff(offsets).tolist() == [len(row) for row in rows]
    assert tok.count("ab", add_special_tokens=True) == len(ids)
    assert tok.encode_batch(["ab", "ab"], add_special_tokens=True) == [ids, ids]
    assert tok.encode_to_numpy("", add_special_tokens=True).dtype == "uint32"
    assert (*tok.text_prefix, 256, *tok.text_suffix) == tuple(ids)
    assert Tokenizer.from_bytes(tok.to_bytes()).text_prefix == tok.text_prefix


def test_truncation_and_padding_are_not_taken_over() -> None:
    tok = load(make(truncation={"max_length": 1}, padding={"pad_id": 0}))
    assert len(tok.encode("a b c")) == 5
    assert tok._model.provenance["ignored"] == "truncation, padding"


# ------------------------------------------------------------------ files


def test_load_finds_the_file_and_names_it(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(make()), "utf-8")
    assert pybpe.load(path) == pybpe.load(tmp_path) == load(make())
    path.write_text(json.dumps(make(type="WordLevel")), "utf-8")
    with pytest.raises(ModelError, match=r"tokenizer\.json.*WordLevel"):
        pybpe.load(path)


def test_options_of_load(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    extra = [added("<s>", special=True, lstrip=True)]
    path.write_text(json.dumps(make(added_tokens=extra)))
    tok = pybpe.load(path, pattern=r"\S|\s", special_tokens={"<t>": 259})
    assert tok.special_tokens == {"<t>": 259}
    assert tok.encode("ab") == [97, 98]
    assert Tokenizer.from_bytes(tok.to_bytes()) == tok


def test_everything_survives_saving() -> None:
    vocab = CHARACTERS | {"<unk>": 60, "<0x41>": 61, "\u2581a": 62}
    mark = "\u2581"
    tok = load(
        characters(
            vocab=vocab,
            merges=["\u2581 a"],
            unk_token="<unk>",  # noqa: S106
            fuse_unk=True,
            byte_fallback=True,
            added_tokens=[
                added("<x>", lstrip=True, special=True),
                added("Y", rstrip=True, normalized=True, single_word=True),
            ],
            normalizer={
                "type": "Sequence",
                "normalizers": [
                    {"type": "NFKC"},
                    {"type": "Lowercase"},
                    {"type": "StripAccents"},
                    {"type": "Nmt"},
                    {"type": "Replace", "pattern": {"Regex": r"\d+"}, "content": "0"},
                    {"type": "Replace", "pattern": {"String": " "}, "content": mark},
                    {"type": "Prepend", "prepend": mark},
                    {"type": "Strip", "strip_left": False, "strip_right": True},
                ],
            },
            pre_tokenizer={
                "type": "Sequence",
                "pretokenizers": [
                    {"type": "Punctuation", "behavior": "MergedWithPrevious"},
                    {"type": "Metaspace", "replacement": mark},
                    {"type": "Digits", "individual_digits": True},
                ],
            },
            decoder={
                "type": "Sequence",
                "decoders": [
                    {"type": "Replace", "pattern": {"Regex": mark}, "content": " "},
                    {"type": "ByteFallback"},
                    {"type": "Fuse"},
                    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
                ],
            },
        )
    )
    text = " A<x>\uff21. \u4e2d12 y b\x85"
    for again in (
        Tokenizer.from_bytes(tok.to_bytes()),
        pickle.loads(pickle.dumps(tok)),
    ):
        assert again == tok
        assert again.fingerprint == tok.fingerprint
        assert again.to_bytes() == tok.to_bytes()
        assert again._model.flags == tok._model.flags
        assert again._model.normalizers == tok._model.normalizers
        assert again._model.decoders == tok._model.decoders
        ids = tok.encode(text, allowed_special="all")
        assert again.encode(text, allowed_special="all") == ids
        assert again.decode(ids) == tok.decode(ids)


Change = Callable[[dict[str, Any]], object]
DIFFERENT: list[Change] = [
    lambda d: d.update(normalizer={"type": "NFC"}),
    lambda d: d.update(post_processor=template("<s>", "A")),
    lambda d: d["added_tokens"][0].update(lstrip=True),
    lambda d: d["model"].update(ignore_merges=True),
    lambda d: d["pre_tokenizer"].update(add_prefix_space=True),
    lambda d: d["pre_tokenizer"].update(use_regex=False),
]


def test_every_part_counts_in_the_fingerprint() -> None:
    seen = {load(make(added_tokens=[added("<s>", special=True)])).fingerprint}
    for change in DIFFERENT:
        document = json.loads(
            json.dumps(make(added_tokens=[added("<s>", special=True)]))
        )
        change(document)
        seen.add(load(document).fingerprint)
    assert len(seen) == len(DIFFERENT) + 1
