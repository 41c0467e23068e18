"""Nodes of a label with relationships to nodes of two other labels."""

from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.brute_force import NetworkxGraph
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.walker import Steps, Walker, leading_to, node_keys, target_labels
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(index: GraphIndex, source_label: str, first_label: str, second_label: str) -> Iterator[Row]:
    for key in index.keys_of(source_label):
        if {first_label, second_label} <= index.successor_labels[key]:
            yield {"node_key": key}


def plan(walker: Walker, schema: Schema, source_label: str, first_label: str, second_label: str) -> Steps[list[Row]]:
    targets = yield from target_labels(walker, source_label)
    return node_keys(key for key, labels in targets.items() if {first_label, second_label} <= labels)


def brute_force(graph: NetworkxGraph, source_label: str, first_label: str, second_label: str) -> Iterator[Row]:
    for key in graph.labelled(source_label):
        if {first_label, second_label} <= graph.labels_beside(key):
            yield {"node_key": key}


def by_reference(
    schema: Schema, rows: list[Row], source_label: str, first_label: str, second_label: str
) -> Mapping[str, str]:
    return {"columns": "node_key=center_key", "where": leading_to(first_label), "also": leading_to(second_label)}
