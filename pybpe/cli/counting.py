"""`pybpe count` and `pybpe merge-counts`: training in two parts, for many machines."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

import pybpe
from pybpe.cli.bars import Bars
from pybpe.cli.files import as_files, check_output, model_files, output, tell
from pybpe.cli.models import load
from pybpe.cli.options import (
    api_errors,
    check_tokens,
    cut_option,
    in_our_words,
    input_options,
    max_pretokens_option,
    quiet_option,
    threads_option,
    was_given,
)

if TYPE_CHECKING:
    from typing import Any

    from pybpe.corpora.inputs import Format
    from pybpe.split import Split

COUNT_EXAMPLES = """\b
Examples:
  pybpe count part-0*.txt -o 0.counts           on one machine
  pybpe count part-1*.txt -o 1.counts           on another one
  pybpe merge-counts 0.counts 1.counts -o all.counts
  pybpe train --from-counts all.counts --vocab-size 32768 -o my.pybpe
"""

MERGE_EXAMPLES = """\b
Examples:
  pybpe merge-counts 0.counts 1.counts -o all.counts
  ls *.counts | xargs pybpe merge-counts -o all.counts
  pybpe info all.counts
"""

_output = click.option(
    "-o",
    "--output",
    "target",
    required=True,
    metavar="FILE",
    help="File of counts to write ('-': stdout).",
)


@click.command(epilog=COUNT_EXAMPLES, short_help="Count pretokens, to train on later.")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@_output
@cut_option
@click.option(
    "--special",
    "specials",
    multiple=True,
    metavar="TOKEN",
    help="A special token, which is cut out of the text. Several times.",
)
@click.option(
    "--protected",
    multiple=True,
    metavar="STRING",
    help="A string that stays whole, which is cut out as well. Several times.",
)
@click.option(
    "--initial",
    metavar="MODEL",
    help="The model that training will go on from: what it matches is cut out, and its "
    "--pattern taken unless you give one.",
)
@max_pretokens_option
@input_options
@threads_option
@quiet_option
def count(
    files: tuple[str, ...],
    target: str,
    split: Split | None,
    specials: tuple[str, ...],
    protected: tuple[str, ...],
    initial: str | None,
    max_pretokens: int | None,
    form: Format | None,
    field: str,
    split_on: bytes | None,
    threads: int | None,
    quiet: bool,
) -> None:
    """Count the pretokens of FILEs (or stdin), to train on them later.

    Counting is the part of `pybpe train` that reads the text, and the part that many
    machines can share: let each count some files, merge what they wrote, and train on
    that. The model is the one that training on all files gives, to the byte, when parts
    are merged in the order of the files. FILEs are what `pybpe train` takes.
    """
    if not files and sys.stdin.isatty():
        raise click.UsageError("give FILEs, or a text on stdin ('-' to type it)")
    check_tokens(specials, "--special")
    check_tokens(protected, "--protected")
    inputs = [*(files or ("-",)), *(model_files(initial) if initial else [])]
    check_output(target, inputs)
    options: dict[str, Any] = {"pattern": split} if was_given("split") else {}
    started = time.monotonic()
    bars = Bars(quiet)
    try:
        with as_files(files or ("-",)) as paths, api_errors():
            counts = pybpe.count_files(
                paths,
                special_tokens=specials,
                protected=protected,
                initial=load(initial, None) if initial else None,
                max_pretokens=max_pretokens,
                format=form,
                field=field,
                split_on=split_on,
                num_threads=threads,
                progress=bars,
                **options,
            )
    finally:
        bars.close()
    _write(counts, target)
    if not quiet:
        _tell(counts, target, time.monotonic() - started)


@click.command(epilog=MERGE_EXAMPLES, short_help="Put files of counts together.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@_output
@max_pretokens_option
@quiet_option
def merge_counts(
    files: tuple[str, ...], target: str, max_pretokens: int | None, quiet: bool
) -> None:
    """Put FILEs of counts together, in the order of the text they stand for.

    They can be merged in groups, and the groups again. The order is nothing to `pybpe
    train` but for --tie-break first. Files are read one after another: what is held in
    memory is the sum.
    """
    check_output(target, files)
    started = time.monotonic()
    try:
        with as_files(files) as paths:
            counts = pybpe.merge_counts(paths, max_pretokens=max_pretokens)
    except (pybpe.TrainingError, ValueError) as error:
        raise click.ClickException(in_our_words(str(error))) from None
    _write(counts, target)
    if not quiet:
        _tell(counts, target, time.monotonic() - started)


def _write(counts: pybpe.Counts, target: str) -> None:
    if target != "-":
        counts.save(target)
        return
    with output(target) as file:
        file.write(counts.to_bytes())


def _tell(counts: pybpe.Counts, target: str, seconds: float) -> None:
    files = "file" if counts.documents == 1 else "files"
    tell(
        f"{'stdout' if target == '-' else target}: {counts.documents:,} {files}, "
        f"{counts.bytes:,} bytes, {counts.pretokens:,} pretokens, {len(counts):,} of "
        f"them distinct; {seconds:.1f} s"
    )
