"""The command line: train, encode, decode, info and demo.

A thin layer over the Python API. Data go through stdin and stdout as bytes, everything
else (progress, messages) goes to stderr. Exit status: 0 success, 1 failure, 2 wrong
usage. A user's mistake gives one line on stderr, never a traceback.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
from tqdm import tqdm

import pybpe

if TYPE_CHECKING:
    from pybpe.training import Progress

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 88}
FORMATS = ("text", "json", "uint16", "uint32")
# Lines are encoded a batch at a time: few calls, little memory.
BATCH_BYTES = 4 << 20


@contextmanager
def opened(path: str, mode: str) -> Iterator[IO[bytes]]:
    """Open a file, or stdin or stdout for "-", in binary."""
    if path != "-":
        with Path(path).open(mode) as file:
            yield file
    elif mode == "rb":
        yield sys.stdin.buffer
    else:
        out = sys.stdout.buffer
        yield out
        out.flush()


def need_folder(output: str) -> None:
    """Fail before the long work, not after it, when `output` cannot be written."""
    folder = Path(output).absolute().parent
    if not folder.is_dir():
        raise click.ClickException(f"no folder {str(folder)!r} to save in")


@contextmanager
def as_files(names: Sequence[str]) -> Iterator[list[str]]:
    """Give each name as a file's path; what stdin holds becomes a temporary file.

    So a corpus on stdin takes no memory either, and counts as one file.
    """
    if list(names).count("-") > 1:
        raise click.UsageError("stdin ('-') can be read only once")
    with tempfile.TemporaryDirectory(prefix="pybpe-") as folder:
        paths = list(names)
        if "-" in paths:
            copy = Path(folder, "stdin")
            with copy.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
            paths[paths.index("-")] = str(copy)
        yield paths


# Each phase of training: its bar's title and unit.
PHASES = {"count": ("Counting", "B"), "merge": ("Merging", "")}


class Bars:
    """Progress bars on stderr, one for each phase of training; none in a pipe."""

    def __init__(self, quiet: bool) -> None:
        """Show nothing when `quiet` or when stderr is not a terminal."""
        self._hidden = quiet or not sys.stderr.isatty()
        self._phase: str | None = None
        self._bar: tqdm[Any] | None = None

    def __call__(self, progress: Progress) -> None:
        """Show how far training is; `progress` callback of `pybpe.train`."""
        if self._hidden:
            return
        if progress.phase != self._phase:
            self.close()
            self._phase = progress.phase
            title, unit = PHASES.get(progress.phase, (progress.phase, ""))
            self._bar = tqdm(
                desc=title, total=progress.total, unit=unit, unit_scale=unit == "B"
            )
        if self._bar is not None:
            self._bar.update(progress.done - self._bar.n)

    def close(self) -> None:
        """Leave the terminal as it was: the bar stays, the cursor is below it."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


TOUR = """\b
A first tour:
  pybpe demo                                        see it all happen
  pybpe train corpus.txt --vocab-size 8192 -o my.pybpe
  echo "Hello world" | pybpe encode my.pybpe          text to ids
  echo "Hello world" | pybpe encode my.pybpe | pybpe decode my.pybpe
  pybpe info my.pybpe                                 what is in the file

`pybpe COMMAND --help` explains each command, with examples.
"""


@click.group(context_settings=CONTEXT, epilog=TOUR)
@click.version_option(pybpe.__version__, "-V", "--version", prog_name="pybpe")
def cli() -> None:
    """Train byte-level BPE tokenizers and use them."""


TRAIN_EXAMPLES = """\b
Examples:
  pybpe train corpus.txt --vocab-size 32768 -o my.pybpe
  pybpe train books/*.txt --vocab-size 50000 --special '<|endoftext|>' -o my.pybpe
  zcat dump.gz | pybpe train --vocab-size 32768 --pattern o200k -o my.pybpe
  pybpe train dna.txt --vocab-size 1024 --pattern none -o dna.pybpe
"""


