"""Number of nodes of a label with a relationship to another label."""

from collections.abc import Iterator

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

    def plan(self, walker: Walker) -> Steps[list[Row]]:
        targets = yield from walker.target_labels(self.source_label)
        return [{"count": sum(self.target_label in labels for labels in targets.values())}]
