"""Loading: find out what a file is, and make a tokenizer of it."""

from __future__ import annotations

import os
from importlib import import_module

from pybpe import _sniff
from pybpe._typing import TYPE_CHECKING
from pybpe.errors import ModelError
from pybpe.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from pybpe._engines import AnyModel
    from pybpe.formats._source import Source
    from pybpe.split import Split

Path = str | os.PathLike[str]

# What `_sniff` calls a file -> module and function that read it: from a `Source` to a
# model.
_READERS: dict[str, tuple[str, str]] = {
    "ranks": ("pybpe.formats.tiktoken", "read"),
    "merges": ("pybpe.formats.gpt2", "read_merges"),
    "vocabulary": ("pybpe.formats.gpt2", "read_vocabulary"),
    "tekken": ("pybpe.formats.tekken", "read"),
    "minbpe": ("pybpe.formats.minbpe", "read"),
    "gguf": ("pybpe.formats.gguf", "read"),
    "tokenizer_json": ("pybpe.formats.tokenizer_json", "read"),
    "sentencepiece": ("pybpe.formats.sentencepiece", "read"),
}

# Files that a folder is searched for: the first of these that is there is read. A pair
# goes by its vocabulary file.
_IN_FOLDERS: tuple[tuple[str, ...], ...] = (
    ("tekken.json",),
    ("tokenizer.json",),
    ("tokenizer.model",),
    ("vocab.json", "merges.txt"),
    ("encoder.json", "vocab.bpe"),
)
# Failing these, the only file with one of these endings.
_ENDINGS = (".pybpe", ".tiktoken", ".model", ".gguf")


def load(
    path: Path | tuple[Path, Path],
    *,
    pattern: str | Split | None = None,
    special_tokens: Mapping[str | bytes, int] | None = None,
) -> Tokenizer:
    """Return the tokenizer that a file holds; what it is, its contents tell.

    Read are: pybpe models; rank files (`.tiktoken`, also Llama 3's `tokenizer.model`);
    GPT-2's pairs of files, `encoder.json` + `vocab.bpe` or `vocab.json` + `merges.txt`;
    `tekken.json`; `tokenizer.json` of Hugging Face tokenizers, if its model is BPE;
    minbpe's `.model`; sentencepiece's `.model`, if it is of the type BPE; byte-level
    and sentencepiece vocabularies in GGUF (needs the package `gguf`).

    Rank files and GPT-2's pairs do not say how text is split. For well-known ones pybpe
    knows, and knows their special tokens; for others `pattern` has to be given. A known
    file with other special tokens (Llama 3.1 renames some of Llama 3's) takes
    `special_tokens`.

    Args:
        path: The file. Of a pair of files either one, if the other lies beside it under
            its usual name, or a tuple of both. Or a folder that holds the files.
        pattern: The split to use, whatever the file says: a named pattern, a regex or
            a `Split` (`Split()` for no split). None for the file's own.
        special_tokens: The special tokens to use and their ids, whatever the file says.
            None for the file's own.

    Raises:
        OSError: The file cannot be read.
        ModelError: It is something else (the message says what it looks like), is
            damaged, or leaves open what only the caller can say.
        ValueError: `pattern` or `special_tokens` cannot be used, or the file is a pybpe
            model, which holds both.
        TypeError: An argument is of the wrong type.
    """
    split = None
    if pattern is not None:
        from pybpe.split import Split

        split = Split.from_pattern(pattern)
    if special_tokens is not None:
        from pybpe.vocabulary import extra_tokens

        # Mistakes in it are the caller's, not the file's.
        extra_tokens(special_tokens, "special_tokens")

    if isinstance(path, (tuple, list)):
        return _load_pair(path, split, special_tokens)
    name = os.fsdecode(os.fspath(path))
    if os.path.isdir(name):  # noqa: PTH112 - pathlib takes 3 ms to import
        name = _in_folder(name)
    data = _if_read_once(name)
    head = _head(name) if data is None else data[: _sniff.HEAD]
    kind = _sniff.identify(head).kind
    if kind == "pybpe":
        return _load_own(name, split, special_tokens, data)

    from pybpe.formats._source import Source

    source = Source(name, split=split, special_tokens=special_tokens, data=data)
    return _build(name, lambda: _reader(kind, source, head)(source))


