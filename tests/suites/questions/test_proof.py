"""Adversarial transcripts: what is no evidence although every word of it was shown, and what is."""

import json
from random import Random
from typing import Any

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import GraphInstance
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.make_tasks import make_tasks
from tests.suites.questions.episodes import Stage
from tests.suites.questions.evidence_graph import LISTED, WALKED, near, nodes, place, task, values

ODD: dict[str, Any] = {"missing_rate": 0.4, "self_loops": True, "parallel_relationships": True}
NEEDS_PROPERTIES = {"relationship_by_property", "negation_on_rel_property"}
INTERSECTION = task("compositional_intersection", source_label="A", first_label="B", second_label="C")
NEGATION = task("negation_with_connection", source_label="A", required_label="B", excluded_label="C")
BY_RELATIONSHIP = task("relationship_by_property", relationship_type="R", property="w", value=1)
PATHS = task("path_finding", source_label="A", middle_label="B", target_label="C")
REACHED = task("path_from_specific_node", source_label="A", key="a2", target_label="C", max_hops=2)
REMOTE = task("remote_node_property", source_label="A", key="a1", target_label="C", property="q", max_hops=2)
FARTHER = task("remote_node_property", source_label="A", key="a2", target_label="C", property="key", max_hops=2)
BY_VALUE = task("node_by_property", label="A", property="p", value=1)
ON_RELATIONSHIP = task(
    "negation_on_rel_property",
    source_label="A",
    node_property="p",
    node_value=1,
    relationship_type="R",
    target_label="B",
    relationship_property="w",
    excluded_value=2,
)
COUNT = task("node_count", source_label="A", target_label="B")
MANY = task("relationship_count", relationship_type="R")
MOST = task("node_with_most_relationships", source_label="A", relationship_type="R")
HOPS = task("variable_hop_path", source_label="A", target_label="C", max_hops=2)
ALL = [
    *(INTERSECTION, NEGATION, BY_RELATIONSHIP, PATHS, REACHED, BY_VALUE),
    *(ON_RELATIONSHIP, COUNT, MANY, MOST, HOPS, REMOTE),
]

ALL_OF_A = [values("A"), near("A", "key", "a3")]
"""All nodes of A, and that one of them is isolated, which the values of others do not show."""
NEAR_B1 = near("B", "key", "b1")
NEAR_A2 = near("A", "key", "a2")
NEAR_C = [near("C", "key", "c1"), near("C", "key", "c2")]
NEAR_A = [near("A", "key", "a1"), NEAR_A2, near("A", "key", "a3")]
FROM_A2_TO_C2 = [{"source_node_key": "a2", "target_node_key": "c2"}]
FROM_A1_TO_B1 = [{"source_key": "a1", "target_key": "b1"}]
FROM_B1_TO_A1 = [{"source_key": "b1", "target_key": "a1"}]
A1_WITH_TWO = [{"node_key": "a1", "rel_count": 2}]


def keys(*names: str) -> list[dict[str, Any]]:
    return [{"node_key": name} for name in names]


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.template)
async def test_a_right_answer_is_grounded_by_looking_up_all_nodes_and_not_by_lists(one: Any) -> None:
    here = await place()
    for calls in ([], LISTED):
        score = await here.score(one, one.target, calls)
        assert score.grounded == (0.0 if one.target else None)
    score = await here.score(one, one.target, WALKED)
    if one.template != "remote_node_property":  # its target is empty
        assert (score.correct, score.grounded) == (True, 1.0)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.template)
async def test_a_wrong_row_is_never_grounded(one: Any) -> None:
    here = await place()
    seen = ["a1", "a2", "a3", "b1", "b2", "c1", "c2", "red", "blue", "green", "x", 0, 1, 2, 3, 4, 5, 6]
    draw = Random(one.template)
    for _ in range(8):
        row = {field: draw.choice(seen) for field in one.answer_fields}
        score = await here.score(one, [row], WALKED)
        assert score.grounded == (1.0 if score.precision == 1 else 0.0), row


@pytest.mark.parametrize(
    ("one", "answer", "asked", "grounded"),
    [
        (BY_VALUE, keys("a1", "a2"), [nodes("A", "p", 1), nodes("A", "p", 2)], 0.5),
        (BY_VALUE, keys("a3"), [NEAR_B1, values("A"), values("A", "p")], 0.0),
        (INTERSECTION, keys("a1"), [NEAR_B1, near("C", "key", "c1")], 1.0),
        (INTERSECTION, keys("a1"), [NEAR_B1, nodes("C", "key", "c1")], 0.0),
        (NEGATION, keys("a2"), [NEAR_B1, *NEAR_C], 0.0),
        (NEGATION, keys("a2"), [NEAR_B1, *NEAR_C, values("C")], 1.0),
        (BY_RELATIONSHIP, FROM_A1_TO_B1, [NEAR_B1], 1.0),
        (BY_RELATIONSHIP, FROM_B1_TO_A1, [NEAR_B1], 0.0),
        (PATHS, FROM_A2_TO_C2, [NEAR_B1], 1.0),
        (PATHS, FROM_A2_TO_C2, [NEAR_A2], 0.0),
        (REACHED, [{"target_node_key": "c2"}], [NEAR_A2, NEAR_B1], 1.0),
        (REACHED, [{"target_node_key": "c2"}], [NEAR_A2, nodes("C", "key", "c2")], 0.0),
        (FARTHER, [{"value": "c2"}], [NEAR_B1, NEAR_A2], 1.0),
        (ON_RELATIONSHIP, keys("a1"), [near("A", "p", 1)], 1.0),
        (ON_RELATIONSHIP, keys("a1"), [near("A", "key", "a1")], 0.0),
        (COUNT, [{"count": 2}], [values("A"), *NEAR_A], 1.0),
        (COUNT, [{"count": 2}], [values("A"), *NEAR_A[:2]], 0.0),
        (MANY, [{"count": 3}], [values("A"), *NEAR_A], 1.0),
        (MOST, A1_WITH_TWO, [*ALL_OF_A, near("A", "p", 1), near("A", "p", 2)], 1.0),
        (MOST, A1_WITH_TWO, [values("A"), near("A", "p", 1), near("A", "p", 2)], 0.0),
    ],
)
async def test_what_shows_a_row(one: Any, answer: Any, asked: Any, grounded: float) -> None:
    score = await (await place()).score(one, answer, asked)
    assert score.grounded == grounded


