"""Somebody's own graph, opened to be walked: a file on the embedded engine, or in a Neo4j."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from graphwalk.config.graph_source import GraphSource
from graphwalk.environment import Environment
from graphwalk.stores.reading_out import read_source
from graphwalk.stores.registry import open_database
from graphwalk.stores.store import GraphStore
from graphwalk.types.graph import PropertyGraph

WAIT_SECONDS = 10.0
"""A person is waiting: if the database is not there, they should hear it soon."""


@dataclass(frozen=True, slots=True)
class OpenedGraph:
    """A graph to walk. `graph` is its content where that was read; a Neo4j is asked, not copied."""

    name: str
    store: GraphStore
    graph: PropertyGraph | None


@asynccontextmanager
async def open_source(
    source: GraphSource,
    environment: Environment,
    *,
    timeout_seconds: float = 30.0,
    wait_seconds: float = WAIT_SECONDS,
) -> AsyncIterator[OpenedGraph]:
    """The graph, as long as the block runs. A part of a loaded graph is copied onto the embedded engine.

    ConfigError for a file that cannot be read, and for a filter that names what is not there; StoreError from a
    database.
    """
    filtered = source.labels is not None or source.relationship_types is not None
    if source.file is None and not (source.loaded is not None and filtered):
        in_neo4j = _standing if source.loaded is None else _loaded
        async with in_neo4j(source, environment, timeout_seconds, wait_seconds) as store:
            yield OpenedGraph(source.name, store, None)
        return
    graph = await read_source(source, environment)
    database = await open_database(
        "embedded", environment, run_id=secrets.token_hex(4), timeout_seconds=timeout_seconds
    )
    try:
        yield OpenedGraph(source.name, await database.load(graph), graph)
    finally:
        await database.close()


@asynccontextmanager
async def _standing(
    source: GraphSource, environment: Environment, timeout_seconds: float, wait_seconds: float
) -> AsyncIterator[GraphStore]:
    # The driver takes a fifth of a second to import, which a file does not need.
    from graphwalk.stores.neo4j.standing import StandingStore

    store = await StandingStore.open(source, environment, timeout_seconds=timeout_seconds, wait_seconds=wait_seconds)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def _loaded(
    source: GraphSource, environment: Environment, timeout_seconds: float, wait_seconds: float
) -> AsyncIterator[GraphStore]:
    """A graph that `db load` left there; it stays."""
    from graphwalk.stores.neo4j.store import Neo4jDatabase

    database = await Neo4jDatabase.open(
        environment, run_id=secrets.token_hex(4), timeout_seconds=timeout_seconds, wait_seconds=wait_seconds
    )
    try:
        yield await database.loaded(str(source.loaded))
    finally:
        await database.close()
