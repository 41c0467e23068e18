"""An existing Neo4j database, read-only and without the graphs that GraphWalk loaded."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Literal

from neo4j.exceptions import Neo4jError

from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import StoreError
from graphwalk.graphs.formats.common import apart_from_key
from graphwalk.stores.base import Closing, GraphStore
from graphwalk.stores.cypher import quote, render_cypher
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.existing_names import ID_OF, ExistingDialect, lookup_values, read_dialect, writable
from graphwalk.stores.neo4j.existing_search import NodeIndex, read_indexes, search_existing
from graphwalk.stores.neo4j.values import SCALARS, native, plain
from graphwalk.stores.search import SearchResult
from graphwalk.types.graph import KEY, Node, PropertyGraph, Relationship, value_order
from graphwalk.types.schema import NodeType, PropertyType, RelationshipType, Schema
from graphwalk.types.values import Point, Row, Temporal, Value, shown, shown_rows
from graphwalk.variables import Variables

PAGE = 10_000
"""Nodes or relationships per query; they are found by element id, so that every page takes equally long."""
LOOKING_SECONDS = 10.0
"""For a search of a property; it reads all nodes of the label if no node has it."""
READING_SECONDS = 300.0
"""For one query; the list of all element ids takes longest."""
_NODES = (
    "MATCH (n{{ any_node }}) RETURN elementId(n)",
    "MATCH (n) WHERE elementId(n) IN $ids RETURN elementId(n), {{ 'n' | key_of }} AS key, labels(n), properties(n)",
)
_RELATIONSHIPS = (
    "MATCH ({{ any_node }})-[r{{ any_relationship }}]->({{ any_node }}) RETURN elementId(r)",
    "MATCH (a)-[r]->(b) WHERE elementId(r) IN $ids "
    "RETURN elementId(r), elementId(a), type(r), elementId(b), properties(r)",
)
"""All element ids, and the rows of one page of them."""
_DATABASES = "SHOW DATABASES YIELD name, type WHERE type <> 'system' RETURN name"
_PROPERTIES = "CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey"
SAMPLED = 1000
"""Nodes per label and relationships per type."""
LOOKED_AT_ONCE = 24
"""Number of labels and types up to which all are sampled at once."""
COUNTED = 100_000
"""Limit of a count for which the server has no statistics, because of a filter."""
AT_ONCE = 50
"""Counts per query."""
LONGEST_SAMPLE = 80
_UNLABELLED = "MATCH (n) WITH n LIMIT 200000 WHERE n:!% RETURN count(n)"
_NODE = "MATCH (e:{{ name | label }}) "
_RELATIONSHIP = "MATCH ({{ any_node }})-[e:{{ name | type }}]->({{ any_node }}) "
_NODE_SAMPLE = f"{_NODE} WITH e LIMIT $most "
_RELATIONSHIP_SAMPLE = f"{_RELATIONSHIP} WITH e LIMIT $most "
_FIRST = "WHERE {0} IS NOT NULL RETURN valueType({0}) LIMIT 1"
_NODE_FIRST = _NODE + _FIRST.replace("{0}", '{{ title | of("e", name) }}')
_RELATIONSHIP_FIRST = _RELATIONSHIP + _FIRST.replace("{0}", "e.{{ title | property }}")
_HELD = (
    "UNWIND keys(e) AS name WITH name, e[name] AS value WITH name, valueType(value) AS kind, "
    "CASE WHEN value IS :: STRING NOT NULL AND size(value) > $longest OR valueType(value) STARTS WITH 'LIST' "
    "THEN null ELSE value END AS value "
    "RETURN name, collect(DISTINCT kind), collect(DISTINCT value)[..$samples]"
)
_ENDS = "RETURN DISTINCT labels(startNode(e)), labels(endNode(e))"
_KEYS = "MATCH (e:{{ name | label }}) WITH e LIMIT $samples RETURN {{ 'e' | key_of }}"
_KINDS = {"STRING": "text", "ZONED DATETIME": "datetime", "ZONED TIME": "time"}
_OUR_KINDS = (Temporal, Point, tuple)
_LOOKED_UP = re.compile(rf"\${ID_OF}(\w+)")


class ExistingStore(Closing, GraphStore):
    """One database of a server, or a part of it. Every query runs in READ mode, in which the server refuses writes."""

    kind = "neo4j"
    in_neo4j = True

    def __init__(self, connection: Connection, dialect: ExistingDialect, timeout_seconds: float) -> None:
        self.connection = connection
        self.dialect: ExistingDialect = dialect
        self._timeout_seconds = timeout_seconds
        self._schemas: dict[int, Schema] = {}
        self._indexes: list[NodeIndex] = []

    @classmethod
    async def open(
        cls,
        source: GraphSource,
        variables: Variables,
        *,
        timeout_seconds: float = 30.0,
    ) -> "ExistingStore":
        """Open the database `source.neo4j` of the server at NEO4J_URI, or of the one that `db up` started.

        Raise ConfigError for a filter with an unknown label or type; StoreError if the server cannot be reached,
        refuses the password or has no such database (the error lists its databases).
        """
        try:
            connection = await connect(variables, database=source.neo4j)
        except StoreError as error:
            raise await _no_database(source, variables, error) from error.__cause__
        try:
            dialect = await read_dialect(connection, source.labels, source.relationship_types, source.key)
            store = cls(connection, dialect, timeout_seconds)
            store._indexes = await read_indexes(connection)
            return store
        except BaseException:
            await connection.close()
            raise

    async def close(self) -> None:
        await self.connection.close()

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return shown_rows(await self.values(cypher, parameters))

    async def values(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return await self.rows_within(cypher, parameters or {}, self._timeout_seconds)

    async def rows_within(
        self, cypher: str, parameters: Mapping[str, Any], seconds: float, most: int | None = None
    ) -> list[Row]:
        """Return at most `most` rows of a query; keys among the parameters are looked up first."""
        ids = {}
        for name in set(_LOOKED_UP.findall(cypher)):
            key = parameters[name]
            text = key if isinstance(key, str) else json.dumps(shown(key))
            nodes = await self.connection.rows(self.dialect.lookup, self._timeout_seconds, values=lookup_values(text))
            ids[ID_OF + name] = [node[0] for node in nodes]
        for name in (name for name, value in parameters.items() if value != value):
            # Only NaN differs from itself.
            cypher = re.sub(rf"(\w+\.`(?:[^`]|``)*`) = \${name}\b", r"\1 <> \1", cypher)
        for name, value in parameters.items():
            if isinstance(value, Temporal) and native(value) is None:
                # The driver cannot hold the value, and Cypher can.
                parameters = {**parameters, name: value.text}
                cypher = re.sub(rf"\${name}\b", f"{value.kind.replace(' ', '')}(${name})", cypher)
        native_values = {name: native(v) if isinstance(v, _OUR_KINDS) else v for name, v in parameters.items()} | ids
        records = await self.connection.read(cypher, native_values, seconds, most=most)
        return [
            {n: v if v.__class__ in SCALARS else plain(v, None) for n, v in zip(names, values, strict=True)}
            for names, values in records
        ]

    async def schema(self, samples: int = 0) -> Schema:
        if samples not in self._schemas:
            self._schemas[samples] = await SchemaReader(self.connection, self.dialect, samples).schema()
        return self._schemas[samples]

    async def look_closer(
        self, kind: Literal["node", "relationship"], name: str, samples: int, properties: Sequence[str] = ()
    ) -> Schema:
        schema, reader = await self.schema(samples), SchemaReader(self.connection, self.dialect, samples)
        entity = schema.node(name) if kind == "node" else schema.relationship(name)
        if entity is None:
            return schema
        if entity.sampled == 0:
            entity = await (reader.node(entity) if isinstance(entity, NodeType) else reader.relationship(entity))
        entity = await reader.with_properties(entity, properties)
        # Another call may have looked closer meanwhile.
        self._schemas[samples] = self._schemas[samples].with_properties_of(entity)
        return self._schemas[samples]

    async def first(
        self, cypher: str, parameters: Mapping[str, Any], *, rows: int, seconds: float
    ) -> tuple[list[Row], int | None]:
        first_rows = await self.rows_within(cypher, parameters, min(seconds, self._timeout_seconds), rows + 1)
        return shown_rows(first_rows[:rows]), len(first_rows) if len(first_rows) <= rows else None

    async def search(self, text: str, label: str | None = None, seconds: float | None = None) -> SearchResult:
        """See `GraphStore`. Indexes of the database are used, else the texts of its nodes are read."""
        schema = next(iter(self._schemas.values()), None) or await self.schema()  # all have the same names
        limit = min(seconds or self._timeout_seconds, self._timeout_seconds)
        return await search_existing(self.dialect, self.rows_within, self._indexes, schema, text, label, limit)

    async def read_graph(self) -> PropertyGraph:
        """See `GraphStore`. The graph is read page by page."""
        return await read_whole(self.connection, self.dialect)

    async def drop(self) -> None:
        """Do nothing: the graph is not ours."""


async def _no_database(source: GraphSource, variables: Variables, error: StoreError) -> StoreError:
    """Return the error itself or, for an unknown database, one that lists the databases of the server."""
    cause = error.__cause__
    if not isinstance(cause, Neo4jError) or not (cause.code or "").endswith("DatabaseNotFound"):
        return error
    own = {name: value for name, value in variables.values.items() if name != "NEO4J_DATABASE"}
    try:
        async with await connect(replace(variables, values=own)) as connection:
            names = await connection.rows(_DATABASES)
    except StoreError:
        return error
    return StoreError(
        f"the server has no database {source.neo4j!r}",
        hint=f"its databases are: {', '.join(sorted({name for (name,) in names})) or 'none to see'}",
    )


async def read_whole(connection: Connection, dialect: ExistingDialect) -> PropertyGraph:
    """Return all that the dialect shows, under the names that it gives; loaded graphs of GraphWalk are left out.

    Raise StoreError if the database cannot be read.
    """

    async def pages(queries: tuple[str, str]) -> AsyncIterator[list[Any]]:
        """Yield the rows of all element ids, ordered by number: the same database must give the same graph."""
        ids, page = (render_cypher(query, {}, dialect) for query in queries)
        element_ids = sorted((row[0] for row in await connection.rows(ids, READING_SECONDS)), key=_number)
        for start in range(0, len(element_ids), PAGE):
            rows = await connection.rows(page, READING_SECONDS, ids=element_ids[start : start + PAGE])
            for row in sorted(rows, key=lambda row: _number(row[0])):
                yield row

    keys: dict[str, str] = {}
    seen = set[str]()
    nodes = []
    async for element_id, key, names, properties in pages(_NODES):
        if key in seen:
            raise StoreError(f"two nodes have the key {key!r}", hint="choose a property that is unique: --key PROPERTY")
        keys[element_id] = key
        seen.add(key)
        values = _values(f"node {key}", properties)
        nodes.append(Node(key, tuple(sorted(names)), apart_from_key(values, key)))
    relationships = [
        Relationship(type_, keys[source], keys[target], _values(f"relationship {type_} of {keys[source]}", properties))
        async for _, source, type_, target, properties in pages(_RELATIONSHIPS)
        if source in keys and target in keys
    ]
    return PropertyGraph.from_rows(nodes, relationships)


def _number(element_id: str) -> tuple[int, str]:
    """Sort key of element ids: "4:DATABASE:NUMBER", or as text if they have another form."""
    last = element_id.rpartition(":")[2]
    return (int(last) if last.isdecimal() else 0, element_id)


def _values(owner: str, properties: Mapping[str, Any]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for name, held in sorted(properties.items()):
        try:
            value = plain(held, None)
        except StoreError as error:
            raise StoreError(f"{owner}, property {name}: {error}", hint=error.hint) from error
        values[name] = tuple(value) if isinstance(value, list) else value
    return values


class SchemaReader:
    """Reads the schema of one database, as its dialect shows it."""

    def __init__(self, connection: Connection, dialect: ExistingDialect, samples: int) -> None:
        self._rows = connection.rows
        self._dialect = dialect
        self._samples = samples

    async def schema(self) -> Schema:
        """Return labels and types with their counts; with properties if there are few, else see `look_closer`."""
        labels, types = await asyncio.gather(self._labels(), self._types())
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
        )

    def _render(self, template: str, name: str = "") -> str:
        return render_cypher(template, {"name": name}, self._dialect)

    async def _labels(self) -> list[tuple[str, int | None]]:
        """Return the labels of shown nodes with their counts; "" for nodes without labels."""
        there = [row[0] for row in await self._rows("CALL db.labels() YIELD label RETURN label")]
        shown = [name for name in there if writable(name) and name not in self._dialect.hidden]
        if self._dialect.labels is not None:
            # The chosen labels, and further labels in a sample of their nodes.
            query = "MATCH (n:{{ name | label }}) WITH n LIMIT $most UNWIND labels(n) AS l RETURN DISTINCT l"
            samples = await asyncio.gather(
                *(self._rows(self._render(query, name), most=SAMPLED) for name in self._dialect.labels)
            )
            names = sorted({row[0] for sample in samples for row in sample} & set(shown))
            return await self._count_matches(names, f"{_NODE_SAMPLE}RETURN count(e)")
        counts = await self._exact(shown, "(:{})", "MATCH (n:{}) UNWIND labels(n) AS name RETURN name, count(*)")
        [[unlabelled]] = await self._rows(_UNLABELLED)
        return [*counts, ("", unlabelled)] if unlabelled else counts

    async def _types(self) -> list[tuple[str, int | None]]:
        """Return the types of shown relationships with their counts; None if the count is unknown."""
        there = [row[0] for row in await self._rows("CALL db.relationshipTypes() YIELD relationshipType AS t RETURN t")]
        chosen = self._dialect.types
        shown = [name for name in there if writable(name) and (chosen is None or name in chosen)]
        if self._dialect.labels is not None:
            return await self._count_matches(shown, f"{_RELATIONSHIP_SAMPLE}RETURN count(e)")
        return await self._exact(shown, "()-[:{}]->()", "MATCH (:{})-[r]->() RETURN type(r), count(*)")

    async def _exact(self, names: Sequence[str], pattern: str, hidden: str) -> list[tuple[str, int | None]]:
        """Return names with their counts from the server's statistics, without those of hidden nodes."""
        columns = [f"COUNT {{ {pattern.format(quote(name))} }} AS c{number}" for number, name in enumerate(names)]
        counts: list[int] = []
        for start in range(0, len(columns), AT_ONCE):
            counts += (await self._rows(f"RETURN {', '.join(columns[start : start + AT_ONCE])}"))[0]
        shown_counts = dict(zip(names, counts, strict=True))
        if self._dialect.hidden:
            for name, count in await self._rows(hidden.format("|".join(map(quote, self._dialect.hidden)))):
                shown_counts[name] = shown_counts.get(name, 0) - count
        return [(name, count) for name, count in shown_counts.items() if count > 0]

    async def _count_matches(self, names: Sequence[str], query: str) -> list[tuple[str, int | None]]:
        """Count up to `COUNTED` where the server has no statistics; leave out names with no match."""
        rows = await asyncio.gather(*(self._rows(self._render(query, name), most=COUNTED + 1) for name in names))
        counts = [row[0][0] for row in rows]
        return [(name, n if n <= COUNTED else None) for name, n in zip(names, counts, strict=True) if n]

    async def node(self, node: NodeType) -> NodeType:
        """Return the label with the properties found in a sample of its nodes."""
        properties = await self._properties(_NODE_SAMPLE, node.label)
        keys = await self._rows(self._render(_KEYS, node.label), samples=self._samples) if self._samples else []
        key = PropertyType(KEY, tuple(sorted(row[0] for row in keys)), kinds=("text",))
        # A property called `key` is shown under another name, unless it is the key.
        is_key = any(label in ("", node.label) and name == KEY for label, name in self._dialect.uniques)
        title = None if is_key else self._dialect.key_title
        others = [
            replace(p, name=title) if p.name == KEY and title else p for p in properties if title or p.name != KEY
        ]
        return NodeType(node.label, (key, *others), node.count, _sample_size(node.count))

    async def relationship(self, relationship: RelationshipType) -> RelationshipType:
        """Return the type with the labels that it joins and its properties, found in a sample."""
        name, count = relationship.type, relationship.count
        properties = await self._properties(_RELATIONSHIP_SAMPLE, name)
        ends = await self._rows(self._render(_RELATIONSHIP_SAMPLE + _ENDS, name), most=SAMPLED)
        pairs = {pair for sources, targets in ends for pair in product(sources or [""], targets or [""])}
        return RelationshipType(name, tuple(sorted(pairs)), properties, count, _sample_size(count))

    async def with_properties(
        self, entity: NodeType | RelationshipType, names: Sequence[str]
    ) -> NodeType | RelationshipType:
        """Return the label or type with those of the properties that its sample missed. Raise QueryLimitError."""
        missed = set(names) - {p.name for p in entity.properties}
        if not missed or entity.sampled in (None, entity.count):
            return entity
        stored = {row[0] for row in await self._rows(_PROPERTIES)} | {self._dialect.key_title}
        query, name = (
            (_NODE_FIRST, entity.label) if isinstance(entity, NodeType) else (_RELATIONSHIP_FIRST, entity.type)
        )
        further = []
        for title in sorted(filter(writable, missed & stored)):
            cypher = render_cypher(query, {"name": name, "title": title}, self._dialect)
            kinds = tuple([_kind_of(value_type) for (value_type,) in await self._rows(cypher, LOOKING_SECONDS)])
            further += [PropertyType(title, kinds=kinds)] if kinds else []
        return replace(entity, properties=(*entity.properties, *further))

    async def _properties(self, sample: str, name: str) -> tuple[PropertyType, ...]:
        """Return the properties in a sample of a label's nodes, or of a type's relationships."""
        cypher = self._render(sample + _HELD, name)
        rows = await self._rows(cypher, most=SAMPLED, longest=LONGEST_SAMPLE, samples=self._samples)
        return tuple(
            PropertyType(
                title, tuple(sorted(plain(some, None), key=value_order)), kinds=tuple(sorted(set(map(_kind_of, held))))
            )
            for title, held, some in sorted(rows, key=lambda row: str(row[0]))
            if writable(title)
        )


def _kind_of(value_type: str) -> str:
    """Return the kind of a value for a result of `valueType`."""
    kind = value_type.removesuffix(" NOT NULL")
    return "list" if kind.startswith("LIST") else _KINDS.get(kind, kind.lower())


def _sample_size(count: int | None) -> int:
    return SAMPLED if count is None else min(count, SAMPLED)
