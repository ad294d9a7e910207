"""The vocabularies that `make_compatibility.py` compares, and their reference packages.

A peer is a reference package with a vocabulary in it. All peers give ids of a batch of
texts, and text of a batch of ids, so that one function compares any of them.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import pybpe
from pybpe import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests"))
# It scales what the tests draw; here the number is part of the result.
os.environ.pop("PYBPE_TEST_EXAMPLES", None)

from peer_texts import CORPORA, unicode_texts  # noqa: E402 - found by the line above

Ids = list[list[int]]


class Peer(NamedTuple):
    """A reference.

    Attributes:
        package: Whose ids count.
        note: What is to be said about how it was set up.
        encode: Texts -> ids. Special tokens are matched if `specials` says so.
        decode: Ids -> texts.
        specials: The special and added tokens that it matches in every text; empty if
            it matches none.
    """

    package: str
    note: str
    encode: Callable[[Sequence[str]], Ids]
    decode: Callable[[Ids], list[str]]
    specials: tuple[str, ...]

    @property
    def name(self) -> str:
        """The package and its version."""
        return f"{self.package} {metadata.version(self.package)}"


class Subject(NamedTuple):
    """A vocabulary to compare.

    Attributes:
        family: Whose it is.
        what: The file, or the call that makes the tokenizer.
        load: Source code of an expression that makes the tokenizer.
        kind: The format, as the table of readers in `pybpe.loading` calls it.
        peer: What makes the reference.
        refused: A part of the message with which it has to be refused, or "".
    """

    family: str
    what: str
    load: str
    kind: str
    peer: Callable[[Tokenizer], Peer] | None
    refused: str = ""


# ------------------------------------------------------------------ references


def of_tiktoken(encoding: Any, note: str, without: Iterable[str] = ()) -> Peer:
    """Return an encoding of tiktoken as a peer; all its special tokens are matched."""
    names = sorted(set(encoding.special_tokens_set) - set(without))

    def encode(texts: Sequence[str]) -> Ids:
        return [encoding.encode(text, allowed_special="all") for text in texts]

    def decode(rows: Ids) -> list[str]:
        return [encoding.decode(row) for row in rows]

    return Peer("tiktoken", note, encode, decode, tuple(names))


def tiktoken_named(name: str) -> Callable[[Tokenizer], Peer]:
    """Return what makes a peer of one of tiktoken's own encodings."""

    def make(_: Tokenizer) -> Peer:
        import tiktoken

        # Of two names for one id, pybpe has one; see the page.
        return of_tiktoken(tiktoken.get_encoding(name), "", {"<|reserved_200018|>"})

    return make


def tiktoken_with_ranks(path: Path) -> Callable[[Tokenizer], Peer]:
    """Return what makes a peer of a rank file."""

    def make(tok: Tokenizer) -> Peer:
        import tiktoken

        ranks = {}
        for line in path.read_bytes().splitlines():
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
        encoding = tiktoken.Encoding(
            path.name,
            pat_str=str(tok.pattern),
            mergeable_ranks=ranks,
            special_tokens={str(k): v for k, v in tok.special_tokens.items()},
        )
        return of_tiktoken(encoding, "the file's ranks; pattern and specials as here")

    return make


def tiktoken_with_tekken(path: Path) -> Callable[[Tokenizer], Peer]:
    """Return what makes a peer of a tekken file."""

    def make(tok: Tokenizer) -> Peer:
        import tiktoken

        data = json.loads(path.read_text(encoding="utf-8"))
        config = data["config"]
        first = config["default_num_special_tokens"]
        ranks = {
            base64.b64decode(token["token_bytes"]): token["rank"] + first
            for token in data["vocab"][: config["default_vocab_size"] - first]
        }
        encoding = tiktoken.Encoding(
            "tekken",
            pat_str=config["pattern"],
            mergeable_ranks=ranks,
            special_tokens={str(k): v for k, v in tok.special_tokens.items()},
        )
        return of_tiktoken(encoding, "the file's ranks and pattern; specials as here")

    return make


def hugging_face(path: Path) -> Callable[[Tokenizer], Peer]:
    """Return what makes a peer of a `tokenizer.json`."""

    def make(_: Tokenizer) -> Peer:
        from tokenizers import Tokenizer as Theirs

        theirs = Theirs.from_file(str(path))
        added = theirs.get_added_tokens_decoder().values()

        def encode(texts: Sequence[str]) -> Ids:
            rows = theirs.encode_batch(list(texts), add_special_tokens=False)
            return [row.ids for row in rows]

        def decode(rows: Ids) -> list[str]:
            texts: list[str] = theirs.decode_batch(rows, skip_special_tokens=False)
            return texts

        names = tuple(token.content for token in added)
        return Peer("tokenizers", "", encode, decode, names)

    return make


