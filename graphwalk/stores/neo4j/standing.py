"""A Neo4j as it stands, opened to be walked: never changed, nothing of GraphWalk's own in it shown."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from neo4j.exceptions import Neo4jError

from graphwalk.config.graph_source import GraphSource
from graphwalk.environment import Environment
from graphwalk.errors import StoreAwayError, StoreError
from graphwalk.stores.cypher import KEY, Identifiers, quote, render_cypher
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.driver_values import native
from graphwalk.stores.neo4j.naming import SECONDS
from graphwalk.stores.neo4j.reading import read_shown
from graphwalk.stores.neo4j.standing_dialect import ID_OF, StandingDialect, read_dialect
from graphwalk.stores.neo4j.standing_schema import SchemaReader, read_standing_schema
from graphwalk.stores.neo4j.values import SCALARS, plain
from graphwalk.stores.outage import Gate
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import Point, Row, Temporal, Value, shown, shown_rows

WAIT_SECONDS = 10.0
"""How long a database that stops answering is waited for: a person is in front of it."""
_DATABASES = "SHOW DATABASES YIELD name, type WHERE type <> 'system' RETURN name"
_INDEXES = (
    "SHOW INDEXES YIELD entityType, labelsOrTypes, properties, type, state "
    "WHERE entityType = 'NODE' AND type IN ['RANGE', 'TEXT'] AND state = 'ONLINE' AND size(properties) = 1 "
    "RETURN labelsOrTypes[0], properties[0]"
)
_PULSE = "CALL db.info() YIELD id RETURN id, EXISTS { MATCH () } AS holds"
_OUR_KINDS = (Temporal, Point, tuple)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOOKED_UP = re.compile(rf"\${ID_OF}(\w+)")


class StandingStore:
    """One database of a server, or a part of it. Every query runs in READ mode, in which the server refuses writes."""

    kind = "neo4j"

    def __init__(self, connection: Connection, dialect: StandingDialect, timeout_seconds: float) -> None:
        self.connection = connection
        self.dialect = dialect
        self._timeout_seconds = timeout_seconds
        self._schemas: dict[int, Schema] = {}
        self._indexed: set[tuple[str, str]] | None = None
        self._pulse: list[Any] | None = None
        self.generation = 0

    @classmethod
    async def open(
        cls,
        source: GraphSource,
        environment: Environment,
        *,
        timeout_seconds: float = 30.0,
        wait_seconds: float = WAIT_SECONDS,
    ) -> "StandingStore":
        """The database `source.neo4j` of the server at NEO4J_URI, or of the one that `db up` started.

        ConfigError for a filter that names what is not there; StoreError where the server has no such database (with
        those that it has), cannot be reached or refuses the password.
        """
        try:
            connection = await connect(environment, wait_seconds=wait_seconds, database=source.neo4j)
        except StoreError as error:
            raise await _no_database(source, environment, error) from error.__cause__
        try:
            dialect = await read_dialect(connection, source.labels, source.relationship_types)
            store = cls(connection, dialect, timeout_seconds)
            store._pulse = await _pulse(connection)
            return store
        except BaseException:
            await connection.close()
            raise

    async def close(self) -> None:
        await self.connection.close()

    def wait_at(self, gate: Gate, digest: str | None = None) -> None:
        """See `Waits`. After an outage the content must be that of the digest."""

        async def prove(thoroughly: bool) -> None:
            direct = self.connection.at_once()
            if await _pulse(direct) != self._pulse:
                raise _another(self.connection.place)
            if thoroughly and digest is not None and (await read_shown(direct, self.dialect)).digest != digest:
                raise _another(self.connection.place)

        self.connection.wait_at(gate)
        self.connection.proofs.append(prove)

    async def prove(self, generation: int) -> None:
        """See `Provable`. Its owner may change it, which is looked for at the end of a run; it must not be gone."""
        if self._pulse is not None and await _pulse(self.connection) != self._pulse:
            await self.connection.gate.passed()

    def render(self, template: str, identifiers: Identifiers) -> str:
        return render_cypher(template, identifiers, self.dialect)

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return shown_rows(await self.values(cypher, parameters))

    async def values(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """See `GivesValues`."""
        return await self._rows(cypher, parameters or {}, self._timeout_seconds)

    async def _rows(
        self, cypher: str, parameters: Mapping[str, Any], seconds: float, most: int | None = None
    ) -> list[Row]:
        """Rows of a query, `most` of them at most; keys among the parameters are looked up first."""
        ids = {ID_OF + name: await self._element_id(parameters[name]) for name in set(_LOOKED_UP.findall(cypher))}
        for name in (name for name, value in parameters.items() if value != value):
            # Nothing equals NaN, and nothing else differs from itself.
            cypher = re.sub(rf"(\S+) = \${name}\b", r"\1 <> \1", cypher)
        given = {name: native(v) if isinstance(v, _OUR_KINDS) else v for name, v in parameters.items()} | ids
        found = await self.connection.read(cypher, given, seconds, most=most)
        return [
            {n: v if v.__class__ in SCALARS else plain(v, None) for n, v in zip(names, values, strict=True)}
            for names, values in found
        ]

    async def _element_id(self, key: Value) -> str | None:
        """The element id of the node with that key, None where there is none; a number stands for its digits."""
        text = key if isinstance(key, str) else json.dumps(shown(key))
        found = await self.connection.read(self.dialect.lookup, {"text": text}, self._timeout_seconds)
        return found[0][1][0] if found else None

    async def schema(self, samples: int = 0) -> Schema:
        if samples not in self._schemas:
            self._schemas[samples] = await read_standing_schema(self.connection, self.dialect, samples)
        return self._schemas[samples]

    async def look_closer(self, kind: Literal["node", "relationship"], name: str, samples: int) -> Schema:
        """See `Standing`."""
        schema = await self.schema(samples)
        reader = SchemaReader(self.connection, self.dialect, samples)
        if kind == "node":
            nodes = [await reader.node(n) if n.label == name and n.sampled == 0 else n for n in schema.nodes]
            schema = replace(schema, nodes=tuple(nodes))
        else:
            found = [
                await reader.relationship(r) if r.type == name and r.sampled == 0 else r for r in schema.relationships
            ]
            schema = replace(schema, relationships=tuple(found))
        self._schemas[samples] = schema
        return schema

    async def first(
        self, cypher: str, parameters: Mapping[str, Any], *, rows: int, seconds: float
    ) -> tuple[list[Row], int | None]:
        """See `Bounded`."""
        found = await self._rows(cypher, parameters, min(seconds, self._timeout_seconds), rows + 1)
        return shown_rows(found[:rows]), len(found) if len(found) <= rows else None

    async def missing_index(self, label: str, property_name: str) -> str | None:
        """See `Standing`. Keys are found by constraints and element ids; the indexes are read once."""
        if property_name == KEY or not label:
            return None
        stored = KEY if property_name == self.dialect.key_title else property_name
        if self._indexed is None:
            self._indexed = {(n[0], n[1]) for _, n in await self.connection.read(_INDEXES, {}, SECONDS)}
        if (label, stored) in self._indexed:
            return None
        return f"CREATE INDEX FOR (n:{_name(label)}) ON (n.{_name(stored)})"

    async def whole(self) -> PropertyGraph:
        """All that the store shows, in memory, under the same names."""
        return await read_shown(self.connection, self.dialect)

    async def drop(self) -> None:
        """Nothing: the graph is not ours."""


async def _pulse(connection: Connection) -> list[Any] | None:
    """What is another after a restart with other data: which database it is, and whether anything is in it.

    None where the server cannot tell.
    """
    try:
        found = await connection.read(_PULSE, {}, SECONDS)
    except StoreAwayError:
        raise
    except StoreError:
        return None
    return found[0][1]


def _another(place: str) -> StoreError:
    return StoreError(
        f"what stands in the Neo4j at {place} is not what the run began with", hint="start the one that was there"
    )


def _name(name: str) -> str:
    """A name as a person would write it: in back-ticks where it needs them."""
    return name if _PLAIN_NAME.fullmatch(name) else quote(name)


async def _no_database(source: GraphSource, environment: Environment, error: StoreError) -> StoreError:
    """The error itself or, where the server has no such database, one that names those that it has."""
    cause = error.__cause__
    if not isinstance(cause, Neo4jError) or not (cause.code or "").endswith("DatabaseNotFound"):
        return error
    own = {name: value for name, value in environment.variables.items() if name != "NEO4J_DATABASE"}
    try:
        connection = await connect(replace(environment, variables=own), wait_seconds=WAIT_SECONDS)
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
