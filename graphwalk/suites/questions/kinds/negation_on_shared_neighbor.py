"""Nodes that share a neighbour with one node, in both directions, and whose property differs from an excluded value."""

from graphwalk.suites.questions.kinds import GraphIndex, Plan, Rows, Value, Walker, differs, shared_neighbor


class Part(shared_neighbor.Part):
    property: str
    excluded_value: Value

    def rows(self, index: GraphIndex) -> Rows:
        for row in super().rows(index):
            if differs(index.property(str(row["target_node_key"]), self.property), self.excluded_value):
                yield row

    def plan(self, walker: Walker) -> Plan:
        nodes = yield from self.sharing(walker)
        keys = (key for key, own in nodes.items() if differs(own.get(self.property), self.excluded_value))
        return [{"target_node_key": key} for key in keys]
