"""Nodes of a label with a property value."""

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Value, equal
from graphwalk.suites.questions.walker import Walker, nodes, read, rows_of_keys


class Part(PythonPart):
    label: str
    property: str
    value: Value
    grows = True

    def rows(self, index: GraphIndex) -> Rows:
        return ({"node_key": key} for key in index.keys_with(self.label, self.property, self.value))

    def plan(self, walker: Walker) -> Plan:
        (rows,) = yield from read([nodes(self.label, self.property, self.value)])
        # The tool tries a number given as text as a number where nothing else matches.
        return rows_of_keys(
            r["properties"]["key"] for r in rows if equal(r["properties"].get(self.property), self.value)
        )
