"""Read and write GraphML."""

import json
import re
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from graphwalk.config.graph_source import FileOptions
from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.common import (
    Edge,
    Entity,
    by_name,
    checked_header,
    foreign_graph,
    graph_of,
    joined_labels,
    note,
    reading,
    refuse_choices,
)
from graphwalk.graphs.formats.json import parse_json
from graphwalk.graphs.graph import PropertyColumn, PropertyGraph
from graphwalk.graphs.values import Value, brief, read_value, type_name, value_text

_HEADER = ("schema_version", "seed", "spec")
_DRAWINGS = {"nodegraphics": "name", "edgegraphics": "label"}
"""Types of yEd's keys → fields for the texts that it draws."""
_DIRECTED = {"true": True, "1": True, "false": False, "0": False}


def read_graphml(path: Path, options: FileOptions) -> PropertyGraph:
    """Return a graph of GraphWalk or of another tool.

    Raise ConfigError with the file and the node or relationship that cannot be used.
    """
    with reading(path):
        root = _parse(path.read_bytes())
        graphs = root.findall("graph")
        if len(graphs) != 1:
            raise ValueError(f"expected one <graph> element, not {len(graphs)}")
        (graph,) = graphs
        _check_children("the graph", graph, {"data", "desc", "node", "edge"})
        keys = _keys(root)
        head = {_key_of(keys, item).name: item.text or "" for item in graph.iterfind("data")}
        texts = head | {child.tag: child.text or "" for child in graph.iterfind("desc")}
        if unread := sorted(name for name, text in texts.items() if name not in _HEADER and text.strip()):
            note(f"{path.name}: data of the graph as a whole is left out: {', '.join(unread)}")
        if "schema_version" in head:
            refuse_choices(options, "a file with a schema_version")
            seed, spec = checked_header({name: parse_json(head[name]) for name in _HEADER if name in head})
            nodes, edges = _nodes(keys, graph, is_ours=True), _edges(keys, graph, options, is_ours=True)
            return graph_of(nodes, edges, seed=seed, spec=spec)
        if any(key.is_drawing for key in keys.values()):
            read = "its labels are the names of nodes and the types of edges, its shapes and places are left out"
            note(f"{path.name} is a drawing: {read}")
        nodes, edges = _nodes(keys, graph, is_ours=False), _edges(keys, graph, options, is_ours=False)
        return foreign_graph(list(nodes), list(edges), options, path.name)


def _parse(document: bytes) -> Element:
    try:
        root = ElementTree.fromstring(document)
    except LookupError as error:  # for the encoding in the first line
        raise ValueError(str(error)) from error
    for element in root.iter():  # without namespaces, which some tools leave out
        element.tag = element.tag.rpartition("}")[2]
    return root


class _Key(NamedTuple):
    """The meaning of the data of one key id; `default` is the text where the data is missing."""

    domain: str
    name: str
    type: str = "string"
    is_list: bool = False
    default: str | None = None
    is_drawing: bool = False
    """True for what yEd draws, among it the labels that it shows."""


def _keys(root: Element) -> dict[str, _Key]:
    keys: dict[str, _Key] = {}
    for element in root.iterfind("key"):
        id_, items = element.get("id", ""), element.get("attr.list")
        drawing = _DRAWINGS.get(element.get("yfiles.type", ""))
        if id_ in keys:
            raise ValueError(f"two <key> elements have the id {id_!r}")
        keys[id_] = _Key(
            element.get("for", "all"),
            drawing or element.get("attr.name") or id_,
            element.get("graphwalk.type") or items or element.get("attr.type") or "string",
            items is not None,
            element.findtext("default"),
            drawing is not None,
        )
    # Older releases of APOC do not declare labels, and `desc` is an element of its own.
    return {"labels": _Key("node", "labels"), "label": _Key("edge", "label"), "desc": _Key("all", "desc")} | keys


def _key_of(keys: Mapping[str, _Key], data: Element) -> _Key:
    try:
        return keys[data.get("key", "")]
    except KeyError:
        raise ValueError(f"no <key> element explains the data {data.get('key', '')!r}") from None


def _nodes(keys: Mapping[str, _Key], graph: Element, *, is_ours: bool) -> Iterator[Entity]:
    for element in graph.iterfind("node"):
        where, labels = f"the node {element.get('id')!r}", None
        data = _data_of(where, keys, element)
        if is_ours:  # a property may be called `label` too
            labels = [data.pop("label")] if "label" in data else data.pop("labels", ())
        fields = _by_name(where, keys, data)
        if "labels" in element.attrib:  # of Neo4j's exports
            fields["labels"] = element.attrib["labels"]
        yield Entity(where, fields, element.get("id"), labels)


def _edges(keys: Mapping[str, _Key], graph: Element, options: FileOptions, *, is_ours: bool) -> Iterator[Edge]:
    default = "false" if graph.get("edgedefault") == "undirected" else "true"
    for element in graph.iterfind("edge"):
        where = f"the edge from {element.get('source')!r} to {element.get('target')!r}"
        data = _data_of(where, keys, element)
        type_ = data.pop("type", None) if is_ours else None
        fields = _by_name(where, keys, data)
        if not is_ours and options.type_from is None:
            type_ = element.get("label")  # of Neo4j's exports, which have it among the data too
            if type_ is not None and fields.get("label") == type_:
                del fields["label"]
        if (way := element.get("directed", default)) not in _DIRECTED:
            raise ValueError(f"{where}: directed={way!r} is neither true nor false")
        yield Edge(where, fields, element.get("source"), element.get("target"), type_, _DIRECTED[way])


