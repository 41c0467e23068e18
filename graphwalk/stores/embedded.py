"""Graphs in this process: the embedded Cypher engine kglite. No server, no files, no network."""

import asyncio
import base64
import json
import re
import signal
import subprocess
import sys
import weakref
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import kglite

from graphwalk.errors import ConfigError, QueryLimitError, StoreError
from graphwalk.stores.base import Database, GraphStore, QueryResult
from graphwalk.stores.cypher import ForeignCypher, Identifiers
from graphwalk.stores.cypher_check import QueryRefused
from graphwalk.stores.embedded_graph import REFUSALS, SERIALISATION, EmbeddedDialect, load_engine, own_value
from graphwalk.stores.engine_worker import READY
from graphwalk.stores.graph_schema import schema_of
from graphwalk.stores.model_query import write_query
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, shown_rows
from graphwalk.variables import Variables

MEMORY = 1 << 30
"""Bytes that queries may take, beyond the program and the graph."""
GRACE_SECONDS = 2.0
"""Beyond the engine's own time limit, which it looks at now and then."""
_POSITION = re.compile(r"\s*at line \d+, col \d+")
"""A position in the query that was sent, which the model does not know."""
_UNBOUNDED = re.compile(r"-\s*\[[^\]]*\*\s*(?:\d*\s*\.\.)?\s*(?:\{[^}]*\}\s*)?\]\s*-")


class EmbeddedDatabase(Database):
    """Holds graphs in memory as long as it exists. `takes_queries`: see `GraphStore`."""

    kind = "embedded"

    def __init__(self, *, timeout_seconds: float = 30.0, takes_queries: bool = True) -> None:
        self._timeout_seconds = timeout_seconds
        self._takes_queries = takes_queries
        self._stores: dict[str, EmbeddedStore] = {}
        self._loading = asyncio.Lock()

    async def load(self, graph: PropertyGraph) -> "EmbeddedStore":
        async with self._loading:
            if graph.digest not in self._stores:
                engine, dialect = await asyncio.to_thread(load_engine, graph)
                forget = partial(self._stores.pop, graph.digest, None)
                store = EmbeddedStore(graph, engine, dialect, self._timeout_seconds, forget)
                store.takes_queries = self._takes_queries
                self._stores[graph.digest] = store
            return self._stores[graph.digest]

    async def close(self) -> None:
        """Forget the graphs; those in use stay in memory until their stores are garbage-collected."""
        for store in self._stores.values():
            store.end_process()
        self._stores.clear()


async def open_embedded(variables: Variables, *, run_id: str, timeout_seconds: float) -> EmbeddedDatabase:
    """See `graphwalk.stores.registry.open_database`."""
    return EmbeddedDatabase(timeout_seconds=timeout_seconds)


