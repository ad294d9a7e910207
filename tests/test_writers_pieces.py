"""sentencepiece models as `tokenizer.json` and as folders for transformers."""

from __future__ import annotations

import io
import itertools
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spm

import pybpe
from pybpe import ModelError, Tokenizer
from pybpe.codepoint import CodepointModel
from pybpe.formats._source import Source
from pybpe.formats.sentencepiece import model_from_bytes
from pybpe.formats.tokenizer_json import read
from pybpe.writers import _hf_pieces
from pybpe.writers._piece_merges import PieceMerges, _joined, _run_merges

DataPath = Callable[[str], Path]

LETTERS = ["a", "b", "c", spm.MARK]
SYMBOLS = ["[I]", "<x>", "ab", "bc", "\n\n", "\u2581\u2581", "\u2581\u2581\u2581", "<0"]
# Unknown characters, spaces of all kinds, and what byte and unknown pieces are called.
PARTS = [
    *(
        "a",
        "b",
        "c",
        "ab",
        "  ",
        " ",
        " ",
        "\u2581",
        "\n",
        "\t",
        "z",
        "\u00e9",
        "\u4e2d",
    ),
    *(
        "<0x41>",
        "<0x4",
        "<unk>",
        "<s>",
        "</s>",
        "e\u0301",
        "\U0001f600",
        "1",
        ".",
        "<x",
    ),
]
BOOLS = (False, True)


def model(pieces: list[tuple[str, float, int]], **options: Any) -> CodepointModel:
    """Return a model of these pieces, with the usual ones in front."""
    usual = [("<unk>", 0.0, spm.UNKNOWN), ("<s>", 0.0, spm.CONTROL)]
    rows = [(text.encode(), score, kind) for text, score, kind in [*usual, *pieces]]
    if options.get("byte_fallback"):
        rows += spm.byte_pieces()
    return model_from_bytes(spm.write_model(rows, **options))


def plain(texts: list[str], scores: list[float]) -> list[tuple[str, float, int]]:
    return [(t, s, spm.NORMAL) for t, s in zip(texts, scores, strict=True)]


def document(tokenizer_model: CodepointModel) -> dict[str, Any]:
    # As a file has it: nothing but JSON.
    found = json.dumps(_hf_pieces.document_of(tokenizer_model))
    loaded: dict[str, Any] = json.loads(found)
    return loaded


def readers(values: dict[str, Any]) -> list[Callable[[str], list[int]]]:
    """Return what gives ids as the file has it: pybpe, and tokenizers if installed."""
    data = json.dumps(values).encode()
    ours = Tokenizer(read(Source("tokenizer.json", data=data)))
    found = [lambda text: ours.encode(text, allowed_special="all")]
    try:
        import tokenizers
    except ImportError:
        return found
    theirs = tokenizers.Tokenizer.from_str(data.decode())
    return [*found, lambda text: theirs.encode(text, add_special_tokens=False).ids]


def same_ids(tokenizer_model: CodepointModel, texts: list[str]) -> None:
    tok = Tokenizer(tokenizer_model)
    for encode in readers(document(tokenizer_model)):
        for text in texts:
            assert encode(text) == tok.encode(text, allowed_special="all"), text


def random_text(rng: random.Random, *more: str) -> str:
    return "".join(rng.choices([*PARTS, *more, *more], k=rng.randrange(20)))


# ------------------------------------------------------------------ scores and merges


def scored_model(rng: random.Random) -> CodepointModel:
    """Return a model in which many scores are equal."""
    texts = dict.fromkeys(LETTERS)
    for _ in range(rng.randrange(1, 12)):
        made = rng.choice(list(texts)) + rng.choice(list(texts))
        texts[made[:9]] = None
    levels = rng.choice([3, 10, 100])
    scores = [-float(rng.randrange(levels)) for _ in texts]
    return model(plain(list(texts), scores), byte_fallback=True)


def test_merges_of_random_scores() -> None:
    rng = random.Random(5)
    refused = 0
    for _ in range(250):
        made = scored_model(rng)
        try:
            document(made)
        except ModelError:
            refused += 1
            continue
        letters = ["".join(rng.choices("abc ", k=rng.randrange(12))) for _ in range(40)]
        same_ids(made, letters)
    assert 40 < refused < 210