def sentencepiece(path: Path) -> Callable[[Tokenizer], Peer]:
    """Return what makes a peer of a sentencepiece model."""

    def make(_: Tokenizer) -> Peer:
        import sentencepiece as package

        theirs = package.SentencePieceProcessor()
        theirs.LoadFromFile(str(path))

        def encode(texts: Sequence[str]) -> Ids:
            rows: Ids = theirs.encode(list(texts))
            return rows

        def decode(rows: Ids) -> list[str]:
            return [theirs.decode(row) for row in rows]

        return Peer("sentencepiece", "", encode, decode, ())

    return make


# ------------------------------------------------------------------ subjects

FAMILIES = {
    "hf/deepseek_v3_tokenizer.json": "DeepSeek V3",
    "hf/gpt_neox_20b_tokenizer.json": "GPT-NeoX 20B",
    "hf/llama3_1_tokenizer.json": "Llama 3.1",
    "hf/mistral_v1_tokenizer.json": "Mistral v1",
    "hf/qwen3_tokenizer.json": "Qwen 3",
    "llamacpp/ggml-vocab-gpt-2.gguf": "GPT-2",
    "llamacpp/ggml-vocab-llama-spm.gguf": "Llama 2",
    "openai/gpt2_vocab.bpe": "GPT-2",
    "openai/r50k_base.tiktoken": "GPT-3",
    "openai/p50k_base.tiktoken": "Codex",
    "openai/cl100k_base.tiktoken": "GPT-4",
    "openai/o200k_base.tiktoken": "GPT-4o",
    "sentencepiece/llama2_tokenizer.model": "Llama 2",
    "sentencepiece/mistral_tokenizer.model.v1": "Mistral v1",
    "sentencepiece/mistral_mistral_instruct_tokenizer_240323.model.v3": "Mistral v3",
    "sentencepiece/sp_test_model.model": "unigram (sentencepiece's own test)",
    "tekken/tekken_240718.json": "Mistral NeMo",
    "tiktoken_style/llama3_tokenizer.model": "Llama 3",
    "tiktoken_style/qwen.tiktoken": "Qwen",
}
ENCODINGS = {
    "gpt2": "GPT-2",
    "r50k_base": "GPT-3",
    "p50k_base": "Codex",
    "p50k_edit": "Codex, edits",
    "cl100k_base": "GPT-4",
    "o200k_base": "GPT-4o",
    "o200k_harmony": "gpt-oss",
}
# Files that have to be refused, and what the message has to say.
REFUSED = {"sentencepiece/sp_test_model.model": "of the type unigram"}
# Vectors and second halves of pairs.
_BESIDE = (".inp", ".out", "gpt2_encoder.json")


def subjects(vocab: Path) -> list[Subject]:
    """Return every vocabulary of the test data, and the published encodings."""
    found = [
        Subject(
            family,
            f'get_encoding("{name}")',
            f"pybpe.get_encoding({name!r})",
            "get_encoding",
            tiktoken_named(name),
        )
        for name, family in ENCODINGS.items()
    ]
    for path in sorted(vocab.glob("*/*")):
        name = path.relative_to(vocab).as_posix()
        if name.endswith(_BESIDE):
            continue
        kind, peer = _reference(path, name)
        what, source = f"`{path.name}`", f"pybpe.load({str(path)!r})"
        if kind == "merges":
            pair = path.parent / "gpt2_encoder.json", path
            what = " + ".join(f"`{half.name}`" for half in pair)
            source = f"pybpe.load({tuple(map(str, pair))!r})"
        refused = REFUSED.get(name, "")
        found.append(
            Subject(FAMILIES.get(name, name), what, source, kind, peer, refused)
        )
    return found


