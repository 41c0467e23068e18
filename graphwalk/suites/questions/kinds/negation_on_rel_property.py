"""Nodes with a value and a relationship to a label, whose property differs from an excluded value."""

from collections.abc import Mapping

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Value, differs
from graphwalk.suites.questions.walker import Centre, Walker, rows_of_keys


class Part(PythonPart):
    source_label: str
    node_property: str
    node_value: Value
    relationship_type: str
    target_label: str
    relationship_property: str
    excluded_value: Value
    grows = True

    def rows(self, index: GraphIndex) -> Rows:
        for key in index.keys_with(self.source_label, self.node_property, self.node_value):
            for link in index.outgoing[key]:
                has_target = index.has_label(link.target, self.target_label)
                if link.type == self.relationship_type and has_target and self._differs(link.properties):
                    yield {"node_key": key}
                    break

    def plan(self, walker: Walker) -> Plan:
        links = yield from walker.outgoing([Centre(self.source_label, self.node_property, self.node_value)])
        keys = []
        for link in links:
            has_target = self.target_label in link.target_labels
            if link.type == self.relationship_type and has_target and self._differs(link.properties):
                keys.append(link.source)
        return rows_of_keys(keys)

    def _differs(self, properties: Mapping[str, Value]) -> bool:
        """Return True if a relationship has the property, with another value than the excluded one."""
        return differs(properties.get(self.relationship_property), self.excluded_value)
