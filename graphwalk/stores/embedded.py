"""Graphs in this process: the embedded Cypher engine kglite. No server, no files, no network."""

import asyncio
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any

import kglite

from graphwalk.errors import ConfigError, QueryLimitError, StoreError
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.temporals import TEMPORAL_FUNCTIONS
from graphwalk.graphs.values import Row, shown_rows
from graphwalk.stores.base import Database, GraphStore, QueryResult
from graphwalk.stores.cypher import Identifiers
from graphwalk.stores.cypher_check import QueryRefused, check_model_query
from graphwalk.stores.embedded_graph import REFUSALS, EmbeddedDialect, load_engine, plain_rows, stored_parameters
from graphwalk.stores.graph_schema import has_several_labels, schema_of
from graphwalk.stores.names import SafeNames, with_safe_names
from graphwalk.variables import Variables

GRACE_SECONDS = 0.9
"""Beyond the engine's own time limit, which it looks at now and then."""
_SMALL_GRAPH, _BRIEF_MS = 5_000, 50
"""Nodes of a graph whose queries first run in the event loop, and milliseconds there: most take less than a thread."""
_UNBOUNDED = re.compile(r"-\s*\[[^\]]*\*\s*(?:\d*\s*\.\.)?\s*(?:\{[^}]*\}\s*)?\]\s*-")


class EmbeddedDatabase(Database):
    """Holds graphs in memory as long as it exists. `takes_queries`: see `GraphStore`."""

    kind = "embedded"

    def __init__(self, *, timeout_seconds: float = 30.0, takes_queries: bool = True) -> None:
        self._timeout_seconds = timeout_seconds
        self._takes_queries = takes_queries
        self._stores: dict[int, tuple[PropertyGraph, EmbeddedStore]] = {}
        """Id of a graph → the graph, which keeps its id while it is here, and its store."""
        self._loading = asyncio.Lock()

    async def load(self, graph: PropertyGraph) -> "EmbeddedStore":
        async with self._loading:
            if id(graph) not in self._stores:
                safe = with_safe_names(graph)
                engine = await asyncio.to_thread(load_engine, safe)
                dialect = EmbeddedDialect(several=has_several_labels(graph), names=SafeNames.of(graph))
                forget = partial(self._stores.pop, id(graph), None)
                store = EmbeddedStore(safe, engine, dialect, self._timeout_seconds, forget)
                store.takes_queries = self._takes_queries
                self._stores[id(graph)] = graph, store
            return self._stores[id(graph)][1]

    async def close(self) -> None:
        """Forget the graphs; those in use stay in memory until their stores are garbage-collected."""
        self._stores.clear()


async def open_embedded(variables: Variables, *, run_id: str, timeout_seconds: float) -> EmbeddedDatabase:
    """See `graphwalk.stores.registry.open_database`."""
    return EmbeddedDatabase(timeout_seconds=timeout_seconds)


