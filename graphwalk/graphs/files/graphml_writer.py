"""Graphs written as GraphML (graphml.graphdrawing.org), line by line, so that large ones pass too.

The label of a node is the data of key id "label", the type of a relationship that of key id "type"; properties have
ids of their own, so that one called "label" does no harm. Text, integers, floats and booleans keep their type.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.shared import by_name, header, write_lines
from graphwalk.types.graph import Column, PropertyGraph
from graphwalk.types.values import Value

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_TYPE_NAMES: dict[type, str] = {str: "string", int: "long", float: "double", bool: "boolean"}
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_KeyIds = dict[tuple[str, type], str]
"""Property name and type → id of its key element."""


def write_graphml(graph: PropertyGraph, path: Path) -> None:
    """The same bytes for the same graph. ConfigError for text that XML cannot hold (control characters)."""
    write_lines(path, graphml_lines(graph, header(graph)))


def graphml_lines(graph: PropertyGraph, head: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a GraphML document; the fields of `head` become JSON texts of the graph."""
    nodes = _key_ids("n", [table.columns for table in graph.node_tables])
    edges = _key_ids("r", [table.columns for table in graph.relationship_tables])
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<graphml xmlns="{_NAMESPACE}">'
    yield from (_key(name, "graph", name, "string") for name in head)
    yield _key("label", "node", "label", "string")
    yield _key("type", "edge", "type", "string")
    for domain, ids in (("node", nodes), ("edge", edges)):
        yield from (_key(id_, domain, name, _TYPE_NAMES[type_]) for (name, type_), id_ in ids.items())
    yield '<graph edgedefault="directed">'
    yield from (_data(name, json.dumps(value, ensure_ascii=False)) for name, value in head.items())
    for node in graph.nodes():
        data = _data("label", node.label) + _properties(node.properties, nodes)
        yield f"<node id={_attribute(node.key)}>{data}</node>"
    for r in graph.relationships():
        ends = f"source={_attribute(r.source)} target={_attribute(r.target)}"
        yield f"<edge {ends}>{_data('type', r.type)}{_properties(r.properties, edges)}</edge>"
    yield "</graph>"
    yield "</graphml>"


def _key_ids(prefix: str, tables: list[Mapping[str, Column]]) -> _KeyIds:
    used = {
        (name, type(value))
        for columns in tables
        for name, column in columns.items()
        for value in column.canonical().pool
    }
    return {key: f"{prefix}{i}" for i, key in enumerate(sorted(used, key=lambda key: (key[0], key[1].__name__)))}


def _key(id_: str, domain: str, name: str, type_: str) -> str:
    return f'<key id="{id_}" for="{domain}" attr.name={_attribute(name)} attr.type="{type_}"/>'


def _properties(properties: Mapping[str, Value], ids: _KeyIds) -> str:
    return "".join(_data(ids[name, type(value)], _text(value)) for name, value in by_name(properties).items())


def _data(id_: str, text: str) -> str:
    return f'<data key="{id_}">{escape(_valid(text), {chr(13): "&#13;"})}</data>'


def _attribute(text: str) -> str:
    return quoteattr(_valid(text))


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _valid(text: str) -> str:
    if _NOT_IN_XML.search(text):
        raise ConfigError(f"GraphML cannot hold the control characters in {text!r}", hint="save the graph as JSON")
    return text