@cli.command(epilog=TRAIN_EXAMPLES)
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
    default="cl100k",
    show_default=True,
    help="How text is cut before merging: a name, a regular expression, or 'none'.",
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
    type=int,
    default=1,
    show_default=True,
    help="Merge no pair that occurs fewer times.",
)
@click.option("--threads", type=int, default=None, help="Default: all processors.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bars, no summary.")
def train(
    files: tuple[str, ...],
    vocab_size: int,
    output: str,
    pattern: str,
    specials: tuple[str, ...],
    tie_break: str,
    byte_order: str,
    min_frequency: int,
    threads: int | None,
    quiet: bool,
) -> None:
    """Train a tokenizer on text FILEs (or stdin) and save it.

    The files are read as bytes, a piece at a time, so they may be larger than memory.
    The result depends on the text and the options only, not on the number of threads.
    """
    if output == "-":
        raise click.UsageError("a model is written to a file, not to stdout")
    if not files and sys.stdin.isatty():
        raise click.UsageError("give FILEs, or a text on stdin ('-' to type it)")
    need_folder(output)
    started = time.monotonic()
    bars = Bars(quiet)
    try:
        with as_files(files or ("-",)) as paths:
            tok = pybpe.train_from_files(
                paths,
                vocab_size,
                pattern=None if pattern == "none" else pattern,
                special_tokens=specials,
                tie_break=tie_break,
                byte_order=byte_order,
                min_frequency=min_frequency,
                num_threads=threads,
                progress=bars,
            )
    finally:
        bars.close()
    tok.save(output)
    if quiet:
        return
    seconds = time.monotonic() - started
    click.echo(f"{output}: {tok.vocab_size:,} tokens in {seconds:.1f} s", err=True)
    report = tok.training_report
    if report is not None and report.vocab_size < vocab_size:
        why = report.stop_reason
        if why == "min_frequency":
            why = f"no pair that is left occurs {min_frequency:,} times or more"
        click.echo(f"note: fewer than the {vocab_size:,} asked for: {why}", err=True)


def integer_type(width: str) -> str:
    """Return array's code for "uint16" or "uint32"."""
    return "H" if width == "uint16" else "I"


def write_ids(out: IO[bytes], ids: list[int], form: str) -> None:
    """Write the ids of one text."""
    if form == "text":
        out.write(" ".join(map(str, ids)).encode() + b"\n")
    elif form == "json":
        out.write(json.dumps(ids, separators=(",", ":")).encode() + b"\n")
    else:
        values = array(integer_type(form), ids)
        if sys.byteorder == "big":
            values.byteswap()
        out.write(values.tobytes())


def read_ids(data: bytes, form: str) -> list[int]:
    """Read what `write_ids` wrote, all texts in a row."""
    if form in ("uint16", "uint32"):
        values = array(integer_type(form))
        if len(data) % values.itemsize:
            raise click.ClickException(
                f"{len(data):,} bytes are no whole number of {form} values"
            )
        values.frombytes(data)
        if sys.byteorder == "big":
            values.byteswap()
        return values.tolist()
    # JSON lists, one a line, hold nothing but numbers and these three marks.
    words = data.translate(bytes.maketrans(b"[],", b"   ") if form == "json" else None)
    ids = []
    for position, word in enumerate(words.split()):
        if not word.isdigit():
            shown = word.decode("utf-8", "replace")[:40]
            raise click.ClickException(f"{shown!r} (item {position}) is no id")
        ids.append(int(word))
    return ids


@contextmanager
def texts(path: str, text: str | None) -> Iterator[IO[bytes]]:
    """Open what to encode: a file, stdin, or a text from the command line."""
    if text is not None:
        # The very bytes that the shell passed, valid UTF-8 or not.
        yield io.BytesIO(os.fsencode(text))
        return
    with opened(path, "rb") as file:
        yield file


def batches(lines: IO[bytes]) -> Iterator[list[bytes]]:
    """Yield lists of whole lines, each list of some megabytes at most."""
    while batch := lines.readlines(BATCH_BYTES):
        yield batch


def bare(line: bytes) -> bytes:
    """Return a line without the line break that ended it."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


ENCODE_EXAMPLES = """\b
Examples:
  pybpe encode my.pybpe --text "Hello world"
  pybpe encode my.pybpe book.txt --format uint16 -o book.bin
  pybpe encode my.pybpe lines.txt --lines --format json > ids.jsonl
  pybpe encode my.pybpe --allow-special --text "the end<|endoftext|>"
