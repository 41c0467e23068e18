"""An existing Neo4j database: never changed, and without what GraphWalk itself put there."""

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Literal

from neo4j.exceptions import Neo4jError

from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import StoreAwayError, StoreError
from graphwalk.graphs.formats.common import apart_from_key
from graphwalk.settings import Settings
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher import KEY, Identifiers, quote, render_cypher
from graphwalk.stores.health import HealthCheck
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.existing_names import ID_OF, ExistingDialect, read_dialect, writable
from graphwalk.stores.neo4j.values import SCALARS, native, plain
from graphwalk.types.graph import Node, PropertyGraph, Relationship, value_order
from graphwalk.types.schema import NodeType, PropertyType, RelationshipType, Schema
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
SAMPLED = 1000
"""Nodes of a label, relationships of a type."""
FURTHEST = 100_000
"""How far from the first the other half of a sample begins, at most."""
LOOKED_AT_ONCE = 24
"""Labels and types up to which all are looked at."""
COUNTED = 100_000
"""What the server keeps no counts of, because of a filter, is counted up to here."""
AT_ONCE = 50
"""Counts that one query asks for."""
LONGEST_SAMPLE = 80
_UNLABELLED = "MATCH (n) WITH n LIMIT 200000 WHERE n:!% RETURN count(n)"
_NODE_SAMPLE = "MATCH (e:{{ name | label }}) WITH e SKIP $skip LIMIT $most "
_RELATIONSHIP_SAMPLE = "MATCH ({{ any_node }})-[e:{{ name | type }}]->({{ any_node }}) WITH e SKIP $skip LIMIT $most "
_HELD = (
    "UNWIND keys(e) AS name WITH name, e[name] AS value WITH name, valueType(value) AS kind, "
    "CASE WHEN value IS :: STRING NOT NULL AND size(value) > $longest OR valueType(value) STARTS WITH 'LIST' "
    "THEN null ELSE value END AS value "
    "RETURN name, collect(DISTINCT kind), collect(DISTINCT value)[..$samples]"
)
_COUNT_BETWEEN = "MATCH ({{ any_node }})-[e:{{ name | type }}]->({{ any_node }}) WITH e LIMIT $most RETURN count(e)"
_ENDS = "RETURN DISTINCT labels(startNode(e)), labels(endNode(e))"
_KEYS = "MATCH (e:{{ name | label }}) WITH e LIMIT $samples RETURN {{ 'e' | key_of }}"
_KINDS = {"STRING": "text", "ZONED DATETIME": "datetime", "ZONED TIME": "time"}
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
        found = await self.connection.rows(self.dialect.lookup, self._timeout_seconds, text=text)
        return found[0][0] if found else None

    async def schema(self, samples: int = 0) -> Schema:
        if samples not in self._schemas:
            self._schemas[samples] = await SchemaReader(self.connection, self.dialect, samples).schema()
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
            self._indexed = {(label, name) for label, name in await self.connection.rows(_INDEXES)}
        if (label, stored) in self._indexed:
            return None
        return f"CREATE INDEX FOR (n:{_name(label)}) ON (n.{_name(stored)})"

    def unique_property(self, labels: Sequence[str], key: str) -> tuple[str, str, str | int] | None:
        return self.dialect.unique_property(labels, key)

    async def read_graph(self) -> PropertyGraph:
        """See `GraphStore`. Page by page, under the same names."""
        return await read_shown(self.connection, self.dialect)

    async def drop(self) -> None:
        """Nothing: the graph is not ours."""


