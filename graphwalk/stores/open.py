"""Databases by name."""

from graphwalk.errors import ConfigError
from graphwalk.settings import Settings
from graphwalk.stores.store import Database


async def open_database(
    kind: str, settings: Settings, *, run_id: str, timeout_seconds: float = 30.0, wait_seconds: float = 90.0
) -> Database:
    """A database, reached and ready: "embedded" (in this process) or "neo4j" (NEO4J_URI, or what `db up` started).

    A query ends after `timeout_seconds`; a database that stops answering is waited for `wait_seconds` in all. Graphs of
    one `run_id` are kept apart from those of others. ConfigError for an unknown kind, StoreError where the database
    cannot be reached or refuses the password.
    """
    if kind == "embedded":
        from graphwalk.stores.embedded import EmbeddedDatabase

        return EmbeddedDatabase(timeout_seconds=timeout_seconds)
    if kind == "neo4j":
        from graphwalk.stores.neo4j_store import Neo4jDatabase

        return await Neo4jDatabase.open(
            settings, run_id=run_id, timeout_seconds=timeout_seconds, wait_seconds=wait_seconds
        )
    raise ConfigError(f"there is no store of kind {kind!r}", hint="use embedded or neo4j")
