"""The same on a real Neo4j: the evaluators, Cypher there, and so the embedded engine, never differ (R27)."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.settings import Settings
from graphwalk.stores.cypher import quote
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.loaded import Neo4jDatabase, Neo4jStore
from graphwalk.stores.transfer import node_batches, relationship_batches
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.generate import make_tasks
from graphwalk.types.graph import PropertyGraph
from tests.suites.questions.test_oracles import count_agreements

pytestmark = pytest.mark.neo4j


@dataclass
class OneScope:
    """Hundreds of small graphs, one after the other under one label, so that the server plans every query once."""

    connection: Connection
    scope: str

    async def load(self, graph: PropertyGraph) -> "OneGraph":
        await self.clear()
        for body, rows in _statements(graph, quote(self.scope)):
            await self.connection.write(f"UNWIND $rows AS row {body}", rows=rows)
        database = Neo4jDatabase(self.connection, run_id=self.scope, timeout_seconds=30)
        load: Any = SimpleNamespace(scope=self.scope)  # not in the list of loads
        return OneGraph(database, self.connection, load, graph, 30)

    async def clear(self) -> None:
        await self.connection.write(f"MATCH (n:{quote(self.scope)}) DETACH DELETE n")


class OneGraph(Neo4jStore):
    async def drop(self) -> None:
        """The next load clears it away."""


def _statements(graph: PropertyGraph, scope: str) -> Iterator[tuple[str, list[dict[str, object]]]]:
    for nodes in node_batches(graph, 1000):
        yield f"CREATE (n:{quote(nodes.labels[0])}:{scope}) SET n = row", nodes.rows
    for batch in relationship_batches(graph, 1000):
        ends = f"MATCH (a:{scope} {{key: row.s}}) MATCH (b:{scope} {{key: row.t}})"
        yield f"{ends} CREATE (a)-[r:{quote(batch.type)}]->(b) SET r = row.p", batch.rows


@pytest.mark.parametrize(
    "graphs", [10, pytest.param(200, marks=pytest.mark.extended), pytest.param(1000, marks=pytest.mark.slow)]
)
async def test_neo4j_and_the_evaluators_agree_on_odd_graphs(neo4j_server: Settings, graphs: int) -> None:
    notices: list[str] = []
    connection = await connect(neo4j_server, wait_seconds=30, notices=notices)
    place = OneScope(connection, f"gw_odd_{os.getpid()}")
    try:
        checks, answered = await count_agreements(place.load, 0, graphs, per_graph=1)
    finally:
        await place.clear()
        await connection.close()
    assert checks == graphs * len(shipped_kinds())
    assert answered > checks // 4
    assert not [notice for notice in notices if "DEPRECATION" in notice]


async def test_tasks_made_on_neo4j_and_on_the_embedded_engine_are_the_same(neo4j_server: Settings) -> None:
    database = await Neo4jDatabase.open(neo4j_server, run_id=f"tasks-{os.getpid()}")
    try:
        for preset in ("paper-100", "paper-150"):
            graph = generate_graph(GraphSpec(preset=preset), 8)
            store = await database.load(graph)
            made = await make_tasks(graph, store, seed=8)
            await store.drop()
            assert made == await make_tasks(graph, await EmbeddedDatabase().load(graph), seed=8)
    finally:
        await database.close()
