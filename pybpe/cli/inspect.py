"""`pybpe inspect`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

import pybpe
from pybpe.cli.models import load, pattern_option
from pybpe.cli.options import in_our_words, input_options, was_given

if TYPE_CHECKING:
    from pybpe.corpora.inputs import Format
    from pybpe.split import Split

INSPECT_EXAMPLES = """\b
Examples:
  pybpe inspect cl100k_base                             the vocabulary
  pybpe inspect cl100k_base --text "strawberry"         how a text is cut
  pybpe inspect my.pybpe english.txt hindi.txt          how many tokens files take
  pybpe inspect my.pybpe news.jsonl.zst --field content
  pybpe inspect my.pybpe news.txt --against cl100k_base
  pybpe inspect my.pybpe --numbers --whitespace
  pybpe inspect my.pybpe trained_on.txt --unused-in other.txt
  pybpe inspect my.pybpe --unreachable --top 0 --json
"""


@click.command(epilog=INSPECT_EXAMPLES)
@click.argument("model")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "-t",
    "--text",
    "texts",
    multiple=True,
    help="Show how this text is cut. Several times.",
)
@click.option(
    "--word",
    "words",
    multiple=True,
    help="Show the forms of a word: capitals, and after a space. Several times.",
)
@click.option("--numbers", is_flag=True, help="How numbers are cut.")
@click.option("--whitespace", is_flag=True, help="Tokens of white space; indentation.")
@click.option("--scripts", is_flag=True, help="How many tokens are of which script.")
@click.option("--longest", is_flag=True, help="The longest tokens.")
@click.option(
    "--unreachable", is_flag=True, help="Ids that no text can ever get, and why."
)
@click.option(
    "--unused-in",
    "corpora",
    multiple=True,
    metavar="FILE",
    help="The tokens that this file never uses (of those that the FILEs use, if there "
    "are any): a model trained on it never sees them. Several times: none of them.",
)
@click.option(
    "--against",
    metavar="MODEL",
    help="Compare with another model: FILEs, --text, --word.",
)
@click.option(
    "--top",
    type=click.IntRange(0),
    metavar="INTEGER",
    default=10,
    show_default=True,
    help="How many lines lists have; 0 for all.",
)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@input_options
@pattern_option
def inspect(
    model: str,
    files: tuple[str, ...],
    split: Split | None,
    texts: tuple[str, ...],
    words: tuple[str, ...],
    corpora: tuple[str, ...],
    against: str | None,
    top: int,
    as_json: bool,
    form: Format | None,
    field: str,
    split_on: str | None,
    **flags: bool,
) -> None:
    """Look into a MODEL: its vocabulary, and what it makes of text FILEs.

    MODEL is a file, or the name of a published encoding such as cl100k_base. Without
    anything else the vocabulary is shown; with options, what they ask for. Words are
    what stands between white space, so that for languages without spaces the columns
    per character and bytes for each token say more. Special tokens in texts are plain
    text. FILEs are what `pybpe train` takes, folders and compressed ones included, and
    are read a piece at a time.
    """
    if against is not None and not (files or texts or words):
        raise click.UsageError("--against goes with FILEs, --text or --word")
    if against is not None and (corpora or any(flags.values())):
        raise click.UsageError("--against goes with FILEs, --text and --word only")
    if not (files or corpora):
        for name in ("form", "field", "split_on"):
            if was_given(name):
                option = {"form": "format"}.get(name, name.replace("_", "-"))
                raise click.UsageError(f"--{option} goes with FILEs and --unused-in")
    # Not before the command runs: help and other commands do not wait for it.
    from pybpe.cli import sections

    toks = [sections.Named(Path(model).name, load(model, split))]
    if against is not None:
        toks.append(sections.Named(Path(against).name, load(against, None)))
        if toks[0].name == toks[1].name:
            names = (model, against)
            toks = [t._replace(name=n) for t, n in zip(toks, names, strict=True)]
    if not (files or texts or words or corpora or any(flags.values())):
        flags = dict.fromkeys(flags, True)
    asked = [name for name, given in flags.items() if given]
    reading = {"format": form, "field": field, "split_on": split_on}
    try:
        made = list(
            sections.chosen(toks, files, texts, words, corpora, reading, top, asked)
        )
    except pybpe.CorpusError as error:
        raise click.ClickException(in_our_words(str(error))) from None
    if as_json:
        click.echo(json.dumps({s.name: s.data for s in made}, indent=2))
        return
    for number, section in enumerate(made):
        if len(made) > 1:
            title = section.name.replace("_", " ").capitalize()
            click.echo("\n" * (number > 0) + f"== {title}\n")
        for line in section.lines:
            click.echo(line)
