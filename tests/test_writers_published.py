"""Written vocabularies, in the programs that others read them with."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spm
from peer_texts import DataPath
from split_reference import SCALE
from tokenizer_json_random import document, text

import pybpe
import pybpe.tiktoken.load
from pybpe import ModelError, Tokenizer, _binding
from pybpe.codepoint import CodepointModel
from pybpe.formats._source import Source
from pybpe.formats.tokenizer_json import read
from pybpe.writers import hf, tokenizer_json
from pybpe.writers._parts import Job
from pybpe.writers._patterns import translated
from pybpe.writers.sentencepiece import model_to_bytes

pytestmark = pytest.mark.oracle

PATTERNS = ["gpt2", "cl100k", "o200k", "gpt4", ["digits", "gpt2"], None]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
WORDS = ["the", "of", "and", "a", "to", "in", "is", "you", "that", "it", "he", "was"]


def corpus() -> str:
    """Return some text, the same every time."""
    rng = random.Random(7)
    lines = []
    for _ in range(2000):
        words = [rng.choice(WORDS) for _ in range(rng.randint(1, 12))]
        words.insert(0, f"{rng.choice(WORDS).title()}'s {rng.randint(0, 99999)}")
        words.append(rng.choice(["caf\u00e9", "\u4f60\u597d", "\U0001f44d", "x = y;"]))
        lines.append(" " * rng.randint(0, 4) + " ".join(words) + rng.choice(".!?\t"))
    return "\n".join(lines) + "<|endoftext|>" + "<|im_start|> \u00fc <|im_end|>"


def trained(pattern: Any, tie_break: str, byte_order: str) -> Tokenizer:
    return pybpe.train(
        [corpus()],
        600,
        pattern=pattern,
        tie_break=tie_break,
        byte_order=byte_order,
        special_tokens=SPECIAL,
    )


TRAINED = pytest.mark.parametrize(
    ("pattern", "tie_break", "byte_order"),
    [
        (pattern, tie_break, byte_order)
        for pattern in PATTERNS
        for tie_break, byte_order in (("lowest", "gpt2"), ("first", "identity"))
    ],
)


def in_tiktoken(tok: Tokenizer, folder: Path) -> Callable[[str], list[int]] | None:
    tiktoken = pytest.importorskip("tiktoken")
    from pybpe.formats.tiktoken import parse

    tok.save_as(folder / "my.tiktoken")
    if len(tok.split.stages) > 1:
        return None
    ranks = parse((folder / "my.tiktoken").read_bytes(), published=False)
    encoding = tiktoken.Encoding(
        "my",
        pat_str=tok.pattern or r"[\s\S]+",
        mergeable_ranks=dict(zip(ranks.tokens, ranks.ids, strict=True)),
        special_tokens=tok.special_tokens,
    )
    return lambda text: encoding.encode(text, allowed_special="all")


def in_tokenizers(tok: Tokenizer, folder: Path) -> Callable[[str], list[int]]:
    tokenizers = pytest.importorskip("tokenizers")
    tok.save_as(folder / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    return lambda text: theirs.encode(text).ids


def in_minbpe(tok: Tokenizer, folder: Path) -> Callable[[str], list[int]] | None:
    """Read a model as minbpe's own code does: no more careful, no less."""
    if tok.token_bytes(0) != b"\0" or len(tok.split.stages) > 1:
        return None
    import regex

    tok.save_as(folder / "my.model", "minbpe")
    merges: dict[tuple[int, int], int] = {}
    with (folder / "my.model").open(encoding="utf-8") as file:
        assert file.readline().strip() == "minbpe v1"
        pattern = file.readline().strip()
        special = {}
        for _ in range(int(file.readline().strip())):
            token, number = file.readline().strip().split()
            special[token] = int(number)
        for line in file:
            left, right = map(int, line.split())
            merges[left, right] = 256 + len(merges)

    seen: dict[str, list[int]] = {}  # It has none, and takes minutes.

    def encode(text: str) -> list[int]:
        ids: list[int] = []
        alternatives = "|".join(map(re.escape, special))
        for part in re.split(f"({alternatives})", text):
            if part in special:
                ids.append(special[part])
                continue
            for chunk in regex.findall(pattern, part):
                if chunk not in seen:
                    seen[chunk] = merged(list(chunk.encode()), merges)
                ids += seen[chunk]
        return ids

    return encode