def every_text(letters: str, most: int) -> list[str]:
    return [
        "".join(text)
        for n in range(most)
        for text in itertools.product(letters, repeat=n)
    ]


def test_equal_scores_that_do_not_meet() -> None:
    made = model(
        plain(["a", "b", "c", "ab", "cc", "abcc"], [0, 0, 0, -1, -1, -1.5]),
        add_dummy_prefix=False,
    )
    assert len(PieceMerges(made).pairs) == 3
    same_ids(made, every_text("abc", 9))


@pytest.mark.parametrize(
    ("texts", "scores"),
    [
        (["ab", "bc"], [-1, -1]),  # both want the b
        (["ab", "abc", "cb"], [-2, -1, -2]),  # "ab" makes way for what comes before it
        (["ab", "abab"], [-1, -1]),
        (["aa", "aaa"], [-1, -1]),  # runs of three are joined to 3, 3, 3, ...
        (["aa", "aaa", "aaaa", "ab"], [-1, -1, -1, -1]),
    ],
)
def test_scores_that_no_order_of_merges_has(
    texts: list[str], scores: list[float]
) -> None:
    made = model(plain(["a", "b", "c", *texts], [0.0, 0.0, 0.0, *scores]))
    with pytest.raises(ModelError, match=r"depends on the text|share a score"):
        document(made)


@pytest.mark.parametrize("lengths", [[2], [2, 3, 4], [*range(2, 9)], [2, 4, 8]])
def test_runs_of_equal_score(lengths: list[int]) -> None:
    made = model(
        plain(
            ["a", "b", "ba", *("a" * n for n in lengths), "bb"],
            [0.0, 0.0, -1.0, *[-9.0] * len(lengths), -9.0],
        ),
        add_dummy_prefix=False,
        byte_fallback=True,
    )
    texts = ["a" * n for n in range(70)]
    texts += [f"{'a' * n}b{'a' * (n // 2)}bb" for n in range(50)]
    same_ids(made, texts)


def test_runs_whatever_their_lengths() -> None:
    """Where there are merges they are right, and of all sets there are some."""
    found = 0
    for lengths in map(set, _subsets(range(2, 9))):
        merges = _run_merges(lengths)
        if merges is None:
            continue
        found += 1
        leftmost = {(a, k - a): 0 for k in lengths for a in range(1, k)}
        ranks = {pair: rank for rank, pair in enumerate(merges)}
        for n in range(60):
            assert _joined([1] * n, ranks) == _joined([1] * n, leftmost)
    assert found > 8


def _subsets(items: range) -> list[tuple[int, ...]]:
    return [
        chosen
        for n in range(1, len(items) + 1)
        for chosen in itertools.combinations(items, n)
    ]


# ------------------------------------------------------------------ spaces and symbols


def trained(rng: random.Random, **options: Any) -> CodepointModel:
    sentencepiece = pytest.importorskip("sentencepiece")
    lines = [
        "ab abc  ab",
        "a b c abc\tz",
        "<0x41> <unk> hello \u4e2d",
        "  cab \n\n abc",
    ]
    lines += ["".join(rng.choices("abc  z1.\u00e9", k=30)) for _ in range(40)]
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=out,
        model_type="bpe",
        vocab_size=330 if options["byte_fallback"] else 60,
        normalization_rule_name="identity",
        hard_vocab_limit=False,
        minloglevel=3,
        num_threads=1,
        **options,
    )
    return model_from_bytes(out.getvalue())


@pytest.mark.parametrize("byte_fallback", BOOLS)
@pytest.mark.parametrize("add_dummy_prefix", BOOLS)
@pytest.mark.parametrize("remove_extra_whitespaces", BOOLS)
def test_options_of_sentencepiece(
    byte_fallback: bool, add_dummy_prefix: bool, remove_extra_whitespaces: bool
) -> None:
    rng = random.Random(f"{byte_fallback}{add_dummy_prefix}{remove_extra_whitespaces}")
    for symbols in ([], ["[I]", "<x>"], rng.sample(SYMBOLS, k=5)):
        made = trained(
            rng,
            byte_fallback=byte_fallback,
            add_dummy_prefix=add_dummy_prefix,
            remove_extra_whitespaces=remove_extra_whitespaces,
            allow_whitespace_only_pieces=rng.random() < 0.5,
            split_by_whitespace=rng.random() < 0.7,
            control_symbols=["<c>", "<cc>"],
            user_defined_symbols=symbols,
        )
        more = ["<c>", "<cc>", *symbols]
        same_ids(made, [random_text(rng, *more) for _ in range(150)])


