"""A folder that `transformers.AutoTokenizer.from_pretrained` loads.

It holds a `tokenizer.json` and, for transformers, what roles tokens have and how
conversations are written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pybpe.writers import tokenizer_json
from pybpe.writers._parts import Job, extra_tokens

NAMES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


def files(job: Job) -> list[bytes]:
    """Return the contents of the files.

    Raises:
        ModelError: The format cannot hold the tokenizer.
        ValueError: A role is given to what is no token.
    """
    document = tokenizer_json.document_of(job)
    by_id = {number: token for token, number, _ in extra_tokens(job.tokenizer._model)}  # type: ignore[arg-type]
    roles: dict[str, str] = {}
    for role, number in job.role_ids().items():
        token = by_id.get(number) or job.tokenizer.token_bytes(number)
        roles[f"{role}_token"] = token.decode()
    entries = {
        str(entry["id"]): {name: entry[name] for name in entry if name != "id"}
        for entry in document["added_tokens"]
    }
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


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def check(job: Job, folder: Path) -> None:
    """Read `tokenizer.json` back; the rest is not about ids."""
    tokenizer_json.check(job, folder)
