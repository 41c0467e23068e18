"""Number of nodes of a label that relationships lead to, but not from."""

from graphwalk.extend import GraphIndex, PythonPart, Rows


class DeadEnds(PythonPart):
    label: str

    def rows(self, index: GraphIndex) -> Rows:
        reached = {target for targets in index.successors.values() for target in targets}
        yield {"total": sum(key in reached and not index.outgoing[key] for key in index.keys_of(self.label))}