def test_symbols_are_added_tokens_where_that_is_the_same() -> None:
    pieces = [("[I]", 0.0, spm.USER_DEFINED), ("\u2581\u2581", 0.0, spm.USER_DEFINED)]
    letters = plain(["a", spm.MARK], [0.0, 0.0])
    for prefix in BOOLS:
        made = model(
            [*pieces, *letters],
            byte_fallback=True,
            add_dummy_prefix=prefix,
            remove_extra_whitespaces=False,
        )
        values = document(made)
        added = [entry["content"] for entry in values["added_tokens"]]
        assert added == (["<s>"] if prefix else ["<s>", "[I]", "\u2581\u2581"])
        assert values["model"]["ignore_merges"] == prefix
        texts = ["", "[I]", " [I] a", "a   a[I]<0x41>[I]<unk>", "[I]<0x41>", "<0x41>"]
        same_ids(made, [*texts, "    a  [I]   ", "\u2581\u2581[I]\u2581"])


def test_pieces_that_could_be_taken_whole() -> None:
    """Between symbols stand texts that spell pieces which joining does not make."""
    symbols = [("[I]", 0.0, spm.USER_DEFINED), ("<x>", 0.0, spm.USER_DEFINED)]
    texts = ["a", "b", "c", "ab", "bca"]
    made = model(
        [*symbols, *plain(texts, [0.0, 0.0, 0.0, -5.0, -6.0])], byte_fallback=True
    )
    middles = ["<0x41>", "<unk>", "bca", "cab", "<0x4", "<0x41><0x42>", "a<unk>", ""]
    same_ids(made, [f"[I]{a}[I]{b}<x>{a}" for a in middles for b in middles])
    assert len(document(made)["pre_tokenizer"]["pretokenizers"]) == 2
    # Here the characters of such a piece stand side by side in others.
    texts = ["a", "b", "c", "d", "ab", "bc", "cd", "abcd"]
    scores = [0.0, 0.0, 0.0, 0.0, -5.0, -1.0, -6.0, -9.0]
    made = model([*symbols, *plain(texts, scores)], add_dummy_prefix=True)
    assert made.pieces().index(b"abcd") in PieceMerges(made).unmade
    parts = document(made)["pre_tokenizer"]["pretokenizers"]
    assert parts[-1]["pattern"] == {"Regex": r"\A(?:a(?=bcd\z))"}
    middles = ["abcd", "abcdab", "aabcd", "abc", "<unk>", "a<unk>", "zz", ""]
    same_ids(made, [f"[I]{a}[I]{b}<x>{a}" for a in middles for b in middles])


# ------------------------------------------------------------------ what does not fit


@pytest.mark.parametrize(
    ("pieces", "options", "message"),
    [
        ([], {"suffix": True}, "marks behind words"),
        ([], {"escape_whitespaces": False}, "spaces without marks"),
        ([("xy", 0.0, spm.NORMAL)], {}, "'x' is no ordinary piece"),
        ([("ab", 0.0, spm.UNUSED)], {}, "'ab' .*is marked as not used"),
        ([("z", 0.0, spm.UNUSED)], {}, "'z' .*is marked as not used"),
        ([("a b", 0.0, spm.USER_DEFINED)], {}, "'a b' holds a space"),
        ([("<unk>s", 0.0, spm.NORMAL)], {}, "is part of another piece, '<unk>s'"),
        (
            [("x" * n, 0.0, spm.USER_DEFINED) for n in range(1, 70)],
            {},
            "begins with 64 others",
        ),
    ],
)
def test_refusals(
    pieces: list[tuple[str, float, int]], options: dict[str, Any], message: str
) -> None:
    letters = plain(["a", "b"], [0.0, 0.0])
    if any("<unk>s" in text for text, _, _ in pieces):
        letters += plain([*"<unk>s"], [0.0] * 6)
    with pytest.raises(ModelError, match=message):
        document(model([*letters, *pieces], **options))


