"""The tables and the plot of the causes of wrong answers, from results as in a log."""

import csv
import io
from pathlib import Path
from typing import Any

from graphwalk.exports.episodes import Episodes
from graphwalk.exports.tables import export_csv
from graphwalk.reports.report import build_report
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.suites.questions.report import question_report
from graphwalk.suites.questions.scoring.failure_report import failure_plot, failure_tables
from graphwalk.suites.questions.scoring.failures import CAUSES
from tests.reports.results import result
from tests.runs.runs import experiment, start


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


def test_causes_and_ignored_conditions_are_counted() -> None:
    causes, conditions = failure_tables(build_report(RESULTS, question_report()))
    assert [header.title for header in causes.headers] == [
        "Model",
        "Setting",
        "Gave up",
        "Invented",
        "Extra rows",
    ]
    assert all(header.legend for header in causes.headers[2:])
    lines = [[cell.text for cell in row] for row in causes.rows]
    assert lines == [
        ["test/one", "tools", "1", "0", "3"],
        ["test/two", "no_tools", "0", "1", "0"],
    ]
    assert [header.title for header in conditions.headers[2:]] == ["Negation", "Direction", "Other"]
    assert [cell.text for cell in conditions.rows[0][2:]] == ["1"] * 3


def test_runs_without_causes_have_no_such_table() -> None:
    assert list(failure_tables(build_report([result(), result(graph=1, correct=False)], question_report()))) == []


def test_the_plot_has_shares_that_sum_to_100() -> None:
    plot = failure_plot(build_report(RESULTS, question_report()))
    shares: dict[Any, float] = {}
    for _, cause, player, share, _, _ in plot.rows:
        assert cause.replace(" ", "_") in CAUSES
        shares[player] = shares.get(player, 0) + share
    assert shares == {"test/one · tools": 100, "test/two · no_tools": 100}


async def test_causes_are_columns_of_exports(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/flawed"]))
    export_csv(Episodes(RunFolder.open(tmp_path / "run")), tmp_path / "tables")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "tables/episodes.csv").read_text(encoding="utf-8"))))
    assert {bool(row["failure"]) for row in rows if row["correct"] == "False"} == {True}
    assert {row["failure"] for row in rows if row["correct"] == "True"} == {""}
    assert {"failure", "failure_detail"} <= rows[0].keys()
