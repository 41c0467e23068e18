"""Number of nodes of a label with a relationship to another label."""

from collections.abc import Iterator, Mapping

from graphwalk.suites.questions.agents.walker import Steps, Walker
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.types.values import Row


class Part(PythonPart):
    source_label: str
    target_label: str

    def rows(self, index: GraphIndex) -> Iterator[Row]:
        sources = index.keys_of(self.source_label)
        yield {"count": sum(self.target_label in index.successor_labels[key] for key in sources)}

    def relaxed(self, index: GraphIndex) -> Mapping[str, Iterator[Row]]:
        links = (r for key in index.keys_of(self.source_label) for r in index.outgoing[key])
        return {"distinct nodes": iter([{"count": sum(index.has_label(r.target, self.target_label) for r in links)}])}

    def plan(self, walker: Walker) -> Steps[list[Row]]:
        targets = yield from walker.target_labels(self.source_label)
        return [{"count": sum(self.target_label in labels for labels in targets.values())}]
