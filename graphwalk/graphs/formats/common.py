"""Nodes, relationships and headers as all graph formats read them."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
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


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn any error while a graph file is read into a ConfigError that names the file."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot read the graph {path}: {error.strerror or error}; check the path") from error
    except RecursionError as error:
        raise ConfigError(f"cannot read the graph {path}: it is nested too deeply") from error
    except MemoryError as error:
        raise ConfigError(f"cannot read the graph {path}: it is too large for the memory of this machine") from error
    except (ValueError, ArithmeticError, ParseError) as error:
        raise ConfigError(f"cannot read the graph {path}: {error}") from error


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write the lines of a graph. Raise ConfigError if that fails."""
    write_whole(path, (f"{line}\n" for line in lines))


def header(graph: PropertyGraph) -> dict[str, Any]:
    """Return the origin of a graph, as every format records it."""
    return {"schema_version": SCHEMA_VERSION, "seed": graph.seed, "spec": dict(graph.spec)}


def checked_header(header: Mapping[str, Any]) -> tuple[int | None, dict[str, Any]]:
    """Return seed and spec of a header, (None, {}) without one. Raise ValueError for another version or damage."""
    if "schema_version" not in header:
        return None, {}
    version, seed, spec = header["schema_version"], header.get("seed"), header.get("spec")
    if version != SCHEMA_VERSION:
        raise ValueError(f"schema_version is {version!r}, this version of GraphWalk reads {SCHEMA_VERSION}")
    if seed is not None and type(seed) is not int:
        raise ValueError(f"seed must be a whole number or null, not {seed!r}")
    if spec is not None and not isinstance(spec, dict):
        raise ValueError(f"spec must be an object, not {spec!r}")
    return seed, spec or {}


def node_of(
    where: str, fields: Mapping[str, Any], key: Any = None, labels: Any = None, default: Sequence[str] = ("Node",)
) -> Node:
    """Return a node, from its fields as a program wrote them.

    `where`: its place in the file, for messages. `key` and `labels`: None to find them among the fields; `default` if
    there are no labels. A property `key` that is not its key becomes `key_`. Raise ValueError if it cannot be used.
    """
    rest = dict(fields)
    key = checked_text(where, "key", take_usual(rest, "key") if key is None else key)
    labels = take_usual(rest, "labels") if labels is None else labels
    distinct = {checked_text(where, "label", label) for label in (default if labels is None else labels_of(labels))}
    for label in filter(is_reserved, distinct):
        raise ValueError(
            f"{where} has the label {label!r}; GraphWalk finds its own graphs in a Neo4j by labels that "
            f"begin with {OUR_PREFIX}, so rename it"
        )
    return Node(key, tuple(sorted(distinct)), apart_from_key(checked_properties(where, rest), key))


Entity = tuple[str, Mapping[str, Any], Any]
"""A node as a program wrote it: its place in the file, its fields, its key."""
Edge = tuple[str, Mapping[str, Any], Any, Any]
"""A relationship as a program wrote it: its place in the file, its other fields, the keys of its ends."""


def foreign_graph(
    nodes: Sequence[Entity], edges: Sequence[Edge], options: FileOptions, file: str, *, directed: bool = True
) -> PropertyGraph:
    """Return the graph of a file of another program, and note what it was read as; without nodes, the ends are nodes.

    Raise ValueError if it cannot be used.
    """
    if options.label_from or options.name_from or options.type_from:
        nodes = [(where, flattened(where, fields), key) for where, fields, key in nodes]
        edges = [(where, flattened(where, fields), *ends) for where, fields, *ends in edges]
    if not nodes:
        ends = dict.fromkeys(checked_text(where, "end", end) for where, _, *both in edges for end in both)
        nodes = [(f"node {key!r}", {}, key) for key in ends]
    check_attribute("type_from", options.type_from, [fields for _, fields, *_ in edges])
    relationships: list[Relationship] = []
    for where, fields, source, target in edges:
        rest = dict(fields)
        type_ = rest.pop(options.type_from, "RELATED") if options.type_from else None
        one_way = relationship_of(where, rest, source, target, type_)
        if not directed and options.undirected == "refuse":
            raise ValueError(f"{where} is undirected; {UNDIRECTED}")
        relationships += [one_way] if directed else both_directions([one_way])
    return described(PropertyGraph.from_rows(foreign_nodes(nodes, options, file), relationships), file)


_MOST_LISTED = 10


