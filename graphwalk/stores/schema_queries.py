"""Read the schema of a graph by Cypher from any store, or from the graph in memory, with equal results."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from graphwalk.stores.cypher import NO_LABEL, Identifiers
from graphwalk.stores.serialisation import MARK
from graphwalk.stores.transfer import label_codes
from graphwalk.types.graph import Column, PropertyGraph, value_order
from graphwalk.types.schema import NodeType, PropertyType, RelationshipType, Schema
from graphwalk.types.values import SCALARS, Row, Value

_LABELS = "MATCH (n{{ any_node }}) UNWIND labels(n) AS label RETURN DISTINCT label"
# Few sets of properties are on many nodes: a row for each property of each would be millions.
_DISTINCT = "UNWIND names AS property RETURN DISTINCT property"
_NODE_PROPERTIES = "MATCH (n:{{ name | label }}) WITH DISTINCT keys(n) AS names " + _DISTINCT
_PAIRS = "MATCH (a{{ any_node }})-[r]->(b) RETURN DISTINCT type(r) AS type, labels(a) AS sources, labels(b) AS targets"
_RELATIONSHIP_PROPERTIES = (
    "MATCH ({{ any_node }})-[r:{{ name | type }}]->() WITH DISTINCT keys(r) AS names " + _DISTINCT
)
# Every engine orders values of mixed kinds in its own way; the CASE fixes ours (`value_order`) as far as a query can:
# of dates, points and lists all are read, and sorted here.
# The property is a parameter: a server plans every new query text, which takes longer than running it.
_VALUES = "WITH DISTINCT e[$property] AS value WHERE value IS NOT NULL RETURN value "
_ORDER = (
    "ORDER BY CASE WHEN value = true OR value = false THEN 0 WHEN value <= $infinity THEN 1 "
    "WHEN value >= '' THEN 2 ELSE 3 END, value LIMIT $limit"
)
_NODES = "MATCH (e:{{ name | label }}) "
_RELATIONSHIPS = "MATCH ({{ any_node }})-[e:{{ name | type }}]->() "

Query = Callable[[str, Identifiers, Mapping[str, Any]], Awaitable[list[Row]]]
"""(template, identifiers, parameters) → rows: a store's `render` and `run`."""


@dataclass(frozen=True, slots=True)
class Decoder:
    """Functions that turn stored names and values into those of the graph.

    `name`: of labels and types; None for one of the store's own.
    `several`: not every node has exactly one label; `lists`: some property holds a list.
    """

    name: Callable[[str], str | None] = str
    value: Callable[[Any], Value] = lambda value: value
    several: bool = False
    lists: bool = False


async def read_schema(query: Query, samples: int, decoder: Decoder) -> Schema:
    """Return the schema that a store finds in its database."""

    async def properties(listing: str, match: str, name: str) -> tuple[PropertyType, ...]:
        names = sorted(row["property"] for row in await query(listing, {"name": name}, {}))
        return tuple([_property_type(title, await values(match, name, title), samples) for title in names])

    async def values(match: str, name: str, title: str) -> list[Value]:
        """Return the first values of a property, or all if the engine cannot order them."""
        if not samples:
            return []
        parameters = {"property": title, "limit": samples + 1, "infinity": float("inf")}
        rows = await query(match + _VALUES + _ORDER, {"name": name}, parameters)
        if not all(_is_plain(row["value"]) for row in rows):
            rows = await query(match + _VALUES, {"name": name}, {"property": title})
        return [decoder.value(row["value"]) for row in rows]

    def own(labels: Iterable[str]) -> list[str]:
        """Return the original labels, "" for a node without labels."""
        return [name for label in labels if (name := decoder.name(label)) is not None] or [""]

    stored_labels = [row["label"] for row in await query(_LABELS, {}, {})]
    labels = {name for label in stored_labels if (name := decoder.name(label)) is not None}
    if NO_LABEL in stored_labels:
        labels.add("")
    pairs: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in await query(_PAIRS, {}, {}):
        pairs[str(decoder.name(row["type"]))].update(product(own(row["sources"]), own(row["targets"])))
    nodes = [NodeType(name, await properties(_NODE_PROPERTIES, _NODES, name)) for name in sorted(labels)]
    relationships = [
        RelationshipType(name, tuple(sorted(ends)), await properties(_RELATIONSHIP_PROPERTIES, _RELATIONSHIPS, name))
        for name, ends in sorted(pairs.items())
    ]
    return Schema(tuple(nodes), tuple(relationships), decoder.several, decoder.lists)


def _is_plain(stored: Any) -> bool:
    """Return True if an engine sorts the value as `value_order` does; not for tagged text."""
    return isinstance(stored, SCALARS) and stored == stored and not (isinstance(stored, str) and stored[:1] == MARK)


def schema_of(graph: PropertyGraph, samples: int = 0) -> Schema:
    """Return the schema of a graph in memory, with up to `samples` values per property (0: none)."""
    tables = defaultdict(list)
    for table in graph.node_tables:
        if len(table.numbers):
            for label in table.labels or ("",):
                tables[label].append(table)
    nodes = []
    for label, shared in sorted(tables.items()):
        keys = (graph.keys[number] for table in shared for number in table.numbers.tolist())
        nodes.append(NodeType(label, _properties([table.columns for table in shared], samples, keys)))
    codes = label_codes(graph)
    labels = [table.labels or ("",) for table in graph.node_tables]
    relationships = []
    for rel in sorted(graph.relationship_tables, key=lambda r: r.type):
        if len(rel.sources):
            code_pairs = np.unique(np.stack([codes[rel.sources], codes[rel.targets]]), axis=1)
            pairs = {pair for s, t in code_pairs.T.tolist() for pair in product(labels[s], labels[t])}
            relationships.append(RelationshipType(rel.type, tuple(sorted(pairs)), _properties([rel.columns], samples)))
    return Schema(tuple(nodes), tuple(relationships), has_several_labels(graph), has_lists(graph))


def has_several_labels(graph: PropertyGraph) -> bool:
    """Return True unless every node has exactly one label."""
    return any(len(table.labels) != 1 for table in graph.node_tables if len(table.numbers))


def has_lists(graph: PropertyGraph) -> bool:
    """Return True if some property holds a list."""
    columns = (column for columns in graph.all_columns() for column in columns.values())
    return any(tuple in set(map(type, column.pool)) and tuple in map(type, column.values()) for column in columns)


def _properties(
    tables: Iterable[Mapping[str, Column]], samples: int, keys: Iterable[str] | None = None
) -> tuple[PropertyType, ...]:
    values: dict[str, list[Value]] = {} if keys is None else {"key": list(keys)}
    for columns in tables:
        for name, column in columns.items():
            if used := column.values():
                values.setdefault(name, []).extend(used)
    return tuple(_property_type(name, values[name], samples) for name in sorted(values))


def _property_type(name: str, values: Iterable[Value], samples: int) -> PropertyType:
    if not samples:
        return PropertyType(name)
    distinct = {value_order(value): value for value in reversed(list(values))}
    return PropertyType(name, tuple(distinct[order] for order in sorted(distinct)[:samples]), len(distinct) <= samples)
