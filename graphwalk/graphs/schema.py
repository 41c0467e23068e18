"""The schema of a property graph: which labels, relationship types and properties exist."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np

from graphwalk.graphs.graph import PropertyColumn, PropertyGraph, value_order
from graphwalk.graphs.values import Value, shown

NO_NAME = '""'
"""The name of nodes without labels, as the table shows it."""
NO_LABEL = "(no label)"
"""The same in the schema of a graph that was not generated (`graph_schema.j2`)."""


@dataclass(frozen=True, slots=True)
class PropertyType:
    """One property of a label or a relationship type.

    `samples` are distinct values in ascending order, in their JSON form; `complete`: there are no others. `kinds`: the
    types of its values, if known: text, integer, date, …
    """

    name: str
    samples: tuple[Any, ...] = ()
    complete: bool = False
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeType:
    """Nodes that have the label, perhaps among others; "" for nodes without labels."""

    label: str
    properties: tuple[PropertyType, ...]
    limited: bool = False
    """True if `properties` come from the first nodes of a large database: others may have more."""


@dataclass(frozen=True, slots=True)
class RelationshipType:
    type: str
    pairs: tuple[tuple[str, str], ...]
    """(source label, target label) of every pair that the type joins, sorted."""
    properties: tuple[PropertyType, ...]
    limited: bool = False
    """True if `pairs` and `properties` come from the first relationships of a large database."""


@dataclass(frozen=True, slots=True)
class SchemaRow:
    """One row of the table the agent sees: one per property, per pair for relationships (docs/method.md, Schema)."""

    number: int
    entity_type: Literal["Node", "Relationship"]
    entity_name: str
    pattern: str
    property: PropertyType | None


@dataclass(frozen=True, slots=True)
class Schema:
    """Everything sorted by name, so that equal graphs have equal schemas in every store.

    `several_labels`: not every node has exactly one label.
    """

    nodes: tuple[NodeType, ...]
    relationships: tuple[RelationshipType, ...]
    several_labels: bool = False

    def node(self, label: str) -> NodeType | None:
        return next((n for n in self.nodes if n.label == label), None)

    def relationship(self, type_: str) -> RelationshipType | None:
        return next((r for r in self.relationships if r.type == type_), None)

    def rows(self) -> Iterator[SchemaRow]:
        """Return the table of docs/method.md, Schema; an entity without properties has one row with `property` None."""
        number = 0
        for node in self.nodes:
            for prop in node.properties or (None,):
                number += 1
                yield SchemaRow(number, "Node", node.label or NO_NAME, _node(node.label), prop)
        for relationship in self.relationships:
            for source, target in self._ends(relationship.pairs):
                pattern = f"{source}-[:{relationship.type}]->{target}"
                for prop in relationship.properties or (None,):
                    number += 1
                    yield SchemaRow(number, "Relationship", relationship.type, pattern, prop)

    def _ends(self, pairs: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
        """Yield patterns of both ends; of nodes with several labels, sources with the same targets share one."""
        if not self.several_labels:
            yield from ((_node(source), _node(target)) for source, target in pairs)
            return
        targets: dict[str, list[str]] = {}
        for source, target in pairs:
            targets.setdefault(source, []).append(target)
        sources: dict[tuple[str, ...], list[str]] = {}
        for source, ends in targets.items():
            sources.setdefault(tuple(ends), []).append(source)
        for some, shared in sources.items():
            yield from product(_alternatives(shared), _alternatives(some))


def _alternatives(labels: Sequence[str]) -> list[str]:
    """Return a pattern for nodes with any of these labels and, if "" is among them, one for nodes without."""
    named = [label for label in labels if label]
    return [*([f"(:{'|'.join(named)})"] if named else []), *(["()"] if "" in labels else [])]


def _node(label: str) -> str:
    return f"(:{label})" if label else "()"


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
    table_of = graph.table_of_nodes()
    labels = [table.labels or ("",) for table in graph.node_tables]
    relationships = []
    for rel in sorted(graph.relationship_tables, key=lambda r: r.type):
        if len(rel.sources):
            tables_joined = np.unique(np.stack([table_of[rel.sources], table_of[rel.targets]]), axis=1)
            pairs = {pair for s, t in tables_joined.T.tolist() for pair in product(labels[s], labels[t])}
            relationships.append(RelationshipType(rel.type, tuple(sorted(pairs)), _properties([rel.columns], samples)))
    return Schema(tuple(nodes), tuple(relationships), graph.has_several_labels)


def _properties(
    tables: Iterable[Mapping[str, PropertyColumn]], samples: int, keys: Iterable[str] | None = None
) -> tuple[PropertyType, ...]:
    values: dict[str, list[Value]] = {} if keys is None else {"key": list(keys)}
    for columns in tables:
        for name, column in columns.items():
            if used := column.values():
                values.setdefault(name, []).extend(used)
    if not samples:
        return tuple(map(PropertyType, sorted(values)))
    properties = []
    for name, column_values in sorted(values.items()):
        distinct = {value_order(value): value for value in reversed(column_values)}
        first = tuple(shown(distinct[order]) for order in sorted(distinct)[:samples])
        properties.append(PropertyType(name, first, len(distinct) <= samples))
    return tuple(properties)
