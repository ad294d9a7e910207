"""Write docs/compatibility.md: how every vocabulary compares with its reference.

    PYBPE_TEST_DATA=... python tools/make_compatibility.py

All numbers of the page are measured in this run. What is said by hand stands in
compatibility_template.md; its examples are run by tests/test_compatibility.py. The exit
status is 1 if anything differs or fails to load; the page is written all the same, and
says so.
"""

from __future__ import annotations

import argparse
import base64
import datetime
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from compatibility_peers import (
    ROOT,
    Compared,
    Difference,
    Subject,
    compare,
    llamacpp_vectors,
    loaded,
    read_corpora,
    subjects,
)

from pybpe import BpeError, Tokenizer

TEMPLATE = Path(__file__).with_name("compatibility_template.md")
PAGE = ROOT / "docs" / "compatibility.md"
MARK = "\u2581"

# tiktoken's names for the published files.
_CACHE = {
    "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4": "r50k_base.tiktoken",
    "6c7ea1a7e38e3a7f062df639a5b80947f075ffe6": "gpt2_encoder.json",
    "6d1cbeee0f20b3d9449abfede4726ed8212e3aee": "gpt2_vocab.bpe",
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4": "cl100k_base.tiktoken",
    "ec7223a39ce59f226a68acc30dc1af2788490e15": "p50k_base.tiktoken",
    "fb374d419588a4632f3f557e76b4b70aebbca790": "o200k_base.tiktoken",
}
_TIME = """
import time, pybpe
start = time.process_time()
{}
print(time.process_time() - start)
"""


class Row(NamedTuple):
    """What was found out about a vocabulary.

    Attributes:
        subject: The vocabulary.
        tok: Its tokenizer; None if it did not load.
        refusal: The message if it did not.
        reference: The package and its version, and notes.
        compared: What was compared; None if nothing was.
        n_vectors: How many test vectors of llama.cpp were compared.
        seconds: Load times of the original and of the same saved as a pybpe model.
    """

    subject: Subject
    tok: Tokenizer | None
    refusal: str = ""
    reference: str = ""
    compared: Compared | None = None
    n_vectors: int = 0
    seconds: tuple[float, float] | None = None

    @property
    def expected(self) -> bool:
        """Whether it is refused and has to be."""
        wanted = self.subject.refused
        return self.tok is None and bool(wanted) and wanted in self.refusal

    @property
    def fails(self) -> bool:
        """Whether anything is not as it should be."""
        if self.tok is None or self.subject.refused:
            return not self.expected
        return self.compared is None or bool(self.compared.differences)


# ------------------------------------------------------------------ measuring


def provide_cache(vocab: Path, folder: str) -> None:
    """Let pybpe and tiktoken find the published encodings in a folder of links.

    tiktoken deletes cached files whose hash is wrong, so it is never pointed at the
    data itself.
    """
    for name, file in _CACHE.items():
        Path(folder, name).symlink_to((vocab / "openai" / file).absolute())
    os.environ["TIKTOKEN_CACHE_DIR"] = folder


