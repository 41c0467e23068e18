"""Which rows the tool results of an episode prove, and whether they prove the whole answer (docs/method.md, Proven).

Two graphs are compared. The least one is what the results show: each graph that gives these results contains it. The
most one has in addition everything that may be there: further nodes, further relationships, and any value for a
property that was not seen. A row is supported if it is right in each graph between the two. An answer is proven if its
rows are, and no other row is right in any of them.

An example. The question is which A nodes have a relationship to a B node, and the model has called

    get_all_nearest_neighbors(label: A, property_name: key, property_value: a1)    → a1 –R→ b1

The row {"node_key": "a1"} is supported. It is not the proven answer, because another A node may have such a
relationship: the most graph has A nodes that no result shows. They go when all keys of A were listed; if these are a1
and a2, a2 may still have a relationship to b1 or to another B node, until its relationships are looked up, too.
"""

import logging
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from graphwalk.errors import counted
from graphwalk.graphs.graph import KEY, Node, PropertyGraph, Relationship, value_order
from graphwalk.graphs.values import SCALARS, Row
from graphwalk.models.chat import Message
from graphwalk.models.trajectory import ToolResult
from graphwalk.suites.graph_prompts import QUERY_TOOLS
from graphwalk.suites.questions.catalogue import python_part
from graphwalk.suites.questions.graph_index import GraphIndex, PartlyKnown
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.rows import row_set
from graphwalk.tools.observed import (
    LookUp,
    ObservedGraph,
    RelationshipPart,
    is_key,
    observed_graph,
    schema_pairs,
    shows_data,
    shows_whole_schema,
)

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask

RowTuple = tuple[Hashable, ...]
"""The scored fields of a row, as `graphwalk.suites.rows.row_set` has them."""

_LOGGER = logging.getLogger("graphwalk")
_MOST_POSSIBLE = 400_000
"""Maximum possible relationships; beyond it the graph with them is not made."""
_UNSEEN = "\0"
"""First character of the key of a node that no result shows."""
_COPIES = 2
"""Nodes that no result shows, of each kind; and possible relationships between two nodes. No question needs more."""
_MOST_NAMED = 3
"""Nodes that a reason names."""
_NAMES = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")
_NOT_ONLY_GROWING = re.compile(
    r"\b(not|optional|with|order|limit|skip|call|is|count|collect|min|max|sum|avg|size|all|none|single|reduce)\b", re.I
)
"""Keywords of queries that may lose rows when a graph grows. A superfluous word only costs time."""
_READS_RELATIONSHIPS = re.compile(r"--|-\[")
_READS_THEIR_PROPERTIES = re.compile(r"-\[[^\]]*\{|-\[(\w+)\b(?=.*\b(\1\.|properties\(\1))", re.S)


