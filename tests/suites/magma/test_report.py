"""The report of MAGMA: from scripted results to means over traces, by size and step, beside the paper's figures."""

from collections.abc import Sequence
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
    results = []
    for trace, rights in states.items():
        for step, right in enumerate(rights, 1):
            results.append(_result(trace, step, len(rights), right, setting))
    return results


def _result(trace: str, step: int, total: int, right: bool, setting: str) -> dict[str, Any]:
    algorithm, n, number = trace.split()
    return {
        "task_id": f"{trace} {step}",
        "model": "us/gpt-4o",
        "setting": setting,
        "repeat": 0,
        "exit_status": "answered",
        "turns": 1,
        "tool_calls": 0,
        "usage": {},
        "seconds": None,
        "score": {
            "correct": right,
            "precision": 1,
            "recall": 1,
            "f1": 1,
            "missing_prefix": 0,
            "false_negatives": 0,
            "hallucinations": 0,
            "invalid_items": 0,
        },
        "task": {
            "algorithm": algorithm,
            "n": int(n),
            "template": algorithm,
            "graph_digest": trace,
            "question": f"Edges: [({number}, {n})]",
            "gold": [step],
            "trace_id": trace,
            "step": step,
            "total_steps": total,
        },
    }


def test_means_are_over_traces() -> None:
    """One trace of two states right, one of four states wrong: 50 %, not 33 %."""
    states = {"bfs 5 1": [True, True], "bfs 5 2": [False] * 4}
    figures = build_report(episodes(states, setting="is"), DECLARED).rows[0].figures
    assert figures["trajectory_exact"] == 50
    assert figures["intermediate_exact"] == 50
    assert figures["accuracy"] == 50
    assert figures["later_exact"] == 50
    assert figures["replies"] == 6


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
    expert = [record for record in logged if record["setting"] == "is"]
    failed = {"score": None, "exit_status": "model_error"}
    first, *others = expert
    figures = build_report([{**first, **failed}, *others], DECLARED).rows[0].figures
    assert figures["scored"] == 12
    assert figures["infrastructure_failures"] == 1
    assert figures["replies"] == len(expert) - 1
    assert figures["trajectory_exact"] == 100

    all_failed = [{**record, **failed} for record in expert]
    figures = build_report(all_failed, DECLARED).rows[0].figures
    assert figures["scored"] == 0
    assert figures["accuracy"] is None
    assert figures["infrastructure_failures"] == 12


def test_an_overflow_in_any_step_of_a_trace_is_counted(logged: list[dict[str, Any]]) -> None:
    expert = [record for record in logged if record["setting"] == "is"]
    first, second, *others = expert
    overflowed = [first, {**second, "exit_status": "context_overflow"}, *others]
    figures = build_report(overflowed, DECLARED).rows[0].figures
    assert figures["scored"] == 12
    assert figures["context_overflows"] == 1
    assert figures["infrastructure_failures"] == 0


def test_traces_on_one_graph_are_one_cluster(logged: list[dict[str, Any]]) -> None:
    """Breadth-first search and Prim run on the same edges, with and without weights."""
    clusters: dict[str, set[str]] = {"bfs": set(), "mst_prim": set()}
    for record in trace_records(logged):
        if record["task"]["n"] == 8:
            clusters[record["task"]["algorithm"]].add(record["task"]["graph_digest"])
    assert clusters["bfs"] == clusters["mst_prim"]
    assert len(clusters["bfs"]) == 3
    own_words = [{**record, "task": {**record["task"], "question": "Do it."}} for record in logged]
    digests = {record["task"]["graph_digest"] for record in trace_records(own_words)}
    assert digests == {record["task"]["graph_digest"] for record in logged}


def repeats(states: Sequence[Any]) -> list[bool]:
    """Return for each state but the first one whether it is the one before."""
    return [state == previous for previous, state in pairwise(states)]


def test_repeating_the_previous_state_is_a_baseline_of_prompts_with_states(tmp_path: Path) -> None:
    run = results(tmp_path / "run", first_state="paper")
    report = build_report(run, DECLARED)
    with_states = [record for record in run if record["setting"] == "is"]
    others = [record for record in run if record["setting"] != "is"]
    assert build_report(with_states + others, DECLARED).baselines == report.baselines
    assert build_report(others + with_states, DECLARED).baselines == report.baselines

    with_states.sort(key=lambda record: record["task"]["step"])
    for algorithm in ("bfs", "mst_prim"):
        states_of: dict[str, list[Any]] = {}
        for record in with_states:
            if record["task"]["algorithm"] == algorithm:
                states_of.setdefault(record["task"]["trace_id"], []).append(record["task"]["gold"])
        repeated = [repeats(states) for states in states_of.values() if len(states) > 1]

        (baseline,) = (row for row in report.baseline_groups["algorithm"] if row.group == algorithm)
        assert (baseline.model, str(baseline.setting)) == ("repeat the previous state", "baseline")
        assert baseline.figures["replies"] == sum(len(of_trace) for of_trace in repeated)
        share_of_trace = [fmean(of_trace) for of_trace in repeated]
        assert baseline.figures["later_exact"] == pytest.approx(100 * fmean(share_of_trace))
        last = [of_trace[-1] for of_trace in repeated]
        assert baseline.figures["accuracy"] == pytest.approx(100 * fmean(last))


def test_the_table_by_size_has_the_papers_rows_below_ours() -> None:
    states = {"bfs 5 0": [True, False], "bfs 5 1": [True, True, True, True], "bfs 50 2": [False, True]}
    report = build_report(episodes(states), DECLARED, reference=PAPER)
    ours = {row.group: row.figures for row in report.groups["case"] if row.model == "us/gpt-4o"}
    small = ours[case("bfs", 5)]
    assert (small["accuracy"], small["intermediate_exact"], small["scored"]) == (50, 100, 2)
    large = ours[case("bfs", 50)]
    assert (large["accuracy"], large["intermediate_exact"]) == (100, 0)
    (table,) = (table for table in text_tables(report) if "algorithm and size" in table.title)
    assert "gpt-4o, zero-shot (paper)" in {row.values["model"] for row in table.rows}