def test_an_unknown_piece_of_one_character_is_refused() -> None:
    rows = [(b"?", 0.0, spm.UNKNOWN), (b"a", 0.0, spm.NORMAL)]
    with pytest.raises(ModelError, match=r"its unknown piece '\?' is one character"):
        document(model_from_bytes(spm.write_model(rows)))


# ------------------------------------------------------------------ published models

PUBLISHED = [
    "llama2_tokenizer.model",
    "mistral_tokenizer.model.v1",
    "mistral_mistral_instruct_tokenizer_240323.model.v3",
]
RUNS = " x".join(" " * n for n in range(40))


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models(name: str, data_path: DataPath) -> None:
    tok = pybpe.load(data_path(f"vocab/sentencepiece/{name}"))
    assert isinstance(tok._model, CodepointModel)
    texts = [RUNS, "[INST] hi [/INST]<s>[INST]<0x41>[/INST]<unk> "]
    for corpus in ("english", "code", "multilingual"):
        path = data_path(f"corpora/{corpus}_1mb.txt")
        texts.append(path.read_text()[500_000:520_000])
    same_ids(tok._model, texts)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models_on_a_megabyte(
    name: str, tmp_path: Path, data_path: DataPath
) -> None:
    transformers = pytest.importorskip("transformers")
    tok = pybpe.load(data_path(f"vocab/sentencepiece/{name}"))
    tok.save_as(tmp_path / "folder", "hf")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "folder")
    for corpus in ("english", "code", "multilingual"):
        text = data_path(f"corpora/{corpus}_1mb.txt").read_text()
        ids = tok.encode(text, add_special_tokens=True)
        assert theirs.encode(text) == ids
        assert theirs.decode(ids, skip_special_tokens=True) == tok.decode(ids) == text


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        {"preset": "llama2"},
        {"preset": "llama2", "user_defined_symbols": ["<tool>", "\u2581\u2581"]},
        {"normalization_rule_name": "identity", "byte_fallback": True},
        {"normalization_rule_name": "identity", "add_dummy_prefix": False},
        {},
        {"normalization_rule_name": "nmt_nfkc_cf"},  # for sentencepiece alone
    ],
)
def test_trained_models_on_a_megabyte(
    options: Any, tmp_path: Path, data_path: DataPath
) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    tokenizers = pytest.importorskip("tokenizers")
    corpora = {
        name: data_path(f"corpora/{name}_1mb.txt").read_text().replace("\u2581", "_")
        for name in ("english", "code", "multilingual")
    }
    lines = [line for text in corpora.values() for line in text.splitlines()]
    tok = pybpe.train_sentencepiece(lines, 8000, **options)
    tok.save_as(tmp_path / "my.model")
    path = str(tmp_path / "my.model")
    encoders = {
        "sentencepiece": sentencepiece.SentencePieceProcessor(model_file=path).encode
    }
    if options.get("normalization_rule_name") != "nmt_nfkc_cf":
        tok.save_as(tmp_path / "tokenizer.json")
        theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        encoders["tokenizers"] = lambda text: (
            theirs.encode(text, add_special_tokens=False).ids
        )
    if options.get("preset") == "llama2":
        pytest.importorskip("gguf")
        tok.save_as(tmp_path / "my.gguf")
        encoders["gguf"] = pybpe.load(tmp_path / "my.gguf").encode
    for text in corpora.values():
        ids = tok.encode(text, disallowed_special=())
        for name, encode in encoders.items():
            assert encode(text) == ids, name


