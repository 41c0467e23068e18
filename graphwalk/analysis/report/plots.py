"""The plots of a run as data frames, from the rows of its report."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from graphwalk.analysis.report.report import Report
from graphwalk.analysis.report.suite_report import ACCURACY, GUESSES, PROVEN, SIZE, ReportRow
from graphwalk.sanitise import one_line

Points = list[dict[str, Any]]


@dataclass(frozen=True)
class Plot:
    """A plot of percentages. `name`: stem of its files. `about`: caption. `x` and `y`: titles of the axes.

    With a title of the x axis it has lines against a number, else a dot per group with its interval. `points` has the
    columns `player`, `x` (a number or the name of a group), `y`, the ends `low` and `high` of its interval, and
    `published`: of a paper or a baseline.
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
        numbers = self.points.filter(~pl.col("published")).group_by("player").len()["len"].to_list()
        return max(numbers, default=0) >= (2 if self.x else 1)


def plots_of(report: Report) -> list[Plot]:
    """Return the plots that show results of a run, beginning with models and settings."""
    plots = (by_model(report), *(report.suite.plots or common_plots)(report))
    return [plot for plot in plots if plot.shows_results]


def common_plots(report: Report) -> Iterator[Plot]:
    """Yield accuracy by every breakdown, for suites without plots of their own."""
    for grouping in report.suite.groupings:
        yield by_group(report, grouping.name, f"Accuracy by {grouping.title}")


def by_model(report: Report) -> Plot:
    """Plot a line per setting with a dot and interval per model, and with chance and the best constant answer."""
    rows = [row for row in report.rows if row[ACCURACY] is not None]
    settings = dict.fromkeys(row["setting"] for row in rows)
    guesses = [{**row, "setting": one} for row in report.baselines if row["model"] in GUESSES for one in settings]
    points = [*_ours(rows, "setting"), *_points(guesses, "setting", published=True)]
    about = "Lines: 95 % intervals, clustered by graph."
    return Plot("accuracy-by-model", "Accuracy by model and setting", _frame(points, pl.String), about)


def by_group(report: Report, grouping: str, title: str, measure: str = ACCURACY) -> Plot:
    """Plot a line per group with a dot and interval per player; published players are hollow."""
    groups = {row[grouping] for row in report.groups.get(grouping, ())}
    published = [row for row in report.reference.groups.get(grouping, ()) if row[grouping] in groups]
    points = _ours_and(published, report, grouping, measure)
    hollow = " Hollow: published results." if report.reference.source else ""
    about = f"Lines: 95 % intervals, clustered by graph.{hollow}"
    return Plot(f"accuracy-by-{grouping.replace('_', '-')}", title, _frame(points, pl.String), about)


def against_size(report: Report, x: str, baselines: Iterable[str] = ()) -> Plot:
    """Plot a line per player against the size of graphs. `baselines` are drawn like published players."""
    published = report.reference.groups.get(SIZE, ())
    computed = [row for row in report.baseline_groups.get(SIZE, ()) if row["model"] in baselines]
    points = [*_ours_and(published, report, SIZE), *_points(computed, SIZE, published=True)]
    about = "Bars: 95 % intervals, clustered by graph." + (" Dashed: published results." if published else "")
    about += " Dashed: the scripted expert." if computed else ""
    return Plot("accuracy-by-size", "Accuracy by size of the graph", _frame(points, pl.Float64), about, x)


def _ours_and(published: Iterable[ReportRow], report: Report, grouping: str, measure: str = ACCURACY) -> Points:
    """Return the players of a run, then published ones, named by model and setting if there are several settings."""
    names = ("model", "setting") if len({row["setting"] for row in report.rows}) > 1 else ("model",)
    ours = _ours(report.groups.get(grouping, ()), grouping, measure, names)
    return [*ours, *_points(published, grouping, measure, names, mark=report.reference.mark, published=True)]


def _ours(
    rows: Iterable[ReportRow], x: str, measure: str = ACCURACY, names: Sequence[str] = ("model",)
) -> Iterator[dict[str, Any]]:
    """Yield the points of players, with their right and proven answers beside accuracy."""
    yield from _points(rows, x, measure, names)
    if measure == ACCURACY:
        yield from _points(rows, x, PROVEN, names, mark=", right and proven")


def _points(
    rows: Iterable[ReportRow],
    x: str,
    measure: str = ACCURACY,
    names: Sequence[str] = ("model",),
    *,
    mark: str = "",
    published: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield a point per row with a value. `x` and `names`: its fields that place it and name its player."""
    for row in rows:
        if row.get(measure) is not None:
            low, high = row.get("intervals", {}).get(measure, (None, None))
            player = " · ".join(one_line(row[name]) for name in names) + mark
            yield {
                "player": player,
                "x": one_line(row[x]),
                "y": row[measure],
                "low": low,
                "high": high,
                "published": published,
            }


def _frame(points: Points, x: type[pl.DataType]) -> pl.DataFrame:
    columns = {"player": pl.String, "x": pl.String, "y": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(points, {**columns, "published": pl.Boolean}, strict=False).with_columns(pl.col("x").cast(x))
