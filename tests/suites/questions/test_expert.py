"""The proof that the four tools suffice: the expert answers every question, in few turns, on every kind of graph."""

import json
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphwalk.config.experiment import AgentConfig
from graphwalk.config.specs import GRAPH_PRESETS, GraphSpec
from graphwalk.generators.property_graph import generate_graph
from graphwalk.oracle.evaluators import evaluate
from graphwalk.oracle.graph_index import GraphIndex
from graphwalk.scoring.rows import compare_rows
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.making import make_tasks
from graphwalk.suites.questions.par import Played, play
from graphwalk.suites.questions.policies.expert import PLANS, expert
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.template import shipped_templates
from graphwalk.toolbox.graph_toolbox import GraphToolbox
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value
from tests.oracle.odd_graphs import odd_graph, odd_question

TURN_LIMIT = AgentConfig().turn_limit
ODD: dict[str, Any] = {"missing_rate": 0.4, "self_loops": True, "parallel_relationships": True}


@dataclass
class Place:
    """A graph with its tools."""

    index: GraphIndex
    schema: Schema
    toolbox: GraphToolbox

    async def ask(self, template: str, parameters: dict[str, Value]) -> Played:
        return await play(expert(template, parameters, self.schema), self.toolbox)


async def place(graph: PropertyGraph, **agent: Any) -> Place:
    store = await EmbeddedDatabase().load(graph)
    schema = await store.schema(AgentConfig(**agent).schema_samples)
    return Place(GraphIndex(graph), schema, GraphToolbox(store, schema, agent=AgentConfig(**agent)))


async def tasks_on_preset(
    preset: str, seed: int, per_question: int = 1, **spec: Any
) -> tuple[PropertyGraph, list[QuestionTask]]:
    graph = generate_graph(GraphSpec(preset=preset, **spec), seed)
    store = await EmbeddedDatabase().load(graph)
    return graph, await make_tasks(graph, store, seed=seed, per_question=per_question)


def right(answer: str, gold: list[Row], template: str) -> bool:
    fields = list(gold[0]) if gold else []
    return compare_rows(json.loads(answer), gold, fields, any_one=shipped_templates()[template].mode != "set").correct


async def check_all_right(preset: str, seed: int, per_question: int = 1, **spec: Any) -> None:
    graph, tasks = await tasks_on_preset(preset, seed, per_question, **spec)
    here = await place(graph)
    assert {task.template for task in tasks} == set(PLANS)
    for task in tasks:
        played = await here.ask(task.template, task.parameters)
        assert right(played.answer, task.gold, task.template), (task.task_id, task.parameters, played.answer, task.gold)
        assert played.turns <= TURN_LIMIT


def test_there_is_a_plan_for_every_question() -> None:
    assert set(PLANS) == set(shipped_templates())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("preset", GRAPH_PRESETS)
async def test_the_expert_answers_every_question_on_every_preset(preset: str, seed: int) -> None:
    await check_all_right(preset, seed)


@pytest.mark.parametrize("preset", GRAPH_PRESETS)
async def test_it_does_so_with_missing_properties_loops_and_parallel_relationships(preset: str) -> None:
    await check_all_right(preset, 7, **ODD)


@pytest.mark.slow
@pytest.mark.parametrize("spec", [{}, ODD, {"self_loops": True}, {"missing_rate": 0.9}], ids=str)
@pytest.mark.parametrize("preset", GRAPH_PRESETS)
async def test_it_does_so_with_many_seeds(preset: str, spec: dict[str, Any]) -> None:
    for seed in range(100, 110):
        await check_all_right(preset, seed, per_question=3, **spec)


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
async def test_it_answers_any_question_about_odd_graphs(random: Random) -> None:
    here = await place(odd_graph(random))
    for name, template in shipped_templates().items():
        question = odd_question(template, here.index, random)
        gold = [row for row in evaluate(name, here.index, question.parameters) if row.get("value", "") is not None]
        if gold:
            played = await here.ask(name, question.parameters)
            assert right(played.answer, gold, name), (name, question.parameters, played.answer, gold)


@pytest.mark.parametrize(
    "agent",
    [
        {"encoding": "csv"},
        {"encoding": "compact"},
        {"result_budget": 7},
        {"result_budget": 1, "encoding": "csv"},
        {"schema_samples": 20},
        {"think": False},
    ],
    ids=str,
)
async def test_it_reads_every_encoding_and_turns_pages(agent: dict[str, Any]) -> None:
    graph, tasks = await tasks_on_preset("paper-100", 3, missing_rate=0.2)
    here = await place(graph, **agent)
    for task in tasks:
        played = await here.ask(task.template, task.parameters)
        assert right(played.answer, task.gold, task.template), task.template


async def test_few_calls_are_enough() -> None:
    graph, tasks = await tasks_on_preset("paper-500", 0)
    here = await place(graph)
    calls = {task.template: (await here.ask(task.template, task.parameters)).calls for task in tasks}
    assert calls["node_by_property"] == calls["negation_on_rel_property"] == 1
    assert calls["node_count"] <= 15  # about 60 nodes of the label
    assert max(calls.values()) <= 120  # all 500 nodes


@pytest.mark.parametrize("switch", ["direction", "relationship_properties"])
async def test_without_directions_or_relationship_properties_it_gives_what_is_left(switch: str) -> None:
    graph, tasks = await tasks_on_preset("paper-100", 1)
    here = await place(graph, **{switch: False})
    answers = {task.template: (await here.ask(task.template, task.parameters)).answer for task in tasks}
    gold = {task.template: task.gold for task in tasks}
    assert right(answers["node_by_property"], gold["node_by_property"], "node_by_property")
    assert not all(right(answers[name], gold[name], name) for name in answers)
