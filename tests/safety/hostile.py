"""Strings that mean harm, a digest of a whole database, and calls of every tool that ships."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphwalk.stores.base import GraphStore
from graphwalk.stores.neo4j.connection import connect
from graphwalk.variables import Variables

FILE = Path(__file__).parents[1] / "data" / "hostile.json"
GOOD: Mapping[str, dict[str, Any]] = {
    "get_node_by_property": {"label": "Zorep", "property_name": "hue", "property_value": "vark"},
    "get_all_nearest_neighbors": {
        **{"label": "Zorep", "property_name": "hue", "property_value": "vark"},
        **{"relationship_type": "DRAP", "direction": "outgoing"},
    },
    "search_nodes": {"text": "vark", "label": "Zorep"},
    "get_unique_property_values": {"property_name": "tag", "entity_name": "DRAP", "entity_type": "relationship"},
    "get_schema": {"entity_name": "Zorep", "entity_type": "node"},
    "think": {"thought": "a thought"},
    "run_cypher": {"query": "MATCH (n) RETURN count(n) AS n"},
    "get_next_possible_cells": {"node_id": "0"},
    "get_connected_path": {},
}
"""One call of each tool that ships, which works."""
_QUERIES = (
    "MATCH (n) RETURN elementId(n), labels(n), [k IN keys(n) | [k, toString(n[k])]]",
    "MATCH (a)-[r]->(b) RETURN elementId(r), type(r), elementId(a), elementId(b), [k IN keys(r) | [k, toString(r[k])]]",
    "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state",
    "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties",
    "CALL db.labels() YIELD label RETURN label",
    "CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType",
    "CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey",
    "SHOW DATABASES YIELD name RETURN name",
)


@dataclass(frozen=True)
class Hostile:
    family: str
    text: str


def hostile_strings() -> Iterator[Hostile]:
    """A line of the file is [family, text, how often it is repeated]."""
    for family, text, times in json.loads(FILE.read_text(encoding="ascii")):
        yield Hostile(family, text * times)


def hostile_calls(tool: str) -> Iterator[tuple[str, str]]:
    """Names and arguments: every string in every argument, in all at once, as an argument's name, as all that is sent,
    and as the name of the tool."""
    good = GOOD[tool]
    for text in (hostile.text for hostile in hostile_strings()):
        yield from ((tool, json.dumps({**good, name: text})) for name in good)
        yield tool, json.dumps(dict.fromkeys(good, text))
        yield tool, json.dumps({**good, text: "x"})
        yield tool, text
        yield text, json.dumps(good)


async def digest_of(store: GraphStore, variables: Variables | None) -> str:
    """Of everything: nodes, labels, properties, relationships; on a Neo4j also indexes, constraints and every name
    that the database has ever seen."""
    if variables is None:
        nodes = await store.run("MATCH (n) RETURN n")
        edges = await store.run("MATCH (a)-[r]->(b) RETURN a.key AS a, b.key AS b, r")
        return _hash([nodes, edges])
    connection = await connect(variables)
    try:
        return _hash([[values for _, values in await connection.read(query, {}, 30)] for query in _QUERIES])
    finally:
        await connection.close()


def _hash(parts: list[list[Any]]) -> str:
    """Return the SHA-256 of the rows of several queries, whatever the order of the rows of one."""
    lines = []
    for rows in parts:
        texts = [json.dumps(row, sort_keys=True, default=str) for row in rows]
        lines.append(sorted(texts))
    return hashlib.sha256(json.dumps(lines).encode()).hexdigest()
