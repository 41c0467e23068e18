"""Graphs in this process: the embedded Cypher engine kglite. No server, no files, no network."""

import asyncio
import base64
import json
import re
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import kglite

from graphwalk.errors import ConfigError, QueryLimitError, StoreError
from graphwalk.settings import Settings
from graphwalk.stores.base import Asked, Database, GraphStore
from graphwalk.stores.cypher import Identifiers
from graphwalk.stores.cypher_guard import QueryRefused, translate
from graphwalk.stores.embedded_graph import REFUSALS, SERIALISATION, EmbeddedDialect, load_engine, own_value
from graphwalk.stores.engine_worker import READY
from graphwalk.stores.schema_queries import schema_of
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, shown_rows

MEMORY = 1 << 30
"""Bytes that queries may take, beyond the program and the graph."""
GRACE_SECONDS = 2.0
"""Beyond the engine's own time limit, which it looks at now and then."""
_UNBOUNDED = re.compile(r"-\s*\[[^\]]*\*\s*(?:\d*\s*\.\.)?\s*(?:\{[^}]*\}\s*)?\]\s*-")


class EmbeddedDatabase(Database):
    """Holds graphs in memory as long as it exists."""

    kind = "embedded"

    def __init__(self, *, timeout_seconds: float = 30.0) -> None:
        self._timeout_seconds = timeout_seconds
        self._stores: dict[str, EmbeddedStore] = {}
        self._loading = asyncio.Lock()

    async def load(self, graph: PropertyGraph) -> "EmbeddedStore":
        async with self._loading:
            if graph.digest not in self._stores:
                engine, dialect = await asyncio.to_thread(load_engine, graph)
                forget = partial(self._stores.pop, graph.digest, None)
                self._stores[graph.digest] = EmbeddedStore(graph, engine, dialect, self._timeout_seconds, forget)
            return self._stores[graph.digest]

    async def close(self) -> None:
        """Forget the graphs; those in use stay in memory until their stores are garbage-collected."""
        for store in self._stores.values():
            store.end_process()
        self._stores.clear()


async def open_embedded(
    settings: Settings, *, run_id: str, timeout_seconds: float, wait_seconds: float
) -> EmbeddedDatabase:
    """See `graphwalk.stores.registry.open_database`; `wait_seconds` has no meaning here."""
    return EmbeddedDatabase(timeout_seconds=timeout_seconds)


class EmbeddedStore(GraphStore):
    """One graph in a read-only engine."""

    kind = "embedded"
    in_process = True

    def __init__(
        self, graph: PropertyGraph, engine: Any, dialect: EmbeddedDialect, timeout_seconds: float, forget: Any
    ) -> None:
        self._graph = graph
        self._engine = engine
        self.dialect: EmbeddedDialect = dialect
        self._timeout_ms = max(1, int(timeout_seconds * 1000))
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
        return cypher

    async def ask(self, query: str, *, seconds: float, rows: int) -> Asked:
        """See `GraphStore`. The engine does not bound its memory, so that such queries run in another process."""
        asked = translate(query, await self.schema(), self.dialect, cut=True)
        engine = self._loaded()
        if self._process is None:
            self._process = EngineProcess(engine.to_bytes())
        parameters = SERIALISATION.parameters(asked.parameters) | self.dialect.parameters_of(asked.cypher)
        with asked.rewording():
            found, total = await asyncio.to_thread(self._process.ask, asked.cypher, parameters, seconds, rows)
        named = [{asked.columns.get(name, name): self._own(value) for name, value in row.items()} for row in found]
        return Asked(shown_rows(named), total, asked.ordered)

    def end_process(self) -> None:
        """End the process that answers queries of a model, where there is one."""
        if self._process is not None:
            self._process.close()

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return shown_rows(await self.values(cypher, parameters))

    async def first(
        self, cypher: str, parameters: Mapping[str, Any], *, rows: int, seconds: float
    ) -> tuple[list[Row], int | None]:
        """See `GraphStore`. The engine makes all rows before it gives the first, so it always knows their number."""
        found = await self.values(cypher, parameters, max(1, int(min(seconds * 1000, self._timeout_ms))))
        return shown_rows(found[:rows]), len(found)

    async def values(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, timeout_ms: int | None = None
    ) -> list[Row]:
        milliseconds = timeout_ms or self._timeout_ms
        try:
            found = await asyncio.to_thread(
                self._loaded().cypher,
                cypher,
                params=SERIALISATION.parameters(parameters),
                timeout_ms=milliseconds,
                hide_structural_keys=True,
            )
        except KeyboardInterrupt:
            # The engine takes SIGINT for itself while it works, in whichever thread; it is meant for all.
            signal.raise_signal(signal.SIGINT)
            raise asyncio.CancelledError from None
        except kglite.CypherTimeoutError as error:
            raise QueryLimitError(
                f"a query took longer than {milliseconds / 1000:g} s on the embedded engine",
                hint="ask for fewer hops or a smaller graph, or give it more time: -o limits.store_seconds=120",
            ) from error
        except REFUSALS as error:
            refusal = self.dialect.with_own_names(f"{error}\n{cypher}")
            raise StoreError(f"the embedded engine refused a query: {refusal}") from error
        return [
            {self.dialect.with_own_names(n): self._own(value) for n, value in row.items()} for row in found.to_list()
        ]

    def _own(self, value: Any) -> Any:
        return own_value(value, self.dialect)

    def _loaded(self) -> Any:
        if self._engine is None:
            raise StoreError("the graph was dropped from the embedded engine")
        return self._engine

    async def schema(self, samples: int = 0) -> Schema:
        if samples not in self._schemas:
            self._schemas[samples] = await asyncio.to_thread(schema_of, self._graph, samples)
        return self._schemas[samples]

    async def drop(self) -> None:
        self._forget()
        self._engine = None
        self.end_process()


