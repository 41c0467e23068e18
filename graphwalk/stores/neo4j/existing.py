"""An existing Neo4j database: never changed, and without what GraphWalk itself put there."""

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from neo4j.exceptions import Neo4jError

from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import StoreAwayError, StoreError
from graphwalk.graphs.keys import apart_from_key
from graphwalk.settings import Settings
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher import KEY, Identifiers, quote, render_cypher
from graphwalk.stores.health import HealthCheck
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.existing_names import ID_OF, SECONDS, ExistingDialect, read_dialect
from graphwalk.stores.neo4j.existing_schema import SchemaReader, read_existing_schema
from graphwalk.stores.neo4j.values import SCALARS, native, plain
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.schema import Schema
from graphwalk.types.values import Point, Row, Temporal, Value, shown, shown_rows

WAIT_SECONDS = 10.0
"""How long a database that stops answering is waited for: a person is in front of it."""
PAGE = 10_000
"""Nodes or relationships of one query; they are found by their element ids, so that every page takes as long."""
READING_SECONDS = 300.0
"""For one query, the list of all element ids the longest of them."""
_NODES = (
    "MATCH (n{{ any_node }}) RETURN elementId(n)",
    "MATCH (n) WHERE elementId(n) IN $ids RETURN elementId(n), {{ 'n' | key_of }} AS key, labels(n), properties(n)",
)
_RELATIONSHIPS = (
    "MATCH ({{ any_node }})-[r{{ any_relationship }}]->({{ any_node }}) RETURN elementId(r)",
    "MATCH (a)-[r]->(b) WHERE elementId(r) IN $ids "
    "RETURN elementId(r), elementId(a), type(r), elementId(b), properties(r)",
)
"""The element ids of all, and what a page of them holds."""
_DATABASES = "SHOW DATABASES YIELD name, type WHERE type <> 'system' RETURN name"
_INDEXES = (
    "SHOW INDEXES YIELD entityType, labelsOrTypes, properties, type, state "
    "WHERE entityType = 'NODE' AND type IN ['RANGE', 'TEXT'] AND state = 'ONLINE' AND size(properties) = 1 "
    "RETURN labelsOrTypes[0], properties[0]"
)
_IDENTITY = "CALL db.info() YIELD id RETURN id, EXISTS { MATCH () } AS holds"
_OUR_KINDS = (Temporal, Point, tuple)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOOKED_UP = re.compile(rf"\${ID_OF}(\w+)")


