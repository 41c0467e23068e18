"""The same on a real Neo4j: the evaluators, Cypher there, and so the embedded engine, never differ (R27)."""

import os

import pytest

from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.neo4j.loaded import Neo4jDatabase
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.tasks.make_tasks import make_tasks
from graphwalk.variables import Variables
from tests.suites.questions.tasks.test_oracles import count_agreements

pytestmark = pytest.mark.neo4j


@pytest.mark.parametrize("graphs", [3, pytest.param(100, marks=pytest.mark.extended)])
async def test_neo4j_and_the_evaluators_agree_on_any_graph(neo4j_server: Variables, graphs: int) -> None:
    database = await Neo4jDatabase.open(neo4j_server, run_id=f"any-{os.getpid()}")
    try:
        checks, answered = await count_agreements(database, graphs, per_graph=1)
    finally:
        await database.close()
    assert checks == graphs * len(shipped_kinds())
    assert answered > checks // 6


async def test_tasks_made_on_neo4j_and_on_the_embedded_engine_are_the_same(neo4j_server: Variables) -> None:
    database = await Neo4jDatabase.open(neo4j_server, run_id=f"tasks-{os.getpid()}")
    try:
        graph = generate_graph(GraphSpec(preset="paper-100"), 8)
        store = await database.load(graph)
        tasks = await make_tasks(graph, store, QuestionsConfig(), seed=8)
        await store.drop()
        embedded = await EmbeddedDatabase().load(graph)
        assert tasks == await make_tasks(graph, embedded, QuestionsConfig(), seed=8)
    finally:
        await database.close()