def seconds_of(expression: str, repeats: int) -> float:
    """Return the CPU time of an expression: the best of some fresh processes.

    On an idle machine that is how long it takes; on a busy one it is the better number.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    times = []
    for _ in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", _TIME.format(expression)],
            capture_output=True,
            check=True,
            env=environment,
            text=True,
        )
        times.append(float(done.stdout))
    return min(times)


def load_times(subject: Subject, tok: Tokenizer, repeats: int) -> tuple[float, float]:
    """Return the load times of a vocabulary and of the same as a pybpe model."""
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "saved.pybpe")
        tok.save(saved)
        return (
            seconds_of(subject.load, repeats),
            seconds_of(f"pybpe.load({str(saved)!r})", repeats),
        )


def examine(
    subject: Subject, corpora: dict[str, str], n_random: int, repeats: int
) -> Row:
    """Load a vocabulary, compare it and time it."""
    try:
        tok = loaded(subject)
    except BpeError as error:
        # Without the path: it is the data folder of whoever ran this.
        message = str(error).partition("': ")[2] or str(error)
        return Row(subject, None, message)
    if subject.peer is None:
        return Row(subject, tok, reference="none")
    peer = subject.peer(tok)
    compared = compare(tok, peer, corpora, n_random, subject.what)
    reference = peer.name + (f" ({peer.note})" if peer.note else "")
    n_vectors = 0
    if subject.kind == "gguf":
        path = Path(eval(subject.load, {"pybpe": _Path}))  # noqa: S307 - made by us
        n_vectors, different = llamacpp_vectors(tok, path)
        compared = compared._replace(differences=compared.differences + different)
        reference += "; llama.cpp's test vectors"
    times = load_times(subject, tok, repeats)
    return Row(subject, tok, "", reference, compared, n_vectors, times)


class _Path:
    """Stands for pybpe, to get the path out of `Subject.load`."""

    @staticmethod
    def load(path: str) -> str:
        return path


# ------------------------------------------------------------------ the page


def how_split(tok: Tokenizer) -> str:
    """Say how the split runs."""
    from pybpe.codepoint import CodepointModel

    model: Any = tok._model
    if isinstance(model, CodepointModel):
        return (
            "codepoint words"
            if cuts_words(model.pieces())
            else "codepoints, cut finely"
        )
    if not model.split.stages:
        return "no split"
    n = len(model.split.stages)
    stages = f", {n} stages" if n > 1 else ""
    where = "compiled" if model.split.compiled else "on `regex`"
    name = f" ({model.split.name})" if model.split.name is not None else ""
    return where + stages + name


def cuts_words(pieces: list[bytes]) -> bool:
    """Tell whether no piece has a mark behind another character."""
    texts = [piece.decode("utf-8", "replace") for piece in pieces]
    return not any(MARK in text.lstrip(MARK) for text in texts)


def normalizers(tok: Tokenizer) -> str:
    """Name the changes to text before it is encoded."""
    from pybpe.codepoint import CodepointModel

    model: Any = tok._model
    if not isinstance(model, CodepointModel):
        return ", ".join(_step(step) for step in model.normalizers) or "none"
    rules = model.normalizer
    parts = [rules.name or "unnamed"]
    parts += ["dummy prefix"] if rules.add_dummy_prefix else []
    parts += ["extra spaces removed"] if rules.remove_extra_whitespaces else []
    return ", ".join(parts)


def _step(step: Any) -> str:
    name = type(step).__name__
    return str(step.form) if name == "UnicodeForm" else name


def first_table(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of the table of what each vocabulary is."""
    yield "| family | read from | split | normalizers | special + added |"
    yield "|---|---|---|---|---|"
    for row in rows:
        cells = [row.subject.family, row.subject.what]
        if row.tok is None:
            how = "refused by name" if row.expected else "**FAILS TO LOAD**"
            cells += [how, "", ""]
        else:
            special, added = len(row.tok.special_tokens), len(row.tok.added_tokens)
            cells += [how_split(row.tok), normalizers(row.tok), f"{special} + {added}"]
        yield _line(cells)


