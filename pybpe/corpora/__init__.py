"""Corpora on disk: files of documents in, files of ids out.

    files → sources → chunks → documents → ids → shards
            inputs    reading   (each kind    encoding  layouts, output
                                of file)

`Tokenizer.encode_files` does all of it; `ShardWriter` the second half, for documents
that come from elsewhere; `open_shards` reads what both have written. docs/corpora.md is
the manual.
"""

from __future__ import annotations

from pybpe.corpora.inputs import Source, find_sources
from pybpe.corpora.prepare import EncodingReport, PrepareProgress, encode_files
from pybpe.corpora.reading import read_documents
from pybpe.corpora.shards import Shard, Shards, open_shards
from pybpe.corpora.writer import ShardReport, ShardWriter, join_shards

__all__ = [
    "EncodingReport",
    "PrepareProgress",
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
