"""`pybpe encode` and `pybpe decode`."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

import pybpe
from pybpe.cli.bars import line_bar
from pybpe.cli.files import batches, blocks, check_output, model_files, output, source
from pybpe.cli.ids import BINARY, FORMATS, arguments, read_ids, read_line, write_ids
from pybpe.cli.models import load, pattern_option

if TYPE_CHECKING:
    from pybpe.split import Split

ENCODE_EXAMPLES = """\b
Examples:
  pybpe encode my.pybpe --text "Hello world"
  pybpe encode my.pybpe book.txt --format uint16 -o book.bin
  pybpe encode my.pybpe lines.txt --lines --format json > ids.jsonl
  pybpe encode my.pybpe --allow-special --text "the end<|endoftext|>"
"""


@click.command(epilog=ENCODE_EXAMPLES)
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
@click.option(
    "--lines",
    is_flag=True,
    help="Each line is a text of its own, and its ids are a line.",
)
@click.option(
    "--allow-special",
    is_flag=True,
    help="Special tokens in the text become their ids.",
)
@click.option(
    "--plain", is_flag=True, help="Special tokens in the text are plain text."
)
@pattern_option
@click.option("-o", "--output", "to", default="-", metavar="FILE", help="Not stdout.")
def encode(
    model: str,
    file: str,
    text: str | None,
    form: str,
    lines: bool,
    allow_special: bool,
    plain: bool,
    split: Split | None,
    to: str,
) -> None:
    r"""Turn text (FILE, or stdin) into ids with a trained MODEL.

    The text is encoded as it is, with its last line break. When it spells a special
    token of the model, say what that means: --allow-special or --plain.

    With --lines, lines end at "\n", which is not encoded ("\r" is), and a last line
    without "\n" gives a line without one; so `pybpe decode --lines` gives exactly the
    same file back.
    """
    if text is not None and file != "-":
        raise click.UsageError("give --text or a FILE, not both")
    if allow_special and plain:
        raise click.UsageError("--allow-special and --plain exclude each other")
    refuse_binary_lines(lines, form)
    check_output(to, [*model_files(model), *([file] if text is None else [])])
    tok = load(model, split)
    if form == "uint16" and tok.n_vocab > 1 << 16:
        raise click.ClickException(
            f"{model} has ids up to {tok.n_vocab - 1:,}, too large for uint16; "
            "use --format uint32"
        )
    options: dict[str, Any] = {
        "allowed_special": "all" if allow_special else frozenset(),
        "disallowed_special": () if plain else "all",
    }
    with texts(file, text) as given, output(to) as out:
        if lines:
            encode_lines(tok, given, out, form, options, bar_of(file, to))
        else:
            write_ids(out, encode_one(tok, b"".join(blocks(given)), options), form)


def refuse_binary_lines(lines: bool, form: str) -> None:
    """Refuse --lines with a format that has no lines."""
    if lines and form in BINARY:
        raise click.UsageError(f"--lines has no place for line ends in {form}")


@contextmanager
def texts(path: str, text: str | None) -> Iterator[IO[bytes]]:
    """Open what to encode: a file, stdin, or a text from the command line."""
    if text is not None:
        # The very bytes that the shell passed, valid UTF-8 or not.
        yield io.BytesIO(os.fsencode(text))
        return
    with source(path) as file:
        yield file


def bar_of(file: str, to: str) -> Any:
    """Return a progress bar for the lines of a file; hidden where it would disturb."""
    path = Path(file)
    total = path.stat().st_size if file != "-" and path.is_file() else None
    return line_bar(to == "-" or not sys.stderr.isatty(), total)


def ending(line: bytes) -> bytes:
    """Return the line break of a line; the last line may lack it."""
    return b"\n" if line.endswith(b"\n") else b""


def encode_one(
    tok: pybpe.Tokenizer, text: bytes, options: dict[str, Any], where: str = "the text"
) -> list[int]:
    """Encode one text; of a special token in it, tell the options that allow it."""
    try:
        return tok.encode(text, **options)
    except pybpe.SpecialTokenError as error:
        raise click.ClickException(refusal(tok, text, where) or str(error)) from None


def refusal(tok: pybpe.Tokenizer, text: bytes, where: str) -> str | None:
    """Say which special token a text spells first, and which options let it in."""
    special = [t.encode() if isinstance(t, str) else t for t in tok.special_tokens]
    found = [(text.find(token), -len(token), token) for token in special]
    found = [hit for hit in found if hit[0] >= 0]
    if not found:
        return None
    position, _, token = min(found)
    shown = token.decode("utf-8", "backslashreplace")
    return (
        f"{where} spells the special token {shown!r} at byte {position:,}: pass "
        "--allow-special to encode it as the special token, or --plain to encode it as "
        "plain text"
    )


def encode_lines(
    tok: pybpe.Tokenizer,
    given: IO[bytes],
    out: IO[bytes],
    form: str,
    options: dict[str, Any],
    progress: Any,
) -> None:
    """Encode each line of `given` as a text of its own."""
    done = 0
    with progress as bar:
        bar.set_description("Encoding")
        for batch in batches(given):
            lines = [line.removesuffix(b"\n") for line in batch]
            try:
                encoded = tok.encode_batch(lines, **options)
            except pybpe.SpecialTokenError:
                # One of them, and the user counts lines from the top of the file.
                for number, line in enumerate(lines, done + 1):
                    encode_one(tok, line, options, f"line {number}")
                raise
            for ids, line in zip(encoded, batch, strict=True):
                write_ids(out, ids, form, ending(line))
            done += len(lines)
            bar.update(sum(map(len, batch)))


DECODE_EXAMPLES = """\b
Examples:
  pybpe decode my.pybpe 72 101 108 108 111
  pybpe encode my.pybpe book.txt | pybpe decode my.pybpe > same.txt
  pybpe decode my.pybpe --input book.bin --format uint16
  pybpe decode my.pybpe --input ids.jsonl --lines --format json > lines.txt
