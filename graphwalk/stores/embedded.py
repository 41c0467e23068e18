"""Graphs in this process: the embedded Cypher engine kglite. No server, no files, no network.

The engine holds a graph as models see it: values that JSON lacks are text (`graphwalk.graphs.values.shown`).
"""

import asyncio
import re
import signal
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, pairwise
from typing import Any

import kglite

from graphwalk.errors import ConfigError, QueryLimitError, StoreError, ToolMistake, is_panic
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.values import TEMPORAL_FUNCTIONS, Row, shown, shown_rows
from graphwalk.stores.base import Database, GraphStore, QueryResult
from graphwalk.stores.cypher import NO_LABEL, Dialect, quote_identifier
from graphwalk.stores.cypher_check import Token, check_model_query, tokens_in
from graphwalk.stores.loading import (
    RESERVED,
    changed_names,
    node_batches,
    relationship_batches,
    renamed,
    stored_graph,
)
from graphwalk.stores.query_pool import GRACE_SECONDS, GraphQueries, Parts, QueryPool
from graphwalk.stores.query_worker import REFUSALS
from graphwalk.variables import Variables

NODE = "gw_node"
"""The first label of every node of a graph in which not every node has one label.

The engine keeps an index for the first label of a node alone; others it looks through.
"""
BATCH = 10_000
_SMALL_GRAPH, _BRIEF_MS = 5_000, 50
"""Nodes of a graph whose queries first run in the event loop, and milliseconds there: most take less than a thread."""
_UNBOUNDED = re.compile(r"-\s*\[[^\]]*\*\s*(?:\d*\s*\.\.)?\s*(?:\{[^}]*\}\s*)?\]\s*-")
_HIDDEN = frozenset({NODE, NO_LABEL})
_ID_MARK = "\0"
"""First character of the ids that we give to nodes, which results leave out."""
_NODE_KEYS = {"id": 0, "labels": 0, "properties": 0}.keys()
_RELATIONSHIP_KEYS = {"id": 0, "start": 0, "end": 0, "type": 0, "properties": 0}.keys()


class EmbeddedDatabase(Database):
    """Holds graphs in memory as long as it exists. `takes_queries`: see `GraphStore`."""

    kind = "embedded"

    def __init__(self, *, timeout_seconds: float = 30.0, takes_queries: bool = True) -> None:
        self._timeout_seconds = timeout_seconds
        self._takes_queries = takes_queries
        self._stores: dict[int, tuple[PropertyGraph, EmbeddedStore]] = {}
        """Id of a graph → the graph, which keeps its id while it is here, and its store."""
        self._loading = asyncio.Lock()
        self._pool = QueryPool()

    async def load(self, graph: PropertyGraph) -> "EmbeddedStore":
        async with self._loading:
            if id(graph) not in self._stores:
                names = changed_names(graph)
                safe = renamed(graph, names) if any(names) else graph
                engine = await asyncio.to_thread(load_engine, safe)
                forget = partial(self._stores.pop, id(graph), None)
                store = EmbeddedStore(safe, engine, self._pool, self._timeout_seconds, forget)
                store.takes_queries = self._takes_queries
                store.changed_names = names
                self._stores[id(graph)] = graph, store
            return self._stores[id(graph)][1]

    async def close(self) -> None:
        """Forget the graphs; those in use stay in memory until their stores are garbage-collected."""
        self._stores.clear()
        self._pool.end()


async def open_embedded(variables: Variables, *, run_id: str, timeout_seconds: float) -> EmbeddedDatabase:
    """See `graphwalk.stores.base.open_database`."""
    return EmbeddedDatabase(timeout_seconds=timeout_seconds)


