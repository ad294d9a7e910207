"""`pybpe train` and `pybpe demo`."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

import pybpe
from pybpe.cli.bars import Bars
from pybpe.cli.files import as_files, check_output
from pybpe.cli.options import (
    MAX_THREADS,
    as_split,
    check_specials,
    check_vocab_size,
    in_our_words,
    pattern_help,
)

if TYPE_CHECKING:
    from pybpe.split import Split

TRAIN_EXAMPLES = """\b
Examples:
  pybpe train corpus.txt --vocab-size 32768 -o my.pybpe
  pybpe train books/*.txt --vocab-size 50000 --special '<|endoftext|>' -o my.pybpe
  zcat dump.gz | pybpe train --vocab-size 32768 --pattern o200k -o my.pybpe
  pybpe train dna.txt --vocab-size 1024 --pattern none -o dna.pybpe
"""


@click.command(epilog=TRAIN_EXAMPLES)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--vocab-size",
    type=int,
    required=True,
    help="How many ids in all: 256 bytes, the merges, the special tokens.",
)
@click.option("-o", "--output", required=True, metavar="FILE", help="Model to write.")
@click.option(
    "--pattern",
    "split",
    callback=as_split,
    default="cl100k",
    show_default=True,
    help=pattern_help(),
)
@click.option(
    "--special",
    "specials",
    multiple=True,
    metavar="TOKEN",
    help="A special token, such as '<|endoftext|>'. May be given several times.",
)
@click.option(
    "--tie-break",
    type=click.Choice(["lowest", "first"]),
    default="lowest",
    show_default=True,
    help="Among equally frequent pairs: the lowest ids, or the first in the text.",
)
@click.option(
    "--byte-order",
    type=click.Choice(["identity", "gpt2"]),
    default="identity",
    show_default=True,
    help="Which ids the 256 bytes get.",
)
@click.option(
    "--min-frequency",
    type=click.IntRange(1, 2**64 - 1),
    metavar="INTEGER",
    default=1,
    show_default=True,
    help="Merge no pair that occurs fewer times.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, MAX_THREADS),
    metavar="INTEGER",
    help="Default: all processors.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress bars, no summary.")
def train(
    files: tuple[str, ...],
    vocab_size: int,
    output: str,
    split: Split,
    specials: tuple[str, ...],
    tie_break: str,
    byte_order: str,
    min_frequency: int,
    threads: int | None,
    quiet: bool,
) -> None:
    """Train a tokenizer on text FILEs (or stdin) and save it.

    The files are read as bytes, a piece at a time, so they may be larger than memory
    (what is held is each distinct pretoken once; with --pattern none, or a regular
    expression that does not compile, a whole file). The result depends on the text and
    the options only, not on the number of threads.
    """
    if output == "-":
        raise click.UsageError("a model is written to a file, not to stdout")
    if not files and sys.stdin.isatty():
        raise click.UsageError("give FILEs, or a text on stdin ('-' to type it)")
    check_specials(specials)
    check_vocab_size(vocab_size, specials)
    check_output(output, files or ("-",))
    started = time.monotonic()
    bars = Bars(quiet)
    try:
        with as_files(files or ("-",)) as paths:
            tok = pybpe.train_from_files(
                paths,
                vocab_size,
                pattern=split,
                special_tokens=specials,
                tie_break=tie_break,
                byte_order=byte_order,
                min_frequency=min_frequency,
                num_threads=threads,
                progress=bars,
            )
    except (pybpe.TrainingError, ValueError) as error:
        raise click.ClickException(in_our_words(str(error))) from None
    finally:
        bars.close()
    tok.save(output)
    if not quiet:
        summary(tok, output, vocab_size, min_frequency, time.monotonic() - started)


def summary(
    tok: pybpe.Tokenizer,
    output: str,
    vocab_size: int,
    min_frequency: int,
    seconds: float,
) -> None:
    """Tell what training did, and why it gave fewer tokens than were asked for."""
    click.echo(f"{output}: {tok.vocab_size:,} tokens in {seconds:.1f} s", err=True)
    report = tok.training_report
    if report is None or report.vocab_size >= vocab_size:
        return
    why = report.stop_reason
    if why == "min_frequency":
        times = "once" if min_frequency == 1 else f"{min_frequency:,} times"
        why = f"no pair that is left occurs {times} or more"
    elif report.bytes == 0:
        why = "the text is empty"
    click.echo(f"note: fewer than the {vocab_size:,} asked for: {why}", err=True)


@click.command()
@click.argument("file", required=False)
@click.option("--vocab-size", type=int, default=1000, show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Keep the model here.")
def demo(file: str | None, vocab_size: int, output: str | None) -> None:
    """Train, save, load, encode and decode before your eyes.

    The text is pybpe's own README, or FILE.
    """
    from pybpe.demo import END, own_text, run_demo

    check_vocab_size(vocab_size, [END])
    if output:
        check_output(output, [file] if file else [])
    bars = Bars(quiet=False)
    with tempfile.TemporaryDirectory(prefix="pybpe-") as folder:
        if file is None:
            corpus = Path(folder, "README.md")
            corpus.write_bytes(own_text())
        else:
            corpus = readable_twice(Path(file), Path(folder))
        if corpus.stat().st_size == 0:
            raise click.ClickException(f"{file} is empty: there is nothing to train on")
        model = Path(output) if output else Path(folder, "demo.pybpe")
        run_demo(corpus, vocab_size, model, say=click.echo, progress=bars)


def readable_twice(file: Path, folder: Path) -> Path:
    """Return the file, or a copy in `folder` of a pipe, which gives its text once."""
    if file.is_file() or file.is_dir():
        return file
    copy = folder / (file.name or "text")
    with file.open("rb") as given, copy.open("wb") as out:
        shutil.copyfileobj(given, out)
    return copy
