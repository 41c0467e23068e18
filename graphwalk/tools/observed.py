"""Read the part of a graph, and the values, that the tool results of an episode have shown to a model.

Scores, scenes and scripted agents read results here: as data during a run, from the logged text later. The YAML of a
tool declares what its rows are; rows of other tools, or of another form than declared, show nothing.

Values match as a whole, in every result encoding: `abc` is not in `abcd`, and 3 is in `[3.0]`.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise, product, repeat
from typing import Any

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
_QUERIED = (("neighbor_properties", "relationships"), ("properties", "nodes"), ("match", "nodes"), ("values", "values"))
"""Column of a query's result → what its rows are read as."""
_TOKEN = re.compile(r"""[^\s,;:|"'`\[\]{}()<>=]+""")
_PATTERN = re.compile(r"\(:([^\n]+?)\)-\[:([^\n]+?)\]->\(:([^\n]+?)\)")

Pair = tuple[str, str, str]
"""Label of the source, type, label of the target: what the schema allows."""


def is_key(field: str) -> bool:
    """Return True if a column or a field of an answer has this name because it holds keys of nodes."""
    return field == KEY or field.endswith(("_key", ".key"))


def name_of(node: Node) -> str:
    """Return the name of a node for a reader: a property with such a name, else the first text, else the key."""
    texts = {name: value for name, value in node.properties.items() if isinstance(value, str) and value.strip()}
    named = next((text for wanted in _NAMING for name, text in texts.items() if name.lower() == wanted), None)
    return named or next(iter(texts.values()), node.key)


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
    centre, type_, other = row.get("center_key"), row.get("type"), row.get("neighbor_properties")
    neighbor_labels = labels_in(row, "neighbor_label")
    if not (isinstance(centre, str) and isinstance(type_, str) and isinstance(other, dict)):
        return None
    if neighbor_labels is None or not _is_key(key := other.get(KEY)):
        return None
    own, others = _label_set(label), _label_set(*neighbor_labels)
    if "direction" in row:
        outgoing = row["direction"] == "outgoing"
        directed = outgoing or row["direction"] == "incoming"
    else:
        outgoing = any((label, type_, one) in pairs for one in neighbor_labels)
        directed = outgoing != any((one, type_, label) in pairs for one in neighbor_labels)
    shown = row.get("relationship_properties")
    properties = shown if isinstance(shown, dict) else {}
    if outgoing:
        return RelationshipRow(centre, own, type_, str(key), others, properties, other, True, directed)
    return RelationshipRow(str(key), others, type_, centre, own, properties, other, False, directed)


def labels_in(row: Row, name: str) -> list[str] | None:
    """Return the labels in the column `name`, or in `name`s where nodes may have several; None where it has none."""
    return _as_labels(row[name] if name in row else row.get(f"{name}s"))


