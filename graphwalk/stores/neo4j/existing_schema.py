"""The schema of an existing Neo4j database: counts that the server keeps, and properties of a sample.

Nothing is scanned whole. Of each label and type up to `SAMPLED` entities are looked at, half of them from further on.
Of a database with many labels and types, the properties are read when a tool call names one.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from graphwalk.stores.cypher import KEY, quote, render_cypher
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.existing_names import SECONDS, ExistingDialect, writable
from graphwalk.stores.neo4j.values import plain
from graphwalk.types.graph import value_order
from graphwalk.types.schema import NodeType, PropertyType, RelationshipType, Schema
from graphwalk.types.values import Value

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
_NODES = "MATCH (e:{{ name | label }}) WITH e SKIP $skip LIMIT $most "
_RELATIONSHIPS = "MATCH ({{ any_node }})-[e:{{ name | type }}]->({{ any_node }}) WITH e SKIP $skip LIMIT $most "
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


async def read_existing_schema(connection: Connection, dialect: ExistingDialect, samples: int) -> Schema:
    """Labels and types with their counts; with properties where there are few, else to be read with `look_closer`."""
    reader = SchemaReader(connection, dialect, samples)
    labels, types, names = await asyncio.gather(reader.labels(), reader.types(), reader.property_names())
    nodes = [NodeType(label, (PropertyType(KEY),), count, 0) for label, count in labels]
    relationships = [RelationshipType(type_, (), (), count, 0) for type_, count in types]
    if len(nodes) + len(relationships) <= LOOKED_AT_ONCE:
        nodes = await asyncio.gather(*(reader.node(node) for node in nodes))
        relationships = await asyncio.gather(*(reader.relationship(r) for r in relationships))
    return Schema(
        tuple(sorted(nodes, key=lambda n: n.label)),
        tuple(sorted(relationships, key=lambda r: r.type)),
        several_labels=True,
        lists=True,
        other_properties=names,
    )


class SchemaReader:
    """Questions about one database, as far as its dialect shows it."""

    def __init__(self, connection: Connection, dialect: ExistingDialect, samples: int) -> None:
        self._connection = connection
        self._dialect = dialect
        self._samples = samples

    async def _ask(self, cypher: str, **parameters: Any) -> list[list[Any]]:
        return [values for _, values in await self._connection.read(cypher, parameters, SECONDS)]

    def _render(self, template: str, name: str = "") -> str:
        return render_cypher(template, {"name": name}, self._dialect)

    async def labels(self) -> list[tuple[str, int | None]]:
        """Labels of nodes that are shown, with the number of these; "" for nodes without labels."""
        there = [row[0] for row in await self._ask("CALL db.labels() YIELD label RETURN label")]
        shown = [name for name in there if writable(name) and name not in self._dialect.hidden]
        if self._dialect.labels is not None:
            return await self._chosen_labels(shown)
        counts = await self._counts(f"(:{quote(name)})" for name in shown)
        hidden = await self._of_hidden("MATCH (n:{}) UNWIND labels(n) AS name RETURN name, count(*)")
        [[unlabelled]] = await self._ask(_UNLABELLED)
        found = [(name, count - hidden[name]) for name, count in zip(shown, counts, strict=True)]
        return [(name, count) for name, count in [*found, ("", unlabelled)] if count > 0]

    async def _chosen_labels(self, shown: Sequence[str]) -> list[tuple[str, int | None]]:
        """The chosen labels, and those that a sample of their nodes has beside them."""
        beside = "MATCH (n:{{ name | label }}) WITH n LIMIT $most UNWIND labels(n) AS l RETURN DISTINCT l"
        chosen = self._dialect.labels or ()
        rows = await asyncio.gather(*(self._ask(self._render(beside, name), most=SAMPLED) for name in chosen))
        names = sorted({row[0] for found in rows for row in found} & set(shown))
        return await self._counted(names, "MATCH (e:{{ name | label }}) WITH e LIMIT $most RETURN count(e)")

    async def types(self) -> list[tuple[str, int | None]]:
        """Types of relationships that are shown, with the number of these; None where it is not known."""
        there = [row[0] for row in await self._ask("CALL db.relationshipTypes() YIELD relationshipType AS t RETURN t")]
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
        there = {row[0] for row in await self._ask("CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey")}
        return tuple(sorted(name for name in {*(there - {KEY}), self._dialect.key_title} if name and writable(name)))

    async def _counts(self, patterns: Iterable[str]) -> list[int]:
        """How many matches each pattern has; the server knows without looking for them."""
        counts: list[int] = []
        asked = list(patterns)
        for start in range(0, len(asked), AT_ONCE):
            columns = [f"COUNT {{ {pattern} }} AS c{n}" for n, pattern in enumerate(asked[start : start + AT_ONCE])]
            counts += (await self._ask(f"RETURN {', '.join(columns)}"))[0]
        return counts

    async def _of_hidden(self, query: str) -> dict[str, int]:
        """How many of each name are hidden."""
        found: dict[str, int] = defaultdict(int)
        if self._dialect.hidden:
            for name, count in await self._ask(query.format("|".join(map(quote, self._dialect.hidden)))):
                found[name] = count
        return found

    async def _counted(self, names: Sequence[str], query: str) -> list[tuple[str, int | None]]:
        """What the server keeps no counts of, counted so far as is quickly done; without what there is none of."""
        rows = await asyncio.gather(*(self._ask(self._render(query, name), most=COUNTED + 1) for name in names))
        counts = [row[0][0] for row in rows]
        return [(name, n if n <= COUNTED else None) for name, n in zip(names, counts, strict=True) if n]

    async def node(self, node: NodeType) -> NodeType:
        """The label with what a sample of its nodes has."""
        properties = self._properties(await self._sample(_NODES + _HELD, node.label, node.count))
        keys = await self._ask(self._render(_KEYS, node.label), samples=self._samples) if self._samples else []
        key = PropertyType(KEY, tuple(sorted(row[0] for row in keys)), kinds=("text",))
        return NodeType(node.label, (key, *self._without_key(node.label, properties)), node.count, _sampled(node.count))

    async def relationship(self, relationship: RelationshipType) -> RelationshipType:
        """The type with the labels that it joins, and what it has, in a sample."""
        name, count = relationship.type, relationship.count
        properties = self._properties(await self._sample(_RELATIONSHIPS + _HELD, name, count))
        ends = await self._sample(_RELATIONSHIPS + _ENDS, name, count)
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
            return await self._ask(cypher, skip=0, most=SAMPLED, **given)
        further = min((count or 2 * FURTHEST) // 2, FURTHEST)
        halves = [self._ask(cypher, skip=skip, most=SAMPLED // 2, **given) for skip in (0, further)]
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
