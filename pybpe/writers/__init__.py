"""Writers: a tokenizer in the formats of others.

A module for each format has two functions. `files` reasons about what the format can
hold, refuses what it cannot, and returns the contents of each file; `check` reads them
back from a folder and compares. Only then do they appear where the caller wants them.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from pybpe._format_names import FORMATS, ROLES
from pybpe._whole_file import whole_file
from pybpe.codepoint import CodepointModel
from pybpe.errors import ModelError
from pybpe.tokenizer import Tokenizer
from pybpe.writers import hf
from pybpe.writers._merges import special_apart
from pybpe.writers._parts import Job

_PAIRS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
# What else transformers and pybpe may read in a folder.
_OTHERS = (
    "added_tokens.json",
    "chat_template.json",
    "chat_template.jinja",
    "tekken.json",
    "tokenizer.model",
    "vocab.json",
    "merges.txt",
)
_ENDINGS = {
    ".pybpe": "pybpe",
    ".tiktoken": "tiktoken",
    "tokenizer.json": "tokenizer.json",
    ".gguf": "gguf",
    **{name: "gpt2" for pair in _PAIRS for name in pair},
}


def format_of(path: str, tokenizer: Tokenizer) -> str:
    """Return the format that a name asks for.

    Raises:
        ValueError: It leaves that open.
    """
    if path.endswith(("/", os.sep)) or Path(path).is_dir():
        return "hf"
    for ending, name in _ENDINGS.items():
        if path.endswith(ending):
            return name
    if path.endswith(".model") and isinstance(tokenizer._model, CodepointModel):
        return "sentencepiece"
    raise ValueError(
        f"the name {os.path.basename(path)!r} does not say what format to write "  # noqa: PTH119
        f"it in; give one of {', '.join(FORMATS)}"
    )


def write(
    tokenizer: Tokenizer,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    roles: Mapping[str, str] | None = None,
    chat_template: str | None = None,
) -> list[str]:
    """Write a tokenizer; `Tokenizer.save_as` documents the arguments.

    Returns:
        The paths of the files written.
    """
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"path must be a path, got {type(path).__name__}")
    name = os.fsdecode(os.fspath(path))
    kind, folder, names = target_of(tokenizer, name, format)
    roles = _checked_roles(roles, kind)
    _check_template(chat_template, kind)
    if kind == "pybpe":
        tokenizer.save(name)
        return [name]
    if kind == "hf":
        _refuse_others(folder)
    if kind not in ("hf", "tokenizer.json"):
        tokenizer = special_apart(tokenizer)
    tokenizer = _without_refusal(tokenizer)
    job = Job(tokenizer, names, roles, chat_template)
    module = import_module(f"pybpe.writers.{kind.replace('.', '_')}")
    try:
        contents = module.files(job)
        _check(module, job, contents)
    except ModelError as error:
        raise ModelError(f"cannot write {name!r} as {kind}: {error}") from None
    return _put(folder, names, contents, is_folder=kind == "hf")


def _without_refusal(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer that refuses no text, for formats that cannot say so.

    Of every text that was not refused it gives the same ids.
    """
    model = tokenizer._model
    if not isinstance(model, CodepointModel) or not model.refuse_marks:
        return tokenizer
    warnings.warn(
        "this tokenizer refuses texts with U+2581, which no other format can say: "
        "there, such texts are taken, and come back with spaces for it",
        UserWarning,
        stacklevel=4,
    )
    parts = {name: getattr(model, name) for name in model.__slots__}
    return type(tokenizer)(CodepointModel(**{**parts, "refuse_marks": False}))


def _checked_roles(roles: Mapping[str, str] | None, kind: str) -> dict[str, str]:
    """Return the roles as a dict of their own.

    Raises:
        TypeError: They are no mapping of strings to tokens.
        ValueError: A role is unknown, or the format has no place for roles.
    """
    if roles is None:
        return {}
    if not isinstance(roles, Mapping):
        raise TypeError(
            f"roles must map names of roles to tokens, got {type(roles).__name__}"
        )
    for role, token in roles.items():
        if role not in ROLES:
            raise ValueError(f"unknown role {role!r}; known are {', '.join(ROLES)}")
        if not isinstance(token, (str, bytes)):
            raise TypeError(
                f"roles[{role!r}] must be a token, str or bytes, got "
                f"{type(token).__name__}"
            )
    if roles and kind not in ("hf", "gguf"):
        raise ValueError(f"the format {kind} has no place for roles of tokens")
    return dict(roles)


