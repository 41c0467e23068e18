"""The part of a graph that the tool results of an episode have shown to a model.

Proofs, scenes and potentials read results here: during a run as data, later from the logged text. The YAML of a tool
declares what its rows are: nodes, relationships, … Rows that have not the declared form show nothing, nor do rows of a
tool without a declaration.

An example. A model asks for the relationships of a film, and then for the keys of all persons:

    >>> import json
    >>> from graphwalk.analysis.observed import ObservedGraph
    >>> from graphwalk.models.chat import ToolCall
    >>> from graphwalk.models.trajectory import ToolResult
    >>> by_title = {"label": "Film", "property_name": "title", "property_value": "The Quiet Harbour"}
    >>> neighbors = [
    ...     {"center_key": "f1", "direction": "incoming", "type": "DIRECTED", "relationship_properties": {"days": 40},
    ...      "neighbor_label": "Person", "neighbor_properties": {"key": "p1", "name": "Ida"}},
    ... ]
    >>> of_persons = {"property_name": "key", "entity_name": "Person", "entity_type": "node"}
    >>> keys = [{"values": "p1"}, {"values": "p2"}]
    >>> observed = ObservedGraph()
    >>> first = ToolCall("1", "get_all_nearest_neighbors", json.dumps(by_title))
    >>> observed.add(ToolResult(first, json.dumps(neighbors), rows=1))
    >>> second = ToolCall("2", "get_unique_property_values", json.dumps(of_persons))
    >>> observed.add(ToolResult(second, json.dumps(keys), rows=2))
    >>> observed.nodes["f1"]
    Node(key='f1', labels=('Film',), properties={'title': 'The Quiet Harbour'})
    >>> observed.nodes["p2"]
    Node(key='p2', labels=('Person',), properties={})
    >>> observed.relationships
    [Relationship(type='DIRECTED', source='p1', target='f1', properties={'days': 40})]
    >>> observed.complete_nodes(), observed.complete_labels
    ({'f1'}, {'Person'})

The label and the title of f1 are those of the call, for f1 was found by them. Of p2 nothing but its key and its label
is known. The results also show what is not there. The first call asked for all relationships of f1, and every row was
shown: f1 has no other one. (Of p1 there may be more. A call with `direction` or `relationship_type` shows all of these
only.) The second call listed the keys of all persons: there is no third one.

The way of a result: `_rows_of` returns its rows, `_read_row` what one row shows (`_Shown`), and `ObservedGraph` puts
this together. A `_Call` knows which of its rows were shown.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from graphwalk.graphs.answers import parse_object
from graphwalk.graphs.graph import KEY, Node, PropertyGraph, Relationship, value_order
from graphwalk.graphs.schema import NO_LABEL, NO_NAME
from graphwalk.graphs.values import SCALARS, Row, Value
from graphwalk.models.trajectory import ToolResult
from graphwalk.tools.arguments import as_declared
from graphwalk.tools.encodings import read_rows, split_notes
from graphwalk.tools.relationship_rows import Pair, as_labels, is_cut, is_node_key, labels_in, relationship_in
from graphwalk.tools.tool import shipped_declaration

NEIGHBORS = "get_all_nearest_neighbors"
NODES = "get_node_by_property"
VALUES = "get_unique_property_values"
SEARCH = "search_nodes"
GET_SCHEMA = "get_schema"
MOST_FOUND = 10
"""Rows of a search; with fewer of them there are no others."""
FIRST_PAGE = 1
_KIND_BY_COLUMN = {
    "neighbor_properties": "relationships",
    "properties": "nodes",
    "match": "nodes",
    "values": "values",
}
"""Column of a query's result → what its rows are read as."""
_PATTERN = re.compile(r"\((|:[^\n]+?)\)-\[:([^\n]+?)\]->\((|:[^\n]+?)\)")
"""Of the schema in a prompt: (:Person)-[:DIRECTED]->(:Film|Series), and ()-[:NEAR]->() for nodes without labels."""
_SCHEMA_OF_A_PART = "some of its relationships may have other properties"
"""Words of a schema that was read from the first nodes or relationships of a large database."""
_NO_LABEL = ("", NO_NAME, NO_LABEL)
"""How a call names nodes without labels."""
_LabelledValue = tuple[str, str, Any]
"""("Film", "year", order of 1999): label, property and `value_order` of a value."""


