"""The tables and the plot of outcomes, from results as in a log."""

from typing import Any

from graphwalk.suites.questions.report import question_report
from tests.reports.results import build_report, result


def wrong(cause: str, condition: str | None = None, **which: Any) -> dict[str, Any]:
    made = result(correct=False, **which)
    return made | {"score": {**made["score"], "failure": cause, "ignored_condition": condition}}


RESULTS = [
    wrong("extra_rows", "negation", graph=0, question=2),
    wrong("extra_rows", "direction", graph=0, question=1),
    wrong("extra_rows", "further step", graph=1),
    wrong("gave_up", graph=1, question=1),
    wrong("invented", model="test/two", setting="no_tools"),
    result(graph=2),
    result(graph=2, correct=False),  # of an older run, without a cause
]


TITLES = ("Wrong answers by cause", "Wrong answers by ignored condition")


def test_causes_and_ignored_conditions_are_counted() -> None:
    tables = {table.title: table for table in build_report(RESULTS, question_report()).tables}
    causes, conditions = (tables[title] for title in TITLES)
    assert [header.title for header in causes.headers] == [
        "Model",
        "Setting",
        "Unsupported",
        "Gave up",
        "Invented",
        "Extra rows",
    ]
    assert all(header.legend for header in causes.headers[2:])
    assert [[cell.text for cell in row] for row in causes.rows] == [
        ["test/one", "tools", "1", "1", "0", "3"],
        ["test/two", "no_tools", "0", "0", "1", "0"],
    ]
    assert [header.title for header in conditions.headers[2:]] == ["Negation", "Direction", "Other"]
    assert [cell.text for cell in conditions.rows[0][2:]] == ["1"] * 3
