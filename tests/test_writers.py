"""Writing in the formats of others, and what each cannot hold."""

from __future__ import annotations

import importlib
import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizer_json_make import load, make
from writers_make import (
    NAMES,
    SPECIAL,
    pairs_in_bytes,
    refusal,
    tokenizer,
)

import pybpe
from pybpe import ModelError, Tokenizer
from pybpe.split import Split
from pybpe.writers import FORMATS, tiktoken, tokenizer_json
from pybpe.writers._merges import special_apart
from pybpe.writers._parts import Job

TEXT = (
    "hello  hello, it's 12345 HELLO\n\n  h\u00e9llo \u4f60\u597d \U0001f44d\n\t"
    "hell hello<|end|>hehe  \r\n don't<|end|>"
)


def ids(tok: Tokenizer, text: str = TEXT) -> list[int]:
    return tok.encode(text, allowed_special="all")


def load_again(tok: Tokenizer, path: Path, kind: str) -> Tokenizer:
    """Load what was written; of what the format does not hold, tell."""
    if kind in ("tiktoken", "gpt2"):
        special: Any = tok.special_tokens
        return pybpe.load(path, pattern=tok.split, special_tokens=special)
    return pybpe.load(path, pattern=tok.split if kind == "gguf" else None)


@pytest.mark.filterwarnings("ignore:llama.cpp")
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", None])
def test_round_trip(kind: str, pattern: Any, tmp_path: Path) -> None:
    if kind == "gguf":
        pytest.importorskip("gguf")
    tok = tokenizer(pattern)
    path = tmp_path / NAMES[kind]
    written = tok.save_as(str(tmp_path / NAMES[kind]) + "/" * (kind == "hf"), kind)
    assert all(Path(name).is_file() for name in written)
    again = load_again(tok, path, kind)
    assert ids(again) == ids(tok)
    assert again.special_tokens == tok.special_tokens
    assert again.vocab == tok.vocab
    # And once more: what was read is written the same.
    before = [Path(name).read_bytes() for name in written]
    assert again.save_as(path, kind) == written
    assert [Path(name).read_bytes() for name in written] == before


@pytest.mark.parametrize("kind", [k for k in NAMES if k != "minbpe"])
def test_the_name_says_the_format(kind: str, tmp_path: Path) -> None:
    if kind == "gguf":
        pytest.importorskip("gguf")
    named, told = tmp_path / "named", tmp_path / "told"
    for folder, format_ in ((named, None), (told, kind)):
        folder.mkdir()
        name = f"{folder}/{NAMES[kind]}"
        assert tokenizer().save_as(name, format_)
    assert sorted(p.name for p in named.rglob("*")) == sorted(
        p.name for p in told.rglob("*")
    )


