"""Nodes that share a neighbour with one node, in both directions, and whose property differs from an excluded value."""

from collections.abc import Iterator

from graphwalk.suites.questions.agents.walker import Steps, Walker
from graphwalk.suites.questions.kinds import shared_neighbor
from graphwalk.suites.questions.tasks.graph_index import GraphIndex, differs
from graphwalk.types.values import Row, Value


class Part(shared_neighbor.Part):
    property: str
    excluded_value: Value

    def rows(self, index: GraphIndex) -> Iterator[Row]:
        for row in super().rows(index):
            if differs(index.property(str(row["target_node_key"]), self.property), self.excluded_value):
                yield row

    def plan(self, walker: Walker) -> Steps[list[Row]]:
        nodes = yield from self.sharing(walker)
        keys = (key for key, own in nodes.items() if differs(own.get(self.property), self.excluded_value))
        return [{"target_node_key": key} for key in keys]
