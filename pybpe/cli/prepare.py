"""`pybpe prepare`: files of documents to files of ids."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pybpe
from pybpe.cli.bars import Bar
from pybpe.cli.files import tell, warnings_told
from pybpe.cli.models import load, pattern_option
from pybpe.cli.options import (
    api_errors,
    in_our_words,
    input_options,
    quiet_option,
    threads_option,
)

if TYPE_CHECKING:
    from pybpe.corpora import EncodingProgress, EncodingReport
    from pybpe.corpora.inputs import Format
    from pybpe.split import Split

PREPARE_EXAMPLES = """\b
Examples:
  pybpe prepare my.pybpe corpus.jsonl --separator '<|endoftext|>' -o shards
  pybpe prepare my.pybpe 'data/*.jsonl.zst' --field content --no-separator -o shards
  pybpe prepare gpt2.tiktoken books/ --separator 50256 --plain --layout nanogpt \\
      --val-fraction 0.001 -o data
  pybpe prepare my.pybpe rows.parquet --separator '</s>' --layout megatron -o data
"""

# Those of `pybpe.corpora.layouts`, which needs numpy.
LAYOUTS = ("shards", "nanogpt", "llm.c", "megatron")


@click.command(epilog=PREPARE_EXAMPLES)
@click.argument("model")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-o", "--output", "folder", required=True, metavar="FOLDER", help="Where to write."
)
@click.option(
    "--separator",
    metavar="TOKEN",
    help="What stands after each document: a special token such as '<|endoftext|>', or "
    "an id. Give this or --no-separator.",
)
@click.option("--no-separator", is_flag=True, help="Nothing between documents.")
@click.option(
    "--separator-at",
    type=click.Choice(["end", "start"]),
    default="end",
    show_default=True,
    help="Behind each document, or before it.",
)
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    default="shards",
    show_default=True,
    help="pybpe's shards, nanoGPT's train.bin, llm.c's and modded-nanogpt's .bin with "
    "a header, or Megatron-LM's train.bin and train.idx.",
)
@click.option(
    "--dtype",
    type=click.Choice(["auto", "uint16", "uint32", "int32"]),
    default="auto",
    show_default=True,
    help="What ids are stored as: the smallest that holds all of them.",
)
@click.option(
    "--shard-size",
    type=click.IntRange(1),
    metavar="TOKENS",
    help="How many tokens a file has. Default: a hundred million.",
)
@click.option(
    "--val-fraction",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="SHARE",
    default=0.0,
    help="The share of documents for files of their own, val instead of train.",
)
@input_options
@click.option(
    "--allow-special",
    is_flag=True,
    help="Special tokens in the documents become their ids.",
)
@click.option(
    "--plain", is_flag=True, help="Special tokens in the documents are plain text."
)
@pattern_option
@threads_option
@click.option(
    "--overwrite",
    is_flag=True,
    help="Begin anew, and remove what an earlier run has written.",
)
@quiet_option
def prepare(
    model: str,
    files: tuple[str, ...],
    folder: str,
    separator: str | None,
    no_separator: bool,
    form: Format | None,
    allow_special: bool,
    plain: bool,
    split: Split | None,
    threads: int | None,
    quiet: bool,
    **options: Any,
) -> None:
    r"""Encode the documents of FILEs with a trained MODEL into files for training.

    FILEs are .txt, .jsonl or .parquet, also compressed (.gz, .zst, .xz, .bz2), folders
    or patterns. The same command goes on where it was broken off, and gives the
    very files of one undisturbed run; on a finished folder it does nothing.

    When a document spells a special token of the model, say what that means:
    --allow-special or --plain. They may be given when the run is gone on with.
    """
    if allow_special and plain:
        raise click.UsageError("--allow-special and --plain exclude each other")
    if "-" in files:
        raise click.UsageError(
            "stdin cannot be read again when a run is gone on with: give files"
        )
    tok = load(model, split)
    options["separator"] = separator_of(tok, separator, no_separator)
    bar = Meter(hidden=quiet or not sys.stderr.isatty())
    try:
        with warnings_told(), api_errors(), api_refusals():
            report = tok.encode_files(
                files,
                folder,
                format=form,
                allowed_special="all" if allow_special else frozenset(),
                disallowed_special=() if plain else "all",
                num_threads=threads,
                progress=bar,
                **options,
            )
    except KeyboardInterrupt:
        bar.close()
        if not quiet:
            tell("the same command goes on from here")
        raise
    finally:
        bar.close()
    if not quiet:
        summary(report, folder)


@contextmanager
def api_refusals() -> Iterator[None]:
    """Say which options are about tokens that the API refuses.

    Raises:
        click.ClickException: A document spells a special token.
        click.UsageError: There is no such separator.
    """
    try:
        yield
    except pybpe.SpecialTokenError as error:
        message = str(error).partition(" To encode it as")[0]
        raise click.ClickException(
            f"{message} Pass --allow-special to encode it as the special token, or "
            "--plain to encode it as plain text; the run goes on from here"
        ) from None
    except pybpe.UnknownTokenError as error:
        raise click.UsageError(in_our_words(str(error))) from None


def separator_of(
    tok: pybpe.Tokenizer, separator: str | None, none: bool
) -> str | int | None:
    """Return what stands between documents: a token, an id or nothing."""
    if (separator is None) == (not none):
        specials = ", ".join(map(str, tok.special_tokens)) or "none"
        raise click.UsageError(
            "give --separator TOKEN or --no-separator, and only one; special tokens of "
            f"this model: {specials}"
        )
    if separator is None or not separator.isdecimal():
        return separator
    # A token that consists of digits is given by its id, too.
    return int(separator)


class Meter:
    """A bar of bytes read, with documents and tokens beside it."""

    def __init__(self, *, hidden: bool) -> None:
        """Show nothing if `hidden`."""
        self._hidden = hidden
        self._bar: Bar | None = None

    def __call__(self, progress: EncodingProgress) -> None:
        """Show how far it is."""
        if self._hidden:
            return
        if self._bar is None:
            # What an earlier run has done is no part of this one's speed.
            self._bar = Bar(
                desc="Encoding",
                total=progress.total,
                initial=progress.done,
                unit="B",
                unit_scale=True,
                mininterval=0,
                miniters=1,
            )
        self._bar.set_postfix_str(
            f"{progress.documents:,} documents, {progress.tokens:,} tokens", False
        )
        self._bar.update(progress.done - self._bar.n)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def summary(report: EncodingReport, folder: str) -> None:
    """Tell what there is now, and how quickly it was made."""
    n = len(report.files)
    shown = str(Path(report.files[0]).name) if n == 1 else f"{n:,} files"
    tell(
        f"{folder}: {shown} of {report.dtype}; {report.documents:,} documents, "
        f"{report.tokens:,} tokens of {report.bytes:,} bytes of text "
        f"({report.tokens_per_byte:.3f} tokens per byte)"
    )
    if report.empty:
        tell(f"{report.empty:,} documents have no text")
    if report.resumed == report.documents:
        tell("it was finished already: nothing was done")
        return
    before = f", {report.resumed:,} documents were there" if report.resumed else ""
    tell(f"{report.seconds:.1f} s, {report.bytes_per_second / 1e6:.1f} MB/s{before}")