def test_a_name_may_leave_the_format_open(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not say what format"):
        tokenizer().save_as(tmp_path / "my.model")
    with pytest.raises(ValueError, match="unknown format 'json'; known are pybpe"):
        tokenizer().save_as(tmp_path / "my.model", "json")
    with pytest.raises(ValueError, match=r"ends in \.model"):
        tokenizer().save_as(tmp_path / "my.txt", "minbpe")
    with pytest.raises(ValueError, match=r"is called vocab\.json \+ merges\.txt"):
        tokenizer().save_as(tmp_path / "my.txt", "gpt2")
    assert list(tmp_path.iterdir()) == []


def test_options_go_with_some_formats(tmp_path: Path) -> None:
    for options, message in (
        ({"roles": {"eos": "<|end|>"}}, "no place for roles"),
        ({"chat_template": "x"}, "no place for a chat template"),
        ({"roles": {"end": "<|end|>"}}, "unknown role 'end'"),
    ):
        with pytest.raises(ValueError, match=message):
            tokenizer().save_as(tmp_path / "my.tiktoken", **options)
    with pytest.raises(ValueError, match="there is no such token"):
        tokenizer().save_as(tmp_path / "my", "hf", roles={"eos": "<none>"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chat_template": 5}, "chat_template must be a str, got int"),
        ({"chat_template": b"x"}, "chat_template must be a str, got bytes"),
        ({"chat_template": []}, "chat_template must be a str, got list"),
        ({"roles": 5}, "roles must map names of roles to tokens, got int"),
        ({"roles": ["bos"]}, "roles must map names of roles to tokens, got list"),
        ({"roles": ""}, "roles must map names of roles to tokens, got str"),
        ({"roles": {"bos": 5}}, "roles['bos'] must be a token, str or bytes, got int"),
        ({"format": 5}, "format must be a str or None, got int"),
        ({"format": b"hf"}, "format must be a str or None, got bytes"),
        ({"path": 5}, "path must be a path, got int"),
    ],
)
def test_options_of_a_wrong_type(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        tokenizer().save_as(**{"path": f"{tmp_path}/my/", "format": "hf", **options})
    assert list(tmp_path.iterdir()) == []


def test_pairs_of_files(tmp_path: Path) -> None:
    tok = tokenizer()
    for name, pair in (
        ("encoder.json", ["encoder.json", "vocab.bpe"]),
        ("my-merges.txt", ["my-vocab.json", "my-merges.txt"]),
    ):
        written = tok.save_as(tmp_path / name)
        assert written == [str(tmp_path / file) for file in pair]
        assert load_again(tok, tmp_path / name, "gpt2") == tok
    assert tok.save_as(tmp_path, "gpt2")[0] == str(tmp_path / "vocab.json")
    assert (tmp_path / "merges.txt").read_text().splitlines() == [
        *("#version: 0.2", "h e", "l l", "he ll", "\u0120 \u0120", "hell o")
    ]


def test_the_vocab_of_minbpe(tmp_path: Path) -> None:
    tokenizer("gpt4").save_as(tmp_path / "my.model", "minbpe")
    lines = (tmp_path / "my.vocab").read_text().split("\n")
    assert lines[0] == "[\\u0000] 0"
    assert lines[104] == "[h] 104"
    assert lines[200] == "[\ufffd] 200"
    assert lines[258] == "[he][ll] -> [hell] 258"
    assert lines[261:] == ["[<|end|>] 261", "[<|pad|>] 262", ""]


def test_a_folder_with_other_vocabularies(tmp_path: Path) -> None:
    tokenizer().save_as(tmp_path, "gpt2")
    with pytest.raises(ValueError, match=r"holds a vocab\.json, which would be read"):
        tokenizer().save_as(tmp_path)
    (tmp_path / "vocab.json").unlink()
    (tmp_path / "merges.txt").unlink()
    (tmp_path / "config.json").write_text("{}")
    assert len(tokenizer().save_as(tmp_path)) == 3
    assert ids(pybpe.load(tmp_path)) == ids(tokenizer())


def test_roles_that_are_known(tmp_path: Path) -> None:
    tok = tokenizer(special_tokens={"<|endoftext|>": 261, "<s>": 262})
    tok.save_as(tmp_path / "one", "hf")
    names = json.loads((tmp_path / "one" / "special_tokens_map.json").read_bytes())
    assert names == {"eos_token": "<|endoftext|>"}
    document = json.loads((tmp_path / "one" / "tokenizer.json").read_bytes())
    around = _template("<s>", 262)
    (tmp_path / "tokenizer.json").write_text(
        json.dumps({**document, "post_processor": around})
    )
    again = pybpe.load(tmp_path / "tokenizer.json")
    again.save_as(tmp_path / "two", "hf", roles={"pad": "<|endoftext|>"})
    names = json.loads((tmp_path / "two" / "special_tokens_map.json").read_bytes())
    assert names == {
        "bos_token": "<s>",
        "eos_token": "<|endoftext|>",
        "pad_token": "<|endoftext|>",
    }
    written = pybpe.load(tmp_path / "two" / "tokenizer.json")
    assert written.encode("x", add_special_tokens=True) == [262, 120]
    for kind in ("minbpe", "gpt2"):
        assert "puts [262] before" in refusal(again, tmp_path / NAMES[kind], kind)


def _template(token: str, number: int) -> dict[str, Any]:
    special = {"SpecialToken": {"id": token, "type_id": 0}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "type": "TemplateProcessing",
        "single": [special, text],
        "pair": [special, text],
        "special_tokens": {token: {"id": token, "ids": [number], "tokens": [token]}},
    }


@pytest.mark.parametrize("kind", ["tiktoken", "tokenizer.json", "gpt2"])
@pytest.mark.parametrize("wrong", [False, True])
def test_without_the_formats_own_library(
    kind: str, wrong: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tiktoken", "tokenizers", "sentencepiece"):
        monkeypatch.setitem(sys.modules, name, None)
    tok = tokenizer("cl100k")
    if not wrong:
        tok.save_as(tmp_path / NAMES[kind])
        assert ids(load_again(tok, tmp_path / NAMES[kind], kind)) == ids(tok)
        return
    module = importlib.import_module(f"pybpe.writers.{kind.replace('.', '_')}")
    # Another tokenizer's files: as good as any, but not this one's.
    other = tokenizer("cl100k", special_tokens=SPECIAL).truncate(262)
    made = module.files(Job(other, (), {}, None))
    monkeypatch.setattr(module, "files", lambda _: made)
    said = refusal(tok, tmp_path / NAMES[kind], kind)
    assert "pybpe reads the file otherwise" in said or "cannot load" in said


# ------------------------------------------------------------------ whole or not at all


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("tiktoken", b"aGU= 256\n", b"aGI= 256\n"),
        ("tokenizer.json", b'"hell": 258', b'"helo": 258'),
        ("tokenizer.json", b'"special": true', b'"special": false'),
        ("tokenizer.json", b'"add_prefix_space": false', b'"add_prefix_space": true'),
        ("hf", b'"content": "<|end|>"', b'"content": "<|END|>"'),
        ("minbpe", b"\n108 108\n", b"\n108 109\n"),
        ("minbpe", b"<|end|> 261", b"<|END|> 261"),
        ("gpt2", b"l l\nhe ll", b"l l\nh ell"),
        ("gguf", b"l l", b"l m"),
    ],
)
def test_what_is_wrong_does_not_appear(
    kind: str, old: bytes, new: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "gguf":
        pytest.importorskip("gguf")
    module = importlib.import_module(f"pybpe.writers.{kind.replace('.', '_')}")
    honest = module.files

    def damaged(job: Any) -> list[bytes]:
        contents = [data.replace(old, new) for data in honest(job)]
        assert contents != honest(job)
        return contents

    monkeypatch.setattr(module, "files", damaged)
    assert "cannot write" in refusal(tokenizer(), tmp_path / NAMES[kind], kind)
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_stays(tmp_path: Path) -> None:
    old = tmp_path / "vocab.json"
    old.write_text("old")
    (tmp_path / "merges.txt").mkdir()
    with pytest.raises(IsADirectoryError, match=r"merges\.txt"):
        tokenizer().save_as(old)
    assert old.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    (tmp_path / "new" / "tokenizer.json").parent.mkdir()
    with pytest.raises(FileNotFoundError):
        tokenizer().save_as(tmp_path / "no" / "where", "hf")


# ------------------------------------------------------------------ what does not fit


def spaced() -> Tokenizer:
    return tokenizer(special_tokens={"a b": 261})


def latin() -> Tokenizer:
    return tokenizer(special_tokens={"<\xe9>": 261})


def not_utf8() -> Tokenizer:
    return tokenizer(special_tokens={b"<\xff>": 261})


def spelt_as_a_token() -> Tokenizer:
    return tokenizer(special_tokens={"hell": 261})


def with_id_of_a_token() -> Tokenizer:
    return tokenizer(special_tokens={"hell": 258})


def with_added() -> Tokenizer:
    return tokenizer(added_tokens={"<tool>": 263})


def unordered() -> Tokenizer:
    vocab = {bytes([b]): b for b in range(256)}
    vocab |= {b"he": 257, b"ll": 256, b"hell": 258}
    merges = [(b"h", b"e"), (b"l", b"l"), (b"he", b"ll")]
    return Tokenizer.from_merges(merges, vocab=vocab, pattern="gpt2")


def other_pair() -> Tokenizer:
    # Ranks make "hell" of "he" and "ll", for these rank before it.
    merges = [(b"l", b"l"), (b"h", b"e"), (b"e", b"ll"), (b"h", b"ell")]
    return Tokenizer.from_merges(merges, pattern="gpt2")


def unmade(whole: bool = False) -> Tokenizer:
    vocab = {bytes([b]): b for b in range(256)} | {b"he": 256, b"xyz": 257}
    return Tokenizer.from_merges(
        [(b"h", b"e")], vocab=vocab, pattern="gpt2", whole_pretoken=whole
    )


def unmade_whole() -> Tokenizer:
    return unmade(True)


def equal_bytes() -> Tokenizer:
    merges = [(97, 98), (98, 99), (256, 99), (97, 257)]
    return Tokenizer.from_merges(merges, pattern="gpt2")


def with_gaps() -> Tokenizer:
    return tokenizer(r"\w+|[^\w\s]")


def two_stages() -> Tokenizer:
    return tokenizer(["digits", "gpt2"])


def two_line_pattern() -> Tokenizer:
    return tokenizer("\n+|[^\n]+")


def gpt2_order() -> Tokenizer:
    return Tokenizer.from_merges([(68, 69)], pattern="gpt2", byte_order="gpt2")


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (tokenizer, "sentencepiece", "it is byte-level"),
        (with_added, "tiktoken", "'<tool>' (id 263) is an added token"),
        (with_added, "minbpe", "'<tool>' (id 263) is an added token"),
        (with_added, "gpt2", "'<tool>' (id 263) is an added token"),
        (unordered, "tiktoken", "ids are not in the order of the merges"),
        (unordered, "minbpe", "each merge makes the next id"),
        (other_pair, "tiktoken", "ranks would merge the tokens 257 and 256 to b'hell'"),
        (unmade, "tiktoken", "no merges make the token b'xyz' (id 257)"),
        (unmade_whole, "gpt2", "merging does not make the token b'xyz'"),
        (unmade_whole, "minbpe", "each merge makes the next id"),
        (unmade_whole, "gguf", "takes no pretokens whole"),
        *(
            (equal_bytes, kind, "the token b'abc' has two ids, 258 and 259")
            for kind in ("tiktoken", "tokenizer.json", "gpt2", "gguf")
        ),
        (spaced, "minbpe", "the special token 'a b' holds white space"),
        (spaced, "gpt2", "cannot stand beside the tokens"),
        (latin, "gpt2", "cannot stand beside the tokens"),
        (latin, "tokenizer.json", "it would decode to b'<\\xe9>'"),
        *(
            (not_utf8, kind, "is not UTF-8")
            for kind in ("tokenizer.json", "hf", "minbpe", "gpt2", "gguf")
        ),
        (spelt_as_a_token, "tokenizer.json", "is spelt as the token 258"),
        (spelt_as_a_token, "gpt2", "cannot stand beside the tokens"),
        (spelt_as_a_token, "gguf", "has the spelling or the id"),
        (with_id_of_a_token, "minbpe", "shares the id 258"),
        (with_id_of_a_token, "gpt2", "cannot stand beside the tokens"),
        (with_id_of_a_token, "gguf", "has the spelling or the id"),
        (with_gaps, "minbpe", "minbpe loses that text"),
        (two_stages, "minbpe", "its split has 2 stages"),
        (two_line_pattern, "minbpe", "holds a line end"),
        (gpt2_order, "minbpe", "has the bytes as ids 0 to 255 in their order"),
    ],
)
def test_refused(
    make: Callable[[], Tokenizer], kind: str, message: str, tmp_path: Path
) -> None:
    if kind == "gguf":
        pytest.importorskip("gguf")
    path = tmp_path / NAMES.get(kind, "my.model")
    assert message in refusal(make(), path, kind)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore:llama.cpp")
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (with_added, "tokenizer.json"),
        (with_added, "gguf"),
        (two_stages, "tokenizer.json"),
        (two_stages, "gguf"),
        (two_stages, "tiktoken"),
        (with_gaps, "tokenizer.json"),
        (with_gaps, "tiktoken"),
        (spaced, "tokenizer.json"),
        (with_id_of_a_token, "tokenizer.json"),
        (with_id_of_a_token, "tiktoken"),
        (spaced, "tiktoken"),
        (unordered, "tokenizer.json"),
        (unordered, "gpt2"),
        (other_pair, "minbpe"),
        (unmade, "tokenizer.json"),
        (unmade_whole, "tokenizer.json"),
        (unmade_whole, "tiktoken"),
        (equal_bytes, "minbpe"),
        (gpt2_order, "gpt2"),
    ],
)
def test_not_refused(make: Callable[[], Tokenizer], kind: str, tmp_path: Path) -> None:
    if kind == "gguf":
        pytest.importorskip("gguf")
    tok = make()
    tok.save_as(tmp_path / NAMES[kind], kind)
    again = load_again(tok, tmp_path / NAMES[kind], kind)
    assert ids(again, TEXT + "xyz a b<tool>") == ids(tok, TEXT + "xyz a b<tool>")