class RelationshipPart(NamedTuple):
    """A part of the relationships of a node: of one type, or of one direction seen from it; None: all."""

    type: str | None = None
    direction: str | None = None

    def holds(self, type_: str, direction: str) -> bool:
        """Return True if relationships of this type and direction belong to the part."""
        return self.type in (None, type_) and self.direction in (None, direction)


class LookUp(NamedTuple):
    """A look-up of nodes by a value of a property, every row of which was shown."""

    label: str
    property: str
    value: Any
    part: RelationshipPart | None
    """The relationships that it showed of each node; None if it showed the nodes, those without relationships too."""


@dataclass
class _Call:
    """One tool call, its pages put together."""

    tool: str
    arguments: dict[str, Any]
    """Without the page."""
    total: int
    """Rows on all pages."""
    rows_on: dict[int, int] = field(default_factory=dict)
    """Page that was shown → number of its rows."""
    centres: set[str] = field(default_factory=set)
    """Keys of the nodes that the rows of relationships are about."""
    sightings: Counter[tuple[int, bool]] = field(default_factory=Counter)
    """(3, True) → 2: of the rows about its source, two show the relationship at place 3."""
    understood: bool = True
    """No row had another form than the tool declares."""
    value: Any = None
    """The value that the rows are for."""
    is_shipped: bool = False
    """The built-in tool of this name has made the rows."""
    values: list[Any] = field(default_factory=list)
    """The values that a list of values has shown."""
    has_notes: bool = False
    """A note says that there may be more, or that something else was looked for."""

    @property
    def complete(self) -> bool:
        """Return True if every row was shown."""
        return sum(self.rows_on.values()) == self.total

    @property
    def shows_all(self) -> bool:
        """Return True if there are no other rows for this call of a built-in tool."""
        return self.is_shipped and self.understood and self.complete

    @property
    def part(self) -> RelationshipPart:
        """Return the relationships of a node that a call asks for."""
        direction = (self.text("direction") or "").strip().lower()
        return RelationshipPart(self.text("relationship_type") or None, direction or None)

    @property
    def label(self) -> str:
        """Return the label of the nodes that a call asks about, "" for none."""
        label = self.text("label") or ""
        return "" if label in _NO_LABEL else label

    @property
    def lists_values_of(self) -> str | None:
        """Return the label of the nodes whose values are listed, if the call asks for that."""
        kind = (self.text("entity_type") or "").strip().lower()
        label = self.text("entity_name")
        if kind != "node" or label is None:
            return None
        return "" if label in _NO_LABEL else label

    @property
    def lists_keys_of(self) -> str | None:
        """Return the label whose keys are listed, if the call asks for that."""
        return self.lists_values_of if self.text("property_name") == KEY else None

    def text(self, name: str) -> str | None:
        """Return an argument if it is a text."""
        value = self.arguments.get(name)
        return value if isinstance(value, str) else None


class _ShownNode(NamedTuple):
    """A node as one row shows it; other rows may show more labels and properties of it."""

    key: str
    labels: Iterable[str]
    properties: Mapping[str, Value]
    """Without the key, and without values that were cut."""
    has_all_labels: bool = False
    """It has no other labels."""
    has_all_properties: bool = False
    """It has no other properties."""


class _ShownRelationship(NamedTuple):
    """A relationship as one row shows it."""

    type: str
    source: str
    target: str
    properties: Mapping[str, Value] | None
    """None: not shown."""
    from_source: bool | None
    """True for a row about its source, False for one about its target, None for a path, which is about neither."""


