"""Nodes, relationships and headers as all graph formats read them."""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.etree.ElementTree import ParseError

from graphwalk.config.graph_source import FileOptions, Undirected
from graphwalk.errors import ConfigError, FileNote, counted
from graphwalk.files.writing import write_whole
from graphwalk.graphs.graph import KEY, OUR_PREFIX, Node, PropertyGraph, Relationship, is_reserved
from graphwalk.graphs.values import Value, brief, value_of
from graphwalk.version import SCHEMA_VERSION

V = TypeVar("V")

USUAL_NAMES = {
    "key": ("id", "key", "_id", "node_id"),
    "labels": ("labels", "label", "type", "node_type"),
    "source": ("source", "from", "source_id", "from_id", "start_node_id", "src", "subject", "head", "start"),
    "target": ("target", "to", "target_id", "to_id", "end_node_id", "dst", "object", "tail", "end"),
    "type": ("type", "label", "relation", "relationship", "predicate", "edge_type"),
}
"""Fields of a node or a relationship by what they hold, as other programs call them; the first that is there counts."""
PROPERTIES = ("properties", "attributes", "metadata", "embedding_properties")
"""Fields whose object is properties, as other programs call them."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn any error while a graph file is read into a ConfigError that names the file."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot read the graph {path}: {error.strerror or error}; check the path") from error
    except RecursionError as error:
        raise ConfigError(f"cannot read the graph {path}: it is nested too deeply") from error
    except (ValueError, ArithmeticError, ParseError) as error:
        raise ConfigError(f"cannot read the graph {path}: {error}") from error


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write the lines of a graph. Raise ConfigError if that fails."""
    write_whole(path, (f"{line}\n" for line in lines))


def header(graph: PropertyGraph) -> dict[str, Any]:
    """Return the origin of a graph, as every format records it."""
    return {"schema_version": SCHEMA_VERSION, "seed": graph.seed, "spec": dict(graph.spec)}


def checked_header(header: Mapping[str, Any]) -> tuple[int | None, dict[str, Any]]:
    """Return seed and spec of a header. Raise ValueError for another version or damage."""
    version, seed, spec = header["schema_version"], header.get("seed"), header.get("spec")
    if version != SCHEMA_VERSION:
        raise ValueError(f"schema_version is {version!r}, this version of GraphWalk reads {SCHEMA_VERSION}")
    if type(seed) not in (int, type(None)) or not isinstance(spec, dict | None):
        raise ValueError(f"seed must be a whole number or null, and spec an object, not {brief((seed, spec))}")
    return seed, spec or {}


def refuse_choices(options: FileOptions, form: str) -> None:
    """Raise ValueError if an option chooses names in a file whose form fixes them."""
    for option in ("label_from", "type_from", "name_from"):
        if getattr(options, option) is not None:
            raise ValueError(f"{option} has no meaning for {form}, which has its own labels and types; leave it out")


class Entity(NamedTuple):
    """A node as a program wrote it; `where` is its place in the file, for messages."""

    where: str
    fields: Mapping[str, Any]
    key: Any
    labels: Any = None
    """None: in the fields, under one of their usual names."""


class Edge(NamedTuple):
    """A relationship as a program wrote it; `where` is its place in the file, for messages."""

    where: str
    fields: Mapping[str, Any]
    source: Any
    target: Any
    type: Any = None
    """None: in the fields, under one of its usual names."""
    directed: bool = True


def graph_of(
    nodes: Iterable[Entity],
    edges: Iterable[Edge],
    undirected: Undirected = "refuse",
    *,
    label_names: Sequence[str] = USUAL_NAMES["labels"],
    type_names: Sequence[str] = USUAL_NAMES["type"],
    seed: int | None = None,
    spec: Mapping[str, Any] | None = None,
) -> PropertyGraph:
    """Return the graph of what a file holds.

    `label_names`, `type_names`: fields with the labels of nodes and the types of relationships. Raise ValueError with
    the place of what cannot be used.
    """
    places, rows = dict[str, str](), list[Node]()
    for entity in nodes:
        node = _node(entity, label_names)
        if node.key in places:
            raise ValueError(f"{entity.where}: the key {node.key!r} is there already, in {places[node.key]}")
        places[node.key] = entity.where
        rows.append(node)
    relationships = _relationships(edges, type_names, places.keys(), undirected)
    return PropertyGraph.from_rows(rows, relationships, seed=seed, spec=spec)


