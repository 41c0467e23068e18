"""What lies around every node: all relationships, seen from either end, in the order in which a tool shows them.

Nodes are numbered by the order of their keys here ("rank"), so that the rows of ascending ranks are in order too.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, starmap

import numpy as np
from numpy.typing import NDArray

from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.players.link import Link
from graphwalk.suites.questions.tools_in_memory import weights
from graphwalk.types.graph import Relationship
from graphwalk.types.values import Row, Value

_DIRECTIONS = ("incoming", "outgoing")
_AT_ONCE = 1 << 20
"""Ends of relationships that links are made of at once: their columns take 70 MB."""
Numbers = NDArray[np.int64]


class Surroundings:
    """What `get_all_nearest_neighbors` shows of any nodes, and what its text weighs. Costs a sort, once."""

    def __init__(self, index: GraphIndex) -> None:
        graph = index.graph
        order = sorted(range(graph.node_count), key=graph.keys.__getitem__)
        self.rank_of = np.empty(graph.node_count, dtype=np.int64)
        self.rank_of[order] = np.arange(graph.node_count)
        self.keys = [graph.keys[number] for number in order]
        nodes = [index.nodes[key] for key in self.keys]
        self.properties: list[Row] = [{"key": node.key, **node.properties} for node in nodes]
        self._relationships: list[Relationship] = [
            found for table in graph.relationship_tables for found in index.relationships_of.get(table.type, ())
        ]
        self._labels = sorted({table.label for table in graph.node_tables if len(table.numbers)})
        self._label_codes = np.zeros(graph.node_count, dtype=np.int64)
        self.key_weights = np.array([weights.inside_quotes(key) for key in self.keys], dtype=np.int64)
        self.map_weights = np.zeros(graph.node_count, dtype=np.int64)
        for table in graph.node_tables:
            ranks = self.rank_of[table.numbers]
            self._label_codes[ranks] = self._labels.index(table.label) if len(ranks) else 0
            self.map_weights[ranks] = weights.of_maps(table.columns, len(ranks), self.key_weights[ranks])
        self._arrange(index)
        self._weigh(index)

    def _arrange(self, index: GraphIndex) -> None:
        """All ends of relationships, sorted as rows are: by centre, direction, type, label and key of the neighbour."""
        tables = index.graph.relationship_tables
        ends = [[self.rank_of[end] for end in (table.sources, table.targets)] for table in tables]
        sources = np.concatenate([source for source, _ in ends] or [np.zeros(0, dtype=np.int64)])
        targets = np.concatenate([target for _, target in ends] or [np.zeros(0, dtype=np.int64)])
        types = sorted(table.type for table in tables)
        sizes = [len(table.sources) for table in tables]
        type_codes = np.repeat([types.index(table.type) for table in tables], sizes).astype(np.int64)
        number = np.arange(len(sources))
        centre, other = np.concatenate([targets, sources]), np.concatenate([sources, targets])
        direction = np.repeat([0, 1], len(sources))
        look = (np.tile(type_codes, 2) * len(self._labels) + self._label_codes[other]) * len(self.keys) + other
        order = np.lexsort((look, centre * 2 + direction))
        self._centre, self._other = _small(centre[order]), _small(other[order])
        self._number, self._direction = _small(np.tile(number, 2)[order]), direction[order].astype(np.int8)
        self._types, self._type_codes = types, type_codes
        self._starts = np.searchsorted(self._centre, np.arange(len(self.keys) + 1))
        self._order_parallel(look[order])

    def _order_parallel(self, look: Numbers) -> None:
        """Relationships of one type between the same nodes are shown in the order of their properties as text."""
        head = self._centre.astype(np.int64) * 2 + self._direction
        same = np.flatnonzero((np.diff(head) == 0) & (np.diff(look) == 0))
        for group in np.split(same, np.flatnonzero(np.diff(same) > 1) + 1):
            if len(group):
                part = slice(int(group[0]), int(group[-1]) + 2)
                self._number[part] = sorted(self._number[part].tolist(), key=self._as_text)

    def _as_text(self, number: int) -> str:
        return str(dict(sorted(self._relationships[number].properties.items())))

    def _weigh(self, index: GraphIndex) -> None:
        frames = np.array([[[_frame(d, t, x) for x in self._labels] for t in self._types] for d in _DIRECTIONS])
        maps = [weights.of_maps(table.columns, len(table.sources)) for table in index.graph.relationship_tables]
        own = np.concatenate(maps or [np.zeros(0, dtype=np.int64)])[self._number]
        if len(own):
            own += frames[self._direction, self._type_codes[self._number], self._label_codes[self._other]]
        own += self.key_weights[self._centre] + self.map_weights[self._other]
        self._sums = np.concatenate([[0], np.cumsum(own)])

    def links_around(self, ranks: Numbers) -> tuple[list[Link], int]:
        """The rows of the nodes with these ranks, which ascend, as links; and the weight of their text as a list."""
        starts, ends = self._starts[ranks], self._starts[ranks + 1]
        weight = int((self._sums[ends] - self._sums[starts]).sum())
        parts = starmap(slice, zip(starts.tolist(), ends.tolist(), strict=True))
        links = list(chain.from_iterable(map(self._links.__getitem__, parts)))
        return links, weights.of_list(weight, len(links))

    @cached_property
    def _links(self) -> list[Link]:
        """All of them, made once: a third of the questions look at whole labels or types."""
        keys, properties = _column(self.keys), _column(self.properties)
        of_relationships = _column([relationship.properties for relationship in self._relationships])
        links: list[Link] = []
        for start in range(0, len(self._centre), _AT_ONCE):
            links += self._links_at(slice(start, start + _AT_ONCE), keys, properties, of_relationships)
        return links

    def _links_at(self, part: slice, keys: "_Column", properties: "_Column", of_relationships: "_Column") -> list[Link]:
        alone, types = _column([frozenset([label]) for label in self._labels]), _column(self._types)
        centre, other, number = self._centre[part], self._other[part], self._number[part]
        outgoing = self._direction[part] == 1
        source, target = np.where(outgoing, centre, other), np.where(outgoing, other, centre)
        columns = (
            keys[source],
            alone[self._label_codes[source]],
            types[self._type_codes[number]],
            keys[target],
            alone[self._label_codes[target]],
            of_relationships[number],
            properties[other],
            outgoing,
        )
        return list(map(Link, *(column.tolist() for column in columns)))


def _small(numbers: Numbers) -> NDArray[np.int32]:
    """There are tens of millions of them, and no graph in memory has more than 32 bits tell apart."""
    return numbers.astype(np.int32)


_Column = NDArray[np.object_]


def _column(values: Sequence[str | frozenset[str] | Mapping[str, Value]]) -> _Column:
    """To be indexed by many numbers at once."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _frame(direction: str, type_: str, label: str) -> int:
    """The weight of a row without its keys and properties."""
    named = {"center_key": "", "direction": direction, "type": type_, "neighbor_label": label}
    return weights.of({**named, "neighbor_properties": {}, "relationship_properties": {}}) - 2 * weights.BRACES
