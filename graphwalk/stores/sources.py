"""Somebody's own graph, opened to be walked: a file on the embedded engine, or a Neo4j as it stands."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from graphwalk.config.graph_source import GraphSource
from graphwalk.environment import Environment
from graphwalk.graphs.files.formats import load_graph
from graphwalk.stores.neo4j.store import Neo4jDatabase
from graphwalk.stores.registry import open_database
from graphwalk.stores.store import GraphStore
from graphwalk.types.graph import PropertyGraph

_WAIT_SECONDS = 10.0
"""A person is waiting: if the database is not there, they should hear it soon."""


@dataclass(frozen=True, slots=True)
class OpenedGraph:
    """A graph to walk. `graph` is its content where that was read; a Neo4j is asked, not copied."""

    name: str
    store: GraphStore
    graph: PropertyGraph | None


@asynccontextmanager
async def open_source(
    source: GraphSource, environment: Environment, *, timeout_seconds: float = 30.0
) -> AsyncIterator[OpenedGraph]:
    """The graph, as long as the block runs. ConfigError for a file that cannot be read; StoreError from a database."""
    if source.loaded is not None:
        neo4j = await Neo4jDatabase.open(
            environment, run_id=secrets.token_hex(4), timeout_seconds=timeout_seconds, wait_seconds=_WAIT_SECONDS
        )
        try:
            yield OpenedGraph(source.name, await neo4j.loaded(source.loaded), None)
        finally:
            await neo4j.close()
        return
    assert source.file is not None
    graph = await asyncio.to_thread(load_graph, source.file)
    database = await open_database(
        "embedded", environment, run_id=secrets.token_hex(4), timeout_seconds=timeout_seconds
    )
    try:
        yield OpenedGraph(source.name, await database.load(graph), graph)
    finally:
        await database.close()
