"""Number of relationships of a type."""

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Walker


class Part(PythonPart):
    relationship_type: str

    grows = False

    def rows(self, index: GraphIndex) -> Rows:
        yield {"count": len(index.relationships_of.get(self.relationship_type, ()))}

    def certain(self, least: GraphIndex, most: GraphIndex) -> Rows:
        """Yield the number if nothing that was not seen can add to it."""
        numbers = list(self.rows(least))
        if numbers == list(self.rows(most)):
            yield from numbers

    def plan(self, walker: Walker) -> Plan:
        links = yield from walker.links_of_type(self.relationship_type)
        return [{"count": len(links)}]
