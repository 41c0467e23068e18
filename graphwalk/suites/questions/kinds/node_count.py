"""Number of nodes of a label with a relationship to another label."""

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Walker


class Part(PythonPart):
    source_label: str
    target_label: str

    grows = False

    def rows(self, index: GraphIndex) -> Rows:
        sources = index.keys_of(self.source_label)
        yield {"count": sum(self.target_label in index.successor_labels[key] for key in sources)}

    def certain(self, least: GraphIndex, most: GraphIndex) -> Rows:
        """Yield the number if nothing that was not seen can add to it."""
        numbers = list(self.rows(least))
        if numbers == list(self.rows(most)):
            yield from numbers

    def plan(self, walker: Walker) -> Plan:
        targets = yield from walker.target_labels(self.source_label)
        return [{"count": sum(self.target_label in labels for labels in targets.values())}]
