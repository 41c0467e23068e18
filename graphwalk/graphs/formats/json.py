"""Read and write graphs as JSON: our own form, and exports of APOC and others.

Values that JSON lacks are objects with one field, whose name is the type:

{"$date": "2001-04-25"}   {"$time": "12:30:00+02:00"}   {"$localTime": "12:30:00"}   {"$duration": "P1DT2H"}
{"$dateTime": "2001-04-25T12:30:00Z"}   {"$localDateTime": "2001-04-25T12:30:00"}
{"$point": {"srid": 4326, "x": 12.5, "y": 55.7}}   {"$bytes": "00ff"}   {"$float": "NaN"}
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from graphwalk.graphs.formats.common import (
    UNDIRECTED,
    Undirected,
    apart_from_key,
    both_directions,
    brief,
    checked_header,
    checked_key,
    checked_labels,
    checked_point,
    checked_properties,
    checked_text,
    header,
    node_from_attributes,
    read_text,
    reading,
    relationship_from_attributes,
    write_lines,
)
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.temporals import read_temporal
from graphwalk.types.values import Point, Temporal, TemporalKind, Value

_TEMPORAL_TAGS: dict[str, TemporalKind] = {
    "$date": "date",
    "$time": "time",
    "$localTime": "local time",
    "$dateTime": "datetime",
    "$localDateTime": "local datetime",
    "$duration": "duration",
}
_TAG_OF = {kind: tag for tag, kind in _TEMPORAL_TAGS.items()}
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LONGEST_NUMBER = 400
POINT_FIELDS = ("srid", "x", "y", "z")


def parse_json(text: str) -> Any:
    """Return a JSON document. Raise ValueError for damage, duplicate fields and infinite numbers."""
    return json.loads(
        text, parse_constant=_refuse, parse_int=_whole, parse_float=_float, object_pairs_hook=_without_doubles
    )


def json_value(value: Value) -> Any:
    """Return the value as JSON, tagged if JSON has no such type."""
    if isinstance(value, tuple):
        return [json_value(item) for item in value]
    if isinstance(value, Temporal):
        return {_TAG_OF[value.kind]: value.text}
    if isinstance(value, Point):
        return {"$point": dict(zip(POINT_FIELDS, (value.srid, *value.coordinates), strict=False))}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": next(name for name, other in _FLOATS.items() if repr(other) == repr(value))}
    return value


def from_json(value: Any) -> Any:
    """Invert `json_value`; return other values unchanged. Raise ValueError for an unknown or misused tag."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or (tag := next(iter(value))) not in _READERS:
        raise ValueError(f"an object cannot be a value, unless it is one of {', '.join(_READERS)}: {brief(value)}")
    return _READERS[tag](value[tag])


def read_point(fields: Any) -> Point:
    """Return a point from `srid`, `x`, `y` and perhaps `z`. Raise ValueError for anything else."""
    if not isinstance(fields, Mapping) or not {"srid", "x", "y"} <= set(fields) <= set(POINT_FIELDS):
        raise ValueError(f"a point has srid, x, y and maybe z, not {brief(fields)}")
    srid, *coordinates = (fields[name] for name in POINT_FIELDS if name in fields)
    return checked_point(srid, coordinates)


def _temporal_reader(kind: TemporalKind) -> Callable[[Any], Temporal]:
    return lambda text: read_temporal(_text(text), kind)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a tagged value is text, not {brief(value)}")
    return value


def _bytes(value: Any) -> bytes:
    try:
        return bytes.fromhex(_text(value))
    except ValueError:
        raise ValueError(f"bytes are written as hexadecimal digits, not {brief(value)}") from None


def _special_float(value: Any) -> float:
    if _text(value) not in _FLOATS:
        raise ValueError(f"$float is one of {', '.join(_FLOATS)}, not {brief(value)}")
    return _FLOATS[value]


_READERS: dict[str, Callable[[Any], Any]] = {
    **{tag: _temporal_reader(kind) for tag, kind in _TEMPORAL_TAGS.items()},
    "$point": read_point,
    "$bytes": _bytes,
    "$float": _special_float,
}


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f'{constant} is not a JSON number; write {{"$float": "{constant}"}}')


