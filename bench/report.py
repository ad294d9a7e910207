"""Write the tables of docs/performance.md: report.py [RESULTS] [--page FILE].

RESULTS is what `compare.py --json` wrote, bench/results.json if none is named. In the
page, what stands between `<!-- bench: NAME -->` and `<!-- bench: end -->` is replaced;
all else stays as it is. Parts that were not measured leave their tables as they are.
"""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_ENOUGH = 10  # MB; in less, caches are hardly filled
Result = dict[str, Any]
Results = list[Result]

BLOCK = re.compile(
    r"(<!-- bench: (?!end)([\w ]+) -->\n)(.*?)(<!-- bench: end -->)", re.DOTALL
)


def speed(result: Result) -> float:
    """Return megabytes a second."""
    return float(result["bytes"]) / 1e6 / float(result["seconds"])


def number(value: float) -> str:
    """Return about three digits."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.{1 if value >= 10 else 2}f}"


def select(results: Results, **wanted: Any) -> Results:
    return [r for r in results if all(r.get(k) == v for k, v in wanted.items())]


def distinct(results: Results, key: str) -> list[Any]:
    """Return the values of a key, in the order in which they come."""
    return list(dict.fromkeys(result[key] for result in results))


def table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    lines = [list(map(str, head))]
    lines.append(["---", *["---:"] * (len(lines[0]) - 1)])
    lines += [list(map(str, row)) for row in rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def grid(
    results: Results,
    columns: Callable[[Result], str],
    cell: Callable[[Result], str],
    first: str = "library",
) -> str:
    """Return a table: a row for each library (or whatever), a column for each case."""
    rows = dict.fromkeys(result[first] for result in results)
    heads = list(dict.fromkeys(columns(result) for result in results))
    found = {(result[first], columns(result)): cell(result) for result in results}
    return table(
        ["" if first == "library" else first, *heads],
        ([row, *(found.get((row, head), "") for head in heads)] for row in rows),
    )


def machine(content: Result) -> str:
    """Say where, when, and with what the figures were measured."""
    box = content["machine"]
    versions = [f"{name} {text}" for name, text in content["versions"].items()]
    text = (
        f"Measured on {content['date']}: {box['processor']}, {box['cores']} cores, "
        f"{box['memory_gb']} GB, {box['system']}, CPython {box['python']}; "
        f"{', '.join(versions)}."
    )
    most = content["most_mb"]
    if most is not None and most < _ENOUGH:
        text += (
            f" **A short run, with no more than {most:g} MB of each text:"
            " the figures only show what the tables look like.**"
        )
    elif most is not None:
        text += f" No more than {most:g} MB of each text."
    return textwrap.fill(text, 88, break_on_hyphens=False) + "\n"


def encode(results: Results) -> str:
    """Return a table for each encoding and way, in MB/s."""
    out = []
    for encoding in distinct(results, "encoding"):
        for case in distinct(results, "case"):
            some = select(results, encoding=encoding, case=case)
            sizes = sorted({round(result["bytes"] / 1e6) for result in some})
            words = " or ".join(f"{size} MB" for size in sizes)
            title = {
                "documents": f"documents of 4,000 characters, {words} of each text",
                "first 5 MB": "the first segment of them, with a new tokenizer",
                "one text": f"one text of {words} in one call, with a new tokenizer",
            }[case]
            out.append(f"{encoding}, {title}, MB/s:\n")
            out.append(grid(some, _text, lambda r: number(speed(r))))
    return "\n".join(out)


def sentencepiece(results: Results) -> str:
    return grid(results, _text, lambda r: number(speed(r)))


def batches(results: Results) -> str:
    def column(result: Result) -> str:
        plural = "s" if result["threads"] > 1 else ""
        return f"{result['text']}, {result['threads']} thread{plural}"

    order = sorted(results, key=lambda r: (r["threads"], results.index(r)))
    return grid(order, column, lambda r: number(speed(r)))


def tiny(results: Results) -> str:
    def column(result: Result) -> str:
        return f"{result['text']}, {result['way']}"

    return grid(results, column, lambda r: number(r["microseconds"]))


def message(results: Results) -> str:
    return grid(results, _text, lambda r: number(r["microseconds"]))


def train(results: Results) -> str:
    def cell(result: Result) -> str:
        memory = result["rss_mb"]
        there = f", {memory:.0f} MB" if memory else ""
        return number(result["seconds"]) + " s" + there

    one = results[0]
    size = round(one["bytes"] / 1e6)
    head = f"{size} MB of each text to {one['vocab_size']:,} tokens, one thread:\n\n"
    return head + grid(results, _text, cell)


def growth(results: Results) -> str:
    """Return MB/s at each size, all sizes of a job in one cell."""
    rows = []
    jobs = distinct(results, "job")
    for shape in distinct(results, "shape"):
        row = [shape]
        for job in jobs:
            found = select(results, job=job, shape=shape)
            row.append(", ".join(number(speed(result)) for result in found))
        rows.append(row)
    return table(["text", *jobs], rows)


def load(results: Results) -> str:
    rows = []
    for result in results:
        memory = result["rss_mb"]
        file = (
            "the one saved by pybpe" if result["file"] == "its own" else result["file"]
        )
        rows.append(
            [
                f"{result['model']}: {file}",
                result["library"],
                number(result["ms"]),
                f"{memory:.0f}" if memory else "",
            ]
        )
    return table(["file", "library", "ms", "peak MB"], rows)


def _text(result: Result) -> str:
    return str(result["text"])


PARTS: dict[str, Callable[[Results], str]] = {
    "encode": encode,
    "sentencepiece": sentencepiece,
    "batches": batches,
    "tiny": tiny,
    "message": message,
    "train": train,
    "growth": growth,
    "load": load,
}


def blocks(content: Result) -> dict[str, str]:
    """Return the text of each block that there are results for."""
    found = {"machine": machine(content)}
    for part, write in PARTS.items():
        if results := select(content["results"], part=part):
            found[part] = write(results)
    return found


def fill(page: str, content: Result) -> str:
    """Return the page with its blocks renewed."""
    made = blocks(content)

    def renewed(match: re.Match[str]) -> str:
        begin, name, old, end = match.groups()
        return begin + made.get(name, old) + end

    return BLOCK.sub(renewed, page)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    results = Path(__file__).with_name("results.json")
    parser.add_argument("results", nargs="?", type=Path, default=results)
    page = ROOT / "docs" / "performance.md"
    parser.add_argument("--page", type=Path, default=page, help="default: %(default)s")
    args = parser.parse_args()
    content = json.loads(args.results.read_text(encoding="utf-8"))
    text = args.page.read_text(encoding="utf-8")
    args.page.write_text(fill(text, content), encoding="utf-8")


if __name__ == "__main__":
    main()
