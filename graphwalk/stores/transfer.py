"""Make the rows for loading a graph into a store, batch by batch."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphwalk.stores.serialisation import Serialisation
from graphwalk.types.graph import MISSING, Column, PropertyGraph

Rename = Callable[[str], str]
_Stored = tuple[str, NDArray[np.int32], Sequence[Any]]
"""Name, codes and pool of a column for an engine."""


class NodeBatch(NamedTuple):
    """Nodes with the same labels; a row is a map of properties, `key` among them."""

    labels: tuple[str, ...]
    rows: list[dict[str, Any]]


class RelationshipBatch(NamedTuple):
    """Relationships of one type; a row is {"s": source key, "t": target key, "p": map of properties}.

    `pair` holds the first labels of both ends where all rows share them.
    """

    type: str
    rows: list[dict[str, Any]]
    pair: tuple[str, str] | None = None


def node_batches(
    graph: PropertyGraph, size: int, rename: Rename = str, serialisation: Serialisation | None = None
) -> Iterator[NodeBatch]:
    """Yield all nodes in a fixed order, at most `size` in a batch."""
    keys = _stored_keys(graph, serialisation)
    for table in graph.node_tables:
        columns = _stored(table.columns, rename, serialisation)
        for start in range(0, len(table.numbers), size):
            part = slice(start, start + size)
            rows: list[dict[str, Any]] = [{"key": keys[number]} for number in table.numbers[part].tolist()]
            _fill(rows, columns, part)
            yield NodeBatch(table.labels, rows)


def relationship_batches(
    graph: PropertyGraph,
    size: int,
    rename: Rename = str,
    serialisation: Serialisation | None = None,
    *,
    by_pair: bool = False,
) -> Iterator[RelationshipBatch]:
    """Yield all relationships, at most `size` in a batch; with `by_pair`, each batch joins nodes of two tables."""
    keys = _stored_keys(graph, serialisation)
    labels = label_codes(graph) if by_pair else None
    for table in graph.relationship_tables:
        columns = _stored(table.columns, rename, serialisation)
        for pair, order in _groups(graph, labels, table.sources, table.targets):
            for start in range(0, len(order), size):
                part = order[start : start + size]
                ends = zip(table.sources[part].tolist(), table.targets[part].tolist(), strict=True)
                properties: list[dict[str, Any]] = [{} for _ in range(len(part))]
                _fill(properties, columns, part)
                rows = [{"s": keys[s], "t": keys[t], "p": p} for (s, t), p in zip(ends, properties, strict=True)]
                yield RelationshipBatch(table.type, rows, pair)


def label_codes(graph: PropertyGraph) -> NDArray[np.int64]:
    """Return for every node the index of its table in `graph.node_tables`."""
    codes = np.zeros(graph.node_count, dtype=np.int64)
    for code, table in enumerate(graph.node_tables):
        codes[table.numbers] = code
    return codes


def _groups(
    graph: PropertyGraph, labels: NDArray[np.int64] | None, sources: NDArray[np.int64], targets: NDArray[np.int64]
) -> Iterator[tuple[tuple[str, str] | None, NDArray[np.int64]]]:
    if labels is None:
        yield None, np.arange(len(sources), dtype=np.int64)
        return
    count = len(graph.node_tables)
    pairs = labels[sources] * count + labels[targets]
    order = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    for group in np.split(order, starts[1:]):
        if len(group):
            source, target = divmod(int(pairs[group[0]]), count)
            yield (graph.node_tables[source].label, graph.node_tables[target].label), group


def _stored_keys(graph: PropertyGraph, serialisation: Serialisation | None) -> Sequence[str]:
    return list(map(serialisation.stored, graph.keys)) if serialisation and serialisation.tags else graph.keys


def _stored(columns: Mapping[str, Column], rename: Rename, serialisation: Serialisation | None) -> list[_Stored]:
    return [
        (rename(name), column.codes, list(map(serialisation.stored, column.pool)) if serialisation else column.pool)
        for name, column in columns.items()
    ]


def _fill(rows: list[dict[str, Any]], columns: list[_Stored], part: slice | NDArray[np.int64]) -> None:
    for stored, codes, pool in columns:
        for row, code in zip(rows, codes[part].tolist(), strict=True):
            if code != MISSING:
                row[stored] = pool[code]


def content_digest(graph: PropertyGraph) -> str:
    """Return SHA-256 (hex) of the content of a graph, independent of its order."""
    lines = [repr((n.key, sorted(n.labels), sorted(n.properties.items()))) for n in graph.nodes()]
    lines += [repr((r.type, r.source, r.target, sorted(r.properties.items()))) for r in graph.relationships()]
    return hashlib.sha256("\n".join(sorted(lines)).encode("utf-8", "surrogatepass")).hexdigest()
