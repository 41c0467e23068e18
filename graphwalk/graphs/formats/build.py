"""Build a graph from the nodes and relationships that a program wrote: find the field of each role.

A role is the key, the label or the name of a node, an end or the type of a relationship. A format with a mark of its
own fixes it, else an option names its field, else it has one of a few usual names. Where these do not decide, the file
is refused.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphwalk.config.graph_source import POSITION, FileOptions
from graphwalk.errors import counted
from graphwalk.graphs.formats.common import (
    Mistakes,
    Record,
    Table,
    apart_from_key,
    checked_properties,
    checked_text,
    composed,
    labels_of,
    note,
)
from graphwalk.graphs.graph import OUR_PREFIX, Node, PropertyGraph, Relationship, is_reserved
from graphwalk.graphs.values import brief, from_json

_KEYS = ("(node_?)?id", "(node_?)?key", "identity")
"""Forms of names for the key of a node, the first that is there; `identity` is Neo4j's."""
_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"), ("start", "end"))
"""Pairs of words for the ends of a relationship; they may have `node` or `id` behind them: `startNodeId`."""
LABELS = ("labels", "label", "type")
TYPES = ("type", "label", "relation", "relationship")
_DIRECTIONS = {"directed": True, "undirected": False}
"""Marks of an edge: the names of fields that are true or false, and the values of a field `type`."""
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_MOST_LISTED = 10


def usual_fields(names: Collection[str], words: Sequence[str]) -> list[str]:
    """Return the fields with one of these names, in the order of the words; `_label` and `~label` are as `label`."""
    fields: list[str] = []
    for word in words:
        fields.extend(name for name in sorted(names) if name.lower().lstrip("_~:") == word)
    return fields


def key_field(names: Collection[str]) -> str | None:
    """Return the field with the key of a node by its usual names: `id`, `_id`, `~id`, `nodeId`, `key`, `identity`."""
    for form in _KEYS:
        usual = re.compile(rf"[_~:]*{form}_*", re.IGNORECASE)
        fitting = [name for name in names if usual.fullmatch(name)]
        if fitting:
            return min(fitting, key=lambda name: (len(name), name))
    return None


def name_field(names: Iterable[str]) -> str | None:
    """Return the field called `name`, in any case."""
    return next((name for name in names if name.lower() == "name"), None)


def end_fields(names: Collection[str], options: FileOptions) -> tuple[str, str] | None:
    """Return the fields with the ends of a relationship: those that the options name, else a usual pair.

    `source`, `_from` and `:START_ID` have the partners `target`, `_to` and `:END_ID`. ValueError for two such pairs.
    """
    if options.source_from in names and options.target_from in names:
        return str(options.source_from), str(options.target_from)
    in_lower_case = {name.lower(): name for name in names}
    for source_word, target_word in _ENDS:
        usual = re.compile(rf"([_~:]*){source_word}((?:_?node)?(?:_?id)?_*)")
        pairs = []
        for lower, source in in_lower_case.items():
            match = usual.fullmatch(lower)
            if match is None:
                continue
            # _startNodeId: the marks before the word and behind it are those of its partner, too
            before, behind = match.groups()
            target = in_lower_case.get(before + target_word + behind)
            if target is not None:
                pairs.append((source, target))
        if len(pairs) > 1:
            listed = " or ".join(", ".join(pair) for pair in pairs)
            raise ValueError(f"the ends may be {listed}; choose with --source-from and --target-from")
        if pairs:
            return pairs[0]
    return None


def direction_of(fields: Mapping[str, Any]) -> bool | None:
    """Return the direction of an edge by `directed: false` or `undirected: true`, None without such a mark."""
    for name, value in fields.items():
        meaning = _DIRECTIONS.get(name.lower())
        is_true = _BOOLEANS.get(str(value).lower())
        if meaning is not None and is_true is not None:
            return meaning == is_true
    return None


