"""Node of a label with the most outgoing relationships of a type."""

from collections import Counter

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Walker


class Part(PythonPart):
    source_label: str
    relationship_type: str

    grows = False

    def rows(self, index: GraphIndex) -> Rows:
        """Yield every node with the maximum count."""
        counts = self._counts(index)
        most = max(counts.values(), default=0)
        for key, count in counts.items():
            if count == most:
                yield {"node_key": key, "rel_count": count}

    def certain(self, least: GraphIndex, most: GraphIndex) -> Rows:
        """Yield the maximum if no node can have a further relationship: it could have any number of them."""
        if self._counts(least) == self._counts(most):
            yield from self.rows(least)

    def _counts(self, index: GraphIndex) -> Counter[str]:
        counts: Counter[str] = Counter()
        for link in index.relationships_of.get(self.relationship_type, ()):
            if index.has_label(link.source, self.source_label):
                counts[link.source] += 1
        return counts

    def plan(self, walker: Walker) -> Plan:
        links = yield from walker.relationships({self.source_label})
        counts: Counter[str] = Counter()
        for link in links:
            if link.type == self.relationship_type and self.source_label in link.source_labels:
                counts[link.source] += 1
        # One of several nodes with the same number is enough.
        return [{"node_key": key, "rel_count": count} for key, count in counts.most_common(1)]
