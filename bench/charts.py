"""Draw docs/charts/*.svg: charts.py [RESULTS] [--to FOLDER].

RESULTS is what `compare.py --json` wrote, bench/results.json if none is named. Needs
matplotlib (`pip install --group charts`). Equal results give equal files: no date, no
random names. The ground is left out and the ink is a middle grey, so that a chart can
be read on a light page and on a dark one; text stays text.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import report

ROOT = Path(__file__).resolve().parent.parent
INK = "#74787c"  # about 4 : 1 or more against white and against #0d1117
OURS = "#2f81f7"
THEIRS = "#9aa0a6"


def bars(
    axis: Any, labels: Sequence[str], values: Sequence[float | None], title: str
) -> None:
    """Draw horizontal bars, the first label at the top, each with its number."""
    places = range(len(labels), 0, -1)
    widths = [value or 0 for value in values]
    colours = [OURS if label == "pybpe" else THEIRS for label in labels]
    drawn = axis.barh(places, widths, color=colours, height=0.7)
    shown = [report.number(value) if value else "" for value in values]
    axis.bar_label(drawn, shown, padding=3, color=INK, fontsize=8)
    axis.set_yticks(places, labels, color=INK, fontsize=9)
    axis.set_title(title, color=INK, fontsize=10, loc="left")
    axis.set_xlim(0, 1.2 * max([*widths, 1e-9]))
    axis.set_xticks([])
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)


def figure(n_rows: int, n_columns: int, n_bars: int, title: str) -> tuple[Any, Any]:
    """Return a figure and its axes in rows."""
    from matplotlib.figure import Figure

    size = (3.1 * n_columns + 0.4, n_rows * (0.25 * n_bars + 0.5) + 0.4)
    made = Figure(figsize=size, layout="constrained")
    made.suptitle(title, color=INK, fontsize=11, x=0.01, ha="left")
    return made, made.subplots(n_rows, n_columns, squeeze=False)


def save(made: Any, path: Path) -> None:
    nothing = {"Date": None, "Creator": None}
    made.savefig(path, format="svg", transparent=True, metadata=nothing)
    # One line feed at each line's end, and no spaces before it.
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    path.write_text(text, encoding="utf-8")


def encode(results: report.Results, folder: Path) -> None:
    """Draw a row for each encoding, a column for each text."""
    some = report.select(results, part="encode", case="documents")
    if not some:
        return
    encodings = report.distinct(some, "encoding")
    texts = report.distinct(some, "text")
    libraries = report.distinct(some, "library")
    made, axes = figure(
        len(encodings),
        len(texts),
        len(libraries),
        "Encoding documents of 4,000 characters on one core, MB/s",
    )
    for encoding, row in zip(encodings, axes, strict=True):
        for text, axis in zip(texts, row, strict=True):
            cell = report.select(some, encoding=encoding, text=text)
            found = {result["library"]: report.speed(result) for result in cell}
            values = [found.get(name) for name in libraries]
            bars(axis, libraries, values, f"{encoding}, {text}")
    save(made, folder / "encode.svg")


def train(results: report.Results, folder: Path) -> None:
    """Draw seconds above memory, a column for each text."""
    some = report.select(results, part="train")
    if not some:
        return
    texts = report.distinct(some, "text")
    libraries = report.distinct(some, "library")
    made, axes = figure(
        2,
        len(texts),
        len(libraries),
        f"Training {some[0]['bytes'] / 1e6:.0f} MB to {some[0]['vocab_size']:,} tokens "
        "on one core",
    )
    for column, text in enumerate(texts):
        cell = report.select(some, text=text)
        for row, key, unit in ((0, "seconds", "seconds"), (1, "rss_mb", "peak MB")):
            found = {result["library"]: result[key] for result in cell}
            values = [found.get(name) for name in libraries]
            bars(axes[row][column], libraries, values, f"{text}, {unit}")
    save(made, folder / "train.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    results = Path(__file__).with_name("results.json")
    parser.add_argument("results", nargs="?", type=Path, default=results)
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "charts")
    args = parser.parse_args()
    import matplotlib as mpl

    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["svg.hashsalt"] = "pybpe"
    mpl.rcParams["font.family"] = "sans-serif"
    content = json.loads(args.results.read_text(encoding="utf-8"))
    args.to.mkdir(parents=True, exist_ok=True)
    encode(content["results"], args.to)
    train(content["results"], args.to)


if __name__ == "__main__":
    main()
