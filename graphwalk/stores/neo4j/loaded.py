"""Graphs loaded into Neo4j: many in one database, each with its own extra label on all nodes.

Values that JSON lacks are text, as on the embedded engine (`graphwalk.stores.loading`).
The label is for example `gw_3f2a90c1d77e`, and a constraint with the same name makes their keys unique. The constraint
is created before the first node and dropped after the last: GraphWalk finds its graphs by both.
"""

import asyncio
import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.graph import OUR_PREFIX, PropertyGraph, is_reserved
from graphwalk.graphs.values import Row, shown
from graphwalk.stores.base import Database, GraphStore
from graphwalk.stores.cypher import NO_LABEL, Dialect, quote_identifier
from graphwalk.stores.loading import node_batches, relationship_batches, stored_graph, with_safe_names
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.values import as_plain_value
from graphwalk.variables import Variables

BATCH = 10_000
REMOVED = 2_000
"""Nodes removed in one transaction, with all of their relationships: far fewer than are loaded in one."""
READING_SECONDS = 300.0
"""For a query that reads a whole graph back."""
_BY_HAND = "gw_load_"
"""Prefix of the labels of graphs that `graphwalk db load` loads; the time follows, so that they sort by it."""
_SCOPE = re.compile(r"gw_[0-9a-f]{12}|gw_load_\d{8}_\d{6}_\d{6}")
_CONSTRAINTS = (
    "SHOW CONSTRAINTS YIELD name, labelsOrTypes, properties "
    "WHERE labelsOrTypes = [name] AND properties = ['key'] RETURN name"
)


class Load(NamedTuple):
    """A loaded graph: its label, and the number of its nodes and relationships."""

    scope: str
    nodes: int
    relationships: int


async def db_load(variables: Variables, graph: PropertyGraph) -> Load:
    """Load a graph into Neo4j, and keep it until `db_clean`."""
    async with await connect(variables) as connection:
        return await write_graph_to_neo4j(connection, graph, f"{_BY_HAND}{datetime.now(UTC):%Y%m%d_%H%M%S_%f}")


async def db_list(variables: Variables) -> list[Load]:
    """Return the loaded graphs of all runs and of `graphwalk db load`, these last and in the order of their loading."""
    async with await connect(variables) as connection:
        return await list_loads(connection)


async def db_last(variables: Variables) -> Load | None:
    """Return the last graph of `graphwalk db load` that is still there."""
    loads = [load for load in await db_list(variables) if load.scope.startswith(_BY_HAND)]
    return loads[-1] if loads else None


async def db_clean(variables: Variables) -> list[Load]:
    """Remove all graphs that GraphWalk loaded, and return them."""
    async with await connect(variables) as connection:
        loads = await list_loads(connection)
        for load in loads:
            await remove_graph(connection, load.scope)
        return loads


async def list_loads(connection: Connection) -> list[Load]:
    """Return all loaded graphs; see `db_list`."""
    loads = []
    for (name,) in sorted(await connection.rows(_CONSTRAINTS)):
        if _SCOPE.fullmatch(name):
            loads.append(await read_load(connection, name))
    return loads


async def read_load(connection: Connection, scope: str) -> Load:
    """Count the nodes and relationships under a label. The server keeps these counts."""
    label = quote_identifier(scope)
    [counts] = await connection.rows(f"RETURN COUNT {{ (:{label}) }}, COUNT {{ (:{label})-->() }}")
    return Load(scope, *counts)


async def write_graph_to_neo4j(connection: Connection, graph: PropertyGraph, scope: str) -> Load:
    """Load a graph under a label, or find it complete.

    Raise ConfigError if one of its labels is reserved, StoreError if the server does not hold all of it.
    """
    for table in graph.node_tables:
        for name in table.labels:
            if is_reserved(name):
                raise ConfigError(  # it would add nodes to another graph
                    f"the graph has the label {name!r}, which GraphWalk reserves in Neo4j",
                    hint=f"rename the label (no prefix {OUR_PREFIX}), or use --store embedded",
                )

    complete = Load(scope, graph.node_count, graph.relationship_count)
    label = quote_identifier(scope)
    if await read_load(connection, scope) == complete and graph.node_count:
        return complete
    await remove_graph(connection, scope)
    await connection.write(f"CREATE CONSTRAINT {label} FOR (n:{label}) REQUIRE n.key IS UNIQUE")
    stored = stored_graph(graph)
    for names, rows in node_batches(stored, BATCH):
        labels = ":".join(quote_identifier(name) for name in [*(names or [NO_LABEL]), scope])
        await connection.write(f"UNWIND $rows AS row CREATE (n:{labels}) SET n = row", rows=rows)
    for type_, _, rows in relationship_batches(stored, BATCH):
        query = (
            f"UNWIND $rows AS row MATCH (a:{label} {{key: row.s}}) MATCH (b:{label} {{key: row.t}}) "
            f"CREATE (a)-[r:{quote_identifier(type_)}]->(b) SET r = row.p"
        )
        await connection.write(query, rows=rows)
    if await read_load(connection, scope) != complete:
        raise StoreError(f"the graph {scope} was changed while it was loaded", hint="run the command again")
    return complete


