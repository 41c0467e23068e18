"""Read and write graphs as JSON; `graphwalk.graphs.values` has the JSON of a value."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphwalk.config.graph_source import FileOptions
from graphwalk.graphs.formats.build import direction_of, end_fields, graph_of, no_relationships
from graphwalk.graphs.formats.common import (
    HEADER,
    Mistakes,
    Record,
    Table,
    by_name,
    checked_header,
    header,
    merged,
    note,
    read_text,
    reading,
)
from graphwalk.graphs.graph import KEY, PropertyGraph
from graphwalk.graphs.values import SPECIAL_FLOATS, Value, brief, json_value

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def parse_json(text: str | bytes) -> Any:
    """Return a JSON document, NaN included. Raise ValueError for damage, a field twice and a too large number."""
    return json.loads(
        text, parse_constant=SPECIAL_FLOATS.__getitem__, parse_float=_finite, object_pairs_hook=_without_doubles
    )


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        [(duplicate, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"an object has the field {brief(duplicate)} twice")
    return fields


def json_lines(graph: PropertyGraph, head: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a JSON document, the fields of `head` first."""
    yield "{"
    for name, value in head.items():
        yield f"{_encode(name)}:{_encode(value)},"
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
    for node in graph.nodes():
        fields: dict[str, Any] = {"key": node.key}
        if len(node.labels) == 1:
            fields["label"] = node.labels[0]
        else:
            fields["labels"] = list(node.labels)
        fields["properties"] = _json_map(node.properties)
        yield fields


def _relationship_objects(graph: PropertyGraph) -> Iterator[dict[str, Any]]:
    for relationship in graph.relationships():
        yield {
            "type": relationship.type,
            "source": relationship.source,
            "target": relationship.target,
            "properties": _json_map(relationship.properties),
        }


def _json_map(properties: Mapping[str, Value]) -> dict[str, Any]:
    return {name: json_value(value) for name, value in by_name(properties).items()}


