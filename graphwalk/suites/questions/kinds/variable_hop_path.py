"""Pairs of nodes joined by a path of a few steps that can be continued by one more."""

from collections import Counter, defaultdict

from graphwalk.suites.questions.kinds import GraphIndex, Plan, PythonPart, Rows, Walker, distances, end_keys


class Part(PythonPart):
    source_label: str
    target_label: str
    max_hops: int
    grows = True

    def rows(self, index: GraphIndex) -> Rows:
        for a in index.keys_of(self.source_label):
            for b in distances(a, self.max_hops, index.successors):
                # Only a cycle uses an outgoing relationship of its end.
                used = 1 if b == a else 0
                if index.has_label(b, self.target_label) and len(index.outgoing[b]) > used:
                    yield {"source_node_key": a, "target_node_key": b}

    def plan(self, walker: Walker) -> Plan:
        """Read whole labels from which a target is still reachable.

        The further step needs an unused relationship. Only a cycle uses an outgoing relationship of its end, which
        then needs a second one.
        """
        on_way = walker.on_the_way(self.source_label, self.target_label, self.max_hops)
        links = yield from walker.relationships({self.target_label}.union(*on_way))
        follow: defaultdict[str, set[str]] = defaultdict(set)
        for link in links:
            follow[link.source].add(link.target)
        degree = Counter(link.source for link in links)
        labels = {link.source: link.source_labels for link in links}
        ends = []
        for start in follow:
            if self.source_label not in labels[start]:
                continue
            for end in distances(start, self.max_hops, follow):
                used = 1 if end == start else 0
                if self.target_label in labels.get(end, ()) and degree[end] > used:
                    ends.append((start, end))
        return end_keys(ends)
