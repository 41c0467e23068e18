"""The store `demo`: the embedded engine, with every query and its time in the file LOGGED_STORE_FILE."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from graphwalk.extend import Database, EmbeddedDatabase, GraphStore, PropertyGraph, Row, Variables

# --- what the entry point names: a function that opens the database ---


async def open_logged(variables: Variables, *, run_id: str, timeout_seconds: float) -> "LoggedDatabase":
    """StoreError where the database cannot be reached; here there is nothing to reach."""
    file = variables.require("LOGGED_STORE_FILE", "it is where queries are written")
    return LoggedDatabase(EmbeddedDatabase(timeout_seconds=timeout_seconds), Path(file))


# --- the database: a place that holds graphs ---


class LoggedDatabase(Database):
    kind = "demo"

    def __init__(self, inner: EmbeddedDatabase, file: Path) -> None:
        self._inner, self._file = inner, file

    async def load(self, graph: PropertyGraph) -> "LoggedStore":
        return LoggedStore(await self._inner.load(graph), self._file)

    async def close(self) -> None:
        await self._inner.close()


# --- one graph in it: read only ---


class LoggedStore(GraphStore):
    kind = "demo"

    def __init__(self, inner: GraphStore, file: Path) -> None:
        self._inner, self.graph, self._file = inner, inner.graph, file

    def render(self, template: str, identifiers: Mapping[str, str | int | Sequence[str]]) -> str:
        return self._inner.render(template, identifiers)

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        begun = perf_counter()
        rows = await self._inner.run(cypher, parameters)
        line = {"cypher": cypher, "rows": len(rows), "seconds": round(perf_counter() - begun, 6)}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return rows

    async def drop(self) -> None:
        await self._inner.drop()
