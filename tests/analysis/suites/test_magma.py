"""The report of MAGMA: from scripted results to means over traces, by size and step, beside the paper's figures."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.analysis.suites.magma_traces import case, trace_records
from graphwalk.reports.formats import to_markdown
from graphwalk.reports.report import Report
from graphwalk.reports.suite_report import ReportRow
from graphwalk.reports.text_table import TextTable
from graphwalk.suites.magma.suite import MagmaSuite
from tests.reports.results import build_report
from tests.suites.magma.logged_runs import logged as episodes
from tests.suites.magma.logged_runs import results

DECLARED = analysis_of(MagmaSuite()).report()
PAPER = DECLARED.reference("magma-paper")


@pytest.fixture(scope="module")
def logged() -> list[dict[str, Any]]:
    return asyncio.run(results("expert", "random", "hallucination"))


@pytest.fixture(scope="module")
def report(logged: list[dict[str, Any]]) -> Report:
    return build_report(logged, DECLARED, reference=PAPER)


def row(rows: list[ReportRow], model: str, setting: str, **group: Any) -> ReportRow:
    return next(r for r in rows if (r["model"], r["setting"]) == (model, setting) and group.items() <= r.items())


def test_a_flaw_shows_in_its_own_column(report: Report) -> None:
    flawed = row(report.rows, "hallucination", "is")
    assert (flawed["accuracy"], flawed["trajectory_exact"]) == (0, 0)
    assert flawed["hallucinations"] == flawed["false_positives"] == flawed["replies"]
    assert flawed["hallucinations_per_reply"] == 1
    assert flawed["missing_prefix"] == flawed["false_negatives"] == flawed["invalid_items"] == 0


def test_means_are_over_traces() -> None:
    """One trace of two states right, one of four states wrong: 50 %, not 33 %."""
    states = {"bfs 5 1": [True, True], "bfs 5 2": [False] * 4}
    only = build_report(episodes(states, setting="is"), DECLARED).rows[0]
    assert (only["trajectory_exact"], only["intermediate_exact"], only["accuracy"]) == (50, 50, 50)
    assert only["step_exact"] == pytest.approx(100 / 3)


def test_a_step_that_failed_is_left_out(logged: list[dict[str, Any]]) -> None:
    expert = [r for r in logged if (r["model"], r["setting"]) == ("expert", "is")]
    broken = [{**expert[0], "score": None, "exit_status": "model_error"}, *expert[1:]]
    total = build_report(broken, DECLARED).rows[0]
    assert (total["scored"], total["infrastructure_failures"], total["replies"]) == (12, 1, len(expert) - 1)
    assert total["trajectory_exact"] == 100
    lost = [{**r, "score": None, "exit_status": "model_error"} for r in expert]
    nothing = build_report(lost, DECLARED).rows[0]
    assert (nothing["scored"], nothing["accuracy"], nothing["infrastructure_failures"]) == (0, None, 12)


def test_an_episode_that_was_run_again_counts_once(logged: list[dict[str, Any]]) -> None:
    first = [{**r, "score": None, "exit_status": "model_error"} for r in logged]
    assert build_report(first + logged, DECLARED).rows == build_report(logged, DECLARED).rows
    assert build_report(logged[::-1], DECLARED).rows == build_report(logged, DECLARED).rows


def test_traces_on_one_graph_are_one_cluster(logged: list[dict[str, Any]]) -> None:
    """Breadth-first search and Prim run on the same edges, with and without weights."""
    clusters: dict[str, set[str]] = {"bfs": set(), "mst_prim": set()}
    for record in trace_records(logged):
        if record["task"]["n"] == 8:
            clusters[record["task"]["algorithm"]].add(record["task"]["graph_digest"])
    assert clusters["bfs"] == clusters["mst_prim"]
    assert len(clusters["bfs"]) == 3
    own_words = [{**r, "task": {**r["task"], "question": "Do it."}} for r in logged]
    digests = {record["task"]["graph_digest"] for record in trace_records(own_words)}
    assert digests == {r["task"]["graph_digest"] for r in logged}


def test_repeating_the_previous_state_is_a_baseline_of_prompts_with_states() -> None:
    run = asyncio.run(results("expert", settings=("io", "is"), first_state="paper"))
    declared = build_report(run, DECLARED)
    for algorithm in ("bfs", "mst_prim"):
        states: dict[str, list[Any]] = {}
        for one in sorted((o for o in run if o["setting"] == "is"), key=lambda o: o["task"]["step"]):
            if one["task"]["algorithm"] == algorithm:
                states.setdefault(one["task"]["trace_id"], []).append(one["task"]["gold"])
        same = [[a == b for a, b in pairwise(listed)] for listed in states.values() if len(listed) > 1]
        (baseline,) = (r for r in declared.baseline_groups["algorithm"] if r["algorithm"] == algorithm)
        assert (baseline["model"], baseline["setting"]) == ("repeat the previous state", "baseline")
        assert baseline["replies"] == sum(map(len, same))
        assert baseline["step_exact"] == pytest.approx(100 * sum(map(sum, same)) / sum(map(len, same)))
        assert baseline["accuracy"] == pytest.approx(100 * sum(each[-1] for each in same) / len(same))
    assert "| repeat the previous state | baseline |" in to_markdown(declared)


def sizes_table(algorithm: str, results: list[dict[str, Any]]) -> TextTable:
    """Return the table of an algorithm by size, and check that no other algorithm has one."""
    report = build_report(results, DECLARED, reference=PAPER)
    (table,) = (table for table in report.tables if table.title.endswith("exact match in % by number of nodes"))
    assert table.title.startswith(algorithm)
    return table


def texts(table: TextTable) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_a_table_per_algorithm_with_sizes_as_columns_and_the_papers_rows_below_ours() -> None:
    states = {"bfs 5 0": [True, False], "bfs 5 1": [True, True, True, True], "bfs 50 2": [False, True]}
    sizes = sizes_table("bfs", episodes(states))
    assert [header.title for header in sizes.headers] == ["setting", "model", "states", "5", "50"]
    rows = texts(sizes)
    assert rows[0] == ["io_reasoning", "us/gpt-4o", "final", "50.0", "100.0"]
    assert rows[1] == ["io_reasoning", "us/gpt-4o", "earlier", "100.0", "0.0"]
    published = [row for row in rows if row[2] == "earlier"][1:]
    assert len(published) == 5
    assert ["io_reasoning", "gpt-4o (paper, zero-shot)", "earlier"] in [row[:3] for row in published]
    assert sum("(paper, fine-tuned)" in row[1] for row in published) == 4


def test_the_papers_figures() -> None:
    cases = PAPER.groups["case"]
    assert len(cases) == 13 * 12 * 5
    gpt = next(r for r in cases if (r["case"], r["model"]) == (case("mst_prim", 5), "gpt-4o"))
    assert (gpt["setting"], gpt["intermediate_exact"], gpt["note"]) == ("io_reasoning", 12.56, "zero-shot")
    assert "accuracy" not in gpt