"""


@click.command(epilog=DECODE_EXAMPLES)
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
@click.option(
    "--lines",
    is_flag=True,
    help="Each line of ids is a text of its own, and becomes a line.",
)
@pattern_option
@click.option("-o", "--output", "to", default="-", metavar="FILE", help="Not stdout.")
def decode(
    model: str,
    ids: tuple[str, ...],
    file: str,
    form: str,
    lines: bool,
    split: Split | None,
    to: str,
) -> None:
    r"""Turn ids (arguments, or stdin) back into text with a trained MODEL.

    The exact bytes come out, even where they are no valid UTF-8; nothing is added.
    All ids that are given are one text, whatever lines they are on; several JSON
    lists must each begin on a line of its own, and none may hold another.

    With --lines, each line of ids (a JSON list, with --format json) becomes its text
    and the line's own "\n": what `pybpe encode --lines` was given.
    """
    if ids and (file != "-" or form != "text" or lines):
        raise click.UsageError(
            "ids as arguments go with none of --input, --format and --lines"
        )
    refuse_binary_lines(lines, form)
    numbers = arguments(ids)
    check_output(to, [*model_files(model), *([] if ids else [file])])
    tok = load(model, split)
    if ids:
        text = tok.decode_bytes(numbers)
        with output(to) as out:
            out.write(text)
        return
    with source(file) as given, output(to) as out:
        if lines:
            decode_lines(tok, given, out, form, bar_of(file, to))
        else:
            data = b"".join(blocks(given))
            out.write(tok.decode_bytes(read_ids(data, form)))


def decode_lines(
    tok: pybpe.Tokenizer, given: IO[bytes], out: IO[bytes], form: str, progress: Any
) -> None:
    """Decode each line of `given` to a line."""
    done = 0
    with progress as bar:
        bar.set_description("Decoding")
        for batch in batches(given):
            for number, line in enumerate(batch, done + 1):
                ids = read_line(line, form, number)
                try:
                    out.write(tok.decode_bytes(ids))
                except pybpe.UnknownTokenError as error:
                    raise click.ClickException(f"line {number}: {error}") from None
                out.write(ending(line))
            done += len(batch)
            bar.update(sum(map(len, batch)))
