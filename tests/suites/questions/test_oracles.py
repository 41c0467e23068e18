"""Cypher and the evaluators never differ; where they would, the smallest graph is shown."""

import json
from dataclasses import replace
from random import Random

import pytest
from inline_snapshot import snapshot

from graphwalk.errors import OracleError
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import Value
from graphwalk.seeds import stdlib_random
from graphwalk.stores.base import Database
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.make_tasks import OWN_ROWS, make_tasks
from graphwalk.suites.questions.question import Question, agree, agreed_rows
from graphwalk.suites.questions.scripted import EXPERT
from graphwalk.suites.reference import expert_walk
from graphwalk.suites.rows import compare_rows
from tests.suites.questions.any_graphs import any_graph, any_question

PER_GRAPH = 3
"""Questions of each kind about one graph."""


async def count_agreements(database: Database, graphs: int, per_graph: int = PER_GRAPH) -> tuple[int, int]:
    """(checks, checks with an answer that is not empty). OracleError at the first difference."""
    checks = answered = 0
    for number in range(graphs):
        random = stdlib_random(0, "any graph", number)
        store = await database.load(any_graph(random))
        assert store.graph is not None
        index = GraphIndex(store.graph)
        for kind in shipped_kinds().values():
            for _ in range(per_graph):
                rows = await agreed_rows(any_question(kind, index, random), store, store)
                checks += 1
                answered += bool(rows and rows != [{"count": 0}])
        await store.drop()
    return checks, answered


GRAPHS = [30, pytest.param(250, marks=pytest.mark.extended), pytest.param(1000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("graphs", GRAPHS)
async def test_the_embedded_engine_and_the_evaluators_agree_on_any_graph(graphs: int) -> None:
    checks, answered = await count_agreements(EmbeddedDatabase(), graphs)
    assert checks == graphs * len(shipped_kinds()) * PER_GRAPH
    assert answered > checks // 4, "most answers are empty: the graphs show nothing"


@pytest.mark.parametrize("bare", [False, True])
async def test_both_oracles_agree_wherever_a_question_can_be_hosted(bare: bool) -> None:
    config = QuestionsConfig(questions=tuple(shipped_kinds()), most_rows=OWN_ROWS)
    hosted: dict[str, int] = dict.fromkeys(shipped_kinds(), 0)
    for seed in range(8):
        graph = any_graph(Random(seed), bare=bare)
        store = await EmbeddedDatabase().load(graph)
        tasks, left_out, _ = await make_tasks(graph, store, config, seed=seed)
        about = LoadedGraph(GraphInstance.of(graph), store)
        assert {task.template for task in tasks} | left_out.keys() == hosted.keys()
        for task in tasks:
            hosted[task.template] += 1
            walk = await expert_walk(EXPERT, task, about)
            assert (
                bare
                or compare_rows(
                    json.loads(walk.answer), task.target, task.answer_fields, any_one=task.mode != "set"
                ).correct
            )
    assert min(hosted.values()) > 0, hosted


async def test_a_difference_lists_the_rows_that_one_oracle_finds() -> None:
    nodes = [Node("a1", ("A",), {}), Node("a2", ("A",), {}), Node("b", ("B",), {})]
    graph = PropertyGraph.from_rows(nodes, [Relationship("R", "a1", "b", {}), Relationship("R", "b", "a2", {})])
    kind = shipped_kinds()["path_from_specific_node"]
    parameters: dict[str, Value] = {"source_label": "B", "key": "b", "target_label": "A", "max_hops": 1}
    question = Question(kind, GraphIndex(graph), parameters)
    backwards = kind.model_copy(update={"cypher": kind.cypher.replace("-[*", "<-[*").replace("]->", "]-")})
    store = await EmbeddedDatabase().load(graph)
    assert await agreed_rows(question, store, store) == [{"target_node_key": "a2"}]
    with pytest.raises(OracleError) as caught:
        await agreed_rows(replace(question, kind=backwards), store, store)
    assert caught.value.message == snapshot("""\
Cypher (embedded store) and the evaluator differ on path_from_specific_node
graph: digest 8ee3d8b45a3fa3725309b39a53f52da94b4066cd4f6bc95e55f89f6f52b2243f, seed None
parameters: {'source_label': 'B', 'key': 'b', 'target_label': 'A', 'max_hops': 1}
query: MATCH (a:`B`) WHERE a.`key` = $key MATCH (a)<-[*1..1]-(b:`A`) RETURN DISTINCT b.key AS target_node_key
only Cypher found: [{'target_node_key': 'a1'}]
only the evaluator found: [{'target_node_key': 'a2'}]\
""")


async def test_one_tied_node_is_enough_and_a_wrong_one_is_not() -> None:
    nodes = [Node("a", ("A",), {}), Node("b", ("A",), {}), Node("c", ("A",), {})]
    graph = PropertyGraph.from_rows(
        nodes, [Relationship("R", "a", "b", {}), Relationship("R", "b", "a", {}), Relationship("S", "c", "a", {})]
    )
    index, store = GraphIndex(graph), await EmbeddedDatabase().load(graph)
    kind = shipped_kinds()["node_with_most_relationships"]
    question = Question(kind, index, {"source_label": "A", "relationship_type": "R"})
    tied = [{"node_key": "a", "rel_count": 1}, {"node_key": "b", "rel_count": 1}]
    assert await agreed_rows(question, store, store) == tied
    assert agree(question, tied[:1], tied)
    assert not agree(question, [{"node_key": "c", "rel_count": 1}], tied)
    assert not agree(question, [], tied)
    assert not agree(question, tied[:1], [])
