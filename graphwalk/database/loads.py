"""`graphwalk db load | clean`: the graphs that GraphWalk keeps in a Neo4j."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graphwalk.settings import Settings
from graphwalk.stores.neo4j.admin import BY_HAND, Load
from graphwalk.stores.neo4j.loaded import Neo4jDatabase
from graphwalk.types.graph import PropertyGraph

_WAIT_SECONDS = 10.0
"""A person is waiting: if the database is not there, they should hear it soon."""


async def load(settings: Settings, graph: PropertyGraph, *, run_id: str = BY_HAND) -> Load:
    """Put a graph into Neo4j and keep it there until `clean(kept=True)`. Return its entry."""
    async with _opened(settings, run_id) as database:
        store = await database.load(graph)
        return next(load for load in await database.loads() if load.scope == store.scope)


async def loaded_last(settings: Settings) -> Load | None:
    """The graph that a person loaded last and that is still there."""
    loads = [load for load in await list_loads(settings) if load.run_id == BY_HAND and load.state == "complete"]
    return max(loads, key=lambda load: load.heartbeat, default=None)


async def list_loads(settings: Settings) -> list[Load]:
    """The graphs of all runs in that Neo4j, oldest first."""
    async with _opened(settings, BY_HAND) as database:
        return await database.loads()


async def clean(settings: Settings, *, kept: bool = False) -> list[Load]:
    """Remove what killed runs left, with `kept` also what finished runs left on purpose; what was removed."""
    async with _opened(settings, BY_HAND) as database:
        return await database.clean(kept=kept)


@asynccontextmanager
async def _opened(settings: Settings, run_id: str) -> AsyncIterator[Neo4jDatabase]:
    database = await Neo4jDatabase.open(settings, run_id=run_id, wait_seconds=_WAIT_SECONDS)
    try:
        yield database
    finally:
        await database.close()