class EmbeddedStore(GraphStore):
    """One graph in a read-only engine."""

    kind = "embedded"
    in_process = True
    takes_queries = True

    def __init__(
        self, graph: PropertyGraph, engine: Any, dialect: EmbeddedDialect, timeout_seconds: float, forget: Any
    ) -> None:
        self._graph = graph
        self._engine = engine
        self.dialect: EmbeddedDialect = dialect
        self._timeout_seconds = timeout_seconds
        self._forget = forget
        self._schemas: dict[int, Schema] = {}
        self._process: EngineProcess | None = None

    def render(self, template: str, identifiers: Identifiers) -> str:
        """Raise ConfigError for a path without an upper bound: kglite silently ends it after ten relationships."""
        cypher = super().render(template, identifiers)
        if "*" in cypher and _UNBOUNDED.search(cypher):
            raise ConfigError(
                f"on the embedded engine a path of any length ends after ten relationships:\n{cypher}",
                hint="give the path a longest length, for example -[*1..20]->, or use --store neo4j",
            )
        return ForeignCypher(cypher) if isinstance(template, ForeignCypher) else cypher

    async def ask(self, query: str, *, seconds: float, rows: int) -> QueryResult:
        written = write_query(query, await self.schema(), self.dialect)
        parameters = SERIALISATION.parameters(written.parameters) | self.dialect.parameters_of(written.cypher)
        try:
            engine_rows, total = await self._in_process(written.cypher, parameters, seconds, rows)
        except QueryLimitError as error:
            if error.kind == "too_large":
                raise QueryRefused("too_large", "query_too_large") from error
            raise QueryRefused("timeout", "query_timeout", seconds=seconds) from error
        except _EngineRefusedError as error:
            first_line = _POSITION.sub("", str(error).strip().partition("\n")[0])
            problem = self.dialect.with_own_names(first_line)
            raise QueryRefused("query_error", "query_error", problem=problem) from error
        return QueryResult(shown_rows(self._decode_rows(engine_rows)), total, written.ordered)

    def end_process(self) -> None:
        """End the process for Cypher of files and models, where there is one."""
        if self._process is not None:
            self._process.close()

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return shown_rows(await self.values(cypher, parameters))

    async def first(
        self, cypher: str, parameters: Mapping[str, Any], *, rows: int, seconds: float
    ) -> tuple[list[Row], int | None]:
        """See `GraphStore`. The engine makes all rows before it gives the first, so it always knows their number."""
        all_rows, total = await self._rows(cypher, parameters, min(seconds, self._timeout_seconds), rows)
        return shown_rows(all_rows[:rows]), total

    async def values(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return (await self._rows(cypher, parameters, self._timeout_seconds))[0]

    async def _rows(
        self, cypher: str, parameters: Mapping[str, Any] | None, seconds: float, rows: int | None = None
    ) -> tuple[list[Row], int]:
        """Return the rows, and their number; of Cypher of a file at most `rows` rows."""
        values = SERIALISATION.parameters(parameters)
        try:
            if isinstance(cypher, ForeignCypher):
                engine_rows, total = await self._in_process(cypher, values, seconds, rows)
                return self._decode_rows(engine_rows), total
            result = await asyncio.to_thread(
                self._open_engine().cypher,
                cypher,
                params=values,
                timeout_ms=_milliseconds(seconds),
                hide_structural_keys=True,
            )
        except KeyboardInterrupt:
            # The engine takes SIGINT for itself while it works, in whichever thread; it is meant for all.
            signal.raise_signal(signal.SIGINT)
            raise asyncio.CancelledError from None
        except kglite.CypherTimeoutError as error:
            raise _too_slow(seconds) from error
        except (_EngineRefusedError, *REFUSALS) as error:
            refusal = self.dialect.with_own_names(f"{error}\n{cypher}")
            raise StoreError(f"the embedded engine refused a query: {refusal}") from error
        return self._decode_rows(engine_rows := result.to_list()), len(engine_rows)

    async def _in_process(
        self, cypher: str, parameters: Mapping[str, Any], seconds: float, rows: int | None
    ) -> tuple[list[Any], int]:
        """Run Cypher of a file or a model in a process with limits."""
        engine = self._open_engine()
        if self._process is None:
            self._process = EngineProcess(engine.to_bytes())
        return await self._process.ask(cypher, parameters, seconds, rows)

    def _decode_rows(self, rows: list[Any]) -> list[Row]:
        return [
            {self.dialect.with_own_names(n): own_value(value, self.dialect) for n, value in row.items()} for row in rows
        ]

    def _open_engine(self) -> Any:
        if self._engine is None:
            raise StoreError("the graph was dropped from the embedded engine")
        return self._engine

    async def schema(self, samples: int = 0) -> Schema:
        if samples not in self._schemas:
            self._schemas[samples] = await asyncio.to_thread(schema_of, self._graph, samples)
        return self._schemas[samples]

    async def _searched_graph(self) -> PropertyGraph:
        self._open_engine()
        return self._graph

    async def drop(self) -> None:
        self._forget()
        self._engine = self._search_index = None
        self.end_process()


class _EngineRefusedError(Exception):
    """The engine in the other process refuses a query; the text is its message."""


class EngineProcess:
    """One graph in a process that may die, and that the next query starts again. Queries wait for one another."""

    def __init__(self, graph: bytes) -> None:
        self._graph = graph
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = asyncio.Lock()

    async def ask(
        self, cypher: str, parameters: Mapping[str, Any], seconds: float, rows: int | None
    ) -> tuple[list[Any], int]:
        """Return at most `rows` rows, and the total. A call that is cancelled ends the process.

        Raise QueryLimitError, or _EngineRefusedError.
        """
        request = {
            "cypher": str(cypher),
            "parameters": dict(parameters),
            "rows": rows,
            "timeout_ms": _milliseconds(seconds),
        }
        async with self._turn:
            try:
                process = self._process or await self._start()
                async with asyncio.timeout(seconds + GRACE_SECONDS):
                    line = await asyncio.to_thread(_answer, process, json.dumps(request).encode())
            except TimeoutError:
                line = b'{"error": "timeout"}'
                self.close()
            except BaseException:
                self.close()
                raise
            if not line:
                self.close()
        answer: dict[str, Any] = json.loads(line or '{"error": "too_large"}')
        match answer.get("error"):
            case "timeout":
                raise _too_slow(seconds)
            case "too_large":
                problem = f"a query needs more than the {MEMORY >> 20} MiB of memory that it may take"
                raise QueryLimitError(problem, hint="ask for fewer rows or hops", kind="too_large")
            case "query_error":
                raise _EngineRefusedError(answer["message"])
        return answer["rows"], answer["total"]

    def close(self) -> None:
        """End the process, in the middle of a query too, which has no answer then."""
        if self._process is not None:
            _end(self._process)
            self._process = None

    async def _start(self) -> subprocess.Popen[bytes]:
        process = self._process = _worker()
        weakref.finalize(self, _end, process)
        if await asyncio.to_thread(_answer, process, base64.b64encode(self._graph)) != READY:
            raise StoreError("the process for Cypher of files and models does not start")
        return process


def _milliseconds(seconds: float) -> int:
    return max(1, int(seconds * 1000))


def _too_slow(seconds: float) -> QueryLimitError:
    return QueryLimitError(
        f"a query took longer than {seconds:g} s on the embedded engine",
        hint="ask for fewer hops or a smaller graph, or give it more time: -o limits.store_seconds=120",
    )


def _worker() -> subprocess.Popen[bytes]:
    program = Path(__file__).with_name("engine_worker.py")
    # -P: the folder of the program holds modules that have the names of libraries.
    words = [sys.executable, "-P", str(program), str(MEMORY)]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True)


def _answer(process: subprocess.Popen[bytes], request: bytes) -> bytes:
    """Return the answer of the process; empty if it has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(request + b"\n")
        process.stdin.flush()
        return process.stdout.readline()
    except (OSError, ValueError):  # ended, or closed already
        return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with suppress(OSError), process:
        pass  # closed; what was not sent is lost with the process
