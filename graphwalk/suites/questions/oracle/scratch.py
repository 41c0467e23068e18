"""The embedded engine beside the store of a run: to look at a graph while questions about it are drawn."""

from collections.abc import Awaitable, Callable

from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.store import GraphStore
from graphwalk.types.graph import PropertyGraph

LoadGraph = Callable[[PropertyGraph], Awaitable[GraphStore]]
"""Puts a graph into a database: the `load` of a Database."""


class Scratch:
    """One graph on the embedded engine, loaded when it is first asked for; `load` takes other graphs too."""

    def __init__(self, graph: PropertyGraph, store: GraphStore, load: LoadGraph | None = None) -> None:
        """`store` holds the graph already, and is taken where it is the embedded engine."""
        self.load = load or EmbeddedDatabase().load
        self._graph = graph
        self._store = store if store.kind == EmbeddedDatabase.kind else None

    async def store(self) -> GraphStore:
        if self._store is None:
            self._store = await self.load(self._graph)
        return self._store
