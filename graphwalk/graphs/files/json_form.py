"""Graphs as JSON: one object per line inside the two lists, so that files can be read by eye and compared.

{"schema_version", "seed", "spec", "nodes": [{"key", "label", "properties"}],
 "relationships": [{"type", "source", "target", "properties"}]}        source and target are node keys
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from graphwalk.graphs.files.shared import (
    by_name,
    checked_header,
    checked_node_properties,
    checked_properties,
    checked_text,
    header,
    reading,
    write_lines,
)
from graphwalk.types.graph import Node, PropertyGraph, Relationship

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def write_json(graph: PropertyGraph, path: Path) -> None:
    """The same bytes for the same graph; the file is there whole or not at all."""
    write_lines(path, json_lines(graph, header(graph)))


def read_json(path: Path) -> PropertyGraph:
    """ConfigError that names the file and the place if it is damaged, foreign or of another version."""
    with reading(path):
        document = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
        if not isinstance(document, dict):
            raise ValueError("a graph must be a JSON object")
        seed, spec = checked_header(document)
        nodes, relationships = _nodes(document), _relationships(document)
        return PropertyGraph.from_rows(nodes, relationships, seed=seed, spec=spec)


def json_lines(graph: PropertyGraph, head: dict[str, Any]) -> Iterator[str]:
    """The lines of a JSON document with the fields of `head` before the nodes."""
    yield "{"
    yield from (f"{_encode(name)}:{_encode(value)}," for name, value in head.items())
    yield '"nodes":['
    nodes = ({"key": n.key, "label": n.label, "properties": by_name(n.properties)} for n in graph.nodes())
    yield from _items(nodes)
    yield '],"relationships":['
    yield from _items(
        {"type": r.type, "source": r.source, "target": r.target, "properties": by_name(r.properties)}
        for r in graph.relationships()
    )
    yield "]}"


def _items(objects: Iterable[dict[str, Any]]) -> Iterator[str]:
    before = ""
    for item in objects:
        if before:
            yield before + ","
        before = _encode(item)
    if before:
        yield before


def _nodes(document: dict[str, Any]) -> Iterator[Node]:
    for where, fields in _entries(document, "nodes", ("key", "label", "properties")):
        yield Node(
            checked_text(f"{where}, key", fields["key"]),
            (checked_text(f"{where}, label", fields["label"]),),
            checked_node_properties(where, fields["properties"]),
        )


def _relationships(document: dict[str, Any]) -> Iterator[Relationship]:
    for where, fields in _entries(document, "relationships", ("type", "source", "target", "properties")):
        yield Relationship(
            checked_text(f"{where}, type", fields["type"]),
            checked_text(f"{where}, source", fields["source"]),
            checked_text(f"{where}, target", fields["target"]),
            checked_properties(where, fields["properties"]),
        )


def _entries(document: dict[str, Any], kind: str, fields: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every entry of a list with its place, counted from 0 ("nodes[3]"), once it has the fields it needs."""
    entries = document.get(kind)
    if not isinstance(entries, list):
        raise ValueError(f"{kind!r} must be a list")
    for number, entry in enumerate(entries):
        where = f"{kind}[{number}]"
        if not isinstance(entry, dict):
            raise ValueError(f"{where} must be an object, not {entry!r}")
        for field in fields:
            if field not in entry:
                raise ValueError(f"{where} lacks the field {field!r}")
        if not isinstance(entry["properties"], dict):
            raise ValueError(f"{where}: properties must be an object, not {entry['properties']!r}")
        yield where, entry


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
