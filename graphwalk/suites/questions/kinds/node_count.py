"""Number of nodes of a label with a relationship to another label."""

from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.brute_force import NetworkxGraph
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.walker import Steps, Walker, leading_to, target_labels
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(index: GraphIndex, source_label: str, target_label: str) -> Iterator[Row]:
    yield {"count": sum(target_label in index.successor_labels[key] for key in index.keys_of(source_label))}


def relaxed(index: GraphIndex, source_label: str, target_label: str) -> Mapping[str, Iterator[Row]]:
    links = (r for key in index.keys_of(source_label) for r in index.outgoing[key])
    return {"distinct nodes": iter([{"count": sum(index.has_label(r.target, target_label) for r in links)}])}


def plan(walker: Walker, schema: Schema, source_label: str, target_label: str) -> Steps[list[Row]]:
    targets = yield from target_labels(walker, source_label)
    return [{"count": sum(target_label in labels for labels in targets.values())}]


def brute_force(graph: NetworkxGraph, source_label: str, target_label: str) -> Iterator[Row]:
    targets = graph.labelled(target_label)
    yield {"count": sum(any(graph.nx.has_edge(a, b) for b in targets) for a in graph.labelled(source_label))}


def by_reference(schema: Schema, rows: list[Row], source_label: str, target_label: str) -> Mapping[str, str]:
    return {"columns": "count=center_key", "where": leading_to(target_label), "count": "different"}