def test_rank_files_have_no_gaps(tmp_path: Path) -> None:
    """Those of special tokens alone are none: whoever reads the file is given these."""
    ranks = {bytes([b]): b for b in range(256)} | {b"ab": 257}
    tok = Tokenizer.from_ranks(ranks, pattern=None, special_tokens={"<|end|>": 300})
    message = refusal(tok, tmp_path / "my.tiktoken", "tiktoken")
    assert "no token has id 256, though ids go up to 257" in message
    assert "cannot load" not in message
    assert list(tmp_path.iterdir()) == []
    tok.save_as(tmp_path / "tokenizer.json")
    dense = tok.prune(tok.vocab.values())
    dense.save_as(tmp_path / "my.tiktoken")
    filled = Tokenizer.from_ranks(ranks, pattern=None, special_tokens={"<|end|>": 256})
    filled.save_as(tmp_path / "my.tiktoken")
    assert load_again(filled, tmp_path / "my.tiktoken", "tiktoken") == filled


def test_ids_with_gaps(tmp_path: Path) -> None:
    tok = tokenizer(special_tokens={"<|end|>": 300, "<|pad|>": 310})
    tok.save_as(tmp_path / "tokenizer.json")
    assert ids(pybpe.load(tmp_path / "tokenizer.json")) == ids(tok)
    document = json.loads((tmp_path / "tokenizer.json").read_bytes())
    assert document["model"]["vocab"]["<|end|>"] == 300
    pytest.importorskip("gguf")
    tok.save_as(tmp_path / "my.gguf")
    again = pybpe.load(tmp_path / "my.gguf")
    assert ids(again) == ids(tok)
    assert again.special_tokens == tok.special_tokens


