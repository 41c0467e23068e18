"""The contract of stores: the embedded engine and each release of Neo4j give the same answers."""

import random

import pytest

from graphwalk.errors import StoreError
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import schema_of
from graphwalk.graphs.values import Row
from graphwalk.stores.base import Database, GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.loading import with_safe_names
from graphwalk.testing import check_store
from tests.stores.any_graph import holds_as_shown, is_found_as_shown
from tests.stores.rich_graph import graph_to_ask_about

LABELS = ("Zorep", "with space", "MATCH", "null")
TYPES = ("RUZ", "type", "a-b")
NAMES = ("plain", "id", "title", "type", "name", "label", "node_type", "created_at", "updated_at", "gw__x", "labels")
VALUES = ("", "1", 1, 2.5, True, False, -(2**53), "'; MATCH (n) DETACH DELETE n //", "{{ x }}", "𝔘nicode\n", 0.1)
NODES = "MATCH (n{{ any_node }}) RETURN count(n) AS n"
RELATIONSHIPS = "MATCH ({{ any_node }})-[r]->() RETURN count(r) AS n"
WRITES = ("CREATE (n:Foo)", "MATCH (n) DETACH DELETE n", "MATCH (n) SET n.x = 1", "DROP INDEX key IF EXISTS")
NEIGHBOURS = """
MATCH (centre:{{ label | label }} {key: $key})-[r]->(other)
RETURN centre.key AS centre, 'outgoing' AS direction, type(r) AS type, properties(r) AS relationship,
       labels(other) AS labels, {{ "other" | label_of }} AS label, properties(other) AS properties,
       centre AS node, r
ORDER BY type, other.key, r.number
"""
HOSTILE = ("`) DETACH DELETE n //", "``", "x`:`y", "ünïcödé", "'quote\"", "$x", "{{ x }}", "}-[]->(", "-- /*")


def odd_graph(seed: int = 0, nodes: int = 40, relationships: int = 100) -> PropertyGraph:
    """Return a graph of names and values that are difficult for stores."""
    draw = random.Random(seed)

    def properties(number: int) -> dict[str, str | int | float | bool]:
        return {name: draw.choice(VALUES) for name in NAMES if draw.random() < 0.6} | {"number": number}

    keys = [f"k{number}" for number in range(nodes)]
    rows = [Node(key, (draw.choice(LABELS),), properties(n)) for n, key in enumerate(keys)]
    links = []
    for n in range(relationships):
        links.append(Relationship(draw.choice(TYPES), draw.choice(keys), draw.choice(keys), properties(n)))
    return with_safe_names(PropertyGraph.from_rows(rows, links))


async def test_store_contract(any_database: Database) -> None:
    await check_store(any_database)


async def test_every_value_of_a_file_is_held_and_found_as_shown(any_database: Database) -> None:
    graph = graph_to_ask_about()
    store = await any_database.load(graph)
    await holds_as_shown(store, graph)
    await is_found_as_shown(store, graph)


async def test_neighbours_are_those_of_the_embedded_engine(any_database: Database) -> None:
    graph = odd_graph()
    store, reference = await any_database.load(graph), await EmbeddedDatabase().load(graph)
    for node in graph.nodes():
        identifiers, key = {"label": node.label}, {"key": node.key}
        rows = await store.run(store.render(NEIGHBOURS, identifiers), key)
        assert rows == await reference.run(reference.render(NEIGHBOURS, identifiers), key)
        assert len(rows) == sum(r.source == node.key for r in graph.relationships())


async def test_a_path_has_its_nodes_and_relationships(any_database: Database) -> None:
    nodes = [Node("a", ("A",), {"x": 1}), Node("b", ("B",), {})]
    store = await any_database.load(PropertyGraph.from_rows(nodes, [Relationship("R", "a", "b", {"w": 0.5})]))
    template = "MATCH p = (:{{ l | label }})-[*1..{{ n | hops }}]->() RETURN p"
    a = {"labels": ["A"], "properties": {"key": "a", "x": 1}}
    b = {"labels": ["B"], "properties": {"key": "b"}}
    path = {"nodes": [a, b], "relationships": [{"type": "R", "properties": {"w": 0.5}}]}
    assert await store.run(store.render(template, {"l": "A", "n": 2})) == [{"p": path}]


@pytest.mark.parametrize(
    "graph",
    [odd_graph(), PropertyGraph.from_rows([], []), PropertyGraph.from_rows([Node("a", ("A",), {})], [])],
    ids=["odd", "empty", "one node"],
)
async def test_the_schema_is_that_of_the_graph(graph: PropertyGraph, any_database: Database) -> None:
    store = await any_database.load(graph)
    for samples in (0, 3, 1000):
        assert await store.schema(samples) == schema_of(graph, samples)


async def test_a_graph_is_loaded_once_and_again_after_it_was_dropped(any_database: Database) -> None:
    for load in range(3):
        store = await any_database.load(odd_graph())
        assert await store.run(store.render(NODES, {})) == [{"n": 40}]
        assert await store.run(store.render(RELATIONSHIPS, {})) == [{"n": 100}]
        if load == 1:
            await store.drop()


async def test_graphs_are_kept_apart(any_database: Database) -> None:
    first, second = odd_graph(1), odd_graph(2, nodes=30, relationships=50)
    a, b = await any_database.load(first), await any_database.load(second)
    assert await a.schema() == schema_of(first)
    await a.drop()
    assert await b.schema(2) == schema_of(second, 2)


async def test_writes_and_mistakes_are_refused(any_database: Database) -> None:
    store = await any_database.load(odd_graph())
    for query in (*WRITES, "MATCH (n", "RETURN $n AS n"):
        with pytest.raises(StoreError):
            await store.run(query)
    assert await store.run(store.render(NODES, {})) == [{"n": 40}]


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
