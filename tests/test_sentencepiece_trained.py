"""Models that the sentencepiece package trains, with all its options, run the same."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spm

DataPath = Callable[[str], Path]

# What each model is trained with, beside the defaults. Some keep spaces as they are.
_EXACT = {"remove_extra_whitespaces": False, "normalization_rule_name": "identity"}
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "byte_fallback": {"byte_fallback": True},
    "identity": {**_EXACT},
    "identity_bytes": {**_EXACT, "byte_fallback": True, "split_digits": True},
    "nfkc": {"normalization_rule_name": "nfkc"},
    "nfkc_cf": {"normalization_rule_name": "nfkc_cf", "byte_fallback": True},
    "nmt_nfkc_cf": {"normalization_rule_name": "nmt_nfkc_cf"},
    "suffix": {"treat_whitespace_as_suffix": True},
    "suffix_exact": {"treat_whitespace_as_suffix": True, **_EXACT},
    "no_prefix": {"add_dummy_prefix": False, "byte_fallback": True},
    "user": {
        "user_defined_symbols": [
            "the",
            "then",
            "hen",
            "e t",
            "\u2581a",
            "\uff21",
            "<x>",
        ],
        "byte_fallback": True,
    },
    "user_nested": {"user_defined_symbols": ["a" * n for n in range(1, 70)]},
    "control": {"control_symbols": ["<a>", "[INST]", "e"], "pad_id": 3},
    "no_script_split": {"split_by_unicode_script": False, "byte_fallback": True},
    "no_number_split": {"split_by_number": False, "normalization_rule_name": "nfkc"},
    "no_space_split": {"split_by_whitespace": False, "max_sentencepiece_length": 32},
    "no_space_split_suffix": {
        "split_by_whitespace": False,
        "treat_whitespace_as_suffix": True,
    },
    "long_pieces": {
        "max_sentencepiece_length": 200,
        "split_by_whitespace": False,
        "split_by_unicode_script": False,
        **_EXACT,
    },
    "space_pieces": {"allow_whitespace_only_pieces": True, **_EXACT},
    "special_texts": {
        "unk_piece": "[UNK]",
        "bos_piece": "[B]",
        "eos_piece": "[E]",
        "bos_id": 5,
        "eos_id": -1,
        "unk_surface": "?",
    },
    "rules": {"user_defined_symbols": ["zz"]},
}


def train(lines: list[str], folder: Path, name: str, vocab_size: int) -> bytes:
    """Return the `.model` file of a training run with the options of this name."""
    package = pytest.importorskip("sentencepiece")
    out = io.BytesIO()
    options = OPTIONS[name]
    if name == "rules":
        rules = folder / "rules.tsv"
        rules.write_text("61\t62\n65 20\t45\n301\n20 20\t2D\n", "utf-8")
        back = folder / "back.tsv"
        back.write_text("62\t61\n45\t65 20\n", "utf-8")
        options = {
            **options,
            "normalization_rule_tsv": str(rules),
            "denormalization_rule_tsv": str(back),
        }
    package.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=out,
        model_type="bpe",
        num_threads=1,
        hard_vocab_limit=False,
        minloglevel=2,
        vocab_size=vocab_size,
        **options,
    )
    return out.getvalue()


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize(
    "size", [200_000, pytest.param(1 << 20, marks=pytest.mark.long)]
)
def test_trained_models(
    data_path: DataPath, tmp_path: Path, size: int, name: str
) -> None:
    package = pytest.importorskip("sentencepiece")
    lines: list[str] = []
    texts: list[bytes] = []
    for kind in ("english", "code", "multilingual"):
        text = data_path(f"corpora/{kind}_1mb.txt").read_bytes()
        lines += text.decode()[:150_000].splitlines()
        # From the end, which it is not trained on. A cut character is a good test too.
        texts.append(text[-size:])
    data = train(lines, tmp_path, name, 1_500)
    theirs = package.SentencePieceProcessor(model_proto=data)
    ours = spm.engine(data)
    model = ours.model
    special = (model.unk_id, model.bos_id, model.eos_id, model.pad_id)
    assert special == (
        *(theirs.unk_id(), theirs.bos_id(), theirs.eos_id(), theirs.pad_id()),
    )
    for text in texts:
        spm.compare(ours, theirs, text)
        whole = text.splitlines(keepends=True)
        want = theirs.encode(whole)
        assert ours.encode_batch(whole, None, None) == want
        for ids in want[::3]:
            assert ours.decode_ids(ids) == theirs.decode(ids)
    tokens = [t for t, _ in (*model.special_tokens, *model.added_tokens)]
    rng = random.Random(name)
    for _ in range(1_000):
        spm.compare(ours, theirs, spm.random_text(rng, tokens))
        ids = rng.choices(range(ours.n_vocab), k=10)
        assert ours.decode_ids(ids) == theirs.decode(ids)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["default", "user", "suffix_exact", "rules"])
def test_small_trained_models(tmp_path: Path, name: str) -> None:
    """The same on a corpus that is made up, for every run of the tests."""
    package = pytest.importorskip("sentencepiece")
    rng = random.Random(name)
    words = [
        "the",
        "then",
        "when",
        "\uff21bc",
        "caf\u00e9",
        "2024",
        "\u4e2d\u6587",
        "aa",
    ]
    lines = [" ".join(rng.choices(words, k=9)) for _ in range(300)]
    data = train(lines, tmp_path, name, 400)
    theirs = package.SentencePieceProcessor(model_proto=data)
    ours = spm.engine(data)
    for line in lines[:100]:
        spm.compare(ours, theirs, line.encode())
    for _ in range(300):
        spm.compare(ours, theirs, spm.random_text(rng, [w.encode() for w in words]))
