"""Pairs of nodes joined by a path of two relationships over a given label."""

from collections import defaultdict
from collections.abc import Iterator

from graphwalk.suites.questions.brute_force import NetworkxGraph
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.walker import Steps, Walker, end_keys
from graphwalk.tools.observed import RelationshipRow
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

STEPS = 2
"""Relationships of a path."""


def rows(index: GraphIndex, source_label: str, middle_label: str, target_label: str) -> Iterator[Row]:
    for a in index.keys_of(source_label):
        for first in index.outgoing[a]:
            if not index.has_label(first.target, middle_label):
                continue
            for second in index.outgoing[first.target]:
                if second is not first and index.has_label(second.target, target_label):
                    yield {"source_node_key": a, "target_node_key": second.target}


def plan(walker: Walker, schema: Schema, source_label: str, middle_label: str, target_label: str) -> Steps[list[Row]]:
    """Read only the middle nodes, because both relationships of a path touch one."""
    links = yield from walker.relationships({middle_label})
    onward: defaultdict[str, list[RelationshipRow]] = defaultdict(list)
    for link in links:
        if middle_label in link.source_labels and target_label in link.target_labels:
            onward[link.source].append(link)
    return end_keys(
        (first.source, second.target)
        for first in links
        if source_label in first.source_labels and middle_label in first.target_labels
        for second in onward[first.target]
        if second is not first  # a loop cannot be both steps
    )


def brute_force(graph: NetworkxGraph, source_label: str, middle_label: str, target_label: str) -> Iterator[Row]:
    for path in graph.paths(graph.labelled(source_label), 2):
        if len(path) == 2 and graph.has_label(path[0][1], middle_label) and graph.has_label(path[1][1], target_label):
            yield {"source_node_key": path[0][0], "target_node_key": path[1][1]}