def _reference(path: Path, name: str) -> tuple[str, Callable[[Tokenizer], Peer] | None]:
    """Return a file's format and what makes its reference."""
    from pybpe import _sniff

    data = path.read_bytes()
    kind = _sniff.identify(data[: _sniff.HEAD]).kind
    if kind == "json":
        kind = _sniff.json_kind(data)
    if name == "openai/gpt2_vocab.bpe":
        return kind, tiktoken_named("gpt2")
    if name.startswith("openai/"):
        return kind, tiktoken_named(path.stem)
    if name.endswith("llama-spm.gguf"):
        beside = path.parent.parent / "sentencepiece" / "llama2_tokenizer.model"
        return kind, sentencepiece(beside)
    makers: dict[str, Callable[[Path], Callable[[Tokenizer], Peer]]] = {
        "ranks": tiktoken_with_ranks,
        "tekken": tiktoken_with_tekken,
        "tokenizer_json": hugging_face,
        "sentencepiece": sentencepiece,
        "gguf": lambda _: tiktoken_named("gpt2"),
    }
    maker = makers.get(kind)
    return kind, maker(path) if maker is not None else None


# ------------------------------------------------------------------ comparing


class Difference(NamedTuple):
    """A text that ours and theirs do not agree about, as far as it shows that."""

    where: str
    text: str
    ours: object
    theirs: object

    def __str__(self) -> str:
        """Say it in one line."""
        return (
            f"{self.where}: text {self.text[:200]!a}: ours "
            f"{ascii(self.ours)[:200]}, theirs {ascii(self.theirs)[:200]}"
        )


class Compared(NamedTuple):
    """How many texts were compared, in ids and in decoded text, and what differed."""

    n_whole: int
    n_lines: int
    n_random: int
    differences: list[Difference]


def compare(
    tok: Tokenizer, peer: Peer, corpora: dict[str, str], n_random: int, name: str
) -> Compared:
    """Compare ids and decoded text of whole corpora, their lines and random texts.

    Args:
        tok: Ours.
        peer: Theirs.
        corpora: Name -> text.
        n_random: How many random texts.
        name: What the random numbers are drawn from, and nothing else.
    """
    different: list[Difference] = []
    n_lines = 0
    for corpus, text in corpora.items():
        lines = text.splitlines(keepends=True)
        n_lines += len(lines)
        different += _compare_texts(tok, peer, [text], corpus)
        different += _compare_texts(tok, peer, lines, f"{corpus}, by lines")
    seed = zlib.crc32(name.encode())
    extra = peer.specials or tuple(map(str, (*tok.special_tokens, *tok.added_tokens)))
    texts = list(unicode_texts(seed, n_random, extra))
    different += _compare_texts(tok, peer, texts, "random")
    return Compared(len(corpora), n_lines, len(texts), different)


def _compare_texts(
    tok: Tokenizer, peer: Peer, texts: Sequence[str], where: str
) -> list[Difference]:
    if peer.specials:
        ours = tok.encode_batch(texts, allowed_special="all")
    else:
        ours = tok.encode_batch(texts, disallowed_special=())
    theirs = peer.encode(texts)
    found = [
        Difference(where, text, a, b)
        for text, a, b in zip(texts, ours, theirs, strict=True)
        if a != b
    ]
    # A text whose ids differ counts once.
    wrong = {different.text for different in found}
    decoded = zip(texts, tok.decode_batch(theirs), peer.decode(theirs), strict=True)
    found += [
        Difference(f"{where}, decoded", text, a, b)
        for text, a, b in decoded
        if a != b and text not in wrong
    ]
    return found


def llamacpp_vectors(tok: Tokenizer, path: Path) -> tuple[int, list[Difference]]:
    """Compare with llama.cpp's vectors beside a GGUF file; return how many they are."""
    separator = "\n__ggml_vocab_test__\n"
    *texts, _ = path.with_suffix(".gguf.inp").read_text("utf-8").split(separator)
    lines = path.with_suffix(".gguf.out").read_text("utf-8").splitlines()
    theirs = [list(map(int, line.split())) for line in lines]
    ours = tok.encode_batch(texts, disallowed_special=())
    return len(texts), [
        Difference("llama.cpp's vectors", text, a, b)
        for text, a, b in zip(texts, ours, theirs, strict=True)
        if a != b
    ]


def read_corpora(folder: Path, limit: int | None) -> dict[str, str]:
    """Return the texts, or their beginnings of so many characters."""
    return {
        name: (folder / f"{name}_1mb.txt").read_text("utf-8")[:limit]
        for name in CORPORA
    }


def loaded(subject: Subject) -> Tokenizer:
    """Return the tokenizer of a subject."""
    tok = eval(subject.load, {"pybpe": pybpe})  # noqa: S307 - made above
    if not isinstance(tok, Tokenizer):
        raise TypeError(f"{subject.load} made a {type(tok).__name__}")
    return tok
