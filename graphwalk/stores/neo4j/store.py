"""Graphs in Neo4j: many of them in one database, each told apart by one extra label on all of its nodes."""

import asyncio
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from graphwalk.environment import Environment
from graphwalk.errors import StoreError
from graphwalk.stores.cypher import NO_LABEL, Dialect, Identifiers, render_cypher
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.filling import Kept, check_names, kept_as, kept_somehow
from graphwalk.stores.neo4j.loading import Loader
from graphwalk.stores.neo4j.loads import BY_HAND, LEASE_SECONDS, Load
from graphwalk.stores.neo4j.process import this_process
from graphwalk.stores.neo4j.values import SCALARS, own, plain
from graphwalk.stores.outage import Gate
from graphwalk.stores.schema_queries import Form, read_schema, schema_of
from graphwalk.stores.store import Asked
from graphwalk.stores.tagged import decoded
from graphwalk.stores.whole import content_digest, read_whole
from graphwalk.stores.written.translation import translate
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, shown, shown_rows

TOLD_BY_GRAPH = 1_000_000
"""Nodes and relationships from which on the graph that was loaded tells its schema: a server would look for minutes."""
READING_SECONDS = 300.0
"""For a query that reads a whole graph back."""


def scope_of(run_id: str, digest: str) -> str:
    """The label that tells a run's graph from all others: `gw_` and 12 hex digits."""
    return "gw_" + hashlib.sha256(f"{run_id}\0{digest}".encode()).hexdigest()[:12]


