"""The schema of a property graph: which labels, relationship types and properties exist."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np

from graphwalk.graphs.graph import KEY, NodeTable, PropertyColumn, PropertyGraph, value_order
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
        return next((node for node in self.nodes if node.label == label), None)

    def relationship(self, type_: str) -> RelationshipType | None:
        return next((relationship for relationship in self.relationships if relationship.type == type_), None)

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
        """Yield patterns of both ends; of nodes with several labels, sources with the same targets share one.

        The pairs (Captain, Ship), (Person, Ship) and (Person, "") are `(:Captain)` to `(:Ship)`, `(:Person)` to
        `(:Ship)` and `(:Person)` to `()`. Without the last pair they are `(:Captain|Person)` to `(:Ship)`.
        """
        if not self.several_labels:
            for source, target in pairs:
                yield _node(source), _node(target)
            return

        targets_of: dict[str, list[str]] = {}
        for source, target in pairs:
            targets_of.setdefault(source, []).append(target)
        sources_by_targets: dict[tuple[str, ...], list[str]] = {}
        for source, targets in targets_of.items():
            sources_by_targets.setdefault(tuple(targets), []).append(source)
        for shared_targets, sources in sources_by_targets.items():
            yield from product(_alternatives(sources), _alternatives(shared_targets))


def _alternatives(labels: Sequence[str]) -> list[str]:
    """Return a pattern for nodes with any of these labels and, if "" is among them, one for nodes without."""
    patterns = []
    named = [label for label in labels if label]
    if named:
        patterns.append(f"(:{'|'.join(named)})")
    if "" in labels:
        patterns.append("()")
    return patterns


def _node(label: str) -> str:
    return f"(:{label})" if label else "()"


def schema_of(graph: PropertyGraph, samples: int = 0) -> Schema:
    """Return the schema of a graph in memory, with up to `samples` values per property (0: none)."""
    # A table of nodes with the labels A and B belongs to both.
    tables_with: defaultdict[str, list[NodeTable]] = defaultdict(list)
    for table in graph.node_tables:
        if len(table.numbers):
            for label in table.labels or ("",):
                tables_with[label].append(table)
    nodes = []
    for label, tables in sorted(tables_with.items()):
        keys: list[Value] = []
        for table in tables:
            keys.extend(graph.keys[number] for number in table.numbers.tolist())
        values = _values([table.columns for table in tables])
        nodes.append(NodeType(label, _properties({KEY: keys, **values}, samples)))

    table_of = graph.table_of_nodes()
    relationships = []
    for links in sorted(graph.relationship_tables, key=lambda links: links.type):
        if len(links.sources):
            # A type may join millions of pairs of nodes, but only few pairs of tables.
            joined_tables = np.unique(np.stack([table_of[links.sources], table_of[links.targets]]), axis=1)
            pairs: set[tuple[str, str]] = set()
            for source, target in joined_tables.T.tolist():
                source_labels = graph.node_tables[source].labels or ("",)
                target_labels = graph.node_tables[target].labels or ("",)
                pairs.update(product(source_labels, target_labels))
            properties = _properties(_values([links.columns]), samples)
            relationships.append(RelationshipType(links.type, tuple(sorted(pairs)), properties))
    return Schema(tuple(nodes), tuple(relationships), graph.has_several_labels)


def _values(tables: Iterable[Mapping[str, PropertyColumn]]) -> dict[str, list[Value]]:
    """Return the used values of each property; a value may be there once a table."""
    values: dict[str, list[Value]] = {}
    for columns in tables:
        for name, column in columns.items():
            used = column.values()
            if used:
                values.setdefault(name, []).extend(used)
    return values


def _properties(values_by_name: Mapping[str, Sequence[Value]], samples: int) -> tuple[PropertyType, ...]:
    properties = []
    for name, values in sorted(values_by_name.items()):
        if samples == 0:
            properties.append(PropertyType(name))
            continue
        # Of values that are equal in Cypher, as 1 and 1.0, the first one is shown.
        distinct: dict[tuple[int, Any], Value] = {}
        for value in values:
            distinct.setdefault(value_order(value), value)
        smallest = sorted(distinct)[:samples]
        shown_values = tuple(shown(distinct[order]) for order in smallest)
        properties.append(PropertyType(name, shown_values, complete=len(distinct) <= samples))
    return tuple(properties)
