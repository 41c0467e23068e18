"""Nodes of a label with a relationship to one label and none to another."""

from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.brute_force import NetworkxGraph
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.walker import Steps, Walker, leading_to, node_keys, target_labels
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(index: GraphIndex, source_label: str, required_label: str, excluded_label: str) -> Iterator[Row]:
    for key in index.keys_of(source_label):
        labels = index.successor_labels[key]
        if required_label in labels and excluded_label not in labels:
            yield {"node_key": key}


def relaxed(
    index: GraphIndex, source_label: str, required_label: str, excluded_label: str
) -> Mapping[str, Iterator[Row]]:
    return {"negation": rows(index, source_label, required_label, excluded_label="")}


def plan(
    walker: Walker, schema: Schema, source_label: str, required_label: str, excluded_label: str
) -> Steps[list[Row]]:
    targets = yield from target_labels(walker, source_label)
    return node_keys(
        key for key, labels in targets.items() if required_label in labels and excluded_label not in labels
    )


def brute_force(graph: NetworkxGraph, source_label: str, required_label: str, excluded_label: str) -> Iterator[Row]:
    for key in graph.labelled(source_label):
        labels = graph.labels_beside(key)
        if required_label in labels and excluded_label not in labels:
            yield {"node_key": key}


def by_reference(
    schema: Schema, rows: list[Row], source_label: str, required_label: str, excluded_label: str
) -> Mapping[str, str]:
    where, but_not = leading_to(required_label), leading_to(excluded_label)
    return {"columns": "node_key=center_key", "where": where, "but_not": but_not}
