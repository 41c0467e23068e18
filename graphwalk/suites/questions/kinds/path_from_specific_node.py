"""Nodes of a label within a few steps of one node."""

from collections.abc import Iterator

from graphwalk.suites.questions.agents.walker import Centre, Steps, Walker
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.types.graph import KEY
from graphwalk.types.values import Row


class Part(PythonPart):
    source_label: str
    key: str
    target_label: str
    max_hops: int

    def rows(self, index: GraphIndex) -> Iterator[Row]:
        for a in index.with_key(self.source_label, self.key):
            for b in index.distances(a, self.max_hops):
                if index.has_label(b, self.target_label):
                    yield {"target_node_key": b}

    def plan(self, walker: Walker) -> Steps[list[Row]]:
        """Walk node by node from the start, whose surroundings are smaller than whole labels."""
        start = Centre(self.source_label, KEY, self.key)
        layers = yield from walker.spread(start, self.target_label, self.max_hops, until=lambda layers: False)
        ends = {link.target for links in layers for link in links if self.target_label in link.target_labels}
        return [{"target_node_key": key} for key in sorted(ends)]
