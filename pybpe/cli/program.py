"""The program itself: its commands, and what its errors look like."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

import click

import pybpe
from pybpe.cli.about import info
from pybpe.cli.coding import decode, encode
from pybpe.cli.convert import convert
from pybpe.cli.counting import count, merge_counts
from pybpe.cli.files import tell
from pybpe.cli.inspect import inspect
from pybpe.cli.prepare import prepare
from pybpe.cli.training import demo, train

INTERRUPTED = 130  # what shells give a program that Ctrl-C has ended
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 88}

TOUR = """\b
A first tour:
  pybpe demo                                        see it all happen
  pybpe train corpus.txt --vocab-size 8192 -o my.pybpe
  echo "Hello world" | pybpe encode my.pybpe          text to ids
  echo "Hello world" | pybpe encode my.pybpe | pybpe decode my.pybpe
  pybpe info my.pybpe                                 what is in the file
  pybpe inspect my.pybpe corpus.txt                   what it makes of a text

`pybpe COMMAND --help` explains each command, with examples.
"""


@click.group(context_settings=CONTEXT, epilog=TOUR)
@click.version_option(pybpe.__version__, "-V", "--version", prog_name="pybpe")
def cli() -> None:
    """Train byte-level BPE tokenizers and use them."""


for _command in (
    train,
    count,
    merge_counts,
    encode,
    decode,
    prepare,
    info,
    inspect,
    convert,
    demo,
):
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    fill_closed_streams()
    try:
        return _run(arguments)
    finally:
        forget(sys.stderr)  # messages that nobody took are no failure


def _run(arguments: Sequence[str] | None) -> int:
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
        with suppress(OSError):  # nobody listens
            error.show()
        return error.exit_code
    except click.ClickException as error:
        return failed(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        failed("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        forget(sys.stdout)
        return 1
    except MemoryError:
        return failed("out of memory")
    except OSError as error:
        forget(sys.stdout)
        what = f"{error.filename}: " if error.filename is not None else ""
        return failed(f"{what}{error.strerror or error}")
    except (pybpe.BpeError, ValueError, ImportError) as error:
        return failed(str(error))
    return status if isinstance(status, int) else 0


def failed(message: str) -> int:
    """Print a message, and return the exit status of failed work."""
    tell(f"pybpe: {message}")
    return 1


def fill_closed_streams() -> None:
    """Put something in the place of streams that the caller has closed.

    Or the next file that is opened would take the place, and be written to. Messages
    go nowhere then; data that are read from stdin or written to stdout are an error,
    "Bad file descriptor", as for other programs.
    """
    modes = (("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))
    for number, (name, mode) in enumerate(modes):
        if getattr(sys, name) is not None:
            continue
        null = os.open(os.devnull, mode)
        if null != number and not _is_open(number):
            os.dup2(null, number)
            os.close(null)
            null = number
        stream = open(  # noqa: SIM115 - as long as the program
            null,
            "r" if name == "stdin" else "w",
            encoding="utf-8",
            errors="backslashreplace",
            closefd=False,
        )
        setattr(sys, name, stream)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def forget(stream: IO[str]) -> None:
    """Keep Python from complaining again, when it ends, of a stream that is broken."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
