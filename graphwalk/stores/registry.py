"""Databases by name; other packages add theirs with entry points of the group `graphwalk.stores`."""

from typing import Protocol

from graphwalk.config.resources import Registry
from graphwalk.errors import ConfigError
from graphwalk.stores.base import Database
from graphwalk.variables import Variables

STORES = Registry(
    "store",
    "graphwalk.stores",
    {
        "embedded": "graphwalk.stores.embedded:open_embedded",
        "neo4j": "graphwalk.stores.neo4j.loaded:Neo4jDatabase.open",
    },
)


def queries_in_place(kind: str) -> bool:
    """Return True if a graph that is already in Neo4j is queried there; else a copy is loaded into the store."""
    return kind == "neo4j"


class OpenDatabase(Protocol):
    async def __call__(self, variables: Variables, *, run_id: str, timeout_seconds: float) -> Database:
        """Return a connected database. Raise StoreError if it cannot be reached or refuses the password."""
        ...


async def open_database(kind: str, variables: Variables, *, run_id: str, timeout_seconds: float = 30.0) -> Database:
    """Open a database by name: "embedded" (in this process), "neo4j" (NEO4J_URI, or that of `db up`), or a plug-in.

    `timeout_seconds`: limit of a query. Graphs of different `run_id`s are kept apart. Raise ConfigError for an unknown
    kind, StoreError if the database cannot be reached or refuses the password.
    """
    opener: OpenDatabase = STORES.load(kind)
    if not callable(opener):
        raise ConfigError(f"the store {kind!r} ({STORES.origin(kind)}) is not a function that opens a database")
    database = await opener(variables, run_id=run_id, timeout_seconds=timeout_seconds)
    if not isinstance(database, Database):
        raise ConfigError(
            f"the store {kind!r} ({STORES.origin(kind)}) must return a graphwalk.stores.base.Database",
            hint="derive its classes from Database and GraphStore: docs/extending.md",
        )
    return database
