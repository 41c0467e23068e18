"""Tables with a column per size, step or part of the trace, and the paper's figures in them, in every form."""

from dataclasses import replace

import pytest

from graphwalk.reports.report import Report
from graphwalk.reports.text_table import TextTable
from graphwalk.suites.magma.suite import MagmaSuite
from graphwalk.suites.magma.trace_results import case
from tests.reports.results import build_report
from tests.suites.magma.logged_runs import logged

DECLARED = MagmaSuite().report()


@pytest.fixture(scope="module")
def report() -> Report:
    run = logged({"bfs 5 0": [True, False], "bfs 5 1": [True, True, True, True], "bfs 50 2": [False, True]})
    return build_report(run, DECLARED, reference=DECLARED.reference("magma-paper"))


def table(report: Report, title: str) -> TextTable:
    return next(table for table in report.tables if table.title == title)


def texts(shown: TextTable) -> list[list[str]]:
    return [[cell.text for cell in row] for row in shown.rows]


def test_a_table_per_algorithm_with_sizes_as_columns_and_the_papers_rows_below_ours(report: Report) -> None:
    sizes = table(report, "bfs: exact match in % by number of nodes")
    assert [header.title for header in sizes.headers] == ["setting", "model", "states", "5", "50"]
    rows = texts(sizes)
    assert rows[0] == ["io_reasoning", "us/gpt-4o", "final", "50.0", "100.0"]
    assert rows[1] == ["io_reasoning", "us/gpt-4o", "earlier", "100.0", "0.0"]
    published = [row for row in rows if row[2] == "earlier"][1:]
    assert len(published) == 5
    assert ["io_reasoning", "gpt-4o (paper, zero-shot)", "earlier"] in [row[:3] for row in published]
    assert sum("(paper, fine-tuned)" in row[1] for row in published) == 4
    assert not any("dfs" in shown.title for shown in report.tables)


def test_published_rows_need_no_model_of_their_name() -> None:
    ours = logged({"dfs 5 0": [True, False]}, model="scripted/expert", setting="is")
    sizes = table(
        build_report(ours, DECLARED, reference=DECLARED.reference("magma-paper")),
        "dfs: exact match in % by number of nodes",
    )
    assert sum("(paper" in row[1] for row in texts(sizes)) == 2 * 4


def test_steps_of_each_size(report: Report) -> None:
    steps = {row["step"]: (row["step_exact"], row["replies"]) for row in report.groups["step"]}
    assert [steps[f"bfs   5   {step}"][0] for step in (1, 2, 3, 4)] == [100, 50, 100, 100]
    assert steps["bfs   5   2"] == (50, 2)
    assert [exact for step, (exact, _) in steps.items() if step.startswith("bfs  50")] == [0, 100]


def test_the_papers_rows_beside_fewer_traces_are_marked() -> None:
    reference = replace(DECLARED.reference("magma-paper"), fewer="suite.traces.0.count is 12, not unset")
    report = build_report(logged({"bfs 5 0": [True, False]}), DECLARED, reference=reference)
    sizes = table(report, "bfs: exact match in % by number of nodes")
    assert "gpt-4o (paper, more graphs, zero-shot)" in [row[1] for row in texts(sizes)]
    assert "This run has fewer: suite.traces.0.count is 12, not unset." in sizes.note


def test_the_papers_figures() -> None:
    cases = DECLARED.reference("magma-paper").groups["case"]
    assert len(cases) == 13 * 12 * 5
    gpt = next(r for r in cases if (r["case"], r["model"]) == (case("mst_prim", 5), "gpt-4o"))
    assert (gpt["setting"], gpt["intermediate_exact"], gpt["note"]) == ("io_reasoning", 12.56, "zero-shot")
    assert "accuracy" not in gpt
