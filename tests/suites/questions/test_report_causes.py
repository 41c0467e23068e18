"""The table of causes, from results as in a log."""

from typing import Any

from graphwalk.suites.questions.report import question_report
from tests.reports.results import build_report, result


def wrong(cause: str, **which: Any) -> dict[str, Any]:
    made = result(correct=False, **which)
    return made | {"score": {**made["score"], "failure": cause}}


RESULTS = [
    wrong("extra_rows", graph=0, question=2),
    wrong("extra_rows", graph=0, question=1),
    wrong("extra_rows", graph=1),
    wrong("gave_up", graph=1, question=1),
    wrong("invented", model="test/two", setting="no_tools"),
    result(graph=2),
    result(graph=2, correct=False),  # of an older run, without a cause
]


def test_causes_are_counted() -> None:
    (causes,) = (t for t in build_report(RESULTS, question_report()).tables if t.title == "Wrong answers by cause")
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
