"""Write what the C drivers read: dump.py MODEL-OR-PATTERN OUT.

A named pattern gives the tables of its split, for bench/split.c; a file that
`pybpe.load` reads gives those and the model's parts, for bench/encode.c. The form is
for this machine and this version only.
"""

from __future__ import annotations

import argparse
import struct
import sys
from array import array
from pathlib import Path

import pybpe
from pybpe.model import RANKS, Model
from pybpe.split import Split


def dump_split(split: Split) -> bytes:
    """Return the stages of a compiled split, one after another."""
    out = [struct.pack("=I", len(split.stages))]
    for stage in split.stages:
        starts, steps = stage.class_starts, stage.transitions
        numbers = (len(starts), stage.n_classes, stage.n_states, len(steps))
        flags = (stage.core_behavior, stage.over_bytes)
        out.append(struct.pack("=6I", *numbers, *flags))
        out += [array("I", starts).tobytes(), array("H", steps).tobytes()]
        out.append(bytes(stage.class_ids))
    return b"".join(out)


def dump_model(model: Model) -> bytes:
    """Return a byte-level model's split, tokens and merges.

    Special and added tokens are left out: a driver has no use for them.
    """
    if model.symbols != "bytes" or model.normalizers or not model.split.compiled:
        sys.exit("only plain byte-level models whose split compiles can be dumped")
    n_tokens, n_merges = len(model.token_ids), len(model.merge_ids)
    ranks = model.semantics == RANKS
    numbers = (ranks, model.whole_pretoken, len(model.token_data), n_tokens, n_merges)
    out = [dump_split(model.split), struct.pack("=5I", *numbers)]
    parts = (model.token_lengths, model.token_ids, model.merges, model.merge_ids)
    out += [array("I", part).tobytes() for part in parts]
    out.append(model.token_data)
    return b"".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", help="a named pattern, or a file with a model")
    parser.add_argument("out", type=Path, help="the file to write")
    args = parser.parse_args()
    if Path(args.what).exists():
        model = pybpe.load(args.what)._model
        if not isinstance(model, Model):
            sys.exit("sentencepiece models cannot be dumped")
        args.out.write_bytes(dump_model(model))
    else:
        args.out.write_bytes(dump_split(Split.from_pattern(args.what)))


if __name__ == "__main__":
    main()
