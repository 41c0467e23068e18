"""Putting graphs into a Neo4j, exactly once; finding out whether they are still there; and taking them out again."""

import asyncio

from graphwalk.errors import StoreError
from graphwalk.stores.cypher import quote
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.filling import load_steps
from graphwalk.stores.neo4j.loads import Ledger, Load
from graphwalk.types.graph import PropertyGraph

REMOVED = 2_000
"""Nodes that are removed at a time, with all of their relationships: far fewer than are loaded."""
WATCH_SECONDS = 0.5
"""Pause between two checks of a graph that another process is loading."""
SECONDS = 30.0
"""For looking whether a graph is there."""
CONSTRAINT_SECONDS = 600.0
"""For looking through all keys of a graph that is there already; of none it takes a moment."""


class Loader:
    """Loads on behalf of one process (`owner`) for one run."""

    def __init__(self, connection: Connection, owner: str, run_id: str) -> None:
        self.ledger = Ledger(connection, owner)
        self._connection = connection
        self._run_id = run_id

    def at_once(self) -> "Loader":
        """The same for those who look after the gate: it waits for nothing."""
        return Loader(self._connection.at_once(), self.ledger.owner, self._run_id)

    async def load(self, graph: PropertyGraph, scope: str) -> None:
        """Find the complete graph, or load it; waits while another process is loading it."""
        await self.ledger.prepare()
        while True:
            load = await self._enter(graph, scope)
            ours = load.owner == self.ledger.owner
            if load.state == "complete" and await self.holds(load):
                if ours or await self.ledger.take_over(load, "complete"):
                    return
            elif ours and load.state == "loading":
                await self._fill(graph, scope)
                return
            elif load.state == "complete" or load.dead:
                await self.remove(load)
            else:
                await asyncio.sleep(WATCH_SECONDS)

    async def load_anew(self, graph: PropertyGraph, scope: str) -> None:
        """Load a graph of ours of which something is missing. StoreError where another process has it by now."""
        await self.ledger.prepare()
        load = await self._enter(graph, scope)
        if load.owner != self.ledger.owner and not load.dead:
            raise StoreError(f"another process took over the graph {scope}", hint="run the command again")
        await self.remove(load)
        await self.load(graph, scope)

    async def stands(self, scope: str, digest: str, nodes: int, relationships: int) -> bool:
        """True where the graph's entry is there and it has as many nodes and relationships as it should.

        One round trip; the server keeps these counts.
        """
        label = quote(scope)
        found = await self._connection.read(
            f"MATCH (n:{label}) RETURN 'nodes' AS what, count(n) AS count "
            f"UNION ALL MATCH (:{label})-[r]->() RETURN 'relationships' AS what, count(r) AS count "
            "UNION ALL MATCH (l:GraphWalkLoad {scope: $scope}) RETURN l.state + ' ' + l.digest AS what, 1 AS count",
            {"scope": scope},
            SECONDS,
        )
        wanted = {"nodes": nodes, "relationships": relationships, f"complete {digest}": 1}
        return {what: count for _, (what, count) in found} == wanted

    async def remove(self, load: Load) -> None:
        """Empty and forget one graph, batch by batch; nothing if somebody else took it over first."""
        if not await self.ledger.take_over(load, "dropping"):
            return
        label = quote(load.scope)
        left, steps = 1, 0
        while left:
            body = f"MATCH (n:{label}) WITH n LIMIT {REMOVED} DETACH DELETE n"
            await self.ledger.step(load.scope, steps, body)
            left = (await self._connection.write(f"MATCH (n:{label}) RETURN count(n) AS left"))[0]["left"]
            steps += 1
            await self.ledger.check(load.scope, steps)
        await self._connection.write(f"DROP CONSTRAINT {label} IF EXISTS")
        await self.ledger.remove(load.scope)

    async def adopt(self, scope: str) -> None:
        """Make a graph complete that an import put there, with an entry of ours that says it is being loaded."""
        await self.ledger.prepare()
        await self._constrain(scope)
        await self.ledger.complete(scope)

    async def _constrain(self, scope: str) -> None:
        what = f"FOR (n:{quote(scope)}) REQUIRE n.key IS UNIQUE"
        await self._connection.constrain(scope, what, CONSTRAINT_SECONDS)

    async def _enter(self, graph: PropertyGraph, scope: str) -> Load:
        return await self.ledger.enter(scope, self._run_id, graph.digest, graph.node_count, graph.relationship_count)

    async def holds(self, load: Load) -> bool:
        """True where as much of a complete graph is there as its entry says."""
        return await self.stands(load.scope, load.digest, load.nodes, load.relationships)

    async def _fill(self, graph: PropertyGraph, scope: str) -> None:
        ledger, steps = self.ledger, 0
        await self._constrain(scope)
        for body, rows in load_steps(graph, scope):
            await ledger.step(scope, steps, body, rows=rows)
            steps += 1
        await ledger.check(scope, steps)
        await ledger.complete(scope)
