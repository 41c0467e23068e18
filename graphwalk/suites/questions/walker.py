"""Building blocks of the expert's plans: read relationships of labels or nodes in few tool calls."""

from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar

from graphwalk.graphs.graph import KEY, value_order
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import SCALARS, Row, Value
from graphwalk.models.scripted import Ask
from graphwalk.suites.questions.graph_index import distances
from graphwalk.tools.encodings import next_pages, read_rows
from graphwalk.tools.relationship_rows import RelationshipRow, relationship_in

WORTH_ASKING = 8
"""Further properties are listed only if that may save this many times its calls."""
CALLS_PER_TURN = 256
"""Default of AgentConfig.max_calls_per_turn; more calls are spread over several turns."""
Layers = list[list[RelationshipRow]]
"""Relationships that begin at nodes 0, 1, … steps away from a start."""


class Centre(NamedTuple):
    """The nodes of a label with a property value: the subject of one call."""

    label: str
    property: str
    value: Value


T = TypeVar("T")
Steps = Generator[list[Ask], Sequence[str], T]
"""Part of a scripted agent: yields the calls of a turn, receives their results, and returns what it found."""


def read(asks: Sequence[Ask]) -> Steps[list[list[Row]]]:
    """Return the rows of every call in order, over as many turns as needed.

    Later pages are requested, several in one turn, and calls that an agent refused because of too many calls in a turn
    are repeated. If no call of a turn returns rows, they count as mistakes without rows.
    """
    rows: list[list[Row]] = [[] for _ in asks]
    last_pages = [1] * len(asks)
    waiting = list(enumerate(asks))
    while waiting:
        turn, waiting = waiting[:CALLS_PER_TURN], waiting[CALLS_PER_TURN:]
        results = yield [ask for _, ask in turn]
        refused = []
        for (number, ask), result in zip(turn, results, strict=True):
            page_rows = read_rows(result)
            if page_rows is None:
                refused.append((number, ask))
                continue
            rows[number] += page_rows
            assert not isinstance(ask.arguments, str)  # only calls made here are read
            if ask.arguments.get("page", 1) == last_pages[number] and (following := next_pages(result)):
                last_pages[number] = following[-1]
                waiting += [(number, Ask(ask.tool, {**ask.arguments, "page": page})) for page in following]
        if len(refused) < len(turn):
            waiting = refused + waiting
    return rows


def neighborhood(label: str, name: str, value: Any) -> Ask:
    """Return the call for all relationships of the nodes that have this value."""
    return Ask("get_all_nearest_neighbors", {"label": label, "property_name": name, "property_value": value})


def nodes(label: str, name: str, value: Any) -> Ask:
    """Return the call for the nodes that have this value."""
    return Ask("get_node_by_property", {"label": label, "property_name": name, "property_value": value})


def unique_values(name: str, entity: str, entity_type: Literal["node", "relationship"] = "node") -> Ask:
    """Return the call for the values of a property of a label or relationship type."""
    return Ask("get_unique_property_values", {"property_name": name, "entity_name": entity, "entity_type": entity_type})


