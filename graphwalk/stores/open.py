"""The one way to open a graph, whatever form it has: an object in memory, a file, a database, an open store.

    async with OpenGraphs(variables, "neo4j") as graphs:
        store = await graphs.open("movies.graphml")

`OpenGraphs` opens one graph or many, and closes all of them at its end. `open_store` and `aopen_store` are it for one
graph, for users. `graph_in_memory` only reads the content.
"""

import asyncio
import logging
import secrets
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar
from weakref import finalize

from graphwalk.background import await_in_background, in_background, run_in_background, start_in_background
from graphwalk.config.graph_source import GraphSource, check_filter
from graphwalk.config.strict import validate
from graphwalk.errors import ConfigError, StoreError, manual
from graphwalk.graphs.files import load_graph
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Row
from graphwalk.sanitise import one_line
from graphwalk.stores.base import Database, GraphStore, open_database
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.loading import changed_names, renamed
from graphwalk.variables import Variables, read_variables

T = TypeVar("T")
_LOGGER = logging.getLogger("graphwalk")
QUERY_SECONDS = 30.0
"""Limit of a query, unless an experiment has another one (limits.store_seconds)."""
_CLEAN_UP_SECONDS = 2.0
"""Longest wait of an interrupted run for the database to drop its graphs and to close."""


class NetworkxGraph(Protocol):
    """A graph of networkx, by what distinguishes it from other objects."""

    def is_multigraph(self) -> bool: ...
    def is_directed(self) -> bool: ...


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


GraphContent: TypeAlias = PropertyGraph | NetworkxGraph | str | Path
"""A graph in memory, or in a file or folder of CSV files at a path; "example" is the one that ships."""
UnopenedGraph: TypeAlias = GraphContent | Mapping[str, Any] | GraphSource | GraphStore
"""Content, where a graph is (`{"neo4j": "movies"}`, `{"file": "movies.csv", "null": ["NA"]}`), or an open store."""
AnyGraph: TypeAlias = UnopenedGraph | Store
"""Any form of a graph, that of `open_store` among them."""


class OpenGraphs(AsyncExitStack):
    """Graphs in their stores, which are closed at the end.

    `kind` names the store of content: "embedded", "neo4j", or one of another package. It is opened when the first graph
    is loaded; `database` is one that is open already. Queries end after `timeout_seconds`. Graphs of different
    `run_id`s are kept apart in a server. `note` gets a message if graphs are left there.
    """

    def __init__(
        self,
        variables: Variables,
        kind: str = "embedded",
        *,
        database: Database | None = None,
        run_id: str | None = None,
        timeout_seconds: float = QUERY_SECONDS,
        note: Callable[[str], object] = _LOGGER.warning,
    ) -> None:
        super().__init__()
        self._variables, self._kind = variables, kind
        self._database = database
        self._run_id = run_id or secrets.token_hex(4)
        self._timeout_seconds = timeout_seconds
        self._note = note
        self._memory = EmbeddedDatabase(timeout_seconds=timeout_seconds)
        self._loaded: list[GraphStore] = []
        self._is_half_loaded = False

    async def open(self, graph: UnopenedGraph) -> GraphStore:
        """Return the store of a graph: content is loaded, a graph in a database is queried there, an open store stays.

        Raise ConfigError for an unknown store, a file that cannot be read, or a filter with an unknown name; StoreError
        if a database cannot be reached.
        """
        if isinstance(graph, GraphStore):
            return graph
        if isinstance(graph, Mapping):
            graph = source_of(graph)
        if isinstance(graph, GraphSource) and _is_queried_in_place(graph):
            return await self.enter_async_context(_in_neo4j(graph, self._variables, self._timeout_seconds))
        return await self.load(await graph_in_memory(graph, self._variables))

    async def load(self, graph: PropertyGraph, *, in_this_process: bool = False) -> GraphStore:
        """Load a graph into the store of this kind, or into the embedded engine. Raise like `open`."""
        if in_this_process:
            return await self._memory.load(graph)
        if self._database is None and self._kind == EmbeddedDatabase.kind:
            self._database = self._memory
        if self._database is None:
            self._database = await open_database(
                self._kind, self._variables, run_id=self._run_id, timeout_seconds=self._timeout_seconds
            )
        self._is_half_loaded = not isinstance(self._database, EmbeddedDatabase)
        store = await self._database.load(graph)
        self._is_half_loaded = False
        self._loaded.append(store)
        return store

    async def __aexit__(self, *error: Any) -> None:
        """Drop the loaded graphs and close the connections; of an interrupted run within seconds."""
        task = asyncio.current_task()
        is_interrupted = task is not None and task.cancelling() > 0
        try:
            async with asyncio.timeout(_CLEAN_UP_SECONDS if is_interrupted else None):
                await self._close(error)
            if self._is_half_loaded:
                raise StoreError("a load was interrupted")
        except (StoreError, TimeoutError) as failure:
            cause = (str(failure) or "time out").splitlines()[0]
            self._note(f"graphs may be left in the database ({cause}); to remove them: graphwalk db clean")

    async def _close(self, error: Any) -> None:
        try:
            for store in self._loaded:
                await store.drop()
        finally:
            await super().__aexit__(*error)
            await self._memory.close()
            if self._database is not None and self._database is not self._memory:
                await self._database.close()


