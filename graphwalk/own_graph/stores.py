"""Open a graph in any of its forms, to query it, ask about it, or walk it with tools."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from weakref import finalize

from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import validate
from graphwalk.errors import ConfigError
from graphwalk.graphs.files import load_graph
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Row
from graphwalk.runs.background import await_in_background, in_background, run_in_background, start_in_background
from graphwalk.stores.base import GraphStore, open_database
from graphwalk.stores.sources import filtered, open_source
from graphwalk.variables import read_variables

T = TypeVar("T")
AnyGraph = Any
"""A PropertyGraph, a networkx graph, the path of a file, where a graph is (`{"neo4j": "movies"}`), or an open store."""


def as_graph(graph: AnyGraph) -> PropertyGraph:
    """Return a graph in memory, or in a file, as a PropertyGraph. ConfigError for anything else."""
    if isinstance(graph, PropertyGraph):
        return graph
    if isinstance(graph, str) and "://" in graph:
        raise ConfigError(
            f"{graph.partition('://')[0]}://… is the address of a server, not a file",
            hint='set NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD, and pass {"neo4j": "NAME"} of the database',
        )
    if isinstance(graph, str | Path):
        return load_graph(graph)
    if hasattr(graph, "is_multigraph"):
        from graphwalk.graphs.conversion import from_networkx

        return from_networkx(graph)
    raise ConfigError(
        f"{type(graph).__name__} is not a graph",
        hint='pass a PropertyGraph, a networkx graph, a path, {"neo4j": "NAME"}, or a store of open_store',
    )


@asynccontextmanager
async def aopen_store(
    graph: AnyGraph,
    store: str = "embedded",
    *,
    labels: Sequence[str] | None = None,
    relationship_types: Sequence[str] | None = None,
    neo4j_auth: Any = None,
) -> AsyncIterator[GraphStore]:
    """Await `open_store`; use with `async with`, and await `run` and `schema`."""
    variables = replace(read_variables(), neo4j_auth=neo4j_auth)
    filters = {"labels": labels, "relationship_types": relationship_types}
    filters = {name: chosen for name, chosen in filters.items() if chosen is not None}
    async with AsyncExitStack() as stack:
        if isinstance(graph, GraphStore):
            if filters:
                raise ConfigError(
                    f"{', '.join(filters)}: the store is open already", hint="give them where it is opened"
                )
            opened = graph
        elif isinstance(graph, Mapping):
            source = open_source(validate(GraphSource, {**graph, **filters}, "open_store"), variables)
            opened = (await stack.enter_async_context(source)).store
        else:
            loaded = filtered(await asyncio.to_thread(as_graph, graph), labels, relationship_types)
            database = await open_database(store, variables, run_id=secrets.token_hex(4))
            stack.push_async_callback(database.close)
            opened = await database.load(loaded)
            stack.push_async_callback(opened.drop)
        yield opened


class Store(AbstractContextManager["Store", None]):
    """A graph in a store; close it, or use it in a `with`: the graph is then removed from the database."""

    def __init__(self, opened: AbstractAsyncContextManager[GraphStore]) -> None:
        stack = AsyncExitStack()
        self._store = run_in_background(stack.enter_async_context(opened))
        self._end = finalize(self, _end, stack)  # at the latest when the program ends
        self.close_first = stack.push_async_callback

    @property
    def inner(self) -> GraphStore:
        """The store itself, for work in the background loop that it lives in."""
        return self._store

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, done in that loop. The bound method keeps the store open."""
        return run_in_background(work)

    async def await_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Await a coroutine in the loop of the store."""
        return await await_in_background(work)

    def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Return the rows of a read-only query as dictionaries. Raise StoreError if the store refuses it or times out.

        In a Neo4j with several graphs, write nodes as `(n{{ any_node }})` to query this graph only.
        """
        return run_in_background(self._store.run(self._store.render(cypher, {}), parameters))

    def schema(self, samples: int = 0) -> Schema:
        """Return labels, relationship types and properties, with up to `samples` values of each property."""
        return run_in_background(self._store.schema(samples))

    def close(self) -> None:
        """Remove the graph from the database and give back the connection."""
        self._end()

    def __exit__(self, *error: object) -> None:
        self.close()


def _end(opened: AsyncExitStack) -> None:
    closing = start_in_background(opened.aclose())
    if not in_background():  # the garbage collector runs in any thread, in that of the event loop too
        closing.result()


async def graph_in_memory(graph: AnyGraph) -> PropertyGraph:
    """Return a graph in any of its forms as a PropertyGraph. Raise ConfigError or StoreError."""
    if isinstance(graph, Store):
        return await graph.await_for(graph_in_memory(graph.inner))
    if not isinstance(graph, GraphStore | Mapping):
        return await asyncio.to_thread(as_graph, graph)
    async with aopen_store(graph) as opened:
        return opened.graph or await opened.read_graph()


def open_store(
    graph: AnyGraph,
    store: str = "embedded",
    *,
    labels: Sequence[str] | None = None,
    relationship_types: Sequence[str] | None = None,
    neo4j_auth: Any = None,
) -> Store:
    """Open a graph to query it, ask about it, or walk it with tools.

        open_store(graph)                       a PropertyGraph, or a graph of networkx
        open_store("movies.graphml")            a file
        open_store({"neo4j": "movies"})         an existing Neo4j database, read-only
        open_store(store)                       itself, if it is open already

    `store`: where a graph or file is loaded, "embedded" (this process) or "neo4j" (NEO4J_URI, or the server of
    `graphwalk db up`). `labels` and `relationship_types`: keep only nodes with one of these labels, and relationships
    of these types (None: all). `neo4j_auth`: an auth object of the Neo4j driver instead of NEO4J_USERNAME and
    NEO4J_PASSWORD, for example `neo4j.bearer_auth(token)`.

    Raise ConfigError for an unknown store or invalid file, StoreError if the store cannot be reached.
    """
    if isinstance(graph, Store):
        if labels is not None or relationship_types is not None:
            raise ConfigError("the store is open already", hint="give labels and relationship_types where it is opened")
        return graph
    opened = aopen_store(graph, store, labels=labels, relationship_types=relationship_types, neo4j_auth=neo4j_auth)
    return Store(opened)
