"""`pybpe train --mode codepoint`: models as sentencepiece makes them."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pybpe
from pybpe.cli.bars import Bars
from pybpe.cli.files import as_files, check_output, model_files, tell
from pybpe.cli.models import load
from pybpe.cli.options import api_errors, in_our_words, was_given

if TYPE_CHECKING:
    from pybpe.corpora.inputs import Format

# What only byte-level training has.
_OTHERS = {
    "num_merges": "--num-merges: give --vocab-size",
    "split": "--pattern: words are cut at spaces (-O split_by_whitespace=false: not)",
    "specials": "--special: give -O control_symbols=TOKEN",
    "protected": "--protected: give -O user_defined_symbols=STRING",
    "tie_break": "--tie-break: sentencepiece has a rule of its own",
    "byte_order": "--byte-order: give -O byte_fallback=true for bytes at all",
    "min_frequency": "--min-frequency: sentencepiece has nothing like it",
    "max_token_bytes": "--max-token-bytes: give -O max_sentencepiece_length=CHARACTERS",
    "split_on": "--split-on: each line is a sentence",
    "initial": "--initial: sentencepiece has nothing like it",
    "snapshots": "--snapshot: sentencepiece's scores allow no prefixes",
}
# What only this training has.
_OWN = {
    "preset": "--preset",
    "settings": "-O",
    "normalizer_from": "--normalizer-from",
    "vocab_file": "--vocab-file",
}
_RULES = (
    "normalization_rule_name",
    "normalization_rule_tsv",
    "denormalization_rule_tsv",
)
_TRUTHS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}


def refuse_own() -> None:
    """Refuse options of this mode in the other one."""
    for name, option in _OWN.items():
        if was_given(name):
            raise click.UsageError(f"{option} goes with --mode codepoint only")


def train(
    files: tuple[str, ...],
    output: str,
    *,
    vocab_size: int | None,
    preset: str | None,
    settings: tuple[str, ...],
    normalizer_from: str | None,
    vocab_file: str | None,
    form: Format | None,
    field: str,
    threads: int | None,
    quiet: bool,
) -> None:
    """Train a codepoint model and save it."""
    for name, why in _OTHERS.items():
        if was_given(name):
            raise click.UsageError(f"--mode codepoint does not go with {why}")
    if vocab_size is None:
        raise click.UsageError("give --vocab-size")
    inputs = [*(files or ("-",))]
    if normalizer_from:
        inputs += model_files(normalizer_from)
    for name in (output, *([vocab_file] if vocab_file else [])):
        check_output(name, inputs)
    if vocab_file and Path(output).suffix != ".model":
        raise click.UsageError("--vocab-file goes with -o NAME.model")
    options = parse(settings)
    if threads is not None:
        options.setdefault("num_threads", threads)
    _check(vocab_size, preset, options, normalizer_from)
    started = time.monotonic()
    bars = Bars(quiet)
    try:
        with (
            as_files(files or ("-",)) as paths,
            warnings.catch_warnings(),
            api_errors(),
        ):
            warnings.simplefilter("ignore")  # the summary says it
            tok = pybpe.train_sentencepiece_from_files(
                paths,
                vocab_size,
                preset=preset,
                normalizer_from=load(normalizer_from, None)
                if normalizer_from
                else None,
                format=form,
                field=field,
                progress=bars,
                **options,
            )
    except TypeError as error:  # of --normalizer-from
        raise click.UsageError(in_our_words(str(error))) from None
    finally:
        bars.close()
    if Path(output).suffix == ".model":
        tok.save_sentencepiece(output, vocab_path=vocab_file)
    else:
        tok.save(output)
    _summary(tok, output, time.monotonic() - started, quiet)


def _check(
    vocab_size: int,
    preset: str | None,
    options: dict[str, Any],
    normalizer_from: str | None,
) -> None:
    """Refuse option values that no text could make right.

    Raises:
        click.UsageError: Naming the first one.
    """
    from pybpe._piece_options import Options

    for name in _RULES if normalizer_from else ():
        if name in options:
            raise click.UsageError(f"give --normalizer-from or {name}, not both")
    try:
        checked = Options(vocab_size, preset, options)
    except (TypeError, ValueError) as error:
        raise click.UsageError(in_our_words(str(error))) from None
    if len(checked.meta) > vocab_size:
        raise click.UsageError(
            f"--vocab-size: {vocab_size} is too small for the {len(checked.meta):,} "
            "pieces that are always there"
        )


def _summary(tok: pybpe.Tokenizer, output: str, seconds: float, quiet: bool) -> None:
    """Tell what training did; what it left out even if told to be quiet."""
    report = tok.training_report
    assert report is not None  # noqa: S101 - for the type checker
    details = report.details
    if not quiet:
        took = {phase.name: phase.seconds for phase in report.phases}
        tell(f"{output}: {tok.vocab_size:,} pieces")
        tell(
            f"{report.documents:,} lines, {report.bytes:,} bytes, "
            f"{report.pretokens:,} words, {report.distinct_pretokens:,} of them "
            f"distinct; {details['alphabet']:,} of {details['distinct_characters']:,} "
            f"characters have pieces; {took['count']:.1f} s to count, "
            f"{took['merge']:.1f} s to merge, {seconds:.1f} s in all"
        )
        if report.vocab_size < report.vocab_size_asked:
            tell(
                f"note: fewer than the {report.vocab_size_asked:,} asked for: "
                f"{report.stop_reason}"
            )
    for name, why in (
        ("lines_too_long", "are longer than max_sentence_length"),
        ("lines_reserved", "hold U+2585, which sentencepiece keeps for itself"),
    ):
        if details[name]:
            tell(f"warning: {details[name]:,} lines were left out: they {why}")


def parse(settings: tuple[str, ...]) -> dict[str, Any]:
    """Return what -O NAME=VALUE says; symbols may be given several times."""
    from pybpe._piece_options import DEFAULTS, REFUSED

    options: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.removeprefix("--")
        if not equals:
            raise click.BadParameter(
                f"{setting!r} is not NAME=VALUE", param_hint="'-O'"
            )
        if name in REFUSED:
            raise click.BadParameter(f"{name} {REFUSED[name]}", param_hint="'-O'")
        if name not in DEFAULTS:
            raise click.BadParameter(
                f"there is no option {name!r}; there are {', '.join(DEFAULTS)}",
                param_hint="'-O'",
            )
        if isinstance(DEFAULTS[name], tuple):
            options[name] = (*options.get(name, ()), text)
        elif name in options:
            raise click.BadParameter(f"{name} is given twice", param_hint="'-O'")
        else:
            options[name] = _value(name, text, DEFAULTS[name])
    return options


def _value(name: str, text: str, default: object) -> object:
    """Return a value as its option has it."""
    wanted = "text"
    try:
        if isinstance(default, bool):
            wanted = "true or false"
            return _TRUTHS[text.lower()]
        if isinstance(default, int):
            wanted = "a whole number"
            return int(text)
        if isinstance(default, float):
            wanted = "a number"
            return float(text)
    except (KeyError, ValueError):
        raise click.BadParameter(
            f"{name} must be {wanted}, got {text!r}", param_hint="'-O'"
        ) from None
    return text
