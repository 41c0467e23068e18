"""Databases by name; other packages add theirs through entry points of the group `graphwalk.stores`."""

from typing import Protocol

from graphwalk.errors import ConfigError
from graphwalk.plugins import Registry
from graphwalk.settings import Settings
from graphwalk.stores.base import Database

STORES = Registry(
    "store",
    "graphwalk.stores",
    {
        "embedded": "graphwalk.stores.embedded:open_embedded",
        "neo4j": "graphwalk.stores.neo4j.loaded:Neo4jDatabase.open",
    },
)


def queries_in_place(kind: str) -> bool:
    """Return True if a graph that is in a Neo4j already is queried there; otherwise a copy is loaded into the store."""
    return kind == "neo4j"


class OpenDatabase(Protocol):
    """The function that a store is registered with."""

    async def __call__(
        self, settings: Settings, *, run_id: str, timeout_seconds: float, wait_seconds: float
    ) -> Database:
        """A database, reached and ready. StoreError where it cannot be reached or refuses the password."""
        ...


async def open_database(
    kind: str, settings: Settings, *, run_id: str, timeout_seconds: float = 30.0, wait_seconds: float = 90.0
) -> Database:
    """A database by name: "embedded" (in this process), "neo4j" (NEO4J_URI, or what `db up` started), or a plug-in.

    A query ends after `timeout_seconds`; a database that stops answering is waited for `wait_seconds` in all. Graphs of
    one `run_id` are kept apart from those of others. ConfigError for an unknown kind, StoreError where the database
    cannot be reached or refuses the password.
    """
    opener: OpenDatabase = STORES.load(kind)
    if not callable(opener):
        raise ConfigError(f"the store {kind!r} ({STORES.origin(kind)}) is not a function that opens a database")
    found = await opener(settings, run_id=run_id, timeout_seconds=timeout_seconds, wait_seconds=wait_seconds)
    if not isinstance(found, Database):
        raise ConfigError(
            f"the store {kind!r} ({STORES.origin(kind)}) must return a graphwalk.stores.base.Database",
            hint="derive its classes from Database and GraphStore: docs/extending.md",
        )
    return found