async def _identity(connection: Connection) -> list[Any] | None:
    """Return the id of the database, and whether it holds anything: what differs after a restart with other data.

    None where the server cannot tell.
    """
    try:
        return (await connection.rows(_IDENTITY))[0]
    except StoreAwayError:
        raise
    except StoreError:
        return None


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
            names = await connection.rows(_DATABASES)
        finally:
            await connection.close()
    except StoreError:
        return error
    return StoreError(
        f"the server has no database {source.neo4j!r}",
        hint=f"its databases are: {', '.join(sorted({name for (name,) in names})) or 'none to see'}",
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
    async for element_id, key, names, properties in _rows(connection, *(render_cypher(q, {}, dialect) for q in _NODES)):
        keys[element_id] = key
        nodes.append(Node(key, tuple(sorted(names)), apart_from_key(_values(properties), key)))
    relationships = [
        Relationship(type_, keys[source], keys[target], _values(properties))
        async for _, source, type_, target, properties in _rows(
            connection, *(render_cypher(q, {}, dialect) for q in _RELATIONSHIPS)
        )
        if source in keys and target in keys
    ]
    return PropertyGraph.from_rows(nodes, relationships)


async def _rows(connection: Connection, ids: str, page: str) -> AsyncIterator[list[Any]]:
    """The rows of all element ids that the query `ids` gives, in the order of their numbers, page by page."""

    def number(element_id: str) -> tuple[int, str]:
        """Element ids are "4:DATABASE:NUMBER"; what another server gives is ordered as text."""
        last = element_id.rpartition(":")[2]
        return (int(last) if last.isdecimal() else 0, element_id)

    found = sorted((row[0] for row in await connection.rows(ids, READING_SECONDS)), key=number)
    for start in range(0, len(found), PAGE):
        part = found[start : start + PAGE]
        rows = await connection.rows(page, READING_SECONDS, ids=part)
        # A database may give them in any order, and the same database must give the same graph.
        place = {id_: position for position, id_ in enumerate(part)}
        for values in sorted(rows, key=lambda row: place[row[0]]):
            yield values


def _values(properties: Mapping[str, Any]) -> dict[str, Value]:
    values = plain(properties, None)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


class SchemaReader:
    """Questions about one database, as far as its dialect shows it."""

    def __init__(self, connection: Connection, dialect: ExistingDialect, samples: int) -> None:
        self._rows = connection.rows
        self._dialect = dialect
        self._samples = samples

    async def schema(self) -> Schema:
        """Return labels and types with their counts; with properties where there are few, else see `look_closer`."""
        labels, types, names = await asyncio.gather(self.labels(), self.types(), self.property_names())
        nodes = [NodeType(label, (PropertyType(KEY),), count, 0) for label, count in labels]
        relationships = [RelationshipType(type_, (), (), count, 0) for type_, count in types]
        if len(nodes) + len(relationships) <= LOOKED_AT_ONCE:
            nodes = await asyncio.gather(*map(self.node, nodes))
            relationships = await asyncio.gather(*map(self.relationship, relationships))
        return Schema(
            tuple(sorted(nodes, key=lambda n: n.label)),
            tuple(sorted(relationships, key=lambda r: r.type)),
            several_labels=True,
            lists=True,
            other_properties=names,
        )

    def _render(self, template: str, name: str = "") -> str:
        return render_cypher(template, {"name": name}, self._dialect)

    async def labels(self) -> list[tuple[str, int | None]]:
        """Labels of nodes that are shown, with the number of these; "" for nodes without labels."""
        there = [row[0] for row in await self._rows("CALL db.labels() YIELD label RETURN label")]
        shown = [name for name in there if writable(name) and name not in self._dialect.hidden]
        if self._dialect.labels is not None:
            return await self._chosen_labels(shown)
        counts = await self._counts(f"(:{quote(name)})" for name in shown)
        hidden = await self._of_hidden("MATCH (n:{}) UNWIND labels(n) AS name RETURN name, count(*)")
        [[unlabelled]] = await self._rows(_UNLABELLED)
        found = [(name, count - hidden[name]) for name, count in zip(shown, counts, strict=True)]
        return [(name, count) for name, count in [*found, ("", unlabelled)] if count > 0]

    async def _chosen_labels(self, shown: Sequence[str]) -> list[tuple[str, int | None]]:
        """The chosen labels, and those that a sample of their nodes has beside them."""
        beside = "MATCH (n:{{ name | label }}) WITH n LIMIT $most UNWIND labels(n) AS l RETURN DISTINCT l"
        chosen = self._dialect.labels or ()
        rows = await asyncio.gather(*(self._rows(self._render(beside, name), most=SAMPLED) for name in chosen))
        names = sorted({row[0] for found in rows for row in found} & set(shown))
        return await self._counted(names, "MATCH (e:{{ name | label }}) WITH e LIMIT $most RETURN count(e)")

    async def types(self) -> list[tuple[str, int | None]]:
        """Types of relationships that are shown, with the number of these; None where it is not known."""
        there = [row[0] for row in await self._rows("CALL db.relationshipTypes() YIELD relationshipType AS t RETURN t")]
        chosen = self._dialect.types
        shown = [name for name in there if writable(name) and (chosen is None or name in chosen)]
        if self._dialect.labels is not None:
            return await self._counted(shown, _COUNT_BETWEEN)
        counts = await self._counts(f"()-[:{quote(name)}]->()" for name in shown)
        hidden = await self._of_hidden("MATCH (:{})-[r]->() RETURN type(r), count(*)")
        found = [(name, count - hidden[name]) for name, count in zip(shown, counts, strict=True)]
        return [(name, count) for name, count in found if count > 0]

    async def property_names(self) -> tuple[str, ...]:
        """All that some node or relationship has or had."""
        there = {row[0] for row in await self._rows("CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey")}
        return tuple(sorted(name for name in {*(there - {KEY}), self._dialect.key_title} if name and writable(name)))

    async def _counts(self, patterns: Iterable[str]) -> list[int]:
        """How many matches each pattern has; the server knows without looking for them."""
        counts: list[int] = []
        asked = list(patterns)
        for start in range(0, len(asked), AT_ONCE):
            columns = [f"COUNT {{ {pattern} }} AS c{n}" for n, pattern in enumerate(asked[start : start + AT_ONCE])]
            counts += (await self._rows(f"RETURN {', '.join(columns)}"))[0]
        return counts

    async def _of_hidden(self, query: str) -> dict[str, int]:
        """How many of each name are hidden."""
        found: dict[str, int] = defaultdict(int)
        if self._dialect.hidden:
            for name, count in await self._rows(query.format("|".join(map(quote, self._dialect.hidden)))):
                found[name] = count
        return found

    async def _counted(self, names: Sequence[str], query: str) -> list[tuple[str, int | None]]:
        """What the server keeps no counts of, counted so far as is quickly done; without what there is none of."""
        rows = await asyncio.gather(*(self._rows(self._render(query, name), most=COUNTED + 1) for name in names))
        counts = [row[0][0] for row in rows]
        return [(name, n if n <= COUNTED else None) for name, n in zip(names, counts, strict=True) if n]

    async def node(self, node: NodeType) -> NodeType:
        """The label with what a sample of its nodes has."""
        properties = self._properties(await self._sample(_NODE_SAMPLE + _HELD, node.label, node.count))
        keys = await self._rows(self._render(_KEYS, node.label), samples=self._samples) if self._samples else []
        key = PropertyType(KEY, tuple(sorted(row[0] for row in keys)), kinds=("text",))
        return NodeType(node.label, (key, *self._without_key(node.label, properties)), node.count, _sampled(node.count))

    async def relationship(self, relationship: RelationshipType) -> RelationshipType:
        """The type with the labels that it joins, and what it has, in a sample."""
        name, count = relationship.type, relationship.count
        properties = self._properties(await self._sample(_RELATIONSHIP_SAMPLE + _HELD, name, count))
        ends = await self._sample(_RELATIONSHIP_SAMPLE + _ENDS, name, count)
        pairs = {pair for sources, targets in ends for pair in product(sources or [""], targets or [""])}
        return RelationshipType(name, tuple(sorted(pairs)), properties, count, _sampled(count))

    def _without_key(self, label: str, properties: Iterable[PropertyType]) -> Iterator[PropertyType]:
        """Properties under the names that they are shown by: one called `key` by another, unless it is the key."""
        named = any(unique.label == label and unique.property == KEY for unique in self._dialect.names.uniques)
        title = None if named else self._dialect.key_title
        for property_ in properties:
            if property_.name != KEY:
                yield property_
            elif title is not None:
                yield replace(property_, name=title)

    async def _sample(self, query: str, name: str, count: int | None) -> list[list[Any]]:
        """Rows about the first and, where there are more than a sample holds, about some from the middle or far on."""
        given = {"longest": LONGEST_SAMPLE, "samples": self._samples} if query.endswith(_HELD) else {}
        cypher = self._render(query, name)
        if _sampled(count) == count:
            return await self._rows(cypher, skip=0, most=SAMPLED, **given)
        further = min((count or 2 * FURTHEST) // 2, FURTHEST)
        halves = [self._rows(cypher, skip=skip, most=SAMPLED // 2, **given) for skip in (0, further)]
        return [row for rows in await asyncio.gather(*halves) for row in rows]

    def _properties(self, rows: Sequence[list[Any]]) -> tuple[PropertyType, ...]:
        """One of each name; both halves of a sample may have it."""
        kinds: dict[str, set[str]] = defaultdict(set)
        values: dict[str, dict[tuple[int, Any], Value]] = defaultdict(dict)
        for name, held, some in rows:
            kinds[name] |= {_kind(kind) for kind in held}
            values[name] |= {value_order(value): value for value in plain(some, None)}
        return tuple(
            PropertyType(
                name,
                tuple(values[name][o] for o in sorted(values[name])[: self._samples]),
                False,
                tuple(sorted(kinds[name])),
            )
            for name in sorted(filter(writable, kinds))
        )


def _sampled(count: int | None) -> int:
    """How many of so many are looked at."""
    return SAMPLED if count is None else min(count, SAMPLED)


def _kind(value_type: str) -> str:
    """What Neo4j calls a type of values, as people call it."""
    name = value_type.removesuffix(" NOT NULL")
    return "list" if name.startswith("LIST") else _KINDS.get(name, name.lower())
