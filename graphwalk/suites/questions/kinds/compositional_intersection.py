"""Which nodes of a label have relationships to nodes of two other labels."""

from collections.abc import Iterator

from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.players.answer_rows import node_keys
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.surveys import target_labels
from graphwalk.suites.questions.players.walker import Walker
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(index: GraphIndex, source_label: str, first_label: str, second_label: str) -> Iterator[Row]:
    for key in index.keys_of(source_label):
        if {first_label, second_label} <= index.successor_labels[key]:
            yield {"node_key": key}


def plan(walker: Walker, schema: Schema, source_label: str, first_label: str, second_label: str) -> Steps[list[Row]]:
    targets = yield from target_labels(walker, source_label)
    return node_keys(key for key, labels in targets.items() if {first_label, second_label} <= labels)