@dataclass(frozen=True)
class EmbeddedDialect(Dialect):
    """The Cypher of one graph; `reserved`: names of properties that the engine answers itself."""

    reserved: frozenset[str] = RESERVED

    def label(self, name: str) -> str:
        # The engine uses the index of the first label.
        return f"{quote_identifier(NODE)}:{super().label(name)}" if self.several else super().label(name)

    def labels_of(self, variable: str) -> str:
        hidden = f"[name IN labels({variable}) WHERE NOT name IN ['{NODE}', '{NO_LABEL}']]"
        return hidden if self.several else super().labels_of(variable)

    def finished(self, cypher: str) -> str:
        """Raise ConfigError for what kglite silently answers in another way than Neo4j.

        It ends a path without an upper bound after ten relationships, and has values of its own for reserved names.
        """
        if _UNBOUNDED.search(cypher):
            raise ConfigError(
                f"on the embedded engine a path of any length ends after ten relationships:\n{cypher}",
                hint="give the path a longest length, for example -[*1..20]->, or use --store neo4j",
            )
        if name := self.reserved_name(tokens_in(cypher)):
            raise ConfigError(
                f"the embedded engine gives the property {name!r} a meaning of its own:\n{cypher}",
                hint=f"write {name}_, which the property is called here, or use --store neo4j",
            )
        return cypher

    def reserved_name(self, tokens: Iterable[Token]) -> str | None:
        """Return the first reserved property name in a query: of `p.type`, `p {.type}` or `{type: "Dr"}`."""
        texts = [token.text for token in tokens]
        texts.append("")  # after the last one
        for place in range(1, len(texts) - 1):
            before, text, after = texts[place - 1 : place + 2]
            is_read = before == "." and after != "("  # p.type, p {.type}; not point.distance(
            is_in_map = before in ("{", ",") and after == ":"  # {type: "Dr"}
            name = text.strip("`")
            if (is_read or is_in_map) and name in self.reserved:
                return name
        return None


class EmbeddedStore(GraphStore):
    """One graph in a read-only engine."""

    kind = "embedded"
    in_process = True
    takes_queries = True

    def __init__(self, graph: PropertyGraph, engine: Any, pool: QueryPool, timeout_seconds: float, forget: Any) -> None:
        """`graph`: with safe names."""
        self.graph = graph
        reserved = RESERVED.difference(*graph.all_columns())
        self.dialect: EmbeddedDialect = EmbeddedDialect(several=graph.has_several_labels, reserved=reserved)
        self._engine = engine
        self._pool = pool
        self._queries: GraphQueries | None = None
        """Those of a model, from the first one on."""
        self._timeout_seconds = timeout_seconds
        self._forget = forget

    async def ask(self, query: str, *, seconds: float, rows: int) -> QueryResult:
        """See `GraphStore`. The query runs as written on a copy of the graph in a process with limits."""
        tokens = check_model_query(query)
        if _UNBOUNDED.search(query):
            raise ToolMistake("query_error", "query_unbounded")
        if name := self.dialect.reserved_name(tokens):
            raise ToolMistake("query_error", "query_reserved", name=name)
        for token, after in pairwise(tokens):
            if token.text.lower() in TEMPORAL_FUNCTIONS and after.text == "(":
                raise ToolMistake("query_error", "query_temporal", name=token.text)
        queries = self._queries_of(await self.read_graph())
        answer = await queries.answer(query, seconds=seconds, rows=rows)
        match answer.get("error"):
            case "timeout":
                raise ToolMistake("timeout", "query_timeout", seconds=seconds)
            case "memory":
                raise ToolMistake("too_large", "query_memory")
            case "too_large":
                raise ToolMistake("too_large", "query_too_large")
            case "refused":
                problem = answer["problem"].strip().partition("\n")[0]
                raise ToolMistake("query_error", "query_error", problem=problem)
            case "failed":
                raise RuntimeError(f"the embedded engine failed: {answer['problem']}")
        ordered = any(token.upper == "ORDER" for token in tokens)
        return QueryResult(shown_rows(plain_rows(answer["rows"])), answer["total"], ordered)

    def _queries_of(self, graph: PropertyGraph) -> GraphQueries:
        if self._queries is None:
            self._queries = GraphQueries(self._pool, graph.node_count, partial(_parts, graph))
        return self._queries

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        rows, _ = await self.first(cypher, parameters or {}, rows=sys.maxsize, seconds=self._timeout_seconds)
        return rows

    async def first(
        self, cypher: str, parameters: Mapping[str, Any], *, rows: int, seconds: float
    ) -> tuple[list[Row], int | None]:
        """See `GraphStore`. The engine makes all rows before it gives the first, so it always knows their number."""
        try:
            result = await self._finish(cypher, parameters, min(seconds, self._timeout_seconds))
        except REFUSALS as error:
            raise StoreError(f"the embedded engine refused a query: {error}\n{cypher}") from error
        all_rows = plain_rows(result.to_list())
        return all_rows[:rows], len(all_rows)

    async def _finish(self, cypher: str, parameters: Mapping[str, Any], seconds: float) -> Any:
        """Run a query, in a thread unless it is brief.

        Raise QueryLimitError at the end of its time, also if the engine continues.
        """
        graph, milliseconds = await self.read_graph(), max(1, int(seconds * 1000))
        run = partial(self._engine.cypher, cypher, params=shown(dict(parameters)), hide_structural_keys=True)
        try:
            if graph.node_count <= _SMALL_GRAPH:
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
        except BaseException as error:
            if is_panic(error):
                raise RuntimeError(f"the embedded engine failed: {error}") from None
            raise

    async def read_graph(self) -> PropertyGraph:
        if self.graph is None:
            raise StoreError("the graph was dropped from the embedded engine")
        return self.graph

    async def drop(self) -> None:
        self._forget()
        if self._queries is not None:
            self._queries.close()
        self._engine = self.graph = self._search_index = None


