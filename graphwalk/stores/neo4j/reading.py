"""A Neo4j as it stands, or a part of it, read out whole: as a property graph in memory. Nothing is changed in it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from graphwalk.graphs.keys import apart_from_key
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.standing_dialect import StandingDialect, read_dialect
from graphwalk.stores.neo4j.values import plain
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Value

PAGE = 10_000
"""Nodes or relationships of one query; they are found by their element ids, so that every page takes as long."""
SECONDS = 300.0
"""For one query, the list of all element ids the longest of them."""
_NODES = (
    "MATCH (n{{ any_node }}) RETURN elementId(n)",
    "MATCH (n) WHERE elementId(n) IN $ids RETURN elementId(n), {{ 'n' | key_of }} AS key, labels(n), properties(n)",
)
_RELATIONSHIPS = (
    "MATCH ({{ any_node }})-[r{{ any_relationship }}]->({{ any_node }}) RETURN elementId(r)",
    "MATCH (a)-[r]->(b) WHERE elementId(r) IN $ids "
    "RETURN elementId(r), elementId(a), type(r), elementId(b), properties(r)",
)
"""The element ids of all, and what a page of them holds."""


async def read_whole(
    connection: Connection, labels: Sequence[str] | None = None, relationship_types: Sequence[str] | None = None
) -> PropertyGraph:
    """All nodes with one of the labels, and all relationships of these types between them; None: all there are.

    What GraphWalk itself put into the database is left out. ConfigError for a label or type that is not there,
    StoreError where the database cannot be read.
    """
    return await read_shown(connection, await read_dialect(connection, labels, relationship_types))


async def read_shown(connection: Connection, dialect: StandingDialect) -> PropertyGraph:
    """All that the dialect shows, under the names that it gives."""
    keys: dict[str, str] = {}
    nodes = []
    async for element_id, key, names, properties in _rows(connection, *(_render(q, dialect) for q in _NODES)):
        keys[element_id] = key
        nodes.append(Node(key, tuple(sorted(names)), apart_from_key(_values(properties), key)))
    relationships = [
        Relationship(type_, keys[source], keys[target], _values(properties))
        async for _, source, type_, target, properties in _rows(
            connection, *(_render(q, dialect) for q in _RELATIONSHIPS)
        )
        if source in keys and target in keys
    ]
    return PropertyGraph.from_rows(nodes, relationships)


def _render(template: str, dialect: StandingDialect) -> str:
    return render_cypher(template, {}, dialect)


async def _rows(connection: Connection, ids: str, page: str) -> AsyncIterator[list[Any]]:
    """The rows of all element ids that the query `ids` gives, in the order of their numbers, page by page."""
    found = sorted((values[0] for _, values in await connection.read(ids, {}, SECONDS)), key=_number)
    for start in range(0, len(found), PAGE):
        part = found[start : start + PAGE]
        rows = [values for _, values in await connection.read(page, {"ids": part}, SECONDS)]
        # A database may give them in any order, and the same database must give the same graph.
        place = {id_: position for position, id_ in enumerate(part)}
        for values in sorted(rows, key=lambda row: place[row[0]]):
            yield values


def _number(element_id: str) -> tuple[int, str]:
    """Element ids are "4:DATABASE:NUMBER"; what another server gives is ordered as text."""
    last = element_id.rpartition(":")[2]
    return (int(last) if last.isdecimal() else 0, element_id)


def _values(properties: Mapping[str, Any]) -> dict[str, Value]:
    return {name: _immutable(value) for name, value in plain(properties, None).items()}


def _immutable(value: Any) -> Value:
    found: Value = tuple(value) if isinstance(value, list) else value
    return found