def no_relationships(where: str, names: Iterable[str]) -> ValueError:
    """Return the error for a file or folder in which no relationship is found."""
    listed = ", ".join(brief(name) for name in names) or "none"
    return ValueError(
        f"{where}no relationships: no pair of fields is called source and target, from and to, src and dst, or start "
        f"and end; there are: {listed}. Name the fields with --source-from and --target-from, or give the CSV file of "
        "the relationships with --edges"
    )


def graph_of(
    nodes: Sequence[Table],
    edges: Sequence[Table],
    options: FileOptions,
    file: str | None = None,
    *,
    mistakes: Mistakes | None = None,
    seed: int | None = None,
    spec: Mapping[str, Any] | None = None,
) -> PropertyGraph:
    """Return the graph of what a file holds; without nodes, the ends of relationships are nodes.

    `file`: the name of a file of another program; notes tell what it was read as. `mistakes`: those that its reader
    found. Raise ValueError with the places of what cannot be used.
    """
    builder = _Builder(nodes, edges, options, file, mistakes or Mistakes(skip=options.skip_bad))
    return builder.build(seed, spec)


class _Builder:
    """Builds one graph."""

    def __init__(
        self, nodes: Sequence[Table], edges: Sequence[Table], options: FileOptions, file: str | None, mistakes: Mistakes
    ) -> None:
        self._nodes = nodes
        self._edges = edges
        self._options = options
        self._file = file
        self._mistakes = mistakes
        self._node_records = _all_records(nodes)
        self._edge_records = _all_records(edges)
        self._rows: dict[str, tuple[str, Node]] = {}
        """The nodes by their key, each with its place in the file."""
        self._key_of: dict[str, str] = {}
        """The key of a node by the text with which relationships name it."""

    def build(self, seed: int | None, spec: Mapping[str, Any] | None) -> PropertyGraph:
        self._check_options(self._nodes, ("key", "label", "name"))
        self._check_options(self._edges, ("source", "target", "type"))
        for table in self._edges:
            self._fix_edges(table)
        ends: list[Any] = []
        for record in self._edge_records:
            both = (record.fixed.get("source"), record.fixed.get("target"))
            ends.extend(end for end in both if end is not None)

        if self._node_records:
            self._add_nodes(ends)
        else:
            self._add_ends(ends)

        relationships: list[Relationship] = []
        for record in self._edge_records:
            with self._mistakes:
                relationship = self._relationship(record)
                relationships.append(relationship)
                if not record.directed and relationship.source != relationship.target:
                    turned = replace(relationship, source=relationship.target, target=relationship.source)
                    relationships.append(turned)

        self._mistakes.end(self._file or "the graph")
        nodes = [node for _, node in self._rows.values()]
        graph = PropertyGraph.from_rows(nodes, relationships, seed=seed, spec=spec)
        if self._file is not None:
            self._note(self._file, f"read as {_described(graph)}")
        return graph

    def _note(self, name: str | None, *parts: str) -> None:
        """Note what was read, but not of files of ours; empty parts are left out."""
        if self._file is not None:
            text = "; ".join(part for part in parts if part)
            note(f"{name}: {text}")

    def _form(self, text: str) -> str:
        """Return the form of a text that is compared: that of Unicode, but in files of ours and in networkx."""
        if self._file is None:
            return text
        return composed(text)

    def _check_options(self, tables: Sequence[Table], roles: Sequence[str]) -> None:
        """Raise ValueError if an option names a field that is not there, or another one than the format fixes."""
        for role in roles:
            option = f"{role}_from"
            name = getattr(self._options, option)
            if name is None:
                continue
            if any(role in record.fixed for record in _all_records(tables)):
                raise ValueError(f"{option}: the format of this file fixes the {role}; leave it out")
            if name == POSITION and role in ("source", "target"):
                continue
            names = _all_names(tables)
            if name not in names:
                listed = ", ".join(names) or "none"
                raise ValueError(f"{option}: there is no {name!r}; there are: {listed}")

    def _fix_edges(self, table: Table) -> None:
        """Find ends, type and direction of each edge in its fields, where the format does not fix them."""
        types = usual_fields(table.names, TYPES)
        if self._options.type_from:
            types = [self._options.type_from]
        if table.records and "source" not in table.records[0].fixed:
            pair = self._end_fields(table)
            direction_field = _direction_field(table)
            is_chosen = pair[0] == self._options.source_from
            for record in table.records:
                for role, name in zip(("source", "target"), pair, strict=True):
                    # Only an option finds an end among the properties.
                    value = record.take(name) if is_chosen else record.fields.pop(name, None)
                    record.fixed[role] = self._end(value)
                _fix_direction(record, direction_field)
            shown_types = [name for name in types if name != direction_field]
            self._note(
                table.name, f"relationships; ends: {', '.join(pair)}", _listed("type", shown_types), table.columns
            )

        for record in table.records:
            if not record.directed and self._options.undirected == "refuse":
                raise ValueError(
                    f"{record.where} is undirected; a property graph has directions, so choose: --undirected both, in "
                    'Python undirected="both", reads every edge both ways'
                )
            if record.fixed.get("type") is None:
                type_ = self._take("type", record, types)
                record.fixed["type"] = table.default if type_ is None else type_

    def _end_fields(self, table: Table) -> tuple[str, str]:
        source, target = self._options.source_from, self._options.target_from
        if source and target and table.has(source) and table.has(target):
            return source, target
        pair = end_fields(table.names, self._options)
        if pair is None:
            raise no_relationships(f"{table.name}: ", table.names)
        return pair

    def _end(self, value: Any) -> Any:
        """Return the key in what a file has for an end: it, or the node as an object, as in D3 and APOC."""
        if not isinstance(value, dict):
            return _key(value)
        # {"id": "0", "labels": ["Person"]}
        name = self._options.key_from
        if name not in value:
            name = key_field(value) or name_field(value)
        return _key(value.get(name))

    def _take(self, role: str, record: Record, usual: Sequence[str]) -> Any:
        """Remove and return the field that an option names, else the first usual one that has a value."""
        option = getattr(self._options, f"{role}_from")
        if option is not None:
            return record.take(option)
        for name in usual:
            if record.fields.get(name) is not None:
                return record.fields.pop(name)
        return None

    def _add_nodes(self, ends: Sequence[Any]) -> None:
        """Add the nodes under their keys. `ends`: of all relationships."""
        label_is_name = self._label_is_name()
        are_by_place = False
        keys: list[str] = []
        texts = {str(end) for end in ends}
        ids = self._fields_with(texts) if _are_whole(ends) else []
        for table in self._nodes:
            is_fixed = any("key" in record.fixed for record in table.records)
            key_name = None if is_fixed else self._key_name(table, ends)
            are_by_place |= not is_fixed and key_name is None
            labels = usual_fields(table.names, LABELS)
            if label_is_name:
                labels = [name for name in labels if not _is_label(name)]
            if self._options.label_from:
                labels = [self._options.label_from]
            if table.records and not is_fixed:
                self._note(
                    table.name,
                    f"nodes; key: {key_name or 'the position, from 0'}",
                    _listed("label", labels),
                    table.columns,
                )
            for place, record in enumerate(table.records):
                with self._mistakes:
                    if not is_fixed:
                        record.fixed["key"] = place if key_name is None else _key(record.get(key_name))
                    if key_name is not None and key_name == key_field(table.names):
                        record.fields.pop(key_name, None)
                    node = self._node(record, labels, table.default, label_is_name=label_is_name)
                    self._add(record.where, node)
                    keys.append(node.key)
        if self._are_places(ends, ids, are_by_place=are_by_place):
            if len(self._nodes) > 1:
                raise ValueError("positions of nodes need all nodes in one file")
            self._mistakes.end(str(self._file), may_skip=False)
            self._key_of = {str(place): key for place, key in enumerate(keys)}

    def _key_name(self, table: Table, ends: Sequence[Any]) -> str | None:
        """Return the field with the keys of a table, None for the places of its nodes. ValueError if none decides."""
        if self._options.key_from is not None and table.has(self._options.key_from):
            return self._options.key_from
        key = key_field(table.names)
        if key is not None:
            return key
        if self._options.source_from == POSITION:
            return None
        # {"name": "Ida"}, and edges from "Ida" to "Bo"
        name = name_field(table.names)
        if name is not None and all(isinstance(end, str) for end in ends):
            return name
        # Edges from 0 to 1, as in D3
        if _are_whole(ends):
            return None
        listed = ", ".join(brief(name) for name in table.names)
        raise ValueError(f"{table.name}: nodes have no id, key or name; there are: {listed}. Choose with --key-from")

    def _are_places(self, ends: Sequence[Any], ids: Sequence[str], *, are_by_place: bool) -> bool:
        """Return True if relationships name nodes by place: the options say so, or nothing else can be meant.

        `ids`: fields that hold all ends. `are_by_place`: the nodes have no keys but their places. ValueError if the
        ends may be places or ids.
        """
        if self._options.source_from == POSITION:
            return True
        if not ends or not _are_whole(ends):
            return False
        if not are_by_place and any(str(end) in self._key_of for end in ends):
            return False
        if ids:
            choices = [f"--key-from {name}" for name in ids]
            choices.append(f"--source-from {POSITION} --target-from {POSITION}")
            raise ValueError(f"the ends of relationships may be ids or places; choose with {' or '.join(choices)}")
        return all(0 <= end < len(self._node_records) for end in ends)

    def _fields_with(self, ends: set[str]) -> list[str]:
        """Return the fields whose values are distinct, hold all these ends, and are not the places of the nodes."""
        places = [str(place) for place in range(len(self._node_records))]
        fitting = []
        for name in _all_names(self._nodes):
            values = [str(record.get(name)) for record in self._node_records]
            distinct = set(values)
            if len(distinct) == len(values) and ends <= distinct and values != places:
                fitting.append(name)
        return fitting

    def _add_ends(self, ends: Iterable[Any]) -> None:
        """Add a node for each end."""
        for end in ends:
            with self._mistakes:
                key = checked_text("a relationship", "end", end)
                if self._form(key) not in self._key_of:
                    self._add(f"node {key!r}", Node(key, ("Node",), {}))

    def _add(self, where: str, node: Node) -> None:
        form = self._form(node.key)
        if form in self._key_of:
            first, _ = self._rows[self._key_of[form]]
            raise ValueError(f"{where}: the key {node.key!r} is there already, in {first}")
        self._rows[node.key] = (where, node)
        self._key_of[form] = node.key

    def _label_is_name(self) -> bool:
        """Return True if nearly every node has a `label` of its own, as programs that draw graphs write names."""
        if self._file is None or self._options.label_from or self._options.name_from:
            return False
        labels: list[str] = []
        for record in self._node_records:
            if "label" in record.fixed or record.properties:
                return False
            labels.extend(str(value) for name, value in record.fields.items() if _is_label(name))
        are_nearly_distinct = len(set(labels)) >= 0.9 * len(labels)
        if len(labels) <= 2 or not are_nearly_distinct:
            return False
        self._note(
            self._file,
            "nearly every node has a label of its own, so it is read as the property name; "
            "--label-from label reads it as the label",
        )
        return True

    def _node(self, record: Record, label_fields: Sequence[str], default: str, *, label_is_name: bool) -> Node:
        where = record.where
        key = checked_text(where, "key", record.fixed.get("key"))
        self._fix_name(record, label_is_name=label_is_name)

        labels = record.fixed.get("label")
        if labels is None:
            labels = self._take("label", record, label_fields)
        if labels is None:
            labels = default
        distinct = {self._form(checked_text(where, "label", label)) for label in labels_of(labels)}
        for label in distinct:
            if is_reserved(label):
                raise ValueError(
                    f"{where} has the label {label!r}; GraphWalk finds its own graphs in a Neo4j by labels that "
                    f"begin with {OUR_PREFIX}, so rename it"
                )
        properties = checked_properties(where, record.rest(), self._options.null)
        return Node(key, tuple(sorted(distinct)), apart_from_key(properties, key))

    def _fix_name(self, record: Record, *, label_is_name: bool) -> None:
        """Move the field that is the name to `name`. Raise ValueError if the node has another value there."""
        field = self._options.name_from
        if label_is_name and record.get("name") is None:
            field = next((name for name in record.fields if _is_label(name)), None)
        if field is None:
            return
        value = record.take(field)
        if value is None:
            return
        if record.get("name") not in (None, value):
            raise ValueError(f"{record.where} has another value of 'name'; rename it in the file")
        record.fields["name"] = value

    def _relationship(self, record: Record) -> Relationship:
        return Relationship(
            self._form(checked_text(record.where, "type", record.fixed["type"])),
            self._end_key(record, "source"),
            self._end_key(record, "target"),
            checked_properties(record.where, record.rest(), self._options.null),
        )

    def _end_key(self, record: Record, role: str) -> str:
        """Return the key of the node that a relationship names."""
        text = checked_text(record.where, role, record.fixed.get(role))
        key = self._key_of.get(self._form(text))
        if key is None:
            raise ValueError(f"{record.where} names the node {text!r}, which does not exist; add it")
        return key