"""


@cli.command(epilog=ENCODE_EXAMPLES)
@click.argument("model")
@click.argument("file", default="-")
@click.option("-t", "--text", help="Encode this text, not a file.")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Numbers with spaces between, a JSON list, or little-endian integers.",
)
@click.option("--lines", is_flag=True, help="Each line is a text of its own.")
@click.option(
    "--allow-special",
    is_flag=True,
    help="Special tokens in the text become their ids.",
)
@click.option(
    "--plain", is_flag=True, help="Special tokens in the text are plain text."
)
@click.option("-o", "--output", default="-", metavar="FILE", help="Default: stdout.")
def encode(
    model: str,
    file: str,
    text: str | None,
    form: str,
    lines: bool,
    allow_special: bool,
    plain: bool,
    output: str,
) -> None:
    """Turn text (FILE, or stdin) into ids with a trained MODEL.

    The text is encoded as it is, with its last line break. When it spells a special
    token of the model, say what that means: --allow-special or --plain.
    """
    if text is not None and file != "-":
        raise click.UsageError("give --text or a FILE, not both")
    if allow_special and plain:
        raise click.UsageError("--allow-special and --plain exclude each other")
    if lines and form in ("uint16", "uint32"):
        raise click.UsageError(f"--lines has no place for line ends in {form}")
    tok = pybpe.load(model)
    if form == "uint16" and tok.n_vocab > 1 << 16:
        raise click.ClickException(
            f"{model} has ids up to {tok.n_vocab - 1:,}, too large for uint16; "
            "use --format uint32"
        )
    allowed: Any = "all" if allow_special else frozenset()
    disallowed: Any = () if plain else "all"
    options = {"allowed_special": allowed, "disallowed_special": disallowed}
    with texts(file, text) as source, opened(output, "wb") as out:
        if lines:
            hidden = output == "-" or not sys.stderr.isatty()
            encode_lines(tok, source, out, form, options, hidden)
        else:
            write_ids(out, encode_one(tok, source.read(), options), form)


def encode_one(
    tok: pybpe.Tokenizer, text: bytes, options: dict[str, Any], where: str = ""
) -> list[int]:
    """Encode one text; of a special token in it, tell the options that allow it."""
    try:
        return tok.encode(text, **options)
    except pybpe.SpecialTokenError as error:
        raise click.ClickException(
            f"{where}{error} On the command line: --allow-special or --plain."
        ) from None


def encode_lines(
    tok: pybpe.Tokenizer,
    source: IO[bytes],
    out: IO[bytes],
    form: str,
    options: dict[str, Any],
    hidden: bool,
) -> None:
    """Encode each line of `source` as a text of its own."""
    done = 0
    with tqdm(desc="Encoding", unit="B", unit_scale=True, disable=hidden) as bar:
        for batch in batches(source):
            lines = [bare(line) for line in batch]
            try:
                encoded = tok.encode_batch(lines, **options)
            except pybpe.SpecialTokenError:
                # One of them, and the user counts lines from the top of the file.
                for number, line in enumerate(lines, done + 1):
                    encode_one(tok, line, options, f"line {number}: ")
                raise
            for ids in encoded:
                write_ids(out, ids, form)
            done += len(lines)
            bar.update(sum(map(len, batch)))


DECODE_EXAMPLES = """\b
Examples:
  pybpe decode my.pybpe 72 101 108 108 111
  pybpe encode my.pybpe book.txt | pybpe decode my.pybpe > same.txt
  pybpe decode my.pybpe --input book.bin --format uint16
