"""Read and write graphs as JSON; `graphwalk.graphs.values` has the JSON of a value."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphwalk.graphs.formats.common import (
    by_name,
    checked_header,
    header,
    node_of,
    reading,
    relationship_of,
)
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.values import SPECIAL_FLOATS, Value, brief, json_value

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def parse_json(text: str | bytes) -> Any:
    """Return a JSON document, NaN included. Raise ValueError for damage, a field twice and a too large number."""
    return json.loads(
        text, parse_constant=SPECIAL_FLOATS.__getitem__, parse_float=_finite, object_pairs_hook=_without_doubles
    )


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has the field {brief(twice)} twice")
    return fields


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


def read_json(path: Path) -> PropertyGraph:
    """Return the graph of a file. Raise ConfigError with the file and the place of an error."""
    with reading(path):
        document = parse_json(path.read_bytes())
        if not isinstance(document, dict):
            raise ValueError("a graph must be a JSON object")
        seed, spec = checked_header(document)
        if "relationships" not in document and {"links", "edges"} & document.keys():
            raise ValueError(
                "it is in the form of networkx, which graphwalk.from_networkx and GraphML files can carry over"
            )
        nodes = (
            node_of(where, fields, None if {"id", "key"} & fields.keys() else number, default=())
            for number, (where, fields) in enumerate(_entries(document, "nodes"))
        )
        edges = (relationship_of(where, fields, default=None) for where, fields in _entries(document, "relationships"))
        return PropertyGraph.from_rows(nodes, edges, seed=seed, spec=spec)


def _entries(document: dict[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of a list with its place: "nodes[3]". Raise ValueError for anything else."""
    if not isinstance(document.get(name), list):
        raise ValueError(f"{name!r} must be a list")
    for number, entry in enumerate(document[name]):
        if not isinstance(entry, dict):
            raise ValueError(f"{name}[{number}] must be an object, not {brief(entry)}")
        yield f"{name}[{number}]", entry
