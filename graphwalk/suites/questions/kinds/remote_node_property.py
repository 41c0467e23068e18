"""Property value of a node that is two or more steps from one node."""

from graphwalk.suites.questions.kinds import (
    KEY,
    Centre,
    GraphIndex,
    Layers,
    Plan,
    PythonPart,
    Rows,
    Value,
    Walker,
    distances,
)


class Part(PythonPart):
    source_label: str
    key: str
    target_label: str
    property: str
    max_hops: int
    grows = False

    def rows(self, index: GraphIndex) -> Rows:
        return self.certain(index, index)

    def certain(self, least: GraphIndex, most: GraphIndex) -> Rows:
        return self._rows(least, most)

    def possible(self, least: GraphIndex, most: GraphIndex) -> Rows:
        return self._rows(most, least)

    def _rows(self, reached: GraphIndex, excluded: GraphIndex) -> Rows:
        """Yield values of nodes that one graph reaches, without the neighbours of the start in the other.

        Direct neighbours are excluded even if longer paths reach them too.
        """
        for a in reached.with_key(self.source_label, self.key):
            near = excluded.successors.get(a, frozenset())
            for b in distances(a, self.max_hops, reached.successors):
                if b not in near and reached.has_label(b, self.target_label):
                    yield {"value": reached.property(b, self.property)}

    def plan(self, walker: Walker) -> Plan:
        """Stop at the first layer with a value, because any value is correct."""

        def values(layers: Layers) -> list[Value]:
            near = {link.target for link in layers[0]}
            remote = [link for links in layers[1:] for link in links if link.target not in near]
            labelled = [link for link in remote if self.target_label in link.target_labels]
            return [link.neighbor[self.property] for link in labelled if self.property in link.neighbor]

        start = Centre(self.source_label, KEY, self.key)
        layers = yield from walker.spread(
            start, self.target_label, self.max_hops, until=lambda layers: bool(values(layers))
        )
        return [{"value": value} for value in values(layers)[:1]]
