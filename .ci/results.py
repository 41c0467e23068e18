"""The tables and pictures of docs/results.md, from the published runs in results/.

python .ci/results.py       writes the page's pictures, docs/results-*.svg
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from graphwalk.reports.observations import Observations
from graphwalk.reports.plot_files import page_svg
from graphwalk.reports.plots import Panel, Plot
from graphwalk.reports.suite_report import Report
from graphwalk.runs.finished.reporting import measured
from graphwalk.runs.run_folder import RunFolder

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"

Row = Mapping[str, Any]


class Player(NamedTuple):
    model: str
    """Without its server."""
    setting: str

    @property
    def words(self) -> str:
        return f"{self.model} {self.setting}"


def published(pattern: str) -> list[str]:
    """Return the names of the published runs that match a pattern."""
    return sorted(path.stem for path in RESULTS.glob(f"{pattern}.zip"))


@cache
def together(pattern: str) -> tuple[Report, Observations]:
    """Measure all published runs that match a pattern as one."""
    folders = [RunFolder.open(RESULTS / f"{name}.zip") for name in published(pattern)]
    return measured(folders[0], chain.from_iterable(folder.records() for folder in folders))


def player(row: Row, which: str = "") -> Player:
    """Return the player of a row; `which`: first_ or second_, of a pair."""
    return Player(row[f"{which}model"].rpartition("/")[2], row[f"{which}setting"])


def row_of(rows: Sequence[Row], wanted: Player) -> Row:
    return next(row for row in rows if player(row) == wanted)


def number(row: Row, measure: str, digits: int = 1) -> str:
    """Return a measure with its 95 % interval, or – if it has no value."""
    value = row.get(measure)
    if value is None:
        return "–"
    interval = row["intervals"].get(measure)
    return f"{value:.{digits}f}" + (f" ({interval[0]:.{digits}f}–{interval[1]:.{digits}f})" if interval else "")


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def with_figures(text: str) -> str:
    """Return a text with each {RUNS: MODEL SETTING: MEASURE} replaced by the rounded mean of the players that match."""

    def figure(match: re.Match[str]) -> str:
        runs, wanted, measure = match[1].split(": ")
        report, _ = together(runs)
        rows = [*report.rows, *report.baselines]
        return f"{fmean(row[measure] for row in rows if fnmatchcase(player(row).words, wanted)):.0f}"

    return re.sub(r"\{([^}]+)\}", figure, text)


MAGMA = (
    ("final state", "accuracy", 1),
    ("earlier states", "intermediate_exact", 1),
    ("trajectory", "trajectory_exact", 1),
    ("F1", "f1", 2),
    ("F1 of the trajectory", "trajectory_f1", 2),
    ("missing prefix", "missing_prefix_per_reply", 2),
    ("false negatives", "false_negatives_per_reply", 2),
    ("hallucinations", "hallucinations_per_reply", 2),
    ("invalid items", "invalid_items_per_reply", 2),
)
"""Title, measure and digits of the columns; shares in percent, errors per reply."""


def magma_table() -> str:
    report, _ = together("magma-*")
    by_player = {player(row): row for row in [*report.rows, *report.baselines]}

    def rows() -> Iterator[list[str]]:
        for name, row in by_player.items():
            yield [f"`{name.model}`", name.setting, str(row["tasks"]), *(number(row, *column[1:]) for column in MAGMA)]
            pair = [by_player.get(Player(f"{name.setting}-{seed}", name.setting)) for seed in (0, 1)]
            if row is pair[-1] and (first := pair[0]):
                means = [f"{(first[measure] + row[measure]) / 2:.{digits}f}" for _, measure, digits in MAGMA]
                yield [f"mean of `{name.setting}-0` and `-1`", name.setting, str(row["tasks"]), *means]

    return table(["model", "asked", "traces", *(title for title, *_ in MAGMA)], rows())


WALKING = (Player("walk-0", "tools"), Player("read-0", "no_tools"), Player("base", "tools"), Player("base", "no_tools"))


def walking_table() -> str:
    """Return accuracy by size, by kind of question, and over all."""
    report, _ = together("walking-*")
    players = [one for one in WALKING if one in map(player, report.rows)]

    def rows() -> Iterator[list[str]]:
        for grouping, words in {"nodes": "{} nodes", "question": "`{}`"}.items():
            grouped = report.groups[grouping]
            for group in dict.fromkeys(row[grouping] for row in grouped):
                yield [words.format(group), *cells([row for row in grouped if row[grouping] == group])]
        yield ["all", *cells(report.rows)]

    def cells(rows: Sequence[Row]) -> Iterator[str]:
        yield str(rows[0]["tasks"])
        yield from (number(row_of(rows, one), "accuracy") for one in players)

    return table(["", "questions", *(f"`{one.words}`" for one in players)], rows())


PAIRS = {
    "magma-*": (
        ("is-0 is", "io-0 io"),
        ("is-1 is", "io-1 io"),
        ("is-0-free is", "io-0 io"),
        ("ish-0 ish", "is-0 is"),
        ("io-0 io", "base io"),
        ("is-0 is", "base is"),
        ("io-0 io", "qwen-1.5b io"),
        ("is-0 is", "qwen-1.5b is"),
    ),
    "walking-*": (
        ("walk-0 tools", "read-0 no_tools"),
        ("walk-0 tools", "base tools"),
        ("read-0 no_tools", "base no_tools"),
    ),
}
"""Compared players, first and second, by published runs."""


def differences() -> str:
    """Return a table of paired differences, first − second, between the players that have run."""

    def rows() -> Iterator[list[str]]:
        for runs, pairs in PAIRS.items():
            compared: dict[tuple[str, str], Row] = {}
            for pair in together(runs)[0].comparisons:
                compared[player(pair, "first_").words, player(pair, "second_").words] = pair["measures"]
            for names in pairs:
                sign = 1 if names in compared else -1
                if measures := compared.get(names) or compared.get(names[::-1]):
                    cells = [cell(measures.get(measure), sign) for measure in ("accuracy", "trajectory_exact")]
                    yield [*(f"`{name}`" for name in names), str(measures["accuracy"]["tasks"]), *cells]

    def cell(measure: Row | None, sign: int) -> str:
        if measure is None:
            return "–"
        low, high = sorted(sign * end for end in measure["interval"])
        return f"{sign * measure['difference']:+.1f} ({low:+.1f} to {high:+.1f})"

    return table(["first", "second", "tasks", "correct, or final state", "trajectory"], rows())


def untaught_table() -> str:
    """Return how untaught models did on questions and mazes, and why answers were wrong; a row per run and setting."""

    def rows() -> Iterator[list[str]]:
        for name in [*published("questions-*"), *published("mazes-*")]:
            report, observed = together(name)
            what, _, model = name.partition("-")
            for row in report.rows:
                causes = {words: row.get(cause) or 0 for cause, words in observed.suite.causes.items()}
                commonest = sorted(causes, key=lambda words: -causes[words])[:3]
                why = ", ".join(f"{words} {causes[words]}" for words in commonest if causes[words])
                calls = str(row["tool_calls"]) if row["setting"] != "no_tools" else "–"
                limits = str(row["turn_limits"]) if row["setting"] != "no_tools" else "–"
                last_mile, grounded = str(row.get("last_mile", "–")), number(row, "grounded", 2)
                tasks, correct = str(row["tasks"]), number(row, "accuracy")
                yield [
                    what,
                    f"`{model}`",
                    row["setting"],
                    tasks,
                    correct,
                    calls,
                    limits,
                    last_mile,
                    grounded,
                    why or "–",
                ]

    head = "task, model, setting, tasks, correct %, calls, turn limit, last mile, grounded, causes of wrong answers"
    return table(head.split(", "), rows())


PICTURES = {
    ("magma", "states-average"): ("io-0 io", "is-0 is", "is-0-free is", "ish-0 ish", "qwen-1.5b is", "base is"),
    ("walking", "accuracy-by-nodes"): ("walk-0 tools", "read-0 no_tools"),
}
"""Players of a picture, by runs and the plot of their report."""


def pictures() -> Iterator[Plot]:
    """Yield the pictures of the page, with models named without their server."""
    for (runs, figure), players in PICTURES.items():
        suite = RunFolder.open(RESULTS / f"{published(f'{runs}-*')[0]}.zip").suite
        plot = next(plot for plot in suite.presentation.figures(*together(f"{runs}-*")) if plot.name == figure)
        yield replace(plot, name=f"results-{runs}", panels=tuple(of_players(panel, players) for panel in plot.panels))


def of_players(panel: Panel, players: Sequence[str]) -> Panel:
    """Return a panel with the series of some players."""
    named = (replace(series, name=series.name.rpartition("/")[2].replace(" · ", " ")) for series in panel.series)
    return replace(panel, series=tuple(series for series in named if series.name in players))


def main() -> None:
    for plot in pictures():
        (ROOT / "docs" / f"{plot.name}.svg").write_text(page_svg(plot), encoding="utf-8")


if __name__ == "__main__":
    main()
