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
        # A seen path proves a value, unless its node may be a neighbour of the start that was not seen.
        return self._rows(least, most)

    def possible(self, least: GraphIndex, most: GraphIndex) -> Rows:
        # A path that may be there gives a value, unless its node was seen to be a neighbour of the start.
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
        start = Centre(self.source_label, KEY, self.key)
        layers = yield from walker.spread(
            start, self.target_label, self.max_hops, until=lambda layers: bool(self._values(layers))
        )
        return [{"value": value} for value in self._values(layers)[:1]]

    def _values(self, layers: Layers) -> list[Value]:
        """Return the values of the targets that relationships show, without the neighbours of the start."""
        first, *others = layers
        near = {link.target for link in first}
        values = []
        for links in others:
            for link in links:
                is_remote_target = link.target not in near and self.target_label in link.target_labels
                if is_remote_target and self.property in link.neighbor:
                    values.append(link.neighbor[self.property])
        return values