class Walker:
    """Reader of neighbourhoods, which knows only the schema of the graph."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._pairs = frozenset((source, t.type, target) for t in schema.relationships for source, target in t.pairs)

    def links(self, centres: Iterable[Centre]) -> Steps[list[RelationshipRow]]:
        """Return the relationships of all matching nodes, one per row, and twice if both ends match.

        A node that matches under several labels is read once.
        """
        looked_up = list(centres)
        results = yield from read([neighborhood(*centre) for centre in looked_up])
        label_of: dict[str, str] = {}
        return [
            link
            for centre, rows in zip(looked_up, results, strict=True)
            for row in rows
            if (link := relationship_in(row, centre.label, self._pairs)) is not None
            if not self.schema.several_labels or label_of.setdefault(link.centre, centre.label) == centre.label
        ]

    def outgoing(self, centres: Iterable[Centre]) -> Steps[list[RelationshipRow]]:
        links = yield from self.links(centres)
        return [link for link in links if link.outgoing]

    def relationships(self, labels: Collection[str]) -> Steps[list[RelationshipRow]]:
        """Return every relationship with an end in these labels once.

        Nodes are looked up by the values of one property; nodes not found in this way are looked up by key.
        """
        values = yield from self._values(sorted(labels))
        splits = [_split(label, values) for label in sorted(labels)]
        links = yield from self.links(centre for split in splits for centre in split)
        seen = {link.source if link.outgoing else link.target for link in links}
        grouped = [split[0].label for split in splits if split and split[0].property != KEY]
        keys = [Centre(label, KEY, key) for label in grouped for key in values[label, KEY]]
        links += yield from self.links(centre for centre in keys if centre.value not in seen)
        # A relationship between two of these labels has a row at both ends; keep the one at its source.
        once = [link for link in links if link.outgoing or link.source_labels.isdisjoint(labels)]
        if not self.schema.several_labels:
            return once
        # A row shows one label of its centre; the other rows and the key lists show the others.
        labels_of: defaultdict[Value, frozenset[str]] = defaultdict(frozenset)
        for (label, name), column in values.items():
            for key in column if name == KEY else ():
                labels_of[key] |= {label}
        for link in links:
            labels_of[link.source] |= link.source_labels
            labels_of[link.target] |= link.target_labels
        return [replace(x, source_labels=labels_of[x.source], target_labels=labels_of[x.target]) for x in once]

    def _values(self, labels: list[str]) -> Steps[dict[tuple[str, str], list[Value]]]:
        """Return the values by label and property: all keys, and properties with probably few values."""
        likely = {label: self._likely(label) for label in labels}
        values = yield from _unique((label, name) for label in labels for name in (KEY, *likely[label][:1]))
        more = []
        for label, names in likely.items():
            fewest = min(len(values[label, name]) for name in (KEY, *names[:1]))
            if WORTH_ASKING * len(names[1:]) < fewest:
                more += [(label, name) for name in names[1:]]
        return values | (yield from _unique(more))

    def _likely(self, label: str) -> list[str]:
        """Return the properties of a label without its key, those known to have few values first."""
        node = self.schema.node(label)
        properties = [p for p in node.properties if p.name != KEY] if node else []
        return [p.name for p in sorted(properties, key=lambda p: len(p.samples) if p.complete else float("inf"))]

    def target_labels(self, label: str) -> Steps[dict[str, set[str]]]:
        """Return key of each node of the label with outgoing relationships → labels of their targets."""
        links = yield from self.relationships({label})
        targets: defaultdict[str, set[str]] = defaultdict(set)
        for link in links:
            if label in link.source_labels:
                targets[link.source] |= link.target_labels
        return targets

    def links_of_type(self, name: str) -> Steps[list[RelationshipRow]]:
        """Return all relationships of a type, read from its sources or its targets, whichever have fewer labels."""
        type_ = self.schema.relationship(name)
        pairs = type_.pairs if type_ else ()
        sources, targets = ({pair[end] for pair in pairs} for end in (0, 1))
        links = yield from self.relationships(min(sources, targets, key=len))
        return [link for link in links if link.type == name]

    def spread(self, start: Centre, target_label: str, hops: int, until: Callable[[Layers], bool]) -> Steps[Layers]:
        """Return relationships layer by layer from a start, only where the target label is still reachable."""
        layers: Layers = []
        seen: set[str] = set()
        edge = {str(start.value): frozenset([start.label])}
        for labels in self.on_the_way(start.label, target_label, hops):
            fresh = {key: edge[key] & labels for key in edge.keys() - seen if edge[key] & labels}
            layers.append((yield from self.outgoing(sorted(Centre(min(own), KEY, key) for key, own in fresh.items()))))
            if until(layers):
                break
            seen |= fresh.keys()
            edge = {link.target: link.target_labels for link in layers[-1]}
        return layers

    def on_the_way(self, source: str, target: str, hops: int) -> list[set[str]]:
        """Return the labels after 0, 1, … hops-1 steps from which the target is still reachable."""
        follow: defaultdict[str, set[str]] = defaultdict(set)  # label → labels that one relationship leads to
        for before, _, after in self._pairs:
            follow[before].add(after)
        layers = [{source}]
        for _ in range(hops - 1):
            layers.append({label for previous in layers[-1] for label in follow.get(previous, ())})
        return [
            {label for label in layer if target in distances(label, hops - depth, follow)}
            for depth, layer in enumerate(layers)
        ]


def _unique(names: Iterable[tuple[str, str]]) -> Steps[dict[tuple[str, str], list[Value]]]:
    columns = list(names)
    results = yield from read([unique_values(name, label) for label, name in columns])
    return {column: _once(row["values"] for row in rows) for column, rows in zip(columns, results, strict=True)}


def _once(values: Iterable[Value]) -> list[Value]:
    """Return distinct values as Cypher compares them: 1 equals 1.0, not true."""
    column = list(values)
    if set(map(type, column)) == {str}:
        return list(dict.fromkeys(column))
    return list({value_order(value): value for value in column}.values())


def _split(label: str, values: Mapping[tuple[str, str], list[Value]]) -> list[Centre]:
    """Return look-ups of a label's nodes by the property with the fewest values; of equal ones, by key.

    Properties with lists are skipped, because nothing can be looked up by a list.
    """
    names = [
        name
        for (owner, name), column in values.items()
        if owner == label and column and all(isinstance(value, SCALARS) for value in column)
    ]
    best = min(names, key=lambda name: (len(values[label, name]), name != KEY), default=KEY)
    return [Centre(label, best, value) for value in values[label, best]]


def node_keys(keys: Iterable[str]) -> list[Row]:
    """Return one row per node."""
    return [{"node_key": key} for key in sorted(set(keys))]


def end_keys(pairs: Iterable[tuple[str, str]]) -> list[Row]:
    """Return one row per pair of first and last node."""
    return [{"source_node_key": source, "target_node_key": target} for source, target in sorted(set(pairs))]
