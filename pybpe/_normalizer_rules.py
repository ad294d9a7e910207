"""Where the rules of a normalizer come from: the sentencepiece package, or a model.

The rules are tables of some 240 KB that differ between versions of sentencepiece. They
are not part of pybpe; a trained model carries its own.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from pybpe._piece_options import IDENTITY
from pybpe.codepoint import CodepointModel, Normalizer
from pybpe.errors import TrainingError

if TYPE_CHECKING:
    from pybpe._piece_options import Options
    from pybpe.tokenizer import Tokenizer


def normalizers(
    options: Options, source: Tokenizer | None
) -> tuple[Normalizer, Normalizer | None]:
    """Return what changes texts before encoding, and after decoding if anything does.

    Args:
        options: The options of training.
        source: A tokenizer whose rules to take over; None for the package's.

    Raises:
        TrainingError: There is no source for the rules.
        ValueError: The name or the file makes no sense.
    """
    name: str = options["normalization_rule_name"]
    files = {
        key: options[key]
        for key in ("normalization_rule_tsv", "denormalization_rule_tsv")
        if options[key]
    }
    denormalizer = None
    if source is not None:
        name, charsmap = _of_model(options, source)
    elif files:
        name, charsmap, denormalizer = _of_files(name, files)
    elif name == IDENTITY:
        charsmap = b""
    else:
        charsmap = _of_package(normalization_rule_name=name).normalizer.charsmap
    normalizer = Normalizer(
        name=name,
        charsmap=charsmap,
        add_dummy_prefix=options["add_dummy_prefix"],
        remove_extra_whitespaces=options["remove_extra_whitespaces"],
        escape_whitespaces=True,
    )
    return normalizer, denormalizer


def _of_model(options: Options, source: Tokenizer) -> tuple[str, bytes]:
    from pybpe.tokenizer import Tokenizer

    if not isinstance(source, Tokenizer):
        raise TypeError(
            f"normalizer_from must be a Tokenizer, got {type(source).__name__}"
        )
    model = source._model
    if not isinstance(model, CodepointModel):
        raise ValueError(f"normalizer_from: {source!r} is no sentencepiece model")
    for key in (
        "normalization_rule_name",
        "normalization_rule_tsv",
        "denormalization_rule_tsv",
    ):
        if key in options.given:
            raise ValueError(f"give normalizer_from or {key}, not both")
    return model.normalizer.name or "user_defined", model.normalizer.charsmap


def _of_files(name: str, files: dict[str, str]) -> tuple[str, bytes, Normalizer | None]:
    if "normalization_rule_tsv" not in files:
        files["normalization_rule_name"] = name
    model = _of_package(**files)
    made = model.normalizer
    return made.name, made.charsmap, model.denormalizer


def _of_package(**options: Any) -> CodepointModel:
    """Return a tiny model that the sentencepiece package trains with these rules."""
    from pybpe.formats.sentencepiece import model_from_bytes

    try:
        import sentencepiece
    except ImportError:
        what = " and ".join(f"{key}={value!r}" for key, value in options.items())
        raise TrainingError(
            f"{what} needs rules that come with the sentencepiece package: pip install "
            "'pybpe[sentencepiece]'; or give normalizer_from, a tokenizer that has "
            "them; or normalization_rule_name='identity', which needs none"
        ) from None
    out = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["a"]),
            model_writer=out,
            model_type="bpe",
            vocab_size=300,
            byte_fallback=True,
            hard_vocab_limit=False,
            minloglevel=2,
            num_threads=1,
            **options,
        )
    except (RuntimeError, OSError, ValueError) as error:
        raise ValueError(f"sentencepiece refuses these rules: {error}") from None
    return model_from_bytes(out.getvalue())
