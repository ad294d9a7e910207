"""Which engine runs which kind of model."""

from __future__ import annotations

from pybpe import _binding, _engine_bpe
from pybpe._typing import TYPE_CHECKING
from pybpe.model import MERGES, UNMATCHED, Model

if TYPE_CHECKING:
    from pybpe._engine_pieces import PieceEngine
    from pybpe.codepoint import CodepointModel

    AnyModel = Model | CodepointModel
    AnyEngine = _engine_bpe.Engine | PieceEngine


def new_engine(model: AnyModel) -> AnyEngine:
    """Return the engine of a model: the core alone, if it is enough.

    Raises:
        TypeError: It is no model.
        ModelError: The parts contradict each other.
    """
    if isinstance(model, Model):
        if model.split.compiled and not (
            model.split.changes or model.normalizers or model.decoders or model.flags
        ):
            return _engine_bpe.new_engine(model)
        from pybpe import _pipeline

        if _pipeline.is_needed(model):
            return _pipeline.PipelineEngine(model)
        return _engine_bpe.new_engine(model)
    from pybpe.codepoint import CodepointModel

    if isinstance(model, CodepointModel):
        from pybpe import _engine_pieces

        return _engine_pieces.new_engine(model)
    raise TypeError(
        f"Tokenizer() takes a Model or a CodepointModel, got {type(model).__name__}; "
        "to make a tokenizer use pybpe.train, pybpe.load or Tokenizer.from_..."
    )


def piece_engine(engine: AnyEngine, what: str) -> PieceEngine:
    """Return the engine, which must be one of a sentencepiece model.

    Raises:
        ValueError: It is another; `what` names what only the former can do.
    """
    if isinstance(engine, _engine_bpe.Engine):
        raise ValueError(
            f"{what} is for sentencepiece models only, and this is a byte-level one"
        )
    return engine


def added_tokens(model: AnyModel) -> list[tuple[bytes, int]]:
    """Return the added tokens that are found in texts."""
    flags = model.flags if isinstance(model, Model) else {}
    return [
        (token, number)
        for token, number in model.added_tokens
        if not flags.get(number, 0) & UNMATCHED
    ]


def find_merges(model: AnyModel, engine: AnyEngine) -> list[tuple[int, int]]:
    """Return the pairs of ids in rank order; see `Tokenizer.merges`.

    Raises:
        ValueError: The model is sentencepiece's.
    """
    if not isinstance(model, Model) or not isinstance(engine, _engine_bpe.Engine):
        raise ValueError(
            "a sentencepiece model has no list of merges: any two neighbours whose "
            "concatenation is a piece are joined, those of the best score first"
        )
    if model.semantics == MERGES:
        flat = model.merges.tolist()
        return list(zip(flat[::2], flat[1::2], strict=True))
    return list(_binding.recover_merges(engine.model, model.token_ids).values())