def _node(entity: Entity, label_names: Sequence[str]) -> Node:
    where, rest, key = entity.where, dict(entity.fields), checked_text(entity.where, "key", entity.key)
    labels = take_first(rest, label_names, "Node") if entity.labels is None else entity.labels
    distinct = {checked_text(where, "label", label) for label in labels_of(labels)}
    for label in filter(is_reserved, distinct):
        raise ValueError(
            f"{where} has the label {label!r}; GraphWalk finds its own graphs in a Neo4j by labels that "
            f"begin with {OUR_PREFIX}, so rename it"
        )
    return Node(key, tuple(sorted(distinct)), apart_from_key(checked_properties(where, rest), key))


def _relationships(
    edges: Iterable[Edge], type_names: Sequence[str], keys: Set[str], undirected: Undirected
) -> Iterator[Relationship]:
    for where, fields, source, target, type_, directed in edges:
        rest = dict(fields)
        type_ = take_first(rest, type_names, "RELATED") if type_ is None else type_
        relationship = Relationship(
            checked_text(where, "type", type_),
            checked_text(where, "source", source),
            checked_text(where, "target", target),
            checked_properties(where, rest),
        )
        ends = (relationship.source, relationship.target)
        for end in ends:
            if end not in keys:
                raise ValueError(f"{where} names the node {end!r}, which does not exist; add it")
        if not directed and undirected == "refuse":
            raise ValueError(
                f"{where} is undirected; a property graph has directions, so choose: --undirected both, in Python "
                'undirected="both", reads every edge both ways'
            )
        yield relationship
        if not directed and ends[0] != ends[1]:
            yield replace(relationship, source=ends[1], target=ends[0])


def foreign_graph(nodes: Sequence[Entity], edges: Sequence[Edge], options: FileOptions, file: str) -> PropertyGraph:
    """Return the graph of a file of another program, and note what it was read as; without nodes, the ends are nodes.

    Where nearly every node has a `label` of its own, this is its name and no label, unless the options choose another
    reading. Raise ValueError if it cannot be used.
    """
    label_from, name_from, type_from = options.label_from, options.name_from, options.type_from
    if label_from or name_from or type_from:
        nodes = [node._replace(fields=flattened(node.where, node.fields)) for node in nodes]
        edges = [edge._replace(fields=flattened(edge.where, edge.fields)) for edge in edges]
    node_names, edge_names = ({str(name) for one in things for name in one.fields} for things in (nodes, edges))
    for option, names in (("label_from", node_names), ("name_from", node_names), ("type_from", edge_names)):
        if (name := getattr(options, option)) is not None and name not in names:
            raise ValueError(f"{option}: there is no {name!r}; there are: {', '.join(sorted(names)) or 'none'}")
    label_names = (label_from,) if label_from else USUAL_NAMES["labels"]
    texts = [str(node.fields["label"]) for node in nodes if "label" in node.fields and "labels" not in node.fields]
    separate = any(isinstance(node.fields.get("properties"), dict) for node in nodes)  # a name would be a property
    if label_from != "label" and not separate and len(texts) > 2 and len(set(texts)) >= 0.9 * len(texts):
        label_names = tuple(name for name in label_names if name != "label")
        name_from = name_from or (None if "name" in node_names else "label")
        note(
            f"{file}: nearly every node has a label of its own, so it is read as the property "
            f"{'name' if name_from == 'label' else 'label'}; "
            "graphwalk export graph --label-from label reads it as the label"
        )
    if not nodes:
        ends = (checked_text(edge.where, "end", end) for edge in edges for end in (edge.source, edge.target))
        nodes = [Entity(f"node {key!r}", {}, key) for key in dict.fromkeys(ends)]
    graph = graph_of(
        [_named(node, name_from) if name_from and name_from in node.fields else node for node in nodes],
        edges,
        options.undirected,
        label_names=label_names,
        type_names=(type_from,) if type_from else USUAL_NAMES["type"],
    )
    return described(graph, file)


def _named(node: Entity, name_from: str) -> Entity:
    """Return a node with the property `name` from another field."""
    fields = dict(node.fields)
    name = fields.pop(name_from)
    if fields.setdefault("name", name) != name:
        raise ValueError(f"{node.where} has another value of 'name'; rename it in the file")
    return node._replace(fields=fields)


_MOST_LISTED = 10