@pytest.mark.parametrize("wrong", [False, True])
def test_without_tokenizers(
    wrong: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    monkeypatch.setitem(sys.modules, "transformers", None)
    tok = gemma_like()
    honest = _hf_pieces.document_of

    def damaged(tokenizer_model: CodepointModel) -> dict[str, Any]:
        values = honest(tokenizer_model)
        del values["model"]["merges"][0]
        return values

    if wrong:
        monkeypatch.setattr(_hf_pieces, "document_of", damaged)
        with pytest.raises(ModelError, match="pybpe reads the file otherwise"):
            tok.save_as(tmp_path / "folder", "hf")
        assert list(tmp_path.iterdir()) == []
        return
    tok.save_as(tmp_path / "folder", "hf")
    again = pybpe.load(tmp_path / "folder")
    assert again.special_tokens == tok.special_tokens
    assert again.added_tokens == tok.added_tokens
    rng = random.Random(4)
    for _ in range(50):
        text = random_text(rng, "<start_of_turn>", "<table>", "\n\n\n")
        ids = tok.encode(text, allowed_special="all")
        assert again.encode(text, allowed_special="all") == ids


# ------------------------------------------------------------------ transformers


def gemma_like() -> Tokenizer:
    """Train a model with bytes, runs as symbols and texts kept as they are."""
    words = random.Random(9).choices(
        ["the", "a", "cat", "on", "mat.", "it's", "12", "中", "ét"], k=4000
    )
    lines = [" ".join(words[i : i + 9]) for i in range(0, len(words), 9)]
    return pybpe.train_sentencepiece(
        lines,
        310,
        normalization_rule_name="identity",
        byte_fallback=True,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        split_digits=True,
        pad_id=0,
        eos_id=1,
        bos_id=2,
        unk_id=3,
        control_symbols=["<start_of_turn>", "<end_of_turn>"],
        user_defined_symbols=[
            *("\n" * n for n in range(2, 9)),
            *(spm.MARK * n for n in range(2, 9)),
            "<table>",
        ],
    )


@pytest.mark.parametrize("source", ["gemma", "llama", "default"])
def test_a_folder_for_transformers(source: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    if source == "gemma":
        tok, turn, end = gemma_like(), "<start_of_turn>", "<end_of_turn>"
    else:
        tok = pybpe.train_sentencepiece(
            ["the cat sat on the mat it is the end of it" * 9],
            300,
            preset="llama2" if source == "llama" else None,
            hard_vocab_limit=False,
            control_symbols=["<|im_start|>", "<|im_end|>"],
            user_defined_symbols=["<tool>"],
        )
        turn, end = "<|im_start|>", "<|im_end|>"
    template = (
        "{% for m in messages %}" + turn + "{{ m.content }}" + end + "{% endfor %}"
    )
    tok.save_as(tmp_path / "f", "hf", roles={"eos": end}, chat_template=template)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "f")
    assert theirs.eos_token_id == tok.special_tokens[end]
    assert theirs.bos_token == "<s>"  # noqa: S105
    assert theirs.unk_token is None  # it would be found in texts
    assert len(theirs) == tok.vocab_size
    rng = random.Random(2)
    for _ in range(100):
        text = random_text(rng, turn, end, "<tool>", "<table>", "\n\n\n", "     ")
        ids = tok.encode(text, allowed_special="all", add_special_tokens=True)
        assert theirs.encode(text) == ids
        plain = text.replace(spm.MARK, " ")
        ids = theirs.encode(plain)
        assert theirs.decode(ids, skip_special_tokens=True) == tok.decode(ids)
    shown = theirs.apply_chat_template([{"content": "hi"}], tokenize=False)
    assert shown == f"{turn}hi{end}"


@pytest.mark.parametrize("name", ["m.model", "m.gguf", "tokenizer.json"])
def test_what_refuses_texts_is_written_with_a_warning(
    name: str, tmp_path: Path
) -> None:
    texts = ["the cat sat on the mat", "a  b\n\tc \u2603 the"]
    tok = pybpe.train_sentencepiece(
        texts, 290, preset="lossless", hard_vocab_limit=False
    )
    with pytest.raises(ValueError, match=r"U\+2581"):
        tok.encode("\u2581")
    with pytest.warns(UserWarning, match=r"refuses texts with U\+2581") as caught:
        tok.save_as(tmp_path / name)
    assert caught[0].filename == __file__
    read = pybpe.load(tmp_path / name)
    for text in texts:
        assert read.encode(text) == tok.encode(text)