"""


@cli.command(epilog=DECODE_EXAMPLES)
@click.argument("model")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "-i", "--input", "file", default="-", metavar="FILE", help="Read ids here."
)
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How the ids are written; see `pybpe encode`.",
)
@click.option("-o", "--output", default="-", metavar="FILE", help="Default: stdout.")
def decode(model: str, ids: tuple[str, ...], file: str, form: str, output: str) -> None:
    """Turn ids (arguments, or stdin) back into text with a trained MODEL.

    The exact bytes come out, even where they are no valid UTF-8; nothing is added.
    """
    if ids and (file != "-" or form != "text"):
        raise click.UsageError("ids as arguments go with neither --input nor --format")
    tok = pybpe.load(model)
    if ids:
        data = " ".join(ids).encode()
    else:
        with opened(file, "rb") as source:
            data = source.read()
    text = tok.decode_bytes(read_ids(data, form))
    with opened(output, "wb") as out:
        out.write(text)


def named(tokens: tuple[tuple[bytes, int], ...]) -> dict[str, int]:
    """Return {token: id} with tokens that any terminal and JSON can show."""
    return {
        token.decode("utf-8", "backslashreplace"): number for token, number in tokens
    }


def facts(tok: pybpe.Tokenizer) -> dict[str, Any]:
    """Return what `pybpe info` tells of a tokenizer, ready for JSON."""
    model = tok._model
    return {
        "fingerprint": tok.fingerprint,
        "vocab_size": tok.vocab_size,
        "n_vocab": tok.n_vocab,
        "semantics": model.semantics,
        "whole_pretoken": model.whole_pretoken,
        "n_merges": len(model.merge_ids),
        "longest_token_bytes": max(model.token_lengths, default=0),
        "special_tokens": named(model.special_tokens),
        "added_tokens": named(model.added_tokens),
        "split": {
            "name": model.split.name,
            "compiled": model.split.compiled,
            "stages": [
                {
                    "pattern": stage.pattern,
                    "dialect": stage.dialect,
                    "behavior": stage.behavior,
                    "unicode_version": stage.unicode_version,
                    "n_classes": stage.n_classes,
                    "n_states": stage.n_states,
                }
                for stage in model.split.stages
            ],
        },
        "provenance": dict(model.provenance),
    }


def table(about: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table for people."""
    rank = {"merges": "listed pairs merge", "ranks": "any two parts that make a token"}
    rows: list[tuple[str, str]] = [
        ("tokens", f"{about['vocab_size']:,} (ids below {about['n_vocab']:,})"),
        ("merges", f"{about['n_merges']:,}"),
        ("merge rule", rank.get(about["semantics"], about["semantics"])),
        ("longest token", f"{about['longest_token_bytes']:,} bytes"),
    ]
    if about["whole_pretoken"]:
        rows.append(("", "a pretoken that is a token is taken whole"))
    for kind in ("special", "added"):
        for name, number in about[f"{kind}_tokens"].items():
            rows.append((kind, f"{number:>8,}  {name!r}"))
    split = about["split"]
    title = split["name"] or ("no name" if split["stages"] else "none: no cuts")
    how = "" if split["compiled"] else ", runs on the regex package"
    rows.append(("split", title + how))
    for stage in split["stages"]:
        rows.append(("", stage["pattern"]))
        rows.append(
            ("", f"({stage['dialect']}, Unicode {stage['unicode_version']})"),
        )
    rows.append(("fingerprint", about["fingerprint"]))
    if about["provenance"]:
        rows += [("", ""), ("where it comes from:", "")]
    rows += [(key.replace("_", " "), str(v)) for key, v in about["provenance"].items()]
    for key, value in rows:
        yield f"{key:20} {value}".rstrip()


INFO_EXAMPLES = """\b
Examples:
  pybpe info my.pybpe
  pybpe info my.pybpe --json | jq .vocab_size
"""


@cli.command(epilog=INFO_EXAMPLES)
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def info(model: str, as_json: bool) -> None:
    """Tell what is in a MODEL file.

    Two files with the same fingerprint encode every text alike.
    """
    about = facts(pybpe.load(model))
    if as_json:
        click.echo(json.dumps(about, indent=2))
        return
    for line in table(about):
        click.echo(line)


@cli.command()
@click.argument("file", required=False)
@click.option("--vocab-size", type=int, default=1000, show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Keep the model here.")
def demo(file: str | None, vocab_size: int, output: str | None) -> None:
    """Train, save, load, encode and decode before your eyes.

    The text is pybpe's own README, or FILE.
    """
    from pybpe.demo import own_text, run_demo

    if output:
        need_folder(output)
    bars = Bars(quiet=False)
    with tempfile.TemporaryDirectory(prefix="pybpe-") as folder:
        corpus = Path(file) if file else Path(folder, "README.md")
        if not file:
            corpus.write_bytes(own_text())
        model = Path(output) if output else Path(folder, "demo.pybpe")
        run_demo(corpus, vocab_size, model, say=click.echo, progress=bars)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = cli.main(
            list(sys.argv[1:] if arguments is None else arguments),
            prog_name="pybpe",
            standalone_mode=False,
        )
        sys.stdout.flush()
    except click.UsageError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        click.echo(f"pybpe: {error.format_message()}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("pybpe: interrupted", err=True)
        return 1
    except BrokenPipeError:
        # The reader has gone; keep Python from complaining again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError:
        click.echo("pybpe: out of memory", err=True)
        return 1
    except OSError as error:
        what = f"{error.filename}: " if error.filename is not None else ""
        click.echo(f"pybpe: {what}{error.strerror or error}", err=True)
        return 1
    except (pybpe.BpeError, ValueError) as error:
        click.echo(f"pybpe: {error}", err=True)
        return 1
    return status if isinstance(status, int) else 0
