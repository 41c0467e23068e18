"""Property graphs, held in columns so that millions of relationships fit in memory.

A node has a number (its position, 0 … n-1), a unique key, labels (mostly one) and properties; a relationship has a
type, the numbers of its source and target, and properties. Rows (`nodes()`, `relationships()`) are made on demand.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.errors import counted
from graphwalk.graphs.values import Value, shown
from graphwalk.sanitise import html_table

KEY = "key"
"""The name under which stores and tools show the key of a node; no property can have it."""
OUR_PREFIX = "gw_"
"""Prefix of GraphWalk's own labels in a Neo4j."""
MISSING = -1
"""The code of a property that an entity does not have."""


@dataclass(frozen=True, slots=True)
class Node:
    key: str
    labels: tuple[str, ...]
    """Sorted; none is possible."""
    properties: Mapping[str, Value]
    """Without `key`, which every store adds to them under that name."""

    @property
    def label(self) -> str:
        """Return the first of its labels, "" if it has none."""
        return self.labels[0] if self.labels else ""


@dataclass(frozen=True, slots=True)
class Relationship:
    type: str
    source: str
    """Key of the source node."""
    target: str
    """Key of the target node."""
    properties: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class PropertyColumn:
    """One property of one table: `pool[codes[i]]` is the value of entity i, MISSING where it has none."""

    codes: NDArray[np.int32]
    pool: tuple[Value, ...]

    def values(self) -> list[Value]:
        """Return the used values, each once, in the order of the pool."""
        return [self.pool[code] for code in np.unique(self.codes).tolist() if code != MISSING]

    def canonical(self) -> "PropertyColumn":
        """Return the column with a sorted pool of used values only."""
        used = np.unique(self.codes[self.codes != MISSING])
        order = sorted(used.tolist(), key=lambda code: _total_order(self.pool[code]))
        # One more entry than the pool has: the code MISSING (-1) reads the last one, which stays MISSING.
        new_codes = np.full(len(self.pool) + 1, MISSING, dtype=np.int32)
        new_codes[order] = np.arange(len(order), dtype=np.int32)
        return PropertyColumn(new_codes[self.codes], tuple(self.pool[code] for code in order))


@dataclass(frozen=True, slots=True)
class NodeTable:
    """All nodes with exactly these labels: their numbers (ascending) and columns as long as `numbers`, by property."""

    labels: tuple[str, ...]
    """Sorted; none is possible."""
    numbers: NDArray[np.int64]
    columns: Mapping[str, PropertyColumn]

    @property
    def label(self) -> str:
        """Return the first of their labels, "" if they have none."""
        return self.labels[0] if self.labels else ""


@dataclass(frozen=True, slots=True)
class RelationshipTable:
    """All relationships of one type: node numbers of both ends and, per property, a column as long as these."""

    type: str
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    columns: Mapping[str, PropertyColumn]


def _size_and_properties(size: int, thing: str, columns: Mapping[str, PropertyColumn]) -> str:
    """Return `12 nodes: born, name`."""
    if not columns:
        return counted(size, thing)
    return f"{counted(size, thing)}: {', '.join(sorted(columns))}"


