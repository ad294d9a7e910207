"""The vocabulary of a GGUF file, written through the optional `gguf` package.

`add_to` puts it into a file that a converter is writing; `files` makes a file of the
vocabulary alone. Of the split GGUF holds a name that llama.cpp knows. Where it knows
none, its readers would split by other rules, and a warning says so.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pybpe import _glyphs, codepoint
from pybpe._extras import optional
from pybpe.codepoint import UNK_SURFACE, CodepointModel
from pybpe.errors import ModelError
from pybpe.formats._source import shown
from pybpe.model import UNMATCHED, Model
from pybpe.split import Split
from pybpe.writers._check import (
    all_tokens,
    compare_around,
    compare_ids,
    compare_tables,
)
from pybpe.writers._merges import merge_list, ordinary_tokens, unmade_tokens
from pybpe.writers._parts import (
    Job,
    byte_level,
    extra_tokens,
    refuse_flags,
    text_of,
)

if TYPE_CHECKING:
    from gguf import GGUFWriter

    from pybpe.tokenizer import Tokenizer

_WHAT = "a GGUF file"
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)

# Splits that llama.cpp knows: the names of the stages -> its name, where pretokens are
# merged, and its name where those that are tokens are taken whole.
_PRES: dict[tuple[str, ...], tuple[str, str]] = {
    ("gpt2",): ("gpt-2", ""),
    ("llama3",): ("dbrx", "llama-bpe"),
    ("cl100k",): ("dbrx", "llama-bpe"),
    ("qwen2",): ("qwen2", ""),
    ("digits", "gpt2"): ("starcoder", ""),
    ("deepseek_v3",): ("deepseek-v3", ""),
    ("o200k",): ("gpt-4o", ""),
    ("tekken",): ("", "tekken"),
}
# What llama.cpp's split does otherwise.
_CASE = "knows upper and lower case of ASCII only: it cuts some words of other letters"
_DIFFERENCES = {
    ("o200k",): _CASE,
    ("tekken",): _CASE,
    ("cl100k",): "is that of gpt4: it cuts white space at the end of a text",
}
_NONE = "default"


def files(job: Job) -> list[bytes]:
    """Return the contents of a file that holds the vocabulary alone.

    Raises:
        ModelError: The format cannot hold the tokenizer, or the `gguf` package is not
            installed.
    """
    gguf = optional("gguf")
    if gguf is None:
        raise ModelError(
            "GGUF files are written by a package that is not installed: "
            "pip install 'pybpe[gguf]'"
        )
    is_bpe = isinstance(job.tokenizer._model, Model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vocabulary.gguf")
        writer = gguf.GGUFWriter(path, "gpt2" if is_bpe else "llama")
        add_to(writer, job.tokenizer, roles=job.roles)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
        return [path.read_bytes()]


def add_to(
    writer: GGUFWriter,
    tokenizer: Tokenizer,
    *,
    roles: Mapping[str, str] | None = None,
) -> None:
    """Add the vocabulary to what a GGUF file will hold.

    Args:
        writer: The writer of the file.
        tokenizer: What to add.
        roles: See `Tokenizer.save_as`.

    Raises:
        ModelError: The format cannot hold the tokenizer.
        ValueError: A role is given to what is no token.
    """
    job = Job(tokenizer, (), roles or {}, None)
    if isinstance(tokenizer._model, CodepointModel):
        _add_pieces(writer, tokenizer._model)
    else:
        _add_bpe(writer, job)
    ids = job.role_ids()
    for name in ("bos", "eos", "unk", "pad", "sep", "mask"):
        if name in ids:
            getattr(writer, f"add_{name}_token_id")(ids[name])
    bos = (ids["bos"],) if "bos" in ids else ()
    eos = (ids["eos"],) if "eos" in ids else ()
    if tokenizer.text_prefix not in ((), bos) or tokenizer.text_suffix not in ((), eos):
        raise ModelError(
            f"it puts {list(tokenizer.text_prefix)} before and "
            f"{list(tokenizer.text_suffix)} behind texts, and {_WHAT} can only say "
            f"whether the tokens are put there that begin and end texts; name these "
            "with roles={'bos': ..., 'eos': ...}"
        )
    writer.add_add_bos_token(tokenizer.text_prefix != ())
    writer.add_add_eos_token(tokenizer.text_suffix != ())


# ------------------------------------------------------------------ byte-level


def _add_bpe(writer: GGUFWriter, job: Job) -> None:
    tokenizer = job.tokenizer
    model = byte_level(tokenizer, _WHAT)
    refuse_flags(model, _WHAT, UNMATCHED)
    merges = merge_list(tokenizer)
    names = {
        number: _glyphs.to_characters(token)
        for token, number in ordinary_tokens(model, _WHAT).items()
    }
    types = dict.fromkeys(names, _NORMAL)
    spellings = set(names.values())
    for token, number, special in extra_tokens(model):
        name = text_of(token, _WHAT)
        if name in spellings or number in names:
            raise ModelError(
                f"the special or added token {shown(name)} has the spelling or the id "
                f"({number}) of another token, and {_WHAT} has one of each"
            )
        spellings.add(name)
        unmatched = model.flags.get(number, 0) & UNMATCHED
        names[number] = name
        types[number] = _CONTROL if special else _USER_DEFINED
        if unmatched:
            types[number] = _UNUSED
    ids = range(tokenizer.n_vocab)
    _refuse_holes(tokenizer)
    pre = _pre(model, unmade_tokens(tokenizer, merges))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list([names.get(number, f"[PAD{number}]") for number in ids])
    writer.add_token_types([types.get(number, _UNUSED) for number in ids])
    writer.add_token_merges(
        [
            f"{_glyphs.to_characters(tokenizer.token_bytes(left))} "
            f"{_glyphs.to_characters(tokenizer.token_bytes(right))}"
            for left, right in merges.pairs
        ]
    )


def _refuse_holes(tokenizer: Tokenizer) -> None:
    """Refuse ids with more holes than tokens: the file would be filler mostly.

    Raises:
        ModelError: Saying how many there are.
    """
    holes = tokenizer.n_vocab - tokenizer.vocab_size
    if holes > max(tokenizer.vocab_size, 1024):
        raise ModelError(
            f"{holes:,} of the ids below {tokenizer.n_vocab:,} are no token's, and "
            f"{_WHAT} has an entry for each id"
        )


def _pre(model: Model, unmade: list[int]) -> str:
    """Return llama.cpp's name of the split; warn if it has none, or only nearly so.

    Args:
        model: The model.
        unmade: The tokens for which it matters whether pretokens are taken whole.

    Raises:
        ModelError: It matters, and llama.cpp would not do it for this split.
    """
    for names, (by_merges, whole) in _PRES.items():
        if not _same_splits(model.split, Split.from_pattern(names)):
            continue
        pre = (whole if model.whole_pretoken else by_merges) or by_merges or whole
        if unmade and (pre == whole) != model.whole_pretoken:
            _refuse_unmade(model, unmade, pre)
        if names in _DIFFERENCES:
            _warn(f"llama.cpp's split {pre!r} {_DIFFERENCES[names]} elsewhere")
        return pre
    if unmade and model.whole_pretoken:
        _refuse_unmade(model, unmade, _NONE)
    _warn(
        "llama.cpp knows no name for this split, so the file has the name "
        f"{_NONE!r}, for which llama.cpp cuts text in another way; for GGUF train with "
        f"one of the patterns {', '.join(dict.fromkeys(names[-1] for names in _PRES))}"
    )
    return _NONE


def _refuse_unmade(model: Model, unmade: list[int], pre: str) -> NoReturn:
    takes = "takes no pretokens" if model.whole_pretoken else "takes pretokens"
    raise ModelError(
        f"merging does not make the token with the id {unmade[0]}, and llama.cpp "
        f"{takes} whole with the split {pre!r}: there, it would have other ids"
    )


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=9)


def _same_splits(left: Split, right: Split) -> bool:
    """Tell whether two splits cut every text in the same places; False if in doubt."""
    return len(left.stages) == len(right.stages) and all(
        a.compiled
        and b.compiled
        and not (a.before or a.over_bytes or a.invert)
        and (a.behavior, a.class_starts, bytes(a.class_ids), a.transitions)
        == (b.behavior, b.class_starts, bytes(b.class_ids), b.transitions)
        for a, b in zip(left.stages, right.stages, strict=True)
    )


# ------------------------------------------------------------------ sentencepiece


def _add_pieces(writer: GGUFWriter, model: CodepointModel) -> None:
    """Add a sentencepiece model, of which llama.cpp knows the pieces and the spaces."""
    normalizer = model.normalizer
    for part, wrong in (
        ("a character map: text is normalised", normalizer.charsmap),
        ("runs of spaces made one", normalizer.remove_extra_whitespaces),
        ("spaces without marks", not normalizer.escape_whitespaces),
        ("marks behind words", model.mark_behind),
        ("a denormalizer", model.denormalizer is not None),
        ("a surface of its own for unknown text", model.unk_surface != UNK_SURFACE),
        (
            "byte pieces that are not used",
            model.byte_fallback != (codepoint.BYTE in model.piece_types),
        ),
    ):
        if wrong:
            raise ModelError(f"it has {part}; {_WHAT} cannot say so")
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre(_NONE)
    writer.add_token_list([text_of(piece, _WHAT) for piece in model.pieces()])
    writer.add_token_scores(model.scores.tolist())
    writer.add_token_types(list(model.piece_types))
    writer.add_add_space_prefix(normalizer.add_dummy_prefix)


def check(job: Job, folder: Path) -> None:
    """Read the file back through the `gguf` package."""
    from pybpe.loading import load

    model: Any = job.tokenizer._model
    options: dict[str, Any] = {}
    if isinstance(model, Model):
        options["pattern"] = model.split
    read = load(folder / job.names[0], **options)
    tokens = all_tokens(job.tokenizer)
    # Ids that nothing has are tokens there, which no text gives.
    found = {
        number: token
        for number, token in all_tokens(read).items()
        if number in tokens or token != f"[PAD{number}]".encode()
    }
    compare_tables(tokens, found, "pybpe")
    compare_ids(
        job.tokenizer, lambda text: read.encode(text, allowed_special="all"), "pybpe"
    )
    if isinstance(model, CodepointModel):
        compare_around(job.tokenizer, read)
