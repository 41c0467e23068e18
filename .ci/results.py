"""The tables and the picture of docs/results.md and README.md, from the published runs in results/.

python .ci/results.py       writes the picture docs/results-sizes.svg
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.compare import compare_runs
from graphwalk.analysis.report.plot_files import page_svg
from graphwalk.analysis.report.plots import Plot, against_size
from graphwalk.analysis.report.report import Report, report_of
from graphwalk.analysis.report.suite_report import BASELINE, CHANCE, CONSTANT, PROVEN
from graphwalk.runs.folder import RunFolder

ROOT = Path(__file__).resolve().parents[1]
TAUGHT = ("walking-walk-long", "walking-read-long")
UNTAUGHT = ("comparison-qwen-1.5b",)
STEPS = ("magma-is-0", "magma-is-1", "magma-io-0", "magma-io-1")
BASE = ("magma-base",)
COPY = "repeat the previous state"

Row = Mapping[str, Any]


def folder_of(name: str) -> RunFolder:
    return RunFolder.open(ROOT / "results" / f"{name}.zip")


@cache
def report_on(runs: tuple[str, ...]) -> Report:
    """Return the report of published runs, measured together."""
    folders = [folder_of(name) for name in runs]
    return report_of(folders[0], chain.from_iterable(map(explained, folders)))


def player(row: Row) -> str:
    """Return model and setting, without the model's server; a baseline has no setting."""
    model = row["model"].rpartition("/")[2]
    return model if row["setting"] == BASELINE else f"{model} {row['setting']}"


def number(row: Row | None, measure: str) -> str:
    """Return a percentage with its 95 % interval, or – if it has no value."""
    if row is None or row.get(measure) is None:
        return "–"
    interval = row["intervals"].get(measure)
    return f"{row[measure]:.1f}" + (f" ({interval[0]:.1f}–{interval[1]:.1f})" if interval else "")


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def verdict(*runs: str) -> str:
    """Return what `graphwalk compare` concludes, as a list without servers and folders; sizes are left out."""
    sentences = compare_runs([ROOT / "results" / f"{name}.zip" for name in runs]).verdict
    chosen = [text for text in sentences if not text.startswith(("Wrong answers", "Graph size"))]
    return "\n".join(f"* {re.sub(r'openai-api/local/| @ [-.a-z0-9]+', '', text)}" for text in chosen)


def shares(runs: tuple[str, ...]) -> str:
    """Return a table of the players: right, right and proven answers; and what a guess and a constant get right."""
    report = report_on(runs)
    guesses = {row["model"]: row for row in report.baselines}

    def rows() -> Iterator[list[str]]:
        for row in report.rows:
            constant, chance = (number(guesses.get(name), "accuracy") for name in (CONSTANT, CHANCE))
            yield [player(row), str(row["scored"]), number(row, "accuracy"), number(row, PROVEN), constant, chance]

    return table(["", "answers", "right %", "right and proven %", "best constant %", "chance %"], rows())


def groups(runs: tuple[str, ...], grouping: str, title: str) -> str:
    """Return a table of right answers in %: a row per group, a column per player and baseline without the expert."""
    report = report_on(runs)
    rows = [*report.groups[grouping], *report.baseline_groups.get(grouping, ())]
    players = [name for name in dict.fromkeys(map(player, rows)) if not name.startswith("expert")]

    def lines() -> Iterator[list[str]]:
        for group in dict.fromkeys(row[grouping] for row in rows):
            cells = {player(row): number(row, "accuracy").split()[0] for row in rows if row[grouping] == group}
            yield [title.format(group), *(cells.get(name, "–") for name in players)]

    return table(["", *players], lines())


def states() -> str:
    """Return the shares of exact states: final ones, all, and those that have a state before."""
    report = report_on(STEPS + BASE)
    measures = {"final state": "accuracy", "all states": "trajectory_exact", "states after the first": "later_exact"}

    def rows() -> Iterator[list[str]]:
        for row in [*report.rows, *(row for row in report.baselines if row["model"] == COPY)]:
            yield [player(row), str(row["tasks"]), *(number(row, measure) for measure in measures.values())]

    return table(["", "traces", *(f"{title} %" for title in measures)], rows())


def origins(runs: Sequence[str]) -> str:
    """Return the commit and the date of runs in words."""
    manifests = [folder_of(name).read_manifest() for name in runs]
    dates = {f"{(one['commit'] or 'unknown')[:8]}, {one['created'][:10]}" for one in manifests}
    return "; ".join(sorted(dates))


def picture() -> Plot:
    """Return the accuracy of the taught players by size of the graph, with that of the baselines."""
    plot = against_size(report_on(TAUGHT), "nodes of the graph", (CHANCE, CONSTANT))
    names = pl.col("player").str.replace(".*/", "").str.replace(" · ", " ", literal=True)
    return replace(plot, name="results-sizes", points=plot.points.with_columns(names))


if __name__ == "__main__":
    plot = picture()
    (ROOT / "docs" / f"{plot.name}.svg").write_text(page_svg(plot), encoding="utf-8")
