"""Nodes with a value and a relationship to a label, whose property differs from an excluded value."""

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
            if any(
                r.type == self.relationship_type
                and index.has_label(r.target, self.target_label)
                and differs(r.properties.get(self.relationship_property), self.excluded_value)
                for r in index.outgoing[key]
            ):
                yield {"node_key": key}

    def plan(self, walker: Walker) -> Plan:
        links = yield from walker.outgoing([Centre(self.source_label, self.node_property, self.node_value)])
        return rows_of_keys(
            link.source
            for link in links
            if link.type == self.relationship_type
            and self.target_label in link.target_labels
            and differs(link.properties.get(self.relationship_property), self.excluded_value)
        )
