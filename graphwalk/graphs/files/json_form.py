"""Graphs written as JSON: one object per line inside the two lists, so that files can be read by eye and compared.

{"schema_version", "seed", "spec", "nodes": [{"key", "label", "properties"}],
 "relationships": [{"type", "source", "target", "properties"}]}        source and target are node keys

A node with several labels, or none, has the list "labels" in place of "label". `json_values` tags what JSON lacks.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from graphwalk.graphs.files.json_values import json_value
from graphwalk.graphs.files.shared import header, write_lines
from graphwalk.types.graph import Node, PropertyGraph
from graphwalk.types.values import Value

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def write_json(graph: PropertyGraph, path: Path) -> None:
    """The same bytes for the same graph; the file is there whole or not at all."""
    write_lines(path, json_lines(graph, header(graph)))


def json_lines(graph: PropertyGraph, head: dict[str, Any], form: Callable[[Value], Any] = json_value) -> Iterator[str]:
    """The lines of a JSON document with the fields of `head` before the nodes; `form` makes a value one of JSON."""
    yield "{"
    yield from (f"{_encode(name)}:{_encode(value)}," for name, value in head.items())
    yield '"nodes":['
    yield from _items(_nodes(graph, form))
    yield '],"relationships":['
    yield from _items(_relationships(graph, form))
    yield "]}"


def json_document(graph: PropertyGraph) -> dict[str, Any]:
    """What stands in a file, as one object."""
    nodes, relationships = _nodes(graph, json_value), _relationships(graph, json_value)
    return {**header(graph), "nodes": list(nodes), "relationships": list(relationships)}


def _nodes(graph: PropertyGraph, form: Callable[[Value], Any]) -> Iterator[dict[str, Any]]:
    for n in graph.nodes():
        held = {name: form(n.properties[name]) for name in sorted(n.properties)}
        yield {"key": n.key, **_labels(n), "properties": held}


def _relationships(graph: PropertyGraph, form: Callable[[Value], Any]) -> Iterator[dict[str, Any]]:
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
