"""Encodings by name: the names of `tiktoken.registry`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pybpe import encodings
from pybpe._extras import optional
from pybpe.formats._published import ENCODINGS as PUBLISHED
from pybpe.tiktoken.core import Encoding

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The encodings that have been asked for. An entry never changes: two threads that make
# the same encoding at once both get the one that is stored first.
ENCODINGS: dict[str, Encoding] = {}

# What makes the arguments of an encoding, by name: those that a program registers here
# are known to `get_encoding`.
ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] = {}

# Names that share an id with another one, which pybpe's own tokenizers cannot have.
_SECOND_NAMES = {"o200k_harmony": {"<|reserved_200018|>": 200018}}


def get_encoding(encoding_name: str) -> Encoding:
    """Return a published encoding, or one that a plugin in `tiktoken_ext` defines.

    Raises:
        ValueError: There is no encoding of this name, or the name is no str.
        ModelError: The vocabulary cannot be had (see `pybpe.get_encoding`).
    """
    if not isinstance(encoding_name, str):
        raise ValueError(
            f"the name of an encoding is a str, not {type(encoding_name).__name__}"
        )
    found = ENCODINGS.get(encoding_name)
    if found is not None:
        return found
    if encoding_name not in PUBLISHED:
        constructor = _constructors().get(encoding_name)
        if constructor is not None:
            return ENCODINGS.setdefault(encoding_name, Encoding(**constructor()))
    made = Encoding._of(
        encodings.get_encoding(encoding_name),
        encoding_name,
        _SECOND_NAMES.get(encoding_name),
    )
    return ENCODINGS.setdefault(encoding_name, made)


def list_encoding_names() -> list[str]:
    """Return the names that `get_encoding` knows."""
    names = [*encodings.list_encoding_names(), *_constructors()]
    return list(dict.fromkeys(names))


def _arguments(name: str) -> dict[str, Any]:
    """Return what a published encoding can be made from."""
    encoding = get_encoding(name)
    return {
        "name": name,
        "pat_str": encoding._pat_str,
        "mergeable_ranks": encoding._mergeable_ranks,
        "special_tokens": encoding._special_tokens,
    }


ENCODING_CONSTRUCTORS.update((name, partial(_arguments, name)) for name in PUBLISHED)


def _constructors() -> dict[str, Callable[[], dict[str, Any]]]:
    """Return what is registered and what plugins define; the former comes first."""
    return _plugins() | ENCODING_CONSTRUCTORS


def _plugins() -> dict[str, Callable[[], dict[str, Any]]]:
    """Return what the modules in the namespace package `tiktoken_ext` define.

    tiktoken's own one, with the published encodings, is not imported.

    Raises:
        ValueError: A plugin is not made as tiktoken asks for, or two define one name.
    """
    import importlib
    import pkgutil

    space = optional("tiktoken_ext")
    if space is None:
        return {}
    known: dict[str, Callable[[], dict[str, Any]]] = {}
    prefix = space.__name__ + "."
    for module in pkgutil.iter_modules(space.__path__, prefix):
        if module.name == prefix + "openai_public":
            continue
        constructors = getattr(
            importlib.import_module(module.name), "ENCODING_CONSTRUCTORS", None
        )
        if constructors is None:
            raise ValueError(f"the plugin {module.name} has no ENCODING_CONSTRUCTORS")
        for name in constructors:
            if name in known or name in PUBLISHED:
                raise ValueError(
                    f"the plugin {module.name} defines {name!r}, which is there already"
                )
        known.update(constructors)
    return known
