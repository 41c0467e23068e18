"""An answer is proven only if no other graph gives the same tool results and another answer."""

from random import Random
from typing import Any

import pytest

from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import GraphInstance
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.make_tasks import make_tasks
from tests.suites.questions.counterexamples import KINDS, counterexample, random_case
from tests.suites.questions.episodes import Stage
from tests.suites.questions.evidence_graph import WALKED, Asked, near, nodes, place, task, values

IN_A = [near("A", "key", key) for key in ("a1", "a2", "a3")]
INTERSECTION = task("compositional_intersection", source_label="A", first_label="B", second_label="C")
NEGATION = task("negation_with_connection", source_label="A", required_label="B", excluded_label="C")
BY_VALUE = task("node_by_property", label="A", property="p", value=1)
REACHED = task("path_from_specific_node", source_label="A", key="a2", target_label="C", max_hops=2)
FARTHER = task("remote_node_property", source_label="A", key="a2", target_label="C", property="key", max_hops=2)
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


@pytest.mark.parametrize(
    ("one", "asked", "unproven"),
    [
        (INTERSECTION, [near("A", "key", "a1")], "not all A nodes were looked up or listed"),
        (INTERSECTION, [values("A"), *IN_A[:2]], "not all relationships of 1 A node were looked up: a3"),
        (INTERSECTION, [values("A"), *IN_A], ""),
        (NEGATION, [values("A"), *IN_A], ""),
        (NEGATION, IN_A, "not all A nodes were looked up or listed"),
        (BY_VALUE, [nodes("A", "p", 1)], ""),
        (BY_VALUE, [nodes("A", "key", "a1"), nodes("A", "key", "a3")], "not all A nodes were looked up or listed"),
        (REACHED, [near("A", "key", "a2"), near("B", "key", "b1")], ""),
        (REACHED, [near("B", "key", "b1")], "not all C nodes were looked up or listed"),
        (FARTHER, [near("A", "key", "a2"), near("B", "key", "b1")], ""),
        (FARTHER, [near("B", "key", "b1")], "not all relationships of 2 A nodes were looked up: a1, a2"),
        (ON_RELATIONSHIP, [near("A", "p", 1)], ""),
        (
            ON_RELATIONSHIP,
            [near("A", "key", "a1"), nodes("A", "p", 1)],
            "not all relationships of 1 A node were looked up: a3",
        ),
        (COUNT, [values("A"), *IN_A], ""),
        (COUNT, [values("A"), *IN_A[:2]], "not all relationships of 1 A node were looked up: a3"),
        (MANY, [values("A"), *IN_A], ""),
        (MOST, [values("A"), *IN_A], ""),
        (MOST, IN_A, "not all A nodes were looked up or listed"),
    ],
)
async def test_what_was_not_looked_up(one: Any, asked: list[Asked], unproven: str) -> None:
    score = await (await place()).score(one, one.target, asked)
    assert (score.correct, score.unproven) == (True, unproven)
    assert score.proven is (unproven == "")


async def test_a_wrong_answer_is_never_proven() -> None:
    here = await place()
    score = await here.score(BY_VALUE, [{"node_key": "a1"}], WALKED)
    assert (score.correct, score.grounded, score.proven, score.unproven) == (False, 1.0, False, "")


async def test_a_page_that_was_not_read_may_hold_another_row() -> None:
    here = await place(result_tokens=120)
    around = [values("A"), near("A", "p", 2), near("A", "key", "a3")]
    first, second = near("A", "p", 1), near("A", "p", 1, page=2)
    assert (await here.score(MANY, MANY.target, [*around, first])).proven is False
    assert (await here.score(MANY, MANY.target, [*around, first, second])).proven is True


@pytest.mark.parametrize("kind", KINDS)
async def test_no_graph_contradicts_a_proven_answer(kind: str) -> None:
    """A few random cases of each kind; test_many_cases has more."""
    for seed in range(2):
        draw = Random(f"{kind} {seed}")
        case = await random_case(draw, kind)
        if case is not None and case.score.proven:
            assert await counterexample(draw, case, tries=6) is None, case.about


async def test_the_search_finds_the_graph_in_which_another_row_is_right() -> None:
    """A case whose rows are all supported, and that another node would make wrong: the search can fail a test."""
    found = 0
    for seed in range(40):
        draw = Random(f"supported {seed}")
        case = await random_case(draw, "compositional_intersection")
        if case is not None and case.score.grounded == 1 and not case.score.proven:
            found += await counterexample(draw, case, tries=30) is not None
        if found:
            break
    assert found


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
async def test_many_cases(part: int) -> None:
    proven = 0
    for seed in range(300):
        draw = Random(f"{part} {seed}")
        case = await random_case(draw, KINDS[seed % len(KINDS)])
        if case is not None and case.score.proven:
            proven += 1
            assert await counterexample(draw, case, tries=60) is None, case.about
    assert proven > 30


async def test_the_experts_walk_proves_its_answer() -> None:
    graph = generate_graph(GraphSpec(preset="paper-100", nodes=60), 2)
    store = await EmbeddedDatabase().load(graph)
    asked = (await make_tasks(graph, store, QuestionsConfig(), seed=2)).asked
    here = Stage(GraphInstance(graph.digest, graph), store, [*asked])
    assert len(here.tasks) == 12
    for one in here.tasks:
        score, _ = await here.play("expert", one)
        assert (score.proven, score.unproven) == (True, ""), one.template
