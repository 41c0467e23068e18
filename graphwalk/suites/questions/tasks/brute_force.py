"""Brute-force check of targets with networkx, independent of Cypher and of `GraphIndex`.

Every path is enumerated, so it is slow and simple. Values are those of logs and answers: JSON, for example a date as
text. The values that questions ask about have distinct texts, so comparing these is exact.
"""

from collections.abc import Iterator
from typing import Any

from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Value, shown

_MOST_PATHS = 3_000_000
"""Paths enumerated per question, which takes some seconds."""


class TooManyPathsError(Exception):
    """Error for questions that brute force would take too long to answer."""


def same_value(value: Any, other: Value) -> bool:
    """Return True if two JSON values are equal as in Cypher, where 1 is not true."""
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


class NetworkxGraph:
    """A `networkx.MultiDiGraph` in `nx`: nodes have `labels` and `properties`, edges `type` and `properties`.

    Property values are JSON.
    """

    def __init__(self, graph: PropertyGraph) -> None:
        import networkx as nx

        self.nx: Any = nx.MultiDiGraph()
        self.nx.add_nodes_from((n.key, {"labels": n.labels, "properties": shown(n.properties)}) for n in graph.nodes())
        self.nx.add_edges_from(
            (r.source, r.target, {"type": r.type, "properties": shown(r.properties)}) for r in graph.relationships()
        )

    def value(self, key: str, name: str) -> Any:
        """Return a property of a node, or its `key`."""
        return key if name == "key" else self.nx.nodes[key]["properties"].get(name)

    def has_label(self, key: str, label: str) -> bool:
        return label in self.nx.nodes[key]["labels"]

    def labelled(self, label: str, key: str | None = None) -> list[str]:
        """Return the keys of the nodes with a label, limited to `key` if given."""
        return [k for k, labels in self.nx.nodes(data="labels") if label in labels and key in (None, k)]

    def labels_beside(self, key: str) -> set[str]:
        """Return all labels of a node's successors."""
        return {label for target in self.nx.successors(key) for label in self.nx.nodes[target]["labels"]}

    def paths(self, starts: list[str], longest: int) -> Iterator[list[tuple[str, str, int]]]:
        """Yield every trail of 1 … `longest` relationships (source, target, number)."""
        paths = 0
        for start in starts:
            waiting = [[edge] for edge in self.nx.out_edges(start, keys=True)]
            while waiting:
                if (paths := paths + 1) >= _MOST_PATHS:
                    raise TooManyPathsError
                path = waiting.pop()
                yield path
                if len(path) < longest:
                    waiting += [[*path, edge] for edge in self.nx.out_edges(path[-1][1], keys=True) if edge not in path]
