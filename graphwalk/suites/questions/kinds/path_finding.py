"""Pairs of nodes joined by a path of two relationships over a given label."""

from collections import defaultdict

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, RelationshipRow, Rows, Walker, end_keys


class Part(PythonPart):
    source_label: str
    middle_label: str
    target_label: str
    steps = 2
    grows = True

    def rows(self, index: GraphIndex) -> Rows:
        for a in index.keys_of(self.source_label):
            for first in index.outgoing[a]:
                if not index.has_label(first.target, self.middle_label):
                    continue
                for second in index.outgoing[first.target]:
                    if second is not first and index.has_label(second.target, self.target_label):
                        yield {"source_node_key": a, "target_node_key": second.target}

    def plan(self, walker: Walker) -> Plan:
        """Read only the middle nodes, because both relationships of a path touch one."""
        links = yield from walker.relationships({self.middle_label})
        onward: defaultdict[str, list[RelationshipRow]] = defaultdict(list)
        for link in links:
            if self.middle_label in link.source_labels and self.target_label in link.target_labels:
                onward[link.source].append(link)
        ends = []
        for first in links:
            if self.source_label not in first.source_labels or self.middle_label not in first.target_labels:
                continue
            for second in onward[first.target]:
                # A relationship of a node with itself cannot be both steps.
                if second is not first:
                    ends.append((first.source, second.target))
        return end_keys(ends)
