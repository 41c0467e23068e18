"""Nodes of a label with a property value."""

from graphwalk.suites.questions.kinds import KEY, GraphIndex, Plan, PythonPart, Rows, Value, equal
from graphwalk.suites.questions.walker import Walker, nodes, read, rows_of_keys


class Part(PythonPart):
    label: str
    property: str
    value: Value
    grows = True

    def rows(self, index: GraphIndex) -> Rows:
        for key in index.keys_with(self.label, self.property, self.value):
            yield {"node_key": key}

    def plan(self, walker: Walker) -> Plan:
        (rows,) = yield from read([nodes(self.label, self.property, self.value)])
        # The tool tries a number given as text as a number where nothing else matches.
        keys = []
        for row in rows:
            properties = row["properties"]
            if equal(properties.get(self.property), self.value):
                keys.append(properties[KEY])
        return rows_of_keys(keys)
