"""Read and write GraphML."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.common import (
    UNDIRECTED,
    Undirected,
    both_directions,
    by_name,
    checked_header,
    joined_labels,
    labels_of,
    node_of,
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


def read_graphml(path: Path, undirected: Undirected = "refuse") -> PropertyGraph:
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
        seed, spec = checked_header({name: parse_json(head[name]) for name in _HEADER if name in head})
        nodes = [_node(element, keys) for element in graph.iterfind("node")]
        directed = graph.get("edgedefault", "directed") == "directed"
        edges = (_edge(element, keys, directed, undirected) for element in graph.iterfind("edge"))
        return PropertyGraph.from_rows(
            nodes, [relationship for edge in edges for relationship in edge], seed=seed, spec=spec
        )


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
    type: str
    is_list: bool
    default: str | None


def _keys(root: Element) -> dict[str, _Key]:
    keys: dict[str, _Key] = {}
    for element in root.iterfind("key"):
        id_, type_, items = element.get("id", ""), element.get("attr.type", "string"), element.get("attr.list")
        if id_ in keys:
            raise ValueError(f"two <key> elements have the id {id_!r}")
        default = element.findtext("default")
        keys[id_] = _Key(
            element.get("for", "all"),
            element.get("attr.name", id_),
            element.get("graphwalk.type", items or type_),
            bool(items),
            default,
        )
    return keys


def _key_of(keys: Mapping[str, _Key], data: Element) -> _Key:
    try:
        return keys[data.get("key", "")]
    except KeyError:
        raise ValueError(f"no <key> element explains the data {data.get('key', '')!r}") from None


def _node(element: Element, keys: Mapping[str, _Key]) -> Node:
    special, attributes = _attributes("node", element, keys, ("label", "labels"))
    names: list[Any] | None = None
    if "labels" in special:
        names = labels_of(special["labels"]) if special["labels"] else []
    elif "label" in special:
        names = [special["label"]]
    elif "labels" in element.attrib:  # of Neo4j's exports
        names = labels_of(element.attrib["labels"])
        attributes.pop("labels", None)
    return node_of(f"node {element.get('id')!r}", attributes, element.get("id", ""), names)


def _edge(element: Element, keys: Mapping[str, _Key], directed: bool, undirected: Undirected) -> Iterable[Relationship]:
    special, attributes = _attributes("edge", element, keys, ("type",))
    source, target, label = element.get("source", ""), element.get("target", ""), element.get("label")
    if label is not None and attributes.get("label") == label:
        del attributes["label"]
    where = f"relationship from {source!r} to {target!r}"
    relationship = relationship_of(where, attributes, source, target, special.get("type", label))
    if element.get("directed", str(directed).lower()) == "true":
        return (relationship,)
    if undirected == "both":
        return both_directions([relationship])
    raise ValueError(f"the edge from {source!r} to {target!r} is undirected; {UNDIRECTED}")


def _attributes(
    domain: str, element: Element, keys: Mapping[str, _Key], structure: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the data with names in `structure`, and all other data by name."""
    texts = {id_: key.default for id_, key in keys.items() if key.domain in (domain, "all") and key.default is not None}
    data = list(element.iterfind("data"))
    if len({item.get("key") for item in data}) < len(data):
        raise ValueError(f"the {domain} {brief(element.get('id', ''))} has data of one key twice")
    special: dict[str, Any] = {}
    attributes: dict[str, Any] = {}
    for item in data:
        _key_of(keys, item)
        texts[item.get("key", "")] = item.text or ""
    for id_, text in texts.items():
        chosen = special if id_ in structure and keys[id_].name == id_ else attributes
        chosen[keys[id_].name] = _value(keys[id_], text)
    return special, attributes


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
