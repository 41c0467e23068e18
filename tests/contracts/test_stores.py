"""What every store has to keep: the embedded engine and each release of Neo4j give the same answers."""

import random

import pytest

from graphwalk.errors import StoreError
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.schema_queries import schema_of
from graphwalk.stores.store import Database
from graphwalk.types.graph import Node, PropertyGraph, Relationship

LABELS = ("Zorep", "with space", "MATCH", "null")
TYPES = ("RUZ", "type", "a-b")
NAMES = ("plain", "id", "title", "type", "name", "label", "node_type", "created_at", "updated_at", "gw__x", "labels")
HOSTILE = ("`) DETACH DELETE n //", "``", "x`:`y", "ünïcödé", "'quote\"", "$x", "{{ x }}", "}-[]->(", "-- /*")
VALUES = ("", "1", 1, 2.5, True, False, -(2**53), "'; MATCH (n) DETACH DELETE n //", "{{ x }}", "𝔘nicode\n", 0.1)
NEIGHBOURS = """
MATCH (centre:{{ label | label }} {key: $key})-[r]->(other)
RETURN centre.key AS centre, 'outgoing' AS direction, type(r) AS type, properties(r) AS relationship,
       labels(other) AS labels, {{ "other" | label_of }} AS label, properties(other) AS properties,
       centre AS node, r
ORDER BY type, other.key, r.number
"""


def odd_graph(seed: int = 0, nodes: int = 40, relationships: int = 100) -> PropertyGraph:
    draw = random.Random(seed)

    def properties(number: int) -> dict[str, str | int | float | bool]:
        return {name: draw.choice(VALUES) for name in NAMES if draw.random() < 0.6} | {"number": number}

    keys = [f"k{number}" for number in range(nodes)]
    return PropertyGraph.from_rows(
        [Node(key, draw.choice(LABELS), properties(n)) for n, key in enumerate(keys)],
        [
            Relationship(draw.choice(TYPES), draw.choice(keys), draw.choice(keys), properties(n))
            for n in range(relationships)
        ],
    )


async def test_the_schema_is_the_one_of_the_graph(any_database: Database) -> None:
    graph = odd_graph()
    store = await any_database.load(graph)
    for samples in (0, 3, 1000):
        assert await store.schema(samples) == schema_of(graph, samples)


async def test_every_store_returns_the_same_rows(any_database: Database) -> None:
    graph = odd_graph()
    store, reference = await any_database.load(graph), await EmbeddedDatabase().load(graph)
    for node in graph.nodes():
        identifiers = {"label": node.label}
        rows = await store.run(store.render(NEIGHBOURS, identifiers), {"key": node.key})
        assert rows == await reference.run(reference.render(NEIGHBOURS, identifiers), {"key": node.key})
        assert len(rows) == sum(r.source == node.key for r in graph.relationships())
        assert all(row["label"] == row["labels"][0] and row["node"]["labels"] == [node.label] for row in rows)


async def test_nodes_and_relationships_keep_all_they_have(any_database: Database) -> None:
    graph = odd_graph()
    store = await any_database.load(graph)
    nodes = await store.run(store.render("MATCH (n{{ any_node }}) RETURN n, properties(n) AS map", {}))
    expected = {n.key: {"labels": [n.label], "properties": {"key": n.key, **n.properties}} for n in graph.nodes()}
    assert {row["map"]["key"]: row["n"] for row in nodes} == expected
    assert all(row["map"] == row["n"]["properties"] and type(row["map"]) is dict for row in nodes)
    found = await store.run(store.render("MATCH (a{{ any_node }})-[r]->(b) RETURN a.key AS s, b.key AS t, r", {}))
    triples = [
        (row["s"], row["t"], row["r"]["type"], sorted(map(repr, row["r"]["properties"].items()))) for row in found
    ]
    assert sorted(triples) == sorted(
        (r.source, r.target, r.type, sorted(map(repr, r.properties.items()))) for r in graph.relationships()
    )