@pytest.mark.parametrize("kind", ["tiktoken", "gpt2", "minbpe", "gguf"])
def test_special_tokens_in_the_vocabulary(kind: str, tmp_path: Path) -> None:
    """A `tokenizer.json` may have them there; other formats have them apart."""
    if kind == "gguf":
        pytest.importorskip("gguf")
    tok = tokenizer(special_tokens={"<|end|>": 262, "<|pad|>": 261})
    vocab = {**tok.vocab, b"<|end|>": 262, b"<|pad|>": 261}
    both = Tokenizer.from_merges(
        pairs_in_bytes(tok, tok.merges),
        vocab=vocab,
        pattern="gpt2",
        special_tokens=tok.special_tokens,
    )
    for name, written in (("one", tok), ("both", both)):
        (tmp_path / name).mkdir()
        written.save_as(tmp_path / name / NAMES[kind], kind)
    one, other = (tmp_path / name / NAMES[kind] for name in ("one", "both"))
    assert one.read_bytes() == other.read_bytes()
    # But not where merges need them.
    vocab |= {b"<|": 263, b"end": 264, b"|>": 265, b"<|end": 266, b"en": 267}
    parts = [(b"<", b"|"), (b"e", b"n"), (b"en", b"d"), (b"|", b">")]
    parts += [(b"<|", b"end"), (b"<|end", b"|>")]
    made = Tokenizer.from_merges(
        parts, vocab=vocab, pattern=None, special_tokens={"<|end|>": 262}
    )
    assert special_apart(made).vocab[b"<|end|>"] == 262