def _if_read_once(name: str) -> bytes | None:
    """Return the contents of what can be read only once, such as a pipe; else None."""
    if os.path.isfile(name) or not os.path.exists(name):  # noqa: PTH110, PTH113
        return None
    from pybpe.formats._source import read_limited

    return read_limited(name)


def _load_own(
    name: str, split: Split | None, special_tokens: object, data: bytes | None
) -> Tokenizer:
    """Read a pybpe model, which needs no help."""
    for option, value in (("pattern", split), ("special_tokens", special_tokens)):
        if value is not None:
            raise ValueError(
                f"{option} cannot be given for {name!r}: it is a pybpe model, which "
                "holds its own"
            )
    from pybpe import model_file

    if data is not None:
        return Tokenizer.from_bytes(data)
    model = model_file.load_model(name)
    try:
        return Tokenizer(model)
    except ModelError as error:
        # What only the core can see; the reader's own errors name the file already.
        raise ModelError(f"{name}: {error}") from error


def _load_pair(
    paths: tuple[Path, ...] | list[Path],
    split: Split | None,
    special_tokens: Mapping[str | bytes, int] | None,
) -> Tokenizer:
    """Read a vocabulary file and a merges file, given in either order."""
    from pybpe.formats import gpt2
    from pybpe.formats._source import Source

    names = [os.fsdecode(os.fspath(path)) for path in paths]
    if len(names) != 2:
        raise ValueError(f"path must be one file or a pair of files, got {len(names)}")
    kinds = [_sniff.identify(_head(name)) for name in names]
    by_kind = {found.kind: name for found, name in zip(kinds, names, strict=True)}
    if by_kind.keys() != {"vocabulary", "merges"}:
        raise ModelError(
            f"cannot load {names[0]!r} and {names[1]!r} as a pair: a pair is a "
            f"vocabulary file and a merges file, and these are {kinds[0].what} and "
            f"{kinds[1].what}"
        )
    vocabulary, merges = (
        Source(by_kind[kind], split=split, special_tokens=special_tokens)
        for kind in ("vocabulary", "merges")
    )
    return _build(vocabulary.path, lambda: gpt2.read_pair(vocabulary, merges))


def _build(name: str, read: Callable[[], AnyModel]) -> Tokenizer:
    """Make a tokenizer of what a reader returns; errors get the file's name."""
    try:
        return Tokenizer(read())
    except ModelError as error:
        raise ModelError(f"cannot load {name!r}: {error}") from None


def _reader(kind: str, source: Source, head: bytes) -> Callable[[Source], AnyModel]:
    """Return the reader for a kind of file.

    Raises:
        ModelError: There is none; the message says what the file looks like.
    """
    if kind == "json":
        # What tells JSON files apart may lie beyond the beginning.
        kind = _sniff.json_kind(source.data)
    if kind not in _READERS:
        found = _sniff.identify(head)
        raise ModelError(f"it is {found.what}; {found.remedy}")
    module, function = _READERS[kind]
    reader: Callable[[Any], AnyModel] = getattr(import_module(module), function)
    return reader


def _head(name: str) -> bytes:
    with open(name, "rb") as file:  # noqa: PTH123 - pathlib takes 3 ms to import
        return file.read(_sniff.HEAD)


def _in_folder(folder: str) -> str:
    """Return the file of a folder that holds its tokenizer.

    Raises:
        ModelError: There is none, or more than one could be meant.
    """
    entries = set(os.listdir(folder))  # noqa: PTH208
    for names in _IN_FOLDERS:
        if entries.issuperset(names):
            return os.path.join(folder, names[0])  # noqa: PTH118
    for ending in _ENDINGS:
        found = sorted(name for name in entries if name.endswith(ending))
        if len(found) == 1:
            return os.path.join(folder, found[0])  # noqa: PTH118
        if found:
            raise ModelError(
                f"cannot load the folder {folder!r}: it holds {len(found)} files that "
                f"could be meant, such as {found[0]} and {found[1]}; give one of them"
            )
    usual = ", ".join(" + ".join(names) for names in _IN_FOLDERS)
    raise ModelError(
        f"cannot load the folder {folder!r}: it holds none of {usual}, nor a file that "
        f"ends in {', '.join(_ENDINGS)}"
    )
