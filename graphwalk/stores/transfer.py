"""Make the rows for loading a graph into a store, batch by batch."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.graphs.graph import PropertyColumn, PropertyGraph, RelationshipTable, property_rows
from graphwalk.graphs.values import Value

Rows = list[dict[str, Any]]
Pair = tuple[str, str] | None


def stored_graph(graph: PropertyGraph, stored: Callable[[Value], Any]) -> PropertyGraph:
    """Return the graph with its keys and values in the form of an engine."""

    def columns(held: Mapping[str, PropertyColumn]) -> dict[str, PropertyColumn]:
        return {name: PropertyColumn(column.codes, tuple(map(stored, column.pool))) for name, column in held.items()}

    return PropertyGraph(
        list(map(stored, graph.keys)),
        tuple(replace(table, columns=columns(table.columns)) for table in graph.node_tables),
        tuple(replace(table, columns=columns(table.columns)) for table in graph.relationship_tables),
    )


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
        groups = _by_pair(graph, table) if by_pair else [(None, np.arange(len(table.sources)))]
        for pair, group in groups:
            for part in _parts(group, size):
                sources, targets = table.sources[part].tolist(), table.targets[part].tolist()
                rows = [
                    {"s": graph.keys[source], "t": graph.keys[target], "p": properties}
                    for source, target, properties in zip(
                        sources, targets, property_rows(table.columns, part), strict=True
                    )
                ]
                yield table.type, pair, rows


def _parts(positions: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    return (positions[start : start + size] for start in range(0, len(positions), size))


def label_codes(graph: PropertyGraph) -> NDArray[np.int64]:
    """Return for every node the index of its table in `graph.node_tables`."""
    codes = np.zeros(graph.node_count, dtype=np.int64)
    for code, table in enumerate(graph.node_tables):
        codes[table.numbers] = code
    return codes


def _by_pair(graph: PropertyGraph, table: RelationshipTable) -> Iterator[tuple[Pair, NDArray[np.int64]]]:
    """Yield first labels of both ends, and the positions of the relationships that join nodes of these tables."""
    codes = label_codes(graph)
    pairs = codes[table.sources] * len(graph.node_tables) + codes[table.targets]
    for pair in np.unique(pairs).tolist():
        source, target = divmod(pair, len(graph.node_tables))
        yield (graph.node_tables[source].label, graph.node_tables[target].label), np.flatnonzero(pairs == pair)