def _is_queried_in_place(source: GraphSource) -> bool:
    """Tell whether a graph stays in its database: a part of a loaded one is a copy, an existing one is filtered."""
    if source.file is not None:
        return False
    return source.loaded is None or not _has_filter(source)


def _has_filter(source: GraphSource) -> bool:
    return source.labels is not None or source.relationship_types is not None


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


# --- the content of a graph ---


async def graph_in_memory(graph: AnyGraph, variables: Variables | None = None) -> PropertyGraph:
    """Return a graph in any of its forms as a PropertyGraph. `variables`: of databases; None: those of the process.

    Raise ConfigError for a file that cannot be read and a filter with an unknown name; StoreError if a database cannot
    be reached.
    """
    if isinstance(graph, Store):
        return await graph.await_for(graph_in_memory(graph.inner))
    if isinstance(graph, GraphStore):
        return graph.graph or await graph.read_graph()
    if isinstance(graph, Mapping):
        graph = source_of(graph)
    if not isinstance(graph, GraphSource):
        return await asyncio.to_thread(_read_content, graph)
    if graph.file is not None:
        return await asyncio.to_thread(read_file, graph)
    async with _in_neo4j(graph, variables or read_variables(), QUERY_SECONDS) as store:
        whole = await store.read_graph()
    if graph.loaded is None:  # an existing database is filtered by its queries
        return whole
    return filtered(whole, graph.labels, graph.relationship_types)


def source_of(fields: Mapping[str, Any]) -> GraphSource:
    """Return where a graph is: `{"neo4j": "movies", "labels": ["Film"]}`. Raise ConfigError for a wrong field."""
    return validate(GraphSource, dict(fields), "open_store")


def _read_content(graph: GraphContent) -> PropertyGraph:
    """Return a graph in memory, or in a file, as a PropertyGraph. ConfigError for anything else."""
    if isinstance(graph, PropertyGraph):
        return graph
    if isinstance(graph, str) and "://" in graph:  # bolt://localhost:7687
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


def read_file(source: GraphSource) -> PropertyGraph:
    """Return the filtered content of `source.file` under safe names (`graphwalk.stores.loading`); warn about others."""
    assert source.file is not None
    graph = load_graph(source.file, source)
    if not graph.node_count:
        raise ConfigError(f"{source.file}: the graph has no nodes", hint=f"{manual('experiments')} shows the formats")
    graph = filtered(graph, source.labels, source.relationship_types)
    names = changed_names(graph)
    if not any(names):
        return graph
    changes = sorted(pair for changed in names for pair in changed.items())
    # Größe → Grosse, type → type_
    listed = ", ".join(f"{one_line(name)} → {safe}" for name, safe in changes)
    warnings.warn(f"{source.file.name}: names in queries: {listed}", stacklevel=2)
    return renamed(graph, names)


def filtered(graph: PropertyGraph, labels: Sequence[str] | None, types: Sequence[str] | None) -> PropertyGraph:
    """Return a graph with the nodes of these labels and the relationships of these types; None: all.

    Raise ConfigError for a name that the graph does not have.
    """
    if labels is None and types is None:
        return graph
    check_filter("label", labels, (label for table in graph.node_tables for label in table.labels))
    check_filter("relationship type", types, (table.type for table in graph.relationship_tables))
    nodes: list[Node] = []
    for node in graph.nodes():
        if labels is None or not set(node.labels).isdisjoint(labels):
            nodes.append(node)
    keys = {node.key for node in nodes}
    relationships: list[Relationship] = []
    for relationship in graph.relationships():
        has_both_ends = relationship.source in keys and relationship.target in keys
        if has_both_ends and (types is None or relationship.type in types):
            relationships.append(relationship)
    return PropertyGraph.from_rows(nodes, relationships)


# --- for users: one graph ---


@asynccontextmanager
async def aopen_store(
    graph: UnopenedGraph,
    store: str = "embedded",
    *,
    labels: Sequence[str] | None = None,
    relationship_types: Sequence[str] | None = None,
    neo4j_auth: Any = None,
) -> AsyncIterator[GraphStore]:
    """Await `open_store`; use with `async with`, and await `run` and `schema`."""
    variables = replace(read_variables(), neo4j_auth=neo4j_auth)
    filters: dict[str, Sequence[str]] = {}
    if labels is not None:
        filters["labels"] = labels
    if relationship_types is not None:
        filters["relationship_types"] = relationship_types
    if filters and isinstance(graph, GraphStore):
        raise ConfigError(f"{', '.join(filters)}: the store is open already", hint="give them where it is opened")
    if isinstance(graph, Mapping):
        graph = source_of({**graph, **filters})
    elif isinstance(graph, GraphSource):
        graph = graph.model_copy(update=filters)
    elif filters:
        graph = filtered(await graph_in_memory(graph), labels, relationship_types)
    async with OpenGraphs(variables, store) as graphs:
        yield await graphs.open(graph)


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
