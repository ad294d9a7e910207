"""The demonstration: pybpe's main job on a small text, every step shown.

The steps are printed as the Python calls that do them, so that they can be typed after.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pybpe

if TYPE_CHECKING:
    from pybpe.cli.bars import Bars

END = "<|endoftext|>"
SAMPLE = f"Tokenizers are trained on text, naïve or 日本語.{END}"


def own_text() -> bytes:
    """Return the project's README, which every installation carries as metadata.

    Raises:
        FileNotFoundError: pybpe was not installed but imported from somewhere.
    """
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        text = metadata("pybpe").json.get("description")
    except PackageNotFoundError:
        text = None
    if not isinstance(text, str) or not text:
        raise FileNotFoundError("pybpe is not installed here; name a FILE to train on")
    return text.encode()


def train(corpus: Path, vocab_size: int, progress: Bars) -> pybpe.Tokenizer:
    """Train on one file, with bars when there is a terminal to show them."""
    try:
        return pybpe.train_from_files(
            [corpus], vocab_size, special_tokens=[END], progress=progress
        )
    finally:
        progress.close()


def run_demo(
    corpus: Path,
    vocab_size: int,
    model: Path,
    *,
    say: Callable[[str], object],
    progress: Bars,
) -> None:
    """Train on `corpus`, save to `model`, load, encode, decode, and check the result.

    Raises:
        RuntimeError: What came back is not what went in.
    """
    data = corpus.read_bytes()
    say(f"The text: {corpus.name}, {len(data):,} bytes")
    say(f'\n>>> tok = pybpe.train_from_files(["{corpus.name}"], {vocab_size},')
    say(f'...                              special_tokens=["{END}"])')
    started = time.perf_counter()
    tok = train(corpus, vocab_size, progress)
    seconds = time.perf_counter() - started
    say(f"{tok.vocab_size:,} tokens, {len(tok.merges):,} merges in {seconds:.3f} s")
    made = {token for token in tok.vocab if len(token) > 1}
    longest = sorted(made, key=lambda token: (-len(token), token))[:5]
    if longest:
        shown = ", ".join(repr(t.decode("utf-8", "replace")) for t in longest)
        say(f"the longest: {shown}")

    say(f'\n>>> tok.save("{model.name}")')
    tok.save(model)
    say(f"{model.stat().st_size:,} bytes")
    say(f'\n>>> loaded = pybpe.load("{model.name}"); loaded == tok')
    loaded = pybpe.load(model)
    say(f"{loaded == tok}")

    say(f'\n>>> ids = loaded.encode("{SAMPLE}", allowed_special="all")')
    ids = loaded.encode(SAMPLE, allowed_special="all")
    say(f"{len(SAMPLE.encode())} bytes are {len(ids)} ids: {ids}")
    parts = (loaded.decode_bytes([number]) for number in ids)
    say(" ".join(part.decode("utf-8", "backslashreplace") for part in parts))
    say("\n>>> loaded.decode(ids)")
    back = loaded.decode(ids)
    say(repr(back))

    say("\n>>> ids = loaded.encode_ordinary(data); loaded.decode_bytes(ids) == data")
    ids = loaded.encode_ordinary(data)
    same = loaded.decode_bytes(ids) == data
    say(f"{same}  (the whole text: {len(data):,} bytes, {len(ids):,} ids)")
    if not same or back != SAMPLE or loaded != tok:
        raise RuntimeError("the text did not come back as it was: a bug in pybpe")
