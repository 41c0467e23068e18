"""The schema of a graph in memory."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from graphwalk.graphs.graph import PropertyColumn, PropertyGraph, value_order
from graphwalk.graphs.schema import NodeType, PropertyType, RelationshipType, Schema
from graphwalk.graphs.values import Value
from graphwalk.stores.transfer import label_codes


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
    tables: Iterable[Mapping[str, PropertyColumn]], samples: int, keys: Iterable[str] | None = None
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
