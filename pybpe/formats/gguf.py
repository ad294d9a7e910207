"""Vocabularies in GGUF files, read through the optional `gguf` package.

Those of the kind "llama" are sentencepiece's: tokens, types and scores make a codepoint
model, which normalises nothing but spaces, as llama.cpp does.

Of byte-level vocabularies (`tokenizer.ggml.model` "gpt2") a GGUF file holds tokens,
their types and merges, but of the split only a name, `tokenizer.ggml.pre`. Names whose
split is known exactly are in the table below; others are refused by name, unless the
caller gives the split. Where llama.cpp itself only comes near the publisher's pattern
("tekken", "gpt-4o": its letter classes are ASCII), the publisher's is used.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from pybpe import _glyphs
from pybpe.errors import ModelError
from pybpe.formats._source import Source, shown, special_or_refuse
from pybpe.formats.gpt2 import merges_model

if TYPE_CHECKING:
    from pybpe._engines import AnyModel
    from pybpe.codepoint import CodepointModel
    from pybpe.model import Model
    from pybpe.split import Split

_KEYS = "tokenizer.ggml."
# llama.cpp's token types.
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)


class _Pre(NamedTuple):
    """What a name stands for: the stages of a split, and `ignore_merges`."""

    stages: tuple[str, ...]
    whole_pretoken: bool = False


_GPT2 = _Pre(("gpt2",))
_LLAMA3 = _Pre(("llama3",), True)
_LLAMA3_BY_MERGES = _Pre(("llama3",))
_QWEN2 = _Pre(("qwen2",))
_DIGITS = _Pre(("digits", "gpt2"))
_O200K = _Pre(("o200k",))

_PRES = {
    "gpt-2": _GPT2,
    "phi-2": _GPT2,
    "mpt": _GPT2,
    "olmo": _GPT2,
    "jais": _GPT2,
    "jina-es": _GPT2,
    "jina-de": _GPT2,
    "roberta-bpe": _GPT2,
    "llama3": _LLAMA3,
    "llama-v3": _LLAMA3,
    "llama-bpe": _LLAMA3,
    "falcon3": _LLAMA3,
    "dbrx": _LLAMA3_BY_MERGES,
    "smaug-bpe": _LLAMA3_BY_MERGES,
    "qwen2": _QWEN2,
    "stablelm2": _QWEN2,
    "deepseek-r1-qwen": _QWEN2,
    "megrez": _QWEN2,
    "starcoder": _DIGITS,
    "refact": _DIGITS,
    "command-r": _DIGITS,
    "smollm": _DIGITS,
    "codeshell": _DIGITS,
    "deepseek-v3": _Pre(("deepseek_v3",)),
    "tekken": _Pre(("tekken",), True),
    "gpt-4o": _O200K,
    "llama4": _O200K,
}


def read(source: Source) -> AnyModel:
    """Return the model of a GGUF file's vocabulary.

    Raises:
        ModelError: The file is malformed, holds no vocabulary or one of a kind that
            is not known, or the `gguf` package is missing.
    """
    fields = _fields(source.path)
    kind = fields.text("model")
    if kind == "gpt2":
        return _byte_level(source, fields)
    if kind == "llama":
        return _sentencepiece(source, fields)
    if kind is None:
        raise ModelError("it is a GGUF file without a vocabulary")
    raise ModelError(
        f"its vocabulary is of the kind {shown(kind)}; pybpe reads 'gpt2' (byte-level "
        "BPE) and 'llama' (sentencepiece's BPE)"
    )


class _Fields:
    """The metadata of a GGUF file, fetched by what follows `tokenizer.ggml.`."""

    def __init__(self, fields: Any) -> None:
        self._fields = fields

    def _get(self, name: str) -> Any:
        field = self._fields.get(_KEYS + name)
        if field is None:
            return None
        try:
            return field.contents()
        except Exception as error:
            raise ModelError(f"its {_KEYS}{name} cannot be read: {error}") from None

    def text(self, name: str) -> str | None:
        """Return a string, or None if there is none."""
        value = self._get(name)
        if value is not None and not isinstance(value, str):
            raise ModelError(f"its {_KEYS}{name} must be text, and is {shown(value)}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        """Return a yes or no, or the default if there is none."""
        value = self._get(name)
        if value is not None and not isinstance(value, bool):
            raise ModelError(f"its {_KEYS}{name} must be a bool, and is {shown(value)}")
        return default if value is None else value

    def token(self, name: str, n_tokens: int) -> int:
        """Return the id of a token, or -1 if there is none."""
        value = self._get(name)
        if value is None:
            return -1
        if type(value) is not int or not 0 <= value < n_tokens:
            raise ModelError(f"its {_KEYS}{name} is {shown(value)}, which is no token")
        return value

    def items(self, name: str, kind: type) -> list[Any]:
        """Return a list of strings or of numbers."""
        value = self._get(name)
        if value is None:
            raise ModelError(f"its {_KEYS}{name} is missing")
        if not isinstance(value, list) or not all(isinstance(x, kind) for x in value):
            raise ModelError(f"its {_KEYS}{name} must be a list of {kind.__name__}")
        return value


def _fields(path: str) -> _Fields:
    """Return the metadata of a GGUF file.

    Raises:
        ModelError: It cannot be read, or the package that reads it is missing.
        OSError: The file cannot be opened.
    """
    try:
        from gguf import GGUFReader
    except ImportError:
        raise ModelError(
            "it is a GGUF file, and the package that reads those is not installed: "
            "pip install 'pybpe[gguf]'"
        ) from None

    class Reader(GGUFReader):
        """Stops where the file ends: the package would go on reading nothing."""

        def _get(
            self, offset: Any, dtype: Any, count: Any = 1, *args: Any, **kwargs: Any
        ) -> Any:
            found = super()._get(offset, dtype, count, *args, **kwargs)
            if len(found) < count:
                raise EOFError(f"{count} numbers announced at byte {offset}")
            return found

    try:
        return _Fields(Reader(path).fields)
    except OSError:
        raise
    except Exception as error:
        # The package checks nothing; a damaged file fails with whatever comes first.
        raise ModelError(
            f"it is a GGUF file that cannot be read, probably cut off or damaged "
            f"({type(error).__name__}: {error})"
        ) from None


def _sentencepiece(source: Source, fields: _Fields) -> CodepointModel:
    """Return the model of a vocabulary whose tokens are made of characters."""
    from pybpe.codepoint import CONTROL, CodepointModel, Normalizer
    from pybpe.formats.sentencepiece import refuse_options

    refuse_options(source)
    tokens = [text.encode() for text in fields.items("tokens", str)]
    types = fields.items("token_type", int)
    scores = fields.items("scores", float)
    if not len(types) == len(tokens) == len(scores):
        raise ModelError(
            f"it holds {len(tokens)} tokens, but types for {len(types)} and scores for "
            f"{len(scores)} of them"
        )
    for number, kind in enumerate(types):
        if not _NORMAL <= kind <= _BYTE:
            raise ModelError(f"the token {number} is of type {kind}, which is none")
    bos, eos, unk, pad = (
        fields.token(f"{name}_token_id", len(tokens))
        for name in ("bos", "eos", "unknown", "padding")
    )

    def around(flag: str, number: int, default: bool) -> tuple[int, ...]:
        wanted = fields.flag(flag, default) and number >= 0
        return (number,) if wanted and types[number] == CONTROL else ()

    return CodepointModel(
        piece_data=b"".join(tokens),
        piece_lengths=array("I", map(len, tokens)),
        scores=array("f", scores),
        piece_types=bytes(types),
        byte_fallback=_BYTE in types,
        normalizer=Normalizer(
            name="identity",
            charsmap=b"",
            add_dummy_prefix=fields.flag("add_space_prefix", True),
            remove_extra_whitespaces=False,
            escape_whitespaces=True,
        ),
        unk_id=unk,
        bos_id=bos,
        eos_id=eos,
        pad_id=pad,
        text_prefix=around("add_bos_token", bos, True),
        text_suffix=around("add_eos_token", eos, False),
        provenance={"format": "gguf"},
    )


def _byte_level(source: Source, fields: _Fields) -> Model:
    """Return the model of a byte-level vocabulary."""
    name = fields.text("pre")
    pre = _PRES.get(name) if name is not None else None
    if pre is None and source.split is None:
        _refuse_pre(name)
    tokens = fields.items("tokens", str)
    types = fields.items("token_type", int)
    if len(types) != len(tokens):
        raise ModelError(
            f"it holds {len(tokens)} tokens, but types for {len(types)} of them"
        )
    ordinary: dict[bytes, int] = {}
    special: dict[str | bytes, int] = {}
    added: dict[str | bytes, int] = {}
    for number, (text, kind) in enumerate(zip(tokens, types, strict=True)):
        if kind in (_CONTROL, _UNKNOWN):
            special[text.encode()] = number
        elif kind == _USER_DEFINED:
            added[text.encode()] = number
        elif kind in (_NORMAL, _UNUSED):
            token = _token(text, number, kind)
            if token in ordinary:
                raise ModelError(
                    f"the token {shown(text)} has two ids, {ordinary[token]} and "
                    f"{number}"
                )
            ordinary[token] = number
        else:
            raise ModelError(
                f"the token {shown(text)} (id {number}) is of type {kind}, which no "
                "byte-level vocabulary has"
            )
    if source.special_tokens is not None:
        special = dict(source.special_tokens)
    return merges_model(
        ordinary,
        _merges(fields.items("merges", str)),
        split=source.split if source.split is not None else _split(pre),
        special=special_or_refuse(special, "special tokens"),
        added=special_or_refuse(added, "user-defined tokens"),
        whole_pretoken=pre is not None and pre.whole_pretoken,
        provenance={"format": "gguf", "pre": name or ""},
    )


def _split(pre: _Pre | None) -> Split:
    from pybpe.split import Split

    return Split.from_pattern(pre.stages if pre is not None else None)


def _token(text: str, number: int, kind: int) -> bytes:
    try:
        return _glyphs.to_bytes(text)
    except UnicodeEncodeError as error:
        if kind == _UNUSED:
            # Padding; no text becomes such a token, and it decodes to its name.
            return text.encode()
        raise ModelError(
            f"the token {shown(text)} (id {number}) holds {text[error.start]!r}, which "
            "stands for no byte"
        ) from None


def _merges(lines: list[str]) -> list[tuple[bytes, bytes]]:
    pairs = []
    for i, line in enumerate(lines):
        left, _, right = line.partition(" ")
        try:
            pair = _glyphs.to_bytes(left), _glyphs.to_bytes(right)
        except UnicodeEncodeError:
            pair = b"", b""
        if not all(pair):
            raise ModelError(
                f"merge {i + 1} is not two tokens with a space between: {shown(line)}"
            )
        pairs.append(pair)
    return pairs


def _refuse_pre(name: str | None) -> NoReturn:
    named = "names no split" if name is None else f"names the split {shown(name)}"
    raise ModelError(
        f"it {named} (tokenizer.ggml.pre), and pybpe does not know exactly how that "
        f"one cuts text; it knows {', '.join(_PRES)}. If you know, pass pattern="
    )
