"""Nodes of a label with a relationship to one label and none to another."""

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Walker, rows_of_keys


class Part(PythonPart):
    source_label: str
    required_label: str
    excluded_label: str

    grows = False

    def rows(self, index: GraphIndex) -> Rows:
        return self._rows(index, index)

    def certain(self, least: GraphIndex, most: GraphIndex) -> Rows:
        return self._rows(least, most)

    def possible(self, least: GraphIndex, most: GraphIndex) -> Rows:
        return self._rows(most, least)

    def _rows(self, required: GraphIndex, excluded: GraphIndex) -> Rows:
        """Yield the nodes with a relationship in the first graph, and none to be left out in the second."""
        for key in required.keys_of(self.source_label):
            is_excluded = self.excluded_label in excluded.successor_labels.get(key, ())
            if self.required_label in required.successor_labels[key] and not is_excluded:
                yield {"node_key": key}

    def plan(self, walker: Walker) -> Plan:
        targets = yield from walker.target_labels(self.source_label)
        keys = []
        for key, labels in targets.items():
            if self.required_label in labels and self.excluded_label not in labels:
                keys.append(key)
        return rows_of_keys(keys)
