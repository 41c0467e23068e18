"""The contract of stores: the embedded engine and each release of Neo4j give the same answers."""

import pytest

from graphwalk.stores.base import Database, GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.graph_schema import schema_of
from graphwalk.stores.names import with_safe_names
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row
from tests.contracts.store_checks import STORE_CHECKS, odd_graph

HOSTILE = ("`) DETACH DELETE n //", "``", "x`:`y", "ünïcödé", "'quote\"", "$x", "{{ x }}", "}-[]->(", "-- /*")


@pytest.mark.parametrize("name", STORE_CHECKS)
async def test_store_contract(name: str, any_database: Database) -> None:
    await STORE_CHECKS[name](any_database)


@pytest.mark.parametrize(
    ("text", "label"), [("k7", None), ("delete", None), ("DETACH n;", "Zorep"), ("unicode", "MATCH"), ("zzz", None)]
)
async def test_a_search_gives_the_same_rows(any_database: Database, text: str, label: str | None) -> None:
    graph = odd_graph()
    store, reference = await any_database.load(graph), await EmbeddedDatabase().load(graph)
    assert (await store.search(text, label)).rows == (await reference.search(text, label)).rows
    by_default = await GraphStore.search(_Plain(store), text, label)
    assert by_default.rows == (await store.search(text, label)).rows


class _Plain(GraphStore):
    """A store of a plug-in, which only reads whole graphs."""

    def __init__(self, inner: GraphStore) -> None:
        self.read_graph = inner.read_graph  # type: ignore[method-assign]

    async def run(self, cypher: str, parameters: object = None) -> list[Row]:
        raise NotImplementedError

    async def schema(self, samples: int = 0) -> Schema:
        raise NotImplementedError

    async def drop(self) -> None:
        raise NotImplementedError


async def test_hostile_names_are_names(any_database: Database) -> None:
    graph = with_safe_names(
        PropertyGraph.from_rows(
            [Node(name, (name,), {name: 1}) for name in HOSTILE],
            [Relationship(name, name, name, {name: 2}) for name in HOSTILE],
        )
    )
    store = await any_database.load(graph)
    assert await store.schema(2) == schema_of(graph, 2)
    template = (
        "MATCH (n:{{ x | label }})-[r:{{ x | type }} { {{ x | property }}: 2 }]->() RETURN n.{{ x | property }} AS p, r"
    )
    for name in (table.label for table in graph.node_tables):
        rows = await store.run(store.render(template, {"x": name}))
        assert rows == [{"p": 1, "r": {"type": name, "properties": {name: 2}}}]