def test_gaps_and_text_that_changes(tmp_path: Path) -> None:
    # "XYZ" becomes "xyz" after added tokens were looked for: a pretoken of that name.
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    for whole in (False, True):
        document = make(
            normalizer={"type": "Lowercase"},
            ignore_merges=whole,
            pre_tokenizer=level,
            decoder=level,
        )
        tok = load(document).add_special_tokens({"xyz": 400})
        path = tmp_path / "tokenizer.json"
        if whole:
            assert "other text would become it" in refusal(tok, path, "tokenizer.json")
            continue
        tok.save_as(path)
        assert ids(pybpe.load(path), "xyz XYZ") == ids(tok, "xyz XYZ")
        path.unlink()


# ------------------------------------------------------------------ GGUF


@pytest.mark.parametrize(
    ("pattern", "whole", "pre", "warning"),
    [
        ("gpt2", False, "gpt-2", None),
        ("llama3", True, "llama-bpe", None),
        ("gpt4", False, "dbrx", None),
        ("qwen2", False, "qwen2", None),
        (["digits", "gpt2"], False, "starcoder", None),
        ("deepseek_v3", False, "deepseek-v3", None),
        ("o200k", False, "gpt-4o", "of ASCII only"),
        ("tekken", True, "tekken", "of ASCII only"),
        ("cl100k", False, "dbrx", "white space at the end of a text elsewhere"),
        ("cl100k", True, "llama-bpe", "white space at the end of a text elsewhere"),
        ("digits", False, "default", "with one of the patterns gpt2, llama3, cl100k, "),
        (None, False, "default", "knows no name for this split"),
    ],
)
def test_gguf_names_the_split(
    pattern: Any, whole: bool, pre: str, warning: str | None, tmp_path: Path
) -> None:
    gguf = pytest.importorskip("gguf")
    tok = tokenizer(pattern, whole_pretoken=whole)
    path = tmp_path / "my.gguf"
    roles = {"eos": "<|end|>", "pad": "<|pad|>"}
    if warning is None:
        tok.save_as(path, roles=roles)
    else:
        with pytest.warns(UserWarning, match=re.escape(warning)):
            tok.save_as(path, roles=roles)
    fields = gguf.GGUFReader(path).fields
    read = {name: fields[f"tokenizer.ggml.{name}"].contents() for name in ("pre",)}
    assert read["pre"] == pre
    assert fields["tokenizer.ggml.eos_token_id"].contents() == 261
    assert fields["tokenizer.ggml.padding_token_id"].contents() == 262
    if pre != "default":
        nearest = {"dbrx": "llama3", "llama-bpe": "llama3"}.get(pre, pattern)
        assert pybpe.load(path).split == Split.from_pattern(nearest)


