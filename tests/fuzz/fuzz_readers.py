"""Feed damaged files to the readers of models, counts and ids, over and over.

    python tests/fuzz/fuzz_readers.py [--count N | --seconds N] [--seed N] [FORMAT ...]

Small files of every format are made here, or by corpus_files.py, and changed: bytes,
JSON values, protobuf fields. Each must either load, and then encode, decode and be
saved and read again (or whatever its kind is for), or be refused with a ModelError or
another ValueError. Anything else, and anything that takes long, is a finding; the file
is kept in build/fuzz/readers/.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import copy
import faulthandler
import hashlib
import json
import random
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Behind what is installed or was chosen by PYTHONPATH.
sys.path += [str(ROOT), str(ROOT / "tests"), str(HERE)]

import corpus_files  # noqa: E402
import spm  # noqa: E402
import tokenizer_json_make  # noqa: E402

import pybpe  # noqa: E402
from pybpe import _glyphs  # noqa: E402
from pybpe._proto import pybpe_pb2, sentencepiece_pb2  # noqa: E402
from pybpe.byte_order import bytes_in_order  # noqa: E402

# A file that takes longer is a finding: the seeds take milliseconds.
SLOW = 5.0
# Past this a run is stopped with a traceback: it hangs.
HANGS = 120

PATTERN = r"\s+|\S+"
MERGES = [(b"h", b"e"), (b"l", b"l"), (b"he", b"ll"), (b" ", b" "), (b"\n", b"\n")]
TEXTS = [
    "",
    "hello  world 123\n\n",
    "\u2581he\u00e9ll\u4e2d\U0001f600 <s>ab\u0301</s>\0\ufffd",
    "a" * 300,
]


class Seed(NamedTuple):
    """A file to change, and how a changed one is loaded."""

    name: str
    data: bytes
    message: Any = None  # the protobuf message that it is
    beside: tuple[str, bytes] | None = None  # the other file of a pair
    options: dict[str, Any] = {}  # noqa: RUF012 - read only
    corpus: corpus_files.CorpusFile | None = None  # read otherwise
    root: tempfile.TemporaryDirectory[str] | None = None  # it is in there


# ------------------------------------------------------------------ seeds


def tokens() -> list[bytes]:
    """Return the single bytes in GPT-2's order, and what the merges make."""
    singles = [bytes([b]) for b in bytes_in_order("gpt2")]
    return singles + [left + right for left, right in MERGES]


def rank_files() -> Iterator[Seed]:
    lines = [b"%b %d\n" % (base64.b64encode(t), i) for i, t in enumerate(tokens())]
    options = {"pattern": PATTERN, "special_tokens": {"<s>": 300}}
    yield Seed("tiktoken", b"".join(lines), options=options)


def pairs() -> Iterator[Seed]:
    glyphs = _glyphs.to_characters
    vocab = json.dumps({glyphs(t): i for i, t in enumerate(tokens())}).encode()
    lines = ["#version: 0.2", *(" ".join(map(glyphs, pair)) for pair in MERGES), ""]
    merges = "\n".join(lines).encode()
    options = {"pattern": PATTERN}
    yield Seed("vocab.json", vocab, beside=("merges.txt", merges), options=options)
    yield Seed("merges.txt", merges, beside=("vocab.json", vocab), options=options)


def tekken() -> Iterator[Seed]:
    listed = [bytes([b]) for b in range(256)] + [b"he", b"ll", b"hell"]
    document = {
        "config": {
            "pattern": PATTERN,
            "num_vocab_tokens": len(listed),
            "default_vocab_size": 4 + len(listed),
            "default_num_special_tokens": 4,
            "version": "v3",
        },
        "vocab": [
            {"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None}
            for i, t in enumerate(listed)
        ],
        "special_tokens": [
            {"rank": i, "token_str": f"<{i}>", "is_control": True} for i in range(4)
        ],
    }
    yield Seed("tekken.json", json.dumps(document).encode())


def minbpe() -> Iterator[Seed]:
    text = f"minbpe v1\n{PATTERN}\n1\n<s> 300\n104 101\n108 108\n256 257\n"
    yield Seed("minbpe.model", text.encode())


def tokenizer_json() -> Iterator[Seed]:
    make, characters = tokenizer_json_make.make, tokenizer_json_make.characters
    added = tokenizer_json_make.added
    replace = {"type": "Replace", "pattern": {"Regex": " +"}, "content": "\u2581"}
    split = {
        "type": "Split",
        "pattern": {"Regex": r"\p{L}+|\p{N}{1,3}|\s+"},
        "behavior": "MergedWithNext",
        "invert": False,
    }
    parts = [
        make(added_tokens=[added("<s>", id=259, special=True, lstrip=True)]),
        make(
            normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}, replace]},
            pre_tokenizer={
                "type": "Sequence",
                "pretokenizers": [split, tokenizer_json_make.BYTE_LEVEL],
            },
            post_processor=tokenizer_json_make.template("<s>", "A"),
            added_tokens=[added("<s>", id=259), added("</s>", id=260)],
        ),
        characters(
            normalizer={
                "type": "Sequence",
                "normalizers": [
                    {"type": "Prepend", "prepend": "\u2581"},
                    tokenizer_json_make.MARKS,
                ],
            },
            unk_token="<",  # noqa: S106
            fuse_unk=True,
            added_tokens=[added("ab", id=3, normalized=True, single_word=True)],
        ),
    ]
    for document in parts:
        yield Seed("tokenizer.json", json.dumps(document).encode())