class Neo4jDatabase:
    """The graphs of one run in a Neo4j; open it with `Neo4jDatabase.open`."""

    kind = "neo4j"

    def __init__(self, connection: Connection, *, run_id: str, timeout_seconds: float) -> None:
        self._connection = connection
        self._run_id = run_id
        self._timeout_seconds = timeout_seconds
        self._loader = Loader(connection, this_process(), run_id)
        self._ledger = self._loader.ledger
        self._stores: dict[str, Neo4jStore] = {}
        self._graphs: dict[str, PropertyGraph] = {}
        """What this run has loaded, to load it again where the server loses it."""
        self._borrowed: dict[str, Load] = {}
        """What was there before, and is only read."""
        self._by_hand: dict[str, Neo4jStore] = {}
        """Of these the graphs that this run would have loaded, by digest."""
        connection.proofs.append(self._prove)
        self._loading = asyncio.Lock()
        self._renewal: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        environment: Environment,
        *,
        run_id: str,
        timeout_seconds: float = 30.0,
        wait_seconds: float = 90.0,
        notices: list[str] | None = None,
    ) -> "Neo4jDatabase":
        """Reach the server of `environment`; see `open_database`. `notices` collects the server's warnings."""
        connection = await connect(environment, wait_seconds=wait_seconds, notices=notices)
        return cls(connection, run_id=run_id, timeout_seconds=timeout_seconds)

    def wait_at(self, gate: Gate, digest: str | None = None) -> None:
        """See `Waits`."""
        self._connection.wait_at(gate)

    async def load(self, graph: PropertyGraph) -> "Neo4jStore":
        """See `Database`. A graph that a person has loaded is read where it is, and stays."""
        scope = scope_of(self._run_id, graph.digest)
        async with self._loading:
            if scope not in self._stores and (found := await self._loaded_by_hand(graph)) is not None:
                return found
            if scope not in self._stores:
                check_names(graph)
                await self._loader.load(graph, scope)
                self._stores[scope] = self._store(kept_as(graph, scope))
                self._graphs[scope] = graph
                if self._renewal is None:
                    self._renewal = asyncio.create_task(self._renew_leases())
            return self._stores[scope]

    async def _loaded_by_hand(self, graph: PropertyGraph) -> "Neo4jStore | None":
        if self._run_id == BY_HAND or graph.digest in self._by_hand:
            return self._by_hand.get(graph.digest)
        await self._ledger.prepare()
        scope = scope_of(BY_HAND, graph.digest)
        load = next((load for load in await self.loads() if load.scope == scope), None)
        if load is None or load.state != "complete" or not await self._loader.holds(load):
            return None
        self._borrowed[scope] = load
        return self._by_hand.setdefault(graph.digest, self._store(kept_as(graph, scope)))

    async def loaded(self, scope: str) -> "Neo4jStore":
        """A graph that is there already, by its label, to be read: it stays whose it is. StoreError where it is not."""
        load = next((load for load in await self.loads() if load.scope == scope and load.state == "complete"), None)
        if load is None:
            raise StoreError(f"there is no graph {scope} in this Neo4j", hint="graphwalk db status lists what is there")
        self._borrowed[scope] = load
        return self._store(kept_somehow(scope))

    def _store(self, kept: Kept) -> "Neo4jStore":
        return Neo4jStore(self, self._connection, kept, self._timeout_seconds)

    async def stands(self, scope: str) -> bool:
        """True where a graph that was loaded or found here has its entry, and as many nodes and relationships."""
        return await self._stands(self._loader, scope)

    async def _stands(self, loader: Loader, scope: str) -> bool:
        whole = self._graphs.get(scope)
        if whole is not None:
            return await loader.stands(scope, whole.digest, whole.node_count, whole.relationship_count)
        load = self._borrowed[scope]
        return await loader.stands(scope, load.digest, load.nodes, load.relationships)

    async def prove(self) -> None:
        """Have everything looked at, and what is gone loaded anew. StoreError where that cannot be done."""
        await self._connection.gate.passed()

    async def _prove(self, thoroughly: bool) -> None:
        """See `Member`. What this run loaded is loaded anew where it is gone; what was there before cannot be."""
        loader = self._loader.at_once()
        # Graphs are loaded and dropped while this waits for the server.
        for scope, load in list(self._borrowed.items()):
            if not await self._stands(loader, scope):
                raise StoreError(
                    f"the graph {scope} is no longer in this Neo4j as it was",
                    hint=f"load it again (run {load.run_id})",
                )
        for scope, store in list(self._stores.items()):
            if await self._stands(loader, scope) and not (thoroughly and await self._altered(scope)):
                continue
            if scope not in self._stores:
                continue
            store.generation += 1
            await loader.load_anew(self._graphs[scope], scope)
            self._connection.gate.note(f"the graph {scope} was not whole in Neo4j any more, and was loaded anew")
        if thoroughly and self._stores:
            await loader.ledger.renew(list(self._stores))

    async def _altered(self, scope: str) -> bool:
        graph = self._graphs[scope]
        found = await read_whole(Neo4jStore(self, self._connection.at_once(), kept_as(graph, scope), READING_SECONDS))
        return content_digest(found) != content_digest(graph)

    async def drop(self, scope: str) -> None:
        """Remove the graph with that label, if it was GraphWalk that put it there, and not only read here."""
        if scope in self._borrowed:
            return
        self._stores.pop(scope, None)
        for load in await self.loads():
            if load.scope == scope:
                await self._loader.remove(load)

    async def loads(self) -> list[Load]:
        """All graphs that GraphWalk, in whichever run, has in this database."""
        return await self._ledger.loads()

    async def clean(self, *, kept: bool = False) -> list[Load]:
        """Remove what killed runs left, with `kept` also what finished runs left; never what a running run uses."""
        unused = [load for load in await self.loads() if load.dead or (kept and load.kept)]
        for load in unused:
            await self._loader.remove(load)
        await self._ledger.forget()
        return unused

    async def _renew_leases(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 5)
            # If the server is away, the queries that need it say so; it may be back at the next renewal.
            with suppress(StoreError):
                await self._ledger.renew(list(self._stores))

    async def close(self) -> None:
        if self._renewal is not None:
            self._renewal.cancel()
            with suppress(asyncio.CancelledError):
                await self._renewal
        try:
            if self._stores:
                await self._loader.at_once().ledger.keep(list(self._stores))
            elif self._ledger.prepared and self._connection.gate.lost is None:
                with suppress(StoreError):  # `db clean` removes it too
                    await self._loader.at_once().ledger.forget()
        finally:
            await self._connection.close()