class _Shown(NamedTuple):
    """All that one row shows."""

    nodes: Sequence[_ShownNode] = ()
    relationships: Sequence[_ShownRelationship] = ()
    centre: _ShownNode | None = None
    """The node whose relationships the rows of the call are about, with the first of them."""
    value: Any = None
    """The value that a row of a list of values shows."""
    understood: bool = True
    """The row has the form that its tool declares."""
    infers_direction: bool = False
    """The row does not show the direction of its relationship, which the schema decides."""
    hides_direction: bool = False
    """There is a relationship, but it is not known in which direction."""


_NOTHING = _Shown()
_OTHER_FORM = _Shown(understood=False)


def _read_row(row: Row, declared: str | None, call: _Call, pairs: frozenset[Pair]) -> _Shown:
    """Return what a row shows; `declared`: what the rows of its tool are, None if that is not known."""
    kind = declared
    if declared == "query":
        kind = _kind_of_query_row(row)
    if kind == "relationships":
        return _read_relationship_row(row, call, pairs)
    if kind == "nodes":
        return _read_node_row(row)
    if kind == "values":
        return _read_value_row(row, call)
    if kind == "path":
        return _read_path_row(row)
    return _OTHER_FORM


def _kind_of_query_row(row: Row) -> str | None:
    """Return what a row of a model's own query is read as, by its columns."""
    for column, kind in _KIND_BY_COLUMN.items():
        if column in row:
            return kind
    return None


def _read_relationship_row(row: Row, call: _Call, pairs: frozenset[Pair]) -> _Shown:
    """Read a row as in the example at the top. Without a label in the row, the centre has that of the call."""
    label = row.get("center_label", call.label)
    if not isinstance(label, str):
        return _OTHER_FORM
    read = relationship_in(row, label, pairs)
    if read is None:
        return _OTHER_FORM

    centre = None
    if read.centre not in call.centres:  # further rows about it show the same of it
        centre = _centre_of(call, read.centre, label)
    _, neighbor_labels = read.other_end
    neighbor = _whole_node(read.neighbor, neighbor_labels)
    infers_direction = "direction" not in row
    if not read.directed:
        # The row has no direction, and the schema allows both or neither. Or it has another word for it.
        return _Shown([neighbor], centre=centre, infers_direction=infers_direction, hides_direction=infers_direction)

    properties_are_shown = isinstance(row.get("relationship_properties"), dict)
    relationship = _ShownRelationship(
        read.type,
        read.source,
        read.target,
        properties=read.properties if properties_are_shown else None,
        from_source=read.outgoing,
    )
    return _Shown([neighbor], [relationship], centre, infers_direction=infers_direction)


def _centre_of(call: _Call, key: str, label: str) -> _ShownNode:
    """Return the node that a call is about. It has the value by which it was found: the title The Quiet Harbour."""
    properties: dict[str, Any] = {}
    found_by = call.text("property_name")
    if found_by is not None:
        properties[found_by] = call.value
    properties[KEY] = key
    return _shown_node(properties, [label] if label else [])


def _read_node_row(row: Row) -> _Shown:
    """Read one node with its properties, or the one property by which a search has found it.

    {"label": "Film", "properties": {"key": "f1", "title": "The Quiet Harbour", "year": 1999}}
    {"labels": ["Film", "Restored"], "key": "f1", "property": "title", "value": "The Quiet Harbour"}
    """
    properties = row.get("properties", {})
    if not isinstance(properties, dict):
        return _OTHER_FORM
    properties = dict(properties)
    if isinstance(row.get("property"), str):
        properties[row["property"]] = row.get("value")
    if KEY in row:
        properties[KEY] = row[KEY]
    if not is_node_key(properties.get(KEY)):
        return _OTHER_FORM

    labels = labels_in(row, "label")
    node = _whole_node(properties, labels or [])
    has_all_properties = node.has_all_properties and "properties" in row
    node = node._replace(has_all_labels=labels is not None, has_all_properties=has_all_properties)
    return _Shown(nodes=[node], understood=labels is not None)


