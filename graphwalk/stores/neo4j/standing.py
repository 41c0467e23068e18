"""A Neo4j as it stands, opened to be walked: never changed, nothing of GraphWalk's own in it shown."""

import asyncio
from collections.abc import Mapping
from typing import Any

from neo4j.exceptions import Neo4jError

from graphwalk.config.graph_source import GraphSource
from graphwalk.environment import Environment
from graphwalk.errors import ConfigError, StoreError
from graphwalk.stores.cypher import KEY, Identifiers, render_cypher
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.naming import SECONDS, is_own, read_names, writable
from graphwalk.stores.neo4j.standing_dialect import StandingDialect
from graphwalk.stores.neo4j.values import SCALARS, plain
from graphwalk.stores.schema_queries import read_schema
from graphwalk.types.schema import NodeType, PropertyType, Schema
from graphwalk.types.values import Row

WAIT_SECONDS = 10.0
"""How long a database that stops answering is waited for: a person is in front of it."""


class StandingStore:
    """One database of a server, or a part of it. Every query runs in READ mode, in which the server refuses writes."""

    kind = "neo4j"

    def __init__(self, connection: Connection, dialect: StandingDialect, timeout_seconds: float) -> None:
        self.connection = connection
        self.dialect = dialect
        self._timeout_seconds = timeout_seconds
        self._schemas: dict[int, Schema] = {}

    @classmethod
    async def open(
        cls, source: GraphSource, environment: Environment, *, timeout_seconds: float = 30.0
    ) -> "StandingStore":
        """The database `source.neo4j` of the server at NEO4J_URI, or of the one that `db up` started.

        ConfigError for a filter that names what is not there; StoreError where the server has no such database (with
        those that it has), cannot be reached or refuses the password.
        """
        try:
            connection = await connect(environment, wait_seconds=WAIT_SECONDS, database=source.neo4j)
        except StoreError as error:
            raise await _no_database(source, environment, error) from error
        try:
            return cls(connection, await _dialect(connection, source), timeout_seconds)
        except BaseException:
            await connection.close()
            raise

    async def close(self) -> None:
        await self.connection.close()

    def render(self, template: str, identifiers: Identifiers) -> str:
        return render_cypher(template, identifiers, self.dialect)

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        found = await self.connection.read(cypher, parameters or {}, self._timeout_seconds)
        return [
            {n: v if v.__class__ in SCALARS else plain(v, None) for n, v in zip(names, values, strict=True)}
            for names, values in found
        ]

    async def schema(self, samples: int = 0) -> Schema:
        if samples not in self._schemas:

            async def query(template: str, identifiers: Identifiers, parameters: Mapping[str, Any]) -> list[Row]:
                return await self.run(self.render(template, identifiers), parameters)

            found = await read_schema(query, samples)
            key = PropertyType(KEY)
            nodes = tuple(NodeType(n.label, (key, *n.properties)) for n in found.nodes if not is_own(n.label))
            self._schemas[samples] = Schema(nodes, found.relationships)
        return self._schemas[samples]

    async def drop(self) -> None:
        """Nothing: the graph is not ours."""


async def _dialect(connection: Connection, source: GraphSource) -> StandingDialect:
    """How names are written for this database. ConfigError where the filter names what is not there."""
    labels, types, keys = await asyncio.gather(
        _column(connection, "CALL db.labels() YIELD label RETURN label"),
        _column(connection, "CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType"),
        _column(connection, "CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey"),
    )
    shown = [label for label in labels if not is_own(label) and writable(label)]
    _check_filter("label", source.labels, shown)
    _check_filter("relationship type", source.relationship_types, types)
    return StandingDialect(
        names=await read_names(connection, shown),
        hidden=tuple(sorted(filter(is_own, labels))),
        labels=source.labels,
        types=source.relationship_types,
        key_title=_free_title(keys),
    )


async def _column(connection: Connection, cypher: str) -> list[str]:
    return sorted(values[0] for _, values in await connection.read(cypher, {}, SECONDS))


def _check_filter(what: str, chosen: tuple[str, ...] | None, there: list[str]) -> None:
    missing = [name for name in chosen or () if name not in there]
    if chosen == () or missing:
        problem = f"no {what} {', '.join(map(repr, missing))}" if missing else f"an empty list of {what}s keeps nothing"
        raise ConfigError(f"the database has {problem}" if missing else problem, hint=f"there are: {', '.join(there)}")


def _free_title(keys: list[str]) -> str | None:
    """The name under which a property called `key` is shown: the first of key_, key__, … that no property has."""
    if KEY not in keys:
        return None
    title = f"{KEY}_"
    while title in keys:
        title += "_"
    return title


async def _no_database(source: GraphSource, environment: Environment, error: StoreError) -> StoreError:
    """The error itself or, where the server has no such database, one that names those that it has."""
    cause = error.__cause__
    if not isinstance(cause, Neo4jError) or not (cause.code or "").endswith("DatabaseNotFound"):
        return error
    own = {name: value for name, value in environment.variables.items() if name != "NEO4J_DATABASE"}
    try:
        connection = await connect(Environment(own), wait_seconds=WAIT_SECONDS)
        try:
            names = await _column(connection, "SHOW DATABASES YIELD name, type WHERE type <> 'system' RETURN name")
        finally:
            await connection.close()
    except StoreError:
        return error
    return StoreError(
        f"the server has no database {source.neo4j!r}",
        hint=f"its databases are: {', '.join(dict.fromkeys(names)) or 'none to see'}",
    )
