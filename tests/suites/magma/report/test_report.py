"""The report of MAGMA: from scripted results to means over traces, by size and step, beside the paper's figures."""

import asyncio
from typing import Any

import pytest
from rich.console import Console

from graphwalk.agent.loop import Walk, run_episode
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError
from graphwalk.experiments.loading import experiment_from
from graphwalk.models.players.scripted import ScriptedModel
from graphwalk.report.report import Report, ReportRow, build_report
from graphwalk.report.tables import text_tables
from graphwalk.report.terminal import TerminalReport
from graphwalk.report.written import to_csv, to_json, to_markdown
from graphwalk.suites.magma.report.report import paper_reference
from graphwalk.suites.magma.report.traces import case, trace_records
from graphwalk.suites.magma.suite import MagmaSuite
from graphwalk.types.chat import CallOptions

SUITE = MagmaSuite()
DECLARED = SUITE.report()
TRACES = [{"algorithm": ["bfs", "mst_prim"], "nodes": [5, 8], "count": 3}]


async def results(*policies: str, settings: tuple[str, ...] = ("io", "is"), **suite: Any) -> list[dict[str, Any]]:
    """A run as it is logged, without its trajectories."""
    config = experiment_from({"name": "t", "suite": {"name": "magma", "traces": TRACES, **suite}, "seed": 3}, "test")
    return [
        await _result(policy, setting, task, world)
        for world in SUITE.worlds(config.suite, config.seed)
        for task in await SUITE.tasks(world, None, config.suite, config.seed)
        for setting in settings
        if SUITE.applies(task, setting)
        for policy in policies
    ]


async def _result(policy: str, setting: str, task: Any, world: Any) -> dict[str, Any]:
    opening = await SUITE.opening(task, setting, world, None, AgentConfig())
    model = ScriptedModel(policy, SUITE.player(policy, task, setting, None, 1))
    trajectory = await run_episode(Walk(opening, model, AgentConfig(), CallOptions()))
    score = SUITE.score(task, setting, trajectory, SUITE.extract(task, trajectory.reply))
    return {
        "task_id": task.task_id,
        "model": policy,
        "setting": setting,
        "repeat": 0,
        "exit_status": str(trajectory.exit_status),
        "score": score.model_dump(mode="json"),
        "turns": len(trajectory.turns),
        "tool_calls": 0,
        "usage": {"input_tokens": 10, "output_tokens": 2},
        "seconds": 0.5,
        "task": task.model_dump(mode="json"),
        "world": dict(world.facts),
    }


@pytest.fixture(scope="module")
def logged() -> list[dict[str, Any]]:
    return asyncio.run(results("expert", "random", "flawed:hallucination"))


@pytest.fixture(scope="module")
def report(logged: list[dict[str, Any]]) -> Report:
    return build_report(logged, DECLARED, reference=DECLARED.reference("magma-paper"))


def row(rows: list[ReportRow], model: str, setting: str, **group: Any) -> ReportRow:
    return next(r for r in rows if (r["model"], r["setting"]) == (model, setting) and group.items() <= r.items())


def test_the_expert_has_full_marks_everywhere(report: Report) -> None:
    assert [r["accuracy"] for r in report.rows if r["model"] == "expert"] == [100, 100]
    stepwise, once = row(report.rows, "expert", "is"), row(report.rows, "expert", "io")
    assert (stepwise["intermediate_exact"], stepwise["trajectory_exact"], stepwise["trajectory_f1"]) == (100, 100, 1)
    assert (once["intermediate_exact"], once["trajectory_exact"]) == (None, None)
    assert stepwise["questions"] == once["questions"] == 12
    assert stepwise["intervals"]["accuracy"][1] == 100


def test_a_flaw_shows_in_its_own_column(report: Report) -> None:
    flawed = row(report.rows, "flawed:hallucination", "is")
    assert (flawed["accuracy"], flawed["trajectory_exact"], flawed["first_divergence"]) == (0, 0, 1)
    assert flawed["hallucinations"] == flawed["false_positives"] == flawed["replies"]
    assert flawed["hallucinations_per_reply"] == 1
    assert flawed["missing_prefix"] == flawed["false_negatives"] == flawed["invalid_items"] == 0


def test_replies_and_effort_are_counted_once(report: Report, logged: list[dict[str, Any]]) -> None:
    mine = [r for r in logged if (r["model"], r["setting"]) == ("expert", "is")]
    total = row(report.rows, "expert", "is")
    assert total["replies"] == len(mine)
    assert total["input_tokens"] == 10 * len(mine)
    assert total["seconds"] == pytest.approx(0.5 * len(mine))
    assert total["turns_per_question"] == pytest.approx(len(mine) / 12)