class EngineProcess:
    """One graph in a process that may die. `ask` may be called from many threads; queries wait for one another."""

    def __init__(self, graph: bytes) -> None:
        self._graph = graph
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()

    def ask(self, cypher: str, parameters: Mapping[str, Any], seconds: float, rows: int) -> tuple[list[Any], int]:
        """Return up to `rows` rows and the total. Raise QueryRefused "timeout", "too_large" or "query_error"."""
        request = {"cypher": cypher, "parameters": dict(parameters), "rows": rows, "timeout_ms": int(seconds * 1000)}
        with self._one_at_a_time:
            answer = self._exchange(json.dumps(request).encode(), seconds)
        if "error" not in answer:
            return answer["rows"], answer["total"]
        if answer["error"] == "timeout":
            raise QueryRefused("timeout", "query_timeout", seconds=seconds)
        if answer["error"] == "too_large":
            raise QueryRefused("too_large", "query_too_large")
        raise QueryRefused("query_error", "query_error", problem=answer["message"])

    def close(self) -> None:
        """End the process, in the middle of a query too; the next query starts another."""
        if self._process is not None:
            self._process.kill()
        with self._one_at_a_time:
            self._end()

    def _exchange(self, request: bytes, seconds: float) -> dict[str, Any]:
        if self._process is None:
            program = Path(__file__).with_name("engine_worker.py")
            # -P: the folder of the program holds modules that have the names of libraries.
            words = [sys.executable, "-P", str(program), str(MEMORY)]
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
            )
            weakref.finalize(self, _end, self._process)
            if _answer(self._process, base64.b64encode(self._graph)) != READY:
                self._end()
                raise StoreError("the process for queries of models does not start")
        process, late = self._process, threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(seconds + GRACE_SECONDS, stop)
        timer.start()
        answer = _answer(process, request)
        timer.cancel()
        if answer:
            found: dict[str, Any] = json.loads(answer)
            return found
        self._end()
        return {"error": "timeout" if late.is_set() else "too_large", "message": ""}

    def _end(self) -> None:
        if self._process is not None:
            _end(self._process)
            self._process = None


def _answer(process: subprocess.Popen[bytes], request: bytes) -> bytes:
    """Return the answer of the process; empty if it has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(request + b"\n")
        process.stdin.flush()
        return process.stdout.readline()
    except OSError:
        return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with suppress(OSError), process:
        pass  # closed; what was not sent is lost with the process