class EmbeddedStore(GraphStore):
    """One graph in a read-only engine."""

    kind = "embedded"
    in_process = True
    holds_values_as_shown = True
    takes_queries = True

    def __init__(
        self, graph: PropertyGraph, engine: Any, dialect: EmbeddedDialect, timeout_seconds: float, forget: Any
    ) -> None:
        self.graph = graph
        self._engine = engine
        self.dialect: EmbeddedDialect = dialect
        self._timeout_seconds = timeout_seconds
        self._forget = forget
        self._schemas: dict[int, Schema] = {}

    def render(self, template: str, identifiers: Identifiers) -> str:
        """Raise ConfigError for a path without an upper bound: kglite silently ends it after ten relationships."""
        cypher = super().render(template, identifiers)
        if _is_unbounded(cypher):
            raise ConfigError(
                f"on the embedded engine a path of any length ends after ten relationships:\n{cypher}",
                hint="give the path a longest length, for example -[*1..20]->, or use --store neo4j",
            )
        return cypher

    async def ask(self, query: str, *, seconds: float, rows: int) -> QueryResult:
        """See `GraphStore`. The query runs as written on the read-only engine."""
        tokens = check_model_query(query)
        if _is_unbounded(query):
            raise QueryRefused("query_error", "query_unbounded")
        if name := self.dialect.reserved_name(tokens):
            raise QueryRefused("query_error", "query_reserved", name=name)
        for token, after in pairwise(tokens):
            if token.text.lower() in TEMPORAL_FUNCTIONS and after.text == "(":
                raise QueryRefused("query_error", "query_temporal", name=token.text)
        try:
            result = await self._finish(query, {}, seconds, row_limit=rows)
        except QueryLimitError as error:
            raise QueryRefused("timeout", "query_timeout", seconds=seconds) from error
        except MemoryError as error:
            raise QueryRefused("too_large", "query_too_large") from error
        except REFUSALS as error:
            problem = str(error).strip().partition("\n")[0]
            raise QueryRefused("query_error", "query_error", problem=problem) from error
        total = result.diagnostics.get("total_rows") or len(result)
        ordered = any(token.upper == "ORDER" for token in tokens)
        return QueryResult(shown_rows(plain_rows(result.to_list())), total, ordered)

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return await self._rows(cypher, parameters or {}, self._timeout_seconds)

    async def first(
        self, cypher: str, parameters: Mapping[str, Any], *, rows: int, seconds: float
    ) -> tuple[list[Row], int | None]:
        """See `GraphStore`. The engine makes all rows before it gives the first, so it always knows their number."""
        all_rows = await self._rows(cypher, parameters, min(seconds, self._timeout_seconds))
        return all_rows[:rows], len(all_rows)

    async def _rows(self, cypher: str, parameters: Mapping[str, Any], seconds: float) -> list[Row]:
        try:
            result = await self._finish(cypher, parameters, seconds)
        except REFUSALS as error:
            raise StoreError(f"the embedded engine refused a query: {error}\n{cypher}") from error
        return plain_rows(result.to_list())

    async def _finish(self, cypher: str, parameters: Mapping[str, Any], seconds: float, **options: Any) -> Any:
        """Run a query, in a thread unless it is brief.

        Raise QueryLimitError at the end of its time, also if the engine continues.
        """
        graph, milliseconds = await self.read_graph(), max(1, int(seconds * 1000))
        run = partial(
            self._engine.cypher, cypher, params=stored_parameters(parameters), hide_structural_keys=True, **options
        )
        try:
            if graph.node_count <= _SMALL_GRAPH and "row_limit" not in options:  # else a query of a model
                with suppress(kglite.CypherTimeoutError):
                    return run(timeout_ms=min(_BRIEF_MS, milliseconds))
            async with asyncio.timeout(seconds + GRACE_SECONDS):
                return await asyncio.to_thread(run, timeout_ms=milliseconds)
        except KeyboardInterrupt:
            # The engine takes SIGINT for itself while it works, in whichever thread; it is meant for all.
            signal.raise_signal(signal.SIGINT)
            raise asyncio.CancelledError from None
        except (TimeoutError, kglite.CypherTimeoutError) as error:
            raise QueryLimitError(
                f"a query took longer than {seconds:g} s on the embedded engine",
                hint="ask for fewer hops or a smaller graph, or give it more time: -o limits.store_seconds=120",
            ) from error

    async def schema(self, samples: int = 0) -> Schema:
        if samples not in self._schemas:
            self._schemas[samples] = await asyncio.to_thread(schema_of, await self.read_graph(), samples)
        return self._schemas[samples]

    async def read_graph(self) -> PropertyGraph:
        if self.graph is None:
            raise StoreError("the graph was dropped from the embedded engine")
        return self.graph

    async def drop(self) -> None:
        self._forget()
        self._engine = self.graph = self._search_index = None


def _is_unbounded(cypher: str) -> bool:
    return "*" in cypher and _UNBOUNDED.search(cypher) is not None
