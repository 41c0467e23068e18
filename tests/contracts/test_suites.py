"""The contract of suites, checked for each registered one from its configuration to its report, with all of its scripted agents."""

import json
from itertools import product
from typing import Any

import pytest

from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.reports.formats import as_text, to_csv, to_json, to_markdown
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.judge import judge
from graphwalk.runs.plan import GraphSources, Plan, make_plan
from graphwalk.runs.play import RunModels, play
from graphwalk.runs.record import Result
from graphwalk.runs.resolve import Experiment, resolve
from graphwalk.suites.registry import SUITES, suite_named
from graphwalk.suites.suite import Suite
from graphwalk.variables import Variables
from tests.reports.results import build_report

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
    name, task_type = experiment.suite.name, experiment.suite.task_type
    tasks = [task for task, _ in plan.tasks]
    assert tasks == [task for task, _ in again.tasks], f"{name}: the tasks differ although the seed is the same"
    assert len({task.task_id for task in tasks}) == len(tasks), f"{name}: two tasks have the same task_id"
    for task, graph in plan.tasks:
        assert task.suite == name, f"{name}: the task {task.task_id} has the suite {task.suite!r}"
        digest = graph.about.instance.digest
        assert task.graph_digest == digest, f"{name}: graph_digest of {task.task_id} is not the digest of its graph"
        copy = task_type.model_validate_json(task.model_dump_json())
        assert copy == task, f"{name}: {task.task_id} is another task after JSON:\n  {task}\n  {copy}"
    config = experiment.config.suite
    copy = type(config).model_validate_json(config.model_dump_json())
    assert copy == config, f"{name}: the configuration is another one after JSON:\n  {config}\n  {copy}"


async def _check_prompts(experiment: Experiment, plan: Plan) -> None:
    name = experiment.suite.name
    for planned in plan.episodes:
        where = f"{name}: {planned.key.task_id} in the setting {planned.key.setting}"
        first, second = await planned.prompt(experiment), await planned.prompt(experiment)
        assert first.messages, f"{where}: the prompt is empty"
        assert first.messages == second.messages, f"{where}: another prompt each time"
        if first.toolbox is not None:
            names = [spec.name for spec in first.toolbox.specs]
            assert len(set(names)) == len(names), f"{where}: two tools have the same name"
        assert planned.task.answer_format(experiment.agent).strip(), f"{where}: answer_format is empty"


async def _results(experiment: Experiment, plan: Plan) -> list[Result]:
    results = []
    async with RunModels(experiment) as models:
        for planned in plan.episodes:
            results.append(await play(planned, models, experiment))
    return results


def _check_result(suite: Suite[Any, Any], result: Result) -> None:
    where = f"{suite.name}: {result.key.model} on {result.key.task_id} in the setting {result.key.setting}"
    assert result.score is not None, f"{where} failed: {result.trajectory.error}"
    score = suite.score_type.model_validate(result.score)
    assert score.model_dump(mode="json") == result.score, f"{where}: the score is another one after JSON"
    back = Result.from_dict(json.loads(json.dumps(result.as_dict())))
    task = suite.task_type.model_validate(back.task)
    _, again = judge(task, back.trajectory, back.extractor_reply)
    assert again == result.score, f"{where}: scored again from the log it is {again}, at first it was {result.score}"


def _check_report(suite: Suite[Any, Any], results: list[Result]) -> None:
    report = build_report([result.as_dict() for result in results], analysis_of(suite).report())
    for write in (as_text, to_csv, to_markdown):
        assert write(report).strip(), f"{suite.name}: {write.__name__} writes nothing"
    assert json.loads(to_json(report))["rows"], f"{suite.name}: the report has no rows"