def described(graph: PropertyGraph, file: str) -> PropertyGraph:
    """Return the graph of a file of another program, and note what it was read as."""
    labels = {":".join(table.labels) or "no label": len(table.numbers) for table in graph.node_tables}
    types = {table.type: len(table.sources) for table in graph.relationship_tables}
    parts = []
    for thing, numbers in (("node", labels), ("relationship", types)):
        listed = [f"{name} {number:,}" for name, number in Counter(numbers).most_common(_MOST_LISTED)]
        listed += ["…"] if len(numbers) > _MOST_LISTED else []
        parts.append(counted(sum(numbers.values()), thing) + (f" ({', '.join(listed)})" if listed else ""))
    note(f"{file}: read as {' and '.join(parts)}")
    return graph


def note(text: str) -> None:
    """Tell how a file was read, where it left a choice."""
    warnings.warn(text, FileNote, stacklevel=2)


def has_usual(fields: Mapping[str, Any], what: str) -> bool:
    """Return True if a field that usually holds this has a value."""
    return any(fields.get(name) is not None for name in USUAL_NAMES[what])


def take_usual(fields: dict[str, Any], what: str, default: Any = None) -> Any:
    """Remove and return the first field that usually holds this."""
    return take_first(fields, USUAL_NAMES[what], default)


def take_first(fields: dict[str, Any], names: Iterable[str], default: Any = None) -> Any:
    """Remove and return the first of these fields that has a value."""
    return next((fields.pop(name) for name in names if fields.get(name) is not None), default)


def checked_text(where: str, what: str, value: Any) -> str:
    """Return a key, label or type; a number becomes text. Raise ValueError for anything else."""
    if value is None:
        raise ValueError(f"{where} has no {what}")
    if type(value) in (int, float):
        return str(value)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{where}, {what}: expected text, not {brief(value)}")
    value.encode()  # raises UnicodeEncodeError, a ValueError, for half of a surrogate pair
    return value


def checked_properties(where: str, fields: Mapping[Any, Any]) -> dict[str, Value]:
    """Return properties that a graph can hold; those in an object `properties` are among them, None is left out.

    Raise ValueError with place and property for anything else.
    """
    fields = flattened(where, fields)
    properties: dict[str, Value] = {}
    for name, data in fields.items():
        try:
            if not isinstance(name, str) or not name:
                raise ValueError("this cannot be a name")
            name.encode()
            value = value_of(data)
        except ValueError as error:
            raise ValueError(f"{where}, property {brief(name)}: {error}") from None
        if value is not None:
            properties[name] = value
    return properties


def flattened(where: str, fields: Mapping[Any, Any], names: Sequence[str] = PROPERTIES) -> Mapping[Any, Any]:
    """Return the fields, with those of the objects under these names in their place.

    Raise ValueError for two values of one field.
    """
    for name in names:
        inner = fields.get(name)
        if isinstance(inner, dict):
            outer = {other: value for other, value in fields.items() if other != name}
            if twice := [field for field in inner.keys() & outer.keys() if inner[field] != outer[field]]:
                raise ValueError(f"{where} has {brief(twice[0])} twice: among its {name}, and beside them")
            fields = {**inner, **outer}
    return fields


def apart_from_key(properties: Mapping[str, V], key: str) -> dict[str, V]:
    """Return the properties of a node; one called `key` is dropped if it is the key, else renamed to `key_`."""
    rest = {name: value for name, value in properties.items() if name != KEY}
    if KEY in properties and str(properties[KEY]) != key:
        name = f"{KEY}_"
        while name in rest:
            name += "_"
        rest[name] = properties[KEY]
    return rest


_LABEL = re.compile(r":((?:[^:\\]|\\.?)*)", re.DOTALL)
_ESCAPED = re.compile(r"\\([:\\])")


def labels_of(notation: Any) -> list[Any]:
    """Return labels from the notations of other tools; Neo4j's exports have ":First:Second"."""
    if isinstance(notation, str) and notation.startswith(":"):
        return [_ESCAPED.sub(r"\1", label) for label in _LABEL.findall(notation)]
    if isinstance(notation, list | tuple | set | frozenset):
        return list(notation)
    return [] if notation == "" else [notation]


def joined_labels(labels: Sequence[str]) -> str:
    r"""Return `:First:Second`, which `labels_of` takes apart; a colon in a label becomes `\:`."""
    return "".join(":" + label.replace("\\", "\\\\").replace(":", "\\:") for label in labels)


def by_name(properties: Mapping[str, V]) -> dict[str, V]:
    """Return properties sorted by name, so that files do not depend on the order of insertion."""
    return dict(sorted(properties.items()))
