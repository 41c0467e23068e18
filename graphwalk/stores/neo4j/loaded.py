"""Graphs loaded into Neo4j: many in one database, each with its own extra label on all nodes."""

import asyncio
from collections.abc import Mapping
from typing import Any

from graphwalk.errors import StoreError
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Row, shown_rows
from graphwalk.stores.base import Database, GraphStore
from graphwalk.stores.cypher import Dialect
from graphwalk.stores.graph_schema import has_several_labels, schema_of
from graphwalk.stores.names import with_safe_names
from graphwalk.stores.neo4j.admin import Load, load_graph, read_load, remove_graph, scope_of
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.values import decoded, plain, stored_parameters
from graphwalk.variables import Variables

READING_SECONDS = 300.0
"""For a query that reads a whole graph back."""


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
                load = await load_graph(self._connection, graph, scope)
                self._stores[scope] = self._store(load, graph)
            return self._stores[scope]

    async def loaded(self, scope: str) -> "Neo4jStore":
        """Return a loaded graph by its label, read-only. Raise StoreError if there is none."""
        load = await read_load(self._connection, scope)
        if not load.nodes:
            raise StoreError(
                f"there is no graph {scope} in this Neo4j", hint="graphwalk db clean --dry-run lists what is there"
            )
        return self._store(load)

    def _store(self, load: Load, graph: PropertyGraph | None = None) -> "Neo4jStore":
        return Neo4jStore(self, self._connection, load, graph, self._timeout_seconds)

    async def drop(self, scope: str) -> None:
        """Remove the graph with that label, if this run loaded it."""
        if self._stores.pop(scope, None) is not None:
            await remove_graph(self._connection, scope)

    async def close(self) -> None:
        """Close the connection. Graphs that were not dropped are kept."""
        await self._connection.close()


class Neo4jStore(GraphStore):
    kind = "neo4j"
    in_neo4j = True

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
        self.dialect = Dialect(load.scope, graph is None or has_several_labels(graph))
        self._database = database
        self._connection = connection
        self._timeout_seconds = timeout_seconds
        self._schemas: dict[int, Schema] = {}

    async def check_unchanged(self) -> None:
        """See `GraphStore`. Nodes and relationships are counted."""
        if await read_load(self._connection, self.scope) != self.load:
            raise StoreError(f"the graph {self.scope} in this Neo4j has changed or was removed")

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return shown_rows(await self.values(cypher, parameters))

    async def values(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        records = await self._connection.read(cypher, stored_parameters(parameters or {}), self._timeout_seconds)
        return [
            {name: decoded(plain(value, self.scope)) for name, value in zip(names, values, strict=True)}
            for names, values in records
        ]

    async def schema(self, samples: int = 0) -> Schema:
        """See `GraphStore`. A graph that another process loaded is read whole, once."""
        if self.graph is None:
            self.graph = await self.read_graph()
        if samples not in self._schemas:
            self._schemas[samples] = await asyncio.to_thread(schema_of, self.graph, samples)
        return self._schemas[samples]

    async def read_graph(self) -> PropertyGraph:
        """See `GraphStore`, with more time than a query has."""
        patient = Neo4jStore(self._database, self._connection, self.load, None, READING_SECONDS)
        return await GraphStore.read_graph(patient)

    async def drop(self) -> None:
        await self._database.drop(self.scope)
