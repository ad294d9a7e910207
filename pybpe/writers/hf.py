"""A folder that `transformers.AutoTokenizer.from_pretrained` loads.

It holds a `tokenizer.json` and, for transformers, what roles tokens have and how
conversations are written.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from pybpe.codepoint import CodepointModel
from pybpe.errors import ModelError
from pybpe.formats._source import shown
from pybpe.writers import tokenizer_json
from pybpe.writers._check import compare_decoding, compare_ids, compare_tables
from pybpe.writers._parts import Job, extra_tokens, text_of

NAMES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


def files(job: Job) -> list[bytes]:
    """Return the contents of the files.

    Raises:
        ModelError: The format cannot hold the tokenizer.
        ValueError: A role is given to what is no token.
    """
    document = tokenizer_json.document_of(job)
    entries = {
        str(entry["id"]): {name: entry[name] for name in entry if name != "id"}
        for entry in document["added_tokens"]
    }
    roles = _roles(job)
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        # Would change decoded text.
        "clean_up_tokenization_spaces": False,
        "added_tokens_decoder": entries,
        **roles,
    }
    if job.chat_template is not None:
        config["chat_template"] = job.chat_template
    return [_json(document), _json(config), _json(roles)]


def _roles(job: Job) -> dict[str, str]:
    """Return "bos_token", ... -> its text.

    Raises:
        ModelError: A token with a role is none that is matched in texts, as
            transformers does with all that have one.
        ValueError: A role is given to what is no token.
    """
    by_id = {number: token for token, number, _ in extra_tokens(job.tokenizer._model)}
    roles: dict[str, str] = {}
    for role, number in job.role_ids().items():
        if number in by_id:
            roles[f"{role}_token"] = text_of(by_id[number], "a role")
        elif role in job.roles:
            raise ModelError(
                f"{shown(job.roles[role])} (id {number}) is to be {role!r}, and is no "
                "special token: transformers would match it in texts"
            )
        # Else it is the unknown piece of a sentencepiece model, likewise.
    return roles


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def check(job: Job, folder: Path) -> None:
    """Read `tokenizer.json` back, and the folder with transformers if installed."""
    tokenizer_json.check(job, folder)
    theirs = _in_transformers(folder)
    if theirs is None:
        return
    tokenizer = job.tokenizer
    who = "transformers"
    compare_ids(tokenizer, lambda text: _encode(theirs, text), who)
    skip = isinstance(tokenizer._model, CodepointModel)
    compare_decoding(
        tokenizer,
        lambda ids: str(theirs.decode(ids, skip_special_tokens=skip)),
        who,
    )
    roles = _roles(job)
    ours: dict[object, object] = {
        "ids around a text": tokenizer.encode("x", add_special_tokens=True),
        "the number of tokens": tokenizer.vocab_size,
        "the chat template": job.chat_template,
    }
    found: dict[object, object] = {
        "ids around a text": theirs.encode("x"),
        "the number of tokens": len(theirs),
        "the chat template": theirs.chat_template,
    }
    ours.update(roles)
    found.update((name, getattr(theirs, name)) for name in roles)
    compare_tables(ours, found, who)


def _encode(theirs: Any, text: str) -> list[int] | None:
    """Return the ids that transformers gives, None where its tokenizers break down."""
    try:
        ids: list[int] = theirs.encode(text, add_special_tokens=False)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None
    return ids


def _in_transformers(folder: Path) -> Any:
    """Return what transformers makes of the folder; None if it cannot be imported.

    Raises:
        ModelError: It cannot load the folder.
    """
    # When imported, it says which other packages it misses.
    logger = logging.getLogger("transformers")
    logger.addFilter(_nothing)
    try:
        from transformers import AutoTokenizer
    except Exception:
        # Not installed, or not with these versions of what it needs.
        return None
    finally:
        logger.removeFilter(_nothing)
    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:
        raise ModelError(f"transformers cannot load the folder: {error}") from None


def _nothing(_: logging.LogRecord) -> bool:
    return False