def second_table(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of the table of what was compared."""
    yield (
        "| read from | reference | whole + lines + random (+ vectors) | differences | "
        "load, CPU s | as pybpe model, CPU s |"
    )
    yield "|---|---|---|---|---|---|"
    for row in rows:
        if row.tok is None:
            continue
        cells = [row.subject.what, row.reference]
        if row.compared is None:
            cells += ["nothing compared", "", "", ""]
        else:
            found = row.compared
            texts = f"{found.n_whole} + {found.n_lines:,} + {found.n_random:,}"
            texts += f" + {row.n_vectors}" if row.n_vectors else ""
            n = len(found.differences)
            cells += [texts, f"**{n}**" if n else "0"]
            cells += [f"{s:.3f}" for s in row.seconds or ()]
        yield _line(cells)


def refused_vocabularies(rows: list[Row]) -> Iterator[str]:
    """Yield what was refused, and how."""
    for row in rows:
        if row.tok is None:
            yield f"- {row.subject.what}: {row.refusal}"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def formats() -> Iterator[str]:
    """Yield each format that `pybpe.load` tells apart, with its reader's first line."""
    from importlib import import_module

    from pybpe.loading import _READERS

    for kind, (module, function) in _READERS.items():
        doc = import_module(module).__doc__ or ""
        about = doc.partition("\n")[0].rstrip(".")
        yield f"- `{kind}` ({module}.{function}): {about}."


def components() -> Iterator[str]:
    """Yield which parts of a `tokenizer.json` are read and which are refused."""
    for name, read, made in _every_component():
        taken, refused = [], []
        for kind, part in made:
            try:
                read(part)
            except BpeError:
                refused.append(kind)
            else:
                taken.append(kind)
        yield f"- {name}: read {', '.join(taken)}; refused {', '.join(refused) or '-'}."


def _every_component() -> Iterator[
    tuple[str, Callable[[Any], object], list[tuple[str, Any]]]
]:
    """Yield kinds of parts, what reads them here, and one of each that exists."""
    import tokenizers as hf

    from pybpe.formats import _hf_parts as parts
    from pybpe.formats._map_steps import compiled

    arguments: dict[str, tuple[Any, ...]] = {
        "Replace": ("a", "b"),
        "Prepend": ("_",),
        "Split": ("a", "isolated"),
        "CharDelimiterSplit": ("a",),
        "Precompiled": (),
        "BertProcessing": (("b", 1), ("a", 0)),
        "RobertaProcessing": (("b", 1), ("a", 0)),
    }
    kinds: list[tuple[str, Any, Callable[[Any], object], str]] = [
        ("normalizers", hf.normalizers, parts.normalizers, "Normalizer"),
        ("pre-tokenizers", hf.pre_tokenizers, parts.pre_tokenizer, "PreTokenizer"),
        ("post-processors", hf.processors, parts.post_processor, "PostProcessor"),
        ("decoders", hf.decoders, lambda part: parts.decoders(part, False), "Decoder"),
    ]
    for name, module, read, base in kinds:
        made = []
        for kind in sorted(vars(module)):
            found = getattr(module, kind)
            if not isinstance(found, type) or kind in (base, "DecodeStream"):
                continue
            if kind == "Precompiled":
                table = base64.b64encode(compiled({"a": "b"})).decode()
                made.append((kind, {"type": kind, "precompiled_charsmap": table}))
            elif kind == "Sequence":
                made.append((kind, json.loads(found([]).__getstate__())))
            elif kind == "TemplateProcessing":
                template = found(single="$A", special_tokens=[])
                made.append((kind, json.loads(template.__getstate__())))
            else:
                part = found(*arguments.get(kind, ()))
                made.append((kind, json.loads(part.__getstate__())))
        yield name, read, made


def gguf_names(rows: list[Row]) -> str:
    """Name the splits of GGUF files that are known, those first that were compared."""
    from pybpe.formats.gguf import _PRES

    tested = {
        str(row.tok._model.provenance["pre"])
        for row in rows
        if row.subject.kind == "gguf" and row.tok is not None and row.compared
        if "pre" in row.tok._model.provenance
    }
    names = ", ".join(f"`{name}`" for name in sorted(tested & _PRES.keys()))
    others = ", ".join(f"`{name}`" for name in _PRES if name not in tested)
    return f"compared in this run: {names}; not compared, known by name: {others}"


def page(rows: list[Row], command: str, facts: dict[str, str]) -> str:
    """Return the page."""
    packages = ["pybpe", "tiktoken", "tokenizers", "sentencepiece", "gguf", "regex"]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    values = {
        "COMMAND": command,
        "DATE": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "VERSIONS": versions,
        "MACHINE": f"CPython {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores",
        "VERDICT": verdict(rows),
        "WHAT": "\n".join(first_table(rows)),
        "COMPARED": "\n".join(second_table(rows)),
        "REFUSED": "\n".join(refused_vocabularies(rows)),
        "FORMATS": "\n".join(formats()),
        "COMPONENTS": "\n".join(components()),
        "GGUF": gguf_names(rows),
        **facts,
    }
    text = TEMPLATE.read_text("utf-8")
    for name, value in values.items():
        place = "{{" + name + "}}"
        if place not in text:
            raise ValueError(f"{TEMPLATE.name} does not say where {place} goes")
        text = text.replace(place, value)
    if "{{" in text:
        at = text.index("{{")
        raise ValueError(f"{TEMPLATE.name} asks for {text[at : at + 20]!r}")
    return text


def verdict(rows: list[Row]) -> str:
    """Say how many vocabularies were compared and how many texts differ."""
    done = [row.compared for row in rows if row.compared is not None]
    n_texts = sum(each.n_whole + each.n_lines + each.n_random for each in done)
    n_texts += sum(row.n_vectors for row in rows)
    n = sum(len(each.differences) for each in done)
    failed = [row.subject.what for row in rows if row.tok is None and not row.expected]
    text = (
        f"{len(done)} vocabularies, {n_texts:,} comparisons of ids and decoded text: "
        f"{n:,} differences."
    )
    if failed:
        text += f" **Not loaded: {', '.join(failed)}.**"
    return text


# ------------------------------------------------------------------ main


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--quick",
        action="store_true",
        help="beginnings of the texts, fewer random ones, one load; not for the page "
        "that is committed",
    )
    parser.add_argument("-o", "--output", type=Path, help="default: the committed page")
    options = parser.parse_args()
    if options.quick and options.output is None:
        parser.error("--quick needs --output: the committed page is of a full run")
    if not os.environ.get("PYBPE_TEST_DATA"):
        parser.error("PYBPE_TEST_DATA must name the test data's folder")
    return options


