"""The steps that put a graph into Neo4j, and in what form it stands there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.stores.batches import node_batches, relationship_batches
from graphwalk.stores.cypher import NO_LABEL, OUR_PREFIX, quote
from graphwalk.stores.encoding import Encoding, odd_values
from graphwalk.stores.neo4j.driver_values import native
from graphwalk.stores.schema_queries import has_lists, has_several_labels
from graphwalk.types.graph import PropertyGraph

BATCH = 10_000
LEDGER = "GraphWalkLoad"
"""The label of our bookkeeping."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How a graph is kept. `several`: not every node has exactly one label; `lists`: some property holds a list;
    `graph`: itself, where it is at hand.
    """

    scope: str
    encoding: Encoding
    several: bool
    lists: bool
    graph: PropertyGraph | None = None


def kept_somehow(scope: str) -> Kept:
    """For a graph of which only the label is known: whatever it could hold is looked for."""
    return Kept(scope, Encoding(native, True), True, True)


def kept_as(graph: PropertyGraph, scope: str) -> Kept:
    """How a graph is kept under the label `scope`."""
    lists = has_lists(graph)
    tags = lists or any(native(value) is None for value in odd_values(graph))
    return Kept(scope, Encoding(native, tags), has_several_labels(graph), lists, graph)


def check_names(graph: PropertyGraph) -> None:
    """ConfigError where a label is one of ours: it would make nodes part of another graph, or of our bookkeeping."""
    for table in graph.node_tables:
        for label in table.labels:
            if label == LEDGER or label.startswith(OUR_PREFIX):
                raise ConfigError(
                    f"the graph has the label {label!r}, which GraphWalk keeps for itself in Neo4j",
                    hint=f"name it otherwise, without {OUR_PREFIX} in front, or use --store embedded",
                )


def load_steps(graph: PropertyGraph, scope: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The parts of a load: Cypher, and the rows it unwinds. Nodes first, relationships find them by key."""
    encoding = kept_as(graph, scope).encoding
    encode = encoding.stored if any(True for _ in odd_values(graph)) else None
    label = quote(scope)
    for nodes in node_batches(graph, BATCH, encode=encode):
        labels = ":".join(quote(name) for name in (*(nodes.labels or (NO_LABEL,)), scope))
        yield f"UNWIND $rows AS row CREATE (n:{labels}) SET n = row", _keyed(nodes.rows, encoding, "key")
    for relationships in relationship_batches(graph, BATCH, encode=encode):
        body = (
            f"UNWIND $rows AS row MATCH (a:{label} {{key: row.s}}) MATCH (b:{label} {{key: row.t}}) "
            f"CREATE (a)-[r:{quote(relationships.type)}]->(b) SET r = row.p"
        )
        yield body, _keyed(relationships.rows, encoding, "s", "t")


def _keyed(rows: list[dict[str, Any]], encoding: Encoding, *fields: str) -> list[dict[str, Any]]:
    """The rows with the keys in them as they are stored."""
    if encoding.tags:
        for row in rows:
            for field in fields:
                row[field] = encoding.stored(row[field])
    return rows
