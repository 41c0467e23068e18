"""The plots of a run as data frames, from the rows of its report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import polars as pl

from graphwalk.analysis.report.names import model_names
from graphwalk.analysis.report.report import Report
from graphwalk.analysis.report.suite_report import ACCURACY, BASELINE, GUESSES, PROVEN, SIZE, ReportRow
from graphwalk.sanitise import one_line

PROVEN_MARK = ", right and proven"
"""The end of the name of a series of right and proven answers."""
_COLUMNS = {
    **{"player": pl.String, "x": pl.String, "y": pl.Float64, "low": pl.Float64, "high": pl.Float64},
    "published": pl.Boolean,
    "proven": pl.Boolean,
}


@dataclass(frozen=True)
class Plot:
    """A plot of percentages. `name`: stem of its files. `about`: caption. `x` and `y`: titles of the axes.

    With a title of the x axis it has lines against a number, else a dot per group with its interval. `points` has the
    columns `player`, `x` (a number or the name of a group), `y`, the ends `low` and `high` of its interval, and
    `published` (of a paper or a baseline) and `proven` (right and proven answers, of a player with `PROVEN_MARK`).
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
    settings = dict.fromkeys(row["setting"] for row in report.rows if row[ACCURACY] is not None)
    rows = [{**row, "place": row["setting"]} for row in report.rows]
    rows += [{**row, "place": place} for row in report.baselines if row["model"] in GUESSES for place in settings]
    about = "Lines: 95 % intervals, clustered by graph."
    return Plot("accuracy-by-model", "Accuracy by model and setting", _points(rows, "place", ("model",)), about)


def by_group(report: Report, grouping: str, title: str, measure: str = ACCURACY) -> Plot:
    """Plot a line per group with a dot and interval per player; published players are hollow."""
    hollow = " Hollow: published results." if report.reference.source else ""
    about = f"Lines: 95 % intervals, clustered by graph.{hollow}"
    name = f"accuracy-by-{grouping.replace('_', '-')}"
    return Plot(name, title, _points(_rows(report, grouping), grouping, _names(report), measure), about)


def against_size(report: Report, x: str, baselines: Sequence[str] = ()) -> Plot:
    """Plot a line per player against the size of graphs. `baselines` are drawn like published players."""
    about = "Bars: 95 % intervals, clustered by graph. Dashed: published results and baselines."
    points = _points(_rows(report, SIZE, baselines), SIZE, _names(report)).with_columns(pl.col("x").cast(pl.Float64))
    return Plot("accuracy-by-size", "Accuracy by size of the graph", points, about, x)


def _rows(report: Report, grouping: str, baselines: Sequence[str] = ()) -> list[ReportRow]:
    """Return the rows of players, published ones, and these baselines."""
    rows = report.all_rows(grouping)
    return [row for row in rows if row["setting"] != BASELINE or row["model"] in baselines]


def _names(report: Report) -> tuple[str, ...]:
    """Return the fields that name a player: the setting too if there are several."""
    return ("model", "setting") if len({row["setting"] for row in report.rows}) > 1 else ("model",)


def _points(rows: Sequence[ReportRow], x: str, names: Sequence[str], measure: str = ACCURACY) -> pl.DataFrame:
    """Return a point per row with a value at its field `x`, with right and proven answers beside accuracy.

    Those of baselines and published results come last, so that a player has the same colour in all plots.
    """
    played = [row for row in rows if row["setting"] != BASELINE and not row.get("published")]
    short_names = model_names([row["model"] for row in played])

    points = []
    for of in (measure, PROVEN) if measure == ACCURACY else (measure,):
        for row in rows:
            if row.get(of) is None:
                continue
            is_baseline = row["setting"] == BASELINE
            is_published = is_baseline or bool(row.get("published"))
            parts = [one_line(row["model"]) if is_published else short_names[row["model"]]]
            if "setting" in names and not is_baseline:
                parts.append(one_line(row["setting"]))
            player = " · ".join(parts)
            is_proven = of == PROVEN
            if is_proven:
                player += PROVEN_MARK
            ends = row.get("intervals", {}).get(of, (None, None))
            points.append((player, one_line(row[x]), row[of], *ends, is_published, is_proven))
    points.sort(key=itemgetter(5))
    return pl.DataFrame(points, _COLUMNS, orient="row", strict=False)