class Proof:
    """The rows of one question that the tool results of an episode prove.

    Everything is None if it is unknown: the question has no evaluator or it fails on what was observed, a result of
    an unknown form may prove what others do not, the tools hide directions or properties that the question needs, too
    much was not observed, or the prompt has no schema that bounds it.
    """

    def __init__(self, task: "QuestionTask", prompt: Iterable[Message], results: Sequence[ToolResult]) -> None:
        self._task = task
        self._prompt = "\n".join(message.content or "" for message in prompt)
        self._observed = observed_graph(results, self._prompt)
        # A query of the model may show rows that it has made up.
        self._has_queried = any(shows_data(result) and result.call.name in QUERY_TOOLS for result in results)
        self._cypher = _NAMES.sub("name", task.cypher)

    @cached_property
    def _part(self) -> PythonPart | None:
        python: Any = python_part(self._task.template) if self._task.oracles == 2 else None
        return None if python is None else python(**self._task.parameters)

    @cached_property
    def _grows(self) -> bool:
        """Return True if more nodes, relationships and values never take a row of the question away."""
        assert self._part is not None
        if self._part.grows is not None:
            return self._part.grows
        return _NOT_ONLY_GROWING.search(self._cypher) is None

    @cached_property
    def _is_readable(self) -> bool:
        """Return False if the results do not show what the question needs."""
        observed = self._observed
        if self._part is None or self._has_queried:
            return False
        if observed.hides_directions and _READS_RELATIONSHIPS.search(self._cypher):
            return False
        return not (observed.hides_properties and _READS_THEIR_PROPERTIES.search(self._cypher))

    @cached_property
    def _least(self) -> GraphIndex:
        return GraphIndex(self._observed.graph())

    @cached_property
    def _possible(self) -> "PossibleGraph | None":
        is_bounded = shows_whole_schema(self._prompt)
        return self._possible_graph() if is_bounded else None

    def _possible_graph(self, looked_up: Iterable["OpenGroup"] = ()) -> "PossibleGraph":
        return PossibleGraph(self._observed, self._prompt, self._task.parameters, frozenset(looked_up))

    def supported(self, rows: Sequence[Row]) -> frozenset[RowTuple] | None:
        """Return those of `rows` that are right in every graph that gives these results; None if that is unknown."""
        wanted = frozenset(row for row in row_set(rows, self._task.scored_fields) if None not in row)
        if not self._is_readable:
            return None
        assert self._part is not None
        try:
            found = wanted & self._rows(self._part.rows(self._least))
            if found and not self._grows:
                most = None if self._possible is None else self._possible.index()
                if most is None:
                    return None
                if not self._states_bounds:
                    found &= self._rows(self._part.rows(most))
                else:
                    found &= self._rows(self._part.certain(self._least, most))
        except Exception:  # code of another package may raise anything on a part of the graph
            _LOGGER.exception("the Python part of the question %s failed", self._task.template)
            return None
        return found if self._observed.understood or found == wanted else None

    def unproven_because(self, answer: Sequence[Row]) -> str | None:
        """Return "" if a right answer is right in every graph that gives these results, else why it is not.

        None if that is unknown.
        """
        if not self._is_readable or not (self._grows or self._states_bounds) or self._possible is None:
            return None
        if self._observed.infers_directions and not self._observed.has_one_label_each:
            return None  # a node may have a label that was not seen, and with it another direction is possible
        if self._task.rows_left_out:
            return f"{counted(len(self._task.rows_left_out), 'row')} that would be as right was not asked for"
        try:
            return self._why(self._possible, row_set(answer, self._task.scored_fields))
        except Exception:  # as above
            _LOGGER.exception("the Python part of the question %s failed", self._task.template)
            return None

    def _why(self, possible: "PossibleGraph", answer: frozenset[RowTuple]) -> str | None:
        follows = self._follows(possible, answer)
        if follows is None:
            return None
        if follows:
            return ""

        # What if all was looked up? Then leave out, one after the other, what makes no difference.
        needed = list(possible.open_groups())
        if not self._would_follow(needed, answer):
            return f"the results do not show all rows of the answer ({counted(len(answer), 'row')})"
        for group in reversed(list(needed)):  # nodes that were not listed explain most, and stay if they can
            others = [one for one in needed if one != group]
            if self._would_follow(others, answer):
                needed = others
        return "; ".join(group.text() for group in needed)

    def _would_follow(self, looked_up: Collection["OpenGroup"], answer: frozenset[RowTuple]) -> bool:
        return bool(self._follows(self._possible_graph(looked_up), answer))

    def _follows(self, possible: "PossibleGraph", answer: frozenset[RowTuple]) -> bool | None:
        """Return True if the rows are certain, and no other row is possible; None if the graph is too large."""
        assert self._part is not None
        most = possible.index()
        if most is None:
            return None
        if not answer <= self._rows(self._part.certain(self._least, most)):
            return False
        if self._task.mode != "set":
            return True  # of several right answers, each is right by itself
        return self._rows(self._part.possible(self._least, most)) <= answer

    @property
    def _states_bounds(self) -> bool:
        """Return True if the kind states which rows are certain although the question may lose rows."""
        assert self._part is not None
        return type(self._part).certain is not PythonPart.certain

    def _rows(self, rows: Iterable[Row]) -> frozenset[RowTuple]:
        return row_set(rows, self._task.scored_fields)


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
        return (
            f"not all {'relationships' if self.kind == 'walked' else 'properties'} of {nodes} were looked up: {names}"
        )


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
    """Nodes with the same value can be exchanged for each other: relationships are added to a few of them."""
    variant_of: str | None = None
    """Key of the node that this is, with a value that no result shows."""

    def is_open(self, type_: str, direction: str) -> bool:
        """Return True if it may have further relationships of this type in this direction."""
        return not any(part.holds(type_, direction) for part in self.parts)


