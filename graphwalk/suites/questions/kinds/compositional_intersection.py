"""Nodes of a label with relationships to nodes of two other labels."""

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Walker, rows_of_keys


class Part(PythonPart):
    source_label: str
    first_label: str
    second_label: str
    grows = True

    def rows(self, index: GraphIndex) -> Rows:
        both = {self.first_label, self.second_label}
        for key in index.keys_of(self.source_label):
            if both <= index.successor_labels[key]:
                yield {"node_key": key}

    def plan(self, walker: Walker) -> Plan:
        both = {self.first_label, self.second_label}
        targets = yield from walker.target_labels(self.source_label)
        return rows_of_keys(key for key, labels in targets.items() if both <= labels)