def _read_value_row(row: Row, call: _Call) -> _Shown:
    """Read one value of a property: {"values": "f1"}. A list of keys shows nodes, a list of other values does not."""
    if "values" not in row:
        return _OTHER_FORM
    has_other_columns = len(row) > 1  # {"values": 1999, "films": 3} of a query that a model wrote
    if has_other_columns:
        return _NOTHING
    label = call.lists_keys_of
    if label is None:
        return _Shown(value=row["values"])
    if not is_node_key(row["values"]):
        return _OTHER_FORM
    return _Shown(nodes=[_shown_node({KEY: row["values"]}, [label] if label else [])])


def _read_path_row(row: Row) -> _Shown:
    """Read the nodes and relationships of a path, whose directions may be left out if all are outgoing.

    {"keys": ["p1", "f1", "p2"], "labels": ["Person", "Film", "Person"],
     "types": ["DIRECTED", "ACTED_IN"], "directions": ["outgoing", "incoming"]}
    """
    keys = row.get("keys")
    types = row.get("types")
    labels = row.get("labels")
    if not isinstance(keys, list) or not isinstance(types, list) or not isinstance(labels, list):
        return _OTHER_FORM
    directions = row.get("directions", ["outgoing"] * len(types))
    if not isinstance(directions, list):
        return _OTHER_FORM
    has_fitting_lengths = len(keys) == len(labels) == len(types) + 1 and len(directions) == len(types)
    has_types = all(isinstance(type_, str) for type_ in types)
    has_directions = all(direction in ("outgoing", "incoming") for direction in directions)
    if not has_fitting_lengths or not has_types or not has_directions:
        return _OTHER_FORM

    nodes = []
    for key, label in zip(keys, labels, strict=True):
        its_labels = as_labels(label)
        if its_labels is None or not is_node_key(key):
            return _OTHER_FORM
        nodes.append(_shown_node({KEY: key}, its_labels))

    relationships = []
    for place, (type_, direction) in enumerate(zip(types, directions, strict=True)):
        source = nodes[place].key
        target = nodes[place + 1].key
        if direction == "incoming":
            source, target = target, source
        relationships.append(_ShownRelationship(type_, source, target, properties=None, from_source=None))
    return _Shown(nodes, relationships)


def _shown_node(properties: Mapping[str, Any], labels: Iterable[str]) -> _ShownNode:
    """Return the node whose key is among the properties; null means that it has no such property."""
    shown = {}
    for name, value in properties.items():
        if name != KEY and value is not None and not is_cut(value):
            shown[name] = value
    return _ShownNode(str(properties[KEY]), labels, shown)


def _whole_node(properties: Mapping[str, Any], labels: Iterable[str]) -> _ShownNode:
    """Return the node of a row that shows all its labels and properties."""
    is_whole = not any(is_cut(value) for value in properties.values())
    return _shown_node(properties, labels)._replace(has_all_labels=True, has_all_properties=is_whole)


class _Relationships:
    """The relationships that rows show, each once: the same one may be shown by both of its ends, and by many calls."""

    def __init__(self) -> None:
        self.all: list[Relationship] = []
        self.parallel: list[int] = []
        self._place_by_look: dict[tuple[str, str, str, str | None], int] = {}
        """Type, source, target, and text of the properties, None if they were not shown → place in `all`."""
        self._known: set[tuple[str, str, str]] = set()
        """Type, source and target of each in `all`."""

    @property
    def hides_properties(self) -> bool:
        """Return True if the properties of some relationship were not shown."""
        return any(properties is None for _, _, _, properties in self._place_by_look)

    def add(self, shown: _ShownRelationship) -> int | None:
        """Add a relationship if it is new, or its properties. Return its place; None if more of it is known."""
        ends = (shown.type, shown.source, shown.target)
        properties = None if shown.properties is None else str(sorted(shown.properties.items()))
        look = (*ends, properties)
        if look in self._place_by_look:
            return self._place_by_look[look]
        if shown.properties is None and ends in self._known:
            # One or several of these ends are known with their properties: a path may lead through any of them.
            return None

        self._known.add(ends)
        relationship = Relationship(*ends, shown.properties or {})
        place = self._place_by_look.pop((*ends, None), None)
        if place is not None:
            # A path has shown it before, and this row shows its properties, too.
            self.all[place] = relationship
        else:
            place = len(self.all)
            self.all.append(relationship)
            self.parallel.append(1)
        self._place_by_look[look] = place
        return place

    def count(self, place: int, sightings: int) -> None:
        """Note that one call showed `sightings` relationships that look alike: so many are parallel, or more."""
        self.parallel[place] = max(self.parallel[place], sightings)


