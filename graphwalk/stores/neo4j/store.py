"""Graphs in Neo4j: many of them in one database, each told apart by one extra label on all of its nodes."""

import asyncio
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from graphwalk.environment import Environment
from graphwalk.errors import StoreError
from graphwalk.stores.cypher import NO_LABEL, Dialect, Identifiers, quote, render_cypher
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.filling import BATCH, Kept, check_names, kept_as, kept_somehow, load_steps
from graphwalk.stores.neo4j.loads import LEASE_SECONDS, Ledger, Load
from graphwalk.stores.neo4j.process import this_process
from graphwalk.stores.neo4j.values import SCALARS, own, plain
from graphwalk.stores.schema_queries import Form, read_schema
from graphwalk.stores.store import Asked
from graphwalk.stores.tagged import decoded
from graphwalk.stores.written.translation import translate
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, shown, shown_rows

WATCH_SECONDS = 0.5
"""Pause between two checks of a graph that another process is loading."""


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
        self._ledger = Ledger(connection, this_process())
        self._stores: dict[str, Neo4jStore] = {}
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

    async def load(self, graph: PropertyGraph) -> "Neo4jStore":
        scope = scope_of(self._run_id, graph.digest)
        async with self._loading:
            if scope not in self._stores:
                check_names(graph)
                await self._ledger.prepare()
                await self._load(graph, scope)
                self._stores[scope] = Neo4jStore(self, self._connection, kept_as(graph, scope), self._timeout_seconds)
                if self._renewal is None:
                    self._renewal = asyncio.create_task(self._renew_leases())
            return self._stores[scope]

    async def loaded(self, scope: str) -> "Neo4jStore":
        """A graph that is there already, by its label, to be read: it stays whose it is. StoreError where it is not."""
        if not any(load.scope == scope and load.state == "complete" for load in await self.loads()):
            raise StoreError(f"there is no graph {scope} in this Neo4j", hint="graphwalk db status lists what is there")
        return Neo4jStore(self, self._connection, kept_somehow(scope), self._timeout_seconds)

    async def _load(self, graph: PropertyGraph, scope: str) -> None:
        """Find the complete graph, or load it; waits while another process is loading it."""
        while True:
            load = await self._ledger.enter(
                scope, self._run_id, graph.digest, graph.node_count, graph.relationship_count
            )
            ours = load.owner == self._ledger.owner
            if load.state == "complete" and await self._holds(load):
                if ours or await self._ledger.take_over(load, "complete"):
                    return
            elif ours and load.state == "loading":
                await self._fill(graph, scope)
                return
            elif load.state == "complete" or load.dead:
                await self._remove(load)
            else:
                await asyncio.sleep(WATCH_SECONDS)

    async def _holds(self, load: Load) -> bool:
        """True if the graph has as many nodes and relationships as it should; the server keeps these counts."""
        label = quote(load.scope)
        nodes = await self._connection.write(f"MATCH (n:{label}) RETURN count(n) AS count")
        relationships = await self._connection.write(f"MATCH (:{label})-[r]->() RETURN count(r) AS count")
        return (nodes[0]["count"], relationships[0]["count"]) == (load.nodes, load.relationships)

    async def _fill(self, graph: PropertyGraph, scope: str) -> None:
        label, ledger = quote(scope), self._ledger
        await self._connection.write(
            f"CREATE CONSTRAINT {quote(scope)} IF NOT EXISTS FOR (n:{label}) REQUIRE n.key IS UNIQUE"
        )
        steps = 0
        for body, rows in load_steps(graph, scope):
            await ledger.step(scope, steps, body, rows=rows)
            steps += 1
        await ledger.check(scope, steps)
        await ledger.complete(scope)

    async def _remove(self, load: Load) -> None:
        """Empty and forget one graph, batch by batch; nothing if somebody else took it over first."""
        if not await self._ledger.take_over(load, "dropping"):
            return
        label = quote(load.scope)
        left, steps = 1, 0
        while left:
            body = f"MATCH (n:{label}) WITH n LIMIT {BATCH} DETACH DELETE n"
            await self._ledger.step(load.scope, steps, body)
            left = (await self._connection.write(f"MATCH (n:{label}) RETURN count(n) AS left"))[0]["left"]
            steps += 1
            await self._ledger.check(load.scope, steps)
        await self._connection.write(f"DROP CONSTRAINT {label} IF EXISTS")
        await self._ledger.remove(load.scope)

    async def drop(self, scope: str) -> None:
        """Remove the graph with that label, if it was GraphWalk that put it there."""
        self._stores.pop(scope, None)
        for load in await self.loads():
            if load.scope == scope:
                await self._remove(load)

    async def loads(self) -> list[Load]:
        """All graphs that GraphWalk, in whichever run, has in this database."""
        return await self._ledger.loads()

    async def clean(self, *, kept: bool = False) -> list[Load]:
        """Remove what killed runs left, with `kept` also what finished runs left; never what a running run uses."""
        unused = [load for load in await self.loads() if load.dead or (kept and load.kept)]
        for load in unused:
            await self._remove(load)
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
                await self._ledger.keep(list(self._stores))
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
