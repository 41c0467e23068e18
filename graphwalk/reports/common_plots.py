"""Plots for any suite, from the rows of its report."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphwalk.reports.plots import AND, Panel, Plot, PlotPoint, Series
from graphwalk.reports.suite_report import CHANCE
from graphwalk.sanitise import one_line

if TYPE_CHECKING:
    from graphwalk.reports.report import Report

_WIDE = 20


def common_plots(report: "Report") -> Iterator[Plot]:
    """Yield accuracy by every shown breakdown."""
    for grouping in report.suite.groupings:
        if grouping.shown:
            yield by_group(report, grouping.name, f"Accuracy by {grouping.title}")


def by_model(report: "Report") -> Plot:
    """Plot a line per setting with a dot and interval per model, and with chance."""
    measure = report.suite.compared[0]
    rows = [row for row in report.rows if row.get(measure) is not None]
    guesses = [row for row in report.baselines if row["model"] == CHANCE]
    chance = [{**row, "setting": one} for row in guesses for one in dict.fromkeys(row["setting"] for row in rows)]
    series = (*series_of(rows, "setting", measure, 1), *series_of(chance, "setting", measure, 1, True))
    title, about = "Accuracy by model and setting", "Lines: 95 % intervals, clustered by graph."
    return Plot("accuracy-by-model", title, "dots", (Panel(series),), y="accuracy in %", about=about, percent=True)


def player_name(row: Mapping[str, Any], settings: int = 2) -> str:
    """Return model and setting, or the model alone if all have one setting."""
    return one_line(row["model"]) + (f"{AND}{one_line(row['setting'])}" if settings > 1 else "")


def by_group(report: "Report", grouping: str, title: str, measure: str = "accuracy") -> Plot:
    """Plot a line per group with a dot and interval per player; published players are hollow."""
    groups = {str(row[grouping]) for row in report.groups.get(grouping, ())}
    published = [row for row in report.published.groups.get(grouping, ()) if str(row[grouping]) in groups]
    series = _ours_and(published, report, grouping, measure, one_line)
    name = f"accuracy-by-{grouping.replace('_', '-')}"
    about = "Lines: 95 % intervals, clustered by graph." + (" Hollow: published results." if report.reference else "")
    return Plot(name, title, "dots", (Panel(series),), y="accuracy in %", about=about, percent=True)


def against_size(
    report: "Report",
    grouping: str,
    title: str,
    x: str,
    measure: str = "accuracy",
    y: str = "accuracy in %",
    *,
    percent: bool = True,
    baselines: Sequence[str] = (),
) -> Plot:
    """Plot a line per player against a numeric grouping. `baselines` are drawn like published players."""
    published = report.published.groups.get(grouping, ())
    computed = [row for row in report.baseline_groups.get(grouping, ()) if row["model"] in baselines]
    series = (
        *_ours_and(published, report, grouping, measure, float),
        *series_of(computed, grouping, measure, 1, True, x=float),
    )
    about = "Bars: 95 % intervals, clustered by graph." + (" Dashed: published results." if published else "")
    about += " Dashed grey: the scripted expert." if computed else ""
    name = f"{measure}-by-{grouping.replace('_', '-')}"
    numbers = [float(point.x) for one in series for point in one.points]
    is_wide = bool(numbers) and 0 < _WIDE * min(numbers) < max(numbers)
    return Plot(name, title, "lines", (Panel(series),), x, y, about, percent, logarithmic=is_wide)


def _ours_and(
    published: Iterable[Mapping[str, Any]],
    report: "Report",
    grouping: str,
    measure: str,
    x: Callable[[Any], str | float],
) -> tuple[Series, ...]:
    """Return the players of a run, then published ones."""
    settings, ours = len({row["setting"] for row in report.rows}), report.groups.get(grouping, ())
    others = series_of(published, grouping, measure, settings, True, x=x, mark=report.published.mark)
    return (*series_of(ours, grouping, measure, settings, x=x), *others)


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
    """Yield the rows of each player as points, except rows without a value. `x` places a group."""
    by_player: dict[str, list[PlotPoint]] = {}
    for row in rows:
        if row.get(measure) is not None:
            low, high = row.get("intervals", {}).get(measure, (None, None))
            name = player_name(row, settings) + mark * published
            by_player.setdefault(name, []).append(PlotPoint(x(row[grouping]), float(row[measure]), low, high))
    for name, points in by_player.items():
        yield Series(name, tuple(points), published)
