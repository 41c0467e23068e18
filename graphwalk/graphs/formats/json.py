"""Read and write graphs as JSON; `graphwalk.graphs.values` has the JSON of a value."""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphwalk.config.graph_source import FileOptions
from graphwalk.graphs.formats.common import (
    by_name,
    checked_header,
    checked_text,
    flattened,
    foreign_graph,
    header,
    node_of,
    note,
    reading,
    relationship_of,
    take_usual,
    usual_name,
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
_GROUPS = (("group", "nodes"), ("group", "edges"))
_KINDS = ("node", "relationship")
"""Fields, and values of a field `type`, that only tell nodes from relationships: of Cytoscape, of APOC."""


def read_json(path: Path, options: FileOptions) -> PropertyGraph:
    """Return the graph of a file, of GraphWalk or of another program.

    Raise ConfigError with the file and the place of an error.
    """
    with reading(path):
        document = _read_document(path.read_bytes())
        if not isinstance(document, dict) or "schema_version" not in document:
            return _foreign_graph(document, options, path.name)
        seed, spec = checked_header(document)
        _note_left_out(document.keys() - {"schema_version", "seed", "spec", "nodes", "relationships"}, path.name)
        nodes, edges = (_entries(name, document.get(name)) for name in ("nodes", "relationships"))
        return PropertyGraph.from_rows(
            (node_of(where, fields, default=()) for where, fields in nodes),
            (relationship_of(where, fields, default=None) for where, fields in edges),
            seed=seed,
            spec=spec,
        )


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


def _entries(name: str, entries: Any) -> list[Entry]:
    """Return every object of a list with its place: "nodes[3]". Raise ValueError for anything else."""
    if isinstance(entries, dict):  # by id, as in the JSON Graph Format
        entries = [{"id": key, **fields} if isinstance(fields, dict) else fields for key, fields in entries.items()]
    if not isinstance(entries, list):
        raise ValueError(f"{name!r} must be a list")
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise ValueError(f"{name}[{number}] must be an object, not {brief(entry)}")
    return [(f"{name}[{number}]", entry) for number, entry in enumerate(entries)]


def _parts(document: Any) -> tuple[list[Entry], list[Entry], dict[str, Any]]:
    """Return the nodes, the relationships and the other fields of a document of another program."""
    if isinstance(document, list):
        nodes, edges = list[Entry](), list[Entry]()
        for where, fields in map(_plain, _entries("entry", document)):
            is_edge = usual_name(fields, "source") and usual_name(fields, "target")
            (edges if is_edge else nodes).append((where, fields))
        return nodes, edges, {}
    if not isinstance(document, dict):
        raise ValueError("a graph must be a JSON object, or a list of objects")
    rest = dict(document)
    node_list, edge_list = (next((name for name in usual if name in rest), "") for usual in (_NODE_LISTS, _EDGE_LISTS))
    around = next((name for name in _AROUND if isinstance(rest.get(name), dict | list)), "")
    if around and not node_list and not edge_list:
        nodes, edges, inner = _parts(rest.pop(around))
        return nodes, edges, rest | inner
    if not edge_list:
        names = ", ".join(map(brief, rest)) or "none"
        raise ValueError(f"no list of relationships: expected one of {', '.join(_EDGE_LISTS)}; its fields: {names}")
    nodes, edges = (list(map(_plain, _entries(name, rest.pop(name, [])))) for name in (node_list, edge_list))
    return nodes, edges, rest


def _plain(entry: Entry) -> Entry:
    """Return a node or a relationship without what Cytoscape and APOC put around its fields."""
    where, fields = entry
    if isinstance(fields.get("data"), dict):
        fields = {name: value for name, value in fields.items() if (name, value) not in _GROUPS}
        fields = dict(flattened(where, fields, ("data",)))
    if fields.get("type") in _KINDS:
        fields = {name: value for name, value in fields.items() if name != "type"}
    return where, fields


def _foreign_graph(document: Any, options: FileOptions, file: str) -> PropertyGraph:
    """Return the graph in a document of another program."""
    node_entries, edge_entries, rest = _parts(document)
    directed, multigraph = rest.pop("directed", True) is not False, rest.pop("multigraph", False)
    _note_left_out([name for name, value in rest.items() if value not in (None, "", [], {})], file)
    edges = []
    for where, entry in edge_entries:
        fields = dict(entry)
        if multigraph and isinstance(name := fields.pop(KEY, None), str):  # networkx numbers the others
            fields.setdefault("type", name)
        edges.append((where, fields, _key(take_usual(fields, "source")), _key(take_usual(fields, "target"))))
    ends = [end for *_, source, target in edges for end in (source, target)]
    named = ends != [] and all(isinstance(end, str) for end in ends)
    named = named and not any(usual_name(entry, "key") for _, entry in node_entries)
    nodes = []
    for number, (where, entry) in enumerate(node_entries):
        fields = dict(entry)
        if isinstance(fields.get("properties"), dict) and "label" in fields:  # no name, which would be a property
            fields.setdefault("labels", fields.pop("label"))
        key = fields.get("name") if named else _key(take_usual(fields, "key"))
        nodes.append((where, fields, checked_text(where, "key", number if key is None else key)))
    keys = [key for *_, key in nodes]
    if keys and all(type(end) is int for end in ends) and not {*map(str, ends)} & {*keys}:  # positions, as D3 has them
        if missing := [end for end in ends if end not in range(len(keys))]:
            raise ValueError(f"a relationship names the node {missing[0]}, and there are {len(keys)} nodes")
        edges = [(where, fields, keys[source], keys[target]) for where, fields, source, target in edges]
    return foreign_graph(nodes, edges, options, file, directed=directed)


def _note_left_out(names: Collection[str], file: str) -> None:
    if names:
        note(f"{file}: fields beside nodes and relationships are left out: {', '.join(map(brief, sorted(names)))}")


def _key(value: Any) -> Any:
    """Return the key in what a file has for a node: it, or an object with it; a list is a tuple of networkx."""
    if isinstance(value, dict):
        value = take_usual(dict(value), "key")
    return str(from_json(value)) if isinstance(value, list) else value
