"""Load graphs into Neo4j, list them and remove them (`graphwalk db load | status | clean`)."""

from dataclasses import dataclass

from graphwalk.stores.cypher import NO_LABEL, quote
from graphwalk.stores.health import WAIT_SECONDS
from graphwalk.stores.neo4j.admin import BY_HAND, Load, Loads
from graphwalk.stores.neo4j.connection import connect
from graphwalk.stores.neo4j.loaded import Neo4jDatabase
from graphwalk.types.graph import PropertyGraph, is_reserved
from graphwalk.variables import Variables


async def load(variables: Variables, graph: PropertyGraph) -> Load:
    """Load a graph into Neo4j, keep it until `clean(kept=True)`, and return its entry."""
    async with await _open(variables) as database:
        store = await database.load(graph)
        return next(load for load in await database.loads() if load.scope == store.scope)


async def loaded_last(variables: Variables) -> Load | None:
    """Return the last graph of `graphwalk db load` that is still there."""
    loads = [load for load in await list_loads(variables) if load.run_id == BY_HAND and load.state == "complete"]
    return max(loads, key=lambda load: load.heartbeat, default=None)


async def list_loads(variables: Variables) -> list[Load]:
    """Return the loaded graphs of all runs, oldest first."""
    async with await _open(variables) as database:
        return await database.loads()


@dataclass(frozen=True)
class Contents:
    """The loaded graphs of the database in use, oldest first, and the number of nodes that GraphWalk did not create."""

    place: str
    database: str
    loads: list[Load]
    other_nodes: int


async def contents(variables: Variables) -> Contents:
    """Return what the Neo4j in use contains, from its statistics. Raise StoreError if it cannot be reached."""
    async with await connect(variables, wait_seconds=WAIT_SECONDS) as connection:
        loads = await Loads(connection).all()
        [[name]] = await connection.rows("CALL db.info() YIELD name")
        labels = [row[0] for row in await connection.rows("CALL db.labels() YIELD label RETURN label")]
        # Every node of ours has exactly one of these.
        own = [quote(label) for label in labels if is_reserved(label) and label != NO_LABEL]
        counts = [f"COUNT {{ (:{label}) }}" for label in own]
        [[number]] = await connection.rows(f"RETURN {' - '.join(['COUNT { () }', *counts])}")
        return Contents(connection.place, name, loads, number)


async def clean(variables: Variables, *, kept: bool = False) -> list[Load]:
    """Remove graphs of killed runs, with `kept` also of finished ones; return the removed entries."""
    async with await _open(variables) as database:
        return await database.clean(kept=kept)


async def _open(variables: Variables) -> Neo4jDatabase:
    return await Neo4jDatabase.open(variables, run_id=BY_HAND, wait_seconds=WAIT_SECONDS)
