"""`pybpe inspect`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pybpe import inspection
from pybpe.cli import sections
from pybpe.cli.files import as_files
from pybpe.cli.models import load, pattern_option
from pybpe.cli.sections import Named, Section, Used

if TYPE_CHECKING:
    from pybpe.split import Split

INSPECT_EXAMPLES = """\b
Examples:
  pybpe inspect cl100k_base                             the vocabulary
  pybpe inspect cl100k_base --text "strawberry"         how a text is cut
  pybpe inspect my.pybpe english.txt hindi.txt          how many tokens files take
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
    **flags: bool,
) -> None:
    """Look into a MODEL: its vocabulary, and what it makes of text FILEs.

    MODEL is a file, or the name of a published encoding such as cl100k_base. Without
    anything else the vocabulary is shown; with options, what they ask for. Words are
    what stands between white space, so that for languages without spaces the columns
    per character and bytes for each token say more. Special tokens in texts are plain
    text. Files of any size are read a piece at a time.
    """
    if against is not None and not (files or texts or words):
        raise click.UsageError("--against goes with FILEs, --text or --word")
    if against is not None and (corpora or any(flags.values())):
        raise click.UsageError("--against goes with FILEs, --text and --word only")
    toks = [Named(Path(model).name, load(model, split))]
    if against is not None:
        toks.append(Named(Path(against).name, load(against, None)))
        if toks[0].name == toks[1].name:
            toks = [Named(model, toks[0].tok), Named(against, toks[1].tok)]
    if not (files or texts or words or corpora or any(flags.values())):
        flags = dict.fromkeys(flags, True)
    made = list(_sections(toks, files, texts, words, corpora, top, flags))
    if as_json:
        click.echo(json.dumps({s.name: s.data for s in made}, indent=2))
        return
    for number, section in enumerate(made):
        if len(made) > 1:
            title = section.name.replace("_", " ").capitalize()
            click.echo("\n" * (number > 0) + f"== {title}\n")
        for line in section.lines:
            click.echo(line)


def _sections(
    toks: Sequence[Named],
    files: Sequence[str],
    texts: Sequence[str],
    words: Sequence[str],
    corpora: Sequence[str],
    top: int,
    flags: dict[str, bool],
) -> Iterator[Section]:
    """Yield what was asked for."""
    if texts:
        yield sections.texts(toks, [os.fsencode(text) for text in texts])
    if words:
        yield sections.words(toks, words)
    with as_files([*files, *corpora]) as paths:
        n = len(files)
        if files:
            used = [
                Used(named, name, inspection.usage_of_files(named.tok, path))
                for name, path in zip(_shown_names(files), paths, strict=False)
                for named in toks
            ]
            yield sections.files(toks, used, top)
        if corpora:
            yield _unused(toks[0], paths[:n], corpora, paths[n:], top)
    for name, section in sections.OF_VOCABULARY.items():
        if flags[name]:
            yield section(toks[0], top)


def _unused(
    named: Named,
    trained_on: Sequence[str],
    corpora: Sequence[str],
    paths: Sequence[str],
    top: int,
) -> Section:
    before: Any = None
    if trained_on:
        before = inspection.usage_of_files(named.tok, trained_on)
    used = inspection.usage_of_files(named.tok, paths)
    names = " or ".join(_shown_names(corpora))
    return sections.unused(named, names, used, before, top)


def _shown_names(paths: Sequence[str]) -> list[str]:
    """Return what files go by in tables: their names, if these tell them apart."""
    names = ["stdin" if path == "-" else Path(path).name for path in paths]
    return names if len({*names}) == len(names) else list(paths)
