"""Building blocks of the expert's plans: read relationships of labels or nodes in few tool calls."""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
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
        turn = waiting[:CALLS_PER_TURN]
        waiting = waiting[CALLS_PER_TURN:]
        results = yield [ask for _, ask in turn]
        refused = []
        for (number, ask), result in zip(turn, results, strict=True):
            page_rows = read_rows(result)
            if page_rows is None:
                refused.append((number, ask))
                continue
            rows[number] += page_rows
            assert not isinstance(ask.arguments, str)  # only calls made here are read
            # Page 1 names pages 2 to 5, say, and page 5 those after it.
            if ask.arguments.get("page", 1) == last_pages[number]:
                for page in next_pages(result):
                    last_pages[number] = page
                    waiting.append((number, Ask(ask.tool, {**ask.arguments, "page": page})))
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
        pairs: set[tuple[str, str, str]] = set()
        for type_ in schema.relationships:
            pairs.update((source, type_.type, target) for source, target in type_.pairs)
        self._pairs = frozenset(pairs)

    def links(self, centres: Iterable[Centre]) -> Steps[list[RelationshipRow]]:
        """Return the relationships of all matching nodes, one per row, and twice if both ends match.

        A node that matches under several labels is read once.
        """
        looked_up = list(centres)
        results = yield from read([neighborhood(*centre) for centre in looked_up])
        label_of: dict[str, str] = {}
        """Key of each node → the label under which it was read first."""
        links = []
        for centre, rows in zip(looked_up, results, strict=True):
            for row in rows:
                link = relationship_in(row, centre.label, self._pairs)
                if link is None:
                    continue
                if self.schema.several_labels and label_of.setdefault(link.centre, centre.label) != centre.label:
                    continue
                links.append(link)
        return links

    def outgoing(self, centres: Iterable[Centre]) -> Steps[list[RelationshipRow]]:
        links = yield from self.links(centres)
        return [link for link in links if link.outgoing]

    def relationships(self, labels: Collection[str]) -> Steps[list[RelationshipRow]]:
        """Return every relationship with an end in these labels once.

        Nodes are looked up by the values of one property; nodes not found in this way are looked up by key.
        """
        values = yield from self._values(sorted(labels))
        centres: list[Centre] = []
        by_key: list[Centre] = []
        for label in sorted(labels):
            fewest = _fewest_centres(label, values)
            centres.extend(fewest)
            if fewest and fewest[0].property != KEY:
                by_key.extend(Centre(label, KEY, key) for key in values[label, KEY])
        links = yield from self.links(centres)
        # Nodes without the property, and those without relationships
        seen = {link.centre for link in links}
        links += yield from self.links(centre for centre in by_key if centre.value not in seen)

        # A relationship between two of these labels has a row at both ends; keep the one at its source.
        once = [link for link in links if link.outgoing or link.source_labels.isdisjoint(labels)]
        if not self.schema.several_labels:
            return once
        # A row shows one label of its centre; the other rows and the key lists show the others.
        labels_of: defaultdict[Value, frozenset[str]] = defaultdict(frozenset)
        for (label, name), column in values.items():
            if name == KEY:
                for key in column:
                    labels_of[key] |= {label}
        for link in links:
            labels_of[link.source] |= link.source_labels
            labels_of[link.target] |= link.target_labels
        complete = []
        for link in once:
            source_labels = labels_of[link.source]
            target_labels = labels_of[link.target]
            complete.append(replace(link, source_labels=source_labels, target_labels=target_labels))
        return complete

    def _values(self, labels: list[str]) -> Steps[dict[tuple[str, str], list[Value]]]:
        """Return the values by label and property: all keys, and properties with probably few values."""
        # The key and the property with probably the fewest values come first.
        columns_of: dict[str, list[tuple[str, str]]] = {}
        for label in labels:
            columns_of[label] = [(label, name) for name in (KEY, *self._likely(label))]
        values = yield from _unique(chain.from_iterable(columns[:2] for columns in columns_of.values()))

        worth_asking: list[tuple[str, str]] = []
        for columns in columns_of.values():
            fewest = min(len(values[column]) for column in columns[:2])
            if WORTH_ASKING * len(columns[2:]) < fewest:
                worth_asking.extend(columns[2:])
        more_values = yield from _unique(worth_asking)
        return values | more_values

    def _likely(self, label: str) -> list[str]:
        """Return the properties of a label without its key, those known to have few values first."""
        node = self.schema.node(label)
        if node is None:
            return []
        number_of: dict[str, float] = {}
        for prop in node.properties:
            if prop.name != KEY:
                number_of[prop.name] = len(prop.samples) if prop.complete else math.inf
        return sorted(number_of, key=lambda name: number_of[name])

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
        if type_ is None:
            return []
        sources = {source for source, _ in type_.pairs}
        targets = {target for _, target in type_.pairs}
        fewer_labels = sources if len(sources) <= len(targets) else targets
        links = yield from self.relationships(fewer_labels)
        return [link for link in links if link.type == name]

    def spread(
        self, start: Centre, target_label: str, hops: int, until: Callable[[Layers], bool] | None = None
    ) -> Steps[Layers]:
        """Return relationships layer by layer from a start, only where the target label is still reachable.

        `until`: whether the layers that were read suffice.
        """
        layers: Layers = []
        seen: set[str] = set()
        edge = {str(start.value): frozenset([start.label])}
        for labels in self.on_the_way(start.label, target_label, hops):
            centres = []
            for key in edge.keys() - seen:
                labels_on_the_way = edge[key] & labels
                if labels_on_the_way:
                    centres.append(Centre(min(labels_on_the_way), KEY, key))
            links = yield from self.outgoing(sorted(centres))
            layers.append(links)
            if until is not None and until(layers):
                break
            seen.update(str(centre.value) for centre in centres)
            edge = {link.target: link.target_labels for link in links}
        return layers

    def on_the_way(self, source: str, target: str, hops: int) -> list[set[str]]:
        """Return the labels after 0, 1, … hops-1 steps from which the target is still reachable."""
        follow: defaultdict[str, set[str]] = defaultdict(set)
        """Label → labels that one relationship leads to."""
        for before, _, after in self._pairs:
            follow[before].add(after)
        layers = []
        layer = {source}
        for steps_left in range(hops, 0, -1):
            layers.append({label for label in layer if target in distances(label, steps_left, follow)})
            next_layer: set[str] = set()
            for label in layer:
                next_layer.update(follow.get(label, ()))
            layer = next_layer
        return layers


