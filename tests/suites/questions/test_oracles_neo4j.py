"""The same on a real Neo4j: the evaluators, Cypher there, and so the embedded engine, never differ."""

import uuid
from collections.abc import AsyncIterator

import pytest

from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.neo4j.loaded import Neo4jDatabase
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.make_tasks import make_tasks
from graphwalk.variables import Variables
from tests.suites.questions.test_oracles import count_agreements

pytestmark = pytest.mark.neo4j


@pytest.fixture
async def database(neo4j_server: Variables) -> AsyncIterator[Neo4jDatabase]:
    async with await Neo4jDatabase.open(neo4j_server, run_id=f"test-{uuid.uuid4().hex}") as opened:
        yield opened


@pytest.mark.parametrize("graphs", [3, pytest.param(100, marks=pytest.mark.extended)])
async def test_neo4j_and_the_evaluators_agree_on_any_graph(database: Neo4jDatabase, graphs: int) -> None:
    checks, answered = await count_agreements(database, graphs, per_graph=1)
    assert checks == graphs * len(shipped_kinds())
    assert answered > checks // 6


async def test_tasks_made_on_neo4j_and_on_the_embedded_engine_are_the_same(database: Neo4jDatabase) -> None:
    graph = generate_graph(GraphSpec(preset="paper-100"), 8)
    store, embedded = await database.load(graph), await EmbeddedDatabase().load(graph)
    tasks = await make_tasks(graph, store, QuestionsConfig(), seed=8)
    await store.drop()
    assert tasks == await make_tasks(graph, embedded, QuestionsConfig(), seed=8)
