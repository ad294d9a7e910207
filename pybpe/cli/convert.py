"""`pybpe convert`."""

from __future__ import annotations

from pathlib import Path

import click

import pybpe
from pybpe._format_names import FORMATS, ROLES
from pybpe.cli.files import check_output, model_files, tell, warnings_told
from pybpe.cli.models import load, pattern_option
from pybpe.cli.options import in_our_words
from pybpe.split import Split

CONVERT_EXAMPLES = """\b
Examples:
  pybpe convert my.pybpe my.tiktoken
  pybpe convert my.pybpe folder/ --role eos='<|endoftext|>'
  pybpe convert tokenizer.json my.gguf
  pybpe convert my.pybpe my.model --format minbpe
"""


def _roles(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return the roles and tokens of --role.

    Raises:
        click.BadParameter: One is not ROLE=TOKEN, or a role comes twice.
    """
    roles: dict[str, str] = {}
    for value in values:
        role, equals, token = value.partition("=")
        if not equals or not token or role not in ROLES:
            raise click.BadParameter(
                f"{value!r} is not ROLE=TOKEN with one of the roles {', '.join(ROLES)}"
            )
        if role in roles:
            raise click.BadParameter(f"the role {role!r} is given twice")
        roles[role] = token
    return roles


@click.command(epilog=CONVERT_EXAMPLES)
@click.argument("model")
@click.argument("output")
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    help="What to write; needed where the name of OUTPUT does not say. A folder is "
    "written for transformers (hf).",
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="ROLE=TOKEN",
    callback=_roles,
    help="Which token begins a text (bos), ends it (eos), and so on, for hf and gguf.",
)
@click.option(
    "--chat-template",
    type=click.Path(dir_okay=False, exists=True),
    metavar="FILE",
    help="How conversations are written, in Jinja, for hf.",
)
@pattern_option
def convert(
    model: str,
    output: str,
    kind: str | None,
    roles: dict[str, str],
    chat_template: str | None,
    split: Split | None,
) -> None:
    """Write MODEL to OUTPUT in another format.

    What is written is read back and compared before it appears; what a format cannot
    hold is refused.
    """
    from pybpe.writers import target_of

    tokenizer = load(model, split)
    try:
        target = target_of(tokenizer, output, kind)
    except ValueError as error:
        raise click.UsageError(in_our_words(str(error))) from None
    if roles and target.format not in ("hf", "gguf"):
        raise click.UsageError(f"--role: {target.format} has no place for roles")
    if chat_template is not None and target.format != "hf":
        raise click.UsageError(f"--chat-template: {target.format} has no place for one")
    if target.format != "hf" or target.folder.is_dir():
        for path in target.paths:
            check_output(path, model_files(model))
    template = None
    if chat_template is not None:
        template = Path(chat_template).read_text("utf-8")
    with warnings_told():
        try:
            paths = tokenizer.save_as(
                output, kind, roles=roles or None, chat_template=template
            )
        except (pybpe.ModelError, ValueError) as error:
            raise click.ClickException(in_our_words(str(error))) from None
    for path in paths:
        tell(f"wrote {path}")
