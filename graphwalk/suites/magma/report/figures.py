"""What is plotted of MAGMA: exact match by step and by size for every algorithm, and the classes of errors."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphwalk.report.declared import Report, ReportRow
from graphwalk.report.figures import Figure, Panel, Point, Series
from graphwalk.report.observations import Observations
from graphwalk.report.plots import PAPER, cost_against_accuracy, player_name, point
from graphwalk.suites.magma.generator.traces import ALGORITHMS

_ERRORS = {
    "missing_prefix_per_reply": "no prefix",
    "false_negatives_per_reply": "missing",
    "hallucinations_per_reply": "halluc.",
    "invalid_items_per_reply": "invalid",
}
_BY_SIZE = {
    "accuracy": ("final-by-size", "Final state exact, by size", "final states exact, in %"),
    "trajectory_exact": ("states-by-size", "All states exact, by size", "states exact, in %"),
}
_BARS = "Bars are 95 % intervals over graphs."


def magma_figures(report: Report, observed: Observations) -> Iterator[Figure]:
    for measure, (name, title, y) in _BY_SIZE.items():
        panels = tuple(_panels(report, "case", measure, published=True))
        yield Figure(name, title, "lines", panels, "nodes", y, f"{_BARS} Dashed: the paper's.", percent=True)
    sizes = dict.fromkeys(row["step"].split()[1] for row in report.groups.get("step", ()))
    for size in sorted(sizes, key=int):
        panels = tuple(_panels(report, "step", "step_exact", size=size))
        title = f"Exact states by step, {size} nodes"
        yield Figure(
            f"exact-by-step-n{size}", title, "lines", panels, "step", "states exact, in %", _BARS, percent=True
        )
    yield _heat(report)
    yield cost_against_accuracy(report)


def _panels(
    report: Report, grouping: str, measure: str, *, size: str | None = None, published: bool = False
) -> Iterator[Panel]:
    """One per algorithm. Groups are named `ALGORITHM SIZE`, and `ALGORITHM SIZE STEP`."""
    reference = list(_published(report)) if published else []
    for algorithm in ALGORITHMS:
        series = [
            *_series(report.groups.get(grouping, ()), grouping, measure, algorithm, size, ""),
            *_series(reference, grouping, measure, algorithm, size, PAPER),
        ]
        if any(not one.published for one in series):
            yield Panel(tuple(series), algorithm.replace("_", " "))


def _published(report: Report) -> Iterator[ReportRow]:
    """The paper's figures for sizes that were run here: of models that are ours too, and zero-shot ones."""
    ours = report.groups.get("case", [])
    cases, models = {row["case"] for row in ours}, {row["model"].rpartition("/")[2] for row in ours}
    for row in report.reference.groups.get("case", ()) if report.reference else ():
        if row["case"] in cases and (row["model"] in models or row["note"] == "zero-shot"):
            yield row


def _series(
    rows: Sequence[Mapping[str, Any]], grouping: str, measure: str, algorithm: str, size: str | None, mark: str
) -> Iterator[Series]:
    found: dict[str, list[Point]] = {}
    for row in rows:
        of, *numbers = row[grouping].split()
        if of == algorithm and row.get(measure) is not None and size in (None, numbers[0]):
            name = player_name(row) + mark
            found.setdefault(name, []).append(point(row, measure, float(numbers[-1])))
    for name, points in found.items():
        yield Series(name, tuple(sorted(points, key=lambda one: one.x)), bool(mark))


def _heat(report: Report) -> Figure:
    """Errors per reply: a panel per player, a row per algorithm."""
    players: dict[str, list[ReportRow]] = {}
    for row in report.groups.get("algorithm", ()):
        players.setdefault(player_name(row), []).append(row)
    panels = tuple(
        Panel(tuple(Series(row["algorithm"], tuple(_errors(row))) for row in rows if list(_errors(row))), name)
        for name, rows in players.items()
        if any(row.get(field) for row in rows for field in _ERRORS)
    )
    about = "Means over all replies; players without errors are left out."
    return Figure("errors-per-reply", "Errors per reply", "heat", panels, about=about)


def _errors(row: ReportRow) -> Iterator[Point]:
    for field, said in _ERRORS.items():
        if row.get(field) is not None:
            yield Point(said, float(row[field]))
