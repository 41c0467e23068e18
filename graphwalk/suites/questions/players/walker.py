"""What every expert plan is made of: the relationships of whole labels or of single nodes, in few tool calls."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from graphwalk.suites.questions.players.link import Link
from graphwalk.suites.questions.players.reading import Steps, labels_in, neighborhood, read, unique_values
from graphwalk.types.graph import value_order
from graphwalk.types.schema import PropertyType, Schema
from graphwalk.types.values import SCALARS, Row, Value

KEY = "key"
WORTH_ASKING = 8
"""More properties are looked at only if that could save this many times the calls it costs."""


class Centre(NamedTuple):
    """The nodes of one label that share a property value: what one call is about."""

    label: str
    property: str
    value: Value


class Walker:
    """Asks for neighbourhoods and reads them; knows the schema and nothing else about the graph."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._alone = _Alone()

    def links(self, centres: Iterable[Centre]) -> Steps[list[Link]]:
        """The relationships of all matching nodes, one per row: twice where both ends match.

        A node that matches under several of its labels is read once.
        """
        asked = list(centres)
        results = yield from read([neighborhood(*centre) for centre in asked])
        links = [self.as_links(centre.label, found) for centre, found in zip(asked, results, strict=True)]
        if not self._schema.several_labels:
            return [link for found in links for link in found]
        label_of: dict[str, str] = {}
        return [
            link
            for centre, found in zip(asked, links, strict=True)
            for link in found
            if label_of.setdefault(link.centre, centre.label) == centre.label
        ]

    def outgoing(self, centres: Iterable[Centre]) -> Steps[list[Link]]:
        """The relationships that begin at the matching nodes, once each as long as no node matches twice."""
        links = yield from self.links(centres)
        return [link for link in links if link.outgoing]

    def relationships(self, labels: Collection[str]) -> Steps[list[Link]]:
        """Every relationship that begins or ends at a node of these labels, once each.

        The nodes of a label are asked for by the values of one property, and those that were not seen, because they
        lack that property or stand alone, by key.
        """
        values = yield from self._values(sorted(labels))
        splits = [_split(label, values) for label in sorted(labels)]
        links = yield from self.links(centre for split in splits for centre in split)
        seen = {link.source if link.outgoing else link.target for link in links}
        grouped = [split[0].label for split in splits if split and split[0].property != KEY]
        keys = [Centre(label, KEY, key) for label in grouped for key in values[label, KEY]]
        links += yield from self.links(centre for centre in keys if centre.value not in seen)
        # A relationship between two of these labels has a row at either end, and counts at its source.
        once = [link for link in links if link.outgoing or link.source_labels.isdisjoint(labels)]
        if not self._schema.several_labels:
            return once
        return list(_with_all_labels(once, _labels_known(links, values)))

    def _values(self, labels: list[str]) -> Steps[dict[tuple[str, str], list[Value]]]:
        """Values by label and property: of all keys, and of the properties that promise to have few."""
        likely = {label: self._likely(label) for label in labels}
        values = yield from _unique((label, name) for label in labels for name in (KEY, *likely[label][:1]))
        more = []
        for label, names in likely.items():
            fewest = min(len(values[label, name]) for name in (KEY, *names[:1]))
            if WORTH_ASKING * len(names[1:]) < fewest:
                more += [(label, name) for name in names[1:]]
        return values | (yield from _unique(more))

    def _likely(self, label: str) -> list[str]:
        """Properties of the label besides its key; those known to have few values first."""
        node = self._schema.node(label)
        properties = [p for p in node.properties if p.name != KEY] if node else []
        return [p.name for p in sorted(properties, key=_known_values)]

    def as_links(self, label: str, found: list[Any]) -> list[Link]:
        """What a call found, which is links already where nobody needs its rows."""
        return found if found and isinstance(found[0], Link) else [self._link(label, row) for row in found]

    def _link(self, label: str, row: Row) -> Link:
        other: Mapping[str, Value] = row["neighbor_properties"]
        own, beside = self._alone[label], self._labels_beside(row)
        properties = row.get("relationship_properties", {})
        if self._outgoing(label, beside, row):
            return Link(row["center_key"], own, row["type"], str(other[KEY]), beside, properties, other, True)
        return Link(str(other[KEY]), beside, row["type"], row["center_key"], own, properties, other, False)

    def _labels_beside(self, row: Row) -> frozenset[str]:
        label = row.get("neighbor_label")
        return self._alone[label] if label.__class__ is str else frozenset(labels_in(row, "neighbor_label") or ())

    def _outgoing(self, label: str, beside: frozenset[str], row: Row) -> bool:
        """As the row says; where directions are not shown, what the schema allows, outgoing if it allows both."""
        if "direction" in row:
            return bool(row["direction"] == "outgoing")
        type_ = self._schema.relationship(row["type"])
        return type_ is not None and any((label, other) in type_.pairs for other in beside)


class _Alone(dict[str, frozenset[str]]):
    """Label → the set of it alone, which all nodes that have no other share."""

    def __missing__(self, label: str) -> frozenset[str]:
        found = self[label] = frozenset([label])
        return found


def _labels_known(
    links: Iterable[Link], values: Mapping[tuple[str, str], Iterable[Value]]
) -> Mapping[Value, frozenset[str]]:
    """Key → labels, from both ends of all rows, and from the lists of keys of whole labels."""
    known: defaultdict[Value, frozenset[str]] = defaultdict(frozenset)
    for (label, name), found in values.items():
        for key in found if name == KEY else ():
            known[key] |= {label}
    for link in links:
        known[link.source] |= link.source_labels
        known[link.target] |= link.target_labels
    return known


def _with_all_labels(links: Iterable[Link], known: Mapping[Value, frozenset[str]]) -> Iterator[Link]:
    for link in links:
        labels = known[link.source], known[link.target]
        if labels == (link.source_labels, link.target_labels):
            yield link
        else:
            yield replace(link, source_labels=labels[0], target_labels=labels[1])


def _unique(names: Iterable[tuple[str, str]]) -> Steps[dict[tuple[str, str], list[Value]]]:
    asked = list(names)
    results = yield from read([unique_values(name, label) for label, name in asked])
    return {name: _once(row["values"] for row in rows) for name, rows in zip(asked, results, strict=True)}


def _once(values: Iterable[Value]) -> list[Value]:
    """Each value once as Cypher compares them: asking for 1 finds 1.0 too, and not true."""
    given = list(values)
    if set(map(type, given)) == {str}:
        return list(dict.fromkeys(given))
    return list({value_order(value): value for value in given}.values())


def _split(label: str, values: Mapping[tuple[str, str], list[Value]]) -> list[Centre]:
    """All nodes of a label that have the property with the fewest values; the key where it is no worse.

    Nothing can be looked up by a list, so that properties with one are not taken.
    """
    plain = {name: found for (owner, name), found in values.items() if owner == label and _can_be_asked(found)}
    names = [name for name, found in plain.items() if found]
    best = min(names, key=lambda name: (len(values[label, name]), name != KEY), default=KEY)
    return [Centre(label, best, value) for value in values[label, best]]


def _can_be_asked(values: Iterable[Value]) -> bool:
    return all(isinstance(value, SCALARS) for value in values)


def _known_values(property_: PropertyType) -> float:
    return len(property_.samples) if property_.complete else float("inf")
