"""What packs files, by the ending of their names."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable

import pytest

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}


def packer(ending: str) -> Callable[[bytes], bytes]:
    if ending == ".zst":
        zstd = pytest.importorskip("backports.zstd")
        return zstd.compress  # type: ignore[no-any-return]
    return PACKERS[ending]
