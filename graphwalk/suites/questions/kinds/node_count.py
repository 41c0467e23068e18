"""How many nodes of a label have a relationship to a node of another."""

from collections.abc import Iterator

from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.surveys import target_labels
from graphwalk.suites.questions.players.walker import Walker
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


def rows(index: GraphIndex, source_label: str, target_label: str) -> Iterator[Row]:
    yield {"count": sum(target_label in index.successor_labels[key] for key in index.keys_of(source_label))}


def plan(walker: Walker, schema: Schema, source_label: str, target_label: str) -> Steps[list[Row]]:
    targets = yield from target_labels(walker, source_label)
    return [{"count": sum(target_label in labels for labels in targets.values())}]
