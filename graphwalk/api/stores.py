"""A graph in a store, to be asked in Cypher."""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any

from graphwalk.asynchronous import run_in_background
from graphwalk.environment import read_environment
from graphwalk.stores.registry import open_database
from graphwalk.stores.store import GraphStore
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


@asynccontextmanager
async def aopen_store(graph: PropertyGraph, store: str = "embedded") -> AsyncIterator[GraphStore]:
    """`open_store`, for `async with`: its methods `run` and `schema` are awaited."""
    database = await open_database(store, read_environment(), run_id=secrets.token_hex(4))
    try:
        loaded = await database.load(graph)
        try:
            yield loaded
        finally:
            await loaded.drop()
    finally:
        await database.close()


class Store:
    """A graph in a store; close it, or use it in a `with`: the graph is then removed from the database."""

    def __init__(self, opened: AbstractAsyncContextManager[GraphStore]) -> None:
        self._opened = opened
        self._store = run_in_background(opened.__aenter__())

    @property
    def kind(self) -> str:
        """ "embedded", "neo4j", …"""
        return self._store.kind

    def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Rows of a read-only query, as dictionaries. StoreError if the store refuses, or takes too long.

        In a Neo4j that holds several graphs write nodes as `(n{{ any_node }})`, to stay in this one.
        """
        return run_in_background(self._store.run(self._store.render(cypher, {}), parameters))

    def schema(self, samples: int = 0) -> Schema:
        """Labels, relationship types and properties, with up to `samples` values of each property."""
        return run_in_background(self._store.schema(samples))

    def close(self) -> None:
        """Remove the graph from the database and give back the connection."""
        run_in_background(self._end())

    async def _end(self) -> None:
        await self._opened.__aexit__(None, None, None)

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(graph: PropertyGraph, store: str = "embedded") -> Store:
    """Load a graph into a store: "embedded" (in this process), "neo4j" (NEO4J_URI, or what `graphwalk db up` started).

    ConfigError for an unknown store, StoreError where it cannot be reached.
    """
    return Store(aopen_store(graph, store))
