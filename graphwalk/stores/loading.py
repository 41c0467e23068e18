"""The steps of every store when a graph is loaded: make names safe, and batches of rows.

Safe names are taken by both engines in every query as they are. The embedded engine gives some property names a meaning
of its own, and its patterns know few characters:

    type → type_     Größe → Grosse     日本語 → RiBenYu     1st → _1st
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from anyascii import anyascii
from numpy.typing import NDArray

from graphwalk.graphs.graph import KEY, NodeTable, PropertyColumn, PropertyGraph, RelationshipTable, property_rows
from graphwalk.graphs.values import shown

Rows = list[dict[str, Any]]
Pair = tuple[str, str] | None
RESERVED = frozenset({"id", "title", "type", "label", "node_type", "updated_at"})
"""Property names that kglite answers itself; it takes `title` for `name` where a node has no other."""
_SAFE = re.compile(r"[A-Za-z_`][A-Za-z0-9_ .`()/-]*")
"""All characters were tried: kglite refuses others in patterns, in back-ticks too."""
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9_ .`()/-]")


class ChangedNames(NamedTuple):
    """The names of a graph that are not safe → the safe ones."""

    labels: Mapping[str, str]
    types: Mapping[str, str]
    properties: Mapping[str, str]

    def columns(self, columns: Mapping[str, PropertyColumn]) -> dict[str, PropertyColumn]:
        """Return the columns of a table under the safe names of their properties."""
        return {self.properties.get(name, name): column for name, column in columns.items()}


def changed_names(graph: PropertyGraph) -> ChangedNames:
    """Return the names that `with_safe_names` changes. `title` stays where the engine can tell it from `name`."""
    labels: set[str] = set()
    by_label = defaultdict[str, set[str]](set)
    for table in graph.node_tables:
        labels.update(table.labels)
        for label in table.labels or ("",):
            by_label[label].update(table.columns)
    properties: set[str] = set()
    for columns in graph.all_columns():
        properties.update(columns)
    reserved = RESERVED | {KEY}
    has_both = any({"name", "title"} <= names for names in by_label.values())
    if "title" in properties and not has_both:
        reserved -= {"title"}
    return ChangedNames(
        _safe_names(labels),
        _safe_names(table.type for table in graph.relationship_tables),
        _safe_names(properties, reserved),
    )


def _safe_names(names: Iterable[str], reserved: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return unsafe name → safe name, the same for the same names in any order."""
    taken = set(names)
    unsafe = sorted(name for name in taken if name in reserved or not _SAFE.fullmatch(name))
    taken |= reserved
    safe: dict[str, str] = {}
    for name in unsafe:
        new = _UNSAFE_CHARACTERS.sub("_", anyascii(name))  # Größe → Grosse, a#b → a_b
        if not _SAFE.fullmatch(new):
            new = f"_{new}"  # 1st → _1st
        while new in taken:
            new += "_"  # type → type_
        taken.add(new)
        safe[name] = new
    return safe


def with_safe_names(graph: PropertyGraph) -> PropertyGraph:
    """Return the graph under safe names; the same graph if all are."""
    names = changed_names(graph)
    return renamed(graph, names) if any(names) else graph


def renamed(graph: PropertyGraph, names: ChangedNames) -> PropertyGraph:
    """Return the graph with these names changed."""
    node_tables: list[NodeTable] = []
    for table in graph.node_tables:
        labels = sorted(names.labels.get(label, label) for label in table.labels)
        node_tables.append(replace(table, labels=tuple(labels), columns=names.columns(table.columns)))
    relationship_tables: list[RelationshipTable] = []
    for links in graph.relationship_tables:
        type_ = names.types.get(links.type, links.type)
        relationship_tables.append(replace(links, type=type_, columns=names.columns(links.columns)))
    return replace(graph, node_tables=tuple(node_tables), relationship_tables=tuple(relationship_tables))


def stored_graph(graph: PropertyGraph) -> PropertyGraph:
    """Return the graph with values as models see them: those that JSON lacks are text, in every store alike."""
    nodes = [replace(table, columns=_stored_columns(table.columns)) for table in graph.node_tables]
    links = [replace(table, columns=_stored_columns(table.columns)) for table in graph.relationship_tables]
    return replace(graph, node_tables=tuple(nodes), relationship_tables=tuple(links))


def _stored_columns(columns: Mapping[str, PropertyColumn]) -> dict[str, PropertyColumn]:
    """Return columns whose values are those of JSON: date(2001, 4, 25) → "2001-04-25"."""
    stored: dict[str, PropertyColumn] = {}
    for name, column in columns.items():
        pool = tuple(shown(value) for value in column.pool)
        stored[name] = PropertyColumn(column.codes, pool)
    return stored


def node_batches(graph: PropertyGraph, size: int) -> Iterator[tuple[tuple[str, ...], Rows]]:
    """Yield labels, and at most `size` nodes with these, in a fixed order: maps of properties, `key` among them."""
    for table in graph.node_tables:
        for part in _parts(np.arange(len(table.numbers)), size):
            rows = zip(table.numbers[part].tolist(), property_rows(table.columns, part), strict=True)
            yield table.labels, [{"key": graph.keys[number], **properties} for number, properties in rows]


def relationship_batches(graph: PropertyGraph, size: int, *, by_pair: bool = False) -> Iterator[tuple[str, Pair, Rows]]:
    """Yield a type, and at most `size` rows: {"s": source key, "t": target key, "p": map of properties}.

    With `by_pair` each batch joins nodes of two tables, whose first labels come second.
    """
    for table in graph.relationship_tables:
        groups: Iterable[tuple[Pair, NDArray[np.int64]]] = [(None, np.arange(len(table.sources)))]
        if by_pair:
            groups = _by_pair(graph, table)
        for pair, group in groups:
            for part in _parts(group, size):
                yield table.type, pair, _relationship_rows(graph, table, part)


def _relationship_rows(graph: PropertyGraph, table: RelationshipTable, part: NDArray[np.int64]) -> Rows:
    sources = table.sources[part].tolist()
    targets = table.targets[part].tolist()
    rows: Rows = []
    for source, target, properties in zip(sources, targets, property_rows(table.columns, part), strict=True):
        rows.append({"s": graph.keys[source], "t": graph.keys[target], "p": properties})
    return rows


def _parts(positions: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    return (positions[start : start + size] for start in range(0, len(positions), size))


def _by_pair(graph: PropertyGraph, table: RelationshipTable) -> Iterator[tuple[Pair, NDArray[np.int64]]]:
    """Yield first labels of both ends, and the positions of the relationships that join nodes of these tables."""
    codes = graph.table_of_nodes()
    pairs = codes[table.sources] * len(graph.node_tables) + codes[table.targets]
    for pair in np.unique(pairs).tolist():
        source, target = divmod(pair, len(graph.node_tables))
        yield (graph.node_tables[source].label, graph.node_tables[target].label), np.flatnonzero(pairs == pair)
