"""Checks for suites."""

import json
from collections.abc import Mapping
from itertools import product
from typing import Any

from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.reports.formats import as_text, to_csv, to_json, to_markdown
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.judge import judge
from graphwalk.runs.plan import GraphSources, Plan, make_plan
from graphwalk.runs.play import RunModels, play
from graphwalk.runs.record import Result
from graphwalk.runs.resolve import Experiment, resolve
from graphwalk.suites.registry import suite_named
from graphwalk.suites.suite import Suite
from graphwalk.variables import Variables
from tests.reports.results import build_report

_ODD_REPLIES = ("", " ", "[", "null", "{}", "[[[[", "\ud800", "I do not know.", '{"answer": NaN}', "[" * 5000)


async def check_suite(
    name: str,
    config: Mapping[str, Any] | None = None,
    *,
    seed: int = 7,
    graphs: int | None = 1,
    limit: int | None = None,
    accuracy: Mapping[str, float] | None = None,
) -> None:
    """Check a suite from configuration to report, with all of its scripted agents.

    `config`: content of `suite:` in an experiment. `graphs`: number of graphs of each kind. `limit`: maximum number of
    tasks. `accuracy`: known accuracy of scripted agents, for example {"expert": 1.0}.

    Tasks, prompts and scores are the same for the same seed and survive JSON. Unusual replies raise nothing.
    """
    experiment = _experiment(name, config or {}, seed, graphs, limit)
    plan = await _plan(experiment)
    _check_tasks(experiment, plan, await _plan(_experiment(name, config or {}, seed, graphs, limit)))
    await _check_prompts(experiment, plan)
    results = await _results(experiment, plan)
    for result in results:
        _check_result(experiment.suite, result)
    for (task, _), reply in product(plan.tasks, _ODD_REPLIES):
        try:
            task.read(reply)
        except Exception as error:
            raise AssertionError(f"{name}: read fails on the reply {reply[:20]!r}: {error!r}") from error
    for agent, wanted in (accuracy or {}).items():
        correct = [bool(r.score and r.score["correct"]) for r in results if r.key.model == f"scripted/{agent}"]
        assert correct, f"scripted/{agent} played nothing"
        reached = sum(correct) / len(correct)
        assert abs(reached - wanted) < 1e-9, f"scripted/{agent} reaches {reached:.4f} and is known for {wanted:.4f}"
    _check_report(experiment.suite, results)


def _experiment(name: str, config: Mapping[str, Any], seed: int, graphs: int | None, limit: int | None) -> Experiment:
    suite = suite_named(name)
    models = [f"scripted/{agent}" for agent in suite.players]
    data = {"name": "check", "suite": {"name": name, **config}, "models": models, "settings": suite.settings}
    assert models, f"the suite {name} has no scripted agents, so that nothing can be played without a model"
    return resolve(load_experiment({**data, "seed": seed, "limit": limit}, graphs=graphs), Variables())


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