class ExistingStore(GraphStore):
    """One database of a server, or a part of it. Every query runs in READ mode, in which the server refuses writes."""

    kind = "neo4j"
    in_neo4j = True

    def __init__(self, connection: Connection, dialect: ExistingDialect, timeout_seconds: float) -> None:
        self.connection = connection
        self.dialect = dialect
        self._timeout_seconds = timeout_seconds
        self._schemas: dict[int, Schema] = {}
        self._indexed: set[tuple[str, str]] | None = None
        self._identity: list[Any] | None = None

    @classmethod
    async def open(
        cls,
        source: GraphSource,
        settings: Settings,
        *,
        timeout_seconds: float = 30.0,
        wait_seconds: float = WAIT_SECONDS,
    ) -> "ExistingStore":
        """The database `source.neo4j` of the server at NEO4J_URI, or of the one that `db up` started.

        ConfigError for a filter that names what is not there; StoreError where the server has no such database (with
        those that it has), cannot be reached or refuses the password.
        """
        try:
            connection = await connect(settings, wait_seconds=wait_seconds, database=source.neo4j)
        except StoreError as error:
            raise await _no_database(source, settings, error) from error.__cause__
        try:
            dialect = await read_dialect(connection, source.labels, source.relationship_types)
            store = cls(connection, dialect, timeout_seconds)
            store._identity = await _identity(connection)
            return store
        except BaseException:
            await connection.close()
            raise

    async def close(self) -> None:
        await self.connection.close()

    def share_health_check(self, health: HealthCheck, digest: str | None = None) -> None:
        """See `GraphStore`. After an outage the content must be that of the digest."""

        async def check(thoroughly: bool) -> None:
            direct = self.connection.at_once()
            if await _identity(direct) != self._identity:
                raise _replaced(self.connection.place)
            if thoroughly and digest is not None and (await read_shown(direct, self.dialect)).digest != digest:
                raise _replaced(self.connection.place)

        self.connection.share_health_check(health)
        self.connection.content_checks.append(check)

    async def check_unchanged(self, generation: int) -> None:
        """See `GraphStore`. Its owner may change it, which is looked for at the end of a run; it must not be gone."""
        if self._identity is not None and await _identity(self.connection) != self._identity:
            await self.connection.health.passed()

    def render(self, template: str, identifiers: Identifiers) -> str:
        return render_cypher(template, identifiers, self.dialect)

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return shown_rows(await self.values(cypher, parameters))

    async def values(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """See `GraphStore`."""
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
        """Return the element id of the node with that key, None where there is none; a number counts as its digits."""
        text = key if isinstance(key, str) else json.dumps(shown(key))
        found = await self.connection.read(self.dialect.lookup, {"text": text}, self._timeout_seconds)
        return found[0][1][0] if found else None

    async def schema(self, samples: int = 0) -> Schema:
        if samples not in self._schemas:
            self._schemas[samples] = await read_existing_schema(self.connection, self.dialect, samples)
        return self._schemas[samples]

    async def look_closer(self, kind: Literal["node", "relationship"], name: str, samples: int) -> Schema:
        """See `GraphStore`."""
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
        """See `GraphStore`."""
        found = await self._rows(cypher, parameters, min(seconds, self._timeout_seconds), rows + 1)
        return shown_rows(found[:rows]), len(found) if len(found) <= rows else None

    async def missing_index(self, label: str, property_name: str) -> str | None:
        """See `GraphStore`. Keys are found by constraints and element ids; the indexes are read once."""
        if property_name == KEY or not label:
            return None
        stored = KEY if property_name == self.dialect.key_title else property_name
        if self._indexed is None:
            self._indexed = {(n[0], n[1]) for _, n in await self.connection.read(_INDEXES, {}, SECONDS)}
        if (label, stored) in self._indexed:
            return None
        return f"CREATE INDEX FOR (n:{_name(label)}) ON (n.{_name(stored)})"

    def unique_property(self, labels: Sequence[str], key: str) -> tuple[str, str, str | int] | None:
        return self.dialect.unique_property(labels, key)

    async def whole(self) -> PropertyGraph:
        """Return the whole graph, under the same names."""
        return await read_shown(self.connection, self.dialect)

    async def drop(self) -> None:
        """Nothing: the graph is not ours."""


async def _identity(connection: Connection) -> list[Any] | None:
    """Return the id of the database, and whether it holds anything: what differs after a restart with other data.

    None where the server cannot tell.
    """
    try:
        found = await connection.read(_IDENTITY, {}, SECONDS)
    except StoreAwayError:
        raise
    except StoreError:
        return None
    return found[0][1]


def _replaced(place: str) -> StoreError:
    return StoreError(
        f"the database in the Neo4j at {place} is not the one that the run began with", hint="start that one again"
    )


def _name(name: str) -> str:
    """Return a name in back-ticks where it needs them."""
    return name if _PLAIN_NAME.fullmatch(name) else quote(name)


async def _no_database(source: GraphSource, settings: Settings, error: StoreError) -> StoreError:
    """Return the error itself or, where the server has no such database, one that names the databases that it has."""
    cause = error.__cause__
    if not isinstance(cause, Neo4jError) or not (cause.code or "").endswith("DatabaseNotFound"):
        return error
    own = {name: value for name, value in settings.variables.items() if name != "NEO4J_DATABASE"}
    try:
        connection = await connect(replace(settings, variables=own), wait_seconds=WAIT_SECONDS)
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


async def read_whole(
    connection: Connection, labels: Sequence[str] | None = None, relationship_types: Sequence[str] | None = None
) -> PropertyGraph:
    """All nodes with one of the labels, and all relationships of these types between them; None: all there are.

    What GraphWalk itself put into the database is left out. ConfigError for a label or type that is not there,
    StoreError where the database cannot be read.
    """
    return await read_shown(connection, await read_dialect(connection, labels, relationship_types))


async def read_shown(connection: Connection, dialect: ExistingDialect) -> PropertyGraph:
    """All that the dialect shows, under the names that it gives."""
    keys: dict[str, str] = {}
    nodes = []
    async for element_id, key, names, properties in _rows(connection, *(_render(q, dialect) for q in _NODES)):
        keys[element_id] = key
        nodes.append(Node(key, tuple(sorted(names)), apart_from_key(_values(properties), key)))
    relationships = [
        Relationship(type_, keys[source], keys[target], _values(properties))
        async for _, source, type_, target, properties in _rows(
            connection, *(_render(q, dialect) for q in _RELATIONSHIPS)
        )
        if source in keys and target in keys
    ]
    return PropertyGraph.from_rows(nodes, relationships)


def _render(template: str, dialect: ExistingDialect) -> str:
    return render_cypher(template, {}, dialect)


async def _rows(connection: Connection, ids: str, page: str) -> AsyncIterator[list[Any]]:
    """The rows of all element ids that the query `ids` gives, in the order of their numbers, page by page."""
    found = sorted((values[0] for _, values in await connection.read(ids, {}, READING_SECONDS)), key=_number)
    for start in range(0, len(found), PAGE):
        part = found[start : start + PAGE]
        rows = [values for _, values in await connection.read(page, {"ids": part}, READING_SECONDS)]
        # A database may give them in any order, and the same database must give the same graph.
        place = {id_: position for position, id_ in enumerate(part)}
        for values in sorted(rows, key=lambda row: place[row[0]]):
            yield values


def _number(element_id: str) -> tuple[int, str]:
    """Element ids are "4:DATABASE:NUMBER"; what another server gives is ordered as text."""
    last = element_id.rpartition(":")[2]
    return (int(last) if last.isdecimal() else 0, element_id)


def _values(properties: Mapping[str, Any]) -> dict[str, Value]:
    return {name: _immutable(value) for name, value in plain(properties, None).items()}


def _immutable(value: Any) -> Value:
    found: Value = tuple(value) if isinstance(value, list) else value
    return found