def sentencepiece() -> Iterator[Seed]:
    rng = random.Random(5)
    charsmap = sound_charsmap()
    for _ in range(8):
        data = spm.random_model(rng, [b"", charsmap])
        message = sentencepiece_pb2.Model.FromString(data)
        yield Seed("sp.model", data, message)


def sound_charsmap() -> bytes:
    """Return the serialised rule "A" -> "b": a root, one child, one value."""
    cells = [1 << 31] * 1024
    cells[0] = 256 << 10
    cells[256 ^ 65] = ((256 ^ 65) ^ 512) << 10 | 1 << 8 | 65
    cells[512] = 1 << 31
    return struct.pack("<I1024I", 4096, *cells) + b"b\0"


def own_models() -> Iterator[Seed]:
    """Files of pybpe's own: what the other seeds load to, and a trained one."""
    tok = pybpe.train(["low lower lowest"] * 3, vocab_size=260, pattern="gpt4")
    files = [tok.to_bytes()]
    with tempfile.TemporaryDirectory() as folder:
        for make in (rank_files, tokenizer_json, sentencepiece):
            for seed in make():
                loaded = load(Path(folder), seed, seed.data)
                if isinstance(loaded, pybpe.Tokenizer):
                    files.append(loaded.to_bytes())
    for data in files:
        yield Seed("own.pybpe", data, pybpe_pb2.Model.FromString(data[48:]))


def of_corpora(kind: str) -> Callable[[], Iterator[Seed]]:
    """Return what makes the seeds of a kind of corpus_files.py."""

    def make() -> Iterator[Seed]:
        root, files = corpus_files.files(kind)
        for file in files:
            yield Seed(file.name, file.data, corpus=file, root=root)

    return make


FORMATS: dict[str, Callable[[], Iterator[Seed]]] = {
    "tiktoken": rank_files,
    "gpt2": pairs,
    "tekken": tekken,
    "minbpe": minbpe,
    "tokenizer_json": tokenizer_json,
    "sentencepiece": sentencepiece,
    "pybpe": own_models,
    **{kind: of_corpora(kind) for kind in corpus_files.KINDS},
}

# ------------------------------------------------------------------ changes

ODD_BYTES = [b"\0", b"\xff", b"\n", b"\r\n", b" ", b'"', b"{", b"]", b"-1", b"\xe2\x96"]
ODD_BYTES += [
    b"4294967295",
    b"16777216",
    b"1e9",
    b"\xef\xbb\xbf",
    b"\xff\xff\xff\xff\x0f",
]
ODD_VALUES: list[Any] = [None, True, False, 0, -1, 1, 255, 256, 2**24, 2**31, 2**32]
ODD_VALUES += [2**64, 10**400, 0.5, 1e308, "", "a", "\u2581", "\ud800", "<s>", [], {}]
ODD_VALUES += ["(a+)+$", "(?<=a)", r"\X", "(", "[^\\s]", "ab" * 50, ["a", "b"], [[]]]


def change_bytes(rng: random.Random, data: bytes) -> bytes:
    """Return the data with one stretch overwritten, left out, doubled or moved."""
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice([0, 1, 1, 2, 8, 100]))
    piece = rng.choice(
        [
            bytes([rng.randrange(256)]),
            b"",
            rng.choice(ODD_BYTES),
            data[start:end] * 2,
            data[end : end + 20],
        ]
    )
    if rng.random() < 0.04:
        return data[:start]
    return data[:start] + piece + data[end:]


