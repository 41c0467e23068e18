"""Graphs in this process: the embedded Cypher engine kglite. No server, no files, no network."""

import asyncio
import re
from collections.abc import Mapping
from functools import partial
from itertools import count
from typing import Any

import kglite

from graphwalk.environment import Environment
from graphwalk.errors import ConfigError, StoreError
from graphwalk.stores.batches import node_batches, relationship_batches
from graphwalk.stores.cypher import Identifiers, quote, render_cypher, shown_name, stored_name
from graphwalk.stores.engine_process import EngineProcess
from graphwalk.stores.schema_queries import read_schema
from graphwalk.stores.store import Asked
from graphwalk.stores.written.translation import translate
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

BATCH = 10_000
INLINE_MS = 20
"""A query runs on the event loop for up to this long, which is cheaper than a thread; then it is restarted in one."""
RESERVED = frozenset({"id", "title", "type", "name", "label", "node_type", "created_at", "updated_at"})
"""Property names that have a meaning of their own in kglite."""
_REFUSALS = (kglite.KgError, OverflowError, TypeError, ValueError)
"""What kglite raises when it refuses a query or a graph."""
_PLAIN_NAME = re.compile(r"[A-Za-z_`][A-Za-z0-9_ .`()/-]*")
_UNBOUNDED = re.compile(r"-\s*\[[^\]]*\*\s*(?:\d*\s*\.\.)?\s*(?:\{[^}]*\}\s*)?\]\s*-")
_ID_MARK = "\0"
"""First character of the ids that we give to nodes; it tells them from data, so that results can leave them out."""


class EmbeddedDatabase:
    """Holds graphs in memory as long as it exists."""

    kind = "embedded"

    def __init__(self, *, timeout_seconds: float = 30.0) -> None:
        self._timeout_seconds = timeout_seconds
        self._stores: dict[str, EmbeddedStore] = {}
        self._loading = asyncio.Lock()

    async def load(self, graph: PropertyGraph) -> "EmbeddedStore":
        async with self._loading:
            if graph.digest not in self._stores:
                engine, renamed = await asyncio.to_thread(_filled_engine, graph)
                forget = partial(self._stores.pop, graph.digest, None)
                self._stores[graph.digest] = EmbeddedStore(engine, renamed, self._timeout_seconds, forget)
            return self._stores[graph.digest]

    async def close(self) -> None:
        """Graphs that are still in use stay in memory until their stores are garbage-collected."""
        for store in self._stores.values():
            store.end_process()
        self._stores.clear()


async def open_embedded(
    environment: Environment, *, run_id: str, timeout_seconds: float, wait_seconds: float
) -> EmbeddedDatabase:
    """See `graphwalk.stores.registry.open_database`; `wait_seconds` has no meaning here."""
    return EmbeddedDatabase(timeout_seconds=timeout_seconds)


class EmbeddedStore:
    """One graph in a read-only engine."""

    kind = "embedded"

    def __init__(self, engine: Any, renamed: bool, timeout_seconds: float, forget: Any) -> None:
        self._engine = engine
        self._renamed = renamed
        self._timeout_ms = max(1, int(timeout_seconds * 1000))
        self._forget = forget
        self._schemas: dict[int, Schema] = {}
        self._process: EngineProcess | None = None

    def render(self, template: str, identifiers: Identifiers) -> str:
        """ConfigError for a path without an upper bound: kglite ends it after ten relationships and says nothing."""
        cypher = render_cypher(template, identifiers, reserved=RESERVED)
        if "*" in cypher and _UNBOUNDED.search(cypher):
            raise ConfigError(
                f"on the embedded engine a path of any length ends after ten relationships:\n{cypher}",
                hint="give the path a longest length, such as -[*1..20]->, or use --store neo4j",
            )
        return cypher

    async def ask(self, query: str, *, seconds: float, rows: int) -> Asked:
        """See `OpenToQueries`. The engine does not bound its memory, so that such queries run in another process."""
        asked = translate(query, await self.schema(), reserved=RESERVED, cut=True)
        engine = self._loaded()
        if self._process is None:
            self._process = EngineProcess(engine.to_bytes())
        with asked.told():
            found, total = await asyncio.to_thread(self._process.ask, asked.cypher, asked.parameters, seconds, rows)
        shown = [{asked.columns.get(name, name): self._plain(value) for name, value in row.items()} for row in found]
        return Asked(shown, total, asked.ordered)

    def end_process(self) -> None:
        """End the process that answers queries of a model, where there is one."""
        if self._process is not None:
            self._process.close()

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        inline_ms = min(INLINE_MS, self._timeout_ms)
        try:
            try:
                return self._rows(cypher, parameters, inline_ms)
            except kglite.CypherTimeoutError:
                if inline_ms == self._timeout_ms:
                    raise
            return await asyncio.to_thread(self._rows, cypher, parameters, self._timeout_ms)
        except kglite.CypherTimeoutError as error:
            raise _too_slow(self._timeout_ms) from error
        except _REFUSALS as error:
            raise StoreError(f"the embedded engine refused a query: {error}\n{cypher}") from error

    def _rows(self, cypher: str, parameters: Mapping[str, Any] | None, timeout_ms: int) -> list[Row]:
        found = self._loaded().cypher(cypher, params=parameters, timeout_ms=timeout_ms, hide_structural_keys=True)
        rows: list[Row] = found.to_list()
        for row in rows:
            for name, value in row.items():
                if value.__class__ is dict or value.__class__ is list:
                    row[name] = self._plain(value)
        return [{shown_name(k): v for k, v in row.items()} for row in rows] if self._renamed else rows

    def _loaded(self) -> Any:
        if self._engine is None:
            raise StoreError("the graph was dropped from the embedded engine")
        return self._engine

    def _plain(self, value: Any) -> Any:
        """The value without the fields that the engine adds to nodes, relationships and property maps."""
        if value.__class__ is list:
            return [self._plain(item) for item in value]
        if value.__class__ is not dict:
            return value
        if value.keys() == _NODE_KEYS:
            return {"labels": value["labels"], "properties": self._own(value["properties"], _NODE_EXTRAS)}
        if value.keys() == _RELATIONSHIP_KEYS:
            return {"type": value["type"], "properties": self._own(value["properties"], frozenset())}
        mark = value.get("id")
        if mark.__class__ is str and mark.startswith(_ID_MARK):
            return {k: self._plain(v) for k, v in self._own(value, _ID_ONLY).items()}
        return {shown_name(k): self._plain(v) for k, v in value.items()} if self._renamed else self._nested(value)

    def _nested(self, value: dict[str, Any]) -> dict[str, Any]:
        for item in value.values():
            if item.__class__ is dict or item.__class__ is list:
                return {k: self._plain(v) for k, v in value.items()}
        return value

    def _own(self, properties: dict[str, Any], extras: frozenset[str]) -> dict[str, Any]:
        """Properties under their own names. RESERVED names are stored under others, so `extras` are never data."""
        if self._renamed:
            return dict(sorted((shown_name(k), v) for k, v in properties.items() if k not in extras))
        for name in extras:
            properties.pop(name, None)
        return properties

    async def schema(self, samples: int = 0) -> Schema:
        if samples not in self._schemas:

            async def query(template: str, identifiers: Identifiers, parameters: Mapping[str, Any]) -> list[Row]:
                return await self.run(self.render(template, identifiers), parameters)

            self._schemas[samples] = await read_schema(query, samples, shown=_shown)
        return self._schemas[samples]

    async def drop(self) -> None:
        self._forget()
        self._engine = None
        self.end_process()


