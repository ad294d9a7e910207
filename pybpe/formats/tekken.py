"""Mistral's tekken.json: a rank vocabulary with its split and its special tokens.

Special tokens have the first ids, `default_num_special_tokens` of them; the token of
rank r has id r + that number. Of the vocabulary only as many entries count as
`default_vocab_size` leaves room for.
"""

from __future__ import annotations

import re
from array import array
from binascii import Error as Base64Error
from binascii import a2b_base64
from typing import TYPE_CHECKING, Any

from pybpe.errors import ModelError
from pybpe.formats._source import (
    Source,
    check_tokens,
    json_document,
    shown,
    special_or_refuse,
    whole_number,
)
from pybpe.vocabulary import ranks_model

if TYPE_CHECKING:
    from pybpe.model import Model

# The special tokens of files that do not list theirs, up to version 7.
_UNLISTED = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]"),
    *("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    *("[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]"),
    *("[PREFIX]", "[MIDDLE]", "[SUFFIX]"),
    *("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
_LAST_UNLISTED = 7


def read(source: Source) -> Model:
    """Return the model of a tekken file.

    Raises:
        ModelError: The file is malformed, or leaves open what its special tokens are.
    """
    document = json_document(source.data)
    if not isinstance(document, dict):
        raise ModelError("it must hold a JSON object")
    config = document.get("config")
    if not isinstance(config, dict):
        raise ModelError("its config is missing")
    size = whole_number(config.get("default_vocab_size"), "default_vocab_size")
    n_special = whole_number(
        config.get("default_num_special_tokens"), "default_num_special_tokens"
    )
    n_ordinary = size - n_special
    if n_ordinary <= 0:
        raise ModelError(
            f"default_vocab_size is {size}, which leaves no room for tokens beside the "
            f"{n_special} special ones"
        )
    tokens = _tokens(document.get("vocab"), n_ordinary)
    ids = array("I", range(n_special, size))
    check_tokens(tokens, ids)
    if source.special_tokens is not None:
        special = special_or_refuse(source.special_tokens, "special_tokens")
    else:
        names = _special_names(document.get("special_tokens"), config, n_special)
        special = special_or_refuse(names, "special_tokens")
    about: dict[str, str | int] = {"format": "tekken"}
    if isinstance(config.get("version"), str):
        # A note for people: what no text can hold is shown as a question mark.
        about["version"] = config["version"].encode(errors="replace").decode()
    return ranks_model(
        tokens,
        ids,
        split=source.split if source.split is not None else _split(config),
        special=special,
        provenance=about,
    )


def _split(config: dict[str, Any]) -> Any:
    from pybpe.split import Split
    from pybpe.split.patterns import TEKKEN

    pattern = config.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        raise ModelError(f"its pattern must be a string, and is {shown(pattern)}")
    if pattern == TEKKEN:
        return Split.from_pattern("tekken")
    try:
        # Compiled as a stage, so that no pattern is taken for a name.
        from pybpe.split import Stage

        return Split([Stage.compile(pattern, "rust")])
    except ValueError as error:
        raise ModelError(f"its pattern cannot be used: {error}") from None


def _tokens(vocab: object, n: int) -> list[bytes]:
    """Return the first `n` tokens.

    Raises:
        ModelError: There are fewer, or an entry is malformed.
    """
    if not isinstance(vocab, list):
        raise ModelError("its vocab must be a list of tokens")
    if len(vocab) < n:
        raise ModelError(
            f"its vocab has {len(vocab):,} entries, and the config asks for {n:,}: "
            "the file is cut off or inconsistent"
        )
    tokens = []
    for i, entry in enumerate(vocab[:n]):
        try:
            rank, text = entry["rank"], entry["token_bytes"]
            token = a2b_base64(text, strict_mode=True)
        except (KeyError, TypeError):
            raise ModelError(
                f"entry {i} of its vocab must have a rank and token_bytes, and is "
                f"{shown(entry)}"
            ) from None
        except (Base64Error, ValueError) as error:
            raise ModelError(
                f"entry {i} of its vocab: {shown(text)} is not valid base64 ({error})"
            ) from None
        if rank != i or isinstance(rank, bool):
            raise ModelError(
                f"entry {i} of its vocab has rank {shown(rank)}; entries must stand in "
                "the order of their ranks, without gaps"
            )
        tokens.append(token)
    return tokens


def _special_names(
    listed: object, config: dict[str, Any], n: int
) -> dict[str | bytes, int]:
    """Return the special tokens and their ids.

    Raises:
        ModelError: The list is malformed, or missing where there must be one.
    """
    if listed is None:
        names = _unlisted(config, n)
    elif isinstance(listed, list):
        names = {}
        for i, entry in enumerate(listed):
            text = entry.get("token_str") if isinstance(entry, dict) else None
            if not isinstance(text, str):
                raise ModelError(
                    f"entry {i} of its special_tokens must have a token_str, and is "
                    f"{shown(entry)}"
                )
            rank = whole_number(entry.get("rank"), f"the rank of {shown(text)}")
            if text in names:
                raise ModelError(f"its special_tokens list {shown(text)} twice")
            if rank >= n:
                raise ModelError(
                    f"the special token {shown(text)} has rank {rank}, and the config "
                    f"announces only {n}"
                )
            names[text] = rank
    else:
        raise ModelError("its special_tokens must be a list")
    # Numbers without a name get one.
    taken = set(names.values())
    for i in range(n):
        if i not in taken:
            filler = f"<SPECIAL_{i}>"
            if filler in names:
                raise ModelError(f"its special_tokens give {filler} another rank")
            names[filler] = i
    return names


def _unlisted(config: dict[str, Any], n: int) -> dict[str | bytes, int]:
    version = config.get("version")
    found = re.fullmatch(r"v(\d{1,4})", version) if isinstance(version, str) else None
    if found is None or int(found.group(1)) > _LAST_UNLISTED:
        raise ModelError(
            f"it is of version {shown(version)} and does not list its special tokens; "
            f"without a list they are known up to version {_LAST_UNLISTED} only. Pass "
            "special_tokens={...}"
        )
    return {name: i for i, name in enumerate(_UNLISTED[:n])}
