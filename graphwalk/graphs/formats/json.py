"""Read and write graphs as JSON.

Values that JSON lacks are objects with one field, whose name is the type:

{"$date": "2001-04-25"}   {"$time": "12:30:00+02:00"}   {"$localTime": "12:30:00"}   {"$duration": "P1DT2H"}
{"$dateTime": "2001-04-25T12:30:00Z"}   {"$localDateTime": "2001-04-25T12:30:00"}
{"$point": {"srid": 4326, "x": 12.5, "y": 55.7}}   {"$bytes": "00ff"}   {"$float": "NaN"}
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from graphwalk.graphs.formats.common import (
    brief,
    by_name,
    checked_header,
    checked_node,
    checked_relationship,
    header,
    point_of,
    read_text,
    read_value,
    reading,
)
from graphwalk.graphs.graph import PropertyGraph, Relationship
from graphwalk.graphs.temporals import read_temporal
from graphwalk.graphs.values import SPECIAL_FLOATS, Point, Temporal, TemporalKind, Value, shown

TEMPORAL_TAGS: dict[str, TemporalKind] = {
    "$date": "date",
    "$time": "time",
    "$localTime": "local time",
    "$dateTime": "datetime",
    "$localDateTime": "local datetime",
    "$duration": "duration",
}
_TAG_OF = {kind: tag for tag, kind in TEMPORAL_TAGS.items()}
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def parse_json(text: str) -> Any:
    """Return a JSON document. Raise ValueError for damage, duplicate fields and infinite numbers."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f'{constant} is not a JSON number; write {{"$float": "{constant}"}}')

    def finite(text: str) -> float:
        if math.isinf(number := float(text)):
            raise ValueError(f"the number {text[:40]} is too large")
        return number

    def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
            raise ValueError(f"an object has the field {brief(twice)} twice")
        return fields

    return json.loads(text, parse_constant=refuse, parse_float=finite, object_pairs_hook=without_doubles)


def json_value(value: Value) -> Any:
    """Return the value as JSON, tagged if JSON has no such type."""
    match value:
        case tuple():
            return [json_value(item) for item in value]
        case Temporal(kind, text):
            return {_TAG_OF[kind]: text}
        case Point(srid, coordinates):
            return {"$point": dict(zip(("srid", "x", "y", "z"), (srid, *coordinates), strict=False))}
        case bytes():
            return {"$bytes": value.hex()}
        case float() if not math.isfinite(value):
            return {"$float": shown(value)}
    return value


def from_json(value: Any) -> Any:
    """Invert `json_value`; return other values unchanged. Raise ValueError for an unknown or misused tag."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    tags = (*TEMPORAL_TAGS, "$point", "$bytes", "$float")
    if len(value) != 1 or (tag := next(iter(value))) not in tags:
        raise ValueError(f"an object cannot be a value, unless it is one of {', '.join(tags)}: {brief(value)}")
    held = value[tag]
    if tag == "$point" and isinstance(held, dict):
        return point_of(held)
    if isinstance(held, str):
        if tag in TEMPORAL_TAGS:
            return read_temporal(held, TEMPORAL_TAGS[tag])
        if tag == "$bytes":
            return read_value("bytes", held)
        if tag == "$float" and held in SPECIAL_FLOATS:
            return SPECIAL_FLOATS[held]
    raise ValueError(f"{tag} cannot be {brief(held)}")


def json_lines(graph: PropertyGraph, head: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a JSON document, the fields of `head` first."""
    yield "{"
    yield from (f"{_encode(name)}:{_encode(value)}," for name, value in head.items())
    yield '"nodes":['
    yield from _items(_node_objects(graph))
    yield '],"relationships":['
    yield from _items(_relationship_objects(graph))
    yield "]}"


def json_document(graph: PropertyGraph) -> dict[str, Any]:
    """Return the content of a file as one object."""
    return {
        **header(graph),
        "nodes": list(_node_objects(graph)),
        "relationships": list(_relationship_objects(graph)),
    }