def described(graph: PropertyGraph, file: str) -> PropertyGraph:
    """Return the graph of a file of another program, and note what it was read as."""
    labels = {":".join(table.labels) or "no label": len(table.numbers) for table in graph.node_tables}
    types = {table.type: len(table.sources) for table in graph.relationship_tables}
    parts = []
    for thing, numbers in (("node", labels), ("relationship", types)):
        largest_first = sorted(numbers.items(), key=lambda item: -item[1])
        names = [f"{name} {number:,}" for name, number in largest_first[:_MOST_LISTED]]
        names += ["…"] if len(numbers) > _MOST_LISTED else []
        parts.append(counted(sum(numbers.values()), thing) + (f" ({', '.join(names)})" if names else ""))
    note(f"{file}: read as {' and '.join(parts)}")
    return graph


def note(text: str) -> None:
    """Tell how a file was read, where it left a choice."""
    warnings.warn(text, FileNote, stacklevel=2)


def foreign_nodes(
    rows: Sequence[tuple[str, Mapping[str, Any], Any]], options: FileOptions, file: str
) -> Iterator[Node]:
    """Return the nodes of a file of another program: of each row its place, its fields and its key (`node_of`).

    Where nearly every node has a `label` of its own, this is its name and no label, unless the options choose
    another reading. ValueError if they name a field that no node has.
    """
    all_fields = [fields for _, fields, _ in rows]
    check_attribute("label_from", options.label_from, all_fields)
    check_attribute("name_from", options.name_from, all_fields)
    texts = [str(fields["label"]) for fields in all_fields if "label" in fields and "labels" not in fields]
    names_nodes = options.label_from != "label" and len(texts) > 2 and len(set(texts)) >= 0.9 * len(texts)
    name_from = options.name_from
    if names_nodes and name_from is None:
        name_from = None if any("name" in fields for fields in all_fields) else "label"
        property_name = "name" if name_from else "label"
        note(
            f"{file}: nearly every node has a label of its own, so it is read as the property {property_name}; "
            "graphwalk export graph --label-from label reads it as the label"
        )
    for where, fields, key in rows:
        rest, labels = dict(fields), None
        if options.label_from is not None:
            labels = rest.pop(options.label_from, "Node")
        elif names_nodes:
            label = {name: rest.pop(name) for name in ("label",) if name in rest}
            labels = take_usual(rest, "labels") or "Node"
            rest |= label
        if name_from is not None and name_from in rest:
            name = rest.pop(name_from)
            if rest.setdefault("name", name) != name:
                raise ValueError(f"{where} has another value of 'name'; rename it in the file")
        yield node_of(where, rest, key, labels)


def check_attribute(option: str, name: str | None, all_fields: Sequence[Mapping[str, Any]]) -> None:
    """Raise ValueError if an option names a field that is not in the file."""
    if name is not None and not any(name in fields for fields in all_fields):
        there = sorted({str(one) for fields in all_fields for one in fields})
        raise ValueError(f"{option}: there is no {name!r}; there are: {', '.join(there) or 'none'}")


def relationship_of(
    where: str,
    fields: Mapping[str, Any],
    source: Any = None,
    target: Any = None,
    type_: Any = None,
    default: str | None = "RELATED",
) -> Relationship:
    """Return a relationship, from its fields as a program wrote them. Raise ValueError if it cannot be used.

    `source`, `target`, `type_`: None to find them among the fields; `default` if there is no type.
    """
    rest = dict(fields)
    source = take_usual(rest, "source") if source is None else source
    target = take_usual(rest, "target") if target is None else target
    type_ = take_usual(rest, "type") if type_ is None else type_
    return Relationship(
        checked_text(where, "type", default if type_ is None else type_),
        checked_text(where, "source", source),
        checked_text(where, "target", target),
        checked_properties(where, rest),
    )


def usual_name(fields: Mapping[str, Any], what: str) -> str | None:
    """Return the name of the first field that usually holds this; None if there is none."""
    return next((name for name in USUAL_NAMES[what] if fields.get(name) is not None), None)


def take_usual(fields: dict[str, Any], what: str) -> Any:
    """Remove and return the first field that usually holds this; None if there is none."""
    for name in USUAL_NAMES[what]:
        if fields.get(name) is not None:
            return fields.pop(name)
    return None


def checked_text(where: str, what: str, value: Any) -> str:
    """Return a key, label or type; a number becomes text. Raise ValueError for anything else."""
    if value is None:
        raise ValueError(f"{where} has no {what}")
    if type(value) in (int, float):
        return str(value)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{where}, {what}: expected text, not {brief(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{where}, {what}: {error}") from None
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


UNDIRECTED = (
    'a property graph has directions, so choose: --undirected both, in Python undirected="both", reads every edge both '
    "ways"
)


def both_directions(relationships: Iterable[Relationship]) -> Iterator[Relationship]:
    """Yield every relationship, followed by its reverse."""
    for relationship in relationships:
        yield relationship
        if relationship.source != relationship.target:
            yield replace(relationship, source=relationship.target, target=relationship.source)
