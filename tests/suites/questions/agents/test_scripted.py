"""The expert answers every question with the four tools; other agents are right as often as expected of them."""

import json
from random import Random
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

import graphwalk
from graphwalk.config.agent import AgentConfig
from graphwalk.evaluation.rows import compare_rows
from graphwalk.experiments.loading import load_experiment
from graphwalk.runs.episodes.resolve import resolve
from graphwalk.runs.folder.result import Result
from graphwalk.runs.folder.run_folder import NewRun
from graphwalk.runs.playing.execute import start_run
from graphwalk.runs.playing.run_progress import Progress
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.agents.scripted import MOST_TURNS, expert
from graphwalk.suites.questions.catalogue import choose_kinds, shipped_kinds
from graphwalk.suites.questions.suite import QuestionsSuite
from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.suites.reference import ReferenceWalk, drive
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.types.episode import ExitStatus
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Row, Value
from graphwalk.variables import Variables
from tests.suites.questions.episodes import Stage, stage
from tests.suites.questions.odd_graphs import odd_graph, odd_question

SEEDS = range(6)


async def expert_walk(graph: PropertyGraph, template: str, parameters: dict[str, Value], **agent: Any) -> ReferenceWalk:
    store = await EmbeddedDatabase().load(graph)
    schema = await store.schema(AgentConfig(**agent).schema_samples)
    toolbox = GraphToolbox(store, schema, agent=AgentConfig(**agent))
    return await drive(expert(template, parameters, schema), toolbox)


def is_right(answer: str, target: list[Row], template: str) -> bool:
    fields = list(target[0]) if target else []
    any_one = shipped_kinds()[template].template.mode != "set"
    return compare_rows(json.loads(answer), target, fields, any_one=any_one).correct


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
    names = shipped_kinds()[template].template.parameters
    walk = await expert_walk(graph, template, dict(zip(names, parameters, strict=True)))
    assert [tuple(row.values()) for row in json.loads(walk.answer)] == answer


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
async def test_expert_answers_any_question_about_odd_graphs(random: Random) -> None:
    graph = odd_graph(random)
    for name, kind in shipped_kinds().items():
        question = odd_question(kind, GraphIndex(graph), random)
        assert question.part is not None
        target = [row for row in question.part.right_rows(question.index) if row.get("value", "") is not None]
        if target:
            walk = await expert_walk(graph, name, question.parameters)
            assert is_right(walk.answer, target, name), (name, question.parameters, walk.answer, target)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def here() -> Stage:
    return await stage(seed=4)


async def test_random_makes_valid_calls_and_is_right_now_and_then(here: Stage) -> None:
    correct = []
    for task in here.tasks:
        for seed in SEEDS:
            score, trajectory = await here.play("random", task, seed)
            assert trajectory.exit_status is ExitStatus.ANSWERED
            assert {result.error for result in trajectory.results} == {None}
            assert len(trajectory.turns) <= MOST_TURNS + 1
            assert score.extraction_stage == "strict"
            assert score.extra_fields == score.missing_fields == ()
            assert score.grounded is None or score.grounded <= score.precision, task.template
            texts = " ".join([task.question, *(result.content for result in trajectory.results)])
            values = [value for row in json.loads(trajectory.reply) for value in row.values()]
            assert all(f'"{value}"' in texts for value in values if isinstance(value, str))
            correct.append(score.correct)
    assert 0 < sum(correct) < len(correct) * 0.2


async def test_the_expert_answers_every_kind_by_the_tool(tmp_path: Any) -> None:
    agent = {"prompts": "short", "tool_words": "short", "encoding": "compact", "names_in_tools": 200, "answer": "tool"}
    suite = {"name": "questions", "graphs": [{"nodes": 30}]}
    config = load_experiment({"name": "small", "suite": suite, "agent": agent, "models": ["scripted/expert"]})
    new = NewRun.make(config.name, tmp_path / "run")
    await start_run(resolve(config, Variables()), new, Progress())
    results = [Result.from_dict(record) for record in new.folder.records()]
    assert {result.task["template"] for result in results} == {kind.name for kind in choose_kinds()}
    for result in results:
        assert result.score
        assert (result.score["correct"], result.score["grounded"]) == (True, 1), result.key
        assert any(call.final for call in result.trajectory.turns[-1].results), result.key


def test_cypher_answers_every_question_by_its_own_query() -> None:
    players = QuestionsSuite.players
    assert [name for name, player in players.items() if "write_cypher" in player.settings] == ["cypher"]
    assert players["cypher"].settings == ("write_cypher",)
    graph = graphwalk.generate_graph("paper-100", seed=5)
    for task in graphwalk.make_tasks(graph, seed=5):
        result = graphwalk.play(task, graph, model="scripted/cypher", setting="write_cypher")
        assert result.score is not None
        assert (result.score["correct"], result.score["grounded"]) == (True, None), task.template
