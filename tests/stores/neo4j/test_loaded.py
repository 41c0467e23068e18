"""Graphs of runs in a Neo4j: a label for each, removed at the end, and nothing else touched."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise

import pytest

from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import schema_of
from graphwalk.stores.neo4j import loaded
from graphwalk.stores.neo4j.loaded import Neo4jDatabase, list_loads, remove_graph, scope_of
from graphwalk.variables import Variables

pytestmark = pytest.mark.neo4j


def chain(nodes: int) -> PropertyGraph:
    """Nodes in a row, each joined to the next by two relationships."""
    keys = [f"n{number}" for number in range(nodes)]
    rows = []
    for number, key in enumerate(keys):
        label = "B" if number % 2 else "A"
        rows.append(Node(key, (label,), {}))
    steps = []
    for type_ in ("R", "S"):
        for number, (source, target) in enumerate(pairwise(keys)):
            steps.append(Relationship(type_, source, target, {"number": number}))
    return PropertyGraph.from_rows(rows, steps)


@pytest.fixture
def run_id() -> str:
    return f"test-{uuid.uuid4().hex}"


@pytest.fixture
async def opened(neo4j_server: Variables, run_id: str) -> AsyncIterator[Neo4jDatabase]:
    async with await Neo4jDatabase.open(neo4j_server, run_id=run_id) as neo4j:
        yield neo4j
        for scope in list(neo4j._stores):
            await neo4j.drop(scope)


async def scope_count(neo4j: Neo4jDatabase, scope: str) -> tuple[int, int]:
    (nodes,) = await neo4j._connection.rows(f"MATCH (n:`{scope}`) RETURN count(n) AS n")
    (relationships,) = await neo4j._connection.rows(f"MATCH (:`{scope}`)-[r]->() RETURN count(r) AS n")
    return nodes[0], relationships[0]


async def test_a_load_that_was_killed_half_way_is_begun_anew(
    opened: Neo4jDatabase, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaded, "BATCH", 50)
    graph = chain(200)
    scope = scope_of(run_id, graph.digest)
    await opened._connection.write(f"CREATE CONSTRAINT `{scope}` FOR (n:`{scope}`) REQUIRE n.key IS UNIQUE")
    await opened._connection.write(f"UNWIND range(0, 99) AS i CREATE (:A:`{scope}` {{key: 'n' + i}})")
    store = await opened.load(graph)
    assert store.scope == scope
    assert await scope_count(opened, scope) == (200, 398)
    assert await opened.load(graph) is store
    assert await (await opened.loaded(scope)).schema(2) == schema_of(graph, 2), "as another process reads it"


async def test_a_dropped_graph_leaves_nothing_and_other_data_is_kept(opened: Neo4jDatabase, run_id: str) -> None:
    connection = opened._connection
    await connection.write("CREATE (:Canary:gw_canary {key: $run})-[:SINGS]->(:Canary {key: $run})", run=run_id)
    await connection.write(
        f"CREATE CONSTRAINT `{run_id}` FOR (n:Canary) REQUIRE n.key IS UNIQUE".replace("key", "other")
    )
    store, other = await opened.load(chain(10)), await opened.load(chain(20))
    assert {store.scope, other.scope} <= {load.scope for load in await list_loads(connection)}
    await store.drop()
    loads = {load.scope for load in await list_loads(connection)}
    assert (store.scope in loads, other.scope in loads, "gw_canary" in loads) == (False, True, False)
    assert await scope_count(opened, store.scope) == (0, 0)
    assert await scope_count(opened, other.scope) == (20, 38)
    await connection.write(f"DROP CONSTRAINT `{run_id}`")
    removed = await connection.write("MATCH (n:Canary {key: $run}) DETACH DELETE n RETURN count(n) AS n", run=run_id)
    assert removed == [{"n": 2}]


async def test_our_labels_are_refused(opened: Neo4jDatabase) -> None:
    with pytest.raises(ConfigError, match="reserves in Neo4j"):
        await opened.load(PropertyGraph.from_rows([Node("a", ("A", "gw_0123456789ab"), {})], []))


async def test_a_graph_that_changes_is_noticed(opened: Neo4jDatabase) -> None:
    store = await opened.load(chain(5))
    await store.check_unchanged()
    await remove_graph(opened._connection, store.scope)
    with pytest.raises(StoreError, match="has changed or was removed"):
        await store.check_unchanged()


async def test_reads_of_a_cluster_know_what_was_written(neo4j_server: Variables, run_id: str) -> None:
    uri = "neo4j://" + (neo4j_server.get("NEO4J_URI") or "").partition("://")[2]
    routed = replace(neo4j_server, values={**neo4j_server.values, "NEO4J_URI": uri})
    async with await Neo4jDatabase.open(routed, run_id=run_id) as neo4j:
        store = await neo4j.load(chain(10))
        assert neo4j._connection.bookmarks is not None
        written = await neo4j._connection.bookmarks.get_bookmarks()
        assert written
        assert await scope_count(neo4j, store.scope) == (10, 18)
        await store.drop()
        assert set(await neo4j._connection.bookmarks.get_bookmarks()).isdisjoint(written)
