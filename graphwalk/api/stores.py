"""A graph in a store, to be queried and walked."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from graphwalk.asynchronous import run_in_background
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.yaml_files import validate
from graphwalk.environment import read_environment
from graphwalk.graphs.files.formats import load_graph
from graphwalk.stores.registry import open_database
from graphwalk.stores.sources import open_source
from graphwalk.stores.store import GraphStore
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

AnyGraph = PropertyGraph | Path | str | Mapping[str, Any]
"""A graph, the path of a file, or where a graph is: `{"neo4j": "movies"}`, `{"file": "movies.graphml"}`."""


@asynccontextmanager
async def aopen_store(graph: AnyGraph, store: str = "embedded") -> AsyncIterator[GraphStore]:
    """`open_store`, for `async with`: its methods `run` and `schema` are awaited."""
    environment = read_environment()
    if isinstance(graph, Mapping):
        async with open_source(validate(GraphSource, dict(graph), "open_store"), environment) as opened:
            yield opened.store
        return
    read = graph if isinstance(graph, PropertyGraph) else await asyncio.to_thread(load_graph, graph)
    database = await open_database(store, environment, run_id=secrets.token_hex(4))
    try:
        loaded = await database.load(read)
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
    def inner(self) -> GraphStore:
        """The store itself, for work in the background loop that it lives in."""
        return self._store

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


def open_store(graph: AnyGraph, store: str = "embedded") -> Store:
    """Open a graph to query it, ask about it, or walk it with tools.

        open_store(graph)                       a graph of `generate_graph`, `read_graph`, `from_networkx`
        open_store("movies.graphml")            a file
        open_store({"neo4j": "movies"})         a database of your Neo4j as it stands, which is only read

    A graph and a file are loaded into `store`: "embedded" (in this process), "neo4j" (NEO4J_URI, or what `graphwalk db
    up` started). ConfigError for an unknown store or a file that cannot be read, StoreError where a store cannot be
    reached.
    """
    return Store(aopen_store(graph, store))
