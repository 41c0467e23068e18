"""Relationships of a type with a property value, with all their properties."""

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Value, Walker, equal


class Part(PythonPart):
    relationship_type: str
    property: str
    value: Value
    grows = True

    def rows(self, index: GraphIndex) -> Rows:
        names = index.property_names("relationship", self.relationship_type)
        for r in index.relationships_of.get(self.relationship_type, ()):
            if equal(r.properties.get(self.property), self.value):
                own = {name: r.properties.get(name) for name in names}
                yield {**own, "source_key": r.source, "target_key": r.target}

    def plan(self, walker: Walker) -> Plan:
        links = yield from walker.links_of_type(self.relationship_type)
        type_ = walker.schema.relationship(self.relationship_type)
        names = [property_.name for property_ in type_.properties] if type_ else []
        return [
            {
                **{name: link.properties.get(name) for name in names},
                "source_key": link.source,
                "target_key": link.target,
            }
            for link in links
            if equal(link.properties.get(self.property), self.value)
        ]
