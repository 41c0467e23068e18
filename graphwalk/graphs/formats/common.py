"""Nodes, relationships and headers as all graph formats read them."""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.etree.ElementTree import ParseError

from graphwalk.config.graph_source import FileOptions
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
HEADER = ("schema_version", "seed", "spec")
"""Fields of a file of ours that tell how the graph was made."""
_MOST_LISTED = 10


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


def checked_header(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return seed and spec of a file of ours, {} of one without a version. Raise ValueError for another version."""
    if (version := fields.get("schema_version", SCHEMA_VERSION)) != SCHEMA_VERSION:
        raise ValueError(f"schema_version is {version!r}, this version of GraphWalk reads {SCHEMA_VERSION}")
    seed, spec = fields.get("seed"), fields.get("spec") or {}
    if type(seed) not in (int, type(None)) or not isinstance(spec, dict):
        raise ValueError(f"seed must be a whole number or null, and spec an object, not {brief((seed, spec))}")
    return {"seed": seed, "spec": spec} if "schema_version" in fields else {}


class Entity(NamedTuple):
    """A node as a program wrote it; `where` is its place in the file, for messages."""

    where: str
    fields: dict[str, Any]
    key: Any
    labels: Any = None
    """None: in the fields, under one of their usual names."""


class Edge(NamedTuple):
    """A relationship as a program wrote it; `where` is its place in the file, for messages."""

    where: str
    fields: dict[str, Any]
    source: Any
    target: Any
    type: Any = None
    """None: in the fields, under one of its usual names."""
    directed: bool = True


def graph_of(
    nodes: Iterable[Entity],
    edges: Iterable[Edge],
    options: FileOptions,
    file: str | None = None,
    *,
    seed: int | None = None,
    spec: Mapping[str, Any] | None = None,
) -> PropertyGraph:
    """Return the graph of what a file holds; without nodes, the ends of relationships are nodes.

    `file`: the name of a file of another program. Where nearly every node of it has a `label` of its own, this is its
    name and no label, unless the options choose another reading. Note what it was read as. Raise ValueError with the
    place of what cannot be used.
    """
    nodes, edges = list(nodes), list(edges)
    if options.label_from or options.name_from or options.type_from:
        nodes = [node._replace(fields=flattened(node.where, node.fields)) for node in nodes]
        edges = [edge._replace(fields=flattened(edge.where, edge.fields)) for edge in edges]
        _check_choices(nodes, edges, options)
    label_names, name_from = USUAL_NAMES["labels"], options.name_from
    if options.label_from:
        label_names = (options.label_from,)
    elif file is not None and not name_from and _labels_are_names(nodes):
        label_names = tuple(name for name in label_names if name != "label")
        name_from = None if any("name" in node.fields for node in nodes) else "label"
        read_as = "name" if name_from else "label"
        note(
            f"{file}: nearly every node has a label of its own, so it is read as the property {read_as}; "
            "graphwalk export graph --label-from label reads it as the label"
        )
    if not nodes:
        ends = (checked_text(edge.where, "end", end) for edge in edges for end in (edge.source, edge.target))
        nodes = [Entity(f"node {key!r}", {}, key) for key in dict.fromkeys(ends)]
    rows = dict[str, tuple[str, Node]]()
    for entity in nodes:
        node = _node(entity, label_names, name_from)
        if node.key in rows:
            raise ValueError(f"{entity.where}: the key {node.key!r} is there already, in {rows[node.key][0]}")
        rows[node.key] = (entity.where, node)
    relationships = list[Relationship]()
    for edge in edges:
        relationship = _relationship(edge, (options.type_from,) if options.type_from else USUAL_NAMES["type"])
        source, target = relationship.source, relationship.target
        if missing := [end for end in (source, target) if end not in rows]:
            raise ValueError(f"{edge.where} names the node {missing[0]!r}, which does not exist; add it")
        relationships.append(relationship)
        if not edge.directed and options.undirected == "refuse":
            raise ValueError(
                f"{edge.where} is undirected; a property graph has directions, so choose: --undirected both, in Python "
                'undirected="both", reads every edge both ways'
            )
        if not edge.directed and source != target:
            relationships.append(replace(relationship, source=target, target=source))
    graph = PropertyGraph.from_rows((node for _, node in rows.values()), relationships, seed=seed, spec=spec)
    if file is not None:
        note(f"{file}: read as {_described(graph)}")
    return graph


def _check_choices(nodes: Sequence[Entity], edges: Sequence[Edge], options: FileOptions) -> None:
    """Raise ValueError if an option names a field that is not there, or another reading of what a format fixes."""
    if (options.label_from and any(node.labels is not None for node in nodes)) or (
        options.type_from and any(edge.type is not None for edge in edges)
    ):
        raise ValueError("this file has labels and types of its own; leave out label_from and type_from")
    node_names, edge_names = ({str(name) for thing in things for name in thing.fields} for things in (nodes, edges))
    for option, names in (("label_from", node_names), ("name_from", node_names), ("type_from", edge_names)):
        if (name := getattr(options, option)) is not None and name not in names:
            raise ValueError(f"{option}: there is no {name!r}; there are: {', '.join(sorted(names)) or 'none'}")


def _labels_are_names(nodes: Sequence[Entity]) -> bool:
    """Return True if nearly every node has a `label` of its own beside its properties, as a drawing shows them."""
    fields = [node.fields for node in nodes if node.labels is None and "label" in node.fields]
    if any("labels" in one or isinstance(one.get("properties"), dict) for one in fields):
        return False
    return len(fields) > 2 and len({str(one["label"]) for one in fields}) >= 0.9 * len(fields)


def _node(entity: Entity, label_names: Sequence[str], name_from: str | None) -> Node:
    where, fields, key = entity.where, dict(entity.fields), checked_text(entity.where, "key", entity.key)
    if name_from in fields:
        name = fields.pop(name_from)
        if fields.setdefault("name", name) != name:
            raise ValueError(f"{where} has another value of 'name'; rename it in the file")
    labels = take_first(fields, label_names, "Node") if entity.labels is None else entity.labels
    distinct = {checked_text(where, "label", label) for label in labels_of(labels)}
    for label in filter(is_reserved, distinct):
        raise ValueError(
            f"{where} has the label {label!r}; GraphWalk finds its own graphs in a Neo4j by labels that "
            f"begin with {OUR_PREFIX}, so rename it"
        )
    return Node(key, tuple(sorted(distinct)), apart_from_key(_properties(where, fields), key))


def _relationship(edge: Edge, type_names: Sequence[str]) -> Relationship:
    where, fields = edge.where, dict(edge.fields)
    type_ = take_first(fields, type_names, "RELATED") if edge.type is None else edge.type
    return Relationship(
        checked_text(where, "type", type_),
        checked_text(where, "source", edge.source),
        checked_text(where, "target", edge.target),
        _properties(where, fields),
    )


def _described(graph: PropertyGraph) -> str:
    """Return the numbers of nodes and relationships, by labels and types."""
    labels = {":".join(table.labels) or "no label": len(table.numbers) for table in graph.node_tables}
    types = {table.type: len(table.sources) for table in graph.relationship_tables}
    parts = []
    for thing, numbers in (("node", labels), ("relationship", types)):
        listed = [f"{name} {number:,}" for name, number in Counter(numbers).most_common(_MOST_LISTED)]
        listed += ["…"] if len(numbers) > _MOST_LISTED else []
        parts.append(counted(sum(numbers.values()), thing) + (f" ({', '.join(listed)})" if listed else ""))
    return " and ".join(parts)


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


def _properties(where: str, fields: dict[Any, Any]) -> dict[str, Value]:
    """Return properties that a graph can hold; those in an object `properties` are among them, None is left out.

    Raise ValueError with place and property for anything else.
    """
    properties: dict[str, Value] = {}
    for name, data in flattened(where, fields).items():
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


def flattened(where: str, fields: dict[Any, Any], names: Sequence[str] = PROPERTIES) -> dict[Any, Any]:
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