def change_numbers(rng: random.Random, data: bytes) -> bytes:
    """Return the data with one of the numbers at its beginning changed."""
    size = rng.choice([4, 8])
    at = rng.randrange(0, min(len(data) - 7, 64), 4)
    old = int.from_bytes(data[at : at + size], "little")
    new = rng.choice([0, 1, old + 1, old - 1, 2**31, 2**63, 2**64 - 1, old << 8, ~old])
    return data[:at] + (new % 256**size).to_bytes(size, "little") + data[at + size :]


def change_json(rng: random.Random, data: bytes) -> bytes:
    """Return the document with one value changed, left out or put elsewhere."""
    document = json.loads(data)
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        entries = list(value.items() if isinstance(value, dict) else enumerate(value))
        # Of long lists a few: the rest is the same.
        if len(entries) > 40:
            entries = rng.sample(entries, k=6)
        for key, inner in entries:
            places.append((value, key))
            if isinstance(inner, dict | list):
                walk(inner)

    walk(document)
    holder, key = rng.choice(places)
    kind = rng.randrange(5)
    if kind == 0:
        del holder[key]
    elif kind <= 2:
        holder[key] = copy.deepcopy(rng.choice(ODD_VALUES))
    else:
        other, other_key = rng.choice(places)
        holder[key] = copy.deepcopy(other[other_key])
    return json.dumps(document, ensure_ascii=rng.random() < 0.5).encode(
        errors="surrogatepass"
    )


def change_message(rng: random.Random, message: Any) -> bytes:
    """Return the serialised message with one field changed or left out."""
    changed = copy.deepcopy(message)
    inner = changed
    while True:
        fields = [field for field, _ in inner.ListFields()]
        if not fields:
            break
        field = rng.choice(fields)
        value = getattr(inner, field.name)
        repeated = field.is_repeated
        if field.message_type is None or rng.random() < 0.05:
            change_field(rng, inner, field, repeated)
            break
        inner = rng.choice(list(value)) if repeated else value
    data: bytes = changed.SerializeToString(deterministic=True)
    return data


def change_field(rng: random.Random, message: Any, field: Any, repeated: bool) -> None:
    """Change a field of a message in place."""
    value = getattr(message, field.name)
    if field.message_type is not None or repeated or rng.random() < 0.15:
        if repeated and len(value) and rng.random() < 0.7:
            if rng.random() < 0.5:
                del value[rng.randrange(len(value))]
            else:
                value.extend([copy.deepcopy(rng.choice(list(value)))])
        else:
            message.ClearField(field.name)
    elif isinstance(value, bytes):
        setattr(message, field.name, change_bytes(rng, value))
    elif isinstance(value, str):
        text = change_bytes(rng, value.encode()).decode(errors="replace")
        setattr(message, field.name, text)
    elif isinstance(value, float):
        setattr(message, field.name, rng.choice([0.0, float("nan"), 3e38, -1.0]))
    else:
        try:
            setattr(message, field.name, rng.choice([0, 1, 2, 255, 2**24, 2**32 - 1]))
        except (TypeError, ValueError):  # out of the field's range
            message.ClearField(field.name)