def _unique(names: Iterable[tuple[str, str]]) -> Steps[dict[tuple[str, str], list[Value]]]:
    columns = list(names)
    results = yield from read([unique_values(name, label) for label, name in columns])
    values = {}
    for column, rows in zip(columns, results, strict=True):
        values[column] = _once(row["values"] for row in rows)
    return values


def _once(values: Iterable[Value]) -> list[Value]:
    """Return distinct values as Cypher compares them: 1 equals 1.0, not true."""
    column = list(values)
    # Most columns are texts, which need no sort keys.
    if all(type(value) is str for value in column):
        return list(dict.fromkeys(column))
    return list({value_order(value): value for value in column}.values())


def _fewest_centres(label: str, values: Mapping[tuple[str, str], list[Value]]) -> list[Centre]:
    """Return look-ups of a label's nodes by the property with the fewest values; of equal ones, by key.

    Properties with lists are skipped, because nothing can be looked up by a list.
    """
    names = []
    for (owner, name), column in values.items():
        if owner == label and column and all(isinstance(value, SCALARS) for value in column):
            names.append(name)

    def number_of_calls(name: str) -> tuple[int, bool]:
        # False is less than True: of two properties with 5 values, the key comes first.
        return len(values[label, name]), name != KEY

    best = min(names, key=number_of_calls, default=KEY)
    return [Centre(label, best, value) for value in values[label, best]]


def rows_of_keys(keys: Iterable[str]) -> list[Row]:
    """Return one row per node."""
    return [{"node_key": key} for key in sorted(set(keys))]


def end_keys(pairs: Iterable[tuple[str, str]]) -> list[Row]:
    """Return one row per pair of first and last node."""
    return [{"source_node_key": source, "target_node_key": target} for source, target in sorted(set(pairs))]
