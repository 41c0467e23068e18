"""The report of MAGMA: from scripted results to means over traces, by size and step, beside the paper's figures."""

from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import graphwalk
from graphwalk.analysis.report.episodes import observe
from graphwalk.analysis.report.formats import text_tables
from graphwalk.analysis.report.report import report_of, report_on
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.background import run_in_background
from graphwalk.runs.folder import RunFolder
from graphwalk.suites.magma.report import case, trace_records
from graphwalk.suites.magma.suite import MagmaSuite
from tests.analysis.report.results import build_report

DECLARED = analysis_of(MagmaSuite()).report()
PAPER = DECLARED.references["magma-paper"]()
TRACES = [{"algorithm": ["bfs", "mst_prim"], "nodes": [5, 8], "count": 3}]


def results(folder: Path, **suite: Any) -> list[dict[str, Any]]:
    """Return a run of the expert as it is logged."""
    suite = {"name": "magma", "traces": TRACES, **suite}
    experiment = {"name": "t", "suite": suite, "settings": ["io", "is"], "models": ["scripted/expert"], "seed": 3}
    run_in_background(graphwalk.arun(experiment, out=folder))
    return list(RunFolder.open(folder).records())


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return results(tmp_path_factory.mktemp("magma") / "run")


def episodes(states: dict[str, list[bool]], setting: str = "io_reasoning") -> list[dict[str, Any]]:
    """Return the results of traces "ALGORITHM SIZE NUMBER", one per step: is the state right?"""
    return [
        _result(trace, step, len(listed), right, setting)
        for trace, listed in states.items()
        for step, right in enumerate(listed, 1)
    ]


def _result(trace: str, step: int, total: int, right: bool, setting: str) -> dict[str, Any]:
    algorithm, n, number = trace.split()
    errors = dict.fromkeys(("missing_prefix", "false_negatives", "hallucinations", "invalid_items"), 0)
    return {
        **{"task_id": f"{trace} {step}", "model": "us/gpt-4o", "setting": setting, "repeat": 0},
        **{"exit_status": "answered", "turns": 1, "tool_calls": 0, "usage": {}, "seconds": None},
        "score": {"correct": right, "precision": 1, "recall": 1, "f1": 1, **errors},
        "task": {
            **{"algorithm": algorithm, "n": int(n), "template": algorithm, "graph_digest": trace},
            **{"question": f"Edges: [({number}, {n})]", "gold": [step]},
            **{"trace_id": trace, "step": step, "total_steps": total},
        },
    }


def test_means_are_over_traces() -> None:
    """One trace of two states right, one of four states wrong: 50 %, not 33 %."""
    states = {"bfs 5 1": [True, True], "bfs 5 2": [False] * 4}
    only = build_report(episodes(states, setting="is"), DECLARED).rows[0]
    assert (only.figures["trajectory_exact"], only.figures["intermediate_exact"], only.figures["accuracy"]) == (
        50,
        50,
        50,
    )
    assert only.figures["later_exact"] == 50
    assert only.figures["replies"] == 6


def test_under_the_protocol_paper_means_are_over_all_states_of_all_traces() -> None:
    """One trace of two states right, one of four states wrong: 33 % of states, 25 % of earlier ones."""
    states = {"bfs 5 1": [True, True], "bfs 5 2": [False] * 4}
    logged = episodes(states, setting="is")
    of_paper = report_on(observe(logged, DECLARED, "paper")).rows[0]
    assert of_paper.figures["trajectory_exact"] == pytest.approx(100 * 2 / 6)
    assert (of_paper.figures["intermediate_exact"], of_paper.figures["later_exact"]) == (25, 25)
    assert observe(logged, DECLARED, "paper").episodes["graph"].n_unique() == 2, "the graph is the cluster"
    other = build_report(logged, DECLARED).rows[0]
    same = ("accuracy", "f1", "scored", "tasks", "replies", "calls_per_question", "tokens", "hallucinations")
    assert {name: of_paper.as_dict()[name] for name in same} == {name: other.as_dict()[name] for name in same}
    assert other.figures["trajectory_exact"] == 50


