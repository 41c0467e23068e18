"""The twelve questions answered a third time: by brute force over a networkx graph, without Cypher or our index.

Slow and plain on purpose: every path is walked, relationship by relationship, so that nothing clever can be wrong.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Row, Value

if TYPE_CHECKING:
    import networkx as nx

    Graph: TypeAlias = nx.MultiDiGraph[str]

_MOST_PATHS = 3_000_000
"""Paths walked for one question: some seconds."""


class TooManyPathsError(Exception):
    """Brute force would take too long."""


def rows_by_brute_force(name: str, graph: PropertyGraph, parameters: Mapping[str, Any]) -> list[Row] | None:
    """All right rows of a shipped question, repetitions included; None where it is none, or has too many paths."""
    try:
        return None if name not in _WAYS else list(_WAYS[name](_networkx(graph), **parameters))
    except TooManyPathsError:
        return None


def _networkx(graph: PropertyGraph) -> "Graph":
    """Properties apart from labels and types: somebody's own graph may have a property of any name."""
    import networkx as nx

    made: Graph = nx.MultiDiGraph()
    made.add_nodes_from((n.key, {"labels": n.labels, "properties": n.properties}) for n in graph.nodes())
    made.add_edges_from(
        (r.source, r.target, {"type": r.type, "properties": r.properties}) for r in graph.relationships()
    )
    return made


def _same(left: Any, right: Value) -> bool:
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _value(graph: "Graph", key: str, name: str) -> Any:
    return key if name == "key" else graph.nodes[key]["properties"].get(name)


def _labelled(graph: "Graph", label: str) -> list[str]:
    return [key for key, labels in graph.nodes(data="labels") if label in labels]


def _paths(graph: "Graph", starts: list[str], longest: int) -> Iterator[list[tuple[str, str, int]]]:
    """Every directed path of 1 … `longest` relationships, none of them twice."""
    left = _MOST_PATHS
    for start in starts:
        waiting = [[edge] for edge in graph.out_edges(start, keys=True)]
        while waiting:
            if not (left := left - 1):
                raise TooManyPathsError
            path = waiting.pop()
            yield path
            if len(path) < longest:
                waiting += [[*path, edge] for edge in graph.out_edges(path[-1][1], keys=True) if edge not in path]


def node_by_property(graph: "Graph", label: str, property: str, value: Value) -> Iterator[Row]:
    yield from ({"node_key": key} for key in _labelled(graph, label) if _same(_value(graph, key, property), value))


def node_count(graph: "Graph", source_label: str, target_label: str) -> Iterator[Row]:
    targets = _labelled(graph, target_label)
    pairs = [a for a in _labelled(graph, source_label) if any(graph.has_edge(a, b) for b in targets)]
    yield {"count": len(pairs)}


def relationship_count(graph: "Graph", relationship_type: str) -> Iterator[Row]:
    yield {"count": [found for _, _, found in graph.edges(data="type")].count(relationship_type)}


def node_with_most_relationships(graph: "Graph", source_label: str, relationship_type: str) -> Iterator[Row]:
    counts = {
        key: [found for _, _, found in graph.out_edges(key, data="type")].count(relationship_type)
        for key in _labelled(graph, source_label)
    }
    most = max(counts.values(), default=0)
    yield from ({"node_key": key, "rel_count": n} for key, n in counts.items() if n == most > 0)


def relationship_by_property(graph: "Graph", relationship_type: str, property: str, value: Value) -> Iterator[Row]:
    typed = [(s, t, data) for s, t, data in graph.edges(data=True) if data["type"] == relationship_type]
    names = sorted({name for _, _, data in typed for name in data["properties"]})
    for source, target, data in typed:
        own = data["properties"]
        if _same(own.get(property), value):
            yield {**{name: own.get(name) for name in names}, "source_key": source, "target_key": target}


def path_finding(graph: "Graph", source_label: str, middle_label: str, target_label: str) -> Iterator[Row]:
    for path in _paths(graph, _labelled(graph, source_label), 2):
        if len(path) == 2 and _has(graph, path[0][1], middle_label) and _has(graph, path[1][1], target_label):
            yield {"source_node_key": path[0][0], "target_node_key": path[1][1]}


def path_from_specific_node(
    graph: "Graph", source_label: str, key: str, target_label: str, max_hops: int
) -> Iterator[Row]:
    for path in _paths(graph, _start(graph, source_label, key), max_hops):
        if _has(graph, path[-1][1], target_label):
            yield {"target_node_key": path[-1][1]}


def remote_node_property(
    graph: "Graph", source_label: str, key: str, target_label: str, property: str, max_hops: int
) -> Iterator[Row]:
    for path in _paths(graph, _start(graph, source_label, key), max_hops):
        end = path[-1][1]
        if len(path) >= 2 and _has(graph, end, target_label) and not graph.has_edge(key, end):
            yield {"value": _value(graph, end, property)}


def variable_hop_path(graph: "Graph", source_label: str, target_label: str, max_hops: int) -> Iterator[Row]:
    for path in _paths(graph, _labelled(graph, source_label), max_hops):
        end = path[-1][1]
        onward = (edge for edge in graph.out_edges(end, keys=True) if edge not in path)
        if _has(graph, end, target_label) and next(onward, None):
            yield {"source_node_key": path[0][0], "target_node_key": end}


def compositional_intersection(graph: "Graph", source_label: str, first_label: str, second_label: str) -> Iterator[Row]:
    for key in _labelled(graph, source_label):
        beside = _labels_beside(graph, key)
        if first_label in beside and second_label in beside:
            yield {"node_key": key}


def negation_with_connection(
    graph: "Graph", source_label: str, required_label: str, excluded_label: str
) -> Iterator[Row]:
    for key in _labelled(graph, source_label):
        beside = _labels_beside(graph, key)
        if required_label in beside and excluded_label not in beside:
            yield {"node_key": key}


def negation_on_rel_property(
    graph: "Graph",
    source_label: str,
    node_property: str,
    node_value: Value,
    relationship_type: str,
    target_label: str,
    relationship_property: str,
    excluded_value: Value,
) -> Iterator[Row]:
    for source, target, data in graph.edges(data=True):
        found = data["properties"].get(relationship_property)
        if (
            data["type"] == relationship_type
            and _has(graph, source, source_label)
            and _has(graph, target, target_label)
            and _same(_value(graph, source, node_property), node_value)
            and found is not None
            and not _same(found, excluded_value)
        ):
            yield {"node_key": source}


def _has(graph: "Graph", key: str, label: str) -> bool:
    return label in graph.nodes[key]["labels"]


def _labels_beside(graph: "Graph", key: str) -> set[str]:
    return {label for target in graph.successors(key) for label in graph.nodes[target]["labels"]}


def _start(graph: "Graph", label: str, key: str) -> list[str]:
    return [key] if key in _labelled(graph, label) else []


_WAYS: Mapping[str, Callable[..., Iterator[Row]]] = {
    way.__name__: way
    for way in (
        node_by_property,
        node_count,
        node_with_most_relationships,
        relationship_by_property,
        relationship_count,
        path_finding,
        path_from_specific_node,
        remote_node_property,
        variable_hop_path,
        compositional_intersection,
        negation_on_rel_property,
        negation_with_connection,
    )
}
