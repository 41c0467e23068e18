"""Graphs loaded into Neo4j: many in one database, each with its own extra label on all nodes."""

import asyncio
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from graphwalk.errors import StoreError
from graphwalk.stores.base import Database, GraphStore
from graphwalk.stores.cypher import Dialect
from graphwalk.stores.graph_schema import has_several_labels, schema_of
from graphwalk.stores.health import HealthCheck
from graphwalk.stores.neo4j.admin import BY_HAND, HEARTBEAT_SECONDS, Load, Loads, check_labels
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.values import SERIALISATION, plain
from graphwalk.stores.serialisation import decoded
from graphwalk.stores.transfer import content_digest
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, shown_rows
from graphwalk.variables import Variables

READING_SECONDS = 300.0
"""For a query that reads a whole graph back."""


def scope_of(run_id: str, digest: str) -> str:
    """Return the label of a run's graph: `gw_` and 12 hex digits."""
    return "gw_" + hashlib.sha256(f"{run_id}\0{digest}".encode()).hexdigest()[:12]


class Neo4jDatabase(Database):
    """The graphs of one run in a Neo4j; open it with `Neo4jDatabase.open`."""

    kind = "neo4j"

    def __init__(self, connection: Connection, *, run_id: str, timeout_seconds: float) -> None:
        self._connection = connection
        self._run_id = run_id
        self._timeout_seconds = timeout_seconds
        self._loads = Loads(connection)
        self._stores: dict[str, Neo4jStore] = {}
        """By label: graphs that this run loaded; they are loaded again if the server loses them."""
        self._borrowed: dict[str, Neo4jStore] = {}
        """By label: graphs that were there before, only read."""
        self._loading = asyncio.Lock()
        self._heartbeat: asyncio.Task[None] | None = None
        connection.content_checks.append(self._check_content)

    @classmethod
    async def open(
        cls,
        variables: Variables,
        *,
        run_id: str,
        timeout_seconds: float = 30.0,
        wait_seconds: float = 90.0,
    ) -> "Neo4jDatabase":
        """Connect to the server of `variables`; see `open_database`."""
        connection = await connect(variables, wait_seconds=wait_seconds)
        return cls(connection, run_id=run_id, timeout_seconds=timeout_seconds)

    def share_health_check(self, health: HealthCheck) -> None:
        self._connection.share_health_check(health)

    async def load(self, graph: PropertyGraph) -> "Neo4jStore":
        """See `Database`. A graph of `graphwalk db load` is used in place and kept."""
        scope, by_hand = scope_of(self._run_id, graph.digest), scope_of(BY_HAND, graph.digest)
        async with self._loading:
            if store := self._stores.get(scope) or self._borrowed.get(by_hand):
                return store
            load = await self._loads.find(by_hand) if scope != by_hand else None
            if load is not None and load.state == "complete" and await self._loads.is_intact(load):
                self._borrowed[by_hand] = self._store(load, graph)
                return self._borrowed[by_hand]
            check_labels(graph)
            load = await self._loads.load(graph, scope, self._run_id)
            self._stores[scope] = self._store(load, graph)
            if self._heartbeat is None:
                self._heartbeat = asyncio.create_task(self._renew_heartbeat())
            return self._stores[scope]

    async def loaded(self, scope: str) -> "Neo4jStore":
        """Return a loaded graph by its label, read-only. Raise StoreError if there is none."""
        load = await self._loads.find(scope)
        if load is None or load.state != "complete":
            raise StoreError(f"there is no graph {scope} in this Neo4j", hint="graphwalk db status lists what is there")
        self._borrowed[scope] = self._store(load)
        return self._borrowed[scope]

    def _store(self, load: Load, graph: PropertyGraph | None = None) -> "Neo4jStore":
        return Neo4jStore(self, self._connection, load, graph, self._timeout_seconds)

    async def _check_content(self, thoroughly: bool) -> None:
        """See `CheckedConnection`. Damaged graphs of this run are loaded again; for others raise StoreError."""
        loads = self._loads.at_once()
        # Graphs are loaded and dropped while this waits for the server.
        for scope, store in list(self._borrowed.items()):
            if not await loads.is_intact(store.load):
                raise StoreError(
                    f"the graph {scope} in this Neo4j has changed or was removed",
                    hint=f"load it again (run {store.load.run_id})",
                )
        for scope, store in list(self._stores.items()):
            graph = store.graph
            assert graph is not None
            intact = await loads.is_intact(store.load)
            if intact and thoroughly:
                direct = Neo4jStore(self, self._connection.at_once(), store.load, graph, READING_SECONDS)
                intact = content_digest(await direct.read_graph()) == content_digest(graph)
            if intact or scope not in self._stores:
                continue
            store.generation += 1
            await loads.load(graph, scope, self._run_id, anew=True)
            self._connection.health.note(f"the graph {scope} was damaged in Neo4j and has been loaded again")
        if thoroughly and self._stores:
            await loads.renew_heartbeat()

    async def drop(self, scope: str) -> None:
        """Remove the graph with that label, unless it is only read here."""
        if scope not in self._borrowed:
            self._stores.pop(scope, None)
            if load := await self._loads.find(scope):
                await self._loads.remove(load)

    async def loads(self) -> list[Load]:
        """Return the loaded graphs of all runs in this database."""
        return await self._loads.all()

    async def clean(self, *, kept: bool = False) -> list[Load]:
        """Remove graphs of killed runs, with `kept` also of finished runs; never of running ones."""
        removed = [load for load in await self.loads() if load.is_unused(kept=kept) and await self._loads.remove(load)]
        await self._loads.drop_constraints()
        return removed

    async def _renew_heartbeat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            # If the server is away, the queries report it; it may be back at the next renewal.
            with suppress(StoreError):
                await self._loads.renew_heartbeat()

    async def close(self) -> None:
        """Close the connection. Graphs that were not dropped are kept."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            with suppress(asyncio.CancelledError):
                await self._heartbeat
        loads = self._loads.at_once()
        try:
            if self._stores:
                await loads.release()
            elif self._loads.prepared and self._connection.health.failure is None:
                with suppress(StoreError):  # `db clean` removes what is left
                    await loads.release()
                    await loads.drop_constraints()
        finally:
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

    async def check_unchanged(self, generation: int) -> None:
        """See `GraphStore`. If this graph is damaged, all graphs are checked, and loaded again."""
        if not await Loads(self._connection).is_intact(self.load):
            await self._connection.health.passed()
        if self.generation != generation:
            raise StoreError(f"the graph {self.scope} was missing from Neo4j for a while: results in doubt")

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return shown_rows(await self.values(cypher, parameters))

    async def values(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        records = await self._connection.read(cypher, SERIALISATION.parameters(parameters), self._timeout_seconds)
        return [
            {name: decoded(plain(value, self.scope)) for name, value in zip(names, values, strict=True)}
            for names, values in records
        ]

    async def schema(self, samples: int = 0) -> Schema:
        """See `GraphStore`. A graph that another process loaded is read whole, once."""
        graph = await self._searched_graph()
        if samples not in self._schemas:
            self._schemas[samples] = await asyncio.to_thread(schema_of, graph, samples)
        return self._schemas[samples]

    async def _searched_graph(self) -> PropertyGraph:
        if self.graph is None:
            patient = Neo4jStore(self._database, self._connection, self.load, None, READING_SECONDS)
            self.graph = await patient.read_graph()
        return self.graph

    async def drop(self) -> None:
        await self._database.drop(self.scope)