def _whole(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"the number {text[:20]}… has {len(text)} digits and does not fit into 64 bits")
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has the field {brief(twice)} twice")
    return found


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def write_json(graph: PropertyGraph, path: Path) -> None:
    """Write a deterministic file, atomically."""
    write_lines(path, json_lines(graph, header(graph)))


def json_lines(graph: PropertyGraph, head: dict[str, Any], form: Callable[[Value], Any] = json_value) -> Iterator[str]:
    """Yield the lines of a JSON document, the fields of `head` first; `form` converts a value to JSON."""
    yield "{"
    yield from (f"{_encode(name)}:{_encode(value)}," for name, value in head.items())
    yield '"nodes":['
    yield from _items(_node_lines(graph, form))
    yield '],"relationships":['
    yield from _items(_relationship_lines(graph, form))
    yield "]}"


def json_document(graph: PropertyGraph) -> dict[str, Any]:
    """Return the content of a file as one object."""
    nodes, relationships = _node_lines(graph, json_value), _relationship_lines(graph, json_value)
    return {**header(graph), "nodes": list(nodes), "relationships": list(relationships)}


def _node_lines(graph: PropertyGraph, form: Callable[[Value], Any]) -> Iterator[dict[str, Any]]:
    for n in graph.nodes():
        held = {name: form(n.properties[name]) for name in sorted(n.properties)}
        yield {"key": n.key, **_labels(n), "properties": held}


def _relationship_lines(graph: PropertyGraph, form: Callable[[Value], Any]) -> Iterator[dict[str, Any]]:
    for r in graph.relationships():
        held = {name: form(r.properties[name]) for name in sorted(r.properties)}
        yield {"type": r.type, "source": r.source, "target": r.target, "properties": held}


def _labels(node: Node) -> dict[str, Any]:
    return {"label": node.labels[0]} if len(node.labels) == 1 else {"labels": list(node.labels)}


def _items(objects: Iterable[dict[str, Any]]) -> Iterator[str]:
    before = ""
    for item in objects:
        if before:
            yield before + ","
        before = _encode(item)
    if before:
        yield before


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
    """Yield every entry of a list with its place ("nodes[3]"). Raise ValueError unless all are objects."""
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
    """Return a graph in networkx's form, with attributes next to the names of the structure."""
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
    """Return all fields except those of the structure, and the fields of `properties` or `data` objects."""
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
    """Return the key of a node: its number if it has no name."""
    name = next((name for name in names if name in fields), None)
    return str(number) if name is None else checked_key(f"{where}, {name}", fields[name])


def _one_of(where: str, fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if name in fields:
            return fields[name]
    raise ValueError(f"{where} lacks the field {names[0]!r}")


_KINDS = ("node", "relationship")
_SYSTEMS = {"wgs-84": 4326, "wgs-84-3d": 4979, "cartesian": 7203, "cartesian-3d": 9157}
_AXES = (("longitude", "x"), ("latitude", "y"), ("height", "z"))

Entries = Iterator[tuple[str, dict[str, Any]]]
"""Objects with their places in the file."""


def exported_entries(text: str) -> Entries | None:
    """Return the objects of a file with one per line; None if the first line is not such an object."""
    first = text.lstrip().partition("\n")[0].strip()
    if not (first.startswith("{") and first.endswith("}")):
        return None
    try:
        entry = parse_json(first)
    except (ValueError, RecursionError):
        return None
    return _lines(text) if entry.get("type") in _KINDS else None


def exported_rows(entries: Entries) -> tuple[list[Node], list[Relationship]]:
    """Return nodes and relationships, which may come in any order. Raise ValueError with the place of an error."""
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
    return Node(key, checked_labels(where, labels), apart_from_key(_exported_properties(where, entry), key))


def _relationship(where: str, entry: Mapping[str, Any]) -> Relationship:
    type_ = checked_text(f"{where}, label", entry.get("label"))
    return Relationship(
        type_, _end(where, entry, "start"), _end(where, entry, "end"), _exported_properties(where, entry)
    )


def _end(where: str, entry: Mapping[str, Any], name: str) -> str:
    end = entry.get(name)
    return checked_key(f"{where}, {name}", end.get("id") if isinstance(end, dict) else end)


def _exported_properties(where: str, entry: Mapping[str, Any]) -> dict[str, Any]:
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