def _items(objects: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield each object on a line of its own, with a comma behind all but the last."""
    line = ""
    for item in objects:
        if line:
            yield line + ","
        line = _encode(item)
    if line:
        yield line


_NODE_LISTS = ("nodes", "vertices", "entities")
_EDGE_LISTS = ("relationships", "edges", "links", "rels", "relations")
_AROUND = ("elements", "graph")
"""Fields of a document that hold its nodes, its relationships, and both, as other programs call them."""
_OUR_NODE = ({KEY, "label"}, {KEY, "labels"})
_OUR_RELATIONSHIP = {"type", "source", "target"}
"""Fields of a node and of a relationship in a file of ours, beside its properties."""
_KINDS_OF_GRAPH = ("type", "edgedefault", "defaultedgetype")
"""Fields of a document that say "undirected"."""


def read_json(path: Path, options: FileOptions) -> PropertyGraph:
    """Return the graph of a file, of GraphWalk or of another program.

    Raise ConfigError with the file and the place of an error.
    """
    with reading(path):
        mistakes = Mistakes(skip=options.skip_bad)
        nodes, edges, rest = _parts(_parsed(read_text(path), mistakes), options, mistakes)
        origin = checked_header(rest)
        is_undirected = _is_undirected(rest)
        is_multigraph = rest.pop("multigraph", False)
        for edge in edges:
            edge.directed = not is_undirected
            if is_multigraph:
                # networkx numbers the edges between two nodes; a key that is text is a name.
                key = edge.fields.pop(KEY, None)
                if isinstance(key, str):
                    edge.fields.setdefault("type", key)

        if origin:
            _fix_roles(nodes, edges, options)
        left_out = [name for name, value in rest.items() if name not in HEADER and value not in (None, "", [], {})]
        if left_out:
            names = ", ".join(brief(name) for name in sorted(left_out))
            note(f"{path.name}: fields beside nodes and relationships are left out: {names}")
        return graph_of(
            [Table(path.name, nodes, "Node")],
            [Table(path.name, edges, "RELATED")],
            options,
            None if origin else path.name,
            mistakes=mistakes,
            **origin,
        )


def _fix_roles(nodes: Sequence[Record], edges: Sequence[Record], options: FileOptions) -> None:
    """Fix the roles in a file of ours, if it is as we write it and no option names a field."""
    named = (options.key_from, options.name_from, options.label_from, options.type_from, options.source_from)
    if any(name is not None for name in named):
        return
    for record in nodes:
        if record.fields.keys() not in _OUR_NODE or not isinstance(record.fields[KEY], str):
            return
    for record in edges:
        if record.fields.keys() != _OUR_RELATIONSHIP:
            return
        if not (isinstance(record.fields["source"], str) and isinstance(record.fields["target"], str)):
            return
    # A label or a type that is null is found elsewhere.
    if any(None in record.fields.values() for record in (*nodes, *edges)):
        return

    for record in nodes:
        labels = record.fields.get("labels", record.fields.get("label"))
        record.fixed = {"key": record.fields[KEY], "label": labels}
        record.fields = {}
    for record in edges:
        record.fixed = record.fields
        record.fields = {}


def _parsed(text: str, mistakes: Mistakes) -> Any:
    """Return a JSON document, or the list of those that are one a line."""
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" or error.lineno != 2:
            raise
    documents = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        with mistakes:
            try:
                documents.append(parse_json(line))
            except json.JSONDecodeError as error:
                raise ValueError(f"line {number}, column {error.colno}: {error.msg}") from None
    return documents


def _is_undirected(rest: dict[str, Any]) -> bool:
    """Return True if a document has undirected edges by its fields; remove these.

    {"directed": false, …} of networkx, {"options": {"type": "undirected"}, …} of graphology
    """
    holders = [rest]
    if isinstance(rest.get("options"), dict):
        holders.append(rest.pop("options"))
    is_undirected = False
    for holder in holders:
        is_undirected |= direction_of(holder) is False
        holder.pop("directed", None)
        for name in _KINDS_OF_GRAPH:
            is_undirected |= str(holder.get(name)).lower() == "undirected"
    return is_undirected


def _parts(
    document: Any, options: FileOptions, mistakes: Mistakes
) -> tuple[list[Record], list[Record], dict[str, Any]]:
    """Return the nodes and the relationships of a document, and its other fields. ValueError for one without any."""
    # [{"data": {"id": "a"}}, {"data": {"source": "a", "target": "a"}}]
    if isinstance(document, list):
        nodes: list[Record] = []
        edges: list[Record] = []
        for record in _records("entry", document, mistakes):
            if end_fields(record.fields, options) is None:
                nodes.append(record)
            else:
                edges.append(record)
        if not edges:
            mistakes.end("the list")
            raise no_relationships("", Table("", nodes, "").names)
        return nodes, edges, {}
    if not isinstance(document, dict):
        raise ValueError("a graph must be a JSON object, or a list of objects")

    node_list = _list_of(document, _NODE_LISTS)
    edge_list = _list_of(document, _EDGE_LISTS)
    # {"elements": {"nodes": […], "edges": […]}}
    around = next((name for name in _AROUND if isinstance(document.get(name), dict | list)), None)
    if around and not node_list and not edge_list:
        nodes, edges, rest = _parts(document.pop(around), options, mistakes)
        return nodes, edges, document | rest
    if not edge_list:
        names = ", ".join(brief(name) for name in document) or "none"
        raise ValueError(f"no list of relationships: expected one of {', '.join(_EDGE_LISTS)}; its fields: {names}")
    nodes = []
    if node_list:
        nodes = _records(node_list, document.pop(node_list), mistakes)
    edges = _records(edge_list, document.pop(edge_list), mistakes)
    return nodes, edges, document


def _list_of(document: dict[str, Any], usual: Sequence[str]) -> str | None:
    """Return the field with the nodes or the relationships. Raise ValueError if there are two."""
    names = [name for name in usual if name in document]
    filled = [name for name in names if document[name]]
    if len(filled) > 1:
        choices = " and ".join(brief(name) for name in filled)
        raise ValueError(f"the graph is in one of the fields {choices}; remove the other")
    if filled:
        return filled[0]
    # {"nodes": []}
    return names[0] if names else None


def _with_id(key: str, fields: Any) -> Any:
    """Return fields with the id; what is no object is returned as it is, for the check of records to name it."""
    if not isinstance(fields, dict):
        return fields
    return {"id": key, **fields}


def _is_of_apoc(name: str, entry: Any) -> bool:
    """Return True if the field `type` of an entry in this list says what the entry is, as APOC writes it."""
    if not isinstance(entry, dict):
        return False
    # {"type": "node", "id": "0", "labels": ["Person"], "properties": {…}}
    if entry.get("type") == "node":
        return name not in _EDGE_LISTS
    # {"type": "relationship", "label": "KNOWS", "start": {"id": "0", "labels": ["Person"]}, "end": {…}}
    return entry.get("type") == "relationship" and isinstance(entry.get("start"), dict)


def _records(name: str, entries: Any, mistakes: Mistakes) -> list[Record]:
    """Return every object of a list with its place: "nodes[3]"; what Cytoscape and APOC put around it is left out."""
    # {"a": {"label": "Aal"}, …}: by id, as in the JSON Graph Format
    if isinstance(entries, dict):
        entries = [_with_id(key, fields) for key, fields in entries.items()]
    if not isinstance(entries, list):
        raise ValueError(f"{name!r} must be a list")
    is_apoc = all(_is_of_apoc(name, entry) for entry in entries)
    drawn_labels = 0
    records = []
    for number, entry in enumerate(entries):
        where = f"{name}[{number}]"
        with mistakes:
            if not isinstance(entry, dict):
                raise ValueError(f"{where} must be an object, not {brief(entry)}")
            if is_apoc:
                del entry["type"]
            # {"group": "nodes", "data": {"id": "a"}}
            if isinstance(entry.get("data"), dict):
                if entry.get("group") in ("nodes", "edges"):
                    del entry["group"]
                entry = merged(where, entry.pop("data"), entry)
            # {"key": "a", "attributes": {"label": "Aal"}}: graphology draws the label of a node
            attributes = entry.get("attributes")
            if name in _NODE_LISTS and isinstance(attributes, dict) and "name" not in attributes:
                attributes["name"] = attributes.pop("label", None)
                drawn_labels += attributes["name"] is not None
            records.append(Record.of(where, entry))
    if drawn_labels:
        note(f"{name}: the label among the attributes of a node is read as the property name")
    return records
