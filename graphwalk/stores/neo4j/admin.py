"""Load graphs into Neo4j and remove them: one `GraphWalkLoad` node per graph, one transaction per batch.

    loading ──→ complete ──→ dropping ──→ (removed)

A graph is used only while it is complete. Every batch checks the owner's token, so that a process whose graph was
taken over changes nothing. A running owner renews its heartbeat; without one for `EXPIRED_SECONDS`, the run was
killed. All times are those of the server's clock.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import uuid4

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from graphwalk.errors import ConfigError, StoreError
from graphwalk.sanitise import one_line
from graphwalk.stores.cypher import NO_LABEL, quote
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.values import SERIALISATION
from graphwalk.stores.transfer import node_batches, relationship_batches, stored_graph
from graphwalk.types.graph import OUR_PREFIX, PropertyGraph, is_reserved

BY_HAND = "by-hand"
"""The run id of graphs that `graphwalk db load` loads; a graph loaded twice is found again."""
BATCH = 10_000
REMOVED = 2_000
"""Nodes removed in one transaction, with all of their relationships: far fewer than are loaded in one."""
HEARTBEAT_SECONDS = 60.0
EXPIRED_SECONDS = 300.0
SECONDS = 30.0

LoadState = Literal["loading", "complete", "dropping"]
_SCOPE = re.compile(r"gw_[0-9a-f]{12}")
_CONSTRAINTS = "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE labelsOrTypes = [name] RETURN name"
_OWNED = (
    "MATCH (l:GraphWalkLoad {scope: $scope, owner: $owner}) SET l.heartbeat = timestamp() WITH l WHERE l.owner = $owner"
)
"""The first SET locks the entry before the owners are compared."""


def _time(milliseconds: Any) -> datetime:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (TypeError, OverflowError, OSError) as error:
        raise ValueError(str(error)) from error


class Load(BaseModel):
    """The entry of one graph. `kept`: its run ended properly and left it there; `heartbeat`: milliseconds.

    Strict, since any client can create a node with our label.
    """

    model_config = ConfigDict(frozen=True, strict=True)
    scope: str = Field(pattern=f"^{_SCOPE.pattern}$")
    run_id: Annotated[str, AfterValidator(one_line)]
    digest: str
    nodes: int
    relationships: int
    state: LoadState
    owner: str = Field(pattern="^[0-9a-f]{32}$")
    kept: bool
    created: Annotated[datetime, BeforeValidator(_time)]
    heartbeat: int
    expired: bool

    @property
    def in_use(self) -> bool:
        """Return True while its run may be running."""
        return not self.kept and not self.expired

    def is_unused(self, *, kept: bool) -> bool:
        """Return True for the graph of a killed run and, with `kept`, for one kept on purpose or loaded by hand.

        A `db load` that is still running fails if its graph is removed.
        """
        return (kept and self.run_id == BY_HAND) or (not self.in_use and (kept or not self.kept))


def check_labels(graph: PropertyGraph) -> None:
    """Raise ConfigError if a label is reserved: it would add nodes to another graph, or look like an entry."""
    for label in (label for table in graph.node_tables for label in table.labels if is_reserved(label)):
        raise ConfigError(
            f"the graph has the label {label!r}, which GraphWalk reserves in Neo4j",
            hint=f"rename the label (no prefix {OUR_PREFIX}), or use --store embedded",
        )


class Loads:
    """The loaded graphs of one Neo4j, changed by one owner. Every statement is idempotent."""

    def __init__(self, connection: Connection, owner: str | None = None) -> None:
        self.owner = owner or uuid4().hex
        self.prepared = False
        """True if this process may have created the constraint on entries."""
        self._connection = connection
        self._write = connection.write

    def at_once(self) -> "Loads":
        """Return a copy for use by the health check itself, which does not wait for it."""
        return Loads(self._connection.at_once(), self.owner)

    async def all(self) -> list[Load]:
        """Return all entries, oldest first."""
        return await self._read("MATCH (l:GraphWalkLoad) WITH l ORDER BY l.created, l.scope")

    async def find(self, scope: str) -> Load | None:
        """Return the entry of the graph with that label."""
        entries = await self._read("MATCH (l:GraphWalkLoad {scope: $scope})", scope=scope)
        return entries[0] if entries else None

    async def load(self, graph: PropertyGraph, scope: str, run_id: str, *, anew: bool = False) -> Load:
        """Find the complete graph, or load it; `anew`: remove the loaded one first.

        A half-loaded graph of the same run is loaded again. Raise StoreError if another process has the graph.
        """
        await self._prepare()
        load = await self._enter(graph, scope, run_id)
        if not anew and load.state == "complete" and await self.is_intact(load):
            if await self._take_over(load, "complete"):
                return load
            raise _taken_over(scope)
        if anew or load.owner != self.owner or load.state != "loading":
            if (anew or run_id == BY_HAND) and load.in_use and load.owner != self.owner:
                raise StoreError(
                    f"another process is loading the graph {scope}",
                    hint="wait until it is done; if it was killed: graphwalk db clean --all",
                )
            await self.remove(load)
            load = await self._enter(graph, scope, run_id)
        if load.owner != self.owner:
            raise _taken_over(scope)
        await self._fill(graph, scope)
        return load

    async def is_intact(self, load: Load) -> bool:
        """Return True if the entry exists and the counts of nodes and relationships match it.

        One round trip; the server keeps these counts.
        """
        label = quote(load.scope)
        rows = await self._connection.read(
            f"MATCH (n:{label}) RETURN 'nodes' AS what, count(n) AS count "
            f"UNION ALL MATCH (:{label})-[r]->() RETURN 'relationships' AS what, count(r) AS count "
            "UNION ALL MATCH (l:GraphWalkLoad {scope: $scope}) RETURN l.state + ' ' + l.digest AS what, 1 AS count",
            {"scope": load.scope},
            SECONDS,
        )
        wanted = {"nodes": load.nodes, "relationships": load.relationships, f"complete {load.digest}": 1}
        return {what: count for _, (what, count) in rows} == wanted

    async def remove(self, load: Load) -> bool:
        """Remove a graph and its entry, batch by batch; return False if another process has taken it over."""
        if not await self._take_over(load, "dropping"):
            return False
        label = quote(load.scope)
        owned: dict[str, Any] = {"scope": load.scope, "owner": self.owner}
        batch = (
            f"{_OWNED} OPTIONAL MATCH (n:{label}) WITH l, n LIMIT {REMOVED} DETACH DELETE n "
            "RETURN l.owner AS owner, count(n) AS removed"
        )
        rows = await self._write(batch, **owned)
        while rows and rows[0]["removed"]:
            rows = await self._write(batch, **owned)
        if rows:
            await self._write(f"DROP CONSTRAINT {label} IF EXISTS")
            await self._write("MATCH (l:GraphWalkLoad {scope: $scope, owner: $owner}) DELETE l", **owned)
        return bool(rows)

    async def renew_heartbeat(self) -> None:
        await self._write("MATCH (l:GraphWalkLoad {owner: $owner}) SET l.heartbeat = timestamp()", owner=self.owner)

    async def release(self) -> None:
        """Keep the complete graphs; let others remove the rest at once."""
        await self._write(
            "MATCH (l:GraphWalkLoad {owner: $owner}) SET l.kept = (l.state = 'complete'), "
            "l.heartbeat = CASE l.state WHEN 'complete' THEN l.heartbeat ELSE 0 END",
            owner=self.owner,
        )

    async def drop_constraints(self) -> None:
        """Drop the constraints that no graph needs.

        Constraints are listed before entries: another process creates the entry first.
        """
        constraints = [row["name"] for row in await self._write(_CONSTRAINTS)]
        entries = [row["scope"] for row in await self._write("MATCH (l:GraphWalkLoad) RETURN l.scope AS scope")]
        for name in constraints:
            if not _SCOPE.fullmatch(name) or name in entries:
                continue
            if not await self._write(f"MATCH (n:`{name}`) RETURN 1 AS there LIMIT 1"):
                await self._write(f"DROP CONSTRAINT `{name}` IF EXISTS")
        if not entries:
            await self._write("DROP CONSTRAINT graphwalk_load_scope IF EXISTS")
            if await self._write("MATCH (l:GraphWalkLoad) RETURN 1 AS there LIMIT 1"):
                # Another process made an entry meanwhile, which needs the constraint.
                await self._prepare()
                await self.drop_constraints()

    async def _prepare(self) -> None:
        """Create the constraint that prevents two entries of one graph."""
        self.prepared = True
        await self._connection.constrain("graphwalk_load_scope", "FOR (l:GraphWalkLoad) REQUIRE l.scope IS UNIQUE")

    async def _read(self, match: str, **parameters: Any) -> list[Load]:
        rows = await self._write(f"{match} RETURN properties(l) AS load, timestamp() AS now", **parameters)
        entries = []
        for row in rows:
            expired = (row["load"].get("heartbeat") or 0) < row["now"] - 1000 * EXPIRED_SECONDS
            # A damaged or foreign entry is ignored, so that nothing is removed because of it.
            with suppress(ValidationError, TypeError):
                entries.append(Load.model_validate({**row["load"], "expired": expired}))
        return entries

    async def _enter(self, graph: PropertyGraph, scope: str, run_id: str) -> Load:
        """Return the entry of a graph; create it if there is none."""
        facts = {
            "run_id": run_id,
            "digest": graph.digest,
            "nodes": graph.node_count,
            "relationships": graph.relationship_count,
            "state": "loading",
            "owner": self.owner,
            "kept": False,
            "batches": 0,
        }
        entries = await self._read(
            "MERGE (l:GraphWalkLoad {scope: $scope}) "
            "ON CREATE SET l += $facts, l.created = timestamp(), l.heartbeat = timestamp() WITH l",
            scope=scope,
            facts=facts,
        )
        if not entries:
            raise StoreError(
                f"the GraphWalkLoad entry of the graph {scope} is damaged",
                hint=f"inspect it, then remove it: MATCH (l:GraphWalkLoad {{scope: '{scope}'}}) DELETE l",
            )
        return entries[0]

    async def _take_over(self, load: Load, state: LoadState) -> bool:
        """Become the owner of an entry; return False if another process has changed it since it was read."""
        rows = await self._write(
            "MATCH (l:GraphWalkLoad {scope: $scope}) SET l.scope = l.scope "
            "WITH l WHERE l.owner = $owner OR (l.owner = $former AND l.heartbeat = $heartbeat) "
            "SET l.owner = $owner, l.state = $state, l.kept = false, l.heartbeat = timestamp() RETURN l.owner AS owner",
            scope=load.scope,
            owner=self.owner,
            former=load.owner,
            heartbeat=load.heartbeat,
            state=state,
        )
        return bool(rows)

    async def _fill(self, graph: PropertyGraph, scope: str) -> None:
        """Send all batches. The entry counts them, so that none is loaded twice if its answer got lost.

        Raise StoreError if another process takes the graph over.
        """
        unique_key = f"FOR (n:{quote(scope)}) REQUIRE n.key IS UNIQUE"
        await self._connection.constrain(scope, unique_key)
        batches = 0
        owned: dict[str, Any] = {"scope": scope, "owner": self.owner}
        counted = f"{_OWNED} AND l.batches = $batches SET l.batches = $batches + 1 WITH l"
        for batches, (body, rows) in enumerate(load_batches(graph, scope), start=1):
            await self._write(f"{counted} {body}", **owned, batches=batches - 1, rows=rows)
        # A process that removes unused constraints may have dropped it before the first node was there.
        await self._connection.constrain(scope, unique_key)
        completed = f"{_OWNED} AND l.batches = $batches SET l.state = 'complete' RETURN l.scope AS scope"
        if not await self._write(completed, **owned, batches=batches):
            raise _taken_over(scope)


def load_batches(graph: PropertyGraph, scope: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield Cypher and the rows it unwinds: nodes first, since relationships find them by key."""
    graph, label = stored_graph(graph, SERIALISATION.stored), quote(scope)
    for names, rows in node_batches(graph, BATCH):
        labels = ":".join(quote(name) for name in (*(names or (NO_LABEL,)), scope))
        yield f"UNWIND $rows AS row CREATE (n:{labels}) SET n = row", rows
    for type_, _, rows in relationship_batches(graph, BATCH):
        body = (
            f"UNWIND $rows AS row MATCH (a:{label} {{key: row.s}}) MATCH (b:{label} {{key: row.t}}) "
            f"CREATE (a)-[r:{quote(type_)}]->(b) SET r = row.p"
        )
        yield body, rows


def _taken_over(scope: str) -> StoreError:
    return StoreError(f"another process took over the graph {scope}", hint="run the command again")
