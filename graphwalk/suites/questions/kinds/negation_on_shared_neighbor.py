"""Nodes that share a neighbour with one node, in both directions, and whose property differs from an excluded value."""

from graphwalk.suites.questions.kinds import GraphIndex, Plan, Row, Rows, Value, Walker, differs, shared_neighbor


class Part(shared_neighbor.Part):
    property: str
    excluded_value: Value

    def rows(self, index: GraphIndex) -> Rows:
        for row in super().rows(index):
            if differs(index.property(str(row["target_node_key"]), self.property), self.excluded_value):
                yield row

    def plan(self, walker: Walker) -> Plan:
        nodes = yield from self.sharing(walker)
        rows: list[Row] = []
        for key, properties in nodes.items():
            if differs(properties.get(self.property), self.excluded_value):
                rows.append({"target_node_key": key})
        return rows
