"""The tables and the plot of outcomes, from results as in a log."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from graphwalk.exports.episodes import Episodes
from graphwalk.exports.tables import export_csv
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.suites.questions.report import question_report
from tests.reports.results import build_report, result
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


def test_runs_without_wrong_answers_have_no_such_table() -> None:
    titles = {table.title for table in build_report([result(), result(graph=1)], question_report()).tables}
    assert titles.isdisjoint(TITLES)


def test_shares_of_outcomes_sum_to_100() -> None:
    (plot,) = (plot for plot in build_report(RESULTS, question_report()).plots if plot.name == "outcomes")
    shares: dict[Any, float] = {}
    for _, _, player, share, _, _ in plot.rows:
        shares[player] = shares.get(player, 0) + share
    assert shares == pytest.approx({"test/one · tools": 100, "test/two · no_tools": 100})


async def test_causes_are_columns_of_exports(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/flawed"]))
    export_csv(Episodes(RunFolder.open(tmp_path / "run")), tmp_path / "tables")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "tables/episodes.csv").read_text(encoding="utf-8"))))
    assert {bool(row["failure"]) for row in rows if row["correct"] == "False"} == {True}
    assert {row["failure"] for row in rows if row["correct"] == "True"} == {""}
    assert {"failure", "failure_detail"} <= rows[0].keys()
