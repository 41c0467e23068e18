"""Nodes of a label with a relationship to one label and none to another."""

from collections.abc import Iterator

from graphwalk.suites.questions.agents.walker import Steps, Walker, node_keys
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.types.values import Row


class Part(PythonPart):
    source_label: str
    required_label: str
    excluded_label: str

    def rows(self, index: GraphIndex) -> Iterator[Row]:
        for key in index.keys_of(self.source_label):
            labels = index.successor_labels[key]
            if self.required_label in labels and self.excluded_label not in labels:
                yield {"node_key": key}

    def plan(self, walker: Walker) -> Steps[list[Row]]:
        targets = yield from walker.target_labels(self.source_label)
        return node_keys(
            key
            for key, labels in targets.items()
            if self.required_label in labels and self.excluded_label not in labels
        )
