"""Number of relationships of a type."""

from collections.abc import Iterator

from graphwalk.suites.questions.agents.walker import Steps, Walker
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.types.values import Row


class Part(PythonPart):
    relationship_type: str

    def rows(self, index: GraphIndex) -> Iterator[Row]:
        yield {"count": len(index.relationships_of.get(self.relationship_type, ()))}

    def plan(self, walker: Walker) -> Steps[list[Row]]:
        links = yield from walker.links_of_type(self.relationship_type)
        return [{"count": len(links)}]