def _check_children(where: str, element: Element, tags: Set[str]) -> None:
    if unknown := {child.tag for child in element} - tags:
        raise ValueError(f"{where} has the unknown element <{min(unknown)}>, which a property graph cannot hold")


def _data_of(where: str, keys: Mapping[str, _Key], element: Element) -> dict[str, Any]:
    """Return the data of a node or an edge by key id: of a drawing its labels, one a line."""
    domains = (element.tag, "all")
    texts = {id_: key.default for id_, key in keys.items() if key.default is not None and key.domain in domains}
    if (desc := element.findtext("desc")) is not None:
        texts["desc"] = desc
    _check_children(where, element, {"data", "desc"})
    items = list(element.iterfind("data"))
    if len({item.get("key") for item in items}) < len(items):
        raise ValueError(f"{where} has data of one key twice")
    for item in items:
        id_, text = item.get("key", ""), item.text or ""
        if _key_of(keys, item).is_drawing:
            labels = [(part.text or "").strip() for part in item.iter() if part.tag in ("NodeLabel", "EdgeLabel")]
            text = "\n".join(filter(None, labels))
        elif len(item):
            raise ValueError(
                f"the data {id_!r} of {where} has the element <{item[0].tag}>; "
                "only text and the labels of yEd can be read"
            )
        texts[id_] = text
    return {id_: _value(keys[id_], text) for id_, text in texts.items()}


def _by_name(where: str, keys: Mapping[str, _Key], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data by name. Raise ValueError for two values of one name."""
    fields: dict[str, Any] = {}
    for id_, value in data.items():
        if keys[id_].is_drawing and not value:
            continue
        name = keys[id_].name
        if name in fields and fields[name] != value:
            raise ValueError(
                f"{where} has two values of {name!r}, {brief(fields[name])} and {brief(value)}: give one of the <key> "
                f"elements that have this name (one is {id_!r}) another attr.name"
            )
        fields[name] = value
    return fields


def _value(key: _Key, text: str) -> Any:
    try:
        if not key.is_list:
            return read_value(key.type, text)
        items = parse_json(text)
        if not isinstance(items, list):
            raise ValueError(f"a list is written as a JSON list, not as {brief(text)}")
        return [read_value(key.type, item) if isinstance(item, str) else item for item in items]
    except ValueError as error:
        raise ValueError(f"the value {brief(text)} of attribute {key.name!r} is no {key.type}: {error}") from None


_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_OF_GRAPHML = ("string", "long", "double", "boolean")
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_KeyIds = dict[tuple[str, str], str]
"""Property name and type → id of its key element."""


def graphml_lines(graph: PropertyGraph, head: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a GraphML document; the fields of `head` become JSON texts of the graph.

    Raise ConfigError for control characters, which XML cannot hold.
    """
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
        one = len(node.labels) == 1
        labels = _data("label", node.labels[0]) if one else _data("labels", joined_labels(node.labels))
        yield f"<node id={_attribute(node.key)}>{labels}{_properties(node.properties, nodes)}</node>"
    for r in graph.relationships():
        ends = f"source={_attribute(r.source)} target={_attribute(r.target)}"
        yield f"<edge {ends}>{_data('type', r.type)}{_properties(r.properties, edges)}</edge>"
    yield "</graph>"
    yield "</graphml>"


def _key_ids(prefix: str, tables: list[Mapping[str, PropertyColumn]]) -> _KeyIds:
    used = {
        (name, type_name(value))
        for columns in tables
        for name, column in columns.items()
        for value in column.canonical().pool
    }
    return {key: f"{prefix}{i}" for i, key in enumerate(sorted(used))}


def _key(id_: str, domain: str, name: str, type_: str) -> str:
    start = f'<key id="{id_}" for="{domain}" attr.name={_attribute(name)}'
    if type_ in _OF_GRAPHML:
        return f'{start} attr.type="{type_}"/>'
    if type_.endswith("[]"):
        return f'{start} attr.type="string" attr.list="{type_.removesuffix("[]")}"/>'
    return f'{start} attr.type="string" graphwalk.type="{type_}"/>'


def _properties(properties: Mapping[str, Value], ids: _KeyIds) -> str:
    parts = []
    for name, value in by_name(properties).items():
        texts = list(map(value_text, value)) if isinstance(value, tuple) else None
        text = value_text(value) if texts is None else json.dumps(texts, ensure_ascii=False)
        parts.append(_data(ids[name, type_name(value)], text))
    return "".join(parts)


def _data(id_: str, text: str) -> str:
    return f'<data key="{id_}">{escape(_valid(text), {chr(13): "&#13;"})}</data>'


def _attribute(text: str) -> str:
    return quoteattr(_valid(text))


def _valid(text: str) -> str:
    if _NOT_IN_XML.search(text):
        raise ConfigError(f"GraphML cannot hold the control characters in {text!r}", hint="save the graph as JSON")
    return text
