"""Read and write GraphML."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from graphwalk.config.graph_source import FileOptions
from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.common import (
    UNDIRECTED,
    both_directions,
    by_name,
    check_attribute,
    checked_header,
    described,
    foreign_nodes,
    joined_labels,
    labels_of,
    node_of,
    note,
    reading,
    relationship_of,
)
from graphwalk.graphs.formats.json import parse_json
from graphwalk.graphs.graph import Node, PropertyColumn, PropertyGraph, Relationship
from graphwalk.graphs.values import Value, brief, read_value, type_name, value_text

_NOT_HELD = {
    "port": "ports (places of a node at which an edge ends)",
    "hyperedge": "hyperedges (edges between more than two nodes)",
}
_HEADER = ("schema_version", "seed", "spec")
_DIRECTED = {"true": True, "1": True, "false": False, "0": False}


def read_graphml(path: Path, options: FileOptions) -> PropertyGraph:
    """Return a graph of GraphWalk or of another tool.

    Raise ConfigError with the file and the node or relationship that cannot be used.
    """
    with reading(path):
        root = _parse(path.read_bytes())
        for tag, part in _NOT_HELD.items():
            if root.find(f".//{tag}") is not None:
                raise ValueError(f"a property graph cannot hold {part}")
        graphs = list(root.iter("graph"))
        if len(graphs) != 1:
            raise ValueError(
                "nested graphs and several graphs in one file cannot be read"
                if graphs
                else "there is no <graph> element"
            )
        (graph,) = graphs
        keys = _keys(root)
        head = {_key_of(keys, item).name: item.text or "" for item in graph.iterfind("data")}
        if unread := sorted(name for name, text in head.items() if name not in _HEADER and text.strip()):
            note(f"{path.name}: data of the graph as a whole is left out: {', '.join(unread)}")
        seed, spec = checked_header({name: parse_json(head[name]) for name in _HEADER if name in head})
        if any(key.is_drawing for key in keys.values()):
            read = "its labels are the names of nodes and the types of edges, its shapes and places are left out"
            note(f"{path.name} is a drawing: {read}")
        nodes, edges = list(graph.iterfind("node")), list(graph.iterfind("edge"))
        is_ours = "schema_version" in head
        whole = PropertyGraph.from_rows(
            map(partial(_own_node, keys), nodes) if is_ours else _nodes(keys, nodes, options, path.name),
            _relationships(keys, edges, graph.get("edgedefault") != "undirected", options, is_ours=is_ours),
            seed=seed,
            spec=spec,
        )
        return whole if is_ours else described(whole, path.name)


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
        id_, type_, items = element.get("id", ""), element.get("attr.type", "string"), element.get("attr.list")
        if id_ in keys:
            raise ValueError(f"two <key> elements have the id {id_!r}")
        keys[id_] = _Key(
            element.get("for", "all"),
            element.get("attr.name", id_),
            element.get("graphwalk.type", items or type_),
            bool(items),
            element.findtext("default"),
            element.get("yfiles.type") in ("nodegraphics", "edgegraphics"),
        )
    # Older releases of APOC do not declare labels, and `desc` is an element of its own.
    return {"labels": _Key("node", "labels"), "label": _Key("edge", "label"), "desc": _Key("all", "desc")} | keys


def _key_of(keys: Mapping[str, _Key], data: Element) -> _Key:
    try:
        return keys[data.get("key", "")]
    except KeyError:
        raise ValueError(f"no <key> element explains the data {data.get('key', '')!r}") from None


def _own_node(keys: Mapping[str, _Key], element: Element) -> Node:
    """Return a node of a file of ours, in which another property may be called `label`."""
    where, data = f"node {element.get('id')!r}", _data_of(keys, element)
    names = [data.pop("label")] if "label" in data else labels_of(data.pop("labels", "Node"))
    return node_of(where, _by_name(where, keys, data), element.get("id", ""), names)


def _nodes(keys: Mapping[str, _Key], elements: Iterable[Element], options: FileOptions, file: str) -> Iterator[Node]:
    rows = []
    for element in elements:
        where = f"node {element.get('id')!r}"
        fields = _by_name(where, keys, _data_of(keys, element))
        if "labels" in element.attrib:  # of Neo4j's exports
            fields["labels"] = element.attrib["labels"]
        rows.append((where, fields, element.get("id", "")))
    return foreign_nodes(rows, options, file)


def _relationships(
    keys: Mapping[str, _Key], elements: Iterable[Element], directed: bool, options: FileOptions, *, is_ours: bool
) -> Iterator[Relationship]:
    rows = []
    for element in elements:
        ends = element.get("source", ""), element.get("target", "")
        where, data = f"relationship from {ends[0]!r} to {ends[1]!r}", _data_of(keys, element)
        type_ = data.pop("type", None) if is_ours else element.get("label")  # the attribute in Neo4j's exports
        rows.append((where, _by_name(where, keys, data), ends, type_, element.get("directed", str(directed).lower())))
    check_attribute("type_from", options.type_from, [fields for _, fields, *_ in rows])
    for where, fields, ends, type_, way in rows:
        if options.type_from is not None:
            type_ = fields.pop(options.type_from, "RELATED")
        elif not is_ours and type_ is not None and fields.get("label") == type_:
            del fields["label"]
        relationship = relationship_of(where, fields, *ends, type_)
        if way not in _DIRECTED:
            raise ValueError(f"{where}: directed={way!r} is neither true nor false")
        if _DIRECTED[way]:
            yield relationship
        elif options.undirected == "both":
            yield from both_directions([relationship])
        else:
            raise ValueError(f"the edge from {ends[0]!r} to {ends[1]!r} is undirected; {UNDIRECTED}")


def _data_of(keys: Mapping[str, _Key], element: Element) -> dict[str, Any]:
    """Return the data of a node or an edge by key id: of a drawing its labels, one a line."""
    domains = (element.tag, "all")
    texts = {id_: key.default for id_, key in keys.items() if key.default is not None and key.domain in domains}
    if (desc := element.findtext("desc")) is not None:
        texts["desc"] = desc
    if unknown := {child.tag for child in element} - {"data", "desc"}:
        raise ValueError(f"the {element.tag} {brief(element.get('id', ''))} has the unknown element <{min(unknown)}>")
    items = list(element.iterfind("data"))
    if len({item.get("key") for item in items}) < len(items):
        raise ValueError(f"the {element.tag} {brief(element.get('id', ''))} has data of one key twice")
    for item in items:
        if _key_of(keys, item).is_drawing:
            labels = (part for part in item.iter() if part.tag in ("NodeLabel", "EdgeLabel"))
            texts[item.get("key", "")] = "\n".join(text for label in labels if (text := (label.text or "").strip()))
        elif len(item):
            raise ValueError(
                f"the data {item.get('key')!r} of the {element.tag} {brief(element.get('id', ''))} has the element "
                f"<{item[0].tag}>; only text and the labels of yEd can be read"
            )
        else:
            texts[item.get("key", "")] = item.text or ""
    return {id_: _value(keys[id_], text) for id_, text in texts.items()}


def _by_name(where: str, keys: Mapping[str, _Key], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data by name. Raise ValueError for two values of one name."""
    fields: dict[str, Any] = {}
    for id_, value in data.items():
        name = keys[id_].name
        if keys[id_].is_drawing:
            if not value:
                continue
            name = "name" if keys[id_].domain == "node" else "label"
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
_SORT_NAMES = {"string": "str", "long": "int", "double": "float", "boolean": "bool"}
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
    ordered = sorted(used, key=lambda key: (key[0], _SORT_NAMES.get(key[1], key[1])))
    return {key: f"{prefix}{i}" for i, key in enumerate(ordered)}


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
