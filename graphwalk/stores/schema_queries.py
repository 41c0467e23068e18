"""The schema of a graph, found by Cypher in any store, or computed from the graph in memory: equal either way."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import numpy as np

from graphwalk.stores.batches import label_codes
from graphwalk.stores.cypher import Identifiers
from graphwalk.types.graph import MISSING, Column, PropertyGraph, value_order
from graphwalk.types.schema import NodeType, PropertyType, RelationshipType, Schema
from graphwalk.types.values import Row, Value

_LABELS = "MATCH (n{{ any_node }}) UNWIND labels(n) AS label RETURN DISTINCT label"
_NODE_PROPERTIES = "MATCH (n:{{ name | label }}) UNWIND keys(n) AS property RETURN DISTINCT property"
_PAIRS = (
    "MATCH (a{{ any_node }})-[r]->(b) UNWIND labels(a) AS source UNWIND labels(b) AS target "
    "RETURN DISTINCT type(r) AS type, source, target"
)
_RELATIONSHIP_PROPERTIES = (
    "MATCH ({{ any_node }})-[r:{{ name | type }}]->() UNWIND keys(r) AS property RETURN DISTINCT property"
)
# Every engine orders values of mixed kinds in its own way; the CASE fixes ours (`value_order`).
# The property is a parameter: a server plans every new query text, which takes longer than running it.
_SAMPLES = (
    "WITH DISTINCT e[$property] AS value WHERE value IS NOT NULL RETURN value "
    "ORDER BY CASE WHEN value >= '' THEN 2 WHEN value <= $infinity THEN 1 ELSE 0 END, value LIMIT $limit"
)
_NODE_SAMPLES = "MATCH (e:{{ name | label }}) " + _SAMPLES
_RELATIONSHIP_SAMPLES = "MATCH ({{ any_node }})-[e:{{ name | type }}]->() " + _SAMPLES

Query = Callable[[str, Identifiers, Mapping[str, Any]], Awaitable[list[Row]]]
"""(template, identifiers, parameters) → rows; a store's `render` and `run` in one."""


async def read_schema(
    query: Query, samples: int, *, scope: str | None = None, shown: Callable[[str], str | None] = str
) -> Schema:
    """The schema that a store finds in its database.

    `scope` is left out of the labels. `shown` gives the name of a stored property, None for one to be left out.
    """

    async def properties(listing: str, sampling: str, name: str) -> tuple[PropertyType, ...]:
        stored = [row["property"] for row in await query(listing, {"name": name}, {})]
        named = sorted((title, p) for p in stored if (title := shown(p)) is not None)
        return tuple([await property_type(sampling, name, p, title) for title, p in named])

    async def property_type(sampling: str, name: str, stored: str, title: str) -> PropertyType:
        if not samples:
            return PropertyType(title)
        parameters = {"property": stored, "limit": samples + 1, "infinity": float("inf")}
        rows = await query(sampling, {"name": name}, parameters)
        return _sampled(title, [row["value"] for row in rows], samples)

    labels = sorted({row["label"] for row in await query(_LABELS, {}, {})} - {scope})
    pairs = defaultdict(set)
    for row in await query(_PAIRS, {}, {}):
        if scope not in (row["source"], row["target"]):
            pairs[row["type"]].add((row["source"], row["target"]))
    return Schema(
        tuple([NodeType(name, await properties(_NODE_PROPERTIES, _NODE_SAMPLES, name)) for name in labels]),
        tuple(
            [
                RelationshipType(
                    name,
                    tuple(sorted(found)),
                    await properties(_RELATIONSHIP_PROPERTIES, _RELATIONSHIP_SAMPLES, name),
                )
                for name, found in sorted(pairs.items())
            ]
        ),
    )


def schema_of(graph: PropertyGraph, samples: int = 0) -> Schema:
    """The schema of a graph in memory, with up to `samples` values per property (0: none)."""
    nodes = [
        NodeType(
            table.label,
            _properties(table.columns, samples, keys=(graph.keys[n] for n in table.numbers.tolist())),
        )
        for table in graph.node_tables
        if len(table.numbers)
    ]
    labels = label_codes(graph)
    relationships = []
    for table in graph.relationship_tables:
        if len(table.sources):
            codes = np.unique(np.stack([labels[table.sources], labels[table.targets]]), axis=1)
            pairs = {(graph.node_tables[s].label, graph.node_tables[t].label) for s, t in codes.T.tolist()}
            relationships.append(
                RelationshipType(table.type, tuple(sorted(pairs)), _properties(table.columns, samples))
            )
    return Schema(tuple(sorted(nodes, key=lambda n: n.label)), tuple(sorted(relationships, key=lambda r: r.type)))


def _properties(
    columns: Mapping[str, Column], samples: int, keys: Iterable[str] | None = None
) -> tuple[PropertyType, ...]:
    found: dict[str, Iterable[Value]] = {} if keys is None else {"key": keys}
    for name, column in columns.items():
        used = np.unique(column.codes[column.codes != MISSING]).tolist()
        if used:
            found[name] = [column.pool[code] for code in used]
    return tuple(_sampled(name, found[name], samples) for name in sorted(found))


def _sampled(name: str, values: Iterable[Value], samples: int) -> PropertyType:
    if not samples:
        return PropertyType(name)
    ordered: list[Value] = []
    for value in sorted(values, key=value_order):
        if not ordered or value_order(value) != value_order(ordered[-1]):
            ordered.append(value)
        if len(ordered) > samples:
            break
    return PropertyType(name, tuple(ordered[:samples]), len(ordered) <= samples)
