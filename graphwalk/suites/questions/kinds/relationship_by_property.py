"""Relationships of a type with a property value, with all their properties."""

from collections.abc import Iterable

from graphwalk.graphs.graph import Relationship
from graphwalk.suites.questions.kinds import (
    GraphIndex,
    Plan,
    PythonPart,
    RelationshipRow,
    Row,
    Rows,
    Value,
    Walker,
    equal,
)


class Part(PythonPart):
    relationship_type: str
    property: str
    value: Value
    grows = True

    def rows(self, index: GraphIndex) -> Rows:
        names = index.property_names("relationship", self.relationship_type)
        for link in index.relationships_of.get(self.relationship_type, ()):
            if equal(link.properties.get(self.property), self.value):
                yield _row(link, names)

    def plan(self, walker: Walker) -> Plan:
        links = yield from walker.links_of_type(self.relationship_type)
        type_ = walker.schema.relationship(self.relationship_type)
        if type_ is None:
            return []
        names = [property_.name for property_ in type_.properties]
        rows = []
        for link in links:
            if equal(link.properties.get(self.property), self.value):
                rows.append(_row(link, names))
        return rows


def _row(link: Relationship | RelationshipRow, names: Iterable[str]) -> Row:
    """Return {"since": 1999, "note": None, "source_key": "a", "target_key": "b"}, with all properties of the type."""
    row: Row = {name: link.properties.get(name) for name in names}
    row["source_key"] = link.source
    row["target_key"] = link.target
    return row
