"""Between which nodes there is a path of two relationships over a node of a given label."""

from collections import defaultdict
from collections.abc import Iterator

from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.players.answer_rows import end_keys
from graphwalk.suites.questions.players.link import Link
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.walker import Walker
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
    """Both steps of every path touch a node in the middle, so these nodes are all that is looked at."""
    links = yield from walker.relationships({middle_label})
    onward: defaultdict[str, list[Link]] = defaultdict(list)
    for link in links:
        if middle_label in link.source_labels and target_label in link.target_labels:
            onward[link.source].append(link)
    return end_keys(
        (first.source, second.target)
        for first in links
        if source_label in first.source_labels and middle_label in first.target_labels
        for second in onward[first.target]
        if second is not first  # a loop is one relationship, and cannot be both steps
    )