@dataclass(frozen=True)
class PropertyGraph:
    """A property graph; `seed` and `spec` tell how it was made (None and {} for one that was not generated)."""

    keys: Sequence[str]
    node_tables: tuple[NodeTable, ...]
    relationship_tables: tuple[RelationshipTable, ...]
    seed: int | None = None
    spec: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<PropertyGraph: {self.node_count:,} nodes, {self.relationship_count:,} relationships>"

    def _repr_html_(self) -> str:
        """Return a table of labels and relationship types with their numbers and properties, for a notebook."""
        rows = {}
        for nodes in self.node_tables:
            label = ":".join(nodes.labels) or "(no label)"
            rows[f"({label})"] = _size_and_properties(len(nodes.numbers), "node", nodes.columns)
        for relationships in self.relationship_tables:
            size = len(relationships.sources)
            rows[f"[{relationships.type}]"] = _size_and_properties(size, "relationship", relationships.columns)
        return html_table(f"{self.node_count:,} nodes, {self.relationship_count:,} relationships", rows)

    @property
    def node_count(self) -> int:
        return len(self.keys)

    @property
    def relationship_count(self) -> int:
        return sum(len(table.sources) for table in self.relationship_tables)

    @property
    def has_several_labels(self) -> bool:
        """Return True unless every node has exactly one label."""
        return any(len(table.labels) != 1 for table in self.node_tables if len(table.numbers))

    def table_of_nodes(self) -> NDArray[np.int64]:
        """Return for every node the index of its table in `node_tables`."""
        indexes = np.zeros(self.node_count, dtype=np.int64)
        for index, table in enumerate(self.node_tables):
            indexes[table.numbers] = index
        return indexes

    def all_columns(self) -> list[Mapping[str, PropertyColumn]]:
        """Return the columns of every table, of nodes and of relationships."""
        columns = [table.columns for table in self.node_tables]
        columns.extend(table.columns for table in self.relationship_tables)
        return columns

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes in the order of their numbers."""
        labels_of: list[tuple[str, ...]] = [()] * self.node_count
        properties_of: list[dict[str, Value]] = [{}] * self.node_count
        for table in self.node_tables:
            rows = property_rows(table.columns, np.arange(len(table.numbers)))
            for number, properties in zip(table.numbers.tolist(), rows, strict=True):
                labels_of[number] = table.labels
                properties_of[number] = properties
        for key, labels, properties in zip(self.keys, labels_of, properties_of, strict=True):
            yield Node(key, labels, properties)

    def relationships(self) -> Iterator[Relationship]:
        """Yield all relationships, type by type."""
        for table in self.relationship_tables:
            rows = property_rows(table.columns, np.arange(len(table.sources)))
            for source, target, properties in zip(table.sources.tolist(), table.targets.tolist(), rows, strict=True):
                yield Relationship(table.type, self.keys[source], self.keys[target], properties)

    @cached_property
    def digest(self) -> str:
        """Return SHA-256 (hex) of the content; independent of seed, spec, table order and pool order."""
        sha = hashlib.sha256()
        sha.update("\0".join(self.keys).encode())
        for nodes in sorted(self.node_tables, key=lambda table: table.labels):
            if len(nodes.numbers):
                _hash_table(sha, "node", "\2".join(nodes.labels), (nodes.numbers,), nodes.columns)
        for links in sorted(self.relationship_tables, key=lambda table: table.type):
            if len(links.sources):
                _hash_table(sha, "relationship", links.type, (links.sources, links.targets), links.columns)
        return sha.hexdigest()

    @classmethod
    def from_rows(
        cls,
        nodes: Iterable[Node],
        relationships: Iterable[Relationship],
        *,
        seed: int | None = None,
        spec: Mapping[str, Any] | None = None,
    ) -> "PropertyGraph":
        """Return a graph from rows, numbered as in `nodes`. Raise ValueError on a duplicate or unknown key."""
        keys: list[str] = []
        numbers_by_labels: dict[tuple[str, ...], list[int]] = defaultdict(list)
        properties_by_labels: dict[tuple[str, ...], list[Mapping[str, Value]]] = defaultdict(list)
        for number, node in enumerate(nodes):
            if isinstance(node.labels, str):
                raise ValueError(f"the labels of the node {node.key!r} must be a tuple: ({node.labels!r},)")
            keys.append(node.key)
            numbers_by_labels[node.labels].append(number)
            properties_by_labels[node.labels].append(node.properties)
        number_of = {key: number for number, key in enumerate(keys)}
        if len(number_of) != len(keys):
            # Of two nodes with one key, `number_of` has the number of the last.
            duplicate = next(key for number, key in enumerate(keys) if number_of[key] != number)
            raise ValueError(f"two nodes have the same key {duplicate!r}")

        by_type: dict[str, list[Relationship]] = defaultdict(list)
        for relationship in relationships:
            for end in (relationship.source, relationship.target):
                if end not in number_of:
                    raise ValueError(
                        f"a relationship {relationship.type} names the node {end!r}, which does not exist; add it"
                    )
            by_type[relationship.type].append(relationship)

        node_tables = []
        for labels, numbers in numbers_by_labels.items():
            columns = _columns(properties_by_labels[labels])
            node_tables.append(NodeTable(labels, np.array(numbers, dtype=np.int64), columns))
        relationship_tables = []
        for type_, rows in by_type.items():
            sources = np.array([number_of[row.source] for row in rows], dtype=np.int64)
            targets = np.array([number_of[row.target] for row in rows], dtype=np.int64)
            columns = _columns([row.properties for row in rows])
            relationship_tables.append(RelationshipTable(type_, sources, targets, columns))
        return cls(keys, tuple(node_tables), tuple(relationship_tables), seed, dict(spec or {}))

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]], label: str, type_: str) -> "PropertyGraph":
        """Return a graph of keys of sources and targets, at least one; nodes in the order in which edges name them."""
        number_of: dict[str, int] = {}
        sources = []
        targets = []
        for source, target in edges:
            sources.append(number_of.setdefault(source, len(number_of)))
            targets.append(number_of.setdefault(target, len(number_of)))
        nodes = NodeTable((label,), np.arange(len(number_of), dtype=np.int64), {})
        links = RelationshipTable(type_, np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64), {})
        return cls(list(number_of), (nodes,), (links,))

    def edges(self) -> Iterator[tuple[str, str]]:
        """Yield the keys of source and target of every relationship, type by type."""
        for table in self.relationship_tables:
            for source, target in zip(table.sources.tolist(), table.targets.tolist(), strict=True):
                yield self.keys[source], self.keys[target]


def is_reserved(label: str) -> bool:
    """Return True for a label of GraphWalk's own."""
    return label.startswith(OUR_PREFIX)


