"""Measures, tables and the plot of the causes of wrong answers (docs/method.md, Failure analysis)."""

from collections.abc import Callable, Iterator

from graphwalk.reports.common_plots import player_name
from graphwalk.reports.measures import count_if, layout
from graphwalk.reports.plots import Panel, Plot, PlotPoint, Series
from graphwalk.reports.suite_report import Measure, Report, ReportRow, ResultRecord
from graphwalk.reports.tables import players_table
from graphwalk.reports.text_table import TextTable
from graphwalk.suites.questions.scoring.failures import CAUSES, CONDITIONS


def count_scores(field: str, wanted: Callable[[str], bool]) -> Callable[[ResultRecord], float | None]:
    """Return a reader that counts scores with a wanted text in a field."""
    return count_if(lambda result: wanted((result["score"] or {}).get(field) or ""))


MEASURES = (
    *(Measure(f"failure_{cause}", "count", count_scores("failure", cause.__eq__)) for cause in CAUSES),
    *(Measure(f"ignored_{name}", "count", count_scores("ignored_condition", name.__eq__)) for name in CONDITIONS),
    Measure("ignored_other", "count", count_scores("ignored_condition", lambda name: name not in ("", *CONDITIONS))),
)
_NOTES = {
    "Causes of wrong answers": "Cells: wrong answers with this cause.",
    "Ignored conditions": "Cells: wrong answers that follow from the question if this condition is ignored or changed.",
}


def failure_tables(report: Report) -> Iterator[TextTable]:
    """Yield the causes of wrong answers, and the ignored conditions, by model and setting; without empty columns."""
    for title, table in zip(_NOTES, ("causes", "conditions"), strict=True):
        columns = [c for c in layout("questions")[table] if any(row.get(c.field) for row in report.rows)]
        yield from players_table(report, title, columns, _NOTES[title])


def _explained(row: ReportRow) -> int:
    return sum(row.get(f"failure_{cause}") or 0 for cause in CAUSES)


def failure_plot(report: Report) -> Plot:
    """Plot the causes as shares of the wrong answers of each model and setting."""
    settings = len({row["setting"] for row in report.rows})
    players = [(player_name(row, settings), row, _explained(row)) for row in report.rows if _explained(row)]
    columns = layout("questions")["causes"]
    series = tuple(
        Series(
            column.title.lower(),
            tuple(PlotPoint(name, 100 * (row.get(column.field) or 0) / total) for name, row, total in players),
        )
        for column in columns
        if any(row.get(column.field) for _, row, _ in players)
    )
    about = ". ".join(f"{column.title}: {column.legend}" for column in columns)
    title, y = "Causes of wrong answers", "wrong answers in %"
    return Plot("failure-causes", title, "stacked", (Panel(series),), y=y, about=f"{about}.", percent=True)
