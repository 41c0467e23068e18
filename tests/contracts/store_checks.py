"""Checks for stores: queries return the same rows as on the embedded engine."""

import random
from collections.abc import Awaitable, Callable
from typing import Any

from graphwalk.errors import StoreError
from graphwalk.stores.base import Database, GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.graph_schema import schema_of
from graphwalk.stores.names import with_safe_names
from graphwalk.types.graph import Node, PropertyGraph, Relationship

StoreCheck = Callable[[Database], Awaitable[None]]
_LABELS = ("Zorep", "with space", "MATCH", "null")
_TYPES = ("RUZ", "type", "a-b")
_NAMES = ("plain", "id", "title", "type", "name", "label", "node_type", "created_at", "updated_at", "gw__x", "labels")
_VALUES = ("", "1", 1, 2.5, True, False, -(2**53), "'; MATCH (n) DETACH DELETE n //", "{{ x }}", "𝔘nicode\n", 0.1)
_NODES = "MATCH (n{{ any_node }}) RETURN count(n) AS n"
_RELATIONSHIPS = "MATCH ({{ any_node }})-[r]->() RETURN count(r) AS n"
_WRITES = ("CREATE (n:Foo)", "MATCH (n) DETACH DELETE n", "MATCH (n) SET n.x = 1", "DROP INDEX key IF EXISTS")
_NEIGHBOURS = """
MATCH (centre:{{ label | label }} {key: $key})-[r]->(other)
RETURN centre.key AS centre, 'outgoing' AS direction, type(r) AS type, properties(r) AS relationship,
       labels(other) AS labels, {{ "other" | label_of }} AS label, properties(other) AS properties,
       centre AS node, r
ORDER BY type, other.key, r.number
"""


def odd_graph(seed: int = 0, nodes: int = 40, relationships: int = 100) -> PropertyGraph:
    """Return a graph of names and values that are difficult for stores."""
    draw = random.Random(seed)

    def properties(number: int) -> dict[str, str | int | float | bool]:
        return {name: draw.choice(_VALUES) for name in _NAMES if draw.random() < 0.6} | {"number": number}

    keys = [f"k{number}" for number in range(nodes)]
    rows = [Node(key, (draw.choice(_LABELS),), properties(n)) for n, key in enumerate(keys)]
    links = []
    for n in range(relationships):
        links.append(Relationship(draw.choice(_TYPES), draw.choice(keys), draw.choice(keys), properties(n)))
    return with_safe_names(PropertyGraph.from_rows(rows, links))


async def _schema(database: Database) -> None:
    graph = odd_graph()
    store = await database.load(graph)
    for samples in (0, 3, 1000):
        _same(await store.schema(samples), schema_of(graph, samples), f"the schema with {samples} samples")


async def _same_rows(database: Database) -> None:
    graph = odd_graph()
    store, reference = await database.load(graph), await EmbeddedDatabase().load(graph)
    for node in graph.nodes():
        identifiers, key = {"label": node.label}, {"key": node.key}
        rows = await store.run(store.render(_NEIGHBOURS, identifiers), key)
        expected = await reference.run(reference.render(_NEIGHBOURS, identifiers), key)
        _same(rows, expected, f"the neighbours of {node.key}")
        _same(len(rows), sum(r.source == node.key for r in graph.relationships()), f"how many {node.key} has")


async def _whole_entities(database: Database) -> None:
    graph = odd_graph()
    store = await database.load(graph)
    nodes = await store.run(store.render("MATCH (n{{ any_node }}) RETURN n, properties(n) AS map", {}))
    expected = {n.key: {"labels": [n.label], "properties": {"key": n.key, **n.properties}} for n in graph.nodes()}
    _same({row["map"]["key"]: row["n"] for row in nodes}, expected, "the nodes")
    for row in nodes:
        assert type(row["map"]) is dict, f"properties(n) is a {type(row['map']).__name__}, not a dict"
        _same(row["map"], row["n"]["properties"], "properties(n)")
    rows = await store.run(store.render("MATCH (a{{ any_node }})-[r]->(b) RETURN a.key AS s, b.key AS t, r", {}))
    triples = [(row["s"], row["t"], row["r"]["type"], _sorted_items(row["r"]["properties"])) for row in rows]
    wanted = [(r.source, r.target, r.type, _sorted_items(dict(r.properties))) for r in graph.relationships()]
    _same(sorted(triples), sorted(wanted), "the relationships")


