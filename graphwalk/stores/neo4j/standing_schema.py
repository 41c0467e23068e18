"""The schema of a Neo4j as it stands: counts that the server keeps, and what a sample of nodes and relationships has.

Nothing is scanned whole. Of each label and type up to `SAMPLED` entities are looked at, half of them from further on.
A database with many labels and types is counted at once, and looked at one by one when somebody asks.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from graphwalk.stores.cypher import KEY, quote, render_cypher
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.naming import SECONDS, writable
from graphwalk.stores.neo4j.standing_dialect import StandingDialect
from graphwalk.stores.neo4j.values import plain
from graphwalk.types.graph import value_order
from graphwalk.types.schema import NodeType, PropertyType, RelationshipType, Schema

SAMPLED = 1000
"""Nodes of a label, relationships of a type."""
FURTHEST = 100_000
"""How far from the first the other half of a sample begins, at most."""
LOOKED_AT_ONCE = 40
"""Labels and types up to which all are looked at."""
COUNTED = 100_000
"""Relationships of a filtered type are counted up to here."""
AT_ONCE = 50
"""Counts that one query asks for."""
LONGEST_SAMPLE = 80
_UNLABELLED = "MATCH (n) WITH n LIMIT 200000 WHERE n:!% RETURN count(n)"
_NODE_IDS = "MATCH (n:{{ name | label }}) WITH n SKIP $skip LIMIT $most RETURN elementId(n)"
_RELATIONSHIP_IDS = (
    "MATCH ({{ any_node }})-[r:{{ name | type }}]->({{ any_node }}) WITH r SKIP $skip LIMIT $most RETURN elementId(r)"
)
_HELD = (
    "UNWIND keys(e) AS name WITH name, e[name] AS value WITH name, valueType(value) AS kind, "
    "CASE WHEN value IS :: STRING NOT NULL AND size(value) > $longest OR valueType(value) STARTS WITH 'LIST' "
    "THEN null ELSE value END AS value "
    "RETURN name, collect(DISTINCT kind), collect(DISTINCT value)[..$samples]"
)
_NODES_HOLD = f"UNWIND $ids AS id MATCH (e) WHERE elementId(e) = id {_HELD}"
_RELATIONSHIPS_HOLD = f"UNWIND $ids AS id MATCH ()-[e]->() WHERE elementId(e) = id {_HELD}"
_ENDS = "UNWIND $ids AS id MATCH (a)-[e]->(b) WHERE elementId(e) = id RETURN DISTINCT labels(a), labels(b)"
_KEYS = "UNWIND $ids AS id MATCH (n) WHERE elementId(n) = id RETURN {{ 'n' | key_of }}"
_KINDS = {"STRING": "text", "ZONED DATETIME": "datetime", "ZONED TIME": "time"}


async def read_standing_schema(connection: Connection, dialect: StandingDialect, samples: int) -> Schema:
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

    def __init__(self, connection: Connection, dialect: StandingDialect, samples: int) -> None:
        self._connection = connection
        self._dialect = dialect
        self._samples = samples

    async def _ask(self, cypher: str, **parameters: Any) -> list[list[Any]]:
        return [values for _, values in await self._connection.read(cypher, parameters, SECONDS)]

    def _render(self, template: str, name: str = "") -> str:
        return render_cypher(template, {"name": name}, self._dialect)

    async def labels(self) -> list[tuple[str, int]]:
        """Labels of nodes that are shown, with the number of these; "" for nodes without labels."""
        there = [row[0] for row in await self._ask("CALL db.labels() YIELD label RETURN label")]
        shown = [
            n for n in there if writable(n) and n not in self._dialect.hidden and self._kept(n, self._dialect.labels)
        ]
        counts = await self._counts(f"(:{quote(name)})" for name in shown)
        hidden = await self._of_hidden("MATCH (n:{}) UNWIND labels(n) AS name RETURN name, count(*)")
        found = [(name, count - hidden[name]) for name, count in zip(shown, counts, strict=True)]
        unlabelled = 0
        if self._dialect.labels is None:
            [[unlabelled]] = await self._ask(_UNLABELLED)
        return [(name, count) for name, count in [*found, ("", unlabelled)] if count > 0]

    async def types(self) -> list[tuple[str, int | None]]:
        """Types of relationships that are shown, with the number of these; None where it is not known."""
        there = [row[0] for row in await self._ask("CALL db.relationshipTypes() YIELD relationshipType AS t RETURN t")]
        shown = [name for name in there if writable(name) and self._kept(name, self._dialect.types)]
        if self._dialect.labels is not None:
            return await self._counted_between(shown)
        counts = await self._counts(f"()-[:{quote(name)}]->()" for name in shown)
        hidden = await self._of_hidden("MATCH (:{})-[r]->() RETURN type(r), count(*)")
        found = [(name, count - hidden[name]) for name, count in zip(shown, counts, strict=True)]
        return [(name, count) for name, count in found if count > 0]

    async def property_names(self) -> tuple[str, ...]:
        """All that some node or relationship has or had."""
        there = {row[0] for row in await self._ask("CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey")}
        return tuple(sorted(filter(writable, there - {KEY} | {self._dialect.key_title or KEY} - {KEY})))

    @staticmethod
    def _kept(name: str, chosen: Sequence[str] | None) -> bool:
        return chosen is None or name in chosen

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

    async def _counted_between(self, types: Sequence[str]) -> list[tuple[str, int | None]]:
        """Types between nodes of the chosen labels, which the server has no counts of."""
        query = "MATCH ({{ any_node }})-[r:{{ name | type }}]->({{ any_node }}) WITH r LIMIT $most RETURN count(r)"
        rows = await asyncio.gather(*(self._ask(self._render(query, name), most=COUNTED + 1) for name in types))
        counts = [row[0][0] for row in rows]
        return [(name, n if n <= COUNTED else None) for name, n in zip(types, counts, strict=True) if n]

    async def node(self, node: NodeType) -> NodeType:
        """The label with what a sample of its nodes has."""
        ids = await self._sample(self._render(_NODE_IDS, node.label), node.count)
        properties = await self._properties(_NODES_HOLD, ids)
        keys = await self._ask(self._render(_KEYS), ids=ids[: self._samples])
        key = PropertyType(KEY, tuple(sorted(row[0] for row in keys)), kinds=("text",))
        named = {KEY: self._dialect.key_title or KEY}
        rest = [_renamed(p, named.get(p.name, p.name)) for p in properties]
        return NodeType(node.label, (key, *(p for p in rest if p.name != KEY)), node.count, len(ids))

    async def relationship(self, relationship: RelationshipType) -> RelationshipType:
        """The type with the labels that it joins, and what it has, in a sample."""
        ids = await self._sample(self._render(_RELATIONSHIP_IDS, relationship.type), relationship.count)
        ends = await self._ask(_ENDS, ids=ids)
        pairs = {pair for sources, targets in ends for pair in product(self._shown(sources), self._shown(targets))}
        properties = await self._properties(_RELATIONSHIPS_HOLD, ids)
        return RelationshipType(relationship.type, tuple(sorted(pairs)), properties, relationship.count, len(ids))

    def _shown(self, labels: Sequence[str]) -> list[str]:
        return [name for name in labels if self._kept(name, self._dialect.labels)] or [""]

    async def _sample(self, query: str, count: int | None) -> list[str]:
        """Element ids: the first and, where there are more than a sample holds, some from the middle or far on."""
        if count is not None and count <= SAMPLED:
            return [row[0] for row in await self._ask(query, skip=0, most=SAMPLED)]
        further = min((count or 2 * SAMPLED) // 2, FURTHEST)
        halves = await asyncio.gather(*(self._ask(query, skip=skip, most=SAMPLED // 2) for skip in (0, further)))
        return list(dict.fromkeys(row[0] for rows in halves for row in rows))

    async def _properties(self, query: str, ids: Sequence[str]) -> tuple[PropertyType, ...]:
        rows = await self._ask(query, ids=ids, samples=self._samples, longest=LONGEST_SAMPLE)
        found = []
        for name, kinds, values in rows:
            samples = sorted((plain(value, None) for value in values), key=value_order)
            titles = sorted({_KINDS.get(k, k.lower()) for k in (kind.removesuffix(" NOT NULL") for kind in kinds)})
            found.append(PropertyType(name, tuple(samples), False, tuple("list" if "list" in t else t for t in titles)))
        return tuple(sorted((p for p in found if writable(p.name)), key=lambda p: p.name))


def _renamed(property_: PropertyType, name: str) -> PropertyType:
    return PropertyType(name, property_.samples, property_.complete, property_.kinds)
