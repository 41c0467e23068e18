"""Nodes that share a neighbour of a label with one node; relationships are followed in both directions."""

from collections.abc import Mapping

from graphwalk.suites.questions.kinds import KEY, Centre, GraphIndex, Plan, PythonPart, Rows, Steps, Value, Walker


class Part(PythonPart):
    source_label: str
    key: str
    middle_label: str
    target_label: str
    steps = 2

    def rows(self, index: GraphIndex) -> Rows:
        # A relationship taken twice leads back to the start, which does not count.
        for a in index.with_key(self.source_label, self.key):
            middles = {key for key in index.neighbors[a] if index.has_label(key, self.middle_label)}
            for b in {key for middle in middles for key in index.neighbors[middle]} - {a}:
                if index.has_label(b, self.target_label):
                    yield {"target_node_key": b}

    def plan(self, walker: Walker) -> Plan:
        nodes = yield from self.sharing(walker)
        return [{"target_node_key": key} for key in nodes]

    def sharing(self, walker: Walker) -> Steps[dict[str, Mapping[str, Value]]]:
        """Return key → properties of the nodes that share a neighbour, in the order of the keys."""
        links = yield from walker.links([Centre(self.source_label, KEY, self.key)])
        ends = (link.other_end for link in links)
        middles = sorted({key for key, labels in ends if self.middle_label in labels})
        links = yield from walker.links([Centre(self.middle_label, KEY, key) for key in middles])
        shared = {link.other_end[0]: link.neighbor for link in links if self.target_label in link.other_end[1]}
        return {key: shared[key] for key in sorted(shared) if key != self.key}