def change(rng: random.Random, seed: Seed) -> bytes:
    """Return a changed file, of one change or several."""
    data = seed.data
    own = seed.name.endswith(".pybpe")
    if seed.message is not None and rng.random() < 0.6:
        data = change_message(rng, seed.message)
        return seal(data) if own else data
    if own and rng.random() < 0.9:
        # The contents; the header is made to fit, or nothing would get past it.
        return seal(change_bytes(rng, data[48:]))
    if seed.corpus and seed.corpus.seal and rng.random() < 0.9:
        return seed.corpus.seal(change_bytes(rng, data))
    if seed.name.endswith(".tokens") and rng.random() < 0.5:
        return change_numbers(rng, data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if seed.name.endswith(".json") and rng.random() < 0.7:
            try:
                data = change_json(rng, data)
                continue
            except (ValueError, TypeError, AttributeError, IndexError):
                pass  # what was changed before is no JSON, or has nothing inside
        data = change_bytes(rng, data)
    return data


def seal(message: bytes) -> bytes:
    """Return a pybpe file with this message."""
    digest = hashlib.sha256(message).digest()
    return b"\x89pybpe\r\n" + struct.pack("<II", 1, len(message)) + digest + message


# ------------------------------------------------------------------ one file


def load(folder: Path, seed: Seed, data: bytes) -> pybpe.Tokenizer | ValueError:
    """Load a file; return the tokenizer or the refusal."""
    path = folder / seed.name
    path.write_bytes(data)
    if seed.beside:
        (folder / seed.beside[0]).write_bytes(seed.beside[1])
    try:
        return pybpe.load(path, **seed.options)
    except ValueError as error:  # ModelError is one
        if not str(error):
            raise AssertionError("a refusal without a message") from error
        return error


def check(tok: pybpe.Tokenizer) -> None:
    """Use everything; refusals with a ValueError are fine, as for a bad pattern."""
    want = []
    for text in TEXTS:
        ids = tok.encode(text, allowed_special="all")
        want.append(ids)
        assert tok.count(text, allowed_special="all") == len(ids)
        assert isinstance(tok.decode(ids), str)
        data = tok.decode_bytes(ids)
        assert isinstance(data, bytes)
        tok.encode(text.encode() + b"\xff\xe2\x96", allowed_special="all")
    assert tok.encode_batch(TEXTS, allowed_special="all") == want
    assert isinstance(tok.vocab, dict)
    again = pybpe.Tokenizer.from_bytes(tok.to_bytes())
    assert again == tok
    assert again.encode_batch(TEXTS, allowed_special="all") == want


def try_file(folder: Path, seed: Seed, data: bytes) -> str:
    """Load and use a file; return "loaded", "refused" or "useless".

    Useless is what loads and then refuses to encode with a ValueError.
    """
    if seed.corpus:
        return "refused" if corpus_files.read(seed.corpus, data) else "loaded"
    loaded = load(folder, seed, data)
    if isinstance(loaded, ValueError):
        return "refused"
    try:
        check(loaded)
    except ValueError:
        return "useless"
    return "loaded"


# ------------------------------------------------------------------ runs


def run(
    name: str, seed: int, count: int, seconds: float = float("inf")
) -> dict[str, int]:
    """Try `count` changed files of a format; return how often each end came up.

    Raises:
        AssertionError: One of them ended otherwise; the file is kept.
    """
    rng = random.Random(f"{name} {seed}")
    seeds = list(FORMATS[name]())
    ends = {"loaded": 0, "refused": 0, "useless": 0}
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        for first in seeds:
            if first.root:
                stack.callback(first.root.cleanup)
        for first in seeds:
            end = try_file(Path(folder), first, first.data)
            assert end == "loaded", f"the unchanged {first.name} of {name} was {end}"
        for number in range(count):
            if time.monotonic() - begin > seconds:
                break
            chosen = rng.choice(seeds)
            data = change(rng, chosen)
            start = time.process_time()  # other programs may be busy, too
            try:
                ends[try_file(Path(folder), chosen, data)] += 1
            except BaseException as error:
                kept = keep(chosen, data)
                raise AssertionError(
                    f"{name}, file {number} of seed {seed}: {error!r}; kept in {kept}"
                ) from error
            took = time.process_time() - start
            assert took < SLOW, f"{keep(chosen, data)} took {took:.1f} seconds"
    return ends


def keep(seed: Seed, data: bytes) -> Path:
    """Write a file that is a finding where it stays."""
    folder = ROOT / "build" / "fuzz" / "readers"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(data).hexdigest()[:12]}-{seed.name}"
    path.write_bytes(data)
    return path


def main() -> int:
    """Run as the arguments say; return the exit status."""
    parser = argparse.ArgumentParser(description="Fuzz the readers.")
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=", ".join(FORMATS))
    parser.add_argument("--count", type=int, default=sys.maxsize)
    parser.add_argument("--seconds", type=float, default=10, help="for each format")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if unknown := sorted(set(args.formats) - set(FORMATS)):
        parser.error(f"no format {unknown[0]}; there are {', '.join(FORMATS)}")
    failed = 0
    for name in args.formats or FORMATS:
        faulthandler.dump_traceback_later(args.seconds + HANGS, exit=True)
        try:
            ends = run(name, args.seed, args.count, args.seconds)
        except AssertionError as error:
            failed += 1
            sys.stdout.write(f"{name}: {error}\n")
            continue
        summary = ", ".join(f"{n} {end}" for end, n in ends.items())
        sys.stdout.write(f"{name}: {summary}\n")
        sys.stdout.flush()
    faulthandler.cancel_dump_traceback_later()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
