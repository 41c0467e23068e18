"""The ledger of the graphs that GraphWalk put into a Neo4j: one `GraphWalkLoad` node each.

    loading ──→ complete ──→ dropping ──→ (gone)
       └── its process died: emptied and begun anew

A graph is used only while it is complete, so that nobody sees half of one. Its owner keeps renewing a lease; a graph
with an expired lease, or a dead owner, was left behind by a killed run. The server's clock is the only clock.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from graphwalk.errors import StoreError
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.process import is_dead

BY_HAND = "by-hand"
"""The run id of graphs that a person loads; the same graph loaded twice is found again."""
LEASE_SECONDS = 600.0
"""Lease of a graph in use; it is renewed five times in this time."""
LOADING_SECONDS = 60.0
"""Lease of a graph that is being loaded or dropped; every batch renews it."""

LoadState = Literal["loading", "complete", "dropping"]
_STATES = get_args(LoadState)
_SCOPE = re.compile(r"gw_[0-9a-f]{12}")
_OWNER = re.compile(r"[^/]+(?:/[^/]*)*/\d{1,9}/-?\d*/[0-9a-f]{8}")
_CONSTRAINTS = "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE labelsOrTypes = [name] RETURN name"
_FIELDS: dict[str, type] = {
    **dict.fromkeys(("scope", "run_id", "digest", "state", "owner"), str),
    **dict.fromkeys(("nodes", "relationships", "created", "expires"), int),
    "kept": bool,
}
"""What an entry has. Anybody can make a node with our label."""


@dataclass(frozen=True)
class Load:
    """One graph in the database, as the ledger has it. `kept`: its run ended properly and left it there."""

    scope: str
    run_id: str
    digest: str
    nodes: int
    relationships: int
    state: LoadState
    owner: str
    kept: bool
    created: datetime
    touched: datetime
    """When it was last loaded, or found there by somebody who wanted to load it."""
    expired: bool

    @property
    def dead(self) -> bool:
        """Left behind by a run that was killed, or half loaded by one."""
        return not self.kept and (self.expired or is_dead(self.owner))

    @property
    def in_use(self) -> bool:
        return not self.kept and not self.dead


class Ledger:
    """Reads and writes `GraphWalkLoad` nodes on behalf of one owner. Every statement can safely be sent twice."""

    def __init__(self, connection: Connection, owner: str) -> None:
        self.owner = owner
        self.prepared = False
        """True after this process may have created the constraint."""
        self._connection = connection

    async def prepare(self) -> None:
        """Two processes must not enter the same graph twice."""
        self.prepared = True
        await self._connection.constrain("graphwalk_load_scope", "FOR (l:GraphWalkLoad) REQUIRE l.scope IS UNIQUE")

    async def forget(self) -> None:
        """Remove the constraint of the ledger and those of lost graphs, unless the ledger has an entry.

        Constraints are listed before entries: a graph that another process loads has its entry before its constraint.
        Entries are looked for again afterwards: another process may have made one that needs the constraint.
        """
        constraints = await self._connection.write(_CONSTRAINTS)
        if await self._has_entries():
            return
        for row in constraints:
            name = row["name"]
            there = _SCOPE.fullmatch(name) and await self._connection.write(f"MATCH (n:`{name}`) RETURN 1 LIMIT 1")
            if there == []:
                await self._connection.write(f"DROP CONSTRAINT `{name}` IF EXISTS")
        await self._connection.write("DROP CONSTRAINT graphwalk_load_scope IF EXISTS")
        if await self._has_entries():
            await self.prepare()
            await self.forget()

    async def _has_entries(self) -> bool:
        return bool(await self._connection.write("MATCH (l:GraphWalkLoad) RETURN 1 AS there LIMIT 1"))

    async def enter(self, scope: str, run_id: str, digest: str, nodes: int, relationships: int) -> Load:
        """The entry of a graph, made if there was none; ours to load if we are its owner."""
        rows = await self._connection.write(
            "MERGE (l:GraphWalkLoad {scope: $scope}) "
            "ON CREATE SET l += $facts, l.created = timestamp(), l.expires = timestamp() + $lease "
            "RETURN properties(l) AS load, timestamp() AS now",
            scope=scope,
            lease=_milliseconds(LOADING_SECONDS),
            facts=entry(run_id, digest, nodes, relationships, self.owner),
        )
        if (load := _load(rows[0])) is None:
            raise StoreError(
                f"the entry of the graph {scope} in the ledger is damaged",
                hint=f"look at it, and remove it: MATCH (l:GraphWalkLoad {{scope: '{scope}'}}) DELETE l",
            )
        return load

    async def take_over(self, load: Load, state: LoadState) -> bool:
        """Become the owner of an entry whose owner is `load.owner`; False if somebody else was faster."""
        rows = await self._connection.write(
            "MATCH (l:GraphWalkLoad {scope: $scope}) SET l.touched = timestamp() "
            "WITH l WHERE l.owner IN [$owner, $former] "
            "SET l.owner = $owner, l.state = $state, l.step = 0, l.kept = false, l.expires = timestamp() + $lease "
            "RETURN l.owner AS owner",
            scope=load.scope,
            owner=self.owner,
            former=load.owner,
            state=state,
            lease=_milliseconds(LOADING_SECONDS),
        )
        return bool(rows)

    async def step(self, scope: str, number: int, body: str, **parameters: Any) -> None:
        """Run `body`, the part of a load with that number, exactly once, even if the answer to it got lost.

        The entry is locked by the first SET, so that the comparison cannot be overtaken. StoreError if the entry
        went to somebody else, who took us for dead.
        """
        await self._connection.write(
            "MATCH (l:GraphWalkLoad {scope: $scope}) SET l.touched = timestamp() "
            "WITH l WHERE l.owner = $owner AND l.step = $step "
            "SET l.step = $step + 1, l.expires = timestamp() + $lease "
            f"WITH l {body}",
            scope=scope,
            owner=self.owner,
            step=number,
            lease=_milliseconds(LOADING_SECONDS),
            **parameters,
        )

    async def check(self, scope: str, steps: int) -> None:
        """StoreError unless the entry is still ours, after that many steps."""
        rows = await self._connection.write(
            "MATCH (l:GraphWalkLoad {scope: $scope}) RETURN l.owner AS owner, l.step AS step", scope=scope
        )
        if rows != [{"owner": self.owner, "step": steps}]:
            raise StoreError(
                f"another process took over the graph {scope} while it was being loaded", hint="run the command again"
            )

    async def complete(self, scope: str) -> None:
        await self._connection.write(
            "MATCH (l:GraphWalkLoad {scope: $scope, owner: $owner}) "
            "SET l.state = 'complete', l.expires = timestamp() + $lease",
            scope=scope,
            owner=self.owner,
            lease=_milliseconds(LEASE_SECONDS),
        )

    async def renew(self, scopes: list[str]) -> None:
        await self._connection.write(
            "MATCH (l:GraphWalkLoad {owner: $owner, state: 'complete'}) WHERE l.scope IN $scopes "
            "SET l.expires = timestamp() + $lease",
            scopes=scopes,
            owner=self.owner,
            lease=_milliseconds(LEASE_SECONDS),
        )

    async def keep(self, scopes: list[str]) -> None:
        """Leave graphs behind on purpose."""
        await self._connection.write(
            "MATCH (l:GraphWalkLoad {owner: $owner}) WHERE l.scope IN $scopes SET l.kept = true",
            scopes=scopes,
            owner=self.owner,
        )

    async def remove(self, scope: str) -> None:
        await self._connection.write(
            "MATCH (l:GraphWalkLoad {scope: $scope, owner: $owner}) DELETE l", scope=scope, owner=self.owner
        )

    async def loads(self) -> list[Load]:
        """All entries, oldest first."""
        rows = await self._connection.write(
            "MATCH (l:GraphWalkLoad) RETURN properties(l) AS load, timestamp() AS now ORDER BY l.created, l.scope"
        )
        return [load for row in rows if (load := _load(row)) is not None]


def entry(run_id: str, digest: str, nodes: int, relationships: int, owner: str) -> dict[str, str | int]:
    """What an entry says at first, besides `scope` and its times."""
    return {
        "run_id": run_id,
        "digest": digest,
        "nodes": nodes,
        "relationships": relationships,
        "state": "loading",
        "owner": owner,
        "kept": False,
        "step": 0,
    }


def _load(row: dict[str, Any]) -> Load | None:
    """An entry of ours; None for a node that only looks like one, so that nothing is removed because of it."""
    load = row["load"]
    if any(not isinstance(load.get(name), kind) for name, kind in _FIELDS.items()):
        return None
    if not (_SCOPE.fullmatch(load["scope"]) and _OWNER.fullmatch(load["owner"])) or load["state"] not in _STATES:
        return None
    try:
        created = datetime.fromtimestamp(load["created"] / 1000, UTC)
        last = load.get("touched")
        touched = datetime.fromtimestamp(last / 1000, UTC) if isinstance(last, int) else created
    except (OverflowError, ValueError, OSError):
        return None
    expired = load["expires"] < row["now"]
    facts = {name: load[name] for name in ("digest", "nodes", "relationships", "state", "owner", "kept")}
    # It is shown in terminals, which would obey control characters.
    run_id = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in load["run_id"])
    return Load(load["scope"], run_id, **facts, created=created, touched=touched, expired=expired)


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
