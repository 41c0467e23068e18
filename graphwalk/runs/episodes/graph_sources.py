"""The graph sources of a run: graphs that it loads, and existing databases."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial

from graphwalk.runs.episodes.resolve import Experiment
from graphwalk.stores.base import Database, GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.registry import open_database, queries_in_place
from graphwalk.stores.sources import QUERY_SECONDS, open_source, read_source
from graphwalk.suites.loaded_graph import GraphInstance
from graphwalk.variables import Variables


def sources_for(experiment: Experiment, run_id: str) -> "GraphSources":
    """Return the graph sources of an experiment, in the store that it names."""
    config, variables, limits = experiment.config, experiment.variables, experiment.config.limits
    open_once = partial(
        open_database,
        config.store,
        variables,
        run_id=run_id,
        timeout_seconds=limits.store_seconds,
    )
    in_place = variables if queries_in_place(config.store) else None
    return GraphSources(open_once, in_place, limits.store_seconds)


@dataclass
class GraphSources:
    """The database of a run, opened when the first graph is loaded, and existing databases."""

    open_database: Callable[[], Awaitable[Database]] | None = None
    """Opens the database of loaded graphs; None: the embedded engine."""
    variables: Variables | None = None
    """Those of existing databases; None: load copies of them."""
    timeout_seconds: float = QUERY_SECONDS
    """Limit of a query of an existing database."""
    half_loaded: bool = False
    """True while a graph is loaded into the database, and after a load that was interrupted."""
    _database: Database | None = None
    _memory: EmbeddedDatabase = field(default_factory=EmbeddedDatabase)
    _existing: list[GraphInstance] = field(default_factory=list)
    _loaded: list[GraphStore] = field(default_factory=list)
    _opened: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def store_of(self, instance: GraphInstance) -> GraphStore | None:
        """Return the store of a graph; None for an instance without one. StoreError if it cannot be reached."""
        if instance.graph is None:
            return None
        if instance.existing_database is not None and self.variables is not None:
            source = open_source(instance.existing_database, self.variables, timeout_seconds=self.timeout_seconds)
            opened = await self._opened.enter_async_context(source)
            self._existing.append(instance)
            return opened.store
        if self.open_database is None or (instance.in_memory and self.variables is not None):
            return await self._memory.load(instance.graph)
        if self._database is None:
            self._database = await self.open_database()
        self.half_loaded = not isinstance(self._database, EmbeddedDatabase)
        self._loaded.append(await self._database.load(instance.graph))
        self.half_loaded = False
        return self._loaded[-1]

    async def drop_graphs(self) -> None:
        """Remove the loaded graphs from the database. What was loaded by half is left for `graphwalk db clean`."""
        for store in self._loaded:
            await store.drop()

    async def changed(self) -> list[str]:
        """Return the names of existing databases whose content has changed. StoreError if one cannot be reached."""
        names = []
        for instance in list(self._existing):
            assert instance.existing_database is not None
            assert self.variables is not None
            if (await read_source(instance.existing_database, self.variables)).digest != instance.digest:
                names.append(instance.existing_database.name)
        return names

    async def __aenter__(self) -> "GraphSources":
        return self

    async def __aexit__(self, *error: object) -> None:
        """Drop the loaded graphs, and close the connections."""
        try:
            await self.drop_graphs()
        finally:
            await self.close()

    async def close(self) -> None:
        """Close the connections. What was loaded stays."""
        try:
            await self._opened.aclose()
            await self._memory.close()
        finally:
            if self._database is not None:
                await self._database.close()
