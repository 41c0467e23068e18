"""The store `NAME`: here the embedded engine; put your database in its place."""

from collections.abc import Mapping
from typing import Any

from graphwalk.extend import Database, EmbeddedDatabase, GraphStore, Identifiers, PropertyGraph, Row, Variables


async def open_store(variables: Variables, *, run_id: str, timeout_seconds: float) -> "OwnDatabase":
    """Connect, by addresses and keys in `variables`. Raise StoreError if the database cannot be reached."""
    return OwnDatabase(timeout_seconds)


class OwnDatabase(Database):
    """A database that holds many graphs."""

    kind = "NAME"

    def __init__(self, timeout_seconds: float) -> None:
        self._engine = EmbeddedDatabase(timeout_seconds=timeout_seconds)

    async def load(self, graph: PropertyGraph) -> "OwnStore":
        return OwnStore(await self._engine.load(graph))

    async def close(self) -> None:
        await self._engine.close()


class OwnStore(GraphStore):
    """One graph, read only. `GraphStore` has a default for every other method."""

    kind = "NAME"

    def __init__(self, inner: GraphStore) -> None:
        self._inner = inner

    def render(self, template: str, identifiers: Identifiers) -> str:
        return self._inner.render(template, identifiers)

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return await self._inner.run(cypher, parameters)

    async def drop(self) -> None:
        await self._inner.drop()