_NODE_KEYS = {"id": 0, "labels": 0, "properties": 0}.keys()
_RELATIONSHIP_KEYS = {"id": 0, "start": 0, "end": 0, "type": 0, "properties": 0}.keys()
_ID_ONLY = frozenset({"id"})
_NODE_EXTRAS = frozenset({"id", "title", "type", "name", "label", "node_type"})


def _shown(stored: str) -> str | None:
    return None if stored in RESERVED else shown_name(stored)


def _too_slow(timeout_ms: int) -> StoreError:
    return StoreError(
        f"a query took longer than {timeout_ms / 1000:g} s on the embedded engine",
        hint="ask for fewer hops or a smaller graph, or raise the time limit",
    )


def _filled_engine(graph: PropertyGraph) -> tuple[Any, bool]:
    """A read-only engine that holds the graph, and whether property names had to be changed."""
    # Names are checked against the schema before they reach a query, so these warnings would only be noise on stderr.
    kglite.set_query_warning_policy("silent")
    engine = kglite.KnowledgeGraph()
    rename = partial(stored_name, reserved=RESERVED)
    _check_names(graph)
    columns = [*(t.columns for t in graph.node_tables), *(t.columns for t in graph.relationship_tables)]
    renamed = any(rename(name) != name for names in columns for name in names)
    try:
        _create_nodes(engine, graph, rename)
        _create_relationships(engine, graph, rename)
    except _REFUSALS as error:
        raise StoreError(f"the embedded engine refused the graph {graph.digest[:12]}: {error}") from error
    engine.read_only(True)
    return engine, renamed


def _check_names(graph: PropertyGraph) -> None:
    """StoreError for a name that the engine cannot parse, even in back-ticks; all accepted characters were tried."""
    tables = [(t.label, t.columns) for t in graph.node_tables] + [
        (t.type, t.columns) for t in graph.relationship_tables
    ]
    for name in (name for title, columns in tables for name in (title, *columns)):
        if not _PLAIN_NAME.fullmatch(name):
            raise StoreError(
                f"the embedded engine accepts only ASCII letters, digits and _ - . / ( ) ` in names, not {name!r}",
                hint="use --store neo4j",
            )


def _create_nodes(engine: Any, graph: PropertyGraph, rename: Any) -> None:
    numbers = count()
    for batch in node_batches(graph, BATCH, rename):
        for row in batch.rows:
            row["id"] = f"{_ID_MARK}{next(numbers)}"
        engine.cypher(f"UNWIND $rows AS row CREATE (n:{quote(batch.label)}) SET n += row", params={"rows": batch.rows})
    for table in graph.node_tables:
        if len(table.numbers):
            engine.cypher(f"CREATE INDEX FOR (n:{quote(table.label)}) ON (n.key)")


def _create_relationships(engine: Any, graph: PropertyGraph, rename: Any) -> None:
    for batch in relationship_batches(graph, BATCH, rename, by_pair=True):
        source, target = map(quote, batch.pair or ("", ""))
        engine.cypher(
            "UNWIND $rows AS row "
            f"MATCH (a:{source} {{key: row.s}}), (b:{target} {{key: row.t}}) "
            f"CREATE (a)-[r:{quote(batch.type)}]->(b) SET r += row.p",
            params={"rows": batch.rows},
        )
