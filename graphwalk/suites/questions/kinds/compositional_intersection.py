"""Nodes of a label with relationships to nodes of two other labels."""

from collections.abc import Iterator

from graphwalk.suites.questions.agents.walker import Steps, Walker, node_keys
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.types.values import Row


class Part(PythonPart):
    source_label: str
    first_label: str
    second_label: str

    def rows(self, index: GraphIndex) -> Iterator[Row]:
        both = {self.first_label, self.second_label}
        return ({"node_key": key} for key in index.keys_of(self.source_label) if both <= index.successor_labels[key])

    def plan(self, walker: Walker) -> Steps[list[Row]]:
        targets = yield from walker.target_labels(self.source_label)
        return node_keys(key for key, labels in targets.items() if {self.first_label, self.second_label} <= labels)
