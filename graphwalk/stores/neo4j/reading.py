"""A Neo4j as it stands, or a part of it, read out whole: as a property graph in memory. Nothing is changed in it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.errors import StoreError
from graphwalk.graphs.keys import apart_from_key
from graphwalk.stores.cypher import quote
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.driver_values import value_of
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Value, shown

PAGE = 10_000
"""Nodes or relationships of one query; they are found by their element ids, so that every page takes as long."""
SECONDS = 300.0
"""For one query, the list of all element ids the longest of them."""
_LEDGER, _OWN_PREFIX = "GraphWalkLoad", "gw_"


@dataclass(frozen=True, slots=True)
class _Found:
    """A node as the database has it."""

    element_id: str
    labels: tuple[str, ...]
    properties: dict[str, Value]


async def read_whole(
    connection: Connection, labels: Sequence[str] | None = None, relationship_types: Sequence[str] | None = None
) -> PropertyGraph:
    """All nodes with one of the labels, and all relationships of these types between them; None or none: all there are.

    A node is called by the property that a uniqueness constraint makes unique for one of its labels, else by the last
    part of its element id. What GraphWalk itself put into the database is left out. StoreError where the database
    cannot be read.
    """
    unique = await unique_properties(connection)
    found = [
        _Found(element_id, tuple(sorted(names)), _values(properties))
        async for element_id, names, properties in _rows(connection, *_node_queries(labels))
    ]
    keys = _keys(found, unique)
    nodes = [Node(keys[n.element_id], n.labels, apart_from_key(n.properties, keys[n.element_id])) for n in found]
    relationships = [
        Relationship(type_, keys[source], keys[target], _values(properties))
        async for _, source, type_, target, properties in _rows(connection, *_relationship_queries(relationship_types))
        if source in keys and target in keys
    ]
    return PropertyGraph.from_rows(nodes, relationships)


async def unique_properties(connection: Connection) -> dict[str, str]:
    """Label → the property that a constraint on one property makes unique for it; the first by name of several."""
    rows = await connection.read(
        "SHOW CONSTRAINTS YIELD type, entityType, labelsOrTypes, properties "
        "WHERE entityType = 'NODE' AND (type CONTAINS 'UNIQUENESS' OR type CONTAINS 'NODE_KEY') "
        "AND size(properties) = 1 RETURN labelsOrTypes[0], properties[0]",
        {},
        SECONDS,
    )
    pairs = sorted(((label, name) for _, (label, name) in rows if not _is_own(label)), reverse=True)
    return dict(pairs)


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


def _node_queries(labels: Sequence[str] | None) -> tuple[str, str]:
    ids = (
        f"MATCH (n{_one_of(labels)}) WHERE none(label IN labels(n) WHERE label = '{_LEDGER}' "
        f"OR label STARTS WITH '{_OWN_PREFIX}') RETURN elementId(n)"
    )
    return ids, "MATCH (n) WHERE elementId(n) IN $ids RETURN elementId(n), labels(n), properties(n)"


def _relationship_queries(types: Sequence[str] | None) -> tuple[str, str]:
    ids = f"MATCH ()-[r{_one_of(types)}]->() RETURN elementId(r)"
    columns = "elementId(r), elementId(a), type(r), elementId(b), properties(r)"
    return ids, f"MATCH (a)-[r]->(b) WHERE elementId(r) IN $ids RETURN {columns}"


def _one_of(names: Sequence[str] | None) -> str:
    return ":" + "|".join(map(quote, sorted(set(names)))) if names else ""


def _is_own(label: str) -> bool:
    return label == _LEDGER or label.startswith(_OWN_PREFIX)


def _number(element_id: str) -> tuple[int, str]:
    """Element ids are "4:DATABASE:NUMBER"; what another server gives is ordered as text."""
    last = short_id(element_id)
    return (int(last) if last.isdecimal() else 0, element_id)


def short_id(element_id: str) -> str:
    """The last part of an element id, by which a node without a unique property is called."""
    return element_id.rpartition(":")[2] or element_id


def _keys(found: Sequence[_Found], unique: Mapping[str, str]) -> dict[str, str]:
    """Element id → what the node is called. Of two nodes with one name, the later is called by its element id."""
    keys: dict[str, str] = {}
    taken: set[str] = set()
    for node in found:
        named = [str(shown(node.properties[unique[label]])) for label in node.labels if _has(node, unique, label)]
        names = (*named, short_id(node.element_id), node.element_id)
        keys[node.element_id] = next(name for name in names if name and name not in taken)
        taken.add(keys[node.element_id])
    return keys


def _has(node: _Found, unique: Mapping[str, str], label: str) -> bool:
    return label in unique and unique[label] in node.properties


def _values(properties: Mapping[str, Any]) -> dict[str, Value]:
    try:
        return {name: value_of(properties[name]) for name in sorted(properties)}
    except (TypeError, ValueError) as error:
        raise StoreError(f"a value in the database cannot be read: {error}") from error