class ObservedGraph:
    """All nodes and relationships that results show, in that order; results are added one by one.

    `pairs`: what the schema of the prompt allows, for results that hide directions. `hides_directions`: some
    relationship is left out because its direction was not shown.
    """

    def __init__(self, pairs: frozenset[Pair] = frozenset()) -> None:
        self.pairs = pairs
        self.nodes: dict[str, Node] = {}
        """Without the labels and properties that no call asked for."""
        self.hides_directions = False
        self.infers_directions = False
        """Directions are those that the schema allows, not those of rows."""
        self.has_one_label_each = False
        """Each node of the graph has exactly one label: rows have a label, not a list of labels."""
        self.whole_labels: set[str] = set()
        """Keys of the nodes all of whose labels were shown."""
        self.whole_properties: set[str] = set()
        """Keys of the nodes all of whose properties were shown."""
        self._relationships = _Relationships()
        self._calls: dict[tuple[str, str], _Call] = {}
        """By tool and arguments."""
        self._has_unreadable_result = False

    @property
    def relationships(self) -> list[Relationship]:
        """Return the relationships; parallel ones that look alike once."""
        return self._relationships.all

    @property
    def parallel(self) -> list[int]:
        """Return how many there are of each of `relationships`."""
        return self._relationships.parallel

    def graph(self) -> PropertyGraph:
        """Return what results show as a graph, without lists, which no question compares."""
        nodes = []
        for node in self.nodes.values():
            scalars = {name: value for name, value in node.properties.items() if isinstance(value, SCALARS)}
            nodes.append(replace(node, properties=scalars))
        relationships: list[Relationship] = []
        for relationship, number in zip(self.relationships, self.parallel, strict=True):
            relationships.extend([relationship] * number)
        return PropertyGraph.from_rows(nodes, relationships)

    @property
    def hides_properties(self) -> bool:
        """Return True if a property of some relationship was not shown, or only its beginning."""
        for relationship in self.relationships:
            if any(is_cut(value) for value in relationship.properties.values()):
                return True
        return self._relationships.hides_properties

    @property
    def understood(self) -> bool:
        """Return False if a result has rows of an unknown form, for example that of a tool of your own."""
        if self._has_unreadable_result:
            return False
        return all(call.understood for call in self._calls.values() if call.total)

    @property
    def complete_labels(self) -> set[str]:
        """Return the labels of which all nodes were listed."""
        labels = set()
        for call in self._calls.values():
            label = call.lists_keys_of
            if label is not None and call.tool == VALUES and call.shows_all:
                labels.add(label)
        return labels

    def listed_values(self) -> dict[tuple[str, str], list[Any]]:
        """Return label and property → all values of it, where all were listed."""
        values = {}
        for call in self._calls.values():
            label = call.lists_values_of
            name = call.text("property_name")
            if label is None or name in (None, KEY) or not call.shows_all:
                continue
            if not any(is_cut(value) for value in call.values):
                values[label, str(name)] = call.values
        return values

    def look_ups(self) -> list[LookUp]:
        """Return the look-ups of nodes by a value all of whose rows were shown."""
        look_ups = []
        for call in self._calls.values():
            name = call.text("property_name")
            if call.tool not in (NEIGHBORS, NODES) or not call.shows_all or name is None:
                continue
            if isinstance(call.value, SCALARS):
                part = call.part if call.tool == NEIGHBORS else None
                look_ups.append(LookUp(call.label, name, call.value, part))
        return look_ups

    def searched_texts(self) -> set[tuple[str | None, str]]:
        """Return labels (None: any) and texts, for which a search showed all nodes that have the text in a property."""
        searched = set()
        for call in self._calls.values():
            text = call.text("text")
            if call.tool == SEARCH and call.shows_all and not call.has_notes and text and call.total < MOST_FOUND:
                searched.add((call.text("label"), text))
        return searched

    def shown_of_nodes(self) -> dict[str, set[RelationshipPart]]:
        """Return key of a node → the parts of its relationships that were shown, none of them missing."""
        parts: dict[str, set[RelationshipPart]] = {}
        for call in self._calls.values():
            if call.tool == NEIGHBORS and call.shows_all:
                for key in call.centres:
                    parts.setdefault(key, set()).add(call.part)

        # A node without relationships has no rows, and is thus no centre: it is known by the value that was looked up.
        parts_by_value = self._parts_by_value()
        for node in self.nodes.values():
            for labelled_value in self._labelled_values(node):
                shown = parts_by_value.get(labelled_value)
                if shown is not None:
                    parts.setdefault(node.key, set()).update(shown)
        return parts

    def _parts_by_value(self) -> dict[_LabelledValue, set[RelationshipPart]]:
        """Return a value that nodes were looked up by → the parts of their relationships that were shown."""
        parts: dict[_LabelledValue, set[RelationshipPart]] = {}
        for look_up in self.look_ups():
            if look_up.part is not None:
                labelled_value = (look_up.label, look_up.property, value_order(look_up.value))
                parts.setdefault(labelled_value, set()).add(look_up.part)
        return parts

    def _labelled_values(self, node: Node) -> Iterator[_LabelledValue]:
        """Yield the values by which a node can be looked up, with each of its labels."""
        labels = node.labels
        if not labels and node.key in self.whole_labels:
            labels = ("",)  # it has none; otherwise they are not known
        for name, value in {**node.properties, KEY: node.key}.items():
            if isinstance(value, SCALARS):
                order = value_order(value)
                for label in labels:
                    yield label, name, order

    def complete_nodes(self, direction: str | None = None) -> set[str]:
        """Return the keys of the nodes all of whose relationships were shown, or all those of a direction."""
        keys = set()
        for key, parts in self.shown_of_nodes().items():
            if are_complete(parts, direction):
                keys.add(key)
        return keys

    def add(self, result: ToolResult) -> None:
        """Add what a result shows. Mistakes, notes and answers show nothing."""
        if result.final or result.error is not None or result.call.name == GET_SCHEMA:
            return
        rows = _rows_of(result)
        if rows is None:
            if result.rows:
                self._has_unreadable_result = True
            return

        arguments = parse_object(result.call.arguments)
        page = as_declared(arguments.pop("page", FIRST_PAGE), ("integer",))
        if not isinstance(page, int):
            page = FIRST_PAGE
        call = self._call_of(result, arguments)
        if page in call.rows_on:
            return
        call.rows_on[page] = len(rows)
        notes, _ = split_notes(result.content)
        if notes:
            call.has_notes = True
        call.value = arguments.get("property_value")
        if result.tried is not None and "property_value" in result.tried:
            call.value = result.tried["property_value"]  # 12, where the call has "12"

        declared = result.shows or shipped_declaration(result.call.name)
        for row in rows:
            shown = _read_row(row, declared, call, self.pairs)
            self._add_shown(shown, call)
            has_one_label = "label" in row or "neighbor_label" in row
            if call.is_shipped and shown.understood and has_one_label:
                self.has_one_label_each = True

    def _call_of(self, result: ToolResult, arguments: dict[str, Any]) -> _Call:
        """Return the call that a result is a page of; `arguments`: without the page."""
        tool = result.call.name
        identity = (tool, json.dumps(arguments, sort_keys=True))
        if identity not in self._calls:
            is_shipped = result.shows is None and shipped_declaration(tool) is not None
            self._calls[identity] = _Call(tool, arguments, result.rows or 0, is_shipped=is_shipped)
        return self._calls[identity]

    def _add_shown(self, shown: _Shown, call: _Call) -> None:
        if not shown.understood:
            call.understood = False
        if shown.hides_direction:
            self.hides_directions = True
        if shown.infers_direction:
            self.infers_directions = True
        if shown.value is not None:
            call.values.append(shown.value)

        if shown.centre is not None:
            call.centres.add(shown.centre.key)
            self._add_node(shown.centre)
        for node in shown.nodes:
            self._add_node(node)
            if call.is_shipped and node.has_all_labels:
                self.whole_labels.add(node.key)
            if call.is_shipped and node.has_all_properties:
                self.whole_properties.add(node.key)

        for relationship in shown.relationships:
            self._add_relationship(relationship, call)

    def _add_relationship(self, shown: _ShownRelationship, call: _Call) -> None:
        place = self._relationships.add(shown)
        if place is None or shown.from_source is None:
            return
        # Two equal rows of one call are two relationships; one of each of two calls may be the same one. A call about
        # both ends has a row at each of them.
        sighting = (place, shown.from_source)
        call.sightings[sighting] += 1
        self._relationships.count(place, call.sightings[sighting])

    def _add_node(self, shown: _ShownNode) -> None:
        labels = set(shown.labels)
        properties: dict[str, Value] = {}
        known = self.nodes.get(shown.key)
        if known is not None:
            labels.update(known.labels)
            properties.update(known.properties)
        properties.update(shown.properties)
        self.nodes[shown.key] = Node(shown.key, tuple(sorted(labels)), properties)