async def open_neo4j(
    environment: Environment, *, run_id: str, timeout_seconds: float, wait_seconds: float
) -> Neo4jDatabase:
    """See `graphwalk.stores.registry.open_database`."""
    return await Neo4jDatabase.open(
        environment, run_id=run_id, timeout_seconds=timeout_seconds, wait_seconds=wait_seconds
    )


class Neo4jStore:
    """One graph among the many of a Neo4j."""

    kind = "neo4j"

    def __init__(self, database: Neo4jDatabase, connection: Connection, kept: Kept, timeout_seconds: float) -> None:
        self.scope = kept.scope
        self._kept = kept
        self._dialect = Dialect(kept.scope, kept.several)
        self._database = database
        self._connection = connection
        self._timeout_seconds = timeout_seconds
        self._schemas: dict[int, Schema] = {}
        self.generation = 0

    async def prove(self, generation: int) -> None:
        """See `Provable`."""
        if not await self._database.stands(self.scope):
            await self._database.prove()
        if self.generation != generation:
            raise StoreError(f"the graph {self.scope} was gone from Neo4j for a while: what was seen of it is in doubt")

    def render(self, template: str, identifiers: Identifiers) -> str:
        return render_cypher(template, identifiers, self._dialect)

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return shown_rows(await self.values(cypher, parameters))

    async def values(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """See `GivesValues`."""
        found = await self._connection.read(cypher, self._kept.encoding.parameters(parameters), self._timeout_seconds)
        own = self._own
        return [{name: own(value) for name, value in zip(names, values, strict=True)} for names, values in found]

    def _own(self, value: Any) -> Any:
        """A value of the driver as the graph has it."""
        if value.__class__ not in SCALARS:
            value = plain(value, self.scope)
        return decoded(value) if self._kept.encoding.tags else value

    async def ask(self, query: str, *, seconds: float, rows: int) -> Asked:
        """See `OpenToQueries`. Every node pattern is confined to this graph, and every node that comes back checked."""
        asked = translate(query, await self.schema(), self._dialect)
        parameters = self._kept.encoding.parameters(asked.parameters)
        with asked.told():
            found = await self._connection.ask(asked.cypher, parameters, seconds, rows + 1)
        named = [
            {asked.columns.get(n, n): shown(self._own(own(v, self.scope))) for n, v in zip(names, values, strict=True)}
            for names, values in found[:rows]
        ]
        return Asked(named, len(named) if len(found) <= rows else None, asked.ordered)

    async def schema(self, samples: int = 0) -> Schema:
        graph = self._kept.graph
        if samples not in self._schemas and graph and graph.node_count + graph.relationship_count >= TOLD_BY_GRAPH:
            self._schemas[samples] = await asyncio.to_thread(schema_of, graph, samples)
        if samples not in self._schemas:

            async def query(template: str, identifiers: Identifiers, parameters: Mapping[str, Any]) -> list[Row]:
                found = await self._connection.read(
                    self.render(template, identifiers), parameters, self._timeout_seconds
                )
                return [dict(zip(names, values, strict=True)) for names, values in found]

            self._schemas[samples] = await read_schema(query, samples, self._form())
        return self._schemas[samples]

    def _form(self) -> Form:
        """How to read the names and values that the database keeps."""
        return Form(
            lambda stored: None if stored in (self.scope, NO_LABEL) else stored,
            value=lambda value: tuple(found) if isinstance(found := self._own(value), list) else found,
            several=self._kept.several,
            lists=self._kept.lists,
        )

    async def drop(self) -> None:
        await self._database.drop(self.scope)
