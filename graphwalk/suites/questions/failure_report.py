"""Measures, tables and the plot of the causes of wrong answers (docs/method.md, Failure analysis)."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from graphwalk.reports.common_plots import player_name
from graphwalk.reports.measures import count_if
from graphwalk.reports.plots import Panel, Plot, Point, Series
from graphwalk.reports.suite_report import Measure, Report, ReportRow, ResultRecord
from graphwalk.reports.text_table import Cell, Header, TextTable
from graphwalk.sanitise import one_line
from graphwalk.suites.questions.failures import CAUSES, CONDITIONS

_LEGENDS = {
    "wrong_form": "the reply contains the target, or unreadable JSON",
    "wrong_start": "the entry point does not exist, or is not the question's",
    "fixation": "most later calls show nothing new",
    "gave_up": "no answer, a refusal, or a limit",
    "wrong_property": "the right nodes by another property",
    "invented": "a key or value that is not in the graph",
    "miscounted": "a wrong number that no ignored condition explains",
    "extra_rows": "rows that do not meet a condition",
    "missing_rows": "target rows are missing",
}
_CONDITION_LEGENDS = {
    "negation": "the excluded part",
    "direction": "the direction of relationships",
    "hops": "the bound of the steps",
    "label": "a label",
    "type": "a relationship type",
    "property": "the property of a value",
    "value": "a value",
    "other": "one that only this question has",
}


def count_scores(field: str, wanted: Callable[[str], bool]) -> Callable[[ResultRecord], float | None]:
    """Return a reader that counts scores with a wanted text in a field."""
    return count_if(lambda result: wanted((result["score"] or {}).get(field) or ""))


MEASURES = (
    *(Measure(f"failure_{cause}", "count", count_scores("failure", cause.__eq__)) for cause in CAUSES),
    *(Measure(f"ignored_{name}", "count", count_scores("ignored_condition", name.__eq__)) for name in CONDITIONS),
    Measure("ignored_other", "count", count_scores("ignored_condition", lambda name: name not in ("", *CONDITIONS))),
)


def failure_tables(report: Report) -> Iterator[TextTable]:
    """Yield the causes of wrong answers, and the ignored conditions, by model and setting; without empty tables."""
    causes = "Cells: wrong answers with this cause, and their share of the wrong answers with a known cause."
    conditions = "Cells: wrong answers that follow from the question if this condition is ignored or changed."
    yield from _table(report, "Causes of wrong answers", "failure", _LEGENDS, causes)
    yield from _table(report, "Ignored conditions", "ignored", _CONDITION_LEGENDS, conditions)


def _table(report: Report, title: str, prefix: str, legends: Mapping[str, str], note: str) -> Iterator[TextTable]:
    explained = [(row, _explained(row)) for row in report.rows]
    known = [(row, number) for row, number in explained if number]
    names = [name for name in legends if any(row.get(f"{prefix}_{name}") for row, _ in known)]
    if not names:
        return
    headers = (
        *(Header(name, name=True) for name in ("Model", "Setting")),
        Header("Wrong", legend="wrong answers with a known cause"),
        *(Header(name.replace("_", " ").capitalize(), optional=1, legend=legends[name]) for name in names),
    )
    lines = [
        (Cell(one_line(row["model"])), Cell(one_line(row["setting"])), Cell(str(number)), *_cells(row, prefix, names))
        for row, number in known
    ]
    yield TextTable(title, headers, tuple(lines), note)


def _cells(row: ReportRow, prefix: str, names: Sequence[str]) -> Iterator[Cell]:
    for name in names:
        number = row.get(f"{prefix}_{name}") or 0
        yield Cell(f"{number} ({100 * number / _explained(row):.0f} %)" if number else "0")


def _explained(row: ReportRow) -> int:
    return sum(row.get(f"failure_{cause}") or 0 for cause in CAUSES)


def failure_plot(report: Report) -> Plot:
    """Plot the causes as shares of the wrong answers of each model and setting."""
    settings = len({row["setting"] for row in report.rows})
    known = [(player_name(row, settings), row, _explained(row)) for row in report.rows if _explained(row)]
    series = tuple(
        Series(
            cause.replace("_", " "),
            tuple(Point(name, 100 * (row.get(f"failure_{cause}") or 0) / number) for name, row, number in known),
        )
        for cause in CAUSES
        if any(row.get(f"failure_{cause}") for _, row, _ in known)
    )
    about = ". ".join(f"{cause.replace('_', ' ').capitalize()}: {legend}" for cause, legend in _LEGENDS.items())
    title, y = "Causes of wrong answers", "wrong answers in %"
    return Plot("failure-causes", title, "stacked", (Panel(series),), y=y, about=f"{about}.", percent=True)
