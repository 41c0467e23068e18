"""What Neo4j's APOC exports with `apoc.export.json`: nodes and relationships, one object each."""

from collections.abc import Iterator, Mapping
from typing import Any

from graphwalk.graphs.files.checked import brief, checked_key, checked_labels, checked_properties, checked_text
from graphwalk.graphs.files.json_values import from_json, parse_json
from graphwalk.graphs.keys import apart_from_key
from graphwalk.types.graph import Node, Relationship
from graphwalk.types.values import Point

_KINDS = ("node", "relationship")
_SYSTEMS = {"wgs-84": 4326, "wgs-84-3d": 4979, "cartesian": 7203, "cartesian-3d": 9157}
_AXES = (("longitude", "x"), ("latitude", "y"), ("height", "z"))

Entries = Iterator[tuple[str, dict[str, Any]]]
"""Objects with their places in the file."""


def exported_entries(text: str) -> Entries | None:
    """The objects of a file with one per line; None if the first line is no such object."""
    first = text.lstrip().partition("\n")[0].strip()
    if not (first.startswith("{") and first.endswith("}")):
        return None
    try:
        entry = parse_json(first)
    except (ValueError, RecursionError):
        return None
    return _lines(text) if entry.get("type") in _KINDS else None


def exported_rows(entries: Entries) -> tuple[list[Node], list[Relationship]]:
    """Nodes and relationships, which may come in any order. ValueError names the place of what cannot be used."""
    nodes: list[Node] = []
    relationships: list[Relationship] = []
    for where, entry in entries:
        if entry.get("type") == "node":
            nodes.append(_node(where, entry))
        elif entry.get("type") == "relationship":
            relationships.append(_relationship(where, entry))
        else:
            raise ValueError(f"{where}: the type is one of {', '.join(_KINDS)}, not {brief(entry.get('type'))}")
    return nodes, relationships


def _lines(text: str) -> Entries:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                entry = parse_json(line)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
            if not isinstance(entry, dict):
                raise ValueError(f"line {number} must be an object, not {brief(entry)}")
            yield f"line {number}", entry


def _node(where: str, entry: Mapping[str, Any]) -> Node:
    key = checked_key(f"{where}, id", entry.get("id"))
    labels = entry.get("labels", [])
    if not isinstance(labels, list):
        raise ValueError(f"{where}: labels must be a list, not {brief(labels)}")
    return Node(key, checked_labels(where, labels), apart_from_key(_properties(where, entry), key))


def _relationship(where: str, entry: Mapping[str, Any]) -> Relationship:
    type_ = checked_text(f"{where}, label", entry.get("label"))
    return Relationship(type_, _end(where, entry, "start"), _end(where, entry, "end"), _properties(where, entry))


def _end(where: str, entry: Mapping[str, Any], name: str) -> str:
    end = entry.get(name)
    return checked_key(f"{where}, {name}", end.get("id") if isinstance(end, dict) else end)


def _properties(where: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    properties = entry.get("properties", {})
    if not isinstance(properties, dict):
        raise ValueError(f"{where}: properties must be an object, not {brief(properties)}")
    try:
        return checked_properties(where, {name: _value(value) for name, value in properties.items()})
    except ValueError as error:
        raise ValueError(str(error) if str(error).startswith(where) else f"{where}: {error}") from None


def _value(value: Any) -> Any:
    """Points are maps with the name of their coordinate system; dates and times are text, and stay it."""
    if isinstance(value, list):
        return [_value(item) for item in value]
    system = value.get("crs") if isinstance(value, dict) else None
    if not isinstance(system, str) or system not in _SYSTEMS:
        return from_json(value)
    found = [value.get(long, value.get(short)) for long, short in _AXES]
    coordinates = [number for number in found if number is not None]
    if not all(type(number) in (int, float) for number in coordinates):
        raise ValueError(f"the coordinates of a point are numbers, not {brief(coordinates)}")
    return Point(_SYSTEMS[system], tuple(float(number) for number in coordinates))
