"""Read the part of a graph, and the values, that the tool results of an episode have shown to a model.

Scores, scenes and scripted agents read results here: as data during a run, from the logged text later. The YAML of a
tool declares what its rows are; rows of other tools, or of another form than declared, show nothing.

An example. A model calls `get_all_nearest_neighbors` with {"label": "Film", "property_name": "title", "property_value":
"The Quiet Harbour"}, and gets a single row:

    {"center_key": "f1", "direction": "incoming", "type": "DIRECTED", "relationship_properties": {"days": 40},
     "neighbor_label": "Person", "neighbor_properties": {"key": "p1", "name": "Ida"}}

This shows two nodes and a relationship. The label and the title of f1 are those of the call, for f1 was found by them:

    Node("f1", labels=("Film",), properties={"title": "The Quiet Harbour"})
    Node("p1", labels=("Person",), properties={"name": "Ida"})
    Relationship("DIRECTED", source="p1", target="f1", properties={"days": 40})

It also shows what is not there: the call asked for all relationships of f1, and every row was shown, so f1 has no other
one (`complete_nodes`). Of p1 there may be more.

The way of a result: `_rows_of` returns its rows, `_read_row` what one row shows (`_Shown`), and `ObservedGraph` puts
this together. A `_Call` knows which of its rows were shown. The second half of this file, from `Evidence` on, looks up
single values in the text of results. Values match as a whole, in every result encoding: `abc` is not in `abcd`, and 3
is in `[3.0]`.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from graphwalk.graphs.answers import normalise, parse_json, parse_object, value_forms
from graphwalk.graphs.graph import KEY, Node, PropertyGraph, Relationship, value_order
from graphwalk.graphs.values import SCALARS, Row, Value
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import INTERNAL, ToolResult, Trajectory
from graphwalk.tools.arguments import as_declared
from graphwalk.tools.encodings import read_rows, split_notes
from graphwalk.tools.tool import shipped_declaration

NEIGHBORS, VALUES = "get_all_nearest_neighbors", "get_unique_property_values"
FIRST_PAGE = 1
_NAMING = ("name", "title", "label", "caption")
"""Properties that people call a node by, where it has one of them."""
_KIND_BY_COLUMN = {
    "neighbor_properties": "relationships",
    "properties": "nodes",
    "match": "nodes",
    "values": "values",
}
"""Column of a query's result → what its rows are read as."""
_TOKEN = re.compile(r"""[^\s,;:|"'`\[\]{}()<>=]+""")
_PATTERN = re.compile(r"\(:([^\n]+?)\)-\[:([^\n]+?)\]->\(:([^\n]+?)\)")
"""Of the schema in a prompt: (:Person)-[:DIRECTED]->(:Film|Series)."""

Pair = tuple[str, str, str]
"""Label of the source, type, label of the target: what the schema allows."""


def is_key(field: str) -> bool:
    """Return True if a column or a field of an answer has this name because it holds keys of nodes."""
    return field == KEY or field.endswith(("_key", ".key"))


def name_of(node: Node) -> str:
    """Return the name of a node for a reader: a property with such a name, else the first text, else the key."""
    texts = {name: value for name, value in node.properties.items() if isinstance(value, str) and value.strip()}
    for naming in _NAMING:
        for name, text in texts.items():
            if name.lower() == naming:
                return text
    return next(iter(texts.values()), node.key)


@dataclass(slots=True, eq=False)
class RelationshipRow:
    """One relationship as one row shows it. Parallel relationships may look alike, so each equals itself only.

    Not frozen, because millions are made. The centre has the one label that the call asked for; it may have more.
    """

    source: str
    source_labels: frozenset[str]
    type: str
    target: str
    target_labels: frozenset[str]
    properties: Mapping[str, Value]
    """Empty where the tools hide the properties of relationships."""
    neighbor: Mapping[str, Value]
    """Properties of the end that is not the centre, its key among them."""
    outgoing: bool
    """The centre is the source."""
    directed: bool = True
    """False where the row hides the direction and the schema allows both or neither."""

    @property
    def centre(self) -> str:
        """Return the key of the node that the call asked about."""
        return self.source if self.outgoing else self.target

    @property
    def other_end(self) -> tuple[str, frozenset[str]]:
        """Return the key and all labels of the end that is not the centre."""
        return (self.target, self.target_labels) if self.outgoing else (self.source, self.source_labels)


