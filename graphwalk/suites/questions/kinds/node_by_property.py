"""Nodes of a label with a property value."""

from collections.abc import Iterator

from graphwalk.suites.questions.agents.walker import Steps, Walker, node_keys, nodes, read
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.tasks.graph_index import GraphIndex, equal
from graphwalk.types.values import Row, Value


class Part(PythonPart):
    label: str
    property: str
    value: Value

    def rows(self, index: GraphIndex) -> Iterator[Row]:
        return ({"node_key": key} for key in index.keys_with(self.label, self.property, self.value))

    def plan(self, walker: Walker) -> Steps[list[Row]]:
        (rows,) = yield from read([nodes(self.label, self.property, self.value)])
        # The tool tries a number given as text as a number where nothing else matches.
        return node_keys(r["properties"]["key"] for r in rows if equal(r["properties"].get(self.property), self.value))
