"""Open your own graph as a store, or read it into memory: a file, an existing database, or a loaded graph."""

import asyncio
import secrets
import warnings
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from graphwalk.config.graph_source import GraphSource, check_filter
from graphwalk.errors import ConfigError, manual
from graphwalk.graphs.files import load_graph
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.sanitise import one_line
from graphwalk.stores.base import GraphStore, open_database
from graphwalk.stores.loading import changed_names, with_safe_names
from graphwalk.variables import Variables

QUERY_SECONDS = 30.0
"""Limit of a query, unless an experiment has another one (limits.store_seconds)."""


class OpenedGraph(NamedTuple):
    """A graph to walk; `graph`: its content, None if it is queried in Neo4j."""

    name: str
    store: GraphStore
    graph: PropertyGraph | None


@asynccontextmanager
async def open_source(
    source: GraphSource,
    variables: Variables,
    *,
    timeout_seconds: float = QUERY_SECONDS,
) -> AsyncIterator[OpenedGraph]:
    """Open a graph while the block runs. A filtered loaded graph is copied onto the embedded engine.

    Raise ConfigError for a file that cannot be read and a filter with an unknown name; StoreError from a database.
    """
    filtered = source.labels is not None or source.relationship_types is not None
    if source.file is None and not (source.loaded is not None and filtered):
        async with _in_neo4j(source, variables, timeout_seconds) as store:
            yield OpenedGraph(source.name, store, None)
        return
    graph = await read_source(source, variables)
    async with await open_database("embedded", variables, run_id=secrets.token_hex(4)) as database:
        yield OpenedGraph(source.name, await database.load(graph), graph)


@asynccontextmanager
async def _in_neo4j(source: GraphSource, variables: Variables, timeout_seconds: float) -> AsyncIterator[GraphStore]:
    """Open an existing database, or a graph of `db load`, read-only."""
    # The driver takes a fifth of a second to import, which a file does not need.
    from graphwalk.stores.neo4j.existing import ExistingStore
    from graphwalk.stores.neo4j.loaded import Neo4jDatabase

    if source.loaded is None:
        async with await ExistingStore.open(source, variables, timeout_seconds=timeout_seconds) as store:
            yield store
        return
    run_id = secrets.token_hex(4)
    async with await Neo4jDatabase.open(variables, run_id=run_id, timeout_seconds=timeout_seconds) as database:
        yield await database.loaded(source.loaded)


async def read_source(source: GraphSource, variables: Variables) -> PropertyGraph:
    """Return the filtered content of a file or a database, which is only read.

    Raise ConfigError for a file that cannot be read and a filter with an unknown name; StoreError if the database
    cannot be reached.
    """
    if source.file is not None:
        return await asyncio.to_thread(read_file, source)
    async with _in_neo4j(source, variables, QUERY_SECONDS) as store:
        graph = await store.read_graph()
        return (
            graph if source.loaded is None else filtered(graph, source.labels, source.relationship_types)
        )  # an existing one is filtered by queries


def read_file(source: GraphSource) -> PropertyGraph:
    """Return the filtered content of `source.file` under safe names (`graphwalk.stores.loading`); warn about others."""
    assert source.file is not None
    graph = load_graph(source.file, source)
    if not graph.node_count:
        raise ConfigError(f"{source.file}: the graph has no nodes", hint=f"{manual('experiments')} shows the formats")
    graph = filtered(graph, source.labels, source.relationship_types)
    names = changed_names(graph)
    if any(names):
        changes = sorted(pair for changed in names for pair in changed.items())
        listed = ", ".join(f"{one_line(name)} → {safe}" for name, safe in changes)
        warnings.warn(f"{source.file.name}: names in queries: {listed}", stacklevel=2)
    return with_safe_names(graph)


def filtered(graph: PropertyGraph, labels: Sequence[str] | None, types: Sequence[str] | None) -> PropertyGraph:
    """Return a graph with the nodes of these labels and the relationships of these types; None: all.

    Raise ConfigError for a name that the graph does not have.
    """
    if labels is None and types is None:
        return graph
    check_filter("label", labels, (label for table in graph.node_tables for label in table.labels))
    check_filter("relationship type", types, (table.type for table in graph.relationship_tables))
    nodes = [node for node in graph.nodes() if labels is None or not set(node.labels).isdisjoint(labels)]
    keys = {node.key for node in nodes}
    links = (r for r in graph.relationships() if {r.source, r.target} <= keys and (types is None or r.type in types))
    return PropertyGraph.from_rows(nodes, links)
