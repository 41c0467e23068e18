"""Check an extension in a test of your own: a suite, a store, or a model (`check_model`)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import StoreError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.schema import schema_of
from graphwalk.models.conformance import check_model
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.plan import Plan, make_plan
from graphwalk.runs.play import RunModels, play
from graphwalk.runs.record import Result, judge
from graphwalk.runs.resolve import ResolvedExperiment, resolve
from graphwalk.stores.base import Database, GraphStore
from graphwalk.stores.open import OpenGraphs
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.suite import QuestionsSuite
from graphwalk.suites.suite import suite_named
from graphwalk.variables import Variables

__all__ = ["check_model", "check_store", "check_suite"]

ODD_REPLIES = ("", " ", "[", "null", "{}", "[[[[", "\ud800", "I do not know.", '{"answer": NaN}', "[" * 5000)
"""Replies that `Task.read` must survive."""
WRITES = ("CREATE (n:Foo)", "MATCH (n) DETACH DELETE n", "MATCH (n) SET n.x = 1")


async def check_suite(name: str, right: Sequence[str] = ("expert",), seed: int = 7, **fields: Any) -> list[Result]:
    """Play a suite with all of its scripted agents, and return the results.

    `fields` are those of `suite` in an experiment; `right` names the scripted agents that answer everything correctly.
    Raise AssertionError unless tasks, prompts and scores are the same for the same seed and survive JSON.
    """
    experiment, plan = await _planned(name, seed, fields)
    _check_tasks(experiment, plan, (await _planned(name, seed, fields))[1])
    _, shorter = await _planned(name, seed, fields, limit=1)
    assert shorter.tasks[0][0] == plan.tasks[0][0], "the first task is another one with limit: 1"
    await _check_prompts(experiment, plan)
    async with RunModels(experiment) as models:
        results = [await play(planned, models, experiment) for planned in plan.episodes]
    for result in results:
        _check_score(experiment, result)
    for (task, _), reply in product(plan.tasks, ODD_REPLIES):
        task.read(reply)
    for agent in right:
        played = [result for result in results if result.key.model == f"scripted/{agent}"]
        assert played, f"scripted/{agent} plays no task"
        for result in played:
            is_right = result.score is not None and result.score["correct"]
            assert is_right, f"scripted/{agent} does not solve all tasks: {_mistake(result)}"
    return results


def _mistake(result: Result) -> str:
    """Return what a scripted agent answered instead, and the first tool call that failed, which often is the cause."""
    words = f"task {result.key.task_id}, answer {result.answer!r}, target {result.task['target']!r}"
    for output in result.trajectory.results:
        if output.error is not None:
            return f"{words}; {output.call.name}({output.call.arguments}): {output.content}"
    return words


async def check_store(database: Database) -> None:
    """Load two graphs into a database, and drop them.

    Raise AssertionError unless each comes back whole, with its own schema, and writes are refused. Raise OracleError
    for a query of the shipped questions whose answer is not that of its evaluator.
    """
    spec = GraphSpec(preset="paper-100")
    graph, other = (generate_graph(spec, seed=7, index=index) for index in (0, 1))
    store, second = await database.load(graph), await database.load(other)
    await _check_content(store, graph)
    await _check_content(second, other)
    about = LoadedGraph(GraphInstance.of(graph), store)
    config = QuestionsConfig.model_validate({"name": "questions", "graphs": [{"preset": "paper-100"}]})
    assert (await QuestionsSuite().tasks(about, config, 7, AgentConfig())).asked
    for query in WRITES:
        try:
            await store.run(query)
        except StoreError:
            continue
        raise AssertionError(f"the store runs {query!r}; it should raise StoreError")
    await _check_content(store, graph)
    await store.drop()
    await _check_content(second, other)
    await second.drop()


async def _check_content(store: GraphStore, graph: PropertyGraph) -> None:
    content = await store.read_graph()
    assert _content(content) == _content(graph), "the store holds another graph than it was given"
    for samples in (0, 3):
        assert await store.schema(samples) == schema_of(graph, samples), "the schema is not that of the graph"


def _content(graph: PropertyGraph) -> list[str]:
    """Return nodes and relationships as JSON, sorted: stores return them in any order."""
    nodes = [json.dumps(asdict(node), sort_keys=True) for node in graph.nodes()]
    relationships = [json.dumps(asdict(relationship), sort_keys=True) for relationship in graph.relationships()]
    return sorted(nodes + relationships)


async def _planned(
    name: str, seed: int, fields: Mapping[str, Any], limit: int | None = None
) -> tuple[ResolvedExperiment, Plan]:
    """Return an experiment with one graph and all scripted agents of a suite, and its plan."""
    suite = suite_named(name)
    models = [f"scripted/{agent}" for agent in suite.scripted_agents]
    mapping = {
        "name": "check",
        "suite": {"name": name, **fields},
        "models": models,
        "settings": suite.settings,
        "seed": seed,
        "limit": limit,
    }
    experiment = resolve(load_experiment(mapping), Variables())
    return experiment, await make_plan(experiment, OpenGraphs(Variables()), lambda tasks: None)


def _check_tasks(experiment: ResolvedExperiment, plan: Plan, again: Plan) -> None:
    tasks = [task for task, _ in plan.tasks]
    assert tasks, "the suite makes no task"
    assert tasks == [task for task, _ in again.tasks], "the same seed gives other tasks"
    assert len({task.task_id for task in tasks}) == len(tasks), "two tasks have the same task_id"
    for task, graph in plan.tasks:
        assert task.suite == experiment.suite.name
        assert task.graph_digest == graph.about.instance.digest
        assert experiment.suite.task_type.model_validate_json(task.model_dump_json()) == task
    config = experiment.config.suite
    assert type(config).model_validate_json(config.model_dump_json()) == config


async def _check_prompts(experiment: ResolvedExperiment, plan: Plan) -> None:
    for planned in plan.episodes:
        first, second = await planned.prompt(experiment), await planned.prompt(experiment)
        assert first.messages, f"{planned.task.task_id} has no prompt"
        assert first.messages == second.messages, f"the prompt of {planned.task.task_id} is not always the same"
        if first.toolbox is not None:
            names = [spec.name for spec in first.toolbox.specs]
            assert len(set(names)) == len(names)
        assert planned.task.answer_format(experiment.config.agent).strip()


def _check_score(experiment: ResolvedExperiment, result: Result) -> None:
    """Check that the score survives JSON, and is the same when it is computed again from the log."""
    suite = experiment.suite
    assert result.score is not None, result.trajectory.error
    assert suite.score_type.model_validate(result.score).model_dump(mode="json") == result.score
    back = Result.from_dict(json.loads(json.dumps(result.as_dict())))
    task = suite.task_type.model_validate(back.task)
    assert judge(task, back.trajectory, back.extractor_reply)[1] == result.score
