"""Build a graph from the nodes and relationships that a program wrote: find the field of each role.

A role is the key, the label or the name of a node, an end or the type of a relationship. An option names its field,
else a format fixes it, else it has one of a few usual names. Where these do not decide, the file is refused.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from graphwalk.config.graph_source import POSITION, FileOptions
from graphwalk.errors import counted
from graphwalk.graphs.formats.common import (
    PROPERTIES,
    Edge,
    Entity,
    Mistakes,
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
"""Pairs of words for the ends of a relationship; in tables they have `node` or `id` behind them: `startNodeId`."""
LABELS = ("labels", "label", "type")
_TYPES = ("type", "label", "relation", "relationship")
_DIRECTIONS = {"directed": True, "undirected": False}
"""Marks of an edge: the names of fields that are true or false, and the values of a field `type`."""
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_MOST_LISTED = 10


class Nodes(NamedTuple):
    """A list of nodes in a file, or a table of them."""

    name: str
    entries: Sequence[Entity]
    default_label: str = "Node"
    header: Sequence[str] = ()
    """The columns of a table. Empty: the fields of the entries."""
    columns: str = ""
    """How the values of a table are read, for the note about it."""


class Edges(NamedTuple):
    """A list of relationships in a file, or a table of them."""

    name: str
    entries: Sequence[Edge]
    default_type: str = "RELATED"
    header: Sequence[str] = ()
    columns: str = ""


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


def has_type(fields: Mapping[str, Any]) -> bool:
    """Return True if a relationship has a field that is its type."""
    return any(fields[name] is not None for name in usual_fields(fields, _TYPES))


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
            if match and (target := in_lower_case.get(match[1] + target_word + match[2])):
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
    listed = ", ".join(map(brief, names)) or "none"
    return ValueError(
        f"{where}no relationships: no pair of fields is called source and target, from and to, src and dst, or start "
        f"and end; there are: {listed}. Name the fields with --source-from and --target-from, or give the CSV file of "
        "the relationships with --edges"
    )


def graph_of(
    nodes: Sequence[Nodes],
    edges: Sequence[Edges],
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


class _Relation(NamedTuple):
    """An edge whose ends and direction were taken from its fields."""

    edge: Edge
    source: Any
    target: Any
    fields: dict[str, Any]
    type_fields: Sequence[str]
    default_type: str
    directed: bool


class _Builder:
    """Builds one graph."""

    def __init__(
        self, nodes: Sequence[Nodes], edges: Sequence[Edges], options: FileOptions, file: str | None, mistakes: Mistakes
    ) -> None:
        self._nodes, self._edges = nodes, edges
        self._options, self._file, self._mistakes = options, file, mistakes
        self._entities = [entity for part in nodes for entity in part.entries]
        self._has_own_keys = any(entity.key is not None for entity in self._entities[:1])
        self._rows: dict[str, tuple[str, Node]] = {}
        self._key_of: dict[str, str] = {}
        """The key of a node for each form in which Unicode writes it."""

    def build(self, seed: int | None, spec: Mapping[str, Any] | None) -> PropertyGraph:
        self._check_options()
        relations = [relation for part in self._edges for relation in self._relations(part)]
        ends = [end for relation in relations for end in (relation.source, relation.target) if end is not None]

        if self._entities:
            self._read_nodes(ends)
        else:
            self._make_nodes(ends)

        relationships: list[Relationship] = []
        for relation in relations:
            with self._mistakes:
                relationship = self._relationship(relation)
                relationships.append(relationship)
                if not relation.directed and relationship.source != relationship.target:
                    turned = replace(relationship, source=relationship.target, target=relationship.source)
                    relationships.append(turned)

        self._mistakes.end(self._file or "the graph")
        nodes = [node for _, node in self._rows.values()]
        graph = PropertyGraph.from_rows(nodes, relationships, seed=seed, spec=spec)
        self._note(f"read as {_described(graph)}")
        return graph

    def _note(self, text: str) -> None:
        if self._file is not None:
            note(f"{self._file}: {text}")

    def _check_options(self) -> None:
        """Raise ValueError if an option names a field that is not there, or another reading of what a format fixes."""
        options, entities = self._options, self._entities
        edges = [edge for part in self._edges for edge in part.entries]
        fixed_by_format = {
            "key_from": self._has_own_keys,
            "label_from": any(entity.labels is not None for entity in entities),
            "type_from": any(edge.type is not None for edge in edges),
            "source_from": any(edge.source is not None for edge in edges),
        }
        for option, is_fixed in fixed_by_format.items():
            if is_fixed and getattr(options, option) is not None:
                raise ValueError(
                    f"{option}: this file has keys, labels and types of its own in their places; leave it out"
                )
        roles: tuple[tuple[tuple[str, ...], Sequence[Entity | Edge]], ...] = (
            (("key_from", "label_from", "name_from"), entities),
            (("type_from", "source_from", "target_from"), edges),
        )
        for names_of_options, entries in roles:
            for option in names_of_options:
                name = getattr(options, option)
                if name is None or (name == POSITION and option != "type_from"):
                    continue
                if not any(_has(entry.fields, name) for entry in entries):
                    there = ", ".join(sorted(_all_names(entries))) or "none"
                    raise ValueError(f"{option}: there is no {name!r}; there are: {there}")

    def _relations(self, part: Edges) -> list[_Relation]:
        """Return the edges of a part with their ends and directions."""
        names = _part_names(part)
        has_own_ends = any(edge.source is not None for edge in part.entries[:1])
        pair = None if has_own_ends else self._end_fields(part, names)
        type_fields = [self._options.type_from] if self._options.type_from else usual_fields(names, _TYPES)
        direction_field = _direction_field(part.entries, names)
        type_fields = [name for name in type_fields if name != direction_field]
        if pair:
            parts = [f"relationships; ends: {', '.join(pair)}", *_roles("type", type_fields), part.columns]
            self._note_part(part.name, parts)

        relations = []
        for edge in part.entries:
            fields = dict(edge.fields)
            source, target = edge.source, edge.target
            directed = edge.directed
            if pair:
                is_named = pair[0] == self._options.source_from
                source, target = (
                    self._end(_take(fields, name) if is_named else fields.pop(name, None)) for name in pair
                )
                directed = _take_direction(fields, direction_field, directed)
            if not directed and self._options.undirected == "refuse":
                raise ValueError(
                    f"{edge.where} is undirected; a property graph has directions, so choose: --undirected both, in "
                    'Python undirected="both", reads every edge both ways'
                )
            relations.append(_Relation(edge, source, target, fields, type_fields, part.default_type, directed))
        return relations

    def _end_fields(self, part: Edges, names: Collection[str]) -> tuple[str, str] | None:
        named = [self._options.source_from, self._options.target_from]
        if all(name and any(_has(edge.fields, name) for edge in part.entries) for name in named):
            return str(named[0]), str(named[1])
        pair = end_fields(names, self._options)
        if pair is None and part.entries:
            raise no_relationships(f"{part.name}: ", names)
        return pair

    def _note_part(self, name: str, parts: Sequence[str]) -> None:
        if self._file is not None:
            note(f"{name}: {'; '.join(filter(None, parts))}")

    def _end(self, value: Any) -> Any:
        """Return the key in what a file has for an end: it, or the node as an object, as in D3 and APOC."""
        if isinstance(value, dict):
            name = self._options.key_from if self._options.key_from in value else key_field(value) or name_field(value)
            value = value.get(name)
        return _key(value)

    def _read_nodes(self, ends: Sequence[Any]) -> None:
        """Add the nodes under their keys."""
        names = {part.name: _part_names(part) for part in self._nodes}
        key_fields = {part.name: self._key_field(part, names[part.name], ends) for part in self._nodes}
        label_fields, name_from = self._label_fields(self._entities)

        position = 0
        keys: list[str | None] = []
        for part in self._nodes:
            key_name = key_fields[part.name]
            if not self._has_own_keys and part.entries:
                key_text = key_name or "the position, from 0"
                roles = _roles("label", [name for name in label_fields if name in names[part.name]])
                self._note_part(part.name, [f"nodes; key: {key_text}", *roles, part.columns])
            is_property = key_name is None or key_name != key_field(names[part.name])
            for entity in part.entries:
                fields = dict(entity.fields)
                key: Any = entity.key
                if key is None and key_name is None:
                    key = position
                elif key is None:
                    assert key_name is not None
                    key = _key(_get(fields, key_name) if is_property else fields.pop(key_name, None))
                position += 1
                keys.append(None)
                with self._mistakes:
                    node = self._node(entity, fields, key, label_fields, name_from, part.default_label)
                    self._add(entity.where, node)
                    keys[-1] = node.key

        self._check_ends(ends, keys, are_fields=any(key_fields.values()))

    def _key_field(self, part: Nodes, names: Collection[str], ends: Sequence[Any]) -> str | None:
        """Return the field with the keys of a part, None for the positions of its nodes. ValueError if none decides."""
        if self._has_own_keys or not part.entries:
            return None
        key_from = self._options.key_from
        if key_from is not None and any(_has(entity.fields, key_from) for entity in part.entries):
            return key_from
        if field := key_field(names):
            return field
        is_by_position = self._options.source_from == POSITION
        field = name_field(names)
        if field and not is_by_position and all(isinstance(end, str) for end in ends):
            return field
        if is_by_position or not ends or all(type(end) is int for end in ends):
            return None
        there = ", ".join(map(brief, names))
        raise ValueError(f"{part.name}: nodes have no id, key or name; there are: {there}. Choose with --key-from")

    def _check_ends(self, ends: Sequence[Any], keys: Sequence[str | None], *, are_fields: bool) -> None:
        """Let relationships name nodes by position where the options say so, or where nothing else can be meant.

        `are_fields`: the keys are in fields of the nodes. Raise ValueError if it is not clear which nodes are meant.
        """
        if self._options.source_from == POSITION:
            self._name_by_position(keys)
            return
        texts = {str(end) for end in ends}
        if self._has_own_keys or not texts or self._mistakes.is_refused:
            return
        if are_fields and any(text in self._key_of or composed(text) in self._key_of for text in texts):
            return

        are_positions = all(type(end) is int and 0 <= end < len(keys) for end in ends)
        other_keys = self._fields_with(texts)
        if are_positions and not other_keys:
            self._name_by_position(keys)
            return
        choices = [f"--key-from {name}" for name in other_keys]
        if all(text.isdecimal() and int(text) < len(keys) for text in texts):
            choices.append(f"--source-from {POSITION} --target-from {POSITION}")
        fields = ", ".join(sorted(_all_names(self._entities)))
        raise ValueError(
            f"no relationship names a node by its key: one has the end {min(texts)!r}, nodes have the fields {fields}; "
            f"choose with {' or '.join(choices) or '--key-from, or --source-from and --target-from'}"
        )

    def _name_by_position(self, keys: Sequence[str | None]) -> None:
        if None in keys or len(self._nodes) > 1:
            raise ValueError(
                "relationships have the positions of nodes: they need one list of nodes, and none left out"
            )
        self._key_of = {str(place): str(key) for place, key in enumerate(keys)}

    def _fields_with(self, ends: Collection[str]) -> list[str]:
        """Return the fields whose values are distinct, hold all these ends, and are not the positions of the nodes."""
        fitting = []
        for name in sorted(_all_names(self._entities)):
            values = [str(_get(entity.fields, name)) for entity in self._entities]
            distinct = set(values)
            are_positions = all(value == str(place) for place, value in enumerate(values))
            if len(distinct) == len(values) and distinct.issuperset(ends) and not are_positions:
                fitting.append(name)
        return fitting

    def _make_nodes(self, ends: Iterable[Any]) -> None:
        """Add a node for each end."""
        for end in ends:
            with self._mistakes:
                key = checked_text("a relationship", "end", end)
                if composed(key) not in self._key_of:
                    self._add(f"node {key!r}", Node(key, ("Node",), {}))

    def _add(self, where: str, node: Node) -> None:
        same = self._rows.get(node.key)
        if same is None and not self._has_own_keys and composed(node.key) in self._key_of:
            same = self._rows[self._key_of[composed(node.key)]]
        if same is not None:
            raise ValueError(f"{where}: the key {node.key!r} is there already, in {same[0]}")
        self._rows[node.key] = (where, node)
        self._key_of.setdefault(composed(node.key), node.key)
        self._key_of[node.key] = node.key

    def _label_fields(self, entities: Sequence[Entity]) -> tuple[list[str], str | None]:
        """Return the fields that hold labels, and the one that holds the name.

        In a drawing `label` is a name: where nearly every node has one of its own, and the options do not choose.
        """
        options = self._options
        if options.label_from:
            return [options.label_from], options.name_from
        fields = usual_fields(_names(entities), LABELS)
        label = next((name for name in fields if name.lower() == "label"), None)
        if label is None or options.name_from or self._file is None or not _are_names(entities, label):
            return fields, options.name_from
        name_from = None if any("name" in entity.fields for entity in entities) else label
        self._note(
            f"nearly every node has a {label} of its own, so it is read as the property "
            f"{'name' if name_from else label}; --label-from {label} reads it as the label"
        )
        return [name for name in fields if name != label], name_from

    def _node(
        self,
        entity: Entity,
        fields: dict[str, Any],
        key: Any,
        label_fields: Sequence[str],
        name_from: str | None,
        default_label: str,
    ) -> Node:
        where = entity.where
        key = checked_text(where, "key", key)
        name = None if name_from is None else _take(fields, name_from)
        if name is not None and fields.setdefault("name", name) != name:
            raise ValueError(f"{where} has another value of 'name'; rename it in the file")
        labels = entity.labels
        if labels is None:
            labels = _take_role(fields, self._options.label_from, label_fields)
        if labels is None:
            labels = default_label
        distinct = {self._word(where, "label", label) for label in labels_of(labels)}
        for label in filter(is_reserved, distinct):
            raise ValueError(
                f"{where} has the label {label!r}; GraphWalk finds its own graphs in a Neo4j by labels that "
                f"begin with {OUR_PREFIX}, so rename it"
            )
        properties = checked_properties(where, fields, self._options.null)
        return Node(key, tuple(sorted(distinct)), apart_from_key(properties, key))

    def _relationship(self, relation: _Relation) -> Relationship:
        edge, fields = relation.edge, relation.fields
        type_ = edge.type
        if type_ is None:
            type_ = _take_role(fields, self._options.type_from, relation.type_fields)
        if type_ is None:
            type_ = relation.default_type
        return Relationship(
            self._word(edge.where, "type", type_),
            self._found(edge.where, "source", relation.source),
            self._found(edge.where, "target", relation.target),
            checked_properties(edge.where, fields, self._options.null),
        )

    def _found(self, where: str, what: str, end: Any) -> str:
        """Return the key of the node that a relationship names."""
        text = checked_text(where, what, end)
        key = self._key_of.get(text) or self._key_of.get(composed(text))
        if key is None:
            raise ValueError(f"{where} names the node {text!r}, which does not exist; add it")
        return key

    def _word(self, where: str, what: str, value: Any) -> str:
        """Return a label or a type; those of files of ours keep the form of their characters."""
        text = checked_text(where, what, value)
        return text if self._has_own_keys or self._file is None else composed(text)


def _key(value: Any) -> Any:
    """Return a key as a file has it; a list is a tuple of networkx."""
    return str(from_json(value)) if isinstance(value, list) else value


def _part_names(part: Nodes | Edges) -> list[str]:
    return list(part.header) or _names(part.entries)


def _names(entries: Sequence[Entity | Edge]) -> list[str]:
    """Return the names of the fields of all entries, each once, in their order."""
    names: dict[str, None] = {}
    for entry in entries:
        names.update(dict.fromkeys(entry.fields))
    return [name for name in names if isinstance(name, str)]


def _all_names(entries: Sequence[Entity | Edge]) -> set[str]:
    """Return the names of the fields of all entries, and of those within their properties."""
    names = set(_names(entries))
    for entry in entries:
        for box in PROPERTIES:
            inner = entry.fields.get(box)
            if isinstance(inner, dict):
                names.discard(box)
                names.update(inner)
    return names


def usual_fields(names: Collection[str], words: Sequence[str]) -> list[str]:
    """Return the fields with one of these names, in the order of the words; `_labels` and `~label` are as `label`."""
    return [name for word in words for name in sorted(names) if name.lower().lstrip("_~:") == word]


def _roles(role: str, fields: Sequence[str]) -> list[str]:
    return [f"{role}: {', '.join(fields)}"] if fields else []


def _box_with(fields: Mapping[str, Any], name: str) -> str | None:
    """Return the field whose object has this name: `properties` for the name of {"properties": {"name": "Ida"}}."""
    for box in PROPERTIES:
        inner = fields.get(box)
        if isinstance(inner, dict) and inner.get(name) is not None:
            return box
    return None


def _has(fields: Mapping[str, Any], name: str) -> bool:
    return name in fields or _box_with(fields, name) is not None


def _get(fields: Mapping[str, Any], name: str) -> Any:
    if fields.get(name) is not None:
        return fields[name]
    box = _box_with(fields, name)
    return fields[box][name] if box else None


def _take(fields: dict[str, Any], name: str) -> Any:
    """Remove and return a field, or one within the properties."""
    if fields.get(name) is not None:
        return fields.pop(name)
    box = _box_with(fields, name)
    if box is None:
        return None
    inner = dict(fields[box])
    value = inner.pop(name)
    fields[box] = inner
    return value


def _take_role(fields: dict[str, Any], option: str | None, usual: Sequence[str]) -> Any:
    """Remove and return the field that an option names, else the first usual one that has a value."""
    if option is not None:
        return _take(fields, option)
    for name in usual:
        if fields.get(name) is not None:
            return fields.pop(name)
    return None


def text_fields(names: Collection[str], options: FileOptions, *, are_edges: bool) -> set[str]:
    """Return the columns of a table that are no numbers or dates: those of keys, ends, labels and types."""
    if are_edges:
        ends = end_fields(names, options) or ()
        return {*ends, *usual_fields(names, _TYPES), options.type_from or ""}
    key = key_field(names) or name_field(names) or ""
    return {key, options.key_from or "", *usual_fields(names, LABELS), options.label_from or ""}


def _take_direction(fields: dict[str, Any], type_field: str | None, default: bool) -> bool:
    """Remove the marks of an edge that say whether it has a direction, and return what they say."""
    directed = default
    if (marked := direction_of(fields)) is not None:
        directed = marked
        for name in [name for name in fields if name.lower() in _DIRECTIONS]:
            del fields[name]
    if type_field is not None:
        directed = _DIRECTIONS.get(str(fields.pop(type_field, "")).lower(), directed)
    return directed


def _direction_field(edges: Sequence[Edge], names: Collection[str]) -> str | None:
    """Return the field `type` if it holds directions, as in Gephi's tables: some edge is "Undirected"."""
    for name in usual_fields(names, ("type",)):
        values = {str(edge.fields.get(name)) for edge in edges}
        is_gephi = name == "Type" and values == {"Directed"}
        in_lower_case = {value.lower() for value in values}
        if is_gephi or ("undirected" in in_lower_case and in_lower_case <= _DIRECTIONS.keys()):
            return name
    return None


def _are_names(entities: Sequence[Entity], label: str) -> bool:
    """Return True if nearly every node has a `label` of its own beside its properties, as a drawing shows them."""
    fields = [entity.fields for entity in entities if entity.labels is None and label in entity.fields]
    if any("labels" in one or isinstance(one.get("properties"), dict) for one in fields):
        return False
    return len(fields) > 2 and len({str(one[label]) for one in fields}) >= 0.9 * len(fields)


def _described(graph: PropertyGraph) -> str:
    """Return the numbers of nodes and relationships, by labels and types."""
    labels = {":".join(table.labels) or "no label": len(table.numbers) for table in graph.node_tables}
    types = {table.type: len(table.sources) for table in graph.relationship_tables}
    parts = []
    for thing, numbers in (("node", labels), ("relationship", types)):
        listed = [f"{name} {number:,}" for name, number in Counter(numbers).most_common(_MOST_LISTED)]
        if len(numbers) > _MOST_LISTED:
            listed.append("…")
        names = f" ({', '.join(listed)})" if listed else ""
        parts.append(counted(sum(numbers.values()), thing) + names)
    return " and ".join(parts)