def merged(ids: list[int], merges: dict[tuple[int, int], int]) -> list[int]:
    while len(ids) > 1:
        pair = min(itertools.pairwise(ids), key=lambda p: merges.get(p, 1 << 30))
        if pair not in merges:
            break
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i : i + 2]) == pair:
                out.append(merges[pair])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids


def in_gpt2(tok: Tokenizer, folder: Path) -> Callable[[str], list[int]] | None:
    tokenizers = pytest.importorskip("tokenizers")
    tok.save_as(folder / "encoder.json")
    if tok.split.name != "gpt2":
        return None
    paths = str(folder / "encoder.json"), str(folder / "vocab.bpe")
    theirs = tokenizers.ByteLevelBPETokenizer.from_file(*paths)
    theirs.add_special_tokens(list(tok.special_tokens))
    return lambda text: theirs.encode(text).ids


@TRAINED
@pytest.mark.parametrize("reader", [in_tiktoken, in_tokenizers, in_minbpe, in_gpt2])
def test_trained_models(
    reader: Callable[[Tokenizer, Path], Callable[[str], list[int]] | None],
    pattern: Any,
    tie_break: str,
    byte_order: str,
    tmp_path: Path,
) -> None:
    tok = trained(pattern, tie_break, byte_order)
    encode = reader(tok, tmp_path)
    if encode is None:
        return  # Written and read back, but that program cannot split like this.
    sample = corpus()[: 5_000 if pattern is None or reader is in_minbpe else None]
    assert encode(sample) == tok.encode(sample, allowed_special="all")


def test_what_minbpe_reads_otherwise(tmp_path: Path) -> None:
    """Groups in patterns, and special tokens that begin alike."""
    tok = pybpe.train(
        [corpus()],
        300,
        pattern=r"( ?[a-z]+)|(?<x>\s)|[^a-z\s]",
        special_tokens=["<a", "<a>", "<a>b"],
    )
    encode = in_minbpe(tok, tmp_path)
    assert encode is not None
    sample = corpus()[:3000] + "<a<a>b<a><a>bb <a"
    assert encode(sample) == tok.encode(sample, allowed_special="all")
    for other in (in_tokenizers, in_tiktoken):
        other(tok, tmp_path)


@pytest.mark.slow
@pytest.mark.long
@TRAINED
@pytest.mark.parametrize("reader", [in_tiktoken, in_tokenizers, in_minbpe, in_gpt2])
def test_trained_models_on_a_megabyte(
    reader: Callable[[Tokenizer, Path], Callable[[str], list[int]] | None],
    pattern: Any,
    tie_break: str,
    byte_order: str,
    tmp_path: Path,
    data_path: DataPath,
) -> None:
    if pattern is None:
        pytest.skip("one pretoken of a megabyte takes them for ever")
    english = data_path("corpora/english_1mb.txt").read_text()
    tok = pybpe.train(
        [english],
        4000,
        pattern=pattern,
        tie_break=tie_break,
        byte_order=byte_order,
        special_tokens=SPECIAL,
    )
    encode = reader(tok, tmp_path)
    if encode is None:
        return
    for name in ("english", "code", "multilingual"):
        data = data_path(f"corpora/{name}_1mb.txt").read_text()
        for sample in (data, f"{data[:1000]}<|endoftext|>{data[1000:2000]}"):
            assert encode(sample) == tok.encode(sample, allowed_special="all")


# ------------------------------------------------------------------ tokenizer.json


def ids_twice(document_: bytes, text_: str) -> list[int] | None:
    """Return the ids that tokenizers gives; None if it breaks down or is not sure.

    The order of its hash tables decides where two added tokens are the same when they
    are normalized.
    """
    tokenizers = pytest.importorskip("tokenizers")
    found = []
    for _ in range(4):
        theirs = tokenizers.Tokenizer.from_str(document_.decode())
        try:
            found.append(theirs.encode(text_, add_special_tokens=False).ids)
        except BaseException as error:
            if "AddedVocabulary bad split" not in str(error):
                raise
            return None
    return found[0] if all(ids == found[0] for ids in found) else None


