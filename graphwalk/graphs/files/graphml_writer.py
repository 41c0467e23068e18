"""Graphs written as GraphML (graphml.graphdrawing.org), line by line, so that large ones pass too.

The label of a node is the data of key id "label" (several: ":First:Second" of key id "labels"), the type of a
relationship that of key id "type"; properties have ids of their own, so that one called "label" does no harm. Text,
integers, floats and booleans have the types of GraphML. Other values are text for every other reader: their keys have
the type string, and in `graphwalk.type` date, time, localtime, datetime, localdatetime, duration, point or bytes. Lists
are JSON lists of such texts, with the type of their items in `attr.list`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.attributes import joined_labels
from graphwalk.graphs.files.shared import by_name, header, write_lines
from graphwalk.graphs.files.text_values import type_name, value_text
from graphwalk.types.graph import Column, Node, PropertyGraph
from graphwalk.types.values import Value

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_OF_GRAPHML = ("string", "long", "double", "boolean")
_SORT_NAMES = {"string": "str", "long": "int", "double": "float", "boolean": "bool"}
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_KeyIds = dict[tuple[str, str], str]
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
    if any(len(table.labels) != 1 for table in graph.node_tables):
        yield _key("labels", "node", "labels", "string")
    yield _key("type", "edge", "type", "string")
    for domain, ids in (("node", nodes), ("edge", edges)):
        yield from (_key(id_, domain, name, type_) for (name, type_), id_ in ids.items())
    yield '<graph edgedefault="directed">'
    yield from (_data(name, json.dumps(value, ensure_ascii=False)) for name, value in head.items())
    for node in graph.nodes():
        yield f"<node id={_attribute(node.key)}>{_labels(node)}{_properties(node.properties, nodes)}</node>"
    for r in graph.relationships():
        ends = f"source={_attribute(r.source)} target={_attribute(r.target)}"
        yield f"<edge {ends}>{_data('type', r.type)}{_properties(r.properties, edges)}</edge>"
    yield "</graph>"
    yield "</graphml>"


def _key_ids(prefix: str, tables: list[Mapping[str, Column]]) -> _KeyIds:
    used = {
        (name, type_name(value))
        for columns in tables
        for name, column in columns.items()
        for value in column.canonical().pool
    }
    ordered = sorted(used, key=lambda key: (key[0], _SORT_NAMES.get(key[1], key[1])))
    return {key: f"{prefix}{i}" for i, key in enumerate(ordered)}


def _key(id_: str, domain: str, name: str, type_: str) -> str:
    start = f'<key id="{id_}" for="{domain}" attr.name={_attribute(name)}'
    if type_ in _OF_GRAPHML:
        return f'{start} attr.type="{type_}"/>'
    if type_.endswith("[]"):
        return f'{start} attr.type="string" attr.list="{type_.removesuffix("[]")}"/>'
    return f'{start} attr.type="string" graphwalk.type="{type_}"/>'


def _labels(node: Node) -> str:
    if len(node.labels) == 1:
        return _data("label", node.labels[0])
    return _data("labels", joined_labels(node.labels))


def _properties(properties: Mapping[str, Value], ids: _KeyIds) -> str:
    return "".join(_data(ids[name, type_name(value)], _text(value)) for name, value in by_name(properties).items())


def _data(id_: str, text: str) -> str:
    return f'<data key="{id_}">{escape(_valid(text), {chr(13): "&#13;"})}</data>'


def _attribute(text: str) -> str:
    return quoteattr(_valid(text))


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        return json.dumps([value_text(item) for item in value], ensure_ascii=False)
    return value_text(value)


def _valid(text: str) -> str:
    if _NOT_IN_XML.search(text):
        raise ConfigError(f"GraphML cannot hold the control characters in {text!r}", hint="save the graph as JSON")
    return text
