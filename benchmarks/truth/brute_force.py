"""Rows of questions by brute force over networkx, independent of Cypher and of `GraphIndex`.

Every path is enumerated, so it is slow and simple. Values are those of logs and answers: JSON, for example a date as
text. The values that questions ask about have distinct texts, so comparing these is exact.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.values import Row, Value, shown
from graphwalk.suites.questions.catalogue import python_part

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


def compositional_intersection(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    for key in graph.labelled(part.source_label):
        if {part.first_label, part.second_label} <= graph.labels_beside(key):
            yield {"node_key": key}


def negation_on_rel_property(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    for source, target, data in graph.nx.edges(data=True):
        value = data["properties"].get(part.relationship_property)
        if (
            data["type"] == part.relationship_type
            and graph.has_label(source, part.source_label)
            and graph.has_label(target, part.target_label)
            and same_value(graph.value(source, part.node_property), part.node_value)
            and value is not None
            and not same_value(value, part.excluded_value)
        ):
            yield {"node_key": source}


def negation_on_shared_neighbor(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    for row in shared_neighbor(part, graph):
        value = graph.value(str(row["target_node_key"]), part.property)
        if value is not None and not same_value(value, part.excluded_value):
            yield row


def negation_with_connection(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    for key in graph.labelled(part.source_label):
        labels = graph.labels_beside(key)
        if part.required_label in labels and part.excluded_label not in labels:
            yield {"node_key": key}


def node_by_property(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    for key in graph.labelled(part.label):
        if same_value(graph.value(key, part.property), part.value):
            yield {"node_key": key}


def node_count(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    sources, targets = graph.labelled(part.source_label), graph.labelled(part.target_label)
    yield {"count": sum(any(graph.nx.has_edge(a, b) for b in targets) for a in sources)}


def node_with_most_relationships(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    counts = {
        key: [type_ for _, _, type_ in graph.nx.out_edges(key, data="type")].count(part.relationship_type)
        for key in graph.labelled(part.source_label)
    }
    most = max(counts.values(), default=0)
    return ({"node_key": key, "rel_count": n} for key, n in counts.items() if n == most > 0)


def path_finding(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    for path in graph.paths(graph.labelled(part.source_label), 2):
        ends = [end for _, end, _ in path]
        labels = (part.middle_label, part.target_label)
        if len(path) == 2 and all(map(graph.has_label, ends, labels)):
            yield {"source_node_key": path[0][0], "target_node_key": path[1][1]}


def path_from_specific_node(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    for path in graph.paths(graph.labelled(part.source_label, part.key), part.max_hops):
        if graph.has_label(path[-1][1], part.target_label):
            yield {"target_node_key": path[-1][1]}


def relationship_by_property(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    edges = graph.nx.edges(data=True)
    typed = [(s, t, r["properties"]) for s, t, r in edges if r["type"] == part.relationship_type]
    names = sorted({name for _, _, own in typed for name in own})
    for source, target, own in typed:
        if same_value(own.get(part.property), part.value):
            yield {**{name: own.get(name) for name in names}, "source_key": source, "target_key": target}


def relationship_count(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    yield {"count": [type_ for _, _, type_ in graph.nx.edges(data="type")].count(part.relationship_type)}


def remote_node_property(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    for path in graph.paths(graph.labelled(part.source_label, part.key), part.max_hops):
        end = path[-1][1]
        if len(path) >= 2 and graph.has_label(end, part.target_label) and not graph.nx.has_edge(part.key, end):
            yield {"value": graph.value(end, part.property)}


def shared_neighbor(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    beside = graph.nx.to_undirected(as_view=True).adj
    for middle in graph.labelled(part.middle_label):
        if graph.labelled(part.source_label, part.key) and part.key in beside[middle] and middle != part.key:
            for end in beside[middle]:
                if end not in (part.key, middle) and graph.has_label(end, part.target_label):
                    yield {"target_node_key": end}


def variable_hop_path(part: Any, graph: NetworkxGraph) -> Iterator[Row]:
    for path in graph.paths(graph.labelled(part.source_label), part.max_hops):
        end = path[-1][1]
        onward = (edge for edge in graph.nx.out_edges(end, keys=True) if edge not in path)
        if graph.has_label(end, part.target_label) and next(onward, None):
            yield {"source_node_key": path[0][0], "target_node_key": end}


_ROWS: Mapping[str, Callable[[Any, NetworkxGraph], Iterator[Row]]] = {
    function.__name__: function
    for function in (
        compositional_intersection,
        negation_on_rel_property,
        negation_on_shared_neighbor,
        negation_with_connection,
        node_by_property,
        node_count,
        node_with_most_relationships,
        path_finding,
        path_from_specific_node,
        relationship_by_property,
        relationship_count,
        remote_node_property,
        shared_neighbor,
        variable_hop_path,
    )
}


def rows_by_brute_force(question: str, parameters: Mapping[str, Any], graph: PropertyGraph) -> list[Row] | None:
    """Return all correct rows with repetitions, or None with too many paths."""
    python = python_part(question)
    assert python is not None
    try:
        return list(_ROWS[question](python(**parameters), NetworkxGraph(graph)))
    except TooManyPathsError:
        return None
