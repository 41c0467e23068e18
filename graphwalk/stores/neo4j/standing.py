"""A Neo4j as it stands, opened to be walked: never changed, nothing of GraphWalk's own in it shown."""

import json
import re
from collections.abc import Mapping
from typing import Any

from neo4j.exceptions import Neo4jError

from graphwalk.config.graph_source import GraphSource
from graphwalk.environment import Environment
from graphwalk.errors import StoreError
from graphwalk.stores.cypher import KEY, Identifiers, render_cypher
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.naming import SECONDS, is_own
from graphwalk.stores.neo4j.reading import read_shown
from graphwalk.stores.neo4j.standing_dialect import ID_OF, StandingDialect, read_dialect
from graphwalk.stores.neo4j.values import SCALARS, plain
from graphwalk.stores.schema_queries import read_schema
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import NodeType, PropertyType, Schema
from graphwalk.types.values import Row, Value

WAIT_SECONDS = 10.0
"""How long a database that stops answering is waited for: a person is in front of it."""
_DATABASES = "SHOW DATABASES YIELD name, type WHERE type <> 'system' RETURN name"
_LOOKED_UP = re.compile(rf"\${ID_OF}(\w+)")


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
            raise await _no_database(source, environment, error) from error.__cause__
        try:
            return cls(
                connection, await read_dialect(connection, source.labels, source.relationship_types), timeout_seconds
            )
        except BaseException:
            await connection.close()
            raise

    async def close(self) -> None:
        await self.connection.close()

    def render(self, template: str, identifiers: Identifiers) -> str:
        return render_cypher(template, identifiers, self.dialect)

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return await self._rows(cypher, parameters or {}, self._timeout_seconds)

    async def _rows(
        self, cypher: str, parameters: Mapping[str, Any], seconds: float, most: int | None = None
    ) -> list[Row]:
        """Rows of a query, `most` of them at most; keys among the parameters are looked up first."""
        ids = {name: await self._element_id(parameters[name]) for name in set(_LOOKED_UP.findall(cypher))}
        given = {**parameters, **{ID_OF + name: id_ for name, id_ in ids.items()}}
        found = await self.connection.read(cypher, given, seconds, most=most)
        return [
            {n: v if v.__class__ in SCALARS else plain(v, None) for n, v in zip(names, values, strict=True)}
            for names, values in found
        ]

    async def _element_id(self, key: Value) -> str | None:
        """The element id of the node with that key, None where there is none; a number stands for its digits."""
        text = key if isinstance(key, str) else json.dumps(key)
        found = await self.connection.read(self.dialect.lookup, {"text": text}, self._timeout_seconds)
        return found[0][1][0] if found else None

    async def schema(self, samples: int = 0) -> Schema:
        if samples not in self._schemas:

            async def query(template: str, identifiers: Identifiers, parameters: Mapping[str, Any]) -> list[Row]:
                return await self.run(self.render(template, identifiers), parameters)

            found = await read_schema(query, samples)
            key = PropertyType(KEY)
            nodes = tuple(NodeType(n.label, (key, *n.properties)) for n in found.nodes if not is_own(n.label))
            self._schemas[samples] = Schema(nodes, found.relationships)
        return self._schemas[samples]

    async def whole(self) -> PropertyGraph:
        """All that the store shows, in memory, under the same names."""
        return await read_shown(self.connection, self.dialect)

    async def drop(self) -> None:
        """Nothing: the graph is not ours."""


async def _no_database(source: GraphSource, environment: Environment, error: StoreError) -> StoreError:
    """The error itself or, where the server has no such database, one that names those that it has."""
    cause = error.__cause__
    if not isinstance(cause, Neo4jError) or not (cause.code or "").endswith("DatabaseNotFound"):
        return error
    own = {name: value for name, value in environment.variables.items() if name != "NEO4J_DATABASE"}
    try:
        connection = await connect(Environment(own), wait_seconds=WAIT_SECONDS)
        try:
            names = await connection.read(_DATABASES, {}, SECONDS)
        finally:
            await connection.close()
    except StoreError:
        return error
    return StoreError(
        f"the server has no database {source.neo4j!r}",
        hint=f"its databases are: {', '.join(sorted({n[0] for _, n in names})) or 'none to see'}",
    )