async def test_every_property_is_found_by_its_value(any_database: Database) -> None:
    graph = odd_graph(nodes=3)
    store = await any_database.load(graph)
    for node in graph.nodes():
        for name, value in node.properties.items():
            cypher = store.render(
                "MATCH (n:{{ l | label }} { {{ p | property }}: $v }) WHERE n.{{ p | property }} = $v "
                "RETURN n.key AS k, n.{{ p | property }} AS {{ p | property }}",
                {"l": node.label, "p": name},
            )
            assert {"k": node.key, name: value} in await store.run(cypher, {"v": value})


async def test_hostile_names_are_names(any_database: Database) -> None:
    """Neo4j takes any name; the embedded engine says which ones it cannot."""
    graph = PropertyGraph.from_rows(
        [Node(name, name, {name: 1}) for name in HOSTILE],
        [Relationship(name, name, name, {name: 2}) for name in HOSTILE],
    )
    if any_database.kind == "embedded":
        with pytest.raises(StoreError, match="accepts only ASCII letters"):
            await any_database.load(graph)
        return
    store = await any_database.load(graph)
    assert await store.schema(2) == schema_of(graph, 2)
    template = (
        "MATCH (n:{{ x | label }})-[r:{{ x | type }} { {{ x | property }}: 2 }]->() RETURN n.{{ x | property }} AS p, r"
    )
    for name in HOSTILE:
        rows = await store.run(store.render(template, {"x": name}))
        assert rows == [{"p": 1, "r": {"type": name, "properties": {name: 2}}}]


async def test_a_path_comes_as_nodes_and_relationships(any_database: Database) -> None:
    graph = PropertyGraph.from_rows(
        [Node("a", "A", {"x": 1}), Node("b", "B", {})], [Relationship("R", "a", "b", {"w": 0.5})]
    )
    store = await any_database.load(graph)
    (row,) = await store.run(
        store.render("MATCH p = (:{{ l | label }})-[*1..{{ n | hops }}]->() RETURN p", {"l": "A", "n": 2})
    )
    assert row["p"] == {
        "nodes": [
            {"labels": ["A"], "properties": {"key": "a", "x": 1}},
            {"labels": ["B"], "properties": {"key": "b"}},
        ],
        "relationships": [{"type": "R", "properties": {"w": 0.5}}],
    }


async def test_loading_twice_changes_nothing(any_database: Database) -> None:
    graph = odd_graph()
    for _ in range(2):
        store = await any_database.load(graph)
        assert await store.run(store.render("MATCH (n{{ any_node }}) RETURN count(n) AS n", {})) == [{"n": 40}]
        assert await store.run(store.render("MATCH ({{ any_node }})-[r]->() RETURN count(r) AS n", {})) == [{"n": 100}]


async def test_graphs_do_not_see_each_other(any_database: Database) -> None:
    first, second = odd_graph(1), odd_graph(2, nodes=30, relationships=50)
    a, b = await any_database.load(first), await any_database.load(second)
    assert await a.schema() == schema_of(first)
    await a.drop()
    assert await b.schema(2) == schema_of(second, 2)


async def test_a_dropped_graph_can_be_loaded_again(any_database: Database) -> None:
    graph = odd_graph()
    await (await any_database.load(graph)).drop()
    assert await (await any_database.load(graph)).schema() == schema_of(graph)


async def test_graphs_without_relationships_and_without_nodes(any_database: Database) -> None:
    for graph in (PropertyGraph.from_rows([], []), PropertyGraph.from_rows([Node("a", "A", {})], [])):
        store = await any_database.load(graph)
        assert await store.schema(5) == schema_of(graph, 5)


async def test_a_query_cannot_write(any_database: Database) -> None:
    graph = odd_graph()
    store = await any_database.load(graph)
    for cypher in ("CREATE (n:Foo)", "MATCH (n) DETACH DELETE n", "MATCH (n) SET n.x = 1", "DROP INDEX key IF EXISTS"):
        with pytest.raises(StoreError):
            await store.run(cypher)
    assert await store.schema() == schema_of(graph)
    assert await store.run(store.render("MATCH (n{{ any_node }}) RETURN count(n) AS n", {})) == [{"n": 40}]


async def test_a_bad_query_is_a_store_error(any_database: Database) -> None:
    store = await any_database.load(odd_graph())
    for cypher, parameters in (("MATCH (n", {}), ("RETURN $missing AS x", {}), ("RETURN $x AS x", {"x": object()})):
        with pytest.raises(StoreError):
            await store.run(cypher, parameters)
