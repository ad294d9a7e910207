"""Corpora on disk: files of documents in, files of ids out.

    files → sources → chunks → documents → ids → shards
            inputs    reading   (each kind    encoding  layouts, output
                                of file)

`Tokenizer.encode_files` does all of it; `ShardWriter` the second half, for documents
that come from elsewhere; `open_shards` reads what both have written. docs/corpora.md is
the manual.
"""

from __future__ import annotations

from pybpe._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from pybpe.corpora.inputs import Source, find_sources
    from pybpe.corpora.prepare import EncodingProgress, EncodingReport, encode_files
    from pybpe.corpora.reading import read_documents
    from pybpe.corpora.shards import Shard, Shards, open_shards
    from pybpe.corpora.writer import ShardReport, ShardWriter, join_shards

# Where each name lives: what reads documents needs no numpy.
_HOMES = {
    "EncodingReport": "prepare",
    "EncodingProgress": "prepare",
    "Shard": "shards",
    "ShardReport": "writer",
    "ShardWriter": "writer",
    "Shards": "shards",
    "Source": "inputs",
    "encode_files": "prepare",
    "find_sources": "inputs",
    "join_shards": "writer",
    "open_shards": "shards",
    "read_documents": "reading",
}

_WITH_NUMPY = ("prepare", "shards", "writer")

__all__ = [
    "EncodingProgress",
    "EncodingReport",
    "Shard",
    "ShardReport",
    "ShardWriter",
    "Shards",
    "Source",
    "encode_files",
    "find_sources",
    "join_shards",
    "open_shards",
    "read_documents",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if home in _WITH_NUMPY:
        from pybpe._extras import need_numpy

        need_numpy("writing and reading files of ids")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