def test_a_published_run_of_the_protocol_paper_weighs_its_states_equally() -> None:
    folder = RunFolder.open(Path(__file__).parents[3] / "results" / "magma-is-0.zip")
    exact = [record["score"]["correct"] for record in folder.records()]
    (only,) = report_of(folder, folder.records()).rows
    assert (only.figures["trajectory_exact"], only.figures["scored"]) == (pytest.approx(100 * fmean(exact)), 100)


def test_a_step_that_failed_is_left_out(logged: list[dict[str, Any]]) -> None:
    expert = [r for r in logged if r["setting"] == "is"]
    broken = [{**expert[0], "score": None, "exit_status": "model_error"}, *expert[1:]]
    total = build_report(broken, DECLARED).rows[0]
    assert (total.figures["scored"], total.figures["infrastructure_failures"], total.figures["replies"]) == (
        12,
        1,
        len(expert) - 1,
    )
    assert total.figures["trajectory_exact"] == 100
    lost = [{**r, "score": None, "exit_status": "model_error"} for r in expert]
    nothing = build_report(lost, DECLARED).rows[0]
    assert (nothing.figures["scored"], nothing.figures["accuracy"], nothing.figures["infrastructure_failures"]) == (
        0,
        None,
        12,
    )


def test_an_overflow_in_any_step_of_a_trace_is_counted(logged: list[dict[str, Any]]) -> None:
    expert = [r for r in logged if r["setting"] == "is"]
    overflowed = [expert[0], {**expert[1], "exit_status": "context_overflow"}, *expert[2:]]
    total = build_report(overflowed, DECLARED).rows[0]
    assert (total.figures["scored"], total.figures["context_overflows"], total.figures["infrastructure_failures"]) == (
        12,
        1,
        0,
    )


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


def test_repeating_the_previous_state_is_a_baseline_of_prompts_with_states(tmp_path: Path) -> None:
    run = results(tmp_path / "run", first_state="paper")
    declared = build_report(run, DECLARED)
    for first in ("io", "is"):  # whichever setting the log begins with
        ordered = [one for one in run if one["setting"] == first] + [one for one in run if one["setting"] != first]
        assert build_report(ordered, DECLARED).baselines == declared.baselines
    for algorithm in ("bfs", "mst_prim"):
        states: dict[str, list[Any]] = {}
        for one in sorted((o for o in run if o["setting"] == "is"), key=lambda o: o["task"]["step"]):
            if one["task"]["algorithm"] == algorithm:
                states.setdefault(one["task"]["trace_id"], []).append(one["task"]["gold"])
        same = [[a == b for a, b in pairwise(listed)] for listed in states.values() if len(listed) > 1]
        (baseline,) = (r for r in declared.baseline_groups["algorithm"] if r.group == algorithm)
        assert (baseline.model, str(baseline.setting)) == ("repeat the previous state", "baseline")
        assert baseline.figures["replies"] == sum(map(len, same))
        assert baseline.figures["later_exact"] == pytest.approx(100 * fmean(map(fmean, same)))
        assert baseline.figures["accuracy"] == pytest.approx(100 * sum(each[-1] for each in same) / len(same))


def test_the_table_by_size_has_the_papers_rows_below_ours() -> None:
    states = {"bfs 5 0": [True, False], "bfs 5 1": [True, True, True, True], "bfs 50 2": [False, True]}
    report = build_report(episodes(states), DECLARED, reference=PAPER)
    ours = {row.group: row for row in report.groups["case"] if row.model == "us/gpt-4o"}
    small, large = (ours[case("bfs", n)] for n in (5, 50))
    assert (small.figures["accuracy"], small.figures["intermediate_exact"], small.figures["scored"]) == (50, 100, 2)
    assert (large.figures["accuracy"], large.figures["intermediate_exact"]) == (100, 0)
    (table,) = (table for table in text_tables(report) if "algorithm and size" in table.title)
    assert "gpt-4o, zero-shot (paper)" in {row.values["model"] for row in table.rows}
