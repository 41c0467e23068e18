"""Somebody's own graph as a whole, in memory: what questions are drawn from, and what twins are made of."""

import asyncio

from graphwalk.config.graph_source import GraphSource
from graphwalk.environment import Environment
from graphwalk.graphs.files.formats import load_graph
from graphwalk.types.graph import PropertyGraph


async def read_source(source: GraphSource, environment: Environment) -> PropertyGraph:
    """The content of a file or of a database, of which only what the filters keep; a database is only read.

    ConfigError for a file that cannot be read; StoreError where the database cannot be reached.
    """
    if source.file is not None:
        return await asyncio.to_thread(read_file, source)
    # The driver takes a fifth of a second to import, which a file does not need.
    from graphwalk.stores.neo4j.reading import read_whole
    from graphwalk.stores.neo4j.standing import StandingStore

    store = await StandingStore.open(source, environment)
    try:
        return await read_whole(store.connection, source.labels, source.relationship_types)
    finally:
        await store.close()


def read_file(source: GraphSource) -> PropertyGraph:
    """The content of `source.file`, of which only what the filters keep."""
    assert source.file is not None
    graph = load_graph(source.file)
    if source.labels is None and source.relationship_types is None:
        return graph
    nodes = [n for n in graph.nodes() if source.labels is None or not set(n.labels).isdisjoint(source.labels)]
    keys = {node.key for node in nodes}
    types = source.relationship_types
    return PropertyGraph.from_rows(
        nodes,
        (r for r in graph.relationships() if {r.source, r.target} <= keys and (types is None or r.type in types)),
    )
