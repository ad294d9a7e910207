"""`pybpe train` and `pybpe demo`."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pybpe
from pybpe.cli import codepoint
from pybpe.cli.bars import Bars
from pybpe.cli.files import as_files, check_output, model_files, tell
from pybpe.cli.models import load
from pybpe.cli.options import (
    api_errors,
    check_tokens,
    check_vocab_size,
    cut_option,
    in_our_words,
    input_options,
    max_pretokens_option,
    quiet_option,
    threads_option,
    was_given,
)

if TYPE_CHECKING:
    from pybpe.corpora.inputs import Format

TRAIN_EXAMPLES = """\b
Examples:
  pybpe train corpus.txt --vocab-size 32768 -o my.pybpe
  pybpe train books/*.txt --vocab-size 50000 --special '<|endoftext|>' -o my.pybpe
  pybpe train 'data/*.jsonl.zst' --field content --vocab-size 32768 -o my.pybpe
  pybpe train dna.txt --vocab-size 1024 --pattern none -o dna.pybpe
  pybpe train law.txt --initial my.pybpe --num-merges 8000 -o law.pybpe
  pybpe train corpus.txt --vocab-size 32768 --snapshot 16384 -o my.pybpe
  pybpe train --from-counts all.counts --vocab-size 32768 -o my.pybpe
  pybpe train corpus.txt --mode codepoint --vocab-size 32000 --preset llama2 \
      -o my.model
"""

# Names of files of other formats end with these.
FOREIGN = (".model", ".tiktoken", ".json", ".gguf")


@click.command(epilog=TRAIN_EXAMPLES)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--vocab-size",
    type=int,
    help="How many ids in all: 256 bytes, the merges, the protected and the special "
    "tokens. Give this or --num-merges.",
)
@click.option(
    "--num-merges",
    type=click.IntRange(0),
    metavar="INTEGER",
    help="How many merges to learn, on top of those of --initial.",
)
@click.option("-o", "--output", required=True, metavar="FILE", help="Model to write.")
@click.option(
    "--from-counts",
    metavar="COUNTS",
    help="Train on what `pybpe count` wrote, instead of FILEs: its --pattern, "
    "--special and --protected are taken.",
)
@cut_option
@click.option(
    "--special",
    "specials",
    multiple=True,
    metavar="TOKEN",
    help="A special token, such as '<|endoftext|>'. May be given several times.",
)
@click.option(
    "--protected",
    multiple=True,
    metavar="STRING",
    help="A string that stays whole, in training and ever after. Several times.",
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
    "--max-token-bytes",
    type=click.IntRange(1, 2**32 - 1),
    metavar="INTEGER",
    help="Merge no pair that makes a longer token. Default: no limit.",
)
@click.option(
    "--initial",
    metavar="MODEL",
    help="Go on from this model: its ids and merges stay, and so does its --pattern "
    "unless you give one.",
)
@click.option(
    "--snapshot",
    "snapshots",
    multiple=True,
    type=int,
    metavar="SIZE",
    help="Also write the model of this smaller vocabulary size: of 16384 with -o "
    "my.pybpe, to my-16384.pybpe. Several times.",
)
@max_pretokens_option
@input_options
@threads_option
@click.option(
    "--mode",
    type=click.Choice(["bytes", "codepoint"]),
    default="bytes",
    show_default=True,
    help="What tokens are made of: bytes, or characters, as in sentencepiece's BPE "
    "(docs/sentencepiece.md); the options below go with the latter.",
)
@click.option(
    "--preset",
    type=click.Choice(["lossless", "llama2"]),
    help="sentencepiece's options under a name.",
)
@click.option(
    "-O",
    "--option",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="One of sentencepiece's options by its own name. Several times; symbols one "
    "at a time.",
)
@click.option(
    "--normalizer-from",
    metavar="MODEL",
    help="Change texts by the rules of this model.",
)
@click.option(
    "--vocab-file",
    metavar="FILE",
    help="Also write pieces and scores as text, sentencepiece's .vocab.",
)
@quiet_option
def train(
    files: tuple[str, ...],
    output: str,
    from_counts: str | None,
    quiet: bool,
    form: Format | None,
    field: str,
    split_on: bytes | None,
    threads: int | None,
    initial: str | None,
    mode: str,
    preset: str | None,
    settings: tuple[str, ...],
    normalizer_from: str | None,
    vocab_file: str | None,
    **options: Any,
) -> None:
    """Train a tokenizer on text FILEs (or stdin) and save it.

    FILEs are texts, or documents in .jsonl and .parquet; also compressed (.gz, .zst,
    .xz, .bz2), folders, or patterns. They are read a piece at a time, so they may be
    larger than memory (what is held is each distinct pretoken once; with --pattern
    none, or a regular expression that does not compile, a whole file). The result
    depends on the text and the options only, not on the number of threads. With --mode
    codepoint each line is a text, and -o NAME.model writes sentencepiece's file,
    anything else a pybpe model.
    """
    refuse_output(output, mode)
    if from_counts is not None:
        refuse_beside_counts(files, mode)
    elif not files and sys.stdin.isatty():
        raise click.UsageError("give FILEs, or a text on stdin ('-' to type it)")
    if mode == "codepoint":
        codepoint.train(
            files,
            output,
            vocab_size=options["vocab_size"],
            preset=preset,
            settings=settings,
            normalizer_from=normalizer_from,
            vocab_file=vocab_file,
            form=form,
            field=field,
            threads=threads,
            quiet=quiet,
        )
        return
    codepoint.refuse_own()
    check(options, initial)
    sizes = list(dict.fromkeys(options.pop("snapshots")))
    outputs = snapshot_outputs(output, sizes)
    sources = files or ("-" if from_counts is None else from_counts,)
    inputs = [*sources, *(model_files(initial) if initial else [])]
    for name in (*outputs.values(), output):
        check_output(name, inputs)
    leave_to_api(options)
    started = time.monotonic()
    bars = Bars(quiet)
    try:
        options["initial"] = load(initial, None) if initial else None
        options["snapshots"] = sizes
        options["progress"] = bars
        with as_files(sources) as paths, api_errors():
            if from_counts is not None:
                tok = from_counts_file(paths[0], options)
            else:
                options["special_tokens"] = options.pop("specials")
                tok = pybpe.train_from_files(
                    paths,
                    format=form,
                    field=field,
                    split_on=split_on,
                    num_threads=threads,
                    **options,
                )
    finally:
        bars.close()
    report = save(tok, output, outputs, quiet)
    if not quiet:
        summary(report, options, time.monotonic() - started)


def refuse_output(output: str, mode: str) -> None:
    """Refuse to write a pybpe model where its name says that it is another."""
    if output == "-":
        raise click.UsageError("a model is written to a file, not to stdout")
    ending = Path(output).suffix
    if ending not in FOREIGN or (ending == ".model" and mode == "codepoint"):
        return
    says = f"'--output': {output} would be a pybpe model, and {ending} says otherwise: "
    if ending == ".model":
        says += "sentencepiece's is trained with --mode codepoint; for minbpe's "
    raise click.UsageError(f"{says}write NAME.pybpe, and `pybpe convert` that")


def check(options: dict[str, Any], initial: str | None) -> None:
    """Refuse values of `train`'s options that no text could make right."""
    from pybpe._training_options import Given, Options

    specials, protected = options["specials"], options["protected"]
    check_tokens(specials, "--special")
    check_tokens(protected, "--protected")
    if (options["vocab_size"] is None) == (options["num_merges"] is None):
        raise click.UsageError("give --vocab-size or --num-merges, and only one")
    for token in specials:
        if token in protected:
            raise click.UsageError(f"{token!r} is both --special and --protected")
    if initial is not None:
        return  # The rest depends on what is in there.
    if options["vocab_size"] is not None:
        check_vocab_size(options["vocab_size"], specials, protected)
    try:
        Options(
            Given(
                vocab_size=options["vocab_size"],
                num_merges=options["num_merges"],
                pattern=options["split"],
                special_tokens=specials,
                protected=protected,
                tie_break=options["tie_break"],
                byte_order=options["byte_order"],
                min_frequency=options["min_frequency"],
                max_token_bytes=options["max_token_bytes"],
                initial=None,
                snapshots=options["snapshots"],
            )
        )
    except ValueError as error:
        raise click.UsageError(in_our_words(str(error))) from None


def leave_to_api(options: dict[str, Any]) -> None:
    """Take out what was not given: what it is by default may depend on --initial."""
    for name, option in (("split", "pattern"), ("byte_order", "byte_order")):
        value = options.pop(name)
        if was_given(name):
            options[option] = value


def save(
    tok: pybpe.Tokenizer, output: str, snapshots: dict[int, str], quiet: bool
) -> pybpe.TrainingReport:
    """Write what was trained; return the report."""
    report = tok.training_report
    assert report is not None  # noqa: S101 - for the type checker
    made = [(name, report.snapshots[size]) for size, name in snapshots.items()]
    for name, one in [*made, (output, tok)]:
        one.save(name)
        if not quiet:
            tell(f"{name}: {one.vocab_size:,} tokens")
    return report


def refuse_beside_counts(files: tuple[str, ...], mode: str) -> None:
    """Refuse what has no meaning where nothing is counted."""
    if files:
        raise click.UsageError("give FILEs or --from-counts, not both")
    if mode != "bytes":
        raise click.UsageError(f"--mode {mode} cannot train --from-counts")
    for name in ("threads", "max_pretokens", "form", "field", "split_on"):
        if was_given(name):
            option = {"form": "format"}.get(name, name.replace("_", "-"))
            raise click.UsageError(
                f"--{option} is about counting: give it to `pybpe count`"
            )


def from_counts_file(path: str, options: dict[str, Any]) -> pybpe.Tokenizer:
    """Train on a file of counts; what is not named is what was counted with."""
    del options["max_pretokens"]
    return pybpe.train_from_counts(
        path,
        special_tokens=options.pop("specials") or None,
        protected=options.pop("protected") or None,
        **options,
    )


def snapshot_outputs(output: str, sizes: list[int]) -> dict[int, str]:
    """Return the files for the sizes of --snapshot, beside `output`."""
    path = Path(output)
    if sizes and path.exists() and not path.is_file():
        raise click.UsageError(
            f"snapshots are written beside -o, and {output} is not a file"
        )
    return {
        size: str(path.with_name(f"{path.stem}-{size}{path.suffix}")) for size in sizes
    }


def summary(
    report: pybpe.TrainingReport, options: dict[str, Any], seconds: float
) -> None:
    """Tell what training did, and why it gave fewer tokens than were asked for."""
    took = {phase.name: phase.seconds for phase in report.phases}
    tell(
        f"{report.bytes:,} bytes, {report.pretokens:,} pretokens, "
        f"{report.distinct_pretokens:,} of them distinct; {took['count']:.1f} s to "
        f"count, {took['merge']:.1f} s to merge, {seconds:.1f} s in all"
    )
    if report.vocab_size == report.vocab_size_asked:
        return
    why = report.stop_reason
    if why == "min_frequency":
        least = options["min_frequency"]
        times = "once" if least == 1 else f"{least:,} times"
        why = f"no pair that is left occurs {times} or more"
    elif why == "max_token_bytes":
        most = options["max_token_bytes"]
        why = f"all pairs that are left make tokens of more than {most:,} bytes"
    elif report.bytes == 0:
        why = "the text is empty"
    asked = report.vocab_size_asked
    tell(f"note: fewer than the {asked:,} asked for: {why}")


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
