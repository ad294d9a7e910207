"""Write the tables of a split for bench/split.c: dump_split.py PATTERN OUT."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from pybpe.split import Split


def dump(split: Split) -> bytes:
    """Return the stages of a compiled split, one after another, little-endian."""
    out = [struct.pack("<I", len(split.stages))]
    for stage in split.stages:
        starts, steps = stage.class_starts, stage.transitions
        numbers = (len(starts), stage.n_classes, stage.n_states, len(steps))
        flags = (stage.core_behavior, stage.over_bytes)
        out.append(struct.pack("<6I", *numbers, *flags))
        out.append(struct.pack(f"<{len(starts)}I", *starts))
        out.append(struct.pack(f"<{len(steps)}H", *steps))
        out.append(bytes(stage.class_ids))
    return b"".join(out)


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(dump(Split.from_pattern(sys.argv[1])))
