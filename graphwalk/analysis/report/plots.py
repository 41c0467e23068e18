"""The plots of a run as plain data, from the rows of its report."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphwalk.analysis.report.report import Report
from graphwalk.analysis.report.suite_report import GUESSES, PROVEN, SIZE
from graphwalk.sanitise import one_line

_PROVEN_MARK = ", right and proven"


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """`x` is a number, or the name of a group; `low` and `high` are the ends of the interval of `y`, if it has one."""

    x: str | float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """The points of a player. `published`: from a paper, or a baseline."""

    name: str
    points: tuple[PlotPoint, ...]
    published: bool = False


@dataclass(frozen=True)
class Plot:
    """A plot of percentages. `name`: stem of its files. `about`: caption. `x` and `y`: titles of the axes.

    With a title of the x axis it has lines against a number, else a dot per group with its interval.
    """

    name: str
    title: str
    series: tuple[Series, ...]
    y: str
    about: str
    x: str = ""

    @property
    def shows_results(self) -> bool:
        """Return True if it shows results of our own; a line needs two points."""
        most = max((len(one.points) for one in self.series if not one.published), default=0)
        return most >= (2 if self.x else 1)


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
    measure = report.suite.compared[0]
    rows = [row for row in report.rows if row.get(measure) is not None]
    settings = dict.fromkeys(row["setting"] for row in rows)
    guesses = [{**row, "setting": one} for row in report.baselines if row["model"] in GUESSES for one in settings]
    proven = series_of(rows, "setting", PROVEN, 1, mark=_PROVEN_MARK) if measure == "accuracy" else ()
    guesses_series = series_of(guesses, "setting", measure, 1, True)
    series = (*series_of(rows, "setting", measure, 1), *proven, *guesses_series)
    about = "Lines: 95 % intervals, clustered by graph."
    return Plot("accuracy-by-model", "Accuracy by model and setting", series, "accuracy in %", about)


def by_group(report: Report, grouping: str, title: str, measure: str = "accuracy") -> Plot:
    """Plot a line per group with a dot and interval per player; published players are hollow."""
    groups = {str(row[grouping]) for row in report.groups.get(grouping, ())}
    published = [row for row in report.reference.groups.get(grouping, ()) if str(row[grouping]) in groups]
    series = _ours_and(published, report, grouping, measure, one_line)
    hollow = " Hollow: published results." if report.reference.source else ""
    about = f"Lines: 95 % intervals, clustered by graph.{hollow}"
    return Plot(f"accuracy-by-{grouping.replace('_', '-')}", title, series, "accuracy in %", about)


def against_size(report: Report, x: str, baselines: Iterable[str] = ()) -> Plot:
    """Plot a line per player against the size of graphs. `baselines` are drawn like published players."""
    published = report.reference.groups.get(SIZE, ())
    computed = [row for row in report.baseline_groups.get(SIZE, ()) if row["model"] in baselines]
    series = (
        *_ours_and(published, report, SIZE, "accuracy", float),
        *series_of(computed, SIZE, "accuracy", 1, True, x=float),
    )
    about = "Bars: 95 % intervals, clustered by graph." + (" Dashed: published results." if published else "")
    about += " Dashed grey: the scripted expert." if computed else ""
    return Plot("accuracy-by-size", "Accuracy by size of the graph", series, "accuracy in %", about, x)


def _ours_and(
    published: Iterable[Mapping[str, Any]],
    report: Report,
    grouping: str,
    measure: str,
    x: Callable[[Any], str | float],
) -> tuple[Series, ...]:
    """Return the players of a run, with their right and proven answers beside accuracy, then published ones."""
    settings, ours = len({row["setting"] for row in report.rows}), report.groups.get(grouping, ())
    others = series_of(published, grouping, measure, settings, True, x=x, mark=report.reference.mark)
    proven = series_of(ours, grouping, PROVEN, settings, x=x, mark=_PROVEN_MARK) if measure == "accuracy" else ()
    return (*series_of(ours, grouping, measure, settings, x=x), *proven, *others)


def series_of(
    rows: Iterable[Mapping[str, Any]],
    grouping: str,
    measure: str,
    settings: int = 2,
    published: bool = False,
    *,
    x: Callable[[Any], str | float] = one_line,
    mark: str = "",
) -> Iterator[Series]:
    """Yield the rows of each player as points, except rows without a value. `x` places a group.

    A player is named by model and setting, or by the model alone if all have one setting, and the mark.
    """
    by_player: dict[str, list[PlotPoint]] = {}
    for row in rows:
        if row.get(measure) is not None:
            low, high = row.get("intervals", {}).get(measure, (None, None))
            name = one_line(row["model"]) + (f" · {one_line(row['setting'])}" if settings > 1 else "")
            point = PlotPoint(x(row[grouping]), float(row[measure]), low, high)
            by_player.setdefault(name + mark, []).append(point)
    for name, points in by_player.items():
        yield Series(name, tuple(points), published)
