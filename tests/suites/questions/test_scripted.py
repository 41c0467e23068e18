"""The expert answers every question with the four tools; other agents are right as often as expected of them."""

import json
from typing import Any

import pytest
import pytest_asyncio

import graphwalk
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import Value
from graphwalk.models.trajectory import ExitStatus
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.scripted import MOST_TURNS, expert
from graphwalk.suites.reference import drive
from graphwalk.tools.graph_toolbox import GraphToolbox
from tests.suites.questions.episodes import Stage, stage

SEEDS = range(2)


@pytest.mark.parametrize(
    ("nodes", "arrows", "template", "parameters", "answer"),
    [
        # A loop is not both steps of a path; of two parallel loops each is one.
        ("a:A b:A", "aa ab", "path_finding", ["A", "A", "A"], [("a", "b")]),
        ("a:A b:A", "aa aa", "path_finding", ["A", "A", "A"], [("a", "a")]),
        # The further step may not use the way again.
        ("a:A b:B", "ab ba", "variable_hop_path", ["A", "A", 3], []),
        ("a:A b:B", "ab ab ba", "variable_hop_path", ["A", "A", 3], [("a", "a")]),
        # A remote node is no direct neighbour.
        ("a:A b:T c:T d:T", "ab ac cb cd", "remote_node_property", ["A", "a", "T", "p", 3], [("D",)]),
    ],
)
async def test_expert_follows_the_rules_of_cypher(
    nodes: str, arrows: str, template: str, parameters: list[Value], answer: list[Any]
) -> None:
    labels = dict(node.split(":") for node in nodes.split())
    graph = PropertyGraph.from_rows(
        [Node(key, (label,), {"p": key.upper()}) for key, label in labels.items()],
        [Relationship("R", *arrow, {}) for arrow in arrows.split()],
    )
    names = shipped_kinds()[template].parameters
    store = await EmbeddedDatabase().load(graph)
    schema = await store.schema()
    values = dict(zip(names, parameters, strict=True))
    walk = await drive(expert(template, values, schema), GraphToolbox(store, schema))
    assert [tuple(row.values()) for row in json.loads(walk.answer)] == answer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def here() -> Stage:
    return await stage(seed=4)


async def test_random_makes_valid_calls_and_is_seldom_right(here: Stage) -> None:
    correct = []
    for task in here.tasks:
        for seed in SEEDS:
            score, trajectory = await here.play("random", task, seed)
            assert trajectory.exit_status is ExitStatus.ANSWERED
            assert {result.error for result in trajectory.results} == {None}
            assert len(trajectory.turns) <= MOST_TURNS + 1
            assert (score.extraction_stage, score.extra_fields, score.missing_fields) == ("strict", (), ())
            assert score.grounded is None or score.grounded <= score.precision, task.template
            correct.append(score.correct)
    assert sum(correct) < len(correct) * 0.2


def test_cypher_answers_every_question_by_its_own_query() -> None:
    graph = graphwalk.generate_graph("paper-100", seed=5)
    for task in graphwalk.make_tasks(graph, seed=5):
        result = graphwalk.play(task, graph, model="scripted/cypher", setting="write_cypher")
        assert result.score is not None
        assert result.score["correct"], task.template


def test_cypher_writes_dates_and_times_as_the_engine_holds_them() -> None:
    graph = graphwalk.read_graph("example")
    tasks = graphwalk.make_tasks(graph, questions=["node_by_property"], per_question=8, seed=5)
    dated = [task for task in tasks if "date" in task.cypher]
    assert dated
    for task in dated:
        result = graphwalk.play(task, graph, model="scripted/cypher", setting="write_cypher")
        assert result.score is not None
        assert result.score["correct"], task.cypher