async def test_a_page_that_was_not_read_may_hold_anything() -> None:
    here = await place(result_tokens=120)
    first = near("A", "p", 1)
    second = near("A", "p", 1, page=2)
    others = [values("A"), near("A", "p", 2)]
    all_with_1 = nodes("A", "p", 1)
    assert (await here.score(MOST, A1_WITH_TWO, [*others, all_with_1, first, second])).grounded == 1.0
    assert (await here.score(MOST, A1_WITH_TWO, [*others, all_with_1, first])).grounded == 0.0
    assert (await here.score(MOST, A1_WITH_TWO, [*others, first, second])).grounded == 0.0


async def test_what_the_tools_hide_cannot_be_told() -> None:
    hidden = await place(relationship_properties=False)
    score = await hidden.score(BY_RELATIONSHIP, FROM_A1_TO_B1, WALKED)
    assert score.error_class is None
    assert score.grounded is None
    assert (await hidden.score(MANY, [{"count": 3}], WALKED)).grounded == 1.0
    undirected = await place(direction=False)
    assert (await undirected.score(BY_VALUE, keys("a1"), WALKED)).grounded == 1.0
    assert (await undirected.score(COUNT, [{"count": 2}], WALKED)).grounded is None
    between_labels = [near("A", "p", 1), near("A", "p", 2), *ALL_OF_A]
    assert (await undirected.score(COUNT, [{"count": 2}], between_labels)).grounded == 1.0


def shown(name: str, arguments: str, content: str, rows: int | None = 1) -> ToolResult:
    return ToolResult(ToolCall("1", name, arguments), content, rows=rows)


async def test_results_of_another_form_are_no_evidence() -> None:
    here = await place()
    own = shown("count_all", '{"label": "A"}', '[{"node_key": "a1", "p": 1}]')
    assert (await here.score(BY_VALUE, keys("a1"), [], [own])).grounded is None
    looked_up = await here.results([nodes("A", "p", 2)])
    assert (await here.score(BY_VALUE, keys("a1"), [], [own, *looked_up])).grounded is None
    text = shown("draw", "{}", "a1 has p = 1")
    assert (await here.score(BY_VALUE, keys("a1"), [], [text])).grounded is None
    assert (await here.score(BY_VALUE, keys("a3"), [], [text])).error_class == "missing_rows"


async def test_the_models_own_words_are_no_evidence() -> None:
    here = await place()
    said = '[{"label": "A", "properties": {"key": "a1", "p": 1}}]'
    thought = shown("think", json.dumps({"thought": said}), said, rows=None)
    refused = ToolResult(ToolCall("1", "get_node_by_property", "{}"), said, error="bad_arguments")
    noted = shown("get_node_by_property", "{}", f"Note: {said}\n[]", rows=0)
    for result in (thought, refused, noted):
        assert (await here.score(BY_VALUE, keys("a1"), [], [result])).grounded == 0.0


@pytest.mark.parametrize(
    ("agent", "spec"),
    [
        ({}, ODD),
        ({"encoding": "compact", "result_tokens": 600, "compaction": "window", "compaction_window": 1}, {}),
        pytest.param({"relationship_properties": False}, {}, marks=pytest.mark.extended),
    ],
    ids=str,
)
async def test_the_expert_is_always_right_and_grounded(agent: dict[str, Any], spec: dict[str, Any]) -> None:
    graph = generate_graph(GraphSpec(preset="paper-100", nodes=60, **spec), 2)
    store = await EmbeddedDatabase().load(graph)
    here = Stage(
        GraphInstance(graph.digest, graph), store, [*(await make_tasks(graph, store, QuestionsConfig(), seed=2)).asked]
    )
    for one in here.tasks:
        score, trajectory = await here.play("expert", one, agent=AgentConfig(**agent))
        hidden = "relationship_properties" in agent and one.template in NEEDS_PROPERTIES
        assert score.grounded == (None if hidden else 1.0), one.template
        assert score.strict_correct != hidden, (one.template, trajectory.exit_status)
        assert score.extraction_stage == "strict"
