"""`pybpe convert`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import fail, pybpe_cli, succeed

import pybpe

TEXT = "hello hello, hell<|end|>"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    tok = pybpe.Tokenizer.from_merges(
        [(104, 101), (108, 108), (256, 257)],
        pattern="cl100k",
        special_tokens=["<|end|>"],
    )
    tok.save(tmp_path / "my.pybpe")
    return tmp_path / "my.pybpe"


def test_convert(model: Path, tmp_path: Path) -> None:
    ids = pybpe.load(model).encode(TEXT, allowed_special="all")
    run = pybpe_cli("convert", model, tmp_path / "tokenizer.json")
    assert (run.status, run.out) == (0, b"")
    assert run.err == f"wrote {tmp_path / 'tokenizer.json'}\n"
    again = pybpe.load(tmp_path / "tokenizer.json")
    assert again.encode(TEXT, allowed_special="all") == ids
    options = ("--pattern", "cl100k", "--special", "<|end|>=259")
    succeed("convert", tmp_path / "tokenizer.json", tmp_path / "vocab.json")
    succeed("convert", tmp_path / "vocab.json", tmp_path / "my.tiktoken", *options)
    succeed("convert", tmp_path / "my.tiktoken", tmp_path / "back.pybpe", *options)
    back = pybpe.load(tmp_path / "back.pybpe")
    assert back.encode(TEXT, allowed_special="all") == ids


def test_a_folder_for_transformers(model: Path, tmp_path: Path) -> None:
    (tmp_path / "chat.jinja").write_text("{{ messages }}")
    succeed(
        "convert",
        model,
        f"{tmp_path}/new/",
        *("--role", "eos=<|end|>", "--chat-template", tmp_path / "chat.jinja"),
    )
    config = json.loads((tmp_path / "new" / "tokenizer_config.json").read_bytes())
    assert {"eos_token": "<|end|>"}.items() <= config.items()
    assert config["chat_template"] == "{{ messages }}"
    roles = json.loads((tmp_path / "new" / "special_tokens_map.json").read_bytes())
    assert roles == {"eos_token": "<|end|>"}


def test_warnings_are_lines(model: Path, tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    run = pybpe_cli("convert", model, tmp_path / "my.gguf")
    assert run.status == 0
    first, second = run.err.splitlines()
    assert first.startswith("pybpe: warning: llama.cpp's split 'dbrx' is that of")
    assert second == f"wrote {tmp_path / 'my.gguf'}"


def test_mistakes(model: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    out = tmp_path / "my.model"
    assert "does not say what format" in fail("convert", model, out, status=2)
    assert "is what is read, too" in fail("convert", model, model, status=2)
    assert "ROLE=TOKEN" in fail("convert", model, out, "--role", "end=x", status=2)
    arguments = ("convert", model, out, "--format")
    assert "it is byte-level" in fail(*arguments, "sentencepiece")
    eos = ("--role", "eos=<|end|>")
    assert "no place for roles" in fail(*arguments, "minbpe", *eos, status=2)
    template = ("--chat-template", model)
    assert "no place for one" in fail(*arguments, "minbpe", *template, status=2)
    assert "is given twice" in fail("convert", model, out, *eos, *eos, status=2)
    assert "--role names 'xyz' as 'eos'" in fail(*arguments, "hf", "--role", "eos=xyz")
    assert "is no special token" in fail(*arguments, "hf", "--role", "eos=x")
    assert "there is no folder" in fail(
        "convert", model, tmp_path / "no" / "my.tiktoken"
    )
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_is_not_written_over_itself(model: Path, tmp_path: Path) -> None:
    succeed("convert", model, f"{tmp_path}/folder/")
    said = fail("convert", tmp_path / "folder", f"{tmp_path}/folder/", status=2)
    assert "is what is read, too" in said
