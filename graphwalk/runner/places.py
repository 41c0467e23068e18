"""Where the graphs of a run are walked: loaded into its database, or in a Neo4j as they stand."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from graphwalk.environment import Environment
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.outage import Gate, Waits
from graphwalk.stores.reading_out import read_source
from graphwalk.stores.sources import WAIT_SECONDS, open_source
from graphwalk.stores.store import Database, GraphStore
from graphwalk.suites.suite import World

OpenOnce = Callable[[], Awaitable[Database]]


class Places:
    """The database of a run, opened when the first graph is loaded, and the databases that are walked as they stand."""

    def __init__(
        self, open_database: OpenOnce, environment: Environment | None = None, gate: Gate | None = None
    ) -> None:
        """`environment`: of a run whose store is Neo4j, so that what stands in one is walked there; None: a copy is.

        Queries wait at the `gate` while a database is away; None: at one of each database's own.
        """
        self._open_database = open_database
        self._environment = environment
        self._gate = gate
        self._database: Database | None = None
        self._memory = EmbeddedDatabase()
        self._standing: list[World] = []
        self._opened = AsyncExitStack()

    async def store_of(self, world: World) -> GraphStore | None:
        """The graph of a world, ready to be walked; None where it has none. StoreError where it cannot be reached."""
        if world.graph is None:
            return None
        if world.standing is not None and self._environment is not None:
            wait_seconds = WAIT_SECONDS if self._gate is None else self._gate.seconds
            source = open_source(world.standing, self._environment, wait_seconds=wait_seconds)
            opened = await self._opened.enter_async_context(source)
            self._wait(opened.store, world.digest)
            self._standing.append(world)
            return opened.store
        if world.in_memory and self._environment is not None:
            return await self._memory.load(world.graph)
        if self._database is None:
            self._database = await self._open_database()
            self._wait(self._database)
        return await self._database.load(world.graph)

    def _wait(self, opened: Database | GraphStore, digest: str | None = None) -> None:
        if self._gate is not None and isinstance(opened, Waits):
            opened.wait_at(self._gate, digest)

    @property
    def used(self) -> bool:
        """True where graphs were loaded into the run's own database."""
        return self._database is not None

    async def changed(self) -> list[str]:
        """The names of the databases walked as they stand whose content is another one now. StoreError as above."""
        names = []
        for world in list(self._standing):
            assert world.standing is not None
            assert self._environment is not None
            if (await read_source(world.standing, self._environment)).digest != world.digest:
                names.append(world.standing.name)
        return names

    async def close(self) -> None:
        """Close the connections. What was loaded stays."""
        try:
            await self._opened.aclose()
            await self._memory.close()
        finally:
            if self._database is not None:
                await self._database.close()