def are_complete(parts: Collection[RelationshipPart], direction: str | None = None) -> bool:
    """Return True if these parts are all relationships of a node, or all those of a direction."""
    if RelationshipPart() in parts or RelationshipPart(None, direction) in parts:
        return True
    return RelationshipPart(None, "outgoing") in parts and RelationshipPart(None, "incoming") in parts


def _rows_of(result: ToolResult) -> list[Row] | None:
    """Return the rows of a result, None if it has none: as data during a run, from its text later."""
    if result.is_note:
        return None
    if result.data is not None:
        return result.data
    return read_rows(result.content)


def observed_graph(results: Iterable[ToolResult], prompt: str = "") -> ObservedGraph:
    """Return what results show, after a prompt that may contain the schema."""
    observed = ObservedGraph(schema_pairs(prompt)) if prompt else ObservedGraph()
    for result in results:
        observed.add(result)
    return observed


@lru_cache(maxsize=256)
def schema_pairs(prompt: str, *, several_labels: bool = True) -> frozenset[Pair]:
    """Return what can be joined according to the Cypher patterns in a prompt.

    `several_labels`: nodes may have several labels, so that `:Film|Series` means Film and Series.
    """
    pairs = set()
    for sources, type_, targets in _PATTERN.findall(prompt):
        for source in _labels_in_pattern(sources, several_labels=several_labels):
            for target in _labels_in_pattern(targets, several_labels=several_labels):
                pairs.add((source, type_, target))
    return frozenset(pairs)


def _labels_in_pattern(text: str, *, several_labels: bool) -> list[str]:
    """Return the labels of ":Film|Series", and "" of "", which is a node without labels."""
    names = text.removeprefix(":")
    if several_labels:
        return names.split("|")
    return [names]  # where nodes have one label, this is a label with a bar in its name


def shows_whole_schema(prompt: str) -> bool:
    """Return True if a prompt shows everything that relationships can join."""
    return bool(schema_pairs(prompt)) and _SCHEMA_OF_A_PART not in prompt