def test_cl100k_s_split_in_gguf_differs_at_the_end_of_a_text_alone() -> None:
    ours, theirs = (Split.from_pattern(name) for name in ("cl100k", "llama3"))
    random_ = random.Random(3)
    others = 0
    for _ in range(10_000):
        letters = "aB 1\n\r\t's\u017f!\xe9\u6f22\xa0\u3000\x85#"
        text = "".join(random_.choices(letters, k=9))
        a, b = ours.pretokens(text), theirs.pretokens(text)
        if text[-1].isspace():
            others += a != b
        else:
            assert a == b, text
    assert others > 100


def test_no_format_is_forgotten() -> None:
    assert {*NAMES, "sentencepiece"} == set(FORMATS)
    assert tiktoken.__doc__
    assert tokenizer_json.__doc__


def test_an_empty_path_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tok = Tokenizer.from_merges([(97, 98)], pattern="gpt2")
    for kind in (None, "hf", "gpt2", "tiktoken"):
        with pytest.raises(ValueError, match="empty"):
            tok.save_as("", kind)
    assert not list(tmp_path.iterdir())


def test_ids_full_of_holes_are_refused_at_once(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    tok = Tokenizer.from_merges([(97, 98)], pattern="gpt2")
    far = tok.add_special_tokens({"<far>": 2**24 - 1})
    with pytest.raises(ModelError, match="are no token's"):
        far.save_as(tmp_path / "x.gguf")
    assert not list(tmp_path.iterdir())
