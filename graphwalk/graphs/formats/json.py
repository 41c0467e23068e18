"""Read and write graphs as JSON; `graphwalk.graphs.values` has the JSON of a value."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphwalk.config.graph_source import FileOptions
from graphwalk.graphs.formats.common import (
    HEADER,
    Edge,
    Entity,
    by_name,
    checked_header,
    checked_text,
    flattened,
    graph_of,
    has_usual,
    header,
    note,
    reading,
    take_usual,
)
from graphwalk.graphs.graph import KEY, PropertyGraph
from graphwalk.graphs.values import SPECIAL_FLOATS, Value, brief, from_json, json_value

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


Entry = tuple[str, dict[str, Any]]
"""The place of an object in a file, and its fields."""
_NODE_LISTS = ("nodes", "vertices", "entities")
_EDGE_LISTS = ("relationships", "edges", "links", "rels", "relations")
_AROUND = ("elements", "graph")
"""Fields of a document that hold its nodes, its relationships, and both, as other programs call them."""
_KINDS = {"type": ("node", "relationship"), "group": ("nodes", "edges")}
"""Fields whose values only tell nodes from relationships: of APOC, of Cytoscape."""


def read_json(path: Path, options: FileOptions) -> PropertyGraph:
    """Return the graph of a file, of GraphWalk or of another program.

    Raise ConfigError with the file and the place of an error.
    """
    with reading(path):
        node_entries, edge_entries, rest = _parts(_read_document(path.read_bytes()))
        origin = checked_header(rest)
        directed, multigraph = rest.pop("directed", True) is not False, rest.pop("multigraph", False)
        left_out = [name for name, value in rest.items() if name not in HEADER and value not in (None, "", [], {})]
        if left_out:
            names = ", ".join(map(brief, sorted(left_out)))
            note(f"{path.name}: fields beside nodes and relationships are left out: {names}")
        edges = []
        for where, fields in edge_entries:
            if multigraph and isinstance(name := fields.pop(KEY, None), str):  # networkx numbers the others
                fields.setdefault("type", name)
            source, target = _key(take_usual(fields, "source")), _key(take_usual(fields, "target"))
            edges.append(Edge(where, fields, source, target, directed=directed))
        ends = [end for edge in edges for end in (edge.source, edge.target)]
        # Relationships name the nodes by their keys, else by their names, else by their positions, as in D3.
        has_keys = any(has_usual(fields, "key") for _, fields in node_entries)
        are_named = ends and not has_keys and all(isinstance(end, str) for end in ends)
        nodes = []
        for number, (where, fields) in enumerate(node_entries):
            key = fields.get("name") if are_named else _key(take_usual(fields, "key"))
            nodes.append(Entity(where, fields, checked_text(where, "key", number if key is None else key)))
        keys = [node.key for node in nodes]
        if all(type(end) is int for end in ends) and {*map(str, ends)}.isdisjoint(keys):
            key_at = dict(enumerate(keys))
            edges = [
                e._replace(source=key_at.get(e.source, e.source), target=key_at.get(e.target, e.target)) for e in edges
            ]
        return graph_of(nodes, edges, options, None if origin else path.name, **origin)


def _read_document(data: bytes) -> Any:
    """Return a JSON document, or the list of those that are one a line."""
    try:
        return parse_json(data)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" or error.lineno != 2:
            raise
    documents = []
    for number, line in enumerate(data.decode("utf-8-sig").splitlines(), 1):
        try:
            documents += [parse_json(line)] if line.strip() else []
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number}, column {error.colno}: {error.msg}") from None
    return documents


def _parts(document: Any) -> tuple[list[Entry], list[Entry], dict[str, Any]]:
    """Return the nodes, the relationships and the other fields of a document."""
    if isinstance(document, list):
        nodes, edges = list[Entry](), list[Entry]()
        for where, fields in _entries("entry", document):
            is_edge = has_usual(fields, "source") and has_usual(fields, "target")
            (edges if is_edge else nodes).append((where, fields))
        return nodes, edges, {}
    if not isinstance(document, dict):
        raise ValueError("a graph must be a JSON object, or a list of objects")
    node_list, edge_list = (
        next((name for name in usual if name in document), "") for usual in (_NODE_LISTS, _EDGE_LISTS)
    )
    around = next((name for name in _AROUND if isinstance(document.get(name), dict | list)), "")
    if around and not node_list and not edge_list:
        nodes, edges, inner = _parts(document.pop(around))
        return nodes, edges, document | inner
    if not edge_list:
        names = ", ".join(map(brief, document)) or "none"
        raise ValueError(f"no list of relationships: expected one of {', '.join(_EDGE_LISTS)}; its fields: {names}")
    nodes, edges = (_entries(name, document.pop(name, [])) for name in (node_list, edge_list))
    return nodes, edges, document


def _entries(name: str, entries: Any) -> list[Entry]:
    """Return the fields of every object of a list with its place: "nodes[3]". Raise ValueError for anything else.

    What Cytoscape and APOC put around the fields is left out.
    """
    if isinstance(entries, dict):  # by id, as in the JSON Graph Format
        entries = [{"id": key, **fields} if isinstance(fields, dict) else fields for key, fields in entries.items()]
    if not isinstance(entries, list):
        raise ValueError(f"{name!r} must be a list")
    rows = []
    for number, entry in enumerate(entries):
        where = f"{name}[{number}]"
        if not isinstance(entry, dict):
            raise ValueError(f"{where} must be an object, not {brief(entry)}")
        for field, kinds in _KINDS.items():
            if entry.get(field) in kinds:
                del entry[field]
        rows.append((where, flattened(where, entry, ("data",))))
    return rows


def _key(value: Any) -> Any:
    """Return the key in what a file has for a node: it, or an object with it; a list is a tuple of networkx."""
    if isinstance(value, dict):
        value = take_usual(value, "key")
    return str(from_json(value)) if isinstance(value, list) else value