def _as_labels(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    return value if isinstance(value, list) and set(map(type, value)) <= {str} else None


@dataclass
class _Call:
    """One tool call, its pages put together. `total`: rows on all pages."""

    tool: str
    arguments: dict[str, Any]
    total: int
    rows_on: dict[int, int] = field(default_factory=dict)
    """Page → number of its rows."""
    centres: set[str] = field(default_factory=set)
    """Keys of the nodes that the rows of relationships are about."""
    parallel: Counter[tuple[int, bool]] = field(default_factory=Counter)
    """Rows that show the same relationship from the same end."""
    understood: bool = True
    value: Any = None
    """The value that the rows are for."""

    @property
    def complete(self) -> bool:
        """Return True if every row was shown."""
        return sum(self.rows_on.values()) == self.total

    def text(self, name: str) -> str | None:
        value = self.arguments.get(name)
        return value if isinstance(value, str) else None

    @property
    def lists_keys_of(self) -> str | None:
        """Return the label whose keys are listed, if the call asks for that."""
        kind = (self.text("entity_type") or "").strip().lower()
        return self.text("entity_name") if kind == "node" and self.text("property_name") == KEY else None


class ObservedGraph:
    """All nodes and relationships that results show, in that order; results are added one by one.

    `pairs`: what the schema of the prompt allows, for results that hide directions. `hides_directions`: some
    relationship is left out because its direction was not shown.
    """

    def __init__(self, pairs: frozenset[Pair] = frozenset()) -> None:
        self.pairs = pairs
        self.nodes: dict[str, Node] = {}
        """Without the labels and properties that no call asked for."""
        self.relationships: list[Relationship] = []
        """Parallel ones that look alike once."""
        self.parallel: list[int] = []
        """How many there are of each of `relationships`."""
        self.hides_directions = False
        self._places: dict[tuple[str, str, str, str | None], int] = {}
        """Type, source, target, and text of the properties, None if they were not shown → place in `relationships`."""
        self._joined: set[tuple[str, str, str]] = set()
        """Type, source and target of all relationships."""
        self._unread = False
        self._calls: dict[tuple[str, str], _Call] = {}

    def graph(self) -> PropertyGraph:
        """Return what results show as a graph, without lists, which no question compares."""
        nodes = (
            replace(node, properties={name: v for name, v in node.properties.items() if isinstance(v, SCALARS)})
            for node in self.nodes.values()
        )
        return PropertyGraph.from_rows(nodes, chain.from_iterable(map(repeat, self.relationships, self.parallel)))

    @property
    def hides_properties(self) -> bool:
        """Return True if the properties of some relationship were not shown."""
        return any(properties is None for *_, properties in self._places)

    @property
    def understood(self) -> bool:
        """Return False if a result has rows of an unknown form, for example that of a tool of your own."""
        return not self._unread and all(call.understood for call in self._calls.values() if call.total)

    @property
    def complete_labels(self) -> set[str]:
        """Return the labels of which all nodes were listed."""
        calls = (call for call in self._calls.values() if call.tool == VALUES and call.understood and call.complete)
        return {call.lists_keys_of for call in calls if call.lists_keys_of is not None}

    def complete_nodes(self) -> set[str]:
        """Return the keys of the nodes all of whose relationships were shown."""
        keys: set[str] = set()
        looked_up: set[tuple[str | None, str | None, Any]] = set()
        for call in self._calls.values():
            filtered = call.text("relationship_type") or call.text("direction")
            if call.tool == NEIGHBORS and call.understood and call.complete and not filtered:
                keys |= call.centres
                if isinstance(call.value, SCALARS):
                    looked_up.add((call.text("label"), call.text("property_name"), value_order(call.value)))
        # Nodes without relationships have no rows.
        for node in self.nodes.values():
            for name, value in {**node.properties, KEY: node.key}.items():
                if isinstance(value, SCALARS) and any(
                    (one, name, value_order(value)) in looked_up for one in node.labels
                ):
                    keys.add(node.key)
        return keys

    def add(self, result: ToolResult) -> None:
        """Add what a result shows. Mistakes, notes and answers show nothing."""
        if result.final or result.error is not None:
            return
        rows = None if result.is_note else read_rows(result.content) if result.data is None else result.data
        if rows is None:
            self._unread |= bool(result.rows)
            return
        arguments = parse_object(result.call.arguments)
        page = as_declared(arguments.pop("page", FIRST_PAGE), ("integer",))
        page = page if isinstance(page, int) else FIRST_PAGE
        identity = result.call.name, json.dumps(arguments, sort_keys=True)
        call = self._calls.setdefault(identity, _Call(result.call.name, arguments, result.rows or 0))
        if page in call.rows_on:
            return
        call.rows_on[page] = len(rows)
        call.value = (result.tried or {}).get("property_value", arguments.get("property_value"))
        declared = result.shows or shipped_declaration(result.call.name)
        for row in rows:
            read = declared is not None and self._add_row(row, declared, call)
            call.understood = call.understood and read

    def _add_row(self, row: Row, shows: str, call: _Call) -> bool:
        """Add what a row shows. Return False for a row of another form than declared."""
        if shows == "query":
            shows = next((kind for column, kind in _QUERIED if column in row), shows)
        if shows == "relationships":
            return self._add_relationship_row(row, call)
        if shows == "path":
            return self._add_path(row)
        if shows == "nodes":
            properties = row.get("properties", {})
            if isinstance(properties, dict):
                named = {row["property"]: row.get("value")} if isinstance(row.get("property"), str) else {}
                properties = {**properties, **named, **({KEY: row[KEY]} if KEY in row else {})}
            return self._add_node(properties, labels_in(row, "label"))
        if shows != "values":
            return False
        label = call.lists_keys_of  # a list of keys shows nodes, a list of other values does not
        if row.keys() == {"values"} and label is not None:
            self._add_node({KEY: row["values"]}, [label])
        return "values" in row and (label is None or _is_key(row["values"]))

    def _add_relationship_row(self, row: Row, call: _Call) -> bool:
        label, name = row.get("center_label", call.text("label") or ""), call.text("property_name")
        read = relationship_in(row, label, self.pairs) if isinstance(label, str) else None
        if read is None:
            return False
        if read.centre not in call.centres:
            call.centres.add(read.centre)
            looked_up = {} if name is None or name == KEY else {name: call.value}
            self._add_node({KEY: read.centre, **looked_up}, [label] if label else [])
        self._add_node(read.neighbor, read.other_end[1])
        if not read.directed:
            self.hides_directions |= "direction" not in row
            return True
        properties = read.properties if isinstance(row.get("relationship_properties"), dict) else None
        place = self._add_relationship(read.type, read.source, read.target, properties)
        if place is not None:
            call.parallel[place, read.outgoing] += 1
            # Both ends of a relationship may show it, and several calls: it is the same one.
            self.parallel[place] = max(self.parallel[place], call.parallel[place, read.outgoing])
        return True

    def _add_path(self, row: Row) -> bool:
        """Add the nodes and relationships of a path."""
        columns: list[Any] = [row.get(name) for name in ("keys", "types", "labels")]
        if not all(isinstance(column, list) for column in columns):
            return False
        keys, types, labels = columns
        directions = row.get("directions", ["outgoing"] * len(types))
        labels_of = list(map(_as_labels, labels))
        fits = isinstance(directions, list) and len(keys) == len(labels) == len(types) + 1 == len(directions) + 1
        readable = all(map(_is_key, keys)) and None not in labels_of and all(isinstance(type_, str) for type_ in types)
        if not (fits and readable and all(direction in ("outgoing", "incoming") for direction in directions)):
            return False
        for key, its_labels in zip(keys, labels_of, strict=True):
            self._add_node({KEY: key}, its_labels)
        for type_, pair, direction in zip(types, pairwise(map(str, keys)), directions, strict=True):
            source, target = pair if direction == "outgoing" else pair[::-1]
            self._add_relationship(type_, source, target, None)
        return True

    def _add_relationship(
        self, type_: str, source: str, target: str, properties: Mapping[str, Value] | None
    ) -> int | None:
        """Add a relationship if it is new, or its properties. Return its place; None if more of it is known."""
        ends = (type_, source, target)
        content = (*ends, None if properties is None else str(sorted(properties.items())))
        if content in self._places:
            return self._places[content]
        if properties is None and ends in self._joined:
            return None
        self._joined.add(ends)
        relationship = Relationship(*ends, properties or {})
        place = self._places.pop((*ends, None), None)
        if place is None:
            place = len(self.relationships)
            self.relationships.append(relationship)
            self.parallel.append(1)
        else:
            self.relationships[place] = relationship
        self._places[content] = place
        return place

    def _add_node(self, properties: Any, labels: Iterable[str] | None) -> bool:
        key = properties.get(KEY) if isinstance(properties, dict) else None
        if not _is_key(key):
            return False
        node = self.nodes.get(str(key)) or Node(str(key), (), {})
        shown = {name: value for name, value in properties.items() if name != KEY and value is not None}
        merged = tuple(sorted({*node.labels, *(labels or ())}))
        self.nodes[node.key] = Node(node.key, merged, {**node.properties, **shown})
        return labels is not None


def observed_graph(results: Iterable[ToolResult], prompt: str = "") -> ObservedGraph:
    """Return what results show, after a prompt that may contain the schema."""
    observed = ObservedGraph(schema_pairs(prompt))
    for result in results:
        observed.add(result)
    return observed


@lru_cache(maxsize=256)
def schema_pairs(prompt: str) -> frozenset[Pair]:
    """Return what can be joined according to the Cypher patterns in a prompt."""
    patterns = _PATTERN.findall(prompt)
    return frozenset(pair for ends in patterns for pair in product(ends[0].split("|"), ends[1:2], ends[2].split("|")))


@lru_cache(maxsize=4096)
def _label_set(*labels: str) -> frozenset[str]:
    """Equal sets are one object: millions of rows have few labels."""
    return frozenset(labels)


def _is_key(key: Any) -> bool:
    return isinstance(key, str | int) and not isinstance(key, bool)


class Evidence:
    """A text, or several, in which values are looked up."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts)

    @cached_property
    def words(self) -> frozenset[str]:
        """Everything between delimiters; a value without delimiters in it is one word."""
        words = set(_TOKEN.findall(self._text))
        return frozenset(words | {token.rstrip(".-!?*_").lstrip("*_") for token in words})  # `**f7**.` names f7

    @cached_property
    def tokens(self) -> frozenset[Hashable]:
        """The words, with numbers and booleans as values: 3 and 3.0 are one."""
        return frozenset(map(_token, self.words))

    def holds(self, value: Any) -> bool:
        """Return True if the text contains the value as a whole."""
        if not isinstance(value, str):
            return normalise(value) in self.tokens
        forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]} if value else {value}
        return not self.words.isdisjoint(forms) or any(map(self._holds_phrase, filter(None, forms)))

    def _holds_phrase(self, phrase: str) -> bool:
        """Find a value with delimiters in it, not adjacent to word characters."""
        words = _TOKEN.findall(phrase)
        if words == [phrase] or not self.words.issuperset(words):
            return False
        start = self._text.find(phrase)
        while start >= 0:
            before, after = self._text[start - 1 : start], self._text[start + len(phrase) : start + len(phrase) + 1]
            joined = (before.isalnum() and phrase[0].isalnum()) or (phrase[-1].isalnum() and after.isalnum())
            if not joined:
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
    return Evidence(split_notes(result.content)[1] for result in trajectory.results if shows_data(result))


def found_values(results: Iterable[ToolResult]) -> Callable[..., bool]:
    """Return a function that is True if a result shows a value, in one of several spellings, that its call lacks.

    A call about a guess shows the guess again, which finds nothing.
    """
    shown = filter(shows_data, results)
    pairs = [(Evidence([result.call.arguments]), Evidence([split_notes(result.content)[1]])) for result in shown]
    return lambda *forms: any(
        any(map(content.holds, forms)) and not any(map(arguments.holds, forms)) for arguments, content in pairs
    )


def shows_data(result: ToolResult) -> bool:
    """Return False for errors, empty results and notes, which repeat words of the model."""
    return result.error is None and bool(result.rows)


def wasted_calls(trajectory: Trajectory) -> tuple[int, int]:
    """Return how many calls were identical to an earlier one, and how many were refused as a mistake."""
    results = trajectory.results
    repeated = len(results) - len({call_signature(result.call) for result in results})
    return repeated, sum(result.error not in (None, INTERNAL) for result in results)


def call_signature(call: ToolCall) -> tuple[str, str]:
    """Return name and arguments; whitespace and the order of arguments are ignored."""
    arguments = parse_json(call.arguments)
    return call.name, call.arguments if arguments is None else json.dumps(arguments, sort_keys=True)
