"""The plots of a run as data frames, from the rows of its report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from graphwalk.analysis.report.names import model_names
from graphwalk.analysis.report.report import Report
from graphwalk.analysis.report.rows import Group, ReportRow
from graphwalk.analysis.report.suite_report import ACCURACY, BASELINE, GUESSES, PROVEN, SIZE
from graphwalk.sanitise import one_line

PROVEN_MARK = ", right and proven"
"""The end of the name of a series of right and proven answers."""
_COLUMNS: dict[str, type[pl.DataType]] = {
    "contestant": pl.String,
    "x": pl.String,
    "y": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "published": pl.Boolean,
    "proven": pl.Boolean,
}


@dataclass(frozen=True)
class Plot:
    """A plot of percentages. `name`: stem of its files. `about`: caption. `x` and `y`: titles of the axes.

    With a title of the x axis it has lines against a number, else a dot per group with its interval. `points` has the
    columns `contestant`, `x` (a number or the name of a group), `y`, the ends `low` and `high` of its interval, and
    `published` (of a paper or a baseline) and `proven` (right and proven answers, of a contestant with `PROVEN_MARK`).
    """

    name: str
    title: str
    points: pl.DataFrame
    about: str
    x: str = ""
    y: str = "accuracy in %"

    @property
    def shows_results(self) -> bool:
        """Return True if it shows results of our own; a line needs two points."""
        numbers = self.points.filter(~pl.col("published")).group_by("contestant").len()["len"].to_list()
        needed = 2 if self.x else 1
        return max(numbers, default=0) >= needed


def plots_of(report: Report) -> list[Plot]:
    """Return the plots that show results of a run, beginning with models and settings."""
    of_suite = report.suite.plots or common_plots
    plots = [by_model(report), *of_suite(report)]
    return [plot for plot in plots if plot.shows_results]


def common_plots(report: Report) -> Iterator[Plot]:
    """Yield accuracy by every breakdown, for suites without plots of their own."""
    for grouping in report.suite.groupings:
        yield by_group(report, grouping.name, f"Accuracy by {grouping.title}")


def by_model(report: Report) -> Plot:
    """Plot a line per setting with a dot and interval per model, and with chance and the best constant answer."""
    places: list[tuple[ReportRow, Group]] = [(row, str(row.setting)) for row in report.rows]
    # A guess is the same in all settings, and has a dot in each.
    settings = dict.fromkeys(str(row.setting) for row in report.rows if row.figures.get(ACCURACY) is not None)
    for row in report.baselines:
        if row.model in GUESSES:
            places += [(row, setting) for setting in settings]
    about = "Lines: 95 % intervals, clustered by graph."
    return Plot("accuracy-by-model", "Accuracy by model and setting", _points(places, with_setting=False), about)


def by_group(report: Report, grouping: str, title: str, measure: str = ACCURACY) -> Plot:
    """Plot a line per group with a dot and interval per contestant; published contestants are hollow."""
    about = "Lines: 95 % intervals, clustered by graph."
    if report.reference.source:
        about += " Hollow: published results."
    name = f"accuracy-by-{grouping.replace('_', '-')}"
    return Plot(name, title, _of_groups(report, grouping, measure), about)


def against_size(report: Report, x: str, baselines: Sequence[str] = ()) -> Plot:
    """Plot a line per contestant against the size of graphs. `baselines` are drawn like published contestants."""
    about = "Bars: 95 % intervals, clustered by graph. Dashed: published results and baselines."
    points = _of_groups(report, SIZE, baselines=baselines).with_columns(pl.col("x").cast(pl.Float64))
    return Plot("accuracy-by-size", "Accuracy by size of the graph", points, about, x)


def _of_groups(
    report: Report, grouping: str, measure: str = ACCURACY, *, baselines: Sequence[str] = ()
) -> pl.DataFrame:
    """Return the points of contestants, of published ones, and of these baselines.

    Settings are named if there are several.
    """
    places: list[tuple[ReportRow, Group]] = []
    for row in report.all_rows(grouping):
        if row.group is not None and (row.setting.name != BASELINE or row.model in baselines):
            places.append((row, row.group))
    settings = {row.setting for row in report.rows}
    return _points(places, measure, with_setting=len(settings) > 1)


def _points(places: Sequence[tuple[ReportRow, Group]], measure: str = ACCURACY, *, with_setting: bool) -> pl.DataFrame:
    """Return a point per row with a value, at its place on the x axis, with right and proven answers beside accuracy.

    Those of baselines and published results come last, so that a contestant has the same colour in all plots.
    """
    played = [row.model for row, _ in places if not _is_hollow(row)]
    short_names = model_names(played)
    measures = [measure, PROVEN] if measure == ACCURACY else [measure]

    points = []
    for name in measures:
        for row, place in places:
            value = row.figures.get(name)
            if value is None:
                continue
            is_hollow = _is_hollow(row)
            # "qwen · tools, right and proven"
            contestant = one_line(row.model) if is_hollow else short_names[row.model]
            if with_setting and row.setting.name != BASELINE:
                contestant += f" · {one_line(row.setting)}"
            if name == PROVEN:
                contestant += PROVEN_MARK
            interval = row.intervals.get(name)
            low = None if interval is None else interval.low
            high = None if interval is None else interval.high
            points.append((contestant, one_line(place), value, low, high, is_hollow, name == PROVEN))
    # Stable: False, of our own results, is before True.
    points.sort(key=lambda point: point[5])
    return pl.DataFrame(points, _COLUMNS, orient="row", strict=False)


def _is_hollow(row: ReportRow) -> bool:
    """Return True for results of a paper and of a baseline."""
    return row.is_published or row.setting.name == BASELINE