async def _values(database: Database) -> None:
    graph = odd_graph(nodes=3)
    store = await database.load(graph)
    template = (
        "MATCH (n:{{ l | label }} { {{ p | property }}: $v }) WHERE n.{{ p | property }} = $v "
        "RETURN n.key AS k, n.{{ p | property }} AS {{ p | property }}"
    )
    for node in graph.nodes():
        for name, value in node.properties.items():
            rows = await store.run(store.render(template, {"l": node.label, "p": name}), {"v": value})
            assert {"k": node.key, name: value} in rows, f"{node.key} is not found by {name} = {value!r}: {rows}"


async def _paths(database: Database) -> None:
    nodes = [Node("a", ("A",), {"x": 1}), Node("b", ("B",), {})]
    store = await database.load(PropertyGraph.from_rows(nodes, [Relationship("R", "a", "b", {"w": 0.5})]))
    template = "MATCH p = (:{{ l | label }})-[*1..{{ n | hops }}]->() RETURN p"
    rows = await store.run(store.render(template, {"l": "A", "n": 2}))
    a = {"labels": ["A"], "properties": {"key": "a", "x": 1}}
    b = {"labels": ["B"], "properties": {"key": "b"}}
    relationship = {"type": "R", "properties": {"w": 0.5}}
    _same(rows, [{"p": {"nodes": [a, b], "relationships": [relationship]}}], "a path")


async def _load_again(database: Database) -> None:
    graph = odd_graph()
    for load in range(3):
        store = await database.load(graph)
        _same(await store.run(store.render(_NODES, {})), [{"n": 40}], "the number of nodes")
        _same(await store.run(store.render(_RELATIONSHIPS, {})), [{"n": 100}], "the number of relationships")
        if load == 1:
            await store.drop()
    _same(await store.schema(), schema_of(graph), "the schema of a graph that was dropped")


async def _apart(database: Database) -> None:
    first, second = odd_graph(1), odd_graph(2, nodes=30, relationships=50)
    a, b = await database.load(first), await database.load(second)
    _same(await a.schema(), schema_of(first), "the schema beside another graph")
    await a.drop()
    _same(await b.schema(2), schema_of(second, 2), "the schema after another graph was dropped")


async def _empty(database: Database) -> None:
    for nodes in ([], [Node("a", ("A",), {})]):
        graph = PropertyGraph.from_rows(nodes, [])
        store = await database.load(graph)
        _same(await store.schema(5), schema_of(graph, 5), f"the schema of a graph of {len(nodes)} nodes")


async def _refusals(database: Database) -> None:
    graph = odd_graph()
    store = await database.load(graph)
    for query in (*_WRITES, "MATCH (n", "RETURN $missing AS x"):
        await _check_refusal(store, query)
    await _check_refusal(store, "RETURN $x AS x", {"x": object()})
    _same(await store.schema(), schema_of(graph), "the schema after refused queries")
    _same(await store.run(store.render(_NODES, {})), [{"n": 40}], "the number of nodes after refused queries")


async def _check_refusal(store: GraphStore, cypher: str, parameters: dict[str, Any] | None = None) -> None:
    try:
        rows = await store.run(cypher, parameters)
    except StoreError:
        return
    raise AssertionError(f"the store must refuse {cypher!r} with a StoreError; it returned {rows}")


def _sorted_items(properties: dict[str, Any]) -> list[str]:
    return sorted(map(repr, properties.items()))


def _same(actual: Any, wanted: Any, what: str) -> None:
    assert actual == wanted, f"{what} differs:\n  found  {actual}\n  wanted {wanted}"


_CHECKS = (_schema, _same_rows, _whole_entities, _values, _paths, _load_again, _apart, _empty, _refusals)
STORE_CHECKS: dict[str, StoreCheck] = {check.__name__.removeprefix("_"): check for check in _CHECKS}
"""By name; each takes an open `Database`."""
