"""The graph with everything that may be there: what the tool results of an episode show, and what they leave open.

Proofs compare two graphs (docs/method.md, Proven). Each graph that gives these results contains the observed one and is
contained in the possible one, which has further nodes, further relationships, and any value for a property that was
not seen.

An example. The schema is (:A)-[:R]->(:B), and the only call was

    get_all_nearest_neighbors(label: A, property_name: key, property_value: a1)    → a1 –R→ b1

There may be further A and B nodes: the possible graph has two of each label, with keys that no graph has. All
relationships of a1 were shown, so it gets no other one. Those of b1 were not: it may be the target of each further A
node. After a call that lists all keys of A, and shows a1 and a2, there are no further A nodes, but a2 may have an R
relationship to b1 and to each further B node.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple, cast

from graphwalk.analysis.observed import LookUp, ObservedGraph, RelationshipPart, are_complete, schema_pairs
from graphwalk.errors import counted
from graphwalk.graphs.graph import KEY, Node, PropertyGraph, Relationship, value_order
from graphwalk.graphs.values import SCALARS
from graphwalk.suites.questions.graph_index import GraphIndex, PartlyKnown
from graphwalk.tools.relationship_rows import is_key

_MOST_POSSIBLE = 400_000
"""Maximum possible relationships; beyond it the graph with them is not made."""
_UNSEEN = "\0"
"""First character of the key of a node that no result shows."""
_COPIES = 2
"""Nodes that no result shows, of each kind; and possible relationships between two nodes. No question needs more."""
_MOST_NAMED = 3
"""Nodes that a reason names."""


class OpenGroup(NamedTuple):
    """Something that was not looked up, of the nodes of one label."""

    kind: str
    """listed: nodes that no result shows; walked: relationships of seen nodes; read: properties of seen nodes."""
    label: str
    keys: tuple[str, ...] = ()

    def text(self) -> str:
        """Return what was not looked up: "not all A nodes were listed"."""
        label = self.label or "unlabelled"
        if self.kind == "listed":
            return f"not all {label} nodes were looked up or listed"
        named = ", ".join(self.keys[:_MOST_NAMED])
        more = len(self.keys) - _MOST_NAMED
        names = f"{named} and {more} more" if more > 0 else named
        nodes = counted(len(self.keys), f"{label} node")
        elements = "relationships" if self.kind == "walked" else "properties"
        return f"not all {elements} of {nodes} were looked up: {names}"


@dataclass(frozen=True)
class _PossibleNode:
    """A node of the graph with everything that may be there."""

    key: str
    labels: tuple[str, ...]
    """Those that it may have, "" for none."""
    properties: Mapping[str, Any]
    parts: frozenset[RelationshipPart] = frozenset()
    """The parts of its relationships that are known."""
    alike: Hashable = None
    """Nodes with the same value here can be exchanged for each other: a few of them get further relationships."""
    variant_of: str | None = None
    """Key of the node that this is, with a value that no result shows."""

    def may_be_end(self, label: str, type_: str, direction: str) -> bool:
        """Return True if it may have further relationships of this type and direction, as a node with the label."""
        if label not in self.labels:
            return False
        return not any(part.holds(type_, direction) for part in self.parts)


@dataclass
class PossibleGraph:
    """The observed graph with everything that may be there besides.

    * A node that no result shows may have any label of the schema, unless all keys of the label were listed.
    * A property that no result shows may have any value. A value of the question that nodes were looked up by is
      excepted, if the nodes with this value were all shown.
    * A relationship that fits the schema may join two nodes, if neither had all its relationships of the type and the
      direction shown.

    `closed`: groups that are taken as looked up. `Proof` tries them out to tell what an unproven answer lacks.
    """

    observed: ObservedGraph
    prompt: str
    """It shows the whole schema."""
    parameters: Mapping[str, Any]
    closed: frozenset[OpenGroup] = frozenset()
    _nodes: list[_PossibleNode] = field(default_factory=list)

    def __post_init__(self) -> None:
        scalars = [value for value in self.parameters.values() if isinstance(value, SCALARS)]
        self._question_values = {value_order(value) for value in scalars}
        self._look_ups = []
        """Those by a value of the question."""
        for look_up in self.observed.look_ups():
            if look_up.property != KEY and value_order(look_up.value) in self._question_values:
                self._look_ups.append(look_up)
        self._excluded = self._excluded_values()
        self._searched = {(label, value_order(text)) for label, text in self.observed.searched_texts()}
        """Texts that unseen nodes have in no property, with the label that was searched (None: any)."""
        self._shown_parts = self.observed.shown_of_nodes()
        several_labels = not self.observed.has_one_label_each
        self._pairs = sorted(schema_pairs(self.prompt, several_labels=several_labels))
        self._open_labels = self._find_open_labels()

        for node in self.observed.nodes.values():
            self._add_seen_node(node)
        for label in sorted(self._open_labels):
            if OpenGroup("listed", label) not in self.closed:
                self._add_unseen_nodes(label)
        self._add_unseen_nodes_of_the_question()

    def index(self) -> GraphIndex | None:
        """Return an index of the graph; None if it is too large."""
        relationships = self._relationships()
        if relationships is None:
            return None
        nodes = [Node(node.key, tuple(filter(None, node.labels)), node.properties) for node in self._nodes]
        return GraphIndex(cast(PropertyGraph, _Elements(nodes, relationships)))

    def open_groups(self) -> Iterator[OpenGroup]:
        """Yield what was not looked up."""
        for label in sorted(self._open_labels):
            yield OpenGroup("listed", label)
        not_walked: dict[str, list[str]] = {}
        not_read: dict[str, list[str]] = {}
        for node in self.observed.nodes.values():
            if not are_complete(self._shown_parts.get(node.key, ())):
                not_walked.setdefault(node.label, []).append(node.key)
            if node.key not in self.observed.whole_properties:
                not_read.setdefault(node.label, []).append(node.key)
        for label, keys in sorted(not_walked.items()):
            yield OpenGroup("walked", label, tuple(keys))
        for label, keys in sorted(not_read.items()):
            yield OpenGroup("read", label, tuple(keys))

    def _excluded_values(self) -> frozenset[tuple[str, str, Any]]:
        """Return label, property and value that an unseen node has not, or only as a node of its own in this graph."""
        # All A nodes with {"hue": "red"} were looked up: an unseen A node has another hue.
        excluded = {(one.label, one.property, value_order(one.value)) for one in self._look_ups}
        # The hues of A nodes were listed, and "red" is none of them.
        for (label, name), listed in self.observed.listed_values().items():
            existing = {value_order(value) for value in listed}
            for order in self._question_values - existing:
                excluded.add((label, name, order))
        return frozenset(excluded)

    def _find_open_labels(self) -> set[str]:
        """Return the labels that nodes may have which no result shows."""
        labels = set()
        for source, _, target in self._pairs:
            labels |= {source, target}
        for name, value in self.parameters.items():
            if name.endswith("label"):
                labels.add(str(value))
        return labels - self.observed.complete_labels

    def _is_closed(self, kind: str, key: str) -> bool:
        return any(group.kind == kind and key in group.keys for group in self.closed)

    def _add_seen_node(self, node: Node) -> None:
        labels = self._possible_labels(node)
        # Lists are left out, as in the observed graph: such a property counts as one that was not read.
        scalars = {name: value for name, value in node.properties.items() if isinstance(value, SCALARS)}
        has_lists = len(scalars) < len(node.properties)
        was_read = node.key in self.observed.whole_properties or self._is_closed("read", node.key)
        is_read = was_read and not has_lists
        properties: Mapping[str, Any] = scalars
        if not is_read:
            properties = PartlyKnown(scalars, self._excluded)

        parts = frozenset(self._shown_parts.get(node.key, ()))
        if self._is_closed("walked", node.key):
            parts |= {RelationshipPart()}
        # Two nodes of which the same is known are alike, unless the question names one of them.
        alike = None
        is_in_question = value_order(node.key) in self._question_values
        if not is_in_question:
            alike = (labels, parts, is_read, str(sorted(scalars.items())))
        self._nodes.append(_PossibleNode(node.key, labels, properties, parts, alike))
        if not is_read:
            self._add_with_values(node.key, labels, scalars, parts)

    def _possible_labels(self, node: Node) -> tuple[str, ...]:
        """Return the labels that a seen node may have, "" for none."""
        if node.key in self.observed.whole_labels:
            return node.labels or ("",)
        if self.observed.has_one_label_each and node.labels:
            return node.labels
        return tuple(sorted({*node.labels, *self._open_labels}))

    def _add_unseen_nodes(self, label: str) -> None:
        """Add nodes with a label that no result shows."""
        labels: tuple[str, ...] = (label,)
        if not self.observed.has_one_label_each:
            labels = tuple(sorted(self._open_labels))
        for number in range(_COPIES):
            key = f"{_UNSEEN}{label}{_UNSEEN}{number}"
            self._nodes.append(_PossibleNode(key, labels, PartlyKnown({}, self._excluded, self._searched)))
            self._add_with_values(key, labels, {}, frozenset())

    def _add_unseen_nodes_of_the_question(self) -> None:
        """Add the nodes whose keys the question names, if no result shows them."""
        by_key = KEY in self.parameters.values()
        labels = tuple(sorted(self._open_labels))
        for name, value in self.parameters.items():
            is_a_key = is_key(name) or by_key
            if is_a_key and isinstance(value, str) and value not in self.observed.nodes:
                self._nodes.append(_PossibleNode(value, labels, PartlyKnown({}, self._excluded)))

    def _add_with_values(
        self,
        key: str,
        labels: tuple[str, ...],
        known: Mapping[str, Any],
        parts: frozenset[RelationshipPart],
    ) -> None:
        """Add a node once more for each looked-up value that it may have although no result shows it.

        get_all_nearest_neighbors(label: A, property_name: hue, property_value: red, direction: outgoing)    → no rows

        There may be a red A node: it has no outgoing relationships. So an A node of unknown hue is in the graph twice,
        as a node that is not red and may have outgoing relationships, and as a red one that has none. If it is known
        to have one, it is not red. Had get_node_by_property been called with this hue, all red nodes would be known.

        (A node that may lack the label A may be red and have them; the first of the two stands for it.)
        """
        look_ups_by_value: dict[tuple[str, str, Any], list[LookUp]] = {}
        for one in self._look_ups:
            if one.property not in known and one.label in labels:
                value = (one.label, one.property, value_order(one.value))
                look_ups_by_value.setdefault(value, []).append(one)

        for number, look_ups in enumerate(look_ups_by_value.values()):
            showed_nodes = any(one.part is None for one in look_ups)
            if showed_nodes:
                continue
            shown_parts = frozenset(one.part for one in look_ups if one.part is not None)
            if self._has_relationship_of(key, shown_parts):
                continue  # the look-up would have shown it
            first = look_ups[0]
            properties = PartlyKnown({**known, first.property: first.value}, self._excluded)
            variant = f"{_UNSEEN}{key}{_UNSEEN}{number}"
            self._nodes.append(_PossibleNode(variant, labels, properties, parts | shown_parts, variant_of=key))

    def _has_relationship_of(self, key: str, parts: Collection[RelationshipPart]) -> bool:
        for link in self.observed.relationships:
            if link.source == key and any(part.holds(link.type, "outgoing") for part in parts):
                return True
            if link.target == key and any(part.holds(link.type, "incoming") for part in parts):
                return True
        return False

    def _relationships(self) -> list[Relationship] | None:
        """Return the observed relationships and the possible ones; None if these are too many."""
        relationships = self._seen_relationships()
        related = set()
        for link in relationships:
            related |= {link.source, link.target}
        nodes = self._different_nodes(related)
        possible: set[tuple[str, str, str]] = set()
        for source_label, type_, target_label in self._pairs:
            sources = [node.key for node in nodes if node.may_be_end(source_label, type_, "outgoing")]
            targets = [node.key for node in nodes if node.may_be_end(target_label, type_, "incoming")]
            if len(possible) + len(sources) * len(targets) > _MOST_POSSIBLE / _COPIES:
                return None
            possible.update(product(sources, [type_], targets))
        for source, type_, target in possible:
            for _ in range(_COPIES):
                relationships.append(Relationship(type_, source, target, PartlyKnown({})))
        return relationships

    def _seen_relationships(self) -> list[Relationship]:
        """Return the observed relationships, also of the nodes as they may be."""
        forms: dict[str, list[str]] = {key: [key] for key in self.observed.nodes}
        """Key of a node → keys of this node and of its variants."""
        for node in self._nodes:
            if node.variant_of is not None:
                forms.setdefault(node.variant_of, []).append(node.key)
        relationships = []
        for link in self.observed.graph().relationships():
            for source in forms[link.source]:
                for target in forms[link.target]:
                    relationships.append(Relationship(link.type, source, target, link.properties))
        return relationships

    def _different_nodes(self, related: Collection[str]) -> list[_PossibleNode]:
        """Return the nodes, and of those without relationships that are alike only a few."""
        number_of = Counter[Hashable]()
        nodes = []
        for node in self._nodes:
            if node.alike is not None and node.key not in related:
                number_of[node.alike] += 1
                if number_of[node.alike] > _COPIES:
                    continue
            nodes.append(node)
        return nodes


@dataclass(frozen=True)
class _Elements:
    """Nodes and relationships for an index; their values may be unknown, which no `PropertyGraph` holds."""

    all_nodes: Sequence[Node]
    all_relationships: Sequence[Relationship]

    def nodes(self) -> Iterator[Node]:
        return iter(self.all_nodes)

    def relationships(self) -> Iterator[Relationship]:
        return iter(self.all_relationships)
