"""Nodes of a label with a relationship to one label and none to another."""

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Walker, node_keys


class Part(PythonPart):
    source_label: str
    required_label: str
    excluded_label: str

    def rows(self, index: GraphIndex) -> Rows:
        for key in index.keys_of(self.source_label):
            labels = index.successor_labels[key]
            if self.required_label in labels and self.excluded_label not in labels:
                yield {"node_key": key}

    def plan(self, walker: Walker) -> Plan:
        targets = yield from walker.target_labels(self.source_label)
        return node_keys(
            key
            for key, labels in targets.items()
            if self.required_label in labels and self.excluded_label not in labels
        )
