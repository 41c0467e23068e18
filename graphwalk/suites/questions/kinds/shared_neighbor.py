"""Nodes that share a neighbour of a label with one node; relationships are followed in both directions."""

from collections.abc import Mapping

from graphwalk.suites.questions.kinds import KEY, Centre, GraphIndex, Plan, PythonPart, Rows, Steps, Value, Walker


class Part(PythonPart):
    source_label: str
    key: str
    middle_label: str
    target_label: str
    steps = 2
    grows = True

    def rows(self, index: GraphIndex) -> Rows:
        # No node is its own neighbour, and a relationship taken twice leads back to the start, which does not count.
        for a in index.with_key(self.source_label, self.key):
            for middle in index.neighbors[a] - {a}:
                if not index.has_label(middle, self.middle_label):
                    continue
                for b in index.neighbors[middle] - {middle, a}:
                    if index.has_label(b, self.target_label):
                        yield {"target_node_key": b}

    def plan(self, walker: Walker) -> Plan:
        nodes = yield from self.sharing(walker)
        return [{"target_node_key": key} for key in nodes]

    def sharing(self, walker: Walker) -> Steps[dict[str, Mapping[str, Value]]]:
        """Return key → properties of the nodes that share a neighbour, in the order of the keys."""
        links = yield from walker.links([Centre(self.source_label, KEY, self.key)])
        middles: set[str] = set()
        for link in links:
            key, labels = link.other_end
            if self.middle_label in labels and key != self.key:
                middles.add(key)

        links = yield from walker.links([Centre(self.middle_label, KEY, key) for key in sorted(middles)])
        shared: dict[str, Mapping[str, Value]] = {}
        for link in links:
            key, labels = link.other_end
            if self.target_label in labels and key not in (link.centre, self.key):
                shared[key] = link.neighbor
        return dict(sorted(shared.items()))