@dataclass
class PossibleGraph:
    """The observed graph with everything that may be there besides.

    * A node that no result shows may have any label of the schema, unless all keys of the label were listed.
    * A property that no result shows may have any value. A value of the question that nodes were looked up by is
      excepted, if the nodes with this value were all shown.
    * A relationship that fits the schema may join two nodes, if neither had all its relationships of the type and the
      direction shown.

    `closed`: taken as looked up, to find out what matters.
    """

    observed: ObservedGraph
    prompt: str
    """It shows the whole schema."""
    parameters: Mapping[str, Any]
    closed: frozenset[OpenGroup] = frozenset()
    _nodes: list[_PossibleNode] = field(default_factory=list)

    def __post_init__(self) -> None:
        asked = [value for value in self.parameters.values() if isinstance(value, SCALARS)]
        self._asked = {value_order(value): value for value in asked}
        self._look_ups = [
            one for one in self.observed.look_ups() if one.property != KEY and value_order(one.value) in self._asked
        ]
        self._excluded = self._excluded_values()
        self._searched = {(label, value_order(text)) for label, text in self.observed.searched_texts()}
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
        walked: dict[str, list[str]] = {}
        read: dict[str, list[str]] = {}
        for node in self.observed.nodes.values():
            label = node.label
            if not self._is_complete(node.key):
                walked.setdefault(label, []).append(node.key)
            if node.key not in self.observed.whole_properties:
                read.setdefault(label, []).append(node.key)
        for kind, groups in (("walked", walked), ("read", read)):
            for label, keys in sorted(groups.items()):
                yield OpenGroup(kind, label, tuple(keys))

    def _excluded_values(self) -> frozenset[tuple[str, str, Any]]:
        """Return label, property and value that an unseen node has not, or only as a node of its own in this graph."""
        excluded = {(one.label, one.property, value_order(one.value)) for one in self._look_ups}
        for (label, name), listed in self.observed.listed_values().items():
            existing = {value_order(value) for value in listed}
            excluded.update((label, name, order) for order in self._asked.keys() - existing)
        return frozenset(excluded)

    def _find_open_labels(self) -> set[str]:
        """Return the labels that nodes may have which no result shows."""
        labels = {label for source, _, target in self._pairs for label in (source, target)}
        labels.update(str(value) for name, value in self.parameters.items() if name.endswith("label"))
        return labels - self.observed.complete_labels

    def _is_complete(self, key: str) -> bool:
        parts = self._shown_parts.get(key, set())
        both = {RelationshipPart(None, "outgoing"), RelationshipPart(None, "incoming")}
        return RelationshipPart() in parts or both <= parts

    def _is_closed(self, kind: str, key: str) -> bool:
        return any(group.kind == kind and key in group.keys for group in self.closed)

    def _add_seen_node(self, node: Node) -> None:
        labels = node.labels
        has_all_labels = node.key in self.observed.whole_labels or (self.observed.has_one_label_each and labels)
        if not has_all_labels:
            labels = tuple(sorted({*labels, *self._open_labels}))
        elif not labels:
            labels = ("",)

        properties: Mapping[str, Any] = node.properties
        is_read = node.key in self.observed.whole_properties or self._is_closed("read", node.key)
        if any(not isinstance(value, SCALARS) for value in properties.values()):
            is_read = False
            properties = {name: value for name, value in properties.items() if isinstance(value, SCALARS)}
        if not is_read:
            properties = PartlyKnown(properties, self._excluded)

        parts = frozenset(self._shown_parts.get(node.key, ()))
        if self._is_closed("walked", node.key):
            parts |= {RelationshipPart()}
        look = (labels, parts, is_read, str(sorted(dict(properties).items())))
        is_asked = value_order(node.key) in self._asked
        self._nodes.append(_PossibleNode(node.key, labels, properties, parts, None if is_asked else look))
        if not is_read:
            self._add_with_values(node.key, labels, dict(properties), parts)

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

        It may have the value if the look-up showed relationships only: it then has none of those. (A node that may lack
        the label of the look-up is in the graph without the value, too.)
        """
        values: dict[tuple[str, str, Any], list[LookUp]] = {}
        for one in self._look_ups:
            if one.property not in known and one.label in labels:
                values.setdefault((one.label, one.property, value_order(one.value)), []).append(one)
        for number, ((_, name, _), look_ups) in enumerate(values.items()):
            shows_nodes = any(one.part is None for one in look_ups)
            if shows_nodes:
                continue
            shown_parts = frozenset(one.part for one in look_ups if one.part is not None)
            if self._has_relationship_of(key, shown_parts):
                continue  # the look-up would have shown it
            properties = PartlyKnown({**known, name: look_ups[0].value}, self._excluded)
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
        related = {end for link in relationships for end in (link.source, link.target)}
        nodes = self._different_nodes(related)
        possible: set[tuple[str, str, str]] = set()
        for source_label, type_, target_label in self._pairs:
            sources = [node.key for node in nodes if source_label in node.labels and node.is_open(type_, "outgoing")]
            targets = [node.key for node in nodes if target_label in node.labels and node.is_open(type_, "incoming")]
            if len(possible) + len(sources) * len(targets) > _MOST_POSSIBLE / _COPIES:
                return None
            possible.update((source, type_, target) for source in sources for target in targets)
        for source, type_, target in possible:
            relationships.extend(Relationship(type_, source, target, PartlyKnown({})) for _ in range(_COPIES))
        return relationships

    def _seen_relationships(self) -> list[Relationship]:
        """Return the observed relationships, also of the nodes as they may be."""
        variants: dict[str, list[str]] = {}
        for node in self._nodes:
            if node.variant_of is not None:
                variants.setdefault(node.variant_of, []).append(node.key)
        relationships = []
        for link in self.observed.graph().relationships():
            for source in (link.source, *variants.get(link.source, ())):
                for target in (link.target, *variants.get(link.target, ())):
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