def relationship_in(row: Row, label: str, pairs: frozenset[Pair] = frozenset()) -> RelationshipRow | None:
    """Return the relationship of a row about a centre with this label; None for a row of another form.

    `pairs` decide on the direction where the row hides it: outgoing if they allow both.
    """
    centre = row.get("center_key")
    type_ = row.get("type")
    neighbor = row.get("neighbor_properties")
    if not isinstance(centre, str) or not isinstance(type_, str) or not isinstance(neighbor, dict):
        return None
    neighbor_key = neighbor.get(KEY)
    neighbor_labels = labels_in(row, "neighbor_label")
    if neighbor_labels is None or not _is_key(neighbor_key):
        return None

    if "direction" in row:
        outgoing = row["direction"] == "outgoing"
        directed = outgoing or row["direction"] == "incoming"
    else:
        may_be_outgoing = any((label, type_, neighbor_label) in pairs for neighbor_label in neighbor_labels)
        may_be_incoming = any((neighbor_label, type_, label) in pairs for neighbor_label in neighbor_labels)
        outgoing = may_be_outgoing
        directed = may_be_outgoing != may_be_incoming

    properties = row.get("relationship_properties")
    if not isinstance(properties, dict):
        properties = {}
    centre_labels = _label_set(label)
    other_labels = _label_set(*neighbor_labels)
    other = str(neighbor_key)
    if outgoing:
        return RelationshipRow(
            centre, centre_labels, type_, other, other_labels, properties, neighbor, outgoing=True, directed=directed
        )
    return RelationshipRow(
        other, other_labels, type_, centre, centre_labels, properties, neighbor, outgoing=False, directed=directed
    )


def labels_in(row: Row, name: str) -> list[str] | None:
    """Return the labels in the column `name`, or in `name`s where nodes may have several; None where it has none."""
    return _as_labels(row[name] if name in row else row.get(f"{name}s"))


