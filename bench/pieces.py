"""Encode documents with a sentencepiece model, as encoding.py does with the others."""

from __future__ import annotations

from functools import partial

import common
import peers
from encoding import compare, encode_all

import pybpe

LIBRARIES = ("gigatoken", "sentencepiece")


def make(library: str, model: str) -> peers.Peer:
    """Return a tokenizer of a library, new."""
    if library == "pybpe":
        # The others take what spells a control piece for plain text, too.
        encode = pybpe.load(model).encode_to_numpy
        return peers.Peer(partial(encode, disallowed_special=()))
    if library == "gigatoken":
        import gigatoken

        tokenizer = gigatoken.Tokenizer.from_sentencepiece(model)
        return peers.Peer(tokenizer.encode, over_bytes=True)
    import sentencepiece

    return peers.Peer(
        sentencepiece.SentencePieceProcessor(model_file=model).encode_as_numpy
    )


def main() -> None:
    parser = common.arguments(__doc__, LIBRARIES)
    parser.set_defaults(text="english,multilingual")
    parser.add_argument("--model", default="llama2_tokenizer.model")
    args = parser.parse_args()
    libraries = common.installed(args.peers, LIBRARIES)
    path = str(common.data("vocab", "sentencepiece", args.model))
    common.pin(1)
    for kind in args.text.split(","):
        texts = common.documents(common.read(kind, 20, args.mb))
        sizes = [len(text.encode()) for text in texts]
        made = {name: make(name, path) for name in libraries}
        spent = dict.fromkeys(libraries, 0.0)
        for round_number, stretch in enumerate(common.segments(sizes, 2_000_000)):
            for name in common.turns(libraries, round_number):
                given = made[name].form(texts[stretch])
                work = partial(encode_all, made[name].encode, given)
                spent[name] += common.seconds(work)
        compare(made, texts, f"{args.model}, {kind}")
        for name in libraries:
            common.record(
                "sentencepiece",
                model=args.model,
                text=kind,
                library=name,
                bytes=sum(sizes),
                seconds=spent[name],
            )


if __name__ == "__main__":
    main()