def value_order(value: Value) -> tuple[int, Any]:
    """Sort key over mixed values: booleans, numbers, text, then others (NaN too) by what they look like, then lists.

    It is the order of every value list we show, and what tells values apart as Cypher does: 1 and 1.0 are equal.
    """
    if isinstance(value, bool):
        return (0, value)
    if isinstance(value, int | float) and value == value:
        return (1, value)
    if isinstance(value, str):
        return (2, value)
    if isinstance(value, tuple | list):
        return (4, tuple(value_order(item) for item in value))
    return (3, (type(value).__name__, shown(value)))


def _total_order(value: Value) -> tuple[Any, ...]:
    """Sort key as `value_order`, that tells 1 from 1.0 too, alone or in lists."""
    if isinstance(value, tuple):
        return (value_order(value), "tuple", repr(value))
    return (value_order(value), type(value).__name__, "")


def identity(value: Value) -> Any:
    """Return a key that tells values apart: in Python True, 1 and 1.0 are equal, and NaN is not equal to itself."""
    if value.__class__ is tuple:
        return (tuple, *[identity(item) for item in value])
    if value != value:
        return (value.__class__, "NaN")
    return (value.__class__, value)


def property_rows(columns: Mapping[str, PropertyColumn], positions: NDArray[np.int64]) -> list[dict[str, Value]]:
    """Return the properties of the entities at these positions of a table."""
    rows: list[dict[str, Value]] = [{} for _ in positions]
    for name, column in columns.items():
        codes = column.codes[positions]
        present = np.flatnonzero(codes != MISSING)
        for number, code in zip(present.tolist(), codes[present].tolist(), strict=True):
            rows[number][name] = column.pool[code]
    return rows


def _columns(rows: Sequence[Mapping[str, Value]]) -> dict[str, PropertyColumn]:
    """Return the columns of a table from the properties of its entities; pools in the order of first use.

    [{"born": 1901}, {}, {"born": 1901, "name": "Ida"}] has the columns born, with the codes 0, MISSING, 0 and the pool
    (1901,), and name, with the codes MISSING, MISSING, 0 and the pool ("Ida",).
    """
    numbers: dict[str, list[int]] = defaultdict(list)
    values: dict[str, list[Value]] = defaultdict(list)
    for number, row in enumerate(rows):
        for name, value in row.items():
            numbers[name].append(number)
            values[name].append(value)

    columns = {}
    for name, column_values in values.items():
        code_of: dict[Any, int] = {}
        pool: list[Value] = []
        present_codes: list[int] = []
        for value in column_values:
            code = code_of.setdefault(identity(value), len(pool))
            is_new = code == len(pool)
            if is_new:
                pool.append(value)
            present_codes.append(code)
        codes = np.full(len(rows), MISSING, dtype=np.int32)
        codes[numbers[name]] = present_codes
        columns[name] = PropertyColumn(codes, tuple(pool))
    return columns


def _hash_table(
    sha: "hashlib._Hash",
    kind: str,
    name: str,
    ends: tuple[NDArray[np.int64], ...],
    columns: Mapping[str, PropertyColumn],
) -> None:
    """Hash a table in a canonical order, so that the order of relationships does not matter."""
    names = sorted(columns)
    canonical = [columns[name].canonical() for name in names]
    sort_keys: list[NDArray[Any]] = list(ends)
    sort_keys.extend(column.codes for column in canonical)
    # lexsort takes its most significant key last.
    order = np.lexsort(sort_keys[::-1])
    sha.update(f"\1{kind}\0{name}\0".encode())
    for end in ends:
        sha.update(np.ascontiguousarray(end[order], dtype="<i8").tobytes())
    for column_name, column in zip(names, canonical, strict=True):
        # A column without values is as no column.
        if column.pool:
            sha.update(f"\1{column_name}\0{column.pool!r}\0".encode())
            sha.update(np.ascontiguousarray(column.codes[order], dtype="<i4").tobytes())
