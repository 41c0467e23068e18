"""Load graphs into Neo4j, each under a label of its own, and remove them.

All nodes of a graph have its label, for example `gw_3f2a90c1d77e`, and a constraint with the same name makes their keys
unique. The constraint is created before the first node and dropped after the last: GraphWalk finds its graphs by both.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.graph import OUR_PREFIX, PropertyGraph, is_reserved
from graphwalk.stores.cypher import NO_LABEL, quote
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.values import stored
from graphwalk.stores.transfer import node_batches, relationship_batches, stored_graph

BATCH = 10_000
REMOVED = 2_000
"""Nodes removed in one transaction, with all of their relationships: far fewer than are loaded in one."""
_BY_HAND = "gw_load_"
"""Prefix of the labels of graphs that `graphwalk db load` loads; the time follows, so that they sort by it."""
_SCOPE = re.compile(r"gw_[0-9a-f]{12}|gw_load_\d{8}_\d{6}_\d{6}")
_CONSTRAINTS = (
    "SHOW CONSTRAINTS YIELD name, labelsOrTypes, properties "
    "WHERE labelsOrTypes = [name] AND properties = ['key'] RETURN name"
)


@dataclass(frozen=True)
class Load:
    """A loaded graph: its label, and the number of its nodes and relationships."""

    scope: str
    nodes: int
    relationships: int

    @property
    def by_hand(self) -> bool:
        """Return True for a graph of `graphwalk db load`."""
        return self.scope.startswith(_BY_HAND)


def scope_of(run_id: str, digest: str) -> str:
    """Return the label of a run's graph: `gw_` and 12 hex digits."""
    return OUR_PREFIX + hashlib.sha256(f"{run_id}\0{digest}".encode()).hexdigest()[:12]


def new_scope() -> str:
    """Return the label of a graph of `graphwalk db load`."""
    return f"{_BY_HAND}{datetime.now(UTC):%Y%m%d_%H%M%S_%f}"


def check_labels(graph: PropertyGraph) -> None:
    """Raise ConfigError if a label is reserved: it would add nodes to another graph."""
    for label in (label for table in graph.node_tables for label in table.labels if is_reserved(label)):
        raise ConfigError(
            f"the graph has the label {label!r}, which GraphWalk reserves in Neo4j",
            hint=f"rename the label (no prefix {OUR_PREFIX}), or use --store embedded",
        )


async def list_loads(connection: Connection) -> list[Load]:
    """Return all loaded graphs, those of `graphwalk db load` last and in the order of their loading."""
    names = [name for (name,) in await connection.rows(_CONSTRAINTS) if _SCOPE.fullmatch(name)]
    return [await read_load(connection, name) for name in sorted(names)]


async def read_load(connection: Connection, scope: str) -> Load:
    """Count the nodes and relationships under a label. The server keeps these counts."""
    label = quote(scope)
    [counts] = await connection.rows(f"RETURN COUNT {{ (:{label}) }}, COUNT {{ (:{label})-->() }}")
    return Load(scope, *counts)


async def load_graph(connection: Connection, graph: PropertyGraph, scope: str) -> Load:
    """Load a graph under a label, or find it complete. Raise StoreError if the server does not hold all of it."""
    check_labels(graph)
    complete = Load(scope, graph.node_count, graph.relationship_count)
    if await read_load(connection, scope) == complete and graph.node_count:
        return complete
    await remove_graph(connection, scope)
    await connection.write(f"CREATE CONSTRAINT {quote(scope)} FOR (n:{quote(scope)}) REQUIRE n.key IS UNIQUE")
    for body, rows in load_batches(graph, scope):
        await connection.write(body, once=True, rows=rows)
    if await read_load(connection, scope) != complete:
        raise StoreError(f"the graph {scope} was changed while it was loaded", hint="run the command again")
    return complete


async def remove_graph(connection: Connection, scope: str) -> None:
    """Remove the nodes with a label, batch by batch, and its constraint."""
    batch = f"MATCH (n:{quote(scope)}) WITH n LIMIT {REMOVED} DETACH DELETE n RETURN count(n) AS removed"
    while (await connection.write(batch))[0]["removed"]:
        pass
    await connection.write(f"DROP CONSTRAINT {quote(scope)} IF EXISTS")


def load_batches(graph: PropertyGraph, scope: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield Cypher and the rows it unwinds: nodes first, since relationships find them by key."""
    graph, label = stored_graph(graph, stored), quote(scope)
    for names, rows in node_batches(graph, BATCH):
        labels = ":".join(quote(name) for name in (*(names or (NO_LABEL,)), scope))
        yield f"UNWIND $rows AS row CREATE (n:{labels}) SET n = row", rows
    for type_, _, rows in relationship_batches(graph, BATCH):
        body = (
            f"UNWIND $rows AS row MATCH (a:{label} {{key: row.s}}) MATCH (b:{label} {{key: row.t}}) "
            f"CREATE (a)-[r:{quote(type_)}]->(b) SET r = row.p"
        )
        yield body, rows
