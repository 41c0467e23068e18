"""Somebody's own graph as a whole, in memory: what questions are drawn from, and what twins are made of."""

import asyncio
import secrets

from graphwalk.config.graph_source import GraphSource, check_filter
from graphwalk.environment import Environment
from graphwalk.graphs.files.formats import load_graph
from graphwalk.stores.whole import read_whole as read_store
from graphwalk.types.graph import PropertyGraph

_WAIT_SECONDS = 300.0
"""Runs read databases too, and wait as long for one that stops answering."""


async def read_source(source: GraphSource, environment: Environment) -> PropertyGraph:
    """The content of a file or of a database, of which only what the filters keep; a database is only read.

    ConfigError for a file that cannot be read, and for a filter that names what is not there; StoreError where the
    database cannot be reached.
    """
    if source.file is not None:
        return await asyncio.to_thread(read_file, source)
    if source.loaded is not None:
        return await _read_loaded(source, environment)
    # The driver takes a fifth of a second to import, which a file does not need.
    from graphwalk.stores.neo4j.reading import read_whole
    from graphwalk.stores.neo4j.standing import StandingStore

    store = await StandingStore.open(source, environment, wait_seconds=_WAIT_SECONDS)
    try:
        return await read_whole(store.connection, source.labels, source.relationship_types)
    finally:
        await store.close()


async def _read_loaded(source: GraphSource, environment: Environment) -> PropertyGraph:
    """What `db load` put into Neo4j."""
    from graphwalk.stores.neo4j.store import Neo4jDatabase

    database = await Neo4jDatabase.open(environment, run_id=secrets.token_hex(4), wait_seconds=_WAIT_SECONDS)
    try:
        return _filtered(await read_store(await database.loaded(str(source.loaded))), source)
    finally:
        await database.close()


def read_file(source: GraphSource) -> PropertyGraph:
    """The content of `source.file`, of which only what the filters keep."""
    assert source.file is not None
    return _filtered(load_graph(source.file), source)


def _filtered(graph: PropertyGraph, source: GraphSource) -> PropertyGraph:
    if source.labels is None and source.relationship_types is None:
        return graph
    nodes = [n for n in graph.nodes() if source.labels is None or not set(n.labels).isdisjoint(source.labels)]
    keys = {node.key for node in nodes}
    types = source.relationship_types
    check_filter("label", source.labels, (label for table in graph.node_tables for label in table.labels))
    check_filter("relationship type", types, (table.type for table in graph.relationship_tables))
    return PropertyGraph.from_rows(
        nodes,
        (r for r in graph.relationships() if {r.source, r.target} <= keys and (types is None or r.type in types)),
    )