@pytest.mark.parametrize("seed", range(int(40 * SCALE)))
def test_random_tokenizer_json(seed: int) -> None:
    """What is read and written again gives the ids of the original."""
    rng = random.Random(seed)
    values = document(rng)
    original = json.dumps(values).encode()
    try:
        tok = Tokenizer(read(Source("original", data=original)))
    except ModelError:
        return  # The reader's own tests have the reasons.
    try:
        (written,) = tokenizer_json.files(Job(tok, ("tokenizer.json",), {}, None))
    except ModelError as error:
        if "stand for bytes" in str(error) or "Oniguruma reads" in str(error):
            return
        raise
    again = Tokenizer(read(Source("written", data=written)))
    own = [*values["model"]["vocab"], *(x["content"] for x in values["added_tokens"])]
    for _ in range(15):
        sample = text(rng, own)
        ours = tok.encode(sample, allowed_special="all")
        assert again.encode(sample, allowed_special="all") == ours
        theirs = ids_twice(original, sample)
        if theirs is not None:
            assert ids_twice(written, sample) == theirs


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ["cl100k", "o200k"])
def test_tokenizers_splits_every_character_as_we_do(name: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    split = pybpe.split.Split.from_pattern(name)
    pattern = translated(split.stages[0], "oniguruma")
    core = _binding.new_split(split.stages)
    theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    for start in range(0, 0x110000, 0x1000):
        chars = [chr(c) for c in range(start, start + 0x1000) if c >> 11 != 0x1B]
        sample = "".join(f"a{c} {c}\n" for c in chars)
        found = [piece for piece, _ in theirs.pre_tokenize_str(sample)]
        data = sample.encode()
        spans = zip(*_binding.split_spans(core, data), strict=True)
        assert found == [data[a:b].decode() for a, b in spans], hex(start)


# ------------------------------------------------------------------ transformers


def test_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    template = (
        "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
    )
    for pattern in PATTERNS:
        tok = trained(pattern, "lowest", "identity")
        tok.save_as(
            tmp_path / "folder",
            "hf",
            roles={"eos": "<|im_end|>", "pad": "<|endoftext|>"},
            chat_template=template,
        )
        theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "folder")
        assert theirs.eos_token_id == tok.special_tokens["<|im_end|>"]
        assert theirs.pad_token == "<|endoftext|>"  # noqa: S105
        assert len(theirs) == tok.vocab_size
        sample = corpus()[-20_000:]
        ids = tok.encode(sample, allowed_special="all")
        assert theirs.encode(sample) == ids
        assert theirs.decode(ids) == tok.decode(ids) == sample
        plain = sample
        for token in SPECIAL:
            plain = plain.replace(token, "")
        assert theirs.decode(ids, skip_special_tokens=True) == plain
        messages = [{"role": "user", "content": "hi"}]
        shown = theirs.apply_chat_template(messages, tokenize=False)
        assert shown == "<|im_start|>hi<|im_end|>"


def test_roles_of_tokens_that_are_not_special(tmp_path: Path) -> None:
    """transformers matches every token that has a role, also in texts."""
    tok = trained("gpt2", "lowest", "identity")
    with pytest.raises(ModelError, match=r"'e' \(id 101\) is to be 'eos'"):
        tok.save_as(tmp_path / "folder", "hf", roles={"eos": "e"})


def test_transformers_reads_folders_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    tok = trained("gpt2", "lowest", "identity")
    honest = hf.files

    def without_roles(job: Job) -> list[bytes]:
        document, config, roles = honest(job)
        return [document, config.replace(b"eos_token", b"sep_token"), roles]

    monkeypatch.setattr(hf, "files", without_roles)
    with pytest.raises(ModelError, match="transformers reads the file otherwise"):
        tok.save_as(tmp_path / "folder", "hf", roles={"eos": "<|im_end|>"})
    assert not (tmp_path / "folder").exists()


