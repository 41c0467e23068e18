"""Number of nodes of a label with a relationship to another label."""

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Walker


class Part(PythonPart):
    source_label: str
    target_label: str

    def rows(self, index: GraphIndex) -> Rows:
        sources = index.keys_of(self.source_label)
        yield {"count": sum(self.target_label in index.successor_labels[key] for key in sources)}

    def plan(self, walker: Walker) -> Plan:
        targets = yield from walker.target_labels(self.source_label)
        return [{"count": sum(self.target_label in labels for labels in targets.values())}]
