"""Index of a property graph for the evaluators: a whole graph, or what an episode has seen of one.

A node with several labels is listed under each of them; a node without labels under none.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Literal

from graphwalk.graphs.graph import KEY, Node, PropertyGraph, Relationship, identity, value_order
from graphwalk.graphs.values import Value

EntityType = Literal["node", "relationship"]


class Unknown:
    """The value of a property that was not seen: any value, or none. `equal` and `differs` hold for it."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Any = Unknown()


class PartlyKnown(Mapping[str, Any]):
    """The properties of a node or a relationship, of which some were not seen."""

    def __init__(
        self,
        known: Mapping[str, Any],
        excluded: Collection[tuple[str, str, Any]] = frozenset(),
        nowhere: Collection[tuple[str | None, Any]] = frozenset(),
    ) -> None:
        """`excluded`: label, property and `value_order` of values that a node of the label has not, unless it is known.

        `nowhere`: label (None: any) and `value_order` of values that it has in no property.
        """
        self._known = known
        self._excluded = excluded
        self._nowhere = nowhere

    def __getitem__(self, name: str) -> Any:
        return self._known.get(name, UNKNOWN)

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def may_be(self, label: str, name: str, value: Value) -> bool:
        """Return True if the property of a node with this label may have the value."""
        if name in self._known:
            return equal(self._known[name], value)
        order = value_order(value)
        if (label, order) in self._nowhere or (None, order) in self._nowhere:
            return False
        return (label, name, order) not in self._excluded


def equal(value: Value | None, other: Value | None) -> bool:
    """Compare like Cypher's `=`: numbers by value, booleans only with booleans, null with nothing."""
    if value is UNKNOWN:
        return other is not None
    return value is not None and value == other and isinstance(value, bool) == isinstance(other, bool)


def differs(value: Value | None, other: Value | None) -> bool:
    """Compare like Cypher's `<>`, which is false for a missing property."""
    if value is UNKNOWN:
        return other is not None
    return value is not None and other is not None and not equal(value, other)


def distances(start: str, limit: int, successors: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Return the distance, 1 … limit, of every reachable node; of `start` itself by a cycle.

    Cypher matches trails, which repeat no relationship: `-[*1..limit]->`. They reach the same nodes, because a shortest
    walk repeats none.
    """
    steps: dict[str, int] = {}
    layer = {start}
    for distance in range(1, limit + 1):
        next_layer: set[str] = set()
        for key in layer:
            next_layer.update(successors.get(key, ()))
        layer = next_layer - steps.keys()
        if not layer:
            break
        for key in layer:
            steps[key] = distance
    return steps


class GraphIndex:
    """Read-only index of nodes and relationships by key, label, type and source."""

    def __init__(self, graph: PropertyGraph) -> None:
        self.graph = graph
        self.nodes: dict[str, Node] = {node.key: node for node in graph.nodes()}
        self.keys_by_label: dict[str, list[str]] = defaultdict(list)
        self.relationships_of: dict[str, list[Relationship]] = defaultdict(list)
        self.outgoing: dict[str, list[Relationship]] = {key: [] for key in self.nodes}
        for node in self.nodes.values():
            for label in node.labels:
                self.keys_by_label[label].append(node.key)
        for relationship in graph.relationships():
            self.relationships_of[relationship.type].append(relationship)
            self.outgoing[relationship.source].append(relationship)
        self._walks = [dict.fromkeys(self.nodes, 0)]
        # Caches for drawing parameters.
        self._names: dict[tuple[EntityType, str], list[str]] = {}
        self._keys_with: dict[tuple[str, str], Mapping[Value | None, list[str]]] = {}

    @cached_property
    def successors(self) -> Mapping[str, frozenset[str]]:
        """Return key → keys of the successors."""
        successors = {}
        for key, relationships in self.outgoing.items():
            successors[key] = frozenset(relationship.target for relationship in relationships)
        return successors

    @cached_property
    def successor_labels(self) -> Mapping[str, frozenset[str]]:
        """Return key → all labels of the successors. Equal sets are shared to save memory."""
        shared: dict[frozenset[str], frozenset[str]] = {}
        labels_of = {}
        for key, targets in self.successors.items():
            labels = frozenset(chain.from_iterable(self.nodes[target].labels for target in targets))
            labels_of[key] = shared.setdefault(labels, labels)
        return labels_of

    @cached_property
    def neighbors(self) -> Mapping[str, set[str]]:
        """Return key → keys of the other ends of its relationships in both directions."""
        ends: dict[str, set[str]] = {key: set(successors) for key, successors in self.successors.items()}
        for key, successors in self.successors.items():
            for successor in successors:
                ends[successor].add(key)
        return ends

    def has_label(self, key: str, label: str) -> bool:
        return label in self.nodes[key].labels

    def keys_of(self, label: str) -> Sequence[str]:
        return self.keys_by_label.get(label, [])

    def with_key(self, label: str, key: str) -> list[str]:
        """Return the key in a list if a node has this label and key, else an empty list."""
        if key in self.nodes and self.has_label(key, label):
            return [key]
        return []

    def keys_with(self, label: str, name: str, value: Value) -> list[str]:
        """Return the keys of the nodes with this label and property value, compared like Cypher's `=`."""
        if name == KEY:
            return self.with_key(label, value) if isinstance(value, str) else []
        if (label, name) not in self._keys_with:
            keys: defaultdict[Value | None, list[str]] = defaultdict(list)
            for key in self.keys_of(label):
                keys[self.nodes[key].properties.get(name)].append(key)
            self._keys_with[label, name] = keys
        # 1 and true are equal in Python, not in Cypher.
        equal_in_python = self._keys_with[label, name].get(value, ())
        keys_with = [key for key in equal_in_python if equal(self.nodes[key].properties.get(name), value)]
        for key in self._keys_with[label, name].get(UNKNOWN, ()):
            properties = self.nodes[key].properties
            if isinstance(properties, PartlyKnown) and properties.may_be(label, name, value):
                keys_with.append(key)
        return keys_with

    def property(self, key: str, name: str) -> Value | None:
        """Return a property of a node or its `key`; None if it is missing."""
        return key if name == KEY else self.nodes[key].properties.get(name)

    def property_names(self, kind: EntityType, owner: str) -> list[str]:
        """Return the sorted property names of nodes with a label, without `key`, or of relationships of a type."""
        if (kind, owner) not in self._names:
            names: set[str] = set()
            for entity in self._entities(kind, owner):
                names.update(entity.properties)
            self._names[kind, owner] = sorted(names)
        return self._names[kind, owner]

    def values(self, kind: EntityType, owner: str, name: str) -> list[Value]:
        """Return the different values of a property of a label or relationship type."""
        values: dict[Any, Value] = {}
        for entity in self._entities(kind, owner):
            if name in entity.properties:
                value = entity.properties[name]
                values[identity(value)] = value
        return list(values.values())

    def _entities(self, kind: EntityType, owner: str) -> Iterable[Node | Relationship]:
        if kind == "node":
            return (self.nodes[key] for key in self.keys_of(owner))
        return self.relationships_of.get(owner, ())

    def walks(self, longest: int) -> Mapping[str, int]:
        """Return key → number of walks of 1 … `longest` steps from it; relationships may repeat."""
        while len(self._walks) <= longest:
            # Each relationship is a walk of one step, and begins one more for each walk from its target.
            shorter = self._walks[-1]
            walks = {}
            for key, relationships in self.outgoing.items():
                walks[key] = sum(1 + shorter[relationship.target] for relationship in relationships)
            self._walks.append(walks)
        return self._walks[longest]