# ------------------------------------------------------------------ sentencepiece


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"byte_fallback": True, "character_coverage": 0.98},
        {"treat_whitespace_as_suffix": True},
        {"user_defined_symbols": ["<x>", "foo"], "control_symbols": ["<c>"]},
        {"normalization_rule_name": "identity", "add_dummy_prefix": False},
        {"pad_id": 3, "unk_piece": "[U]", "bos_piece": "[B]", "eos_id": -1},
        {"unk_surface": "?", "remove_extra_whitespaces": False},
    ],
)
def test_sentencepiece(options: dict[str, Any], tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    (tmp_path / "corpus.txt").write_text(corpus())
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "corpus.txt"),
        model_prefix=str(tmp_path / "their"),
        model_type="bpe",
        vocab_size=400,
        minloglevel=2,
        **options,
    )
    original = (tmp_path / "their.model").read_bytes()
    tok = pybpe.load(tmp_path / "their.model")
    assert tok.save_as(tmp_path / "our.model") == [str(tmp_path / "our.model")]
    written = (tmp_path / "our.model").read_bytes()
    assert pybpe.load(tmp_path / "our.model") == tok
    # All but the options of training is the same, byte for byte.
    theirs = spm.pb.Model.FromString(original)
    size = sum(
        len(piece.SerializeToString()) + 2 + (piece.ByteSize() > 127)
        for piece in theirs.pieces
    )
    assert written[:size] == original[:size]
    # What is written once is written the same for ever.
    pybpe.load(tmp_path / "our.model").save_as(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == written
    # And with the options that it was trained with, the file is the original.
    assert isinstance(tok._model, CodepointModel)
    again = model_to_bytes(tok._model, theirs.training, theirs.normalizer)
    assert again == original
    there = sentencepiece.SentencePieceProcessor(model_proto=written)
    for line in corpus().splitlines()[:200]:
        assert there.encode(line) == tok.encode(line, disallowed_special=())
        assert there.decode(there.encode(line)) == tok.decode(there.encode(line))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.filterwarnings("ignore:llama.cpp")
@pytest.mark.parametrize(
    ("file", "formats"),
    [
        ("openai/cl100k_base.tiktoken", ["tiktoken", "tokenizer.json", "gpt2"]),
        ("openai/o200k_base.tiktoken", ["tiktoken", "tokenizer.json"]),
        ("openai/p50k_base.tiktoken", ["tiktoken", "tokenizer.json", "gpt2"]),
        ("openai/gpt2_encoder.json", ["tiktoken", "tokenizer.json", "gguf"]),
        ("tiktoken_style/llama3_tokenizer.model", ["tiktoken", "tokenizer.json"]),
        ("hf/llama3_1_tokenizer.json", ["tiktoken", "tokenizer.json"]),
        ("hf/qwen3_tokenizer.json", ["tokenizer.json"]),
        ("hf/deepseek_v3_tokenizer.json", ["tokenizer.json"]),
        ("hf/gpt_neox_20b_tokenizer.json", ["tokenizer.json"]),
        ("hf/mistral_v1_tokenizer.json", ["tokenizer.json"]),
        ("tekken/tekken_240718.json", ["tiktoken", "tokenizer.json"]),
        ("llamacpp/ggml-vocab-gpt-2.gguf", ["gguf", "gpt2", "tokenizer.json"]),
        ("llamacpp/ggml-vocab-llama-spm.gguf", ["gguf", "sentencepiece"]),
        (
            "sentencepiece/llama2_tokenizer.model",
            ["sentencepiece", "gguf", "tokenizer.json"],
        ),
        (
            "sentencepiece/mistral_tokenizer.model.v1",
            ["sentencepiece", "tokenizer.json"],
        ),
    ],
)
def test_published_vocabularies(
    file: str, formats: list[str], tmp_path: Path, data_path: DataPath
) -> None:
    """Each is written, read by its program, and read by us with equal ids."""
    path: Any = data_path(f"vocab/{file}")
    if file == "openai/gpt2_encoder.json":
        path = path, data_path("vocab/openai/gpt2_vocab.bpe")
    tok = pybpe.load(path)
    names = {"tokenizer.json": "tokenizer.json", "gpt2": "vocab.json"}
    sample = data_path("corpora/multilingual_1mb.txt").read_text()[:300_000]
    for kind in formats:
        target = tmp_path / names.get(kind, f"my.{kind}")
        tok.save_as(target, kind)
        options: dict[str, Any] = {}
        if kind in ("tiktoken", "gpt2"):
            options = {"pattern": tok.split, "special_tokens": tok.special_tokens}
        again = pybpe.load(target, **options)
        expected = tok.encode(sample, disallowed_special=())
        assert again.encode(sample, disallowed_special=()) == expected


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ["english", "code", "multilingual"])
def test_a_written_sentencepiece_model_on_a_megabyte(
    name: str, tmp_path: Path, data_path: DataPath
) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    tok = pybpe.load(data_path("vocab/sentencepiece/llama2_tokenizer.model"))
    tok.save_as(tmp_path / "my.model")
    there = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "my.model"))
    lines = data_path(f"corpora/{name}_1mb.txt").read_text().splitlines()
    assert there.encode(lines) == tok.encode_batch(lines, disallowed_special=())


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    "file", ["cl100k_base.tiktoken", "o200k_base.tiktoken", "r50k_base.tiktoken"]
)
def test_rank_files_are_written_byte_for_byte(
    file: str, tmp_path: Path, data_path: DataPath
) -> None:
    path = data_path(f"vocab/openai/{file}")
    pybpe.load(path).save_as(tmp_path / "my.tiktoken")
    assert (tmp_path / "my.tiktoken").read_bytes() == path.read_bytes()
    # And so it is from the format that has merges in place of ranks.
    pybpe.load(path).save_as(tmp_path / "tokenizer.json")
    pybpe.load(tmp_path / "tokenizer.json").save_as(tmp_path / "again.tiktoken")
    assert (tmp_path / "again.tiktoken").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("name", "special"),
    [
        ("r50k_base", {"<|endoftext|>": 50256}),
        ("cl100k_base", {"<|endoftext|>": 100257, "<|endofprompt|>": 100276}),
    ],
)
def test_rank_files_of_changed_vocabularies(
    name: str, special: dict[str, int], data_path: DataPath, tmp_path: Path
) -> None:
    """Gone on from, and cut off on purpose; `load` takes the latter for damaged."""
    path = data_path(f"vocab/openai/{name}.tiktoken")
    published = pybpe.load(path)
    texts = [data_path("corpora/english_1mb.txt").read_text("utf-8")[:50_000]]
    longer = pybpe.train(texts, num_merges=50, initial=published)
    longer.save_as(tmp_path / "longer.tiktoken")
    options: Any = {"pattern": published.split, "special_tokens": special}
    read = pybpe.load(tmp_path / "longer.tiktoken", **options)
    assert read.encode(texts[0]) == longer.encode(texts[0])
    assert read.special_tokens == special
    lines = (tmp_path / "longer.tiktoken").read_bytes().splitlines(keepends=True)
    (tmp_path / "gap.tiktoken").write_bytes(b"".join(lines[:-2] + lines[-1:]))
    with pytest.raises(ModelError, match=r"no token has rank .*: lines are missing"):
        pybpe.load(tmp_path / "gap.tiktoken", **options)

    shorter = published.truncate(published.vocab_size // 2)
    shorter.save_as(tmp_path / "shorter.tiktoken")
    assert path.read_bytes().startswith((tmp_path / "shorter.tiktoken").read_bytes())
    with pytest.raises(ModelError, match=r"cut off\. .*load_tiktoken_bpe reads"):
        pybpe.load(tmp_path / "shorter.tiktoken", **options)
    ranks = pybpe.tiktoken.load.load_tiktoken_bpe(str(tmp_path / "shorter.tiktoken"))
    assert pybpe.Tokenizer.from_ranks(ranks, pattern=published.split).vocab == ranks
