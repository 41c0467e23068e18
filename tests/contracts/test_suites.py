"""The contract of suites, checked for each registered one from its configuration to its report, with all of its scripted agents."""

import json
from itertools import product
from typing import Any

import pytest

from graphwalk.analysis.report.formats import as_text, to_csv, to_json, to_markdown
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.plan import GraphSources, Plan, make_plan
from graphwalk.runs.play import RunModels, play
from graphwalk.runs.record import Result, judge
from graphwalk.runs.resolve import Experiment, resolve
from graphwalk.suites.suite import SUITES, Suite, suite_named
from graphwalk.variables import Variables
from tests.analysis.report.results import build_report

SMALL: dict[str, dict[str, Any]] = {
    "questions": {"graphs": [{"preset": "paper-100"}]},
    "mazes": {"mazes": [{"size": 6, "min_path": 4}]},
    "magma": {"traces": [{"algorithm": ["bfs", "dijkstra"]}]},
    "graphwalks": {"problems": [{"nodes": 12}]},
}
RIGHT = {"questions": ["expert"], "mazes": ["expert", "depth_first"], "magma": ["expert"], "graphwalks": ["expert"]}
"""Scripted agents that answer everything right."""
ODD_REPLIES = ("", " ", "[", "null", "{}", "[[[[", "\ud800", "I do not know.", '{"answer": NaN}', "[" * 5000)


@pytest.mark.parametrize("name", SUITES.names())
async def test_suite_contract(name: str) -> None:
    """Tasks, prompts and scores are the same for the same seed and survive JSON. Unusual replies raise nothing."""
    experiment = _experiment(name)
    plan = await _plan(experiment)
    _check_tasks(experiment, plan, await _plan(_experiment(name)))
    await _check_prompts(experiment, plan)
    results = await _results(experiment, plan)
    for result in results:
        _check_result(experiment.suite, result)
    for (task, _), reply in product(plan.tasks, ODD_REPLIES):
        task.read(reply)
    for agent in RIGHT.get(name, ()):
        correct = [result.score["correct"] for result in results if result.key.model == f"scripted/{agent}"]  # type: ignore[index]
        assert correct
        assert all(correct), agent
    _check_report(experiment.suite, results)


def _experiment(name: str) -> Experiment:
    suite = suite_named(name)
    models = [f"scripted/{agent}" for agent in suite.players]
    fields = {"suite": {"name": name, **SMALL.get(name, {})}, "models": models, "settings": suite.settings, "seed": 7}
    graphs = None if name == "own_questions" else 1
    return resolve(load_experiment({"name": "check", **fields}, graphs=graphs), Variables())


async def _plan(experiment: Experiment) -> Plan:
    return await make_plan(experiment, GraphSources(), lambda tasks: None)


def _check_tasks(experiment: Experiment, plan: Plan, again: Plan) -> None:
    tasks = [task for task, _ in plan.tasks]
    assert tasks == [task for task, _ in again.tasks]
    assert len({task.task_id for task in tasks}) == len(tasks)
    for task, graph in plan.tasks:
        assert task.suite == experiment.suite.name
        assert task.graph_digest == graph.about.instance.digest
        assert experiment.suite.task_type.model_validate_json(task.model_dump_json()) == task
    config = experiment.config.suite
    assert type(config).model_validate_json(config.model_dump_json()) == config


async def _check_prompts(experiment: Experiment, plan: Plan) -> None:
    for planned in plan.episodes:
        first, second = await planned.prompt(experiment), await planned.prompt(experiment)
        assert first.messages
        assert first.messages == second.messages
        if first.toolbox is not None:
            names = [spec.name for spec in first.toolbox.specs]
            assert len(set(names)) == len(names)
        assert planned.task.answer_format(experiment.agent).strip()


async def _results(experiment: Experiment, plan: Plan) -> list[Result]:
    async with RunModels(experiment) as models:
        return [await play(planned, models, experiment) for planned in plan.episodes]


def _check_result(suite: Suite[Any, Any], result: Result) -> None:
    """The score survives JSON, and is the same when it is computed again from the log."""
    assert result.score is not None, result.trajectory.error
    assert suite.score_type.model_validate(result.score).model_dump(mode="json") == result.score
    back = Result.from_dict(json.loads(json.dumps(result.as_dict())))
    task = suite.task_type.model_validate(back.task)
    assert judge(task, back.trajectory, back.extractor_reply)[1] == result.score


def _check_report(suite: Suite[Any, Any], results: list[Result]) -> None:
    report = build_report([result.as_dict() for result in results], analysis_of(suite).report())
    for write in (as_text, to_csv, to_markdown):
        assert write(report).strip()
    assert json.loads(to_json(report))["rows"]
