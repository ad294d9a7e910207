"""Byte-level BPE tokenizers: train them, save them, run them.

>>> import pybpe
>>> tok = pybpe.train(["low lower lowest"] * 3, vocab_size=260, pattern="gpt4")
>>> tok.decode(tok.encode("lowest lower"))
'lowest lower'

What a name needs is imported when the name is first used, so that `import pybpe` is
quick.
"""

from __future__ import annotations

from pybpe._typing import TYPE_CHECKING

__version__ = "0.1.0"

# Where each public name lives.
_HOMES = {
    "BpeError": "errors",
    "CorpusError": "errors",
    "Counts": "counts",
    "MapFunction": "mapping",
    "ModelError": "errors",
    "NoOffsetsError": "errors",
    "ShardWriter": "corpora",
    "SpecialTokenError": "errors",
    "Split": "split",
    "Stage": "split",
    "StreamDecoder": "streaming",
    "Tokenizer": "tokenizer",
    "TrainingError": "errors",
    "TrainingPhase": "training",
    "TrainingReport": "training",
    "UnknownTokenError": "errors",
    "count_files": "counts",
    "count_texts": "counts",
    "encoding_for_model": "encodings",
    "encoding_name_for_model": "encodings",
    "from_tiktoken": "tiktoken.convert",
    "get_encoding": "encodings",
    "join_shards": "corpora",
    "list_encoding_names": "encodings",
    "load": "loading",
    "merge_counts": "counts",
    "open_shards": "corpora",
    "read_documents": "corpora",
    "row_map": "rows",
    "train": "training",
    "train_from_counts": "training",
    "train_from_files": "training",
    "train_sentencepiece": "sentencepiece_training",
    "train_sentencepiece_from_counts": "sentencepiece_training",
    "train_sentencepiece_from_files": "sentencepiece_training",
}

__all__ = [
    "BpeError",
    "CorpusError",
    "Counts",
    "MapFunction",
    "ModelError",
    "NoOffsetsError",
    "ShardWriter",
    "SpecialTokenError",
    "Split",
    "Stage",
    "StreamDecoder",
    "Tokenizer",
    "TrainingError",
    "TrainingPhase",
    "TrainingReport",
    "UnknownTokenError",
    "__version__",
    "count_files",
    "count_texts",
    "encoding_for_model",
    "encoding_name_for_model",
    "from_tiktoken",
    "get_encoding",
    "join_shards",
    "list_encoding_names",
    "load",
    "merge_counts",
    "open_shards",
    "read_documents",
    "row_map",
    "train",
    "train_from_counts",
    "train_from_files",
    "train_sentencepiece",
    "train_sentencepiece_from_counts",
    "train_sentencepiece_from_files",
]

if TYPE_CHECKING:
    from typing import Any

    from pybpe.corpora import (
        ShardWriter,
        join_shards,
        open_shards,
        read_documents,
    )
    from pybpe.counts import Counts, count_files, count_texts, merge_counts
    from pybpe.encodings import (
        encoding_for_model,
        encoding_name_for_model,
        get_encoding,
        list_encoding_names,
    )
    from pybpe.errors import (
        BpeError,
        CorpusError,
        ModelError,
        NoOffsetsError,
        SpecialTokenError,
        TrainingError,
        UnknownTokenError,
    )
    from pybpe.loading import load
    from pybpe.mapping import MapFunction
    from pybpe.rows import row_map
    from pybpe.sentencepiece_training import (
        train_sentencepiece,
        train_sentencepiece_from_counts,
        train_sentencepiece_from_files,
    )
    from pybpe.split import Split, Stage
    from pybpe.streaming import StreamDecoder
    from pybpe.tiktoken.convert import from_tiktoken
    from pybpe.tokenizer import Tokenizer
    from pybpe.training import (
        TrainingPhase,
        TrainingReport,
        train,
        train_from_counts,
        train_from_files,
    )


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'pybpe' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"pybpe.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported already or not."""
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__path__"])
