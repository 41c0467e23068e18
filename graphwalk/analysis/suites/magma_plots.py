"""Plots of a run."""

from collections.abc import Iterable, Iterator
from functools import partial

from graphwalk.reports.common_plots import player_name, series_of
from graphwalk.reports.plots import Panel, Plot
from graphwalk.reports.report import Report
from graphwalk.reports.suite_report import ReportRow
from graphwalk.suites.magma.generate import ALGORITHMS

_EXACT = {
    "accuracy": ("final", "Final state exact", "final states exact, in %"),
    "intermediate_exact": ("earlier", "Earlier states exact", "earlier states exact, in %"),
    "trajectory_exact": ("states", "All states exact", "states exact, in %"),
}
_BARS = "Bars: 95 % intervals, clustered by graph."
_STEPS = "Step 1 is the first step of the algorithm; 0 is the state before it."


def magma_plots(report: Report) -> Iterator[Plot]:
    published, ours = _published_rows(report), report.groups.get("algorithm", ())
    for measure, (name, title, y) in _EXACT.items():
        panel = Panel(tuple(series_of(ours, "algorithm", measure, x=_words)))
        about = f"Over all sizes. {_BARS}"
        yield Plot(f"{name}-average", f"{title}, over all sizes", "dots", (panel,), y=y, about=about, percent=True)
        panels = tuple(_panels(report, "case", measure, published=published))
        about = f"{_BARS} Dashed: the paper's."
        yield Plot(f"{name}-by-size", f"{title}, by size", "lines", panels, "nodes", y, about, percent=True)
    yield from _steps_and_sizes(report)


def _steps_and_sizes(report: Report) -> Iterator[Plot]:
    """Yield a plot per algorithm with a line per size (the paper's Figure 13)."""
    plot = partial(Plot, kind="lines", x="step", y="states exact, in %", percent=True)
    for algorithm in ALGORITHMS:
        players: dict[str, list[ReportRow]] = {}
        for row in _of(report.groups.get("step", ()), "step", algorithm):
            size = row["step"].split()[1]
            players.setdefault(player_name(row), []).append({**row, "model": f"{size} nodes"})
        if players:
            lines = partial(series_of, grouping="step", measure="step_exact", settings=1, x=_last_number)
            panels = tuple(Panel(tuple(lines(rows)), player) for player, rows in players.items())
            title = f"Exact states by step and size: {_words(algorithm)}"
            yield plot(f"exact-by-step-{algorithm.replace('_', '-')}", title, panels=panels, about=f"{_STEPS} {_BARS}")


def _of(rows: Iterable[ReportRow], grouping: str, algorithm: str) -> list[ReportRow]:
    """Return the rows of an algorithm. Groups are named `ALGORITHM SIZE` and `ALGORITHM SIZE STEP`."""
    return [row for row in rows if row[grouping].split()[0] == algorithm]


def _panels(report: Report, grouping: str, measure: str, published: Iterable[ReportRow] = ()) -> Iterator[Panel]:
    """Yield a panel per algorithm that was run; the number at the end of a group is its place."""
    for algorithm in ALGORITHMS:
        lines = partial(series_of, grouping=grouping, measure=measure, x=_last_number, mark=report.published.mark)
        ours = tuple(lines(_of(report.groups.get(grouping, ()), grouping, algorithm)))
        if ours:
            paper = lines(_of(published, grouping, algorithm), published=True)
            yield Panel((*ours, *paper), _words(algorithm))


def _last_number(group: str) -> float:
    return float(group.split()[-1])


def _words(algorithm: str) -> str:
    return algorithm.replace("_", " ")


def _published_rows(report: Report) -> list[ReportRow]:
    """Return the paper's figures for sizes of this run: of the same models, and of zero-shot ones."""
    ours = report.groups.get("case", [])
    cases, models = {row["case"] for row in ours}, {row["model"].rpartition("/")[2] for row in ours}
    rows = report.published.groups.get("case", ())
    return [r for r in rows if r["case"] in cases and (r["model"] in models or r["note"] == "zero-shot")]
