"""Nodes of a label within a few steps of one node."""

from graphwalk.suites.questions.kinds import KEY, Centre, GraphIndex, Plan, PythonPart, Rows, Walker, distances


class Part(PythonPart):
    source_label: str
    key: str
    target_label: str
    max_hops: int
    grows = True

    def rows(self, index: GraphIndex) -> Rows:
        for a in index.with_key(self.source_label, self.key):
            for b in distances(a, self.max_hops, index.successors):
                if index.has_label(b, self.target_label):
                    yield {"target_node_key": b}

    def plan(self, walker: Walker) -> Plan:
        """Walk node by node from the start, whose surroundings are smaller than whole labels."""
        start = Centre(self.source_label, KEY, self.key)
        layers = yield from walker.spread(start, self.target_label, self.max_hops)
        ends: set[str] = set()
        for links in layers:
            for link in links:
                if self.target_label in link.target_labels:
                    ends.add(link.target)
        return [{"target_node_key": key} for key in sorted(ends)]