def main() -> int:
    """Measure, write the page and report what is wrong."""
    options = arguments()
    data = Path(os.environ["PYBPE_TEST_DATA"])
    limit, n_random, repeats = (20_000, 300, 1) if options.quick else (None, 20_000, 3)
    corpora = read_corpora(data / "corpora", limit)
    rows = []
    with tempfile.TemporaryDirectory(prefix="pybpe-tiktoken-") as folder:
        provide_cache(data / "vocab", folder)
        for subject in subjects(data / "vocab"):
            row = examine(subject, corpora, n_random, repeats)
            rows.append(row)
            print(report(row), file=sys.stderr, flush=True)
    command = shlex.join(["python", "tools/make_compatibility.py", *sys.argv[1:]])
    if options.output is None:
        command = "python tools/make_compatibility.py"
    facts = {
        "N_RANDOM": f"{n_random:,}",
        "SIZES": ", ".join(f"{n} {len(t):,}" for n, t in corpora.items()),
        "REPEATS": str(repeats),
    }
    text = page(rows, command, facts)
    (options.output or PAGE).write_text(text, "utf-8")
    return int(any(row.fails for row in rows))


def report(row: Row) -> str:
    """Return the lines about a vocabulary for whoever runs this."""
    name = f"{row.subject.family}: {row.subject.what}"
    if row.tok is None:
        return f"{name}: {'refused' if row.expected else 'FAILS'}: {row.refusal}"
    if row.compared is None:
        return f"{name}: FAILS: there is no reference"
    lines = [f"{name}: {len(row.compared.differences)} differences, {row.seconds}"]
    shown: list[Difference] = row.compared.differences[:5]
    return "\n    ".join([*lines, *map(str, shown)])


if __name__ == "__main__":
    sys.exit(main())