def _as_labels(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(type(label) is str for label in value):
        return value
    return None


def _is_key(key: Any) -> bool:
    return isinstance(key, str | int) and not isinstance(key, bool)


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
    """Place of a relationship, and True if the row is about its source → number of rows that show it."""
    understood: bool = True
    """No row had another form than the tool declares."""
    value: Any = None
    """The value that the rows are for."""

    @property
    def complete(self) -> bool:
        """Return True if every row was shown."""
        return sum(self.rows_on.values()) == self.total

    @property
    def shows_all_relationships(self) -> bool:
        """Return True if the nodes that the call asked about have no other relationships than it showed."""
        is_filtered = bool(self.text("relationship_type") or self.text("direction"))
        return self.tool == NEIGHBORS and self.understood and self.complete and not is_filtered

    @property
    def lists_keys_of(self) -> str | None:
        """Return the label whose keys are listed, if the call asks for that."""
        kind = (self.text("entity_type") or "").strip().lower()
        if kind == "node" and self.text("property_name") == KEY:
            return self.text("entity_name")
        return None

    def text(self, name: str) -> str | None:
        """Return an argument if it is a text."""
        value = self.arguments.get(name)
        return value if isinstance(value, str) else None


class _ShownNode(NamedTuple):
    """A node as one row shows it; other rows may show more labels and properties of it."""

    key: str
    labels: Iterable[str]
    properties: Mapping[str, Value]
    """Without the key."""


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
    understood: bool = True
    """The row has the form that its tool declares."""
    hides_direction: bool = False
    """There is a relationship, but it is not known in which direction."""


_NOTHING = _Shown()
_OTHER_FORM = _Shown(understood=False)


def _read_row(row: Row, declared: str | None, call: _Call, pairs: frozenset[Pair]) -> _Shown:
    """Return what a row shows that its tool declares to be a node, a relationship, a value, a path or of a query."""
    kind = _kind_of_query_row(row) if declared == "query" else declared
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
    label = row.get("center_label", call.text("label") or "")
    if not isinstance(label, str):
        return _OTHER_FORM
    read = relationship_in(row, label, pairs)
    if read is None:
        return _OTHER_FORM

    centre = None
    if read.centre not in call.centres:  # all rows about it show the same of it
        found_by = call.text("property_name")
        properties = {} if found_by is None else {found_by: call.value}
        centre = _shown_node({**properties, KEY: read.centre}, [label] if label else [])
    _, neighbor_labels = read.other_end
    neighbor = _shown_node(read.neighbor, neighbor_labels)
    if not read.directed:
        return _Shown([neighbor], centre=centre, hides_direction="direction" not in row)

    properties_are_shown = isinstance(row.get("relationship_properties"), dict)
    relationship = _ShownRelationship(
        read.type,
        read.source,
        read.target,
        properties=read.properties if properties_are_shown else None,
        from_source=read.outgoing,
    )
    return _Shown([neighbor], [relationship], centre)


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
    if not _is_key(properties.get(KEY)):
        return _OTHER_FORM

    labels = labels_in(row, "label")
    node = _shown_node(properties, labels or [])
    return _Shown(nodes=[node], understood=labels is not None)


def _read_value_row(row: Row, call: _Call) -> _Shown:
    """Read one value of a property: {"values": "f1"}. A list of keys shows nodes, a list of other values does not."""
    if "values" not in row:
        return _OTHER_FORM
    label = call.lists_keys_of
    if label is None:
        return _NOTHING
    if not _is_key(row["values"]):
        return _OTHER_FORM
    has_other_columns = len(row) > 1
    if has_other_columns:
        return _NOTHING
    return _Shown(nodes=[_shown_node({KEY: row["values"]}, [label])])


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
        its_labels = _as_labels(label)
        if its_labels is None or not _is_key(key):
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
    shown = {name: value for name, value in properties.items() if name != KEY and value is not None}
    return _ShownNode(str(properties[KEY]), labels, shown)


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
        look = (*ends, None if shown.properties is None else str(sorted(shown.properties.items())))
        if look in self._place_by_look:
            return self._place_by_look[look]
        if shown.properties is None and ends in self._known:
            return None

        self._known.add(ends)
        relationship = Relationship(*ends, shown.properties or {})
        place = self._place_by_look.pop((*ends, None), None)
        if place is None:
            place = len(self.all)
            self.all.append(relationship)
            self.parallel.append(1)
        else:  # it was shown without its properties
            self.all[place] = relationship
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
        """Return True if the properties of some relationship were not shown."""
        return self._relationships.hides_properties

    @property
    def understood(self) -> bool:
        """Return False if a result has rows of an unknown form, for example that of a tool of your own."""
        return not self._has_unreadable_result and all(call.understood for call in self._calls.values() if call.total)

    @property
    def complete_labels(self) -> set[str]:
        """Return the labels of which all nodes were listed."""
        labels = set()
        for call in self._calls.values():
            label = call.lists_keys_of
            if label is not None and call.tool == VALUES and call.understood and call.complete:
                labels.add(label)
        return labels

    def complete_nodes(self) -> set[str]:
        """Return the keys of the nodes all of whose relationships were shown."""
        keys: set[str] = set()
        looked_up: set[tuple[str | None, str | None, Any]] = set()
        for call in self._calls.values():
            if call.shows_all_relationships:
                keys.update(call.centres)
                if isinstance(call.value, SCALARS):
                    looked_up.add((call.text("label"), call.text("property_name"), value_order(call.value)))

        # A node without relationships has no rows, and is thus no centre: it is known by the value that was looked up.
        for node in self.nodes.values():
            for name, value in {**node.properties, KEY: node.key}.items():
                if not isinstance(value, SCALARS):
                    continue
                order = value_order(value)
                if any((label, name, order) in looked_up for label in node.labels):
                    keys.add(node.key)
        return keys

    def add(self, result: ToolResult) -> None:
        """Add what a result shows. Mistakes, notes and answers show nothing."""
        if result.final or result.error is not None:
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
        identity = (result.call.name, json.dumps(arguments, sort_keys=True))
        if identity not in self._calls:
            self._calls[identity] = _Call(result.call.name, arguments, result.rows or 0)
        call = self._calls[identity]
        if page in call.rows_on:
            return
        call.rows_on[page] = len(rows)
        # The value that the tool tried, for example 12 for "12", else that of the call.
        call.value = (result.tried or {}).get("property_value", arguments.get("property_value"))

        declared = result.shows or shipped_declaration(result.call.name)
        for row in rows:
            shown = _read_row(row, declared, call, self.pairs)
            self._add_shown(shown, call)

    def _add_shown(self, shown: _Shown, call: _Call) -> None:
        if not shown.understood:
            call.understood = False
        if shown.hides_direction:
            self.hides_directions = True

        if shown.centre is not None:
            call.centres.add(shown.centre.key)
            self._add_node(shown.centre)
        for node in shown.nodes:
            self._add_node(node)

        for relationship in shown.relationships:
            place = self._relationships.add(relationship)
            if place is not None and relationship.from_source is not None:
                # Two equal rows of one call are two relationships; one of each of two calls may be the same one.
                sighting = (place, relationship.from_source)
                call.sightings[sighting] += 1
                self._relationships.count(place, call.sightings[sighting])

    def _add_node(self, shown: _ShownNode) -> None:
        known = self.nodes.get(shown.key)
        if known is None:
            known = Node(shown.key, (), {})
        labels = tuple(sorted({*known.labels, *shown.labels}))
        self.nodes[shown.key] = Node(shown.key, labels, {**known.properties, **shown.properties})


def _rows_of(result: ToolResult) -> list[Row] | None:
    """Return the rows of a result, None if it has none: as data during a run, from its text later."""
    if result.is_note:
        return None
    if result.data is not None:
        return result.data
    return read_rows(result.content)


def observed_graph(results: Iterable[ToolResult], prompt: str = "") -> ObservedGraph:
    """Return what results show, after a prompt that may contain the schema."""
    observed = ObservedGraph(schema_pairs(prompt))
    for result in results:
        observed.add(result)
    return observed


@lru_cache(maxsize=256)
def schema_pairs(prompt: str) -> frozenset[Pair]:
    """Return what can be joined according to the Cypher patterns in a prompt."""
    pairs = set()
    for sources, type_, targets in _PATTERN.findall(prompt):
        for source in sources.split("|"):
            for target in targets.split("|"):
                pairs.add((source, type_, target))
    return frozenset(pairs)


@lru_cache(maxsize=4096)
def _label_set(*labels: str) -> frozenset[str]:
    """Equal sets are one object: millions of rows have few labels."""
    return frozenset(labels)


class Evidence:
    """A text, or several, in which values are looked up."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts)

    @cached_property
    def words(self) -> frozenset[str]:
        """Everything between delimiters; a value without delimiters in it is one word."""
        words = set(_TOKEN.findall(self._text))
        # `**f7**.` names f7.
        bare_words = {word.rstrip(".-!?*_").lstrip("*_") for word in words}
        return frozenset(words | bare_words)

    @cached_property
    def tokens(self) -> frozenset[Hashable]:
        """The words, with numbers and booleans as values: 3 and 3.0 are one."""
        return frozenset(_token(word) for word in self.words)

    def holds(self, value: Any) -> bool:
        """Return True if the text contains the value as a whole."""
        if not isinstance(value, str):
            return normalise(value) in self.tokens

        # A line break is \n in JSON, and é may be \u00e9.
        spellings = {value}
        if value:
            spellings.add(json.dumps(value)[1:-1])
            spellings.add(json.dumps(value, ensure_ascii=False)[1:-1])
        if not self.words.isdisjoint(spellings):
            return True
        return any(self._holds_phrase(spelling) for spelling in spellings if spelling)

    def _holds_phrase(self, phrase: str) -> bool:
        """Find a value with delimiters in it, not adjacent to word characters."""
        words = _TOKEN.findall(phrase)
        has_delimiters = words != [phrase]
        if not has_delimiters or not self.words.issuperset(words):
            return False

        start = self._text.find(phrase)
        while start >= 0:
            end = start + len(phrase)
            before = self._text[start - 1 : start]
            after = self._text[end : end + 1]
            continues_a_word = before.isalnum() and phrase[0].isalnum()
            is_continued = phrase[-1].isalnum() and after.isalnum()
            if not continues_a_word and not is_continued:
                return True
            start = self._text.find(phrase, start + 1)
        return False


@lru_cache(maxsize=1 << 16)
def _token(word: str) -> Hashable:
    """Return the value of a word. Cached, since episodes on a graph share most results."""
    *_, value = value_forms(word)
    return normalise(value)


def tool_evidence(trajectory: Trajectory) -> Evidence:
    """Return the data in all tool results, without their notes, which repeat arguments and count rows and pages."""
    return Evidence(_data_of(result) for result in trajectory.results if shows_data(result))


def _data_of(result: ToolResult) -> str:
    _, data = split_notes(result.content)
    return data


def found_values(results: Iterable[ToolResult]) -> Callable[..., bool]:
    """Return a function that is True if a result shows a value, in one of several spellings, that its call lacks.

    A call about a guess shows the guess again, which finds nothing.
    """
    calls = []
    for result in results:
        if shows_data(result):
            asked = Evidence([result.call.arguments])
            answered = Evidence([_data_of(result)])
            calls.append((asked, answered))

    def is_found(*spellings: Any) -> bool:
        for asked, answered in calls:
            is_shown = any(answered.holds(spelling) for spelling in spellings)
            if is_shown and not any(asked.holds(spelling) for spelling in spellings):
                return True
        return False

    return is_found


def shows_data(result: ToolResult) -> bool:
    """Return False for errors, empty results and notes, which repeat words of the model."""
    return result.error is None and bool(result.rows)


def wasted_calls(trajectory: Trajectory) -> tuple[int, int]:
    """Return how many calls were identical to an earlier one, and how many were refused as a mistake."""
    results = trajectory.results
    different = {call_signature(result.call) for result in results}
    repeated = len(results) - len(different)
    refused = sum(result.error not in (None, INTERNAL) for result in results)
    return repeated, refused


def call_signature(call: ToolCall) -> tuple[str, str]:
    """Return name and arguments; whitespace and the order of arguments are ignored."""
    arguments = parse_json(call.arguments)
    if arguments is None:
        return call.name, call.arguments
    return call.name, json.dumps(arguments, sort_keys=True)