async def remove_graph(connection: Connection, scope: str) -> None:
    """Remove the nodes with a label, batch by batch, and its constraint."""
    batch = f"MATCH (n:{quote_identifier(scope)}) WITH n LIMIT {REMOVED} DETACH DELETE n RETURN count(n) AS removed"
    while (await connection.write(batch))[0]["removed"]:
        pass
    await connection.write(f"DROP CONSTRAINT {quote_identifier(scope)} IF EXISTS")


def scope_of(run_id: str, digest: str) -> str:
    """Return the label of a run's graph: `gw_` and 12 hex digits."""
    return OUR_PREFIX + hashlib.sha256(f"{run_id}\0{digest}".encode()).hexdigest()[:12]


class Neo4jDatabase(Database):
    """The graphs of one run in a Neo4j; open it with `Neo4jDatabase.open`."""

    kind = "neo4j"

    def __init__(self, connection: Connection, *, run_id: str, timeout_seconds: float) -> None:
        self._connection = connection
        self._run_id = run_id
        self._timeout_seconds = timeout_seconds
        self._stores: dict[str, Neo4jStore] = {}
        """By label: graphs that this run loaded."""
        self._loading = asyncio.Lock()

    @classmethod
    async def open(cls, variables: Variables, *, run_id: str, timeout_seconds: float = 30.0) -> "Neo4jDatabase":
        """Connect to the server of `variables`; see `open_database`."""
        return cls(await connect(variables), run_id=run_id, timeout_seconds=timeout_seconds)

    async def load(self, graph: PropertyGraph) -> "Neo4jStore":
        graph = with_safe_names(graph)
        scope = scope_of(self._run_id, graph.digest)
        async with self._loading:
            if scope not in self._stores:
                load = await write_graph_to_neo4j(self._connection, graph, scope)
                self._stores[scope] = Neo4jStore(self, self._connection, load, graph, self._timeout_seconds)
            return self._stores[scope]

    async def loaded(self, scope: str) -> "Neo4jStore":
        """Return a loaded graph by its label, read-only. Raise StoreError if there is none."""
        load = await read_load(self._connection, scope)
        if not load.nodes:
            raise StoreError(
                f"there is no graph {scope} in this Neo4j", hint="graphwalk db clean --dry-run lists what is there"
            )
        return Neo4jStore(self, self._connection, load, None, self._timeout_seconds)

    async def drop(self, scope: str) -> None:
        """Remove the graph with that label, if this run loaded it."""
        if self._stores.pop(scope, None) is not None:
            await remove_graph(self._connection, scope)

    async def close(self) -> None:
        """Close the connection. Graphs that were not dropped are kept."""
        await self._connection.close()


class Neo4jStore(GraphStore):
    kind = "neo4j"

    def __init__(
        self,
        database: Neo4jDatabase,
        connection: Connection,
        load: Load,
        graph: PropertyGraph | None,
        timeout_seconds: float,
    ) -> None:
        """`graph`: its content, where it is in memory."""
        self.scope = load.scope
        self.load = load
        self.graph = graph
        self.dialect = Dialect(load.scope, graph is None or graph.has_several_labels)
        self._database = database
        self._connection = connection
        self._timeout_seconds = timeout_seconds

    async def check_unchanged(self) -> None:
        """See `GraphStore`. Nodes and relationships are counted."""
        if await read_load(self._connection, self.scope) != self.load:
            raise StoreError(f"the graph {self.scope} in this Neo4j has changed or was removed")

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        rows = []
        for names, values in await self._connection.read(cypher, shown(dict(parameters or {})), self._timeout_seconds):
            shown_values = [shown(as_plain_value(value, self.scope)) for value in values]
            rows.append(dict(zip(names, shown_values, strict=True)))
        return rows

    async def read_graph(self) -> PropertyGraph:
        """See `GraphStore`, with more time than a query has."""
        patient = Neo4jStore(self._database, self._connection, self.load, None, READING_SECONDS)
        return await GraphStore.read_graph(patient)

    async def drop(self) -> None:
        await self._database.drop(self.scope)