def _key(value: Any) -> Any:
    """Return a key as a file has it; a list, as [1, 2], is the tuple (1, 2) of networkx."""
    if isinstance(value, list):
        return str(from_json(value))
    return value


def _are_whole(ends: Iterable[Any]) -> bool:
    return all(type(end) is int for end in ends)


def _all_records(tables: Iterable[Table]) -> list[Record]:
    records: list[Record] = []
    for table in tables:
        records.extend(table.records)
    return records


def _all_names(tables: Iterable[Table]) -> list[str]:
    """Return the fields and the properties of all tables, sorted."""
    names: set[str] = set()
    for table in tables:
        names.update(table.all_names)
    return sorted(names)


def _is_label(name: str) -> bool:
    return name.lower() == "label"


def _listed(role: str, fields: Sequence[str]) -> str:
    return f"{role}: {', '.join(fields)}" if fields else ""


def _direction_field(table: Table) -> str | None:
    """Return the field `type` if it holds directions: "Undirected", or Gephi's `Type` with "Directed"."""
    for name in usual_fields(table.names, ("type",)):
        words = {str(record.fields.get(name)).lower() for record in table.records}
        if words <= _DIRECTIONS.keys() and (name == "Type" or "undirected" in words):
            return name
    return None


def _fix_direction(record: Record, type_field: str | None) -> None:
    """Set the direction of an edge by its marks, and remove them."""
    marked = direction_of(record.fields)
    if marked is not None:
        record.directed = marked
        record.fields = {name: value for name, value in record.fields.items() if name.lower() not in _DIRECTIONS}
    if type_field is not None:
        record.directed = _DIRECTIONS[str(record.fields.pop(type_field)).lower()]


def _described(graph: PropertyGraph) -> str:
    """Return the numbers of nodes and relationships, by labels and types."""
    labels = Counter({":".join(table.labels) or "no label": len(table.numbers) for table in graph.node_tables})
    types = Counter({table.type: len(table.sources) for table in graph.relationship_tables})
    return f"{_with_numbers('node', labels)} and {_with_numbers('relationship', types)}"


def _with_numbers(thing: str, numbers: Counter[str]) -> str:
    """Return `12 nodes (Person 10, Ship 2)`."""
    total = counted(numbers.total(), thing)
    if not numbers:
        return total
    listed = [f"{name} {number:,}" for name, number in numbers.most_common(_MOST_LISTED)]
    if len(numbers) > _MOST_LISTED:
        listed.append("…")
    return f"{total} ({', '.join(listed)})"