def _node_objects(graph: PropertyGraph) -> Iterator[dict[str, Any]]:
    for n in graph.nodes():
        labels = {"label": n.labels[0]} if len(n.labels) == 1 else {"labels": list(n.labels)}
        yield {"key": n.key, **labels, "properties": _json_map(n.properties)}


def _relationship_objects(graph: PropertyGraph) -> Iterator[dict[str, Any]]:
    for r in graph.relationships():
        yield {"type": r.type, "source": r.source, "target": r.target, "properties": _json_map(r.properties)}


def _json_map(properties: Mapping[str, Value]) -> dict[str, Any]:
    return {name: json_value(value) for name, value in by_name(properties).items()}


def _items(objects: Iterable[dict[str, Any]]) -> Iterator[str]:
    before = ""
    for item in objects:
        if before:
            yield before + ","
        before = _encode(item)
    if before:
        yield before


Entries = Iterator[tuple[str, dict[str, Any]]]
"""Objects with their places in the file."""
_NODE_FIELDS = frozenset({"key", "id", "label", "labels", "properties"})
_RELATIONSHIP_FIELDS = frozenset({"key", "id", "type", "source", "target", "properties"})


def read_json(path: Path) -> PropertyGraph:
    """Return the graph of a file. Raise ConfigError with the file and the place of an error."""
    with reading(path):
        document = parse_json(read_text(path))
        if not isinstance(document, dict):
            raise ValueError("a graph must be a JSON object")
        seed, spec = checked_header(document)
        if "relationships" not in document and {"links", "edges"} & document.keys():
            raise ValueError(
                "it is in the form of networkx, which graphwalk.from_networkx and GraphML files can carry over"
            )
        nodes = (
            checked_node(where, _key(fields, number), _labels(fields), _properties(where, fields))
            for number, (where, fields) in enumerate(_entries("nodes", document.get("nodes"), _NODE_FIELDS))
        )
        relationships = _relationships(_entries("relationships", document.get("relationships"), _RELATIONSHIP_FIELDS))
        return PropertyGraph.from_rows(nodes, relationships, seed=seed, spec=spec)


def _entries(kind: str, entries: Any, fields: frozenset[str]) -> Entries:
    """Yield every entry of a list with its place: "nodes[3]".

    Raise ValueError unless all are objects with no other than these fields.
    """
    if not isinstance(entries, list):
        raise ValueError(f"{kind!r} must be a list")
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise ValueError(f"{kind}[{number}] must be an object, not {brief(entry)}")
        if unknown := entry.keys() - fields:
            raise ValueError(f"{kind}[{number}] has the unknown field {brief(min(unknown))}; put it into `properties`")
        yield f"{kind}[{number}]", entry


def _key(fields: Mapping[str, Any], number: int) -> Any:
    """Return the key of a node, which is its number if it has none."""
    return fields.get("key" if "key" in fields and "id" not in fields else "id", number)


def _labels(fields: Mapping[str, Any]) -> list[Any]:
    labels = fields.get("labels", fields.get("label", []))
    return labels if isinstance(labels, list) else [labels]


def _relationships(entries: Entries) -> Iterator[Relationship]:
    for where, fields in entries:
        type_, source, target = (_field(where, fields, name) for name in ("type", "source", "target"))
        yield checked_relationship(where, type_, source, target, _properties(where, fields))


def _field(where: str, fields: Mapping[str, Any], name: str) -> Any:
    if name not in fields:
        raise ValueError(f"{where} lacks the field {name!r}")
    return fields[name]


def _properties(where: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    properties = fields.get("properties", {})
    if not isinstance(properties, dict):
        raise ValueError(f"{where}: properties must be an object, not {brief(properties)}")
    values = {}
    for name, value in properties.items():
        try:
            values[name] = from_json(value)
        except ValueError as error:
            raise ValueError(f"{where}, property {name!r}: {error}") from None
    return values