def _check_template(chat_template: object, kind: str) -> None:
    """Refuse a chat template that is no text, or that the format has no place for.

    Raises:
        TypeError: It is neither a str nor None.
        ValueError: The format has no place for it.
    """
    if chat_template is None:
        return
    if not isinstance(chat_template, str):
        raise TypeError(
            f"chat_template must be a str, got {type(chat_template).__name__}"
        )
    if kind != "hf":
        raise ValueError(f"the format {kind} has no place for a chat template")


class Target(NamedTuple):
    """Where to write, and what.

    Attributes:
        format: One of `FORMATS`.
        folder: The folder of the files.
        names: Their names.
    """

    format: str
    folder: Path
    names: tuple[str, ...]

    @property
    def paths(self) -> list[str]:
        """The paths of the files."""
        return [str(self.folder / name) for name in self.names]


def target_of(tokenizer: Tokenizer, path: str, format: str | None = None) -> Target:
    """Return what is written, and where, for the arguments of `write`.

    Raises:
        TypeError: `format` is neither a str nor None.
        ValueError: The format is unknown or left open, or has files of other names.
    """
    if not isinstance(format, (str, type(None))):
        raise TypeError(f"format must be a str or None, got {type(format).__name__}")
    kind = format_of(path, tokenizer) if format is None else format
    if not path:
        raise ValueError("the path is empty; '.' is the current folder")
    if kind not in FORMATS:
        raise ValueError(f"unknown format {kind!r}; known are {', '.join(FORMATS)}")
    return Target(kind, *_names(path, kind))


def _names(path: str, kind: str) -> tuple[Path, tuple[str, ...]]:
    """Return the folder to write to, and the names of the files in it.

    Raises:
        ValueError: The format has files of other names.
    """
    if kind == "hf":
        return Path(path), hf.NAMES
    folder, name = os.path.split(path)
    if kind == "minbpe":
        if not name.endswith(".model"):
            raise ValueError(f"a minbpe model's name ends in .model, and not {name!r}")
        return Path(folder), (name, name.removesuffix(".model") + ".vocab")
    if kind != "gpt2":
        return Path(folder), (name,)
    if not name or Path(path).is_dir():
        return Path(path), _PAIRS[0]
    for pair in _PAIRS:
        for ending in pair:
            if name.endswith(ending):
                stem = name.removesuffix(ending)
                return Path(folder), (stem + pair[0], stem + pair[1])
    usual = " or ".join(" + ".join(pair) for pair in _PAIRS)
    raise ValueError(
        f"the pair of files is called {usual}, maybe with something in front; "
        f"{name!r} is neither, nor a folder"
    )


def _refuse_others(folder: Path) -> None:
    """Refuse a folder with files that would say something else about the tokenizer.

    Raises:
        ValueError: Naming the first one.
    """
    for name in _OTHERS:
        if (folder / name).exists():
            raise ValueError(
                f"{str(folder)!r} holds a {name}, which would be read, too: remove it, "
                "or name another folder"
            )


def _check(module: object, job: Job, contents: list[bytes]) -> None:
    """Let a writer read back what it wrote, in a folder that nobody sees."""
    with tempfile.TemporaryDirectory(prefix="pybpe-") as folder:
        for name, data in zip(job.names, contents, strict=True):
            Path(folder, name).write_bytes(data)
        module.check(job, Path(folder))  # type: ignore[attr-defined]


def _put(
    folder: Path, names: tuple[str, ...], contents: list[bytes], *, is_folder: bool
) -> list[str]:
    """Write the files: none takes its place before all are written in full."""
    paths = [str(folder / name) for name in names]
    with ExitStack() as stack:
        if is_folder and not folder.is_dir():
            folder.mkdir()
            stack.push(_remove_if_empty(folder))
        for path, data in zip(paths, contents, strict=True):
            stack.enter_context(whole_file(path)).write(data)
    return paths


def _remove_if_empty(folder: Path) -> Callable[..., None]:
    """Return what removes a folder again when nothing could be written to it."""

    def leave(kind: object, *_: object) -> None:
        if kind is not None:
            with suppress(OSError):
                folder.rmdir()

    return leave
