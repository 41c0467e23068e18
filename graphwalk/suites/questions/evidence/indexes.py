"""The part of a graph that was seen, and the most that there may be besides, as reference evaluators read them.

A row that an evaluator finds in both is right whatever was not seen: the first has all that must be there, the second
all that must not be.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Generic, TypeVar

from graphwalk.suites.questions.evidence.shown import Link, Pair, Shown
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Value

_UNSEEN = "\0"
"""First character of the key of a node that may be there; it tells them from data."""
_MOST_JOINED = 20_000
"""So many relationships that may be there are listed for one pair of labels; of more, one for each source."""

V = TypeVar("V")


class Untold(Exception):  # noqa: N818 - no error of the program: a question that cannot be told from what is shown
    """An evaluator asked for what the tools hide."""


class SeenGraph(GraphIndex):
    """What was seen, and nothing else. Untold where a direction or a property is asked for that the tools hide."""

    def __init__(self, shown: Shown) -> None:
        nodes = [
            Node(key, tuple(sorted(labels)), shown.properties.get(key, {})) for key, labels in shown.labels.items()
        ]
        self._arrange(nodes, _relationships(shown))
        if shown.hidden_direction:
            self.outgoing = self.relationships_of = _Hidden()

    @cached_property
    def graph(self) -> PropertyGraph:  # type: ignore[override]
        return PropertyGraph.from_rows(
            self.nodes.values(), [r for relationships in self.outgoing.values() for r in relationships]
        )


class PossibleGraph(GraphIndex):
    """What was seen, and every relationship that may have been missed; all of it is made when it is asked for.

    A relationship that was missed joins two nodes of which neither was seen with all of its relationships, and fits the
    schema. A node may have any number of them: here, more than any node was seen to have. They have no properties.
    """

    def __init__(self, seen: SeenGraph, shown: Shown, pairs: frozenset[Pair]) -> None:
        labels = {label for source, _, target in pairs for label in (source, target)} - shown.whole_labels
        unseen = [Node(_UNSEEN + label, (label,), {}) for label in sorted(labels)]
        self._arrange([*seen.nodes.values(), *unseen], [r for many in seen.relationships_of.values() for r in many])
        self._pairs = sorted(pairs)
        self._open: dict[str, list[str]] = defaultdict(list)
        for key in seen.nodes:
            if not shown.closed(key):
                self._add_open(seen.nodes[key])
        for node in unseen:
            self._add_open(node)
        self._seen_of, self._seen_outgoing = self.relationships_of, self.outgoing
        types = dict.fromkeys([*self._seen_of, *(type_ for _, type_, _ in self._pairs)])
        self.relationships_of = _Made(types, self._all_of)
        self.outgoing = _Made(self.nodes, self._all_from)

    @cached_property
    def graph(self) -> PropertyGraph:  # type: ignore[override]
        return PropertyGraph.from_rows(self.nodes.values(), [r for many in self.outgoing.values() for r in many])

    @cached_property
    def successors(self) -> Mapping[str, frozenset[str]]:
        return _Made(self.nodes, lambda key: frozenset(r.target for r in self.outgoing[key]))

    @cached_property
    def successor_labels(self) -> Mapping[str, frozenset[str]]:
        return _Made(self.nodes, lambda key: frozenset(self._labels_after(key)))

    def _add_open(self, node: Node) -> None:
        for label in node.labels:
            self._open[label].append(node.key)

    def _labels_after(self, key: str) -> Iterator[str]:
        yield from (label for r in self._seen_outgoing[key] for label in self.nodes[r.target].labels)
        yield from (target for _, _, target in self._open_pairs(key) if self._open[target])

    def _open_pairs(self, key: str) -> list[Pair]:
        """What relationships may begin at a node besides those that were seen."""
        return [pair for pair in self._pairs if self.has_label(key, pair[0])] if key in self._open_keys else []

    @cached_property
    def _open_keys(self) -> frozenset[str]:
        return frozenset(key for keys in self._open.values() for key in keys)

    def _all_of(self, type_: str) -> list[Relationship]:
        made = [
            r for pair in self._pairs if pair[1] == type_ for key in self._open[pair[0]] for r in self._new(key, pair)
        ]
        return [*self._seen_of.get(type_, ()), *made]

    def _all_from(self, key: str) -> list[Relationship]:
        return [*self._seen_outgoing[key], *(r for pair in self._open_pairs(key) for r in self._new(key, pair))]

    def _new(self, key: str, pair: Pair) -> Iterator[Relationship]:
        source, type_, target = pair
        targets = self._open[target]
        if len(targets) * len(self._open[source]) > _MOST_JOINED:
            targets = targets[:1]
        yield from (Relationship(type_, key, other, {}) for other in targets)
        yield from (Relationship(type_, key, other, {}) for other in targets[:1] for _ in range(self._most(type_)))

    @cached_property
    def _counts(self) -> dict[str, int]:
        per_node = {type_: Counter(r.source for r in many) for type_, many in self._seen_of.items()}
        return {type_: max(counts.values(), default=0) for type_, counts in per_node.items()}

    def _most(self, type_: str) -> int:
        """The most relationships of a type that a node was seen to have."""
        return self._counts.get(type_, 0)


class _Made(Mapping[str, V], Generic[V]):
    """A mapping whose values are made when they are asked for, and kept."""

    def __init__(self, keys: Mapping[str, object], make: Callable[[str], V]) -> None:
        self._keys, self._make = keys, make
        self._made: dict[str, V] = {}

    def __getitem__(self, key: str) -> V:
        if key not in self._made:
            if key not in self._keys:
                raise KeyError(key)
            self._made[key] = self._make(key)
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


class _Hidden(Mapping[str, V], Generic[V]):
    """What the tools do not show: whoever looks is told that it cannot be told."""

    def __getitem__(self, key: str) -> V:
        raise Untold

    def __iter__(self) -> Iterator[str]:
        raise Untold

    def __len__(self) -> int:
        raise Untold


def _relationships(shown: Shown) -> Iterator[Relationship]:
    for link, number in shown.links.items():
        if link.source in shown.labels and link.target in shown.labels:
            yield from (_relationship(link, shown) for _ in range(number))


def _relationship(link: Link, shown: Shown) -> Relationship:
    properties: Mapping[str, Value] = _Hidden() if link.properties is None else shown.link_properties[link]
    return Relationship(link.type, link.source, link.target, properties)