def load_engine(graph: PropertyGraph) -> Any:
    """Load a graph with safe names into a read-only engine of its own."""
    # Names are checked against the schema before they reach a query, so these warnings would only be noise on stderr.
    kglite.set_query_warning_policy("silent")
    engine = kglite.KnowledgeGraph()
    try:
        for cypher, rows in _parts(graph):
            engine.cypher(cypher, params={"rows": rows})
    except REFUSALS as error:
        raise StoreError(f"the embedded engine refused the graph {graph.digest[:12]}: {error}") from error
    engine.read_only(True)
    return engine


def _parts(graph: PropertyGraph) -> Parts:
    """Yield the Cypher that loads a graph with safe names, and its rows."""
    numbers = count()
    stored = stored_graph(graph)
    several = graph.has_several_labels
    for names, rows in node_batches(stored, BATCH):
        for row in rows:
            # Without a title of its own a node would have one for `name` too.
            row["id"] = f"{_ID_MARK}{next(numbers)}"
            row.setdefault("title", None)
        labels = list(names) or [NO_LABEL]
        if several:
            labels.insert(0, NODE)
        pattern = ":".join(quote_identifier(label) for label in labels)  # `gw_node`:`Film`:`Award`
        yield f"UNWIND $rows AS row CREATE (n:{pattern}) SET n += row", rows
    indexed = [NODE] if several else [table.label for table in stored.node_tables if len(table.numbers)]
    for label in indexed:
        yield f"CREATE INDEX FOR (n:{quote_identifier(label)}) ON (n.key)", []
    for type_, pair, rows in relationship_batches(stored, BATCH, by_pair=not several):
        source, target = pair or (NODE, NODE)
        query = (
            "UNWIND $rows AS row "
            f"MATCH (a:{quote_identifier(source)} {{key: row.s}}), (b:{quote_identifier(target)} {{key: row.t}}) "
            f"CREATE (a)-[r:{quote_identifier(type_)}]->(b) SET r += row.p"
        )
        yield query, rows


def plain_rows(rows: list[Row]) -> list[Row]:
    """Return the rows without what the engine adds to nodes and their properties; they are changed in place."""
    for row in rows:
        for name, value in row.items():
            if value.__class__ is dict or value.__class__ is list:
                row[name] = _plain(value)
    return rows


def _plain(value: Any) -> Any:
    # ["gw_node", "Film"], the labels of a node, or any other list
    if isinstance(value, list):
        return [_plain(item) for item in value if not isinstance(item, str) or item not in _HIDDEN]
    if not isinstance(value, dict):
        return value
    # {"id": "\0 7", "key": "f7", "name": …}, the properties of a node
    id_ = value.get("id")
    if id_.__class__ is str and id_.startswith(_ID_MARK):
        del value["id"]
        return value
    # {"id": 7, "labels": ["Film"], "properties": {…}}
    if value.keys() == _NODE_KEYS:
        return {"labels": _plain(value["labels"]), "properties": _own_properties(value["properties"])}
    # {"id": 9, "start": 7, "end": 3, "type": "BY", "properties": {…}}
    if value.keys() == _RELATIONSHIP_KEYS:
        return {"type": value["type"], "properties": value["properties"]}
    return {name: _plain(item) for name, item in value.items()}


def _own_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a node without those of the engine: its id, its type, and a title that it lacks."""
    own: dict[str, Any] = {}
    for name, value in properties.items():
        is_of_engine = name in ("id", "type") or (name == "title" and value is None)
        if not is_of_engine:
            own[name] = value
    return own
