"""Graphs read from JSON: our own form, networkx's node-link form, and the lines that Neo4j's APOC exports.

ours        {"nodes": [{"key" or "id", "label" or "labels", "properties"}],
             "relationships": [{"type", "source" and "target", or "start" and "end", "properties"}]}
node-link   {"directed": true, "nodes": [{"id", …}], "links" or "edges": [{"source", "target", …}]}
APOC        {"type": "node", "id": "0", "labels": […], "properties": {…}}        one object per line, or a list of them
            {"type": "relationship", "label": "KNOWS", "start": {"id": "0"}, "end": {"id": "1"}, "properties": {…}}
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphwalk.graphs.files.attributes import node_from_attributes, relationship_from_attributes
from graphwalk.graphs.files.bounds import read_text
from graphwalk.graphs.files.checked import brief, checked_key, checked_labels, checked_properties, checked_text
from graphwalk.graphs.files.exported_json import exported_entries, exported_rows
from graphwalk.graphs.files.json_values import from_json, parse_json
from graphwalk.graphs.files.shared import checked_header, reading
from graphwalk.graphs.files.undirected import UNDIRECTED, Undirected, both_directions
from graphwalk.graphs.keys import apart_from_key
from graphwalk.types.graph import Node, PropertyGraph, Relationship

_KEYS = ("key", "id")
_SOURCES = ("source", "start", "from", "startNode")
_TARGETS = ("target", "end", "to", "endNode")
_LINKS = ("links", "edges")


def read_json(path: Path, undirected: Undirected = "refuse") -> PropertyGraph:
    """ConfigError that names the file and the place if it is damaged or of a form that is not known."""
    with reading(path):
        text = read_text(path)
        lines = exported_entries(text)
        if lines is not None:
            return PropertyGraph.from_rows(*exported_rows(lines))
        document = parse_json(text)
        del text
        if isinstance(document, list):
            return PropertyGraph.from_rows(*exported_rows(enumerate_entries("entry", document)))
        if not isinstance(document, dict):
            raise ValueError("a graph must be a JSON object")
        seed, spec = checked_header(document)
        if "relationships" in document or not any(name in document for name in _LINKS):
            rows = _nodes(document), _relationships(document)
        else:
            rows = _linked(document, undirected)
        return PropertyGraph.from_rows(*rows, seed=seed, spec=spec)


def enumerate_entries(kind: str, entries: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every entry of a list with its place, counted from 0 ("nodes[3]"). ValueError unless all are objects."""
    if not isinstance(entries, list):
        raise ValueError(f"{kind!r} must be a list")
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise ValueError(f"{kind}[{number}] must be an object, not {brief(entry)}")
        yield f"{kind}[{number}]", entry


def _nodes(document: Mapping[str, Any]) -> Iterator[Node]:
    for number, (where, fields) in enumerate(enumerate_entries("nodes", document.get("nodes"))):
        key = _key(where, fields, number)
        properties = checked_properties(where, _properties(where, fields))
        labels = fields.get("labels", fields.get("label", []))
        yield Node(
            key,
            checked_labels(where, labels if isinstance(labels, list) else [labels]),
            apart_from_key(properties, key),
        )


def _relationships(document: Mapping[str, Any]) -> Iterator[Relationship]:
    for where, fields in enumerate_entries("relationships", document.get("relationships")):
        yield Relationship(
            checked_text(f"{where}, type", _one_of(where, fields, ("type",))),
            checked_key(f"{where}, source", _one_of(where, fields, _SOURCES)),
            checked_key(f"{where}, target", _one_of(where, fields, _TARGETS)),
            checked_properties(where, _properties(where, fields)),
        )


def _linked(document: Mapping[str, Any], undirected: Undirected) -> tuple[Iterator[Node], Iterator[Relationship]]:
    """networkx's form, whose attributes stand beside the names of the structure."""
    links = next(name for name in _LINKS if name in document)
    relationships = _linked_relationships(links, document)
    if document.get("directed", True) is not True:
        if undirected == "refuse":
            raise ValueError(f"the graph is undirected; {UNDIRECTED}")
        relationships = both_directions(relationships)
    return _linked_nodes(document), relationships


def _linked_nodes(document: Mapping[str, Any]) -> Iterator[Node]:
    for number, (where, fields) in enumerate(enumerate_entries("nodes", document.get("nodes"))):
        yield node_from_attributes(_key(where, fields, number, ("id",)), _attributes(where, fields, ("id",)))


def _linked_relationships(links: str, document: Mapping[str, Any]) -> Iterator[Relationship]:
    several = document.get("multigraph") is True
    for where, fields in enumerate_entries(links, document[links]):
        source = checked_key(f"{where}, source", _one_of(where, fields, _SOURCES))
        target = checked_key(f"{where}, target", _one_of(where, fields, _TARGETS))
        used = tuple(next(name for name in names if name in fields) for names in (_SOURCES, _TARGETS))
        attributes = _attributes(where, fields, (*used, "key") if several else used)
        name = fields.get("key") if several else None
        yield relationship_from_attributes(source, target, attributes, name=name)


def _attributes(where: str, fields: Mapping[str, Any], structure: tuple[str, ...]) -> dict[str, Any]:
    """All fields but those of the structure, and the fields of `properties` or `data` where that is an object."""
    rest = {name: value for name, value in fields.items() if name not in structure}
    for place in ("properties", "data"):  # the second is rustworkx's
        inner = rest.get(place)
        if isinstance(inner, dict) and not (len(inner) == 1 and next(iter(inner)).startswith("$")):
            del rest[place]
            rest = {**inner, **rest}
    labels = {"labels", "label"} & rest.keys()
    try:
        return {name: value if name in labels else from_json(value) for name, value in rest.items()}
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _properties(where: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    properties = fields.get("properties", {})
    if not isinstance(properties, dict):
        raise ValueError(f"{where}: properties must be an object, not {brief(properties)}")
    found = {}
    for name, value in properties.items():
        try:
            found[name] = from_json(value)
        except ValueError as error:
            raise ValueError(f"{where}, property {name!r}: {error}") from None
    return found


def _key(where: str, fields: Mapping[str, Any], number: int, names: tuple[str, ...] = _KEYS) -> str:
    """A node that is not named is called by its number."""
    name = next((name for name in names if name in fields), None)
    return str(number) if name is None else checked_key(f"{where}, {name}", fields[name])


def _one_of(where: str, fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if name in fields:
            return fields[name]
    raise ValueError(f"{where} lacks the field {names[0]!r}")