def test_means_are_over_traces() -> None:
    """One trace of two states right, one of four states wrong: 50 %, not 33 %."""
    score = {"thinking_tokens": None, "reasoning_tokens": None, "recovered": None}
    step = {"precision": 1, "recall": 1, "f1": 1, "hallucinations": 0}
    task = {"algorithm": "bfs", "n": 5, "template": "bfs"}
    base = {"model": "m", "setting": "is", "repeat": 0, "exit_status": "answered", "turns": 1, "tool_calls": 0}
    records = [
        {
            **base,
            "score": {**score, "steps": [{**step, "step": number, "exact": steps == 2}]},
            "usage": {},
            "seconds": None,
            "task_id": f"{steps}-{number}",
            "task": {**task, "trace_id": str(steps), "total_steps": steps, "graph_digest": str(steps), "step": number},
        }
        for steps in (2, 4)
        for number in range(1, steps + 1)
    ]
    only = build_report(records, DECLARED).rows[0]
    assert (only["trajectory_exact"], only["intermediate_exact"], only["accuracy"]) == (50, 50, 50)
    assert only["step_exact"] == pytest.approx(100 / 3)


def test_groups(report: Report) -> None:
    assert {r["n"] for r in report.groups["n"]} == {5, 8}
    assert [r["case"] for r in report.groups["case"]][:1] == [case("bfs", 5)]
    steps = [r["step"] for r in report.groups["step"] if (r["model"], r["setting"]) == ("expert", "is")]
    assert steps == list(range(1, 9))
    assert row(report.groups["step"], "expert", "is", step=1)["step_exact"] == 100
    assert row(report.groups["algorithm"], "expert", "is", algorithm="bfs")["questions"] == 6


def test_a_step_that_failed_is_left_out(logged: list[dict[str, Any]]) -> None:
    expert = [r for r in logged if (r["model"], r["setting"]) == ("expert", "is")]
    broken = [{**expert[0], "score": None, "exit_status": "model_error"}, *expert[1:]]
    total = build_report(broken, DECLARED).rows[0]
    assert (total["questions"], total["infrastructure_failures"], total["replies"]) == (12, 1, len(expert) - 1)
    assert total["trajectory_exact"] == 100
    lost = [{**r, "score": None, "exit_status": "model_error"} for r in expert]
    nothing = build_report(lost, DECLARED).rows[0]
    assert (nothing["questions"], nothing["accuracy"], nothing["infrastructure_failures"]) == (0, None, 12)


def test_an_episode_that_was_run_again_counts_once(logged: list[dict[str, Any]]) -> None:
    first = [{**r, "score": None, "exit_status": "model_error"} for r in logged]
    assert build_report(first + logged, DECLARED).rows == build_report(logged, DECLARED).rows
    assert build_report(logged[::-1], DECLARED).rows == build_report(logged, DECLARED).rows


def test_free_running() -> None:
    run = asyncio.run(results("expert", "random", settings=("is",), free_running=True))
    assert len(run) == 24
    rows = build_report(run, DECLARED).rows
    assert row(rows, "expert", "is")["trajectory_exact"] == 100
    assert row(rows, "random", "is")["recovered"] is not None
    assert sum(1 for r in trace_records(run) if r["score"]["level"] == "step") == rows[0]["replies"] * 2


def test_the_papers_layout(report: Report) -> None:
    shown = {table.title: table for table in text_tables(report)}
    final = shown["Final state, exact match in %"]
    assert [header.title for header in final.headers] == ["algorithm", "setting", "model", "5", "8"]
    every = shown["All states, exact match in %"]
    expert = next(line for line in every.rows if [cell.text for cell in line[:3]] == ["bfs", "is", "expert"])
    assert [cell.text for cell in expert[3:]] == ["100.0", "100.0"]
    assert expert[3].interval == "100.0–100.0"
    assert any(line[2].text.endswith("(paper)") and line[2].dim for line in every.rows)
    assert "2410.22597" in every.note
    assert "By algorithm and size" not in shown


def test_the_papers_figures() -> None:
    cases = paper_reference("magma-paper").groups["case"]
    assert len(cases) == 13 * 12 * 5
    gpt = next(r for r in cases if (r["case"], r["model"]) == (case("mst_prim", 5), "gpt-4o"))
    assert (gpt["setting"], gpt["intermediate_exact"]) == ("io_reasoning", 12.56)
    with pytest.raises(ConfigError, match="no table"):
        paper_reference("table_2_questions")


def test_every_form_can_be_written(report: Report) -> None:
    console = Console(width=100, record=True, file=None, force_terminal=False, quiet=True)
    console.print(TerminalReport(report))
    assert '"intermediate_exact"' in to_json(report)
    assert "case,bfs   5,expert,is" in to_csv(report)
    markdown = to_markdown(report)
    assert "### Errors per reply" in markdown
    assert "█ 1.00" in markdown
